#include "record/lane.h"

#include <stdarg.h>
#include <stdio.h>

/* --- losses --- */

void session_drop(cg_record *session, unsigned kind)
{
    if (session_is_open(session)) {
        atomic_fetch_add_explicit(&session->header->dropped[kind], 1, memory_order_relaxed);
    }
}

void session_refuse(cg_record *session, unsigned kind, const char *format, ...)
{
    char text[256];
    va_list list;

    if (!session_is_open(session)) {
        return;
    }
    if (atomic_load_explicit(&session->has_lost_names, memory_order_relaxed)) {
        /* What looks like a wrong argument is the name that found no room. */
        session_drop(session, kind);
        return;
    }
    atomic_fetch_add_explicit(&session->header->refused[kind], 1, memory_order_relaxed);
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    pthread_mutex_lock(&session->mutex);
    rec_fail(&session->latched, CG_USAGE, "record-argument", "%s", text);
    pthread_mutex_unlock(&session->mutex);
}

/* --- room in the ring --- */

static void wake_writer(cg_record *session)
{
    if (atomic_load_explicit(&session->is_writer_asleep, memory_order_relaxed) != 0) {
        pthread_mutex_lock(&session->mutex);
        pthread_cond_signal(&session->work);
        pthread_mutex_unlock(&session->mutex);
    }
}

/* Open, and not meanwhile again for another recording. */
static bool is_still_open(const cg_record *session, uint32_t serial)
{
    return session_is_open(session) && atomic_load(&session->serial) == serial;
}

/* Wait until the writer has moved something, cannot, or the session ends. */
static void wait_for_room(cg_record *session, lane *self, uint64_t tail)
{
    pthread_mutex_lock(&session->mutex);
    while (atomic_load_explicit(&self->tail, memory_order_acquire) == tail &&
           atomic_load(&session->spool_error) == 0 && is_still_open(session, self->serial)) {
        pthread_cond_signal(&session->work);
        pthread_cond_wait(&session->room, &session->mutex);
    }
    pthread_mutex_unlock(&session->mutex);
}

bool lane_room(lane *self, uint64_t bytes, unsigned kind)
{
    cg_record *session = atomic_load_explicit(&self->session, memory_order_relaxed);

    if (session == NULL || !is_still_open(session, self->serial)) {
        return false;
    }
    uint64_t ring = self->mask + 1;
    /* Thousands of open spans must not claim the whole ring for their ends. */
    uint64_t reserved = self->reserved < ring / 2 ? self->reserved : ring / 2;
    uint64_t end = self->head + bytes + reserved;
    for (;;) {
        uint64_t tail = atomic_load_explicit(&self->tail, memory_order_acquire);

        if (session->is_scratch) {
            tail = self->head;
            atomic_store_explicit(&self->tail, tail, memory_order_relaxed);
        }
        if (end - tail <= ring) {
            uint64_t limit = end + ring / 4; /* look again after a quarter */

            if (limit - tail > ring) {
                limit = tail + ring;
            }
            atomic_store_explicit(&self->limit, limit, memory_order_relaxed);
            if (end - tail >= ring / 2 && atomic_load(&session->spool_error) == 0) {
                wake_writer(session);
            }
            return true;
        }
        /* A record may be left out; without its name all that bear it would be. */
        bool is_definition = kind == SPOOL_NAME || kind == SPOOL_LAYOUT;

        if ((session->may_drop && !is_definition) || atomic_load(&session->spool_error) != 0) {
            session_drop(session, kind);
            return false;
        }
        wait_for_room(session, self, tail);
        if (!is_still_open(session, self->serial)) {
            return false;
        }
    }
}

/* --- open spans --- */

bool lane_grow_stack(lane *self)
{
    uint32_t capacity = self->stack_capacity * 2;
    uint64_t *stack = rec_resize(self->stack, capacity * sizeof *stack);

    if (stack == NULL) {
        return false;
    }
    self->stack = stack;
    self->stack_capacity = capacity;
    return true;
}

void lane_pop(lane *self, uint64_t reference)
{
    for (uint32_t i = self->depth; i > 0; i--) {
        if (self->stack[i] == reference) {
            self->reserved -= (uint64_t)(self->depth - i + 1) * END_BYTES;
            self->depth = i - 1;
            return;
        }
    }
}
