#include "model/shape_facts.h"

#include "base/str_name.h"
#include "model/candle_shape.h"

void facts_copy_axes(flow_facts *to, const flow_facts *from)
{
    memcpy(to->axes, from->axes, sizeof to->axes);
    to->rank = from->rank;
    to->has_rank = from->has_rank;
}

void facts_like(flow_call *call, node_ref like)
{
    if (like != 0)
        facts_copy_axes(&call->facts, call_facts(call, like));
}

flow_facts *facts_ranked(flow_call *call, unsigned rank)
{
    flow_facts *it = &call->facts;

    it->has_rank = rank <= FLOW_AXES;
    it->rank = it->has_rank ? (uint8_t)rank : 0;
    memset(it->axes, 0, sizeof it->axes);
    return it;
}

void facts_link_rank(flow_call *call, int step, bool is_same_shape)
{
    call->has_rank_link = true;
    call->rank_step = (int8_t)step;
    call->is_same_shape = is_same_shape;
}

int facts_axis(const flow_facts *facts, int64_t at, unsigned more)
{
    int64_t rank = facts->rank;

    if (at >= 0)
        return facts->has_rank && at < rank + more ? (int)at : -1;
    at += rank + more;
    return at >= 0 && at < rank + more ? (int)at : -1;
}

int facts_axis_argument(flow_call *call, size_t which, const flow_facts *facts, unsigned more)
{
    val arg = call_argument(call, which);
    int64_t at;

    return arg != 0 && candle_axis(call->eval, arg, &at) ? facts_axis(facts, at, more) : -1;
}

void facts_keep_from(flow_facts *it, unsigned from)
{
    if (it->has_rank)
        return;
    memmove(it->axes, it->axes + from, (it->rank - from) * sizeof it->axes[0]);
    it->rank = (uint8_t)(it->rank - from);
}

void facts_forget_sizes(flow_facts *it)
{
    if (!it->has_rank)
        it->rank = 0;
    memset(it->axes, 0, sizeof it->axes);
}

void facts_cannot_fit(flow_call *call, node_ref a, node_ref b)
{
    cg_str text = {NULL, 0};

    if (!arena_format(&call->flow->mem, &text, "%.*s and %.*s",
                      STR_NAME(flow_shape_text(call->flow, a)),
                      STR_NAME(flow_shape_text(call->flow, b))))
        call->flow->failed = true;
    flow_require(call, FLOW_NEED_SHAPE, CHECK_FAILS, a, b, text);
}
