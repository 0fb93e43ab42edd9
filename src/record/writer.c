#include "record/writer.h"

#include <errno.h>
#include <time.h>

#include "record/process.h"

#define AHEAD_BYTES (UINT64_C(16) << 20)

/*
 * Have blocks for the spool up to `end` and a good way on: a write then need not look for one for
 * each of its pages. Where that cannot be had, writes do without. With the file lock held.
 */
static void take_ahead(cg_record *session, uint64_t end)
{
    const rec_sys *sys = session->sys;

    if (!session->is_block_file || end <= session->file_ahead) {
        return;
    }
    session->is_block_file = sys->take_ahead(sys->context, session->file, session->file_end,
                                             end - session->file_end + AHEAD_BYTES) == 0;
    session->file_ahead = end + AHEAD_BYTES;
}

/* Move what is whole of `self` to a chunk. 0 or the error. */
static int write_chunk(cg_record *session, lane *self)
{
    uint64_t head = atomic_load_explicit(self->shared_head, memory_order_acquire);
    uint64_t tail = atomic_load_explicit(&self->tail, memory_order_relaxed);
    uint64_t inside = tail & self->mask;
    /* Not beyond the ring's end: what follows is at its beginning, for the next chunk. */
    uint64_t bytes = head - tail < self->mask + 1 - inside ? head - tail : self->mask + 1 - inside;
    const char *from = self->ring + inside;
    spool_extent extent = {.magic = SPOOL_EXTENT_MAGIC,
                           .type = SPOOL_CHUNK_EXTENT,
                           .lane = self->number,
                           .position = tail,
                           .bytes = bytes};

    if (bytes == 0) {
        return 0;
    }
    extent.sum = spool_sum(from, (size_t)bytes, tail);
    extent.self_sum = spool_extent_sum(&extent);
    pthread_mutex_lock(&session->file_mutex);
    uint64_t at = session->file_end;
    take_ahead(session, at + sizeof extent + bytes);
    /* The head of the chunk comes last: who finds it finds the rest. */
    int error = rec_write(session->sys, session->file, from, (size_t)bytes, at + sizeof extent);
    if (error == 0) {
        error = rec_write(session->sys, session->file, &extent, sizeof extent, at);
    }
    if (error == 0 &&
        !spool_add_run(&self->stream, (spool_run){tail, bytes, at + sizeof extent, NULL})) {
        error = ENOMEM;
    }
    if (error == 0) {
        session->file_end = at + sizeof extent + bytes;
        atomic_store_explicit(&self->tail, tail + bytes, memory_order_release);
    }
    pthread_mutex_unlock(&session->file_mutex);
    return error;
}

static uint64_t lane_backlog(const lane *self)
{
    return atomic_load_explicit(self->shared_head, memory_order_acquire) -
           atomic_load_explicit(&self->tail, memory_order_relaxed);
}

void session_note_clock(cg_record *session)
{
    clock_pair now = clock_now(session->clock);

    session->header->seen_ticks = 0;
    session->header->seen_ns = now.ns;
    session->header->seen_ticks = now.ticks;
}

/* One round over all lanes; true when something was written. Called with the mutex held. */
static bool write_round(cg_record *session, uint64_t least)
{
    bool has_written = false;

    for (size_t i = 0; i < session->lane_count; i++) {
        lane *self = session->lanes[i];

        if (lane_backlog(self) < least || lane_backlog(self) == 0) {
            continue;
        }
        pthread_mutex_unlock(&session->mutex);
        int error = write_chunk(session, self);
        pthread_mutex_lock(&session->mutex);
        atomic_store(&session->spool_error, error);
        if (error != 0) {
            return false;
        }
        has_written = true;
        pthread_cond_broadcast(&session->room);
    }
    return has_written;
}

static void *writer_run(void *argument)
{
    cg_record *session = argument;
    bool had_error = false;

    pthread_mutex_lock(&session->mutex);
    while (!session->is_stopping) {
        uint64_t wanted = session->flush_wanted;
        bool is_flush = wanted != session->flush_done;

        if (write_round(session, is_flush ? 1 : session->ring_bytes / 4)) {
            continue;
        }
        if (session->is_spare_wanted) {
            session->is_spare_wanted = false;
            pthread_mutex_unlock(&session->mutex);
            process_make_spare_lane(session);
            pthread_mutex_lock(&session->mutex);
            continue;
        }
        had_error = atomic_load(&session->spool_error) != 0;
        if (is_flush) {
            session_note_clock(session);
            session->flush_done = wanted;
            pthread_cond_broadcast(&session->room);
            continue;
        }
        if (had_error) {
            /* The threads drop meanwhile; the disk may have room again. */
            struct timespec until;

            pthread_cond_broadcast(&session->room);
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec += 100000000;
            if (until.tv_nsec >= 1000000000) {
                until.tv_nsec -= 1000000000;
                until.tv_sec++;
            }
            pthread_cond_timedwait(&session->work, &session->mutex, &until);
        } else {
            session_note_clock(session);
            atomic_store(&session->is_writer_asleep, 1);
            pthread_cond_wait(&session->work, &session->mutex);
            atomic_store(&session->is_writer_asleep, 0);
        }
    }
    pthread_mutex_unlock(&session->mutex);
    return NULL;
}

int writer_start(cg_record *session)
{
    int error = session->sys->thread(session->sys->context, &session->writer, writer_run, session);

    session->has_writer = error == 0;
    return error;
}

void writer_stop(cg_record *session)
{
    pthread_mutex_lock(&session->mutex);
    session->is_stopping = true;
    pthread_cond_broadcast(&session->work);
    pthread_cond_broadcast(&session->room);
    pthread_mutex_unlock(&session->mutex);
    if (session->has_writer) {
        pthread_join(session->writer, NULL);
        session->has_writer = false;
    }
}
