/*
 * json - the few pieces of JSON text the recorder makes ahead of time.
 */
#ifndef CG_RECORD_JSON_H
#define CG_RECORD_JSON_H

#include "base/str.h"

/* Bytes that grow; `failed` after memory ran out, later additions do nothing. */
typedef struct rec_text {
    char *at;
    size_t len, capacity;
    bool failed;
} rec_text;

void text_add(rec_text *self, cg_str bytes);
void text_add_u64(rec_text *self, uint64_t value);
void text_add_f64(rec_text *self, double value);
/* As a JSON string with its quotes; malformed UTF-8 becomes U+FFFD. */
void text_add_json(rec_text *self, cg_str bytes);
void text_free(rec_text *self);
static inline cg_str text_str(const rec_text *self)
{
    return (cg_str){self->at != NULL ? self->at : "", self->len};
}

/* The pieces of a layout, as fields without the leading comma. */
void json_layout(rec_text *ret, const uint64_t *shape, uint32_t rank, cg_str dtype_json,
                 cg_str device_json);
/* product(shape) x element size, saturating; false: the dtype is not known. */
bool json_dense_bytes(const uint64_t *shape, uint32_t rank, cg_str dtype, uint64_t *ret);

#endif
