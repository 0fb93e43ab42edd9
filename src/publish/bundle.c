#include "publish/bundle.h"

#include <stdatomic.h>

#include "base/os_parallel.h"
#include "codec/json.h"
#include "codec/lines.h"
#include "schema/reader.h"

#define HASH_BLOCK ((size_t)128 << 10)
/* Below this, starting threads costs more than it gives. */
#define PARALLEL_BYTES (UINT64_C(4) << 20)
#define PROGRESS_BYTES (UINT64_C(8) << 20)

cg_code bundle_fail(enum problem problem, const cg_err *cause, cg_err *reterr)
{
    if (cause->code == CG_NOMEM || cause->code == CG_LIMIT || cause->code == CG_INTERRUPTED ||
        cause->code == CG_INTERNAL) {
        if (reterr != NULL && reterr->code == CG_OK)
            *reterr = *cause;
        return cause->code;
    }
    return cg_fail(reterr, problem, "%s", cause->text);
}

static cg_code fail_file(enum problem problem, cg_str path, const cg_err *cause, cg_err *reterr)
{
    cg_code code = bundle_fail(problem, cause, reterr);

    err_in_file(reterr, path);
    return code;
}

/* --- the manifest --- */

static cg_code hash_text(cg_str text, uint8_t ret[DIGEST_BYTES], cg_err *reterr)
{
    digest of;

    CG_TRY(digest_start(&of, reterr));
    digest_add(&of, text.ptr, text.len);
    return digest_finish(&of, ret, reterr);
}

/* Everything of an open file, at most `ceiling` bytes; a file that grows meanwhile is refused. */
static cg_code read_all(os_file *file, uint64_t size, buf *ret, cg_err *reterr)
{
    uint64_t left = size;

    while (left > 0) {
        size_t part = left < HASH_BLOCK ? (size_t)left : HASH_BLOCK;
        char *room = buf_room(ret, part);
        size_t got = 0;

        if (room == NULL)
            return err_nomem(reterr);
        CG_TRY(os_read(file, room, part, &got, reterr));
        if (got == 0)
            return cg_fail(reterr, PROBLEM_INPUT_CHANGED,
                           "the file became shorter while being read");
        ret->len += got;
        left -= got;
    }
    return CG_OK;
}

static cg_code open_manifest(bundle *self, os_file *ret, cg_err *reterr)
{
    cg_str path = bundle_member_path(MEMBER_MANIFEST);
    uint64_t most = limit_of(self->env, CG_LIMIT_MANIFEST_BYTES);
    enum os_kind kind;
    cg_err cause = {0};

    if (os_dir_kind(&self->root, path, &kind, &cause) != CG_OK)
        return bundle_fail(PROBLEM_BUNDLE_UNREADABLE, &cause, reterr);
    if (kind == OS_MISSING)
        return cg_fail(reterr, PROBLEM_BUNDLE_NO_MANIFEST, "there is no %s", path.ptr);
    if (kind == OS_LINK)
        return cg_fail(reterr, PROBLEM_BUNDLE_LINK, "`%s` is a link", path.ptr);
    if (kind != OS_FILE)
        return cg_fail(reterr, PROBLEM_BUNDLE_SPECIAL, "`%s` is no regular file", path.ptr);
    if (os_dir_open_file(&self->root, path, 0, ret, &cause) != CG_OK)
        return bundle_fail(PROBLEM_BUNDLE_UNREADABLE, &cause, reterr);
    if (ret->size > most)
        return cg_fail(reterr, PROBLEM_LIMIT, "%s of %llu bytes exceeds `manifest-bytes` (%llu)",
                       path.ptr, (unsigned long long)ret->size, (unsigned long long)most);
    return CG_OK;
}

static cg_code read_manifest(bundle *self, cg_err *reterr)
{
    os_file *file = &self->pinned[MEMBER_MANIFEST];
    cg_err cause = {0};
    buf text;
    cg_code code;

    CG_TRY(open_manifest(self, file, reterr));
    if (os_file_identity(file, &self->manifest_identity, &cause) != CG_OK)
        return bundle_fail(PROBLEM_BUNDLE_UNREADABLE, &cause, reterr);
    buf_init(&text, &self->heap, SIZE_MAX);
    code = read_all(file, file->size, &text, &cause);
    if (code != CG_OK)
        code = bundle_fail(PROBLEM_BUNDLE_UNREADABLE, &cause, reterr);
    if (code == CG_OK)
        code = hash_text(buf_text(&text), self->manifest_sum, reterr);
    if (code == CG_OK)
        code = manifest_read(self->env, &self->heap, &self->arena, buf_text(&text), &self->manifest,
                             reterr);
    buf_free(&text);
    if (code == CG_OK)
        digest_hex(self->manifest_sum, self->manifest_hex);
    return code;
}

static cg_code need_member(bundle *self, enum bundle_member member, cg_err *reterr)
{
    cg_str path = bundle_member_path(member);

    if (manifest_find(&self->manifest, path) != NULL)
        return CG_OK;
    return cg_fail(reterr, PROBLEM_BUNDLE_INCOMPLETE, "`%s` is not among the declared files",
                   path.ptr);
}

/* --- the walk --- */

typedef struct walk_level {
    os_dir dir;
    os_entries entries;
    size_t next;
    cg_str path; /* of the directory, "" for the root */
} walk_level;

static bool join(arena *mem, cg_str directory, cg_str name, cg_str *ret)
{
    return arena_format(mem, ret, "%.*s%s%.*s", (int)directory.len, directory.ptr,
                        directory.len > 0 ? "/" : "", (int)name.len, name.ptr);
}

static cg_code list_level(bundle *self, walk_level *level, cg_err *reterr)
{
    /* Each entry must be declared, so more of them than that is a refusal anyway. */
    uint64_t most = limit_of(self->env, CG_LIMIT_BUNDLE_FILES) + 1;
    cg_err cause = {0};

    level->next = 0;
    if (os_dir_list(&level->dir, &self->heap, &self->arena,
                    most < SIZE_MAX ? (size_t)most : SIZE_MAX, &level->entries, &cause) != CG_OK)
        return bundle_fail(PROBLEM_BUNDLE_UNREADABLE, &cause, reterr);
    return CG_OK;
}

static cg_code meet_file(bundle *self, cg_str path, cg_err *reterr)
{
    manifest_file *file = manifest_find(&self->manifest, path);

    if (file != NULL)
        file->is_found = true;
    else if (!str_equal(path, bundle_member_path(MEMBER_MANIFEST)))
        return cg_fail(reterr, PROBLEM_BUNDLE_UNDECLARED, "`%.*s` is not declared", ERR_STR(path));
    return CG_OK;
}

/* Look at one entry; a directory becomes *ret_below, to be walked next. */
static cg_code meet_entry(bundle *self, walk_level *level, const os_entry *entry,
                          walk_level *ret_below, bool *ret_is_directory, cg_err *reterr)
{
    cg_err cause = {0};
    cg_str path;

    *ret_is_directory = false;
    if (!join(&self->arena, level->path, entry->name, &path))
        return err_nomem(reterr);
    switch (entry->kind) {
    case OS_FILE: return meet_file(self, path, reterr);
    case OS_LINK: return cg_fail(reterr, PROBLEM_BUNDLE_LINK, "`%.*s` is a link", ERR_STR(path));
    case OS_PIPE:
    case OS_OTHER:
    case OS_MISSING:
        return cg_fail(reterr, PROBLEM_BUNDLE_SPECIAL, "`%.*s` is no regular file", ERR_STR(path));
    case OS_DIRECTORY: break;
    }
    if (!manifest_has_directory(&self->manifest, path))
        return cg_fail(reterr, PROBLEM_BUNDLE_UNDECLARED_DIRECTORY,
                       "`%.*s` is a folder without declared files", ERR_STR(path));
    *ret_below = (walk_level){.path = path};
    if (os_dir_enter(&level->dir, entry->name, &ret_below->dir, &cause) != CG_OK)
        return bundle_fail(PROBLEM_BUNDLE_UNREADABLE, &cause, reterr);
    *ret_is_directory = true;
    return CG_OK;
}

/* levels[0] is the root; the depth of declared paths bounds the others. */
static cg_code walk_levels(bundle *self, walk_level *levels, size_t room, size_t *depth,
                           cg_err *reterr)
{
    CG_TRY(list_level(self, &levels[0], reterr));
    while (*depth > 0) {
        walk_level *level = &levels[*depth - 1];
        walk_level below;
        bool is_directory;

        if (level->next == level->entries.count) {
            (*depth)--;
            if (*depth > 0)
                os_dir_close(&level->dir);
            continue;
        }
        CG_TRY(meet_entry(self, level, &level->entries.at[level->next++], &below, &is_directory,
                          reterr));
        if (is_directory) {
            if (*depth == room) {
                os_dir_close(&below.dir);
                return cg_fail(reterr, PROBLEM_LIMIT, "folders lie deeper than %zu", room);
            }
            levels[(*depth)++] = below;
            CG_TRY(list_level(self, &levels[*depth - 1], reterr));
        }
    }
    return CG_OK;
}

static cg_code walk(bundle *self, cg_err *reterr)
{
    /* A directory is entered only above a declared file, whose depth is checked. */
    size_t room = (size_t)limit_of(self->env, CG_LIMIT_BUNDLE_DEPTH) + 2;
    size_t depth = 1;
    arena_place place = arena_mark(&self->arena);
    walk_level *levels;
    cg_code code;

    if (room > 4096)
        room = 4096;
    levels = arena_zero(&self->arena, room * sizeof *levels);
    if (levels == NULL)
        return err_nomem(reterr);
    levels[0].dir = self->root;
    levels[0].path = CG_LIT("");
    code = walk_levels(self, levels, room, &depth, reterr);
    while (depth > 1)
        os_dir_close(&levels[--depth].dir);
    arena_reset(&self->arena, place);
    CG_TRY(code);
    for (size_t i = 0; i < self->manifest.count; i++) {
        if (!self->manifest.files[i].is_found)
            return cg_fail(reterr, PROBLEM_BUNDLE_MISSING, "`%.*s` is declared and not there",
                           ERR_STR(self->manifest.files[i].path));
    }
    return CG_OK;
}

/* --- types and sizes --- */

/* The pin that belongs to a path, NULL for files that nobody reads later. */
static os_file *pin_of(bundle *self, cg_str path)
{
    static const enum bundle_member members[] = {MEMBER_TRACE, MEMBER_EVIDENCE, MEMBER_REPORT,
                                                 MEMBER_PAGE};

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (str_equal(path, bundle_member_path(members[i])))
            return &self->pinned[members[i]];
    }
    return NULL;
}

static cg_code examine(bundle *self, manifest_file *file, cg_err *reterr)
{
    os_file *pin = pin_of(self, file->path);
    os_file opened;
    cg_err cause = {0};
    cg_code code = os_dir_open_file(&self->root, file->path, 0, &opened, &cause);

    if (code == CG_OK)
        code = os_file_identity(&opened, &file->identity, &cause);
    if (code != CG_OK) {
        os_close(&opened);
        return bundle_fail(PROBLEM_BUNDLE_UNREADABLE, &cause, reterr);
    }
    if (pin != NULL)
        *pin = opened;
    else
        os_close(&opened);
    if (file->identity.size != file->bytes)
        return cg_fail(reterr, PROBLEM_BUNDLE_SIZE, "`%.*s` has %llu bytes, declared are %llu",
                       ERR_STR(file->path), (unsigned long long)file->identity.size,
                       (unsigned long long)file->bytes);
    if (self->bytes > UINT64_MAX - file->bytes)
        return cg_fail(reterr, PROBLEM_BUNDLE_SIZE, "the declared sizes exceed 64 bits");
    self->bytes += file->bytes;
    return CG_OK;
}

static cg_code examine_all(bundle *self, cg_err *reterr)
{
    for (size_t i = 0; i < self->manifest.count; i++) {
        CG_TRY(examine(self, &self->manifest.files[i], reterr));
    }
    return CG_OK;
}

/* --- digests --- */

typedef struct hashing {
    bundle *bundle;
    char *blocks;     /* HASH_BLOCK for each worker */
    uint64_t total;   /* bytes to be hashed */
    uint32_t *order;  /* files, largest first */
    uint8_t *is_done; /* by file: hashed, equal to what is declared */
    atomic_bool is_stopped;
    uint64_t reported;
    atomic_uint_least64_t done;
} hashing;

/* Worker 0 runs on the thread of the caller and may talk to it. */
static bool report(hashing *self, unsigned worker, size_t count)
{
    uint64_t done = atomic_fetch_add(&self->done, count) + count;

    if (worker != 0 || done - self->reported < PROGRESS_BYTES)
        return !atomic_load(&self->is_stopped);
    self->reported = done;
    if (env_progress(self->bundle->env, "digests", done, self->total))
        return !atomic_load(&self->is_stopped);
    atomic_store(&self->is_stopped, true);
    return false;
}

static cg_code hash_stream(hashing *self, unsigned worker, os_file *file, uint64_t size,
                           uint8_t ret[DIGEST_BYTES], cg_err *reterr)
{
    char *block = self->blocks + worker * HASH_BLOCK;
    uint64_t left = size;
    digest of;
    cg_code code = digest_start(&of, reterr);

    while (code == CG_OK && left > 0) {
        size_t part = left < HASH_BLOCK ? (size_t)left : HASH_BLOCK;
        size_t got = 0;

        code = os_read(file, block, part, &got, reterr);
        if (code == CG_OK && got == 0)
            code = cg_fail(reterr, PROBLEM_INPUT_CHANGED, "became shorter while being read");
        if (code != CG_OK)
            break;
        digest_add(&of, block, got);
        left -= got;
        if (!report(self, worker, got))
            code = cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped on request");
    }
    if (code != CG_OK) {
        digest_drop(&of);
        return code;
    }
    return digest_finish(&of, ret, reterr);
}

static cg_code hash_file(hashing *self, unsigned worker, manifest_file *file,
                         uint8_t ret[DIGEST_BYTES], cg_err *reterr)
{
    bundle *of = self->bundle;
    os_file *pin = pin_of(of, file->path);
    os_file opened;
    os_identity now;
    cg_code code;

    if (pin != NULL) {
        CG_TRY(os_file_rewind(pin, reterr));
        CG_TRY(hash_stream(self, worker, pin, file->bytes, ret, reterr));
        return os_file_rewind(pin, reterr);
    }
    CG_TRY(os_dir_open_file(&of->root, file->path, 0, &opened, reterr));
    code = os_file_identity(&opened, &now, reterr);
    if (code == CG_OK && !os_identity_equal(&now, &file->identity))
        code = cg_fail(reterr, PROBLEM_INPUT_CHANGED, "was changed while the bundle was verified");
    if (code == CG_OK)
        code = hash_stream(self, worker, &opened, file->bytes, ret, reterr);
    os_close(&opened);
    return code;
}

/* Is the file hashed by who reads it? */
static bool is_left(const bundle *of, const manifest_file *file)
{
    return of->is_trace_left && str_equal(file->path, bundle_member_path(MEMBER_TRACE));
}

static void hash_item(void *context, unsigned worker, size_t item)
{
    hashing *self = context;
    uint32_t index = self->order[item];
    manifest_file *file = &self->bundle->manifest.files[index];
    uint8_t sum[DIGEST_BYTES];

    if (atomic_load(&self->is_stopped) || is_left(self->bundle, file))
        return;
    self->is_done[index] = hash_file(self, worker, file, sum, NULL) == CG_OK &&
                           memcmp(sum, file->sum, sizeof sum) == 0;
}

/* Nothing to say, but of a file that its reader hashes? */
static bool is_nothing_else_wrong(const hashing *self)
{
    const manifest *of = &self->bundle->manifest;

    for (size_t i = 0; i < of->count; i++) {
        if (!self->is_done[i] && !is_left(self->bundle, &of->files[i]))
            return false;
    }
    return true;
}

/* Say what is wrong with the first file, by path, that is not as declared. */
static cg_code judge_digests(hashing *self, cg_err *reterr)
{
    manifest *of = &self->bundle->manifest;

    if (atomic_load(&self->is_stopped))
        return cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped on request");
    /* What its reader hashes is hashed here too when something else is wrong: order counts. */
    if (is_nothing_else_wrong(self))
        return CG_OK;
    for (size_t i = 0; i < of->count; i++) {
        manifest_file *file = &of->files[i];
        uint8_t sum[DIGEST_BYTES];
        cg_err cause = {0};

        if (self->is_done[i])
            continue;
        if (hash_file(self, 0, file, sum, &cause) != CG_OK)
            return fail_file(cause.problem == problem_id(PROBLEM_INPUT_CHANGED)
                                 ? PROBLEM_INPUT_CHANGED
                                 : PROBLEM_BUNDLE_UNREADABLE,
                             file->path, &cause, reterr);
        if (memcmp(sum, file->sum, sizeof sum) != 0)
            return cg_fail(reterr, PROBLEM_BUNDLE_DIGEST,
                           "the content of `%.*s` is not what was declared", ERR_STR(file->path));
    }
    return CG_OK;
}

static void order_by_size(const manifest *of, uint32_t *order, uint32_t *room)
{
    size_t small = of->count;
    size_t large = 0;

    /* Two classes are enough: large files first, so that none is left for the end alone. */
    for (size_t i = 0; i < of->count; i++) {
        if (of->files[i].bytes >= PARALLEL_BYTES)
            order[large++] = (uint32_t)i;
        else
            room[--small] = (uint32_t)i;
    }
    for (size_t i = of->count; i > small; i--)
        order[large++] = room[i - 1];
}

static cg_code hash_all(bundle *self, cg_err *reterr)
{
    hashing work = {.bundle = self, .total = self->bytes};
    /* Tests replace the kernel by one that counts calls: they get them in one order. */
    bool is_plain = self->env == NULL || self->env->os == NULL;
    unsigned workers = is_plain && self->bytes >= PARALLEL_BYTES ? os_parallel_width() : 1;
    arena_place place = arena_mark(&self->arena);
    size_t count = self->manifest.count;
    uint32_t *room = arena_take(&self->arena, 2 * count * sizeof *room);
    cg_code code = CG_OK;

    atomic_init(&work.is_stopped, false);
    atomic_init(&work.done, 0);
    work.is_done = arena_zero(&self->arena, count);
    work.blocks = arena_bytes(&self->arena, workers * HASH_BLOCK);
    work.order = room;
    if (room == NULL || work.is_done == NULL || work.blocks == NULL) {
        code = err_nomem(reterr);
    } else {
        order_by_size(&self->manifest, room, room + count);
        os_parallel(workers, count, hash_item, &work);
        code = judge_digests(&work, reterr);
    }
    arena_reset(&self->arena, place);
    return code;
}

/* --- the run id --- */

static cg_code fill_from_file(void *context, void *to, size_t count, size_t *ret, cg_err *reterr)
{
    return os_read(context, to, count, ret, reterr);
}

static cg_code first_record(bundle *self, lines *from, json_reader *json, doc_trace_head *ret,
                            cg_err *reterr)
{
    cg_str line;
    bool has_more;
    yyjson_val *root;
    json_fault fault;
    cg_code code;

    do {
        CG_TRY(lines_next(from, &line, &has_more, reterr));
        if (!has_more)
            return cg_fail(reterr, PROBLEM_TRACE_NO_META, "the trace is empty");
    } while (str_is_blank(line));
    code = json_read(json, str_trim(line), &root, &fault);
    if (code == CG_NOMEM)
        return err_nomem(reterr);
    if (code != CG_OK)
        return cg_fail(reterr, PROBLEM_TRACE_JSON, "its first record: %s", fault.text);
    if (!yyjson_is_obj(root))
        return cg_fail(reterr, PROBLEM_TRACE_RECORD, "its first record is %s",
                       json_kind_name(root));
    return sc_read(&table_trace_head, root, &self->arena, ret, reterr);
}

static cg_code check_run_id(bundle *self, cg_err *reterr)
{
    os_file *trace = &self->pinned[MEMBER_TRACE];
    doc_trace_head head;
    json_reader json;
    lines from;
    cg_err cause = {0};
    cg_code code;

    CG_TRY(lines_init(&from, &self->heap, self->env, fill_from_file, trace, reterr));
    json_init(&json, &self->heap, limit_of(self->env, CG_LIMIT_JSON_DEPTH));
    code = first_record(self, &from, &json, &head, &cause);
    if (code != CG_OK)
        code = fail_file(PROBLEM_BUNDLE_RUN_ID, bundle_member_path(MEMBER_TRACE), &cause, reterr);
    else if (!str_equal(head.kind, table_trace_head.tag) ||
             !str_equal(head.run_id, self->manifest.run_id))
        code = cg_fail(reterr, PROBLEM_BUNDLE_RUN_ID,
                       "the manifest is of run `%.*s`, the trace of `%.*s`",
                       ERR_STR(self->manifest.run_id), ERR_STR(head.run_id));
    json_free(&json);
    lines_free(&from);
    CG_TRY(code);
    return os_file_rewind(trace, reterr);
}

/* --- opening --- */

static cg_code verify(bundle *self, cg_err *reterr)
{
    CG_TRY(read_manifest(self, reterr));
    CG_TRY(walk(self, reterr));
    CG_TRY(need_member(self, MEMBER_TRACE, reterr));
    CG_TRY(need_member(self, MEMBER_EVIDENCE, reterr));
    CG_TRY(examine_all(self, reterr));
    CG_TRY(hash_all(self, reterr));
    return self->is_trace_left ? CG_OK : check_run_id(self, reterr);
}

static cg_code open_at(const cg_env *env, os_dir *directory, bool is_trace_left, bundle **ret,
                       cg_err *reterr)
{
    heap start;
    bundle *self;
    cg_code code;

    heap_init(&start, env);
    self = heap_resize(&start, NULL, 0, sizeof *self);
    if (self == NULL) {
        os_dir_close(directory);
        return err_nomem(reterr);
    }
    *self = (bundle){.heap = start, .env = env, .root = *directory, .is_trace_left = is_trace_left};
    directory->handle = -1;
    for (size_t i = 0; i < MEMBER_COUNT; i++)
        self->pinned[i].handle = -1;
    arena_init(&self->arena, &self->heap);
    code = verify(self, reterr);
    if (code != CG_OK) {
        bundle_free(self);
        return code;
    }
    *ret = self;
    return CG_OK;
}

cg_code bundle_open_at(const cg_env *env, os_dir *directory, bundle **ret, cg_err *reterr)
{
    return open_at(env, directory, false, ret, reterr);
}

/* A trace given for a bundle is told how to become one. */
static cg_code open_root(const cg_env *env, cg_str path, os_dir *ret, cg_err *reterr)
{
    enum os_kind kind = OS_OTHER;
    cg_err cause = {0};
    cg_code code = os_dir_open(env, path, ret, &cause);

    if (code == CG_OK)
        return CG_OK;
    if (os_kind_of(env, path, true, &kind, NULL) == CG_OK && kind == OS_FILE)
        return cg_fail(reterr, PROBLEM_BUNDLE_NO_MANIFEST,
                       "a file is no bundle; `candle-graph report TRACE --bundle DIR` makes one of "
                       "a trace, and `compare --unverified-traces` takes traces as they are");
    if (reterr != NULL && reterr->code == CG_OK)
        *reterr = cause;
    return code;
}

static cg_code open_path(const cg_env *env, cg_str path, bool is_trace_left, bundle **ret,
                         cg_err *reterr)
{
    os_dir root;
    cg_code code = open_root(env, path, &root, reterr);

    if (code == CG_OK)
        code = open_at(env, &root, is_trace_left, ret, reterr);
    if (code != CG_OK)
        err_in_file(reterr, path);
    return code;
}

cg_code bundle_open(const cg_env *env, cg_str path, bundle **ret, cg_err *reterr)
{
    return open_path(env, path, false, ret, reterr);
}

cg_code bundle_open_for_trace(const cg_env *env, cg_str path, bundle **ret, cg_err *reterr)
{
    return open_path(env, path, true, ret, reterr);
}

void bundle_free(bundle *self)
{
    if (self == NULL)
        return;
    for (size_t i = 0; i < MEMBER_COUNT; i++)
        os_close(&self->pinned[i]);
    os_dir_close(&self->root);
    arena_free(&self->arena);
    heap_release(&self->heap, self, sizeof *self);
}

/* --- afterwards --- */

static cg_code changed(cg_str path, cg_err *reterr)
{
    return cg_fail(reterr, PROBLEM_INPUT_CHANGED, "`%.*s` was changed while it was being read",
                   ERR_STR(path));
}

static cg_code recheck_stream(bundle *self, os_file *file, const os_identity *identity,
                              const uint8_t want[DIGEST_BYTES], cg_str path, cg_err *reterr)
{
    hashing work = {.bundle = self, .total = identity->size};
    arena_place place = arena_mark(&self->arena);
    os_identity now;
    uint8_t sum[DIGEST_BYTES];
    cg_code code;

    CG_TRY(os_file_identity(file, &now, reterr));
    if (!os_identity_equal(&now, identity))
        return changed(path, reterr);
    atomic_init(&work.is_stopped, false);
    atomic_init(&work.done, 0);
    work.blocks = arena_bytes(&self->arena, HASH_BLOCK);
    if (work.blocks == NULL)
        return err_nomem(reterr);
    code = os_file_rewind(file, reterr);
    if (code == CG_OK)
        code = hash_stream(&work, 0, file, identity->size, sum, reterr);
    arena_reset(&self->arena, place);
    CG_TRY(code);
    CG_TRY(os_file_rewind(file, reterr));
    return memcmp(sum, want, sizeof sum) == 0 ? CG_OK : changed(path, reterr);
}

/* Files that were read by name: still the same, at the same place. */
static cg_code recheck_others(bundle *self, cg_err *reterr)
{
    for (size_t i = 0; i < self->manifest.count; i++) {
        manifest_file *file = &self->manifest.files[i];
        os_file opened;
        os_identity now;
        cg_code code;

        if (pin_of(self, file->path) != NULL)
            continue;
        CG_TRY(os_dir_open_file(&self->root, file->path, 0, &opened, reterr));
        code = os_file_identity(&opened, &now, reterr);
        os_close(&opened);
        CG_TRY(code);
        if (!os_identity_equal(&now, &file->identity))
            return changed(file->path, reterr);
    }
    return CG_OK;
}

/* Verification as it would have been without the reader. */
static cg_code verify_trace(bundle *self, cg_err *reterr)
{
    self->is_trace_left = false;
    CG_TRY(hash_all(self, reterr));
    return check_run_id(self, reterr);
}

cg_code bundle_settle_trace(bundle *self, const uint8_t *sum, cg_err *reterr)
{
    cg_str path = bundle_member_path(MEMBER_TRACE);
    const manifest_file *declared = manifest_find(&self->manifest, path);

    if (sum != NULL && memcmp(sum, declared->sum, DIGEST_BYTES) == 0)
        return CG_OK;
    CG_TRY(verify_trace(self, reterr));
    return sum == NULL ? CG_OK : changed(path, reterr);
}

cg_code bundle_recheck(bundle *self, cg_err *reterr)
{
    static const enum bundle_member members[] = {MEMBER_TRACE, MEMBER_EVIDENCE};
    cg_str path = bundle_member_path(MEMBER_MANIFEST);

    CG_TRY(recheck_stream(self, &self->pinned[MEMBER_MANIFEST], &self->manifest_identity,
                          self->manifest_sum, path, reterr));
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        manifest_file *file;

        path = bundle_member_path(members[i]);
        file = manifest_find(&self->manifest, path);
        CG_TRY(recheck_stream(self, &self->pinned[members[i]], &file->identity, file->sum, path,
                              reterr));
    }
    return recheck_others(self, reterr);
}

cg_code bundle_read(bundle *self, enum bundle_member member, buf *ret, cg_err *reterr)
{
    cg_str path = bundle_member_path(member);
    manifest_file *file = manifest_find(&self->manifest, path);
    os_file *pin = &self->pinned[member];
    size_t before = ret->len;
    uint8_t sum[DIGEST_BYTES];

    if (file->bytes > ret->ceiling - before)
        return cg_fail(reterr, PROBLEM_LIMIT, "`%.*s` of %llu bytes exceeds `json-document-bytes`",
                       ERR_STR(path), (unsigned long long)file->bytes);
    CG_TRY(os_file_rewind(pin, reterr));
    CG_TRY(read_all(pin, file->bytes, ret, reterr));
    CG_TRY(hash_text((cg_str){ret->at + before, ret->len - before}, sum, reterr));
    return memcmp(sum, file->sum, sizeof sum) == 0 ? CG_OK : changed(path, reterr);
}

cg_code bundle_open_nsight(bundle *self, os_dir *ret, bool *ret_has, cg_err *reterr)
{
    cg_str path = bundle_member_path(MEMBER_NSIGHT);

    *ret = (os_dir){.os = self->root.os, .handle = -1};
    *ret_has = manifest_has_directory(&self->manifest, path);
    return *ret_has ? os_dir_enter(&self->root, path, ret, reterr) : CG_OK;
}

doc_receipt bundle_receipt(const bundle *self)
{
    return (doc_receipt){
        .schema = schema_id_text(SCHEMA_BUNDLE_VERIFICATION),
        .bundle_schema = schema_id_text(SCHEMA_BUNDLE),
        .run_id = self->manifest.run_id,
        .manifest_path = bundle_member_path(MEMBER_MANIFEST),
        .manifest_sha256 = {self->manifest_hex, sizeof self->manifest_hex},
        .files_verified = self->manifest.count,
        .bytes_verified = self->bytes,
    };
}
