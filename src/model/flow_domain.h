/*
 * flow_domain - which numbers the elements of a result can be: the row's rule over the intervals of
 * the operands (model/interval), better where model/flow_pattern knows the formula.
 */
#ifndef CG_MODEL_FLOW_DOMAIN_H
#define CG_MODEL_FLOW_DOMAIN_H

#include "model/flow_call.h"

/*
 * Which numbers a number of the code can be; false: it is none. Sizes are not negative, an `eps` is
 * taken for above 0.
 */
bool flow_scalar(eval *self, val which, interval *ret);
/* After the dtype. A power of a number that is known requires what it needs of its base. */
interval flow_result_domain(flow_call *self);

#endif
