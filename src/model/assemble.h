/*
 * assemble - what was extracted, as records of a model document.
 */
#ifndef CG_MODEL_ASSEMBLE_H
#define CG_MODEL_ASSEMBLE_H

#include "model/draft.h"
#include "model/extract.h"
#include "model/functions.h"

/* Components, modules, parameters, composition, assembly sites, and findings about them. */
cg_code assemble_structure(const extraction *from, const function_facts *functions,
                           model_draft *draft, cg_err *reterr) CG_MUST;
/* What loading came across: files, cargo, versions of Candle. */
cg_code assemble_context(const program *code_of, model_draft *draft, cg_err *reterr) CG_MUST;
/* One finding at a place (file 0: none); NULL when out of memory. `message` is taken as it is. */
model_finding *assemble_finding(const program *code_of, const function_facts *functions,
                                model_draft *draft, const char *rule, uint8_t confidence,
                                cg_str message, model_place place);

#endif
