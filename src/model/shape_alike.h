/*
 * shape_alike - all tensors of a call have one shape.
 */
#ifndef CG_MODEL_SHAPE_ALIKE_H
#define CG_MODEL_SHAPE_ALIKE_H

#include "model/shape_rules.h"

/*
 * The result has it too, with the sizes that any of them knows; those that cannot be the same are a
 * requirement that fails.
 */
bool alike_all_equal(flow_call *call);

#endif
