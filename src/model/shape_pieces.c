/* Sizes of what is cut out of a tensor, and how the piece lies in memory. */
#include "model/candle_shape.h"
#include "model/shape_facts.h"
#include "model/shape_rules.h"
#include "model/shape_sizes.h"
#include "model/value_kinds.h"

/*
 * A piece is cut out of a contiguous tensor behind `open` axes that can be longer than 1: one piece
 * of memory when there are none, or when there is only the first (`rows`) and that is 1.
 */
static void place_piece(flow_call *call, const flow_facts *x, unsigned open, const expr *rows)
{
    int64_t size;

    if (x->layout != FLOW_CONTIGUOUS || !x->has_rank)
        return;
    if (open == 0)
        call->facts.layout = FLOW_CONTIGUOUS;
    else if (open == 1 && rows &&
             (*rows == EXPR_NONE || !expr_constant(call->eval->exprs, *rows, &size)))
        call->facts.stride = STRIDE_ROWS;
}

static void place_cut(flow_call *call, const flow_facts *x, int at)
{
    unsigned open = 0;

    for (int i = 0; i < at; i++)
        open += !size_is_one(call, x->axes[i]);
    place_piece(call, x, open, at > 0 && !size_is_one(call, x->axes[0]) ? &x->axes[0] : NULL);
}

bool shape_narrow(flow_call *call)
{
    const flow_facts *x = call_first(call);
    flow_facts *it = &call->facts;
    expr size = size_argument(call, 3);
    int at = facts_axis_argument(call, 1, x, 0);

    facts_copy_axes(it, x);
    facts_link_rank(call, 0, false);
    if (at < 0) {
        facts_forget_sizes(it);
        return true;
    }
    /* The whole axis: nothing happened. */
    if (x->axes[at] != EXPR_NONE && x->axes[at] == size)
        call->is_same_view = true;
    else
        place_cut(call, x, at);
    it->axes[at] = size;
    return true;
}

bool shape_chunk(flow_call *call)
{
    const flow_facts *x = call_first(call);
    val parts = call_argument(call, 1);
    const value *list = parts == 0 ? NULL : value_at(call->eval->values, parts);
    int at = facts_axis_argument(call, 2, x, 0);
    flow_facts *it = &call->facts;
    expr size = EXPR_NONE;
    int64_t whole;
    int64_t by;

    facts_copy_axes(it, x);
    facts_link_rank(call, 0, false);
    if (at < 0) {
        facts_forget_sizes(it);
        return true;
    }
    if (call_row(call)->shape == SHAPE_SPLIT) {
        if (list != NULL && list->kind == VALUE_LIST && call->part < list->count &&
            value_kind_of(call->eval->values, list->as.items[call->part]) != VALUE_REPEAT)
            size = candle_size(call->eval, list->as.items[call->part]);
    } else if (x->axes[at] != EXPR_NONE && expr_constant(call->eval->exprs, x->axes[at], &whole) &&
               expr_constant(call->eval->exprs, size_argument(call, 1), &by) && by > 0) {
        /* The first ones are one longer when it does not come out even. */
        size = size_const(call, whole / by + (call->part < whole % by ? 1 : 0));
    } else {
        size = size_over(call, x->axes[at], size_argument(call, 1));
    }
    place_cut(call, x, at);
    it->axes[at] = size;
    return true;
}

/* One index of `i`: a number takes the axis away, a range cuts it, ids choose from it. */
static bool index_axis(flow_call *call, val index, expr from, flow_facts *it)
{
    const value *at = value_at(call->eval->values, index);
    expr size = EXPR_NONE;
    node_ref ids;

    if (at->kind == VALUE_INT)
        return true;
    if (at->kind == VALUE_RANGE) {
        expr low =
            at->as.items[0] == 0 ? size_const(call, 0) : candle_size(call->eval, at->as.items[0]);
        expr high = at->as.items[1] == 0 ? from : candle_size(call->eval, at->as.items[1]);

        if (at->as.items[1] != 0 && at->is_inclusive)
            high = size_plus(call, high, size_const(call, 1));
        size = size_minus(call, high, low);
        if (at->as.items[0] == 0 && at->as.items[1] == 0)
            size = from;
    } else {
        ids = flow_of(call->flow, index);
        if (ids != 0 && call_facts(call, ids)->has_rank && call_facts(call, ids)->rank == 1)
            size = call_facts(call, ids)->axes[0];
        else if (ids == 0 && at->kind != VALUE_LIST)
            return false;
    }
    it->axes[it->rank++] = size;
    return true;
}

/* How what is left lies in memory: `sizes` are those of the axes that are kept. */
static void place_index(flow_call *call, const flow_facts *x, const val *items, size_t count,
                        const expr *sizes)
{
    unsigned kept = 0, open = 0;
    const expr *rows = NULL;
    bool is_copied = false;

    for (size_t i = 0; i < count; i++) {
        const value *at = value_at(call->eval->values, items[i]);
        bool is_range = at->kind == VALUE_RANGE;
        bool is_whole = is_range && at->as.items[0] == 0 && at->as.items[1] == 0;

        if (at->kind != VALUE_INT && !is_range) {
            open = 0; /* chosen by ids: copied */
            is_copied = true;
        } else if (!is_whole && !size_is_one(call, x->axes[i])) {
            open = kept;
            is_copied = is_copied && open == 0;
        }
        if (at->kind == VALUE_INT)
            continue;
        if (i == 0)
            rows = sizes;
        kept += !size_is_one(call, *sizes++);
    }
    if (is_copied)
        call->facts.layout = FLOW_CONTIGUOUS;
    else
        place_piece(call, x, open, rows && !size_is_one(call, *rows) ? rows : NULL);
}

bool shape_index(flow_call *call)
{
    const flow_facts before = *call_first(call); /* ids may become nodes on the way */
    const flow_facts *x = &before;
    val arg = call_argument(call, 1);
    const value *at = arg == 0 ? NULL : value_at(call->eval->values, arg);
    const val *items = at != NULL && at->kind == VALUE_TUPLE ? at->as.items : &arg;
    size_t count = at != NULL && at->kind == VALUE_TUPLE ? at->count : 1;
    flow_facts *it = &call->facts;
    int removed = 0;

    it->rank = 0;
    it->has_rank = false;
    if (at == NULL || (x->has_rank && count > x->rank) || count > FLOW_AXES) {
        if (at != NULL && x->has_rank)
            flow_want_rank(call, call->tensors[0], (unsigned)count);
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        if (!index_axis(call, items[i], x->has_rank ? x->axes[i] : EXPR_NONE, it)) {
            it->rank = 0;
            return true;
        }
        removed += value_kind_of(call->eval->values, items[i]) == VALUE_INT;
    }
    facts_link_rank(call, -removed, false);
    if (!x->has_rank) {
        /* What lies behind the indices stays. */
        it->rank = 0;
        memset(it->axes, 0, sizeof it->axes);
        return true;
    }
    for (size_t i = count; i < x->rank; i++)
        it->axes[it->rank++] = x->axes[i];
    it->has_rank = true;
    place_index(call, x, items, count, it->axes);
    return true;
}

static bool get_on(flow_call *call, size_t axis_at)
{
    const flow_facts *x = call_first(call);
    flow_facts *it = &call->facts;
    int at = axis_at == 0 ? (x->has_rank && x->rank > 0 ? 0 : -1)
                          : facts_axis_argument(call, axis_at, x, 0);

    facts_copy_axes(it, x);
    facts_link_rank(call, -1, false);
    if (at < 0) {
        /* Taking the first axis away leaves the end as it was. */
        if (axis_at != 0)
            facts_forget_sizes(it);
        if (it->has_rank && it->rank > 0)
            it->rank--;
        return true;
    }
    place_cut(call, x, at);
    memmove(it->axes + at, it->axes + at + 1, (x->rank - (unsigned)at - 1) * sizeof it->axes[0]);
    it->rank--;
    it->axes[it->rank] = EXPR_NONE;
    if (!it->has_rank)
        facts_keep_from(it, (unsigned)at);
    return true;
}

bool shape_get(flow_call *call)
{
    return get_on(call, 0);
}

bool shape_get_on(flow_call *call)
{
    return get_on(call, 1);
}
