#include "publish/publication.h"

#include "base/os_place.h"
#include "base/os_stage.h"
#include "publish/semantic.h"
#include "view/parts.h"

#define COPY_BLOCK ((size_t)256 << 10)

/* One publication in the making. */
typedef struct work {
    const cg_env *env;
    const publish_request *request;
    heap heap;
    arena arena;
    char *block; /* COPY_BLOCK */
    os_stage stage;
    os_file trace; /* of the request, open */
    os_dir nsight; /* handle -1: none */
    os_entries nsight_files;
    VEC(manifest_file) files; /* inputs first, then what was derived */
    size_t input_count;
    cg_str run_id;
} work;

/* --- words --- */

/* What cannot be read back of our own copies is a failure of the output side. */
static cg_code fail_staged(const cg_err *cause, cg_err *reterr)
{
    return bundle_fail(PROBLEM_OUTPUT, cause, reterr);
}

static cg_code interrupted(cg_err *reterr)
{
    return cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped on request");
}

static cg_code refuse(enum problem problem, cg_str path, const char *what, cg_err *reterr)
{
    cg_code code = cg_fail(reterr, problem, "%s", what);

    err_in_file(reterr, path);
    return code;
}

/* What no receipt can be written to: told before anything is published. */
static cg_code check_receipt(const cg_env *env, cg_str path, cg_err *reterr)
{
    enum os_kind kind;
    cg_err cause = {0};
    bool is_link;

    if (os_kind_of(env, path, false, &kind, &cause) != CG_OK)
        return bundle_fail(PROBLEM_OUTPUT, &cause, reterr);
    is_link = kind == OS_LINK;
    if (is_link && os_kind_of(env, path, true, &kind, &cause) != CG_OK)
        return bundle_fail(PROBLEM_OUTPUT, &cause, reterr);
    if (is_link && (kind == OS_FILE || kind == OS_DIRECTORY || kind == OS_MISSING))
        return refuse(PROBLEM_OUTPUT_LINK, path,
                      "the receipt would go through a link; nothing was published", reterr);
    if (kind == OS_DIRECTORY)
        return refuse(PROBLEM_OUTPUT, path, "the receipt would replace a folder", reterr);
    return CG_OK;
}

cg_code publication_check_place(const cg_env *env, const publish_request *request, cg_err *reterr)
{
    cg_str marker = bundle_member_path(MEMBER_MANIFEST);
    bool is_met;

    CG_TRY(os_is_below(env, request->bundle_path, marker.ptr, &is_met, reterr));
    if (is_met)
        return refuse(PROBLEM_OUTPUT_BUNDLE, request->bundle_path,
                      "the bundle would lie inside another one", reterr);
    if (request->receipt_path.ptr == NULL)
        return CG_OK;
    CG_TRY(os_is_within(env, request->receipt_path, request->bundle_path, &is_met, reterr));
    if (!is_met)
        CG_TRY(os_is_below(env, request->receipt_path, marker.ptr, &is_met, reterr));
    if (is_met)
        return refuse(PROBLEM_OUTPUT_BUNDLE, request->receipt_path,
                      "the receipt would lie inside a bundle; nothing was published", reterr);
    CG_TRY(os_same_file(env, request->receipt_path, request->trace_path, &is_met, reterr));
    if (is_met)
        return refuse(PROBLEM_OUTPUT_INPUT, request->receipt_path,
                      "the receipt would replace the trace; nothing was published", reterr);
    return check_receipt(env, request->receipt_path, reterr);
}

/* --- inputs --- */

static cg_code list_nsight(work *self, cg_err *reterr)
{
    uint64_t most = limit_of(self->env, CG_LIMIT_BUNDLE_FILES);

    CG_TRY(os_dir_open(self->env, self->request->nsight_path, &self->nsight, reterr));
    CG_TRY(os_dir_list(&self->nsight, &self->heap, &self->arena,
                       most < SIZE_MAX ? (size_t)most : SIZE_MAX, &self->nsight_files, reterr));
    if (self->nsight_files.count == 0)
        return cg_fail(reterr, PROBLEM_NSIGHT_EMPTY, "the Nsight folder is empty");
    for (size_t i = 0; i < self->nsight_files.count; i++) {
        const os_entry *entry = &self->nsight_files.at[i];

        if (entry->kind != OS_FILE)
            return cg_fail(reterr, PROBLEM_NSIGHT_ENTRY, "`%.*s` is no regular file",
                           ERR_STR(entry->name));
        if (memchr(entry->name.ptr, '\\', entry->name.len) != NULL ||
            str_utf8_error(entry->name) != SIZE_MAX)
            return cg_fail(reterr, PROBLEM_NSIGHT_ENTRY,
                           "`%.*s` is no name that a bundle can declare", ERR_STR(entry->name));
    }
    return CG_OK;
}

static cg_code open_inputs(work *self, cg_err *reterr)
{
    CG_TRY(os_open_read(self->env, self->request->trace_path, &self->trace, reterr));
    if (self->request->nsight_path.ptr != NULL) {
        cg_code code = list_nsight(self, reterr);

        if (code != CG_OK) {
            err_in_file(reterr, self->request->nsight_path);
            return code;
        }
    }
    return CG_OK;
}

static cg_code add_file(work *self, cg_str directory, cg_str name, const uint8_t sum[DIGEST_BYTES],
                        uint64_t bytes, cg_err *reterr)
{
    manifest_file *file = vec_add(&self->heap, &self->files);

    if (file == NULL)
        return err_nomem(reterr);
    *file = (manifest_file){.bytes = bytes};
    memcpy(file->sum, sum, DIGEST_BYTES);
    if (!arena_format(&self->arena, &file->path, "%.*s%s%.*s", (int)directory.len, directory.ptr,
                      directory.len > 0 ? "/" : "", (int)name.len, name.ptr))
        return err_nomem(reterr);
    return CG_OK;
}

/* Read `from` to its end, into `to` (NULL: nowhere), and note it as an input. */
static cg_code take_input(work *self, os_file *from, os_staged *to, cg_str directory, cg_str name,
                          cg_err *reterr)
{
    uint64_t most = limit_of(self->env, CG_LIMIT_DOCUMENT_BYTES);
    uint8_t sum[DIGEST_BYTES];
    uint64_t bytes = 0;
    digest of;

    CG_TRY(digest_start(&of, reterr));
    for (;;) {
        size_t got = 0;
        cg_code code = os_read(from, self->block, COPY_BLOCK, &got, reterr);

        bytes += got;
        if (code == CG_OK && bytes > most)
            code = cg_fail(reterr, PROBLEM_LIMIT, "`%.*s` exceeds `document-bytes` (%llu)",
                           ERR_STR(name), (unsigned long long)most);
        if (code == CG_OK && !env_progress(self->env, "copies", bytes, from->size))
            code = interrupted(reterr);
        if (code == CG_OK && to != NULL)
            code = os_staged_write(to, self->block, got, reterr);
        if (code != CG_OK) {
            digest_drop(&of);
            return code;
        }
        if (got == 0)
            break;
        digest_add(&of, self->block, got);
    }
    CG_TRY(digest_finish(&of, sum, reterr));
    CG_TRY(add_file(self, directory, name, sum, bytes, reterr));
    self->input_count = self->files.count;
    return CG_OK;
}

/* Copy one input into the stage; `into` NULL: into its root. */
static cg_code copy_input(work *self, os_file *from, os_dir *into, cg_str directory, cg_str name,
                          cg_err *reterr)
{
    os_staged to;
    cg_code code;

    CG_TRY(os_stage_file(&self->stage, into, name, &to, reterr));
    code = take_input(self, from, &to, directory, name, reterr);
    if (code != CG_OK) {
        os_staged_drop(&to);
        return code;
    }
    CG_TRY(os_staged_finish(&to, reterr));
    if (memcmp(to.sum, self->files.at[self->files.count - 1].sum, DIGEST_BYTES) != 0)
        return cg_fail(reterr, PROBLEM_INTERNAL, "a copy is not what was read");
    return CG_OK;
}

static cg_code copy_nsight_files(work *self, os_dir *into, cg_err *reterr)
{
    cg_str directory = bundle_member_path(MEMBER_NSIGHT);

    for (size_t i = 0; i < self->nsight_files.count; i++) {
        cg_str name = self->nsight_files.at[i].name;
        os_file from;
        cg_code code;

        CG_TRY(os_dir_open_file(&self->nsight, name, 0, &from, reterr));
        code = copy_input(self, &from, into, directory, name, reterr);
        os_close(&from);
        CG_TRY(code);
    }
    return CG_OK;
}

static cg_code copy_inputs(work *self, cg_err *reterr)
{
    os_dir into;
    cg_code code;

    CG_TRY(
        copy_input(self, &self->trace, NULL, CG_LIT(""), bundle_member_path(MEMBER_TRACE), reterr));
    if (self->nsight.handle < 0)
        return CG_OK;
    CG_TRY(os_stage_directory(&self->stage, bundle_member_path(MEMBER_NSIGHT), &into, reterr));
    code = copy_nsight_files(self, &into, reterr);
    if (code != CG_OK) {
        os_dir_close(&into);
        return code;
    }
    return os_stage_close_directory(&into, reterr);
}

/* The same inputs without copying, to compare them with what is published. */
static cg_code hash_inputs(work *self, cg_err *reterr)
{
    CG_TRY(
        take_input(self, &self->trace, NULL, CG_LIT(""), bundle_member_path(MEMBER_TRACE), reterr));
    for (size_t i = 0; i < self->nsight_files.count; i++) {
        cg_str name = self->nsight_files.at[i].name;
        os_file from;
        cg_code code;

        CG_TRY(os_dir_open_file(&self->nsight, name, 0, &from, reterr));
        code = take_input(self, &from, NULL, bundle_member_path(MEMBER_NSIGHT), name, reterr);
        os_close(&from);
        CG_TRY(code);
    }
    return CG_OK;
}

/* --- what is derived --- */

typedef struct derived_sink {
    os_staged file;
    cg_err failure;
} derived_sink;

static cg_code write_derived(void *context, const char *bytes, size_t count)
{
    derived_sink *self = context;

    return os_staged_write(&self->file, bytes, count, &self->failure) == CG_OK ? CG_OK : CG_OUTPUT;
}

static cg_code stage_derived(work *self, const evidence *from, const derived_member *member,
                             cg_err *reterr)
{
    cg_str path = bundle_member_path(member->member);
    derived_sink to = {.failure = {0}};
    cg_err cause = {0};
    cg_code code;

    CG_TRY(os_stage_file(&self->stage, NULL, path, &to.file, reterr));
    code = member->write(from, (cg_sink){&to, write_derived}, &cause);
    if (code != CG_OK) {
        os_staged_drop(&to.file);
        return bundle_fail(PROBLEM_OUTPUT, to.failure.code != CG_OK ? &to.failure : &cause, reterr);
    }
    CG_TRY(os_staged_finish(&to.file, reterr));
    return add_file(self, CG_LIT(""), path, to.file.sum, to.file.bytes, reterr);
}

/* The evidence of the staged copies. */
static cg_code derive_staged(work *self, evidence **ret, cg_err *reterr)
{
    os_file copy;
    os_dir nsight = {.handle = -1};
    trace_doc *trace;
    cg_err cause = {0};
    cg_code code =
        os_dir_open_file(&self->stage.staging, bundle_member_path(MEMBER_TRACE), 0, &copy, &cause);

    if (code != CG_OK)
        return fail_staged(&cause, reterr);
    code = trace_read_open(self->env, &copy, &trace, &cause);
    os_close(&copy);
    if (code == CG_NOT_FOUND)
        return fail_staged(&cause, reterr);
    if (code != CG_OK) {
        if (reterr != NULL && reterr->code == CG_OK)
            *reterr = cause;
        err_in_file(reterr, self->request->trace_path);
        return code;
    }
    if (self->nsight.handle >= 0 &&
        os_dir_enter(&self->stage.staging, bundle_member_path(MEMBER_NSIGHT), &nsight, &cause) !=
            CG_OK) {
        trace_free(trace);
        return fail_staged(&cause, reterr);
    }
    return evidence_build_opened(self->env, trace, self->nsight.handle >= 0 ? &nsight : NULL, ret,
                                 reterr);
}

/* --- plans --- */

/* The wire name of a member of rec_run. */
static cg_str run_key(size_t offset)
{
    for (uint16_t i = 0; i < table_run.count; i++) {
        if (table_run.fields[i].offset == offset)
            return table_run.fields[i].key;
    }
    return CG_LIT("");
}

static void name_difference(buf *to, size_t offset, bool is_equal)
{
    if (is_equal)
        return;
    if (to->len > 0)
        buf_add(to, CG_LIT(", "));
    buf_add(to, run_key(offset));
}

static cg_code compare_plan(heap *from, const publish_plan *plan, const rec_run *run,
                            enum problem problem, cg_err *reterr)
{
    cg_code code = CG_OK;
    buf fields;

    buf_init(&fields, from, 256);
    name_difference(&fields, offsetof(rec_run, entrypoint),
                    str_equal(plan->entrypoint, run->entrypoint));
    name_difference(&fields, offsetof(rec_run, correlation_id),
                    str_equal(plan->correlation_id, run->correlation_id));
    name_difference(&fields, offsetof(rec_run, phase), plan->phase == run->phase);
    name_difference(&fields, offsetof(rec_run, capture_step),
                    plan->capture_step == run->capture_step);
    name_difference(&fields, offsetof(rec_run, device), str_equal(plan->device, run->device));
    if (fields.failed)
        code = err_nomem(reterr);
    else if (fields.len > 0)
        code = cg_fail(reterr, problem, "the run is not the planned one: it differs in %.*s",
                       (int)fields.len, fields.at);
    buf_free(&fields);
    return code;
}

/* A planned capture must be the one that was planned, and end as it is said to. */
static cg_code check_capture(work *self, const trace_doc *trace, cg_err *reterr)
{
    const publish_request *request = self->request;

    if (request->plan == NULL)
        return CG_OK;
    CG_TRY(compare_plan(&self->heap, request->plan, &trace->run, PROBLEM_CAPTURE_PLAN, reterr));
    if (trace->outcome == request->outcome)
        return CG_OK;
    return cg_fail(reterr, PROBLEM_CAPTURE_OUTCOME, "the recorded outcome is `%.*s`",
                   ERR_STR(sc_word(&words_outcome, trace->outcome)));
}

/* --- what stands there --- */

static cg_code conflict(cg_str path, const cg_err *cause, cg_err *reterr)
{
    cg_code code;

    if (cause->code == CG_NOT_FOUND || cause->problem == problem_id(PROBLEM_BUNDLE_UNREADABLE))
        code = cg_fail(reterr, PROBLEM_OUTPUT, "what stands there cannot be read: %s", cause->text);
    else if (cause->code == CG_NOMEM || cause->code == CG_INTERRUPTED || cause->code == CG_INTERNAL)
        code = bundle_fail(PROBLEM_INTERNAL, cause, reterr);
    else
        code = cg_fail(reterr, PROBLEM_BUNDLE_CONFLICT, "exists and is no verifiable bundle: %s",
                       cause->text);
    err_in_file(reterr, path);
    return code;
}

static cg_code open_published(const cg_env *env, cg_str path, bundle **ret, cg_err *reterr)
{
    enum os_kind kind;
    cg_err cause = {0};

    CG_TRY(os_kind_of(env, path, true, &kind, reterr));
    if (kind != OS_DIRECTORY) {
        (void)cg_fail(&cause, PROBLEM_BUNDLE_SPECIAL, "it is no folder");
        return conflict(path, &cause, reterr);
    }
    return bundle_open(env, path, ret, &cause) == CG_OK ? CG_OK : conflict(path, &cause, reterr);
}

static cg_code keep_receipt(const bundle *from, cg_str path, arena *mem, publication_receipt *ret,
                            cg_err *reterr)
{
    doc_receipt receipt = bundle_receipt(from);

    ret->status = PUBLICATION_ALREADY;
    ret->path = path;
    return receipt_keep(&receipt, mem, &ret->verification, reterr);
}

static cg_code compare_published(bundle *published, cg_str path, const publish_plan *plan,
                                 cg_err *reterr)
{
    os_file *pin = &published->pinned[MEMBER_TRACE];
    trace_doc *trace;
    cg_err cause = {0};
    cg_code code;

    code = os_file_rewind(pin, &cause);
    if (code == CG_OK)
        code = trace_read_open(published->env, pin, &trace, &cause);
    if (code != CG_OK)
        return conflict(path, &cause, reterr);
    code = compare_plan(&published->heap, plan, &trace->run, PROBLEM_BUNDLE_CONFLICT, reterr);
    trace_free(trace);
    return code;
}

cg_code publication_reconcile(const cg_env *env, cg_str path, const publish_plan *plan, arena *mem,
                              bool *ret_found, publication_receipt *ret, cg_err *reterr)
{
    enum os_kind kind;
    bundle *published;
    cg_code code;

    *ret_found = false;
    CG_TRY(os_kind_of(env, path, false, &kind, reterr));
    if (kind == OS_MISSING)
        return CG_OK;
    CG_TRY(open_published(env, path, &published, reterr));
    code = compare_published(published, path, plan, reterr);
    if (code == CG_OK)
        code = keep_receipt(published, path, mem, ret, reterr);
    bundle_free(published);
    err_in_file(reterr, path);
    *ret_found = code == CG_OK;
    return code;
}

/* Are the inputs of the published bundle exactly ours? */
static bool has_same_inputs(const work *self, const bundle *published)
{
    cg_str nsight = bundle_member_path(MEMBER_NSIGHT);
    size_t count = 0;

    for (size_t i = 0; i < published->manifest.count; i++) {
        cg_str path = published->manifest.files[i].path;

        count +=
            str_equal(path, bundle_member_path(MEMBER_TRACE)) ||
            (path.len > nsight.len && str_starts_with(path, nsight) && path.ptr[nsight.len] == '/');
    }
    for (size_t i = 0; i < self->input_count; i++) {
        const manifest_file *mine = &self->files.at[i];
        const manifest_file *other = manifest_find(&published->manifest, mine->path);

        if (other == NULL || other->bytes != mine->bytes ||
            memcmp(other->sum, mine->sum, DIGEST_BYTES) != 0)
            return false;
    }
    return count == self->input_count;
}

static cg_code reconcile_inputs(work *self, arena *mem, publication_receipt *ret, cg_err *reterr)
{
    cg_str path = self->request->bundle_path;
    bundle *published;
    cg_code code;

    CG_TRY(open_published(self->env, path, &published, reterr));
    if (self->input_count == 0)
        code = hash_inputs(self, reterr);
    else
        code = CG_OK;
    if (code == CG_OK && !has_same_inputs(self, published)) {
        code =
            cg_fail(reterr, PROBLEM_BUNDLE_CONFLICT, "holds a bundle of other inputs (run `%.*s`)",
                    ERR_STR(published->manifest.run_id));
        err_in_file(reterr, path);
    }
    if (code == CG_OK)
        code = keep_receipt(published, path, mem, ret, reterr);
    bundle_free(published);
    return code;
}

/* Something stands at the destination. */
static cg_code reconcile(work *self, arena *mem, publication_receipt *ret, cg_err *reterr)
{
    bool is_found = true;

    if (self->request->plan != NULL)
        CG_TRY(publication_reconcile(self->env, self->request->bundle_path, self->request->plan,
                                     mem, &is_found, ret, reterr));
    else
        CG_TRY(reconcile_inputs(self, mem, ret, reterr));
    if (!is_found)
        return refuse(PROBLEM_OUTPUT, self->request->bundle_path,
                      "was there and is gone again; try once more", reterr);
    return os_stage_settle(&self->stage, reterr);
}

/* --- the seven steps --- */

static cg_code stage_manifest(work *self, cg_err *reterr)
{
    doc_tool tool = shared_tool();
    manifest about = {.run_id = self->run_id,
                      .producer_name = tool.package,
                      .producer_version = tool.version,
                      .files = self->files.at,
                      .count = self->files.count};
    size_t size = self->files.count * sizeof *self->files.at;
    manifest_file *room = heap_resize(&self->heap, NULL, 0, size);
    derived_sink to = {.failure = {0}};
    cg_err cause = {0};
    cg_code code;

    if (room == NULL)
        return err_nomem(reterr);
    manifest_sort(about.files, room, about.count);
    heap_resize(&self->heap, room, size, 0);
    CG_TRY(
        os_stage_file(&self->stage, NULL, bundle_member_path(MEMBER_MANIFEST), &to.file, reterr));
    code = manifest_write(&self->heap, &about, (cg_sink){&to, write_derived}, &cause);
    if (code != CG_OK) {
        os_staged_drop(&to.file);
        return bundle_fail(PROBLEM_OUTPUT, to.failure.code != CG_OK ? &to.failure : &cause, reterr);
    }
    return os_staged_finish(&to.file, reterr);
}

static cg_code stage_content(work *self, cg_err *reterr)
{
    evidence *derived;
    cg_code code;

    CG_TRY(copy_inputs(self, reterr));
    CG_TRY(derive_staged(self, &derived, reterr));
    code = check_capture(self, derived->trace, reterr);
    for (size_t i = 0; i < derived_member_count && code == CG_OK; i++)
        code = stage_derived(self, derived, &derived_members[i], reterr);
    if (code == CG_OK && !arena_text(&self->arena, derived->trace->run.run_id, &self->run_id))
        code = err_nomem(reterr);
    evidence_free(derived);
    return code;
}

/*
 * The staged copy is read again through its directory. With Nsight files it is also derived again:
 * a file that could not be read is a statement of the evidence, and must not become one by an
 * accident of this machine.
 */
static cg_code verify_stage(work *self, arena *mem, publication_receipt *ret, cg_err *reterr)
{
    os_dir root;
    bundle *staged;
    sc_strs unchecked;
    cg_err cause = {0};
    cg_code code = os_dir_enter(&self->stage.staging, CG_LIT("."), &root, &cause);

    if (code == CG_OK)
        code = bundle_open_at(self->env, &root, &staged, &cause);
    if (code != CG_OK)
        return fail_staged(&cause, reterr);
    if (self->nsight.handle >= 0)
        code = bundle_check_semantics(staged, false, &unchecked, &cause);
    if (code == CG_OK)
        code = keep_receipt(staged, self->request->bundle_path, mem, ret, &cause);
    bundle_free(staged);
    return code == CG_OK ? CG_OK : fail_staged(&cause, reterr);
}

static cg_code publish(work *self, arena *mem, publication_receipt *ret, cg_err *reterr)
{
    cg_err cause = {0};
    enum os_kind kind;
    bool is_taken;

    CG_TRY(os_stage_open(self->env, &self->heap, self->request->bundle_path, &self->stage, reterr));
    os_stage_sweep(&self->stage);
    if (os_dir_kind(&self->stage.parent, str_from(self->stage.name), &kind, &cause) != CG_OK)
        return fail_staged(&cause, reterr);
    if (kind != OS_MISSING)
        return reconcile(self, mem, ret, reterr);
    CG_TRY(os_stage_begin(self->env, &self->stage, reterr));
    CG_TRY(stage_content(self, reterr));
    CG_TRY(stage_manifest(self, reterr));
    CG_TRY(os_stage_sync(&self->stage, reterr));
    CG_TRY(verify_stage(self, mem, ret, reterr));
    CG_TRY(os_stage_commit(&self->stage, &is_taken, reterr));
    if (is_taken)
        return reconcile(self, mem, ret, reterr);
    ret->status = PUBLICATION_PUBLISHED;
    return CG_OK;
}

cg_code publication_publish(const cg_env *env, const publish_request *request, arena *mem,
                            publication_receipt *ret, cg_err *reterr)
{
    work self = {.env = env, .request = request, .trace = {.handle = -1}, .nsight = {.handle = -1}};
    publication_receipt receipt = {.path = request->bundle_path};
    cg_code code;

    CG_TRY(publication_check_place(env, request, reterr));
    heap_init(&self.heap, env);
    arena_init(&self.arena, &self.heap);
    self.block = arena_bytes(&self.arena, COPY_BLOCK);
    code = self.block == NULL ? err_nomem(reterr) : open_inputs(&self, reterr);
    if (code == CG_OK)
        code = publish(&self, mem, &receipt, reterr);
    if (self.stage.os != NULL)
        os_stage_drop(&self.stage);
    os_close(&self.trace);
    if (self.nsight.os != NULL)
        os_dir_close(&self.nsight);
    vec_free(&self.heap, &self.files);
    arena_free(&self.arena);
    if (code == CG_OK)
        *ret = receipt;
    else
        err_in_file(reterr, request->bundle_path);
    return code;
}
