/*
 * work - what the commands have in common: an environment, a format, where the
 * document goes, and how a result becomes one line on stderr and an exit status.
 *
 *   work_start(&self, io, env, args);
 *   code = ... write with (cg_sink){&self, work_write} ...
 *   code = work_finish(&self, code);
 *   return work_tell(&self, code);
 */
#ifndef CG_CLI_WORK_H
#define CG_CLI_WORK_H

#include "args.h"
#include "candlegraph/scan.h"
#include "fold.h"
#include "progress.h"

/* What one command works with. */
typedef struct work {
    const cli_io *io;
    const cli_args *args;
    cg_env env;
    progress progress;
    cg_format format;
    cg_err err;
    cg_output *output;   /* open once the first byte is there */
    cg_err output_err;   /* why it could not be opened */
    const cg_scan *scan; /* the crate that is read, not to be written into; NULL: none */
    fold fold;           /* text on its way to where documents go */
} work;

void work_start(work *self, const cli_io *io, const cg_env *env, const cli_args *args);
/* Where documents go; `context` is the work. */
cg_code work_write(void *context, const char *bytes, size_t count);
/* What follows is for programs: its lines stay as they are. */
void work_keep_lines(work *self);
/* Commit or drop the file of --output; the code of the whole work. */
cg_code work_finish(work *self, cg_code code);
/* Tell `code`, the result of the work; the exit status. */
int work_tell(work *self, cg_code code);
/* One line of error. */
void work_print_error(const cli_io *io, const cg_err *err);
/* The exit status of a text that went to standard output. */
int work_said(const cli_io *io, cg_code code);

/* Commands with a file of their own. */
int run_report(const cli_io *io, const cg_env *env, const cli_args *args);
int run_view(const cli_io *io, const cg_env *env, const cli_args *args);
int run_verify(const cli_io *io, const cg_env *env, const cli_args *args);
int run_compare(const cli_io *io, const cg_env *env, const cli_args *args);
int run_campaign_status(const cli_io *io, const cg_env *env, const cli_args *args);
int run_recover(const cli_io *io, const cg_env *env, const cli_args *args);
int run_series(const cli_io *io, const cg_env *env, const cli_args *args);
int run_query(const cli_io *io, const cg_env *env, const cli_args *args);
int run_check(const cli_io *io, const cg_env *env, const cli_args *args);
int run_tree(const cli_io *io, const cg_env *env, const cli_args *args);
int run_profile(const cli_io *io, const cg_env *env, const cli_args *args);
int run_audit(const cli_io *io, const cg_env *env, const cli_args *args);
int run_explain(const cli_io *io, const cg_env *env, const cli_args *args);
int run_scan(const cli_io *io, const cg_env *env, const cli_args *args);
/* A document of the run at args->argument; `query` is NULL but for queries. */
int run_document(const cli_io *io, const cg_env *env, const cli_args *args, const cg_query *query);
/* Of a crate. */
int run_report_crate(const cli_io *io, const cg_env *env, const cli_args *args);
int run_summary_crate(const cli_io *io, const cg_env *env, const cli_args *args);

#endif
