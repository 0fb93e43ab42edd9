#include "codec/safetensors.h"

#include <inttypes.h>

#include "base/num.h"
#include "base/os.h"
#include "base/os_dir.h"
#include "base/sort.h"
#include "codec/json.h"

#define LENGTH_BYTES      8
#define MAGIC_BYTES       64
#define DIRECTORY_ENTRIES 100000

/* Every name is spelled here once: this is a format of others. */
#define KEY_METADATA CG_LIT("__metadata__")
#define KEY_DTYPE    CG_LIT("dtype")
#define KEY_SHAPE    CG_LIT("shape")
#define KEY_OFFSETS  CG_LIT("data_offsets")
#define KEY_MAP      CG_LIT("weight_map")

typedef VEC(tensor_row) rows;

static const struct {
    cg_str name;
    unsigned bits;
} dtypes[TENSOR_DTYPE_COUNT] = {
#define X(name, bits) {{#name, sizeof #name - 1}, bits},
    TENSOR_DTYPES(X)
#undef X
};

cg_str tensor_dtype_name(enum tensor_dtype dtype)
{
    return dtypes[dtype].name;
}

/* --- one header --- */

static cg_code bad_tensor(cg_err *reterr, enum problem problem, cg_str name, const char *what)
{
    return cg_fail(reterr, problem, "tensor `%.*s`: %s", ERR_STR(name), what);
}

/* The document in `text`, which begins at byte `start` of its file; json_free in any case. */
static cg_code open_json(const cg_env *env, heap *from, cg_str text, uint64_t start,
                         enum problem problem, json_reader *reader, yyjson_val **ret,
                         cg_err *reterr)
{
    json_fault fault = {0};
    cg_code code;

    json_init(reader, from, limit_of(env, CG_LIMIT_JSON_DEPTH));
    code = json_read(reader, text, ret, &fault);
    if (code == CG_OK)
        return CG_OK;
    if (code != CG_INPUT)
        return err_nomem(reterr);
    code = cg_fail(reterr, problem, "%s", fault.text);
    err_at_line(reterr, 0, start + fault.offset);
    return code;
}

/* Candle multiplies the axes and then the bits, so what overflows there is refused here. */
static bool tensor_bytes(const tensor_row *row, uint64_t *ret)
{
    uint64_t count = 1;

    for (uint32_t i = 0; i < row->rank; i++) {
        if (__builtin_mul_overflow(count, row->shape[i], &count))
            return false;
    }
    if (__builtin_mul_overflow(count, dtypes[row->dtype].bits, &count))
        return false;
    *ret = count / 8 + (count % 8 != 0);
    return true;
}

static cg_code read_shape(arena *mem, yyjson_val *value, tensor_row *row, cg_err *reterr)
{
    size_t count = yyjson_arr_size(value);
    uint64_t *shape;
    yyjson_arr_iter iter;
    yyjson_val *axis;
    size_t at = 0;

    if (!yyjson_is_arr(value) || count > UINT32_MAX)
        return bad_tensor(reterr, PROBLEM_SAFETENSORS_ENTRY, row->name,
                          "`shape` must be a list of whole numbers");
    shape = arena_take(mem, count * sizeof *shape);
    if (shape == NULL)
        return err_nomem(reterr);
    yyjson_arr_iter_init(value, &iter);
    while ((axis = yyjson_arr_iter_next(&iter)) != NULL) {
        if (!json_u64(axis, &shape[at++]))
            return bad_tensor(reterr, PROBLEM_SAFETENSORS_ENTRY, row->name,
                              "`shape` must be a list of whole numbers");
    }
    row->shape = shape;
    row->rank = (uint32_t)count;
    return CG_OK;
}

static cg_code read_dtype(yyjson_val *value, tensor_row *row, cg_err *reterr)
{
    if (!yyjson_is_str(value))
        return bad_tensor(reterr, PROBLEM_SAFETENSORS_ENTRY, row->name, "`dtype` must be text");
    for (unsigned i = 0; i < TENSOR_DTYPE_COUNT; i++) {
        if (str_equal(dtypes[i].name, json_text(value))) {
            row->dtype = (enum tensor_dtype)i;
            return CG_OK;
        }
    }
    return cg_fail(reterr, PROBLEM_SAFETENSORS_DTYPE, "tensor `%.*s`: unknown dtype `%.*s`",
                   ERR_STR(row->name), ERR_STR(json_text(value)));
}

static cg_code read_offsets(yyjson_val *value, tensor_row *row, cg_err *reterr)
{
    if (!yyjson_is_arr(value) || yyjson_arr_size(value) != 2 ||
        !json_u64(yyjson_arr_get(value, 0), &row->begin) ||
        !json_u64(yyjson_arr_get(value, 1), &row->end))
        return bad_tensor(reterr, PROBLEM_SAFETENSORS_ENTRY, row->name,
                          "`data_offsets` must be two whole numbers");
    return CG_OK;
}

static cg_code read_entry(arena *mem, yyjson_val *entry, tensor_row *row, cg_err *reterr)
{
    yyjson_obj_iter iter;
    yyjson_val *key;
    unsigned seen = 0;

    if (!yyjson_is_obj(entry))
        return bad_tensor(reterr, PROBLEM_SAFETENSORS_ENTRY, row->name, "must be an object");
    yyjson_obj_iter_init(entry, &iter);
    while ((key = yyjson_obj_iter_next(&iter)) != NULL) {
        yyjson_val *value = yyjson_obj_iter_get_val(key);
        cg_str text = json_text(key);
        unsigned field = str_equal(text, KEY_DTYPE)     ? 1
                         : str_equal(text, KEY_SHAPE)   ? 2
                         : str_equal(text, KEY_OFFSETS) ? 4
                                                        : 0;

        if ((seen & field) != 0)
            return bad_tensor(reterr, PROBLEM_SAFETENSORS_ENTRY, row->name,
                              "a field is given twice");
        seen |= field;
        if (field == 1)
            CG_TRY(read_dtype(value, row, reterr));
        else if (field == 2)
            CG_TRY(read_shape(mem, value, row, reterr));
        else if (field == 4)
            CG_TRY(read_offsets(value, row, reterr));
    }
    if (seen != 7)
        return bad_tensor(reterr, PROBLEM_SAFETENSORS_ENTRY, row->name,
                          "needs `dtype`, `shape` and `data_offsets`");
    return CG_OK;
}

static cg_code check_metadata(yyjson_val *value, cg_err *reterr)
{
    yyjson_obj_iter iter;
    yyjson_val *key;

    if (!yyjson_is_obj(value))
        return cg_fail(reterr, PROBLEM_SAFETENSORS_METADATA, "`__metadata__` is no object");
    yyjson_obj_iter_init(value, &iter);
    while ((key = yyjson_obj_iter_next(&iter)) != NULL) {
        if (!yyjson_is_str(yyjson_obj_iter_get_val(key)))
            return cg_fail(reterr, PROBLEM_SAFETENSORS_METADATA,
                           "`__metadata__`: `%.*s` is no text", ERR_STR(json_text(key)));
    }
    return CG_OK;
}

static cg_code read_rows(heap *from, arena *mem, yyjson_val *root, uint32_t file, rows *ret,
                         cg_err *reterr)
{
    yyjson_obj_iter iter;
    yyjson_val *key;

    if (!yyjson_is_obj(root))
        return cg_fail(reterr, PROBLEM_SAFETENSORS_JSON, "the header is %s, no object",
                       json_kind_name(root));
    yyjson_obj_iter_init(root, &iter);
    while ((key = yyjson_obj_iter_next(&iter)) != NULL) {
        yyjson_val *value = yyjson_obj_iter_get_val(key);
        tensor_row row = {.file = file};
        tensor_row *added;

        if (str_equal(json_text(key), KEY_METADATA)) {
            CG_TRY(check_metadata(value, reterr));
            continue;
        }
        if (json_text(key).len > SAFETENSORS_NAME_BYTES)
            return bad_tensor(reterr, PROBLEM_SAFETENSORS_ENTRY, json_text(key),
                              "the name is longer than 65536 bytes");
        if (!arena_text(mem, json_text(key), &row.name))
            return err_nomem(reterr);
        CG_TRY(read_entry(mem, value, &row, reterr));
        added = vec_add(from, ret);
        if (added == NULL)
            return err_nomem(reterr);
        *added = row;
    }
    return CG_OK;
}

/* --- order --- */

static bool name_before(const void *context, uint32_t a, uint32_t b)
{
    const tensor_row *all = context;

    return str_compare(all[a].name, all[b].name) < 0;
}

static bool place_before(const void *context, uint32_t a, uint32_t b)
{
    const tensor_row *all = context;

    return all[a].begin != all[b].begin ? all[a].begin < all[b].begin : all[a].end < all[b].end;
}

/* Indices of `count` items in the order of `before`: order[0 .. count). NULL: out of memory. */
static uint32_t *sorted(arena *mem, size_t count,
                        bool (*before)(const void *context, uint32_t a, uint32_t b),
                        const void *items)
{
    uint32_t *order = arena_take(mem, (count + 1) * 2 * sizeof *order);

    if (order == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort_with(order, order + count, count, before, items);
    return order;
}

static bool is_same_tensor(const tensor_row *a, const tensor_row *b)
{
    return a->dtype == b->dtype && a->begin == b->begin && a->end == b->end && a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0);
}

/* In order of names; an entry that is repeated word by word counts once, as in Candle. */
static cg_code order_rows(arena *mem, rows *all, cg_err *reterr)
{
    uint32_t *order = sorted(mem, all->count, name_before, all->at);
    tensor_row *copy = arena_take(mem, all->count * sizeof *copy);
    size_t kept = 0;

    if (order == NULL || copy == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < all->count; i++) {
        const tensor_row *row = &all->at[order[i]];

        if (kept > 0 && str_equal(copy[kept - 1].name, row->name)) {
            if (!is_same_tensor(&copy[kept - 1], row))
                return bad_tensor(reterr, PROBLEM_SAFETENSORS_TWICE, row->name,
                                  "two entries that differ");
            continue;
        }
        copy[kept++] = *row;
    }
    if (kept > 0)
        memcpy(all->at, copy, kept * sizeof *copy);
    all->count = kept;
    return CG_OK;
}

/* Every byte of the data belongs to one tensor. */
static cg_code check_places(arena *mem, const rows *all, uint64_t data_bytes, cg_err *reterr)
{
    uint32_t *order = sorted(mem, all->count, place_before, all->at);
    uint64_t at = 0;

    if (order == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < all->count; i++) {
        const tensor_row *row = &all->at[order[i]];
        uint64_t need;

        if (row->end < row->begin)
            return bad_tensor(reterr, PROBLEM_SAFETENSORS_OFFSETS, row->name,
                              "ends before it begins");
        if (row->begin != at)
            return bad_tensor(reterr, PROBLEM_SAFETENSORS_OFFSETS, row->name,
                              row->begin < at ? "overlaps another tensor"
                                              : "leaves a hole in front of it");
        if (!tensor_bytes(row, &need))
            return bad_tensor(reterr, PROBLEM_SAFETENSORS_SIZE, row->name,
                              "has more elements than 64 bits can count");
        if (need != row->end - row->begin)
            return cg_fail(reterr, PROBLEM_SAFETENSORS_SIZE,
                           "tensor `%.*s`: %" PRIu64 " bytes, shape and dtype need %" PRIu64,
                           ERR_STR(row->name), row->end - row->begin, need);
        at = row->end;
    }
    if (at != data_bytes)
        return cg_fail(reterr, PROBLEM_SAFETENSORS_DATA,
                       "%" PRIu64 " bytes of data, the header describes %" PRIu64, data_bytes, at);
    return CG_OK;
}

/* Append the tensors of a header text; `start` is where it lies in its file. */
static cg_code parse_rows(const cg_env *env, heap *from, arena *mem, cg_str text, uint64_t start,
                          uint64_t data_bytes, uint32_t file, rows *ret, cg_err *reterr)
{
    json_reader reader;
    yyjson_val *root = NULL;
    cg_code code =
        open_json(env, from, text, start, PROBLEM_SAFETENSORS_JSON, &reader, &root, reterr);

    if (code == CG_OK)
        code = read_rows(from, mem, root, file, ret, reterr);
    json_free(&reader);
    if (code == CG_OK)
        code = order_rows(mem, ret, reterr);
    return code == CG_OK ? check_places(mem, ret, data_bytes, reterr) : code;
}

/* --- one file --- */

/* Formats people have in hand instead: what the file begins with, and what to say. */
static const struct {
    cg_str magic;
    const char *what;
} strangers[] = {
    {{"GGUF", 4}, "a GGUF file"},
    {{"PK\3\4", 4}, "a zip archive (PyTorch .pth, .pt or .bin, or NumPy .npz)"},
    {{"\x80\x02", 2}, "a Python pickle (PyTorch .pth, .pt or .bin)"},
    {{"\x80\x03", 2}, "a Python pickle (PyTorch .pth, .pt or .bin)"},
    {{"\x80\x04", 2}, "a Python pickle (PyTorch .pth, .pt or .bin)"},
    {{"\x80\x05", 2}, "a Python pickle (PyTorch .pth, .pt or .bin)"},
    {{"\x93NUMPY", 6}, "a NumPy .npy file"},
    {{"\x89HDF", 4}, "an HDF5 file"},
    {{"lmgg", 4}, "a GGML file"},
    {{"tjgg", 4}, "a GGML file"},
    {{"\x1f\x8b", 2}, "a gzip archive"},
    {{"version https://git-lfs", 23},
     "a Git LFS pointer; fetch the file itself with `git lfs pull`"},
    {{"<!DOCTYPE", 9}, "an HTML page, perhaps an error page that was saved as a file"},
    {{"<html", 5}, "an HTML page, perhaps an error page that was saved as a file"},
};

/* What else the file is; NULL when it may well be safetensors. */
static const char *stranger_of(cg_str head)
{
    char ninth = head.len > LENGTH_BYTES ? head.ptr[LENGTH_BYTES] : '\0';

    if (ninth == '{' || ninth == ' ' || ninth == '\n' || ninth == '\t' || ninth == '\r')
        return NULL;
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
        if (str_starts_with(head, strangers[i].magic))
            return strangers[i].what;
    }
    return NULL;
}

/* Up to `count` bytes; fewer only at the end. */
static cg_code read_fully(os_file *file, char *to, size_t count, size_t *ret, cg_err *reterr)
{
    size_t have = 0;

    while (have < count) {
        size_t got;

        CG_TRY(os_read(file, to + have, count - have, &got, reterr));
        if (got == 0)
            break;
        have += got;
    }
    *ret = have;
    return CG_OK;
}

static cg_code check_length(const os_file *file, cg_str head, uint64_t *ret, cg_err *reterr)
{
    uint64_t length = 0;
    const char *stranger = stranger_of(head);

    if (stranger != NULL)
        return cg_fail(reterr, PROBLEM_SAFETENSORS_STRANGER, "this is %s", stranger);
    if (head.len < LENGTH_BYTES)
        return cg_fail(reterr, PROBLEM_SAFETENSORS_LENGTH,
                       "%zu bytes are too short for the length of a header", head.len);
    for (unsigned i = LENGTH_BYTES; i > 0; i--)
        length = length << 8 | (unsigned char)head.ptr[i - 1];
    if (length > SAFETENSORS_HEADER_BYTES)
        return cg_fail(reterr, PROBLEM_SAFETENSORS_LENGTH,
                       "a header of %" PRIu64 " bytes, at most %" PRIu64 " are read", length,
                       SAFETENSORS_HEADER_BYTES);
    if (length > file->size - LENGTH_BYTES)
        return cg_fail(reterr, PROBLEM_SAFETENSORS_LENGTH,
                       "a header of %" PRIu64 " bytes in a file of %" PRIu64, length, file->size);
    *ret = length;
    return CG_OK;
}

static cg_code read_file(const cg_env *env, heap *from, arena *mem, os_file *file, uint32_t index,
                         rows *ret, cg_err *reterr)
{
    char head[MAGIC_BYTES];
    size_t have;
    size_t taken;
    size_t got = 0;
    uint64_t length = 0;
    char *text;
    cg_code code = CG_OK;

    if (!file->is_regular)
        return cg_fail(reterr, PROBLEM_INPUT_UNREADABLE, "not a regular file");
    CG_TRY(read_fully(file, head, sizeof head, &have, reterr));
    if (file->size < have)
        return cg_fail(reterr, PROBLEM_INPUT_CHANGED, "the file grew while being read");
    CG_TRY(check_length(file, (cg_str){head, have}, &length, reterr));
    if (have < LENGTH_BYTES)
        return cg_fail(reterr, PROBLEM_INPUT_CHANGED, "the file became shorter while being read");
    text = heap_resize(from, NULL, 0, (size_t)length + 1);
    if (text == NULL)
        return err_nomem(reterr);
    taken = have - LENGTH_BYTES;
    taken = taken > length ? (size_t)length : taken;
    memcpy(text, head + LENGTH_BYTES, taken);
    if (taken < length)
        code = read_fully(file, text + taken, (size_t)length - taken, &got, reterr);
    if (code == CG_OK && taken + got != length)
        code = cg_fail(reterr, PROBLEM_INPUT_CHANGED, "the file became shorter while being read");
    if (code == CG_OK)
        code = parse_rows(env, from, mem, (cg_str){text, (size_t)length}, LENGTH_BYTES,
                          file->size - LENGTH_BYTES - length, index, ret, reterr);
    heap_resize(from, text, (size_t)length + 1, 0);
    return code;
}

/* --- the whole --- */

static void begin(heap *from, tensor_header *self)
{
    *self = (tensor_header){.heap = from};
    arena_init(&self->mem, from);
}

void safetensors_free(tensor_header *self)
{
    if (self->heap != NULL)
        arena_free(&self->mem);
    *self = (tensor_header){0};
}

/* Keep the rows: `all` is given back. */
static cg_code keep_rows(tensor_header *self, rows *all, cg_err *reterr)
{
    tensor_row *kept = arena_take(&self->mem, all->count * sizeof *kept);

    if (kept != NULL && all->count > 0)
        memcpy(kept, all->at, all->count * sizeof *kept);
    self->tensors = kept;
    self->tensor_count = all->count;
    return kept == NULL ? err_nomem(reterr) : CG_OK;
}

static cg_code keep_file(tensor_header *self, cg_str name, uint64_t count, cg_err *reterr)
{
    tensor_file *file = arena_zero(&self->mem, sizeof *file);

    if (file == NULL || !arena_text(&self->mem, name, &file->name))
        return err_nomem(reterr);
    file->is_present = true;
    file->tensor_count = count;
    self->files = file;
    self->file_count = 1;
    return CG_OK;
}

cg_code safetensors_parse(const cg_env *env, heap *from, cg_str name, cg_str text,
                          uint64_t data_bytes, tensor_header *ret, cg_err *reterr)
{
    tensor_header self;
    rows all = {0};
    cg_code code;

    begin(from, &self);
    code = parse_rows(env, from, &self.mem, text, 0, data_bytes, 0, &all, reterr);
    if (code == CG_OK)
        code = keep_file(&self, name, all.count, reterr);
    if (code == CG_OK)
        code = keep_rows(&self, &all, reterr);
    vec_free(from, &all);
    if (code == CG_OK)
        *ret = self;
    else
        safetensors_free(&self);
    return code;
}

static cg_code open_single(const cg_env *env, tensor_header *self, cg_str path, cg_err *reterr)
{
    os_file file;
    enum os_kind kind = OS_MISSING;
    rows all = {0};
    cg_code code;

    /* Opening a pipe nobody writes to would wait. */
    CG_TRY(os_kind_of(env, path, true, &kind, reterr));
    if (kind == OS_PIPE)
        return cg_fail(reterr, PROBLEM_INPUT_UNREADABLE, "not a regular file");
    CG_TRY(os_open_read(env, path, &file, reterr));
    code = read_file(env, self->heap, &self->mem, &file, 0, &all, reterr);
    os_close(&file);
    if (code == CG_OK)
        code = keep_file(self, path, all.count, reterr);
    if (code == CG_OK)
        code = keep_rows(self, &all, reterr);
    vec_free(self->heap, &all);
    return code;
}

/* --- index --- */

static bool listing_before(const void *context, uint32_t a, uint32_t b)
{
    const tensor_listing *all = context;

    return str_compare(all[a].name, all[b].name) < 0;
}

static cg_code check_listing(yyjson_val *key, yyjson_val *value, cg_err *reterr)
{
    if (!yyjson_is_str(value))
        return cg_fail(reterr, PROBLEM_SAFETENSORS_INDEX, "`weight_map`: `%.*s` is no file name",
                       ERR_STR(json_text(key)));
    if (json_text(key).len > SAFETENSORS_NAME_BYTES)
        return cg_fail(reterr, PROBLEM_SAFETENSORS_INDEX,
                       "`weight_map`: the name `%.*s` is longer than 65536 bytes",
                       ERR_STR(json_text(key)));
    if (!os_dir_is_safe(json_text(value)))
        return cg_fail(reterr, PROBLEM_SAFETENSORS_ESCAPE,
                       "the shard `%.*s` is not in the folder of the index",
                       ERR_STR(json_text(value)));
    return CG_OK;
}

static cg_code read_map(arena *mem, yyjson_val *root, tensor_listings *ret, cg_err *reterr)
{
    yyjson_val *map = yyjson_is_obj(root) ? yyjson_obj_getn(root, KEY_MAP.ptr, KEY_MAP.len) : NULL;
    size_t count = yyjson_obj_size(map);
    tensor_listing *all = arena_take(mem, count * 2 * sizeof *all);
    uint32_t *order;
    yyjson_obj_iter iter;
    yyjson_val *key;
    size_t at = 0;
    size_t kept = 0;

    if (!yyjson_is_obj(map))
        return cg_fail(reterr, PROBLEM_SAFETENSORS_INDEX, "no `weight_map` object");
    if (all == NULL)
        return err_nomem(reterr);
    yyjson_obj_iter_init(map, &iter);
    while ((key = yyjson_obj_iter_next(&iter)) != NULL) {
        yyjson_val *value = yyjson_obj_iter_get_val(key);

        CG_TRY(check_listing(key, value, reterr));
        if (!arena_text(mem, json_text(key), &all[at].name) ||
            !arena_text(mem, json_text(value), &all[at].file))
            return err_nomem(reterr);
        at++;
    }
    order = sorted(mem, count, listing_before, all);
    if (order == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++) {
        const tensor_listing *row = &all[order[i]];
        tensor_listing *last = kept > 0 ? &all[count + kept - 1] : NULL;

        if (last != NULL && str_equal(last->name, row->name)) {
            if (!str_equal(last->file, row->file))
                return cg_fail(reterr, PROBLEM_SAFETENSORS_TWICE,
                               "`weight_map`: `%.*s` is in two shards", ERR_STR(row->name));
            continue;
        }
        all[count + kept++] = *row;
    }
    *ret = (tensor_listings){all + count, kept};
    return CG_OK;
}

cg_code safetensors_index(const cg_env *env, heap *from, arena *mem, cg_str text,
                          tensor_listings *ret, cg_err *reterr)
{
    json_reader reader;
    yyjson_val *root = NULL;
    cg_code code = open_json(env, from, text, 0, PROBLEM_SAFETENSORS_INDEX, &reader, &root, reterr);

    if (code == CG_OK)
        code = read_map(mem, root, ret, reterr);
    json_free(&reader);
    return code;
}

static bool file_before(const void *context, uint32_t a, uint32_t b)
{
    const tensor_listing *all = context;

    return str_compare(all[a].file, all[b].file) < 0;
}

/* The distinct files of a listing, bytewise; what each is said to hold as their count. */
static cg_code list_files(arena *mem, const tensor_listings *listed, tensor_file **ret,
                          size_t *ret_count, cg_err *reterr)
{
    uint32_t *order = sorted(mem, listed->count, file_before, listed->at);
    tensor_file *files = arena_take(mem, listed->count * sizeof *files);
    size_t count = 0;

    if (order == NULL || files == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < listed->count; i++) {
        cg_str name = listed->at[order[i]].file;

        if (count == 0 || !str_equal(files[count - 1].name, name))
            files[count++] = (tensor_file){.name = name};
        files[count - 1].tensor_count++;
    }
    if (count > SAFETENSORS_SHARDS)
        return cg_fail(reterr, PROBLEM_SAFETENSORS_INDEX, "%zu shards, at most %u are read", count,
                       SAFETENSORS_SHARDS);
    *ret = files;
    *ret_count = count;
    return CG_OK;
}

static cg_code read_shard(const cg_env *env, tensor_header *self, os_dir *dir, tensor_file *shard,
                          uint32_t index, rows *all, cg_err *reterr)
{
    os_file file;
    rows own = {0};
    cg_err absent = {0};
    cg_code code = os_dir_open_file(dir, shard->name, OS_DIR_FOLLOW, &file, &absent);

    if (code == CG_NOT_FOUND && absent.problem != NULL &&
        strcmp(absent.problem, problem_id(PROBLEM_INPUT_MISSING)) == 0)
        return CG_OK;
    if (code != CG_OK) {
        if (reterr != NULL && reterr->code == CG_OK)
            *reterr = absent;
        return code;
    }
    file.env = env;
    code = read_file(env, self->heap, &self->mem, &file, index, &own, reterr);
    os_close(&file);
    if (code == CG_OK && !vec_reserve(self->heap, all, all->count + own.count))
        code = err_nomem(reterr);
    if (code == CG_OK) {
        if (own.count > 0)
            memcpy(all->at + all->count, own.at, own.count * sizeof *own.at);
        all->count += own.count;
        shard->is_present = true;
        shard->tensor_count = own.count;
    }
    vec_free(self->heap, &own);
    return code;
}

/* Of rows of `size` bytes that begin with their name and ascend by it; NULL: none has this one. */
static const void *find_named(const void *first, size_t count, size_t size, cg_str name)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *row = (const char *)first + middle * size;
        int order = str_compare(*(const cg_str *)(const void *)row, name);

        if (order == 0)
            return row;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* By name, once each: of a tensor that several shards have, the one where it is listed. */
static cg_code merge_rows(tensor_header *self, rows *all, const tensor_listings *listed,
                          cg_err *reterr)
{
    uint32_t *order = sorted(&self->mem, all->count, name_before, all->at);
    tensor_row *kept = arena_take(&self->mem, all->count * sizeof *kept);
    size_t count = 0;

    if (order == NULL || kept == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < all->count; i++) {
        const tensor_row *row = &all->at[order[i]];
        const tensor_listing *listing =
            find_named(listed->at, listed->count, sizeof *listed->at, row->name);

        if (count == 0 || !str_equal(kept[count - 1].name, row->name))
            kept[count++] = *row;
        else if (listing != NULL && str_equal(self->files[row->file].name, listing->file))
            kept[count - 1] = *row;
    }
    self->tensors = kept;
    self->tensor_count = count;
    return CG_OK;
}

/* Both lists are in order of names: walk them together. */
static cg_code find_differences(tensor_header *self, const tensor_listings *listed, cg_err *reterr)
{
    tensor_difference *all =
        arena_take(&self->mem, (self->tensor_count + listed->count) * sizeof *all);
    size_t count = 0;
    size_t i = 0;
    size_t j = 0;

    if (all == NULL)
        return err_nomem(reterr);
    while (i < self->tensor_count || j < listed->count) {
        const tensor_row *row = i < self->tensor_count ? &self->tensors[i] : NULL;
        const tensor_listing *listing = j < listed->count ? &listed->at[j] : NULL;
        int order = row == NULL ? 1 : listing == NULL ? -1 : str_compare(row->name, listing->name);
        cg_str found = row != NULL ? self->files[row->file].name : (cg_str){0};

        if (order < 0)
            all[count++] = (tensor_difference){.name = row->name, .found = found};
        else if (order > 0)
            all[count++] = (tensor_difference){.name = listing->name, .listed = listing->file};
        else if (!str_equal(found, listing->file))
            all[count++] = (tensor_difference){row->name, listing->file, found};
        i += order <= 0;
        j += order >= 0;
    }
    self->differences = all;
    self->difference_count = count;
    return CG_OK;
}

static cg_code read_shards(const cg_env *env, tensor_header *self, os_dir *dir,
                           const tensor_listings *listed, cg_str folder, cg_err *reterr)
{
    tensor_file *files = NULL;
    rows all = {0};
    cg_code code = list_files(&self->mem, listed, &files, &self->file_count, reterr);

    self->files = files;
    for (size_t i = 0; code == CG_OK && i < self->file_count; i++) {
        code = read_shard(env, self, dir, &files[i], (uint32_t)i, &all, reterr);
        if (code != CG_OK) {
            cg_str place;

            if (arena_format(&self->mem, &place, "%.*s%.*s", (int)folder.len, folder.ptr,
                             ERR_STR(files[i].name)))
                err_in_file(reterr, place);
        }
        if (code == CG_OK &&
            !env_progress(env, "reading shards", (uint64_t)i + 1, self->file_count))
            code = cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped");
    }
    if (code == CG_OK)
        code = merge_rows(self, &all, listed, reterr);
    vec_free(self->heap, &all);
    return code == CG_OK ? find_differences(self, listed, reterr) : code;
}

static cg_code open_index(const cg_env *env, tensor_header *self, cg_str path, cg_err *reterr)
{
    size_t slash = str_find_last(path, '/');
    cg_str folder = slash == SIZE_MAX ? (cg_str){"", 0} : (cg_str){path.ptr, slash + 1};
    tensor_listings listed;
    os_dir dir;
    buf text;
    cg_code code;

    buf_init(&text, self->heap, SAFETENSORS_HEADER_BYTES);
    code = os_read_whole(env, path, &text, reterr);
    if (code == CG_OK)
        code = safetensors_index(env, self->heap, &self->mem, buf_text(&text), &listed, reterr);
    buf_free(&text);
    CG_TRY(code);
    CG_TRY(os_dir_open(env, folder.len > 0 ? folder : CG_LIT("."), &dir, reterr));
    self->is_indexed = true;
    code = read_shards(env, self, &dir, &listed, folder, reterr);
    os_dir_close(&dir);
    return code;
}

/* --- directory --- */

/* The only entry with this ending; false when there are several. */
static bool only_one(const os_entries *list, cg_str ending, cg_str *ret)
{
    *ret = (cg_str){0};
    for (size_t i = 0; i < list->count; i++) {
        if (!str_ends_with(list->at[i].name, ending) || list->at[i].kind == OS_DIRECTORY)
            continue;
        if (ret->ptr != NULL)
            return false;
        *ret = list->at[i].name;
    }
    return true;
}

static cg_code choose_entry(const os_entries *list, cg_str *ret, cg_err *reterr)
{
    static const cg_str endings[] = {
        {".safetensors.index.json", 23}, {".index.json", 11}, {".safetensors", 12}};

    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (!only_one(list, endings[i], ret))
            return cg_fail(reterr, PROBLEM_SAFETENSORS_DIRECTORY, "several `*%.*s` files in it",
                           ERR_STR(endings[i]));
        if (ret->ptr != NULL)
            return CG_OK;
    }
    return cg_fail(reterr, PROBLEM_SAFETENSORS_DIRECTORY,
                   "neither an index nor a `.safetensors` file in it");
}

/* The path of the file to read in a directory. */
static cg_code enter_directory(const cg_env *env, tensor_header *self, cg_str *path, cg_err *reterr)
{
    cg_str separator = str_ends_with(*path, CG_LIT("/")) ? CG_LIT("") : CG_LIT("/");
    os_entries list;
    cg_str name = {0};
    cg_str folder = *path;
    os_dir dir;
    cg_code code;

    CG_TRY(os_dir_open(env, *path, &dir, reterr));
    code = os_dir_list(&dir, self->heap, &self->mem, DIRECTORY_ENTRIES, &list, reterr);
    os_dir_close(&dir);
    CG_TRY(code);
    CG_TRY(choose_entry(&list, &name, reterr));
    if (!arena_format(&self->mem, path, "%.*s%s%.*s", (int)folder.len, folder.ptr, separator.ptr,
                      (int)name.len, name.ptr))
        return err_nomem(reterr);
    return CG_OK;
}

cg_code safetensors_open(const cg_env *env, heap *from, cg_str path, tensor_header *ret,
                         cg_err *reterr)
{
    tensor_header self;
    cg_str file = path;
    enum os_kind kind;
    cg_code code;

    begin(from, &self);
    code = os_kind_of(env, path, true, &kind, reterr);
    if (code == CG_OK && kind == OS_DIRECTORY)
        code = enter_directory(env, &self, &file, reterr);
    if (code == CG_OK)
        code = str_ends_with(file, CG_LIT(".json")) ? open_index(env, &self, file, reterr)
                                                    : open_single(env, &self, file, reterr);
    if (code != CG_OK) {
        err_in_file(reterr, file);
        safetensors_free(&self);
        return code;
    }
    *ret = self;
    return CG_OK;
}

const tensor_row *safetensors_find(const tensor_header *self, cg_str name)
{
    return find_named(self->tensors, self->tensor_count, sizeof *self->tensors, name);
}
