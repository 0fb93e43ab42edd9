/*
 * shape_facts - rank and axes of a result while a rule makes them, and axes by their numbers.
 *
 * Without a rank the last axes are known (flow_facts). Rules write call->facts.
 */
#ifndef CG_MODEL_SHAPE_FACTS_H
#define CG_MODEL_SHAPE_FACTS_H

#include "model/flow_call.h"

void facts_copy_axes(flow_facts *to, const flow_facts *from);
/* Of the result: those of this tensor, if there is one. */
void facts_like(flow_call *call, node_ref like);
/* Of the result: a rank that was asked for, all sizes unknown. */
flow_facts *facts_ranked(flow_call *call, unsigned rank);
/*
 * The rank of the result is that of the first operand and `step` more, whatever it turns out to be;
 * with is_same_shape the sizes are the same too.
 */
void facts_link_rank(flow_call *call, int step, bool is_same_shape);
/* Where among the kept axes an axis lies, counted from the end when negative; -1: not known. */
int facts_axis(const flow_facts *facts, int64_t at, unsigned more);
/* The axis an argument is. `more`: axes the result has beyond these. */
int facts_axis_argument(flow_call *call, size_t which, const flow_facts *facts, unsigned more);
/* Without a rank, what lies before the axis is not known any more: only the end is kept. */
void facts_keep_from(flow_facts *it, unsigned from);
/* Some axis changed, it is not known which. */
void facts_forget_sizes(flow_facts *it);
/* The shapes of both can never meet: a requirement that fails. */
void facts_cannot_fit(flow_call *call, node_ref a, node_ref b);

#endif
