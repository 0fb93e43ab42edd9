#include "record/known_texts.h"

#include <string.h>

#include "record/spool.h"
#include "record/sys.h"

static known_text *known_find(const known_texts *self, cg_str text, uint64_t hash)
{
    size_t at = (size_t)hash & (self->capacity - 1);

    for (;; at = (at + 1) & (self->capacity - 1)) {
        known_text *entry = &self->table[at];

        if (entry->hash == 0 || (entry->hash == hash && entry->len == text.len &&
                                 memcmp(self->texts.at + entry->at, text.ptr, text.len) == 0)) {
            return entry;
        }
    }
}

static bool known_make_room(known_texts *self)
{
    if (self->count * 2 < self->capacity) {
        return true;
    }
    size_t capacity = self->capacity == 0 ? 256 : self->capacity * 2;
    known_text *table = rec_take(capacity * sizeof *table);
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

known_text *known_texts_put(known_texts *self, cg_str text, bool *ret_is_new)
{
    uint64_t hash = spool_sum(text.ptr, text.len, 1);

    *ret_is_new = false;
    if (!known_make_room(self)) {
        return NULL;
    }
    hash = hash != 0 ? hash : 1;
    known_text *entry = known_find(self, text, hash);
    if (entry->hash != 0) {
        return entry;
    }
    size_t at = self->texts.len;
    text_add(&self->texts, text);
    if (self->texts.failed) {
        self->texts.failed = false; /* for the next one there may be memory again */
        return NULL;
    }
    *entry = (known_text){.hash = hash, .at = at, .len = text.len};
    self->count++;
    *ret_is_new = true;
    return entry;
}

void known_texts_take_back(known_texts *self, known_text *entry)
{
    self->texts.len = entry->at;
    *entry = (known_text){0};
    self->count--;
}

void known_texts_free(known_texts *self)
{
    text_free(&self->texts);
    rec_free(self->table);
    *self = (known_texts){0};
}
