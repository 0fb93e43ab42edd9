/*
 * join_rows - a join as a document, or the part of it that was asked for.
 *
 * `select` keeps the rows that have it in an id or a name; limit and offset hold for every list
 * by itself. `total` counts what was selected.
 */
#ifndef CG_JOIN_JOIN_ROWS_H
#define CG_JOIN_JOIN_ROWS_H

#include "join/join_part.h"

typedef struct join_options {
    cg_str select; /* absent: all */
    uint64_t limit, offset;
} join_options;

/* Lives in `mem`, and borrows from the join and its model document. */
cg_code join_document_make(const join *from, const join_options *options, arena *mem, join_doc *ret,
                           cg_err *reterr) CG_MUST;

#endif
