/*
 * viewer_static_schema - the island of a model's page as C structures and
 * tables, expanded from viewer_static.def: shown_module, table_shown_module ...
 *
 * Words that model/1 has too stand for the same number as there, so that a
 * field of a model is copied as it is.
 */
#ifndef CG_SCHEMA_VIEWER_STATIC_SCHEMA_H
#define CG_SCHEMA_VIEWER_STATIC_SCHEMA_H

#include "schema/checkpoint_schema.h"
#include "schema/static_query_schema.h"
#include "schema/viewer_static.def"

enum shown_grad_state {
#define X(name, word, means) SHOWN_GRAD_STATE_##name,
    SHOWN_GRAD_STATE_WORDS(X)
#undef X
};
enum shown_node_kind {
#define X(name, word, means) SHOWN_NODE_KIND_##name,
    SHOWN_NODE_KIND_WORDS(X)
#undef X
};
enum shown_view {
#define X(name, word, means) SHOWN_VIEW_##name,
    SHOWN_VIEW_WORDS(X)
#undef X
};
enum shown_edge_kind {
#define X(name, word, means) SHOWN_EDGE_KIND_##name,
    SHOWN_EDGE_KIND_WORDS(X)
#undef X
};
enum shown_list {
#define X(name, path) SHOWN_LIST_##name,
    SHOWN_LISTS(X)
#undef X
        SHOWN_LIST_COUNT
};

/* Where the list stands in the document. */
cg_str shown_list_path(enum shown_list list);

#define X(prefix, like, name) extern const sc_words words_##name;
SHOWN_SPELLINGS(X)
#undef X
#define X(prefix, name, list) extern const sc_words words_##name;
SHOWN_LEXICA(X)
#undef X

/* What the words mean, sorted by word, for readers of the island. */
extern const sc_map shown_views_meant, shown_grad_states_meant, shown_node_kinds_meant;
cg_str shown_view_meaning(enum shown_view view);

#define X(prefix, name, tag)                                                                       \
    SC_STRUCT(prefix##_FIELDS, doc_##name)                                                         \
    extern const sc_table table_##name;
SHOWN_TABLES(X)
#undef X

#endif
