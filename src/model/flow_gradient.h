/*
 * flow_gradient - whether a gradient comes back from a result to its operands.
 */
#ifndef CG_MODEL_FLOW_GRADIENT_H
#define CG_MODEL_FLOW_GRADIENT_H

#include "model/flow_call.h"

/*
 * After flow_place_layout and the dtype. Edges that pass get what the row says about the operation
 * as a whole; `carries` of the result follows from them.
 */
void flow_pass_gradient(flow_call *self);

#endif
