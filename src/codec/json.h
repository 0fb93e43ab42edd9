/*
 * json - yyjson behind one small face: the wire rules of candle-graph's JSON.
 *
 * Strict UTF-8, no comments, no NaN, full 64-bit integers, no lone
 * surrogates, at most JSON_DEPTH containers inside each other. One value per
 * text; offsets in errors count from the start of the given text.
 *
 * A reader is reused for many texts: the document of one read is valid until
 * the next one. Values borrow from the reader's own copy of the text.
 */
#ifndef CG_CODEC_JSON_H
#define CG_CODEC_JSON_H

/* yyjson has members called malloc, realloc and free, names that base/banned.h poisons. */
#pragma push_macro("malloc")
#pragma push_macro("realloc")
#pragma push_macro("free")
#undef malloc
#undef realloc
#undef free
#include <yyjson.h>
#pragma pop_macro("malloc")
#pragma pop_macro("realloc")
#pragma pop_macro("free")

#include "base/arena.h"

typedef struct json_reader {
    heap *heap;
    uint64_t depth_ceiling;
    char *text; /* copy that is parsed in place, padded */
    size_t text_capacity;
    char *pool; /* the values of the document, grown as yyjson asks */
    size_t pool_capacity;
    bool pool_is_taken;
    yyjson_doc *doc;
    size_t doc_count; /* values of the document */
} json_reader;

typedef struct json_fault {
    size_t offset;
    const char *text; /* static */
    bool is_depth;
    bool is_truncated; /* the text ended inside a value */
} json_fault;

void json_init(json_reader *self, heap *heap, uint64_t depth_ceiling);
void json_free(json_reader *self);

/* Parse one value. CG_OK, CG_NOMEM, or CG_INPUT with *fault filled. */
cg_code json_read(json_reader *self, cg_str text, yyjson_val **ret, json_fault *fault) CG_MUST;

static inline cg_str json_text(yyjson_val *text)
{
    return (cg_str){unsafe_yyjson_get_str(text), unsafe_yyjson_get_len(text)};
}

/* Integers exactly 0..2^64-1 written without sign, fraction or exponent. `-0` is refused. */
bool json_u64(yyjson_val *value, uint64_t *ret);
/* Any number; the sign of `-0` is kept. */
bool json_f64(yyjson_val *value, double *ret);
/* "a string", "a number", ... for messages. */
const char *json_kind_name(yyjson_val *value);

#endif
