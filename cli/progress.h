/*
 * progress - one line on a terminal that is patient enough to be long in work.
 *
 * Nothing for the first half second, then a few updates a second, erased at
 * the end. Also the place where a stop on request is noticed.
 */
#ifndef CG_CLI_PROGRESS_H
#define CG_CLI_PROGRESS_H

#include "cli.h"

typedef struct progress {
    const cli_io *io;
    const cg_env *outer; /* its progress function is asked too */
    uint64_t start_ns;
    uint64_t last_ns;
    bool is_shown; /* may be shown at all */
    bool is_drawn;
    bool is_stopped;
} progress;

void progress_start(progress *self, const cli_io *io, const cg_env *outer);
/* For cg_env.progress, with the progress as context. */
bool progress_report(void *self, const char *stage, uint64_t done, uint64_t total);
void progress_erase(progress *self);

#endif
