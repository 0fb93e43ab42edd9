/*
 * trace_schema - the records of candle-graph/trace as C structures and tables,
 * expanded from trace.def: rec_meta ... rec_terminal, table_meta ...,
 * PHASE_TRAIN ..., words_phase ...
 */
#ifndef CG_SCHEMA_TRACE_SCHEMA_H
#define CG_SCHEMA_TRACE_SCHEMA_H

#include "schema/schema.h"
#include "schema/trace.def"

#define TRACE_SCHEMA_10 "candle-graph/trace/10"
#define TRACE_SCHEMA_9  "candle-graph/trace/9"

enum {
#define W(name, word) PHASE_##name,
    PHASE_WORDS(W)
#undef W
};
enum {
#define W(name, word) TIMING_MODE_##name,
    TIMING_MODE_WORDS(W)
#undef W
};
enum {
#define W(name, word) SCOPE_##name,
    SCOPE_WORDS(W)
#undef W
};
enum {
#define W(name, word) LEVEL_##name,
    LEVEL_WORDS(W)
#undef W
};
enum {
#define W(name, word) EXPECTATION_##name,
    EXPECTATION_WORDS(W)
#undef W
};
enum {
#define W(name, word) SPAN_KIND_##name,
    SPAN_KIND_WORDS(W)
#undef W
};
enum {
#define W(name, word) STEP_##name,
    STEP_WORDS(W)
#undef W
};
enum {
#define W(name, word) CATEGORY_##name,
    CATEGORY_WORDS(W)
#undef W
        CATEGORY_COUNT
};
enum {
#define W(name, word) ACTION_##name,
    ACTION_WORDS(W)
#undef W
};
enum {
#define W(name, word) GRADIENT_STATE_##name,
    GRADIENT_STATE_WORDS(W)
#undef W
};
enum {
#define W(name, word) OUTCOME_##name,
    OUTCOME_WORDS(W)
#undef W
};
enum {
#define W(name, word) EDGE_KIND_##name,
    EDGE_KIND_WORDS(W)
#undef W
};

enum trace_record {
#define X(prefix, name, tag) RECORD_##prefix,
    TRACE_RECORDS(X)
#undef X
        RECORD_COUNT
};

#define X(prefix, name, text) extern const sc_words words_##name;
TRACE_WORDS(X)
#undef X

#define X(prefix, name, text)                                                                      \
    SC_STRUCT(prefix##_FIELDS, rec_##name)                                                         \
    extern const sc_table table_##name;
TRACE_PARTS(X)
TRACE_RECORDS(X)
#undef X

/* A record of any kind, and the tables by kind. */
typedef union rec_any {
#define X(prefix, name, tag) rec_##name name;
    TRACE_RECORDS(X)
#undef X
} rec_any;
extern const sc_table *const trace_tables[RECORD_COUNT];

/* Bytes of one element, 0 when the dtype is not known; `dtype` is trimmed, case is ignored. */
unsigned trace_dtype_bytes(cg_str dtype);
/* product(shape) x element size, saturating; false when the dtype is not known. */
bool trace_dense_bytes(sc_u64s shape, cg_str dtype, uint64_t *ret);

#endif
