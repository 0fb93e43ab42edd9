/*
 * member_shape - what the shape of a family of keys is for one of its members.
 *
 * `fc{i + 1}.weight (dims[i + 1], dims[i])` is `(dims[2], dims[1])` for fc2: the number in the
 * name tells the index, and item 1 of a list is the same size in every key that names it. What
 * changes with an index in another way is a size of its own for each member.
 */
#ifndef CG_JOIN_MEMBER_SHAPE_H
#define CG_JOIN_MEMBER_SHAPE_H

#include "join/parameters.h"

/* In the name of a size that one member has: what stands before the numbers of the member. */
#define MEMBER_SIZE_AT " at "

/* *ret is the parameter's own shape when nothing in it depends on the numbers. */
cg_code member_shape_make(heap *from, arena *mem, expr_pool *pool,
                          const wanted_parameter *parameter, const key_pattern *pattern,
                          const key_numbers *numbers, const expr **ret, cg_err *reterr) CG_MUST;

#endif
