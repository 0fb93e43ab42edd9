#include "record/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/num.h"
#include "record/clock.h"
#include "record/describe.h"
#include "record/json.h"
#include "record/known_texts.h"
#include "record/open_operations.h"
#include "record/runtime_fields.h"

#define LINES_HELD   (64u << 10) /* bytes kept before they are handed over */
#define NAMED_AT_END 8u          /* open operations that the error of finish names */

struct cg_runtime {
    pthread_mutex_t mutex;
    const rec_sys *sys;
    cg_sink sink; /* without a file */
    int file;     /* -1: into the sink */
    uint64_t written;
    bool is_document;
    cg_err latched;

    rec_text head;                        /* of a document */
    rec_text lines;                       /* not handed over */
    rec_text lists[RUNTIME_RECORD_KINDS]; /* of a document */
    rec_text line;                        /* the record being made */
    uint64_t records;

    known_texts ids; /* used ones */

    char phase[16]; /* how ids made here begin */
    uint64_t step, counter;
    open_operations open;
};

#define REFUSED(problem, ...) rec_fail(reterr, CG_USAGE, problem, __VA_ARGS__)

static cg_code no_memory(cg_err *reterr)
{
    return rec_fail(reterr, CG_NOMEM, "out-of-memory", "no memory for a runtime record");
}

/* --- the output --- */

static cg_code runtime_hand_over(cg_runtime *self, rec_text *text, cg_err *reterr)
{
    if (self->latched.code == CG_OK && text->len > 0) {
        if (self->file >= 0) {
            int error = rec_write(self->sys, self->file, text->at, text->len, self->written);

            if (error != 0) {
                rec_fail(&self->latched, CG_OUTPUT, "runtime-output",
                         "the runtime trace cannot be written: %s", strerror(error));
            }
        } else if (self->sink.write(self->sink.context, text->at, text->len) != CG_OK) {
            rec_fail(&self->latched, CG_OUTPUT, "runtime-output",
                     "the sink of the runtime trace refused %zu bytes", text->len);
        }
        self->written += text->len;
    }
    text->len = 0;
    if (self->latched.code != CG_OK && reterr != NULL && reterr->code == CG_OK) {
        *reterr = self->latched;
    }
    return self->latched.code;
}

/* --- event ids --- */

/* Take an id for good. */
static cg_code reserve(cg_runtime *self, const char *event_id, cg_err *reterr)
{
    cg_str id = str_from(event_id);
    bool is_new = false;

    if (id.len == 0) {
        return REFUSED("runtime-event-id", "an event id must not be empty");
    }
    if (known_texts_put(&self->ids, id, &is_new) == NULL) {
        return no_memory(reterr);
    }
    return is_new ? CG_OK
                  : REFUSED("runtime-event-id",
                            "the event id `%s` is used already; each is used once", event_id);
}

/* --- records --- */

/* With the lock held and the id taken. */
static cg_code add_record(cg_runtime *self, const runtime_record *record, cg_err *reterr)
{
    rec_text *to = self->is_document ? &self->lists[record->kind] : &self->lines;

    self->line.len = 0;
    text_add(&self->line, CG_LIT("{"));
    if (!self->is_document) {
        runtime_put_kind(record->kind, &self->line);
    }
    runtime_put(record, &self->line);
    text_add(&self->line, CG_LIT("}"));
    if (self->is_document && to->len > 0) {
        text_add(to, CG_LIT(","));
    }
    if (!self->line.failed) {
        text_add(to, text_str(&self->line));
    }
    if (!self->is_document) {
        text_add(to, CG_LIT("\n"));
    }
    if (self->line.failed || to->failed) {
        rec_fail(&self->latched, CG_NOMEM, "out-of-memory", "no memory for a runtime record");
        return no_memory(reterr);
    }
    self->records++;
    return self->lines.len >= LINES_HELD ? runtime_hand_over(self, &self->lines, reterr) : CG_OK;
}

/* Lock; a writer whose output is broken answers with that. */
static cg_code enter(cg_runtime *self, cg_err *reterr)
{
    pthread_mutex_lock(&self->mutex);
    if (self->latched.code != CG_OK && reterr != NULL && reterr->code == CG_OK) {
        *reterr = self->latched;
    }
    return self->latched.code;
}

static cg_code leave(cg_runtime *self, cg_code code)
{
    pthread_mutex_unlock(&self->mutex);
    return code;
}

/* Check, take the id, write. */
static cg_code write_record(cg_runtime *out, const runtime_record *record, cg_err *reterr)
{
    if (out == NULL) {
        return CG_OK;
    }
    RUNTIME_TRY(runtime_check(record, reterr));
    cg_code code = enter(out, reterr);
    if (code == CG_OK) {
        code = reserve(out, runtime_event_id(record), reterr);
    }
    if (code == CG_OK) {
        code = add_record(out, record, reterr);
    }
    return leave(out, code);
}

cg_code cg_runtime_write_tensor(cg_runtime *out, const cg_runtime_tensor *record, cg_err *reterr)
{
    return write_record(out, &(runtime_record){RUNTIME_RECORD_TENSOR, .as.tensor = record}, reterr);
}

cg_code cg_runtime_write_operation(cg_runtime *out, const cg_runtime_operation *record,
                                   cg_err *reterr)
{
    return write_record(out, &(runtime_record){RUNTIME_RECORD_OPERATION, .as.operation = record},
                        reterr);
}

cg_code cg_runtime_write_gradient(cg_runtime *out, const cg_runtime_gradient *record,
                                  cg_err *reterr)
{
    return write_record(out, &(runtime_record){RUNTIME_RECORD_GRADIENT, .as.gradient = record},
                        reterr);
}

cg_code cg_runtime_write_value(cg_runtime *out, const cg_runtime_value *record, cg_err *reterr)
{
    return write_record(out, &(runtime_record){RUNTIME_RECORD_VALUE, .as.value = record}, reterr);
}

cg_code cg_runtime_write_edge(cg_runtime *out, const cg_runtime_edge *record, cg_err *reterr)
{
    return write_record(out, &(runtime_record){RUNTIME_RECORD_EDGE, .as.edge = record}, reterr);
}

/* --- what is timed --- */

void cg_runtime_set_step(cg_runtime *out, uint64_t step)
{
    if (out != NULL) {
        pthread_mutex_lock(&out->mutex);
        out->step = step;
        pthread_mutex_unlock(&out->mutex);
    }
}

/* The next free id `PHASE-WHAT-STEP-NUMBER`, taken. An id of the program may be in the way. */
static cg_code make_id(cg_runtime *self, const char *what, char ret[64], cg_err *reterr)
{
    cg_err taken;
    cg_code code = CG_OK;

    do {
        taken = (cg_err){0};
        self->counter++;
        snprintf(ret, 64, "%s-%s-%llu-%llu", self->phase, what, (unsigned long long)self->step,
                 (unsigned long long)self->counter);
        code = reserve(self, ret, &taken);
    } while (code == CG_USAGE);
    if (code != CG_OK && reterr != NULL && reterr->code == CG_OK) {
        *reterr = taken;
    }
    return code;
}

static cg_code keep_open(cg_runtime *self, open_operation *operation, cg_runtime_timed *ret,
                         cg_err *reterr)
{
    if (!open_operations_make_room(&self->open)) {
        return no_memory(reterr);
    }
    RUNTIME_TRY(make_id(self, "op", ret->event_id, reterr));
    if (!open_operation_name(operation, ret->event_id)) {
        return no_memory(reterr);
    }
    operation->number = self->counter;
    ret->number = self->counter;
    operation->began_ns = clock_monotonic_ns();
    open_operations_add(&self->open, operation);
    return CG_OK;
}

cg_code cg_runtime_begin(cg_runtime *out, const char *static_id, const char *op,
                         const char *const *inputs, size_t input_count, cg_runtime_timed *ret,
                         cg_err *reterr)
{
    cg_runtime_timed timed = {0};
    open_operation operation = {0};

    if (out == NULL) {
        *ret = timed;
        return CG_OK;
    }
    RUNTIME_TRY(runtime_check_begin(static_id, op, inputs, input_count, reterr));
    if (!open_operation_copy(&operation, static_id, op, inputs, input_count)) {
        open_operation_free(&operation);
        return no_memory(reterr);
    }
    cg_code code = enter(out, reterr);
    if (code == CG_OK) {
        code = keep_open(out, &operation, &timed, reterr);
    }
    leave(out, code);
    if (code != CG_OK) {
        open_operation_free(&operation);
        return code;
    }
    *ret = timed;
    return CG_OK;
}

cg_code cg_runtime_end(cg_runtime *out, const cg_runtime_timed *timed, const char *output,
                       uint64_t *ret_ns, cg_err *reterr)
{
    uint64_t now = clock_monotonic_ns();

    if (out == NULL) {
        return CG_OK;
    }
    cg_code code = enter(out, reterr);
    open_operation done = {0};
    if (timed == NULL || !open_operations_take(&out->open, timed->number, &done)) {
        if (code == CG_OK) {
            code = REFUSED("runtime-operation", "the operation `%.63s` is not open",
                           timed != NULL ? timed->event_id : "");
        }
        return leave(out, code);
    }
    uint64_t duration = num_sat_sub(now, done.began_ns);
    if (code == CG_OK) {
        cg_runtime_operation record = {.size = sizeof record,
                                       .event_id = done.event_id,
                                       .op = done.op,
                                       .static_id = done.static_id,
                                       .inputs = (const char *const *)done.inputs,
                                       .input_count = done.input_count,
                                       .output = output,
                                       .has_step = true,
                                       .step = out->step,
                                       .has_duration = true,
                                       .duration_ns = duration};

        code = add_record(out, &(runtime_record){RUNTIME_RECORD_OPERATION, .as.operation = &record},
                          reterr);
    }
    open_operation_free(&done);
    leave(out, code);
    if (code == CG_OK && ret_ns != NULL) {
        *ret_ns = duration;
    }
    return code;
}

cg_code cg_runtime_time_edge(cg_runtime *out, const char *from_static_id, const char *to_static_id,
                             uint64_t duration_ns, cg_err *reterr)
{
    char event_id[64];

    if (out == NULL) {
        return CG_OK;
    }
    RUNTIME_TRY(runtime_check_ends(from_static_id, to_static_id, reterr));
    cg_code code = enter(out, reterr);
    if (code == CG_OK) {
        code = make_id(out, "edge", event_id, reterr);
    }
    if (code == CG_OK) {
        cg_runtime_edge record = {.size = sizeof record,
                                  .event_id = event_id,
                                  .from_static_id = from_static_id,
                                  .to_static_id = to_static_id,
                                  .duration_ns = duration_ns,
                                  .has_step = true,
                                  .step = out->step};

        code = add_record(out, &(runtime_record){RUNTIME_RECORD_EDGE, .as.edge = &record}, reterr);
    }
    return leave(out, code);
}

/* --- from open to finish --- */

void cg_runtime_run_profile(cg_runtime_run *run, uint32_t phase, const char *entrypoint)
{
    *run = (cg_runtime_run){.size = sizeof *run,
                            .schema = CG_RUNTIME_SCHEMA_3,
                            .entrypoint = entrypoint,
                            .profile = "release",
                            .phase = phase == CG_RUNTIME_TRAIN ? "train" : "infer"};
}

static void free_writer(cg_runtime *self)
{
    open_operations_free(&self->open);
    for (runtime_kind kind = 0; kind < RUNTIME_RECORD_KINDS; kind++) {
        text_free(&self->lists[kind]);
    }
    text_free(&self->head);
    text_free(&self->lines);
    text_free(&self->line);
    known_texts_free(&self->ids);
    pthread_mutex_destroy(&self->mutex);
    rec_free(self);
}

/* A writer without an output, its first words made. */
static cg_runtime *make_writer(const rec_sys *sys, uint32_t form, const cg_runtime_run *run)
{
    cg_runtime *self = rec_take(sizeof *self);

    if (self == NULL) {
        return NULL;
    }
    pthread_mutex_init(&self->mutex, NULL);
    self->sys = sys;
    self->file = -1;
    self->is_document = form == CG_RUNTIME_DOCUMENT;
    snprintf(self->phase, sizeof self->phase, "%s", "run");
    if (run->phase != NULL && str_from(run->phase).len < sizeof self->phase) {
        snprintf(self->phase, sizeof self->phase, "%s", run->phase);
    }
    rec_text *to = self->is_document ? &self->head : &self->lines;
    runtime_put_head(run, self->is_document, to);
    text_add(to, self->is_document ? CG_LIT("") : CG_LIT("\n"));
    if (to->failed) {
        free_writer(self);
        return NULL;
    }
    return self;
}

cg_code runtime_open(const char *path, uint32_t form, const cg_runtime_run *run, const rec_sys *sys,
                     cg_runtime **ret, cg_err *reterr)
{
    *ret = NULL;
    RUNTIME_TRY(runtime_check_run(run, form, reterr));
    if (path == NULL || path[0] == '\0') {
        return REFUSED("runtime-description", "a runtime trace needs a path");
    }
    cg_runtime *self = make_writer(sys, form, run);
    if (self == NULL) {
        return no_memory(reterr);
    }
    int error = rec_make_parents(sys, path);
    if (error == 0) {
        self->file = sys->open(sys->context, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        error = self->file < 0 ? errno : 0;
    }
    if (error != 0) {
        free_writer(self);
        return rec_fail(reterr, CG_OUTPUT, "runtime-output", "`%s` cannot be written: %s", path,
                        strerror(error));
    }
    cg_code code = runtime_hand_over(self, &self->lines, reterr);
    if (code != CG_OK) {
        sys->close(sys->context, self->file);
        free_writer(self);
        return code;
    }
    *ret = self;
    return CG_OK;
}

cg_code cg_runtime_open(const char *path, uint32_t form, const cg_runtime_run *run,
                        cg_runtime **ret, cg_err *reterr)
{
    return runtime_open(path, form, run, &rec_sys_kernel, ret, reterr);
}

cg_code cg_runtime_open_sink(cg_sink sink, uint32_t form, const cg_runtime_run *run,
                             cg_runtime **ret, cg_err *reterr)
{
    *ret = NULL;
    RUNTIME_TRY(runtime_check_run(run, form, reterr));
    if (sink.write == NULL) {
        return REFUSED("runtime-description", "a sink without a function to write with");
    }
    cg_runtime *self = make_writer(&rec_sys_kernel, form, run);
    if (self == NULL) {
        return no_memory(reterr);
    }
    self->sink = sink;
    cg_code code = runtime_hand_over(self, &self->lines, reterr);
    if (code != CG_OK) {
        free_writer(self);
        return code;
    }
    *ret = self;
    return CG_OK;
}

cg_code cg_runtime_flush(cg_runtime *out, cg_err *reterr)
{
    if (out == NULL) {
        return CG_OK;
    }
    cg_code code = enter(out, reterr);
    if (code == CG_OK) {
        code = runtime_hand_over(out, &out->lines, reterr);
    }
    return leave(out, code);
}

static cg_code write_document(cg_runtime *self, cg_err *reterr)
{
    RUNTIME_TRY(runtime_hand_over(self, &self->head, reterr));
    for (runtime_kind kind = 0; kind < RUNTIME_RECORD_KINDS; kind++) {
        rec_text head = {0};

        runtime_put_list(kind, &head);
        cg_code code = head.failed ? no_memory(reterr) : runtime_hand_over(self, &head, reterr);
        text_free(&head);
        if (code == CG_OK) {
            code = runtime_hand_over(self, &self->lists[kind], reterr);
        }
        RUNTIME_TRY(code);
        text_add(&self->lines, CG_LIT("]"));
        if (kind + 1 == RUNTIME_RECORD_KINDS) {
            text_add(&self->lines, CG_LIT("}\n"));
        }
        RUNTIME_TRY(self->lines.failed ? no_memory(reterr)
                                       : runtime_hand_over(self, &self->lines, reterr));
    }
    return CG_OK;
}

static cg_code tell_open(const cg_runtime *self, cg_err *reterr)
{
    char names[sizeof reterr->text] = "";
    size_t len = 0;

    for (size_t i = 0; i < self->open.count && i < NAMED_AT_END; i++) {
        int more = snprintf(names + len, sizeof names - len, "%s%.40s (%.40s)", i > 0 ? ", " : "",
                            self->open.at[i].event_id, self->open.at[i].op);

        if (more < 0 || (size_t)more >= sizeof names - len) {
            names[len] = '\0';
            break;
        }
        len += (size_t)more;
    }
    return REFUSED("runtime-operation", "%zu begun and never ended, not in the trace: %s%s",
                   self->open.count, names, self->open.count > NAMED_AT_END ? ", ..." : "");
}

cg_code cg_runtime_finish(cg_runtime *out, cg_runtime_result *ret, cg_err *reterr)
{
    if (out == NULL) {
        return CG_OK;
    }
    cg_code code = enter(out, reterr);
    if (code == CG_OK) {
        code = out->is_document ? write_document(out, reterr)
                                : runtime_hand_over(out, &out->lines, reterr);
    }
    if (out->file >= 0) {
        int error = 0;

        /* A pipe has nothing to synchronise. */
        if (code == CG_OK && out->sys->sync(out->sys->context, out->file) != 0 && errno != EINVAL &&
            errno != EROFS) {
            error = errno;
        }
        if (out->sys->close(out->sys->context, out->file) != 0 && error == 0) {
            error = errno;
        }
        if (code == CG_OK && error != 0) {
            code = rec_fail(reterr, CG_OUTPUT, "runtime-output",
                            "the runtime trace cannot be written: %s", strerror(error));
        }
    }
    if (ret != NULL) {
        cg_runtime_result result = {ret->size, out->records, out->open.count};

        memcpy(ret, &result, ret->size < sizeof result ? ret->size : sizeof result);
    }
    if (code == CG_OK && out->open.count > 0) {
        code = tell_open(out, reterr);
    }
    leave(out, code);
    free_writer(out);
    return code;
}
