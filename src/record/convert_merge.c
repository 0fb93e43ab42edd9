#include "record/convert_merge.h"

#include "record/convert_records.h"

#define DEFER_DEPTH 8u

static void advance(converter *self, size_t index)
{
    lane_state *lane = &self->lanes[index];

    do {
        lane->next = lane->taken < lane->sound ? stream_next(&lane->reader) : NULL;
        lane->taken++;
    } while (lane->next != NULL &&
             (lane->next->kind == SPOOL_NAME || lane->next->kind == SPOOL_LAYOUT));
    if (lane->next != NULL && lane->next->time > lane->time) {
        lane->time = lane->next->time;
    }
    self->has_failed |= lane->reader.has_failed;
}

/* Write records of one lane until its span `until` has a number, or the lane ends. */
static void run_lane(converter *self, size_t index, uint32_t until, unsigned depth)
{
    lane_state *lane = &self->lanes[index];

    lane->is_busy = true;
    self->is_heap_stale = true;
    while (lane->next != NULL && lane->numbers[until] == 0 && !self->has_no_memory) {
        record_put(self, index, lane->next, depth);
        advance(self, index);
    }
    lane->is_busy = false;
}

uint32_t convert_find_span(converter *self, uint32_t lane, uint32_t span, unsigned depth)
{
    if (lane == 0) {
        return span == 1 ? 1 : 0;
    }
    if (lane > self->lane_count || span == 0 || span > self->lanes[lane - 1].count) {
        return 0;
    }
    uint32_t number = self->lanes[lane - 1].numbers[span];
    if (number == 0 && depth < DEFER_DEPTH && !self->lanes[lane - 1].is_busy) {
        run_lane(self, lane - 1, span, depth + 1);
        number = self->lanes[lane - 1].numbers[span];
    }
    return number;
}

static bool comes_before(const converter *self, size_t a, size_t b)
{
    const lane_state *one = &self->lanes[a];
    const lane_state *two = &self->lanes[b];

    return one->time != two->time ? one->time < two->time : a < b;
}

static void sink_down(converter *self, size_t at)
{
    size_t *heap = self->heap;

    for (;;) {
        size_t least = at;

        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < self->heap_count; child++) {
            if (comes_before(self, heap[child], heap[least])) {
                least = child;
            }
        }
        if (least == at) {
            return;
        }
        size_t moved = heap[at];
        heap[at] = heap[least];
        heap[least] = moved;
        at = least;
    }
}

static void make_heap(converter *self)
{
    self->heap_count = 0;
    for (size_t i = 0; i < self->lane_count; i++) {
        if (self->lanes[i].next != NULL) {
            self->heap[self->heap_count++] = i;
        }
    }
    for (size_t i = self->heap_count; i-- > 0;) {
        sink_down(self, i);
    }
    self->is_heap_stale = false;
}

void merge_lanes(converter *self)
{
    for (size_t i = 0; i < self->lane_count; i++) {
        advance(self, i);
    }
    make_heap(self);
    while (self->heap_count > 0 && !self->has_no_memory && self->out.error == 0) {
        size_t index = self->heap[0];
        lane_state *lane = &self->lanes[index];

        lane->is_busy = true;
        record_put(self, index, lane->next, 0);
        advance(self, index);
        lane->is_busy = false;
        if (self->is_heap_stale) {
            make_heap(self);
            continue;
        }
        if (lane->next == NULL) {
            self->heap[0] = self->heap[--self->heap_count];
        }
        if (self->heap_count > 1) {
            sink_down(self, 0);
        }
    }
}
