/*
 * runtime_gradients - what a run observed of gradients, at the parameters that a key stands for.
 */
#ifndef CG_MODEL_RUNTIME_GRADIENTS_H
#define CG_MODEL_RUNTIME_GRADIENTS_H

#include "model/runtime_merging.h"

/* Evidence at every such parameter, and findings for what was missing, zero or not finite. */
cg_code runtime_merge_gradients(runtime_merging *self, cg_err *reterr);
/* A finding for every key whose gradients contradict each other. */
cg_code runtime_tell_gradient_conflicts(runtime_merging *self, cg_err *reterr);

#endif
