#include "view/nodes.h"

void nodes_emit_timings(jsonw *out, const void *context)
{
    const node_parts *parts = context;

    jw_array(out);
    for (uint32_t i = parts->timings_from; i < parts->timings_to; i++) {
        const timing_row *from = &parts->pen->view.timing.spans.at[i];
        doc_device_timing row = {
            .device = pen_text(parts->pen, from->device),
            .clock_id = pen_text(parts->pen, from->clock_id),
            .busy_ns = from->busy_ns,
        };

        sc_write(out, &table_device_timing, &row);
    }
    jw_end(out);
}

uint8_t nodes_span_kind(const trace_span *span)
{
    static const uint8_t kinds[] = {
        [SPAN_KIND_FUNCTION] = NODE_KIND_FUNCTION,
        [SPAN_KIND_OP] = NODE_KIND_OP,
        [SPAN_KIND_MODULE] = NODE_KIND_MODULE,
    };

    return span->parent_id == 0 ? NODE_KIND_ROOT : kinds[span->kind];
}

static void describe_span(const pen *self, uint32_t index, node_parts *ret)
{
    const graph *derived = &self->view.graph;
    const trace_span *span = &self->view.trace->spans.at[index];
    bool has_allocated = derived->has_memory && derived->has_allocated[index];
    bool has_peak = derived->has_memory && derived->has_peak[index];

    ret->timings_from = derived->timing_at[index];
    ret->timings_to = derived->timing_at[index + 1];
    ret->row = (doc_node){
        .id = pen_text(self, span->id),
        .parent_id = pen_text(self, span->parent_id),
        .name = pen_text(self, span->name),
        .kind = nodes_span_kind(span),
        .start_ns = span->start_ns,
        .host_self_time_ns = derived->self_ns[index],
        .host_total_time_ns = derived->total_ns[index],
    };
    if (ret->timings_from < ret->timings_to)
        ret->row.device_timings = (sc_stream){nodes_emit_timings, ret};
    if (has_allocated)
        ret->row.allocated_bytes = (opt_u64){derived->allocated_bytes[index], true};
    if (has_peak) {
        ret->row.peak_live_bytes = (opt_u64){derived->peak_live_bytes[index], true};
        ret->row.residual_bytes = (opt_u64){derived->residual_bytes[index], true};
    }
}

/* The id of a node that is no span, in the pen's room. */
static cg_str made_id(pen *self, uint32_t node)
{
    buf_clear(&self->id);
    graph_node_id(&self->view.graph, node, &self->id);
    pen_check(&self->out, &self->id);
    return buf_text(&self->id);
}

static void describe_op(pen *self, uint32_t node, uint32_t index, node_parts *ret)
{
    const graph *derived = &self->view.graph;
    const trace_op *op = &self->view.trace->ops.at[index];

    ret->row = (doc_node){
        .id = made_id(self, node),
        .parent_id = pen_text(self, op->span_id),
        .name = pen_text(self, op->name),
        .kind = NODE_KIND_OP,
        .start_ns = op->timestamp_ns,
        .host_self_time_ns = op->duration_ns,
        .host_total_time_ns = op->duration_ns,
        .shape = trace_axes(self->view.trace, op->shape),
        .dtype = pen_text(self, op->dtype),
        .device = pen_text(self, op->device),
        .dense_bytes = {op->dense_bytes, op->has_dense_bytes},
    };
    if (derived->has_memory && derived->has_op_allocated[index])
        ret->row.allocated_bytes = (opt_u64){derived->op_allocated[index], true};
}

static void describe_tensor(pen *self, uint32_t node, uint32_t index, node_parts *ret)
{
    const graph_tensor_node *tensor = &self->view.graph.tensors[index];

    ret->row = (doc_node){
        .id = made_id(self, node),
        .name = pen_text(self, tensor->tensor_id),
        .kind = NODE_KIND_TENSOR,
    };
    if (tensor->event != TRACE_NONE) {
        const trace_tensor *event = &self->view.trace->tensors.at[tensor->event];

        ret->row.parent_id = pen_text(self, event->span_id);
        if (event->label != 0)
            ret->row.name = pen_text(self, event->label);
        ret->row.shape = trace_axes(self->view.trace, event->shape);
        ret->row.dtype = pen_text(self, event->dtype);
        ret->row.device = pen_text(self, event->device);
        ret->row.dense_bytes = (opt_u64){event->dense_bytes, event->has_dense_bytes};
    }
}

void nodes_describe(pen *self, uint32_t node, node_parts *ret)
{
    const graph *derived = &self->view.graph;

    *ret = (node_parts){.pen = self};
    if (node < derived->span_count)
        describe_span(self, node, ret);
    else if (node - derived->span_count < derived->op_count)
        describe_op(self, node, node - derived->span_count, ret);
    else
        describe_tensor(self, node, node - derived->span_count - derived->op_count, ret);
}

void nodes_write(jsonw *out, pen *self, uint32_t node)
{
    node_parts parts;

    nodes_describe(self, node, &parts);
    sc_write(out, &table_node, &parts.row);
}

cg_str nodes_name(const pen *self, uint32_t node)
{
    const graph *derived = &self->view.graph;
    const trace_doc *trace = self->view.trace;
    const graph_tensor_node *tensor;

    if (node < derived->span_count)
        return pen_text(self, trace->spans.at[node].name);
    node -= derived->span_count;
    if (node < derived->op_count)
        return pen_text(self, trace->ops.at[node].name);
    tensor = &derived->tensors[node - derived->op_count];
    if (tensor->event != TRACE_NONE && trace->tensors.at[tensor->event].label != 0)
        return pen_text(self, trace->tensors.at[tensor->event].label);
    return pen_text(self, tensor->tensor_id);
}

void nodes_emit(jsonw *out, const void *context)
{
    pen *self = (pen *)context;

    jw_array(out);
    for (uint32_t i = 0; i < graph_node_count(&self->view.graph); i++)
        nodes_write(out, self, i);
    jw_end(out);
}

static cg_str node_id(jsonw *out, const pen *self, uint32_t node, buf *room)
{
    if (node < self->view.graph.span_count)
        return pen_text(self, self->view.trace->spans.at[node].id);
    buf_clear(room);
    graph_node_id(&self->view.graph, node, room);
    pen_check(out, room);
    return buf_text(room);
}

edge_names nodes_edge_names(jsonw *out, pen *self, const graph_edge *edge)
{
    edge_names ends = {
        .from = node_id(out, self, edge->from, &self->id),
        .to = node_id(out, self, edge->to, &self->other_id),
    };

    if (edge->label == GRAPH_LABEL_OP)
        ends.label = nodes_name(self, edge->to);
    else if (edge->label != GRAPH_LABEL_NONE)
        ends.label = sc_word(&words_edge_label, edge->label);
    return ends;
}

static void write_edge(jsonw *out, pen *self, const graph_edge *edge)
{
    edge_names ends = nodes_edge_names(out, self, edge);

    if (edge->kind == EDGE_KIND_CALL)
        sc_write(out, &table_graph_call,
                 &(doc_graph_call){.from_span = ends.from,
                                   .to_span = ends.to,
                                   .host_duration_ns = edge->duration_ns,
                                   .label = ends.label});
    else
        sc_write(
            out, &table_graph_data,
            &(doc_graph_data){.from_tensor = ends.from, .to_tensor = ends.to, .label = ends.label});
}

void nodes_emit_edges(jsonw *out, const void *context)
{
    pen *self = (pen *)context;
    graph_edges edges = {0};
    cg_code code = graph_edges_build(&self->heap, &self->view.graph, &edges, self->reterr);

    jw_array(out);
    if (code == CG_OK) {
        for (size_t i = 0; i < edges.rows.count; i++)
            write_edge(out, self, &edges.rows.at[i]);
        graph_edges_free(&edges);
    } else {
        pen_latch(out, code);
    }
    jw_end(out);
}

static doc_host_row describe_host(const pen *self, const graph_host_row *from)
{
    const trace_span *span = &self->view.trace->spans.at[from->span];

    return (doc_host_row){
        .id = pen_text(self, span->id),
        .name = pen_text(self, span->name),
        .scope = from->is_concurrent ? HOST_SCOPE_CONCURRENT : HOST_SCOPE_SUBTREE,
        .self_ns = self->view.graph.self_ns[from->span],
        .clipped_self_ns = from->clipped_self_ns,
        .total_ns = self->view.graph.total_ns[from->span],
        .clipped_total_ns = from->clipped_total_ns,
    };
}

static doc_device_row describe_device(const pen *self, const graph_device_row *from)
{
    const trace_span *span = &self->view.trace->spans.at[from->span];
    const timing_row *timing = &self->view.timing.spans.at[from->timing];

    return (doc_device_row){
        .id = pen_text(self, span->id),
        .name = pen_text(self, span->name),
        .device = pen_text(self, timing->device),
        .clock_id = pen_text(self, timing->clock_id),
        .busy_ns = timing->busy_ns,
    };
}

static doc_heavy_row describe_heavy(const pen *self, uint32_t index)
{
    const graph *derived = &self->view.graph;
    const trace_span *span = &self->view.trace->spans.at[index];

    return (doc_heavy_row){
        .id = pen_text(self, span->id),
        .name = pen_text(self, span->name),
        .allocated_bytes = derived->allocated_bytes[index],
        .peak_live_bytes = {derived->peak_live_bytes[index], derived->has_peak[index]},
    };
}

void nodes_summary(const pen *self, summary_parts *ret)
{
    const graph *derived = &self->view.graph;

    for (uint32_t i = 0; i < derived->host_count; i++)
        ret->host[i] = describe_host(self, &derived->host[i]);
    for (uint32_t i = 0; i < derived->device_count; i++)
        ret->device[i] = describe_device(self, &derived->device[i]);
    for (uint32_t i = 0; i < derived->heaviest_count; i++)
        ret->heaviest[i] = describe_heavy(self, derived->heaviest[i]);
    ret->summary = (doc_graph_summary){
        .entrypoint = self->view.trace->run.entrypoint,
        .outer_wall_time_ns = derived->total_ns[derived->measured],
        .host = {ret->host, derived->host_count},
        .device = {ret->device, derived->device_count},
        .heaviest = {ret->heaviest, derived->heaviest_count},
    };
}
