#include "record/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>

#include "base/num.h"
#include "record/clock.h"
#include "record/describe.h"
#include "record/json.h"
#include "record/known_texts.h"
#include "record/open_operations.h"
#include "schema/runtime.def"
#include "schema/trace.def"

#define LINES_HELD   (64u << 10) /* bytes kept before they are handed over */
#define NAMED_AT_END 8u          /* open operations that the error of finish names */

/*
 * Every field by table: X_keys[X_KEY_member] is `"key":`. A record of a line begins with its kind,
 * which the tables for lines have in front.
 */
#define F(type, member, key, rule, sub) {"\"" key "\":", sizeof(key) + 2},
#define E(type, member, key, rule, sub) RT_RUN_KEY_##member,
enum { RUNTIME_META_FIELDS(E) RT_RUN_KEYS };
static const cg_str rt_run_keys[] = {RUNTIME_META_FIELDS(F)};
#undef E
#define E(type, member, key, rule, sub) RT_TENSOR_KEY_##member,
enum { RUNTIME_TENSOR_FIELDS(E) RT_TENSOR_KEYS };
static const cg_str rt_tensor_keys[] = {RUNTIME_TENSOR_FIELDS(F)};
#undef E
#define E(type, member, key, rule, sub) RT_OPERATION_KEY_##member,
enum { RUNTIME_OPERATION_FIELDS(E) RT_OPERATION_KEYS };
static const cg_str rt_operation_keys[] = {RUNTIME_OPERATION_FIELDS(F)};
#undef E
#define E(type, member, key, rule, sub) RT_GRADIENT_KEY_##member,
enum { RUNTIME_GRADIENT_FIELDS(E) RT_GRADIENT_KEYS };
static const cg_str rt_gradient_keys[] = {RUNTIME_GRADIENT_FIELDS(F)};
#undef E
#define E(type, member, key, rule, sub) RT_VALUE_KEY_##member,
enum { RUNTIME_VALUE_FIELDS(E) RT_VALUE_KEYS };
static const cg_str rt_value_keys[] = {RUNTIME_VALUE_FIELDS(F)};
#undef E
#define E(type, member, key, rule, sub) RT_EDGE_KEY_##member,
enum { RUNTIME_EDGE_FIELDS(E) RT_EDGE_KEYS };
static const cg_str rt_edge_keys[] = {RUNTIME_EDGE_FIELDS(F)};
#undef E
#define E(type, member, key, rule, sub) RT_DOC_KEY_##member,
enum { RUNTIME_DOC_FIELDS(E) RT_DOC_KEYS };
static const cg_str rt_doc_keys[] = {RUNTIME_DOC_FIELDS(F)};
#undef E
#undef F

#define W(name, word) {"\"" word "\"", sizeof(word) + 1},
static const cg_str runtime_states[] = {GRADIENT_STATE_WORDS(W)};
#undef W
#define W(name, word) RUNTIME_SAME_##name,
enum { GRADIENT_STATE_WORDS(W) };
#undef W
_Static_assert((int)RUNTIME_SAME_PRESENT == CG_RUNTIME_PRESENT &&
                   (int)RUNTIME_SAME_ZERO == CG_RUNTIME_ZERO &&
                   (int)RUNTIME_SAME_NON_FINITE == CG_RUNTIME_NON_FINITE,
               "state words");
static const char *const runtime_schemas[] = {RUNTIME_SCHEMA_1, RUNTIME_SCHEMA_2, RUNTIME_SCHEMA_3};

#define R(prefix, name, kind, list) RECORD_##prefix,
enum { RUNTIME_RECORDS(R) RECORD_KINDS };
#undef R
/* The word of a line, the list of a document. */
#define R(prefix, name, kind, list) {"\"" kind "\"", sizeof(kind) + 1},
static const cg_str line_kinds[] = {RUNTIME_RECORDS(R)};
#undef R
#define R(prefix, name, kind, list) RT_DOC_KEY_##list,
static const uint8_t record_lists[] = {RUNTIME_RECORDS(R)};
#undef R
#define X(prefix, name, tag) {"\"" tag "\"", sizeof(tag) + 1},
#define E(prefix, name, tag) TABLE_##prefix,
enum { RUNTIME_TABLES(E) TABLES };
static const cg_str table_tags[] = {RUNTIME_TABLES(X)};
#undef E
#undef X

struct cg_runtime {
    pthread_mutex_t mutex;
    const rec_sys *sys;
    cg_sink sink; /* without a file */
    int file;     /* -1: into the sink */
    uint64_t written;
    bool is_document;
    cg_err latched;

    rec_text head;                /* of a document */
    rec_text lines;               /* not handed over */
    rec_text lists[RECORD_KINDS]; /* of a document */
    rec_text line;                /* the record being made */
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

/* --- what is written --- */

static void add_key(rec_text *to, cg_str key)
{
    if (to->len > 0 && to->at[to->len - 1] != '{' && to->at[to->len - 1] != ',') {
        text_add(to, CG_LIT(","));
    }
    text_add(to, key);
}

static void add_text(rec_text *to, cg_str key, const char *value)
{
    if (value != NULL) {
        add_key(to, key);
        text_add_json(to, str_from(value));
    }
}

static void add_u64(rec_text *to, cg_str key, bool is_there, uint64_t value)
{
    if (is_there) {
        add_key(to, key);
        text_add_u64(to, value);
    }
}

/* JSON has no other numbers; readers take null as absent. */
static void add_f64(rec_text *to, cg_str key, bool is_there, double value)
{
    if (is_there) {
        add_key(to, key);
        if (isfinite(value)) {
            text_add_f64(to, value);
        } else {
            text_add(to, CG_LIT("null"));
        }
    }
}

static void add_bool(rec_text *to, cg_str key, bool value)
{
    add_key(to, key);
    text_add(to, value ? CG_LIT("true") : CG_LIT("false"));
}

static void add_texts(rec_text *to, cg_str key, const char *const *values, size_t count)
{
    add_key(to, key);
    text_add(to, CG_LIT("["));
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            text_add(to, CG_LIT(","));
        }
        text_add_json(to, str_from(values[i]));
    }
    text_add(to, CG_LIT("]"));
}

static void add_runtime_run(rec_text *to, const cg_runtime_run *run)
{
    add_text(to, rt_run_keys[RT_RUN_KEY_entrypoint], run->entrypoint);
    add_text(to, rt_run_keys[RT_RUN_KEY_profile], run->profile);
    add_texts(to, rt_run_keys[RT_RUN_KEY_cargo_features], run->cargo_features,
              run->cargo_feature_count);
    add_texts(to, rt_run_keys[RT_RUN_KEY_cfg], run->cfg, run->cfg_count);
    add_text(to, rt_run_keys[RT_RUN_KEY_analysis_id], run->analysis_id);
    add_text(to, rt_run_keys[RT_RUN_KEY_build_id], run->build_id);
    add_text(to, rt_run_keys[RT_RUN_KEY_phase], run->phase);
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

/* What every record begins with; the caller holds the lock. */
static rec_text *record_begin(cg_runtime *self, unsigned kind)
{
    self->line.len = 0;
    text_add(&self->line, CG_LIT("{"));
    if (!self->is_document) {
        text_add(&self->line, rt_run_keys[RT_RUN_KEY_tag]);
        text_add(&self->line, line_kinds[kind]);
    }
    return &self->line;
}

static cg_code record_end(cg_runtime *self, unsigned kind, cg_err *reterr)
{
    rec_text *to = self->is_document ? &self->lists[kind] : &self->lines;

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

static cg_code check_texts(const char *const *texts, size_t count, cg_str key, cg_err *reterr)
{
    for (size_t i = 0; i < count; i++) {
        if (texts == NULL || texts[i] == NULL) {
            return REFUSED("runtime-record", "entry %zu of %.*s is missing", i, (int)key.len - 1,
                           key.ptr);
        }
    }
    return CG_OK;
}

static cg_code check_record(const void *record, uint32_t size, size_t known, cg_err *reterr)
{
    if (record == NULL || size < known) {
        return REFUSED("runtime-record",
                       "a record without its size, or of another version of this header");
    }
    return CG_OK;
}

#define CHECK_RECORD(record)                                                                       \
    check_record((record), (record) != NULL ? (record)->size : 0, sizeof *(record), reterr)

/* `key` is a key with its quotes and colon. */
static cg_code check_text(const char *text, cg_str key, cg_err *reterr)
{
    return text != NULL ? CG_OK
                        : REFUSED("runtime-record", "%.*s is missing", (int)key.len - 1, key.ptr);
}

#define RUNTIME_TRY(call)                                                                          \
    do {                                                                                           \
        cg_code code_ = (call);                                                                    \
        if (code_ != CG_OK) {                                                                      \
            return code_;                                                                          \
        }                                                                                          \
    } while (0)

cg_code cg_runtime_write_tensor(cg_runtime *out, const cg_runtime_tensor *record, cg_err *reterr)
{
    if (out == NULL) {
        return CG_OK;
    }
    RUNTIME_TRY(CHECK_RECORD(record));
    RUNTIME_TRY(check_text(record->dtype, rt_tensor_keys[RT_TENSOR_KEY_dtype], reterr));
    RUNTIME_TRY(check_text(record->device, rt_tensor_keys[RT_TENSOR_KEY_device], reterr));
    if (record->rank > 0 && record->shape == NULL) {
        return REFUSED("runtime-record", "`shape` is missing");
    }
    cg_code code = enter(out, reterr);
    if (code == CG_OK) {
        code = reserve(out, record->event_id, reterr);
    }
    if (code == CG_OK) {
        rec_text *to = record_begin(out, RECORD_RUNTIME_TENSOR);

        add_text(to, rt_tensor_keys[RT_TENSOR_KEY_event_id], record->event_id);
        add_text(to, rt_tensor_keys[RT_TENSOR_KEY_static_id], record->static_id);
        add_text(to, rt_tensor_keys[RT_TENSOR_KEY_source], record->source);
        add_u64(to, rt_tensor_keys[RT_TENSOR_KEY_step], record->has_step, record->step);
        add_key(to, rt_tensor_keys[RT_TENSOR_KEY_shape]);
        text_add(to, CG_LIT("["));
        for (uint32_t i = 0; i < record->rank; i++) {
            if (i > 0) {
                text_add(to, CG_LIT(","));
            }
            text_add_u64(to, record->shape[i]);
        }
        text_add(to, CG_LIT("]"));
        add_text(to, rt_tensor_keys[RT_TENSOR_KEY_dtype], record->dtype);
        add_text(to, rt_tensor_keys[RT_TENSOR_KEY_device], record->device);
        add_bool(to, rt_tensor_keys[RT_TENSOR_KEY_is_contiguous], record->is_contiguous);
        add_bool(to, rt_tensor_keys[RT_TENSOR_KEY_is_grad_required], record->is_grad_required);
        add_text(to, rt_tensor_keys[RT_TENSOR_KEY_storage_id], record->storage_id);
        code = record_end(out, RECORD_RUNTIME_TENSOR, reterr);
    }
    return leave(out, code);
}

/* With the lock held and the id taken. */
static cg_code write_operation(cg_runtime *out, const cg_runtime_operation *record, cg_err *reterr)
{
    rec_text *to = record_begin(out, RECORD_RUNTIME_OPERATION);

    add_text(to, rt_operation_keys[RT_OPERATION_KEY_event_id], record->event_id);
    add_text(to, rt_operation_keys[RT_OPERATION_KEY_op], record->op);
    add_text(to, rt_operation_keys[RT_OPERATION_KEY_static_id], record->static_id);
    add_text(to, rt_operation_keys[RT_OPERATION_KEY_source], record->source);
    add_texts(to, rt_operation_keys[RT_OPERATION_KEY_inputs], record->inputs, record->input_count);
    add_text(to, rt_operation_keys[RT_OPERATION_KEY_output], record->output);
    add_u64(to, rt_operation_keys[RT_OPERATION_KEY_step], record->has_step, record->step);
    add_u64(to, rt_operation_keys[RT_OPERATION_KEY_duration_ns], record->has_duration,
            record->duration_ns);
    return record_end(out, RECORD_RUNTIME_OPERATION, reterr);
}

cg_code cg_runtime_write_operation(cg_runtime *out, const cg_runtime_operation *record,
                                   cg_err *reterr)
{
    if (out == NULL) {
        return CG_OK;
    }
    RUNTIME_TRY(CHECK_RECORD(record));
    RUNTIME_TRY(check_text(record->op, rt_operation_keys[RT_OPERATION_KEY_op], reterr));
    RUNTIME_TRY(check_texts(record->inputs, record->input_count,
                            rt_operation_keys[RT_OPERATION_KEY_inputs], reterr));
    cg_code code = enter(out, reterr);
    if (code == CG_OK) {
        code = reserve(out, record->event_id, reterr);
    }
    if (code == CG_OK) {
        code = write_operation(out, record, reterr);
    }
    return leave(out, code);
}

static cg_code check_gradient(const cg_runtime_gradient *record, cg_err *reterr)
{
    double norm = record->norm;

    switch (record->state) {
    case CG_RUNTIME_PRESENT:
        if (record->has_norm && (!isfinite(norm) || norm == 0)) {
            return REFUSED("runtime-gradient",
                           "the norm of a present gradient must be finite and not 0");
        }
        return CG_OK;
    case CG_RUNTIME_MISSING:
        if (record->has_norm) {
            return REFUSED("runtime-gradient", "a missing gradient has no norm");
        }
        return CG_OK;
    case CG_RUNTIME_ZERO:
        if (record->has_norm && norm != 0) {
            return REFUSED("runtime-gradient", "the norm of a zero gradient must be 0");
        }
        return CG_OK;
    case CG_RUNTIME_NON_FINITE:
        if (record->has_norm && isfinite(norm)) {
            return REFUSED("runtime-gradient",
                           "the norm of a non-finite gradient cannot be finite; leave it out");
        }
        return CG_OK;
    default: return REFUSED("runtime-gradient", "%u is no state of a gradient", record->state);
    }
}

cg_code cg_runtime_write_gradient(cg_runtime *out, const cg_runtime_gradient *record,
                                  cg_err *reterr)
{
    if (out == NULL) {
        return CG_OK;
    }
    RUNTIME_TRY(CHECK_RECORD(record));
    RUNTIME_TRY(check_text(record->root, rt_gradient_keys[RT_GRADIENT_KEY_root], reterr));
    RUNTIME_TRY(check_text(record->key, rt_gradient_keys[RT_GRADIENT_KEY_key], reterr));
    RUNTIME_TRY(check_gradient(record, reterr));
    cg_code code = enter(out, reterr);
    if (code == CG_OK) {
        code = reserve(out, record->event_id, reterr);
    }
    if (code == CG_OK) {
        rec_text *to = record_begin(out, RECORD_RUNTIME_GRADIENT);

        add_text(to, rt_gradient_keys[RT_GRADIENT_KEY_event_id], record->event_id);
        add_text(to, rt_gradient_keys[RT_GRADIENT_KEY_root], record->root);
        add_text(to, rt_gradient_keys[RT_GRADIENT_KEY_key], record->key);
        add_key(to, rt_gradient_keys[RT_GRADIENT_KEY_state]);
        text_add(to, runtime_states[record->state]);
        add_u64(to, rt_gradient_keys[RT_GRADIENT_KEY_step], record->has_step, record->step);
        add_f64(to, rt_gradient_keys[RT_GRADIENT_KEY_norm], record->has_norm, record->norm);
        code = record_end(out, RECORD_RUNTIME_GRADIENT, reterr);
    }
    return leave(out, code);
}

cg_code cg_runtime_write_value(cg_runtime *out, const cg_runtime_value *record, cg_err *reterr)
{
    if (out == NULL) {
        return CG_OK;
    }
    RUNTIME_TRY(CHECK_RECORD(record));
    if (!isfinite(record->min) || !isfinite(record->max) || !isfinite(record->abs_max)) {
        return REFUSED(
            "runtime-value",
            "smallest, largest and largest absolute value must be finite: take them over "
            "the finite elements and count the others as non-finite");
    }
    cg_code code = enter(out, reterr);
    if (code == CG_OK) {
        code = reserve(out, record->event_id, reterr);
    }
    if (code == CG_OK) {
        rec_text *to = record_begin(out, RECORD_RUNTIME_VALUE);

        add_text(to, rt_value_keys[RT_VALUE_KEY_event_id], record->event_id);
        add_text(to, rt_value_keys[RT_VALUE_KEY_static_id], record->static_id);
        add_text(to, rt_value_keys[RT_VALUE_KEY_source], record->source);
        add_u64(to, rt_value_keys[RT_VALUE_KEY_step], record->has_step, record->step);
        add_f64(to, rt_value_keys[RT_VALUE_KEY_min], true, record->min);
        add_f64(to, rt_value_keys[RT_VALUE_KEY_max], true, record->max);
        add_f64(to, rt_value_keys[RT_VALUE_KEY_abs_max], true, record->abs_max);
        add_u64(to, rt_value_keys[RT_VALUE_KEY_nonfinite_count], true, record->nonfinite_count);
        add_u64(to, rt_value_keys[RT_VALUE_KEY_saturated_count], true, record->saturated_count);
        code = record_end(out, RECORD_RUNTIME_VALUE, reterr);
    }
    return leave(out, code);
}

/* With the lock held and the id taken. */
static cg_code write_edge(cg_runtime *out, const cg_runtime_edge *record, cg_err *reterr)
{
    rec_text *to = record_begin(out, RECORD_RUNTIME_EDGE);

    add_text(to, rt_edge_keys[RT_EDGE_KEY_event_id], record->event_id);
    add_text(to, rt_edge_keys[RT_EDGE_KEY_from], record->from_static_id);
    add_text(to, rt_edge_keys[RT_EDGE_KEY_to], record->to_static_id);
    add_u64(to, rt_edge_keys[RT_EDGE_KEY_duration_ns], true, record->duration_ns);
    add_u64(to, rt_edge_keys[RT_EDGE_KEY_step], record->has_step, record->step);
    return record_end(out, RECORD_RUNTIME_EDGE, reterr);
}

cg_code cg_runtime_write_edge(cg_runtime *out, const cg_runtime_edge *record, cg_err *reterr)
{
    if (out == NULL) {
        return CG_OK;
    }
    RUNTIME_TRY(CHECK_RECORD(record));
    RUNTIME_TRY(check_text(record->from_static_id, rt_edge_keys[RT_EDGE_KEY_from], reterr));
    RUNTIME_TRY(check_text(record->to_static_id, rt_edge_keys[RT_EDGE_KEY_to], reterr));
    cg_code code = enter(out, reterr);
    if (code == CG_OK) {
        code = reserve(out, record->event_id, reterr);
    }
    if (code == CG_OK) {
        code = write_edge(out, record, reterr);
    }
    return leave(out, code);
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
    RUNTIME_TRY(check_text(static_id, rt_operation_keys[RT_OPERATION_KEY_static_id], reterr));
    RUNTIME_TRY(check_text(op, rt_operation_keys[RT_OPERATION_KEY_op], reterr));
    RUNTIME_TRY(
        check_texts(inputs, input_count, rt_operation_keys[RT_OPERATION_KEY_inputs], reterr));
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

        code = write_operation(out, &record, reterr);
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
    RUNTIME_TRY(check_text(from_static_id, rt_edge_keys[RT_EDGE_KEY_from], reterr));
    RUNTIME_TRY(check_text(to_static_id, rt_edge_keys[RT_EDGE_KEY_to], reterr));
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

        code = write_edge(out, &record, reterr);
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

static cg_code check_runtime_run(const cg_runtime_run *run, uint32_t form, cg_err *reterr)
{
    bool is_known = false;

    if (run == NULL || run->size < sizeof *run) {
        return REFUSED("runtime-description",
                       "a run without its size, or of another version of this header");
    }
    if (form > CG_RUNTIME_DOCUMENT) {
        return REFUSED("runtime-description", "%u is no form of a runtime trace", form);
    }
    RUNTIME_TRY(check_text(run->entrypoint, rt_run_keys[RT_RUN_KEY_entrypoint], reterr));
    RUNTIME_TRY(check_text(run->profile, rt_run_keys[RT_RUN_KEY_profile], reterr));
    RUNTIME_TRY(check_texts(run->cargo_features, run->cargo_feature_count,
                            rt_run_keys[RT_RUN_KEY_cargo_features], reterr));
    RUNTIME_TRY(check_texts(run->cfg, run->cfg_count, rt_run_keys[RT_RUN_KEY_cfg], reterr));
    for (size_t i = 0; i < sizeof runtime_schemas / sizeof *runtime_schemas; i++) {
        is_known |=
            run->schema == NULL || str_equal(str_from(run->schema), str_from(runtime_schemas[i]));
    }
    return is_known ? CG_OK
                    : REFUSED("runtime-description", "`%s` is no schema of a runtime trace",
                              run->schema);
}

static void free_writer(cg_runtime *self)
{
    open_operations_free(&self->open);
    for (unsigned kind = 0; kind < RECORD_KINDS; kind++) {
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
    const char *schema = run->schema != NULL ? run->schema : CG_RUNTIME_SCHEMA_1;

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
    text_add(to, CG_LIT("{"));
    if (!self->is_document) {
        text_add(to, rt_run_keys[RT_RUN_KEY_tag]);
        text_add(to, table_tags[TABLE_RUNTIME_META]);
    }
    add_text(to, rt_run_keys[RT_RUN_KEY_schema], schema);
    if (self->is_document) {
        add_key(to, rt_doc_keys[RT_DOC_KEY_run]);
        text_add(to, CG_LIT("{"));
    }
    add_runtime_run(to, run);
    text_add(to, self->is_document ? CG_LIT("}") : CG_LIT("}\n"));
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
    RUNTIME_TRY(check_runtime_run(run, form, reterr));
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
    RUNTIME_TRY(check_runtime_run(run, form, reterr));
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
    for (unsigned kind = 0; kind < RECORD_KINDS; kind++) {
        rec_text head = {0};

        text_add(&head, CG_LIT(","));
        text_add(&head, rt_doc_keys[record_lists[kind]]);
        text_add(&head, CG_LIT("["));
        cg_code code = head.failed ? no_memory(reterr) : runtime_hand_over(self, &head, reterr);
        text_free(&head);
        if (code == CG_OK) {
            code = runtime_hand_over(self, &self->lists[kind], reterr);
        }
        RUNTIME_TRY(code);
        text_add(&self->lines, CG_LIT("]"));
        if (kind + 1 == RECORD_KINDS) {
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
