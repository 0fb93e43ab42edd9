/*
 * compare_schema - the documents about cohorts, campaigns and series as C
 * structures and tables, expanded from compare.def: doc_comparison,
 * table_comparison ..., REASON_FEW_RUNS ...
 */
#ifndef CG_SCHEMA_COMPARE_SCHEMA_H
#define CG_SCHEMA_COMPARE_SCHEMA_H

#include "schema/compare.def"
#include "schema/evidence_schema.h"

enum {
#define W(name, word) VERIFICATION_##name,
    VERIFICATION_WORDS(W)
#undef W
};
enum {
#define W(name, word) VERDICT_##name,
    VERDICT_WORDS(W)
#undef W
};
enum {
#define W(name, word) COHORT_##name,
    COHORT_WORDS(W)
#undef W
        COHORT_COUNT
};
enum {
#define W(name, word) CAPTURE_STATE_##name,
    CAPTURE_STATE_WORDS(W)
#undef W
};

enum reason {
#define X(name, code, meaning, help) REASON_##name,
    REASONS(X)
#undef X
        REASON_COUNT
};

typedef struct reason_row {
    cg_str code;
    const char *meaning;
    const char *help;
} reason_row;
extern const reason_row reason_rows[REASON_COUNT];

#define X(prefix, name, text) extern const sc_words words_##name;
COMPARE_WORDS(X)
#undef X

#define X(prefix, name, tag)                                                                       \
    SC_STRUCT(prefix##_FIELDS, doc_##name)                                                         \
    extern const sc_table table_##name;
COMPARE_TABLES(X)
#undef X

#endif
