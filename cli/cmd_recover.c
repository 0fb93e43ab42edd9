/* recover: what a dead process left, as a failed capture. */
#include "work.h"

int run_recover(const cli_io *io, const cg_env *env, const cli_args *args)
{
    cli_args account = *args;
    work self;
    cg_code code;

    if (!args_has(args, OPTION_OUTPUT))
        return args_usage(io, args, "`recover` needs `--output TRACE`");
    /* --output is the trace; what is said about it goes to standard output. */
    account.given &= ~(UINT64_C(1) << OPTION_OUTPUT);
    work_start(&self, io, env, &account);
    code = cg_recover(&self.env, args->argument, args->value[OPTION_OUTPUT], &self.format,
                      (cg_sink){&self, work_write}, &self.err);
    if (code == CG_OUTPUT && self.err.code == CG_OUTPUT) {
        /* Of the trace, not of standard output. */
        progress_erase(&self.progress);
        work_print_error(io, &self.err);
        return cg_code_exit_status(code);
    }
    return work_tell(&self, code);
}
