#include "exec/timing.h"

#include "base/num.h"
#include "base/sort.h"
#include "exec/columns.h"

/*
 * Intervals are put in order three times, each order keeping the one before:
 * by start, by (device, clock) - now the clock rows can be read off - and by
 * span id for the span rows. A union then needs one pass over each group.
 */
typedef struct timing_work {
    heap *heap;
    const trace_doc *trace;
    timing_plane *plane;
    size_t count;
    uint32_t *order;
    uint64_t *keys;
    ranks names;
    uint32_t *stamp; /* by symbol: the last list of names it went into */
    uint32_t list_count;
} timing_work;

static bool order_by_start(timing_work *self)
{
    for (size_t i = 0; i < self->count; i++) {
        self->order[i] = (uint32_t)i;
        self->keys[i] = self->trace->intervals.at[i].start_ns;
    }
    return column_sort(self->heap, self->order, self->count, self->keys);
}

static bool order_by_clock(timing_work *self)
{
    for (size_t i = 0; i < self->count; i++) {
        const trace_interval *row = &self->trace->intervals.at[i];

        self->keys[i] = (uint64_t)self->names.of[row->device] << 32 | self->names.of[row->clock_id];
    }
    return column_sort(self->heap, self->order, self->count, self->keys);
}

static bool order_by_span(timing_work *self)
{
    for (size_t i = 0; i < self->count; i++)
        self->keys[i] = self->names.of[self->trace->intervals.at[i].span_id];
    return column_sort(self->heap, self->order, self->count, self->keys);
}

static bool is_same_clock(const trace_interval *a, const trace_interval *b)
{
    return a->device == b->device && a->clock_id == b->clock_id;
}

/* The row of order[from..to), whose intervals ascend by start. */
static timing_row row_of(const timing_work *self, size_t from, size_t to, bool has_span)
{
    const trace_interval *first = &self->trace->intervals.at[self->order[from]];
    timing_row row = {.span_id = has_span ? first->span_id : 0,
                      .device = first->device,
                      .clock_id = first->clock_id,
                      .interval_count = to - from};
    uint64_t covered_ns = 0;

    for (size_t i = from; i < to; i++) {
        const trace_interval *at = &self->trace->intervals.at[self->order[i]];
        uint64_t start_ns = at->start_ns > covered_ns ? at->start_ns : covered_ns;
        uint64_t end_ns = num_sat_add(at->start_ns, at->duration_ns);

        if (end_ns > start_ns) {
            row.busy_ns = num_sat_add(row.busy_ns, end_ns - start_ns);
            covered_ns = end_ns;
        }
    }
    return row;
}

static bool add_clock_rows(timing_work *self)
{
    const trace_interval *rows = self->trace->intervals.at;

    for (size_t from = 0, to = 0; from < self->count; from = to) {
        timing_row *row = vec_add(self->heap, &self->plane->clocks);

        if (row == NULL)
            return false;
        while (to < self->count && is_same_clock(&rows[self->order[from]], &rows[self->order[to]]))
            to++;
        *row = row_of(self, from, to, false);
    }
    return true;
}

/*
 * List the distinct symbols that order[from..to) has at `offset` of its intervals. The names of a
 * list are sorted later, when the keys are free again.
 */
static bool list_names(timing_work *self, size_t from, size_t to, size_t offset, uint32_t *ret_at,
                       uint32_t *ret_count)
{
    timing_plane *plane = self->plane;

    if (plane->names.count > UINT32_MAX)
        return false;
    *ret_at = (uint32_t)plane->names.count;
    self->list_count++;
    for (size_t i = from; i < to; i++) {
        const char *row = (const char *)&self->trace->intervals.at[self->order[i]];
        sym name;
        sym *place;

        memcpy(&name, row + offset, sizeof name);
        if (self->stamp[name] == self->list_count)
            continue;
        self->stamp[name] = self->list_count;
        place = vec_add(self->heap, &plane->names);
        if (place == NULL)
            return false;
        *place = name;
    }
    *ret_count = (uint32_t)(plane->names.count - *ret_at);
    return true;
}

static bool add_span_rows(timing_work *self)
{
    const trace_interval *rows = self->trace->intervals.at;

    for (size_t from = 0, to = 0; from < self->count; from = to) {
        timing_row *row = vec_add(self->heap, &self->plane->spans);

        if (row == NULL)
            return false;
        while (to < self->count &&
               is_same_clock(&rows[self->order[from]], &rows[self->order[to]]) &&
               rows[self->order[from]].span_id == rows[self->order[to]].span_id)
            to++;
        *row = row_of(self, from, to, true);
        if (!list_names(self, from, to, offsetof(trace_interval, backend), &row->backends_at,
                        &row->backends_count) ||
            !list_names(self, from, to, offsetof(trace_interval, stream_id), &row->streams_at,
                        &row->streams_count))
            return false;
    }
    return true;
}

/* No list is longer than the number of intervals, so order and keys serve as working room. */
static void sort_names(timing_work *self)
{
    for (size_t i = 0; i < self->plane->spans.count; i++) {
        const timing_row *row = &self->plane->spans.at[i];

        if (row->backends_count > 1)
            sort_symbols(self->plane->names.at + row->backends_at, self->order, self->keys,
                         row->backends_count, &self->trace->texts);
        if (row->streams_count > 1)
            sort_symbols(self->plane->names.at + row->streams_at, self->order, self->keys,
                         row->streams_count, &self->trace->texts);
    }
}

static bool rank_names(timing_work *self)
{
    const trace_interval *rows = self->trace->intervals.at;

    if (!ranks_init(&self->names, self->heap, &self->trace->texts))
        return false;
    ranks_add(&self->names, &rows->span_id, sizeof *rows, self->count);
    ranks_add(&self->names, &rows->device, sizeof *rows, self->count);
    ranks_add(&self->names, &rows->clock_id, sizeof *rows, self->count);
    return ranks_finish(&self->names);
}

static bool build_rows(timing_work *self)
{
    if (!rank_names(self) || !order_by_start(self) || !order_by_clock(self) ||
        !add_clock_rows(self) || !order_by_span(self))
        return false;
    ranks_free(&self->names);
    self->stamp = column_zero(self->heap, intern_count(&self->trace->texts), sizeof *self->stamp);
    if (self->stamp == NULL || !add_span_rows(self))
        return false;
    sort_names(self);
    return true;
}

cg_code timing_build(heap *from, const trace_doc *trace, timing_plane *ret, cg_err *reterr)
{
    timing_work self = {
        .heap = from, .trace = trace, .plane = ret, .count = trace->intervals.count};
    const rec_contract *contract = trace->run.contract;
    bool is_done;

    *ret = (timing_plane){.heap = from, .coverage = contract->device_timing};
    if (self.count == 0)
        return CG_OK;
    if (ret->coverage == LEVEL_NONE)
        ret->coverage = LEVEL_PARTIAL;
    self.order = column_take(from, self.count, sizeof *self.order);
    self.keys = column_take(from, self.count, sizeof *self.keys);
    is_done = self.order != NULL && self.keys != NULL && build_rows(&self);
    if (self.names.heap != NULL)
        ranks_free(&self.names);
    column_free(from, self.stamp, intern_count(&trace->texts), sizeof *self.stamp);
    column_free(from, self.keys, self.count, sizeof *self.keys);
    column_free(from, self.order, self.count, sizeof *self.order);
    if (!is_done) {
        timing_free(ret);
        return err_nomem(reterr);
    }
    return CG_OK;
}

void timing_free(timing_plane *plane)
{
    if (plane->heap != NULL) {
        vec_free(plane->heap, &plane->spans);
        vec_free(plane->heap, &plane->clocks);
        vec_free(plane->heap, &plane->names);
    }
    *plane = (timing_plane){0};
}
