/*
 * nsight_set - sets of labels: texts sorted bytewise, each once.
 *
 * Results live in an arena and borrow the texts they were made from.
 */
#ifndef CG_EXEC_NSIGHT_SET_H
#define CG_EXEC_NSIGHT_SET_H

#include "base/arena.h"
#include "schema/schema.h"

typedef struct nsight_set {
    sc_strs texts;
    bool had_duplicates; /* the list it was made from */
} nsight_set;

/* O(n log n). CG_NOMEM. */
cg_code nsight_set_make(heap *heap, arena *mem, sc_strs list, nsight_set *ret,
                        cg_err *reterr) CG_MUST;

bool nsight_set_equal(sc_strs a, sc_strs b);

/* Those of `a` that are in `b` (`common`), or that are not. Both sorted; O(n). CG_NOMEM. */
cg_code nsight_set_pick(arena *mem, sc_strs a, sc_strs b, bool common, sc_strs *ret,
                        cg_err *reterr) CG_MUST;

#endif
