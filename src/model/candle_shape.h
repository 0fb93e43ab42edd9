/*
 * candle_shape - sizes and axes as candle's functions take them: usize, tuples, lists, `D::Minus1`.
 */
#ifndef CG_MODEL_CANDLE_SHAPE_H
#define CG_MODEL_CANDLE_SHAPE_H

#include "model/flow_build.h"
#include "model/std_call.h"

#define CANDLE_AXES 16 /* of one shape */

/*
 * What converts into a Shape: usize, tuples, arrays, slices, Vec, and `x.shape()` of a tensor whose
 * rank is known. *ret_known false: even the rank is not known. Axes that are not known are
 * EXPR_NONE; the one that is left open (`()`) is too, and *ret_hole says which, UINT32_MAX none.
 */
bool candle_shape_with_hole(eval *self, val shape, expr *axes, uint32_t *ret_rank, bool *ret_known,
                            uint32_t *ret_hole);
bool candle_shape(eval *self, val shape, expr *axes, uint32_t *ret_rank, bool *ret_known);
/* One size: its number, or its text as something nobody looks into. */
expr candle_size(eval *self, val size);
/* `2`, `D::Minus1` as -1; false: not known. */
bool candle_axis(eval *self, val axis, int64_t *ret);
/* The tensor whose shape the value is, when it is one as a whole: `x.shape()`; 0 none. */
node_ref candle_shape_node(eval *self, val shape);

#endif
