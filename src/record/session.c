#include "record/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/finish.h"
#include "record/names.h"
#include "record/process.h"
#include "record/writer.h"

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
        session->spool_path = rec_join(path, end);
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

/* Everything the session has but its memory. */
static void release_session(cg_record *session)
{
    pthread_mutex_lock(&session->mutex);
    pthread_cond_broadcast(&session->room);
    while (session->flushing > 0) {
        pthread_cond_wait(&session->room, &session->mutex);
    }
    pthread_mutex_unlock(&session->mutex);
    process_release_lanes(session);
    if (session->file >= 0) {
        session->sys->close(session->sys->context, session->file);
        session->file = -1;
    }
    pthread_mutex_lock(&session->names_mutex);
    names_free(session->names);
    session->names = NULL;
    pthread_mutex_unlock(&session->names_mutex);
    rec_hide(session->header, SPOOL_PAGE);
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

    session->path = rec_join(path, "");
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

static cg_code start(cg_record *session, const char *path, const cg_record_run *run,
                     const description *about, cg_err *reterr)
{
    uint64_t rate = clock_rate_guess(session->clock);
    int error = open_files(session, path, about);

    if (error != 0) {
        return rec_cannot(reterr, "create the spool of", path, error);
    }
    start_header(session, rate, about);
    atomic_store(&session->state, SESSION_OPEN);
    if (names_text(session, str_from(run->entrypoint)) == 0) {
        return session->latched.code == CG_USAGE && strlen(run->entrypoint) > SPOOL_TEXT_BYTES
                   ? rec_fail(reterr, CG_USAGE, "record-description", "%s", session->latched.text)
                   : rec_cannot(reterr, "make room in the spool of", path, ENOSPC);
    }
    error = writer_start(session);
    if (error != 0) {
        return rec_fail(reterr, CG_OUTPUT, "record-output", "cannot start a thread: %s",
                        strerror(error));
    }
    process_make_spare_lane(session);
    return CG_OK;
}

cg_code session_open(const char *path, const cg_record_run *run, const cg_record_options *options,
                     const rec_sys *sys, cg_record **ret, cg_err *reterr)
{
    struct timespec now = {0, 0};
    description about;
    rec_quiet calm;

    *ret = NULL;
    if (path == NULL || path[0] == '\0') {
        return rec_fail(reterr, CG_USAGE, "record-description", "no path for the trace");
    }
    if (options != NULL &&
        (options->size < sizeof *options || options->full_ring > CG_RECORD_DROP)) {
        return rec_fail(reterr, CG_USAGE, "record-description",
                        "the options are of another version or name no policy");
    }
    if (!process_prepare()) {
        return rec_fail(reterr, CG_NOMEM, "out-of-memory", "no thread key is left");
    }
    clock_gettime(CLOCK_REALTIME, &now);
    cg_code code = describe(&about, run, &now, (long)getpid(), reterr);
    if (code != CG_OK) {
        return code;
    }
    cg_record *session = process_take_session();
    if (session == NULL) {
        description_free(&about);
        return rec_fail(reterr, CG_NOMEM, "out-of-memory", "no memory for a session");
    }
    rec_be_quiet(&calm);
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
    rec_be_normal(&calm);
    return code;
}

/* --- ending --- */

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

cg_code session_end(cg_record *session, cg_str reason, cg_record_result *ret, cg_err *reterr)
{
    convert_account account;
    rec_quiet calm;
    cg_code code = process_close_session(session, reterr);

    if (code != CG_OK) {
        return code;
    }
    rec_be_quiet(&calm);
    convert_job job = {
        .end_ticks = clock_read(session->clock), .is_failed = reason.ptr != NULL, .reason = reason};
    writer_stop(session);
    job.end = clock_now(session->clock);
    session_note_clock(session);
    memset(&account, 0, sizeof account);
    code = finish_trace(session, &job, &account, reterr);
    if (code == CG_OK) {
        session->sys->unlink(session->sys->context, session->spool_path);
        code = judge(session, &account, job.is_failed, reterr);
        fill_result(ret, &account);
    }
    convert_account_free(&account);
    release_session(session);
    rec_be_normal(&calm);
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
        code = rec_cannot(reterr, "write the spool of", session->path, error);
    }
    pthread_mutex_lock(&session->mutex);
    session->flushing--;
    pthread_cond_broadcast(&session->room);
    pthread_mutex_unlock(&session->mutex);
    return code;
}
