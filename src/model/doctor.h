/*
 * doctor - how far a model document can be trusted, and where to look next.
 */
#ifndef CG_MODEL_DOCTOR_H
#define CG_MODEL_DOCTOR_H

#include "model/ask.h"

/* The items of the questions doctor and model_improvement. */
bool doctor_make(ask *self, ask_item *ret) CG_MUST;
bool improvement_make(ask *self, ask_item *ret) CG_MUST;

/* How many findings there are of each severity, those that occur. */
bool doctor_count_severities(ask *self, sc_counts *ret) CG_MUST;

#endif
