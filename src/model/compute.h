/*
 * compute - what the functions of a model do with tensors.
 *
 *   compute work;
 *   compute_begin(&work, eval, functions, draft, reterr);
 *   extract_options.made = compute_component, .context = &work;
 *   extract_run(...);
 *   compute_rest(&work, reterr);            the graph is gone from here on
 *   compute_report(&work, extraction, reterr);
 *   compute_free(&work);
 *
 * Every entry is evaluated once (model/entry); all passes over its graph are listed in
 * compute_begin. A new pass is a reader there and a report in compute_report.
 */
#ifndef CG_MODEL_COMPUTE_H
#define CG_MODEL_COMPUTE_H

#include "model/contracts.h"
#include "model/dataflow.h"
#include "model/drivers.h"
#include "model/hazard.h"
#include "model/learning.h"

#define COMPUTE_READERS 8u

typedef struct compute {
    entries entries;
    entry_reader readers[COMPUTE_READERS];
    learning learning;
    dataflow dataflow;
    contracts contracts;
    hazards hazards;
    const function_facts *functions;
    model_draft *draft;
    bool is_findings;
    bool is_near; /* what entries find may depend on how much text there is */
} compute;

/* With `is_findings` only what findings are made of: no tensors, operations and uses are listed. */
cg_code compute_begin(compute *self, eval *interpreter, const function_facts *functions,
                      model_draft *draft, bool is_findings, cg_err *reterr) CG_MUST;
/* For extract_options.made. */
cg_code compute_component(void *context, const extract_component *component, size_t index,
                          cg_err *reterr);
cg_code compute_rest(compute *self, const extraction *components, cg_err *reterr) CG_MUST;
/* Rows of the document and findings; the structure is assembled already. */
cg_code compute_report(compute *self, const extraction *components, cg_err *reterr) CG_MUST;
/* Findings that depend on how drivers make the components; behind compute_report. */
cg_code compute_kernels(compute *self, const drivers *from, bool is_cpu_only,
                        cg_err *reterr) CG_MUST;
void compute_free(compute *self);

#endif
