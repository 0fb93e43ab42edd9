#include "record/convert_spans.h"

#include <stdlib.h>

uint32_t span_add(converter *self, uint32_t parent, uint32_t name, uint64_t start_ns)
{
    void *list = self->spans;

    if (!convert_grow(self, &list, self->span_count + 1, &self->span_capacity,
                      sizeof *self->spans)) {
        return 0;
    }
    self->spans = list;
    list = self->open;
    if (!convert_grow(self, &list, self->open_count, &self->open_capacity, sizeof *self->open)) {
        return 0;
    }
    self->open = list;
    uint32_t number = (uint32_t)++self->span_count;
    self->spans[number] = (span_entry){.start_ns = start_ns,
                                       .end_ns = OPEN,
                                       .parent = parent,
                                       .place = (uint32_t)self->open_count,
                                       .name = name};
    self->open[self->open_count++] = number;
    if (parent != 0) {
        self->spans[parent].open_children++;
    }
    convert_see(self, start_ns);
    return number;
}

void span_close(converter *self, uint32_t number, uint64_t end_ns)
{
    span_entry *span = &self->spans[number];
    uint32_t last = self->open[--self->open_count];

    self->open[span->place] = last;
    self->spans[last].place = span->place;
    if (span->parent != 0) {
        self->spans[span->parent].open_children--;
    }
    span->end_ns = end_ns < span->start_ns ? span->start_ns : end_ns;
    convert_see(self, span->end_ns);
    wire_span_end(&self->out, number, span->end_ns - span->start_ns);
}

int span_compare_numbers(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

void span_cut_children(converter *self, uint32_t number, uint64_t end_ns)
{
    size_t count = 0;

    if (self->spans[number].open_children == 0) {
        return;
    }
    uint32_t *inside = rec_take(self->open_count * sizeof *inside);
    if (inside == NULL) {
        self->has_no_memory = true;
        return;
    }
    /* A parent has the smaller number, and is open as long as its children are. */
    for (size_t i = 0; i < self->open_count; i++) {
        if (self->open[i] > number) {
            inside[count++] = self->open[i];
        }
    }
    qsort(inside, count, sizeof *inside, span_compare_numbers);
    for (size_t i = 0; i < count; i++) {
        span_entry *span = &self->spans[inside[i]];

        span->is_cut =
            span->parent == number || (span->parent > number && self->spans[span->parent].is_cut);
    }
    while (count-- > 0) {
        span_entry *span = &self->spans[inside[count]];

        if (span->is_cut) {
            span->is_ended_elsewhere = self->spans[number].is_ended_elsewhere;
            span_close(self, inside[count], end_ns);
        }
    }
    rec_free(inside);
}

uint32_t span_find_holder(const converter *self, uint32_t parent, uint64_t start_ns,
                          uint64_t end_ns)
{
    while (parent > 1) {
        const span_entry *span = &self->spans[parent];

        if (span->start_ns <= start_ns && (span->end_ns == OPEN || span->end_ns >= end_ns)) {
            break;
        }
        parent = span->parent;
    }
    return parent;
}

bool span_fit(const span_entry *span, uint64_t *start, uint64_t *end)
{
    uint64_t near = NEAR_NS + (*end - *start) / 1000;

    if (*start < span->start_ns) {
        if (span->start_ns - *start > near) {
            return false;
        }
        *start = span->start_ns;
    }
    if (span->end_ns != OPEN && *end > span->end_ns) {
        if (*end - span->end_ns > near) {
            return false;
        }
        *end = span->end_ns;
    }
    if (*end < *start) {
        *end = *start;
    }
    return span->end_ns == OPEN || *end <= span->end_ns;
}
