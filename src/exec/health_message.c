#include <inttypes.h>

#include "base/num.h"
#include "exec/gradient.h"
#include "exec/health_labels.h"

/* Keys a family message names before it counts the rest. */
#define NAMED_KEYS 20

const health_row health_rows[HEALTH_CODE_COUNT] = {
#define HEALTH(name, word, severity, title, mend)                                                  \
    [HEALTH_##name] = {{word, sizeof(word) - 1},                                                   \
                       HEALTH_##severity,                                                          \
                       {title, sizeof(title) - 1},                                                 \
                       {mend, sizeof(mend) - 1}},
#include "exec/health.def"
#undef HEALTH
};

cg_str health_code_word(uint8_t code)
{
    return health_rows[code].word;
}

const health_row *health_row_find(cg_str word)
{
    for (size_t i = 0; i < HEALTH_CODE_COUNT; i++) {
        if (str_equal(health_rows[i].word, word))
            return &health_rows[i];
    }
    return NULL;
}

typedef struct message {
    const health_report *report;
    const trace_doc *trace;
    const health_issue *issue;
    uint64_t most; /* keys of a family that are named before the rest is counted */
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

        if (!is_at_fault(self->issue->code, state) || count++ >= self->most)
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
    if (count > self->most) {
        add(self, " and ");
        add_number(self, count - self->most, " more");
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

/* What is said of a code in the same words whatever the issue is. */
static const char *const plain[HEALTH_CODE_COUNT] = {
    [HEALTH_FAILED_WITHOUT_REASON] = "the capture failed, but gives no reason",
    [HEALTH_GRADIENT_NO_CONTRACT] =
        "gradients are declared complete, but there is no gradient contract",
    [HEALTH_NO_OPERATIONS] = "the trace holds no operations",
    [HEALTH_NO_TENSORS] = "the trace holds no tensors",
    [HEALTH_NO_LOGICAL_MEMORY] = "the trace holds no allocations and frees of storage",
    [HEALTH_NO_PHYSICAL_MEMORY] = "the trace holds no samples of device memory",
    [HEALTH_NO_DEVICE_TIMING] = "the trace holds no device intervals",
    [HEALTH_NO_GRADIENTS] = "the trace of a training step holds no gradients",
    [HEALTH_NO_FORWARD] = "no span of the training step is marked as forward",
    [HEALTH_NO_BACKWARD] = "no span of the training step is marked as backward",
    [HEALTH_NO_OPTIMIZER] = "no span of the training step is marked as optimizer",
};

static void tell_span(const message *self)
{
    const trace_span *span = &self->trace->spans.at[self->issue->a];

    switch ((enum health_code)self->issue->code) {
    case HEALTH_DUPLICATE_SPAN:
        add_name(self, "span id ", span->id);
        add(self, " is used more than once");
        return;
    case HEALTH_OPEN_SPAN:
        add_span(self, "span ", self->issue->a);
        add(self, " was never ended");
        return;
    case HEALTH_UNKNOWN_PARENT:
        add_span(self, "span ", self->issue->a);
        add_name(self, " names parent ", span->parent_id);
        add(self, ", which does not exist");
        return;
    default:
        add_span(self, "the parents of span ", self->issue->a);
        add(self, " form a cycle and lead to no root");
        return;
    }
}

static void tell_number(const message *self)
{
    const uint64_t *coverage = self->report->coverage;

    switch ((enum health_code)self->issue->code) {
    case HEALTH_ROOT_COUNT:
        tell_count(self, "the trace must have exactly 1 span without a parent, it has ",
                   coverage[COVERAGE_ROOT_SPANS], "");
        return;
    case HEALTH_MEASUREMENT_COUNT:
        tell_count(self, "the trace must have exactly 1 measured span, it has ",
                   coverage[COVERAGE_MEASURED_SPANS], "");
        return;
    case HEALTH_RETAINED:
        tell_count(self,
                   "storages that are still allocated at the end of the capture: ", self->issue->a,
                   "");
        return;
    default:
        tell_count(self,
                   "the classes must hold exactly the required semantic labels: ", self->issue->a,
                   " required ones are in no class, ");
        add_number(self, self->issue->b, " classified ones are not required");
        return;
    }
}

static void tell_contract(const message *self)
{
    if (self->issue->code == HEALTH_GRADIENT_CONTRACT) {
        add(self, "the gradient contract is not valid: ");
        buf_add(self->out, self->report->contract_problem);
        return;
    }
    add(self, "there is a gradient contract, but gradients are declared ");
    add_quoted(self, sc_word(&words_level, contract_of(self)->gradients));
    add(self, " instead of complete");
}

void health_message(const health_report *report, const health_issue *issue, buf *out)
{
    health_message_short(report, issue, NAMED_KEYS, out);
}

void health_message_short(const health_report *report, const health_issue *issue, uint64_t most,
                          buf *out)
{
    const message self = {report, report->trace, issue, most, out};

    switch ((enum health_code)issue->code) {
    case HEALTH_RUN_PROVENANCE: tell_run(&self); return;
    case HEALTH_COMPLETE_WITH_REASON:
        add(&self, "the capture is complete, but gives a reason for a failure: ");
        buf_add(out, report->trace->failure_reason);
        return;
    case HEALTH_TERMINAL_PRECEDES: tell_terminal(&self); return;
    case HEALTH_CAPTURE_FAILED: buf_add(out, report->trace->failure_reason); return;
    case HEALTH_DUPLICATE_SPAN:
    case HEALTH_OPEN_SPAN:
    case HEALTH_UNKNOWN_PARENT:
    case HEALTH_SPAN_CYCLE: tell_span(&self); return;
    case HEALTH_ROOT_COUNT:
    case HEALTH_MEASUREMENT_COUNT:
    case HEALTH_RETAINED:
    case HEALTH_CLASS_INCOMPLETE: tell_number(&self); return;
    case HEALTH_CHILD_OUTSIDE: tell_child_outside(&self); return;
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
    case HEALTH_GRADIENT_STATE_NORM: tell_norm(&self); return;
    case HEALTH_GRADIENT_EVENT_EMPTY:
    case HEALTH_GRADIENT_KEY_EMPTY:
    case HEALTH_GRADIENT_EVENT_TWICE:
    case HEALTH_MANIFEST_DUPLICATE:
    case HEALTH_MANIFEST_UNDECLARED: tell_gradient(&self); return;
    case HEALTH_GRADIENT_NOT_COMPLETE:
    case HEALTH_GRADIENT_CONTRACT: tell_contract(&self); return;
    case HEALTH_MANIFEST_MISSING: tell_manifest_missing(&self); return;
    case HEALTH_FAMILY_NON_FINITE:
    case HEALTH_FAMILY_ACTIVE_LOW:
    case HEALTH_FAMILY_LEAK:
    case HEALTH_FAMILY_CONDITIONAL_LOW: tell_family(&self); return;
    case HEALTH_LABEL_EMPTY:
    case HEALTH_LABEL_TWICE:
    case HEALTH_LABEL_CARDINALITY: tell_required_label(&self); return;
    case HEALTH_CLASS_EMPTY:
    case HEALTH_CLASS_TWICE:
    case HEALTH_CLASS_UNREQUIRED:
    case HEALTH_CLASS_OVERLAP: tell_class_label(&self); return;
    case HEALTH_FAILED_WITHOUT_REASON:
    case HEALTH_GRADIENT_NO_CONTRACT:
    case HEALTH_NO_OPERATIONS:
    case HEALTH_NO_TENSORS:
    case HEALTH_NO_LOGICAL_MEMORY:
    case HEALTH_NO_PHYSICAL_MEMORY:
    case HEALTH_NO_DEVICE_TIMING:
    case HEALTH_NO_GRADIENTS:
    case HEALTH_NO_FORWARD:
    case HEALTH_NO_BACKWARD:
    case HEALTH_NO_OPTIMIZER: add(&self, plain[issue->code]); return;
    case HEALTH_CODE_COUNT: return;
    }
}
