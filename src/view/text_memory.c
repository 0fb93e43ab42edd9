#include "view/text_memory.h"

#include "base/num.h"
#include "base/sort.h"
#include "exec/questions.h"
#include "view/text_rows.h"

#define SPARK_CELLS 60

static opt_u64 span_bytes(const uint64_t *bytes, const bool *has, uint32_t span)
{
    return (opt_u64){bytes[span], has[span]};
}

static void heaviest_spans(sections *to)
{
    const graph *tree = &to->from->graph;
    uint64_t largest = 0;
    unit in;
    table rows;

    for (uint32_t i = 0; i < tree->heaviest_count; i++) {
        uint32_t span = tree->heaviest[i];

        if (tree->has_allocated[span] && tree->allocated_bytes[span] > largest)
            largest = tree->allocated_bytes[span];
        if (tree->has_peak[span] && tree->peak_live_bytes[span] > largest)
            largest = tree->peak_live_bytes[span];
    }
    in = unit_bytes(largest);
    page_title(&to->page, "Spans by allocated bytes", "(logical storage)");
    table_open(&rows, &to->page, 2);
    table_column(&rows, COLUMN_NAME, "span");
    table_column(&rows, COLUMN_NAME, "id");
    table_column(&rows, COLUMN_NUMBER, "allocated %s", in.word);
    table_column(&rows, COLUMN_NUMBER, "peak %s", in.word);
    table_column(&rows, COLUMN_NUMBER, "left %s", in.word);
    for (uint32_t i = 0; i < tree->heaviest_count; i++) {
        uint32_t span = tree->heaviest[i];

        table_name(&rows, "", trace_text(to->trace, to->trace->spans.at[span].name));
        table_name(&rows, "", trace_text(to->trace, to->trace->spans.at[span].id));
        table_amount(&rows, span_bytes(tree->allocated_bytes, tree->has_allocated, span), in);
        table_amount(&rows, span_bytes(tree->peak_live_bytes, tree->has_peak, span), in);
        table_amount(&rows, span_bytes(tree->residual_bytes, tree->has_peak, span), in);
        table_row(&rows);
    }
    table_close(&rows);
    if (tree->heaviest_count == 0) {
        page_put(&to->page, "  no bytes were recorded");
        page_end(&to->page);
    }
}

/* The heaviest operation that is lighter than (bytes, op) of the one before. */
static uint32_t next_heaviest_op(const graph *tree, uint32_t before)
{
    uint32_t best = TRACE_NONE;

    for (uint32_t i = 0; i < tree->op_count; i++) {
        if (!tree->has_op_allocated[i])
            continue;
        if (before != TRACE_NONE &&
            (tree->op_allocated[i] > tree->op_allocated[before] ||
             (tree->op_allocated[i] == tree->op_allocated[before] && i <= before)))
            continue;
        if (best == TRACE_NONE || tree->op_allocated[i] > tree->op_allocated[best])
            best = i;
    }
    return best;
}

static void heaviest_ops(sections *to, uint64_t most)
{
    const graph *tree = &to->from->graph;
    uint32_t op = tree->has_memory ? next_heaviest_op(tree, TRACE_NONE) : TRACE_NONE;
    unit in = unit_bytes(op != TRACE_NONE ? tree->op_allocated[op] : 0);
    table rows;

    if (op == TRACE_NONE)
        return;
    page_title(&to->page, "Operations by allocated bytes", "(logical storage)");
    table_open(&rows, &to->page, 2);
    table_column(&rows, COLUMN_NAME, "operation");
    table_column(&rows, COLUMN_NAME, "span");
    table_column(&rows, COLUMN_WORD, "output");
    table_column(&rows, COLUMN_NUMBER, "allocated %s", in.word);
    for (; op != TRACE_NONE && most > 0; most--) {
        const trace_op *row = &to->trace->ops.at[op];
        uint32_t span = trace_span_of(to->trace, row->span_id);

        table_name(&rows, "", trace_text(to->trace, row->name));
        table_name(&rows, "",
                   span != TRACE_NONE ? trace_text(to->trace, to->trace->spans.at[span].name)
                                      : (cg_str){NULL, 0});
        table_shape(to, &rows, row->shape);
        table_amount(&rows, (opt_u64){tree->op_allocated[op], true}, in);
        table_row(&rows);
        op = next_heaviest_op(tree, op);
    }
    table_close(&rows);
}

cg_code text_heaviest(sections *to, const document_query *query, cg_err *reterr)
{
    uint64_t most = to->page.style->rows;

    (void)query;
    (void)reterr;
    if (to->from->graph.has_memory)
        heaviest_spans(to);
    else
        page_title(&to->page, "Spans by allocated bytes", "— no memory events were recorded");
    heaviest_ops(to, most < 50 ? most : 50);
    return CG_OK;
}

typedef struct spark {
    uint64_t first_ns, last_ns;
    uint64_t level;
    unsigned at;
    uint64_t height[SPARK_CELLS];
} spark;

static bool spark_point(void *context, memory_point total, const memory_live *by_device,
                        const memory_live by_category[CATEGORY_COUNT])
{
    spark *self = context;
    double part = (double)(total.timestamp_ns - self->first_ns) /
                  ((double)(self->last_ns - self->first_ns) + 1);
    unsigned to = (unsigned)(part * SPARK_CELLS);

    (void)by_device;
    (void)by_category;
    for (; self->at < to && self->at < SPARK_CELLS - 1; self->at++) {
        if (self->height[self->at + 1] < self->level)
            self->height[self->at + 1] = self->level;
    }
    self->level = total.live_bytes;
    if (self->height[self->at] < self->level)
        self->height[self->at] = self->level;
    return true;
}

static cg_code memory_timeline(sections *to, cg_err *reterr)
{
    const memory_plane *plane = &to->from->memory;
    spark line;

    memset(&line, 0, sizeof line);
    line.first_ns = to->trace->memory.at[plane->order.at[0]].timestamp_ns;
    line.last_ns = to->trace->memory.at[plane->order.at[plane->order.count - 1]].timestamp_ns;
    CG_TRY(memory_walk(plane, spark_point, &line, reterr));
    page_put(&to->page, "  live ");
    for (unsigned i = 0; i < SPARK_CELLS; i++)
        number_height(&to->page.out, line.height[i], plane->peak_live_bytes);
    page_end(&to->page);
    buf_add(&to->page.say, CG_LIT("from "));
    number_time(&to->page.say, line.first_ns);
    buf_add(&to->page.say, CG_LIT(" to "));
    number_time(&to->page.say, line.last_ns);
    buf_add(&to->page.say, CG_LIT(" of the host clock, a full block is the peak"));
    page_paragraph(&to->page, INK_DIM, 7, 7);
    return CG_OK;
}

static void lifetimes_table(sections *to, const char *title, const uint32_t *items, size_t count,
                            uint64_t most)
{
    uint64_t largest = 0;
    unit in;
    table rows;

    for (size_t i = 0; i < count; i++) {
        const memory_lifetime *life = &to->from->memory.lifetimes.at[items[i]];
        uint64_t bytes = to->trace->memory.at[life->alloc_event].bytes;

        largest = bytes > largest ? bytes : largest;
    }
    in = unit_bytes(largest);
    page_title(&to->page, title, "(logical storage, in order of allocation)");
    table_open(&rows, &to->page, 2);
    table_column(&rows, COLUMN_NUMBER, "size %s", in.word);
    table_column(&rows, COLUMN_WORD, "what");
    table_column(&rows, COLUMN_NAME, "allocated in");
    table_column(&rows, COLUMN_NAME, "by");
    table_column(&rows, COLUMN_WORD, "axes");
    table_column(&rows, COLUMN_NAME, "type");
    for (size_t i = 0; i < count && i < most; i++) {
        const memory_lifetime *life = &to->from->memory.lifetimes.at[items[i]];
        const trace_memory *event = &to->trace->memory.at[life->alloc_event];
        uint32_t span = trace_span_of(to->trace, event->span_id);

        table_amount(&rows, (opt_u64){event->bytes, true}, in);
        buf_add(table_cell_text(&rows), sc_word(&words_category, event->category));
        table_end_cell(&rows);
        table_name(
            &rows, "",
            symbol_text(to, span != TRACE_NONE ? to->trace->spans.at[span].name : event->span_id));
        table_name(&rows, "", symbol_text(to, event->op_name));
        table_shape(to, &rows, event->shape);
        table_name(&rows, "", trace_text(to->trace, event->dtype));
        table_row(&rows);
    }
    table_close(&rows);
    if (count > most)
        section_more(to, count - most, "--rows N shows them");
}

static cg_code live_sets(sections *to, uint64_t most, cg_err *reterr)
{
    const memory_plane *plane = &to->from->memory;
    heap *from = plane->heap;
    memory_list items = {0};
    cg_code code = memory_peak_set(plane, &items, reterr);

    if (code == CG_OK && items.count > 0)
        lifetimes_table(to, "Live at the peak", items.at, items.count, most);
    items.count = 0;
    for (uint32_t i = 0; code == CG_OK && i < plane->lifetimes.count; i++) {
        uint32_t *item;

        if (plane->lifetimes.at[i].is_closed)
            continue;
        item = vec_add(from, &items);
        if (item == NULL)
            code = err_nomem(reterr);
        else
            *item = i;
    }
    if (code == CG_OK && items.count > 0)
        lifetimes_table(to, "Left at the end", items.at, items.count, most);
    vec_free(from, &items);
    return code;
}

cg_code text_memory_detail(sections *to, uint64_t most, cg_err *reterr)
{
    if (to->trace->memory.count == 0)
        return CG_OK;
    CG_TRY(memory_timeline(to, reterr));
    return live_sets(to, most, reterr);
}

cg_code text_memory(sections *to, const document_query *query, cg_err *reterr)
{
    (void)query;
    if (to->trace->memory.count == 0 && to->trace->samples.count == 0) {
        page_title(&to->page, "Memory",
                   "— neither storage events nor device samples were recorded");
        return CG_OK;
    }
    section_memory(to);
    return text_memory_detail(to, to->page.style->rows, reterr);
}
