#include "base/number_map.h"

#include "base/num.h"

#define FIRST_SLOTS 64

void number_map_init(number_map *self, heap *from)
{
    *self = (number_map){.heap = from};
}

void number_map_free(number_map *self)
{
    if (self->slots != NULL)
        heap_resize(self->heap, self->slots, self->slot_count * sizeof *self->slots, 0);
    self->slots = NULL;
    self->slot_count = 0;
    self->count = 0;
}

/* Where the run of slots begins that `key` is in. */
static size_t home_of(const number_map *self, uint64_t key)
{
    uint64_t mixed = key ^ self->seed;

    mixed = (mixed ^ (mixed >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    mixed = (mixed ^ (mixed >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(mixed ^ (mixed >> 32)) & (self->slot_count - 1);
}

/* The slot of `key`, or the free one where it belongs. */
static number_map_slot *slot_of(const number_map *self, uint64_t key)
{
    size_t at = home_of(self, key);

    while (self->slots[at].key != 0 && self->slots[at].key != key)
        at = (at + 1) & (self->slot_count - 1);
    return &self->slots[at];
}

static bool grow(number_map *self)
{
    number_map wider = *self;
    size_t bytes = 0;

    if (self->slot_count > SIZE_MAX / 2)
        return false;
    wider.slot_count = self->slot_count > 0 ? self->slot_count * 2 : FIRST_SLOTS;
    if (!num_mul(wider.slot_count, sizeof *wider.slots, &bytes))
        return false;
    wider.slots = heap_resize(self->heap, NULL, 0, bytes);
    if (wider.slots == NULL)
        return false;
    memset(wider.slots, 0, bytes);
    for (size_t i = 0; i < self->slot_count; i++) {
        if (self->slots[i].key != 0)
            *slot_of(&wider, self->slots[i].key) = self->slots[i];
    }
    number_map_free(self); /* forgets the count, which `wider` has */
    *self = wider;
    return true;
}

uint32_t *number_map_find(const number_map *self, uint64_t key)
{
    number_map_slot *slot;

    if (self->count == 0)
        return NULL;
    slot = slot_of(self, key);
    return slot->key == key && key != 0 ? &slot->value : NULL;
}

uint32_t *number_map_put(number_map *self, uint64_t key, uint32_t fresh)
{
    number_map_slot *slot;

    if (key == 0)
        return NULL;
    if (self->count * 4 >= self->slot_count * 3 && !grow(self))
        return NULL;
    slot = slot_of(self, key);
    if (slot->key == 0) {
        *slot = (number_map_slot){.key = key, .value = fresh};
        self->count++;
    }
    return &slot->value;
}

void number_map_remove(number_map *self, uint32_t *value)
{
    char *slot = (char *)value - offsetof(number_map_slot, value);
    size_t mask = self->slot_count - 1;
    size_t hole = (size_t)((number_map_slot *)(void *)slot - self->slots);
    size_t at = hole;

    /* Move entries of the same run back, so that no search ends too early. */
    for (;;) {
        at = (at + 1) & mask;
        if (self->slots[at].key == 0)
            break;
        if (((at - home_of(self, self->slots[at].key)) & mask) >= ((at - hole) & mask)) {
            self->slots[hole] = self->slots[at];
            hole = at;
        }
    }
    self->slots[hole].key = 0;
    self->count--;
}
