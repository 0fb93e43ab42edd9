/*
 * graph_host - host time of the spans of a graph, and the slowest of them.
 *
 * The total of a span is its duration, or what lies directly below it when that is 0; its own time
 * is what no child covers, however children overlap. The slowest are those of the measured window,
 * clipped to it, also such that ran beside the measured span.
 */
#ifndef CG_EXEC_GRAPH_HOST_H
#define CG_EXEC_GRAPH_HOST_H

#include "exec/trace.h"

#define GRAPH_RANK_ROWS 8

typedef struct graph_host_row {
    uint32_t span;
    bool is_concurrent; /* scope: concurrent_overlap, else measured_subtree */
    uint64_t clipped_self_ns;
    uint64_t clipped_total_ns;
} graph_host_row;

typedef struct graph_host {
    const trace_doc *trace;
    heap *heap; /* working room */
    uint32_t span_count, op_count;
    uint32_t measured;        /* span index */
    const uint32_t *preorder; /* spans, parents before their children */
    const uint32_t *op_span;  /* by operation */
    const bool *in_subtree;   /* by span: the measured span or below it */
    const bool *is_ancestor;  /* by span: of the measured span, which is not among them */
    uint64_t *total_ns;       /* by span, to be filled */
    uint64_t *self_ns;        /* by span, to be filled */
} graph_host;

/*
 * Fill both columns and the slowest spans, at most GRAPH_RANK_ROWS, equal ones in id order. False:
 * out of memory. O(n log n).
 */
bool graph_host_build(const graph_host *self, graph_host_row *ret, uint32_t *ret_count) CG_MUST;

/* Does the span stand for an operation, so that a ranking of spans leaves it out? */
static inline bool graph_is_op_kind(const trace_span *span)
{
    return span->parent_id != 0 && span->kind == SPAN_KIND_OP;
}

#endif
