/* Sizes of what is chosen from a tensor by a tensor of ids. */
#include "model/candle_shape.h"
#include "model/shape_facts.h"
#include "model/shape_rules.h"
#include "model/shape_sizes.h"

bool shape_select(flow_call *call)
{
    const flow_facts *x = call_first(call);
    const flow_facts *ids = call_facts(call, call->tensors[1]);
    int at = facts_axis_argument(call, 2, x, 0);
    flow_facts *it = &call->facts;

    facts_copy_axes(it, x);
    facts_link_rank(call, 0, false);
    if (at < 0) {
        facts_forget_sizes(it);
        return true;
    }
    it->axes[at] = call->tensors[1] != 0 && ids->rank == 1 ? ids->axes[0] : EXPR_NONE;
    return true;
}

bool shape_gather(flow_call *call)
{
    facts_like(call, call->tensors[1]);
    return true;
}

bool shape_embedding(flow_call *call)
{
    bool is_layer = call->weight != 0 || call_row(call)->operands[0] == 'm';
    const flow_facts *ids = call_facts(call, is_layer ? call->tensors[0] : call->tensors[1]);
    const flow_facts *table = call_facts(call, is_layer ? call->weight : call->tensors[0]);
    flow_facts *it = &call->facts;
    expr last = table->rank == 2 ? table->axes[1] : EXPR_NONE;

    facts_copy_axes(it, ids);
    if (is_layer) {
        val size = flow_field(call, "hidden_size");

        facts_link_rank(call, 1, false);
        if (size != 0 && candle_size(call->eval, size) != EXPR_NONE)
            last = candle_size(call->eval, size);
    } else {
        it->has_rank = true;
        if (ids->rank == 0)
            it->axes[0] = EXPR_NONE;
        it->rank = 1;
    }
    if (it->rank == FLOW_AXES) {
        it->has_rank = false;
        it->rank = 0;
    }
    if (!it->has_rank && it->rank == 0)
        it->axes[0] = EXPR_NONE;
    it->axes[it->rank++] = last;
    return true;
}

bool shape_one_hot(flow_call *call)
{
    flow_facts *it = &call->facts;

    facts_like(call, call->tensors[0]);
    facts_link_rank(call, 1, false);
    if (it->rank < FLOW_AXES)
        it->axes[it->rank++] = size_argument(call, 1);
    return true;
}
