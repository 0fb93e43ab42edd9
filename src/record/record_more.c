#include "candlegraph/record.h"

#include <math.h>

#include "record/names.h"
#include "record/put.h"
#include "record/stats.h"

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

/* --- statistics of tensors --- */

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

/* --- memory and devices --- */

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

/* --- gradients --- */

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

/* --- edges --- */

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
