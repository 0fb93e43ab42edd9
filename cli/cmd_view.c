/* view: one offline HTML page of a run. */
#include "print.h"
#include "work.h"

int run_view(const cli_io *io, const cg_env *env, const cli_args *args)
{
    cg_input_kind kind = 0;
    cg_run *run = NULL;
    work self;
    cg_code code;

    work_start(&self, io, env, args);
    if (!cg_page_is_built())
        return args_planned(io, "this program was built without the viewer (CG_VIEWER=OFF)");
    if (cg_input_kind_of(&self.env, args->argument, &kind, NULL) == CG_OK && kind == CG_INPUT_CRATE)
        return args_planned(io, "`%s` is a crate, and `view` of a crate is not in this version yet",
                            print_safe_word(args->argument).at);
    if (!args_has(args, OPTION_OUTPUT))
        return args_usage(io, args, "`view` needs `--output FILE`");
    code = cg_run_open_with_nsight(&self.env, args->argument, args->value[OPTION_NSIGHT_DIR], &run,
                                   &self.err);
    if (code != CG_OK)
        return work_tell(&self, code);
    code = cg_write_page(run, (cg_sink){&self, work_write}, &self.err);
    cg_run_free(run);
    return work_tell(&self, work_finish(&self, code));
}
