/*
 * flow_shape - which sizes the result of an operation has: one function for every rule of the
 * table.
 */
#ifndef CG_MODEL_FLOW_SHAPE_H
#define CG_MODEL_FLOW_SHAPE_H

#include "model/flow_call.h"

/*
 * After flow_gather. Sizes, rank and how they follow from the first operand; of views also how
 * they lie, where that shows in the sizes. What cannot fit is a requirement that fails. false: no
 * memory.
 */
bool flow_shape_apply(flow_call *call);

#endif
