/*
 * kernel_guess - calls without a kernel, where only the makers of a component know the device and
 * the dtype.
 *
 * hazards notes such calls while the entries run; the drivers are evaluated later. What they say
 * (`VarBuilder::from_varmap(&map, DType::BF16, &Device::Cpu)`), or a build of candle that has no
 * other device, makes a guess true: never more than conditional.
 */
#ifndef CG_MODEL_KERNEL_GUESS_H
#define CG_MODEL_KERNEL_GUESS_H

#include "model/drivers.h"
#include "model/hazard.h"

/* Guesses that are true become rows, behind those that are there. */
cg_code kernel_guess_settle(hazards *self, const drivers *from, bool is_cpu_only,
                            cg_err *reterr) CG_MUST;

#endif
