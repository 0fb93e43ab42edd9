/*
 * join_schema - candle-graph/join/1 as structures and tables, expanded from join.def:
 * join_doc, table_join_doc, JOIN_RULE_MODULE_PATH ...
 */
#ifndef CG_SCHEMA_JOIN_SCHEMA_H
#define CG_SCHEMA_JOIN_SCHEMA_H

#include "schema/join.def"
#include "schema/model_schema.h"
#include "schema/trace_schema.h"

#define X(prefix, name, text) extern const sc_words words_##name;
JOIN_WORDS(X)
#undef X

enum {
#define W(name, word) JOIN_ITEM_##name,
    JOIN_ITEM_WORDS(W)
#undef W
        JOIN_ITEM_WORD_COUNT
};
enum {
#define W(name, word) JOIN_RECORD_##name,
    JOIN_RECORD_WORDS(W)
#undef W
        JOIN_RECORD_WORD_COUNT
};
enum {
#define W(name, word) JOIN_PLANE_##name,
    JOIN_PLANE_WORDS(W)
#undef W
        JOIN_PLANE_WORD_COUNT
};
enum {
#define W(name, word) JOIN_INPUT_##name,
    JOIN_INPUT_WORDS(W)
#undef W
        JOIN_INPUT_WORD_COUNT
};
enum {
#define W(name, word) JOIN_WORTH_##name,
    JOIN_WORTH_WORDS(W)
#undef W
        JOIN_WORTH_WORD_COUNT
};
enum {
#define W(name, word) JOIN_RULE_##name,
    JOIN_RULE_WORDS(W)
#undef W
        JOIN_RULE_WORD_COUNT
};
enum {
#define W(name, word) JOIN_SCOPE_##name,
    JOIN_SCOPE_WORDS(W)
#undef W
        JOIN_SCOPE_WORD_COUNT
};
enum {
#define W(name, word) JOIN_CHOICE_##name,
    JOIN_CHOICE_WORDS(W)
#undef W
        JOIN_CHOICE_WORD_COUNT
};
enum {
#define W(name, word) JOIN_BASIS_##name,
    JOIN_BASIS_WORDS(W)
#undef W
        JOIN_BASIS_WORD_COUNT
};
enum {
#define W(name, word) JOIN_TIE_##name,
    JOIN_TIE_WORDS(W)
#undef W
        JOIN_TIE_WORD_COUNT
};
enum {
#define W(name, word) JOIN_VERDICT_##name,
    JOIN_VERDICT_WORDS(W)
#undef W
        JOIN_VERDICT_WORD_COUNT
};
enum {
#define W(name, word) JOIN_DISPUTE_##name,
    JOIN_DISPUTE_WORDS(W)
#undef W
        JOIN_DISPUTE_WORD_COUNT
};
enum {
#define W(name, word) JOIN_PART_##name,
    JOIN_PART_WORDS(W)
#undef W
        JOIN_PART_WORD_COUNT
};

#define X(prefix, name, tag)                                                                       \
    SC_STRUCT(prefix##_FIELDS, name)                                                               \
    extern const sc_table table_##name;
JOIN_TABLES(X)
#undef X

#endif
