/* Output files of the public interface: guarded places, whole or not at all. */
#include "base/os_place.h"
#include "candlegraph/candlegraph.h"

#include <string.h>

struct cg_output {
    heap heap;
    os_output file;
    cg_err failure; /* the first write that failed; reported by commit */
};

static cg_code refuse_place(const cg_env *env, cg_str path, const char *const *inputs,
                            size_t input_count, cg_err *reterr)
{
    bool is_met = false;

    for (size_t i = 0; i < input_count && !is_met; i++)
        CG_TRY(os_same_file(env, path, str_from(inputs[i]), &is_met, reterr));
    if (is_met) {
        cg_fail(reterr, PROBLEM_OUTPUT_INPUT, "the output is an input of this command");
        err_in_file(reterr, path);
        return CG_OUTPUT_REFUSED;
    }
    CG_TRY(os_is_below(env, path, "bundle.json", &is_met, reterr));
    if (is_met) {
        cg_fail(reterr, PROBLEM_OUTPUT_BUNDLE, "the output would lie inside a bundle");
        err_in_file(reterr, path);
        return CG_OUTPUT_REFUSED;
    }
    return CG_OK;
}

cg_code cg_output_open(const cg_env *env, const char *path, const char *const *inputs,
                       size_t input_count, cg_output **ret, cg_err *reterr)
{
    heap start;
    cg_output *output;
    cg_code code;

    CG_TRY(refuse_place(env, str_from(path), inputs, input_count, reterr));
    heap_init(&start, env);
    output = heap_resize(&start, NULL, 0, sizeof *output);
    if (output == NULL)
        return err_nomem(reterr);
    memset(output, 0, sizeof *output);
    output->heap = start;
    code = os_output_open(env, &output->heap, str_from(path), false, &output->file, reterr);
    if (code != CG_OK) {
        heap_release(&output->heap, output, sizeof *output);
        return code;
    }
    *ret = output;
    return CG_OK;
}

static cg_code write_output(void *context, const char *bytes, size_t count)
{
    cg_output *output = context;

    return os_output_write(&output->file, bytes, count, &output->failure);
}

cg_sink cg_output_sink(cg_output *output)
{
    return (cg_sink){output, write_output};
}

static void release(cg_output *output)
{
    os_output_drop(&output->file);
    heap_release(&output->heap, output, sizeof *output);
}

cg_code cg_output_commit(cg_output *output, cg_err *reterr)
{
    cg_code code = output->failure.code;

    if (code == CG_OK)
        code = os_output_commit(&output->file, reterr);
    else if (reterr != NULL && reterr->code == CG_OK)
        *reterr = output->failure;
    release(output);
    return code;
}

void cg_output_drop(cg_output *output)
{
    if (output != NULL)
        release(output);
}
