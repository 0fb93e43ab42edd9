/*
 * jsonw - the JSON writer: compact or pretty, streaming into a sink.
 *
 * Pretty: two spaces, `": "`, `[]` and `{}` when empty, a final newline.
 * Non-ASCII is written raw; escapes are \" \\ \b \f \n \r \t and \u00xx.
 * The first failure is kept and everything later is skipped; jw_finish
 * reports it. Keys and structure are the caller's duty (checked by assert).
 * Depth is bounded by the documents we define, not by input.
 */
#ifndef CG_CODEC_JSONW_H
#define CG_CODEC_JSONW_H

#include "base/heap.h"

#define JW_DEPTH 64

typedef struct jsonw {
    cg_sink sink;
    char *buffer;
    size_t len;
    size_t capacity;
    heap *heap;
    bool is_pretty;
    bool is_sorted; /* schema writers emit keys in bytewise order */
    bool after_key;
    cg_code code;
    unsigned depth;
    bool has_items[JW_DEPTH];
    bool is_array[JW_DEPTH];
    uint64_t written_bytes;
    void *scratch; /* of the schema writer, from `heap`; released by jw_finish */
    size_t scratch_size;
} jsonw;

cg_code jw_init(jsonw *self, heap *heap, cg_sink sink, bool is_pretty, bool is_sorted) CG_MUST;
/* Flush, report the first failure, release the buffer. */
cg_code jw_finish(jsonw *self, cg_err *reterr) CG_MUST;

void jw_object(jsonw *self);
void jw_array(jsonw *self);
void jw_end(jsonw *self);
void jw_key(jsonw *self, cg_str key);
/* A key that stands in a table of the program: nothing in it needs an escape. */
void jw_name(jsonw *self, cg_str name);
void jw_str(jsonw *self, cg_str text); /* absent: null */
void jw_u64(jsonw *self, uint64_t value);
void jw_i64(jsonw *self, int64_t value);
void jw_f64(jsonw *self, double value); /* not finite: null */
void jw_bool(jsonw *self, bool value);
void jw_null(jsonw *self);

#endif
