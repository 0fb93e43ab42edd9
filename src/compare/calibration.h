/*
 * calibration - how much does the baseline differ from itself?
 *
 * The A/A test: the baseline's runs are split into two halves by turns (so that
 * drift hits both alike) and compared as if they were two builds. Beside it the
 * noise floor: the difference of medians that 95 of 100 random halves stay
 * below. A change smaller than that is nothing this baseline can show.
 */
#ifndef CG_COMPARE_CALIBRATION_H
#define CG_COMPARE_CALIBRATION_H

#include "compare/comparison.h"

#define CALIBRATION_SPLITS 1000

/* Fill calibration and spreads of a comparison whose figures are there, and its document. */
cg_code calibration_add(comparison *self, cg_err *reterr) CG_MUST;

#endif
