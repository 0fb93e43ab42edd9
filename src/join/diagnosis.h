/*
 * diagnosis - why a checkpoint does not fit, in rows.
 *
 * Every missing key, every unclaimed tensor and every tensor of another shape ends up in one row
 * and no other. A guess that is not settled is no row: what names and shapes do not decide stays
 * `unexplained`.
 */
#ifndef CG_JOIN_DIAGNOSIS_H
#define CG_JOIN_DIAGNOSIS_H

#include "join/difference.h"

/* Add the rows to `self->rows`, in the order of the codes. */
cg_code diagnosis_run(difference *self, cg_err *reterr) CG_MUST;

#endif
