/*
 * runtime_tensors - what a run observed of tensors, put into the records of the model.
 */
#ifndef CG_MODEL_RUNTIME_TENSORS_H
#define CG_MODEL_RUNTIME_TENSORS_H

#include "model/runtime_merging.h"

/* Agreed observations replace what the source said, others are evidence of doubt. */
cg_code runtime_merge_tensors(runtime_merging *self, cg_err *reterr);
/* A finding for every aspect that was observed with more than one value. */
cg_code runtime_tell_tensor_conflicts(runtime_merging *self, cg_err *reterr);

#endif
