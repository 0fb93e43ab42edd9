/*
 * lane - one thread's way into a session: a ring in the spool, with its beginning mapped once more
 * behind its end so that a record never wraps, and the stack of the spans this thread has open.
 *
 * The owning thread writes; the session's writer thread moves what is whole to chunks. They share
 * `head` (in the file, stored after the record it covers), `tail` and `limit`. While
 * head + record + reserved <= limit nothing else is looked at: limit is where the owner must look
 * again, be it that the ring is full, that the writer should be woken, or that the session is over
 * (limit 0).
 *
 * Process-wide state, the only one of the recorder: the lane last used by a thread, the sessions
 * that are or were open (their memory is reused, never returned, so that a late call finds a
 * closed session and not a hole), and what one record costs on this machine.
 */
#ifndef CG_RECORD_LANE_H
#define CG_RECORD_LANE_H

#include "candlegraph/record.h"
#include "record/describe.h"
#include "record/spool.h"

enum session_state { SESSION_CLOSED = 0, SESSION_OPEN, SESSION_ENDING, SESSION_FORKED };

/* The root span: number 1 of lane 0. */
#define ROOT_REFERENCE UINT64_C(1)
#define END_BYTES      16u /* every open span keeps room for its end */
/* Of the ring's beginning behind its end: no record is longer. */
#define WRAP_BYTES ((SPOOL_RECORD_BYTES + SPOOL_PAGE - 1) / SPOOL_PAGE * SPOOL_PAGE)

typedef struct lane_place {
    uint64_t what; /* layout << 32 | name */
    uint64_t size; /* (number of inputs + 1) << 32 | their dense bytes; 0: nothing here yet */
} lane_place;

typedef struct lane {
    _Atomic uint64_t limit;
    uint64_t head;
    uint64_t reserved;
    char *ring;
    uint64_t mask;
    _Atomic uint64_t *shared_head;
    _Atomic(struct cg_record *) session; /* NULL once the session is over */
    uint32_t serial;
    uint32_t number; /* of the lane, from 1 */
    uint32_t spans;
    uint32_t depth;
    uint64_t *stack; /* [0] is the root */
    uint64_t began;  /* when the last span did, on this lane */
    uint32_t stack_capacity;
    enum clock_kind clock;
    lane_place places[SPOOL_PLACES]; /* what the stream has left in them */

    _Alignas(64) _Atomic uint64_t tail;
    spool_lane *page; /* the ring follows, and its first WRAP_BYTES once more */
    spool_stream stream;
    uint64_t offset;         /* of the extent in the file */
    struct lane *next_owned; /* of the same thread */
    bool is_owned;           /* under the process lock */
} lane;

struct cg_record {
    _Atomic uint32_t serial;
    _Atomic uint32_t state;
    const rec_sys *sys;
    spool_header *header; /* never moves; empty memory while no spool is open */
    uint64_t ring_bytes;
    bool may_drop;
    atomic_bool has_lost_names; /* a definition found no room: the disk is full */
    bool is_scratch; /* measuring the cost of a record: the ring is reused without a file */
    enum clock_kind clock;
    _Atomic int spool_error; /* chunks cannot be written */

    pthread_mutex_t mutex; /* lanes, writer, latched error */
    pthread_cond_t work, room;
    _Atomic uint32_t is_writer_asleep;
    bool is_stopping;
    bool is_spare_wanted;
    uint64_t flush_wanted, flush_done;
    unsigned flushing; /* threads inside cg_record_flush */
    pthread_t writer;
    atomic_bool has_writer;       /* asked by late threads while the next session begins, */
    _Atomic uint64_t began_ticks; /* as is this: begin.ticks of the header */
    lane **lanes;
    size_t lane_count, lane_capacity;
    cg_err latched;

    pthread_mutex_t file_mutex; /* the end of the spool */
    int file;
    uint64_t file_end;
    uint64_t file_ahead; /* blocks are taken up to here */
    bool is_block_file;  /* taking them ahead of the writes is worth it, and possible */
    char *path, *spool_path;

    pthread_mutex_t names_mutex;
    struct names *names;

    struct cg_record *next; /* in the pool */
};

/* Found without a call, in a shared object too: eight bytes of static thread memory. */
#define LANE_NEAR __attribute__((tls_model("initial-exec")))
extern _Thread_local lane *lane_here LANE_NEAR;

/* Whether calls on this session still record. */
static inline bool session_is_open(const cg_record *session)
{
    return atomic_load_explicit(&session->state, memory_order_acquire) == SESSION_OPEN;
}

/* The lane of this thread in `session`, made if need be; NULL when the session is over. */
lane *lane_find(cg_record *session);
/* Room for `bytes` behind head, by waiting if need be. False: dropped (and counted), or over. */
bool lane_room(lane *self, uint64_t bytes, unsigned kind);
bool lane_grow_stack(lane *self);
/* `reference` is not on top: end what is above it, if it is there at all. */
void lane_pop(lane *self, uint64_t reference);

/* Count a record that is left out and keep the first cause. */
void session_refuse(cg_record *session, unsigned kind, const char *format, ...) CG_PRINTF(3, 4);
/* Count a record that found no room, or whose span found none. */
void session_drop(cg_record *session, unsigned kind);

static inline lane *lane_of(cg_record *session)
{
    lane *self = lane_here;

    if (__builtin_expect(self != NULL &&
                             atomic_load_explicit(&self->session, memory_order_relaxed) == session,
                         1)) {
        return self;
    }
    return lane_find(session);
}

/* Whether `bytes` more fit for sure. */
static inline bool lane_has(const lane *self, uint64_t bytes)
{
    uint64_t end = self->head + bytes + self->reserved;

    return __builtin_expect(end <= atomic_load_explicit(&self->limit, memory_order_relaxed), 1);
}

static inline void *lane_head(const lane *self)
{
    return self->ring + (self->head & self->mask);
}

/* Where the next record of `bytes` goes, or NULL. */
static inline void *lane_take(lane *self, uint64_t bytes, unsigned kind)
{
    return lane_has(self, bytes) || lane_room(self, bytes, kind) ? lane_head(self) : NULL;
}

/* The record is whole: from now on it survives the process. */
static inline void lane_give(lane *self, uint64_t bytes)
{
    self->head += bytes;
    atomic_store_explicit(self->shared_head, self->head, memory_order_release);
}

#endif
