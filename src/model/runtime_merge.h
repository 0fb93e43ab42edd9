/*
 * runtime_merge - what a run showed, put into the model document of the crate that ran.
 *
 * Tensors and operations are met by their ids, parameters by root and key, families by the numbers
 * in the key. A run refines: agreed observations replace facts of a tensor and stand beside others
 * as evidence of kind `runtime`; they never make a conditional fact a certain one. Observations
 * that contradict each other refine nothing and become findings of unknown confidence. When trace
 * and document carry different identities nothing is refined at all, only the summary is there.
 */
#ifndef CG_MODEL_RUNTIME_MERGE_H
#define CG_MODEL_RUNTIME_MERGE_H

#include "model/document.h"
#include "model/runtime_facts.h"

/*
 * The document is in order again afterwards, and borrows nothing. At most once for a document.
 * Fails with CG_NOMEM, the document is then unusable.
 */
cg_code runtime_merge(const runtime_facts *facts, model_document *document, cg_err *reterr) CG_MUST;

/* The findings that a merge adds have rules that begin so. */
#define RUNTIME_RULES "runtime-"

#endif
