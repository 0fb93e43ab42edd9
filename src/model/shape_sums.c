/* Sizes of what is summed up over axes: reductions and products. */
#include "model/candle_shape.h"
#include "model/shape_facts.h"
#include "model/shape_rules.h"
#include "model/shape_sizes.h"
#include "model/value_kinds.h"

/* The axes an argument names: one, or a list of them. */
static bool axes_argument(flow_call *call, size_t which, const flow_facts *facts, bool *ret_marks,
                          unsigned *ret_count)
{
    val arg = call_argument(call, which);
    const value *at;
    int index;

    *ret_count = 0;
    if (arg == 0)
        return false;
    at = value_at(call->eval->values, arg);
    if (at->kind != VALUE_TUPLE && at->kind != VALUE_LIST) {
        int64_t axis;

        *ret_count = at->kind == VALUE_INT || at->kind == VALUE_ENUM ? 1 : 0;
        if (!candle_axis(call->eval, arg, &axis))
            return false;
        index = facts_axis(facts, axis, 0);
        if (index >= 0)
            ret_marks[index] = true;
        return index >= 0;
    }
    for (size_t i = 0; i < at->count; i++) {
        int64_t axis;

        if (value_kind_of(call->eval->values, at->as.items[i]) == VALUE_REPEAT)
            return false;
        (*ret_count)++;
        if (!candle_axis(call->eval, at->as.items[i], &axis))
            continue;
        index = facts_axis(facts, axis, 0);
        if (index >= 0)
            ret_marks[index] = true;
    }
    for (unsigned i = 0, found = 0; i < FLOW_AXES; i++) {
        found += ret_marks[i];
        if (found == *ret_count)
            return true;
    }
    return *ret_count == 0;
}

static bool reduce(flow_call *call, bool keeps)
{
    const flow_facts *x = call_first(call);
    flow_facts *it = &call->facts;
    bool marks[FLOW_AXES] = {false};
    unsigned count = 0;
    bool is_known = axes_argument(call, 1, x, marks, &count);

    facts_copy_axes(it, x);
    facts_link_rank(call, keeps ? 0 : -(int)count, false);
    if (keeps) {
        if (!is_known)
            facts_forget_sizes(it);
        for (unsigned i = 0; i < x->rank && is_known; i++) {
            if (marks[i])
                it->axes[i] = size_const(call, 1);
        }
        return true;
    }
    if (count == 0)
        call->has_rank_link = false;
    if (!is_known) {
        it->rank = x->has_rank && count > 0 && count <= x->rank ? (uint8_t)(x->rank - count) : 0;
        it->has_rank = x->has_rank && count > 0 && count <= x->rank;
        memset(it->axes, 0, sizeof it->axes);
        return true;
    }
    it->rank = 0;
    for (unsigned i = 0; i < x->rank; i++) {
        if (!marks[i])
            it->axes[it->rank++] = x->axes[i];
    }
    return true;
}

bool shape_reduce(flow_call *call)
{
    return reduce(call, false);
}

bool shape_keep(flow_call *call)
{
    return reduce(call, true);
}

static bool multiply(flow_call *call, bool is_broadcast)
{
    node_ref left = call->tensors[0];
    node_ref right = call->tensors[1];
    const flow_facts *a = call_facts(call, left);
    const flow_facts *b = call_facts(call, right);
    flow_facts *it = &call->facts;
    bool fails = false;
    unsigned rank;

    if (right == 0)
        return true;
    if (a->has_rank && b->has_rank && !is_broadcast && a->rank != b->rank) {
        facts_cannot_fit(call, left, right);
        return true;
    }
    if (!is_broadcast)
        facts_link_rank(call, 0, false);
    rank = a->rank > b->rank ? a->rank : b->rank;
    it->has_rank = is_broadcast ? a->has_rank && b->has_rank : a->has_rank || b->has_rank;
    if (it->has_rank && rank < 2) {
        it->has_rank = false;
        return true;
    }
    it->rank = it->has_rank ? (uint8_t)rank : a->rank > 0 && b->rank > 0 ? 2 : b->rank > 0 ? 1 : 0;
    memset(it->axes, 0, sizeof it->axes);
    if (a->rank >= 1 && b->rank >= 2 &&
        size_can_differ(call, a->axes[a->rank - 1], b->axes[b->rank - 2]))
        facts_cannot_fit(call, left, right);
    if (it->rank >= 1 && b->rank >= 1)
        it->axes[it->rank - 1] = b->axes[b->rank - 1];
    if (it->rank >= 2 && a->rank >= 2)
        it->axes[it->rank - 2] = a->axes[a->rank - 2];
    for (unsigned i = 3; i <= it->rank; i++) {
        expr x = i <= a->rank ? a->axes[a->rank - i] : EXPR_NONE;
        expr y = i <= b->rank ? b->axes[b->rank - i] : EXPR_NONE;

        if (is_broadcast) {
            if (i > a->rank && a->has_rank)
                x = size_const(call, 1);
            if (i > b->rank && b->has_rank)
                y = size_const(call, 1);
            it->axes[it->rank - i] = size_broadcast(call, x, y, &fails);
        } else {
            fails |= size_can_differ(call, x, y);
            it->axes[it->rank - i] = x != EXPR_NONE ? x : y;
        }
    }
    if (fails)
        facts_cannot_fit(call, left, right);
    return true;
}

bool shape_matmul(flow_call *call)
{
    return multiply(call, false);
}

bool shape_broadcast_matmul(flow_call *call)
{
    return multiply(call, true);
}

bool shape_dot(flow_call *call)
{
    facts_ranked(call, 0);
    return true;
}

bool shape_mv(flow_call *call)
{
    const flow_facts *x = call_first(call);

    facts_ranked(call, 1)->axes[0] = x->rank == 2 ? x->axes[0] : EXPR_NONE;
    return true;
}
