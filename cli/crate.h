/*
 * crate - a command about a crate: which crate, how it is read, and what happens in which order.
 *
 *   int status = crate_start(&self, io, env, args, args->argument);     reads the crate
 *   if (status == 0) {
 *       code = ... write documents of self.scan with self.work ...
 *       status = crate_end(&self, code);                                 gates, exit status
 *   }
 */
#ifndef CG_CLI_CRATE_H
#define CG_CLI_CRATE_H

#include "candlegraph/scan.h"
#include "work.h"

typedef struct crate_work {
    work work;
    cg_scan *scan;
    const char *checkpoint; /* NULL: none */
    const char *verify_root;
    char cache[4096];
} crate_work;

/*
 * Open the crate, write or compare the baseline, compare the checkpoint. 0, or the exit status of
 * what was told.
 */
int crate_start(crate_work *self, const cli_io *io, const cg_env *env, const cli_args *args,
                const char *word);
/* Put the output in place, tell what went wrong, apply --strict and --deny. The exit status. */
int crate_end(crate_work *self, cg_code code, cg_strictness strictness);

/* Is --format one that this input has? 0 or the exit status; a run has text and json only. */
int crate_check_format(const cli_io *io, const cli_args *args, bool is_crate);
/* The model as --format says. */
cg_code crate_write_model(crate_work *self);
/* The crate and the runs of --trace. */
cg_code crate_write_join(crate_work *self, const cg_format *format);
/* One answer about the crate. */
int crate_query(const cli_io *io, const cg_env *env, const cli_args *args, const char *kind,
                const char *word);

#endif
