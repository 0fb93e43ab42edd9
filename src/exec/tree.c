#include "base/num.h"
#include "base/sort.h"
#include "exec/children.h"
#include "exec/peaks.h"
#include "exec/questions.h"

/* Figures by span: the graph's where there is one, else made here from the rows of the trace. */
typedef struct tree_figures {
    const uint64_t *total_ns;
    const uint64_t *self_ns;
    const uint64_t *allocated_bytes;
    const bool *has_allocated;
    const uint64_t *peak_bytes;
    const uint64_t *net_peak_bytes;
    const bool *has_peak;
    const bool *is_unknown; /* by span, NULL = none: open, so its peak cannot be known */
} tree_figures;

/* A row while it is being made: its spans are a stretch of `members`, its children of `groups`. */
typedef struct tree_group {
    tree_row row;
    uint32_t members_at, members_count;
    uint32_t children_at, children_count;
    uint64_t inside_ns; /* of the spans inside the measured region */
    bool is_inside;     /* some span is */
    bool has_device, has_clocks;
    bool has_unknown; /* peak of some span */
    sym device, clock_id;
} tree_group;

typedef struct tree_work {
    const evidence *from;
    const trace_doc *trace;
    arena *mem;
    children kids;
    tree_figures figures;
    graph full;             /* the graph with the peaks of every span */
    uint32_t measured;      /* span, TRACE_NONE unless closed */
    uint32_t *members;      /* spans, by row */
    uint32_t *group_of;     /* by span, TRACE_NONE below a cycle */
    uint32_t *room;         /* of sorting: as many as there are spans */
    VEC(tree_group) groups; /* parents before children, siblings side by side */
    uint32_t top_count;
} tree_work;

/* --- figures of a capture without a graph --- */

/* Recorded duration; where that is zero, the sum over operations and child spans. */
static uint64_t *tree_totals(const tree_work *work)
{
    const trace_doc *trace = work->trace;
    const children *kids = &work->kids;
    uint64_t *total = arena_zero(work->mem, kids->span_count * sizeof *total);

    if (total == NULL)
        return NULL;
    for (uint32_t i = kids->reached; i-- > 0;) {
        uint32_t span = kids->from_root[i];

        total[span] = trace->spans.at[span].duration_ns;
        for (uint32_t k = kids->first[span];
             trace->spans.at[span].duration_ns == 0 && k < kids->first[span + 1]; k++) {
            uint32_t item = kids->items[k];

            total[span] =
                num_sat_add(total[span], children_is_span(kids, item)
                                             ? total[item]
                                             : trace->ops.at[item - kids->span_count].duration_ns);
        }
    }
    return total;
}

/* Total less the union of what the children cover (docs/schemas/evidence.md). */
static uint64_t *tree_selfs(const tree_work *work, const uint64_t *total)
{
    const trace_doc *trace = work->trace;
    const children *kids = &work->kids;
    uint64_t *self = arena_zero(work->mem, kids->span_count * sizeof *self);

    for (uint32_t span = 0; self != NULL && span < kids->span_count; span++) {
        uint64_t covered = 0;
        uint64_t end = 0;

        for (uint32_t k = kids->first[span]; k < kids->first[span + 1]; k++) {
            uint32_t item = kids->items[k];
            uint64_t start = children_start(trace, kids, item);
            uint64_t duration = children_is_span(kids, item)
                                    ? total[item]
                                    : trace->ops.at[item - kids->span_count].duration_ns;
            uint64_t item_end = num_sat_add(start, duration);

            if (start < end)
                start = end;
            if (item_end > start)
                covered = num_sat_add(covered, item_end - start);
            if (item_end > end)
                end = item_end;
        }
        self[span] = num_sat_sub(total[span], covered);
    }
    return self;
}

/*
 * Bytes allocated directly in every span. Nothing is filled up with zero as
 * the graph does: what a failed capture declares complete is worth "partial".
 */
static bool tree_allocated(const tree_work *work, tree_figures *figures)
{
    const memory_plane *memory = &work->from->memory;
    uint64_t *bytes = arena_zero(work->mem, work->kids.span_count * sizeof *bytes);
    bool *has = arena_zero(work->mem, work->kids.span_count * sizeof *has);

    if (bytes == NULL || has == NULL)
        return false;
    for (size_t i = 0; i < memory->lifetimes.count; i++) {
        const trace_memory *event = &work->trace->memory.at[memory->lifetimes.at[i].alloc_event];
        uint32_t span = trace_span_of(work->trace, event->span_id);

        if (span == TRACE_NONE)
            continue;
        bytes[span] = num_sat_add(bytes[span], event->bytes);
        has[span] = true;
    }
    figures->allocated_bytes = bytes;
    figures->has_allocated = has;
    return true;
}

/* Spans depth first, and how deep they lie. False: out of memory. */
static bool tree_preorder(const tree_work *work, uint32_t *preorder, uint32_t *depth)
{
    const children *kids = &work->kids;
    uint32_t *stack = arena_take(work->mem, kids->span_count * sizeof *stack);
    uint32_t count = 0;
    uint32_t waiting = 0;

    if (stack == NULL)
        return false;
    for (uint32_t i = 0;
         i < kids->reached && work->trace->spans.at[kids->from_root[i]].parent == TRACE_NONE; i++)
        stack[waiting++] = kids->from_root[i];
    for (uint32_t i = 0; i < waiting; i++)
        depth[stack[i]] = 0;
    while (waiting > 0) {
        uint32_t span = stack[--waiting];

        preorder[count++] = span;
        for (uint32_t k = kids->first[span]; k < kids->first[span + 1]; k++) {
            if (!children_is_span(kids, kids->items[k]))
                continue;
            depth[kids->items[k]] = depth[span] + 1;
            stack[waiting++] = kids->items[k];
        }
    }
    return true;
}

/*
 * The spans as they would be had all been closed when the capture ended, none
 * outside its parent: what the rules of peaks can be applied to.
 */
static trace_span *tree_closed_spans(const tree_work *work)
{
    const trace_doc *trace = work->trace;
    trace_span *spans = arena_take(work->mem, trace->spans.count * sizeof *spans);

    for (uint32_t i = 0; spans != NULL && i < work->kids.reached; i++) {
        uint32_t at = work->kids.from_root[i];
        uint32_t parent = trace->spans.at[at].parent;
        trace_span *span = &spans[at];
        uint64_t end;

        *span = trace->spans.at[at];
        end = span->is_closed ? trace_span_end(span) : trace->terminal_ns;
        if (parent != TRACE_NONE && span->start_ns < spans[parent].start_ns)
            span->start_ns = spans[parent].start_ns;
        if (parent != TRACE_NONE && end > trace_span_end(&spans[parent]))
            end = trace_span_end(&spans[parent]);
        span->duration_ns = num_sat_sub(end, span->start_ns);
    }
    return spans;
}

/* Peaks of the closed spans of a failed capture. */
static bool tree_peaks(const tree_work *work, tree_figures *figures)
{
    size_t count = work->kids.span_count;
    trace_doc *trace = arena_take(work->mem, sizeof *trace);
    memory_plane memory = work->from->memory;
    uint32_t *preorder = arena_take(work->mem, count * sizeof *preorder);
    uint32_t *depth = arena_take(work->mem, count * sizeof *depth);
    uint64_t *peak = arena_take(work->mem, count * sizeof *peak);
    uint64_t *net = arena_take(work->mem, count * sizeof *net);
    bool *has = arena_take(work->mem, count * sizeof *has);
    bool *unknown = arena_take(work->mem, count * sizeof *unknown);
    peaks_tree tree = {.memory = &memory, .preorder = preorder, .depth = depth};

    if (trace == NULL || preorder == NULL || depth == NULL || peak == NULL || net == NULL ||
        has == NULL || unknown == NULL || !tree_preorder(work, preorder, depth))
        return false;
    *trace = *work->trace;
    trace->spans.at = tree_closed_spans(work);
    if (trace->spans.at == NULL)
        return false;
    memory.trace = trace;
    if (!peaks_build(work->mem->heap, &tree, peak, NULL, has))
        return false;
    tree.is_net = true;
    if (!peaks_build(work->mem->heap, &tree, net, NULL, has))
        return false;
    for (size_t span = 0; span < count; span++)
        unknown[span] = has[span] && !work->trace->spans.at[span].is_closed;
    figures->peak_bytes = peak;
    figures->net_peak_bytes = net;
    figures->has_peak = has;
    figures->is_unknown = unknown;
    return true;
}

static cg_code tree_measure(tree_work *work, cg_err *reterr)
{
    tree_figures *figures = &work->figures;
    const graph *derived = &work->from->graph;
    uint64_t *total;
    uint64_t *net;

    if (!work->from->has_graph) {
        total = tree_totals(work);
        figures->total_ns = total;
        figures->self_ns = total == NULL ? NULL : tree_selfs(work, total);
        if (figures->self_ns == NULL || !tree_allocated(work, figures))
            return err_nomem(reterr);
        if (work->from->health.is_valid && work->from->memory.lifetimes.count > 0 &&
            !tree_peaks(work, figures))
            return err_nomem(reterr);
        return CG_OK;
    }
    figures->total_ns = derived->total_ns;
    figures->self_ns = derived->self_ns;
    if (!derived->has_memory)
        return CG_OK;
    net = arena_zero(work->mem, work->kids.span_count * sizeof *net);
    if (net == NULL)
        return err_nomem(reterr);
    CG_TRY(graph_net_peaks(derived, net, reterr));
    work->full = *derived;
    CG_TRY(graph_complete(work->mem->heap, &work->full, reterr));
    figures->allocated_bytes = derived->allocated_bytes;
    figures->has_allocated = derived->has_allocated;
    figures->peak_bytes = work->full.peak_live_bytes;
    figures->net_peak_bytes = net;
    figures->has_peak = work->full.has_peak;
    return CG_OK;
}

/* --- rows --- */

static bool tree_name_before(const void *context, uint32_t a, uint32_t b)
{
    const trace_doc *trace = context;

    return trace->spans.at[a].name < trace->spans.at[b].name;
}

/* Make rows of the spans members[at .. end): one for every name. */
static bool tree_split(tree_work *work, uint32_t parent, uint32_t depth, uint32_t at, uint32_t end)
{
    const trace_span *spans = work->trace->spans.at;

    if (end - at > 1)
        sort_with(work->members + at, work->room, end - at, tree_name_before, work->trace);
    while (at < end) {
        uint32_t first = at;
        tree_group *group = vec_add(work->mem->heap, &work->groups);

        if (group == NULL)
            return false;
        while (at < end && spans[work->members[at]].name == spans[work->members[first]].name)
            work->group_of[work->members[at++]] = (uint32_t)(work->groups.count - 1);
        *group = (tree_group){.row = {.name = spans[work->members[first]].name,
                                      .parent = parent,
                                      .depth = depth,
                                      .count = at - first},
                              .members_at = first,
                              .members_count = at - first};
    }
    return true;
}

/* Breadth first, so that the children of a row lie side by side. */
static bool tree_group_spans(tree_work *work)
{
    const children *kids = &work->kids;
    uint32_t count = 0;

    while (count < kids->reached &&
           work->trace->spans.at[kids->from_root[count]].parent == TRACE_NONE) {
        work->members[count] = kids->from_root[count];
        count++;
    }
    if (!tree_split(work, TRACE_NONE, 0, 0, count))
        return false;
    work->top_count = (uint32_t)work->groups.count;
    for (uint32_t g = 0; g < work->groups.count; g++) {
        tree_group group = work->groups.at[g];
        uint32_t first = count;

        for (uint32_t m = group.members_at; m < group.members_at + group.members_count; m++) {
            uint32_t span = work->members[m];

            for (uint32_t k = kids->first[span]; k < kids->first[span + 1]; k++)
                if (children_is_span(kids, kids->items[k]))
                    work->members[count++] = kids->items[k];
        }
        group.children_at = (uint32_t)work->groups.count;
        if (!tree_split(work, g, group.row.depth + 1, first, count))
            return false;
        group.children_count = (uint32_t)work->groups.count - group.children_at;
        work->groups.at[g] = group;
    }
    return true;
}

static void tree_add(opt_u64 *sum, uint64_t value)
{
    sum->value = num_sat_add(sum->value, value);
    sum->is_set = true;
}

static void tree_raise(opt_u64 *most, uint64_t value)
{
    if (!most->is_set || value > most->value)
        *most = (opt_u64){value, true};
}

static bool tree_sum_spans(tree_work *work)
{
    const tree_figures *figures = &work->figures;
    bool *inside = arena_zero(work->mem, work->kids.span_count * sizeof *inside);

    if (inside == NULL)
        return false;
    for (uint32_t i = 0; i < work->kids.reached; i++) {
        uint32_t span = work->kids.from_root[i];
        uint32_t parent = work->trace->spans.at[span].parent;
        tree_group *group = &work->groups.at[work->group_of[span]];
        tree_row *row = &group->row;

        inside[span] = span == work->measured || (parent != TRACE_NONE && inside[parent]);
        if (inside[span]) {
            group->inside_ns = num_sat_add(group->inside_ns, figures->total_ns[span]);
            group->is_inside = true;
        }
        row->host_total_ns = num_sat_add(row->host_total_ns, figures->total_ns[span]);
        row->host_self_ns = num_sat_add(row->host_self_ns, figures->self_ns[span]);
        if (figures->has_allocated != NULL && figures->has_allocated[span])
            tree_add(&row->allocated_bytes, figures->allocated_bytes[span]);
        if (figures->has_peak != NULL && figures->has_peak[span]) {
            tree_raise(&row->peak_live_bytes, figures->peak_bytes[span]);
            tree_raise(&row->peak_live_bytes_net, figures->net_peak_bytes[span]);
        }
        if (figures->is_unknown != NULL && figures->is_unknown[span])
            group->has_unknown = true;
    }
    for (size_t g = 0; g < work->groups.count; g++) {
        if (!work->groups.at[g].has_unknown)
            continue;
        work->groups.at[g].row.peak_live_bytes = (opt_u64){0};
        work->groups.at[g].row.peak_live_bytes_net = (opt_u64){0};
    }
    return true;
}

/* Times of two clocks are never added up: such a row has no device time. */
static void tree_sum_devices(tree_work *work)
{
    const timing_plane *timing = &work->from->timing;

    for (size_t i = 0; i < timing->spans.count; i++) {
        const timing_row *row = &timing->spans.at[i];
        uint32_t span = trace_span_of(work->trace, row->span_id);
        tree_group *group;

        if (span == TRACE_NONE || work->group_of[span] == TRACE_NONE)
            continue;
        group = &work->groups.at[work->group_of[span]];
        if (group->has_device && (group->device != row->device || group->clock_id != row->clock_id))
            group->has_clocks = true;
        group->has_device = true;
        group->device = row->device;
        group->clock_id = row->clock_id;
        tree_add(&group->row.device_ns, row->busy_ns);
    }
    for (size_t g = 0; g < work->groups.count; g++)
        if (work->groups.at[g].has_clocks)
            work->groups.at[g].row.device_ns = (opt_u64){0};
}

/*
 * Of the spans inside the measured region alone: in a row that mixes them with
 * others, the rest is not part of what is being shared out.
 */
static void tree_share(tree_work *work, opt_u64 measured_ns)
{
    for (size_t g = 0; g < work->groups.count; g++) {
        tree_group *group = &work->groups.at[g];
        double share;

        if (!measured_ns.is_set || measured_ns.value == 0 || !group->is_inside)
            continue;
        share = (double)group->inside_ns / (double)measured_ns.value;
        group->row.share = (opt_f64){share < 1.0 ? share : 1.0, true};
    }
}

/* --- order --- */

static bool tree_row_before(const void *context, uint32_t a, uint32_t b)
{
    const tree_work *work = context;
    const tree_row *left = &work->groups.at[a].row;
    const tree_row *right = &work->groups.at[b].row;

    if (left->host_total_ns != right->host_total_ns)
        return left->host_total_ns > right->host_total_ns;
    return str_compare(trace_text(work->trace, left->name), trace_text(work->trace, right->name)) <
           0;
}

static void tree_push(const uint32_t *sorted, uint32_t at, uint32_t count, uint32_t *stack,
                      size_t *depth)
{
    for (uint32_t i = at + count; i-- > at;)
        stack[(*depth)++] = sorted[i];
}

/* Groups to rows, depth first. */
static bool tree_list_rows(tree_work *work, tree_list *list)
{
    size_t count = work->groups.count;
    uint32_t *sorted = arena_take(work->mem, count * sizeof *sorted);
    uint32_t *stack = arena_take(work->mem, count * sizeof *stack);
    uint32_t *row_of = arena_take(work->mem, count * sizeof *row_of);
    size_t depth = 0;

    if (sorted == NULL || stack == NULL || row_of == NULL ||
        !vec_reserve(list->heap, &list->rows, count))
        return false;
    for (uint32_t g = 0; g < count; g++)
        sorted[g] = g;
    if (work->top_count > 1)
        sort_with(sorted, work->room, work->top_count, tree_row_before, work);
    for (size_t g = 0; g < count; g++)
        if (work->groups.at[g].children_count > 1)
            sort_with(sorted + work->groups.at[g].children_at, work->room,
                      work->groups.at[g].children_count, tree_row_before, work);
    tree_push(sorted, 0, work->top_count, stack, &depth);
    while (depth > 0) {
        uint32_t g = stack[--depth];
        const tree_group *group = &work->groups.at[g];
        tree_row *row = &list->rows.at[list->rows.count];

        row_of[g] = (uint32_t)list->rows.count++;
        *row = group->row;
        if (row->parent != TRACE_NONE)
            row->parent = row_of[row->parent];
        tree_push(sorted, group->children_at, group->children_count, stack, &depth);
    }
    return true;
}

static cg_code tree_fill(tree_work *work, tree_list *list, cg_err *reterr)
{
    size_t count = work->trace->spans.count;

    CG_TRY(children_build(work->mem, work->trace, &work->kids, reterr));
    CG_TRY(tree_measure(work, reterr));
    work->members = arena_take(work->mem, count * sizeof *work->members);
    work->group_of = arena_take(work->mem, count * sizeof *work->group_of);
    work->room = arena_take(work->mem, count * sizeof *work->room);
    if (work->members == NULL || work->group_of == NULL || work->room == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++)
        work->group_of[i] = TRACE_NONE;
    if (!tree_group_spans(work) || !tree_sum_spans(work))
        return err_nomem(reterr);
    tree_sum_devices(work);
    if (work->measured != TRACE_NONE)
        list->measured_ns = (opt_u64){work->figures.total_ns[work->measured], true};
    tree_share(work, list->measured_ns);
    if (!tree_list_rows(work, list))
        return err_nomem(reterr);
    return CG_OK;
}

cg_code tree_build(heap *into, const evidence *from, tree_list *ret, cg_err *reterr)
{
    uint32_t measured = from->health.measured_span;
    tree_list list = {.heap = into};
    arena mem;
    tree_work work = {.from = from, .trace = from->trace, .mem = &mem, .measured = measured};
    cg_code code;

    if (measured != TRACE_NONE && !from->trace->spans.at[measured].is_closed)
        work.measured = TRACE_NONE;
    arena_init(&mem, into);
    code = tree_fill(&work, &list, reterr);
    vec_free(into, &work.groups);
    graph_uncomplete(into, &work.full);
    arena_free(&mem);
    if (code == CG_OK)
        *ret = list;
    else
        tree_free(&list);
    return code;
}

void tree_free(tree_list *list)
{
    vec_free(list->heap, &list->rows);
}

/* Deeper paths are cut in front: a chain of a million spans must not cost their square. */
#define TREE_PATH_NAMES 128

static const char tree_between[] = " > ";
static const char tree_more[] = "\xe2\x80\xa6 > "; /* horizontal ellipsis */

/* The outermost row that is named in the path of `row`. */
static uint32_t tree_path_top(const tree_list *list, uint32_t row)
{
    for (unsigned names = 1; names < TREE_PATH_NAMES; names++) {
        if (list->rows.at[row].parent == TRACE_NONE)
            break;
        row = list->rows.at[row].parent;
    }
    return row;
}

/* Written from its end, so that no list of rows is needed. */
void tree_path(const evidence *from, const tree_list *list, uint32_t row, buf *out)
{
    const uint32_t top = tree_path_top(list, row);
    const uint32_t outside = list->rows.at[top].parent;
    size_t len = outside == TRACE_NONE ? 0 : sizeof tree_more - 1;
    char *end;

    for (uint32_t at = row; at != outside; at = list->rows.at[at].parent) {
        size_t name_len = trace_text(from->trace, list->rows.at[at].name).len;

        if (!num_add(len, name_len + (at == row ? 0 : sizeof tree_between - 1), &len)) {
            out->failed = true;
            return;
        }
    }
    end = buf_room(out, len);
    if (end == NULL)
        return;
    if (outside != TRACE_NONE)
        memcpy(end, tree_more, sizeof tree_more - 1);
    end += len;
    out->len += len;
    for (uint32_t at = row; at != outside; at = list->rows.at[at].parent) {
        cg_str name = trace_text(from->trace, list->rows.at[at].name);

        if (at != row) {
            end -= sizeof tree_between - 1;
            memcpy(end, tree_between, sizeof tree_between - 1);
        }
        end -= name.len;
        if (name.len > 0)
            memcpy(end, name.ptr, name.len);
    }
}
