/*
 * cli - the whole command line as one function that touches nothing but what
 * it is given: two sinks, a few facts about the terminal, an environment.
 *
 * main.c hands in the real process, tests hand in their own.
 */
#ifndef CG_CLI_CLI_H
#define CG_CLI_CLI_H

#include "candlegraph/candlegraph.h"

typedef struct cli_io {
    cg_sink out;
    cg_sink err;
    bool is_out_terminal;
    bool is_err_terminal;
    uint32_t width; /* cells of the terminal, 0 = unknown */
    void *context;  /* of the functions below; each of them may be NULL */
    const char *(*variable)(void *context, const char *name); /* environment, NULL = unset */
    const char *(*out_problem)(void *context);                /* why `out` failed, NULL = unknown */
    uint64_t (*now_ns)(void *context);                        /* without it no progress is shown */
    bool (*is_stopped)(void *context);                        /* the user asked to stop */
} cli_io;

/*
 * Run one command; argv as given to main, argv[0] decides between candle-graph
 * and cargo-candle-graph. Returns the exit status. Nothing is left behind.
 */
int cli_run(const cli_io *io, const cg_env *env, int argc, char **argv);

#endif
