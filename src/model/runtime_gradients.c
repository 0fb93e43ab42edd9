#include "model/runtime_gradients.h"

static void say_gradient(runtime_merging *self, const runtime_gradient *from)
{
    buf_add(&self->text, runtime_state_word(from->state));
    if (from->has_norm) {
        buf_add(&self->text, CG_LIT(", norm "));
        merging_say_number(&self->text, from->norm);
    }
    merging_say_step(&self->text, from->has_step, from->step);
}

static cg_str parameter_id(const runtime_merging *self, uint32_t index)
{
    return MODEL_AT(self->document->doc.parameters, model_parameter, index)->id;
}

static cg_code find_parameters(runtime_merging *self, const gradient_fact *fact, cg_err *reterr)
{
    return runtime_keys_find(&self->keys, &self->scratch, merging_text(self, fact->root),
                             merging_text(self, fact->key), &self->found)
               ? CG_OK
               : err_nomem(reterr);
}

static cg_code relate_parameters(runtime_merging *self, const gradient_fact *fact,
                                 model_finding *finding, cg_err *reterr)
{
    for (size_t i = 0; i < self->found.count; i++)
        CG_TRY(merging_relate(self, finding, parameter_id(self, self->found.at[i]), reterr));
    return merging_name_key(self, finding, merging_text(self, fact->root),
                            merging_text(self, fact->key), reterr);
}

static void say_key(runtime_merging *self, const gradient_fact *fact)
{
    buf_byte(&self->text, '`');
    buf_add(&self->text, merging_text(self, fact->root));
    buf_byte(&self->text, ':');
    buf_add(&self->text, merging_text(self, fact->key));
    buf_byte(&self->text, '`');
}

/* What the run says about the gradient, at every parameter that the key is. */
static cg_code note_gradient(runtime_merging *self, const gradient_fact *fact,
                             const runtime_gradient *at, cg_err *reterr)
{
    for (size_t i = 0; i < self->found.count; i++) {
        buf_add(&self->text, CG_LIT("runtime gradient of "));
        say_key(self, fact);
        buf_add(&self->text, CG_LIT(": "));
        say_gradient(self, at);
        merging_say_event(self, at->event);
        CG_TRY(merging_add_evidence(self, MODEL_PARAMETERS, self->found.at[i],
                                    MODEL_CONFIDENCE_PROVEN, (cg_str){0}, reterr));
    }
    return CG_OK;
}

static cg_code doubt_gradient(runtime_merging *self, const gradient_fact *fact, cg_err *reterr)
{
    for (size_t i = 0; i < self->found.count; i++) {
        buf_add(&self->text, CG_LIT("runtime observations of the gradient of "));
        say_key(self, fact);
        buf_add(&self->text, CG_LIT(" contradict each other"));
        merging_say_step(&self->text, fact->disputed->has_step, fact->disputed->step);
        CG_TRY(merging_add_evidence(self, MODEL_PARAMETERS, self->found.at[i],
                                    MODEL_CONFIDENCE_UNKNOWN, (cg_str){0}, reterr));
    }
    return CG_OK;
}

static cg_code tell_gradient(runtime_merging *self, const gradient_fact *fact,
                             const runtime_gradient *at, cg_err *reterr)
{
    bool is_error = at->state == GRADIENT_STATE_NON_FINITE;
    model_finding *finding;

    say_key(self, fact);
    buf_add(&self->text, at->state == GRADIENT_STATE_MISSING
                             ? CG_LIT(" got no gradient in the run: ")
                         : at->state == GRADIENT_STATE_ZERO
                             ? CG_LIT(" got a gradient of zero in the run: ")
                             : CG_LIT(" got a gradient that is not finite in the run: "));
    say_gradient(self, at);
    if (at != fact->headline && fact->headline != NULL) {
        buf_add(&self->text, CG_LIT(", later "));
        say_gradient(self, fact->headline);
    }
    CG_TRY(merging_add_finding(self, RULE_CODE_RUNTIME_GRADIENT,
                               is_error ? MODEL_FINDING_SEVERITY_ERROR
                                        : MODEL_FINDING_SEVERITY_WARNING,
                               MODEL_CONFIDENCE_PROVEN, &finding, reterr));
    return relate_parameters(self, fact, finding, reterr);
}

cg_code runtime_merge_gradients(runtime_merging *self, cg_err *reterr)
{
    for (size_t i = 0; i < self->facts->gradient_count; i++) {
        const gradient_fact *fact = &self->facts->gradients[i];

        CG_TRY(find_parameters(self, fact, reterr));
        if (fact->headline != NULL)
            CG_TRY(note_gradient(self, fact, fact->headline, reterr));
        if (fact->first_nonfinite != NULL) {
            CG_TRY(note_gradient(self, fact, fact->first_nonfinite, reterr));
            CG_TRY(tell_gradient(self, fact, fact->first_nonfinite, reterr));
        }
        if (fact->disputed != NULL)
            CG_TRY(doubt_gradient(self, fact, reterr));
        if (fact->headline != NULL && fact->headline->state != GRADIENT_STATE_PRESENT)
            CG_TRY(tell_gradient(self, fact, fact->headline, reterr));
    }
    return CG_OK;
}

cg_code runtime_tell_gradient_conflicts(runtime_merging *self, cg_err *reterr)
{
    for (size_t i = 0; i < self->facts->gradient_count; i++) {
        const gradient_fact *fact = &self->facts->gradients[i];
        model_finding *finding;
        unsigned said = 0;

        if (fact->disputed == NULL)
            continue;
        CG_TRY(find_parameters(self, fact, reterr));
        say_key(self, fact);
        buf_add(&self->text, CG_LIT(" has gradients that contradict each other"));
        merging_say_step(&self->text, fact->disputed->has_step, fact->disputed->step);
        buf_add(&self->text, CG_LIT(": "));
        for (uint8_t state = 0; state < 4; state++) {
            if (!(fact->disputed_states >> state & 1))
                continue;
            buf_addf(&self->text, "%s", said++ > 0 ? ", " : "");
            buf_add(&self->text, runtime_state_word(state));
        }
        if (said == 1)
            buf_add(&self->text, CG_LIT(" with different norms"));
        CG_TRY(merging_add_finding(self, RULE_CODE_RUNTIME_GRADIENT_CONFLICT,
                                   MODEL_FINDING_SEVERITY_ERROR, MODEL_CONFIDENCE_UNKNOWN, &finding,
                                   reterr));
        CG_TRY(relate_parameters(self, fact, finding, reterr));
    }
    return CG_OK;
}
