/*
 * number_map - from 64-bit keys to 32-bit numbers.
 *
 *   number_map map;
 *   number_map_init(&map, heap);
 *   uint32_t *value = number_map_put(&map, key, 0);        NULL: out of memory
 *   value = number_map_find(&map, key);                    NULL: not there
 *   number_map_free(&map);
 *
 * Open addressing; a map of what is live stays as small as what is live. The key 0 cannot be put.
 * Pointers to values hold until the next number_map_put or number_map_remove. No output may depend
 * on the order of the slots.
 */
#ifndef CG_BASE_NUMBER_MAP_H
#define CG_BASE_NUMBER_MAP_H

#include "base/heap.h"

typedef struct number_map_slot {
    uint64_t key; /* 0 = free */
    uint32_t value;
} number_map_slot;

typedef struct number_map {
    heap *heap;
    number_map_slot *slots;
    size_t slot_count; /* a power of two, or 0 */
    size_t count;
    uint64_t seed; /* 0, or what an author of keys does not know; set while the map is empty */
} number_map;

static inline uint64_t number_map_key(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

void number_map_init(number_map *self, heap *from);
void number_map_free(number_map *self);
uint32_t *number_map_find(const number_map *self, uint64_t key);
/* The value of `key`; a new one is `fresh`. */
uint32_t *number_map_put(number_map *self, uint64_t key, uint32_t fresh);
/* Remove an entry by the place of its value. */
void number_map_remove(number_map *self, uint32_t *value);

#endif
