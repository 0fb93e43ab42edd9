/* verify: is a bundle what was published, and does it follow from its trace? */
#include "work.h"

static cg_verify_depth depth_of(const cli_args *args)
{
    if (!args_has(args, OPTION_SEMANTIC))
        return CG_VERIFY_BYTES;
    return args->value[OPTION_SEMANTIC] != NULL ? CG_VERIFY_STRICT : CG_VERIFY_SEMANTIC;
}

int run_verify(const cli_io *io, const cg_env *env, const cli_args *args)
{
    work self;
    cg_verification *verification = NULL;
    cg_code code;

    work_start(&self, io, env, args);
    code = cg_bundle_verify(&self.env, args->argument, depth_of(args), &verification, &self.err);
    if (code != CG_OK)
        return work_tell(&self, code);
    code =
        cg_write_verification(verification, &self.format, (cg_sink){&self, work_write}, &self.err);
    cg_verification_free(verification);
    return work_tell(&self, work_finish(&self, code));
}
