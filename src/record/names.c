#include "record/names.h"

#include "base/str.h"

#define BLANK_TEXT   UINT32_C(0x80000000)
#define LAYOUTS_MOST ((1u << 24) - 1)
#define TEXTS_MOST   ((1u << 31) - 1)

typedef struct known {
    uint64_t hash; /* 0 = free */
    uint32_t id;
    uint32_t bytes;
    char *copy;
} known;

struct names {
    known *table; /* open addressing */
    size_t count, capacity;
    uint32_t texts, layouts;
};

names *names_make(void)
{
    return rec_take(sizeof(names));
}

void names_free(names *self)
{
    if (self != NULL) {
        for (size_t i = 0; i < self->capacity; i++) {
            rec_free(self->table[i].copy);
        }
        rec_free(self->table);
        rec_free(self);
    }
}

static uint64_t hash_of(cg_str key)
{
    uint64_t hash = spool_sum(key.ptr, key.len, 1);

    return hash != 0 ? hash : 1;
}

static known *find(names *self, cg_str key, uint64_t hash)
{
    size_t at = (size_t)hash & (self->capacity - 1);

    while (self->table[at].hash != 0 &&
           !(self->table[at].hash == hash && self->table[at].bytes == key.len &&
             memcmp(self->table[at].copy, key.ptr, key.len) == 0)) {
        at = (at + 1) & (self->capacity - 1);
    }
    return &self->table[at];
}

static bool make_room(names *self)
{
    if (self->count * 2 < self->capacity) {
        return true;
    }
    size_t capacity = self->capacity == 0 ? 256 : self->capacity * 2;
    known *table = rec_take(capacity * sizeof *table);
    if (table == NULL) {
        return false;
    }
    for (size_t i = 0; i < self->capacity; i++) {
        if (self->table[i].hash != 0) {
            size_t at = (size_t)self->table[i].hash & (capacity - 1);

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

/* The definition into this thread's lane: head, body, padding. */
static bool define(cg_record *session, slot head, const void *body, size_t bytes)
{
    lane *here = lane_of(session);
    size_t whole = (sizeof head + bytes + SPOOL_UNIT - 1) / SPOOL_UNIT * SPOOL_UNIT;

    head.lane = (uint16_t)(whole / SPOOL_UNIT);
    char *to = here == NULL ? NULL : lane_take(here, whole, head.kind);
    if (to == NULL) {
        atomic_store_explicit(&session->has_lost_names, true, memory_order_relaxed);
        return false;
    }
    memset(to + whole - SPOOL_UNIT, 0, SPOOL_UNIT);
    memcpy(to, &head, sizeof head);
    memcpy(to + sizeof head, body, bytes);
    lane_give(here, whole);
    return true;
}

/*
 * The number of `key`. The first byte of a key tells texts from layouts. `from` is where the body
 * of the definition begins in it.
 */
static uint32_t number_of(cg_record *session, cg_str key, slot head, size_t from)
{
    uint64_t hash = hash_of(key);
    uint32_t id = 0;

    pthread_mutex_lock(&session->names_mutex);
    names *self = session->names;
    if (self != NULL && make_room(self)) {
        known *at = find(self, key, hash);

        if (at->hash != 0) {
            id = at->id;
        } else {
            bool is_text = head.kind == SPOOL_NAME;
            uint32_t next = (is_text ? self->texts : self->layouts) + 1;
            char *copy = next <= (is_text ? TEXTS_MOST : LAYOUTS_MOST) ? rec_take(key.len) : NULL;

            head.span |= next; /* the blank mark is set already */
            if (copy != NULL && define(session, head, key.ptr + from, key.len - from)) {
                memcpy(copy, key.ptr, key.len);
                *at = (known){hash, head.span, (uint32_t)key.len, copy};
                self->count++;
                id = head.span;
                self->texts += is_text;
                self->layouts += !is_text;
            } else {
                rec_free(copy);
            }
        }
    }
    pthread_mutex_unlock(&session->names_mutex);
    return id;
}

cg_record_name names_text(cg_record *session, cg_str text)
{
    char key[SPOOL_TEXT_BYTES + 1];
    slot head = {.kind = SPOOL_NAME, .time = text.len};

    if (text.ptr == NULL || text.len > SPOOL_TEXT_BYTES) {
        session_refuse(session, SPOOL_NAME, "a name that is missing or longer than %u bytes",
                       SPOOL_TEXT_BYTES);
        return 0;
    }
    head.span = str_is_blank(text) ? BLANK_TEXT : 0;
    key[0] = 't';
    if (text.len > 0) {
        memcpy(key + 1, text.ptr, text.len);
    }
    return number_of(session, (cg_str){key, text.len + 1}, head, 1);
}

cg_record_layout names_layout(cg_record *session, cg_str dtype, cg_str device,
                              const uint64_t *shape, uint32_t rank)
{
    char key[1 + 8 + 64 * 8];
    slot head = {.kind = SPOOL_LAYOUT, .time = rank};

    if (rank > 64 || (rank > 0 && shape == NULL)) {
        session_refuse(session, SPOOL_LAYOUT, "a layout of %u axes; at most 64", rank);
        return 0;
    }
    uint32_t parts[2] = {names_text(session, dtype), names_text(session, device)};
    if (parts[0] == 0 || parts[1] == 0) {
        return 0;
    }
    key[0] = 'l';
    memcpy(key + 1, parts, sizeof parts);
    if (rank > 0) {
        memcpy(key + 1 + sizeof parts, shape, rank * sizeof *shape);
    }
    return number_of(session, (cg_str){key, 1 + sizeof parts + rank * sizeof *shape}, head, 1);
}
