/*
 * checkpoint_schema - the checkpoint report and the key map as structures and tables, expanded from
 * checkpoint.def: doc_checkpoint, table_checkpoint, DIAGNOSIS_RENAMED ...
 */
#ifndef CG_SCHEMA_CHECKPOINT_SCHEMA_H
#define CG_SCHEMA_CHECKPOINT_SCHEMA_H

#include "schema/checkpoint.def"
#include "schema/schema.h"

enum diagnosis_code {
#define X(name, word) DIAGNOSIS_##name,
    DIAGNOSES(X)
#undef X
        DIAGNOSIS_COUNT
};

extern const cg_str diagnosis_words[DIAGNOSIS_COUNT];

#define X(prefix, name, text)                                                                      \
    SC_STRUCT(prefix##_FIELDS, doc_##name)                                                         \
    extern const sc_table table_##name;
CHECKPOINT_TABLES(X)
#undef X

#endif
