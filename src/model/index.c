#include "model/index.h"

#include "base/num.h"

#define INDEX_SEED  UINT64_C(0x9e3779b97f4a7c15)
#define INDEX_PRIME UINT64_C(0xff51afd7ed558ccd)
#define HIGH_HALF   UINT64_C(0xffffffff00000000)

static uint64_t mix(uint64_t hash, uint64_t word)
{
    uint64_t high;
    uint64_t low = num_mul_wide(hash ^ word, INDEX_PRIME, &high);

    return low ^ high;
}

static uint64_t hash_of(const text_index *self, cg_str text)
{
    uint64_t hash = mix(self->seed, text.len);
    size_t at = 0;

    for (; at + 8 <= text.len; at += 8)
        hash = mix(hash, str_load(text.ptr + at, 8));
    if (at < text.len)
        hash = mix(hash, str_load(text.ptr + at, text.len - at));
    return mix(hash, INDEX_SEED);
}

static cg_str key_at(const text_index *self, size_t position)
{
    return *(const cg_str *)(const void *)(self->keys + position * self->stride);
}

/* The slot of `text`: its own, or the free one where it would go. */
static size_t slot_of(const text_index *self, cg_str text, uint64_t hash)
{
    size_t mask = self->slot_count - 1;
    size_t at = (size_t)hash & mask;

    for (;; at = (at + 1) & mask) {
        uint64_t slot = self->slots[at];

        if (slot == 0 || ((slot & HIGH_HALF) == (hash & HIGH_HALF) &&
                          str_equal(key_at(self, (size_t)(slot & UINT32_MAX) - 1), text)))
            return at;
    }
}

bool index_build(text_index *self, heap *from, const sc_records *records, size_t stride,
                 size_t key_offset)
{
    size_t slots = 16;

    *self = (text_index){.heap = from, .stride = stride, .count = records->count};
    while (slots < records->count * 2)
        slots *= 2;
    if (records->count >= UINT32_MAX)
        return false;
    self->keys = records->count > 0 ? (const char *)records->at + key_offset : NULL;
    self->slots = heap_resize(from, NULL, 0, slots * sizeof *self->slots);
    if (self->slots == NULL)
        return false;
    memset(self->slots, 0, slots * sizeof *self->slots);
    self->slot_count = slots;
    /* Names come from the scanned crate: where they collide must not be theirs to choose. */
    self->seed = INDEX_SEED ^ (uint64_t)(uintptr_t)self->slots;
    for (size_t i = 0; i < records->count; i++) {
        cg_str key = key_at(self, i);
        uint64_t hash = hash_of(self, key);
        size_t at = slot_of(self, key, hash);

        if (self->slots[at] == 0)
            self->slots[at] = (hash & HIGH_HALF) | (uint64_t)(i + 1);
    }
    return true;
}

void index_free(text_index *self)
{
    if (self->slots != NULL)
        heap_resize(self->heap, self->slots, self->slot_count * sizeof *self->slots, 0);
    *self = (text_index){0};
}

size_t index_find(const text_index *self, cg_str text)
{
    uint64_t slot;

    if (self->slots == NULL || text.ptr == NULL)
        return INDEX_NONE;
    slot = self->slots[slot_of(self, text, hash_of(self, text))];
    return slot == 0 ? INDEX_NONE : (size_t)(slot & UINT32_MAX) - 1;
}
