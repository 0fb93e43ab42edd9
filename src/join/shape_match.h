/*
 * shape_match - symbols of shapes get values from a file, one value each.
 *
 * Every axis of a claimed tensor says `expression == number`. Where tensors contradict each other,
 * the value that most of them agree on holds, so that one wrong tensor stands out instead of all
 * others; a tensor that cannot fit any more has no say.
 */
#ifndef CG_JOIN_SHAPE_MATCH_H
#define CG_JOIN_SHAPE_MATCH_H

#include "model/expr_values.h"

typedef struct shape_claim {
    const expr *shape;
    const uint64_t *file_shape;
    uint32_t rank;
    uint32_t weight; /* how many tensors say so */
} shape_claim;

typedef struct shape_values {
    expr_binding *at;
    size_t count;
    size_t capacity;
} shape_values; /* freed with vec_free(heap, &values) */

enum shape_answer {
    SHAPE_EQUAL, /* every axis */
    SHAPE_OPEN,  /* nothing speaks against it */
    SHAPE_OTHER, /* no value of the free symbols makes them equal */
};

/* Bind what the claims bind, beside what `ret` binds already. They are put in another order. */
cg_code shape_solve(heap *from, expr_pool *pool, shape_claim *claims, size_t count,
                    shape_values *ret, cg_err *reterr) CG_MUST;

enum shape_answer shape_compare(expr_pool *pool, const expr *shape, uint32_t rank,
                                const uint64_t *file_shape, uint32_t file_rank,
                                const shape_values *values);

#endif
