/*
 * wiring - assembly sites of drivers: which component is made from which builder, and where its
 * weights come from.
 */
#ifndef CG_MODEL_WIRING_H
#define CG_MODEL_WIRING_H

#include "model/drivers.h"

/* Assembly sites in the drivers, behind those in the constructors that are in the draft already. */
cg_code wiring_sites(const extraction *components, const drivers *from,
                     const function_facts *functions, model_draft *draft, cg_err *reterr) CG_MUST;
/*
 * The dtype of what a component registers below a root, when all drivers that make it agree:
 * `F32`. Absent when nobody says it. It holds on condition: others may make it differently.
 */
cg_str wiring_dtype(const drivers *from, item_ref constructor, cg_str root);

#endif
