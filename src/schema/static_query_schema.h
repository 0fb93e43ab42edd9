/*
 * static_query_schema - query/1 and tree/1 as structures and tables, expanded
 * from static_query.def: ask_summary, table_ask_summary ...
 */
#ifndef CG_SCHEMA_STATIC_QUERY_SCHEMA_H
#define CG_SCHEMA_STATIC_QUERY_SCHEMA_H

#include "schema/model_schema.h"
#include "schema/static_query.def"

#define ASK_SCHEMA  "candle-graph/query/1"
#define TREE_SCHEMA "candle-graph/tree/1"

/* What a selector is for a kind of question. */
enum ask_select { ASK_SELECT_NONE, ASK_SELECT_SOME, ASK_SELECT_ONE };

enum ask_kind {
#define X(name, word, aliases, select, sorted, camel) ASK_KIND_##name,
    STATIC_QUERIES(X)
#undef X
        ASK_KIND_COUNT
};

typedef struct ask_kind_row {
    cg_str word;
    cg_str aliases; /* separated by spaces */
    uint8_t select;
    bool is_sorted;
    const char *camel;
} ask_kind_row;

extern const ask_kind_row ask_kinds[ASK_KIND_COUNT];

enum {
#define W(name, word) ASK_DRILL_##name,
    ASK_DRILL_WORDS(W)
#undef W
};
enum {
#define W(name, word) ASK_SINGLE_##name,
    ASK_SINGLE_WORDS(W)
#undef W
};
enum {
#define W(name, word) ASK_EDGE_KIND_##name,
    ASK_EDGE_KIND_WORDS(W)
#undef W
};
enum {
#define W(name, word) ASK_HOP_KIND_##name,
    ASK_HOP_KIND_WORDS(W)
#undef W
};
enum {
#define W(name, word) ASK_GRAPH_ROLE_##name,
    ASK_GRAPH_ROLE_WORDS(W)
#undef W
};

#define X(prefix, name, text) extern const sc_words words_##name;
STATIC_QUERY_WORDS(X)
#undef X

#define X(prefix, name, tag)                                                                       \
    SC_STRUCT(prefix##_FIELDS, name)                                                               \
    extern const sc_table table_##name;
STATIC_QUERY_TABLES(X)
#undef X

#endif
