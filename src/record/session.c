#define CG_BANNED_EXEMPT
#include "base/banned.h"

#include "record/session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/convert.h"
#include "record/names.h"

#define AHEAD_BYTES (UINT64_C(16) << 20)
#define ZERO_BYTES  ((size_t)256 << 10)

_Thread_local lane *lane_here LANE_NEAR;
static _Thread_local lane *lane_owned LANE_NEAR; /* all lanes of this thread */

static pthread_mutex_t process_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t process_once = PTHREAD_ONCE_INIT;
static pthread_key_t process_key;
static bool process_is_ready;
static cg_record *process_sessions; /* all that ever were, never freed */
static uint32_t process_serial;

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

/* --- the writer --- */

static void make_spare_lane(cg_record *session);

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

/* The writer: move what is whole of `self` to a chunk. 0 or the error. */
static int session_write_chunk(cg_record *session, lane *self)
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

static void note_clock(cg_record *session)
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
        int error = session_write_chunk(session, self);
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

static void *run_writer(void *argument)
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
            make_spare_lane(session);
            pthread_mutex_lock(&session->mutex);
            continue;
        }
        had_error = atomic_load(&session->spool_error) != 0;
        if (is_flush) {
            note_clock(session);
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
            note_clock(session);
            atomic_store(&session->is_writer_asleep, 1);
            pthread_cond_wait(&session->work, &session->mutex);
            atomic_store(&session->is_writer_asleep, 0);
        }
    }
    pthread_mutex_unlock(&session->mutex);
    return NULL;
}

/* --- lanes --- */

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

static size_t mapped_bytes(uint64_t ring)
{
    return SPOOL_PAGE + (size_t)ring + WRAP_BYTES;
}

/* Page and ring, the ring's beginning once more behind it. */
static bool map_ring(lane *self, const rec_sys *sys, int file, uint64_t offset, uint64_t ring)
{
    size_t whole = mapped_bytes(ring);
    char *at = sys->map(sys->context, NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int flags = MAP_SHARED | MAP_FIXED;

    if (at == MAP_FAILED) {
        return false;
    }
    if (sys->map(sys->context, at, SPOOL_PAGE + (size_t)ring, PROT_READ | PROT_WRITE, flags, file,
                 offset) == MAP_FAILED ||
        sys->map(sys->context, at + SPOOL_PAGE + ring, WRAP_BYTES, PROT_READ | PROT_WRITE, flags,
                 file, offset + SPOOL_PAGE) == MAP_FAILED) {
        int error = errno;

        munmap(at, whole);
        errno = error;
        return false;
    }
    self->page = (spool_lane *)(void *)at;
    self->ring = at + SPOOL_PAGE;
    self->mask = ring - 1;
    self->shared_head = &self->page->head;
    return true;
}

/* Touch every page for writing, so that recording does not fault. */
static void populate(lane *self)
{
#ifdef MADV_POPULATE_WRITE
    if (madvise(self->ring, (size_t)self->mask + 1 + WRAP_BYTES, MADV_POPULATE_WRITE) == 0) {
        return;
    }
#endif
    for (uint64_t at = 0; at <= self->mask + WRAP_BYTES; at += SPOOL_PAGE) {
        *(volatile char *)(self->ring + at) = 0;
    }
}

bool lane_make_anonymous(lane *self, cg_record *session, uint64_t ring_bytes)
{
    size_t whole = mapped_bytes(ring_bytes);
    char *at = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED) {
        return false;
    }
    self->page = (spool_lane *)(void *)at;
    self->ring = at + SPOOL_PAGE;
    self->mask = ring_bytes - 1;
    self->shared_head = &self->page->head;
    self->stack_capacity = 32;
    self->stack = rec_take(self->stack_capacity * sizeof *self->stack);
    if (self->stack == NULL) {
        lane_unmap(self);
        return false;
    }
    self->stack[0] = ROOT_REFERENCE;
    self->number = 1;
    self->clock = session->clock;
    self->serial = atomic_load(&session->serial);
    atomic_store(&self->session, session);
    populate(self);
    return true;
}

void lane_unmap(lane *self)
{
    if (self->page != NULL) {
        munmap(self->page, mapped_bytes(self->mask + 1));
        self->page = NULL;
    }
}

static void lane_destroy(lane *self)
{
    lane_unmap(self);
    rec_free(self->stack);
    rec_free(self->stream.runs);
    rec_free(self);
}

/* SIGXFSZ would kill the program where a full disk only fails: it waits until we are done. */
typedef struct quiet {
    sigset_t before;
    bool was_pending;
} quiet;

static void be_quiet(quiet *self)
{
    sigset_t size;
    sigset_t pending;

    sigemptyset(&size);
    sigaddset(&size, SIGXFSZ);
    sigemptyset(&pending);
    sigpending(&pending);
    self->was_pending = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &size, &self->before);
}

static void be_normal(const quiet *self)
{
    sigset_t size;
    struct timespec now = {0, 0};

    sigemptyset(&size);
    sigaddset(&size, SIGXFSZ);
    if (!self->was_pending) {
        while (sigtimedwait(&size, NULL, &now) == SIGXFSZ) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &self->before, NULL);
}

/*
 * Zeros for a ring, in writes of middling size. A first store through the mapping costs the kernel
 * four times as much a page; one write of everything makes folios so large that populating them
 * page by page does.
 */
static int zero_ring(cg_record *session, uint64_t at, uint64_t ring)
{
    char *zeros = rec_take(ZERO_BYTES);
    int error = zeros == NULL ? ENOMEM : 0;

    for (uint64_t done = 0; done < ring && error == 0; done += ZERO_BYTES) {
        uint64_t left = ring - done;

        error = rec_write(session->sys, session->file, zeros,
                          left < ZERO_BYTES ? (size_t)left : ZERO_BYTES, at + done);
    }
    rec_free(zeros);
    return error;
}

/* A page-aligned extent at the end of the spool. 0 or the error. */
static int lane_make_extent(cg_record *session, lane *self)
{
    const rec_sys *sys = session->sys;
    uint64_t ring = session->ring_bytes;
    int error = 0;

    pthread_mutex_lock(&session->file_mutex);
    uint64_t at = (session->file_end + SPOOL_PAGE - 1) / SPOOL_PAGE * SPOOL_PAGE;
    /* Blocks are taken now: a full disk is an error here and not a signal at a store. */
    error = sys->allocate(sys->context, session->file, at, SPOOL_PAGE + ring);
    if (error == 0 && session->is_block_file) {
        error = zero_ring(session, at + SPOOL_PAGE, ring);
    }
    if (error == 0 && !map_ring(self, sys, session->file, at, ring)) {
        error = errno;
    }
    if (error == 0) {
        self->offset = at;
        self->page->extent = (spool_extent){.type = SPOOL_LANE_EXTENT,
                                            .lane = self->number,
                                            .bytes = ring,
                                            .magic = SPOOL_EXTENT_MAGIC};
        self->page->head = 0;
        atomic_signal_fence(memory_order_release);
        self->page->extent.self_sum = spool_extent_sum(&self->page->extent);
        session->file_end = at + SPOOL_PAGE + ring;
        populate(self);
    }
    pthread_mutex_unlock(&session->file_mutex);
    return error;
}

/* Room for one more in the list. */
static bool grow_lanes_list(cg_record *session)
{
    if (session->lane_count < session->lane_capacity) {
        return true;
    }
    size_t capacity = session->lane_capacity == 0 ? 16 : session->lane_capacity * 2;
    lane **lanes = NULL;

    pthread_mutex_lock(&session->mutex);
    lanes = rec_resize(session->lanes, capacity * sizeof *lanes);
    if (lanes != NULL) {
        session->lanes = lanes;
        session->lane_capacity = capacity;
    }
    pthread_mutex_unlock(&session->mutex);
    return lanes != NULL;
}

/* With the process lock held. 0 or the error. */
static int lane_make(cg_record *session, lane **ret)
{
    void *room = NULL;

    if (session->lane_count == SPOOL_LANES) {
        return EMFILE;
    }
    if (!grow_lanes_list(session) || posix_memalign(&room, 64, sizeof(lane)) != 0) {
        return ENOMEM;
    }
    lane *self = room;
    memset(self, 0, sizeof *self);
    self->clock = session->clock;
    self->number = (uint32_t)session->lane_count + 1;
    self->serial = atomic_load(&session->serial);
    self->stack_capacity = 32;
    self->stack = rec_take(self->stack_capacity * sizeof *self->stack);
    int error = ENOMEM;
    if (self->stack != NULL) {
        quiet calm;

        self->stack[0] = ROOT_REFERENCE;
        be_quiet(&calm); /* this may be any thread of the program */
        error = lane_make_extent(session, self);
        be_normal(&calm);
    }
    if (error != 0) {
        lane_destroy(self);
        return error;
    }
    atomic_store(&self->session, session);
    pthread_mutex_lock(&session->mutex);
    session->lanes[session->lane_count++] = self;
    pthread_mutex_unlock(&session->mutex);
    *ret = self;
    return 0;
}

/* Lanes of this thread whose session is over go; with the process lock held. */
static void sweep_owned(void)
{
    lane **at = &lane_owned;

    while (*at != NULL) {
        lane *self = *at;

        if (atomic_load(&self->session) == NULL) {
            *at = self->next_owned;
            lane_destroy(self);
        } else {
            at = &self->next_owned;
        }
    }
}

/* A thread goes: its lanes are free for the next one. */
static void leave_thread(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&process_mutex);
    sweep_owned();
    for (lane *self = lane_owned; self != NULL; self = self->next_owned) {
        self->is_owned = false;
    }
    lane_owned = NULL;
    lane_here = NULL;
    pthread_mutex_unlock(&process_mutex);
}

static void before_fork(void)
{
    pthread_mutex_lock(&process_mutex);
}

static void after_fork_parent(void)
{
    pthread_mutex_unlock(&process_mutex);
}

/*
 * The child has the parent's mappings: it must not store into them. Sessions are marked, lanes
 * send their owner to look. Locks of a session may be held by a thread that is not here, so
 * nothing of it is touched any more; its memory stays.
 */
static void after_fork_child(void)
{
    for (cg_record *session = process_sessions; session != NULL; session = session->next) {
        if (atomic_load(&session->state) != SESSION_CLOSED) {
            for (size_t i = 0; i < session->lane_count; i++) {
                atomic_store(&session->lanes[i]->limit, 0);
                atomic_store(&session->lanes[i]->session, NULL);
            }
            atomic_store(&session->state, SESSION_FORKED);
        }
    }
    lane_here = NULL;
    lane_owned = NULL;
    pthread_mutex_unlock(&process_mutex);
}

static void prepare_process(void)
{
    process_is_ready = pthread_key_create(&process_key, leave_thread) == 0 &&
                       pthread_atfork(before_fork, after_fork_parent, after_fork_child) == 0;
}

/*
 * Making a ring takes the kernel most of a millisecond: one is kept ready, so that a thread that
 * records for the first time inside a measured region does not spend it there.
 */
static void make_spare_lane(cg_record *session)
{
    lane *spare = NULL;

    pthread_mutex_lock(&process_mutex);
    for (size_t i = 0; i < session->lane_count && spare == NULL; i++) {
        spare = session->lanes[i]->is_owned ? NULL : session->lanes[i];
    }
    if (spare == NULL && session_is_open(session) && lane_make(session, &spare) == 0) {
        spare->is_owned = false;
    }
    pthread_mutex_unlock(&process_mutex);
}

/* A free lane of the session, or a new one; with the process lock held. */
static lane *adopt(cg_record *session)
{
    lane *self = NULL;

    for (size_t i = 0; i < session->lane_count; i++) {
        if (!session->lanes[i]->is_owned) {
            self = session->lanes[i];
            self->depth = 0;
            self->reserved = 0;
            break;
        }
    }
    if (self == NULL) {
        int error = lane_make(session, &self);

        if (error != 0) {
            session_refuse(session, SPOOL_BEGIN, "a thread found no room in the spool: %s",
                           strerror(error));
            return NULL;
        }
    }
    self->is_owned = true;
    self->next_owned = lane_owned;
    lane_owned = self;
    pthread_setspecific(process_key, self);
    if (session->has_writer) {
        pthread_mutex_lock(&session->mutex);
        session->is_spare_wanted = true;
        pthread_cond_signal(&session->work);
        pthread_mutex_unlock(&session->mutex);
    }
    return self;
}

lane *lane_find(cg_record *session)
{
    lane *self = NULL;

    if (!session_is_open(session)) {
        return NULL;
    }
    for (lane *other = lane_owned; other != NULL; other = other->next_owned) {
        if (atomic_load_explicit(&other->session, memory_order_relaxed) == session) {
            lane_here = other;
            return other;
        }
    }
    pthread_mutex_lock(&process_mutex);
    sweep_owned();
    lane_here = NULL;
    if (session_is_open(session)) {
        self = adopt(session);
    }
    pthread_mutex_unlock(&process_mutex);
    lane_here = self;
    return self;
}

/* --- opening --- */

static uint64_t ring_size(const cg_record_options *options)
{
    uint64_t wanted = options != NULL && options->ring_bytes != 0 ? options->ring_bytes : 2u << 20;
    uint64_t size = SPOOL_RING_LEAST;

    while (size < wanted && size < SPOOL_RING_MOST) {
        size *= 2;
    }
    return size;
}

static char *join(const char *path, const char *end)
{
    size_t length = strlen(path);
    size_t more = strlen(end) + 1;
    char *text = rec_take(length + more);

    if (text != NULL) {
        memcpy(text, path, length);
        memcpy(text + length, end, more);
    }
    return text;
}

/* The spool of a dead run is never overwritten: the next one gets another number. */
static int create_spool(cg_record *session, const char *path)
{
    for (unsigned i = 1; i < 100; i++) {
        char end[16];

        if (i == 1) {
            snprintf(end, sizeof end, ".spool");
        } else {
            snprintf(end, sizeof end, ".%u.spool", i);
        }
        rec_free(session->spool_path);
        session->spool_path = join(path, end);
        if (session->spool_path == NULL) {
            return ENOMEM;
        }
        session->file = session->sys->open(session->sys->context, session->spool_path,
                                           O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
        if (session->file >= 0) {
            return 0;
        }
        if (errno != EEXIST) {
            return errno;
        }
    }
    return EEXIST;
}

static int map_header(cg_record *session, const description *about)
{
    const rec_sys *sys = session->sys;
    uint64_t total = 0;
    rec_text all = {0};

    for (unsigned i = 0; i < SPOOL_PIECES; i++) {
        total += about->pieces[i].len;
        text_add(&all, text_str(&about->pieces[i]));
    }
    uint64_t bytes = SPOOL_PAGE + (total + SPOOL_PAGE - 1) / SPOOL_PAGE * SPOOL_PAGE;
    int error = all.failed           ? ENOMEM
                : bytes > UINT32_MAX ? EFBIG
                                     : sys->allocate(sys->context, session->file, 0, bytes);
    if (error == 0) {
        error = rec_write(sys, session->file, text_str(&all).ptr, all.len, SPOOL_PAGE);
    }
    if (error == 0) {
        void *at = sys->map(sys->context, session->header, SPOOL_PAGE, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_FIXED, session->file, 0);

        if (at == MAP_FAILED) {
            error = errno;
        } else {
            session->header->header_bytes = (uint32_t)bytes;
            for (unsigned i = 0; i < SPOOL_PIECES; i++) {
                session->header->piece_bytes[i] = about->pieces[i].len;
            }
            memcpy(session->header->levels, about->levels, sizeof about->levels);
            session->file_end = bytes;
            session->file_ahead = bytes;
            session->is_block_file =
                sys->take_ahead(sys->context, session->file, bytes, SPOOL_PAGE) == 0;
        }
    }
    text_free(&all);
    return error;
}

/* The clock begins; from here on the spool can be recovered. */
static void start_header(cg_record *session, uint64_t rate, const description *about)
{
    spool_header *header = session->header;
    record_cost cost = cost_measure(session->clock, rate);
    rec_text all = {0};

    header->version = SPOOL_VERSION;
    header->pid = (uint64_t)getpid();
    header->clock = (uint32_t)session->clock;
    header->ring_bytes = (uint32_t)session->ring_bytes;
    header->rate = rate;
    header->span_ns = cost.span_ns;
    header->op_ns = cost.op_ns;
    header->tensor_ns = cost.tensor_ns;
    header->scalar_ns = cost.scalar_ns;
    for (unsigned i = 0; i < SPOOL_PIECES; i++) {
        text_add(&all, text_str(&about->pieces[i]));
    }
    header->begin = clock_now(session->clock);
    atomic_store(&session->began_ticks, header->begin.ticks);
    header->magic = SPOOL_MAGIC;
    atomic_signal_fence(memory_order_release);
    header->description_sum = spool_header_sum(header, text_str(&all).ptr);
    text_free(&all);
}

static cg_record *take_session(void)
{
    cg_record *session = NULL;

    pthread_mutex_lock(&process_mutex);
    for (session = process_sessions; session != NULL; session = session->next) {
        if (atomic_load(&session->state) == SESSION_CLOSED) {
            break;
        }
    }
    if (session == NULL) {
        /* The place of the header stays: a late call may be about to store into it. */
        void *page =
            mmap(NULL, SPOOL_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        session = page == MAP_FAILED ? NULL : rec_take(sizeof *session);
        if (session == NULL && page != MAP_FAILED) {
            munmap(page, SPOOL_PAGE);
        }
        if (session != NULL) {
            session->header = page;
            pthread_mutex_init(&session->mutex, NULL);
            pthread_mutex_init(&session->file_mutex, NULL);
            pthread_mutex_init(&session->names_mutex, NULL);
            pthread_cond_init(&session->work, NULL);
            pthread_cond_init(&session->room, NULL);
            session->next = process_sessions;
            process_sessions = session;
        }
    }
    if (session != NULL) {
        /* Taken, but deaf until it is open. */
        atomic_store(&session->state, SESSION_ENDING);
        process_serial++;
        process_serial += process_serial == 0;
        atomic_store(&session->serial, process_serial);
    }
    pthread_mutex_unlock(&process_mutex);
    return session;
}

/* Memory nobody else sees takes the place of a mapping: late stores of other threads end here. */
static void hide(void *at, size_t bytes)
{
    if (mmap(at, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED) {
        /* Then the old mapping stays and keeps the removed file's blocks: wasteful, not wrong. */
        return;
    }
}

/* Everything the session has but its memory. */
static void release_session(cg_record *session)
{
    pthread_mutex_lock(&session->mutex);
    pthread_cond_broadcast(&session->room);
    while (session->flushing > 0) {
        pthread_cond_wait(&session->room, &session->mutex);
    }
    pthread_mutex_unlock(&session->mutex);
    pthread_mutex_lock(&process_mutex);
    for (size_t i = 0; i < session->lane_count; i++) {
        lane *self = session->lanes[i];
        bool is_mine = false;

        for (lane **at = &lane_owned; *at != NULL; at = &(*at)->next_owned) {
            if (*at == self) {
                *at = self->next_owned;
                is_mine = true;
                break;
            }
        }
        if (lane_here == self) {
            lane_here = NULL;
        }
        if (is_mine || !self->is_owned) {
            lane_destroy(self);
        } else {
            /* Its thread may be inside a call: it finds this out and clears up itself. */
            hide(self->page, mapped_bytes(self->mask + 1));
            atomic_store(&self->session, NULL);
        }
    }
    session->lane_count = 0;
    pthread_mutex_unlock(&process_mutex);
    if (session->file >= 0) {
        session->sys->close(session->sys->context, session->file);
        session->file = -1;
    }
    pthread_mutex_lock(&session->names_mutex);
    names_free(session->names);
    session->names = NULL;
    pthread_mutex_unlock(&session->names_mutex);
    hide(session->header, SPOOL_PAGE);
    rec_free(session->path);
    rec_free(session->spool_path);
    session->path = NULL;
    session->spool_path = NULL;
    atomic_store(&session->state, SESSION_CLOSED);
}

static void reset_session(cg_record *session, const rec_sys *sys, const cg_record_options *options)
{
    session->sys = sys;
    session->ring_bytes = ring_size(options);
    session->may_drop = options != NULL && options->full_ring == CG_RECORD_DROP;
    atomic_store(&session->has_lost_names, false);
    session->is_stopping = false;
    session->is_spare_wanted = false;
    session->has_writer = false;
    session->flush_wanted = 0;
    session->flush_done = 0;
    session->file = -1;
    session->file_end = 0;
    session->file_ahead = 0;
    session->is_block_file = false;
    session->latched = (cg_err){0};
    atomic_store(&session->spool_error, 0);
    atomic_store(&session->is_writer_asleep, 0);
    /* The same in all sessions: who comes late may be reading it. */
    if (session->clock != clock_choose()) {
        session->clock = clock_choose();
    }
}

static int open_files(cg_record *session, const char *path, const description *about)
{
    int error = rec_make_parents(session->sys, path);

    session->path = join(path, "");
    session->names = names_make();
    if (session->path == NULL || session->names == NULL) {
        return ENOMEM;
    }
    if (error == 0) {
        error = create_spool(session, path);
    }
    if (error == 0) {
        /* Tells a live spool from a dead one; where locks are unknown, every spool looks dead. */
        session->sys->lock(session->sys->context, session->file);
        error = map_header(session, about);
    }
    return error;
}

static cg_code cannot(cg_err *reterr, const char *what, const char *path, int error)
{
    return error == ENOMEM
               ? rec_fail(reterr, CG_NOMEM, "out-of-memory", "no memory to %s `%s`", what, path)
               : rec_fail(reterr, CG_OUTPUT, "record-output", "cannot %s `%s`: %s", what, path,
                          strerror(error));
}

static cg_code start(cg_record *session, const char *path, const cg_record_run *run,
                     const description *about, cg_err *reterr)
{
    uint64_t rate = clock_rate_guess(session->clock);
    int error = open_files(session, path, about);

    if (error != 0) {
        return cannot(reterr, "create the spool of", path, error);
    }
    start_header(session, rate, about);
    atomic_store(&session->state, SESSION_OPEN);
    if (names_text(session, str_from(run->entrypoint)) == 0) {
        return session->latched.code == CG_USAGE && strlen(run->entrypoint) > SPOOL_TEXT_BYTES
                   ? rec_fail(reterr, CG_USAGE, "record-description", "%s", session->latched.text)
                   : cannot(reterr, "make room in the spool of", path, ENOSPC);
    }
    error = session->sys->thread(session->sys->context, &session->writer, run_writer, session);
    if (error != 0) {
        return rec_fail(reterr, CG_OUTPUT, "record-output", "cannot start a thread: %s",
                        strerror(error));
    }
    session->has_writer = true;
    make_spare_lane(session);
    return CG_OK;
}

cg_code session_open(const char *path, const cg_record_run *run, const cg_record_options *options,
                     const rec_sys *sys, cg_record **ret, cg_err *reterr)
{
    struct timespec now = {0, 0};
    description about;
    quiet calm;

    *ret = NULL;
    pthread_once(&process_once, prepare_process);
    if (path == NULL || path[0] == '\0') {
        return rec_fail(reterr, CG_USAGE, "record-description", "no path for the trace");
    }
    if (options != NULL &&
        (options->size < sizeof *options || options->full_ring > CG_RECORD_DROP)) {
        return rec_fail(reterr, CG_USAGE, "record-description",
                        "the options are of another version or name no policy");
    }
    if (!process_is_ready) {
        return rec_fail(reterr, CG_NOMEM, "out-of-memory", "no thread key is left");
    }
    clock_gettime(CLOCK_REALTIME, &now);
    cg_code code = describe(&about, run, &now, (long)getpid(), reterr);
    if (code != CG_OK) {
        return code;
    }
    cg_record *session = take_session();
    if (session == NULL) {
        description_free(&about);
        return rec_fail(reterr, CG_NOMEM, "out-of-memory", "no memory for a session");
    }
    be_quiet(&calm);
    reset_session(session, sys, options);
    code = start(session, path, run, &about, reterr);
    description_free(&about);
    if (code == CG_OK) {
        *ret = session;
    } else {
        if (session->file >= 0) {
            sys->unlink(sys->context, session->spool_path);
        }
        atomic_store(&session->state, SESSION_ENDING);
        release_session(session);
    }
    be_normal(&calm);
    return code;
}

/* --- ending --- */

static void stop_writer(cg_record *session)
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

/* What was recorded: chunks in the file, the rest in the rings. */
static bool gather(cg_record *session, spool *ret)
{
    const char *piece = NULL;

    *ret = (spool){.sys = session->sys, .file = session->file, .header = session->header};
    ret->streams = rec_take((session->lane_count + 1) * sizeof *ret->streams);
    char *about = rec_take(session->header->header_bytes);
    if (ret->streams == NULL || about == NULL ||
        rec_read(session->sys, session->file, about, session->header->header_bytes - SPOOL_PAGE,
                 SPOOL_PAGE) < 0) {
        rec_free(about);
        return false;
    }
    piece = about;
    for (unsigned i = 0; i < SPOOL_PIECES; i++) {
        ret->pieces[i] = piece;
        piece += session->header->piece_bytes[i];
    }
    for (size_t i = 0; i < session->lane_count; i++) {
        lane *self = session->lanes[i];
        uint64_t head = atomic_load_explicit(self->shared_head, memory_order_acquire);
        uint64_t tail = atomic_load_explicit(&self->tail, memory_order_acquire);

        while (tail < head) {
            uint64_t inside = tail & self->mask;
            uint64_t left = self->mask + 1 - inside;
            uint64_t bytes = head - tail < left ? head - tail : left;

            if (!spool_add_run(&self->stream, (spool_run){tail, bytes, 0, self->ring + inside})) {
                rec_free(about);
                return false;
            }
            tail += bytes;
        }
        self->stream.lane = self->number;
        ret->streams[i] = self->stream; /* lent */
    }
    ret->stream_count = session->lane_count;
    return true;
}

static cg_code put_in_place(cg_record *session, const char *part, int file, cg_err *reterr)
{
    const rec_sys *sys = session->sys;
    int error = sys->sync(sys->context, file) != 0 && errno != EINVAL ? errno : 0;

    if (sys->close(sys->context, file) != 0 && error == 0) {
        error = errno;
    }
    if (error == 0 && sys->rename(sys->context, part, session->path) != 0) {
        error = errno;
    }
    if (error != 0) {
        sys->unlink(sys->context, part);
        return cannot(reterr, "write", session->path, error);
    }
    error = rec_sync_parent(sys, session->path);
    return error == 0 ? CG_OK : cannot(reterr, "make durable", session->path, error);
}

static cg_code write_trace(cg_record *session, const convert_job *job, convert_account *account,
                           cg_err *reterr)
{
    const rec_sys *sys = session->sys;
    char *part = join(session->path, ".part");
    int error = 0;

    if (part == NULL) {
        return cannot(reterr, "write", session->path, ENOMEM);
    }
    sys->unlink(sys->context, part);
    int file = sys->open(sys->context, part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    if (file < 0) {
        error = errno;
        rec_free(part);
        return cannot(reterr, "write", session->path, error);
    }
    cg_code code = convert(job, file, account, &error);
    if (code == CG_OK) {
        code = put_in_place(session, part, file, reterr);
    } else {
        sys->close(sys->context, file);
        sys->unlink(sys->context, part);
        code = cannot(reterr, "write", session->path,
                      code == CG_NOMEM   ? ENOMEM
                      : code == CG_INPUT ? EIO
                                         : error);
    }
    rec_free(part);
    return code;
}

static void fill_result(cg_record_result *ret, const convert_account *account)
{
    if (ret != NULL && ret->size >= sizeof *ret) {
        ret->is_complete = account->is_complete;
        ret->records = account->records;
        ret->spans = account->spans;
        ret->dropped = losses_total(account->losses.dropped);
        ret->refused = losses_total(account->losses.refused);
        ret->out_of_order = account->losses.late;
    }
}

/* What finish has to say about a trace that was written. */
static cg_code judge(const cg_record *session, const convert_account *account, bool is_failed,
                     cg_err *reterr)
{
    if (!is_failed && !account->is_complete) {
        return rec_fail(reterr, CG_USAGE, "record-open-spans", "%.*s", (int)account->reason.len,
                        account->reason.at);
    }
    if (session->latched.code != CG_OK) {
        return rec_fail(reterr, CG_USAGE, "record-argument", "%s", session->latched.text);
    }
    return account->cause[0] == '\0'
               ? CG_OK
               : rec_fail(reterr, CG_USAGE, "record-argument", "%s", account->cause);
}

/* Take the session out of use; false when it is not in use here. */
static cg_code close_gate(cg_record *session, cg_err *reterr)
{
    cg_code code = CG_OK;
    bool is_known = false;

    pthread_mutex_lock(&process_mutex);
    for (cg_record *other = process_sessions; other != NULL; other = other->next) {
        is_known |= other == session;
    }
    uint32_t state = is_known ? atomic_load(&session->state) : SESSION_CLOSED;
    if (state == SESSION_OPEN) {
        atomic_store(&session->state, SESSION_ENDING);
        for (size_t i = 0; i < session->lane_count; i++) {
            atomic_store_explicit(&session->lanes[i]->limit, 0, memory_order_relaxed);
        }
    } else {
        code = rec_fail(reterr, CG_USAGE, "record-argument",
                        state == SESSION_FORKED
                            ? "this session is the parent process's; the child cannot finish it"
                            : "the session is not open");
    }
    pthread_mutex_unlock(&process_mutex);
    return code;
}

cg_code session_end(cg_record *session, cg_str reason, cg_record_result *ret, cg_err *reterr)
{
    convert_account account;
    spool source;
    quiet calm;
    cg_code code = close_gate(session, reterr);

    if (code != CG_OK) {
        return code;
    }
    be_quiet(&calm);
    convert_job job = {.spool = &source,
                       .end_ticks = clock_read(session->clock),
                       .is_failed = reason.ptr != NULL,
                       .reason = reason};
    stop_writer(session);
    job.end = clock_now(session->clock);
    note_clock(session);
    memset(&account, 0, sizeof account);
    if (gather(session, &source)) {
        code = write_trace(session, &job, &account, reterr);
        rec_free((void *)(uintptr_t)source.pieces[0]);
    } else {
        code = cannot(reterr, "read the spool of", session->path, ENOMEM);
    }
    rec_free(source.streams);
    if (code == CG_OK) {
        session->sys->unlink(session->sys->context, session->spool_path);
        code = judge(session, &account, job.is_failed, reterr);
        fill_result(ret, &account);
    }
    convert_account_free(&account);
    release_session(session);
    be_normal(&calm);
    return code;
}

cg_code session_flush(cg_record *session, cg_err *reterr)
{
    int error = 0;
    cg_code code = CG_OK;

    pthread_mutex_lock(&session->mutex);
    if (!session_is_open(session)) {
        pthread_mutex_unlock(&session->mutex);
        return rec_fail(reterr, CG_USAGE, "record-argument", "the session is not open");
    }
    session->flushing++; /* file and path stay until we are done */
    uint64_t wanted = ++session->flush_wanted;
    pthread_cond_signal(&session->work);
    while (session->flush_done < wanted && session_is_open(session)) {
        pthread_cond_wait(&session->room, &session->mutex);
    }
    bool is_done = session->flush_done >= wanted;
    error = atomic_load(&session->spool_error);
    pthread_mutex_unlock(&session->mutex);
    if (is_done && error == 0 && session->sys->sync(session->sys->context, session->file) != 0 &&
        errno != EINVAL) {
        error = errno;
    }
    if (!is_done) {
        code = rec_fail(reterr, CG_USAGE, "record-argument", "the session ended meanwhile");
    } else if (error != 0) {
        code = cannot(reterr, "write the spool of", session->path, error);
    }
    pthread_mutex_lock(&session->mutex);
    session->flushing--;
    pthread_cond_broadcast(&session->room);
    pthread_mutex_unlock(&session->mutex);
    return code;
}
