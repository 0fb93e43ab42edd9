#include "exec/graph_host.h"

#include "base/num.h"
#include "exec/columns.h"

/* Effective durations: a span of duration 0 lasts as long as what is directly below it. */
static void set_totals(const graph_host *self)
{
    const trace_span *spans = self->trace->spans.at;

    memset(self->total_ns, 0, self->span_count * sizeof *self->total_ns);
    for (uint32_t i = 0; i < self->op_count; i++) {
        uint64_t *total = &self->total_ns[self->op_span[i]];

        *total = num_sat_add(*total, self->trace->ops.at[i].duration_ns);
    }
    for (uint32_t i = self->span_count; i-- > 0;) {
        uint32_t span = self->preorder[i];
        uint32_t parent = spans[span].parent;

        if (spans[span].duration_ns > 0)
            self->total_ns[span] = spans[span].duration_ns;
        if (parent != TRACE_NONE)
            self->total_ns[parent] = num_sat_add(self->total_ns[parent], self->total_ns[span]);
    }
}

/* Spans in order of start. They are close to it in the order of the stream. */
static bool order_spans(const graph_host *self, uint32_t *ret)
{
    const trace_span *spans = self->trace->spans.at;
    uint32_t count = self->span_count;
    uint64_t *keys;
    bool is_ordered = true;
    bool is_done;

    memset(ret, 0xff, count * sizeof *ret);
    for (uint32_t i = 0; i < count && is_ordered; i++) {
        is_ordered = spans[i].order < count && ret[spans[i].order] == TRACE_NONE;
        if (is_ordered)
            ret[spans[i].order] = i;
    }
    for (uint32_t i = 0; i < count && !is_ordered; i++)
        ret[i] = i;
    for (uint32_t i = 1; i < count && is_ordered; i++)
        is_ordered = spans[ret[i - 1]].start_ns <= spans[ret[i]].start_ns;
    if (is_ordered)
        return true;
    keys = column_take(self->heap, count, sizeof *keys);
    if (keys == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        keys[i] = spans[i].start_ns;
    is_done = column_sort(self->heap, ret, count, keys);
    column_free(self->heap, keys, count, sizeof *keys);
    return is_done;
}

/* Operations in order of start; *ret stays NULL when that is the order of the stream. */
static bool order_operations(const graph_host *self, uint32_t **ret)
{
    const trace_op *ops = self->trace->ops.at;
    uint32_t count = self->op_count;
    uint64_t *keys;
    uint32_t i = 1;
    bool is_done;

    while (i < count && ops[i - 1].timestamp_ns <= ops[i].timestamp_ns)
        i++;
    if (i >= count)
        return true;
    *ret = column_take(self->heap, count, sizeof **ret);
    keys = column_take(self->heap, count, sizeof *keys);
    is_done = *ret != NULL && keys != NULL;
    for (i = 0; is_done && i < count; i++) {
        (*ret)[i] = i;
        keys[i] = ops[i].timestamp_ns;
    }
    is_done = is_done && column_sort(self->heap, *ret, count, keys);
    column_free(self->heap, keys, count, sizeof *keys);
    return is_done;
}

/*
 * What the children of one span cover: with intervals coming in order of start, the length of a
 * union needs its end and its sum only. Twice, for all time and for the measured window.
 */
typedef struct cover {
    uint64_t end_ns;
    uint64_t sum_ns;
    uint64_t window_end_ns;
    uint64_t window_sum_ns;
} cover;

typedef struct time_window {
    uint64_t start_ns;
    uint64_t end_ns;
} time_window;

static void cover_until(uint64_t *covered_ns, uint64_t *sum_ns, uint64_t start_ns, uint64_t end_ns)
{
    if (start_ns < *covered_ns)
        start_ns = *covered_ns;
    if (end_ns > start_ns) {
        *sum_ns += end_ns - start_ns;
        *covered_ns = end_ns;
    }
}

static void add_cover(cover *self, const time_window *window, uint64_t start_ns,
                      uint64_t duration_ns)
{
    uint64_t end_ns = num_sat_add(start_ns, duration_ns);

    cover_until(&self->end_ns, &self->sum_ns, start_ns, end_ns);
    cover_until(&self->window_end_ns, &self->window_sum_ns,
                start_ns > window->start_ns ? start_ns : window->start_ns,
                end_ns < window->end_ns ? end_ns : window->end_ns);
}

/* One sweep over all spans and operations, by start. */
static void sweep(const graph_host *self, const time_window *window, const uint32_t *spans_by_start,
                  const uint32_t *ops_by_start, cover *covers)
{
    const trace_span *spans = self->trace->spans.at;
    const trace_op *ops = self->trace->ops.at;
    uint32_t next_op = 0;

    for (uint32_t i = 0; i <= self->span_count; i++) {
        uint32_t span = i < self->span_count ? spans_by_start[i] : TRACE_NONE;

        for (; next_op < self->op_count; next_op++) {
            uint32_t op = ops_by_start != NULL ? ops_by_start[next_op] : next_op;

            if (span != TRACE_NONE && ops[op].timestamp_ns >= spans[span].start_ns)
                break;
            add_cover(&covers[self->op_span[op]], window, ops[op].timestamp_ns,
                      ops[op].duration_ns);
        }
        if (span != TRACE_NONE && spans[span].parent != TRACE_NONE)
            add_cover(&covers[spans[span].parent], window, spans[span].start_ns,
                      self->total_ns[span]);
    }
}

typedef struct host_rank {
    graph_host_row row;
    uint64_t self_ns;
} host_rank;

static bool is_slower(const host_rank *a, const host_rank *b)
{
    if (a->row.clipped_self_ns != b->row.clipped_self_ns)
        return a->row.clipped_self_ns > b->row.clipped_self_ns;
    return a->self_ns > b->self_ns;
}

/* Self times of all spans and the slowest of them within the window. */
static void rank_host(const graph_host *self, const time_window *window, const cover *covers,
                      graph_host_row *ret, uint32_t *ret_count)
{
    const trace_span *spans = self->trace->spans.at;
    host_rank best[GRAPH_RANK_ROWS];
    uint32_t count = 0;

    for (uint32_t i = 0; i < self->span_count; i++) {
        uint64_t end_ns = num_sat_add(spans[i].start_ns, self->total_ns[i]);
        uint64_t from_ns =
            spans[i].start_ns > window->start_ns ? spans[i].start_ns : window->start_ns;
        uint64_t to_ns = end_ns < window->end_ns ? end_ns : window->end_ns;

        self->self_ns[i] = num_sat_sub(self->total_ns[i], covers[i].sum_ns);
        if (to_ns <= from_ns || graph_is_op_kind(&spans[i]) || self->is_ancestor[i])
            continue;

        host_rank rank = {
            .row = {.span = i,
                    .is_concurrent = !self->in_subtree[i],
                    .clipped_self_ns = num_sat_sub(to_ns - from_ns, covers[i].window_sum_ns),
                    .clipped_total_ns = to_ns - from_ns},
            .self_ns = self->self_ns[i]};

        uint32_t place = count;

        while (place > 0 && is_slower(&rank, &best[place - 1]))
            place--;
        if (column_rank(best, sizeof *best, GRAPH_RANK_ROWS, &count, place))
            best[place] = rank;
    }
    *ret_count = count;
    for (uint32_t i = 0; i < count; i++)
        ret[i] = best[i].row;
}

bool graph_host_build(const graph_host *self, graph_host_row *ret, uint32_t *ret_count)
{
    const trace_span *measured = &self->trace->spans.at[self->measured];
    time_window window = {measured->start_ns, 0};
    uint32_t *spans_by_start = column_take(self->heap, self->span_count, sizeof *spans_by_start);
    uint32_t *ops_by_start = NULL;
    cover *covers = NULL;
    bool is_done = spans_by_start != NULL;

    set_totals(self);
    window.end_ns = num_sat_add(measured->start_ns, self->total_ns[self->measured]);
    is_done = is_done && order_spans(self, spans_by_start) && order_operations(self, &ops_by_start);
    if (is_done) {
        covers = column_zero(self->heap, self->span_count, sizeof *covers);
        is_done = covers != NULL;
    }
    if (is_done) {
        sweep(self, &window, spans_by_start, ops_by_start, covers);
        rank_host(self, &window, covers, ret, ret_count);
    }
    column_free(self->heap, covers, self->span_count, sizeof *covers);
    column_free(self->heap, ops_by_start, self->op_count, sizeof *ops_by_start);
    column_free(self->heap, spans_by_start, self->span_count, sizeof *spans_by_start);
    return is_done;
}
