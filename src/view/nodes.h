/*
 * nodes - the derived graph as parts of documents. All need a graph.
 */
#ifndef CG_VIEW_NODES_H
#define CG_VIEW_NODES_H

#include "exec/graph_edges.h"
#include "view/pen.h"

/* A node as a row of graph/5; must stay where it is while the row is written. */
typedef struct node_parts {
    const pen *pen;
    uint32_t timings_from, timings_to; /* rows of the timing plane */
    doc_node row;                      /* its id may lie in the pen's room */
} node_parts;

/* Nodes are numbered as in exec/graph.h. */
void nodes_describe(pen *self, uint32_t node, node_parts *ret);
/* The device timings of the node_parts given as context, [] when there are none. */
void nodes_emit_timings(jsonw *out, const void *context);
void nodes_write(jsonw *out, pen *self, uint32_t node);
/* The name a label filter looks at. */
cg_str nodes_name(const pen *self, uint32_t node);
uint8_t nodes_span_kind(const trace_span *span);
/* All of them. */
void nodes_emit(jsonw *out, const void *context);
void nodes_emit_edges(jsonw *out, const void *context);

/* The names may lie in the pen's room for ids; label absent: none. */
typedef struct edge_names {
    cg_str from, to, label;
} edge_names;
edge_names nodes_edge_names(jsonw *out, pen *self, const graph_edge *edge);

/* The summary of the graph, which points at the rows beside it. */
typedef struct summary_parts {
    doc_host_row host[GRAPH_RANK_ROWS];
    doc_device_row device[GRAPH_RANK_ROWS];
    doc_heavy_row heaviest[GRAPH_RANK_ROWS];
    doc_graph_summary summary;
} summary_parts;

/* `ret` must stay where it is while the document is written. */
void nodes_summary(const pen *self, summary_parts *ret);

#endif
