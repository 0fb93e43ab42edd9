/*
 * convert_spans - spans by the numbers they have in the trace: who holds whom, what ends with what.
 */
#ifndef CG_RECORD_CONVERT_SPANS_H
#define CG_RECORD_CONVERT_SPANS_H

#include "record/converter.h"

/* The number of the new span, open; 0: no memory. */
uint32_t span_add(converter *self, uint32_t parent, uint32_t name, uint64_t start_ns);
/* Written as ended, and no longer open. */
void span_close(converter *self, uint32_t number, uint64_t end_ns);
/* Spans that are open inside `number` end with it, innermost first. */
void span_cut_children(converter *self, uint32_t number, uint64_t end_ns);
/* The nearest span from `parent` outwards that can hold something from start to end. */
uint32_t span_find_holder(const converter *self, uint32_t parent, uint64_t start_ns,
                          uint64_t end_ns);
/*
 * Put [start, end] inside the span: what sticks out by less than the clocks can tell is trimmed.
 * False when it really lies outside.
 */
bool span_fit(const span_entry *span, uint64_t *start, uint64_t *end);
/* For qsort: numbers in ascending order. */
int span_compare_numbers(const void *left, const void *right);

#endif
