/* candle-graph/trace-query/5: document_query_write. */
#include "view/document.h"
#include "view/gpu.h"
#include "view/nodes.h"
#include "view/parts.h"
#include "view/planes.h"
#include "schema/viewer_schema.h"
#include "view/rows.h"

#define HEAVIEST_OPS 50

/* Answers that are found before the first byte is written. */
typedef struct answers {
    label_list labels;
    tree_list tree;
    origin_answer origin;
    idle_list idle;
} answers;

typedef struct asker {
    pen pen;
    const document_query *query;
    answers answers;
} asker;

/* --- collections --- */

/* Rows of a collection by number. */
typedef struct collection {
    uint64_t total;
    bool (*matches)(asker *self, uint64_t row); /* NULL: takes no filter */
    void (*write)(jsonw *out, asker *self, uint64_t row);
} collection;

static bool has_filter(const document_query *query)
{
    return query->label.ptr != NULL || query->label_prefix.ptr != NULL;
}

static bool label_matches(const asker *self, cg_str label)
{
    const document_query *query = self->query;

    return (query->label.ptr == NULL || str_equal(label, query->label)) &&
           (query->label_prefix.ptr == NULL || str_starts_with(label, query->label_prefix));
}

static bool node_matches(asker *self, uint64_t row)
{
    return label_matches(self, nodes_name(&self->pen, (uint32_t)row));
}

static void write_node_row(jsonw *out, asker *self, uint64_t row)
{
    nodes_write(out, &self->pen, (uint32_t)row);
}

static bool tensor_matches(asker *self, uint64_t row)
{
    const trace_tensor *tensor = &self->pen.view.trace->tensors.at[row];

    sym name = tensor->label != 0 ? tensor->label : tensor->tensor_id;

    return label_matches(self, pen_text(&self->pen, name));
}

static void write_tensor_row(jsonw *out, asker *self, uint64_t row)
{
    rows_write_tensor(out, self->pen.view.trace, row);
}

static bool stats_match(asker *self, uint64_t row)
{
    return label_matches(self, pen_text(&self->pen, self->pen.view.trace->stats.at[row].label));
}

static void write_stats_row(jsonw *out, asker *self, uint64_t row)
{
    rows_write_stats(out, self->pen.view.trace, row);
}

/* A gradient answers to `key` and to `root/key`. */
static bool gradient_matches(asker *self, uint64_t row)
{
    const trace_gradient *gradient = &self->pen.view.trace->gradients.at[row];
    cg_str key = pen_text(&self->pen, gradient->key);
    buf *full = &self->pen.text;

    if (label_matches(self, key))
        return true;
    buf_clear(full);
    buf_add(full, pen_text(&self->pen, gradient->root));
    buf_byte(full, '/');
    buf_add(full, key);
    pen_check(&self->pen.out, full);
    return label_matches(self, buf_text(full));
}

static void write_gradient_row(jsonw *out, asker *self, uint64_t row)
{
    rows_write_gradient(out, self->pen.view.trace, row);
}

static void write_label_row(jsonw *out, asker *self, uint64_t row)
{
    const label_row *from = &self->answers.labels.rows.at[row];

    sc_write(out, &table_label_row,
             &(doc_label_row){
                 .label = from->label,
                 .kind = label_kind_word(from->kind),
                 .count = from->count,
                 .first_span_id = pen_text(&self->pen, from->first_span_id),
             });
}

static void write_idle_row(jsonw *out, asker *self, uint64_t row)
{
    const idle_row *from = &self->answers.idle.rows.at[row];
    const trace_span *span = &self->pen.view.trace->spans.at[from->span];
    doc_idle_largest largest = {
        .start_ns = from->largest_start_ns,
        .duration_ns = from->largest_duration_ns,
        .after = pen_text(&self->pen, from->largest_after),
        .before = pen_text(&self->pen, from->largest_before),
    };

    sc_write(out, &table_idle_row,
             &(doc_idle_row){
                 .span = pen_text(&self->pen, span->name),
                 .span_id = pen_text(&self->pen, span->id),
                 .idle_ns = from->idle_ns,
                 .gaps = from->gap_count,
                 .largest = &largest,
             });
}

static collection collection_of(const asker *self)
{
    const evidence *view = &self->pen.view;

    switch (self->query->kind) {
    case QUERY_SPANS:
        return (collection){graph_node_count(&view->graph), node_matches, write_node_row};
    case QUERY_TENSORS:
        return (collection){view->trace->tensors.count, tensor_matches, write_tensor_row};
    case QUERY_TENSOR_STATS:
        return (collection){view->trace->stats.count, stats_match, write_stats_row};
    case QUERY_GRADIENTS:
        return (collection){view->trace->gradients.count, gradient_matches, write_gradient_row};
    case QUERY_LABELS: return (collection){self->answers.labels.rows.count, NULL, write_label_row};
    case QUERY_GAPS: return (collection){self->answers.idle.rows.count, NULL, write_idle_row};
    default: return (collection){0, NULL, NULL};
    }
}

/* Which of the matching rows are shown. */
typedef struct page {
    asker *asker;
    collection from;
    uint64_t matched;
    uint64_t offset; /* at most `matched` */
    uint64_t returned;
} page;

static bool is_match(const page *self, uint64_t row)
{
    return !has_filter(self->asker->query) || self->from.matches(self->asker, row);
}

static page open_page(asker *self)
{
    const document_query *query = self->query;
    page ret = {.asker = self, .from = collection_of(self)};

    if (has_filter(query)) {
        for (uint64_t row = 0; row < ret.from.total; row++)
            ret.matched += is_match(&ret, row);
    } else {
        ret.matched = ret.from.total;
    }
    ret.offset = query->offset < ret.matched ? query->offset : ret.matched;
    ret.returned = ret.matched - ret.offset;
    if (query->has_limit && query->limit < ret.returned)
        ret.returned = query->limit;
    return ret;
}

static void emit_page(jsonw *out, const void *context)
{
    const page *self = context;
    uint64_t skipped = 0, written = 0;
    uint64_t row = 0;

    jw_array(out);
    if (!has_filter(self->asker->query)) {
        row = self->offset;
        skipped = self->offset;
    }
    for (; written < self->returned && row < self->from.total; row++) {
        if (!is_match(self, row))
            continue;
        if (skipped < self->offset) {
            skipped++;
            continue;
        }
        self->from.write(out, self->asker, row);
        written++;
    }
    jw_end(out);
}

/* `is_paged`: say where the rows stand. */
static doc_rows describe_page(const page *self, bool is_paged)
{
    doc_rows ret = {.total = self->from.total, .rows = {emit_page, self}};

    if (has_filter(self->asker->query))
        ret.matched = (opt_u64){self->matched, true};
    if (is_paged) {
        ret.returned = (opt_u64){self->returned, true};
        ret.offset = (opt_u64){self->asker->query->offset, true};
        ret.truncated = pen_truth(self->offset + self->returned < self->matched);
    }
    return ret;
}

static void write_rows(asker *self, bool is_paged)
{
    page shown = open_page(self);
    doc_rows rows = describe_page(&shown, is_paged);

    sc_write(&self->pen.out, &table_rows, &rows);
}

static void write_spans(asker *self)
{
    page shown = open_page(self);
    doc_rows rows = describe_page(&shown, self->query->has_limit);

    sc_write(&self->pen.out, &table_span_rows,
             &(doc_span_rows){
                 .total = rows.total,
                 .matched = rows.matched,
                 .returned = rows.returned,
                 .offset = rows.offset,
                 .truncated = rows.truncated,
                 .rows = rows.rows,
                 .edges_reason = CG_LIT("a part of the listing may leave out the ends of an edge; "
                                        "ask without filter and limit"),
             });
}

static void write_gaps(asker *self)
{
    page shown = open_page(self);
    doc_rows rows = describe_page(&shown, true);

    sc_write(&self->pen.out, &table_idle_rows,
             &(doc_idle_rows){
                 .measured_ns = self->answers.idle.measured_ns,
                 .idle_ns = self->answers.idle.idle_ns,
                 .total = rows.total,
                 .returned = rows.returned,
                 .offset = rows.offset,
                 .truncated = rows.truncated,
                 .rows = rows.rows,
             });
}

/* --- rankings --- */

/* Operations, and spans that are one, with the bytes they allocated. */
typedef struct heavy_ops {
    asker *asker;
    uint32_t nodes[HEAVIEST_OPS];
    uint64_t bytes[HEAVIEST_OPS];
    size_t count;
} heavy_ops;

/* Equal bytes: the smaller id first. */
static bool is_heavier(heavy_ops *self, uint32_t node, uint64_t bytes, size_t than)
{
    pen *with = &self->asker->pen;

    if (bytes != self->bytes[than])
        return bytes > self->bytes[than];
    buf_clear(&with->id);
    buf_clear(&with->other_id);
    graph_node_id(&with->view.graph, node, &with->id);
    graph_node_id(&with->view.graph, self->nodes[than], &with->other_id);
    pen_check(&with->out, &with->id);
    pen_check(&with->out, &with->other_id);
    return str_compare(buf_text(&with->id), buf_text(&with->other_id)) < 0;
}

static void consider(heavy_ops *self, uint32_t node, uint64_t bytes)
{
    size_t at = self->count;

    if (self->count == HEAVIEST_OPS) {
        if (!is_heavier(self, node, bytes, HEAVIEST_OPS - 1))
            return;
        at = HEAVIEST_OPS - 1;
    } else {
        self->count++;
    }
    while (at > 0 && is_heavier(self, node, bytes, at - 1)) {
        self->nodes[at] = self->nodes[at - 1];
        self->bytes[at] = self->bytes[at - 1];
        at--;
    }
    self->nodes[at] = node;
    self->bytes[at] = bytes;
}

static void rank_ops(heavy_ops *self)
{
    const graph *derived = &self->asker->pen.view.graph;
    const trace_doc *trace = self->asker->pen.view.trace;

    if (!derived->has_memory)
        return;
    for (uint32_t i = 0; i < derived->span_count; i++) {
        if (derived->has_allocated[i] && nodes_span_kind(&trace->spans.at[i]) == NODE_KIND_OP)
            consider(self, i, derived->allocated_bytes[i]);
    }
    for (uint32_t i = 0; i < derived->op_count; i++) {
        if (derived->has_op_allocated[i])
            consider(self, derived->span_count + i, derived->op_allocated[i]);
    }
}

static void emit_heavy_ops(jsonw *out, const void *context)
{
    const heavy_ops *self = context;

    jw_array(out);
    for (size_t i = 0; i < self->count; i++)
        nodes_write(out, &self->asker->pen, self->nodes[i]);
    jw_end(out);
}

static void write_ranking(asker *self)
{
    summary_parts parts;
    const doc_graph_summary *summary = &parts.summary;
    heavy_ops ops = {.asker = self};

    nodes_summary(&self->pen, &parts);
    if (self->query->kind == QUERY_SLOWEST_HOST) {
        sc_write(&self->pen.out, &table_slowest_host,
                 &(doc_slowest_host){.entrypoint = summary->entrypoint,
                                     .outer_wall_time_ns = summary->outer_wall_time_ns,
                                     .host = summary->host});
    } else if (self->query->kind == QUERY_SLOWEST_DEVICE) {
        sc_write(
            &self->pen.out, &table_slowest_device,
            &(doc_slowest_device){.entrypoint = summary->entrypoint, .device = summary->device});
    } else {
        rank_ops(&ops);
        sc_write(&self->pen.out, &table_heaviest,
                 &(doc_heaviest){.entrypoint = summary->entrypoint,
                                 .spans = summary->heaviest,
                                 .ops = {emit_heavy_ops, &ops}});
    }
}

/* --- module tree --- */

static void emit_tree_rows(jsonw *out, const void *context)
{
    asker *self = (asker *)context;
    const tree_list *tree = &self->answers.tree;
    buf *path = &self->pen.text;

    jw_array(out);
    for (size_t i = 0; i < tree->rows.count && out->code == CG_OK; i++) {
        const tree_row *from = &tree->rows.at[i];
        doc_tree_row row = {
            .name = pen_text(&self->pen, from->name),
            .depth = from->depth,
            .parent = {from->parent, from->parent != TRACE_NONE},
            .count = from->count,
            .host_total_ns = from->host_total_ns,
            .host_self_ns = from->host_self_ns,
            .device_ns = from->device_ns,
            .allocated_bytes = from->allocated_bytes,
            .peak_live_bytes = from->peak_live_bytes,
            .peak_live_bytes_net = from->peak_live_bytes_net,
            .share = from->share,
        };

        buf_clear(path);
        tree_path(&self->pen.view, tree, (uint32_t)i, path);
        pen_check(out, path);
        row.path = buf_text(path);
        sc_write(out, &table_tree_row, &row);
    }
    jw_end(out);
}

static void write_tree(asker *self)
{
    sc_write(&self->pen.out, &table_module_tree,
             &(doc_module_tree){.measured_ns = self->answers.tree.measured_ns,
                                .rows = {emit_tree_rows, self}});
}

/* --- origin of non-finite values --- */

static cg_str span_name(const pen *self, sym span_id)
{
    uint32_t index = trace_span_of(self->view.trace, span_id);

    return index != TRACE_NONE ? pen_text(self, self->view.trace->spans.at[index].name)
                               : CG_LIT("");
}

static void write_producer(jsonw *out, const asker *self, const origin_row *from)
{
    const origin_answer *answer = &self->answers.origin;
    names inputs = {self->pen.view.trace, NULL, from->inputs_count};

    if (from->inputs_count > 0)
        inputs.at = answer->names.at + from->inputs_at;
    sc_write(out, &table_nan_producer,
             &(doc_nan_producer){
                 .label = pen_text(&self->pen, from->label),
                 .span = span_name(&self->pen, from->span_id),
                 .span_id = pen_text(&self->pen, from->span_id),
                 .operation = pen_text(&self->pen, from->operation),
                 .non_finite = from->non_finite,
                 .elements = from->elements,
                 .finite_inputs = {pen_emit_names, &inputs},
             });
}

static void emit_origin(jsonw *out, const void *context)
{
    const asker *self = context;

    write_producer(out, self, &self->answers.origin.origin);
}

static void emit_other_producers(jsonw *out, const void *context)
{
    const asker *self = context;
    const origin_answer *answer = &self->answers.origin;

    jw_array(out);
    for (size_t i = 0; i < pen_rows(&self->pen, answer->other_producers.count); i++)
        write_producer(out, self, &answer->other_producers.at[i]);
    jw_end(out);
}

static void emit_propagators(jsonw *out, const void *context)
{
    const asker *self = context;
    const origin_answer *answer = &self->answers.origin;

    jw_array(out);
    for (size_t i = 0; i < pen_rows(&self->pen, answer->propagators.count); i++) {
        const origin_row *from = &answer->propagators.at[i];

        sc_write(out, &table_nan_propagator,
                 &(doc_nan_propagator){
                     .label = pen_text(&self->pen, from->label),
                     .span = span_name(&self->pen, from->span_id),
                     .non_finite = from->non_finite,
                 });
    }
    jw_end(out);
}

static void write_origin(asker *self)
{
    const origin_answer *answer = &self->answers.origin;
    names unrecorded = {self->pen.view.trace, answer->unrecorded_inputs.at,
                        pen_rows(&self->pen, answer->unrecorded_inputs.count)};
    doc_non_finite_place earliest;
    doc_nan_origin result = {
        .cannot_tell = answer->cannot_tell,
        .other_producers = {emit_other_producers, self},
        .propagators = {emit_propagators, self},
        .unrecorded_inputs = {pen_emit_names, &unrecorded},
        .label_count = answer->non_finite_labels,
    };

    if (answer->has_origin)
        result.origin = (sc_stream){emit_origin, self};
    if (answer->has_earliest) {
        earliest = (doc_non_finite_place){
            .label = pen_text(&self->pen, answer->earliest.label),
            .span = span_name(&self->pen, answer->earliest.span_id),
            .span_id = pen_text(&self->pen, answer->earliest.span_id),
        };
        result.earliest = &earliest;
    }
    sc_write(&self->pen.out, &table_nan_origin, &result);
}

/* --- result --- */

static void write_memory(asker *self)
{
    memory_parts parts;

    planes_memory(&self->pen, &parts);
    sc_write(&self->pen.out, &table_planes, &parts.planes);
}

static void write_capabilities(asker *self)
{
    doc_capabilities capabilities = shared_capabilities(&self->pen);

    sc_write(&self->pen.out, &table_capabilities, &capabilities);
}

/* Neither filtered nor paged: the shape of the wire contract. */
static void write_whole(asker *self)
{
    jsonw *out = &self->pen.out;
    const trace_doc *trace = self->pen.view.trace;

    if (self->query->kind == QUERY_SPANS)
        sc_write(out, &table_spans_and_edges,
                 &(doc_spans_and_edges){{nodes_emit, &self->pen}, {nodes_emit_edges, &self->pen}});
    else if (self->query->kind == QUERY_TENSORS)
        rows_emit_tensors(out, trace);
    else if (self->query->kind == QUERY_TENSOR_STATS)
        rows_emit_stats(out, trace);
    else
        rows_emit_gradients(out, trace);
}

static void emit_result(jsonw *out, const void *context)
{
    asker *self = (asker *)context;
    bool is_part = has_filter(self->query) || self->query->has_limit;

    (void)out; /* the pen's */
    switch ((enum query_kind)self->query->kind) {
    case QUERY_SLOWEST_HOST:
    case QUERY_SLOWEST_DEVICE:
    case QUERY_HEAVIEST: write_ranking(self); return;
    case QUERY_MEMORY: write_memory(self); return;
    case QUERY_SPANS:
        if (is_part)
            write_spans(self);
        else
            write_whole(self);
        return;
    case QUERY_TENSORS:
    case QUERY_TENSOR_STATS:
    case QUERY_GRADIENTS:
        if (is_part)
            write_rows(self, self->query->has_limit);
        else
            write_whole(self);
        return;
    case QUERY_CAPABILITIES: write_capabilities(self); return;
    case QUERY_GPU_STATUS:
    case QUERY_GPU_CORRELATION:
    case QUERY_GPU_PHASES:
    case QUERY_GPU_KERNELS:
    case QUERY_GPU_GAPS: gpu_write_result(&self->pen, self->query->kind); return;
    case QUERY_LABELS: write_rows(self, true); return;
    case QUERY_MODULE_TREE: write_tree(self); return;
    case QUERY_NAN_ORIGIN: write_origin(self); return;
    case QUERY_GAPS: write_gaps(self); return;
    case QUERY_COUNT: return;
    }
}

/* --- answers --- */

static cg_code find_answer(asker *self, cg_err *reterr)
{
    const evidence *view = &self->pen.view;

    switch (self->query->kind) {
    case QUERY_LABELS: return labels_build(view->heap, view, &self->answers.labels, reterr);
    case QUERY_MODULE_TREE: return tree_build(view->heap, view, &self->answers.tree, reterr);
    case QUERY_NAN_ORIGIN: return origin_find(view->heap, view, &self->answers.origin, reterr);
    case QUERY_GAPS: return idle_build(view->heap, view, &self->answers.idle, reterr);
    default: return CG_OK;
    }
}

/* Only what find_answer has filled; an answer that failed owns nothing. */
static void release_answer(asker *self)
{
    answers *at = &self->answers;

    if (at->labels.heap != NULL)
        labels_free(&at->labels);
    if (at->tree.heap != NULL)
        tree_free(&at->tree);
    if (at->origin.heap != NULL)
        origin_free(&at->origin);
    if (at->idle.heap != NULL)
        idle_free(&at->idle);
}

/* --- query --- */

/* Their spans, operations and values are as sound as those of a valid trace. */
static bool is_sound_but_for_gradients(const evidence *from)
{
    return from->health.is_valid || !from->health.has_other_error;
}

static bool has_what_it_needs(const evidence *from, const query_row *row, uint32_t kind)
{
    switch (kind) {
    case QUERY_MODULE_TREE:
    case QUERY_NAN_ORIGIN:
    case QUERY_GAPS: return is_sound_but_for_gradients(from);
    case QUERY_GRADIENTS:
        return from->has_graph || (from->health.is_complete && is_sound_but_for_gradients(from));
    default: return !row->needs_graph || from->has_graph;
    }
}

cg_code document_query_check(const evidence *from, const document_query *query, cg_err *reterr)
{
    const query_row *row;
    cg_str reason;

    if (query->kind >= QUERY_COUNT)
        return cg_fail(reterr, PROBLEM_USAGE, "unknown kind of query");
    row = &query_rows[query->kind];
    if (has_filter(query) && !row->takes_filter)
        return cg_fail(reterr, PROBLEM_FILTER, "`%.*s` takes no label filter", ERR_STR(row->word));
    if (has_what_it_needs(from, row, query->kind))
        return CG_OK;
    if (!row->needs_graph)
        return cg_fail(reterr, PROBLEM_NO_GRAPH,
                       "`%.*s` needs a structurally valid trace, and this one has errors",
                       ERR_STR(row->word));
    reason = parts_no_graph_reason(from);
    return cg_fail(reterr, PROBLEM_NO_GRAPH, "`%.*s` needs a derived graph; %.*s",
                   ERR_STR(row->word), (int)reason.len, reason.ptr);
}

static void write_query(asker *self, const document_input *input)
{
    const document_query *query = self->query;
    doc_tool tool = shared_tool();
    doc_input where = shared_input(&self->pen, input);
    doc_filter filter = {query->label, query->label_prefix};
    doc_capabilities capabilities = shared_capabilities(&self->pen);

    sc_write(&self->pen.out, &table_query,
             &(doc_query){
                 .schema = schema_id_text(SCHEMA_QUERY),
                 .tool = &tool,
                 .kind = query_rows[query->kind].word,
                 .filter = &filter,
                 .input = &where,
                 .capabilities = &capabilities,
                 .result = {emit_result, self},
             });
}

cg_code document_query_write(const evidence *from, const document_input *input,
                             const document_query *query, cg_sink sink, cg_err *reterr)
{
    asker self = {.query = query};
    cg_code code;

    CG_TRY(document_query_check(from, query, reterr));
    CG_TRY(pen_start(&self.pen, from, sink, true, reterr));
    code = query->kind == QUERY_SPANS || query->kind == QUERY_HEAVIEST ? pen_complete(&self.pen)
                                                                       : CG_OK;
    if (code == CG_OK)
        code = find_answer(&self, reterr);
    if (code == CG_OK)
        write_query(&self, input);
    release_answer(&self);
    if (code != CG_OK) {
        pen_drop(&self.pen);
        return code;
    }
    return pen_finish(&self.pen);
}

/* --- answers for a page --- */

#define PAGE_ROWS 1000

static void emit_gpu_gaps(jsonw *out, const void *context)
{
    (void)out; /* the pen's */
    gpu_write_result((pen *)context, QUERY_GPU_GAPS);
}

static void emit_origin_answer(jsonw *out, const void *context)
{
    (void)out;
    write_origin((asker *)context);
}

cg_code document_answers(const evidence *from, cg_sink sink, cg_err *reterr)
{
    const document_query query = {.kind = QUERY_NAN_ORIGIN};
    asker self = {.query = &query};
    doc_nan_totals totals;
    doc_page_answers result = {.schema = CG_LIT(PAGE_ANSWERS_SCHEMA)};

    CG_TRY(pen_start(&self.pen, from, sink, true, reterr));
    self.pen.row_cap = PAGE_ROWS;
    result.gpu_gaps = (sc_stream){emit_gpu_gaps, &self.pen};
    if (is_sound_but_for_gradients(from)) {
        const origin_answer *found = &self.answers.origin;
        cg_code code = find_answer(&self, reterr);

        if (code != CG_OK) {
            release_answer(&self);
            pen_drop(&self.pen);
            return code;
        }
        totals = (doc_nan_totals){found->other_producers.count, found->propagators.count,
                                  found->unrecorded_inputs.count};
        result.nan_origin = (sc_stream){emit_origin_answer, &self};
        result.nan_totals = &totals;
    }
    sc_write(&self.pen.out, &table_page_answers, &result);
    release_answer(&self);
    return pen_finish(&self.pen);
}
