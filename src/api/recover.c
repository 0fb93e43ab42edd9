/* What a dead process left, as a failed capture. */
#include "record/recover.h"

#include <errno.h>
#include <string.h>

#include "api/caller.h"
#include "base/os.h"
#include "exec/salvage.h"
#include "exec/trace.h"
#include "view/text_recovery.h"

#define HEAD_BYTES 8

typedef struct recovery {
    const cg_env *env;
    const char *input_path;
    const char *output_path;
    heap heap;
    arena arena;
    os_file input;
    uint64_t at; /* where the next read of the input begins */
    cg_output *output;
    os_file standing;  /* a finished run where the output goes: only its own bytes may replace it */
    bool is_guarded;   /* `standing` is open */
    cg_err input_err;  /* what reading it as a spool met */
    cg_code code;      /* of the output */
    cg_err output_err; /* why it could not be opened */
    rec_recovery account;
} recovery;

/* --- the output: opened with the first byte, so that a refused input leaves nothing --- */

/* Who cannot look at what stands there does not replace it. */
static cg_code cannot_look(recovery *self, const cg_err *cause)
{
    cg_fail(&self->output_err, PROBLEM_OUTPUT, "cannot look at what is there already: %s",
            cause->text);
    err_in_file(&self->output_err, str_from(self->output_path));
    return self->output_err.code;
}

/*
 * A finished run where the output goes stays: only the same bytes may replace it, which is what an
 * earlier recovery of a session that had come to its end left.
 */
static cg_code guard_finished(recovery *self)
{
    cg_str path = str_from(self->output_path);
    enum os_kind kind = OS_MISSING;
    trace_doc *trace = NULL;
    cg_err cause = {0};
    cg_code code = os_kind_of(self->env, path, false, &kind, &cause);

    if (code == CG_OK && kind != OS_FILE)
        return CG_OK;
    if (code == CG_OK)
        code = os_open_read(self->env, path, &self->standing, &cause);
    if (code != CG_OK)
        return cannot_look(self, &cause);
    code = trace_read_open(self->env, &self->standing, &trace, &cause);
    if (code == CG_OK) {
        self->is_guarded = trace->outcome == OUTCOME_COMPLETE;
        trace_free(trace);
    } else if (code == CG_LIMIT) {
        self->is_guarded = true; /* too large to tell */
    }
    if (!self->is_guarded)
        os_close(&self->standing);
    if (code == CG_NOMEM || code == CG_INTERRUPTED)
        return cg_fail(&self->output_err, code == CG_NOMEM ? PROBLEM_NOMEM : PROBLEM_INTERRUPTED,
                       "while looking at what is there already");
    if (code == CG_NOT_FOUND)
        return cannot_look(self, &cause);
    return self->is_guarded ? os_seek(&self->standing, 0, &self->output_err) : CG_OK;
}

static void drop_output(recovery *self)
{
    if (self->is_guarded)
        os_close(&self->standing);
    self->is_guarded = false;
    if (self->output != NULL)
        cg_output_drop(self->output);
    self->output = NULL;
}

/* Does the finished run go on with these bytes, or end (NULL)? */
static cg_code match_finished(recovery *self, const char *bytes, size_t count)
{
    char there[4096];
    bool is_same = true;
    size_t got = 1;

    while (is_same && got > 0 && (bytes == NULL || count > 0)) {
        size_t room = bytes == NULL ? 1 : count < sizeof there ? count : sizeof there;

        CG_TRY(os_read(&self->standing, there, room, &got, &self->output_err));
        is_same = bytes == NULL ? got == 0 : got > 0 && memcmp(there, bytes, got) == 0;
        if (bytes != NULL) {
            bytes += got;
            count -= got;
        }
    }
    if (is_same)
        return CG_OK;
    cg_fail(&self->output_err, PROBLEM_RECOVER_OVER_RUN,
            "a run that was finished stands here, and it is not what is recovered");
    err_in_file(&self->output_err, str_from(self->output_path));
    return self->output_err.code;
}

static cg_code write_trace(void *context, const char *bytes, size_t count)
{
    recovery *self = context;
    const char *inputs[] = {self->input_path};

    if (self->code == CG_OK && self->output == NULL) {
        self->code = guard_finished(self);
        if (self->code == CG_OK)
            self->code = cg_output_open(self->env, self->output_path, inputs, 1, &self->output,
                                        &self->output_err);
        if (self->code != CG_OK)
            self->output = NULL;
    }
    if (self->code == CG_OK && self->is_guarded)
        self->code = match_finished(self, bytes, count);
    if (self->code == CG_OK) {
        cg_sink sink = cg_output_sink(self->output);

        self->code = sink.write(sink.context, bytes, count);
    }
    return self->code;
}

/* Put the output in place, or leave nothing; `code` is that of the work. */
static cg_code finish_output(recovery *self, cg_code code, cg_err *reterr)
{
    if (code == CG_OK && self->code == CG_OK && self->is_guarded)
        code = match_finished(self, NULL, 0);
    if (self->output_err.code != CG_OK) {
        drop_output(self);
        if (reterr != NULL)
            *reterr = self->output_err;
        return self->output_err.code;
    }
    if (self->output == NULL)
        return code;
    if (code == CG_OK || self->code == CG_OUTPUT) {
        /* The file knows best why it could not be written. */
        if (reterr != NULL)
            memset(reterr, 0, sizeof *reterr);
        code = cg_output_commit(self->output, reterr);
        self->output = NULL;
    }
    drop_output(self);
    return code;
}

/* --- a spool: the recorder's reader, on our files --- */

static int64_t read_at(void *context, int file, void *to, size_t count, uint64_t at)
{
    recovery *self = context;
    const os_calls *os = self->input.os;
    size_t got = 0;

    (void)file;
    if (self->input_err.code == CG_OK &&
        !env_progress(self->env, "reading the spool", at, self->input.size))
        cg_fail(&self->input_err, PROBLEM_INTERRUPTED, "stopped while reading the spool");
    if (self->input_err.code == CG_OK && at != self->at &&
        os->seek(os->context, self->input.handle, (int64_t)at) < 0)
        cg_fail(&self->input_err, PROBLEM_INPUT_UNREADABLE, "cannot be read from byte %llu on",
                (unsigned long long)at);
    if (self->input_err.code != CG_OK ||
        os_read(&self->input, to, count, &got, &self->input_err) != CG_OK) {
        errno = EIO;
        return -1;
    }
    self->at = at + got;
    return (int64_t)got;
}

static int64_t write_at(void *context, int file, const void *from, size_t count, uint64_t at)
{
    (void)file;
    (void)at;
    if (write_trace(context, from, count) != CG_OK) {
        errno = EIO;
        return -1;
    }
    return (int64_t)count;
}

/* Begin again, which a pipe cannot. An output that has failed is kept: it knows why. */
static int truncate_to_nothing(void *context, int file, uint64_t size)
{
    recovery *self = context;
    enum os_kind kind = OS_MISSING;

    (void)file;
    (void)size;
    if (self->code == CG_OK) {
        drop_output(self);
        self->code =
            os_kind_of(self->env, str_from(self->output_path), true, &kind, &self->output_err);
        if (self->code == CG_OK && kind != OS_MISSING && kind != OS_FILE)
            self->code = cg_fail(&self->output_err, PROBLEM_OUTPUT,
                                 "losses were found on the way, which the first line must tell: "
                                 "give a file, not a pipe");
        if (self->code == CG_OK)
            return 0;
        err_in_file(&self->output_err, str_from(self->output_path));
    }
    errno = EIO;
    return -1;
}

/* The recorder's account as a document; its texts stay with it. */
static cg_code keep_account(recovery *self, const cg_record_recovery *from, cg_err *reterr)
{
    size_t count = from->open_span_count;
    rec_recovery_span *spans = arena_zero(&self->arena, (count + 1) * sizeof *spans);
    rec_recovery_cut *cut = arena_zero(&self->arena, sizeof *cut);

    if (spans == NULL || cut == NULL ||
        !arena_text(&self->arena, str_from(from->reason), &self->account.reason))
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++) {
        const cg_record_open_span *span = &from->open_spans[i];

        spans[i].start_ns = span->start_ns;
        if (!arena_format(&self->arena, &spans[i].id, "s%llu", (unsigned long long)span->number) ||
            !arena_text(&self->arena, span->name, &spans[i].name))
            return err_nomem(reterr);
    }
    *cut = (rec_recovery_cut){from->cut_line, from->cut_offset, from->cut_bytes};
    self->account.source = CG_LIT("spool");
    self->account.records_recovered = from->records_recovered;
    self->account.records_dropped = from->records_dropped;
    self->account.cut_off = from->is_cut ? cut : NULL;
    self->account.open_spans = (sc_records){spans, count};
    return CG_OK;
}

static cg_code recover_spool(recovery *self, cg_err *reterr)
{
    const rec_sys calls = {
        .context = self, .read_at = read_at, .write_at = write_at, .truncate = truncate_to_nothing};
    cg_record_recovery account = {.size = sizeof account};
    long recorder;
    cg_code code;

    if (!self->input.is_regular)
        return cg_fail(reterr, PROBLEM_INPUT_UNREADABLE, "a spool cannot come through a pipe");
    recorder = recover_recorder_of(self->input.handle);
    if (recorder != 0)
        return cg_fail(reterr, PROBLEM_SPOOL_IN_USE, "process %ld still records into it", recorder);
    code = recover_file(&calls, -1, self->input.size, -1, self->input_path, &account, NULL);
    if (self->input_err.code != CG_OK) {
        if (reterr != NULL)
            *reterr = self->input_err;
        code = self->input_err.code;
    } else if (self->code != CG_OK) {
        code = self->code;
    } else if (code == CG_OK) {
        code = keep_account(self, &account, reterr);
    } else if (code == CG_NOMEM) {
        return err_nomem(reterr);
    } else {
        code = cg_fail(reterr, PROBLEM_SPOOL_DAMAGED,
                       "the head of the spool is damaged, or its session never began");
    }
    cg_record_recovery_free(&account);
    return code;
}

/* --- a trace --- */

static cg_code recover_trace(recovery *self, const char *head, size_t head_count, cg_err *reterr)
{
    uint64_t most = limit_of(self->env, CG_LIMIT_DOCUMENT_BYTES);
    buf text;
    cg_code code;

    buf_init(&text, &self->heap, most < SIZE_MAX / 2 ? (size_t)most : SIZE_MAX / 2);
    buf_add(&text, (cg_str){head, head_count});
    code = text.failed ? err_nomem(reterr) : os_read_to_end(&self->input, &text, reterr);
    if (code == CG_OK)
        code = salvage_trace(self->env, buf_text(&text), (cg_sink){self, write_trace}, &self->arena,
                             &self->account, reterr);
    buf_free(&text);
    return code;
}

static cg_code recover_input(recovery *self, cg_err *reterr)
{
    static const char nothing[HEAD_BYTES] = {0};
    char head[HEAD_BYTES];
    size_t count = 0;
    size_t got = 1;

    while (count < sizeof head && got > 0) {
        CG_TRY(os_read(&self->input, head + count, sizeof head - count, &got, reterr));
        count += got;
    }
    self->at = count;
    /* Killed between making the spool and writing its head. */
    if (count == 0 || (count == sizeof head && memcmp(head, nothing, count) == 0))
        return cg_fail(reterr, PROBLEM_SPOOL_DAMAGED,
                       "the file is empty, or its session never began");
    return recover_is_spool(head, count) ? recover_spool(self, reterr)
                                         : recover_trace(self, head, count, reterr);
}

/* --- the account --- */

static cg_code tell(recovery *self, const cg_format *format, cg_sink to, cg_err *reterr)
{
    text_style style;
    cg_err err = {0};
    cg_code code;

    self->account.schema = CG_LIT(RECOVERY_SCHEMA);
    self->account.input = str_from(self->input_path);
    self->account.output = str_from(self->output_path);
    if (caller_wants_text(format, &style))
        code = text_recovery(&self->heap, &self->account, &style, to, &err);
    else
        code = salvage_write_account(&self->account, &self->heap, true, to, &err);
    /* Why a sink of the caller failed only the caller knows. */
    if (code != CG_OK && code != CG_OUTPUT && code != CG_CLOSED && reterr != NULL)
        *reterr = err;
    return code;
}

cg_code cg_recover(const cg_env *env, const char *input, const char *output,
                   const cg_format *format, cg_sink account, cg_err *reterr)
{
    recovery self = {.env = env, .input_path = input, .output_path = output};
    cg_code code;

    if (input == NULL || output == NULL)
        return cg_fail(reterr, PROBLEM_USAGE, "a recovery needs an input and an output");
    heap_init(&self.heap, env);
    arena_init(&self.arena, &self.heap);
    code = os_open_read(env, str_from(input), &self.input, reterr);
    if (code == CG_OK) {
        code = recover_input(&self, reterr);
        os_close(&self.input);
        if (code != CG_OK && self.code == CG_OK)
            err_in_file(reterr, str_from(input));
        code = finish_output(&self, code, reterr);
    }
    if (code == CG_OK)
        code = tell(&self, format, account, reterr);
    arena_free(&self.arena);
    return code;
}
