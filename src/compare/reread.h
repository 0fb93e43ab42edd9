/*
 * reread - a document about several runs, or a crate and its runs, that was written to a file, once
 * more, for a page.
 *
 * The page shows it as it stands there, so what its script relies on is checked first: every known
 * field is there and of its type. Unknown fields are ignored.
 */
#ifndef CG_COMPARE_REREAD_H
#define CG_COMPARE_REREAD_H

#include "base/heap.h"

enum reread_kind {
    REREAD_COMPARISON,
    REREAD_SERIES,
    REREAD_CAMPAIGN,
    REREAD_JOIN,
    REREAD_KIND_COUNT
};

/* CG_INPUT when it is none of them (document-kind), no JSON, or lacks something; CG_NOMEM. */
cg_code reread_check(heap *heap, cg_str text, enum reread_kind *ret, cg_err *reterr) CG_MUST;

#endif
