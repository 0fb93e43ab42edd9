#include "codec/json.h"

#include "base/num.h"

#define JSON_FIRST_SIZE ((size_t)4096)
#define JSON_STACK      256

void json_init(json_reader *self, heap *from, uint64_t depth_ceiling)
{
    *self = (json_reader){.heap = from, .depth_ceiling = depth_ceiling};
}

void json_free(json_reader *self)
{
    heap_resize(self->heap, self->text, self->text_capacity, 0);
    heap_resize(self->heap, self->pool, self->pool_capacity, 0);
    *self = (json_reader){.heap = self->heap, .depth_ceiling = self->depth_ceiling};
}

static bool json_room(heap *from, char **at, size_t *capacity, size_t need)
{
    size_t wanted = *capacity + *capacity / 2;
    char *moved;

    if (need <= *capacity)
        return true;
    if (wanted < need)
        wanted = need;
    if (wanted < JSON_FIRST_SIZE)
        wanted = JSON_FIRST_SIZE;
    moved = heap_resize(from, *at, *capacity, wanted);
    if (moved == NULL)
        return false;
    *at = moved;
    *capacity = wanted;
    return true;
}

/*
 * yyjson's allocator. Reading takes a single block, which grows: it is the pool itself, kept from
 * text to text. That needs a fraction of the memory that a fixed pool for the worst case would.
 */
static void *pool_take(void *context, size_t size)
{
    json_reader *self = context;

    if (self->pool_is_taken || !json_room(self->heap, &self->pool, &self->pool_capacity, size))
        return NULL;
    self->pool_is_taken = true;
    return self->pool;
}

static void *pool_resize(void *context, void *block, size_t old_size, size_t size)
{
    json_reader *self = context;

    (void)block;
    (void)old_size;
    return json_room(self->heap, &self->pool, &self->pool_capacity, size) ? self->pool : NULL;
}

static void pool_give(void *context, void *block)
{
    json_reader *self = context;

    (void)block;
    self->pool_is_taken = false;
}

/* --- depth --- */

/* The flat array of values, with the ends of the open containers on a stack. */
static bool is_values_too_deep(const json_reader *self)
{
    yyjson_val *ends[JSON_STACK];
    yyjson_val *value = self->doc->root;
    yyjson_val *end = value + self->doc_count;
    size_t depth = 0;

    for (; value < end; value++) {
        while (depth > 0 && value >= ends[depth - 1])
            depth--;
        if (unsafe_yyjson_is_ctn(value)) {
            if (depth >= self->depth_ceiling)
                return true;
            ends[depth++] = unsafe_yyjson_get_next(value);
        }
    }
    return false;
}

/* Offset of the first container that lies too deep in a well-formed text, or SIZE_MAX. */
static size_t text_too_deep(cg_str text, uint64_t ceiling)
{
    uint64_t depth = 0;
    bool in_string = false;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (depth++ >= ceiling)
                return i;
        } else if (c == ']' || c == '}') {
            depth--;
        }
    }
    return SIZE_MAX;
}

/* A text with fewer values than levels allowed cannot be too deep: nearly every record. */
static bool is_too_deep(const json_reader *self, cg_str text, size_t *ret_offset)
{
    if (self->doc_count <= self->depth_ceiling)
        return false;
    if (self->depth_ceiling < JSON_STACK && !is_values_too_deep(self))
        return false;
    *ret_offset = text_too_deep(text, self->depth_ceiling);
    return *ret_offset != SIZE_MAX;
}

cg_code json_read(json_reader *self, cg_str text, yyjson_val **ret, json_fault *fault)
{
    const yyjson_alc allocator = {pool_take, pool_resize, pool_give, self};
    yyjson_read_err error;
    size_t need;

    *fault = (json_fault){0};
    self->doc = NULL;
    self->doc_count = 0;
    self->pool_is_taken = false;
    if (text.len == 0) {
        fault->text = "the text is empty";
        return CG_INPUT;
    }
    if (!num_add(text.len, YYJSON_PADDING_SIZE, &need) ||
        !json_room(self->heap, &self->text, &self->text_capacity, need))
        return CG_NOMEM;
    memcpy(self->text, text.ptr, text.len);
    memset(self->text + text.len, 0, YYJSON_PADDING_SIZE);
    self->doc = yyjson_read_opts(self->text, text.len, YYJSON_READ_INSITU, &allocator, &error);
    if (self->doc == NULL) {
        if (error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
            return CG_NOMEM;
        fault->offset = error.pos;
        fault->text = error.msg;
        fault->is_truncated = error.code == YYJSON_READ_ERROR_UNEXPECTED_END;
        return CG_INPUT;
    }
    self->doc_count = yyjson_doc_get_val_count(self->doc);
    if (is_too_deep(self, text, &fault->offset)) {
        fault->text = "containers are nested too deeply";
        fault->is_depth = true;
        return CG_INPUT;
    }
    *ret = yyjson_doc_get_root(self->doc);
    return CG_OK;
}

/* --- values --- */

bool json_u64(yyjson_val *value, uint64_t *ret)
{
    /* yyjson keeps `-0` as a signed integer and what exceeds 64 bits as a real. */
    if (!yyjson_is_uint(value))
        return false;
    *ret = unsafe_yyjson_get_uint(value);
    return true;
}

bool json_f64(yyjson_val *value, double *ret)
{
    if (yyjson_is_real(value)) {
        *ret = unsafe_yyjson_get_real(value);
    } else if (yyjson_is_uint(value)) {
        *ret = (double)unsafe_yyjson_get_uint(value);
    } else if (yyjson_is_sint(value)) {
        int64_t integer = unsafe_yyjson_get_sint(value);

        *ret = integer == 0 ? -0.0 : (double)integer;
    } else {
        return false;
    }
    return true;
}

const char *json_kind_name(yyjson_val *value)
{
    if (value == NULL)
        return "nothing";
    switch (unsafe_yyjson_get_type(value)) {
    case YYJSON_TYPE_NULL: return "null";
    case YYJSON_TYPE_BOOL: return "a boolean";
    case YYJSON_TYPE_NUM: return "a number";
    case YYJSON_TYPE_STR: return "a string";
    case YYJSON_TYPE_ARR: return "an array";
    case YYJSON_TYPE_OBJ: return "an object";
    default: return "an unknown value";
    }
}
