#include "model/doctor.h"

#include "base/sort.h"
#include "model/coverage.h"
#include "model/rows.h"

#define GAPS_SHOWN       20
#define SUGGESTED_SELECT 3

static const cg_str limitations[] = {
    {"types and names are resolved from source text; the compiler was not asked", 73},
    {"what macros and dynamic calls hide stays unknown and is listed as a finding", 75},
    {"pipeline, artifact and optimizer relationships are leads, shown on request only", 79},
    {"shapes, dtypes and devices hold for the configuration that was analysed", 71},
};

static const char *const numeric_rules[] = {"numeric-domain-violation", "zero-times-infinity",
                                            "unstable-library-loss"};

static bool is_rule(const model_finding *finding, const char *rule)
{
    return str_is(finding->rule, rule);
}

static bool is_numeric(const model_finding *finding)
{
    for (size_t i = 0; i < sizeof numeric_rules / sizeof numeric_rules[0]; i++) {
        if (is_rule(finding, numeric_rules[i]))
            return true;
    }
    return false;
}

static const model_finding *finding_at(const ask *self, size_t index)
{
    return MODEL_AT(self->doc->findings, model_finding, index);
}

/* --- counts --- */

static bool rule_before(const void *context, uint32_t a, uint32_t b)
{
    const ask *self = context;

    return str_compare(finding_at(self, a)->rule, finding_at(self, b)->rule) < 0;
}

/* How many findings there are of each rule, by rule. */
static bool doctor_count_rules(ask *self, sc_counts *ret)
{
    size_t count = self->doc->findings.count;
    uint32_t *items = arena_take(&self->mem, (2 * count + 1) * sizeof *items);
    sc_count *rows = arena_take(&self->mem, (count + 1) * sizeof *rows);
    size_t kept = 0;

    if (items == NULL || rows == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        items[i] = (uint32_t)i;
    sort_with(items, items + count, count, rule_before, self);
    for (size_t i = 0; i < count; i++) {
        cg_str rule = finding_at(self, items[i])->rule;

        if (kept == 0 || !str_equal(rows[kept - 1].key, rule))
            rows[kept++] = (sc_count){rule, 0};
        rows[kept - 1].value++;
    }
    *ret = (sc_counts){rows, kept};
    return true;
}

bool doctor_count_severities(ask *self, sc_counts *ret)
{
    /* In bytewise order of the words. */
    static const uint8_t order[] = {MODEL_FINDING_SEVERITY_ERROR,
                                    MODEL_FINDING_SEVERITY_INFORMATION,
                                    MODEL_FINDING_SEVERITY_WARNING};
    uint64_t counts[MODEL_FINDING_SEVERITY_COUNT] = {0};
    sc_count *rows = arena_take(&self->mem, sizeof order * sizeof *rows);
    size_t kept = 0;

    if (rows == NULL)
        return false;
    for (size_t i = 0; i < self->doc->findings.count; i++)
        counts[finding_at(self, i)->severity]++;
    for (size_t i = 0; i < sizeof order; i++) {
        if (counts[order[i]] > 0)
            rows[kept++] =
                (sc_count){sc_word(&words_model_finding_severity, order[i]), counts[order[i]]};
    }
    *ret = (sc_counts){rows, kept};
    return true;
}

/* --- quality --- */

/* Percent with one decimal, halves away from zero. */
static double percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0.0 : (double)((part * 2000 + whole) / (2 * whole)) / 10.0;
}

static void measure_entrypoints(const ask *self, ask_quality *ret)
{
    uint64_t count = 0;
    uint64_t with_dtype = 0;
    uint64_t with_shape = 0;
    uint64_t with_device = 0;

    for (size_t i = 0; i < self->doc->tensors.count; i++) {
        const model_tensor *tensor = MODEL_AT(self->doc->tensors, model_tensor, i);

        if (tensor->execution_phase == MODEL_PHASE_NONE)
            continue;
        count++;
        with_dtype += coverage_has_dtype(tensor);
        with_shape += coverage_has_shape(tensor);
        with_device += coverage_has_device(tensor);
    }
    ret->entrypoint_dtype_pct = percent(with_dtype, count);
    ret->entrypoint_shape_pct = percent(with_shape, count);
    ret->entrypoint_device_pct = percent(with_device, count);
}

static void measure_structure(const ask *self, ask_quality *ret)
{
    uint64_t with_shape = 0;

    for (size_t i = 0; i < self->doc->components.count; i++)
        ret->parameterless +=
            MODEL_AT(self->doc->components, model_component, i)->parameters.count == 0;
    for (size_t i = 0; i < self->doc->parameters.count; i++) {
        const model_parameter *parameter = MODEL_AT(self->doc->parameters, model_parameter, i);

        with_shape +=
            parameter->symbolic_shape.ptr != NULL || parameter->checkpoint_shape.at != NULL;
    }
    ret->parameter_shape_pct = percent(with_shape, self->doc->parameters.count);
}

/* A structure-unresolved finding that names an operation lost a builder in that call. */
static void measure_findings(const ask *self, ask_quality *ret)
{
    for (size_t i = 0; i < self->doc->findings.count; i++) {
        const model_finding *finding = finding_at(self, i);
        bool is_structure = is_rule(finding, "structure-unresolved");

        ret->dtype_risks += is_rule(finding, "dtype-risk");
        ret->dtype_conflicts += is_rule(finding, "dtype-conflict");
        ret->structure_unresolved += is_structure;
        ret->unresolved_builder_calls += is_structure && finding->operation.ptr != NULL;
    }
}

static const model_location *unsure_at(const ask *self, size_t index)
{
    const model_operation *row = MODEL_AT(self->doc->operations, model_operation, index);

    return row->is_operand_known == BOOL_FALSE ? row->location : NULL;
}

static bool place_before(const void *context, uint32_t a, uint32_t b)
{
    const model_location *left = unsure_at(context, a), *right = unsure_at(context, b);
    int order = str_compare(left->file, right->file);

    if (order == 0 && left->byte_end != right->byte_end)
        return left->byte_end < right->byte_end;
    return order < 0;
}

/* Calls, however many entries and phases reach them; steps of a chain end at different bytes. */
static bool count_unsure(ask *self, uint64_t *ret)
{
    size_t most = self->doc->operations.count, count = 0;
    uint32_t *items = arena_take(&self->mem, (2 * most + 1) * sizeof *items);

    *ret = 0;
    if (items == NULL)
        return false;
    for (size_t i = 0; i < most; i++) {
        if (unsure_at(self, i) != NULL)
            items[count++] = (uint32_t)i;
    }
    sort_with(items, items + count, count, place_before, self);
    for (size_t i = 0; i < count; i++)
        *ret += i == 0 || place_before(self, items[i - 1], items[i]);
    return true;
}

static ask_quality quality_of(const ask *self)
{
    const model_coverage *coverage = self->doc->coverage;
    ask_quality quality = {
        .tensor_dtype_pct = percent(coverage->tensors_with_dtype, coverage->tensors),
        .tensor_shape_pct = percent(coverage->tensors_with_shape, coverage->tensors),
        .tensor_device_pct = percent(coverage->tensors_with_device, coverage->tensors),
        .component_entrypoints = coverage->component_entrypoints,
        .total_entrypoints = coverage->entrypoints,
        .composition_edges = coverage->composition_edges,
        .assembly_sites = coverage->assembly_sites,
        .subprocess_stages = coverage->subprocess_stages,
    };

    measure_entrypoints(self, &quality);
    measure_structure(self, &quality);
    measure_findings(self, &quality);
    return quality;
}

static ask_trust trust_of(const ask *self, const ask_quality *quality)
{
    ask_trust trust = {.is_source_complete = true,
                       .is_catalog_matched = true,
                       .has_runtime = self->doc->runtime != NULL};

    for (size_t i = 0; i < self->doc->findings.count; i++) {
        const model_finding *finding = finding_at(self, i);

        if (is_rule(finding, "source-load"))
            trust.is_source_complete = false;
        if (is_rule(finding, "candle-semantics-version"))
            trust.is_catalog_matched = false;
        trust.leads += finding->confidence == MODEL_CONFIDENCE_UNKNOWN ||
                       finding->confidence == MODEL_CONFIDENCE_HEURISTIC;
    }
    trust.has_actionable = !trust.is_source_complete || !trust.is_catalog_matched ||
                           quality->dtype_risks > 0 || quality->dtype_conflicts > 0 ||
                           quality->unresolved_builder_calls > 0 || quality->parameterless > 0;
    return trust;
}

/* --- items --- */

static bool add_drills(ask *self, sc_records *list, const uint8_t *kinds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!ask_drill_add(&self->mem, list, kinds[i], (cg_str){0}))
            return false;
    }
    return true;
}

bool doctor_make(ask *self, ask_item *ret)
{
    static const uint8_t next[] = {ASK_DRILL_CARGO,    ASK_DRILL_FINDINGS,    ASK_DRILL_COMPOSITION,
                                   ASK_DRILL_ASSEMBLY, ASK_DRILL_ENTRYPOINTS, ASK_DRILL_MODULES};
    ask_doctor *row = arena_zero(&self->mem, sizeof *row);
    ask_quality *quality = arena_zero(&self->mem, sizeof *quality);
    ask_trust *trust = arena_zero(&self->mem, sizeof *trust);

    if (row == NULL || quality == NULL || trust == NULL)
        return false;
    *quality = quality_of(self);
    if (!count_unsure(self, &quality->numeric_unknown))
        return false;
    *trust = trust_of(self, quality);
    row->id = ASK_SINGLE_DOCTOR;
    row->analysis_id = self->doc->analysis_id;
    row->has_cargo = self->doc->cargo != NULL;
    row->coverage = self->doc->coverage;
    row->quality = quality;
    row->trust = trust;
    row->limitations = (sc_strs){limitations, sizeof limitations / sizeof limitations[0]};
    *ret = (ask_item){&table_ask_doctor, row};
    return doctor_count_rules(self, &row->rules) &&
           add_drills(self, &row->drill_down, next, sizeof next);
}

static bool is_proven_error(const model_finding *finding)
{
    return finding->severity == MODEL_FINDING_SEVERITY_ERROR &&
           finding->confidence == MODEL_CONFIDENCE_PROVEN;
}

static bool is_numeric_hazard(const model_finding *finding)
{
    return finding->confidence == MODEL_CONFIDENCE_PROVEN && is_numeric(finding);
}

static bool list_findings(ask *self, bool (*is_wanted)(const model_finding *), sc_records *ret)
{
    size_t count = 0;
    size_t at = 0;
    ask_finding *rows;

    for (size_t i = 0; i < self->doc->findings.count; i++)
        count += is_wanted(finding_at(self, i));
    rows = arena_take(&self->mem, (count + 1) * sizeof *rows);
    if (rows == NULL)
        return false;
    for (size_t i = 0; i < self->doc->findings.count; i++) {
        if (is_wanted(finding_at(self, i)) &&
            !row_finding(finding_at(self, i), &self->mem, &rows[at++]))
            return false;
    }
    *ret = (sc_records){rows, count};
    return true;
}

static bool list_gaps(ask *self, sc_strs *ret)
{
    cg_str *rows = arena_take(&self->mem, GAPS_SHOWN * sizeof *rows);
    size_t count = 0;

    if (rows == NULL)
        return false;
    for (size_t i = 0; i < self->doc->findings.count && count < GAPS_SHOWN; i++) {
        const model_finding *finding = finding_at(self, i);

        if (finding->confidence > MODEL_CONFIDENCE_HEURISTIC ||
            finding->severity == MODEL_FINDING_SEVERITY_INFORMATION)
            continue;
        if (!arena_format(&self->mem, &rows[count++], "%.*s: %.*s", (int)finding->rule.len,
                          finding->rule.ptr, (int)finding->message.len, finding->message.ptr))
            return false;
    }
    *ret = (sc_strs){rows, count};
    return true;
}

static bool gradient_gaps(ask *self, const void **ret)
{
    const model_runtime *run = self->doc->runtime;
    ask_gradient_gaps *gaps;

    if (run == NULL)
        return true;
    gaps = arena_take(&self->mem, sizeof *gaps);
    if (gaps == NULL)
        return false;
    *gaps = (ask_gradient_gaps){.missing = run->missing_gradients,
                                .zero = run->zero_gradients,
                                .non_finite = run->non_finite_gradients,
                                .first_non_finite_step = run->first_non_finite_step,
                                .saturating = run->saturating_activations,
                                .values = run->value_observations};
    *ret = gaps;
    return true;
}

static bool suggest(ask *self, sc_records *ret)
{
    static const uint8_t first[] = {ASK_DRILL_DOCTOR, ASK_DRILL_FINDINGS};
    static const uint8_t all[] = {ASK_DRILL_COMPONENTS};
    static const uint8_t run[] = {ASK_DRILL_RUNTIME};
    size_t count = self->doc->components.count;

    if (!add_drills(self, ret, first, sizeof first))
        return false;
    for (size_t i = 0; i < count && i < SUGGESTED_SELECT; i++) {
        const model_component *component = MODEL_AT(self->doc->components, model_component, i);

        if (!ask_drill_add(&self->mem, ret, ASK_DRILL_COMPONENT, component->qualified_name))
            return false;
    }
    return (count > 0 || add_drills(self, ret, all, sizeof all)) &&
           (self->doc->runtime == NULL || add_drills(self, ret, run, sizeof run));
}

bool improvement_make(ask *self, ask_item *ret)
{
    static const uint8_t next[] = {ASK_DRILL_DOCTOR, ASK_DRILL_FINDINGS,
                                   ASK_DRILL_MODEL_IMPROVEMENT};
    size_t count = self->doc->components.count;
    ask_improvement *row = arena_zero(&self->mem, sizeof *row);
    ask_trust *trust = arena_zero(&self->mem, sizeof *trust);
    cg_str *names = arena_take(&self->mem, (count + 1) * sizeof *names);
    ask_quality quality = quality_of(self);

    if (row == NULL || trust == NULL || names == NULL)
        return false;
    *trust = trust_of(self, &quality);
    for (size_t i = 0; i < count; i++)
        names[i] = MODEL_AT(self->doc->components, model_component, i)->name;
    row->id = ASK_SINGLE_MODEL_IMPROVEMENT;
    row->analysis_id = self->doc->analysis_id;
    row->trust = trust;
    row->components = (sc_strs){names, count};
    row->parameter_count = self->doc->parameters.count;
    *ret = (ask_item){&table_ask_improvement, row};
    if (!list_findings(self, is_proven_error, &row->proven_errors) ||
        !list_findings(self, is_numeric_hazard, &row->numeric_hazards))
        return false;
    row->proven_error_count = row->proven_errors.count;
    return list_gaps(self, &row->coverage_gaps) && gradient_gaps(self, &row->gradient_gaps) &&
           suggest(self, &row->suggested) && add_drills(self, &row->drill_down, next, sizeof next);
}
