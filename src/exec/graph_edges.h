/*
 * graph_edges - the edges of a derived graph, in the order of the ids of its nodes.
 *
 * Calls and data edges of the trace, who is inside whom, and which tensors an operation takes and
 * makes. Only full listings need them. Time O(n log n).
 */
#ifndef CG_EXEC_GRAPH_EDGES_H
#define CG_EXEC_GRAPH_EDGES_H

#include "exec/graph.h"

enum graph_label { GRAPH_LABEL_NONE, GRAPH_LABEL_OP, GRAPH_LABEL_INPUT, GRAPH_LABEL_OUTPUT };

typedef struct graph_edge {
    uint32_t from, to; /* node numbers */
    uint64_t duration_ns;
    uint8_t kind;  /* EDGE_KIND_ */
    uint8_t label; /* graph_label; OP: the name of operation `to` */
} graph_edge;

typedef struct graph_edges {
    heap *heap;
    VEC(graph_edge) rows; /* sorted by (from id, to id, kind), bytewise */
} graph_edges;

cg_code graph_edges_build(heap *from, const graph *of, graph_edges *ret, cg_err *reterr) CG_MUST;
void graph_edges_free(graph_edges *edges);

/* Append the wire id of a node: span id, `<span>/op/<n>` or `tensor/<id>`. */
void graph_node_id(const graph *self, uint32_t node, buf *out);

#endif
