#include "exec/graph.h"

#include "exec/columns.h"
#include "exec/graph_memory.h"
#include "exec/peaks.h"

typedef struct graph_work {
    graph *graph;
    const trace_doc *trace;
    heap *heap;
    uint32_t *preorder; /* spans, parents before their children */
    bool *is_ancestor;  /* by span: of the measured span, which is not among them */
    uint32_t *op_span;  /* by operation */
    uint32_t *op_count; /* by span */
} graph_work;

/* --- the tree --- */

/* List spans from the root downwards, children in id order. Fails only without memory. */
static bool list_preorder(heap *from, const trace_doc *trace, uint32_t *ret)
{
    size_t count = trace->spans.count;
    uint32_t *first = column_take(from, count, sizeof *first);
    uint32_t *next = column_take(from, count, sizeof *next);
    uint32_t roots = TRACE_NONE;
    bool is_done = first != NULL && next != NULL;

    if (is_done) {
        memset(first, 0xff, count * sizeof *first);
        for (size_t i = count; i-- > 0;) {
            uint32_t parent = trace->spans.at[i].parent;
            uint32_t *head = parent != TRACE_NONE ? &first[parent] : &roots;

            next[i] = *head;
            *head = (uint32_t)i;
        }

        size_t filled = 0;
        uint32_t at = roots;

        while (at != TRACE_NONE) {
            ret[filled++] = at;
            if (first[at] != TRACE_NONE) {
                at = first[at];
                continue;
            }
            while (at != TRACE_NONE && next[at] == TRACE_NONE)
                at = trace->spans.at[at].parent;
            if (at != TRACE_NONE)
                at = next[at];
        }
    }
    column_free(from, next, count, sizeof *next);
    column_free(from, first, count, sizeof *first);
    return is_done;
}

static void set_depths(const graph_work *self)
{
    graph *result = self->graph;

    for (uint32_t i = 0; i < result->span_count; i++) {
        uint32_t span = self->preorder[i];
        uint32_t parent = self->trace->spans.at[span].parent;

        result->depth[span] = parent != TRACE_NONE ? result->depth[parent] + 1 : 0;
        result->in_subtree[span] =
            span == result->measured || (parent != TRACE_NONE && result->in_subtree[parent]);
    }
}

/* --- ranking --- */

/*
 * Each ranking keeps its best rows in order. Candidates come in id order and a new one goes behind
 * those it equals, so ties end up in id order.
 */

/* Device time of the measured subtree: one row per span, device and clock. */
static bool is_busier(const graph *self, uint32_t a, uint32_t b)
{
    return self->timing->spans.at[a].busy_ns > self->timing->spans.at[b].busy_ns;
}

static void rank_device(graph *self)
{
    for (uint32_t span = 0; span < self->span_count; span++) {
        for (uint32_t row = self->timing_at[span];
             self->in_subtree[span] && row < self->timing_at[span + 1]; row++) {
            uint32_t place = self->device_count;

            while (place > 0 && is_busier(self, row, self->device[place - 1].timing))
                place--;
            if (column_rank(self->device, sizeof *self->device, GRAPH_RANK_ROWS,
                            &self->device_count, place))
                self->device[place] = (graph_device_row){span, row};
        }
    }
}

static void rank_heaviest(graph *self)
{
    const trace_span *spans = self->trace->spans.at;

    for (uint32_t span = 0; span < self->span_count; span++) {
        uint32_t place = self->heaviest_count;

        if (!self->in_subtree[span] || !self->has_allocated[span] || graph_is_op_kind(&spans[span]))
            continue;
        while (place > 0 &&
               self->allocated_bytes[span] > self->allocated_bytes[self->heaviest[place - 1]])
            place--;
        if (column_rank(self->heaviest, sizeof *self->heaviest, GRAPH_RANK_ROWS,
                        &self->heaviest_count, place))
            self->heaviest[place] = span;
    }
}

/* Rows of the timing plane come in order of span id, and so do spans. */
static void set_timing_at(graph *self)
{
    const timing_plane *timing = self->timing;
    uint32_t row = 0;

    for (uint32_t span = 0; span < self->span_count; span++) {
        self->timing_at[span] = row;
        while (row < timing->spans.count &&
               timing->spans.at[row].span_id == self->trace->spans.at[span].id)
            row++;
    }
    self->timing_at[self->span_count] = row;
}

/* --- the parts --- */

static bool place_operations(graph_work *self)
{
    graph *result = self->graph;

    self->op_span = column_take(self->heap, result->op_count, sizeof *self->op_span);
    self->op_count = column_zero(self->heap, result->span_count, sizeof *self->op_count);
    if (self->op_span == NULL || self->op_count == NULL)
        return false;
    for (uint32_t i = 0; i < result->op_count; i++) {
        self->op_span[i] = trace_span_of(self->trace, self->trace->ops.at[i].span_id);
        result->op_number[i] = self->op_count[self->op_span[i]]++;
    }
    return true;
}

static cg_code build_nodes(graph_work *self, cg_err *reterr)
{
    graph *result = self->graph;
    graph_nodes nodes = {.trace = self->trace,
                         .heap = self->heap,
                         .span_count = result->span_count,
                         .op_count = self->op_count};
    cg_code code = graph_nodes_build(&nodes, reterr);

    result->tensors = nodes.tensors;
    result->tensor_count = nodes.tensor_count;
    return code;
}

static bool build_host(graph_work *self)
{
    graph *result = self->graph;

    return graph_host_build(&(graph_host){.trace = self->trace,
                                          .heap = self->heap,
                                          .span_count = result->span_count,
                                          .op_count = result->op_count,
                                          .measured = result->measured,
                                          .preorder = self->preorder,
                                          .op_span = self->op_span,
                                          .in_subtree = result->in_subtree,
                                          .is_ancestor = self->is_ancestor,
                                          .total_ns = result->total_ns,
                                          .self_ns = result->self_ns},
                            result->host, &result->host_count);
}

static bool build_memory(graph_work *self)
{
    graph *result = self->graph;

    result->has_memory = self->trace->memory.count > 0;
    if (!result->has_memory)
        return true;
    result->allocated_bytes =
        column_zero(self->heap, result->span_count, sizeof *result->allocated_bytes);
    result->peak_live_bytes =
        column_zero(self->heap, result->span_count, sizeof *result->peak_live_bytes);
    result->residual_bytes =
        column_zero(self->heap, result->span_count, sizeof *result->residual_bytes);
    result->op_allocated = column_zero(self->heap, result->op_count, sizeof *result->op_allocated);
    if (result->allocated_bytes == NULL || result->peak_live_bytes == NULL ||
        result->residual_bytes == NULL || result->op_allocated == NULL)
        return false;
    return graph_memory_build(&(graph_memory){.trace = self->trace,
                                              .memory = result->memory,
                                              .heap = self->heap,
                                              .span_count = result->span_count,
                                              .op_count = result->op_count,
                                              .op_span = self->op_span,
                                              .ops_within = self->op_count,
                                              .allocated_bytes = result->allocated_bytes,
                                              .has_allocated = result->has_allocated,
                                              .op_allocated = result->op_allocated,
                                              .has_op_allocated = result->has_op_allocated});
}

_Static_assert(GRAPH_RANK_ROWS <= PEAKS_FEW, "the heaviest spans are few");

/* The summary names the peaks of the heaviest spans only. */
static bool set_heaviest_peaks(graph_work *self)
{
    graph *result = self->graph;
    const peaks_tree tree = {.memory = result->memory,
                             .preorder = self->preorder,
                             .depth = result->depth,
                             .is_complete = graph_is_memory_complete(self->trace)};

    if (!result->has_memory || result->heaviest_count == 0)
        return true;
    return peaks_of_few(self->heap, &tree, result->heaviest, result->heaviest_count,
                        result->peak_live_bytes, result->residual_bytes, result->has_peak);
}

/* --- the whole --- */

static bool take_graph(graph *self)
{
    size_t spans = self->span_count;
    size_t ops = self->op_count;

    self->total_ns = column_take(self->heap, spans, sizeof *self->total_ns);
    self->self_ns = column_take(self->heap, spans, sizeof *self->self_ns);
    self->op_number = column_take(self->heap, ops, sizeof *self->op_number);
    self->timing_at = column_take(self->heap, spans + 1, sizeof *self->timing_at);
    self->depth = column_take(self->heap, spans, sizeof *self->depth);
    self->in_subtree = column_take(self->heap, spans, sizeof *self->in_subtree);
    self->has_allocated = column_zero(self->heap, spans, sizeof *self->has_allocated);
    self->has_peak = column_zero(self->heap, spans, sizeof *self->has_peak);
    self->has_op_allocated = column_zero(self->heap, ops, sizeof *self->has_op_allocated);
    return self->total_ns != NULL && self->self_ns != NULL && self->op_number != NULL &&
           self->timing_at != NULL && self->depth != NULL && self->in_subtree != NULL &&
           self->has_allocated != NULL && self->has_peak != NULL && self->has_op_allocated != NULL;
}

static bool prepare(graph_work *self)
{
    graph *result = self->graph;
    uint32_t at = self->trace->spans.at[result->measured].parent;

    self->preorder = column_take(self->heap, result->span_count, sizeof *self->preorder);
    self->is_ancestor = column_zero(self->heap, result->span_count, sizeof *self->is_ancestor);
    if (self->preorder == NULL || self->is_ancestor == NULL || !take_graph(result) ||
        !list_preorder(self->heap, self->trace, self->preorder) || !place_operations(self))
        return false;
    set_depths(self);
    for (; at != TRACE_NONE; at = self->trace->spans.at[at].parent)
        self->is_ancestor[at] = true;
    return true;
}

static cg_code build(graph_work *self, cg_err *reterr)
{
    graph *result = self->graph;

    if (!prepare(self))
        return err_nomem(reterr);
    CG_TRY(build_nodes(self, reterr));
    set_timing_at(result);
    if (!build_host(self) || !build_memory(self))
        return err_nomem(reterr);
    rank_device(result);
    rank_heaviest(result);
    if (!set_heaviest_peaks(self))
        return err_nomem(reterr);
    return CG_OK;
}

cg_code graph_build(heap *from, const trace_doc *trace, const health_report *health,
                    const memory_plane *memory, const timing_plane *timing, graph *ret,
                    cg_err *reterr)
{
    graph_work self = {.graph = ret, .trace = trace, .heap = from};
    cg_code code;

    *ret = (graph){.trace = trace,
                   .memory = memory,
                   .timing = timing,
                   .heap = from,
                   .span_count = (uint32_t)trace->spans.count,
                   .op_count = (uint32_t)trace->ops.count,
                   .measured = health->measured_span};
    if (trace->spans.count + trace->ops.count + intern_count(&trace->texts) >= TRACE_NONE)
        return cg_fail(reterr, PROBLEM_LIMIT, "the graph would have more than 2^32 nodes");
    code = build(&self, reterr);
    column_free(from, self.preorder, ret->span_count, sizeof *self.preorder);
    column_free(from, self.is_ancestor, ret->span_count, sizeof *self.is_ancestor);
    column_free(from, self.op_span, ret->op_count, sizeof *self.op_span);
    column_free(from, self.op_count, ret->span_count, sizeof *self.op_count);
    if (code != CG_OK)
        graph_free(ret);
    return code;
}

void graph_free(graph *self)
{
    heap *from = self->heap;
    size_t spans = self->span_count;
    size_t ops = self->op_count;

    if (from != NULL) {
        column_free(from, self->total_ns, spans, sizeof *self->total_ns);
        column_free(from, self->self_ns, spans, sizeof *self->self_ns);
        column_free(from, self->op_number, ops, sizeof *self->op_number);
        column_free(from, self->timing_at, spans + 1, sizeof *self->timing_at);
        column_free(from, self->depth, spans, sizeof *self->depth);
        column_free(from, self->in_subtree, spans, sizeof *self->in_subtree);
        column_free(from, self->tensors, self->tensor_count, sizeof *self->tensors);
        column_free(from, self->allocated_bytes, spans, sizeof *self->allocated_bytes);
        column_free(from, self->has_allocated, spans, sizeof *self->has_allocated);
        column_free(from, self->peak_live_bytes, spans, sizeof *self->peak_live_bytes);
        column_free(from, self->residual_bytes, spans, sizeof *self->residual_bytes);
        column_free(from, self->has_peak, spans, sizeof *self->has_peak);
        column_free(from, self->op_allocated, ops, sizeof *self->op_allocated);
        column_free(from, self->has_op_allocated, ops, sizeof *self->has_op_allocated);
    }
    *self = (graph){0};
}

cg_code graph_complete(heap *from, graph *copy, cg_err *reterr)
{
    size_t spans = copy->span_count;
    peaks_tree tree = {.memory = copy->memory,
                       .depth = copy->depth,
                       .is_complete = graph_is_memory_complete(copy->trace)};
    uint32_t *preorder;
    bool is_done;

    if (!copy->has_memory || copy->is_complete)
        return CG_OK;
    copy->peak_live_bytes = column_take(from, spans, sizeof *copy->peak_live_bytes);
    copy->residual_bytes = column_take(from, spans, sizeof *copy->residual_bytes);
    copy->has_peak = column_take(from, spans, sizeof *copy->has_peak);
    preorder = column_take(from, spans, sizeof *preorder);
    copy->is_complete = true;
    tree.preorder = preorder;
    is_done = copy->peak_live_bytes != NULL && copy->residual_bytes != NULL &&
              copy->has_peak != NULL && preorder != NULL &&
              list_preorder(from, copy->trace, preorder) &&
              peaks_build(from, &tree, copy->peak_live_bytes, copy->residual_bytes, copy->has_peak);
    column_free(from, preorder, spans, sizeof *preorder);
    if (is_done)
        return CG_OK;
    graph_uncomplete(from, copy);
    return err_nomem(reterr);
}

void graph_uncomplete(heap *from, graph *copy)
{
    size_t spans = copy->span_count;

    if (!copy->is_complete)
        return;
    column_free(from, copy->peak_live_bytes, spans, sizeof *copy->peak_live_bytes);
    column_free(from, copy->residual_bytes, spans, sizeof *copy->residual_bytes);
    column_free(from, copy->has_peak, spans, sizeof *copy->has_peak);
    copy->peak_live_bytes = copy->residual_bytes = NULL;
    copy->has_peak = NULL;
    copy->is_complete = false;
}

cg_code graph_net_peaks(const graph *self, uint64_t *ret_by_span, cg_err *reterr)
{
    uint32_t *preorder;
    bool *has_peak;
    peaks_tree tree = {.memory = self->memory, .depth = self->depth, .is_net = true};
    bool is_done;

    memset(ret_by_span, 0, self->span_count * sizeof *ret_by_span);
    if (!self->has_memory)
        return CG_OK;
    preorder = column_take(self->heap, self->span_count, sizeof *preorder);
    has_peak = column_take(self->heap, self->span_count, sizeof *has_peak);
    tree.preorder = preorder;
    is_done = preorder != NULL && has_peak != NULL &&
              list_preorder(self->heap, self->trace, preorder) &&
              peaks_build(self->heap, &tree, ret_by_span, NULL, has_peak);
    column_free(self->heap, has_peak, self->span_count, sizeof *has_peak);
    column_free(self->heap, preorder, self->span_count, sizeof *preorder);
    return is_done ? CG_OK : err_nomem(reterr);
}
