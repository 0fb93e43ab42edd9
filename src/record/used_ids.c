#include "record/used_ids.h"

#include <string.h>

#include "record/spool.h"
#include "record/sys.h"

static known_id *id_find(const used_ids *self, cg_str id, uint64_t hash)
{
    size_t at = (size_t)hash & (self->capacity - 1);

    for (;; at = (at + 1) & (self->capacity - 1)) {
        known_id *entry = &self->table[at];

        if (entry->hash == 0 || (entry->hash == hash && entry->len == id.len &&
                                 memcmp(self->texts.at + entry->at, id.ptr, id.len) == 0)) {
            return entry;
        }
    }
}

static uint64_t id_hash(cg_str id)
{
    uint64_t hash = spool_sum(id.ptr, id.len, 1);

    return hash != 0 ? hash : 1;
}

static bool id_make_room(used_ids *self)
{
    if (self->count * 2 < self->capacity) {
        return true;
    }
    size_t capacity = self->capacity == 0 ? 256 : self->capacity * 2;
    known_id *table = rec_take(capacity * sizeof *table);
    if (table == NULL) {
        return false;
    }
    for (size_t i = 0; i < self->capacity; i++) {
        size_t at = (size_t)self->table[i].hash & (capacity - 1);

        if (self->table[i].hash != 0) {
            while (table[at].hash != 0) {
                at = (at + 1) & (capacity - 1);
            }
            table[at] = self->table[i];
        }
    }
    rec_free(self->table);
    self->table = table;
    self->capacity = capacity;
    return true;
}

enum used_id used_ids_add(used_ids *self, cg_str id)
{
    if (!id_make_room(self)) {
        return USED_ID_NO_MEMORY;
    }
    uint64_t hash = id_hash(id);
    known_id *entry = id_find(self, id, hash);
    if (entry->hash != 0) {
        return USED_ID_AGAIN;
    }
    size_t at = self->texts.len;
    text_add(&self->texts, id);
    if (self->texts.failed) {
        return USED_ID_NO_MEMORY;
    }
    *entry = (known_id){hash, at, id.len};
    self->count++;
    return USED_ID_NEW;
}

void used_ids_free(used_ids *self)
{
    text_free(&self->texts);
    rec_free(self->table);
    *self = (used_ids){0};
}
