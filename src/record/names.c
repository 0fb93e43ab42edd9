#include "record/names.h"

#include "base/str.h"
#include "record/known_texts.h"

#define BLANK_TEXT   UINT32_C(0x80000000)
#define LAYOUTS_MOST ((1u << 24) - 1)
#define TEXTS_MOST   ((1u << 31) - 1)

struct names {
    known_texts known; /* by key; the number is what the program gets */
    uint32_t texts, layouts;
};

names *names_make(void)
{
    return rec_take(sizeof(names));
}

void names_free(names *self)
{
    if (self != NULL) {
        known_texts_free(&self->known);
        rec_free(self);
    }
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
    bool is_text = head.kind == SPOOL_NAME;
    bool is_new = false;
    uint32_t id = 0;

    pthread_mutex_lock(&session->names_mutex);
    names *self = session->names;
    known_text *entry = self != NULL ? known_texts_put(&self->known, key, &is_new) : NULL;
    if (is_new) {
        uint32_t next = (is_text ? self->texts : self->layouts) + 1;

        head.span |= next; /* the blank mark is set already */
        if (next <= (is_text ? TEXTS_MOST : LAYOUTS_MOST) &&
            define(session, head, key.ptr + from, key.len - from)) {
            entry->number = head.span;
            self->texts += is_text;
            self->layouts += !is_text;
        } else {
            known_texts_take_back(&self->known, entry);
            entry = NULL;
        }
    }
    if (entry != NULL) {
        id = entry->number;
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
