#include "candlegraph/record.h"

#include <math.h>
#include <stddef.h>

#include "record/names.h"
#include "record/session.h"
#include "record/stats.h"

#define SPAN_WIDTH 32

static cg_record_span no_span(const lane *self)
{
    return (cg_record_span){0, self != NULL ? self->serial : 0, 0};
}

/* --- the hot calls --- */

/*
 * Each of them is written once and compiled twice. AT_ONCE nothing is called, so that no register
 * has to be saved and no stack to be guarded; when something stands in the way, nothing is done,
 * the answer is false, and the call begins again WITH_CARE, where it may take what it takes.
 */
enum way { AT_ONCE, WITH_CARE };

#define HOT     static inline __attribute__((always_inline))
#define CAREFUL __attribute__((noinline)) static
#define RARE    __attribute__((noinline, cold)) static

HOT bool is_likely(bool condition)
{
    return __builtin_expect(condition, 1);
}

HOT lane *lane_at_once(const cg_record *session)
{
    lane *self = lane_here;

    return is_likely(self != NULL &&
                     atomic_load_explicit(&self->session, memory_order_relaxed) == session &&
                     self->clock == CLOCK_REGISTER)
               ? self
               : NULL;
}

HOT uint64_t time_now(const lane *self, enum way way)
{
    return clock_read(way == AT_ONCE ? CLOCK_REGISTER : self->clock);
}

HOT bool has_room(lane *self, uint64_t bytes, unsigned kind, enum way way)
{
    return lane_has(self, bytes) || (way == WITH_CARE && lane_room(self, bytes, kind));
}

HOT bool hot_begin(cg_record *session, lane *self, cg_record_name name, uint32_t what, enum way way,
                   cg_record_span *ret)
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

CAREFUL cg_record_span begin_with_care(cg_record *session, cg_record_name name, uint32_t what)
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
RARE void end_odd(cg_record *session, const lane *self, cg_record_span span)
{
    if (span.reference == ROOT_REFERENCE) {
        session_refuse(session, SPOOL_END, "the root span ends with cg_record_finish");
    } else if (span.reference != 0) {
        session_refuse(session, SPOOL_END, "the end of a span of another session");
    } else if (span.session == self->serial) {
        session_drop(session, SPOOL_END); /* its begin was dropped */
    }
}

HOT void hot_end(cg_record *session, lane *self, cg_record_span span, uint64_t now)
{
    slot_end *at = lane_head(self);

    at->head = (slot){SPOOL_END, 0, (uint16_t)(span.reference >> SPAN_WIDTH),
                      (uint32_t)span.reference, now};
    lane_give(self, sizeof *at);
    if (!is_likely(span.reserved == 0)) {
        session->header->measured_to = now;
    }
}

CAREFUL void end_with_care(cg_record *session, cg_record_span span)
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

/* A record of no span, or of none that is here. */
RARE void leave_out(cg_record *session, const lane *self, cg_record_span span, unsigned kind)
{
    if (span.session == self->serial) {
        session_drop(session, kind); /* its span was dropped */
    } else {
        session_refuse(session, kind, "a record of no span, or of another session's");
    }
}

/* Whether a record of `span`, which counts as `kind`, has a place. */
HOT bool may_put(cg_record *session, lane *self, cg_record_span span, uint64_t bytes, unsigned kind,
                 enum way way)
{
    if (!is_likely(span.session == self->serial && span.reference != 0)) {
        if (way == WITH_CARE) {
            leave_out(session, self, span, kind);
        }
        return false;
    }
    return has_room(self, bytes, kind, way);
}

HOT slot head_of(cg_record_span span, unsigned form, unsigned flags, uint64_t time)
{
    return (slot){(uint8_t)form, (uint8_t)flags, (uint16_t)(span.reference >> SPAN_WIDTH),
                  (uint32_t)span.reference, time};
}

/* The same for the calls that are not hot: where it goes, its time yet to come. */
static void *take_for(cg_record *session, lane *self, cg_record_span span, uint64_t bytes,
                      unsigned kind)
{
    if (!may_put(session, self, span, bytes, kind, WITH_CARE)) {
        return NULL;
    }
    slot *at = lane_head(self);
    *at = head_of(span, kind, 0, 0);
    return at;
}

RARE void refuse_op(cg_record *session, const cg_record_op_args *args)
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
HOT lane_place op_shared(const cg_record_op_args *args)
{
    return (lane_place){(uint64_t)args->name << 32 | args->layout,
                        ((uint64_t)args->input_count + 1) << 32 | args->input_dense_bytes};
}

/* Where the lane remembers it; any choice would do. */
HOT unsigned op_place_of(lane_place shared)
{
    return (unsigned)((shared.what ^ shared.size << 20) * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

HOT bool is_in_place(const lane *self, unsigned place, lane_place shared)
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

CAREFUL void op_with_care(cg_record *session, cg_record_span span, const cg_record_op_args *args)
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

/* Up to three inputs, numbers that fit 32 bits. */
HOT bool hot_op(cg_record *session, lane *self, cg_record_span span, const cg_record_op_args *args)
{
    enum {
        AGAIN_BYTES = sizeof(slot_op_again) + 2 * sizeof(uint32_t),
        AGAIN_OF_THREE_BYTES = AGAIN_BYTES + SPOOL_UNIT,
        NARROW_BYTES = offsetof(slot_op_narrow, inputs) + 3 * sizeof(uint32_t)
    };

    const uint32_t count = args->input_count;
    if (!is_likely(args->size >= sizeof *args && count <= 3 &&
                   (count == 0 || args->inputs != NULL))) {
        return false;
    }
    uint64_t first = count > 0 ? args->inputs[0] : 0;
    uint64_t second = count > 1 ? args->inputs[1] : 0;
    uint64_t third = count > 2 ? args->inputs[2] : 0;
    uint64_t wide =
        args->output | args->duration_ns | args->input_dense_bytes | first | second | third;
    if (!is_likely((wide >> 32 | args->start) == 0) ||
        !may_put(session, self, span, NARROW_BYTES, SPOOL_OP, AT_ONCE)) {
        return false;
    }
    lane_place shared = op_shared(args);
    unsigned place = op_place_of(shared);
    if (is_likely(is_in_place(self, place, shared))) {
        /* What is there was sound when it came: it need not be looked at again. */
        slot_op_again *at = lane_head(self);

        at->head = head_of(span, SPOOL_OP_AGAIN, place, clock_read(CLOCK_REGISTER));
        at->output = (uint32_t)args->output;
        at->duration = (uint32_t)args->duration_ns;
        at->inputs[0] = (uint32_t)first;
        at->inputs[1] = (uint32_t)second;
        if (count > 2) {
            at->inputs[2] = (uint32_t)third;
            lane_give(self, AGAIN_OF_THREE_BYTES);
        } else {
            lane_give(self, AGAIN_BYTES);
        }
        return true;
    }
    if (!is_likely(args->name != 0 && args->layout - 1 < (1u << 24) - 1)) {
        return false;
    }
    slot_op_narrow *at = lane_head(self);
    at->head = head_of(span, SPOOL_OP_NARROW, place, clock_read(CLOCK_REGISTER));
    at->name = args->name;
    at->layout_inputs = args->layout | count << 24;
    at->output = (uint32_t)args->output;
    at->duration = (uint32_t)args->duration_ns;
    at->input_dense = (uint32_t)args->input_dense_bytes;
    at->inputs[0] = (uint32_t)first;
    at->inputs[1] = (uint32_t)second;
    at->inputs[2] = (uint32_t)third;
    self->places[place] = shared;
    lane_give(self, NARROW_BYTES);
    return true;
}

void cg_record_op_on(cg_record *session, cg_record_span span, const cg_record_op_args *args)
{
    lane *self = lane_at_once(session);

    if (self == NULL || args == NULL || !hot_op(session, self, span, args)) {
        op_with_care(session, span, args);
    }
}

HOT bool hot_tensor(cg_record *session, lane *self, cg_record_span span,
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

CAREFUL void tensor_with_care(cg_record *session, cg_record_span span,
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

/* No name, or a blank one, which has the top bit. */
static inline bool label_is_odd(cg_record_name label)
{
    return label - 1 >= UINT32_C(0x7fffffff);
}

HOT bool hot_scalar(cg_record *session, lane *self, cg_record_span span, cg_record_name label,
                    double value, enum way way)
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

CAREFUL void scalar_with_care(cg_record *session, cg_record_span span, cg_record_name label,
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

/* --- the run --- */

static void fill_run(cg_record_run *run, uint32_t phase, const char *entrypoint, uint64_t step,
                     const char *device)
{
    *run = (cg_record_run){.size = sizeof *run,
                           .phase = phase,
                           .entrypoint = entrypoint,
                           .device = device,
                           .capture_step = step,
                           .warmup_steps = step > 0 ? step - 1 : 0};
}

void cg_record_run_training(cg_record_run *run, const char *entrypoint, uint64_t step,
                            const char *device)
{
    fill_run(run, CG_RECORD_TRAIN, entrypoint, step, device);
}

void cg_record_run_inference(cg_record_run *run, const char *entrypoint, uint64_t step,
                             const char *device)
{
    fill_run(run, CG_RECORD_INFER, entrypoint, step, device);
}

void cg_record_run_synchronized(cg_record_run *run)
{
    run->timing_mode = CG_RECORD_DEVICE_SYNCHRONIZED;
    run->is_device_synchronized = true;
}

bool cg_record_parse_phase(const char *word, uint32_t *phase, uint32_t *step)
{
    static const struct {
        char word[12];
        uint8_t phase; /* 2 = not a phase */
        uint8_t step;
    } words[] = {{"train", CG_RECORD_TRAIN, 0},       {"training", CG_RECORD_TRAIN, 0},
                 {"infer", CG_RECORD_INFER, 0},       {"inference", CG_RECORD_INFER, 0},
                 {"eval", CG_RECORD_INFER, 0},        {"evaluation", CG_RECORD_INFER, 0},
                 {"forward", 2, CG_RECORD_FORWARD},   {"fwd", 2, CG_RECORD_FORWARD},
                 {"backward", 2, CG_RECORD_BACKWARD}, {"bwd", 2, CG_RECORD_BACKWARD},
                 {"backprop", 2, CG_RECORD_BACKWARD}, {"optimizer", 2, CG_RECORD_OPTIMIZER},
                 {"optim", 2, CG_RECORD_OPTIMIZER},   {"step", 2, CG_RECORD_OPTIMIZER}};
    cg_str text = str_trim(str_from(word != NULL ? word : ""));

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (str_equal_nocase(text, str_from(words[i].word))) {
            if (words[i].phase != 2 && phase != NULL) {
                *phase = words[i].phase;
            }
            if (words[i].phase == 2 && step != NULL) {
                *step = words[i].step;
            }
            return true;
        }
    }
    return false;
}

const char *cg_record_type_name(uint32_t type)
{
    return stats_type_name(type);
}

bool cg_record_dense_bytes(const char *dtype, const uint64_t *shape, uint32_t rank, uint64_t *ret)
{
    return dtype != NULL && ret != NULL && (rank == 0 || shape != NULL) &&
           json_dense_bytes(shape, rank, str_from(dtype), ret);
}

uint32_t cg_record_category_of(uint32_t step, bool is_parameter)
{
    return is_parameter                  ? CG_RECORD_PARAMETER
           : step == CG_RECORD_BACKWARD  ? CG_RECORD_GRADIENT
           : step == CG_RECORD_OPTIMIZER ? CG_RECORD_OPTIMIZER_STATE
                                         : CG_RECORD_ACTIVATION;
}

bool cg_record_select(cg_record_selector *selector, uint64_t invocation)
{
    selector->invocation = invocation;
    return invocation != 0;
}

cg_code cg_record_open(const char *path, const cg_record_run *run, const cg_record_options *options,
                       cg_record **ret, cg_err *reterr)
{
    cg_record *session = NULL;
    cg_code code = session_open(path, run, options, &rec_sys_kernel, &session, reterr);

    if (ret != NULL) {
        *ret = session;
    } else if (session != NULL) {
        session_end(session, CG_LIT("opened by nobody"), NULL, NULL);
    }
    return code;
}

cg_code cg_record_finish(cg_record *session, cg_record_result *ret, cg_err *reterr)
{
    return session == NULL ? CG_OK : session_end(session, (cg_str){NULL, 0}, ret, reterr);
}

cg_code cg_record_finish_failed(cg_record *session, const char *reason, cg_record_result *ret,
                                cg_err *reterr)
{
    cg_str text = str_from(reason);

    if (session == NULL) {
        return CG_OK;
    }
    if (reason == NULL || str_is_blank(text)) {
        text = CG_LIT("the program gave no reason");
    }
    return session_end(session, text, ret, reterr);
}

cg_code cg_record_flush(cg_record *session, cg_err *reterr)
{
    return session == NULL ? CG_OK : session_flush(session, reterr);
}

/* --- time --- */

cg_record_time cg_record_now(const cg_record *session)
{
    return session == NULL ? 0 : clock_read(session->clock);
}

/* The rate as known by now. */
static uint64_t rate_of(const spool_header *header)
{
    clock_pair seen = {header->seen_ticks, header->seen_ns};
    /* The writer may be storing the pair. */
    bool is_pair = seen.ticks != 0 && seen.ticks == header->seen_ticks;

    return !is_pair ? header->rate : clock_rate(header->begin, seen, header->rate);
}

uint64_t cg_record_elapsed_ns(const cg_record *session)
{
    if (session == NULL || !session_is_open(session)) {
        return 0;
    }
    const spool_header *header = session->header;
    uint64_t now = clock_read(session->clock);

    return now <= header->begin.ticks ? 0 : clock_ns(now - header->begin.ticks, rate_of(header));
}

cg_record_time cg_record_time_at(const cg_record *session, uint64_t elapsed_ns)
{
    if (session == NULL || !session_is_open(session)) {
        return 0;
    }
    const spool_header *header = session->header;
    double ticks = (double)elapsed_ns * 4294967296.0 / (double)rate_of(header);

    return header->begin.ticks + (ticks < 9e18 ? (uint64_t)ticks : UINT64_C(9000000000000000000));
}

cg_record_time cg_record_time_of(const cg_record *session, uint64_t monotonic_ns)
{
    if (session == NULL || !session_is_open(session)) {
        return 0;
    }
    /* From the nearest moment that is known on both clocks, which is now. */
    clock_pair now = clock_now(session->clock);
    const spool_header *header = session->header;
    uint64_t rate = clock_rate(header->begin, now, header->rate);
    uint64_t back = now.ns > monotonic_ns ? now.ns - monotonic_ns : 0;
    double ticks = (double)back * 4294967296.0 / (double)rate;

    return ticks >= (double)(now.ticks - header->begin.ticks) ? header->begin.ticks
                                                              : now.ticks - (uint64_t)ticks;
}

/* --- names --- */

cg_record_name cg_record_intern_str(cg_record *session, cg_str text)
{
    return session == NULL || !session_is_open(session) ? 0 : names_text(session, text);
}

cg_record_name cg_record_intern(cg_record *session, const char *text)
{
    return cg_record_intern_str(session, str_from(text));
}

cg_record_layout cg_record_intern_layout(cg_record *session, const char *dtype, const char *device,
                                         const uint64_t *shape, uint32_t rank)
{
    return session == NULL || !session_is_open(session)
               ? 0
               : names_layout(session, str_from(dtype), str_from(device), shape, rank);
}

cg_record_id cg_record_text_id(cg_record *session, const char *text)
{
    cg_record_name name = cg_record_intern(session, text);

    return name == 0 ? 0 : UINT64_C(1) << 63 | name;
}

/* --- spans --- */

cg_record_span cg_record_root(const cg_record *session)
{
    return session == NULL || !session_is_open(session)
               ? no_span(NULL)
               : (cg_record_span){ROOT_REFERENCE, atomic_load(&session->serial), 0};
}

cg_record_span cg_record_current(cg_record *session)
{
    lane *self = session == NULL ? NULL : lane_of(session);

    return self == NULL ? no_span(NULL)
                        : (cg_record_span){self->stack[self->depth], self->serial, 0};
}

cg_record_span cg_record_span_begin_under(cg_record *session, cg_record_span parent,
                                          cg_record_name name, uint32_t kind, uint32_t step)
{
    lane *self = session == NULL ? NULL : lane_of(session);

    if (self == NULL) {
        return no_span(NULL);
    }
    if (parent.reference == 0 && parent.session == self->serial) {
        /* The parent was dropped: the innermost span stands in. */
        parent.reference = self->stack[self->depth];
    } else if (parent.reference == 0 || parent.session != self->serial) {
        session_refuse(session, SPOOL_BEGIN, "a parent that is no span of this session");
        parent.reference = ROOT_REFERENCE;
    }
    /* The parent stands on the stack for a moment, so that it is taken for the innermost span. */
    if (self->depth + 2 >= self->stack_capacity && !lane_grow_stack(self)) {
        session_drop(session, SPOOL_BEGIN);
        return no_span(self);
    }
    uint64_t own = self->stack[self->depth];
    self->stack[self->depth] = parent.reference;
    cg_record_span span = cg_record_begin_on(session, name, (kind & 3u) | (step & 3u) << 2);
    if (span.reference == 0) {
        self->stack[self->depth] = own;
    } else {
        self->stack[self->depth - 1] = own;
    }
    return span;
}

void cg_record_span_completed(cg_record *session, cg_record_span parent, cg_record_name name,
                              uint32_t kind, cg_record_time start, cg_record_time end)
{
    lane *self = session == NULL ? NULL : lane_of(session);

    if (self == NULL) {
        return;
    }
    uint64_t now = clock_read(self->clock);
    if (parent.reference == 0) {
        parent = (cg_record_span){ROOT_REFERENCE, self->serial, 0};
    }
    if (start < atomic_load_explicit(&session->began_ticks, memory_order_relaxed) || end <= start ||
        end > now) {
        session_refuse(session, SPOOL_COMPLETED,
                       "a completed span that began before the session, is empty or not over");
        return;
    }
    slot_completed *at = take_for(session, self, parent, sizeof *at, SPOOL_COMPLETED);
    if (at == NULL) {
        return;
    }
    at->head.flags = (uint8_t)(kind & 3u);
    at->head.time = now;
    at->name = name;
    at->number = ++self->spans;
    at->start = start;
    at->end = end;
    at->reserved = 0;
    lane_give(self, sizeof *at);
}

/* --- the other records --- */

bool cg_record_reduce(const cg_record_view *view, cg_record_stats *ret)
{
    return ret != NULL && stats_reduce(view, ret, NULL);
}

void cg_record_tensor_stats_of(cg_record *session, cg_record_span span, cg_record_name label,
                               cg_record_layout layout, const cg_record_stats *stats)
{
    lane *self = session == NULL ? NULL : lane_of(session);

    if (self == NULL) {
        return;
    }
    if (label_is_odd(label) || layout == 0 || stats == NULL ||
        stats->non_finite > stats->elements || !isfinite(stats->rms) || !isfinite(stats->abs_max) ||
        !isfinite(stats->mean) || stats->rms < 0 || stats->abs_max < 0) {
        session_refuse(session, SPOOL_STATS,
                       "tensor statistics without a label, or that contradict themselves");
        return;
    }
    slot_stats *at = take_for(session, self, span, sizeof *at, SPOOL_STATS);
    if (at == NULL) {
        return;
    }
    at->label = label;
    at->layout = layout;
    at->elements = stats->elements;
    at->non_finite = stats->non_finite;
    at->rms = stats->rms;
    at->abs_max = stats->abs_max;
    at->mean = stats->mean;
    at->head.time = clock_read(self->clock);
    lane_give(self, sizeof *at);
}

void cg_record_tensor_stats(cg_record *session, cg_record_span span, cg_record_name label,
                            const cg_record_view *view)
{
    cg_record_stats stats;

    if (session == NULL || !session_is_open(session)) {
        return;
    }
    if (!stats_reduce(view, &stats, NULL)) {
        session_refuse(session, SPOOL_STATS, "a tensor view without data, type or shape");
        return;
    }
    cg_record_layout layout = names_layout(session, str_from(stats_type_name(view->type)),
                                           CG_LIT("cpu"), view->shape, view->rank);
    if (layout == 0) {
        session_drop(session, SPOOL_STATS);
        return;
    }
    cg_record_tensor_stats_of(session, span, label, layout, &stats);
}

static void record_memory(cg_record *session, cg_record_span span,
                          const cg_record_memory_args *args, unsigned kind)
{
    lane *self = session == NULL ? NULL : lane_of(session);

    if (self == NULL) {
        return;
    }
    if (args == NULL || args->size < sizeof *args || args->storage == 0 || args->layout == 0 ||
        args->category > CG_RECORD_OPTIMIZER_STATE) {
        session_refuse(session, kind, "a memory event without storage, layout or category");
        return;
    }
    slot_memory *at = take_for(session, self, span, sizeof *at, kind);
    if (at == NULL) {
        return;
    }
    at->head.flags = (uint8_t)(args->category | (args->time != 0 ? SLOT_TIMED : 0u));
    at->storage = args->storage;
    at->tensor = args->tensor;
    at->bytes = args->bytes;
    at->op_name = args->op_name;
    at->layout = args->layout;
    at->at = args->time;
    at->reserved = 0;
    at->head.time = clock_read(self->clock);
    lane_give(self, sizeof *at);
}

void cg_record_memory_alloc(cg_record *session, cg_record_span span,
                            const cg_record_memory_args *args)
{
    record_memory(session, span, args, SPOOL_ALLOC);
}

void cg_record_memory_free(cg_record *session, cg_record_span span,
                           const cg_record_memory_args *args)
{
    record_memory(session, span, args, SPOOL_FREE);
}

void cg_record_device_memory(cg_record *session, const cg_record_device_memory_args *args)
{
    lane *self = session == NULL ? NULL : lane_of(session);

    if (self == NULL) {
        return;
    }
    if (args == NULL || args->size < sizeof *args || args->device == 0 ||
        !(args->has_used || args->has_free || args->has_reserved || args->has_capacity)) {
        session_refuse(session, SPOOL_DEVICE_MEMORY,
                       "a device memory sample without a device or a measurement");
        return;
    }
    slot_device_memory *at = lane_take(self, sizeof *at, SPOOL_DEVICE_MEMORY);
    if (at == NULL) {
        return;
    }
    unsigned flags = (args->has_used ? 1u : 0u) | (args->has_free ? 2u : 0u) |
                     (args->has_reserved ? 4u : 0u) | (args->has_capacity ? 8u : 0u) |
                     (args->time != 0 ? SLOT_TIMED : 0u);
    *at = (slot_device_memory){
        .head = {SPOOL_DEVICE_MEMORY, (uint8_t)flags, 0, args->device, clock_read(self->clock)},
        .used = args->used_bytes,
        .free = args->free_bytes,
        .reserved = args->reserved_bytes,
        .capacity = args->capacity_bytes,
        .at = args->time};
    lane_give(self, sizeof *at);
}

void cg_record_device_interval(cg_record *session, cg_record_span span,
                               const cg_record_device_interval_args *args)
{
    lane *self = session == NULL ? NULL : lane_of(session);

    if (self == NULL) {
        return;
    }
    if (args == NULL || args->size < sizeof *args || args->device == 0 || args->stream == 0 ||
        args->clock == 0 || args->backend == 0 || args->duration_ns == 0) {
        session_refuse(session, SPOOL_DEVICE_INTERVAL,
                       "a device interval without a length or one of its names");
        return;
    }
    slot_device_interval *at = take_for(session, self, span, sizeof *at, SPOOL_DEVICE_INTERVAL);
    if (at == NULL) {
        return;
    }
    at->device = args->device;
    at->stream = args->stream;
    at->clock = args->clock;
    at->backend = args->backend;
    at->start_ns = args->start_ns;
    at->duration_ns = args->duration_ns;
    at->head.time = clock_read(self->clock);
    lane_give(self, sizeof *at);
}

void cg_record_gradient(cg_record *session, cg_record_name root, cg_record_name key, uint32_t state,
                        double norm)
{
    lane *self = session == NULL ? NULL : lane_of(session);

    if (self == NULL) {
        return;
    }
    if (label_is_odd(root) || label_is_odd(key) || state > CG_RECORD_NON_FINITE ||
        (state == CG_RECORD_PRESENT ? !(isfinite(norm) && norm > 0) : norm != 0)) {
        session_refuse(session, SPOOL_GRADIENT,
                       "a gradient without root or key, or with a norm that contradicts its state");
        return;
    }
    slot_gradient *at = lane_take(self, sizeof *at, SPOOL_GRADIENT);
    if (at == NULL) {
        return;
    }
    *at = (slot_gradient){.head = {SPOOL_GRADIENT, (uint8_t)state, 0, 0, clock_read(self->clock)},
                          .root = root,
                          .key = key,
                          .norm = norm};
    lane_give(self, sizeof *at);
}

void cg_record_gradient_view(cg_record *session, cg_record_name root, cg_record_name key,
                             const cg_record_view *view)
{
    cg_record_stats stats;
    double norm = 0;

    if (session == NULL || !session_is_open(session)) {
        return;
    }
    if (view == NULL) {
        cg_record_gradient(session, root, key, CG_RECORD_MISSING, 0);
    } else if (!stats_reduce(view, &stats, &norm)) {
        session_refuse(session, SPOOL_GRADIENT, "a gradient view without data, type or shape");
    } else if (stats.non_finite > 0) {
        cg_record_gradient(session, root, key, CG_RECORD_NON_FINITE, 0);
    } else {
        cg_record_gradient(session, root, key, norm > 0 ? CG_RECORD_PRESENT : CG_RECORD_ZERO, norm);
    }
}

void cg_record_gradient_manifest(cg_record *session, const cg_record_gradients *manifest,
                                 const cg_record_view *const *views)
{
    if (session == NULL || !session_is_open(session) || manifest == NULL || views == NULL) {
        return;
    }
    for (size_t i = 0; i < manifest->expected_count; i++) {
        const cg_record_gradient_entry *entry = &manifest->expected[i];

        cg_record_gradient_view(session, cg_record_intern(session, entry->root),
                                cg_record_intern(session, entry->key), views[i]);
    }
}

void cg_record_call_edge(cg_record *session, cg_record_span from, cg_record_span to)
{
    lane *self = session == NULL ? NULL : lane_of(session);

    if (self == NULL) {
        return;
    }
    if (from.reference == 0 || from.session != self->serial) {
        session_refuse(session, SPOOL_CALL_EDGE, "a call edge from no span of this session");
        return;
    }
    slot_edge *at = take_for(session, self, to, sizeof *at, SPOOL_CALL_EDGE);
    if (at == NULL) {
        return;
    }
    at->from = from.reference;
    at->to = 0;
    at->head.time = clock_read(self->clock);
    lane_give(self, sizeof *at);
}

void cg_record_data_edge(cg_record *session, cg_record_id from, cg_record_id to)
{
    lane *self = session == NULL ? NULL : lane_of(session);

    if (self == NULL) {
        return;
    }
    if (from == 0 || to == 0) {
        session_refuse(session, SPOOL_DATA_EDGE, "a data edge with an empty end");
        return;
    }
    slot_edge *at = lane_take(self, sizeof *at, SPOOL_DATA_EDGE);
    if (at == NULL) {
        return;
    }
    *at = (slot_edge){
        .head = {SPOOL_DATA_EDGE, 0, 0, 0, clock_read(self->clock)}, .from = from, .to = to};
    lane_give(self, sizeof *at);
}
