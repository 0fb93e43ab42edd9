#include "publish/manifest.h"

#include "codec/json.h"
#include "schema/reader.h"
#include "view/parts.h"

/* Number of `/` in front of the last part. */
static size_t depth_of(cg_str path)
{
    size_t depth = 0;

    for (size_t i = 0; i < path.len; i++)
        depth += path.ptr[i] == '/';
    return depth;
}

static bool is_safe(cg_str path)
{
    return os_dir_is_safe(path) && memchr(path.ptr, '\\', path.len) == NULL;
}

static int digit_of(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

static bool read_digest(cg_str text, uint8_t ret[DIGEST_BYTES])
{
    if (text.len != DIGEST_HEX)
        return false;
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        int high = digit_of(text.ptr[2 * i]);
        int low = digit_of(text.ptr[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        ret[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static cg_code read_file(const cg_env *env, arena *mem, const doc_bundle_file *from,
                         manifest_file *ret, cg_err *reterr)
{
    uint64_t most = limit_of(env, CG_LIMIT_BUNDLE_PATH_BYTES);
    uint64_t deepest = limit_of(env, CG_LIMIT_BUNDLE_DEPTH);

    *ret = (manifest_file){.bytes = from->bytes};
    if (from->path.len > most)
        return cg_fail(reterr, PROBLEM_LIMIT,
                       "a declared path of %zu bytes exceeds "
                       "`bundle-path-bytes` (%llu)",
                       from->path.len, (unsigned long long)most);
    if (!is_safe(from->path))
        return cg_fail(reterr, PROBLEM_BUNDLE_PATH, "`%.*s` is declared, which is no safe path",
                       ERR_STR(from->path));
    if (str_equal(from->path, bundle_member_path(MEMBER_MANIFEST)))
        return cg_fail(reterr, PROBLEM_BUNDLE_PATH, "`%.*s` declares itself", ERR_STR(from->path));
    if (depth_of(from->path) > deepest)
        return cg_fail(reterr, PROBLEM_LIMIT, "`%.*s` lies deeper than `bundle-depth` (%llu)",
                       ERR_STR(from->path), (unsigned long long)deepest);
    if (!read_digest(from->sha256, ret->sum))
        return cg_fail(reterr, PROBLEM_BUNDLE_DIGEST_FORM, "the digest of `%.*s` is `%.*s`",
                       ERR_STR(from->path), ERR_STR(from->sha256));
    return arena_text(mem, from->path, &ret->path) ? CG_OK : err_nomem(reterr);
}

/* Stable bottom-up merge. */
void manifest_sort(manifest_file *files, manifest_file *room, size_t count)
{
    manifest_file *rows = files;
    manifest_file *other = room;

    for (size_t width = 1; width < count; width *= 2) {
        manifest_file *swap = rows;

        for (size_t low = 0; low < count; low += 2 * width) {
            size_t a = low;
            size_t middle = low + width < count ? low + width : count;
            size_t b = middle;
            size_t high = low + 2 * width < count ? low + 2 * width : count;

            for (size_t to = low; to < high; to++) {
                if (b >= high || (a < middle && str_compare(rows[a].path, rows[b].path) <= 0))
                    other[to] = rows[a++];
                else
                    other[to] = rows[b++];
            }
        }
        rows = other;
        other = swap;
    }
    if (rows != files)
        memcpy(files, rows, count * sizeof *files);
}

static cg_code read_files(const cg_env *env, heap *from, arena *mem, const doc_bundle *document,
                          manifest *ret, cg_err *reterr)
{
    const doc_bundle_file *rows = document->files.at;
    size_t count = document->files.count;
    uint64_t most = limit_of(env, CG_LIMIT_BUNDLE_FILES);
    size_t size = count * sizeof *ret->files;
    manifest_file *room;

    if (count > most)
        return cg_fail(reterr, PROBLEM_LIMIT, "%zu declared files exceed `bundle-files` (%llu)",
                       count, (unsigned long long)most);
    ret->count = count;
    ret->files = arena_take(mem, size > 0 ? size : 1);
    if (ret->files == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++) {
        CG_TRY(read_file(env, mem, &rows[i], &ret->files[i], reterr));
    }
    if (count == 0)
        return CG_OK;
    room = heap_resize(from, NULL, 0, size);
    if (room == NULL)
        return err_nomem(reterr);
    manifest_sort(ret->files, room, count);
    heap_resize(from, room, size, 0);
    for (size_t i = 1; i < count; i++) {
        if (str_equal(ret->files[i - 1].path, ret->files[i].path))
            return cg_fail(reterr, PROBLEM_BUNDLE_TWICE, "`%.*s` is declared twice",
                           ERR_STR(ret->files[i].path));
    }
    return CG_OK;
}

/* What is not exactly a marker of ours is an unknown field like any other. */
static cg_code read_marker(yyjson_val *root, arena *mem, manifest *ret, cg_err *reterr)
{
    doc_marker marker;
    const doc_producer *producer;
    cg_code code = sc_read(&table_marker, root, mem, &marker, NULL);

    if (code == CG_NOMEM)
        return err_nomem(reterr);
    if (code != CG_OK || marker.producer == NULL)
        return CG_OK;
    producer = marker.producer;
    if (!arena_text(mem, producer->name, &ret->producer_name) ||
        !arena_text(mem, producer->version, &ret->producer_version))
        return err_nomem(reterr);
    return CG_OK;
}

static cg_code read_document(const cg_env *env, heap *from, arena *mem, json_reader *json,
                             cg_str text, manifest *ret, cg_err *reterr)
{
    yyjson_val *root;
    json_fault fault;
    doc_bundle document;
    cg_err cause = {0};
    cg_code code = json_read(json, text, &root, &fault);

    if (code == CG_NOMEM)
        return err_nomem(reterr);
    if (code != CG_OK)
        return cg_fail(reterr, PROBLEM_BUNDLE_MANIFEST, "byte %zu: %s", fault.offset, fault.text);
    if (!yyjson_is_obj(root))
        return cg_fail(reterr, PROBLEM_BUNDLE_MANIFEST, "must be an object, found %s",
                       json_kind_name(root));
    code = sc_read(&table_bundle, root, mem, &document, &cause);
    if (code == CG_NOMEM)
        return err_nomem(reterr);
    if (code != CG_OK)
        return cg_fail(reterr, PROBLEM_BUNDLE_MANIFEST, "%s", cause.text);
    if (!str_equal(document.schema, schema_id_text(SCHEMA_BUNDLE)))
        return cg_fail(reterr, PROBLEM_BUNDLE_SCHEMA, "the schema is `%.*s`",
                       ERR_STR(document.schema));
    if (!arena_text(mem, document.run_id, &ret->run_id))
        return err_nomem(reterr);
    CG_TRY(read_marker(root, mem, ret, reterr));
    return read_files(env, from, mem, &document, ret, reterr);
}

cg_code manifest_read(const cg_env *env, heap *from, arena *mem, cg_str text, manifest *ret,
                      cg_err *reterr)
{
    json_reader json;
    cg_code code;

    *ret = (manifest){0};
    json_init(&json, from, limit_of(env, CG_LIMIT_JSON_DEPTH));
    code = read_document(env, from, mem, &json, text, ret, reterr);
    json_free(&json);
    if (code != CG_OK)
        err_in_file(reterr, bundle_member_path(MEMBER_MANIFEST));
    return code;
}

/* --- writing --- */

static void emit_files(jsonw *out, const manifest *from)
{
    jw_array(out);
    for (size_t i = 0; i < from->count; i++) {
        char hex[DIGEST_HEX];
        doc_bundle_file row = {
            .path = from->files[i].path,
            .bytes = from->files[i].bytes,
            .sha256 = {hex, sizeof hex},
        };

        digest_hex(from->files[i].sum, hex);
        sc_write(out, &table_bundle_file, &row);
    }
    jw_end(out);
}

cg_code manifest_write(heap *from_heap, const manifest *from, cg_sink sink, cg_err *reterr)
{
    doc_producer producer = {from->producer_name, from->producer_version};
    doc_marker marker = {from->producer_name.ptr != NULL ? &producer : NULL};
    doc_bundle document = {
        .schema = schema_id_text(SCHEMA_BUNDLE),
        .run_id = from->run_id,
    };
    jsonw out;

    if (jw_init(&out, from_heap, sink, true, false) != CG_OK)
        return err_nomem(reterr);
    jw_object(&out);
    for (uint16_t i = 0; i < table_bundle.count; i++) {
        sc_table one = table_bundle;

        one.fields = &table_bundle.fields[i];
        one.count = 1;
        if (one.fields->type != SC_RECORDS) {
            sc_write_members(&out, &one, &document);
            continue;
        }
        /* The list is long, and its rows are made one at a time. */
        sc_write_members(&out, &table_marker, &marker);
        jw_key(&out, one.fields->key);
        emit_files(&out, from);
    }
    jw_end(&out);
    return jw_finish(&out, reterr);
}

/* --- finding --- */

/* Index of the first file whose path is not before `path`. */
static size_t lower_bound(const manifest *self, cg_str path)
{
    size_t low = 0;
    size_t high = self->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (str_compare(self->files[middle].path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

manifest_file *manifest_find(const manifest *self, cg_str path)
{
    size_t at = lower_bound(self, path);

    return at < self->count && str_equal(self->files[at].path, path) ? &self->files[at] : NULL;
}

bool manifest_has_directory(const manifest *self, cg_str path)
{
    /* Files below `path` begin with `path/`; others may stand between (`path-x`). */
    size_t low = 0;
    size_t high = self->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        cg_str file = self->files[middle].path;
        cg_str head = {file.ptr, file.len < path.len ? file.len : path.len};
        int order = str_compare(head, path);

        if (order == 0)
            order = file.len == path.len ? -1 : (unsigned char)file.ptr[path.len] - '/';
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

bool manifest_is_ours(const manifest *self)
{
    doc_tool tool = shared_tool();

    return self->producer_name.ptr != NULL && str_equal(self->producer_name, tool.package) &&
           str_equal(self->producer_version, tool.version);
}
