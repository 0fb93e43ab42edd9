#include "view/text_time.h"

#include "base/num.h"
#include "base/sort.h"
#include "exec/children.h"
#include "exec/questions.h"
#include "view/text_rows.h"

cg_code text_slowest_host(sections *to, const document_query *query, cg_err *reterr)
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

cg_code text_slowest_device(sections *to, const document_query *query, cg_err *reterr)
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

static void column_that_may_go(table *rows, unsigned order, const char *what, unit in)
{
    table_column(rows, COLUMN_NUMBER, "%s %s", what, in.word);
    table_may_go(rows, order);
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
        column_that_may_go(&rows, 3, "ops", host);
    table_column(&rows, COLUMN_NUMBER, "share");
    if (has_bar) {
        table_column(&rows, COLUMN_BAR, " ");
        table_may_go(&rows, 4);
    }
    if (sizes.has_device)
        column_that_may_go(&rows, 2, "device", device);
    if (sizes.has_memory) {
        column_that_may_go(&rows, 1, "alloc", bytes);
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

cg_code text_time_tree(sections *to, const document_query *query, cg_err *reterr)
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

cg_code text_gaps(sections *to, const document_query *query, cg_err *reterr)
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
