/*
 * nsight_schema - the columns of Nsight exports, expanded from nsight.def.
 */
#ifndef CG_SCHEMA_NSIGHT_SCHEMA_H
#define CG_SCHEMA_NSIGHT_SCHEMA_H

#include "schema/evidence_schema.h"
#include "schema/nsight.def"

enum nsight_column {
#define W(name) NSIGHT_##name,
    NSIGHT_COLUMN_NAMES(W)
#undef W
        NSIGHT_COLUMN_COUNT
};

typedef struct nsight_column_row {
    cg_str names; /* with blanks between, the preferred one first; absent: not in this report */
    bool is_required;
} nsight_column_row;

/* NSIGHT_COLUMN_COUNT rows for a report (GPU_REPORT_...). */
const nsight_column_row *nsight_columns(unsigned report);

/* What ties a range to GPU operations: numbers of words_join_key. */
enum nsight_join_key {
#define W(name, word) JOIN_##name,
    JOIN_KEY_WORDS(W)
#undef W
        JOIN_COUNT
};

#endif
