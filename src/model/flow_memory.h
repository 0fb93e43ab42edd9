/*
 * flow_memory - where a result lies: on which device, and whether its elements lie one
 * behind the other.
 */
#ifndef CG_MODEL_FLOW_MEMORY_H
#define CG_MODEL_FLOW_MEMORY_H

#include "model/flow_call.h"

/* The device of the result is this value. */
void flow_device(flow_call *self, val device);
/* That of the argument, else of the operands; two that differ are a requirement that fails. */
void flow_place_device(flow_call *self);
/* After the rule of the sizes, which may have seen how a view lies, and after the dtype. */
void flow_place_layout(flow_call *self);

#endif
