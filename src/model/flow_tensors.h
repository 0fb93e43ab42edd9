/*
 * flow_tensors - the tensors that lie inside of a value.
 */
#ifndef CG_MODEL_FLOW_TENSORS_H
#define CG_MODEL_FLOW_TENSORS_H

#include "model/flow.h"

/*
 * Tensors inside of a value, through everything that holds values, each once; in `mem`. Numbers
 * that were read from a tensor count as the tensor. false: out of memory.
 */
bool flow_tensors(flow *graph, val of, arena *mem, const node_ref **ret, size_t *ret_count);

#endif
