/*
 * join_part - the parts of a joined document, each as the whole of its list, in its order.
 *
 * Every function reads a join and puts its rows into `mem`. What is said not to have run, or to be
 * explained, has a ground in both planes; without one it is not said (docs/schemas/join.md).
 */
#ifndef CG_JOIN_JOIN_PART_H
#define CG_JOIN_JOIN_PART_H

#include "join/join.h"
#include "join/join_item.h"

/* join_absent: declared, and nothing of it was recorded where it would have been. By kind, then in
   the order of the document. */
cg_code join_absents_find(const join *from, arena *mem, sc_records *ret, cg_err *reterr) CG_MUST;

typedef struct join_gradients {
    sc_records explained, unexplained; /* join_starved */
    sc_records contradicted;           /* join_disputed */
    join_learning learning;
} join_gradients;

/* Gradients that were missing or zero somewhere, and those that came against a proven finding; by
   module, then key. */
cg_code join_gradients_find(const join *from, arena *mem, join_gradients *ret,
                            cg_err *reterr) CG_MUST;

typedef struct join_numbers {
    sc_records hazards; /* join_hazard: those that runs show */
    sc_records broken;  /* join_broken, by run, in the order of the records */
    uint64_t hazard_count;
} join_numbers;

cg_code join_numbers_find(const join *from, arena *mem, join_numbers *ret, cg_err *reterr) CG_MUST;

/* Functions that the recorded ones reach through calls; by function. NULL: no memory. */
bool *join_reach(const join *from, arena *mem, const bool *is_start);

#endif
