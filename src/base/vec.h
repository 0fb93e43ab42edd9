/*
 * vec - a typed growing array over a heap.
 *
 *   VEC(uint32_t) rows = {0};
 *   uint32_t *row = vec_add(heap, &rows);      NULL: out of memory
 *   vec_free(heap, &rows);
 *
 * Growth is by half, so large arrays are moved by remapping, not by copying.
 */
#ifndef CG_BASE_VEC_H
#define CG_BASE_VEC_H

#include "base/heap.h"

#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t count;                                                                              \
        size_t capacity;                                                                           \
    }

/* Make room for `need` items; false when refused, the array is unchanged then. */
bool vec_grow(heap *from, void **at, size_t *capacity, size_t need, size_t item_size);

#define vec_reserve(from, vec, need)                                                               \
    ((need) <= (vec)->capacity ||                                                                  \
     vec_grow((from), (void **)&(vec)->at, &(vec)->capacity, (need), sizeof *(vec)->at))

/* Pointer to a new, uninitialised last item, or NULL. */
#define vec_add(from, vec)                                                                         \
    (vec_reserve((from), (vec), (vec)->count + 1) ? &(vec)->at[(vec)->count++] : NULL)

#define vec_free(from, vec)                                                                        \
    (heap_resize((from), (vec)->at, (vec)->capacity * sizeof *(vec)->at, 0), (vec)->at = NULL,     \
     (vec)->count = 0, (vec)->capacity = 0)

#endif
