/*
 * graph - the derived execution graph (candle-graph/graph/5).
 *
 * Built only from a healthy, complete capture; from nothing but what executed.
 * Node numbers: spans 0 .. span_count-1 in trace order (by id), then
 * operations in stream order, then tensors in bytewise id order.
 * Everything the summary needs is computed by graph_build; edges, which only
 * full listings need, are those of exec/graph_edges.
 */
#ifndef CG_EXEC_GRAPH_H
#define CG_EXEC_GRAPH_H

#include "exec/graph_host.h"
#include "exec/graph_nodes.h"
#include "exec/health.h"
#include "exec/timing.h"

typedef struct graph_device_row {
    uint32_t span;
    uint32_t timing; /* index into timing->spans */
} graph_device_row;

typedef struct graph {
    const trace_doc *trace;
    const memory_plane *memory;
    const timing_plane *timing;
    heap *heap;
    uint32_t span_count, op_count, tensor_count;
    uint32_t measured;   /* span index */
    uint64_t *total_ns;  /* by span: effective duration */
    uint64_t *self_ns;   /* by span */
    uint32_t *op_number; /* by op: its number within its span */
    uint32_t *timing_at; /* by span, span_count + 1 entries: first row in timing->spans */
    uint32_t *depth;     /* by span, root 0 */
    bool *in_subtree;    /* by span: the measured span or below it */
    graph_tensor_node *tensors;
    /* The has_ columns are always there, all false without memory events; figures are NULL then. */
    bool has_memory;
    uint64_t *allocated_bytes; /* by span */
    bool *has_allocated;       /* by span */
    uint64_t *peak_live_bytes; /* by span; until graph_complete only of the heaviest ones */
    uint64_t *residual_bytes;  /* by span; as above */
    bool *has_peak;            /* by span: peak and residual known */
    bool is_complete;          /* graph_complete was here */
    uint64_t *op_allocated;    /* by op */
    bool *has_op_allocated;    /* by op */
    graph_host_row host[GRAPH_RANK_ROWS];
    uint32_t host_count;
    graph_device_row device[GRAPH_RANK_ROWS];
    uint32_t device_count;
    uint32_t heaviest[GRAPH_RANK_ROWS]; /* spans */
    uint32_t heaviest_count;
} graph;

/*
 * Fails with CG_INPUT (graph-id-collision names both ids), CG_NOMEM, CG_LIMIT.
 * Must not be called unless health->is_valid && health->is_complete.
 * O(n log n) time whatever the depth of the tree; no recursion.
 */
cg_code graph_build(heap *from, const trace_doc *trace, const health_report *health,
                    const memory_plane *memory, const timing_plane *timing, graph *ret,
                    cg_err *reterr) CG_MUST;
void graph_free(graph *self);

/*
 * Peak and residual of every span, which only full listings need. Works on a
 * shallow copy of a graph: the three columns become new ones from `from`, to
 * be given back by graph_uncomplete with the same heap. CG_NOMEM.
 */
cg_code graph_complete(heap *from, graph *copy, cg_err *reterr) CG_MUST;
void graph_uncomplete(heap *from, graph *copy);

static inline uint32_t graph_node_count(const graph *self)
{
    return self->span_count + self->op_count + self->tensor_count;
}

/* `peak_live_bytes`, transients of one timestamp netted (decision 0013), by span; 0: unknown. */
cg_code graph_net_peaks(const graph *self, uint64_t *ret_by_span, cg_err *reterr) CG_MUST;

#endif
