/*
 * nodes - the derived graph as parts of documents. All need a graph.
 */
#ifndef CG_VIEW_NODES_H
#define CG_VIEW_NODES_H

#include "view/pen.h"

/* Nodes are numbered as in exec/graph.h. */
void nodes_write(jsonw *out, pen *self, uint32_t node);
/* The name a label filter looks at. */
cg_str nodes_name(const pen *self, uint32_t node);
uint8_t nodes_span_kind(const trace_span *span);
/* All of them. */
void nodes_emit(jsonw *out, const void *context);
void nodes_emit_edges(jsonw *out, const void *context);

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
