#include "record/finish.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

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
        return rec_cannot(reterr, "write", session->path, error);
    }
    error = rec_sync_parent(sys, session->path);
    return error == 0 ? CG_OK : rec_cannot(reterr, "make durable", session->path, error);
}

static cg_code write_trace(cg_record *session, const convert_job *job, convert_account *account,
                           cg_err *reterr)
{
    const rec_sys *sys = session->sys;
    char *part = rec_join(session->path, ".part");
    int error = 0;

    if (part == NULL) {
        return rec_cannot(reterr, "write", session->path, ENOMEM);
    }
    sys->unlink(sys->context, part);
    int file = sys->open(sys->context, part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    if (file < 0) {
        error = errno;
        rec_free(part);
        return rec_cannot(reterr, "write", session->path, error);
    }
    cg_code code = convert(job, file, account, &error);
    if (code == CG_OK) {
        code = put_in_place(session, part, file, reterr);
    } else {
        sys->close(sys->context, file);
        sys->unlink(sys->context, part);
        code = rec_cannot(reterr, "write", session->path,
                          code == CG_NOMEM   ? ENOMEM
                          : code == CG_INPUT ? EIO
                                             : error);
    }
    rec_free(part);
    return code;
}

cg_code finish_trace(cg_record *session, convert_job *job, convert_account *account, cg_err *reterr)
{
    spool source;
    cg_code code = CG_OK;

    job->spool = &source;
    if (gather(session, &source)) {
        code = write_trace(session, job, account, reterr);
        rec_free((void *)(uintptr_t)source.pieces[0]);
    } else {
        code = rec_cannot(reterr, "read the spool of", session->path, ENOMEM);
    }
    rec_free(source.streams);
    job->spool = NULL;
    return code;
}
