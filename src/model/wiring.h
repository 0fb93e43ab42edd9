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
 * Dtype (`F32`) and device (`cpu`) of what a component registers below a root, when all drivers
 * that make it agree; absent when nobody says it. They hold on condition: others may make it
 * differently.
 */
typedef struct wiring_place {
    cg_str dtype, device;
    size_t count; /* sites that give the root a builder */
} wiring_place;

wiring_place wiring_of(const drivers *from, item_ref constructor, cg_str root);

#endif
