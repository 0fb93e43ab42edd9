#include "record/wire.h"

#include <errno.h>
#include <math.h>

#include "base/num.h"
#include "schema/trace.def"

#define WIRE_BUFFER (1u << 20)
#define WIRE_FIXED  640u /* of a line without its texts: all keys, words and numbers */

/*
 * Every key with its comma, quotes and colon, as an array of exactly its size, so that copying one
 * is a few moves: op_keys.span_id is `,"span_id":`.
 */
#define KEY_ROOM(type, member, key, rule, sub) char member[sizeof(",\"" key "\":") - 1];
#define KEY_TEXT(type, member, key, rule, sub) .member = ",\"" key "\":",
#define KEYS(prefix, name)                                                                         \
    static const struct {                                                                          \
        prefix##_FIELDS(KEY_ROOM) char end;                                                        \
    } name##_keys = {prefix##_FIELDS(KEY_TEXT).end = 0}

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 15
#pragma GCC diagnostic ignored "-Wunterminated-string-initialization"
#endif
KEYS(SPAN_START, span_start);
KEYS(SPAN_END, span_end);
KEYS(OP, op);
KEYS(TENSOR_EVENT, tensor);
KEYS(STATS_EVENT, stats);
KEYS(MEMORY, memory);
KEYS(DEVICE_MEMORY, sample);
KEYS(DEVICE_INTERVAL, interval);
KEYS(GRADIENT, gradient);
KEYS(CALL_EDGE, call);
KEYS(DATA_EDGE, data);
KEYS(TERMINAL, terminal);

/* Words with their quotes. */
#define WORD(name, word) {"\"" word "\"", sizeof(word) + 1},
static const cg_str wire_kinds[] = {SPAN_KIND_WORDS(WORD)};
static const cg_str wire_steps[] = {STEP_WORDS(WORD)};
static const cg_str wire_categories[] = {CATEGORY_WORDS(WORD)};
static const cg_str wire_actions[] = {ACTION_WORDS(WORD)};
static const cg_str wire_states[] = {GRADIENT_STATE_WORDS(WORD)};
static const cg_str wire_outcomes[] = {OUTCOME_WORDS(WORD)};
static const cg_str wire_edges[] = {EDGE_KIND_WORDS(WORD)};
#undef WORD

/* The constant word of each record. */
#define TAGGED(prefix, name, tag) TAG_##prefix,
enum { TRACE_RECORDS(TAGGED) TAG_COUNT };
#undef TAGGED
#define TAGGED(prefix, name, tag) {"\"" tag "\"", sizeof(tag) + 1},
static const cg_str wire_tags[] = {TRACE_RECORDS(TAGGED)};
#undef TAGGED

bool wire_init(wire *self, const rec_sys *sys, int file)
{
    *self = (wire){.sys = sys, .file = file};
    self->at = rec_take(WIRE_BUFFER);
    self->capacity = self->at == NULL ? 0 : WIRE_BUFFER;
    return self->at != NULL;
}

int wire_flush(wire *self)
{
    if (self->error == 0 && self->len > 0) {
        self->error = rec_write(self->sys, self->file, self->at, self->len, self->written);
        self->written += self->len;
    }
    self->len = 0;
    return self->error;
}

/* Room for a line, or NULL when memory ran out. */
static char *line_room(wire *self, size_t texts)
{
    size_t need = texts + WIRE_FIXED;

    if (self->capacity - self->len < need) {
        wire_flush(self);
    }
    if (self->capacity < need) {
        char *at = rec_resize(self->at, need * 2);

        if (at == NULL) {
            self->error = self->error != 0 ? self->error : ENOMEM;
            return NULL;
        }
        self->at = at;
        self->capacity = need * 2;
    }
    return self->at + self->len;
}

static void line_done(wire *self, char *to)
{
    *to++ = '}';
    *to++ = '\n';
    self->len = (size_t)(to - self->at);
    self->lines++;
}

static inline char *put(char *to, cg_str text)
{
    memcpy(to, text.ptr, text.len);
    return to + text.len;
}

#define PUT_KEY(to, key) (memcpy((to), (key), sizeof(key)), (to) + sizeof(key))

static inline char *put_u64(char *to, uint64_t value)
{
    return to + num_write_u64(to, value);
}

static inline char *put_f64(char *to, double value)
{
    return to + num_write_f64(to, value);
}

static inline char *put_bool(char *to, bool value)
{
    return put(to, value ? CG_LIT("true") : CG_LIT("false"));
}

/* `"s<number>"` */
static inline char *put_span(char *to, uint64_t number)
{
    *to++ = '"';
    *to++ = 's';
    to += num_write_u64(to, number);
    *to++ = '"';
    return to;
}

/* `{"kind":"…"`: the first key without its comma. */
#define PUT_HEAD(to, key, tag)                                                                     \
    ((to)[0] = '{', memcpy((to) + 1, (key) + 1, sizeof(key) - 1),                                  \
     put((to) + sizeof(key), wire_tags[tag]))

void wire_raw(wire *self, cg_str text)
{
    char *to = line_room(self, text.len);

    if (to != NULL && text.len > 0) {
        memcpy(to, text.ptr, text.len);
        self->len += text.len;
    }
}

void wire_span_start(wire *self, uint64_t id, uint64_t parent, cg_str name, uint64_t start_ns,
                     unsigned kind, bool is_measured, unsigned step)
{
    char *to = line_room(self, name.len);

    if (to == NULL) {
        return;
    }
    to = PUT_HEAD(to, span_start_keys.tag, TAG_SPAN_START);
    to = put_span(PUT_KEY(to, span_start_keys.id), id);
    if (parent != 0) {
        to = put_span(PUT_KEY(to, span_start_keys.parent_id), parent);
    }
    to = put(PUT_KEY(to, span_start_keys.name), name);
    to = put_u64(PUT_KEY(to, span_start_keys.start_ns), start_ns);
    to = put(PUT_KEY(to, span_start_keys.span_kind), wire_kinds[kind]);
    to = put_bool(PUT_KEY(to, span_start_keys.is_measured), is_measured);
    if (step != 0) {
        to = put(PUT_KEY(to, span_start_keys.step), wire_steps[step]);
    }
    line_done(self, to);
}

void wire_span_end(wire *self, uint64_t id, uint64_t duration_ns)
{
    char *to = line_room(self, 0);

    if (to == NULL) {
        return;
    }
    to = PUT_HEAD(to, span_end_keys.tag, TAG_SPAN_END);
    to = put_span(PUT_KEY(to, span_end_keys.id), id);
    to = put_u64(PUT_KEY(to, span_end_keys.duration_ns), duration_ns);
    line_done(self, to);
}

void wire_put_op(wire *self, const wire_op *op)
{
    size_t texts = op->name.len + op->output.len + op->shape_dtype_device.len;

    for (size_t i = 0; i < op->inputs.count; i++) {
        texts += op->inputs.at[i].len + 1;
    }
    char *to = line_room(self, texts);
    if (to == NULL) {
        return;
    }
    to = PUT_HEAD(to, op_keys.tag, TAG_OP);
    to = put_span(PUT_KEY(to, op_keys.span_id), op->span);
    to = put(PUT_KEY(to, op_keys.op_name), op->name);
    to = PUT_KEY(to, op_keys.inputs);
    *to++ = '[';
    for (size_t i = 0; i < op->inputs.count; i++) {
        if (i > 0) {
            *to++ = ',';
        }
        to = put(to, op->inputs.at[i]);
    }
    *to++ = ']';
    if (op->output.ptr != NULL) {
        to = put(PUT_KEY(to, op_keys.output), op->output);
    }
    *to++ = ',';
    to = put(to, op->shape_dtype_device);
    to = put_u64(PUT_KEY(to, op_keys.duration_ns), op->duration_ns);
    to = put_u64(PUT_KEY(to, op_keys.timestamp_ns), op->timestamp_ns);
    if (op->has_output_dense) {
        to = put_u64(PUT_KEY(to, op_keys.output_dense_bytes), op->output_dense);
    }
    to = put_u64(PUT_KEY(to, op_keys.input_dense_bytes), op->input_dense);
    line_done(self, to);
}

void wire_put_tensor(wire *self, const wire_tensor *tensor)
{
    char *to = line_room(self, tensor->id.len + tensor->label.len + tensor->shape_dtype_device.len);

    if (to == NULL) {
        return;
    }
    to = PUT_HEAD(to, tensor_keys.tag, TAG_TENSOR_EVENT);
    to = put_span(PUT_KEY(to, tensor_keys.span_id), tensor->span);
    to = put(PUT_KEY(to, tensor_keys.tensor_id), tensor->id);
    if (tensor->label.ptr != NULL) {
        to = put(PUT_KEY(to, tensor_keys.label), tensor->label);
    }
    *to++ = ',';
    to = put(to, tensor->shape_dtype_device);
    to = put_bool(PUT_KEY(to, tensor_keys.is_grad_required), tensor->is_grad_required);
    if (tensor->has_dense) {
        to = put_u64(PUT_KEY(to, tensor_keys.dense_bytes), tensor->dense);
    }
    to = put(PUT_KEY(to, tensor_keys.category), wire_categories[tensor->category]);
    line_done(self, to);
}

void wire_put_stats(wire *self, const wire_stats *stats)
{
    char *to = line_room(self, stats->label.len + stats->shape_dtype.len);

    if (to == NULL) {
        return;
    }
    to = PUT_HEAD(to, stats_keys.tag, TAG_STATS_EVENT);
    to = put_span(PUT_KEY(to, stats_keys.span_id), stats->span);
    to = put(PUT_KEY(to, stats_keys.label), stats->label);
    *to++ = ',';
    to = put(to, stats->shape_dtype);
    to = put_u64(PUT_KEY(to, stats_keys.elements), stats->elements);
    to = put_u64(PUT_KEY(to, stats_keys.non_finite), stats->non_finite);
    /* A scalar has one number three times: its digits are found once. */
    char digits[NUM_F64_ROOM];
    cg_str rms = {digits, num_write_f64(digits, stats->rms)};
    to = put(PUT_KEY(to, stats_keys.rms), rms);
    to = PUT_KEY(to, stats_keys.abs_max);
    to = stats->abs_max == stats->rms && !signbit(stats->abs_max) ? put(to, rms)
                                                                  : put_f64(to, stats->abs_max);
    to = PUT_KEY(to, stats_keys.mean);
    if (fabs(stats->mean) == stats->rms && stats->rms > 0) {
        if (signbit(stats->mean)) {
            *to++ = '-';
        }
        to = put(to, rms);
    } else {
        to = put_f64(to, stats->mean);
    }
    line_done(self, to);
}

void wire_put_memory(wire *self, const wire_memory *memory)
{
    char *to = line_room(self, memory->storage.len + memory->tensor.len + memory->op_name.len +
                                   memory->device.len + memory->shape_dtype.len);

    if (to == NULL) {
        return;
    }
    to = PUT_HEAD(to, memory_keys.tag, TAG_MEMORY);
    to = put_u64(PUT_KEY(to, memory_keys.timestamp_ns), memory->timestamp_ns);
    to = put(PUT_KEY(to, memory_keys.storage_id), memory->storage);
    to = put(PUT_KEY(to, memory_keys.tensor_id), memory->tensor);
    to = put_span(PUT_KEY(to, memory_keys.span_id), memory->span);
    if (memory->op_name.ptr != NULL) {
        to = put(PUT_KEY(to, memory_keys.op_name), memory->op_name);
    }
    to = put(PUT_KEY(to, memory_keys.device), memory->device);
    to = put_u64(PUT_KEY(to, memory_keys.bytes), memory->bytes);
    to = put(PUT_KEY(to, memory_keys.action), wire_actions[memory->action]);
    *to++ = ',';
    to = put(to, memory->shape_dtype);
    to = put(PUT_KEY(to, memory_keys.category), wire_categories[memory->category]);
    line_done(self, to);
}

void wire_put_sample(wire *self, const wire_sample *sample)
{
    char *to = line_room(self, sample->device.len);

    if (to == NULL) {
        return;
    }
    to = PUT_HEAD(to, sample_keys.tag, TAG_DEVICE_MEMORY);
    to = put_u64(PUT_KEY(to, sample_keys.timestamp_ns), sample->timestamp_ns);
    to = put(PUT_KEY(to, sample_keys.device), sample->device);
    if (sample->used.is_set) {
        to = put_u64(PUT_KEY(to, sample_keys.used_bytes), sample->used.value);
    }
    if (sample->free.is_set) {
        to = put_u64(PUT_KEY(to, sample_keys.free_bytes), sample->free.value);
    }
    if (sample->reserved.is_set) {
        to = put_u64(PUT_KEY(to, sample_keys.reserved_bytes), sample->reserved.value);
    }
    if (sample->capacity.is_set) {
        to = put_u64(PUT_KEY(to, sample_keys.capacity_bytes), sample->capacity.value);
    }
    line_done(self, to);
}

void wire_put_interval(wire *self, const wire_interval *interval)
{
    char *to = line_room(self, interval->device.len + interval->stream.len + interval->clock.len +
                                   interval->backend.len);

    if (to == NULL) {
        return;
    }
    to = PUT_HEAD(to, interval_keys.tag, TAG_DEVICE_INTERVAL);
    to = put_span(PUT_KEY(to, interval_keys.span_id), interval->span);
    to = put(PUT_KEY(to, interval_keys.device), interval->device);
    to = put(PUT_KEY(to, interval_keys.stream_id), interval->stream);
    to = put(PUT_KEY(to, interval_keys.clock_id), interval->clock);
    to = put(PUT_KEY(to, interval_keys.backend), interval->backend);
    to = put_u64(PUT_KEY(to, interval_keys.start_ns), interval->start_ns);
    to = put_u64(PUT_KEY(to, interval_keys.duration_ns), interval->duration_ns);
    line_done(self, to);
}

void wire_gradient(wire *self, uint64_t number, cg_str root, cg_str key, unsigned state,
                   double norm)
{
    char *to = line_room(self, root.len + key.len);

    if (to == NULL) {
        return;
    }
    to = PUT_HEAD(to, gradient_keys.tag, TAG_GRADIENT);
    to = put(PUT_KEY(to, gradient_keys.event_id), CG_LIT("\"gradient-"));
    to = put_u64(to, number);
    *to++ = '"';
    to = put(PUT_KEY(to, gradient_keys.root), root);
    to = put(PUT_KEY(to, gradient_keys.key), key);
    to = put(PUT_KEY(to, gradient_keys.state), wire_states[state]);
    if (!isnan(norm)) {
        to = put_f64(PUT_KEY(to, gradient_keys.norm), norm);
    }
    line_done(self, to);
}

void wire_call_edge(wire *self, uint64_t from, uint64_t to_span, uint64_t duration_ns)
{
    char *to = line_room(self, 0);

    if (to == NULL) {
        return;
    }
    to = PUT_HEAD(to, call_keys.tag, TAG_CALL_EDGE);
    to = put(PUT_KEY(to, call_keys.edge_kind), wire_edges[0]);
    to = put_span(PUT_KEY(to, call_keys.from_span), from);
    to = put_span(PUT_KEY(to, call_keys.to_span), to_span);
    to = put_u64(PUT_KEY(to, call_keys.host_duration_ns), duration_ns);
    line_done(self, to);
}

void wire_data_edge(wire *self, cg_str from, cg_str to_tensor)
{
    char *to = line_room(self, from.len + to_tensor.len);

    if (to == NULL) {
        return;
    }
    to = PUT_HEAD(to, data_keys.tag, TAG_DATA_EDGE);
    to = put(PUT_KEY(to, data_keys.edge_kind), wire_edges[1]);
    to = put(PUT_KEY(to, data_keys.from_tensor), from);
    to = put(PUT_KEY(to, data_keys.to_tensor), to_tensor);
    line_done(self, to);
}

void wire_terminal(wire *self, bool is_complete, uint64_t timestamp_ns, cg_str reason)
{
    char *to = line_room(self, reason.len);

    if (to == NULL) {
        return;
    }
    to = PUT_HEAD(to, terminal_keys.tag, TAG_TERMINAL);
    to = put(PUT_KEY(to, terminal_keys.outcome), wire_outcomes[is_complete ? 0 : 1]);
    to = put_u64(PUT_KEY(to, terminal_keys.timestamp_ns), timestamp_ns);
    if (reason.ptr != NULL) {
        to = put(PUT_KEY(to, terminal_keys.reason), reason);
    }
    line_done(self, to);
}
