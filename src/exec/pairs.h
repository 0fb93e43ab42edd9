/*
 * pairs - from two 32-bit numbers of a trace to one.
 *
 * A number_map whose keys are two numbers, and whose order no author of a trace can foresee. The
 * pair (0, 0) cannot be a key. Pointers to values hold until the next pairs_add or pairs_remove.
 */
#ifndef CG_EXEC_PAIRS_H
#define CG_EXEC_PAIRS_H

#include "base/number_map.h"

typedef number_map pairs;

static inline void pairs_init(pairs *self, heap *from, uint64_t seed)
{
    number_map_init(self, from);
    self->seed = seed;
}

static inline void pairs_free(pairs *self)
{
    number_map_free(self);
}

/* The value of (a, b), or NULL. */
static inline uint32_t *pairs_find(const pairs *self, uint32_t a, uint32_t b)
{
    return number_map_find(self, number_map_key(a, b));
}

/* The value of (a, b); a new one is `fresh` and *ret_is_new set. NULL: out of memory. */
static inline uint32_t *pairs_add(pairs *self, uint32_t a, uint32_t b, uint32_t fresh,
                                  bool *ret_is_new)
{
    size_t before = self->count;
    uint32_t *value = number_map_put(self, number_map_key(a, b), fresh);

    *ret_is_new = self->count > before;
    return value;
}

/* Remove an entry by the place of its value. */
static inline void pairs_remove(pairs *self, uint32_t *value)
{
    number_map_remove(self, value);
}

#endif
