#include "compare/source.h"

opt_u64 source_sample_of(const trace_doc *trace)
{
    for (size_t i = 0; i < trace->spans.count; i++) {
        const trace_span *span = &trace->spans.at[i];

        if (span->is_measured && span->is_closed)
            return (opt_u64){span->duration_ns, true};
    }
    return (opt_u64){0};
}

static cg_code judge(source *self, cg_err *reterr)
{
    trace_doc *trace = self->trace;
    cg_code code;

    CG_TRY(memory_replay(&trace->heap, trace, &self->memory, reterr));
    code = health_check(&trace->heap, trace, &self->memory, &self->health, reterr);
    if (code != CG_OK) {
        memory_free(&self->memory);
        return code;
    }
    self->is_judged = true;
    self->sample_ns = source_sample_of(trace);
    return CG_OK;
}

/* --- reading and hashing in one pass --- */

/* The calls of a file, with a digest of everything that is read through them. */
typedef struct hashing_calls {
    os_calls calls;
    const os_calls *below;
    digest digest;
} hashing_calls;

static int64_t read_and_hash(void *context, int file, void *to, size_t count)
{
    hashing_calls *self = context;
    int64_t got = self->below->read(self->below->context, file, to, count);

    if (got > 0)
        digest_add(&self->digest, to, (size_t)got);
    return got;
}

static cg_code read_hashed(const cg_env *env, os_file *pin, uint8_t ret_sum[DIGEST_BYTES],
                           trace_doc **ret, cg_err *reterr)
{
    hashing_calls hashing = {.calls = *pin->os, .below = pin->os};
    os_file file = *pin;
    cg_code code;

    /* Only `read` is called by a reader of an open file; its context is this. */
    hashing.calls.context = &hashing;
    hashing.calls.read = read_and_hash;
    file.os = &hashing.calls;
    CG_TRY(digest_start(&hashing.digest, reterr));
    code = trace_read_open(env, &file, ret, reterr);
    if (code != CG_OK) {
        digest_drop(&hashing.digest);
        return code;
    }
    code = digest_finish(&hashing.digest, ret_sum, reterr);
    if (code != CG_OK) {
        trace_free(*ret);
        *ret = NULL;
    }
    return code;
}

/* Did the reader give up because of the trace, and not because it was stopped? */
static bool is_of_the_trace(cg_code code)
{
    return code != CG_NOMEM && code != CG_INTERRUPTED && code != CG_INTERNAL;
}

static cg_code read_trace(const cg_env *env, source *self, cg_err *reterr)
{
    os_file *pin = &self->bundle->pinned[MEMBER_TRACE];
    uint8_t sum[DIGEST_BYTES];
    cg_err cause = {0};
    cg_code code;

    CG_TRY(os_file_rewind(pin, reterr));
    code = read_hashed(env, pin, sum, &self->trace, &cause);
    /* That the bundle is not what it declares comes before what is wrong with its trace. */
    if (code == CG_OK || is_of_the_trace(code))
        CG_TRY(bundle_settle_trace(self->bundle, code == CG_OK ? sum : NULL, reterr));
    if (code != CG_OK) {
        if (reterr != NULL && reterr->code == CG_OK)
            *reterr = cause;
        return code;
    }
    if (!str_equal(self->trace->run.run_id, self->bundle->manifest.run_id))
        return cg_fail(reterr, PROBLEM_BUNDLE_RUN_ID,
                       "the manifest is of run `%.*s`, the trace of `%.*s`",
                       ERR_STR(self->bundle->manifest.run_id), ERR_STR(self->trace->run.run_id));
    return CG_OK;
}

static cg_code read_bundle(const cg_env *env, cg_str path, source *self, cg_err *reterr)
{
    CG_TRY(bundle_open_for_trace(env, path, &self->bundle, reterr));
    CG_TRY(read_trace(env, self, reterr));
    return judge(self, reterr);
}

/* --- opening --- */

cg_code source_open_bundle(const cg_env *env, cg_str path, source *ret, cg_err *reterr)
{
    source self = {0};
    cg_code code = read_bundle(env, path, &self, reterr);

    if (code != CG_OK) {
        err_in_file(reterr, path);
        source_close(&self);
        return code;
    }
    *ret = self;
    return CG_OK;
}

cg_code source_take_trace(trace_doc *trace, source *ret, cg_err *reterr)
{
    source self = {.trace = trace};
    cg_code code = judge(&self, reterr);

    if (code != CG_OK) {
        source_close(&self);
        return code;
    }
    *ret = self;
    return CG_OK;
}

cg_code source_open_trace(const cg_env *env, cg_str path, source *ret, cg_err *reterr)
{
    trace_doc *trace;
    cg_code code = trace_read_file(env, path, &trace, reterr);

    if (code == CG_OK)
        code = source_take_trace(trace, ret, reterr);
    if (code != CG_OK)
        err_in_file(reterr, path);
    return code;
}

void source_close(source *self)
{
    if (self->is_judged) {
        health_free(&self->health);
        memory_free(&self->memory);
    }
    trace_free(self->trace);
    bundle_free(self->bundle);
    *self = (source){0};
}
