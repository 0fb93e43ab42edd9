/* view: one offline HTML page of a run, or of the models of a crate. */
#include "crate.h"
#include "print.h"

static int view_crate(const cli_io *io, const cg_env *env, const cli_args *args)
{
    crate_work self;
    int status = crate_start(&self, io, env, args, args->argument);

    return status != 0 ? status : crate_end(&self, crate_write_model(&self), CG_STRICT_NONE);
}

/* A document that `report` of a crate wrote. */
static int view_model(const cli_io *io, const cg_env *env, const cli_args *args)
{
    work self;
    cg_code code;

    if (args_has(args, OPTION_NSIGHT_DIR) || args_crate_option(args) != NULL)
        return args_usage(io, args, "`--%s` is not for a model document",
                          args_has(args, OPTION_NSIGHT_DIR) ? "nsight-dir"
                                                            : args_crate_option(args));
    work_start(&self, io, env, args);
    code = cg_write_model_file_page(&self.env, args->argument, (cg_sink){&self, work_write},
                                    &self.err);
    return work_tell(&self, work_finish(&self, code));
}

static int view_run(const cli_io *io, const cg_env *env, const cli_args *args)
{
    cg_run *run = NULL;
    work self;
    cg_code code;

    work_start(&self, io, env, args);
    if (args_crate_option(args) != NULL)
        return args_usage(io, args, "`--%s` is for crates, and this is a run",
                          args_crate_option(args));
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

int run_view(const cli_io *io, const cg_env *env, const cli_args *args)
{
    cg_input_kind kind = CG_INPUT_CRATE;

    if (!cg_page_is_built())
        return args_planned(io, "this program was built without the viewer (CG_VIEWER=OFF)");
    if (args->argument != NULL && cg_input_kind_of(env, args->argument, &kind, NULL) != CG_OK)
        kind = CG_INPUT_RAW_TRACE;
    switch (kind) {
    case CG_INPUT_CRATE: return view_crate(io, env, args);
    case CG_INPUT_MODEL: return view_model(io, env, args);
    default: return view_run(io, env, args);
    }
}
