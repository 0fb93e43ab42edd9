/*
 * pairs - a small hash table from two 32-bit numbers to one.
 *
 * Open addressing; entries can be removed, so a table of what is live stays
 * as small as what is live. The pair (0, 0) cannot be a key. Pointers to
 * values hold until the next pairs_add or pairs_remove. No output may depend
 * on the order of the slots.
 */
#ifndef CG_EXEC_PAIRS_H
#define CG_EXEC_PAIRS_H

#include "base/heap.h"

typedef struct pairs_slot {
    uint64_t key; /* first number in the upper half; 0 = free */
    uint32_t value;
} pairs_slot;

typedef struct pairs {
    heap *heap;
    pairs_slot *slots;
    size_t slot_count; /* a power of two, or 0 */
    size_t count;
    uint64_t seed;
} pairs;

void pairs_init(pairs *self, heap *from, uint64_t seed);
void pairs_free(pairs *self);

/* The value of (a, b), or NULL. */
uint32_t *pairs_find(const pairs *self, uint32_t a, uint32_t b);
/* The value of (a, b); a new one is `fresh` and *ret_is_new set. NULL: out of memory. */
uint32_t *pairs_add(pairs *self, uint32_t a, uint32_t b, uint32_t fresh, bool *ret_is_new);
/* Remove an entry by the place of its value. */
void pairs_remove(pairs *self, uint32_t *value);

#endif
