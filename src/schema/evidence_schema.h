/*
 * evidence_schema - the documents derived from a run as C structures and
 * tables, expanded from evidence.def: doc_evidence, table_evidence ...,
 * words_severity ..., and the schema ids.
 */
#ifndef CG_SCHEMA_EVIDENCE_SCHEMA_H
#define CG_SCHEMA_EVIDENCE_SCHEMA_H

#include "schema/evidence.def"
#include "schema/trace_schema.h"

enum schema_id {
#define X(name, text) SCHEMA_##name,
    SCHEMA_IDS(X)
#undef X
        SCHEMA_ID_COUNT
};

/* "candle-graph/evidence/4" and its like. */
cg_str schema_id_text(enum schema_id id);

enum query_kind {
#define X(name, word, needs_graph, takes_filter, is_collection) QUERY_##name,
    QUERIES(X)
#undef X
        QUERY_COUNT
};

typedef struct query_row {
    cg_str word;
    bool needs_graph;
    bool takes_filter;
    bool is_collection;
} query_row;

extern const query_row query_rows[QUERY_COUNT];

enum {
#define W(name, word) CAPABILITY_##name,
    CAPABILITY_LEVEL_WORDS(W)
#undef W
};
enum {
#define W(name, word) FINDING_##name,
    FINDING_WORDS(W)
#undef W
};
enum {
#define W(name, word) FACT_CODE_##name,
    FACT_WORDS(W)
#undef W
};
enum {
#define W(name, word) FACT_SOURCE_##name,
    FACT_SOURCE_WORDS(W)
#undef W
};
enum {
#define W(name, word) FACT_##name,
    FACT_VALUE_WORDS(W)
#undef W
};
enum {
#define W(name, word) SEVERITY_##name,
    SEVERITY_WORDS(W)
#undef W
};
enum {
#define W(name, word) INPUT_KIND_##name,
    INPUT_KIND_WORDS(W)
#undef W
};
enum {
#define W(name, word) EVIDENCE_SOURCE_##name,
    EVIDENCE_SOURCE_WORDS(W)
#undef W
};
enum {
#define W(name, word) NODE_KIND_##name,
    NODE_KIND_WORDS(W)
#undef W
};
enum {
#define W(name, word) HOST_SCOPE_##name,
    HOST_SCOPE_WORDS(W)
#undef W
};
enum {
#define W(name, word) GPU_STATUS_##name,
    GPU_STATUS_WORDS(W)
#undef W
};
enum {
#define W(name, word) BINDING_##name,
    BINDING_WORDS(W)
#undef W
};
enum {
#define W(name, word) CORRELATION_MODE_##name,
    CORRELATION_MODE_WORDS(W)
#undef W
};
enum {
#define W(name, word) TIMELINE_KIND_##name,
    TIMELINE_KIND_WORDS(W)
#undef W
};
enum {
#define W(name, word) GPU_REPORT_##name,
    GPU_REPORT_WORDS(W)
#undef W
        GPU_REPORT_COUNT
};
enum {
#define W(name, word) CLOCK_PLANE_##name,
    CLOCK_PLANE_WORDS(W)
#undef W
};
enum {
#define W(name, word) SAMPLE_SELECTION_##name,
    SAMPLE_SELECTION_WORDS(W)
#undef W
};
enum {
#define W(name, word) GPU_ORDERING_##name,
    GPU_ORDERING_WORDS(W)
#undef W
};

#define X(prefix, name, text) extern const sc_words words_##name;
EVIDENCE_WORDS(X)
#undef X

#define X(prefix, name, tag)                                                                       \
    SC_STRUCT(prefix##_FIELDS, doc_##name)                                                         \
    extern const sc_table table_##name;
EVIDENCE_TABLES(X)
#undef X

#endif
