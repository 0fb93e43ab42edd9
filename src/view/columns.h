/*
 * columns - tables as columns, for a script to read: docs/schemas/page.md.
 *
 * A column is of integers, of integers that mostly rise (differences are kept), of doubles or of
 * texts; every distinct text is there once. Any cell may be unknown. Rows are written column by
 * column, one cell each; a table is closed when all its columns have equally many. What fails is
 * kept and reported by columns_finish.
 */
#ifndef CG_VIEW_COLUMNS_H
#define CG_VIEW_COLUMNS_H

#include "base/buf.h"
#include "base/intern.h"

enum columns_type {
    COLUMNS_INTEGER = 'u',
    COLUMNS_RISING = 'd',
    COLUMNS_DOUBLE = 'f',
    COLUMNS_TEXT = 't',
    COLUMNS_NEW_TEXT = 'n' /* mostly texts that are not there yet: differences of their numbers */
};

typedef struct columns_spec {
    const char *name; /* of the column */
    char type;        /* columns_type */
} columns_spec;

#define COLUMNS_COLUMNS 24 /* of one table at most */

typedef struct columns_column {
    buf cells;
    buf unknown; /* a bit a row, once one is unknown */
    uint64_t rows;
    uint64_t last;
} columns_column;

typedef struct columns {
    heap *heap;
    intern texts;
    buf body; /* finished tables */
    uint64_t table_count;
    const columns_spec *specs; /* of the open table */
    size_t spec_count;
    columns_column columns[COLUMNS_COLUMNS];
    bool failed;
} columns;

/* False when out of memory; columns_free is due in both cases. */
bool columns_init(columns *self, heap *from);
void columns_free(columns *self);

void columns_begin(columns *self, const char *name, const columns_spec *specs, size_t count);
/* `total`: how many rows there are outside of them. */
void columns_end(columns *self, uint64_t total);

void columns_integer(columns *self, size_t column, uint64_t value);
void columns_double(columns *self, size_t column, double value);
/* An absent text is unknown. */
void columns_text(columns *self, size_t column, cg_str value);
void columns_unknown(columns *self, size_t column);
static inline void columns_optional(columns *self, size_t column, opt_u64 value)
{
    if (value.is_set)
        columns_integer(self, column, value.value);
    else
        columns_unknown(self, column);
}

/* The whole, deflated and in base64, appended to `ret`. CG_NOMEM, CG_LIMIT. */
cg_code columns_finish(columns *self, buf *ret, cg_err *reterr) CG_MUST;

#endif
