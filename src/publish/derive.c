#include "publish/derive.h"

#include "codec/json.h"
#include "view/document.h"
#include "view/page.h"
#include "view/report.h"

#define FLOAT_ULPS    2
#define COMPARE_BLOCK ((size_t)64 << 10)

cg_code bundle_derive(bundle *self, evidence **ret, cg_err *reterr)
{
    os_file *pin = &self->pinned[MEMBER_TRACE];
    trace_doc *trace;
    os_dir nsight;
    bool has_nsight;
    cg_code code;

    CG_TRY(os_file_rewind(pin, reterr));
    code = trace_read_open(self->env, pin, &trace, reterr);
    if (code != CG_OK) {
        err_in_file(reterr, bundle_member_path(MEMBER_TRACE));
        return code;
    }
    code = bundle_open_nsight(self, &nsight, &has_nsight, reterr);
    if (code != CG_OK) {
        trace_free(trace);
        return code;
    }
    return evidence_build_opened(self->env, trace, has_nsight ? &nsight : NULL, ret, reterr);
}

/* --- byte for byte --- */

typedef struct same_bytes {
    os_file *file;
    char *block;
    uint64_t count;
    bool is_different;
    cg_err failure;
} same_bytes;

static cg_code write_same(void *context, const char *bytes, size_t count)
{
    same_bytes *self = context;

    while (count > 0) {
        size_t part = count < COMPARE_BLOCK ? count : COMPARE_BLOCK;
        size_t got = 0;

        if (os_read(self->file, self->block, part, &got, &self->failure) != CG_OK)
            return CG_OUTPUT;
        if (got == 0 || memcmp(bytes, self->block, got) != 0) {
            self->is_different = true;
            return CG_CLOSED;
        }
        bytes += got;
        count -= got;
        self->count += got;
    }
    return CG_OK;
}

/* Publishing and checking both follow this list. */
const derived_member derived_members[] = {
    {MEMBER_EVIDENCE, document_evidence},
    {MEMBER_REPORT, report_write},
#ifdef CG_VIEWER
    {MEMBER_PAGE, page_write},
#endif
};
const size_t derived_member_count = sizeof derived_members / sizeof derived_members[0];

cg_code bundle_is_rederived(bundle *self, const evidence *derived, const derived_member *member,
                            bool *ret, cg_err *reterr)
{
    manifest_file *file = manifest_find(&self->manifest, bundle_member_path(member->member));
    same_bytes same = {.file = &self->pinned[member->member]};
    arena_place place = arena_mark(&self->arena);
    cg_err cause = {0};
    cg_code code;

    CG_TRY(os_file_rewind(same.file, reterr));
    same.block = arena_bytes(&self->arena, COMPARE_BLOCK);
    if (same.block == NULL)
        return err_nomem(reterr);
    code = member->write(derived, (cg_sink){&same, write_same}, &cause);
    arena_reset(&self->arena, place);
    if (same.failure.code != CG_OK)
        return bundle_fail(PROBLEM_BUNDLE_UNREADABLE, &same.failure, reterr);
    if (code != CG_OK && !same.is_different)
        return bundle_fail(PROBLEM_BUNDLE_UNREADABLE, &cause, reterr);
    *ret = !same.is_different && same.count == file->bytes;
    return CG_OK;
}

/* --- field by field --- */

typedef struct pair_level {
    bool is_list;
    yyjson_val *want; /* derived */
    yyjson_arr_iter want_items;
    yyjson_arr_iter items;
    yyjson_obj_iter want_keys; /* where the last key was found; the next is probably behind it */
    yyjson_obj_iter keys;
    cg_str key;   /* of the pair at hand, in an object */
    size_t index; /* of the pair at hand, in a list */
} pair_level;

typedef struct comparing {
    heap *heap;
    bool is_exact; /* unknown fields are differences */
    VEC(pair_level) levels;
    cg_str start; /* path of the two values compared */
    buf path;
} comparing;

/* `graph.spans[].id`, or with numbers in the brackets. */
static cg_str path_at(comparing *self, bool has_numbers)
{
    buf_clear(&self->path);
    buf_add(&self->path, self->start);
    for (size_t i = 0; i < self->levels.count; i++) {
        const pair_level *level = &self->levels.at[i];

        if (!level->is_list) {
            if (self->path.len > 0)
                buf_byte(&self->path, '.');
            buf_add(&self->path, level->key);
        } else if (has_numbers) {
            buf_addf(&self->path, "[%zu]", level->index);
        } else {
            buf_add(&self->path, CG_LIT("[]"));
        }
    }
    return buf_text(&self->path);
}

static bool is_free(comparing *self)
{
    return evidence_is_free_text(path_at(self, false));
}

/* Doubles in an order of integers: neighbours differ by one. */
static int64_t place_of(double value)
{
    int64_t place;

    memcpy(&place, &value, sizeof place);
    return place < 0 ? INT64_MIN - place : place;
}

static bool is_near(double a, double b)
{
    int64_t left = place_of(a);
    int64_t right = place_of(b);
    uint64_t far =
        left > right ? (uint64_t)left - (uint64_t)right : (uint64_t)right - (uint64_t)left;

    return far <= FLOAT_ULPS;
}

static bool is_equal_scalar(comparing *self, yyjson_val *want, yyjson_val *have)
{
    if (yyjson_is_str(want) && yyjson_is_str(have))
        return str_equal(json_text(want), json_text(have)) || is_free(self);
    if (yyjson_is_real(want) && yyjson_is_real(have))
        return is_near(yyjson_get_real(want), yyjson_get_real(have));
    if (yyjson_is_int(want) && yyjson_is_int(have))
        return yyjson_get_subtype(want) == yyjson_get_subtype(have) &&
               yyjson_get_uint(want) == yyjson_get_uint(have);
    return yyjson_get_tag(want) == yyjson_get_tag(have);
}

/* More unknown fields than that are no later version, but an attempt to keep us busy. */
#define UNKNOWN_FIELDS 256

/* Every derived key once, and nothing else where that matters. */
static bool has_keys(comparing *self, yyjson_val *want, yyjson_val *have)
{
    yyjson_obj_iter found = yyjson_obj_iter_with(want);
    yyjson_obj_iter keys = yyjson_obj_iter_with(have);
    size_t known = 0;
    size_t unknown = 0;
    yyjson_val *key;

    while ((key = yyjson_obj_iter_next(&keys)) != NULL) {
        if (yyjson_obj_iter_getn(&found, yyjson_get_str(key), yyjson_get_len(key)) != NULL)
            known++;
        else if (self->is_exact || ++unknown > UNKNOWN_FIELDS || evidence_is_field(json_text(key)))
            return false;
    }
    if (known != yyjson_obj_size(want))
        return false;
    if (unknown > 0 && evidence_is_data_object(path_at(self, false)))
        return false;
    keys = yyjson_obj_iter_with(want);
    found = yyjson_obj_iter_with(have);
    while ((key = yyjson_obj_iter_next(&keys)) != NULL) {
        if (yyjson_obj_iter_getn(&found, yyjson_get_str(key), yyjson_get_len(key)) == NULL)
            return false;
    }
    return true;
}

/* Look at one pair; containers go on the stack. *ret_is_same is false at the first difference. */
static cg_code meet(comparing *self, yyjson_val *want, yyjson_val *have, bool *ret_is_same,
                    cg_err *reterr)
{
    pair_level *level;

    *ret_is_same = true;
    if (yyjson_is_obj(want) && yyjson_is_obj(have)) {
        if (!has_keys(self, want, have)) {
            *ret_is_same = false;
            return CG_OK;
        }
        level = vec_add(self->heap, &self->levels);
        if (level == NULL)
            return err_nomem(reterr);
        *level = (pair_level){.want = want,
                              .want_keys = yyjson_obj_iter_with(want),
                              .keys = yyjson_obj_iter_with(have)};
        return CG_OK;
    }
    if (yyjson_is_arr(want) && yyjson_is_arr(have)) {
        if (is_free(self))
            return CG_OK;
        if (yyjson_arr_size(want) != yyjson_arr_size(have)) {
            *ret_is_same = false;
            return CG_OK;
        }
        level = vec_add(self->heap, &self->levels);
        if (level == NULL)
            return err_nomem(reterr);
        *level = (pair_level){.is_list = true,
                              .index = SIZE_MAX,
                              .want_items = yyjson_arr_iter_with(want),
                              .items = yyjson_arr_iter_with(have)};
        return CG_OK;
    }
    *ret_is_same = is_equal_scalar(self, want, have);
    return CG_OK;
}

/* The next pair of the container on top; false: it is done. */
static bool next_pair(pair_level *level, yyjson_val **ret_want, yyjson_val **ret_have)
{
    if (level->is_list) {
        *ret_want = yyjson_arr_iter_next(&level->want_items);
        *ret_have = yyjson_arr_iter_next(&level->items);
        level->index++;
        return *ret_want != NULL && *ret_have != NULL;
    }
    for (;;) {
        yyjson_val *key = yyjson_obj_iter_next(&level->keys);

        if (key == NULL)
            return false;
        level->key = json_text(key);
        *ret_have = yyjson_obj_iter_get_val(key);
        *ret_want = yyjson_obj_iter_getn(&level->want_keys, level->key.ptr, level->key.len);
        if (*ret_want != NULL)
            return true;
    }
}

/* *ret_is_same false: the stack and the levels' keys tell where. */
static cg_code compare_values(comparing *self, cg_str start, yyjson_val *want, yyjson_val *have,
                              bool *ret_is_same, cg_err *reterr)
{
    self->start = start;
    self->levels.count = 0;
    CG_TRY(meet(self, want, have, ret_is_same, reterr));
    while (*ret_is_same && self->levels.count > 0) {
        yyjson_val *next_want;
        yyjson_val *next_have;

        if (next_pair(&self->levels.at[self->levels.count - 1], &next_want, &next_have)) {
            CG_TRY(meet(self, next_want, next_have, ret_is_same, reterr));
        } else {
            self->levels.count--;
        }
    }
    return CG_OK;
}

/* --- two documents --- */

typedef struct documents {
    json_reader want_json;
    json_reader have_json;
    yyjson_val *want;
    yyjson_val *have;
} documents;

static cg_code add_text(void *context, const char *bytes, size_t count)
{
    buf *text = context;

    buf_add(text, (cg_str){bytes, count});
    return text->failed ? CG_NOMEM : CG_OK;
}

static cg_code read_published(bundle *self, documents *ret, cg_err *reterr)
{
    uint64_t most = limit_of(self->env, CG_LIMIT_JSON_DOCUMENT_BYTES);
    json_fault fault;
    cg_code code;
    buf text;

    buf_init(&text, &self->heap, most < SIZE_MAX ? (size_t)most : SIZE_MAX);
    code = bundle_read(self, MEMBER_EVIDENCE, &text, reterr);
    if (code == CG_OK) {
        code = json_read(&ret->have_json, buf_text(&text), &ret->have, &fault);
        if (code == CG_NOMEM)
            code = err_nomem(reterr);
        else if (code != CG_OK)
            code =
                cg_fail(reterr, PROBLEM_BUNDLE_EVIDENCE, "byte %zu: %s", fault.offset, fault.text);
    }
    buf_free(&text);
    return code;
}

static cg_code read_derived(bundle *self, const evidence *derived, documents *ret, cg_err *reterr)
{
    json_fault fault;
    cg_code code;
    buf text;

    buf_init(&text, &self->heap, SIZE_MAX);
    code = document_evidence(derived, (cg_sink){&text, add_text}, reterr);
    if (code == CG_OK) {
        code = json_read(&ret->want_json, buf_text(&text), &ret->want, &fault);
        if (code == CG_NOMEM)
            code = err_nomem(reterr);
        else if (code != CG_OK)
            code = cg_fail(reterr, PROBLEM_INTERNAL, "the derived evidence is no JSON: %s",
                           fault.text);
    }
    buf_free(&text);
    return code;
}

static cg_code documents_read(bundle *self, const evidence *derived, documents *ret, cg_err *reterr)
{
    uint64_t depth = limit_of(self->env, CG_LIMIT_JSON_DEPTH);

    json_init(&ret->want_json, &self->heap, depth);
    json_init(&ret->have_json, &self->heap, depth);
    CG_TRY(read_published(self, ret, reterr));
    if (!yyjson_is_obj(ret->have))
        return cg_fail(reterr, PROBLEM_BUNDLE_EVIDENCE, "must be an object, found %s",
                       json_kind_name(ret->have));
    return read_derived(self, derived, ret, reterr);
}

static void documents_free(documents *self)
{
    json_free(&self->want_json);
    json_free(&self->have_json);
}

/* The value of a part; *ret_owner is the object it stands in, for keys given twice. */
static yyjson_val *part_of(yyjson_val *root, enum evidence_part part)
{
    const evidence_part_row *row = &evidence_part_rows[part];
    yyjson_val *value = yyjson_obj_getn(root, row->key.ptr, row->key.len);

    if (row->inner.len > 0 && yyjson_is_obj(value))
        value = yyjson_obj_getn(value, row->inner.ptr, row->inner.len);
    return value;
}

/* A part that stands there twice may be read either way. */
static bool stands_twice(yyjson_val *root, enum evidence_part part)
{
    const evidence_part_row *row = &evidence_part_rows[part];
    cg_str key = row->key;
    yyjson_val *object = root;
    size_t count = 0;
    yyjson_obj_iter keys;
    yyjson_val *at;

    if (row->inner.len > 0) {
        yyjson_val *inside = yyjson_obj_getn(root, row->key.ptr, row->key.len);

        if (yyjson_is_obj(inside)) {
            object = inside;
            key = row->inner;
        }
    }
    keys = yyjson_obj_iter_with(object);
    while ((at = yyjson_obj_iter_next(&keys)) != NULL)
        count += str_equal(json_text(at), key);
    return count > 1;
}

static bool part_path(arena *mem, enum evidence_part part, cg_str *ret)
{
    const evidence_part_row *row = &evidence_part_rows[part];

    return arena_format(mem, ret, "%s%s%s", row->key.ptr, row->inner.len > 0 ? "." : "",
                        row->inner.ptr);
}

static cg_code compare_part(comparing *self, const documents *of, enum evidence_part part,
                            arena *mem, difference *ret, cg_err *reterr)
{
    yyjson_val *want = part_of(of->want, part);
    yyjson_val *have = part_of(of->have, part);
    cg_str start;
    bool is_same = want == have; /* both absent */

    if (!part_path(mem, part, &start))
        return err_nomem(reterr);
    self->levels.count = 0;
    self->start = start;
    if (want != NULL && have != NULL && !stands_twice(of->have, part))
        CG_TRY(compare_values(self, start, want, have, &is_same, reterr));
    if (is_same)
        return CG_OK;
    ret->parts |= UINT32_C(1) << part;
    if (self->levels.count == 0)
        ret->lengths |= UINT32_C(1) << part;
    if (!arena_text(mem, path_at(self, true), &ret->place[part]))
        return err_nomem(reterr);
    return self->path.failed ? err_nomem(reterr) : CG_OK;
}

static cg_code compare_parts(bundle *self, const documents *of, arena *mem, difference *ret,
                             cg_err *reterr)
{
    comparing work = {.heap = &self->heap};
    cg_code code = CG_OK;

    buf_init(&work.path, &self->heap, SIZE_MAX);
    for (unsigned i = 0; i < PART_COUNT && code == CG_OK; i++)
        code = compare_part(&work, of, (enum evidence_part)i, mem, ret, reterr);
    buf_free(&work.path);
    vec_free(work.heap, &work.levels);
    return code;
}

static cg_code refuse_evidence(const difference *found, enum evidence_part part, const char *what,
                               cg_err *reterr)
{
    cg_code code =
        cg_fail(reterr, PROBLEM_BUNDLE_EVIDENCE, "%s (`%.*s`)", what, ERR_STR(found->place[part]));

    err_in_file(reterr, bundle_member_path(MEMBER_EVIDENCE));
    return code;
}

cg_code bundle_compare(bundle *self, const evidence *derived, arena *mem, difference *ret,
                       cg_err *reterr)
{
    documents of = {.want = NULL};
    bool is_same = false;
    cg_code code;

    *ret = (difference){.parts = 0};
    if (manifest_is_ours(&self->manifest))
        CG_TRY(bundle_is_rederived(self, derived, &derived_members[0], &is_same, reterr));
    if (is_same)
        return CG_OK;
    code = documents_read(self, derived, &of, reterr);
    if (code == CG_OK)
        code = compare_parts(self, &of, mem, ret, reterr);
    documents_free(&of);
    if (code != CG_OK) {
        err_in_file(reterr, bundle_member_path(MEMBER_EVIDENCE));
        return code;
    }
    if ((ret->parts & PART(SCHEMA)) != 0)
        return refuse_evidence(ret, PART_SCHEMA, "the schema is not the expected one", reterr);
    if ((ret->parts & PART(PROVENANCE)) != 0)
        return refuse_evidence(ret, PART_PROVENANCE, "is not of the run of the trace", reterr);
    if ((ret->parts & PART(GRAPH_SCHEMA)) != 0)
        return refuse_evidence(ret, PART_GRAPH_SCHEMA, "the graph is not the expected one", reterr);
    return CG_OK;
}

cg_code bundle_compare_all(bundle *self, const evidence *derived, cg_err *reterr)
{
    documents of = {.want = NULL};
    comparing work = {.heap = &self->heap, .is_exact = true};
    bool is_same = true;
    cg_code code;

    buf_init(&work.path, &self->heap, SIZE_MAX);
    code = documents_read(self, derived, &of, reterr);
    if (code == CG_OK)
        code = compare_values(&work, CG_LIT(""), of.want, of.have, &is_same, reterr);
    if (code == CG_OK && !is_same) {
        cg_str place = path_at(&work, true);

        code = cg_fail(reterr, PROBLEM_BUNDLE_DIFFERS, "`%.*s` is not what follows from the trace",
                       ERR_STR(place.len > 0 ? place : CG_LIT("$")));
    }
    if (code != CG_OK)
        err_in_file(reterr, bundle_member_path(MEMBER_EVIDENCE));
    buf_free(&work.path);
    vec_free(work.heap, &work.levels);
    documents_free(&of);
    return code;
}
