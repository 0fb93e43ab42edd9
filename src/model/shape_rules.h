/*
 * shape_rules - the rules of operation_shapes.def, one function each: which sizes a result has.
 *
 * A rule is called after flow_gather and reads tensors, weight, edges and arguments. It writes of
 * call->facts the axes, and of views what it sees of how they lie (layout, stride, is_same_view,
 * is_unsure_view); has_rank_link, where the rank follows from the first operand; and requirements
 * about shapes. false: no memory. The module of each is named
 * above it in operation_shapes.def; model/flow_shape calls the one of a row.
 */
#ifndef CG_MODEL_SHAPE_RULES_H
#define CG_MODEL_SHAPE_RULES_H

#include "model/flow_call.h"

#define SHAPE(name, rule, word) bool shape_##rule(flow_call *call);
#include "model/operation_shapes.def"
#undef SHAPE

#endif
