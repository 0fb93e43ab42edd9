#include "view/payload.h"

#include <string.h>

#include "base/sort.h"
#include "codec/escape.h"
#include "schema/viewer_schema.h"
#include "view/nodes.h"
#include "view/parts.h"
#include "view/planes.h"
#include "view/rows.h"

/* Rows of a list in the first attempt at an overview; each further one has half. */
#define FIRST_ROWS ((size_t)1024)

/* What all attempts at one island share; working memory of its own. */
typedef struct material {
    evidence view;
    heap heap;
    uint32_t *ranked; /* nodes by host time, descending; equal ones in their order */
    uint32_t node_count;
    uint64_t *net_peaks; /* by span */
    graph_edges edges;
    uint64_t totals[VIEWER_LIST_COUNT];
} material;

/* One attempt. `pen` comes first: some parts take it as context. */
typedef struct island {
    pen pen;
    const material *from;
    bool *is_kept; /* by node; NULL: all are */
    uint64_t displayed[VIEWER_LIST_COUNT];
} island;

static bool is_kept(const island *self, uint32_t node)
{
    return self->is_kept == NULL || self->is_kept[node];
}

/* --- nodes, costs, tree --- */

/* What stands behind the last `::`; the whole name when that is nothing. */
static cg_str short_label(cg_str name)
{
    for (size_t i = name.len; i >= 2; i--) {
        if (name.ptr[i - 1] == ':' && name.ptr[i - 2] == ':')
            return i < name.len ? (cg_str){name.ptr + i, name.len - i} : name;
    }
    return name;
}

static double self_ratio(const doc_node *row)
{
    return row->host_total_time_ns == 0
               ? 0.0
               : (double)row->host_self_time_ns / (double)row->host_total_time_ns;
}

static opt_u64 net_peak(const island *self, uint32_t node, const doc_node *row)
{
    if (node >= self->pen.view.graph.span_count || !row->peak_live_bytes.is_set)
        return (opt_u64){0};
    return (opt_u64){self->from->net_peaks[node], true};
}

static void write_node(jsonw *out, island *self, uint32_t node)
{
    node_parts parts;
    const doc_node *row = &parts.row;

    nodes_describe(&self->pen, node, &parts);
    sc_write(out, &table_viewer_node,
             &(doc_viewer_node){
                 .id = row->id,
                 .label = row->name,
                 .short_label = short_label(row->name),
                 .kind = row->kind,
                 .parent_id = row->parent_id,
                 .start_ns = row->start_ns,
                 .self_ns = row->host_self_time_ns,
                 .total_ns = row->host_total_time_ns,
                 .self_ratio = self_ratio(row),
                 .device_timings = {nodes_emit_timings, &parts},
                 .shape = row->shape.count > 0 ? row->shape : (sc_u64s){0},
                 .dtype = row->dtype,
                 .device = row->device,
                 .allocated_bytes = row->allocated_bytes,
                 .peak_live_bytes = row->peak_live_bytes,
                 .peak_live_bytes_net = net_peak(self, node, row),
                 .residual_bytes = row->residual_bytes,
                 .dense_bytes = row->dense_bytes,
             });
}

static void emit_nodes(jsonw *out, const void *context)
{
    island *self = (island *)context;

    jw_array(out);
    for (uint32_t i = 0; i < self->from->node_count && out->code == CG_OK; i++) {
        if (is_kept(self, i))
            write_node(out, self, i);
    }
    jw_end(out);
}

static void emit_costs(jsonw *out, const void *context)
{
    island *self = (island *)context;

    jw_array(out);
    for (size_t i = 0; i < pen_rows(&self->pen, self->from->node_count) && out->code == CG_OK;
         i++) {
        node_parts parts;
        const doc_node *row = &parts.row;

        nodes_describe(&self->pen, self->from->ranked[i], &parts);
        sc_write(out, &table_viewer_cost,
                 &(doc_viewer_cost){
                     .id = row->id,
                     .name = row->name,
                     .kind = row->kind,
                     .parent_id = row->parent_id,
                     .start_ns = row->start_ns,
                     .self_ns = row->host_self_time_ns,
                     .total_ns = row->host_total_time_ns,
                     .device_timings = {nodes_emit_timings, &parts},
                     .allocated_bytes = row->allocated_bytes,
                     .peak_live_bytes = row->peak_live_bytes,
                     .dense_bytes = row->dense_bytes,
                 });
    }
    jw_end(out);
}

/* Spans of kind `op` are operations to the tree. */
static bool is_in_tree(const material *from, uint32_t node)
{
    return node < from->view.graph.span_count &&
           nodes_span_kind(&from->view.trace->spans.at[node]) != NODE_KIND_OP;
}

static void emit_tree(jsonw *out, const void *context)
{
    island *self = (island *)context;

    jw_array(out);
    for (uint32_t i = 0; i < self->pen.view.graph.span_count && out->code == CG_OK; i++) {
        node_parts parts;
        const doc_node *row = &parts.row;

        if (!is_in_tree(self->from, i) || !is_kept(self, i))
            continue;
        nodes_describe(&self->pen, i, &parts);
        sc_write(out, &table_viewer_tree_row,
                 &(doc_viewer_tree_row){
                     .id = row->id,
                     .parent_id = row->parent_id,
                     .name = row->name,
                     .kind = row->kind,
                     .self_ns = row->host_self_time_ns,
                     .total_ns = row->host_total_time_ns,
                     .self_ratio = self_ratio(row),
                     .allocated_bytes = row->allocated_bytes,
                     .peak_live_bytes = row->peak_live_bytes,
                 });
    }
    jw_end(out);
}

static void write_edge(jsonw *out, island *self, const graph_edge *edge)
{
    pen *with = &self->pen;
    edge_names ends = nodes_edge_names(out, with, edge);

    buf_clear(&with->text);
    buf_add(&with->text, ends.from);
    buf_add(&with->text, CG_LIT("->"));
    buf_add(&with->text, ends.to);
    pen_check(out, &with->text);
    sc_write(out, &table_viewer_edge,
             &(doc_viewer_edge){
                 .id = buf_text(&with->text),
                 .from = ends.from,
                 .to = ends.to,
                 .kind = edge->kind,
                 .label = ends.label,
                 .host_duration_ns = {edge->duration_ns, edge->kind == EDGE_KIND_CALL},
             });
}

static bool is_edge_kept(const island *self, const graph_edge *edge)
{
    return is_kept(self, edge->from) && is_kept(self, edge->to);
}

static void emit_edges(jsonw *out, const void *context)
{
    island *self = (island *)context;
    uint64_t left = self->displayed[VIEWER_LIST_EDGES];

    jw_array(out);
    for (size_t i = 0; i < self->from->edges.rows.count && left > 0 && out->code == CG_OK; i++) {
        const graph_edge *edge = &self->from->edges.rows.at[i];

        if (is_edge_kept(self, edge)) {
            write_edge(out, self, edge);
            left--;
        }
    }
    jw_end(out);
}

static void emit_nothing(jsonw *out, const void *context)
{
    (void)context;
    jw_array(out);
    jw_end(out);
}

/* --- rows of the trace --- */

static void emit_gradients(jsonw *out, const void *context)
{
    const island *self = context;
    const trace_doc *trace = self->pen.view.trace;

    jw_array(out);
    for (size_t i = 0; i < pen_rows(&self->pen, trace->gradients.count); i++) {
        const trace_gradient *row = &trace->gradients.at[i];

        sc_write(out, &table_viewer_gradient,
                 &(doc_viewer_gradient){
                     .root = trace_text(trace, row->root),
                     .key = trace_text(trace, row->key),
                     .state = row->state,
                     .norm = {row->norm, row->has_norm},
                 });
    }
    jw_end(out);
}

static void emit_tensors(jsonw *out, const void *context)
{
    const pen *self = context;

    jw_array(out);
    for (size_t i = 0; i < pen_rows(self, self->view.trace->tensors.count); i++)
        rows_write_tensor(out, self->view.trace, i);
    jw_end(out);
}

static void emit_stats(jsonw *out, const void *context)
{
    const pen *self = context;

    jw_array(out);
    for (size_t i = 0; i < pen_rows(self, self->view.trace->stats.count); i++)
        rows_write_stats(out, self->view.trace, i);
    jw_end(out);
}

static void emit_empty_object(jsonw *out, const void *context)
{
    (void)context;
    jw_object(out);
    jw_end(out);
}

/* --- the document --- */

#define X(type, member, key, rule, sub)                                                            \
    _Static_assert(offsetof(doc_gpu, member) == offsetof(doc_viewer_gpu, member),                  \
                   "a doc_viewer_gpu begins as a doc_gpu does");
GPU_FIELDS(X)
#undef X

static doc_viewer_gpu describe_gpu(const pen *self)
{
    const capability *levels = self->view.capabilities.at;
    doc_viewer_gpu gpu = {0};

    memcpy(&gpu, &self->view.gpu.wire, sizeof self->view.gpu.wire);
    if (gpu.limits.emit == NULL)
        gpu.limits.emit = emit_empty_object;
    gpu.correlation_capability = &levels[CAPABILITY_GPU_CORRELATION];
    gpu.provenance_capability = &levels[CAPABILITY_PROVENANCE];
    return gpu;
}

static doc_viewer_summary describe_summary(const evidence *from)
{
    doc_viewer_summary summary = {
        .entrypoint = from->trace->run.entrypoint,
        .phase = from->trace->run.phase,
        .peak_live_bytes = {from->memory.peak_live_bytes, from->memory.has_peak},
        .is_capture_complete = from->health.is_complete,
        .is_structurally_valid = from->health.is_valid,
    };

    if (from->has_graph)
        summary.outer_wall_time_ns = (opt_u64){from->graph.total_ns[from->graph.measured], true};
    return summary;
}

/* What was cut, when this is an overview. */
typedef struct cuts {
    doc_viewer_cut at[VIEWER_LIST_COUNT];
    size_t count;
    doc_viewer_bounds bounds;
} cuts;

static const doc_viewer_bounds *describe_cuts(const island *self, cuts *ret)
{
    ret->count = 0;
    for (unsigned i = 0; i < VIEWER_LIST_COUNT; i++) {
        if (self->displayed[i] < self->from->totals[i])
            ret->at[ret->count++] = (doc_viewer_cut){viewer_list_path((enum viewer_list)i),
                                                     self->from->totals[i], self->displayed[i]};
    }
    ret->bounds = (doc_viewer_bounds){
        .limit_bytes = PAYLOAD_BYTES,
        .row_limit = self->pen.row_cap,
        .cuts = {ret->at, ret->count},
    };
    return &ret->bounds;
}

static void write_document(island *self)
{
    const evidence *view = &self->pen.view;
    memory_parts memory;
    cuts cut;
    doc_health health = shared_health(&self->pen);
    doc_capabilities capabilities = shared_capabilities(&self->pen);
    doc_timing timing = planes_timing(&self->pen);
    doc_viewer_summary summary = describe_summary(view);
    doc_viewer_gpu gpu = describe_gpu(&self->pen);
    sc_stream nothing = {emit_nothing, NULL};
    bool has_graph = view->has_graph;
    doc_viewer_trace trace = {
        .nodes = has_graph ? (sc_stream){emit_nodes, self} : nothing,
        .edges = has_graph ? (sc_stream){emit_edges, self} : nothing,
    };
    doc_viewer_costs costs = {has_graph ? (sc_stream){emit_costs, self} : nothing};
    doc_viewer_evidence shown = {
        .provenance = &view->trace->run,
        .health = &health,
        .capabilities = &capabilities,
        .findings = {parts_emit_findings, &self->pen},
        .facts = {parts_emit_facts, &self->pen},
        .gaps = {view->gaps.at, pen_rows(&self->pen, view->gaps.count)},
        .tensors = has_graph ? (sc_stream){emit_tensors, &self->pen} : nothing,
        .gradients = {emit_gradients, self},
        .tensor_stats = {emit_stats, &self->pen},
        .timing = &timing,
    };
    doc_viewer_views views = {&shown, &trace, &costs, &memory.planes, &gpu};

    planes_memory(&self->pen, &memory);
    sc_write(&self->pen.out, &table_viewer,
             &(doc_viewer){
                 .schema = schema_id_text(SCHEMA_VIEWER),
                 .default_view = CG_LIT(VIEWER_DEFAULT_VIEW),
                 .bounds = self->pen.row_cap == SIZE_MAX ? NULL : describe_cuts(self, &cut),
                 .summary = &summary,
                 .views = &views,
                 .span_tree = has_graph ? (sc_stream){emit_tree, self} : nothing,
                 .gradients = {emit_gradients, self},
             });
}

/* --- attempts --- */

static cg_code rank_nodes(material *self, cg_err *reterr)
{
    const graph *derived = &self->view.graph;
    uint32_t spans = derived->span_count;
    size_t count = self->node_count > 0 ? self->node_count : 1;
    uint32_t *room = heap_resize(&self->heap, NULL, 0, count * sizeof *room);
    uint64_t *keys = heap_resize(&self->heap, NULL, 0, count * sizeof *keys);

    self->ranked = heap_resize(&self->heap, NULL, 0, count * sizeof *self->ranked);
    if (room != NULL && keys != NULL && self->ranked != NULL) {
        for (uint32_t i = 0; i < self->node_count; i++) {
            uint64_t total = 0;

            if (i < spans)
                total = derived->total_ns[i];
            else if (i - spans < derived->op_count)
                total = self->view.trace->ops.at[i - spans].duration_ns;
            keys[i] = UINT64_MAX - total;
            self->ranked[i] = i;
        }
        sort_by_u64(self->ranked, room, self->node_count, keys);
    }
    if (room != NULL)
        heap_resize(&self->heap, room, count * sizeof *room, 0);
    if (keys != NULL)
        heap_resize(&self->heap, keys, count * sizeof *keys, 0);
    return room != NULL && keys != NULL && self->ranked != NULL ? CG_OK : err_nomem(reterr);
}

static size_t net_peaks_size(const material *self)
{
    return (self->view.graph.span_count + (size_t)1) * sizeof *self->net_peaks;
}

static cg_code gather(material *self, const evidence *from, cg_err *reterr)
{
    *self = (material){0};
    evidence_view(from, &self->heap, &self->view);
    if (!self->view.has_graph)
        return CG_OK;
    self->node_count = graph_node_count(&self->view.graph);
    CG_TRY(rank_nodes(self, reterr));
    self->net_peaks = heap_resize(&self->heap, NULL, 0, net_peaks_size(self));
    if (self->net_peaks == NULL)
        return err_nomem(reterr);
    CG_TRY(graph_net_peaks(&self->view.graph, self->net_peaks, reterr));
    return graph_edges_build(&self->heap, &self->view.graph, &self->edges, reterr);
}

static void release(material *self)
{
    size_t count = self->node_count > 0 ? self->node_count : 1;

    if (self->ranked != NULL)
        heap_resize(&self->heap, self->ranked, count * sizeof *self->ranked, 0);
    if (self->net_peaks != NULL)
        heap_resize(&self->heap, self->net_peaks, net_peaks_size(self), 0);
    if (self->edges.heap != NULL)
        graph_edges_free(&self->edges);
}

/* How long the lists are; only an overview tells. */
static cg_code count_lists(material *self, const pen *with, cg_err *reterr)
{
    const evidence *view = &self->view;
    const trace_doc *trace = view->trace;
    uint64_t *totals = self->totals;
    memory_list peak = {0};

    CG_TRY(planes_count_points(with, &totals[VIEWER_LIST_TIMELINE], reterr));
    CG_TRY(memory_peak_set(&view->memory, &peak, reterr));
    totals[VIEWER_LIST_PEAK] = peak.count;
    vec_free(view->memory.heap, &peak);
    totals[VIEWER_LIST_LIFETIMES] = view->memory.lifetimes.count;
    totals[VIEWER_LIST_SAMPLES] = view->physical.order.count;
    totals[VIEWER_LIST_ISSUES] = view->health.issues.count;
    totals[VIEWER_LIST_GAPS] = view->gaps.count;
    totals[VIEWER_LIST_GRADIENTS] = trace->gradients.count;
    totals[VIEWER_LIST_STATS] = trace->stats.count;
    totals[VIEWER_LIST_DEVICE_SPANS] = view->timing.spans.count;
    totals[VIEWER_LIST_DEVICE_CLOCKS] = view->timing.clocks.count;
    if (!view->has_graph)
        return CG_OK;
    totals[VIEWER_LIST_TENSORS] = trace->tensors.count;
    totals[VIEWER_LIST_NODES] = totals[VIEWER_LIST_COSTS] = self->node_count;
    totals[VIEWER_LIST_EDGES] = self->edges.rows.count;
    for (uint32_t i = 0; i < view->graph.span_count; i++)
        totals[VIEWER_LIST_TREE] += is_in_tree(self, i);
    return CG_OK;
}

/* Choose what an overview of `rows` rows shows. */
static void choose(island *self)
{
    const material *from = self->from;
    uint64_t tree = 0, edges = 0;

    for (unsigned i = 0; i < VIEWER_LIST_COUNT; i++)
        self->displayed[i] = pen_rows(&self->pen, from->totals[i]);
    /* As many stretches as fit, of whole points each. */
    self->displayed[VIEWER_LIST_TIMELINE] =
        planes_thinned_points(&self->pen, from->totals[VIEWER_LIST_TIMELINE]);
    if (!from->view.has_graph)
        return;
    memset(self->is_kept, 0, from->node_count * sizeof *self->is_kept);
    for (size_t i = 0; i < self->displayed[VIEWER_LIST_NODES]; i++)
        self->is_kept[from->ranked[i]] = true;
    for (uint32_t i = 0; i < from->view.graph.span_count; i++)
        tree += self->is_kept[i] && is_in_tree(from, i);
    for (size_t i = 0; i < from->edges.rows.count; i++)
        edges += is_edge_kept(self, &from->edges.rows.at[i]);
    self->displayed[VIEWER_LIST_TREE] = tree;
    self->displayed[VIEWER_LIST_EDGES] = pen_rows(&self->pen, edges);
}

/* JSON text in the making; more than PAYLOAD_BYTES are refused unless it must be whole. */
typedef struct gathered {
    buf text;
    bool is_bounded;
    bool is_over;
} gathered;

static cg_code gather_text(void *context, const char *bytes, size_t count)
{
    gathered *self = context;

    if (self->is_bounded && count > PAYLOAD_BYTES - self->text.len) {
        self->is_over = true;
        return CG_LIMIT;
    }
    buf_add(&self->text, (cg_str){bytes, count});
    return self->text.failed ? CG_NOMEM : CG_OK;
}

/* Write with at most `rows` rows of a list into *ret, escaped; *ret_fits false: too large. */
static cg_code attempt(material *from, size_t rows, buf *ret, bool *ret_fits, cg_err *reterr)
{
    island self = {.from = from};
    gathered json = {.is_bounded = rows > 0};
    size_t kept_size = (from->node_count + (size_t)1) * sizeof *self.is_kept;
    cg_code code;

    buf_init(&json.text, &from->heap, SIZE_MAX);
    CG_TRY(pen_start(&self.pen, &from->view, (cg_sink){&json, gather_text}, true, reterr));
    self.pen.out.is_pretty = false;
    self.pen.row_cap = rows;
    pen_latch(&self.pen.out, pen_complete(&self.pen));
    if (rows == SIZE_MAX) {
        self.displayed[VIEWER_LIST_EDGES] = UINT64_MAX;
    } else {
        self.is_kept = heap_resize(&from->heap, NULL, 0, kept_size);
        if (self.is_kept == NULL)
            pen_latch(&self.pen.out, CG_NOMEM);
        else
            choose(&self);
    }
    if (self.pen.out.code == CG_OK)
        write_document(&self);
    code = pen_finish(&self.pen);
    if (self.is_kept != NULL)
        heap_resize(&from->heap, self.is_kept, kept_size, 0);
    *ret_fits = !json.is_over;
    if (code == CG_LIMIT && json.is_over)
        code = CG_OK;
    else if (code == CG_OK) {
        buf_clear(ret);
        esc_script(ret, buf_text(&json.text));
        *ret_fits = !json.is_bounded || ret->len <= PAYLOAD_BYTES;
        code = ret->failed ? err_nomem(reterr) : CG_OK;
    }
    buf_free(&json.text);
    return code;
}

/* The whole, else the largest overview that fits, else one without any rows. */
static cg_code find_island(material *from, buf *ret, cg_err *reterr)
{
    size_t rows = FIRST_ROWS;
    bool fits;
    pen with = {0};

    CG_TRY(attempt(from, SIZE_MAX, ret, &fits, reterr));
    if (fits)
        return CG_OK;
    with.view = from->view;
    CG_TRY(count_lists(from, &with, reterr));
    for (;;) {
        CG_TRY(attempt(from, rows, ret, &fits, reterr));
        if (fits || rows == 0)
            return CG_OK;
        rows /= 2;
    }
}

cg_code payload_write(const evidence *from, cg_sink sink, cg_err *reterr)
{
    material all;
    buf text;
    cg_code code = gather(&all, from, reterr);

    buf_init(&text, &all.heap, SIZE_MAX);
    if (code == CG_OK)
        code = find_island(&all, &text, reterr);
    if (code == CG_OK) {
        code = sink.write(sink.context, text.at, text.len);
        if (code == CG_OUTPUT)
            cg_fail(reterr, PROBLEM_OUTPUT, "the page could not be written");
    }
    buf_free(&text);
    release(&all);
    return code;
}
