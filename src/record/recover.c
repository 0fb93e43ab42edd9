#include "record/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "record/convert.h"
#include "record/describe.h"

typedef struct kept {
    convert_account account;
    char *reason;
} kept;

bool recover_is_spool(const void *bytes, size_t count)
{
    uint64_t magic = 0;

    if (count < sizeof magic) {
        return false;
    }
    memcpy(&magic, bytes, sizeof magic);
    return magic == SPOOL_MAGIC;
}

static cg_code answer_code(enum spool_answer answer, const char *name, cg_err *reterr)
{
    switch (answer) {
    case SPOOL_OK: return CG_OK;
    case SPOOL_NOT:
        return rec_fail(reterr, CG_INPUT, "spool-unknown", "`%s` is not the spool of a recording",
                        name);
    case SPOOL_DAMAGED:
        return rec_fail(reterr, CG_INPUT, "spool-damaged",
                        "`%s` has a damaged head, or its session never began", name);
    case SPOOL_IO:
        return rec_fail(reterr, CG_NOT_FOUND, "input-unreadable", "cannot read `%s`: %s", name,
                        strerror(errno));
    case SPOOL_NOMEM: break;
    }
    return rec_fail(reterr, CG_NOMEM, "out-of-memory", "no memory to recover `%s`", name);
}

static cg_code hand_over(cg_record_recovery *ret, const spool *source, kept *memory, cg_err *reterr)
{
    convert_account *account = &memory->account;

    memory->reason = rec_take(account->reason.len + 1);
    if (memory->reason == NULL) {
        return rec_fail(reterr, CG_NOMEM, "out-of-memory", "no memory for the account");
    }
    memcpy(memory->reason, account->reason.at, account->reason.len);
    ret->records_recovered = account->records - 1;
    ret->records_dropped = losses_total(account->losses.dropped);
    ret->records_refused = losses_total(account->losses.refused);
    ret->is_cut = source->is_cut || account->malformed_streams > 0;
    ret->cut_line = account->records;
    ret->cut_offset = source->cut_offset;
    ret->cut_bytes = source->cut_bytes;
    ret->open_spans = account->open_spans;
    ret->open_span_count = account->open_span_count;
    ret->reason = memory->reason;
    ret->memory = memory;
    return CG_OK;
}

cg_code recover_file(const rec_sys *sys, int file, uint64_t size, int output, const char *name,
                     cg_record_recovery *ret, cg_err *reterr)
{
    spool source;
    int error = 0;
    kept *memory = rec_take(sizeof *memory);
    cg_code code = memory == NULL ? answer_code(SPOOL_NOMEM, name, reterr)
                                  : answer_code(spool_scan(&source, sys, file, size), name, reterr);

    if (memory == NULL) {
        return code;
    }
    if (code == CG_OK) {
        clock_pair seen = {source.header->seen_ticks, source.header->seen_ns};
        convert_job job = {.spool = &source, .end = seen, .is_failed = true, .is_recovery = true};

        code = convert(&job, output, &memory->account, &error);
        if (code == CG_OUTPUT) {
            rec_fail(reterr, code, "record-output", "cannot write the recovered trace: %s",
                     strerror(error));
        } else if (code != CG_OK) {
            answer_code(code == CG_NOMEM ? SPOOL_NOMEM : SPOOL_IO, name, reterr);
        } else {
            code = hand_over(ret, &source, memory, reterr);
        }
    }
    spool_free(&source);
    if (code != CG_OK) {
        convert_account_free(&memory->account);
        rec_free(memory);
    }
    return code;
}

void cg_record_recovery_free(cg_record_recovery *recovery)
{
    kept *memory = recovery == NULL ? NULL : recovery->memory;

    if (memory != NULL) {
        convert_account_free(&memory->account);
        rec_free(memory->reason);
        rec_free(memory);
        *recovery = (cg_record_recovery){.size = recovery->size};
    }
}

long recover_recorder_of(int file)
{
    struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

    return fcntl(file, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK ? (long)whole.l_pid : 0;
}

static cg_code recover_into(const rec_sys *sys, int file, const struct stat *info,
                            const char *spool_name, const char *output, cg_record_recovery *ret,
                            cg_err *reterr)
{
    size_t length = strlen(output);
    char *part = rec_take(length + 6);
    struct stat other;

    if (part == NULL) {
        return answer_code(SPOOL_NOMEM, spool_name, reterr);
    }
    memcpy(part, output, length);
    memcpy(part + length, ".part", 6);
    cg_code code = CG_OK;
    int error = 0;
    if (stat(output, &other) == 0 && other.st_dev == info->st_dev && other.st_ino == info->st_ino) {
        code = rec_fail(reterr, CG_OUTPUT_REFUSED, "output-is-input",
                        "the trace would overwrite the spool");
    } else {
        sys->unlink(sys->context, part);
        error = rec_make_parents(sys, output);
        int to = error != 0 ? -1 : sys->open(sys->context, part, O_RDWR | O_CREAT | O_EXCL, 0666);

        error = to < 0 && error == 0 ? errno : error;
        if (to >= 0) {
            code = recover_file(sys, file, (uint64_t)info->st_size, to, spool_name, ret, reterr);
            error = 0;
            if (code == CG_OK && sys->sync(sys->context, to) != 0 && errno != EINVAL) {
                error = errno;
            }
            if (sys->close(sys->context, to) != 0 && error == 0) {
                error = errno;
            }
            if (code == CG_OK && error == 0 && sys->rename(sys->context, part, output) != 0) {
                error = errno;
            }
            if (code != CG_OK || error != 0) {
                sys->unlink(sys->context, part);
            }
        }
        if (code == CG_OK && error != 0) {
            cg_record_recovery_free(ret);
            code = rec_fail(reterr, CG_OUTPUT, "record-output", "cannot write `%s`: %s", output,
                            strerror(error));
        }
    }
    rec_free(part);
    return code;
}

cg_code cg_record_recover(const char *spool_name, const char *output, cg_record_recovery *ret,
                          cg_err *reterr)
{
    const rec_sys *sys = &rec_sys_kernel;
    cg_record_recovery own = {.size = sizeof own};
    struct stat info;
    cg_code code = CG_OK;

    if (spool_name == NULL || output == NULL || (ret != NULL && ret->size < sizeof *ret)) {
        return rec_fail(reterr, CG_USAGE, "usage", "a spool, an output and an account are needed");
    }
    int file = sys->open(sys->context, spool_name, O_RDONLY, 0);
    if (file < 0 || fstat(file, &info) != 0) {
        int error = errno;

        if (file >= 0) {
            sys->close(sys->context, file);
        }
        return rec_fail(reterr, CG_NOT_FOUND, "input-unreadable", "cannot open `%s`: %s",
                        spool_name, strerror(error));
    }
    long pid = recover_recorder_of(file);
    if (pid != 0) {
        code = rec_fail(reterr, CG_INPUT, "spool-in-use", "process %ld still records into `%s`",
                        pid, spool_name);
    } else if (!S_ISREG(info.st_mode)) {
        code = answer_code(SPOOL_NOT, spool_name, reterr);
    } else {
        code = recover_into(sys, file, &info, spool_name, output, ret != NULL ? ret : &own, reterr);
        cg_record_recovery_free(&own);
    }
    sys->close(sys->context, file);
    return code;
}
