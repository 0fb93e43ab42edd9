/* view: one offline HTML page of runs, of the models of a crate, or of a document about them. */
#include "crate.h"
#include "print.h"

/* Three hundred thousand characters of script are not for reading. */
static bool is_for_terminal(const cli_io *io, const cli_args *args)
{
    return io->is_out_terminal && !args_has(args, OPTION_OUTPUT);
}

static int needs_output(const cli_io *io, const cli_args *args)
{
    return args_usage(io, args,
                      "the page is for a browser: `--output FILE`, for example page.html");
}

static int view_crate(const cli_io *io, const cg_env *env, const cli_args *args)
{
    crate_work self;
    int status;

    if (args_has(args, OPTION_AGAINST))
        return args_usage(io, args, "`--against` is for runs, and this is a crate");
    if (is_for_terminal(io, args))
        return needs_output(io, args);
    status = crate_start(&self, io, env, args, args->argument);
    if (status != 0)
        return status;
    if (args_has(args, OPTION_TRACE))
        return crate_end(
            &self, cg_write_join_page(self.scan, (cg_sink){&self.work, work_write}, &self.work.err),
            CG_STRICT_NONE);
    return crate_end(&self, crate_write_model(&self), CG_STRICT_NONE);
}

/* The first option given that is not for documents; NULL: none. */
static const char *odd_option(const cli_args *args)
{
    if (args_has(args, OPTION_NSIGHT_DIR))
        return "nsight-dir";
    if (args_has(args, OPTION_AGAINST))
        return "against";
    return args_crate_option(args);
}

/* A document that `report` of a crate wrote. */
static int view_model(const cli_io *io, const cg_env *env, const cli_args *args)
{
    work self;
    cg_code code;

    if (odd_option(args) != NULL)
        return args_usage(io, args, "`--%s` is not for a model document", odd_option(args));
    if (is_for_terminal(io, args))
        return needs_output(io, args);
    work_start(&self, io, env, args);
    code = cg_write_model_file_page(&self.env, args->argument, (cg_sink){&self, work_write},
                                    &self.err);
    return work_tell(&self, work_finish(&self, code));
}

/* What compare, series or campaign-status wrote, or the plan of a campaign. */
static int view_document(const cli_io *io, const cg_env *env, const cli_args *args,
                         cg_input_kind kind)
{
    work self;
    cg_sink sink = {&self, work_write};
    cg_code code;

    if (odd_option(args) != NULL)
        return args_usage(io, args, "`--%s` is for runs and crates, and this is a document",
                          odd_option(args));
    if (is_for_terminal(io, args))
        return needs_output(io, args);
    work_start(&self, io, env, args);
    code = kind == CG_INPUT_CAMPAIGN
               ? cg_write_campaign_page(&self.env, args->argument, sink, &self.err)
               : cg_write_document_page(&self.env, args->argument, sink, &self.err);
    return work_tell(&self, work_finish(&self, code));
}

/* Two runs side by side. */
static cg_code write_pair(work *self, const cg_run *run, const char *path)
{
    cg_run *against = NULL;
    cg_code code = cg_run_open(&self->env, path, &against, &self->err);

    if (code == CG_OK)
        code = cg_write_page_against(&self->env, run, against, (cg_sink){self, work_write},
                                     &self->err);
    cg_run_free(against);
    return code;
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
    if (args_has(args, OPTION_AGAINST))
        code = write_pair(&self, run, args->value[OPTION_AGAINST]);
    else
        code = cg_write_page(run, (cg_sink){&self, work_write}, &self.err);
    cg_run_free(run);
    return work_tell(&self, work_finish(&self, code));
}

int run_view(const cli_io *io, const cg_env *env, const cli_args *args)
{
    cg_input_kind kind = CG_INPUT_CRATE;

    if (!cg_page_is_built())
        return args_planned(io, "this program was built without the viewer (CG_VIEWER=OFF)");
    if (args->argument != NULL) {
        cg_err err = {0};
        cg_code code = cg_input_kind_of(env, args->argument, &kind, &err);

        /* What cannot be told is no word about the options. */
        if (code != CG_OK && args_crate_option(args) != NULL) {
            work_print_error(io, &err);
            return cg_code_exit_status(code);
        }
        if (code != CG_OK)
            kind = CG_INPUT_RAW_TRACE;
    }
    switch (kind) {
    case CG_INPUT_CRATE: return view_crate(io, env, args);
    case CG_INPUT_MODEL: return view_model(io, env, args);
    case CG_INPUT_DOCUMENT:
    case CG_INPUT_CAMPAIGN: return view_document(io, env, args, kind);
    default: return view_run(io, env, args);
    }
}
