/*
 * coverage - how much of a model is known, in numbers.
 */
#ifndef CG_MODEL_COVERAGE_H
#define CG_MODEL_COVERAGE_H

#include "model/document.h"

/* Count a document whose lists are final. `runtime_observations` stays as it is. */
cg_code coverage_count(const model_document *document, model_coverage *ret, cg_err *reterr) CG_MUST;

/* What counts as known of one tensor; a dtype only with proven evidence that speaks of it. */
bool coverage_has_dtype(const model_tensor *tensor);
bool coverage_has_shape(const model_tensor *tensor);
bool coverage_has_device(const model_tensor *tensor);

#endif
