/*
 * os_run - another program, run to its end, and what it writes; and what the environment says.
 *
 * Nothing is inherited but what is given: the program gets exactly this environment and directory,
 * no input, and no open file of this library. No shell is involved.
 */
#ifndef CG_BASE_OS_RUN_H
#define CG_BASE_OS_RUN_H

#include "base/arena.h"
#include "base/os.h"

typedef struct os_command {
    const char *program;            /* absolute path */
    const char *const *arguments;   /* with the program's name first, NULL last */
    const char *const *environment; /* NAME=VALUE, NULL last */
    const char *directory;          /* absolute */
    uint64_t timeout_ns;            /* afterwards it and what it started are killed */
} os_command;

/*
 * Run the program; what it writes is appended to `output` and `errors`, up to their ceilings.
 * *ret_status is its exit status, or 128 and the signal. Fails when it cannot be started, takes
 * too long, writes more output than the ceiling allows, or `env` wants to stop.
 */
cg_code os_run(const cg_env *env, const os_command *command, buf *output, buf *errors,
               int *ret_status, cg_err *reterr) CG_MUST;

/* A variable of our own environment; absent when it is not set or empty. */
cg_str os_variable(const char *name);

/*
 * The absolute path of what `path` leads to, without links, `.` and `..`, in `mem`. CG_NOT_FOUND
 * when it leads nowhere.
 */
cg_code os_real_path(cg_str path, arena *mem, cg_str *ret, cg_err *reterr) CG_MUST;

/* Is it a regular file that we may execute? Links are followed. */
bool os_is_program(const char *path);

#endif
