/*
 * training - what a driver does wrong with the variables it trains: files read into empty maps,
 * variables the optimizer does not have, loaded ones that it moves.
 */
#ifndef CG_MODEL_TRAINING_H
#define CG_MODEL_TRAINING_H

#include "model/drivers.h"

/* Findings load-before-build, optimizer-misses-parameter, optimizer-trains-frozen. */
cg_code training_check(const eval *interpreter, const drivers *from,
                       const function_facts *functions, model_draft *draft, cg_err *reterr) CG_MUST;

#endif
