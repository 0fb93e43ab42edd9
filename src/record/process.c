#include "record/process.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "record/ring.h"

_Thread_local lane *lane_here LANE_NEAR;
static _Thread_local lane *lane_owned LANE_NEAR; /* all lanes of this thread */

static pthread_mutex_t process_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t process_once = PTHREAD_ONCE_INIT;
static pthread_key_t process_key;
static bool process_is_ready;
static cg_record *process_sessions; /* all that ever were, never freed */
static uint32_t process_serial;

/* --- a lane for a thread --- */

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
        rec_quiet calm;

        self->stack[0] = ROOT_REFERENCE;
        rec_be_quiet(&calm); /* this may be any thread of the program */
        error = lane_make_extent(session, self);
        rec_be_normal(&calm);
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

void process_make_spare_lane(cg_record *session)
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

/* --- threads that end, processes that fork --- */

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

/* --- sessions --- */

cg_record *process_take_session(void)
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

cg_code process_close_session(cg_record *session, cg_err *reterr)
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

bool process_prepare(void)
{
    pthread_once(&process_once, prepare_process);
    return process_is_ready;
}

void process_release_lanes(cg_record *session)
{
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
            rec_hide(self->page, lane_mapped_bytes(self->mask + 1));
            atomic_store(&self->session, NULL);
        }
    }
    session->lane_count = 0;
    pthread_mutex_unlock(&process_mutex);
}
