/*
 * flow_apply - one operation of the table is done to tensors: facts are computed, requirements
 * looked at, a node is made. See model/flow_call for the order of calls.
 */
#ifndef CG_MODEL_FLOW_APPLY_H
#define CG_MODEL_FLOW_APPLY_H

#include "model/flow_call.h"

/* 0 and CG_OK: the table has no such operation. */
cg_code flow_apply(flow_call *self, node_ref *ret);
/* A node for what is not understood, made of all tensors among the arguments and inside of them. */
cg_code flow_apply_unknown(flow_call *self, const node_ref *inside, size_t inside_count,
                           node_ref *ret);

#endif
