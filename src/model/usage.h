/*
 * usage - findings about parameters that reach no result.
 *
 * Asked for each model that no other component builds: of its losses, or of all its entries when it
 * has none.
 */
#ifndef CG_MODEL_USAGE_H
#define CG_MODEL_USAGE_H

#include "model/learning.h"

cg_code usage_report(const learning *from, const extraction *components,
                     const function_facts *functions, model_draft *draft, cg_err *reterr) CG_MUST;

#endif
