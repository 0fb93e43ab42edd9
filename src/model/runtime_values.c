#include "model/runtime_values.h"

#include <inttypes.h>

/* Where a probe of values stands in the model. */
typedef struct probe {
    size_t tensor; /* INDEX_NONE: it is no tensor of this model */
    cg_str place;  /* in the source, as findings have it; or absent */
} probe;

static void take_operation(const runtime_merging *self, size_t index, probe *ret)
{
    const model_operation *at = MODEL_AT(self->document->doc.operations, model_operation, index);

    ret->tensor = index_find(&self->tensors, at->output);
    ret->place = at->source;
}

/* By its id; else by a place that an operation stands at, or a name that one tensor has. */
static probe find_probe(const runtime_merging *self, const value_fact *fact)
{
    cg_str id = merging_text(self, fact->static_id);
    cg_str source = merging_text(self, fact->source);
    probe ret = {INDEX_NONE, {0}};
    size_t found;

    if (id.ptr != NULL) {
        ret.tensor = index_find(&self->tensors, id);
        found = index_find(&self->operations, id);
        if (ret.tensor == INDEX_NONE && found != INDEX_NONE)
            take_operation(self, found, &ret);
    }
    if (source.ptr == NULL || ret.place.ptr != NULL)
        return ret;
    found = index_find(&self->operation_places, source);
    if (found != INDEX_NONE && ret.tensor == INDEX_NONE)
        take_operation(self, found, &ret);
    else if (found != INDEX_NONE)
        ret.place = source;
    if (ret.tensor == INDEX_NONE)
        ret.tensor = index_find(&self->tensor_names, source);
    return ret;
}

/* What made a tensor is where a finding about it stands. */
static probe place_of(const runtime_merging *self, const value_fact *fact)
{
    probe ret = find_probe(self, fact);
    const model_doc *doc = &self->document->doc;
    size_t maker;

    if (ret.place.ptr != NULL || ret.tensor == INDEX_NONE)
        return ret;
    maker = index_find(&self->makers, MODEL_AT(doc->tensors, model_tensor, ret.tensor)->id);
    if (maker != INDEX_NONE)
        ret.place = MODEL_AT(doc->operations, model_operation, maker)->source;
    return ret;
}

static void say_probe(runtime_merging *self, const value_fact *fact)
{
    cg_str source = merging_text(self, fact->source);

    if (source.ptr == NULL)
        source = merging_text(self, fact->static_id);
    if (source.ptr == NULL) {
        buf_add(&self->text, CG_LIT("a probe without a name"));
        return;
    }
    buf_byte(&self->text, '`');
    buf_add(&self->text, source);
    buf_byte(&self->text, '`');
}

static cg_code note_values(runtime_merging *self, size_t tensor, const value_fact *fact,
                           cg_err *reterr)
{
    buf_addf(&self->text, "runtime values of %" PRIu32 " observation%s: ", fact->count,
             fact->count == 1 ? "" : "s");
    if (fact->has_bounds) {
        buf_add(&self->text, CG_LIT("from "));
        merging_say_number(&self->text, fact->min);
        buf_add(&self->text, CG_LIT(" to "));
        merging_say_number(&self->text, fact->max);
    }
    if (fact->is_unbounded)
        buf_addf(&self->text, "%sunbounded", fact->has_bounds ? ", also " : "");
    buf_addf(&self->text, "; %" PRIu64 " not finite, %" PRIu64 " saturated", fact->nonfinite_count,
             fact->saturated_count);
    return merging_add_evidence(self, MODEL_TENSORS, tensor, MODEL_CONFIDENCE_PROVEN,
                                merging_text(self, fact->source), reterr);
}

static bool is_numeric(cg_str rule)
{
    return str_equal(rule, rules[RULE_CODE_NUMERIC_DOMAIN_VIOLATION].code) ||
           str_equal(rule, rules[RULE_CODE_ZERO_TIMES_INFINITY].code) ||
           str_equal(rule, rules[RULE_CODE_UNSTABLE_LIBRARY_LOSS].code);
}

/* A numeric hazard that the source warned of happened. */
static cg_code confirm(runtime_merging *self, const value_fact *fact, const probe *at,
                       model_finding *finding, cg_err *reterr)
{
    const model_doc *doc = &self->document->doc;

    for (size_t i = 0; at->place.len > 0 && i < doc->findings.count; i++) {
        const model_finding *hazard = MODEL_AT(doc->findings, model_finding, i);
        cg_str id = hazard->id;

        if (!is_numeric(hazard->rule) || !str_equal(at->place, hazard->source))
            continue;
        CG_TRY(merging_relate(self, finding, id, reterr));
        buf_add(&self->text, CG_LIT("confirmed by the run: "));
        say_probe(self, fact);
        buf_add(&self->text, CG_LIT(" was not finite"));
        merging_say_step(&self->text, fact->nonfinite->has_step, fact->nonfinite->step);
        merging_say_event(self, fact->nonfinite->event);
        CG_TRY(merging_add_evidence(self, MODEL_FINDINGS, i, MODEL_CONFIDENCE_PROVEN,
                                    merging_text(self, fact->source), reterr));
    }
    return CG_OK;
}

static cg_code relate_tensor(runtime_merging *self, model_finding *finding, const probe *at,
                             cg_err *reterr)
{
    if (at->tensor == INDEX_NONE)
        return CG_OK;
    return merging_relate(
        self, finding, MODEL_AT(self->document->doc.tensors, model_tensor, at->tensor)->id, reterr);
}

static cg_code tell_nonfinite(runtime_merging *self, const value_fact *fact, const probe *at,
                              cg_err *reterr)
{
    model_finding *finding;

    say_probe(self, fact);
    if (fact->nonfinite_count > 0)
        buf_addf(&self->text, " had %" PRIu64 " value%s that %s not finite, first",
                 fact->nonfinite_count, fact->nonfinite_count == 1 ? "" : "s",
                 fact->nonfinite_count == 1 ? "was" : "were");
    else
        buf_add(&self->text, CG_LIT(" had no finite bound, first"));
    merging_say_step(&self->text, fact->nonfinite->has_step, fact->nonfinite->step);
    buf_add(&self->text, CG_LIT(" in event "));
    event_ids_say(&self->trace->events, fact->nonfinite->event, &self->text);
    CG_TRY(merging_add_finding(self, RULE_CODE_RUNTIME_NONFINITE_VALUE,
                               MODEL_FINDING_SEVERITY_WARNING, MODEL_CONFIDENCE_PROVEN, &finding,
                               reterr));
    CG_TRY(relate_tensor(self, finding, at, reterr));
    return confirm(self, fact, at, finding, reterr);
}

static cg_code tell_saturated(runtime_merging *self, const value_fact *fact, const probe *at,
                              cg_err *reterr)
{
    model_finding *finding;

    say_probe(self, fact);
    buf_addf(&self->text, " had %" PRIu64 " saturated value%s, first", fact->saturated_count,
             fact->saturated_count == 1 ? "" : "s");
    merging_say_step(&self->text, fact->saturated->has_step, fact->saturated->step);
    buf_add(&self->text, CG_LIT(" in event "));
    event_ids_say(&self->trace->events, fact->saturated->event, &self->text);
    CG_TRY(merging_add_finding(self, RULE_CODE_RUNTIME_SATURATION,
                               MODEL_FINDING_SEVERITY_INFORMATION, MODEL_CONFIDENCE_PROVEN,
                               &finding, reterr));
    return relate_tensor(self, finding, at, reterr);
}

cg_code runtime_merge_values(runtime_merging *self, cg_err *reterr)
{
    for (size_t i = 0; i < self->facts->value_count; i++) {
        const value_fact *fact = &self->facts->values[i];
        probe at = place_of(self, fact);

        if (at.tensor != INDEX_NONE)
            CG_TRY(note_values(self, at.tensor, fact, reterr));
        if (fact->nonfinite != NULL)
            CG_TRY(tell_nonfinite(self, fact, &at, reterr));
        if (fact->saturated != NULL)
            CG_TRY(tell_saturated(self, fact, &at, reterr));
    }
    return CG_OK;
}
