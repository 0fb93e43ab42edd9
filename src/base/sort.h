/*
 * sort - stable orders over large arrays of indices, without recursion.
 *
 * All functions permute an array of uint32_t and need a second array of the
 * same length as working room; they cannot fail.
 */
#ifndef CG_BASE_SORT_H
#define CG_BASE_SORT_H

#include "base/intern.h"

/* Order `items` so that keys[items[i]] ascends; equal keys keep their order. O(n) per key byte. */
void sort_by_u64(uint32_t *items, uint32_t *room, size_t count, const uint64_t *keys);

/*
 * Order the symbols in `items` bytewise by their text; equal symbols keep
 * their order. O(n) per 8 bytes of common prefix, else n log n.
 * `keys` is working room of `count` items.
 */
void sort_symbols(uint32_t *items, uint32_t *room, uint64_t *keys, size_t count, const intern *of);

/*
 * Order `items` so that texts[items[i]] ascends bytewise; equal texts keep their order. What texts
 * have in common at their beginning is looked at once, not at every comparison: for long ids that
 * part late. `shared` is working room of twice as many items.
 */
void sort_texts(uint32_t *items, uint32_t *room, uint32_t *shared, size_t count,
                const cg_str *texts);

/* General: merge sort, stable, O(n log n) calls of `before(context, a, b)` (a strictly first). */
void sort_with(uint32_t *items, uint32_t *room, size_t count,
               bool (*before)(const void *context, uint32_t a, uint32_t b), const void *context);

#endif
