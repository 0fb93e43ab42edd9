/*
 * number_set - a set of numbers below a bound; the next one above any other is
 * found in a few steps, however thin the set is.
 *
 *   if (!number_set_init(&set, heap, count)) ... no memory ...
 *   number_set_put(&set, 7);
 *   for (size_t i = number_set_next(&set, 0); i < count; i = number_set_next(&set, i + 1)) ...
 *   number_set_free(&set);
 */
#ifndef CG_BASE_NUMBER_SET_H
#define CG_BASE_NUMBER_SET_H

#include "base/heap.h"

#define NUMBER_SET_LEVELS 6 /* 64^6 numbers */

typedef struct number_set {
    heap *heap;
    size_t count;
    size_t words; /* of all levels */
    unsigned levels;
    uint64_t *
        level[NUMBER_SET_LEVELS]; /* a bit above level 0 says: some bit of that word below is set */
} number_set;

/* The empty set of numbers below `count`, at most 2^32; false: no memory, nothing to free. */
bool number_set_init(number_set *self, heap *from, size_t count) CG_MUST;
void number_set_free(number_set *self);
void number_set_put(number_set *self, size_t number);
void number_set_drop(number_set *self, size_t number);
/* The smallest member from `from` on; the bound when there is none. */
size_t number_set_next(const number_set *self, size_t from);

#endif
