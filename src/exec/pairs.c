#include "exec/pairs.h"

#include "base/num.h"

#define FIRST_SLOTS 64

void pairs_init(pairs *self, heap *from, uint64_t seed)
{
    *self = (pairs){.heap = from, .seed = seed};
}

void pairs_free(pairs *self)
{
    if (self->slots != NULL)
        heap_resize(self->heap, self->slots, self->slot_count * sizeof *self->slots, 0);
    self->slots = NULL;
    self->slot_count = 0;
    self->count = 0;
}

static size_t home_of(const pairs *self, uint64_t key)
{
    uint64_t mixed = key ^ self->seed;

    mixed = (mixed ^ (mixed >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    mixed = (mixed ^ (mixed >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(mixed ^ (mixed >> 32)) & (self->slot_count - 1);
}

/* The slot of `key`, or the free one where it belongs. */
static pairs_slot *slot_of(const pairs *self, uint64_t key)
{
    size_t at = home_of(self, key);

    while (self->slots[at].key != 0 && self->slots[at].key != key)
        at = (at + 1) & (self->slot_count - 1);
    return &self->slots[at];
}

static uint64_t key_of(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

static bool grow(pairs *self)
{
    pairs wider = *self;
    size_t bytes = 0;

    wider.slot_count = self->slot_count > 0 ? self->slot_count * 2 : FIRST_SLOTS;
    if (wider.slot_count < self->slot_count ||
        !num_mul(wider.slot_count, sizeof *wider.slots, &bytes))
        return false;
    wider.slots = heap_resize(self->heap, NULL, 0, bytes);
    if (wider.slots == NULL)
        return false;
    memset(wider.slots, 0, bytes);
    for (size_t i = 0; i < self->slot_count; i++) {
        if (self->slots[i].key != 0)
            *slot_of(&wider, self->slots[i].key) = self->slots[i];
    }
    wider.count = self->count;
    pairs_free(self);
    *self = wider;
    return true;
}

uint32_t *pairs_find(const pairs *self, uint32_t a, uint32_t b)
{
    pairs_slot *slot;

    if (self->count == 0)
        return NULL;
    slot = slot_of(self, key_of(a, b));
    return slot->key != 0 ? &slot->value : NULL;
}

uint32_t *pairs_add(pairs *self, uint32_t a, uint32_t b, uint32_t fresh, bool *ret_is_new)
{
    uint64_t key = key_of(a, b);
    pairs_slot *slot = NULL;

    *ret_is_new = false;
    if (self->count > 0) {
        slot = slot_of(self, key);
        if (slot->key != 0)
            return &slot->value;
    }
    if (self->count >= self->slot_count / 4 * 3) {
        if (!grow(self))
            return NULL;
        slot = NULL;
    }
    if (slot == NULL)
        slot = slot_of(self, key);
    *slot = (pairs_slot){key, fresh};
    self->count++;
    *ret_is_new = true;
    return &slot->value;
}

void pairs_remove(pairs *self, uint32_t *value)
{
    size_t mask = self->slot_count - 1;
    size_t hole =
        (size_t)((pairs_slot *)(void *)((char *)value - offsetof(pairs_slot, value)) - self->slots);
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
