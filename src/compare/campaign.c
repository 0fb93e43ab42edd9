#include "compare/campaign.h"

#include "base/sort.h"
#include "codec/json.h"
#include "exec/columns.h"
#include "schema/reader.h"

/* --- paths --- */

/* The parts of a relative path without empty ones and `.`; joined by `/`, in `mem`. */
static bool normalized(arena *mem, cg_str path, cg_str *ret)
{
    char *to = arena_bytes(mem, path.len + 1);
    size_t len = 0;

    if (to == NULL)
        return false;
    for (size_t at = 0; at < path.len;) {
        size_t end = at;

        while (end < path.len && path.ptr[end] != '/')
            end++;
        if (end > at && !(end - at == 1 && path.ptr[at] == '.')) {
            if (len > 0)
                to[len++] = '/';
            memcpy(to + len, path.ptr + at, end - at);
            len += end - at;
        }
        at = end + 1;
    }
    *ret = (cg_str){to, len};
    return true;
}

static bool is_safe(cg_str path)
{
    return os_dir_is_safe(path) && memchr(path.ptr, '\\', path.len) == NULL &&
           !(path.len == 1 && path.ptr[0] == '.');
}

/* The directory of the manifest with its separator, empty for a bare name. */
static cg_str directory_of(cg_str path)
{
    size_t slash = str_find_last(path, '/');

    if (slash == SIZE_MAX)
        return (cg_str){path.ptr, 0};
    while (slash > 0 && path.ptr[slash - 1] == '/')
        slash--;
    return (cg_str){path.ptr, slash + 1};
}

/* --- the manifest --- */

static bool is_step_before(const void *context, uint32_t a, uint32_t b)
{
    const campaign_capture *captures = context;

    return captures[a].step < captures[b].step;
}

static bool is_place_before(const void *context, uint32_t a, uint32_t b)
{
    const cg_str *places = context;

    return str_compare(places[a], places[b]) < 0;
}

static cg_code refuse(cg_err *reterr, const char *what)
{
    return cg_fail(reterr, PROBLEM_CAMPAIGN, "%s", what);
}

/* Order the captures by step; two of one step or of one place are refused. */
static cg_code arrange(campaign *self, campaign_capture *given, const cg_str *places,
                       uint32_t *order, uint32_t *room, cg_err *reterr)
{
    size_t count = self->count;

    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort_with(order, room, count, is_place_before, places);
    for (size_t i = 1; i < count; i++) {
        if (str_equal(places[order[i - 1]], places[order[i]]))
            return cg_fail(reterr, PROBLEM_CAMPAIGN, "the bundle `%.*s` is planned twice",
                           ERR_STR(given[order[i]].bundle));
    }
    sort_with(order, room, count, is_step_before, given);
    for (size_t i = 0; i < count; i++) {
        self->captures[i] = given[order[i]];
        if (i > 0 && self->captures[i].step == self->captures[i - 1].step)
            return cg_fail(reterr, PROBLEM_CAMPAIGN, "step %llu is planned twice",
                           (unsigned long long)self->captures[i].step);
    }
    return CG_OK;
}

static cg_code take_captures(campaign *self, cg_str plan_path, const doc_planned_capture *planned,
                             cg_err *reterr)
{
    size_t count = self->count;
    cg_str directory = directory_of(plan_path);
    campaign_capture *given = arena_zero(&self->arena, count * sizeof *given);
    cg_str *places = arena_take(&self->arena, count * sizeof *places);
    uint32_t *order = arena_take(&self->arena, 2 * count * sizeof *order);

    self->captures = arena_zero(&self->arena, count * sizeof *self->captures);
    if (given == NULL || places == NULL || order == NULL || self->captures == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++) {
        if (!is_safe(planned[i].bundle))
            return cg_fail(reterr, PROBLEM_CAMPAIGN, "`%.*s` is planned, which is no safe path",
                           ERR_STR(planned[i].bundle));
        given[i].step = planned[i].capture_step;
        if (!arena_text(&self->arena, planned[i].bundle, &given[i].bundle) ||
            !arena_format(&self->arena, &given[i].path, "%.*s%.*s", (int)directory.len,
                          directory.ptr, (int)planned[i].bundle.len, planned[i].bundle.ptr) ||
            !normalized(&self->arena, planned[i].bundle, &places[i]))
            return err_nomem(reterr);
    }
    return arrange(self, given, places, order, order + count, reterr);
}

static cg_code take_manifest(campaign *self, cg_str path, const doc_campaign *from, cg_err *reterr)
{
    if (!str_equal(from->schema, schema_id_text(SCHEMA_CAMPAIGN)))
        return cg_fail(reterr, PROBLEM_CAMPAIGN, "its schema is `%.*s`", ERR_STR(from->schema));
    if (str_is_blank(from->campaign_id))
        return refuse(reterr, "its `campaign_id` is blank");
    if (str_is_blank(from->entrypoint))
        return refuse(reterr, "its `entrypoint` is blank");
    if (from->planned.count == 0)
        return refuse(reterr, "it plans no capture");
    if (!arena_text(&self->arena, from->campaign_id, &self->id) ||
        !arena_text(&self->arena, from->entrypoint, &self->entrypoint))
        return err_nomem(reterr);
    self->count = from->planned.count;
    return take_captures(self, path, from->planned.at, reterr);
}

static cg_code parse(campaign *self, cg_str path, cg_str text, json_reader *json, cg_err *reterr)
{
    yyjson_val *root;
    json_fault fault;
    doc_campaign document;
    cg_code code = json_read(json, text, &root, &fault);

    if (code == CG_NOMEM)
        return err_nomem(reterr);
    if (code != CG_OK)
        return cg_fail(reterr, PROBLEM_CAMPAIGN, "no JSON: %s at byte %zu", fault.text,
                       fault.offset);
    if (!yyjson_is_obj(root))
        return cg_fail(reterr, PROBLEM_CAMPAIGN, "not an object but %s", json_kind_name(root));
    CG_TRY(sc_read(&table_campaign, root, &self->arena, &document, reterr));
    return take_manifest(self, path, &document, reterr);
}

static cg_code read_manifest(campaign *self, cg_str path, cg_str text, cg_err *reterr)
{
    json_reader json;
    cg_code code;

    json_init(&json, &self->heap, limit_of(self->env, CG_LIMIT_JSON_DEPTH));
    code = parse(self, path, text, &json, reterr);
    json_free(&json);
    return code;
}

cg_code campaign_read_text(const cg_env *env, cg_str path, cg_str text, campaign **ret,
                           cg_err *reterr)
{
    heap start;
    campaign *self;
    cg_code code;

    heap_init(&start, env);
    self = heap_resize(&start, NULL, 0, sizeof *self);
    if (self == NULL)
        return err_nomem(reterr);
    *self = (campaign){.heap = start, .env = env};
    arena_init(&self->arena, &self->heap);
    code = read_manifest(self, path, text, reterr);
    if (code != CG_OK) {
        err_in_file(reterr, path);
        campaign_free(self);
        return code;
    }
    *ret = self;
    return CG_OK;
}

cg_code campaign_read(const cg_env *env, cg_str path, campaign **ret, cg_err *reterr)
{
    heap room;
    buf text;
    cg_code code;

    heap_init(&room, env);
    buf_init(&text, &room, (size_t)limit_of(env, CG_LIMIT_JSON_DOCUMENT_BYTES));
    code = os_read_whole(env, path, &text, reterr);
    if (code != CG_OK)
        err_in_file(reterr, path);
    else
        code = campaign_read_text(env, path, buf_text(&text), ret, reterr);
    buf_free(&text);
    return code;
}

void campaign_free(campaign *self)
{
    if (self == NULL)
        return;
    arena_free(&self->arena);
    heap_release(&self->heap, self, sizeof *self);
}

/* --- captures --- */

static bool stops_everything(cg_code code)
{
    return code == CG_NOMEM || code == CG_INTERRUPTED || code == CG_INTERNAL;
}

static cg_code keep_text(campaign *self, cg_str text, cg_str *to, cg_err *reterr)
{
    return arena_text(&self->arena, text, to) ? CG_OK : err_nomem(reterr);
}

static cg_code mismatch(campaign *self, campaign_capture *capture, const rec_run *run,
                        cg_err *reterr)
{
    bool is_made;

    capture->state = CAPTURE_STATE_MISMATCH;
    if (!str_equal(run->entrypoint, self->entrypoint))
        is_made = arena_format(&self->arena, &capture->message,
                               "the run entered at `%.*s`, planned is `%.*s`",
                               ERR_STR(run->entrypoint), ERR_STR(self->entrypoint));
    else
        is_made = arena_format(
            &self->arena, &capture->message, "the run was captured at step %llu, planned is %llu",
            (unsigned long long)run->capture_step, (unsigned long long)capture->step);
    return is_made ? CG_OK : err_nomem(reterr);
}

static cg_code classify(campaign *self, campaign_capture *capture, const source *from,
                        cg_err *reterr)
{
    const trace_doc *trace = from->trace;

    if (!str_equal(trace->run.entrypoint, self->entrypoint) ||
        trace->run.capture_step != capture->step)
        return mismatch(self, capture, &trace->run, reterr);
    CG_TRY(keep_text(self, trace->run.run_id, &capture->run_id, reterr));
    capture->is_valid = from->health.is_valid;
    if (!from->health.is_complete) {
        capture->state = CAPTURE_STATE_FAILED;
        return keep_text(self, trace->failure_reason, &capture->reason, reterr);
    }
    capture->state = CAPTURE_STATE_PUBLISHED;
    return keep_text(self, source_manifest(from), &capture->manifest, reterr);
}

cg_code campaign_examine(campaign *self, size_t index, source *ret, cg_err *reterr)
{
    campaign_capture *capture = &self->captures[index];
    enum os_kind kind = OS_OTHER;
    cg_err cause = {0};
    source from;
    cg_code code = os_kind_of(self->env, capture->path, true, &kind, &cause);

    if (ret != NULL)
        *ret = (source){0};
    if (code == CG_OK && kind == OS_MISSING) {
        capture->state = CAPTURE_STATE_MISSING;
        return CG_OK;
    }
    if (code == CG_OK)
        code = source_open_bundle(self->env, capture->path, &from, &cause);
    if (code != CG_OK) {
        if (stops_everything(code)) {
            if (reterr != NULL && reterr->code == CG_OK)
                *reterr = cause;
            return code;
        }
        capture->state = CAPTURE_STATE_UNVERIFIED;
        return keep_text(self, str_from(cause.text), &capture->message, reterr);
    }
    code = classify(self, capture, &from, reterr);
    if (code == CG_OK && ret != NULL && capture->state == CAPTURE_STATE_PUBLISHED)
        *ret = from;
    else
        source_close(&from);
    return code;
}

cg_code campaign_examine_all(campaign *self, cg_err *reterr)
{
    for (size_t i = 0; i < self->count; i++)
        CG_TRY(campaign_examine(self, i, NULL, reterr));
    return CG_OK;
}

size_t campaign_state_count(const campaign *self, unsigned state)
{
    size_t count = 0;

    for (size_t i = 0; i < self->count; i++)
        count += self->captures[i].state == state;
    return count;
}
