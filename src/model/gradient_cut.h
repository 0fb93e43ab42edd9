/*
 * gradient_cut - findings about calls that let no gradient through to parameters.
 *
 * One finding for each call, over all entries that reach it: the losses, or the entries of training
 * when no loss comes by. Of two such entries of which one runs inside of the other, and which name
 * the parameters differently, the outer one counts.
 *
 * Errors are cuts that leave a module without a gradient, and those that do it together: when
 * nothing is left that learns from a loss, the one that severs most.
 */
#ifndef CG_MODEL_GRADIENT_CUT_H
#define CG_MODEL_GRADIENT_CUT_H

#include "model/learning.h"

cg_code gradient_cut_report(const learning *from, const extraction *components,
                            const function_facts *functions, model_draft *draft,
                            cg_err *reterr) CG_MUST;

#endif
