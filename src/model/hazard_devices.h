/*
 * hazard_devices - operands of one call that lie on devices which differ.
 */
#ifndef CG_MODEL_HAZARD_DEVICES_H
#define CG_MODEL_HAZARD_DEVICES_H

#include "model/hazard_meeting.h"

/* Told where it begins: what is made of such operands is silent. */
cg_code hazard_meet_devices(hazard_meeting *self);

#endif
