/*
 * hazard_kept - a hazard that was met: one per code and call, the strongest of all that
 * were met there.
 */
#ifndef CG_MODEL_HAZARD_KEPT_H
#define CG_MODEL_HAZARD_KEPT_H

#include "model/hazard_meeting.h"

/* Is it the crate's own code? What happens in others is not told. */
bool hazard_is_scanned(const hazard_meeting *self, model_place place);
/*
 * Keep a hazard of a requirement, or of two operands that do not fit. `what` says code, severity,
 * confidence and impact; place, operation and operands are those of the requirement.
 */
cg_code hazard_keep(hazard_meeting *self, const flow_requirement *row, hazard *what);

#endif
