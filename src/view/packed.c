#include "view/packed.h"

#include "schema/packed.def"
#include "view/nodes.h"
#include "view/columns.h"

/* A table is a list of columns, written once: here as an enum of their numbers, and as specs. */
#define COLUMN_NUMBER(number, name, type) number,
#define COLUMN_SPEC(number, name, type)   {name, type},
#define COUNT(array)                      (sizeof(array) / sizeof(array)[0])

typedef struct work {
    pen pen;
    columns pack;
    buf shape;
} work;

/* The row of a span, unknown when the id names none. */
static void put_span(work *self, size_t column, sym id)
{
    uint32_t row = trace_span_of(self->pen.view.trace, id);

    if (row == TRACE_NONE)
        columns_unknown(&self->pack, column);
    else
        columns_integer(&self->pack, column, row);
}

static void put_symbol(work *self, size_t column, sym text)
{
    columns_text(&self->pack, column, text == 0 ? (cg_str){0} : pen_text(&self->pen, text));
}

/* As in JSON, so that every distinct shape is there once. */
static void put_axes(work *self, size_t column, sc_u64s axes)
{
    buf_clear(&self->shape);
    buf_byte(&self->shape, '[');
    for (size_t i = 0; i < axes.count; i++)
        buf_addf(&self->shape, "%s%llu", i > 0 ? "," : "", (unsigned long long)axes.at[i]);
    buf_byte(&self->shape, ']');
    self->pack.failed = self->pack.failed || self->shape.failed;
    columns_text(&self->pack, column, buf_text(&self->shape));
}

static void put_shape(work *self, size_t column, trace_shape shape)
{
    put_axes(self, column, trace_axes(self->pen.view.trace, shape));
}

/* --- nodes and edges --- */

enum { NODE_COLUMNS(COLUMN_NUMBER) };
static const columns_spec node_specs[] = {NODE_COLUMNS(COLUMN_SPEC)};

/* The span a node that is no span belongs to; 0: none. */
static sym owner_of(const graph *derived, uint32_t number)
{
    const graph_tensor_node *tensor;

    if (number < derived->op_count)
        return derived->trace->ops.at[number].span_id;
    tensor = &derived->tensors[number - derived->op_count];
    return tensor->event == TRACE_NONE ? 0 : derived->trace->tensors.at[tensor->event].span_id;
}

static void put_identity(work *self, const doc_node *row, uint32_t node)
{
    const graph *derived = &self->pen.view.graph;
    uint32_t other = node - derived->span_count;
    columns *to = &self->pack;

    if (node < derived->span_count) {
        uint32_t parent = derived->trace->spans.at[node].parent;

        columns_text(to, NODE_ID, row->id);
        columns_unknown(to, NODE_OP_NUMBER);
        if (parent == TRACE_NONE)
            columns_unknown(to, NODE_PARENT);
        else
            columns_integer(to, NODE_PARENT, parent);
        return;
    }
    if (other < derived->op_count) {
        columns_unknown(to, NODE_ID);
        columns_integer(to, NODE_OP_NUMBER, derived->op_number[other]);
    } else {
        columns_text(to, NODE_ID, row->id);
        columns_unknown(to, NODE_OP_NUMBER);
    }
    put_span(self, NODE_PARENT, owner_of(derived, other));
}

/* A span has none; a tensor that is known by its name alone has one that nobody wrote down. */
static bool has_shape(const graph *derived, uint32_t node)
{
    uint32_t others = derived->span_count + derived->op_count;

    return node >= derived->span_count &&
           (node < others || derived->tensors[node - others].event != TRACE_NONE);
}

/* The measured span or anything in it, as far as it is known in what span a node is. */
static bool is_measured(const graph *derived, uint32_t node)
{
    uint32_t span = node;

    if (node >= derived->span_count)
        span = trace_span_of(derived->trace, owner_of(derived, node - derived->span_count));
    return span != TRACE_NONE && derived->in_subtree[span];
}

static void put_node(work *self, uint32_t node, const uint64_t *net_peaks)
{
    const graph *derived = &self->pen.view.graph;
    bool is_tensor = node >= derived->span_count + derived->op_count;
    columns *to = &self->pack;
    node_parts parts;
    const doc_node *row = &parts.row;

    nodes_describe(&self->pen, node, &parts);
    put_identity(self, row, node);
    columns_text(to, NODE_NAME, row->name);
    columns_integer(to, NODE_MEASURED, is_measured(derived, node));
    columns_text(to, NODE_KIND, sc_word(&words_node_kind, row->kind));
    /* A tensor takes no time: the zeros of its row in the graph are no measurements. */
    columns_optional(to, NODE_START, (opt_u64){row->start_ns, !is_tensor});
    columns_optional(to, NODE_TOTAL, (opt_u64){row->host_total_time_ns, !is_tensor});
    columns_optional(to, NODE_SELF, (opt_u64){row->host_self_time_ns, !is_tensor});
    columns_optional(to, NODE_ALLOCATED, row->allocated_bytes);
    columns_optional(to, NODE_PEAK, row->peak_live_bytes);
    columns_optional(to, NODE_NET_PEAK,
                     (opt_u64){node < derived->span_count ? net_peaks[node] : 0,
                               node < derived->span_count && row->peak_live_bytes.is_set});
    columns_optional(to, NODE_RESIDUAL, row->residual_bytes);
    columns_optional(to, NODE_DENSE, row->dense_bytes);
    if (has_shape(derived, node))
        put_axes(self, NODE_SHAPE, row->shape);
    else
        columns_unknown(to, NODE_SHAPE);
    columns_text(to, NODE_DTYPE, row->dtype);
    columns_text(to, NODE_DEVICE, row->device);
}

static cg_code put_nodes(work *self, cg_err *reterr)
{
    const graph *derived = &self->pen.view.graph;
    size_t size = (derived->span_count + (size_t)1) * sizeof(uint64_t);
    uint64_t *net_peaks = heap_resize(&self->pen.heap, NULL, 0, size);
    cg_code code =
        net_peaks == NULL ? err_nomem(reterr) : graph_net_peaks(derived, net_peaks, reterr);

    if (code == CG_OK) {
        columns_begin(&self->pack, PACKED_NODES, node_specs, COUNT(node_specs));
        for (uint32_t i = 0; i < graph_node_count(derived); i++)
            put_node(self, i, net_peaks);
        columns_end(&self->pack, graph_node_count(derived));
    }
    if (net_peaks != NULL)
        heap_resize(&self->pen.heap, net_peaks, size, 0);
    return code;
}

enum { EDGE_COLUMNS(COLUMN_NUMBER) };
static const columns_spec edge_specs[] = {EDGE_COLUMNS(COLUMN_SPEC)};

static cg_code put_edges(work *self, cg_err *reterr)
{
    graph_edges edges = {0};

    CG_TRY(graph_edges_build(&self->pen.heap, &self->pen.view.graph, &edges, reterr));
    columns_begin(&self->pack, PACKED_EDGES, edge_specs, COUNT(edge_specs));
    for (size_t i = 0; i < edges.rows.count; i++) {
        const graph_edge *edge = &edges.rows.at[i];

        columns_integer(&self->pack, EDGE_FROM, edge->from);
        columns_integer(&self->pack, EDGE_TO, edge->to);
        columns_text(&self->pack, EDGE_KIND, sc_word(&words_edge_kind, edge->kind));
        columns_text(&self->pack, EDGE_LABEL,
                     nodes_edge_names(&self->pen.out, &self->pen, edge).label);
    }
    columns_end(&self->pack, edges.rows.count);
    graph_edges_free(&edges);
    return CG_OK;
}

enum { SPAN_COLUMNS(COLUMN_NUMBER) };
static const columns_spec span_specs[] = {SPAN_COLUMNS(COLUMN_SPEC)};

static void put_spans(work *self)
{
    const trace_doc *trace = self->pen.view.trace;

    columns_begin(&self->pack, PACKED_SPANS, span_specs, COUNT(span_specs));
    for (size_t i = 0; i < trace->spans.count; i++) {
        put_symbol(self, SPAN_ID, trace->spans.at[i].id);
        put_symbol(self, SPAN_NAME, trace->spans.at[i].name);
    }
    columns_end(&self->pack, trace->spans.count);
}

/* --- device time --- */

enum { TIMING_COLUMNS(COLUMN_NUMBER) };
static const columns_spec timing_specs[] = {TIMING_COLUMNS(COLUMN_SPEC)};

static void put_timings(work *self)
{
    const timing_plane *timing = &self->pen.view.timing;

    columns_begin(&self->pack, PACKED_DEVICE_TIMINGS, timing_specs, COUNT(timing_specs));
    for (size_t i = 0; i < timing->spans.count; i++) {
        const timing_row *row = &timing->spans.at[i];

        put_span(self, TIMING_SPAN, row->span_id);
        put_symbol(self, TIMING_DEVICE, row->device);
        put_symbol(self, TIMING_CLOCK, row->clock_id);
        columns_integer(&self->pack, TIMING_COUNT, row->interval_count);
        columns_integer(&self->pack, TIMING_BUSY, row->busy_ns);
    }
    columns_end(&self->pack, timing->spans.count);
}

enum { INTERVAL_COLUMNS(COLUMN_NUMBER) };
static const columns_spec interval_specs[] = {INTERVAL_COLUMNS(COLUMN_SPEC)};

static void put_intervals(work *self)
{
    const trace_doc *trace = self->pen.view.trace;

    columns_begin(&self->pack, PACKED_INTERVALS, interval_specs, COUNT(interval_specs));
    for (size_t i = 0; i < trace->intervals.count; i++) {
        const trace_interval *row = &trace->intervals.at[i];

        put_span(self, INTERVAL_SPAN, row->span_id);
        columns_integer(&self->pack, INTERVAL_START, row->start_ns);
        columns_integer(&self->pack, INTERVAL_DURATION, row->duration_ns);
        put_symbol(self, INTERVAL_DEVICE, row->device);
        put_symbol(self, INTERVAL_STREAM, row->stream_id);
        put_symbol(self, INTERVAL_CLOCK, row->clock_id);
        put_symbol(self, INTERVAL_BACKEND, row->backend);
    }
    columns_end(&self->pack, trace->intervals.count);
}

/* --- memory --- */

/* Behind these two, the live bytes of each category under its word. */
enum { POINT_TIME, POINT_LIVE, POINT_CATEGORIES };

static bool put_point(void *context, memory_point total, const memory_live *by_device,
                      const memory_live by_category[CATEGORY_COUNT])
{
    work *self = context;

    (void)by_device;
    columns_integer(&self->pack, POINT_TIME, total.timestamp_ns);
    columns_integer(&self->pack, POINT_LIVE, total.live_bytes);
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        columns_integer(&self->pack, POINT_CATEGORIES + i, by_category[i].bytes);
    return !self->pack.failed;
}

static cg_code put_memory(work *self, cg_err *reterr)
{
    columns_spec specs[POINT_CATEGORIES + CATEGORY_COUNT] = {{PACKED_POINT_TIME, COLUMNS_RISING},
                                                             {PACKED_POINT_LIVE, COLUMNS_RISING}};

    /* Words are literals: they end with a NUL. */
    for (uint8_t i = 0; i < CATEGORY_COUNT; i++)
        specs[POINT_CATEGORIES + i] =
            (columns_spec){sc_word(&words_category, i).ptr, COLUMNS_RISING};
    columns_begin(&self->pack, PACKED_MEMORY_TIMELINE, specs, COUNT(specs));
    CG_TRY(memory_walk(&self->pen.view.memory, put_point, self, reterr));
    columns_end(&self->pack, self->pack.columns[POINT_TIME].rows);
    return CG_OK;
}

enum { LIFETIME_COLUMNS(COLUMN_NUMBER) };
static const columns_spec lifetime_specs[] = {LIFETIME_COLUMNS(COLUMN_SPEC)};

static void put_lifetimes(work *self)
{
    const memory_plane *plane = &self->pen.view.memory;

    columns_begin(&self->pack, PACKED_LIFETIMES, lifetime_specs, COUNT(lifetime_specs));
    for (size_t i = 0; i < plane->lifetimes.count; i++) {
        const memory_lifetime *row = &plane->lifetimes.at[i];
        const trace_memory *event = &plane->trace->memory.at[row->alloc_event];

        put_symbol(self, LIFETIME_STORAGE, event->storage_id);
        columns_integer(&self->pack, LIFETIME_START, row->start_ns);
        columns_optional(&self->pack, LIFETIME_END, (opt_u64){row->end_ns, row->is_closed});
        columns_integer(&self->pack, LIFETIME_BYTES, event->bytes);
        put_symbol(self, LIFETIME_DEVICE, event->device);
        columns_text(&self->pack, LIFETIME_CATEGORY, sc_word(&words_category, event->category));
        put_span(self, LIFETIME_SPAN, event->span_id);
        put_symbol(self, LIFETIME_OP, event->op_name);
        put_symbol(self, LIFETIME_TENSOR, event->tensor_id);
        put_symbol(self, LIFETIME_DTYPE, event->dtype);
        put_shape(self, LIFETIME_SHAPE, event->shape);
    }
    columns_end(&self->pack, plane->lifetimes.count);
}

enum { SAMPLE_COLUMNS(COLUMN_NUMBER) };
static const columns_spec sample_specs[] = {SAMPLE_COLUMNS(COLUMN_SPEC)};

static void put_samples(work *self)
{
    const trace_doc *trace = self->pen.view.trace;
    const physical_plane *plane = &self->pen.view.physical;

    columns_begin(&self->pack, PACKED_SAMPLES, sample_specs, COUNT(sample_specs));
    for (size_t i = 0; i < plane->order.count; i++) {
        const trace_sample *row = &trace->samples.at[plane->order.at[i]];

        for (unsigned k = 0; k < 4; k++)
            columns_optional(&self->pack, SAMPLE_USED + k,
                             (opt_u64){row->bytes[k], (row->present >> k & 1) != 0});
        columns_integer(&self->pack, SAMPLE_TIME, row->timestamp_ns);
        put_symbol(self, SAMPLE_DEVICE, row->device);
    }
    columns_end(&self->pack, plane->order.count);
}

/* --- tensors, gradients --- */

enum { TENSOR_COLUMNS(COLUMN_NUMBER) };
static const columns_spec tensor_specs[] = {TENSOR_COLUMNS(COLUMN_SPEC)};

static void put_tensors(work *self)
{
    const trace_doc *trace = self->pen.view.trace;

    columns_begin(&self->pack, PACKED_TENSORS, tensor_specs, COUNT(tensor_specs));
    for (size_t i = 0; i < trace->tensors.count; i++) {
        const trace_tensor *row = &trace->tensors.at[i];

        put_symbol(self, TENSOR_ID, row->tensor_id);
        put_symbol(self, TENSOR_LABEL, row->label);
        put_span(self, TENSOR_SPAN, row->span_id);
        columns_text(&self->pack, TENSOR_CATEGORY, sc_word(&words_category, row->category));
        put_shape(self, TENSOR_SHAPE, row->shape);
        put_symbol(self, TENSOR_DTYPE, row->dtype);
        put_symbol(self, TENSOR_DEVICE, row->device);
        columns_optional(&self->pack, TENSOR_DENSE,
                         (opt_u64){row->dense_bytes, row->has_dense_bytes});
        columns_integer(&self->pack, TENSOR_GRAD, row->is_grad_required);
    }
    columns_end(&self->pack, trace->tensors.count);
}

enum { STATS_COLUMNS(COLUMN_NUMBER) };
static const columns_spec stats_specs[] = {STATS_COLUMNS(COLUMN_SPEC)};

static void put_stats(work *self)
{
    const trace_doc *trace = self->pen.view.trace;

    columns_begin(&self->pack, PACKED_TENSOR_STATS, stats_specs, COUNT(stats_specs));
    for (size_t i = 0; i < trace->stats.count; i++) {
        const trace_stats *row = &trace->stats.at[i];

        put_symbol(self, STATS_LABEL, row->label);
        put_span(self, STATS_SPAN, row->span_id);
        put_shape(self, STATS_SHAPE, row->shape);
        put_symbol(self, STATS_DTYPE, row->dtype);
        columns_integer(&self->pack, STATS_ELEMENTS, row->elements);
        columns_integer(&self->pack, STATS_NON_FINITE, row->non_finite);
        columns_double(&self->pack, STATS_RMS, row->rms);
        columns_double(&self->pack, STATS_ABS_MAX, row->abs_max);
        columns_double(&self->pack, STATS_MEAN, row->mean);
    }
    columns_end(&self->pack, trace->stats.count);
}

enum { GRADIENT_COLUMNS(COLUMN_NUMBER) };
static const columns_spec gradient_specs[] = {GRADIENT_COLUMNS(COLUMN_SPEC)};

static void put_gradients(work *self)
{
    const trace_doc *trace = self->pen.view.trace;

    columns_begin(&self->pack, PACKED_GRADIENTS, gradient_specs, COUNT(gradient_specs));
    for (size_t i = 0; i < trace->gradients.count; i++) {
        const trace_gradient *row = &trace->gradients.at[i];

        put_symbol(self, GRADIENT_ROOT, row->root);
        put_symbol(self, GRADIENT_KEY, row->key);
        columns_text(&self->pack, GRADIENT_STATE, sc_word(&words_gradient_state, row->state));
        if (row->has_norm)
            columns_double(&self->pack, GRADIENT_NORM, row->norm);
        else
            columns_unknown(&self->pack, GRADIENT_NORM);
    }
    columns_end(&self->pack, trace->gradients.count);
}

/* --- all of it --- */

static cg_code put_tables(work *self, cg_err *reterr)
{
    if (self->pen.view.has_graph) {
        CG_TRY(pen_complete(&self->pen));
        CG_TRY(put_nodes(self, reterr));
        CG_TRY(put_edges(self, reterr));
        put_timings(self);
    } else {
        put_spans(self);
    }
    put_intervals(self);
    CG_TRY(put_memory(self, reterr));
    put_lifetimes(self);
    put_samples(self);
    put_tensors(self);
    put_stats(self);
    put_gradients(self);
    return self->pack.failed || self->shape.failed || self->pen.out.code != CG_OK
               ? err_nomem(reterr)
               : CG_OK;
}

static cg_code discard(void *context, const char *bytes, size_t count)
{
    (void)context;
    (void)bytes;
    (void)count;
    return CG_OK;
}

static cg_code pack_all(work *self, buf *text, cg_err *reterr)
{
    cg_code code;

    if (!columns_init(&self->pack, &self->pen.heap)) {
        columns_free(&self->pack);
        return err_nomem(reterr);
    }
    buf_init(&self->shape, &self->pen.heap, SIZE_MAX);
    code = put_tables(self, reterr);
    if (code == CG_OK)
        code = columns_finish(&self->pack, text, reterr);
    buf_free(&self->shape);
    columns_free(&self->pack);
    return code;
}

cg_code packed_build(const evidence *from, buf *ret, cg_err *reterr)
{
    work self;
    cg_code code;

    CG_TRY(pen_start(&self.pen, from, (cg_sink){NULL, discard}, false, reterr));
    code = pack_all(&self, ret, reterr);
    pen_drop(&self.pen);
    return code;
}
