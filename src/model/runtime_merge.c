#include "model/runtime_merge.h"

#include <inttypes.h>
#include <string.h>

#include "model/normalise.h"
#include "model/runtime_gradients.h"
#include "model/runtime_tensors.h"
#include "model/runtime_values.h"

/* Of an operation that ran a million times the first observations are evidence enough. */
#define EVIDENCE_MOST 1000u

static cg_code check_identity(runtime_merging *self, const char *field, cg_str expected,
                              cg_str observed, cg_err *reterr)
{
    model_finding *finding;

    if (expected.len == 0 || observed.ptr == NULL || str_equal(expected, observed))
        return CG_OK;
    self->mismatches++;
    buf_addf(&self->text, "%s of the trace is another: expected ", field);
    buf_add(&self->text, expected);
    buf_add(&self->text, CG_LIT(", observed "));
    buf_add(&self->text, observed);
    buf_add(&self->text, CG_LIT("; nothing of the trace was merged"));
    return merging_add_finding(self, RULE_CODE_RUNTIME_IDENTITY, MODEL_FINDING_SEVERITY_ERROR,
                               MODEL_CONFIDENCE_UNKNOWN, &finding, reterr);
}

static cg_code check_identities(runtime_merging *self, cg_err *reterr)
{
    const model_doc *doc = &self->document->doc;
    const model_cargo *cargo = doc->cargo;
    const rec_runtime_meta *run = &self->trace->run;

    CG_TRY(check_identity(self, "analysis_id", doc->analysis_id, run->analysis_id, reterr));
    return check_identity(self, "build_id", cargo != NULL ? cargo->build_id : (cg_str){0},
                          run->build_id, reterr);
}

static cg_code note_operation(runtime_merging *self, size_t index, const operation_fact *fact,
                              cg_err *reterr)
{
    uint32_t shown = fact->count < EVIDENCE_MOST ? fact->count : EVIDENCE_MOST;

    for (uint32_t i = 0; i < shown; i++) {
        const runtime_operation *at = operation_fact_at(self->facts, fact, i);

        buf_add(&self->text, CG_LIT("runtime operation "));
        event_ids_say(&self->trace->events, at->event, &self->text);
        buf_add(&self->text, CG_LIT(" observed as "));
        buf_add(&self->text, merging_text(self, at->op));
        if (at->has_duration)
            buf_addf(&self->text, ", %" PRIu64 " ns", at->duration_ns);
        CG_TRY(merging_add_evidence(self, MODEL_OPERATIONS, index, MODEL_CONFIDENCE_PROVEN,
                                    (cg_str){0}, reterr));
    }
    if (shown == fact->count)
        return CG_OK;
    buf_addf(&self->text, "%" PRIu32 " more runtime observations", fact->count - shown);
    return merging_add_evidence(self, MODEL_OPERATIONS, index, MODEL_CONFIDENCE_PROVEN, (cg_str){0},
                                reterr);
}

static cg_code merge_operations(runtime_merging *self, cg_err *reterr)
{
    for (size_t i = 0; i < self->facts->operation_count; i++) {
        const operation_fact *fact = &self->facts->operations[i];
        size_t found = index_find(&self->operations, merging_text(self, fact->static_id));
        model_operation *to;
        model_timing *timing;

        if (found == INDEX_NONE)
            continue;
        CG_TRY(note_operation(self, found, fact, reterr));
        if (fact->timing.samples == 0)
            continue;
        timing = arena_take(self->mem, sizeof *timing);
        if (timing == NULL)
            return err_nomem(reterr);
        *timing = fact->timing;
        to = (model_operation *)(uintptr_t)MODEL_AT(self->document->doc.operations, model_operation,
                                                    found);
        to->timing = timing;
    }
    return CG_OK;
}

static bool list_edges(runtime_merging *self, sc_records *ret)
{
    size_t count = self->facts->edge_count;
    model_edge_timing *rows = arena_zero(self->mem, (count + 1) * sizeof *rows);
    model_timing *timings = arena_take(self->mem, (count + 1) * sizeof *timings);

    if (rows == NULL || timings == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const edge_fact *from = &self->facts->edges[i];

        timings[i] = from->timing;
        rows[i].timing = &timings[i];
        if (!arena_text(self->mem, merging_text(self, from->from), &rows[i].from) ||
            !arena_text(self->mem, merging_text(self, from->to), &rows[i].to))
            return false;
    }
    *ret = (sc_records){rows, count};
    return true;
}

static cg_code summarise(runtime_merging *self, cg_err *reterr)
{
    const runtime_facts *facts = self->facts;
    const runtime_trace *trace = self->trace;
    model_doc *doc = &self->document->doc;
    model_coverage *coverage = arena_take(self->mem, sizeof *coverage);
    model_runtime *to = arena_zero(self->mem, sizeof *to);

    if (coverage == NULL || to == NULL)
        return err_nomem(reterr);
    *to = (model_runtime){
        .tensor_observations = trace->tensors.count,
        .operation_observations = trace->operations.count,
        .gradient_observations = trace->gradients.count,
        .missing_gradients = facts->classes[GRADIENT_STATE_MISSING],
        .zero_gradients = facts->classes[GRADIENT_STATE_ZERO],
        .non_finite_gradients = facts->classes[GRADIENT_STATE_NON_FINITE],
        .tensor_conflicts = facts->tensor_conflicts,
        .gradient_conflicts = facts->gradient_conflicts,
        .identity_mismatches = self->mismatches,
        .first_non_finite_step = facts->first_nonfinite_step,
        .saturating_activations = facts->saturating_sources,
        .value_observations = trace->values.count,
        .execution_phase = facts->phase,
        .avg_operation_duration_ns = facts->average_duration_ns,
    };
    if (!arena_text(self->mem, trace->schema, &to->trace_schema) ||
        !arena_text(self->mem, trace->run.entrypoint, &to->entrypoint) ||
        !arena_text(self->mem, trace->run.profile, &to->profile) ||
        !list_edges(self, &to->edge_timings))
        return err_nomem(reterr);
    *coverage =
        doc->coverage != NULL ? *(const model_coverage *)doc->coverage : (model_coverage){0};
    coverage->runtime_observations = trace->tensors.count + trace->operations.count +
                                     trace->gradients.count + trace->values.count +
                                     trace->edges.count;
    doc->coverage = coverage;
    doc->runtime = to;
    return CG_OK;
}

static bool build_indexes(runtime_merging *self)
{
    heap *from = self->document->heap;
    const model_doc *doc = &self->document->doc;

    return index_build(&self->tensors, from, &doc->tensors, sizeof(model_tensor),
                       offsetof(model_tensor, id)) &&
           index_build(&self->operations, from, &doc->operations, sizeof(model_operation),
                       offsetof(model_operation, id)) &&
           index_build(&self->operation_places, from, &doc->operations, sizeof(model_operation),
                       offsetof(model_operation, source)) &&
           index_build(&self->makers, from, &doc->operations, sizeof(model_operation),
                       offsetof(model_operation, output)) &&
           index_build(&self->tensor_names, from, &doc->tensors, sizeof(model_tensor),
                       offsetof(model_tensor, name)) &&
           runtime_keys_make(&self->scratch, doc, &self->keys);
}

static cg_code join_findings(runtime_merging *self, cg_err *reterr)
{
    sc_records *list = &self->document->doc.findings;
    size_t count = list->count + self->findings.count;
    model_finding *all = arena_take(self->mem, (count + 1) * sizeof *all);

    if (all == NULL)
        return err_nomem(reterr);
    if (list->count > 0)
        memcpy(all, list->at, list->count * sizeof *all);
    if (self->findings.count > 0)
        memcpy(all + list->count, self->findings.at, self->findings.count * sizeof *all);
    *list = (sc_records){all, count};
    return CG_OK;
}

static cg_code merge_all(runtime_merging *self, cg_err *reterr)
{
    if (!build_indexes(self))
        return err_nomem(reterr);
    CG_TRY(check_identities(self, reterr));
    if (self->mismatches == 0) {
        CG_TRY(runtime_merge_tensors(self, reterr));
        CG_TRY(runtime_merge_gradients(self, reterr));
        CG_TRY(merge_operations(self, reterr));
        CG_TRY(runtime_merge_values(self, reterr));
    }
    CG_TRY(runtime_tell_tensor_conflicts(self, reterr));
    CG_TRY(runtime_tell_gradient_conflicts(self, reterr));
    CG_TRY(summarise(self, reterr));
    CG_TRY(join_findings(self, reterr));
    return model_normalise(self->document, reterr);
}

cg_code runtime_merge(const runtime_facts *facts, model_document *document, cg_err *reterr)
{
    runtime_merging self = {
        .facts = facts, .trace = facts->trace, .document = document, .mem = &document->mem};
    cg_code code;

    arena_init(&self.scratch, document->heap);
    buf_init(&self.text, document->heap, SIZE_MAX / 2);
    code = merge_all(&self, reterr);
    buf_free(&self.text);
    vec_free(document->heap, &self.findings);
    vec_free(document->heap, &self.found);
    index_free(&self.tensors);
    index_free(&self.operations);
    index_free(&self.operation_places);
    index_free(&self.makers);
    index_free(&self.tensor_names);
    arena_free(&self.scratch);
    return code;
}
