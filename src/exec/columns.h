/*
 * columns - arrays of a known length, and orders over them.
 *
 * Working room of the analysis: taken, used and given back inside one
 * function. A column of no items is still a block, so NULL always means that
 * memory was refused.
 */
#ifndef CG_EXEC_COLUMNS_H
#define CG_EXEC_COLUMNS_H

#include "base/intern.h"

/* `count` uninitialised items of `size` bytes, or NULL. */
void *column_take(heap *from, size_t count, size_t size);
/* The same, all bytes zero. */
void *column_zero(heap *from, size_t count, size_t size);
/* Give a column back; NULL is fine. */
void column_free(heap *from, void *column, size_t count, size_t size);

/*
 * Order `items` so that keys[items[i]] ascends, stable. Linear when they are
 * in order already. False when there is no room to sort.
 */
bool column_sort(heap *from, uint32_t *items, size_t count, const uint64_t *keys);

/*
 * Make room at `place` in `rows`, the best so far in order, of which `most` of `size` bytes are
 * kept: later ones move down, the last may fall out. False: `place` is behind all that are kept.
 */
bool column_rank(void *rows, size_t size, uint32_t most, uint32_t *count, uint32_t place);

/*
 * Bytewise ranks of the symbols that were added: of[symbol] counts from 1 and
 * equal texts have equal ranks; 0 for every other symbol and for none at all.
 */
typedef struct ranks {
    heap *heap;
    const intern *texts;
    uint32_t *of;
    size_t count; /* entries of `of` */
} ranks;

bool ranks_init(ranks *self, heap *from, const intern *texts);
/* Add `count` symbols, the first at `at`, the next `stride` bytes further. */
void ranks_add(ranks *self, const sym *at, size_t stride, size_t count);
/* Give every added symbol its rank. O(n) per 8 bytes of common prefix. */
bool ranks_finish(ranks *self);
void ranks_free(ranks *self);

#endif
