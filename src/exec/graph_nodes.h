/*
 * graph_nodes - the tensors among the nodes of a graph, and ids that would name two nodes.
 *
 * Ids on the wire: of a span its own, `SPAN/op/N` of an operation, `tensor/ID` of a tensor. Nothing
 * forbids a span to be called like that; a graph with two nodes of one id is refused.
 */
#ifndef CG_EXEC_GRAPH_NODES_H
#define CG_EXEC_GRAPH_NODES_H

#include "exec/trace.h"

#define GRAPH_TENSOR_PREFIX CG_LIT("tensor/")
#define GRAPH_OP_PART       CG_LIT("/op/")

typedef struct graph_tensor_node {
    sym tensor_id;
    uint32_t event; /* first tensor event, TRACE_NONE when there is none */
} graph_tensor_node;

typedef struct graph_nodes {
    const trace_doc *trace;
    heap *heap; /* of `tensors`, and working room */
    uint32_t span_count;
    const uint32_t *op_count;   /* by span */
    uint32_t *tensor_state;     /* by symbol: 0, or TENSOR_KNOWN, or first event + TENSOR_EVENT */
    graph_tensor_node *tensors; /* in bytewise id order; the caller's, also after a failure */
    uint32_t tensor_count;
} graph_nodes;

/* Set `tensors`. CG_INPUT (graph-id-collision names both ids), CG_NOMEM. O(n log n). */
cg_code graph_nodes_build(graph_nodes *self, cg_err *reterr) CG_MUST;

#endif
