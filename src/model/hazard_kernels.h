/*
 * hazard_kernels - calls that have no kernel for the dtype or the device of their tensors.
 */
#ifndef CG_MODEL_HAZARD_KERNELS_H
#define CG_MODEL_HAZARD_KERNELS_H

#include "model/hazard_meeting.h"

/* A requirement that fails: of a kernel, or of integers. */
cg_code hazard_meet_kernel(hazard_meeting *self, const flow_requirement *row);
/* Whole numbers where candle has floats only. */
cg_code hazard_meet_integers(hazard_meeting *self);
/* Where the device or the dtype is known only to whoever makes the component (hazard_guess). */
cg_code hazard_guess_kernels(hazard_meeting *self);

#endif
