/*
 * hazard_operands - the call that a finding names, and its operands as people know them: what a
 * library's function fails in, what its parameters are called.
 */
#ifndef CG_MODEL_HAZARD_OPERANDS_H
#define CG_MODEL_HAZARD_OPERANDS_H

#include "model/hazard_meeting.h"

/* The edge of an operand, but for bodies and numbers that went through the host; NULL: none. */
const flow_edge *hazard_edge(const hazard_meeting *self, node_ref node, node_ref from);
/*
 * The operation that fails, and the call it is inside of. Without effect on requirements that have
 * a call of their own.
 */
void hazard_name_operation(const hazard_meeting *self, const flow_requirement *row, hazard *to);
/* All that a hazard keeps of a tensor; nothing of node 0. The operation has been named. */
cg_code hazard_take_operand(hazard_meeting *self, hazard *of, node_ref node, node_ref which,
                            bool is_second, hazard_operand *to);

#endif
