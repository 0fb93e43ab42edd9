#include "base/num.h"
#include "exec/columns.h"
#include "exec/health_gradients.h"
#include "exec/health_labels.h"
#include "exec/pairs.h"

static void seen_until(check *self, uint64_t end_ns)
{
    if (end_ns > self->last_ns)
        self->last_ns = end_ns;
}

/* --- run and terminal: rules 1 to 4 --- */

static enum run_rule first_run_fault(const rec_run *run)
{
    const rec_identity *identity = run->identity;
    const cg_str texts[] = {run->run_id, run->correlation_id, run->entrypoint, run->timestamp,
                            run->device};

    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (str_is_blank(texts[i]))
            return (enum run_rule)(RUN_RUN_ID + i);
    }
    if (run->capture_step == 0)
        return RUN_CAPTURE_STEP;
    if (run->warmup_steps >= run->capture_step)
        return RUN_WARMUP;
    if (identity == NULL)
        return RUN_SOUND;

    const cg_str parts[] = {
        identity->workload_id,  identity->model_id,          identity->config_id,
        identity->data_id,      identity->seed_policy,       identity->precision,
        identity->device_state, identity->implementation_id, identity->pair_id};

    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        bool is_optional = i + RUN_WORKLOAD >= RUN_IMPLEMENTATION;

        if (!(is_optional && parts[i].ptr == NULL) && str_is_blank(parts[i]))
            return (enum run_rule)(RUN_WORKLOAD + i);
    }
    if (identity->physical_batch == 0)
        return RUN_BATCH;
    if (identity->accumulation_steps == 0)
        return RUN_ACCUMULATION;
    return RUN_SOUND;
}

static void check_run(check *self)
{
    const trace_doc *trace = self->trace;
    enum run_rule fault = first_run_fault(&trace->run);

    if (fault != RUN_SOUND)
        health_error(self, HEALTH_RUN_PROVENANCE, (uint32_t)fault, 0);
    if (!self->is_failed && trace->failure_reason.ptr != NULL)
        health_error(self, HEALTH_COMPLETE_WITH_REASON, 0, 0);
    if (self->is_failed && str_is_blank(trace->failure_reason))
        health_error(self, HEALTH_FAILED_WITHOUT_REASON, 0, 0);
}

/* Rule 3 is known only after everything was looked at, but is told in third place. */
static void insert_terminal_issue(check *self, size_t place)
{
    health_report *report = self->report;
    health_issue issue;

    if (self->trace->terminal_ns >= self->last_ns)
        return;
    health_error(self, HEALTH_TERMINAL_PRECEDES, (uint32_t)self->last_ns,
                 (uint32_t)(self->last_ns >> 32));
    if (!self->has_room)
        return;
    issue = report->issues.at[report->issues.count - 1];
    memmove(report->issues.at + place + 1, report->issues.at + place,
            (report->issues.count - 1 - place) * sizeof issue);
    report->issues.at[place] = issue;
}

/* --- spans: rules 5 to 11 --- */

static void count_spans(check *self)
{
    const trace_doc *trace = self->trace;
    uint64_t *coverage = self->report->coverage;
    uint32_t measured = TRACE_NONE;

    coverage[COVERAGE_SPANS] = trace->spans.count;
    for (size_t i = 0; i < trace->spans.count; i++) {
        const trace_span *span = &trace->spans.at[i];

        seen_until(self, span->is_closed ? trace_span_end(span) : span->start_ns);
        coverage[COVERAGE_CLOSED_SPANS] += span->is_closed;
        coverage[COVERAGE_ROOT_SPANS] += span->parent_id == 0;
        coverage[COVERAGE_FORWARD_SPANS] += span->step == STEP_FORWARD;
        coverage[COVERAGE_BACKWARD_SPANS] += span->step == STEP_BACKWARD;
        coverage[COVERAGE_OPTIMIZER_SPANS] += span->step == STEP_OPTIMIZER;
        if (span->is_measured) {
            measured = (uint32_t)i;
            coverage[COVERAGE_MEASURED_SPANS]++;
            self->report->closed_measured_count += span->is_closed;
        }
        if (i > 0 && span->id == trace->spans.at[i - 1].id)
            health_error(self, HEALTH_DUPLICATE_SPAN, (uint32_t)i, 0);
    }
    self->report->measured_span = coverage[COVERAGE_MEASURED_SPANS] == 1 ? measured : TRACE_NONE;
    if (coverage[COVERAGE_ROOT_SPANS] != 1)
        health_error(self, HEALTH_ROOT_COUNT, 0, 0);
    if (coverage[COVERAGE_MEASURED_SPANS] != 1 && !self->is_failed)
        health_error(self, HEALTH_MEASUREMENT_COUNT, 0, 0);
}

/* A parent that always starts earlier in the stream cannot be part of a cycle. */
static bool may_have_cycle(const trace_doc *trace)
{
    for (size_t i = 0; i < trace->spans.count; i++) {
        const trace_span *span = &trace->spans.at[i];

        if (span->parent != TRACE_NONE && trace->spans.at[span->parent].order >= span->order)
            return true;
    }
    return false;
}

enum { SPAN_UNSEEN, SPAN_ON_PATH, SPAN_SOUND, SPAN_CYCLIC };

/* Colour every span: does its chain of parents end? Each span is walked over twice at most. */
static void colour_spans(const trace_doc *trace, uint8_t *colours)
{
    for (size_t i = 0; i < trace->spans.count; i++) {
        uint32_t at = (uint32_t)i;
        uint8_t found;

        while (at != TRACE_NONE && colours[at] == SPAN_UNSEEN) {
            colours[at] = SPAN_ON_PATH;
            at = trace->spans.at[at].parent;
        }
        found = at == TRACE_NONE || colours[at] == SPAN_SOUND ? SPAN_SOUND : SPAN_CYCLIC;
        for (at = (uint32_t)i; at != TRACE_NONE && colours[at] == SPAN_ON_PATH;
             at = trace->spans.at[at].parent)
            colours[at] = found;
    }
}

static void check_span(check *self, uint32_t index)
{
    const trace_span *span = &self->trace->spans.at[index];
    const trace_span *parent;

    if (!span->is_closed)
        health_by_outcome(self, HEALTH_OPEN_SPAN, index, 0);
    if (span->parent_id == 0)
        return;
    if (span->parent == TRACE_NONE) {
        health_error(self, HEALTH_UNKNOWN_PARENT, index, 0);
        return;
    }
    parent = &self->trace->spans.at[span->parent];
    if (span->is_closed && parent->is_closed &&
        (span->start_ns < parent->start_ns || trace_span_end(span) > trace_span_end(parent)))
        health_error(self, HEALTH_CHILD_OUTSIDE, index, 0);
}

static void check_spans(check *self)
{
    size_t count = self->trace->spans.count;
    uint8_t *colours = NULL;

    count_spans(self);
    if (may_have_cycle(self->trace)) {
        colours = column_zero(self->heap, count, sizeof *colours);
        if (colours == NULL) {
            self->has_room = false;
            return;
        }
        colour_spans(self->trace, colours);
    }
    for (size_t i = 0; i < count && self->has_room; i++) {
        check_span(self, (uint32_t)i);
        if (colours != NULL && colours[i] == SPAN_CYCLIC)
            health_error(self, HEALTH_SPAN_CYCLE, (uint32_t)i, 0);
    }
    column_free(self->heap, colours, count, sizeof *colours);
}

/* --- events: rules 12 to 16 --- */

/* How many events of a list break which rule: a list without faults is read once. */
typedef struct event_faults {
    size_t unknown;
    size_t outside;
} event_faults;

static bool is_outside(const trace_span *span, uint64_t start_ns, uint64_t end_ns)
{
    return span->is_closed && (start_ns < span->start_ns || end_ns > trace_span_end(span));
}

static bool is_operation_outside(const trace_doc *trace, const trace_op *op)
{
    uint32_t span = trace_span_of(trace, op->span_id);

    return span != TRACE_NONE && is_outside(&trace->spans.at[span], op->timestamp_ns,
                                            num_sat_add(op->timestamp_ns, op->duration_ns));
}

static bool is_memory_outside(const trace_doc *trace, const trace_memory *row)
{
    uint32_t span = trace_span_of(trace, row->span_id);

    return span != TRACE_NONE &&
           is_outside(&trace->spans.at[span], row->timestamp_ns, row->timestamp_ns);
}

static event_faults count_operation_faults(check *self)
{
    const trace_doc *trace = self->trace;
    event_faults faults = {0};

    for (size_t i = 0; i < trace->ops.count; i++) {
        const trace_op *op = &trace->ops.at[i];
        uint64_t end_ns = num_sat_add(op->timestamp_ns, op->duration_ns);
        uint32_t span = trace_span_of(trace, op->span_id);

        seen_until(self, end_ns);
        if (span == TRACE_NONE)
            faults.unknown++;
        else
            faults.outside += is_outside(&trace->spans.at[span], op->timestamp_ns, end_ns);
    }
    return faults;
}

static event_faults count_memory_faults(check *self)
{
    const trace_doc *trace = self->trace;
    event_faults faults = {0};

    for (size_t i = 0; i < trace->memory.count; i++) {
        const trace_memory *row = &trace->memory.at[i];
        uint32_t span = trace_span_of(trace, row->span_id);

        seen_until(self, row->timestamp_ns);
        if (span == TRACE_NONE)
            faults.unknown++;
        else
            faults.outside +=
                is_outside(&trace->spans.at[span], row->timestamp_ns, row->timestamp_ns);
    }
    return faults;
}

/* Rule 12 over one list. */
#define CHECK_REFERENCES(self, rows, at_kind)                                                      \
    for (size_t i = 0; i < (self)->trace->rows.count && (self)->has_room; i++) {                   \
        if (trace_span_of((self)->trace, (self)->trace->rows.at[i].span_id) == TRACE_NONE)         \
            health_error_at((self), HEALTH_UNKNOWN_SPAN, (at_kind), (uint32_t)i);                  \
    }

static void check_events(check *self)
{
    const trace_doc *trace = self->trace;
    event_faults operations = count_operation_faults(self);
    event_faults memory = count_memory_faults(self);

    if (operations.unknown > 0)
        CHECK_REFERENCES(self, ops, AT_OPERATION)
    CHECK_REFERENCES(self, tensors, AT_TENSOR)
    CHECK_REFERENCES(self, stats, AT_STATISTICS)
    if (memory.unknown > 0)
        CHECK_REFERENCES(self, memory, AT_MEMORY)
    CHECK_REFERENCES(self, intervals, AT_INTERVAL)
    for (size_t i = 0; i < trace->intervals.count && self->has_room; i++) {
        if (trace->intervals.at[i].duration_ns == 0)
            health_error(self, HEALTH_EMPTY_INTERVAL, (uint32_t)i, 0);
    }
    for (size_t i = 0; operations.outside > 0 && i < trace->ops.count && self->has_room; i++) {
        if (is_operation_outside(trace, &trace->ops.at[i]))
            health_error(self, HEALTH_OPERATION_OUTSIDE, (uint32_t)i, 0);
    }
    for (size_t i = 0; memory.outside > 0 && i < trace->memory.count && self->has_room; i++) {
        if (is_memory_outside(trace, &trace->memory.at[i]))
            health_error(self, HEALTH_MEMORY_OUTSIDE, (uint32_t)i, 0);
    }
    for (size_t i = 0; i < trace->samples.count && self->has_room; i++) {
        seen_until(self, trace->samples.at[i].timestamp_ns);
        if (trace->samples.at[i].present == 0)
            health_error(self, HEALTH_EMPTY_SAMPLE, (uint32_t)i, 0);
    }
}

/* --- edges: rules 17 to 21 --- */

/* Bytes by symbol: 1 for every tensor that an event or an operation names. */
static uint8_t *known_tensors(const check *self)
{
    const trace_doc *trace = self->trace;
    uint8_t *known = column_zero(self->heap, intern_count(&trace->texts), sizeof *known);

    if (known == NULL)
        return NULL;
    for (size_t i = 0; i < trace->tensors.count; i++)
        known[trace->tensors.at[i].tensor_id] = 1;
    for (size_t i = 0; i < trace->inputs.count; i++)
        known[trace->inputs.at[i]] = 1;
    for (size_t i = 0; i < trace->ops.count; i++)
        known[trace->ops.at[i].output] = 1;
    known[0] = 0;
    return known;
}

static void check_call_edge(check *self, uint32_t index)
{
    const trace_doc *trace = self->trace;
    const trace_edge *edge = &trace->edges.at[index];
    uint32_t to = trace_span_of(trace, edge->to);
    const trace_span *span;

    if (to == TRACE_NONE || trace_span_of(trace, edge->from) == TRACE_NONE) {
        health_error(self, HEALTH_CALL_EDGE_SPAN, index, 0);
        return;
    }
    span = &trace->spans.at[to];
    if (span->parent_id != edge->from)
        health_error(self, HEALTH_CALL_EDGE_HIERARCHY, index, 0);
    if (span->is_closed && span->duration_ns != edge->duration_ns)
        health_error(self, HEALTH_CALL_EDGE_DURATION, index, 0);
}

static void check_data_edge(check *self, uint32_t index, const uint8_t *known)
{
    const trace_edge *edge = &self->trace->edges.at[index];

    if (trace_text(self->trace, edge->from).len == 0 || trace_text(self->trace, edge->to).len == 0)
        health_error(self, HEALTH_DATA_EDGE_EMPTY, index, 0);
    else if (known[edge->from] == 0 || known[edge->to] == 0)
        health_error(self, HEALTH_DATA_EDGE_TENSOR, index, known[edge->from] == 0); /* which one */
}

static void check_edges(check *self)
{
    const trace_doc *trace = self->trace;
    uint64_t *coverage = self->report->coverage;
    uint8_t *known = NULL;

    for (size_t i = 0; i < trace->edges.count && self->has_room; i++) {
        if (trace->edges.at[i].kind == EDGE_KIND_CALL) {
            coverage[COVERAGE_CALL_EDGES]++;
            check_call_edge(self, (uint32_t)i);
            continue;
        }
        coverage[COVERAGE_DATA_EDGES]++;
        if (known == NULL)
            known = known_tensors(self);
        if (known == NULL) {
            self->has_room = false;
            return;
        }
        check_data_edge(self, (uint32_t)i, known);
    }
    column_free(self->heap, known, intern_count(&trace->texts), sizeof *known);
}

/* --- memory: rules 22 to 25 --- */

static void check_memory(check *self)
{
    const memory_plane *memory = self->memory;

    for (size_t i = 0; i < memory->faults.count && self->has_room; i++) {
        const memory_fault *fault = &memory->faults.at[i];
        uint32_t lifetime = memory->lifetime_of.at[fault->event];
        uint32_t alloc =
            lifetime != TRACE_NONE ? memory->lifetimes.at[lifetime].alloc_event : TRACE_NONE;

        switch ((enum memory_fault_kind)fault->kind) {
        case MEMORY_SIZE_MISMATCH:
            health_error(self, HEALTH_ALLOCATION_SIZE, fault->event, alloc);
            break;
        case MEMORY_DUPLICATE:
            health_error(self, HEALTH_DUPLICATE_ALLOCATION, fault->event, alloc);
            break;
        case MEMORY_UNPAIRED_FREE:
            health_error(self, HEALTH_UNPAIRED_FREE, fault->event, alloc);
            break;
        }
    }
    if (memory->retained_count > 0)
        health_add_issue(self, false, HEALTH_RETAINED, (uint32_t)memory->retained_count, 0);
}

/* --- what is absent: rules 35 to 40 --- */

static void check_absence(check *self)
{
    const uint64_t *coverage = self->report->coverage;
    bool is_train = self->trace->run.phase == PHASE_TRAIN;
    const struct {
        bool applies;
        enum health_counter counter;
        enum health_code code;
    } rules[] = {
        {true, COVERAGE_OPERATIONS, HEALTH_NO_OPERATIONS},
        {true, COVERAGE_TENSORS, HEALTH_NO_TENSORS},
        {true, COVERAGE_MEMORY_EVENTS, HEALTH_NO_LOGICAL_MEMORY},
        {true, COVERAGE_DEVICE_MEMORY_SAMPLES, HEALTH_NO_PHYSICAL_MEMORY},
        {true, COVERAGE_DEVICE_INTERVALS, HEALTH_NO_DEVICE_TIMING},
        {is_train, COVERAGE_GRADIENTS, HEALTH_NO_GRADIENTS},
        {is_train, COVERAGE_FORWARD_SPANS, HEALTH_NO_FORWARD},
        {is_train, COVERAGE_BACKWARD_SPANS, HEALTH_NO_BACKWARD},
        {is_train, COVERAGE_OPTIMIZER_SPANS, HEALTH_NO_OPTIMIZER},
    };

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].applies && coverage[rules[i].counter] == 0)
            health_warning(self, rules[i].code);
    }
}

/* --- all rules --- */

static void count_events(check *self)
{
    const trace_doc *trace = self->trace;
    uint64_t *coverage = self->report->coverage;

    coverage[COVERAGE_OPERATIONS] = trace->ops.count;
    coverage[COVERAGE_TENSORS] = trace->tensors.count;
    coverage[COVERAGE_MEMORY_EVENTS] = trace->memory.count;
    coverage[COVERAGE_DEVICE_MEMORY_SAMPLES] = trace->samples.count;
    coverage[COVERAGE_DEVICE_INTERVALS] = trace->intervals.count;
    coverage[COVERAGE_GRADIENTS] = trace->gradients.count;
}

static cg_code check_all(check *self, cg_err *reterr)
{
    size_t terminal_place;

    count_events(self);
    check_run(self);
    terminal_place = self->report->issues.count;
    if (self->is_failed)
        health_warning(self, HEALTH_CAPTURE_FAILED);
    check_spans(self);
    check_events(self);
    check_edges(self);
    check_memory(self);
    health_check_gradients(self);
    if (self->has_room)
        CG_TRY(health_check_gradient_contract(self, reterr));
    check_absence(self);
    if (self->has_room && !health_check_labels(self))
        self->has_room = false;
    if (self->has_room)
        insert_terminal_issue(self, terminal_place);
    return self->has_room ? CG_OK : err_nomem(reterr);
}

cg_code health_check(heap *from, const trace_doc *trace, const memory_plane *memory,
                     health_report *ret, cg_err *reterr)
{
    check self = {.trace = trace,
                  .memory = memory,
                  .heap = from,
                  .report = ret,
                  .is_failed = trace->outcome == OUTCOME_FAILED,
                  .has_room = true};
    cg_code code;

    *ret = (health_report){.trace = trace, .heap = from, .measured_span = TRACE_NONE};
    arena_init(&ret->texts, from);
    code = check_all(&self, reterr);
    if (self.labels.heap != NULL)
        intern_free(&self.labels);
    if (code != CG_OK) {
        health_free(ret);
        return code;
    }
    ret->is_valid = ret->error_count == 0;
    ret->is_complete = !self.is_failed;
    health_note_gradients(ret);
    return CG_OK;
}

void health_free(health_report *report)
{
    if (report->heap != NULL) {
        vec_free(report->heap, &report->issues);
        health_free_families(report->heap, &report->families);
        arena_free(&report->texts);
    }
    *report = (health_report){0};
}
