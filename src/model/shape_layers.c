/* Sizes of what layers and fused operations of candle-nn give. */
#include "model/shape_facts.h"
#include "model/shape_rules.h"
#include "model/shape_sizes.h"

bool shape_linear(flow_call *call)
{
    const flow_facts *w = call_facts(call, call->weight);
    flow_facts *it = &call->facts;

    facts_copy_axes(it, call_first(call));
    facts_link_rank(call, 0, false);
    if (it->rank > 0 && call->weight != 0 && w->rank == 2 &&
        size_can_differ(call, it->axes[it->rank - 1], w->axes[1]))
        facts_cannot_fit(call, call->tensors[0], call->weight);
    if (it->rank == 0 && !it->has_rank)
        it->rank = 1;
    if (it->rank > 0)
        it->axes[it->rank - 1] = call->weight != 0 && w->rank == 2 ? w->axes[0] : EXPR_NONE;
    return true;
}

static bool normalise(flow_call *call, bool is_channels)
{
    flow_facts *it = &call->facts;
    node_ref weight = call->weight;
    const flow_facts *w;
    unsigned at;

    facts_copy_axes(it, call_first(call));
    facts_link_rank(call, 0, true);
    if (weight == 0 && call_row(call)->operands[0] != 'm')
        weight = call->tensors[1];
    w = call_facts(call, weight);
    if (weight == 0 || !w->has_rank || w->rank != 1 || (is_channels && !it->has_rank) ||
        it->rank < (is_channels ? 2 : 1))
        return true;
    at = is_channels ? 1 : it->rank - 1u;
    if (size_can_differ(call, it->axes[at], w->axes[0]))
        facts_cannot_fit(call, call->tensors[0], weight);
    else if (it->axes[at] == EXPR_NONE)
        it->axes[at] = w->axes[0];
    return true;
}

bool shape_norm(flow_call *call)
{
    return normalise(call, false);
}

bool shape_channels(flow_call *call)
{
    return normalise(call, true);
}

bool shape_half_last(flow_call *call)
{
    flow_facts *it = &call->facts;

    facts_like(call, call->tensors[0]);
    facts_link_rank(call, 0, false);
    if (it->rank > 0)
        it->axes[it->rank - 1] = size_over(call, it->axes[it->rank - 1], size_const(call, 2));
    return true;
}

bool shape_rope(flow_call *call)
{
    if (!flow_want_rank(call, call->tensors[0], 4))
        return true;
    facts_link_rank(call, 0, true);
    facts_like(call, call->tensors[0]);
    return true;
}

bool shape_grown(flow_call *call)
{
    facts_like(call, call->tensors[0]);
    facts_link_rank(call, 0, false);
    facts_forget_sizes(&call->facts);
    return true;
}

bool shape_sdpa(flow_call *call)
{
    const flow_facts *v = call_facts(call, call->node_at[2]);

    if (!flow_want_rank(call, call->tensors[0], 4))
        return true;
    facts_like(call, call->tensors[0]);
    call->facts.axes[3] = call->node_at[2] != 0 && v->rank == 4 ? v->axes[3] : EXPR_NONE;
    return true;
}
