#include "view/text_query.h"

#include "exec/graph_edges.h"
#include "exec/questions.h"
#include "view/text_gpu.h"
#include "view/text_memory.h"
#include "view/text_origin.h"
#include "view/text_rows.h"
#include "view/text_time.h"

/* --- rows of the trace ------------------------------------------------- */

static cg_str node_name(const sections *to, uint32_t node)
{
    const graph *tree = &to->from->graph;
    const graph_tensor_node *tensor;

    if (node < tree->span_count)
        return trace_text(to->trace, to->trace->spans.at[node].name);
    node -= tree->span_count;
    if (node < tree->op_count)
        return trace_text(to->trace, to->trace->ops.at[node].name);
    tensor = &tree->tensors[node - tree->op_count];
    if (tensor->event != TRACE_NONE && to->trace->tensors.at[tensor->event].label != 0)
        return trace_text(to->trace, to->trace->tensors.at[tensor->event].label);
    return trace_text(to->trace, tensor->tensor_id);
}

static void node_row(sections *to, table *rows, uint32_t node, unit in)
{
    const graph *tree = &to->from->graph;
    opt_u64 none = {0, false};

    table_name(rows, "", node_name(to, node));
    if (node < tree->span_count) {
        const trace_span *span = &to->trace->spans.at[node];

        buf_addf(table_cell_text(rows), "%s", span->is_measured ? "measured " : "");
        buf_add(table_cell_text(rows), sc_word(&words_span_kind, span->kind));
        table_end_cell(rows);
    } else {
        table_text(rows, node < tree->span_count + tree->op_count ? "operation" : "tensor");
    }
    graph_node_id(tree, node, table_cell_text(rows));
    table_end_name(rows);
    if (node < tree->span_count) {
        const trace_span *span = &to->trace->spans.at[node];

        table_amount(rows, (opt_u64){span->start_ns, true}, in);
        table_amount(rows, (opt_u64){tree->self_ns[node], true}, in);
        table_amount(rows, (opt_u64){tree->total_ns[node], true}, in);
    } else if (node < tree->span_count + tree->op_count) {
        const trace_op *op = &to->trace->ops.at[node - tree->span_count];

        table_amount(rows, (opt_u64){op->timestamp_ns, true}, in);
        table_amount(rows, none, in);
        table_amount(rows, (opt_u64){op->duration_ns, true}, in);
    } else {
        table_amount(rows, none, in);
        table_amount(rows, none, in);
        table_amount(rows, none, in);
    }
    table_row(rows);
}

static cg_code spans(sections *to, const document_query *query, cg_err *reterr)
{
    const graph *tree = &to->from->graph;
    window shown = window_of(to, query);
    unit in = unit_time(to->trace->terminal_ns);
    table rows;

    (void)reterr;
    page_title(&to->page, "Nodes of the execution graph", "(host clock; edges are in the JSON)");
    table_open(&rows, &to->page, 2);
    table_column(&rows, COLUMN_NAME, "name");
    table_column(&rows, COLUMN_WORD, "what");
    table_column(&rows, COLUMN_NAME, "id");
    table_column(&rows, COLUMN_NUMBER, "start %s", in.word);
    table_column(&rows, COLUMN_NUMBER, "own %s", in.word);
    table_column(&rows, COLUMN_NUMBER, "total %s", in.word);
    for (uint32_t node = 0; node < graph_node_count(tree); node++) {
        if (query_passes(query, node_name(to, node)) && window_takes(&shown))
            node_row(to, &rows, node, in);
    }
    table_close(&rows);
    window_note(to, &shown);
    return CG_OK;
}

static cg_code tensors(sections *to, const document_query *query, cg_err *reterr)
{
    window shown = window_of(to, query);
    uint64_t largest = 0;
    unit in;
    table rows;

    (void)reterr;
    for (size_t i = 0; i < to->trace->tensors.count; i++) {
        const trace_tensor *row = &to->trace->tensors.at[i];

        if (row->has_dense_bytes && row->dense_bytes > largest)
            largest = row->dense_bytes;
    }
    in = unit_bytes(largest);
    page_title(&to->page, "Recorded tensors", "(dense size; storage may be shared)");
    table_open(&rows, &to->page, 2);
    table_column(&rows, COLUMN_NAME, "tensor");
    table_column(&rows, COLUMN_WORD, "axes");
    table_column(&rows, COLUMN_NAME, "type");
    table_column(&rows, COLUMN_NAME, "on");
    table_column(&rows, COLUMN_NUMBER, "size %s", in.word);
    table_column(&rows, COLUMN_WORD, "what");
    table_column(&rows, COLUMN_WORD, "gradient");
    table_column(&rows, COLUMN_NAME, "span");
    for (size_t i = 0; i < to->trace->tensors.count; i++) {
        const trace_tensor *row = &to->trace->tensors.at[i];
        cg_str name = trace_text(to->trace, row->label != 0 ? row->label : row->tensor_id);
        uint32_t span = trace_span_of(to->trace, row->span_id);

        if (!query_passes(query, name) || !window_takes(&shown))
            continue;
        table_name(&rows, "", name);
        table_shape(to, &rows, row->shape);
        table_name(&rows, "", trace_text(to->trace, row->dtype));
        table_name(&rows, "", trace_text(to->trace, row->device));
        table_amount(&rows, (opt_u64){row->dense_bytes, row->has_dense_bytes}, in);
        buf_add(table_cell_text(&rows), sc_word(&words_category, row->category));
        table_end_cell(&rows);
        table_text(&rows, row->is_grad_required ? "wanted" : "—");
        table_name(
            &rows, "",
            symbol_text(to, span != TRACE_NONE ? to->trace->spans.at[span].name : row->span_id));
        table_row(&rows);
    }
    table_close(&rows);
    window_note(to, &shown);
    return CG_OK;
}

static void float_cell(table *rows, double value)
{
    number_float(table_cell_text(rows), value);
    table_end_cell(rows);
}

void text_statistics_table(sections *to, const document_query *query)
{
    window shown = window_of(to, query);
    table rows;

    page_title(&to->page, "Tensor statistics", "(in stream order)");
    table_open(&rows, &to->page, 2);
    table_column(&rows, COLUMN_NAME, "tensor");
    table_column(&rows, COLUMN_NAME, "type");
    table_column(&rows, COLUMN_WORD, "axes");
    table_column(&rows, COLUMN_NUMBER, "values");
    table_column(&rows, COLUMN_NUMBER, "non-finite");
    table_column(&rows, COLUMN_NUMBER, "mean ");
    table_column(&rows, COLUMN_NUMBER, "rms ");
    table_column(&rows, COLUMN_NUMBER, "max |x|");
    for (size_t i = 0; i < to->trace->stats.count; i++) {
        const trace_stats *row = &to->trace->stats.at[i];
        cg_str name = trace_text(to->trace, row->label);

        if (!query_passes(query, name) || !window_takes(&shown))
            continue;
        table_name(&rows, "", name);
        table_name(&rows, "", trace_text(to->trace, row->dtype));
        table_shape(to, &rows, row->shape);
        table_number(&rows, row->elements);
        if (row->non_finite > 0)
            table_ink(&rows, INK_BAD);
        buf_addf(table_cell_text(&rows), "%s%llu", row->non_finite > 0 ? "✗ " : "",
                 (unsigned long long)row->non_finite);
        table_end_cell(&rows);
        float_cell(&rows, row->mean);
        float_cell(&rows, row->rms);
        float_cell(&rows, row->abs_max);
        table_row(&rows);
    }
    table_close(&rows);
    window_note(to, &shown);
}

static cg_code tensor_stats(sections *to, const document_query *query, cg_err *reterr)
{
    (void)reterr;
    text_statistics_table(to, query);
    return CG_OK;
}

static bool passes_gradient(sections *to, const document_query *query, const trace_gradient *row)
{
    cg_str key = trace_text(to->trace, row->key);
    buf whole;
    bool does;

    if (query_passes(query, key))
        return true;
    buf_init(&whole, &to->heap, SIZE_MAX / 4);
    buf_add(&whole, trace_text(to->trace, row->root));
    buf_byte(&whole, '/');
    buf_add(&whole, key);
    does = query_passes(query, buf_text(&whole));
    page_check(&to->page, &whole);
    buf_free(&whole);
    return does;
}

/* Gradients of one state, or of all that are neither missing nor broken. */
static void gradient_rows(sections *to, table *rows, const document_query *query, window *shown,
                          uint8_t state)
{
    static const char *const marks[] = {"✓ ", "! ", "! ", "✗ "};
    static const uint8_t inks[] = {INK_GOOD, INK_WARN, INK_WARN, INK_BAD};

    for (size_t i = 0; i < to->trace->gradients.count; i++) {
        const trace_gradient *row = &to->trace->gradients.at[i];

        if (row->state != state || !passes_gradient(to, query, row) || !window_takes(shown))
            continue;
        table_name(rows, "", trace_text(to->trace, row->key));
        table_name(rows, "", trace_text(to->trace, row->root));
        table_ink(rows, (enum ink)inks[state]);
        buf_add(table_cell_text(rows), str_from(marks[state]));
        buf_add(table_cell_text(rows), sc_word(&words_gradient_state, state));
        table_end_cell(rows);
        if (row->has_norm)
            float_cell(rows, row->norm);
        else
            table_text(rows, "—");
        table_row(rows);
    }
}

static cg_code gradients(sections *to, const document_query *query, cg_err *reterr)
{
    static const uint8_t order[] = {GRADIENT_STATE_NON_FINITE, GRADIENT_STATE_MISSING,
                                    GRADIENT_STATE_ZERO, GRADIENT_STATE_PRESENT};
    window shown = window_of(to, query);
    bool is_filtered = query->label.ptr != NULL || query->label_prefix.ptr != NULL;
    table rows;

    (void)reterr;
    if (!is_filtered)
        section_gradients(to, SIZE_MAX);
    page_title(&to->page, "Parameters",
               is_filtered ? "(what lacks a gradient first)"
                           : "(what lacks a gradient first; whether it is owed is said above)");
    table_open(&rows, &to->page, 2);
    table_column(&rows, COLUMN_NAME, "parameter");
    table_column(&rows, COLUMN_NAME, "of");
    table_column(&rows, COLUMN_WORD, "gradient");
    table_column(&rows, COLUMN_NUMBER, "L2 norm");
    for (size_t i = 0; i < sizeof order; i++)
        gradient_rows(to, &rows, query, &shown, order[i]);
    table_close(&rows);
    window_note(to, &shown);
    return CG_OK;
}

static cg_code labels(sections *to, const document_query *query, cg_err *reterr)
{
    window shown = window_of(to, query);
    label_list list;
    table rows;

    CG_TRY(labels_build(&to->heap, to->from, &list, reterr));
    page_title(&to->page, "Labels of the trace", NULL);
    table_open(&rows, &to->page, 2);
    table_column(&rows, COLUMN_WORD, "what");
    table_column(&rows, COLUMN_NAME, "name");
    table_column(&rows, COLUMN_NUMBER, "count");
    table_column(&rows, COLUMN_NAME, "first in span");
    for (size_t i = 0; i < list.rows.count; i++) {
        const label_row *row = &list.rows.at[i];

        if (!window_takes(&shown))
            continue;
        buf_add(table_cell_text(&rows), label_kind_word(row->kind));
        table_end_cell(&rows);
        table_name(&rows, "", row->label);
        table_number(&rows, row->count);
        table_name(&rows, "", symbol_text(to, row->first_span_id));
        table_row(&rows);
    }
    table_close(&rows);
    window_note(to, &shown);
    labels_free(&list);
    return CG_OK;
}

/* --- capabilities, GPU -------------------------------------------------- */

static cg_code capabilities(sections *to, const document_query *query, cg_err *reterr)
{
    (void)query;
    (void)reterr;
    section_capabilities(to, true);
    return CG_OK;
}

static cg_code gpu(sections *to, const document_query *query, cg_err *reterr)
{
    return text_gpu(to, query->kind, to->page.style->rows, reterr);
}

/* --- by kind ------------------------------------------------------------ */

typedef struct answer_row {
    const char *word;
    cg_code (*answer)(sections *to, const document_query *query, cg_err *reterr);
} answer_row;

static const answer_row answers[] = {
    {"slowest-host", text_slowest_host},
    {"slowest-device", text_slowest_device},
    {"heaviest", text_heaviest},
    {"memory", text_memory},
    {"spans", spans},
    {"tensors", tensors},
    {"tensor-stats", tensor_stats},
    {"gradients", gradients},
    {"capabilities", capabilities},
    {"gpu-status", gpu},
    {"gpu-correlation", gpu},
    {"gpu-phases", gpu},
    {"gpu-kernels", gpu},
    {"gpu-attribution-gaps", gpu},
    {"labels", labels},
    {"module-tree", text_time_tree},
    {"nan-origin", text_nan_origin},
    {"gaps", text_gaps},
};

static const answer_row *find_answer(cg_str word)
{
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        if (str_equal(word, str_from(answers[i].word)))
            return &answers[i];
    }
    return NULL;
}

cg_code text_answer(sections *to, const document_query *query, cg_err *reterr)
{
    const answer_row *row = find_answer(query->word);

    if (row == NULL)
        return cg_fail(reterr, PROBLEM_USAGE, "no question of this kind");
    CG_TRY(document_query_check(to->from, query, reterr));
    section_verdict(to);
    return row->answer(to, query, reterr);
}
