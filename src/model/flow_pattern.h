/*
 * flow_pattern - formulas that are recognised by the operations they are written with, because the
 * numbers they give lie closer together than those of their parts one by one.
 */
#ifndef CG_MODEL_FLOW_PATTERN_H
#define CG_MODEL_FLOW_PATTERN_H

#include "model/flow_call.h"

/* The node, when the operation of this name made it; else NULL. */
const flow_node *pattern_made_by(const flow_call *self, node_ref which, const char *name);
/* What it was made of, in order; 0 none. */
node_ref pattern_operand(const flow_call *self, const flow_node *node, size_t which);
/* Through what leaves the numbers as they are: views, copies, casts to itself. */
node_ref pattern_same_numbers(const flow_call *self, node_ref which);
/* exp(x - max(x)): one of the numbers is 1. */
bool pattern_is_shifted_exp(flow_call *self, node_ref which);
/* The whole of it sums to 1, and so does most of what is chosen from it, the largest for one. */
bool pattern_is_part_of_softmax(const flow_call *self, node_ref which);
/* a / sum(a) of numbers that are not negative: is this division one? */
bool pattern_is_share(flow_call *self);

#endif
