/* campaign-status and series: many captures of one training run. */
#include "work.h"

int run_campaign_status(const cli_io *io, const cg_env *env, const cli_args *args)
{
    work self;
    cg_code code;

    if (!args_has(args, OPTION_MANIFEST))
        return args_usage(io, args, "`campaign-status` needs `--manifest FILE`");
    work_start(&self, io, env, args);
    code = cg_write_campaign_status(&self.env, args->value[OPTION_MANIFEST], &self.format,
                                    (cg_sink){&self, work_write}, &self.err);
    return work_tell(&self, work_finish(&self, code));
}

int run_series(const cli_io *io, const cg_env *env, const cli_args *args)
{
    const char *prefix = args->value[OPTION_LABEL_PREFIX];
    cg_series_request request;
    work self;
    cg_code code;

    if (args_has(args, OPTION_MANIFEST) == args_has(args, OPTION_BUNDLE))
        return args_usage(io, args,
                          args_has(args, OPTION_BUNDLE)
                              ? "`--manifest` and `--bundle` exclude each other"
                              : "`series` needs `--manifest FILE` or `--bundle DIR...`");
    memset(&request, 0, sizeof request);
    request.size = sizeof request;
    request.manifest = args->value[OPTION_MANIFEST];
    request.bundles = args_files(args, OPTION_BUNDLE, &request.bundle_count);
    if (prefix != NULL)
        request.label_prefix = (cg_str){prefix, strlen(prefix)};
    request.has_growth = args_has(args, OPTION_GROWTH);
    work_start(&self, io, env, args);
    code =
        cg_write_series(&self.env, &request, &self.format, (cg_sink){&self, work_write}, &self.err);
    return work_tell(&self, work_finish(&self, code));
}
