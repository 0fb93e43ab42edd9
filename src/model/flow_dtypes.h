/*
 * flow_dtypes - the dtype of a result: that of operands, of an argument, of the numbers it is made
 * of.
 *
 * Dtypes are classes of equal ones (model/flow_build). Operands that must agree are made one class
 * where the call is reached on every way; those that are known to differ are a requirement that
 * fails.
 */
#ifndef CG_MODEL_FLOW_DTYPES_H
#define CG_MODEL_FLOW_DTYPES_H

#include "model/flow_call.h"

/* After flow_gather. Its class, a new one when nothing is known. */
uint32_t flow_result_dtype(flow_call *self);

#endif
