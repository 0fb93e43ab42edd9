/*
 * health_gradients - rules 26 to 34: gradient events, and the manifest against what was observed.
 */
#ifndef CG_EXEC_HEALTH_GRADIENTS_H
#define CG_EXEC_HEALTH_GRADIENTS_H

#include "exec/health_issues.h"

void health_check_gradients(check *self);
/* Keeps the members of families that are at fault in the report. */
cg_code health_check_gradient_contract(check *self, cg_err *reterr) CG_MUST;
/* What capabilities need to know of the issues that were found. */
void health_note_gradients(health_report *report);
void health_free_families(heap *heap, health_families *families);

#endif
