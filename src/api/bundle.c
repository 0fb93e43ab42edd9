/* Bundles in the public interface: verify, publish, one planned capture. */
#include "api/caller.h"
#include "publish/capture_run.h"
#include "publish/semantic.h"

#include <string.h>

struct cg_verification {
    heap heap;
    arena arena;
    verification about;
};

struct cg_publication {
    heap heap;
    arena arena;
    publication_receipt about;
};

struct cg_capture {
    heap heap;
    const cg_env *env;
    capture_run *run;
};

static void *new_object(const cg_env *env, heap *ret_heap, size_t size, cg_err *reterr)
{
    void *self;

    heap_init(ret_heap, env);
    self = heap_resize(ret_heap, NULL, 0, size);
    if (self == NULL)
        (void)err_nomem(reterr);
    else
        memset(self, 0, size);
    return self;
}

/* --- verify --- */

static cg_code keep_texts(const sc_strs *from, arena *mem, sc_strs *ret, cg_err *reterr)
{
    cg_str *kept = arena_take(mem, (from->count > 0 ? from->count : 1) * sizeof *kept);

    if (kept == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < from->count; i++) {
        if (!arena_text(mem, from->at[i], &kept[i]))
            return err_nomem(reterr);
    }
    *ret = (sc_strs){kept, from->count};
    return CG_OK;
}

static cg_code verify_open(cg_verification *self, bundle *from, cg_verify_depth depth,
                           cg_err *reterr)
{
    doc_receipt receipt = bundle_receipt(from);
    sc_strs unchecked;

    CG_TRY(receipt_keep(&receipt, &self->arena, &self->about.receipt, reterr));
    if (!arena_text(&self->arena, from->manifest.producer_name, &self->about.producer_name) ||
        !arena_text(&self->arena, from->manifest.producer_version, &self->about.producer_version))
        return err_nomem(reterr);
    if (depth == CG_VERIFY_BYTES)
        return CG_OK;
    CG_TRY(bundle_check_semantics(from, depth == CG_VERIFY_STRICT, &unchecked, reterr));
    self->about.has_semantic = true;
    self->about.semantic.status = SEMANTIC_MATCH;
    return keep_texts(&unchecked, &self->arena, &self->about.semantic.not_rederivable, reterr);
}

static cg_code verify_path(const cg_env *env, cg_verification *self, const char *path,
                           cg_verify_depth depth, cg_err *reterr)
{
    bundle *from;
    cg_code code;

    if (!arena_text(&self->arena, str_from(path), &self->about.path))
        return err_nomem(reterr);
    CG_TRY(bundle_open(env, self->about.path, &from, reterr));
    code = verify_open(self, from, depth, reterr);
    bundle_free(from);
    return code;
}

cg_code cg_bundle_verify(const cg_env *env, const char *path, cg_verify_depth depth,
                         cg_verification **ret, cg_err *reterr)
{
    heap start;
    cg_verification *self;
    cg_code code;

    if (depth > CG_VERIFY_STRICT)
        return cg_fail(reterr, PROBLEM_USAGE, "verification depth %u does not exist",
                       (unsigned)depth);
    self = new_object(env, &start, sizeof *self, reterr);
    if (self == NULL)
        return CG_NOMEM;
    self->heap = start;
    arena_init(&self->arena, &self->heap);
    code = verify_path(env, self, path, depth, reterr);
    if (code != CG_OK) {
        err_in_file(reterr, str_from(path));
        cg_verification_free(self);
        return code;
    }
    *ret = self;
    return CG_OK;
}

void cg_verification_free(cg_verification *self)
{
    if (self == NULL)
        return;
    arena_free(&self->arena);
    heap_release(&self->heap, self, sizeof *self);
}

cg_code cg_write_verification(const cg_verification *self, const cg_format *format, cg_sink sink,
                              cg_err *reterr)
{
    text_style style;
    heap memory = self->heap;

    if (caller_wants_text(format, &style))
        return verification_text(&memory, &self->about, &style, sink, reterr);
    return verification_write(&memory, &self->about, sink, reterr);
}

void cg_verification_facts_of(const cg_verification *self, cg_verification_facts *ret)
{
    cg_verification_facts facts = {
        .run_id = self->about.receipt.run_id,
        .manifest_sha256 = self->about.receipt.manifest_sha256,
        .producer_name = self->about.producer_name,
        .producer_version = self->about.producer_version,
        .file_count = self->about.receipt.files_verified,
        .byte_count = self->about.receipt.bytes_verified,
        .unchecked_count = self->about.semantic.not_rederivable.count,
    };
    size_t size = ret->size < sizeof facts ? ret->size : sizeof facts;

    facts.size = (uint32_t)size;
    memcpy(ret, &facts, size);
}

/* --- publish --- */

static cg_publication *new_publication(const cg_env *env, cg_err *reterr)
{
    heap start;
    cg_publication *self = new_object(env, &start, sizeof *self, reterr);

    if (self != NULL) {
        self->heap = start;
        arena_init(&self->arena, &self->heap);
    }
    return self;
}

void cg_publication_free(cg_publication *self)
{
    if (self == NULL)
        return;
    arena_free(&self->arena);
    heap_release(&self->heap, self, sizeof *self);
}

/* The receipt says the path as it was given; keep it with the object. */
static cg_code finish(cg_publication *self, cg_code code, cg_publication **ret, cg_err *reterr)
{
    if (code == CG_OK && !arena_text(&self->arena, self->about.path, &self->about.path))
        code = err_nomem(reterr);
    if (code != CG_OK) {
        cg_publication_free(self);
        return code;
    }
    *ret = self;
    return CG_OK;
}

cg_code cg_publish(const cg_env *env, const cg_publish_request *request, cg_publication **ret,
                   cg_err *reterr)
{
    publish_request inner;
    cg_publish_request wanted;
    cg_publication *self;

    caller_read(&wanted, sizeof wanted, request);
    inner = (publish_request){
        .trace_path = str_from(wanted.trace_path),
        .nsight_path = str_from(wanted.nsight_directory),
        .bundle_path = str_from(wanted.bundle_path),
        .receipt_path = str_from(wanted.receipt_path),
    };
    if (wanted.trace_path == NULL || wanted.bundle_path == NULL)
        return cg_fail(reterr, PROBLEM_USAGE, "a publication needs a trace and a destination");
    self = new_publication(env, reterr);
    if (self == NULL)
        return CG_NOMEM;
    return finish(self, publication_publish(env, &inner, &self->arena, &self->about, reterr), ret,
                  reterr);
}

cg_code cg_write_publication(const cg_publication *self, const cg_format *format, cg_sink sink,
                             cg_err *reterr)
{
    text_style style;
    heap memory = self->heap;

    if (caller_wants_text(format, &style))
        return publication_text(&memory, &self->about, &style, sink, reterr);
    return publication_write(&memory, &self->about, sink, reterr);
}

void cg_publication_facts_of(const cg_publication *self, cg_publication_facts *ret)
{
    const doc_receipt *receipt = &self->about.verification;
    cg_publication_facts facts = {
        .is_already_published = self->about.status == PUBLICATION_ALREADY,
        .bundle_path = self->about.path,
        .run_id = receipt->run_id,
        .manifest_sha256 = receipt->manifest_sha256,
        .file_count = receipt->files_verified,
        .byte_count = receipt->bytes_verified,
    };
    size_t size = ret->size < sizeof facts ? ret->size : sizeof facts;

    facts.size = (uint32_t)size;
    memcpy(ret, &facts, size);
}

/* --- one planned capture --- */

static cg_code begin(cg_capture *self, const char *path, const publish_plan *plan,
                     cg_publication **ret_already, cg_err *reterr)
{
    cg_publication *already = new_publication(self->env, reterr);
    cg_code code;

    if (already == NULL)
        return CG_NOMEM;
    code = capture_run_begin(self->env, str_from(path), plan, &already->arena, &self->run,
                             &already->about, reterr);
    if (code == CG_OK && self->run == NULL)
        return finish(already, code, ret_already, reterr);
    cg_publication_free(already);
    return code;
}

cg_code cg_capture_begin(const cg_env *env, const char *bundle_path, const cg_capture_plan *plan,
                         cg_capture **ret, cg_publication **ret_already, cg_err *reterr)
{
    publish_plan inner;
    cg_capture_plan wanted;
    cg_publication *already = NULL;
    heap start;
    cg_capture *self;
    cg_code code;

    caller_read(&wanted, sizeof wanted, plan);
    inner = (publish_plan){
        .entrypoint = str_from(wanted.entrypoint),
        .correlation_id = str_from(wanted.correlation_id),
        .device = str_from(wanted.device),
        .capture_step = wanted.capture_step,
        .phase = wanted.is_train ? PHASE_TRAIN : PHASE_INFER,
    };
    if (bundle_path == NULL || inner.entrypoint.ptr == NULL || inner.correlation_id.ptr == NULL ||
        inner.device.ptr == NULL)
        return cg_fail(reterr, PROBLEM_USAGE,
                       "a plan names entry point, correlation id and device, and a destination");
    self = new_object(env, &start, sizeof *self, reterr);
    if (self == NULL)
        return CG_NOMEM;
    self->heap = start;
    self->env = env;
    code = begin(self, bundle_path, &inner, &already, reterr);
    if (code != CG_OK || already != NULL) {
        cg_capture_free(self);
        self = NULL;
    }
    if (code != CG_OK)
        return code;
    *ret = self;
    *ret_already = already;
    return CG_OK;
}

/* Texts of an arena end with NUL. */
const char *cg_capture_trace_path(const cg_capture *capture)
{
    return capture->run->trace_path.ptr;
}

cg_code cg_capture_set_nsight(cg_capture *capture, const char *directory, cg_err *reterr)
{
    capture_run *run = capture->run;

    return arena_text(&run->arena, str_from(directory), &run->nsight_path) ? CG_OK
                                                                           : err_nomem(reterr);
}

static cg_code publish(cg_capture *capture, uint8_t outcome, cg_publication **ret, cg_err *reterr)
{
    cg_publication *self = new_publication(capture->env, reterr);

    if (self == NULL)
        return CG_NOMEM;
    return finish(self,
                  capture_run_publish(capture->env, capture->run, outcome, &self->arena,
                                      &self->about, reterr),
                  ret, reterr);
}

cg_code cg_capture_publish(cg_capture *capture, cg_publication **ret, cg_err *reterr)
{
    return publish(capture, OUTCOME_COMPLETE, ret, reterr);
}

cg_code cg_capture_publish_failed(cg_capture *capture, cg_publication **ret, cg_err *reterr)
{
    return publish(capture, OUTCOME_FAILED, ret, reterr);
}

void cg_capture_free(cg_capture *capture)
{
    if (capture == NULL)
        return;
    capture_run_free(capture->run);
    heap_release(&capture->heap, capture, sizeof *capture);
}
