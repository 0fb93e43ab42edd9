#include "record/convert_records.h"

#include <math.h>

#include "base/num.h"
#include "record/convert_spans.h"
#include "record/survey.h"

/* --- spans --- */

static void put_begin(converter *self, size_t lane, const slot_begin *at, unsigned depth)
{
    uint64_t start = convert_ns(self, at->head.time);
    uint32_t given = convert_find_span(self, at->head.lane, at->parent, depth);
    uint32_t parent = given == 0 ? 1 : given;
    unsigned kind = at->head.flags & 3u;
    cg_str name = name_or_unknown(self, at->name);

    if (start < self->spans[parent].start_ns && self->spans[parent].start_ns - start <= NEAR_NS) {
        start = self->spans[parent].start_ns;
    }
    uint32_t holder = span_find_holder(self, parent, start, OPEN);
    if (given == 0 || (holder != parent && !self->spans[parent].is_ended_elsewhere)) {
        convert_refuse(self, SPOOL_BEGIN,
                       "span %.*s was begun under a span that is closed or unknown",
                       convert_shown(name), name.ptr);
    }
    uint32_t number = span_add(self, holder, at->name, start);
    if (number == 0) {
        return;
    }
    self->lanes[lane].numbers[at->head.span] = number;
    wire_span_start(&self->out, number, holder, name, start, kind > 2 ? 0 : kind,
                    (at->head.flags & SLOT_MEASURED) != 0, at->head.flags >> 2 & 3u);
}

static void put_end(converter *self, size_t lane, const slot_end *at, unsigned depth)
{
    uint32_t number = convert_find_span(self, at->head.lane, at->head.span, depth);
    uint64_t end = convert_ns(self, at->head.time);

    if (number <= 1) {
        convert_refuse(self, SPOOL_END, "the end of a span that is not in the trace");
        return;
    }
    span_entry *span = &self->spans[number];
    if (span->end_ns != OPEN) {
        if (!span->is_cut) {
            cg_str name = name_or_unknown(self, span->name);

            convert_refuse(self, SPOOL_END, "span %.*s ended twice", convert_shown(name), name.ptr);
        } else if (end > span->end_ns + NEAR_NS) {
            self->account->losses.late++;
        }
        return;
    }
    span->is_ended_elsewhere = at->head.lane != lane + 1;
    span_cut_children(self, number, end);
    span_close(self, number, end);
}

static void put_completed(converter *self, size_t lane, const slot_completed *at, unsigned depth)
{
    uint64_t start = convert_ns(self, at->start);
    uint64_t end = convert_ns(self, at->end);
    uint32_t given = convert_find_span(self, at->head.lane, at->head.span, depth);
    uint32_t parent = span_find_holder(self, given == 0 ? 1 : given, start, end);
    unsigned kind = at->head.flags & 3u;
    cg_str name = name_or_unknown(self, at->name);

    if (parent != given) {
        convert_refuse(self, SPOOL_BEGIN, "completed span %.*s does not lie inside its parent",
                       convert_shown(name), name.ptr);
    }
    uint32_t number = span_add(self, parent, at->name, start);
    if (number == 0) {
        return;
    }
    self->lanes[lane].numbers[at->number] = number;
    wire_span_start(&self->out, number, parent, name, start, kind > 2 ? 0 : kind, false, 0);
    span_close(self, number, end);
}

/* --- identities of tensors and storages --- */

/* Text of a tensor or storage identity. */
static cg_str id_text(const converter *self, uint64_t id, const char *prefix, bool is_hex,
                      char room[40])
{
    size_t len = 0;

    if (id >> 63 != 0) {
        return name_or_unknown(self, (uint32_t)id);
    }
    room[len++] = '"';
    while (*prefix != '\0') {
        room[len++] = *prefix++;
    }
    if (is_hex) {
        char digits[16];
        size_t count = 0;

        do {
            digits[count++] = "0123456789abcdef"[id & 15];
            id >>= 4;
        } while (id != 0);
        while (count > 0) {
            room[len++] = digits[--count];
        }
    } else {
        len += num_write_u64(room + len, id);
    }
    room[len++] = '"';
    return (cg_str){room, len};
}

static cg_str tensor_text(const converter *self, uint64_t id, char room[40])
{
    return id_text(self, id, "t", false, room);
}

static cg_str storage_text(const converter *self, uint64_t id, char room[40])
{
    return id_text(self, id, "storage:0x", true, room);
}

static bool know_tensor(converter *self, uint64_t id)
{
    if (!self->has_data_edges || id == 0) {
        return true;
    }
    if (self->tensor_count * 2 >= self->tensor_capacity) {
        size_t capacity = self->tensor_capacity == 0 ? 1024 : self->tensor_capacity * 2;
        uint64_t *old = self->tensors;
        size_t old_capacity = self->tensor_capacity;

        self->tensors = rec_take(capacity * sizeof *self->tensors);
        if (self->tensors == NULL) {
            self->tensors = old;
            self->has_no_memory = true;
            return false;
        }
        self->tensor_capacity = capacity;
        self->tensor_count = 0;
        for (size_t i = 0; i < old_capacity; i++) {
            know_tensor(self, old[i]);
        }
        rec_free(old);
    }
    size_t at = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (self->tensor_capacity - 1);
    while (self->tensors[at] != 0 && self->tensors[at] != id) {
        at = (at + 1) & (self->tensor_capacity - 1);
    }
    self->tensor_count += self->tensors[at] == 0;
    self->tensors[at] = id;
    return true;
}

static bool is_known_tensor(const converter *self, uint64_t id)
{
    if (self->tensor_capacity == 0 || id == 0) {
        return false;
    }
    size_t at = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (self->tensor_capacity - 1);
    while (self->tensors[at] != 0 && self->tensors[at] != id) {
        at = (at + 1) & (self->tensor_capacity - 1);
    }
    return self->tensors[at] == id;
}

/* --- records of a span --- */

static void put_op(converter *self, const slot_op *at, uint32_t number)
{
    const layout_entry *layout = layout_find(self, at->layout_inputs & 0xffffff);
    size_t count = at->layout_inputs >> 24;
    uint64_t moment = convert_ns(self, at->head.time);
    uint64_t start = 0;
    uint64_t end = moment;

    if (layout == NULL) {
        convert_refuse(self, SPOOL_OP, "an operation without a layout");
        return;
    }
    if ((at->head.flags & SLOT_PLACED) != 0) {
        start = moment;
        end = num_sat_add(moment, at->duration);
    } else if ((at->head.flags & SLOT_START) != 0) {
        start = convert_ns(self, at->duration);
        end = end < start ? start : end;
    } else {
        start = num_sat_sub(moment, at->duration);
    }
    cg_str name = name_or_unknown(self, at->name);
    if (!span_fit(&self->spans[number], &start, &end)) {
        convert_refuse(self, SPOOL_OP, "operation %.*s lies outside its span", convert_shown(name),
                       name.ptr);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        self->input_texts[i] = tensor_text(self, at->inputs[i], self->input_room[i]);
        know_tensor(self, at->inputs[i]);
    }
    know_tensor(self, at->output);
    wire_op op = {.span = number,
                  .duration_ns = end - start,
                  .timestamp_ns = start,
                  .output_dense = layout->dense,
                  .input_dense = at->input_dense,
                  .name = name,
                  .shape_dtype_device = layout_text(self, layout),
                  .has_output_dense = layout->has_dense,
                  .inputs = {self->input_texts, count}};
    if (at->output != 0) {
        op.output = tensor_text(self, at->output, self->id_room[0]);
    }
    convert_see(self, end);
    wire_put_op(&self->out, &op);
}

static void put_tensor(converter *self, const slot_tensor *at, uint32_t number)
{
    const layout_entry *layout = layout_find(self, at->layout);
    unsigned category = at->head.flags & 15u;

    if (layout == NULL || at->id == 0) {
        convert_refuse(self, SPOOL_TENSOR, "a tensor without an identity or a layout");
        return;
    }
    know_tensor(self, at->id);
    wire_tensor tensor = {.span = number,
                          .dense = layout->dense,
                          .id = tensor_text(self, at->id, self->id_room[0]),
                          .label = name_json(self, at->label),
                          .shape_dtype_device = layout_text(self, layout),
                          .has_dense = layout->has_dense,
                          .is_grad_required = (at->head.flags & SLOT_GRAD) != 0,
                          .category = category > 4 ? 0 : category};
    wire_put_tensor(&self->out, &tensor);
}

static void put_stats(converter *self, const slot_stats *at, uint32_t number)
{
    const layout_entry *layout = layout_find(self, at->layout);
    bool is_sound = layout != NULL && name_is_label(self, at->label) &&
                    at->elements == layout->elements && at->elements != UINT64_MAX &&
                    at->non_finite <= at->elements && isfinite(at->rms) && isfinite(at->abs_max) &&
                    isfinite(at->mean) && at->rms >= 0 && at->abs_max >= 0;

    if (!is_sound) {
        convert_refuse(self, SPOOL_STATS,
                       "tensor statistics without a label, or that contradict themselves");
        return;
    }
    wire_stats stats = {.span = number,
                        .elements = at->elements,
                        .non_finite = at->non_finite,
                        .label = name_json(self, at->label),
                        .shape_dtype = layout_shape_dtype(self, layout),
                        .rms = at->rms,
                        .abs_max = at->abs_max,
                        .mean = at->mean};
    wire_put_stats(&self->out, &stats);
}

static void put_scalar(converter *self, const slot_scalar *at, uint32_t number)
{
    bool is_finite = isfinite(at->value);

    if (at->label > UINT32_MAX || !name_is_label(self, (uint32_t)at->label)) {
        convert_refuse(self, SPOOL_SCALAR, "a scalar without a label");
        return;
    }
    wire_stats stats = {.span = number,
                        .elements = 1,
                        .non_finite = is_finite ? 0 : 1,
                        .label = name_json(self, (uint32_t)at->label),
                        .shape_dtype = layout_of_scalar(self),
                        .rms = is_finite ? fabs(at->value) : 0,
                        .abs_max = is_finite ? fabs(at->value) : 0,
                        .mean = is_finite ? at->value : 0};
    wire_put_stats(&self->out, &stats);
}

static void put_memory(converter *self, const slot_memory *at, uint32_t number)
{
    const layout_entry *layout = layout_find(self, at->layout);
    unsigned category = at->head.flags & 15u;
    uint64_t from = convert_ns(self, (at->head.flags & SLOT_TIMED) != 0 ? at->at : at->head.time);
    uint64_t to = from;

    if (layout == NULL || at->storage == 0) {
        convert_refuse(self, at->head.kind, "a memory event without a storage or a layout");
        return;
    }
    if (!span_fit(&self->spans[number], &from, &to)) {
        convert_refuse(self, at->head.kind, "a memory event lies outside its span");
        return;
    }
    wire_memory memory = {.timestamp_ns = from,
                          .span = number,
                          .bytes = at->bytes,
                          .storage = storage_text(self, at->storage, self->id_room[0]),
                          .tensor = tensor_text(self, at->tensor, self->id_room[1]),
                          .op_name = name_json(self, at->op_name),
                          .device = name_or_unknown(self, layout->device),
                          .shape_dtype = layout_shape_dtype(self, layout),
                          .action = at->head.kind == SPOOL_FREE ? 1 : 0,
                          .category = category > 4 ? 0 : category};
    convert_see(self, from);
    wire_put_memory(&self->out, &memory);
}

static void put_interval(converter *self, const slot_device_interval *at, uint32_t number)
{
    if (at->duration_ns == 0) {
        convert_refuse(self, SPOOL_DEVICE_INTERVAL, "a device interval of no length");
        return;
    }
    wire_interval interval = {.span = number,
                              .start_ns = at->start_ns,
                              .duration_ns = at->duration_ns,
                              .device = name_or_unknown(self, at->device),
                              .stream = name_or_unknown(self, at->stream),
                              .clock = name_or_unknown(self, at->clock),
                              .backend = name_or_unknown(self, at->backend)};
    wire_put_interval(&self->out, &interval);
}

/* --- records of none --- */

static void put_device_memory(converter *self, const slot_device_memory *at)
{
    unsigned flags = at->head.flags;
    uint64_t moment = convert_ns(self, (flags & SLOT_TIMED) != 0 ? at->at : at->head.time);

    if ((flags & 15u) == 0) {
        convert_refuse(self, SPOOL_DEVICE_MEMORY, "a device memory sample without a measurement");
        return;
    }
    wire_sample sample = {.timestamp_ns = moment,
                          .device = name_or_unknown(self, at->head.span),
                          .used = {at->used, (flags & 1u) != 0},
                          .free = {at->free, (flags & 2u) != 0},
                          .reserved = {at->reserved, (flags & 4u) != 0},
                          .capacity = {at->capacity, (flags & 8u) != 0}};
    convert_see(self, moment);
    wire_put_sample(&self->out, &sample);
}

static void put_gradient(converter *self, const slot_gradient *at)
{
    unsigned state = at->head.flags;
    bool has_norm = state == CG_RECORD_PRESENT || state == CG_RECORD_ZERO;
    double norm = state == CG_RECORD_ZERO ? 0 : at->norm;

    if (state > CG_RECORD_NON_FINITE || !name_is_label(self, at->root) ||
        !name_is_label(self, at->key) ||
        (state == CG_RECORD_PRESENT && !(isfinite(norm) && norm > 0))) {
        convert_refuse(self, SPOOL_GRADIENT,
                       "a gradient without root, key or a norm that fits its state");
        return;
    }
    wire_gradient(&self->out, ++self->gradients, name_json(self, at->root),
                  name_json(self, at->key), state, has_norm ? norm : NAN);
}

/* --- edges: kept until the spans have ended --- */

static void keep_call_edge(converter *self, const slot_edge *at, unsigned depth)
{
    uint32_t from = convert_find_span(self, (uint32_t)(at->from >> 32), (uint32_t)at->from, depth);
    uint32_t to = convert_find_span(self, at->head.lane, at->head.span, depth);
    void *list = self->calls;

    if (from == 0 || to == 0 || self->spans[to].parent != from) {
        convert_refuse(self, SPOOL_CALL_EDGE,
                       "a call edge between spans that are not parent and child");
    } else if (convert_grow(self, &list, self->call_count, &self->call_capacity,
                            sizeof *self->calls)) {
        self->calls = list;
        self->calls[self->call_count++] = (call_edge){from, to};
    }
}

static void keep_data_edge(converter *self, const slot_edge *at)
{
    void *list = self->edges;

    if (convert_grow(self, &list, self->edge_count, &self->edge_capacity, sizeof *self->edges)) {
        self->edges = list;
        self->edges[self->edge_count++] = (data_edge){at->from, at->to};
    }
}

void record_put_edges(converter *self)
{
    for (size_t i = 0; i < self->call_count; i++) {
        const span_entry *to = &self->spans[self->calls[i].to];

        if (to->end_ns == OPEN) {
            convert_refuse(self, SPOOL_CALL_EDGE, "a call edge to a span that never ended");
        } else {
            wire_call_edge(&self->out, self->calls[i].from, self->calls[i].to,
                           to->end_ns - to->start_ns);
        }
    }
    for (size_t i = 0; i < self->edge_count; i++) {
        const data_edge *edge = &self->edges[i];

        if (!is_known_tensor(self, edge->from) || !is_known_tensor(self, edge->to)) {
            convert_refuse(self, SPOOL_DATA_EDGE, "a data edge that names an unknown tensor");
        } else {
            wire_data_edge(&self->out, tensor_text(self, edge->from, self->id_room[0]),
                           tensor_text(self, edge->to, self->id_room[1]));
        }
    }
}

/* --- all kinds --- */

void record_put(converter *self, size_t lane, const slot *at, unsigned depth)
{
    uint32_t number = 0;

    switch ((enum spool_kind)at->kind) {
    case SPOOL_BEGIN: put_begin(self, lane, (const slot_begin *)at, depth); return;
    case SPOOL_END: put_end(self, lane, (const slot_end *)at, depth); return;
    case SPOOL_COMPLETED: put_completed(self, lane, (const slot_completed *)at, depth); return;
    case SPOOL_DEVICE_MEMORY: put_device_memory(self, (const slot_device_memory *)at); return;
    case SPOOL_GRADIENT: put_gradient(self, (const slot_gradient *)at); return;
    case SPOOL_CALL_EDGE: keep_call_edge(self, (const slot_edge *)at, depth); return;
    case SPOOL_DATA_EDGE: keep_data_edge(self, (const slot_edge *)at); return;
    case SPOOL_OP:
    case SPOOL_TENSOR:
    case SPOOL_STATS:
    case SPOOL_SCALAR:
    case SPOOL_ALLOC:
    case SPOOL_FREE:
    case SPOOL_DEVICE_INTERVAL: break;
    case SPOOL_NAME:
    case SPOOL_LAYOUT:
    case SPOOL_KINDS: return;
    }
    number = convert_find_span(self, at->lane, at->span, depth);
    if (number == 0) {
        convert_refuse(self, at->kind, "a record of a span that is not in the trace");
        return;
    }
    switch ((enum spool_kind)at->kind) {
    case SPOOL_OP: put_op(self, (const slot_op *)at, number); return;
    case SPOOL_TENSOR: put_tensor(self, (const slot_tensor *)at, number); return;
    case SPOOL_STATS: put_stats(self, (const slot_stats *)at, number); return;
    case SPOOL_SCALAR: put_scalar(self, (const slot_scalar *)at, number); return;
    case SPOOL_ALLOC:
    case SPOOL_FREE: put_memory(self, (const slot_memory *)at, number); return;
    case SPOOL_DEVICE_INTERVAL:
        put_interval(self, (const slot_device_interval *)at, number);
        return;
    case SPOOL_BEGIN:
    case SPOOL_END:
    case SPOOL_COMPLETED:
    case SPOOL_DEVICE_MEMORY:
    case SPOOL_GRADIENT:
    case SPOOL_CALL_EDGE:
    case SPOOL_DATA_EDGE:
    case SPOOL_NAME:
    case SPOOL_LAYOUT:
    case SPOOL_KINDS: return;
    }
}
