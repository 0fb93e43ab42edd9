#include "model/shape_alike.h"

#include "model/shape_facts.h"
#include "model/shape_sizes.h"

static bool equal_with(flow_call *call, node_ref other)
{
    flow_facts *it = &call->facts;
    const flow_facts *b = call_facts(call, other);

    if (it->has_rank && b->has_rank && it->rank != b->rank) {
        facts_cannot_fit(call, call->tensors[0], other);
        return true;
    }
    if (!it->has_rank && b->has_rank && b->rank >= it->rank) {
        flow_facts longer = *it;

        facts_copy_axes(&longer, b);
        for (unsigned i = 1; i <= it->rank; i++) {
            if (it->axes[it->rank - i] != EXPR_NONE)
                longer.axes[longer.rank - i] = it->axes[it->rank - i];
        }
        facts_copy_axes(it, &longer);
        return true;
    }
    for (unsigned i = 1; i <= it->rank && i <= b->rank; i++) {
        expr *x = &it->axes[it->rank - i];
        expr y = b->axes[b->rank - i];

        if (size_can_differ(call, *x, y)) {
            facts_cannot_fit(call, call->tensors[0], other);
            return true;
        }
        /* A number says more than a name. */
        if (*x == EXPR_NONE ||
            (y != EXPR_NONE && expr_kind_of(call->eval->exprs, y) == EXPR_CONSTANT))
            *x = y;
    }
    return true;
}

static bool broadcast_with(flow_call *call, node_ref other)
{
    flow_facts *it = &call->facts;
    const flow_facts *b = call_facts(call, other);
    bool is_known = it->has_rank && b->has_rank;
    unsigned rank = it->rank > b->rank ? it->rank : b->rank;
    flow_facts made = *it;
    bool fails = false;

    if (!is_known) {
        unsigned low = it->rank < b->rank ? it->rank : b->rank;

        /* Beyond what a ranked operand has, the other decides alone. */
        if (it->has_rank && b->rank > it->rank)
            low = b->rank;
        else if (b->has_rank && it->rank > b->rank)
            low = it->rank;
        rank = low;
    }
    made.has_rank = is_known;
    made.rank = (uint8_t)rank;
    memset(made.axes, 0, sizeof made.axes);
    for (unsigned i = 1; i <= rank; i++) {
        expr x = i <= it->rank ? it->axes[it->rank - i] : size_const(call, 1);
        expr y = i <= b->rank ? b->axes[b->rank - i] : size_const(call, 1);

        made.axes[rank - i] = size_broadcast(call, x, y, &fails);
    }
    facts_copy_axes(it, &made);
    if (fails)
        facts_cannot_fit(call, call->tensors[0], other);
    return true;
}

static bool over_all(flow_call *call, bool (*with)(flow_call *call, node_ref other))
{
    facts_copy_axes(&call->facts, call_first(call));
    for (size_t i = 1; i < call->edge_count; i++) {
        if (call->edges[i].role != FLOW_MODULE && call->edges[i].role != FLOW_HOST &&
            !with(call, call->edges[i].from))
            return false;
    }
    return true;
}

bool alike_all_equal(flow_call *call)
{
    return over_all(call, equal_with);
}

bool shape_same(flow_call *call)
{
    facts_link_rank(call, 0, true);
    facts_like(call, call->tensors[0]);
    return true;
}

bool shape_like(flow_call *call)
{
    facts_like(call, call->tensors[0]);
    return true;
}

bool shape_equal(flow_call *call)
{
    facts_link_rank(call, 0, true);
    return alike_all_equal(call);
}

bool shape_where(flow_call *call)
{
    /* Condition and both ways have one shape. */
    return alike_all_equal(call);
}

bool shape_broadcast(flow_call *call)
{
    const flow_facts *other = call_facts(call, call->tensors[1]);

    if (call->tensors[1] != 0 && other->has_rank && other->rank <= 1)
        facts_link_rank(call, 0, false);
    return over_all(call, broadcast_with);
}

/* A loss: of two that are alike, or of rows of numbers and one class for each. */
bool shape_scalar(flow_call *call)
{
    const char *letters = call_row(call)->operands;
    const flow_facts *x = call_first(call);
    const flow_facts *classes;
    bool is_good = true;

    if (letters[1] == 't') {
        is_good = alike_all_equal(call);
    } else if (letters[1] == 'x' && call->tensors[1] != 0) {
        classes = call_facts(call, call->tensors[1]);
        if ((x->has_rank && x->rank != 2) || (classes->has_rank && classes->rank != 1) ||
            (x->has_rank && classes->has_rank &&
             size_can_differ(call, x->axes[0], classes->axes[0])))
            facts_cannot_fit(call, call->tensors[0], call->tensors[1]);
    }
    facts_ranked(call, 0);
    return is_good;
}
