/*
 * runtime_values - what a run observed of the numbers in tensors, where the probe stands in the
 * model.
 */
#ifndef CG_MODEL_RUNTIME_VALUES_H
#define CG_MODEL_RUNTIME_VALUES_H

#include "model/runtime_merging.h"

/*
 * Evidence at the tensor, findings for what was not finite or saturated. A hazard that the source
 * warned of at that place is confirmed by it.
 */
cg_code runtime_merge_values(runtime_merging *self, cg_err *reterr);

#endif
