#include "view/text_query.h"

#include "base/num.h"
#include "base/sort.h"
#include "exec/children.h"
#include "exec/questions.h"
#include "view/text_gpu.h"

#define SPARK_CELLS 60

/* --- which rows are shown ---------------------------------------------- */

typedef struct window {
    uint64_t offset;
    uint64_t limit;
    uint64_t matched; /* rows that passed the filter so far */
    uint64_t shown;
} window;

static window window_of(const sections *to, const document_query *query)
{
    window ret = {0, to->page.style->rows, 0, 0};

    if (query != NULL && query->has_limit) {
        ret.offset = query->offset;
        ret.limit = query->limit;
    }
    return ret;
}

static bool window_takes(window *self)
{
    uint64_t at = self->matched++;

    if (at < self->offset || self->shown >= self->limit)
        return false;
    self->shown++;
    return true;
}

static void window_note(sections *to, const window *self)
{
    if (self->matched == 0) {
        page_put(&to->page, "  none");
        page_end(&to->page);
    } else if (self->shown == 0) {
        page_putf(&to->page, "  none of %llu", (unsigned long long)self->matched);
        page_end(&to->page);
    } else if (self->offset + self->shown < self->matched) {
        section_more(to, self->matched - self->offset - self->shown,
                     "--rows, --limit and --offset, or --all show them");
    }
}

static bool passes(const document_query *query, cg_str label)
{
    if (query == NULL)
        return true;
    if (query->label.ptr != NULL)
        return str_equal(label, query->label);
    return query->label_prefix.ptr == NULL || str_starts_with(label, query->label_prefix);
}

static cg_str text_of(const sections *to, sym symbol)
{
    return symbol == 0 ? (cg_str){NULL, 0} : trace_text(to->trace, symbol);
}

static void say_name(sections *to, cg_str name)
{
    buf_byte(&to->page.say, '`');
    safe_add(&to->page.say, name, 80);
    buf_byte(&to->page.say, '`');
}

static void say_symbol(sections *to, sym symbol)
{
    say_name(to, trace_text(to->trace, symbol));
}

static void shape_cell(sections *to, table *rows, trace_shape shape)
{
    sc_u64s axes = trace_axes(to->trace, shape);

    number_shape(table_cell_text(rows), axes.at, axes.count);
    table_end_cell(rows);
}

/* --- time -------------------------------------------------------------- */

static cg_code slowest_host(sections *to, const document_query *query, cg_err *reterr)
{
    const graph *tree = &to->from->graph;
    uint64_t measured_ns = tree->total_ns[tree->measured];
    unit in = unit_time(measured_ns);
    table rows;

    (void)query;
    (void)reterr;
    page_title(&to->page, "Spans by own host time",
               "(host clock, clipped to the measured region; without spans of kind op)");
    table_open(&rows, &to->page, 2);
    table_column(&rows, COLUMN_NAME, "span");
    table_column(&rows, COLUMN_NAME, "id");
    table_column(&rows, COLUMN_NUMBER, "own %s", in.word);
    table_column(&rows, COLUMN_NUMBER, "of region");
    table_column(&rows, COLUMN_BAR, " ");
    table_column(&rows, COLUMN_NUMBER, "total %s", in.word);
    table_column(&rows, COLUMN_WORD, "where");
    for (uint32_t i = 0; i < tree->host_count; i++) {
        const graph_host_row *row = &tree->host[i];
        const trace_span *span = &to->trace->spans.at[row->span];
        double share = measured_ns > 0 ? (double)row->clipped_self_ns / (double)measured_ns : 0;

        table_name(&rows, "", trace_text(to->trace, span->name));
        table_name(&rows, "", trace_text(to->trace, span->id));
        table_amount(&rows, (opt_u64){row->clipped_self_ns, true}, in);
        table_share(&rows, (opt_f64){share, measured_ns > 0});
        table_bar(&rows, share);
        table_amount(&rows, (opt_u64){row->clipped_total_ns, true}, in);
        table_text(&rows, row->is_concurrent ? "in parallel" : "inside");
        table_row(&rows);
    }
    table_close(&rows);
    return CG_OK;
}

static cg_code slowest_device(sections *to, const document_query *query, cg_err *reterr)
{
    const graph *tree = &to->from->graph;
    uint64_t largest = 0;
    unit in;
    table rows;

    (void)query;
    (void)reterr;
    for (uint32_t i = 0; i < tree->device_count; i++) {
        uint64_t busy = to->from->timing.spans.at[tree->device[i].timing].busy_ns;

        largest = busy > largest ? busy : largest;
    }
    in = unit_time(largest);
    page_title(&to->page, "Spans by device busy time",
               "(clock of each device; not comparable with host time)");
    table_open(&rows, &to->page, 2);
    table_column(&rows, COLUMN_NAME, "span");
    table_column(&rows, COLUMN_NAME, "on");
    table_column(&rows, COLUMN_NAME, "clock");
    table_column(&rows, COLUMN_NUMBER, "busy %s", in.word);
    table_column(&rows, COLUMN_NUMBER, "intervals");
    for (uint32_t i = 0; i < tree->device_count; i++) {
        const timing_row *row = &to->from->timing.spans.at[tree->device[i].timing];

        table_name(&rows, "",
                   trace_text(to->trace, to->trace->spans.at[tree->device[i].span].name));
        table_name(&rows, "", trace_text(to->trace, row->device));
        table_name(&rows, "", trace_text(to->trace, row->clock_id));
        table_amount(&rows, (opt_u64){row->busy_ns, true}, in);
        table_number(&rows, row->interval_count);
        table_row(&rows);
    }
    table_close(&rows);
    if (tree->device_count == 0) {
        page_put(&to->page, "  no device intervals were recorded");
        page_end(&to->page);
    }
    return CG_OK;
}

/* The glyphs before a row of a tree: one a level, the number of the level when it is deep. */
static void tree_glyphs(buf *out, const tree_list *list, const bool *is_last, uint32_t row)
{
    enum { LEVELS = 12 };
    uint32_t chain[LEVELS];
    unsigned count = 0;
    uint32_t at = row;

    for (; count < LEVELS && list->rows.at[at].depth > 0; at = list->rows.at[at].parent)
        chain[count++] = at;
    if (list->rows.at[at].depth > 0)
        buf_addf(out, "… level %u … ", list->rows.at[row].depth);
    if (list->rows.at[at].depth > 0)
        count = 1;
    while (count > 1)
        buf_add(out, is_last[chain[--count]] ? CG_LIT("   ") : CG_LIT("│  "));
    if (count == 1)
        buf_add(out, is_last[row] ? CG_LIT("└─ ") : CG_LIT("├─ "));
}

/* Is a row the last of its parent? From the end: the first one seen of a parent is. */
static void mark_last(const tree_list *list, bool *is_last, uint8_t *seen)
{
    for (size_t i = list->rows.count; i-- > 0;) {
        uint32_t parent = list->rows.at[i].parent;

        if (parent == TRACE_NONE)
            continue;
        is_last[i] = !seen[parent];
        seen[parent] = 1;
    }
}

/* What the rows of the tree need beyond the list: which is last, time in operations. */
typedef struct tree_extra {
    bool *is_last;
    uint64_t *ops_ns;
    bool has_ops;
} tree_extra;

/* Row of (parent row, name); keys are sorted. */
static uint32_t find_row(const uint64_t *keys, const uint32_t *rows, size_t count, uint64_t key)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (keys[rows[middle]] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && keys[rows[low]] == key ? rows[low] : TRACE_NONE;
}

static uint64_t row_key(uint32_t parent, sym name)
{
    return (uint64_t)(parent + 1) << 32 | name; /* TRACE_NONE + 1 is 0 */
}

/* Sum the operations of each row: spans find their row from the root down. */
static cg_code add_ops(const sections *to, arena *mem, const tree_list *list, tree_extra *extra,
                       cg_err *reterr)
{
    size_t count = list->rows.count;
    uint64_t *keys = arena_take(mem, (count + 1) * sizeof *keys);
    uint32_t *rows = arena_take(mem, (2 * count + 1) * sizeof *rows);
    uint32_t *row_of = arena_take(mem, (to->trace->spans.count + 1) * sizeof *row_of);
    children kids;

    if (keys == NULL || rows == NULL || row_of == NULL)
        return err_nomem(reterr);
    CG_TRY(children_build(mem, to->trace, &kids, reterr));
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = i;
        keys[i] = row_key(list->rows.at[i].parent, list->rows.at[i].name);
    }
    sort_by_u64(rows, rows + count, count, keys);
    for (size_t i = 0; i < to->trace->spans.count; i++)
        row_of[i] = TRACE_NONE;
    for (uint32_t i = 0; i < kids.reached; i++) {
        const trace_span *span = &to->trace->spans.at[kids.from_root[i]];
        uint32_t parent = span->parent != TRACE_NONE ? row_of[span->parent] : TRACE_NONE;

        row_of[kids.from_root[i]] = find_row(keys, rows, count, row_key(parent, span->name));
    }
    for (size_t i = 0; i < to->trace->ops.count; i++) {
        const trace_op *op = &to->trace->ops.at[i];
        uint32_t span = trace_span_of(to->trace, op->span_id);

        if (span == TRACE_NONE || row_of[span] == TRACE_NONE)
            continue;
        extra->ops_ns[row_of[span]] = num_sat_add(extra->ops_ns[row_of[span]], op->duration_ns);
        extra->has_ops = true;
    }
    return CG_OK;
}

/* The largest of what each column shows: the units. */
typedef struct tree_sizes {
    uint64_t host_ns, device_ns, bytes;
    bool has_device, has_memory;
} tree_sizes;

static tree_sizes sizes_of(const tree_list *list)
{
    tree_sizes ret = {0};

    for (size_t i = 0; i < list->rows.count; i++) {
        const tree_row *row = &list->rows.at[i];

        if (row->host_total_ns > ret.host_ns)
            ret.host_ns = row->host_total_ns;
        if (row->device_ns.is_set && row->device_ns.value > ret.device_ns)
            ret.device_ns = row->device_ns.value;
        if (row->allocated_bytes.is_set && row->allocated_bytes.value > ret.bytes)
            ret.bytes = row->allocated_bytes.value;
        if (row->peak_live_bytes.is_set && row->peak_live_bytes.value > ret.bytes)
            ret.bytes = row->peak_live_bytes.value;
        ret.has_device = ret.has_device || row->device_ns.is_set;
        ret.has_memory =
            ret.has_memory || row->allocated_bytes.is_set || row->peak_live_bytes.is_set;
    }
    return ret;
}

static void tree_table(sections *to, const tree_list *list, const tree_extra *extra, uint64_t most)
{
    tree_sizes sizes = sizes_of(list);
    unit host = unit_time(sizes.host_ns);
    unit device = unit_time(sizes.device_ns);
    unit bytes = unit_bytes(sizes.bytes);
    /* Names first: with every plane there, a usual line has no room for bars as well. */
    bool has_bar = !sizes.has_device || !sizes.has_memory || to->page.style->width >= 120;
    table rows;

    table_open(&rows, &to->page, 2);
    rows.bar_cells = 8;
    table_column(&rows, COLUMN_NAME, "span");
    table_column(&rows, COLUMN_NUMBER, "count");
    table_column(&rows, COLUMN_NUMBER, "total %s", host.word);
    table_column(&rows, COLUMN_NUMBER, "own %s", host.word);
    if (extra->has_ops)
        table_column(&rows, COLUMN_NUMBER, "ops %s", host.word);
    table_column(&rows, COLUMN_NUMBER, "share");
    if (has_bar)
        table_column(&rows, COLUMN_BAR, " ");
    if (sizes.has_device)
        table_column(&rows, COLUMN_NUMBER, "device %s", device.word);
    if (sizes.has_memory) {
        table_column(&rows, COLUMN_NUMBER, "alloc %s", bytes.word);
        table_column(&rows, COLUMN_NUMBER, "peak %s", bytes.word);
    }
    for (uint32_t i = 0; i < list->rows.count && i < most; i++) {
        const tree_row *row = &list->rows.at[i];
        bool has_time;
        buf glyphs;

        buf_init(&glyphs, &to->heap, 1024);
        tree_glyphs(&glyphs, list, extra->is_last, i);
        buf_byte(&glyphs, '\0');
        page_check(&to->page, &glyphs);
        table_name(&rows, buf_text(&glyphs).ptr, trace_text(to->trace, row->name));
        buf_free(&glyphs);
        table_number(&rows, row->count);
        /* A span that a failed capture left open has no duration: absent, not zero. */
        has_time = to->from->health.is_complete || row->host_total_ns > 0;
        table_amount(&rows, (opt_u64){row->host_total_ns, has_time}, host);
        table_amount(&rows, (opt_u64){row->host_self_ns, has_time}, host);
        if (extra->has_ops)
            table_amount(&rows, (opt_u64){extra->ops_ns[i], true}, host);
        table_share(&rows, row->share);
        if (has_bar)
            table_bar(&rows, row->share.is_set ? row->share.value : 0);
        if (sizes.has_device)
            table_amount(&rows, row->device_ns, device);
        if (sizes.has_memory) {
            table_amount(&rows, row->allocated_bytes, bytes);
            table_amount(&rows, row->peak_live_bytes, bytes);
        }
        table_row(&rows);
    }
    table_close(&rows);
    if (list->rows.count > most)
        section_more(to, list->rows.count - most, "--rows N shows them");
    if (list->rows.count == 0) {
        page_put(&to->page, "  no spans were recorded");
        page_end(&to->page);
    }
}

static cg_code tree_section(sections *to, arena *mem, const tree_list *list, uint64_t most,
                            cg_err *reterr)
{
    size_t count = list->rows.count;
    uint8_t *seen = arena_zero(mem, count + 1);
    tree_extra extra = {0};

    extra.is_last = arena_zero(mem, (count + 1) * sizeof *extra.is_last);
    extra.ops_ns = arena_zero(mem, (count + 1) * sizeof *extra.ops_ns);
    if (seen == NULL || extra.is_last == NULL || extra.ops_ns == NULL)
        return err_nomem(reterr);
    mark_last(list, extra.is_last, seen);
    if (to->trace->ops.count > 0)
        CG_TRY(add_ops(to, mem, list, &extra, reterr));
    page_title(&to->page, "Module tree",
               to->trace->ops.count > 0
                   ? "(host clock; own: neither child spans nor ops; bytes: logical storage)"
                   : "(host clock; own: without child spans; bytes: logical storage)");
    tree_table(to, list, &extra, most);
    return CG_OK;
}

cg_code text_module_tree(sections *to, uint64_t most, cg_err *reterr)
{
    tree_list list;
    arena mem;
    cg_code code;

    CG_TRY(tree_build(&to->heap, to->from, &list, reterr));
    arena_init(&mem, &to->heap);
    code = tree_section(to, &mem, &list, most, reterr);
    arena_free(&mem);
    tree_free(&list);
    return code;
}

static cg_code module_tree(sections *to, const document_query *query, cg_err *reterr)
{
    (void)query;
    return text_module_tree(to, to->page.style->rows, reterr);
}

static void gap_edge(table *rows, const sections *to, sym name, const char *edge)
{
    if (name == 0)
        table_text(rows, edge);
    else
        table_name(rows, "", trace_text(to->trace, name));
}

static void gaps_table(sections *to, const idle_list *list, window *shown)
{
    unit in = unit_time(list->rows.count > 0 ? list->rows.at[0].idle_ns : 0);
    table rows;

    table_open(&rows, &to->page, 2);
    table_column(&rows, COLUMN_NAME, "inside");
    table_column(&rows, COLUMN_NUMBER, "idle %s", in.word);
    table_column(&rows, COLUMN_NUMBER, "of region");
    table_column(&rows, COLUMN_NUMBER, "gaps");
    table_column(&rows, COLUMN_NUMBER, "largest %s", in.word);
    table_column(&rows, COLUMN_NAME, "after");
    table_column(&rows, COLUMN_NAME, "before");
    for (size_t i = 0; i < list->rows.count; i++) {
        const idle_row *row = &list->rows.at[i];
        double share = list->measured_ns.value > 0
                           ? (double)row->idle_ns / (double)list->measured_ns.value
                           : 0;

        if (!window_takes(shown))
            continue;
        table_name(&rows, "", trace_text(to->trace, to->trace->spans.at[row->span].name));
        table_amount(&rows, (opt_u64){row->idle_ns, true}, in);
        table_share(&rows, (opt_f64){share, list->measured_ns.value > 0});
        table_number(&rows, row->gap_count);
        table_amount(&rows, (opt_u64){row->largest_duration_ns, true}, in);
        gap_edge(&rows, to, row->largest_after, "(begin)");
        gap_edge(&rows, to, row->largest_before, "(end)");
        table_row(&rows);
    }
    table_close(&rows);
}

static cg_code gaps(sections *to, const document_query *query, cg_err *reterr)
{
    window shown = window_of(to, query);
    idle_list list;

    CG_TRY(idle_build(&to->heap, to->from, &list, reterr));
    page_title(&to->page, "Time no child covers", "(host clock, inside the measured region)");
    if (!list.measured_ns.is_set) {
        page_put(&to->page, "  there is no closed measured region");
        page_end(&to->page);
    } else {
        buf_addf(&to->page.say, "%zu span%s with gaps, ", list.rows.count,
                 list.rows.count == 1 ? "" : "s");
        number_time(&to->page.say, list.idle_ns);
        buf_add(&to->page.say, CG_LIT(" of "));
        number_time(&to->page.say, list.measured_ns.value);
        buf_add(&to->page.say,
                CG_LIT("; a gap is own time of a span that has children: work or waiting"));
        page_paragraph(&to->page, INK_PLAIN, 2, 4);
    }
    gaps_table(to, &list, &shown);
    window_note(to, &shown);
    idle_free(&list);
    return CG_OK;
}

/* --- memory ------------------------------------------------------------ */

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
        shape_cell(to, &rows, row->shape);
        table_amount(&rows, (opt_u64){tree->op_allocated[op], true}, in);
        table_row(&rows);
        op = next_heaviest_op(tree, op);
    }
    table_close(&rows);
}

static cg_code heaviest(sections *to, const document_query *query, cg_err *reterr)
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
            text_of(to, span != TRACE_NONE ? to->trace->spans.at[span].name : event->span_id));
        table_name(&rows, "", text_of(to, event->op_name));
        shape_cell(to, &rows, event->shape);
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

static cg_code memory(sections *to, const document_query *query, cg_err *reterr)
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
        if (passes(query, node_name(to, node)) && window_takes(&shown))
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

        if (!passes(query, name) || !window_takes(&shown))
            continue;
        table_name(&rows, "", name);
        shape_cell(to, &rows, row->shape);
        table_name(&rows, "", trace_text(to->trace, row->dtype));
        table_name(&rows, "", trace_text(to->trace, row->device));
        table_amount(&rows, (opt_u64){row->dense_bytes, row->has_dense_bytes}, in);
        buf_add(table_cell_text(&rows), sc_word(&words_category, row->category));
        table_end_cell(&rows);
        table_text(&rows, row->is_grad_required ? "wanted" : "—");
        table_name(&rows, "",
                   text_of(to, span != TRACE_NONE ? to->trace->spans.at[span].name : row->span_id));
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

        if (!passes(query, name) || !window_takes(&shown))
            continue;
        table_name(&rows, "", name);
        table_name(&rows, "", trace_text(to->trace, row->dtype));
        shape_cell(to, &rows, row->shape);
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

    if (passes(query, key))
        return true;
    buf_init(&whole, &to->heap, SIZE_MAX / 4);
    buf_add(&whole, trace_text(to->trace, row->root));
    buf_byte(&whole, '/');
    buf_add(&whole, key);
    does = passes(query, buf_text(&whole));
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
        table_name(&rows, "", text_of(to, row->first_span_id));
        table_row(&rows);
    }
    table_close(&rows);
    window_note(to, &shown);
    labels_free(&list);
    return CG_OK;
}

/* --- origin of a non-finite value -------------------------------------- */

static cg_str span_name(const sections *to, sym span_id)
{
    uint32_t span = trace_span_of(to->trace, span_id);

    return trace_text(to->trace, span != TRACE_NONE ? to->trace->spans.at[span].name : span_id);
}

static void say_place(sections *to, const origin_row *row)
{
    say_symbol(to, row->label);
    buf_addf(&to->page.say, " (%llu of %llu values) in span ", (unsigned long long)row->non_finite,
             (unsigned long long)row->elements);
    say_name(to, span_name(to, row->span_id));
}

static void say_inputs(sections *to, const origin_answer *answer, const origin_row *row)
{
    for (uint32_t i = 0; i < row->inputs_count && i < 6; i++) {
        buf_add(&to->page.say, i == 0 ? CG_LIT(" from finite ") : CG_LIT(", "));
        say_symbol(to, answer->names.at[row->inputs_at + i]);
    }
    if (row->inputs_count > 6)
        buf_addf(&to->page.say, " and %u more", row->inputs_count - 6);
}

static void origin_sentence(sections *to, const origin_answer *answer, const origin_row *row)
{
    if (row->operation == 0) {
        say_place(to, row);
        buf_add(&to->page.say, CG_LIT(": the parameter was already not finite, no operation of "
                                      "this capture made it so"));
    } else {
        buf_add(&to->page.say, CG_LIT("operation "));
        say_symbol(to, row->operation);
        buf_add(&to->page.say, CG_LIT(" made "));
        say_place(to, row);
        say_inputs(to, answer, row);
    }
}

static void origin_list(sections *to, const char *title, const origin_row *rows, size_t count)
{
    uint64_t most = to->page.style->rows;

    if (count == 0)
        return;
    page_title(&to->page, title, NULL);
    for (size_t i = 0; i < count && i < most; i++) {
        say_place(to, &rows[i]);
        if (rows[i].operation != 0) {
            buf_add(&to->page.say, CG_LIT(", by operation "));
            say_symbol(to, rows[i].operation);
        }
        page_paragraph(&to->page, INK_PLAIN, 2, 4);
    }
    if (count > most)
        section_more(to, count - most, "--rows N shows them");
}

static void origin_verdict(sections *to, const origin_answer *answer)
{
    if (to->trace->stats.count == 0) {
        buf_add(&to->page.say, CG_LIT("no tensor statistics were recorded, so nothing is known "
                                      "about non-finite values"));
        page_paragraph(&to->page, INK_WARN, 2, 4);
    } else if (answer->non_finite_labels == 0) {
        buf_addf(&to->page.say, "✓ every value of the %zu recorded statistics is finite",
                 to->trace->stats.count);
        page_paragraph(&to->page, INK_GOOD, 2, 4);
    } else if (answer->has_origin) {
        buf_add(&to->page.say, CG_LIT("✗ "));
        origin_sentence(to, answer, &answer->origin);
        page_paragraph(&to->page, INK_BAD, 2, 4);
    } else if (answer->cannot_tell) {
        buf_add(&to->page.say, CG_LIT("! cannot tell: the earliest non-finite value is "));
        if (answer->has_earliest)
            say_place(to, &answer->earliest);
        buf_add(&to->page.say, CG_LIT(", and what it was made from was not recorded"));
        page_paragraph(&to->page, INK_WARN, 2, 4);
    } else {
        buf_addf(&to->page.say, "! %llu labels are not finite, and none is known to have made it",
                 (unsigned long long)answer->non_finite_labels);
        page_paragraph(&to->page, INK_WARN, 2, 4);
    }
}

cg_code text_origin(sections *to, cg_err *reterr)
{
    origin_answer answer;

    CG_TRY(origin_find(&to->heap, to->from, &answer, reterr));
    page_title(&to->page, "Origin of non-finite values", NULL);
    origin_verdict(to, &answer);
    for (size_t i = 0; i < answer.unrecorded_inputs.count && i < 12; i++) {
        buf_add(&to->page.say,
                i == 0 ? CG_LIT("record statistics of these to know more: ") : CG_LIT(", "));
        say_symbol(to, answer.unrecorded_inputs.at[i]);
    }
    if (answer.unrecorded_inputs.count > 0)
        page_paragraph(&to->page, INK_PLAIN, 2, 4);
    origin_list(to, answer.has_origin ? "Made elsewhere too" : "Known to have made some",
                answer.other_producers.at, answer.other_producers.count);
    origin_list(to, "Passed on", answer.propagators.at, answer.propagators.count);
    origin_free(&answer);
    return CG_OK;
}

static cg_code nan_origin(sections *to, const document_query *query, cg_err *reterr)
{
    (void)query;
    return text_origin(to, reterr);
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
    bool needs_graph;
    bool takes_filter;
    cg_code (*answer)(sections *to, const document_query *query, cg_err *reterr);
} answer_row;

static const answer_row answers[] = {
    {"slowest-host", true, false, slowest_host},
    {"slowest-device", true, false, slowest_device},
    {"heaviest", true, false, heaviest},
    {"memory", false, false, memory},
    {"spans", true, true, spans},
    {"tensors", true, true, tensors},
    {"tensor-stats", false, true, tensor_stats},
    {"gradients", true, true, gradients},
    {"capabilities", false, false, capabilities},
    {"gpu-status", false, false, gpu},
    {"gpu-correlation", false, false, gpu},
    {"gpu-phases", false, false, gpu},
    {"gpu-kernels", false, false, gpu},
    {"gpu-attribution-gaps", false, false, gpu},
    {"labels", false, false, labels},
    {"module-tree", false, false, module_tree},
    {"nan-origin", false, false, nan_origin},
    {"gaps", false, false, gaps},
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
    bool is_filtered = query->label.ptr != NULL || query->label_prefix.ptr != NULL;

    if (row == NULL)
        return cg_fail(reterr, PROBLEM_USAGE, "no question of this kind");
    if (is_filtered && !row->takes_filter)
        return cg_fail(reterr, PROBLEM_FILTER, "kind `%s` takes no label filter", row->word);
    if (row->needs_graph && !to->from->has_graph)
        return cg_fail(reterr, PROBLEM_NO_GRAPH, "kind `%s` needs a derived graph", row->word);
    section_verdict(to);
    return row->answer(to, query, reterr);
}
