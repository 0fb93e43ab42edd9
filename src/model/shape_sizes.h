/*
 * shape_sizes - the sizes of axes, calculated with: whole numbers as text or as value (model/expr).
 *
 * EXPR_NONE is a size nobody knows, and so is everything made of one.
 */
#ifndef CG_MODEL_SHAPE_SIZES_H
#define CG_MODEL_SHAPE_SIZES_H

#include "model/flow_call.h"

expr size_const(const flow_call *call, int64_t it);
expr size_plus(const flow_call *call, expr a, expr b);
expr size_minus(const flow_call *call, expr a, expr b);
expr size_times(const flow_call *call, expr a, expr b);
/* As usize divides. */
expr size_over(const flow_call *call, expr a, expr b);
/* Of the axes from `from` to before `to`; 1 of none. */
expr size_product(const flow_call *call, const expr *axes, unsigned from, unsigned to);
/* The number of elements. */
expr size_of_all(const flow_call *call, const flow_facts *facts);
/* The size an argument is; unknown when there is none. */
expr size_argument(const flow_call *call, size_t which);
/* Known to be 1. */
bool size_is_one(const flow_call *call, expr size);
/* Sizes above 0 that can never be equal: `4 * h` and `h` among them. */
bool size_can_differ(const flow_call *call, expr a, expr b);
/* Of two sizes of which one may be 1; *ret_fails is set, never cleared, when they cannot meet. */
expr size_broadcast(const flow_call *call, expr a, expr b, bool *ret_fails);

#endif
