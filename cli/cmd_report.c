/* report: publish a trace as a bundle, or the model of a crate. */
#include "crate.h"

/*
 * The bundle is in place: whatever keeps the receipt from its reader has an
 * exit status of its own. A reader that went away is no failure.
 */
static int without_receipt(work *self, cg_code code)
{
    cg_err err = self->output_err.code != CG_OK ? self->output_err : self->err;

    if (code == CG_OK || code == CG_CLOSED || self->progress.is_stopped)
        return work_tell(self, code);
    progress_erase(&self->progress);
    if (err.code == CG_OK || err.text[0] == '\0')
        (void)snprintf(err.text, sizeof err.text, "the receipt could not be written");
    err.code = CG_DURABILITY;
    err.problem = "published-without-receipt";
    err.help = "the bundle is in place; run the same command again for its receipt";
    work_print_error(self->io, &err);
    return cg_code_exit_status(CG_DURABILITY);
}

int run_report(const cli_io *io, const cg_env *env, const cli_args *args)
{
    cg_publish_request request;
    cg_publication *publication = NULL;
    cg_input_kind kind = 0;
    work self;
    cg_code code;

    work_start(&self, io, env, args);
    if (!args_has(args, OPTION_BUNDLE)) {
        if (args->argument != NULL &&
            cg_input_kind_of(&self.env, args->argument, &kind, NULL) == CG_OK &&
            kind != CG_INPUT_CRATE)
            return args_usage(io, args, "`report` of a trace needs `--bundle DIR`");
        return run_report_crate(io, env, args);
    }
    if (args->argument == NULL)
        return args_usage(io, args, "`report --bundle` needs a trace");
    if (args_crate_option(args) != NULL)
        return args_usage(io, args, "`--%s` is for crates, and `--bundle` publishes a run",
                          args_crate_option(args));
    if (crate_check_format(io, args, false) != 0)
        return cg_code_exit_status(CG_USAGE);
    memset(&request, 0, sizeof request);
    request.size = sizeof request;
    request.trace_path = args->argument;
    request.bundle_path = args->value[OPTION_BUNDLE];
    request.nsight_directory = args->value[OPTION_NSIGHT_DIR];
    request.receipt_path = args->value[OPTION_OUTPUT];
    code = cg_publish(&self.env, &request, &publication, &self.err);
    if (code == CG_OUTPUT) {
        /* Of the bundle, not of standard output. */
        progress_erase(&self.progress);
        work_print_error(io, &self.err);
        return cg_code_exit_status(code);
    }
    if (code != CG_OK)
        return work_tell(&self, code);
    code = cg_write_publication(publication, &self.format, (cg_sink){&self, work_write}, &self.err);
    cg_publication_free(publication);
    code = work_finish(&self, code);
    return without_receipt(&self, code);
}
