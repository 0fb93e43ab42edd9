#include "model/compute.h"

#include "model/assemble.h"
#include "model/contract_findings.h"
#include "model/gradient_cut.h"
#include "model/hazard_read.h"
#include "model/kernel_guess.h"
#include "model/usage.h"

/* A function too large to be followed to its end is said to be one. */
static cg_code limits_read(void *context, const entry_run *run, cg_err *reterr)
{
    compute *self = context;
    const trail *track = run->graph->trail;
    program *code_of = run->graph->program;

    for (size_t i = run->first_fault; i < track->faults.count; i++) {
        const trail_fault *fault = &track->faults.at[i];
        model_place place = fault->place;

        if (!fault->rule || !str_equal(str_from(fault->rule), CG_LIT("analysis-budget")))
            continue;
        if (!place.function || !function_of(self->functions, place.function)) {
            const program_item *item = &code_of->items.at[run->function->item];
            const ast_node *node = ast_at(program_tree(code_of, item->file), item->node);

            place = (model_place){item->file, node->start, node->end, run->function->item};
        }
        if (!assemble_finding(code_of, self->functions, self->draft, "analysis-budget",
                              MODEL_CONFIDENCE_UNKNOWN, fault->message, place))
            return err_nomem(reterr);
    }
    return CG_OK;
}

cg_code compute_begin(compute *self, eval *interpreter, const function_facts *functions,
                      model_draft *draft, bool is_findings, cg_err *reterr)
{
    size_t count = 0;

    self->functions = functions;
    self->draft = draft;
    self->is_findings = is_findings;
    learning_init(&self->learning, draft->heap);
    dataflow_init(&self->dataflow, interpreter, functions, draft);
    self->readers[count++] = (entry_reader){&self->learning, learning_read};
    hazards_init(&self->hazards, interpreter, draft->heap);
    if (!is_findings)
        self->readers[count++] = (entry_reader){&self->dataflow, dataflow_read};
    if (!contracts_init(&self->contracts, interpreter->program, functions, draft,
                        &self->dataflow.rows))
        return err_nomem(reterr);
    if (!is_findings)
        self->readers[count++] = (entry_reader){&self->contracts, contracts_read};
    self->readers[count++] = (entry_reader){&self->hazards, hazards_read};
    self->readers[count++] = (entry_reader){self, limits_read};
    return entries_begin(&self->entries, interpreter, functions, self->readers, count, reterr);
}

cg_code compute_component(void *context, const extract_component *component, size_t index,
                          cg_err *reterr)
{
    compute *self = context;

    return entries_of_component(&self->entries, component, index, reterr);
}

cg_code compute_rest(compute *self, const extraction *components, cg_err *reterr)
{
    CG_TRY(entries_of_makers(&self->entries, components, reterr));
    CG_TRY(entries_rest(&self->entries, reterr));
    self->is_near = self->entries.is_near;
    entries_end(&self->entries);
    return CG_OK;
}

cg_code compute_report(compute *self, const extraction *components, cg_err *reterr)
{
    if (!self->is_findings) {
        CG_TRY(contracts_rest(&self->contracts, reterr));
        CG_TRY(dataflow_report(&self->dataflow, reterr));
    }
    CG_TRY(contract_findings(&self->hazards, 0, self->functions, self->draft, reterr));
    CG_TRY(gradient_cut_report(&self->learning, components, self->functions, self->draft, reterr));
    return usage_report(&self->learning, components, self->functions, self->draft, reterr);
}

cg_code compute_kernels(compute *self, const drivers *from, bool is_cpu_only, cg_err *reterr)
{
    size_t first = self->hazards.rows.count;

    CG_TRY(kernel_guess_settle(&self->hazards, from, is_cpu_only, reterr));
    return contract_findings(&self->hazards, first, self->functions, self->draft, reterr);
}

void compute_free(compute *self)
{
    entries_end(&self->entries);
    learning_free(&self->learning);
    contracts_free(&self->contracts);
    dataflow_free(&self->dataflow);
    hazards_free(&self->hazards);
}
