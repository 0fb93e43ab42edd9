#include "record/json.h"

#include "base/num.h"
#include "record/sys.h"
#include "schema/trace.def"

static char *text_room(rec_text *self, size_t count)
{
    if (self->failed || count > SIZE_MAX / 4 - self->len) {
        self->failed = true;
        return NULL;
    }
    /* The first room is real even for nothing, so that there is an address to count from. */
    if (self->at == NULL || self->capacity - self->len < count) {
        size_t capacity = (self->len + count) * 2 + 64;
        char *at = rec_resize(self->at, capacity);

        if (at == NULL) {
            self->failed = true;
            return NULL;
        }
        self->at = at;
        self->capacity = capacity;
    }
    return self->at + self->len;
}

void text_add(rec_text *self, cg_str bytes)
{
    char *to = text_room(self, bytes.len);

    if (to != NULL && bytes.len > 0) {
        memcpy(to, bytes.ptr, bytes.len);
        self->len += bytes.len;
    }
}

void text_add_u64(rec_text *self, uint64_t value)
{
    char digits[NUM_U64_ROOM];

    text_add(self, (cg_str){digits, num_write_u64(digits, value)});
}

void text_add_f64(rec_text *self, double value)
{
    char digits[NUM_F64_ROOM];

    text_add(self, (cg_str){digits, num_write_f64(digits, value)});
}

void text_add_json(rec_text *self, cg_str bytes)
{
    static const char hex[] = "0123456789abcdef";
    static const char short_names[] = "btn?fr";
    size_t at = 0;

    text_add(self, CG_LIT("\""));
    while (at < bytes.len) {
        unsigned char byte = (unsigned char)bytes.ptr[at];
        size_t from = at;

        if (byte == '"' || byte == '\\') {
            text_add(self, byte == '"' ? CG_LIT("\\\"") : CG_LIT("\\\\"));
            at++;
        } else if (byte >= 8 && byte <= 13 && byte != 11) {
            char escape[2] = {'\\', short_names[byte - 8]};

            text_add(self, (cg_str){escape, 2});
            at++;
        } else if (byte < 32) {
            char escape[6] = {'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]};

            text_add(self, (cg_str){escape, 6});
            at++;
        } else if (str_next(bytes, &at) == 0xfffd && at == from + 1) {
            text_add(self, CG_LIT("\xef\xbf\xbd"));
        } else {
            text_add(self, (cg_str){bytes.ptr + from, at - from});
        }
    }
    text_add(self, CG_LIT("\""));
}

void text_free(rec_text *self)
{
    rec_free(self->at);
    *self = (rec_text){0};
}

#define F(type, member, key, rule, sub) [LAYOUT_KEY_##member] = {"\"" key "\":", sizeof(key) + 2},
#define E(type, member, key, rule, sub) LAYOUT_KEY_##member,
enum { TENSOR_FIELDS(E) LAYOUT_KEYS };
static const cg_str layout_keys[] = {TENSOR_FIELDS(F)};
#undef E
#undef F

void json_layout(rec_text *ret, const uint64_t *shape, uint32_t rank, cg_str dtype_json,
                 cg_str device_json)
{
    text_add(ret, layout_keys[LAYOUT_KEY_shape]);
    text_add(ret, CG_LIT("["));
    for (uint32_t i = 0; i < rank; i++) {
        if (i > 0) {
            text_add(ret, CG_LIT(","));
        }
        text_add_u64(ret, shape[i]);
    }
    text_add(ret, CG_LIT("],"));
    text_add(ret, layout_keys[LAYOUT_KEY_dtype]);
    text_add(ret, dtype_json);
    if (device_json.ptr != NULL) {
        text_add(ret, CG_LIT(","));
        text_add(ret, layout_keys[LAYOUT_KEY_device]);
        text_add(ret, device_json);
    }
}

bool json_dense_bytes(const uint64_t *shape, uint32_t rank, cg_str dtype, uint64_t *ret)
{
    static const struct {
        char name[5];
        uint8_t bytes;
    } sizes[] = {{"f32", 4}, {"f64", 8}, {"f16", 2}, {"bf16", 2}, {"u8", 1},
                 {"i8", 1},  {"u16", 2}, {"i16", 2}, {"u32", 4},  {"i32", 4},
                 {"u64", 8}, {"i64", 8}, {"f8", 1},  {"bool", 1}};
    cg_str name = str_trim(dtype);
    uint64_t bytes = 0;
    uint64_t product = 1;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (str_equal_nocase(name, str_from(sizes[i].name))) {
            bytes = sizes[i].bytes;
        }
    }
    if (bytes == 0) {
        return false;
    }
    for (uint32_t i = 0; i < rank; i++) {
        product = num_sat_mul(product, shape[i]);
    }
    *ret = num_sat_mul(product, bytes);
    return true;
}
