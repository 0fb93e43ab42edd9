#include "publish/capture_run.h"

#include <inttypes.h>

#include "base/os_place.h"
#include "base/os_stage.h"

static cg_code new_capture(const cg_env *env, cg_str path, const publish_plan *plan,
                           capture_run **ret, cg_err *reterr)
{
    heap start;
    capture_run *self;

    heap_init(&start, env);
    self = heap_resize(&start, NULL, 0, sizeof *self);
    if (self == NULL)
        return err_nomem(reterr);
    *self = (capture_run){.heap = start, .plan = *plan};
    arena_init(&self->arena, &self->heap);
    if (!arena_text(&self->arena, path, &self->bundle_path) ||
        !arena_text(&self->arena, plan->entrypoint, &self->plan.entrypoint) ||
        !arena_text(&self->arena, plan->correlation_id, &self->plan.correlation_id) ||
        !arena_text(&self->arena, plan->device, &self->plan.device)) {
        capture_run_free(self);
        return err_nomem(reterr);
    }
    *ret = self;
    return CG_OK;
}

void capture_run_free(capture_run *self)
{
    if (self == NULL)
        return;
    arena_free(&self->arena);
    heap_release(&self->heap, self, sizeof *self);
}

/* `DIRECTORY/.NAME.trace-<pid>-<16 hex>.jsonl`. */
static cg_code name_trace(const cg_env *env, capture_run *self, const os_stage *stage,
                          cg_err *reterr)
{
    cg_str path = self->bundle_path;
    size_t slash;
    char name[OS_NAME_ROOM];

    while (path.len > 1 && path.ptr[path.len - 1] == '/')
        path.len--;
    slash = str_find_last(path, '/');
    if (!os_stage_trace_name(env, stage, name) ||
        !arena_format(&self->arena, &self->trace_path, "%.*s%s",
                      slash != SIZE_MAX ? (int)slash + 1 : 0, path.ptr, name))
        return err_nomem(reterr);
    return CG_OK;
}

/* Directories are made now, so that the recorder can begin; nothing else is. */
static cg_code begin(const cg_env *env, capture_run *self, cg_err *reterr)
{
    os_stage stage;
    cg_code code;

    CG_TRY(os_stage_open(env, &self->heap, self->bundle_path, &stage, reterr));
    os_stage_sweep(&stage);
    code = name_trace(env, self, &stage, reterr);
    if (code == CG_OK)
        code = os_stage_settle(&stage, reterr);
    os_stage_drop(&stage);
    return code;
}

/* Staged traces of runs that died after publishing: the same bytes as what is published. */
static void sweep_traces(const cg_env *env, cg_str path)
{
    os_stage stage;
    bundle *published;
    heap memory;

    if (bundle_open(env, path, &published, NULL) != CG_OK)
        return;
    heap_init(&memory, env);
    if (os_stage_open(env, &memory, path, &stage, NULL) == CG_OK) {
        const manifest_file *trace =
            manifest_find(&published->manifest, bundle_member_path(MEMBER_TRACE));

        os_stage_sweep(&stage);
        os_stage_sweep_traces(&stage, trace->bytes, trace->sum);
        os_stage_drop(&stage);
    }
    bundle_free(published);
}

cg_code capture_run_begin(const cg_env *env, cg_str path, const publish_plan *plan, arena *mem,
                          capture_run **ret, publication_receipt *ret_receipt, cg_err *reterr)
{
    const publish_request request = {.bundle_path = path};
    capture_run *self = NULL;
    bool is_found;
    cg_code code;

    *ret = NULL;
    CG_TRY(publication_check_place(env, &request, reterr));
    CG_TRY(publication_reconcile(env, path, plan, mem, &is_found, ret_receipt, reterr));
    if (is_found) {
        sweep_traces(env, path);
        return CG_OK;
    }
    CG_TRY(new_capture(env, path, plan, &self, reterr));
    code = begin(env, self, reterr);
    if (code != CG_OK) {
        capture_run_free(self);
        return code;
    }
    *ret = self;
    return CG_OK;
}

cg_code capture_run_publish(const cg_env *env, capture_run *self, uint8_t outcome, arena *mem,
                            publication_receipt *ret, cg_err *reterr)
{
    const publish_request request = {
        .trace_path = self->trace_path,
        .nsight_path = self->nsight_path,
        .bundle_path = self->bundle_path,
        .plan = &self->plan,
        .outcome = outcome,
    };

    CG_TRY(publication_publish(env, &request, mem, ret, reterr));
    /* Best effort: the bundle has these bytes, and the next begin looks for leftovers. */
    os_remove_file(env, self->trace_path);
    return CG_OK;
}
