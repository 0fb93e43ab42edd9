#include "base/num.h"
#include "base/sort.h"
#include "exec/children.h"
#include "exec/questions.h"

/*
 * Times of this question. A span that was never closed lasted at least until
 * the capture ended, so it covers the time up to there.
 */
static uint64_t idle_span_end(const trace_doc *trace, uint32_t span)
{
    const trace_span *at = &trace->spans.at[span];

    if (at->is_closed)
        return trace_span_end(at);
    return at->start_ns > trace->terminal_ns ? at->start_ns : trace->terminal_ns;
}

static uint64_t idle_child_end(const trace_doc *trace, const children *kids, uint32_t item)
{
    const trace_op *op;

    if (children_is_span(kids, item))
        return idle_span_end(trace, item);
    op = &trace->ops.at[item - kids->span_count];
    return num_sat_add(op->timestamp_ns, op->duration_ns);
}

static void idle_add_gap(idle_row *row, uint64_t from_ns, uint64_t to_ns, sym after, sym before)
{
    if (to_ns <= from_ns)
        return;
    row->idle_ns += to_ns - from_ns; /* gaps of one span are disjoint: no overflow */
    row->gap_count++;
    if (to_ns - from_ns <= row->largest_duration_ns)
        return;
    row->largest_start_ns = from_ns;
    row->largest_duration_ns = to_ns - from_ns;
    row->largest_after = after;
    row->largest_before = before;
}

/*
 * What the children leave open of their parent. Intervals are closed: touching
 * children leave no gap, and a child of no length splits the gap it lies in.
 */
static idle_row idle_of(const trace_doc *trace, const children *kids, uint32_t span)
{
    idle_row row = {.span = span};
    uint64_t end = idle_span_end(trace, span);
    uint64_t covered = trace->spans.at[span].start_ns;
    sym after = 0;

    for (uint32_t i = kids->first[span]; i < kids->first[span + 1] && covered < end; i++) {
        uint32_t item = kids->items[i];
        uint64_t start = children_start(trace, kids, item);
        uint64_t child_end = idle_child_end(trace, kids, item);
        sym name = children_name(trace, kids, item);

        if (start > end) /* only below open spans: health lets closed ones not stick out */
            break;
        idle_add_gap(&row, covered, start, after, name);
        if (child_end > covered || (child_end == covered && after == 0)) {
            covered = child_end;
            after = name;
        }
    }
    idle_add_gap(&row, covered, end, after, 0);
    return row;
}

static bool idle_before(const void *context, uint32_t a, uint32_t b)
{
    const idle_row *rows = context;

    return rows[a].idle_ns > rows[b].idle_ns;
}

/* `inside` is by span; rows come in the order of span ids. */
static bool idle_collect(const trace_doc *trace, const children *kids, const bool *inside,
                         idle_list *list)
{
    for (uint32_t span = 0; span < kids->span_count; span++) {
        idle_row row;
        idle_row *at;

        if (!inside[span] || kids->first[span] == kids->first[span + 1])
            continue;
        row = idle_of(trace, kids, span);
        if (row.idle_ns == 0)
            continue;
        at = vec_add(list->heap, &list->rows);
        if (at == NULL)
            return false;
        *at = row;
        list->idle_ns = num_sat_add(list->idle_ns, row.idle_ns);
    }
    return true;
}

static bool idle_sort(arena *mem, idle_list *list)
{
    size_t count = list->rows.count;
    uint32_t *items = arena_take(mem, count * sizeof *items);
    uint32_t *room = arena_take(mem, count * sizeof *room);
    idle_row *rows = arena_take(mem, count * sizeof *rows);

    if (items == NULL || room == NULL || rows == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        items[i] = i;
        rows[i] = list->rows.at[i];
    }
    sort_with(items, room, count, idle_before, rows);
    for (size_t i = 0; i < count; i++)
        list->rows.at[i] = rows[items[i]];
    return true;
}

static cg_code idle_fill(arena *mem, const trace_doc *trace, uint32_t measured, idle_list *list,
                         cg_err *reterr)
{
    children kids;
    bool *inside;

    CG_TRY(children_build(mem, trace, &kids, reterr));
    inside = arena_zero(mem, kids.span_count * sizeof *inside);
    if (inside == NULL)
        return err_nomem(reterr);
    for (uint32_t i = 0; i < kids.reached; i++) {
        uint32_t span = kids.from_root[i];
        uint32_t parent = trace->spans.at[span].parent;

        inside[span] = span == measured || (parent != TRACE_NONE && inside[parent]);
    }
    if (!idle_collect(trace, &kids, inside, list))
        return err_nomem(reterr);
    if (list->rows.count > 1 && !idle_sort(mem, list))
        return err_nomem(reterr);
    return CG_OK;
}

cg_code idle_build(heap *into, const evidence *from, idle_list *ret, cg_err *reterr)
{
    const trace_doc *trace = from->trace;
    uint32_t measured = from->health.measured_span;
    idle_list list = {.heap = into};
    arena mem;
    cg_code code = CG_OK;

    if (measured != TRACE_NONE) {
        if (trace->spans.at[measured].is_closed)
            list.measured_ns = (opt_u64){trace->spans.at[measured].duration_ns, true};
        arena_init(&mem, into);
        code = idle_fill(&mem, trace, measured, &list, reterr);
        arena_free(&mem);
    }
    if (code == CG_OK)
        *ret = list;
    else
        idle_free(&list);
    return code;
}

void idle_free(idle_list *list)
{
    vec_free(list->heap, &list->rows);
}
