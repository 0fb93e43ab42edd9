#include "candlegraph/record.h"

#include <stddef.h>

#include "record/put.h"

/* --- spans --- */

static HOT bool hot_begin(cg_record *session, lane *self, cg_record_name name, uint32_t what,
                          enum way way, cg_record_span *ret)
{
    if (!is_likely(self->depth + 1 != self->stack_capacity)) {
        if (way == AT_ONCE) {
            return false;
        }
        if (!lane_grow_stack(self)) {
            session_drop(session, SPOOL_BEGIN);
            return false;
        }
    }
    if (!has_room(self, sizeof(slot_begin) + END_BYTES, SPOOL_BEGIN, way)) {
        return false;
    }
    void *at = lane_head(self);
    uint64_t now = time_now(self, way);
    uint64_t after = now - self->began;
    uint64_t parent = self->stack[self->depth];
    uint32_t span = ++self->spans;
    uint64_t reference = (uint64_t)self->number << SPAN_WIDTH | span;

    self->began = now;
    self->stack[++self->depth] = reference;
    self->reserved += END_BYTES;
    if (is_likely(after <= UINT32_MAX)) {
        *(slot_begin_near *)at = (slot_begin_near){.kind = SPOOL_BEGIN_NEAR,
                                                   .flags = (uint8_t)what,
                                                   .parent_lane = (uint16_t)(parent >> SPAN_WIDTH),
                                                   .parent = (uint32_t)parent,
                                                   .name = name,
                                                   .after = (uint32_t)after};
        lane_give(self, sizeof(slot_begin_near));
    } else {
        *(slot_begin *)at = (slot_begin){
            .head = {SPOOL_BEGIN, (uint8_t)what, (uint16_t)(parent >> SPAN_WIDTH), span, now},
            .name = name,
            .parent = (uint32_t)parent};
        lane_give(self, sizeof(slot_begin));
    }
    if (!is_likely((what & SLOT_MEASURED) == 0)) {
        uint64_t none = 0;

        atomic_compare_exchange_strong(&session->header->measured_from, &none, now);
    }
    *ret = (cg_record_span){reference, self->serial, what & SLOT_MEASURED};
    return true;
}

static CAREFUL cg_record_span begin_with_care(cg_record *session, cg_record_name name,
                                              uint32_t what)
{
    lane *self = lane_of(session);
    cg_record_span span = no_span(self);

    if (self != NULL) {
        (void)hot_begin(session, self, name, what, WITH_CARE, &span);
    }
    return span;
}

cg_record_span cg_record_begin_on(cg_record *session, cg_record_name name, uint32_t what)
{
    lane *self = lane_at_once(session);
    cg_record_span span;

    return self != NULL && hot_begin(session, self, name, what, AT_ONCE, &span)
               ? span
               : begin_with_care(session, name, what);
}

/* A handle that is none, of another session, or the root's. */
static RARE void end_odd(cg_record *session, const lane *self, cg_record_span span)
{
    if (span.reference == ROOT_REFERENCE) {
        session_refuse(session, SPOOL_END, "the root span ends with cg_record_finish");
    } else if (span.reference != 0) {
        session_refuse(session, SPOOL_END, "the end of a span of another session");
    } else if (span.session == self->serial) {
        session_drop(session, SPOOL_END); /* its begin was dropped */
    }
}

static HOT void hot_end(cg_record *session, lane *self, cg_record_span span, uint64_t now)
{
    slot_end *at = lane_head(self);

    at->head = (slot){SPOOL_END, 0, (uint16_t)(span.reference >> SPAN_WIDTH),
                      (uint32_t)span.reference, now};
    lane_give(self, sizeof *at);
    if (!is_likely(span.reserved == 0)) {
        session->header->measured_to = now;
    }
}

static CAREFUL void end_with_care(cg_record *session, cg_record_span span)
{
    lane *self = lane_of(session);

    if (self == NULL) {
        return;
    }
    if (span.session != self->serial || span.reference <= ROOT_REFERENCE) {
        end_odd(session, self, span);
        return;
    }
    uint64_t now = clock_read(self->clock);
    lane_pop(self, span.reference);
    if (lane_take(self, sizeof(slot_end), SPOOL_END) != NULL) {
        hot_end(session, self, span, now);
    }
}

void cg_record_span_end_on(cg_record *session, cg_record_span span)
{
    lane *self = lane_at_once(session);

    /* On top of the stack there is room for the end of what is there. */
    if (self != NULL && is_likely(span.session == self->serial) &&
        is_likely(span.reference > ROOT_REFERENCE) &&
        is_likely(self->stack[self->depth] == span.reference) && lane_has(self, 0)) {
        self->depth--;
        self->reserved -= END_BYTES;
        hot_end(session, self, span, clock_read(CLOCK_REGISTER));
    } else {
        end_with_care(session, span);
    }
}

void record_leave_out(cg_record *session, const lane *self, cg_record_span span, unsigned kind)
{
    if (span.session == self->serial) {
        session_drop(session, kind); /* its span was dropped */
    } else {
        session_refuse(session, kind, "a record of no span, or of another session's");
    }
}

/* --- operations --- */

static RARE void refuse_op(cg_record *session, const cg_record_op_args *args)
{
    if (args->size < sizeof *args) {
        session_refuse(session, SPOOL_OP, "operation arguments of another version");
    } else if (args->name == 0 || args->layout == 0 || args->layout >> 24 != 0) {
        session_refuse(session, SPOOL_OP, "an operation without a name or a layout");
    } else {
        session_refuse(session, SPOOL_OP, "an operation of %u inputs; at most 255",
                       args->input_count);
    }
}

/* Identities above 2^32, texts, a start of its own. */
static void add_wide_op(cg_record *session, lane *self, cg_record_span span,
                        const cg_record_op_args *args)
{
    uint64_t count = args->input_count;
    uint64_t bytes = sizeof(slot_op) + (count + 1) / 2 * SPOOL_UNIT;
    slot_op *at = take_for(session, self, span, bytes, SPOOL_OP);

    if (at == NULL) {
        return;
    }
    uint64_t now = clock_read(self->clock);
    at->name = args->name;
    at->layout_inputs = args->layout | (uint32_t)count << 24;
    at->output = args->output;
    at->input_dense = args->input_dense_bytes;
    at->duration = args->duration_ns;
    if (args->start != 0) {
        if (args->duration_ns != 0) {
            at->head.flags = SLOT_PLACED;
            now = args->start;
        } else {
            at->head.flags = SLOT_START;
            at->duration = args->start;
        }
    }
    for (uint64_t i = 0; i < count; i++) {
        at->inputs[i] = args->inputs[i];
    }
    at->head.time = now;
    lane_give(self, bytes);
}

/* What an operation has in common with others; for dense bytes that fit 32 bits. */
static HOT lane_place op_shared(const cg_record_op_args *args)
{
    return (lane_place){side_by_side(args->name, args->layout),
                        ((uint64_t)args->input_count + 1) << 32 | args->input_dense_bytes};
}

/* Where the lane remembers it; any choice would do. */
static HOT unsigned op_place_of(lane_place shared)
{
    return (unsigned)((shared.what ^ shared.size << 20) * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

static HOT bool is_in_place(const lane *self, unsigned place, lane_place shared)
{
    return self->places[place].what == shared.what && self->places[place].size == shared.size;
}

static void add_inputs(uint32_t *to, const cg_record_op_args *args)
{
    for (uint32_t i = 0; i < args->input_count; i++) {
        to[i] = (uint32_t)args->inputs[i];
    }
}

static void add_op_again(cg_record *session, lane *self, cg_record_span span,
                         const cg_record_op_args *args, unsigned place)
{
    uint64_t bytes = spool_whole(sizeof(slot_op_again) + 4 * (uint64_t)args->input_count);
    slot_op_again *at = take_for(session, self, span, bytes, SPOOL_OP);

    if (at == NULL) {
        return;
    }
    at->head = head_of(span, SPOOL_OP_AGAIN, place, clock_read(self->clock));
    at->output = (uint32_t)args->output;
    at->duration = (uint32_t)args->duration_ns;
    add_inputs(at->inputs, args);
    lane_give(self, bytes);
}

static void add_narrow_op(cg_record *session, lane *self, cg_record_span span,
                          const cg_record_op_args *args, unsigned place)
{
    uint64_t bytes =
        spool_whole(offsetof(slot_op_narrow, inputs) + 4 * (uint64_t)args->input_count);
    slot_op_narrow *at = take_for(session, self, span, bytes, SPOOL_OP);

    if (at == NULL) {
        return;
    }
    at->head = head_of(span, SPOOL_OP_NARROW, place, clock_read(self->clock));
    at->name = args->name;
    at->layout_inputs = args->layout | args->input_count << 24;
    at->output = (uint32_t)args->output;
    at->duration = (uint32_t)args->duration_ns;
    at->input_dense = (uint32_t)args->input_dense_bytes;
    add_inputs(at->inputs, args);
    self->places[place] = op_shared(args);
    lane_give(self, bytes);
}

static CAREFUL void op_with_care(cg_record *session, cg_record_span span,
                                 const cg_record_op_args *args)
{
    lane *self = lane_of(session);

    if (self == NULL || args == NULL) {
        return;
    }
    if (args->size < sizeof *args || args->input_count > 255 || args->name == 0 ||
        args->layout - 1 >= (1u << 24) - 1 || (args->input_count > 0 && args->inputs == NULL)) {
        refuse_op(session, args);
        return;
    }
    uint64_t wide = args->output | args->duration_ns | args->input_dense_bytes;
    for (uint32_t i = 0; i < args->input_count; i++) {
        wide |= args->inputs[i];
    }
    if (wide >> 32 != 0 || args->start != 0) {
        add_wide_op(session, self, span, args);
        return;
    }
    lane_place shared = op_shared(args);
    unsigned place = op_place_of(shared);
    if (is_in_place(self, place, shared)) {
        add_op_again(session, self, span, args, place);
    } else {
        add_narrow_op(session, self, span, args, place);
    }
}

/* The first two inputs, and in `wide` what is to fit 32 bits of all of them, at most three. */
static HOT uint64_t first_inputs(const cg_record_op_args *args, uint64_t *wide)
{
    if (args->input_count == 0) {
        return 0;
    }
    uint64_t first = args->inputs[0];
    *wide |= first;
    if (args->input_count == 1) {
        return side_by_side((uint32_t)first, 0);
    }
    uint64_t second = args->inputs[1];
    *wide |= second;
    if (args->input_count > 2) {
        *wide |= args->inputs[2];
    }
    return side_by_side((uint32_t)first, (uint32_t)second);
}

static HOT uint32_t third_input(const cg_record_op_args *args)
{
    return args->input_count > 2 ? (uint32_t)args->inputs[2] : 0;
}

/*
 * The forms of operations of up to three inputs whose numbers fit 32 bits. Two functions, since
 * neither has then more in hand than there are registers. All is stored behind the reading of the
 * counter, which waits for what is before it.
 */
enum {
    AGAIN_BYTES = sizeof(slot_op_again) + 2 * sizeof(uint32_t),
    AGAIN_OF_THREE_BYTES = AGAIN_BYTES + SPOOL_UNIT,
    NARROW_BYTES = offsetof(slot_op_narrow, inputs) + 3 * sizeof(uint32_t)
};

/* There is room, and the numbers fit: only the place is another operation's. */
static CAREFUL void op_in_new_place(cg_record *session, cg_record_span span,
                                    const cg_record_op_args *args, uint64_t inputs, unsigned place)
{
    lane *self = lane_here;

    if (!is_likely(args->name != 0 && args->layout - 1 < (1u << 24) - 1)) {
        op_with_care(session, span, args);
        return;
    }
    void *at = lane_head(self);
    put_head(at, span, SPOOL_OP_NARROW, place, clock_read(CLOCK_REGISTER));
    put_pair(at, offsetof(slot_op_narrow, name),
             side_by_side(args->name, args->layout | args->input_count << 24));
    put_pair(at, offsetof(slot_op_narrow, output),
             side_by_side((uint32_t)args->output, (uint32_t)args->duration_ns));
    put_pair(at, offsetof(slot_op_narrow, input_dense),
             side_by_side((uint32_t)args->input_dense_bytes, (uint32_t)inputs));
    put_pair(at, offsetof(slot_op_narrow, inputs) + sizeof(uint32_t),
             side_by_side((uint32_t)(inputs >> 32), third_input(args)));
    self->places[place] = op_shared(args);
    lane_give(self, NARROW_BYTES);
}

void cg_record_op_on(cg_record *session, cg_record_span span, const cg_record_op_args *args)
{
    lane *self = lane_at_once(session);

    if (!is_likely(self != NULL && args != NULL && args->size >= sizeof *args &&
                   args->input_count <= 3 && (args->input_count == 0 || args->inputs != NULL)) ||
        !may_put(session, self, span, NARROW_BYTES, SPOOL_OP, AT_ONCE)) {
        op_with_care(session, span, args);
        return;
    }
    uint64_t wide = args->output | args->duration_ns | args->input_dense_bytes;
    uint64_t inputs = first_inputs(args, &wide);
    if (!is_likely((wide >> 32 | args->start) == 0)) {
        op_with_care(session, span, args);
        return;
    }
    lane_place shared = op_shared(args);
    unsigned place = op_place_of(shared);
    if (!is_likely(is_in_place(self, place, shared))) {
        op_in_new_place(session, span, args, inputs, place);
        return;
    }
    /* What is there was sound when it came: it need not be looked at again. */
    void *at = lane_head(self);
    put_head(at, span, SPOOL_OP_AGAIN, place, clock_read(CLOCK_REGISTER));
    put_pair(at, offsetof(slot_op_again, output),
             side_by_side((uint32_t)args->output, (uint32_t)args->duration_ns));
    put_pair(at, offsetof(slot_op_again, inputs), inputs);
    if (is_likely(args->input_count <= 2)) {
        lane_give(self, AGAIN_BYTES);
    } else {
        put_pair(at, AGAIN_BYTES, side_by_side(third_input(args), 0));
        lane_give(self, AGAIN_OF_THREE_BYTES);
    }
}

/* --- tensors and scalars --- */

static HOT bool hot_tensor(cg_record *session, lane *self, cg_record_span span,
                           const cg_record_tensor_args *args, enum way way)
{
    if (!is_likely(args->size >= sizeof *args && args->id != 0 && args->layout != 0 &&
                   args->category <= CG_RECORD_OPTIMIZER_STATE)) {
        if (way == WITH_CARE) {
            session_refuse(session, SPOOL_TENSOR, "a tensor without identity, layout or category");
        }
        return false;
    }
    if (!may_put(session, self, span, sizeof(slot_tensor), SPOOL_TENSOR, way)) {
        return false;
    }
    slot_tensor *at = lane_head(self);
    unsigned flags = args->category | (args->is_grad_required ? SLOT_GRAD : 0u);
    at->head = head_of(span, SPOOL_TENSOR, flags, time_now(self, way));
    at->id = args->id;
    at->label = args->label;
    at->layout = args->layout;
    lane_give(self, sizeof *at);
    return true;
}

static CAREFUL void tensor_with_care(cg_record *session, cg_record_span span,
                                     const cg_record_tensor_args *args)
{
    lane *self = lane_of(session);

    if (self != NULL && args != NULL) {
        (void)hot_tensor(session, self, span, args, WITH_CARE);
    }
}

void cg_record_tensor_on(cg_record *session, cg_record_span span, const cg_record_tensor_args *args)
{
    lane *self = lane_at_once(session);

    if (self == NULL || args == NULL || !hot_tensor(session, self, span, args, AT_ONCE)) {
        tensor_with_care(session, span, args);
    }
}

static HOT bool hot_scalar(cg_record *session, lane *self, cg_record_span span,
                           cg_record_name label, double value, enum way way)
{
    if (!is_likely(!label_is_odd(label))) {
        if (way == WITH_CARE) {
            session_refuse(session, SPOOL_SCALAR, "a scalar without a label");
        }
        return false;
    }
    if (!may_put(session, self, span, sizeof(slot_scalar), SPOOL_SCALAR, way)) {
        return false;
    }
    slot_scalar *at = lane_head(self);
    at->head = head_of(span, SPOOL_SCALAR, 0, time_now(self, way));
    at->label = label;
    at->value = value;
    lane_give(self, sizeof *at);
    return true;
}

static CAREFUL void scalar_with_care(cg_record *session, cg_record_span span, cg_record_name label,
                                     double value)
{
    lane *self = lane_of(session);

    if (self != NULL) {
        (void)hot_scalar(session, self, span, label, value, WITH_CARE);
    }
}

void cg_record_scalar_on(cg_record *session, cg_record_span span, cg_record_name label,
                         double value)
{
    lane *self = lane_at_once(session);

    if (self == NULL || !hot_scalar(session, self, span, label, value, AT_ONCE)) {
        scalar_with_care(session, span, label, value);
    }
}
