/* Sizes of several tensors put together to one. */
#include "model/candle_shape.h"
#include "model/shape_alike.h"
#include "model/shape_facts.h"
#include "model/shape_rules.h"
#include "model/shape_sizes.h"
#include "model/value_kinds.h"

static bool put_together(flow_call *call, bool is_new_axis)
{
    flow_facts *it = &call->facts;
    expr sum = EXPR_NONE;
    int64_t axis = 0;
    int at;
    val list = call_argument(call, 0);
    val by = call_argument(call, 1);
    bool is_open = list == 0 || value_kind_of(call->eval->values, list) != VALUE_LIST;

    if (call->edge_count == 0)
        return true;
    if (!alike_all_equal(call))
        return false;
    if (is_new_axis) {
        flow_facts whole = *it;

        at = by != 0 && candle_axis(call->eval, by, &axis) ? facts_axis(&whole, axis, 1) : -1;
        facts_link_rank(call, 1, false);
        if (at < 0 || whole.rank == FLOW_AXES) {
            it->rank = whole.has_rank && whole.rank < FLOW_AXES ? (uint8_t)(whole.rank + 1) : 0;
            it->has_rank = whole.has_rank && whole.rank < FLOW_AXES;
            memset(it->axes, 0, sizeof it->axes);
            return true;
        }
        memmove(it->axes + at + 1, whole.axes + at, (whole.rank - (unsigned)at) * sizeof(expr));
        it->rank = (uint8_t)(whole.rank + 1);
        it->axes[at] = EXPR_NONE;
    } else {
        facts_link_rank(call, 0, false);
        at = by != 0 && candle_axis(call->eval, by, &axis) ? facts_axis(it, axis, 0) : -1;
        if (at < 0) {
            facts_forget_sizes(it);
            return true;
        }
        it->axes[at] = EXPR_NONE;
    }
    if (is_open) {
        if (!it->has_rank)
            facts_keep_from(it, (unsigned)at);
        return true;
    }
    /* The sizes along the axis, a repetition as often as it stands for. */
    const value *items = value_at(call->eval->values, list);

    sum = size_const(call, 0);
    for (size_t i = 0; i < items->count; i++) {
        const value *item = value_at(call->eval->values, items->as.items[i]);
        val one = item->kind == VALUE_REPEAT ? item->as.repeat.items[0] : items->as.items[i];
        expr times_it = item->kind == VALUE_REPEAT ? item->as.repeat.count : size_const(call, 1);
        node_ref node = flow_of(call->flow, one);
        const flow_facts *facts = call_facts(call, node);
        int index = facts_axis(facts, axis, 0);
        expr size = is_new_axis               ? size_const(call, 1)
                    : node != 0 && index >= 0 ? facts->axes[index]
                                              : EXPR_NONE;

        sum = size_plus(call, sum, size_times(call, times_it, size));
    }
    it->axes[at] = sum;
    if (!it->has_rank)
        facts_keep_from(it, (unsigned)at);
    return true;
}

/* In `cat` the tensors need not agree along the axis. */
bool shape_cat(flow_call *call)
{
    size_t needs = call->need_count;
    int64_t axis;
    val by = call_argument(call, 1);
    const flow_facts *a = call_first(call);
    int at = by != 0 && candle_axis(call->eval, by, &axis) ? facts_axis(a, axis, 0) : -1;

    if (!put_together(call, false))
        return false;
    call->need_count = needs;
    for (size_t i = 1; i < call->edge_count; i++) {
        const flow_facts *b = call_facts(call, call->edges[i].from);
        bool fails = a->has_rank && b->has_rank && a->rank != b->rank;

        for (unsigned k = 0; k < a->rank && a->has_rank && b->has_rank && !fails && at >= 0; k++)
            fails = (int)k != at && size_can_differ(call, a->axes[k], b->axes[k]);
        if (fails) {
            facts_cannot_fit(call, call->edges[0].from, call->edges[i].from);
            break;
        }
    }
    return true;
}

bool shape_stack(flow_call *call)
{
    return put_together(call, true);
}
