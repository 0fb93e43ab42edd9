/*
 * flow_needs - what the row says its operands must be: numbers in the domain of a logarithm or a
 * divisor, memory as a kernel takes it, ids that are integers, a kernel at all.
 */
#ifndef CG_MODEL_FLOW_NEEDS_H
#define CG_MODEL_FLOW_NEEDS_H

#include "model/flow_call.h"

/* After all facts of the result. Adds to the needs of the call. */
void flow_check_needs(flow_call *self);

#endif
