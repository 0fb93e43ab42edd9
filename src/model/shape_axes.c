/* Sizes of views with the axes in another order, with one more or one less, or with some as one. */
#include "model/candle_shape.h"
#include "model/shape_facts.h"
#include "model/shape_rules.h"
#include "model/shape_sizes.h"

/* Axes of size 1 count for nothing when candle asks whether a tensor is contiguous. */
static bool keeps_order(flow_call *call, const flow_facts *x, const uint8_t *order)
{
    unsigned last = 0;

    for (unsigned i = 0; i < x->rank; i++) {
        if (size_is_one(call, x->axes[order[i]]))
            continue;
        if (order[i] < last)
            return false;
        last = order[i];
    }
    return x->has_rank;
}

bool shape_transpose(flow_call *call)
{
    const flow_facts *x = call_first(call);
    flow_facts *it = &call->facts;
    int a = facts_axis_argument(call, 1, x, 0);
    int b = facts_axis_argument(call, 2, x, 0);

    facts_copy_axes(it, x);
    facts_link_rank(call, 0, false);
    if (a >= 0 && b >= 0) {
        uint8_t order[FLOW_AXES] = {0, 1, 2, 3, 4, 5, 6, 7};

        order[a] = (uint8_t)b;
        order[b] = (uint8_t)a;
        call->is_same_view = keeps_order(call, x, order);
        it->axes[a] = x->axes[b];
        it->axes[b] = x->axes[a];
        it->stride =
            x->stride != STRIDE_NONE ? STRIDE_OTHER
            : (a > b ? b : a) == (int)it->rank - 2 && (a > b ? a : b) == (int)it->rank - 1 && a != b
                ? STRIDE_MATRIX
                : STRIDE_BATCH;
        return true;
    }
    it->stride = STRIDE_OTHER;
    facts_forget_sizes(it);
    return true;
}

bool shape_swap(flow_call *call)
{
    const flow_facts *x = call_first(call);
    flow_facts *it = &call->facts;

    facts_copy_axes(it, x);
    facts_link_rank(call, 0, false);
    it->stride = x->stride == STRIDE_NONE ? STRIDE_MATRIX : STRIDE_OTHER;
    if (it->rank < 2) {
        facts_forget_sizes(it);
        return true;
    }
    it->axes[it->rank - 1] = x->axes[it->rank - 2];
    it->axes[it->rank - 2] = x->axes[it->rank - 1];
    call->is_same_view = x->has_rank && (size_is_one(call, x->axes[it->rank - 1]) ||
                                         size_is_one(call, x->axes[it->rank - 2]));
    return true;
}

bool shape_permute(flow_call *call)
{
    val arg = call_argument(call, 1);
    const value *at = arg == 0 ? NULL : value_at(call->eval->values, arg);
    const flow_facts *x = call_first(call);
    uint8_t order[FLOW_AXES] = {0};
    bool is_known = true;
    flow_facts *it;

    call->facts.stride = STRIDE_OTHER;
    if (at == NULL || (at->kind != VALUE_TUPLE && at->kind != VALUE_LIST) ||
        at->count > FLOW_AXES) {
        facts_copy_axes(&call->facts, x);
        facts_link_rank(call, 0, false);
        facts_forget_sizes(&call->facts);
        return true;
    }
    if (!flow_want_rank(call, call->tensors[0], at->count))
        return true;
    x = call_first(call);
    it = facts_ranked(call, at->count);
    it->stride = x->stride == STRIDE_NONE ? STRIDE_MATRIX : STRIDE_OTHER;
    for (unsigned i = 0; i < at->count; i++) {
        int64_t axis;

        if (!candle_axis(call->eval, at->as.items[i], &axis) || facts_axis(x, axis, 0) < 0) {
            is_known = false;
            continue;
        }
        order[i] = (uint8_t)facts_axis(x, axis, 0);
        it->axes[i] = x->axes[order[i]];
        if (order[i] != i && i + 2 < at->count)
            it->stride = STRIDE_BATCH;
    }
    call->is_same_view = is_known && keeps_order(call, x, order);
    return true;
}

bool shape_squeeze(flow_call *call)
{
    const flow_facts *x = call_first(call);
    flow_facts *it = &call->facts;
    int at = facts_axis_argument(call, 1, x, 0);
    int64_t size;

    facts_copy_axes(it, x);
    if (at < 0 || x->axes[at] == EXPR_NONE ||
        !expr_constant(call->eval->exprs, x->axes[at], &size)) {
        /* It takes the axis away only when its size is 1. */
        it->has_rank = false;
        if (at < 0)
            it->rank = 0;
        else
            facts_keep_from(it, (unsigned)at + 1);
        return true;
    }
    if (size != 1) {
        facts_link_rank(call, 0, true);
        return true;
    }
    facts_link_rank(call, -1, false);
    memmove(it->axes + at, it->axes + at + 1, (x->rank - (unsigned)at - 1) * sizeof it->axes[0]);
    it->rank--;
    it->axes[it->rank] = EXPR_NONE;
    if (!it->has_rank)
        facts_keep_from(it, (unsigned)at);
    return true;
}

bool shape_unsqueeze(flow_call *call)
{
    const flow_facts *x = call_first(call);
    flow_facts *it = &call->facts;
    int at = facts_axis_argument(call, 1, x, 1);

    facts_copy_axes(it, x);
    facts_link_rank(call, 1, false);
    if (x->rank == FLOW_AXES) {
        it->has_rank = false;
        it->rank = 0;
        return true;
    }
    if (at < 0) {
        facts_forget_sizes(it);
        it->rank = it->has_rank ? (uint8_t)(x->rank + 1) : 0;
        return true;
    }
    memmove(it->axes + at + 1, it->axes + at, (x->rank - (unsigned)at) * sizeof it->axes[0]);
    it->axes[at] = size_const(call, 1);
    it->rank++;
    if (!it->has_rank)
        facts_keep_from(it, (unsigned)at);
    return true;
}

static bool flatten_between(flow_call *call, int from, int to)
{
    const flow_facts *x = call_first(call);
    flow_facts *it = &call->facts;

    if (from < 0 || to < 0 || !x->has_rank) {
        /* The end is known when it lies behind what is flattened. */
        it->has_rank = false;
        it->rank = 0;
        return true;
    }
    if (from >= to) {
        facts_copy_axes(it, x);
        return true;
    }
    facts_copy_axes(it, x);
    it->axes[from] = size_product(call, x->axes, (unsigned)from, (unsigned)to + 1);
    memmove(it->axes + from + 1, x->axes + to + 1,
            (x->rank - (unsigned)to - 1) * sizeof it->axes[0]);
    it->rank = (uint8_t)(x->rank - (unsigned)(to - from));
    return true;
}

bool shape_flatten(flow_call *call)
{
    const flow_facts *x = call_first(call);

    return flatten_between(call, facts_axis_argument(call, 1, x, 0),
                           facts_axis_argument(call, 2, x, 0));
}

bool shape_flatten_from(flow_call *call)
{
    const flow_facts *x = call_first(call);

    return flatten_between(call, facts_axis_argument(call, 1, x, 0),
                           x->rank > 0 ? x->rank - 1 : -1);
}

bool shape_flatten_to(flow_call *call)
{
    return flatten_between(call, 0, facts_axis_argument(call, 1, call_first(call), 0));
}

bool shape_flatten_all(flow_call *call)
{
    const flow_facts *x = call_first(call);

    facts_ranked(call, 1)->axes[0] = size_of_all(call, x);
    return true;
}
