#include "exec/health.h"

#include <inttypes.h>

#include "base/num.h"
#include "exec/columns.h"
#include "exec/gradient.h"
#include "exec/pairs.h"

/* Keys a family message names before it counts the rest. */
#define NAMED_KEYS 20

/* Rows an issue can point to, where one code serves several kinds (rule 12). */
enum { AT_OPERATION, AT_TENSOR, AT_STATISTICS, AT_MEMORY, AT_INTERVAL };

/* What the run breaks (rule 1), in the order of the check; the text completes "the run ...". */
#define RUN_RULES(R)                                                                               \
    R(RUN_ID, "has a blank run id")                                                                \
    R(CORRELATION_ID, "has a blank correlation id")                                                \
    R(ENTRYPOINT, "has a blank entrypoint")                                                        \
    R(TIMESTAMP, "has a blank timestamp")                                                          \
    R(DEVICE, "has a blank device")                                                                \
    R(CAPTURE_STEP, "has capture step 0, steps count from 1")                                      \
    R(WARMUP, "has as many warm-up steps as capture steps, or more")                               \
    R(WORKLOAD, "has a blank workload id in its comparison identity")                              \
    R(MODEL, "has a blank model id in its comparison identity")                                    \
    R(CONFIG, "has a blank config id in its comparison identity")                                  \
    R(DATA, "has a blank data id in its comparison identity")                                      \
    R(SEED, "has a blank seed policy in its comparison identity")                                  \
    R(PRECISION, "has a blank precision in its comparison identity")                               \
    R(DEVICE_STATE, "has a blank device state in its comparison identity")                         \
    R(IMPLEMENTATION, "has a blank implementation id in its comparison identity")                  \
    R(PAIR, "has a blank pair id in its comparison identity")                                      \
    R(BATCH, "has physical batch 0 in its comparison identity")                                    \
    R(ACCUMULATION, "has 0 accumulation steps in its comparison identity")

enum run_rule {
#define R(name, text) RUN_##name,
    RUN_RULES(R)
#undef R
        RUN_SOUND
};

typedef struct check {
    const trace_doc *trace;
    const memory_plane *memory;
    heap *heap;
    health_report *report;
    bool is_failed;   /* outcome of the capture */
    bool has_room;    /* false once an issue could not be kept */
    uint64_t last_ns; /* latest host evidence */
    intern labels;    /* required and classified labels; few of them need to occur in the trace */
} check;

/* --- issues --- */

static void add_issue(check *self, bool is_error, enum health_code code, uint32_t a, uint32_t b)
{
    health_report *report = self->report;
    health_issue *issue = vec_add(self->heap, &report->issues);

    if (issue == NULL) {
        self->has_room = false;
        return;
    }
    *issue = (health_issue){.code = (uint8_t)code, .is_error = is_error, .a = a, .b = b};
    if (is_error)
        report->error_count++;
    else
        report->warning_count++;
}

static void error(check *self, enum health_code code, uint32_t a, uint32_t b)
{
    add_issue(self, true, code, a, b);
}

static void warning(check *self, enum health_code code)
{
    add_issue(self, false, code, 0, 0);
}

/* An error on a complete capture; what a failed one may well lack. */
static void by_outcome(check *self, enum health_code code, uint32_t a, uint32_t b)
{
    add_issue(self, !self->is_failed, code, a, b);
}

static void error_at(check *self, enum health_code code, uint8_t what, uint32_t a)
{
    health_report *report = self->report;
    size_t count = report->issues.count;

    add_issue(self, true, code, a, 0);
    if (report->issues.count > count)
        report->issues.at[count].what = what;
}

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
        error(self, HEALTH_RUN_PROVENANCE, (uint32_t)fault, 0);
    if (!self->is_failed && trace->failure_reason.ptr != NULL)
        error(self, HEALTH_COMPLETE_WITH_REASON, 0, 0);
    if (self->is_failed && str_is_blank(trace->failure_reason))
        error(self, HEALTH_FAILED_WITHOUT_REASON, 0, 0);
}

/* Rule 3 is known only after everything was looked at, but is told in third place. */
static void insert_terminal_issue(check *self, size_t place)
{
    health_report *report = self->report;
    health_issue issue;

    if (self->trace->terminal_ns >= self->last_ns)
        return;
    error(self, HEALTH_TERMINAL_PRECEDES, (uint32_t)self->last_ns, (uint32_t)(self->last_ns >> 32));
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
            error(self, HEALTH_DUPLICATE_SPAN, (uint32_t)i, 0);
    }
    self->report->measured_span = coverage[COVERAGE_MEASURED_SPANS] == 1 ? measured : TRACE_NONE;
    if (coverage[COVERAGE_ROOT_SPANS] != 1)
        error(self, HEALTH_ROOT_COUNT, 0, 0);
    if (coverage[COVERAGE_MEASURED_SPANS] != 1 && !self->is_failed)
        error(self, HEALTH_MEASUREMENT_COUNT, 0, 0);
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
        by_outcome(self, HEALTH_OPEN_SPAN, index, 0);
    if (span->parent_id == 0)
        return;
    if (span->parent == TRACE_NONE) {
        error(self, HEALTH_UNKNOWN_PARENT, index, 0);
        return;
    }
    parent = &self->trace->spans.at[span->parent];
    if (span->is_closed && parent->is_closed &&
        (span->start_ns < parent->start_ns || trace_span_end(span) > trace_span_end(parent)))
        error(self, HEALTH_CHILD_OUTSIDE, index, 0);
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
            error(self, HEALTH_SPAN_CYCLE, (uint32_t)i, 0);
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
            error_at((self), HEALTH_UNKNOWN_SPAN, (at_kind), (uint32_t)i);                         \
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
            error(self, HEALTH_EMPTY_INTERVAL, (uint32_t)i, 0);
    }
    for (size_t i = 0; operations.outside > 0 && i < trace->ops.count && self->has_room; i++) {
        if (is_operation_outside(trace, &trace->ops.at[i]))
            error(self, HEALTH_OPERATION_OUTSIDE, (uint32_t)i, 0);
    }
    for (size_t i = 0; memory.outside > 0 && i < trace->memory.count && self->has_room; i++) {
        if (is_memory_outside(trace, &trace->memory.at[i]))
            error(self, HEALTH_MEMORY_OUTSIDE, (uint32_t)i, 0);
    }
    for (size_t i = 0; i < trace->samples.count && self->has_room; i++) {
        seen_until(self, trace->samples.at[i].timestamp_ns);
        if (trace->samples.at[i].present == 0)
            error(self, HEALTH_EMPTY_SAMPLE, (uint32_t)i, 0);
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
        error(self, HEALTH_CALL_EDGE_SPAN, index, 0);
        return;
    }
    span = &trace->spans.at[to];
    if (span->parent_id != edge->from)
        error(self, HEALTH_CALL_EDGE_HIERARCHY, index, 0);
    if (span->is_closed && span->duration_ns != edge->duration_ns)
        error(self, HEALTH_CALL_EDGE_DURATION, index, 0);
}

static void check_data_edge(check *self, uint32_t index, const uint8_t *known)
{
    const trace_edge *edge = &self->trace->edges.at[index];

    if (trace_text(self->trace, edge->from).len == 0 || trace_text(self->trace, edge->to).len == 0)
        error(self, HEALTH_DATA_EDGE_EMPTY, index, 0);
    else if (known[edge->from] == 0 || known[edge->to] == 0)
        error(self, HEALTH_DATA_EDGE_TENSOR, index, known[edge->from] == 0); /* which one */
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
        case MEMORY_SIZE_MISMATCH: error(self, HEALTH_ALLOCATION_SIZE, fault->event, alloc); break;
        case MEMORY_DUPLICATE: error(self, HEALTH_DUPLICATE_ALLOCATION, fault->event, alloc); break;
        case MEMORY_UNPAIRED_FREE: error(self, HEALTH_UNPAIRED_FREE, fault->event, alloc); break;
        }
    }
    if (memory->retained_count > 0)
        add_issue(self, false, HEALTH_RETAINED, (uint32_t)memory->retained_count, 0);
}

/* --- gradients: rules 26 to 34 --- */

static void check_gradient_events(check *self)
{
    const trace_doc *trace = self->trace;
    size_t count = intern_count(&trace->texts);
    uint8_t *seen;

    if (trace->gradients.count == 0)
        return;
    seen = column_zero(self->heap, count, sizeof *seen);
    if (seen == NULL) {
        self->has_room = false;
        return;
    }
    for (size_t i = 0; i < trace->gradients.count && self->has_room; i++) {
        const trace_gradient *event = &trace->gradients.at[i];

        if (str_is_blank(trace_text(trace, event->event_id)))
            error(self, HEALTH_GRADIENT_EVENT_EMPTY, (uint32_t)i, 0);
        if (str_is_blank(trace_text(trace, event->root)) ||
            str_is_blank(trace_text(trace, event->key)))
            error(self, HEALTH_GRADIENT_KEY_EMPTY, (uint32_t)i, 0);
        if (seen[event->event_id] != 0)
            error(self, HEALTH_GRADIENT_EVENT_TWICE, (uint32_t)i, 0);
        seen[event->event_id] = 1;
        if (!gradient_norm_fits(event))
            error(self, HEALTH_GRADIENT_STATE_NORM, (uint32_t)i, 0);
    }
    column_free(self->heap, seen, count, sizeof *seen);
}

/* One parameter that was observed. */
typedef struct observed {
    uint32_t first; /* event */
    uint32_t count;
    bool is_declared;
} observed;

/* The manifest against what was observed. */
typedef struct manifest_work {
    const rec_manifest_entry *entries;
    size_t entry_count;
    const rec_family *families;
    size_t family_count;
    pairs keys; /* (root, key) -> index into rows */
    VEC(observed) rows;
    intern names; /* family names: symbol = declared place + 1 */
} manifest_work;

/* A name and its symbol: neighbours in a manifest mostly share root and family. */
typedef struct last_name {
    cg_str text;
    sym symbol;
} last_name;

static sym find_name(const intern *texts, last_name *last, cg_str text)
{
    if (!str_equal(last->text, text))
        *last = (last_name){text, intern_find(texts, text)};
    return last->symbol;
}

static bool observe(check *self, manifest_work *work)
{
    const trace_doc *trace = self->trace;

    for (size_t i = 0; i < trace->gradients.count; i++) {
        const trace_gradient *event = &trace->gradients.at[i];
        bool is_new = false;
        uint32_t *row =
            pairs_add(&work->keys, event->root, event->key, (uint32_t)work->rows.count, &is_new);

        if (row == NULL)
            return false;
        if (is_new) {
            observed *added = vec_add(self->heap, &work->rows);

            if (added == NULL)
                return false;
            *added = (observed){.first = (uint32_t)i};
        }
        work->rows.at[*row].count++;
    }
    return true;
}

/* Fill families.states; what the manifest does not name stays undeclared. */
static bool match_manifest(check *self, manifest_work *work)
{
    const trace_doc *trace = self->trace;
    health_families *families = &self->report->families;
    last_name last = {0};

    if (!vec_reserve(self->heap, &families->states, work->entry_count))
        return false;
    families->states.count = work->entry_count;
    for (size_t i = 0; i < work->entry_count; i++) {
        sym root = find_name(&trace->texts, &last, work->entries[i].root);
        sym key = intern_find(&trace->texts, work->entries[i].key);
        uint32_t *row = root != 0 && key != 0 ? pairs_find(&work->keys, root, key) : NULL;

        families->states.at[i] = HEALTH_NOT_RECORDED;
        if (row != NULL) {
            work->rows.at[*row].is_declared = true;
            families->states.at[i] = trace->gradients.at[work->rows.at[*row].first].state;
        }
    }
    return true;
}

/* Rules 33a and 33b: usually nothing is at fault and nothing needs an order. */
static bool check_observed(check *self, const manifest_work *work)
{
    const trace_doc *trace = self->trace;
    VEC(uint32_t) faults = {0};
    uint64_t *keys = NULL;
    ranks names = {0};
    bool is_done = true;

    for (size_t i = 0; is_done && i < work->rows.count; i++) {
        if (work->rows.at[i].count != 1 || !work->rows.at[i].is_declared) {
            uint32_t *fault = vec_add(self->heap, &faults);

            is_done = fault != NULL;
            if (is_done)
                *fault = (uint32_t)i;
        }
    }
    if (is_done && faults.count > 0) {
        keys = column_take(self->heap, work->rows.count, sizeof *keys);
        is_done = keys != NULL && ranks_init(&names, self->heap, &trace->texts);
    }
    if (is_done && faults.count > 0) {
        const trace_gradient *events = trace->gradients.at;

        ranks_add(&names, &events->root, sizeof *events, trace->gradients.count);
        ranks_add(&names, &events->key, sizeof *events, trace->gradients.count);
        is_done = ranks_finish(&names);
        for (size_t i = 0; is_done && i < work->rows.count; i++) {
            const trace_gradient *event = &events[work->rows.at[i].first];

            keys[i] = (uint64_t)names.of[event->root] << 32 | names.of[event->key];
        }
        is_done = is_done && column_sort(self->heap, faults.at, faults.count, keys);
    }
    for (size_t i = 0; is_done && i < faults.count; i++) {
        const observed *row = &work->rows.at[faults.at[i]];

        if (row->count != 1)
            error(self, HEALTH_MANIFEST_DUPLICATE, row->first, row->count);
        if (!row->is_declared)
            error(self, HEALTH_MANIFEST_UNDECLARED, row->first, 0);
    }
    if (names.heap != NULL)
        ranks_free(&names);
    column_free(self->heap, keys, work->rows.count, sizeof *keys);
    vec_free(self->heap, &faults);
    return is_done;
}

/* Put the manifest entries in order of their families. */
static bool group_families(check *self, manifest_work *work)
{
    health_families *families = &self->report->families;
    last_name last = {0};
    uint32_t sum = 0;

    for (size_t i = 0; i < work->family_count; i++) {
        if (intern_add(&work->names, work->families[i].family) == 0)
            return false;
    }
    if (!vec_reserve(self->heap, &families->entry_at, work->family_count + 1) ||
        !vec_reserve(self->heap, &families->entries, work->entry_count))
        return false;
    families->entry_at.count = work->family_count + 1;
    families->entries.count = work->entry_count;
    memset(families->entry_at.at, 0, families->entry_at.count * sizeof *families->entry_at.at);
    /* A valid contract declares every family it uses, so symbols are 1 .. family_count. */
    for (size_t i = 0; i < work->entry_count; i++)
        families->entry_at.at[find_name(&work->names, &last, work->entries[i].family)]++;
    for (size_t i = 0; i <= work->family_count; i++) {
        sum += families->entry_at.at[i];
        families->entry_at.at[i] = sum;
    }
    /* Now entry_at[symbol] is the end of a family; filling from behind leaves its beginning. */
    for (size_t i = work->entry_count; i-- > 0;) {
        sym name = find_name(&work->names, &last, work->entries[i].family);

        families->entries.at[--families->entry_at.at[name]] = (uint32_t)i;
    }
    memmove(families->entry_at.at, families->entry_at.at + 1,
            work->family_count * sizeof *families->entry_at.at);
    families->entry_at.at[work->family_count] = (uint32_t)work->entry_count;
    return true;
}

/* Rule 34 for one family. True when something is at fault. */
static bool check_family(check *self, const manifest_work *work, uint32_t index)
{
    const health_families *families = &self->report->families;
    const rec_family *family = &work->families[index];
    size_t issue_count = self->report->issues.count;
    uint64_t counts[UINT8_MAX + 1] = {0};
    uint64_t member_count = families->entry_at.at[index + 1] - families->entry_at.at[index];
    uint64_t recorded_count;
    uint64_t present_count;
    bool is_decided;

    for (uint32_t i = families->entry_at.at[index]; i < families->entry_at.at[index + 1]; i++)
        counts[families->states.at[families->entries.at[i]]]++;
    recorded_count = member_count - counts[HEALTH_NOT_RECORDED];
    present_count = counts[GRADIENT_STATE_PRESENT];
    /* A failed capture may have ended before the rest of the family was recorded. */
    is_decided = !self->is_failed || recorded_count == member_count;
    if (counts[GRADIENT_STATE_NON_FINITE] > 0)
        error(self, HEALTH_FAMILY_NON_FINITE, index, 0);
    switch (family->expectation) {
    case EXPECTATION_ACTIVE:
        if (is_decided && present_count < family->min_present)
            error(self, HEALTH_FAMILY_ACTIVE_LOW, index, (uint32_t)present_count);
        break;
    case EXPECTATION_INACTIVE:
        if (recorded_count > counts[GRADIENT_STATE_MISSING])
            error(self, HEALTH_FAMILY_LEAK, index, 0);
        break;
    case EXPECTATION_DATA_CONDITIONAL:
        if (is_decided && present_count > 0 && present_count < family->min_present)
            error(self, HEALTH_FAMILY_CONDITIONAL_LOW, index, (uint32_t)present_count);
        break;
    }
    return self->report->issues.count > issue_count;
}

static void free_families(heap *from, health_families *families)
{
    vec_free(from, &families->entries);
    vec_free(from, &families->entry_at);
    vec_free(from, &families->states);
}

static bool check_manifest(check *self, manifest_work *work)
{
    bool has_fault = false;

    if (!observe(self, work) || !match_manifest(self, work) || !check_observed(self, work))
        return false;
    for (size_t i = 0; i < work->entry_count && self->has_room; i++) {
        if (self->report->families.states.at[i] == HEALTH_NOT_RECORDED)
            by_outcome(self, HEALTH_MANIFEST_MISSING, (uint32_t)i, 0);
    }
    if (!group_families(self, work))
        return false;
    for (size_t i = 0; i < work->family_count && self->has_room; i++)
        has_fault = check_family(self, work, (uint32_t)i) || has_fault;
    if (!has_fault)
        free_families(self->heap, &self->report->families);
    return self->has_room;
}

static cg_code check_gradient_contract(check *self, cg_err *reterr)
{
    const rec_contract *contract = self->trace->run.contract;
    const rec_gradient_contract *gradients = contract->gradient_contract;
    manifest_work work = {0};
    bool is_done;

    if (gradients != NULL) {
        CG_TRY(gradient_contract_check(&self->report->texts, gradients,
                                       &self->report->contract_problem, reterr));
        self->report->is_gradient_contract_valid = self->report->contract_problem.ptr == NULL;
    }
    if (contract->gradients == LEVEL_COMPLETE && gradients == NULL)
        error(self, HEALTH_GRADIENT_NO_CONTRACT, 0, 0);
    if (contract->gradients != LEVEL_COMPLETE && gradients != NULL)
        error(self, HEALTH_GRADIENT_NOT_COMPLETE, 0, 0);
    if (contract->gradients != LEVEL_COMPLETE || gradients == NULL)
        return CG_OK;
    if (!self->report->is_gradient_contract_valid) {
        error(self, HEALTH_GRADIENT_CONTRACT, 0, 0);
        return CG_OK;
    }
    work.entries = gradients->expected.at;
    work.entry_count = gradients->expected.count;
    work.families = gradients->families.at;
    work.family_count = gradients->families.count;
    pairs_init(&work.keys, self->heap, self->trace->texts.seed);
    is_done = intern_init(&work.names, self->heap, self->trace->texts.seed) &&
              check_manifest(self, &work);
    pairs_free(&work.keys);
    vec_free(self->heap, &work.rows);
    intern_free(&work.names);
    return is_done ? CG_OK : err_nomem(reterr);
}

/* What the gradient capability judges by (docs/schemas/evidence.md). */
static void note_gradient_issues(health_report *report)
{
    for (size_t i = 0; i < report->issues.count; i++) {
        const health_issue *issue = &report->issues.at[i];

        if (issue->code != HEALTH_GRADIENT_EVENT_TWICE &&
            issue->code != HEALTH_GRADIENT_EVENT_EMPTY &&
            !str_starts_with(health_code_word(issue->code), CG_LIT("gradient_")))
            continue;
        if (issue->is_error)
            report->has_gradient_error = true;
        else
            report->has_gradient_warning = true;
    }
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
            warning(self, rules[i].code);
    }
}

/* --- labels: rules 41 to 48 --- */

enum { LABEL_REQUIRED = 1, LABEL_GPU = 2, LABEL_CPU = 4, LABEL_CLASSES = LABEL_GPU | LABEL_CPU };

/* Every label of the three lists gets a symbol of its own. */
static bool intern_labels(check *self, const rec_contract *contract)
{
    const sc_strs lists[] = {contract->required_semantic_labels,
                             contract->gpu_expected_semantic_labels,
                             contract->cpu_only_semantic_labels};

    for (size_t list = 0; list < sizeof lists / sizeof *lists; list++) {
        for (size_t i = 0; i < lists[list].count; i++) {
            if (intern_add(&self->labels, lists[list].at[i]) == 0)
                return false;
        }
    }
    return true;
}

/* counts[label] = number of spans of that name; O(spans + labels). */
static bool count_names(check *self, uint32_t *counts)
{
    const trace_doc *trace = self->trace;
    size_t count = intern_count(&trace->texts);
    uint32_t *by_name = column_zero(self->heap, count, sizeof *by_name);

    if (by_name == NULL)
        return false;
    for (size_t i = 0; i < trace->spans.count; i++)
        by_name[trace->spans.at[i].name]++;
    by_name[0] = 0;
    for (size_t i = 1; i < intern_count(&self->labels); i++)
        counts[i] = by_name[intern_find(&trace->texts, intern_text_of(&self->labels, (sym)i))];
    column_free(self->heap, by_name, count, sizeof *by_name);
    return true;
}

static void check_required(check *self, sc_strs labels, const uint32_t *counts, uint8_t *flags)
{
    for (size_t i = 0; i < labels.count && self->has_room; i++) {
        sym label = intern_find(&self->labels, labels.at[i]);

        if (str_is_blank(labels.at[i]))
            by_outcome(self, HEALTH_LABEL_EMPTY, (uint32_t)i, 0);
        if (flags[label] & LABEL_REQUIRED) {
            by_outcome(self, HEALTH_LABEL_TWICE, (uint32_t)i, 0);
            self->report->are_labels_exact = false;
        }
        flags[label] |= LABEL_REQUIRED;
        if (counts[label] != 1) {
            by_outcome(self, HEALTH_LABEL_CARDINALITY, (uint32_t)i, counts[label]);
            self->report->are_labels_exact = false;
        }
    }
}

/* `b` of a class issue tells the list: LABEL_GPU or LABEL_CPU. */
static void check_class(check *self, sc_strs labels, uint8_t class, uint8_t *flags)
{
    for (size_t i = 0; i < labels.count && self->has_room; i++) {
        sym label = intern_find(&self->labels, labels.at[i]);

        if (str_is_blank(labels.at[i]))
            by_outcome(self, HEALTH_CLASS_EMPTY, (uint32_t)i, class);
        if (flags[label] & class)
            by_outcome(self, HEALTH_CLASS_TWICE, (uint32_t)i, class);
        if (!(flags[label] & LABEL_REQUIRED))
            by_outcome(self, HEALTH_CLASS_UNREQUIRED, (uint32_t)i, class);
        if (flags[label] & LABEL_CLASSES)
            by_outcome(self, HEALTH_CLASS_OVERLAP, (uint32_t)i, class);
        flags[label] |= class;
    }
}

static void check_partition(check *self, const rec_contract *contract, uint8_t *flags)
{
    uint32_t unclassified = 0;
    uint32_t unrequired = 0;

    if (contract->gpu_expected_semantic_labels.count == 0 &&
        contract->cpu_only_semantic_labels.count == 0)
        return;
    check_class(self, contract->gpu_expected_semantic_labels, LABEL_GPU, flags);
    check_class(self, contract->cpu_only_semantic_labels, LABEL_CPU, flags);
    for (size_t i = 1; i < intern_count(&self->labels); i++) {
        bool is_required = (flags[i] & LABEL_REQUIRED) != 0;
        bool is_classified = (flags[i] & LABEL_CLASSES) != 0;

        unclassified += is_required && !is_classified;
        unrequired += is_classified && !is_required;
    }
    if (unclassified > 0 || unrequired > 0)
        by_outcome(self, HEALTH_CLASS_INCOMPLETE, unclassified, unrequired);
}

static bool check_labels(check *self)
{
    const rec_contract *contract = self->trace->run.contract;
    uint32_t *counts;
    uint8_t *flags;
    size_t count;
    bool is_done;

    self->report->are_labels_exact = true;
    if (contract->required_semantic_labels.count == 0 &&
        contract->gpu_expected_semantic_labels.count == 0 &&
        contract->cpu_only_semantic_labels.count == 0)
        return true;
    if (!intern_init(&self->labels, self->heap, self->trace->texts.seed) ||
        !intern_labels(self, contract))
        return false;
    count = intern_count(&self->labels);
    counts = column_zero(self->heap, count, sizeof *counts);
    flags = column_zero(self->heap, count, sizeof *flags);
    is_done = counts != NULL && flags != NULL && count_names(self, counts);
    if (is_done) {
        check_required(self, contract->required_semantic_labels, counts, flags);
        check_partition(self, contract, flags);
    }
    column_free(self->heap, flags, count, sizeof *flags);
    column_free(self->heap, counts, count, sizeof *counts);
    return is_done;
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
        warning(self, HEALTH_CAPTURE_FAILED);
    check_spans(self);
    check_events(self);
    check_edges(self);
    check_memory(self);
    check_gradient_events(self);
    if (self->has_room)
        CG_TRY(check_gradient_contract(self, reterr));
    check_absence(self);
    if (self->has_room && !check_labels(self))
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
    note_gradient_issues(ret);
    return CG_OK;
}

void health_free(health_report *report)
{
    if (report->heap != NULL) {
        vec_free(report->heap, &report->issues);
        free_families(report->heap, &report->families);
        arena_free(&report->texts);
    }
    *report = (health_report){0};
}

cg_str health_code_word(uint8_t code)
{
    static const char *const words[HEALTH_CODE_COUNT] = {
#define HEALTH(name, word) word,
#include "exec/health.def"
#undef HEALTH
    };

    return str_from(words[code]);
}

/* --- messages --- */

typedef struct message {
    const health_report *report;
    const trace_doc *trace;
    const health_issue *issue;
    buf *out;
} message;

static void add(const message *self, const char *text)
{
    buf_add(self->out, str_from(text));
}

static void add_number(const message *self, uint64_t value, const char *unit)
{
    buf_addf(self->out, "%" PRIu64 "%s", value, unit);
}

static void add_quoted(const message *self, cg_str text)
{
    buf_byte(self->out, '`');
    buf_add(self->out, text);
    buf_byte(self->out, '`');
}

static void add_name(const message *self, const char *before, sym name)
{
    add(self, before);
    add_quoted(self, trace_text(self->trace, name));
}

static const rec_contract *contract_of(const message *self)
{
    return self->trace->run.contract;
}

static const rec_gradient_contract *manifest_of(const message *self)
{
    return contract_of(self)->gradient_contract;
}

/* "span `s3` (`model/attention`)" */
static void add_span(const message *self, const char *before, uint32_t index)
{
    const trace_span *span = &self->trace->spans.at[index];

    add_name(self, before, span->id);
    add_name(self, " (", span->name);
    add(self, ")");
}

static void add_period(const message *self, uint64_t start_ns, uint64_t end_ns)
{
    add_number(self, start_ns, " ns to ");
    add_number(self, end_ns, " ns");
}

static void add_span_period(const message *self, const char *before, uint32_t index)
{
    const trace_span *span = &self->trace->spans.at[index];

    add_span(self, before, index);
    add(self, ", which runs from ");
    add_period(self, span->start_ns, trace_span_end(span));
}

/* "operation 7 (`matmul`)": its place among the operations of the trace, from 1. */
static void add_operation(const message *self, uint32_t index)
{
    add(self, "operation ");
    add_number(self, (uint64_t)index + 1, "");
    add_name(self, " (", self->trace->ops.at[index].name);
    add(self, ")");
}

static void add_storage(const message *self, const char *before, uint32_t event)
{
    const trace_memory *row = &self->trace->memory.at[event];

    add_name(self, before, row->storage_id);
    add_name(self, " on device ", row->device);
}

static void add_key(const message *self, const char *before, uint32_t event)
{
    const trace_gradient *row = &self->trace->gradients.at[event];

    add_name(self, before, row->key);
    add_name(self, " of root ", row->root);
}

static void add_edge(const message *self)
{
    const trace_edge *edge = &self->trace->edges.at[self->issue->a];

    add_name(self, edge->kind == EDGE_KIND_CALL ? "the call edge from " : "the data edge from ",
             edge->from);
    add_name(self, " to ", edge->to);
}

static void tell_terminal(const message *self)
{
    add(self, "the capture ends at ");
    add_number(self, self->trace->terminal_ns, " ns, but holds evidence up to ");
    add_number(self, (uint64_t)self->issue->b << 32 | self->issue->a, " ns");
}

static void tell_run(const message *self)
{
    static const char *const texts[] = {
#define R(name, text) text,
        RUN_RULES(R)
#undef R
    };

    add(self, "the run ");
    add(self, texts[self->issue->a]);
}

static void tell_child_outside(const message *self)
{
    const trace_span *span = &self->trace->spans.at[self->issue->a];

    add_span(self, "span ", self->issue->a);
    add(self, " runs from ");
    add_period(self, span->start_ns, trace_span_end(span));
    add_span_period(self, ", outside its parent ", span->parent);
}

static void tell_unknown_span(const message *self)
{
    const trace_doc *trace = self->trace;
    uint32_t row = self->issue->a;
    sym span = 0;

    switch (self->issue->what) {
    case AT_OPERATION:
        add_operation(self, row);
        span = trace->ops.at[row].span_id;
        break;
    case AT_TENSOR:
        add_name(self, "tensor ", trace->tensors.at[row].tensor_id);
        span = trace->tensors.at[row].span_id;
        break;
    case AT_STATISTICS:
        add_name(self, "the statistics record of label ", trace->stats.at[row].label);
        span = trace->stats.at[row].span_id;
        break;
    case AT_MEMORY:
        add_storage(self, "the memory event of storage ", row);
        add(self, " at ");
        add_number(self, trace->memory.at[row].timestamp_ns, " ns");
        span = trace->memory.at[row].span_id;
        break;
    case AT_INTERVAL:
        add_name(self, "a device interval on device ", trace->intervals.at[row].device);
        add(self, " at ");
        add_number(self, trace->intervals.at[row].start_ns, " ns of its clock");
        span = trace->intervals.at[row].span_id;
        break;
    }
    add_name(self, " names span ", span);
    add(self, ", which does not exist");
}

static void tell_interval(const message *self)
{
    const trace_interval *row = &self->trace->intervals.at[self->issue->a];

    add_name(self, "the device interval of span ", row->span_id);
    add_name(self, " on device ", row->device);
    add(self, " at ");
    add_number(self, row->start_ns, " ns");
    add_name(self, " of clock ", row->clock_id);
    add(self, " lasts 0 ns");
}

static void tell_outside(const message *self)
{
    const trace_doc *trace = self->trace;
    uint32_t row = self->issue->a;
    sym span;

    if (self->issue->code == HEALTH_OPERATION_OUTSIDE) {
        const trace_op *op = &trace->ops.at[row];

        add_operation(self, row);
        add(self, " runs from ");
        add_period(self, op->timestamp_ns, num_sat_add(op->timestamp_ns, op->duration_ns));
        span = op->span_id;
    } else {
        bool is_alloc = trace->memory.at[row].action == ACTION_ALLOC;

        add_storage(self, is_alloc ? "the allocation of storage " : "the free of storage ", row);
        add(self, " at ");
        add_number(self, trace->memory.at[row].timestamp_ns, " ns is");
        span = trace->memory.at[row].span_id;
    }
    add_span_period(self, " outside its span ", trace_span_of(trace, span));
}

static void tell_sample(const message *self)
{
    const trace_sample *sample = &self->trace->samples.at[self->issue->a];

    add_name(self, "the memory sample of device ", sample->device);
    add(self, " at ");
    add_number(self, sample->timestamp_ns,
               " ns measures nothing: used, free, reserved and capacity bytes are all absent");
}

static void tell_edge(const message *self)
{
    const trace_doc *trace = self->trace;
    const trace_edge *edge = &trace->edges.at[self->issue->a];
    bool is_from = self->issue->b != 0;
    uint32_t to = trace_span_of(trace, edge->to);

    add_edge(self);
    switch ((enum health_code)self->issue->code) {
    case HEALTH_CALL_EDGE_SPAN:
        is_from = trace_span_of(trace, edge->from) == TRACE_NONE;
        add_name(self, " names span ", is_from ? edge->from : edge->to);
        add(self, ", which does not exist");
        return;
    case HEALTH_CALL_EDGE_HIERARCHY:
        add_span(self, " is not in the span tree: span ", to);
        if (trace->spans.at[to].parent_id != 0)
            add_name(self, " has parent ", trace->spans.at[to].parent_id);
        else
            add(self, " has no parent");
        return;
    case HEALTH_CALL_EDGE_DURATION:
        add(self, " lasts ");
        add_number(self, edge->duration_ns, " ns, but ");
        add_span(self, "span ", to);
        add(self, " lasts ");
        add_number(self, trace->spans.at[to].duration_ns, " ns");
        return;
    case HEALTH_DATA_EDGE_TENSOR:
        add_name(self, " names tensor ", is_from ? edge->from : edge->to);
        add(self, ", which no tensor event and no operation names");
        return;
    default: add(self, " has an empty endpoint"); return;
    }
}

static void tell_memory(const message *self)
{
    const trace_doc *trace = self->trace;
    const trace_memory *row = &trace->memory.at[self->issue->a];
    bool is_alloc = row->action == ACTION_ALLOC;

    add_storage(self, "storage ", self->issue->a);
    if (self->issue->code == HEALTH_UNPAIRED_FREE) {
        add(self, " is freed at ");
        add_number(self, row->timestamp_ns, " ns, but it is not allocated then");
        return;
    }
    if (self->issue->code == HEALTH_DUPLICATE_ALLOCATION) {
        add(self, " is allocated again at ");
        add_number(self, row->timestamp_ns, " ns");
        add_name(self, " for tensor ", row->tensor_id);
        add(self, ", which already holds it");
        return;
    }
    add(self, " was allocated with ");
    add_number(self, trace->memory.at[self->issue->b].bytes, " bytes, but is ");
    add(self, is_alloc ? "allocated again at " : "freed at ");
    add_number(self, row->timestamp_ns, " ns with ");
    add_number(self, row->bytes, " bytes");
}

static void tell_norm(const message *self)
{
    const trace_gradient *row = &self->trace->gradients.at[self->issue->a];

    add_name(self, "gradient event ", row->event_id);
    add_key(self, " for key ", self->issue->a);
    add(self, " is in state ");
    add_quoted(self, sc_word(&words_gradient_state, row->state));
    if (row->has_norm)
        buf_addf(self->out, " with norm %g", row->norm);
    else
        add(self, " without a norm");
    add(self, row->state == GRADIENT_STATE_PRESENT ? ", which needs a norm above 0"
              : row->state == GRADIENT_STATE_ZERO  ? ", which needs the norm 0"
                                                   : ", which has no norm");
}

static void tell_gradient(const message *self)
{
    const trace_gradient *row = &self->trace->gradients.at[self->issue->a];

    switch ((enum health_code)self->issue->code) {
    case HEALTH_GRADIENT_EVENT_EMPTY:
        add_key(self, "the gradient event for key ", self->issue->a);
        add(self, " has a blank event id");
        return;
    case HEALTH_GRADIENT_KEY_EMPTY:
        add_name(self, "gradient event ", row->event_id);
        add(self, " has a blank root or key");
        return;
    case HEALTH_GRADIENT_EVENT_TWICE:
        add_name(self, "gradient event id ", row->event_id);
        add_key(self, " is used again, for key ", self->issue->a);
        return;
    case HEALTH_MANIFEST_DUPLICATE:
        add_key(self, "key ", self->issue->a);
        add(self, " has ");
        add_number(self, self->issue->b, " gradient events, it must have exactly 1");
        return;
    default:
        add_key(self, "key ", self->issue->a);
        add(self, " has a gradient event, but is not in the gradient manifest");
        return;
    }
}

static void tell_manifest_missing(const message *self)
{
    const rec_manifest_entry *entries = manifest_of(self)->expected.at;

    add(self, "key ");
    add_quoted(self, entries[self->issue->a].key);
    add(self, " of root ");
    add_quoted(self, entries[self->issue->a].root);
    add(self, " is in the gradient manifest, but has no gradient event");
}

/* Is a member in this state what the issue is about? */
static bool is_at_fault(uint8_t code, uint8_t state)
{
    if (code == HEALTH_FAMILY_NON_FINITE)
        return state == GRADIENT_STATE_NON_FINITE;
    if (code == HEALTH_FAMILY_LEAK)
        return state != GRADIENT_STATE_MISSING && state != HEALTH_NOT_RECORDED;
    return state != GRADIENT_STATE_PRESENT;
}

/* The members at fault, the first of them by name. */
static void add_members(const message *self)
{
    const rec_manifest_entry *entries = manifest_of(self)->expected.at;
    const health_families *families = &self->report->families;
    uint32_t family = self->issue->a;
    uint64_t count = 0;

    for (uint32_t i = families->entry_at.at[family]; i < families->entry_at.at[family + 1]; i++) {
        uint32_t entry = families->entries.at[i];
        uint8_t state = families->states.at[entry];

        if (!is_at_fault(self->issue->code, state) || count++ >= NAMED_KEYS)
            continue;
        add(self, count > 1 ? ", " : ": ");
        add_quoted(self, entries[entry].key);
        add(self, " of root ");
        add_quoted(self, entries[entry].root);
        add(self, " (");
        if (state == HEALTH_NOT_RECORDED)
            add(self, "not recorded");
        else
            buf_add(self->out, sc_word(&words_gradient_state, state));
        add(self, ")");
    }
    if (count > NAMED_KEYS) {
        add(self, " and ");
        add_number(self, count - NAMED_KEYS, " more");
    }
}

static void tell_family(const message *self)
{
    const rec_family *families = manifest_of(self)->families.at;
    const rec_family *family = &families[self->issue->a];

    add(self, "gradient family ");
    add_quoted(self, family->family);
    if (self->issue->code == HEALTH_FAMILY_NON_FINITE) {
        add(self, " has gradients that are not finite");
    } else if (self->issue->code == HEALTH_FAMILY_LEAK) {
        add(self, " is declared inactive, but gradients reached it");
    } else {
        add(self, self->issue->code == HEALTH_FAMILY_ACTIVE_LOW
                      ? " is declared active and needs "
                      : " depends on the data and needs ");
        add_number(self, family->min_present, " present gradients, it has ");
        add_number(self, self->issue->b, "; not present");
    }
    add_members(self);
}

static void tell_required_label(const message *self)
{
    cg_str label = contract_of(self)->required_semantic_labels.at[self->issue->a];

    add(self, "required semantic label ");
    if (self->issue->code == HEALTH_LABEL_EMPTY) {
        add_number(self, (uint64_t)self->issue->a + 1, " is blank");
        return;
    }
    add_quoted(self, label);
    if (self->issue->code == HEALTH_LABEL_TWICE) {
        add(self, " is declared more than once");
        return;
    }
    add(self, " must name exactly 1 span, it names ");
    add_number(self, self->issue->b, "");
}

static void tell_class_label(const message *self)
{
    const rec_contract *contract = contract_of(self);
    bool is_gpu = self->issue->b == LABEL_GPU;
    sc_strs labels =
        is_gpu ? contract->gpu_expected_semantic_labels : contract->cpu_only_semantic_labels;

    add(self, is_gpu ? "GPU-expected semantic label " : "CPU-only semantic label ");
    if (self->issue->code == HEALTH_CLASS_EMPTY) {
        add_number(self, (uint64_t)self->issue->a + 1, " is blank");
        return;
    }
    add_quoted(self, labels.at[self->issue->a]);
    add(self, self->issue->code == HEALTH_CLASS_TWICE ? " is in its class more than once"
              : self->issue->code == HEALTH_CLASS_UNREQUIRED
                  ? " is not among the required semantic labels"
                  : " is classified already");
}

static void tell_count(const message *self, const char *before, uint64_t count, const char *after)
{
    add(self, before);
    add_number(self, count, after);
}

void health_message(const health_report *report, const health_issue *issue, buf *out)
{
    const message self = {report, report->trace, issue, out};
    const trace_doc *trace = report->trace;

    switch ((enum health_code)issue->code) {
    case HEALTH_RUN_PROVENANCE: tell_run(&self); return;
    case HEALTH_COMPLETE_WITH_REASON:
        add(&self, "the capture is complete, but gives a reason for a failure: ");
        buf_add(out, trace->failure_reason);
        return;
    case HEALTH_FAILED_WITHOUT_REASON:
        add(&self, "the capture failed, but gives no reason");
        return;
    case HEALTH_TERMINAL_PRECEDES: tell_terminal(&self); return;
    case HEALTH_CAPTURE_FAILED: buf_add(out, trace->failure_reason); return;
    case HEALTH_DUPLICATE_SPAN:
        add_name(&self, "span id ", trace->spans.at[issue->a].id);
        add(&self, " is used more than once");
        return;
    case HEALTH_ROOT_COUNT:
        tell_count(&self, "the trace must have exactly 1 span without a parent, it has ",
                   report->coverage[COVERAGE_ROOT_SPANS], "");
        return;
    case HEALTH_MEASUREMENT_COUNT:
        tell_count(&self, "the trace must have exactly 1 measured span, it has ",
                   report->coverage[COVERAGE_MEASURED_SPANS], "");
        return;
    case HEALTH_OPEN_SPAN:
        add_span(&self, "span ", issue->a);
        add(&self, " was never ended");
        return;
    case HEALTH_UNKNOWN_PARENT:
        add_span(&self, "span ", issue->a);
        add_name(&self, " names parent ", trace->spans.at[issue->a].parent_id);
        add(&self, ", which does not exist");
        return;
    case HEALTH_CHILD_OUTSIDE: tell_child_outside(&self); return;
    case HEALTH_SPAN_CYCLE:
        add_span(&self, "the parents of span ", issue->a);
        add(&self, " form a cycle and lead to no root");
        return;
    case HEALTH_UNKNOWN_SPAN: tell_unknown_span(&self); return;
    case HEALTH_EMPTY_INTERVAL: tell_interval(&self); return;
    case HEALTH_OPERATION_OUTSIDE:
    case HEALTH_MEMORY_OUTSIDE: tell_outside(&self); return;
    case HEALTH_EMPTY_SAMPLE: tell_sample(&self); return;
    case HEALTH_CALL_EDGE_SPAN:
    case HEALTH_CALL_EDGE_HIERARCHY:
    case HEALTH_CALL_EDGE_DURATION:
    case HEALTH_DATA_EDGE_EMPTY:
    case HEALTH_DATA_EDGE_TENSOR: tell_edge(&self); return;
    case HEALTH_ALLOCATION_SIZE:
    case HEALTH_DUPLICATE_ALLOCATION:
    case HEALTH_UNPAIRED_FREE: tell_memory(&self); return;
    case HEALTH_RETAINED:
        tell_count(&self, "storages that are still allocated at the end of the capture: ", issue->a,
                   "");
        return;
    case HEALTH_GRADIENT_STATE_NORM: tell_norm(&self); return;
    case HEALTH_GRADIENT_EVENT_EMPTY:
    case HEALTH_GRADIENT_KEY_EMPTY:
    case HEALTH_GRADIENT_EVENT_TWICE:
    case HEALTH_MANIFEST_DUPLICATE:
    case HEALTH_MANIFEST_UNDECLARED: tell_gradient(&self); return;
    case HEALTH_GRADIENT_NO_CONTRACT:
        add(&self, "gradients are declared complete, but there is no gradient contract");
        return;
    case HEALTH_GRADIENT_NOT_COMPLETE:
        add(&self, "there is a gradient contract, but gradients are declared ");
        add_quoted(&self, sc_word(&words_level, contract_of(&self)->gradients));
        add(&self, " instead of complete");
        return;
    case HEALTH_GRADIENT_CONTRACT:
        add(&self, "the gradient contract is not valid: ");
        buf_add(out, report->contract_problem);
        return;
    case HEALTH_MANIFEST_MISSING: tell_manifest_missing(&self); return;
    case HEALTH_FAMILY_NON_FINITE:
    case HEALTH_FAMILY_ACTIVE_LOW:
    case HEALTH_FAMILY_LEAK:
    case HEALTH_FAMILY_CONDITIONAL_LOW: tell_family(&self); return;
    case HEALTH_NO_OPERATIONS: add(&self, "the trace holds no operations"); return;
    case HEALTH_NO_TENSORS: add(&self, "the trace holds no tensors"); return;
    case HEALTH_NO_LOGICAL_MEMORY:
        add(&self, "the trace holds no allocations and frees of storage");
        return;
    case HEALTH_NO_PHYSICAL_MEMORY:
        add(&self, "the trace holds no samples of device memory");
        return;
    case HEALTH_NO_DEVICE_TIMING: add(&self, "the trace holds no device intervals"); return;
    case HEALTH_NO_GRADIENTS: add(&self, "the trace of a training step holds no gradients"); return;
    case HEALTH_NO_FORWARD: add(&self, "no span of the training step is marked as forward"); return;
    case HEALTH_NO_BACKWARD:
        add(&self, "no span of the training step is marked as backward");
        return;
    case HEALTH_NO_OPTIMIZER:
        add(&self, "no span of the training step is marked as optimizer");
        return;
    case HEALTH_LABEL_EMPTY:
    case HEALTH_LABEL_TWICE:
    case HEALTH_LABEL_CARDINALITY: tell_required_label(&self); return;
    case HEALTH_CLASS_EMPTY:
    case HEALTH_CLASS_TWICE:
    case HEALTH_CLASS_UNREQUIRED:
    case HEALTH_CLASS_OVERLAP: tell_class_label(&self); return;
    case HEALTH_CLASS_INCOMPLETE:
        tell_count(&self, "the classes must hold exactly the required semantic labels: ", issue->a,
                   " required ones are in no class, ");
        add_number(&self, issue->b, " classified ones are not required");
        return;
    case HEALTH_CODE_COUNT: return;
    }
}
