#include "base/vec.h"

#include "base/num.h"

#define VEC_FIRST_ITEMS ((size_t)16)

bool vec_grow(heap *from, void **at, size_t *capacity, size_t need, size_t item_size)
{
    size_t wanted = *capacity + *capacity / 2;
    size_t new_size;
    void *block;
    void *moved;

    if (need <= *capacity)
        return true;
    if (wanted < need)
        wanted = need;
    if (wanted < VEC_FIRST_ITEMS)
        wanted = VEC_FIRST_ITEMS;
    if (!num_mul(wanted, item_size, &new_size))
        return false;
    /* The pointer of the array has another type than void *: it is read and written as bytes. */
    memcpy(&block, at, sizeof block);
    moved = heap_resize(from, block, *capacity * item_size, new_size);
    if (moved == NULL)
        return false;
    memcpy(at, &moved, sizeof moved);
    *capacity = wanted;
    return true;
}
