/*
 * flow_operands - the tensors an operation is given: arguments, items of lists, fields of layers,
 * and numbers that came out of tensors before.
 */
#ifndef CG_MODEL_FLOW_OPERANDS_H
#define CG_MODEL_FLOW_OPERANDS_H

#include "model/flow_call.h"

/* A tensor-like value (also options and choices of them). */
bool flow_is_tensor(eval *self, val which);
/*
 * One more edge from a tensor to the result; without effect for node 0 and beyond FLOW_OPERANDS.
 */
void flow_add_operand(flow_call *self, node_ref from, enum flow_role role, size_t index,
                      enum flow_pass passes, sym name);
/*
 * Fills node_at, tensors, weight, bias and edges from the arguments, as the letters of the row say.
 * A tensor nobody knows gets a node; edges pass a gradient unless they are ids, masks or host data.
 */
void flow_gather(flow_call *self);

#endif
