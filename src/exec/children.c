#include "exec/children.h"

#include "base/num.h"
#include "base/sort.h"

uint64_t children_start(const trace_doc *trace, const children *self, uint32_t item)
{
    return children_is_span(self, item) ? trace->spans.at[item].start_ns
                                        : trace->ops.at[item - self->span_count].timestamp_ns;
}

sym children_name(const trace_doc *trace, const children *self, uint32_t item)
{
    return children_is_span(self, item) ? trace->spans.at[item].name
                                        : trace->ops.at[item - self->span_count].name;
}

static uint32_t children_parent(const trace_doc *trace, const children *self, uint32_t item)
{
    return children_is_span(self, item)
               ? trace->spans.at[item].parent
               : trace_span_of(trace, trace->ops.at[item - self->span_count].span_id);
}

/* All spans and operations in order of start: the caller resets the arena behind them. */
static uint32_t *children_by_start(arena *mem, const trace_doc *trace, const children *self,
                                   size_t count)
{
    uint32_t *items = arena_take(mem, count * sizeof *items);
    uint32_t *room = arena_take(mem, count * sizeof *room);
    uint64_t *keys = arena_take(mem, count * sizeof *keys);

    if (items == NULL || room == NULL || keys == NULL)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        items[i] = i;
        keys[i] = children_start(trace, self, i);
    }
    sort_by_u64(items, room, count, keys);
    return items;
}

/* Deal the sorted items out to their parents; `first` ends as the start of every stretch. */
static void children_deal(const trace_doc *trace, children *self, const uint32_t *sorted,
                          size_t count)
{
    uint32_t at = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t parent = children_parent(trace, self, sorted[i]);

        if (parent != TRACE_NONE)
            self->first[parent]++;
    }
    for (uint32_t span = 0; span <= self->span_count; span++) {
        at += self->first[span];
        self->first[span] = at;
    }
    for (size_t i = count; i-- > 0;) {
        uint32_t parent = children_parent(trace, self, sorted[i]);

        if (parent != TRACE_NONE)
            self->items[--self->first[parent]] = sorted[i];
    }
}

static void children_walk(const trace_doc *trace, children *self)
{
    uint32_t count = 0;

    for (uint32_t span = 0; span < self->span_count; span++)
        if (trace->spans.at[span].parent == TRACE_NONE)
            self->from_root[count++] = span;
    for (uint32_t next = 0; next < count; next++) {
        uint32_t span = self->from_root[next];

        for (uint32_t i = self->first[span]; i < self->first[span + 1]; i++)
            if (children_is_span(self, self->items[i]))
                self->from_root[count++] = self->items[i];
    }
    self->reached = count;
}

cg_code children_build(arena *mem, const trace_doc *trace, children *ret, cg_err *reterr)
{
    children self = {0};
    size_t count;
    arena_place place;
    uint32_t *sorted;

    if (!num_add(trace->spans.count, trace->ops.count, &count) || count >= TRACE_NONE)
        return cg_fail(reterr, PROBLEM_LIMIT, "more than %u spans and operations", TRACE_NONE - 1);
    self.span_count = (uint32_t)trace->spans.count;
    self.first = arena_zero(mem, ((size_t)self.span_count + 1) * sizeof *self.first);
    self.items = arena_take(mem, count * sizeof *self.items);
    self.from_root = arena_take(mem, self.span_count * sizeof *self.from_root);
    if (self.first == NULL || self.items == NULL || self.from_root == NULL)
        return err_nomem(reterr);
    place = arena_mark(mem);
    sorted = children_by_start(mem, trace, &self, count);
    if (sorted == NULL)
        return err_nomem(reterr);
    children_deal(trace, &self, sorted, count);
    arena_reset(mem, place);
    children_walk(trace, &self);
    *ret = self;
    return CG_OK;
}
