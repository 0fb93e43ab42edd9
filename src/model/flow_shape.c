#include "model/flow_shape.h"

#include "base/str_name.h"
#include "model/candle_shape.h"
#include "model/value_kinds.h"

static expr_pool *pool(const flow_call *call)
{
    return call->eval->exprs;
}

static const flow_facts *facts_of(const flow_call *call, node_ref which)
{
    return &call->flow->nodes.at[which].facts;
}

static const flow_facts *first(const flow_call *call)
{
    return facts_of(call, call->tensors[0]);
}

static expr number(const flow_call *call, int64_t it)
{
    return expr_const(pool(call), it);
}

static expr plus(const flow_call *call, expr a, expr b)
{
    return expr_binary(pool(call), EXPR_ADD, a, b);
}

static expr minus(const flow_call *call, expr a, expr b)
{
    return expr_binary(pool(call), EXPR_SUB, a, b);
}

static expr times(const flow_call *call, expr a, expr b)
{
    return expr_binary(pool(call), EXPR_MUL, a, b);
}

static expr over(const flow_call *call, expr a, expr b)
{
    return expr_binary(pool(call), EXPR_DIV, a, b);
}

static val argument(const flow_call *call, size_t which)
{
    return which < call->count ? call->args[which] : 0;
}

static expr size_argument(const flow_call *call, size_t which)
{
    val arg = argument(call, which);

    return arg == 0 ? EXPR_NONE : candle_size(call->eval, arg);
}

static void copy_shape(flow_facts *to, const flow_facts *from)
{
    memcpy(to->axes, from->axes, sizeof to->axes);
    to->rank = from->rank;
    to->has_rank = from->has_rank;
}

static void link_rank(flow_call *call, int step, bool is_same_shape)
{
    call->has_rank_link = true;
    call->rank_step = (int8_t)step;
    call->is_same_shape = is_same_shape;
}

/* A rank that was asked for, all sizes unknown. */
static flow_facts *ranked(flow_call *call, unsigned rank)
{
    flow_facts *it = &call->facts;

    it->has_rank = rank <= FLOW_AXES;
    it->rank = it->has_rank ? (uint8_t)rank : 0;
    memset(it->axes, 0, sizeof it->axes);
    return it;
}

/* Where among the kept axes an axis lies; -1: not known. */
static int axis_index(const flow_facts *facts, int64_t at, unsigned more)
{
    int64_t rank = facts->rank;

    if (at >= 0)
        return facts->has_rank && at < rank + more ? (int)at : -1;
    at += rank + more;
    return at >= 0 && at < rank + more ? (int)at : -1;
}

static int axis_argument(flow_call *call, size_t which, const flow_facts *facts, unsigned more)
{
    val arg = argument(call, which);
    int64_t at;

    return arg != 0 && candle_axis(call->eval, arg, &at) ? axis_index(facts, at, more) : -1;
}

/* Without a rank, what lies before the axis is not known any more: only the end is kept. */
static void keep_from(flow_facts *it, unsigned from)
{
    if (it->has_rank)
        return;
    memmove(it->axes, it->axes + from, (it->rank - from) * sizeof it->axes[0]);
    it->rank = (uint8_t)(it->rank - from);
}

/* Some axis changed, it is not known which. */
static void forget_sizes(flow_facts *it)
{
    if (!it->has_rank)
        it->rank = 0;
    memset(it->axes, 0, sizeof it->axes);
}

static void require_shape(flow_call *call, node_ref a, node_ref b)
{
    cg_str text = {NULL, 0};

    if (!arena_format(&call->flow->mem, &text, "%.*s and %.*s",
                      STR_NAME(flow_shape_text(call->flow, a)),
                      STR_NAME(flow_shape_text(call->flow, b))))
        call->flow->failed = true;
    flow_require(call, FLOW_NEED_SHAPE, CHECK_FAILS, a, b, text);
}

static bool is_one_term(const flow_call *call, expr of)
{
    enum expr_kind kind = expr_kind_of(pool(call), of);

    return kind == EXPR_SYMBOL || kind == EXPR_CALL || kind == EXPR_PRODUCT;
}

/* Sizes above 0 that can never be equal: `4 * h` and `h` among them. */
static bool can_differ(const flow_call *call, expr a, expr b)
{
    expr by;

    if (a == EXPR_NONE || b == EXPR_NONE || a == b)
        return false;
    if (expr_differs(pool(call), a, b))
        return true;
    by = expr_binary(pool(call), EXPR_SUB, a, b);
    return is_one_term(call, a) && is_one_term(call, b) && by != EXPR_NONE && is_one_term(call, by);
}

/* --- equal and broadcast --- */

static bool equal_with(flow_call *call, node_ref other)
{
    flow_facts *it = &call->facts;
    const flow_facts *b = facts_of(call, other);

    if (it->has_rank && b->has_rank && it->rank != b->rank) {
        require_shape(call, call->tensors[0], other);
        return true;
    }
    if (!it->has_rank && b->has_rank && b->rank >= it->rank) {
        flow_facts longer = *it;

        copy_shape(&longer, b);
        for (unsigned i = 1; i <= it->rank; i++) {
            if (it->axes[it->rank - i] != EXPR_NONE)
                longer.axes[longer.rank - i] = it->axes[it->rank - i];
        }
        copy_shape(it, &longer);
        return true;
    }
    for (unsigned i = 1; i <= it->rank && i <= b->rank; i++) {
        expr *x = &it->axes[it->rank - i];
        expr y = b->axes[b->rank - i];

        if (can_differ(call, *x, y)) {
            require_shape(call, call->tensors[0], other);
            return true;
        }
        /* A number says more than a name. */
        if (*x == EXPR_NONE || (y != EXPR_NONE && expr_kind_of(pool(call), y) == EXPR_CONSTANT))
            *x = y;
    }
    return true;
}

static expr broadcast_size(flow_call *call, expr a, expr b, bool *ret_fails)
{
    int64_t x;
    int64_t y;
    bool x_known = a != EXPR_NONE && expr_constant(pool(call), a, &x);
    bool y_known = b != EXPR_NONE && expr_constant(pool(call), b, &y);

    if (a == b)
        return a;
    if (x_known && y_known) {
        *ret_fails |= x != y && x != 1 && y != 1;
        return x == 1 ? b : a;
    }
    if (x_known)
        return x == 1 ? b : a;
    if (y_known)
        return y == 1 ? a : b;
    return EXPR_NONE;
}

static bool broadcast_with(flow_call *call, node_ref other)
{
    flow_facts *it = &call->facts;
    const flow_facts *b = facts_of(call, other);
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
        expr x = i <= it->rank ? it->axes[it->rank - i] : number(call, 1);
        expr y = i <= b->rank ? b->axes[b->rank - i] : number(call, 1);

        made.axes[rank - i] = broadcast_size(call, x, y, &fails);
    }
    copy_shape(it, &made);
    if (fails)
        require_shape(call, call->tensors[0], other);
    return true;
}

static bool over_all(flow_call *call, bool (*with)(flow_call *call, node_ref other))
{
    copy_shape(&call->facts, first(call));
    for (size_t i = 1; i < call->edge_count; i++) {
        if (call->edges[i].role != FLOW_MODULE && call->edges[i].role != FLOW_HOST &&
            !with(call, call->edges[i].from))
            return false;
    }
    return true;
}

/* A loss: of two that are alike, or of rows of numbers and one class for each. */
static bool shape_scalar(flow_call *call)
{
    const char *letters = operation_at(call->row)->operands;
    const flow_facts *x = first(call);
    const flow_facts *classes;
    bool is_good = true;

    if (letters[1] == 't') {
        is_good = over_all(call, equal_with);
    } else if (letters[1] == 'x' && call->tensors[1] != 0) {
        classes = facts_of(call, call->tensors[1]);
        if ((x->has_rank && x->rank != 2) || (classes->has_rank && classes->rank != 1) ||
            (x->has_rank && classes->has_rank && can_differ(call, x->axes[0], classes->axes[0])))
            require_shape(call, call->tensors[0], call->tensors[1]);
    }
    ranked(call, 0);
    return is_good;
}

/* --- over axes --- */

/* The axes an argument names: one, or a list of them. */
static bool axes_argument(flow_call *call, size_t which, const flow_facts *facts, bool *ret_marks,
                          unsigned *ret_count)
{
    val arg = argument(call, which);
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
        index = axis_index(facts, axis, 0);
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
        index = axis_index(facts, axis, 0);
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

static bool shape_reduce(flow_call *call, bool keeps)
{
    const flow_facts *x = first(call);
    flow_facts *it = &call->facts;
    bool marks[FLOW_AXES] = {false};
    unsigned count = 0;
    bool is_known = axes_argument(call, 1, x, marks, &count);

    copy_shape(it, x);
    link_rank(call, keeps ? 0 : -(int)count, false);
    if (keeps) {
        if (!is_known)
            forget_sizes(it);
        for (unsigned i = 0; i < x->rank && is_known; i++) {
            if (marks[i])
                it->axes[i] = number(call, 1);
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

/* --- products --- */

static bool shape_matmul(flow_call *call, bool is_broadcast)
{
    node_ref left = call->tensors[0];
    node_ref right = call->tensors[1];
    const flow_facts *a = facts_of(call, left);
    const flow_facts *b = facts_of(call, right);
    flow_facts *it = &call->facts;
    bool fails = false;
    unsigned rank;

    if (right == 0)
        return true;
    if (a->has_rank && b->has_rank && !is_broadcast && a->rank != b->rank) {
        require_shape(call, left, right);
        return true;
    }
    if (!is_broadcast)
        link_rank(call, 0, false);
    rank = a->rank > b->rank ? a->rank : b->rank;
    it->has_rank = is_broadcast ? a->has_rank && b->has_rank : a->has_rank || b->has_rank;
    if (it->has_rank && rank < 2) {
        it->has_rank = false;
        return true;
    }
    it->rank = it->has_rank ? (uint8_t)rank : a->rank > 0 && b->rank > 0 ? 2 : b->rank > 0 ? 1 : 0;
    memset(it->axes, 0, sizeof it->axes);
    if (a->rank >= 1 && b->rank >= 2 &&
        can_differ(call, a->axes[a->rank - 1], b->axes[b->rank - 2]))
        require_shape(call, left, right);
    if (it->rank >= 1 && b->rank >= 1)
        it->axes[it->rank - 1] = b->axes[b->rank - 1];
    if (it->rank >= 2 && a->rank >= 2)
        it->axes[it->rank - 2] = a->axes[a->rank - 2];
    for (unsigned i = 3; i <= it->rank; i++) {
        expr x = i <= a->rank ? a->axes[a->rank - i] : EXPR_NONE;
        expr y = i <= b->rank ? b->axes[b->rank - i] : EXPR_NONE;

        if (is_broadcast) {
            if (i > a->rank && a->has_rank)
                x = number(call, 1);
            if (i > b->rank && b->has_rank)
                y = number(call, 1);
            it->axes[it->rank - i] = broadcast_size(call, x, y, &fails);
        } else {
            fails |= can_differ(call, x, y);
            it->axes[it->rank - i] = x != EXPR_NONE ? x : y;
        }
    }
    if (fails)
        require_shape(call, left, right);
    return true;
}

static bool shape_linear(flow_call *call)
{
    const flow_facts *w = facts_of(call, call->weight);
    flow_facts *it = &call->facts;

    copy_shape(it, first(call));
    link_rank(call, 0, false);
    if (it->rank > 0 && call->weight != 0 && w->rank == 2 &&
        can_differ(call, it->axes[it->rank - 1], w->axes[1]))
        require_shape(call, call->tensors[0], call->weight);
    if (it->rank == 0 && !it->has_rank)
        it->rank = 1;
    if (it->rank > 0)
        it->axes[it->rank - 1] = call->weight != 0 && w->rank == 2 ? w->axes[0] : EXPR_NONE;
    return true;
}

/* --- views --- */

static bool is_unit(flow_call *call, expr size)
{
    int64_t it;

    return size != EXPR_NONE && expr_constant(pool(call), size, &it) && it == 1;
}

/* Axes of size 1 count for nothing when candle asks whether a tensor is contiguous. */
static bool keeps_order(flow_call *call, const flow_facts *x, const uint8_t *order)
{
    unsigned last = 0;

    for (unsigned i = 0; i < x->rank; i++) {
        if (is_unit(call, x->axes[order[i]]))
            continue;
        if (order[i] < last)
            return false;
        last = order[i];
    }
    return x->has_rank;
}

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
    else if (open == 1 && rows && (*rows == EXPR_NONE || !expr_constant(pool(call), *rows, &size)))
        call->facts.stride = STRIDE_ROWS;
}

static void place_cut(flow_call *call, const flow_facts *x, int at)
{
    unsigned open = 0;

    for (int i = 0; i < at; i++)
        open += !is_unit(call, x->axes[i]);
    place_piece(call, x, open, at > 0 && !is_unit(call, x->axes[0]) ? &x->axes[0] : NULL);
}

static bool shape_transpose(flow_call *call)
{
    const flow_facts *x = first(call);
    flow_facts *it = &call->facts;
    int a = axis_argument(call, 1, x, 0);
    int b = axis_argument(call, 2, x, 0);

    copy_shape(it, x);
    link_rank(call, 0, false);
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
    forget_sizes(it);
    return true;
}

static bool shape_t(flow_call *call)
{
    const flow_facts *x = first(call);
    flow_facts *it = &call->facts;

    copy_shape(it, x);
    link_rank(call, 0, false);
    it->stride = x->stride == STRIDE_NONE ? STRIDE_MATRIX : STRIDE_OTHER;
    if (it->rank < 2) {
        forget_sizes(it);
        return true;
    }
    it->axes[it->rank - 1] = x->axes[it->rank - 2];
    it->axes[it->rank - 2] = x->axes[it->rank - 1];
    call->is_same_view = x->has_rank && (is_unit(call, x->axes[it->rank - 1]) ||
                                         is_unit(call, x->axes[it->rank - 2]));
    return true;
}

static bool shape_permute(flow_call *call)
{
    val arg = argument(call, 1);
    const value *at = arg == 0 ? NULL : value_at(call->eval->values, arg);
    const flow_facts *x = first(call);
    uint8_t order[FLOW_AXES] = {0};
    bool is_known = true;
    flow_facts *it;

    call->facts.stride = STRIDE_OTHER;
    if (at == NULL || (at->kind != VALUE_TUPLE && at->kind != VALUE_LIST) ||
        at->count > FLOW_AXES) {
        copy_shape(&call->facts, x);
        link_rank(call, 0, false);
        forget_sizes(&call->facts);
        return true;
    }
    if (!flow_want_rank(call, call->tensors[0], at->count))
        return true;
    x = first(call);
    it = ranked(call, at->count);
    it->stride = x->stride == STRIDE_NONE ? STRIDE_MATRIX : STRIDE_OTHER;
    for (unsigned i = 0; i < at->count; i++) {
        int64_t axis;

        if (!candle_axis(call->eval, at->as.items[i], &axis) || axis_index(x, axis, 0) < 0) {
            is_known = false;
            continue;
        }
        order[i] = (uint8_t)axis_index(x, axis, 0);
        it->axes[i] = x->axes[order[i]];
        if (order[i] != i && i + 2 < at->count)
            it->stride = STRIDE_BATCH;
    }
    call->is_same_view = is_known && keeps_order(call, x, order);
    return true;
}

static bool shape_squeeze(flow_call *call)
{
    const flow_facts *x = first(call);
    flow_facts *it = &call->facts;
    int at = axis_argument(call, 1, x, 0);
    int64_t size;

    copy_shape(it, x);
    if (at < 0 || x->axes[at] == EXPR_NONE || !expr_constant(pool(call), x->axes[at], &size)) {
        /* It takes the axis away only when its size is 1. */
        it->has_rank = false;
        if (at < 0)
            it->rank = 0;
        else
            keep_from(it, (unsigned)at + 1);
        return true;
    }
    if (size != 1) {
        link_rank(call, 0, true);
        return true;
    }
    link_rank(call, -1, false);
    memmove(it->axes + at, it->axes + at + 1, (x->rank - (unsigned)at - 1) * sizeof it->axes[0]);
    it->rank--;
    it->axes[it->rank] = EXPR_NONE;
    if (!it->has_rank)
        keep_from(it, (unsigned)at);
    return true;
}

static bool shape_unsqueeze(flow_call *call, expr size)
{
    const flow_facts *x = first(call);
    flow_facts *it = &call->facts;
    int at = axis_argument(call, 1, x, 1);

    copy_shape(it, x);
    link_rank(call, 1, false);
    if (x->rank == FLOW_AXES) {
        it->has_rank = false;
        it->rank = 0;
        return true;
    }
    if (at < 0) {
        forget_sizes(it);
        it->rank = it->has_rank ? (uint8_t)(x->rank + 1) : 0;
        return true;
    }
    memmove(it->axes + at + 1, it->axes + at, (x->rank - (unsigned)at) * sizeof it->axes[0]);
    it->axes[at] = size;
    it->rank++;
    if (!it->has_rank)
        keep_from(it, (unsigned)at);
    return true;
}

static expr product_of(flow_call *call, const expr *axes, unsigned from, unsigned to)
{
    expr product = number(call, 1);

    for (unsigned i = from; i < to; i++)
        product = times(call, product, axes[i]);
    return product;
}

static bool flatten_between(flow_call *call, int from, int to)
{
    const flow_facts *x = first(call);
    flow_facts *it = &call->facts;

    if (from < 0 || to < 0 || !x->has_rank) {
        /* The end is known when it lies behind what is flattened. */
        it->has_rank = false;
        it->rank = 0;
        return true;
    }
    if (from >= to) {
        copy_shape(it, x);
        return true;
    }
    copy_shape(it, x);
    it->axes[from] = product_of(call, x->axes, (unsigned)from, (unsigned)to + 1);
    memmove(it->axes + from + 1, x->axes + to + 1,
            (x->rank - (unsigned)to - 1) * sizeof it->axes[0]);
    it->rank = (uint8_t)(x->rank - (unsigned)(to - from));
    return true;
}

static bool shape_narrow(flow_call *call, expr size)
{
    const flow_facts *x = first(call);
    flow_facts *it = &call->facts;
    int at = axis_argument(call, 1, x, 0);

    copy_shape(it, x);
    link_rank(call, 0, false);
    if (at < 0) {
        forget_sizes(it);
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

static bool shape_chunk(flow_call *call)
{
    const flow_facts *x = first(call);
    val parts = argument(call, 1);
    const value *list = parts == 0 ? NULL : value_at(call->eval->values, parts);
    int at = axis_argument(call, 2, x, 0);
    flow_facts *it = &call->facts;
    expr size = EXPR_NONE;
    int64_t whole;
    int64_t by;

    copy_shape(it, x);
    link_rank(call, 0, false);
    if (at < 0) {
        forget_sizes(it);
        return true;
    }
    if (operation_at(call->row)->shape == SHAPE_SPLIT) {
        if (list != NULL && list->kind == VALUE_LIST && call->part < list->count &&
            value_kind_of(call->eval->values, list->as.items[call->part]) != VALUE_REPEAT)
            size = candle_size(call->eval, list->as.items[call->part]);
    } else if (x->axes[at] != EXPR_NONE && expr_constant(pool(call), x->axes[at], &whole) &&
               expr_constant(pool(call), size_argument(call, 1), &by) && by > 0) {
        /* The first ones are one longer when it does not come out even. */
        size = number(call, whole / by + (call->part < whole % by ? 1 : 0));
    } else {
        size = over(call, x->axes[at], size_argument(call, 1));
    }
    place_cut(call, x, at);
    it->axes[at] = size;
    return true;
}

/* --- i(...) --- */

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
            at->as.items[0] == 0 ? number(call, 0) : candle_size(call->eval, at->as.items[0]);
        expr high = at->as.items[1] == 0 ? from : candle_size(call->eval, at->as.items[1]);

        if (at->as.items[1] != 0 && at->is_inclusive)
            high = plus(call, high, number(call, 1));
        size = minus(call, high, low);
        if (at->as.items[0] == 0 && at->as.items[1] == 0)
            size = from;
    } else {
        ids = flow_of(call->flow, index);
        if (ids != 0 && facts_of(call, ids)->has_rank && facts_of(call, ids)->rank == 1)
            size = facts_of(call, ids)->axes[0];
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
        } else if (!is_whole && !is_unit(call, x->axes[i])) {
            open = kept;
            is_copied = is_copied && open == 0;
        }
        if (at->kind == VALUE_INT)
            continue;
        if (i == 0)
            rows = sizes;
        kept += !is_unit(call, *sizes++);
    }
    if (is_copied)
        call->facts.layout = FLOW_CONTIGUOUS;
    else
        place_piece(call, x, open, rows && !is_unit(call, *rows) ? rows : NULL);
}

static bool shape_index(flow_call *call)
{
    const flow_facts before = *first(call); /* ids may become nodes on the way */
    const flow_facts *x = &before;
    val arg = argument(call, 1);
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
    link_rank(call, -removed, false);
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

/* --- given --- */

static bool given(flow_call *call, size_t which, uint32_t *ret_hole)
{
    val arg = argument(call, which);
    flow_facts *it = &call->facts;
    expr axes[CANDLE_AXES];
    uint32_t rank = 0;
    bool is_known = false;
    node_ref like;

    *ret_hole = UINT32_MAX;
    it->has_rank = false;
    it->rank = 0;
    if (arg == 0)
        return true;
    like = candle_shape_node(call->eval, arg);
    if (like != 0) {
        copy_shape(it, facts_of(call, like));
        return true;
    }
    if (!candle_shape_with_hole(call->eval, arg, axes, &rank, &is_known, ret_hole))
        return false;
    if (!is_known || rank > FLOW_AXES)
        return true;
    it->has_rank = true;
    it->rank = (uint8_t)rank;
    for (unsigned i = 0; i < rank; i++)
        it->axes[i] = axes[i];
    return true;
}

static void count_of(flow_call *call, const flow_facts *facts, expr *ret)
{
    *ret = facts->has_rank ? product_of(call, facts->axes, 0, facts->rank) : EXPR_NONE;
}

static bool shape_reshape(flow_call *call)
{
    const flow_facts *x = first(call);
    flow_facts *it = &call->facts;
    expr whole;
    expr made;
    uint32_t hole;

    if (!given(call, 1, &hole))
        return false;
    count_of(call, x, &whole);
    if (it->has_rank && hole < it->rank) {
        expr others = times(call, product_of(call, it->axes, 0, hole),
                            product_of(call, it->axes, hole + 1, it->rank));

        it->axes[hole] = over(call, whole, others);
        return !pool(call)->failed;
    }
    count_of(call, it, &made);
    if (can_differ(call, whole, made)) {
        cg_str text = {NULL, 0};

        if (!arena_format(&call->flow->mem, &text, "%.*s into another number of elements",
                          STR_NAME(flow_shape_text(call->flow, call->tensors[0]))))
            return false;
        flow_require(call, FLOW_NEED_SHAPE, CHECK_FAILS, call->tensors[0], 0, text);
    }
    return true;
}

/* Is every axis as long as before, and are the new ones 1? Perhaps, where a size is not known. */
static void place_spread(flow_call *call, const flow_facts *x, const flow_facts *it)
{
    bool is_unsure = false;

    if (!x->has_rank || !it->has_rank || it->rank < x->rank)
        return;
    for (unsigned i = 0; i < it->rank; i++) {
        unsigned added = it->rank - x->rank;
        expr before = i < added ? EXPR_NONE : x->axes[i - added];

        if (is_unit(call, it->axes[i]) || (before != EXPR_NONE && before == it->axes[i]))
            continue;
        if (i < added || is_unit(call, before))
            return;
        is_unsure = true;
    }
    call->is_same_view = !is_unsure;
    call->is_unsure_view = is_unsure;
}

static bool shape_expand(flow_call *call)
{
    const flow_facts *x = first(call);
    flow_facts *it = &call->facts;
    uint32_t hole;

    if (!given(call, 1, &hole))
        return false;
    it->stride = STRIDE_SPREAD;
    for (unsigned i = 1; i <= x->rank && i <= it->rank && it->has_rank; i++) {
        int64_t from;
        int64_t to;

        if (expr_constant(pool(call), x->axes[x->rank - i], &from) &&
            expr_constant(pool(call), it->axes[it->rank - i], &to) && from != to && from != 1) {
            cg_str text = {NULL, 0};

            if (!arena_format(&call->flow->mem, &text, "%.*s to a size of %lld in axis %u",
                              STR_NAME(flow_shape_text(call->flow, call->tensors[0])),
                              (long long)to, it->rank - i))
                return false;
            flow_require(call, FLOW_NEED_SHAPE, CHECK_FAILS, call->tensors[0], 0, text);
            break;
        }
    }
    place_spread(call, x, it);
    return true;
}

static bool shape_left(flow_call *call)
{
    const flow_facts *x = first(call);
    flow_facts *it = &call->facts;
    unsigned left;
    uint32_t hole;

    if (!given(call, 1, &hole))
        return false;
    it->stride = STRIDE_SPREAD;
    left = it->rank;
    if (!it->has_rank || left + x->rank > FLOW_AXES) {
        copy_shape(it, x);
        it->has_rank = false;
        return true;
    }
    link_rank(call, (int)left, false);
    call->is_same_view = x->has_rank;
    for (unsigned i = 0; i < left; i++)
        call->is_same_view = call->is_same_view && is_unit(call, it->axes[i]);
    memcpy(it->axes + left, x->axes, x->rank * sizeof it->axes[0]);
    it->rank = (uint8_t)(left + x->rank);
    it->has_rank = x->has_rank;
    if (!x->has_rank)
        copy_shape(it, x);
    return true;
}

static bool shape_repeat(flow_call *call)
{
    const flow_facts *x = first(call);
    flow_facts *it = &call->facts;
    flow_facts by;
    uint32_t hole;
    unsigned rank;

    if (!given(call, 1, &hole))
        return false;
    by = *it;
    rank = by.rank > x->rank ? by.rank : x->rank;
    if (!by.has_rank || !x->has_rank) {
        it->has_rank = false;
        it->rank = 0;
        return true;
    }
    it->rank = (uint8_t)rank;
    /* Missing axes are put before the tensor's; missing counts after those given. */
    for (unsigned i = 0; i < rank; i++) {
        unsigned before = rank - x->rank;
        expr size = i >= before ? x->axes[i - before] : number(call, 1);

        it->axes[i] = times(call, size, i < by.rank ? by.axes[i] : number(call, 1));
    }
    return true;
}

/* --- lists --- */

static bool shape_cat(flow_call *call, bool is_new_axis)
{
    flow_facts *it = &call->facts;
    expr sum = EXPR_NONE;
    int64_t axis = 0;
    int at;
    val list = argument(call, 0);
    val by = argument(call, 1);
    bool is_open = list == 0 || value_kind_of(call->eval->values, list) != VALUE_LIST;

    if (call->edge_count == 0)
        return true;
    if (!over_all(call, equal_with))
        return false;
    if (is_new_axis) {
        flow_facts whole = *it;

        at = by != 0 && candle_axis(call->eval, by, &axis) ? axis_index(&whole, axis, 1) : -1;
        link_rank(call, 1, false);
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
        link_rank(call, 0, false);
        at = by != 0 && candle_axis(call->eval, by, &axis) ? axis_index(it, axis, 0) : -1;
        if (at < 0) {
            forget_sizes(it);
            return true;
        }
        it->axes[at] = EXPR_NONE;
    }
    if (is_open) {
        if (!it->has_rank)
            keep_from(it, (unsigned)at);
        return true;
    }
    /* The sizes along the axis, a repetition as often as it stands for. */
    const value *items = value_at(call->eval->values, list);

    sum = number(call, 0);
    for (size_t i = 0; i < items->count; i++) {
        const value *item = value_at(call->eval->values, items->as.items[i]);
        val one = item->kind == VALUE_REPEAT ? item->as.repeat.items[0] : items->as.items[i];
        expr times_it = item->kind == VALUE_REPEAT ? item->as.repeat.count : number(call, 1);
        node_ref node = flow_of(call->flow, one);
        const flow_facts *facts = facts_of(call, node);
        int index = axis_index(facts, axis, 0);
        expr size = is_new_axis               ? number(call, 1)
                    : node != 0 && index >= 0 ? facts->axes[index]
                                              : EXPR_NONE;

        sum = plus(call, sum, times(call, times_it, size));
    }
    it->axes[at] = sum;
    if (!it->has_rank)
        keep_from(it, (unsigned)at);
    return true;
}

/* In `cat` the tensors need not agree along the axis. */
static bool shape_cat_checked(flow_call *call)
{
    size_t needs = call->need_count;
    int64_t axis;
    val by = argument(call, 1);
    const flow_facts *a = first(call);
    int at = by != 0 && candle_axis(call->eval, by, &axis) ? axis_index(a, axis, 0) : -1;

    if (!shape_cat(call, false))
        return false;
    call->need_count = needs;
    for (size_t i = 1; i < call->edge_count; i++) {
        const flow_facts *b = facts_of(call, call->edges[i].from);
        bool fails = a->has_rank && b->has_rank && a->rank != b->rank;

        for (unsigned k = 0; k < a->rank && a->has_rank && b->has_rank && !fails && at >= 0; k++)
            fails = (int)k != at && can_differ(call, a->axes[k], b->axes[k]);
        if (fails) {
            require_shape(call, call->edges[0].from, call->edges[i].from);
            break;
        }
    }
    return true;
}

/* --- ids --- */

static bool shape_select(flow_call *call)
{
    const flow_facts *x = first(call);
    const flow_facts *ids = facts_of(call, call->tensors[1]);
    int at = axis_argument(call, 2, x, 0);
    flow_facts *it = &call->facts;

    copy_shape(it, x);
    link_rank(call, 0, false);
    if (at < 0) {
        forget_sizes(it);
        return true;
    }
    it->axes[at] = call->tensors[1] != 0 && ids->rank == 1 ? ids->axes[0] : EXPR_NONE;
    return true;
}

static bool shape_embedding(flow_call *call)
{
    bool is_layer = call->weight != 0 || operation_at(call->row)->operands[0] == 'm';
    const flow_facts *ids = facts_of(call, is_layer ? call->tensors[0] : call->tensors[1]);
    const flow_facts *table = facts_of(call, is_layer ? call->weight : call->tensors[0]);
    flow_facts *it = &call->facts;
    expr last = table->rank == 2 ? table->axes[1] : EXPR_NONE;

    copy_shape(it, ids);
    if (is_layer) {
        val size = flow_field(call, "hidden_size");

        link_rank(call, 1, false);
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

static bool shape_like(flow_call *call, node_ref like)
{
    if (like != 0)
        copy_shape(&call->facts, facts_of(call, like));
    return true;
}

/* --- windows --- */

/* (n + 2 p - d (k - 1) - 1) / s + 1 */
static expr window(flow_call *call, expr n, expr k, expr padding, expr stride, expr dilation)
{
    expr one = number(call, 1);
    expr covered = plus(call, times(call, dilation, minus(call, k, one)), one);
    expr free = minus(call, plus(call, n, times(call, number(call, 2), padding)), covered);

    return plus(call, over(call, free, stride), one);
}

/* (n - 1) s - 2 p + d (k - 1) + out + 1 */
static expr window_back(flow_call *call, expr n, expr k, expr padding, expr out, expr stride,
                        expr dilation)
{
    expr one = number(call, 1);
    expr size = minus(call, times(call, minus(call, n, one), stride),
                      times(call, number(call, 2), padding));

    size = plus(call, size, times(call, dilation, minus(call, k, one)));
    return plus(call, plus(call, size, out), one);
}

/* A number of the layer's configuration, or of the call. */
static expr setting(flow_call *call, const char *name, size_t argument_at)
{
    val config;
    val found;

    if (operation_at(call->row)->operands[0] != 'm')
        return size_argument(call, argument_at);
    config = flow_field(call, "config");
    found = config == 0 ? 0
                        : value_field_of(call->eval->values, config,
                                         intern_add(&call->eval->program->names, str_from(name)));
    return found == 0 ? EXPR_NONE : candle_size(call->eval, found);
}

static bool shape_conv(flow_call *call, unsigned spatial, bool is_transposed)
{
    bool is_layer = operation_at(call->row)->operands[0] == 'm';
    node_ref kernel = is_layer ? call->weight : call->tensors[1];
    const flow_facts *x;
    const flow_facts *w = facts_of(call, kernel);
    expr padding = setting(call, "padding", 2);
    expr out = is_transposed ? setting(call, "output_padding", 3) : EXPR_NONE;
    expr stride = setting(call, "stride", is_transposed ? 4 : 3);
    expr dilation = setting(call, "dilation", is_transposed ? 5 : 4);
    expr groups = is_transposed && spatial == 2 ? number(call, 1)
                                                : setting(call, "groups", is_transposed ? 6 : 5);
    expr in;
    flow_facts *it;

    if (!flow_want_rank(call, call->tensors[0], spatial + 2))
        return true;
    x = first(call);
    w = facts_of(call, kernel);
    it = ranked(call, spatial + 2);
    it->axes[0] = x->axes[0];
    if (kernel == 0 || !w->has_rank || w->rank != spatial + 2)
        return true;
    in = is_transposed ? w->axes[0] : times(call, w->axes[1], groups);
    if (can_differ(call, x->axes[1], in))
        require_shape(call, call->tensors[0], kernel);
    it->axes[1] = is_transposed ? times(call, w->axes[1], groups) : w->axes[0];
    for (unsigned i = 2; i < spatial + 2; i++) {
        it->axes[i] =
            is_transposed
                ? window_back(call, x->axes[i], w->axes[i], padding, out, stride, dilation)
                : window(call, x->axes[i], w->axes[i], padding, stride, dilation);
    }
    return true;
}

static bool shape_pool(flow_call *call)
{
    val kernel = argument(call, 1);
    val stride = call->count > 2 ? argument(call, 2) : kernel;
    const flow_facts *x;
    flow_facts *it;

    if (!flow_want_rank(call, call->tensors[0], 4) || kernel == 0 || stride == 0)
        return true;
    x = first(call);
    it = ranked(call, 4);
    it->axes[0] = x->axes[0];
    it->axes[1] = x->axes[1];
    for (unsigned i = 0; i < 2; i++) {
        const value *k = value_at(call->eval->values, kernel);
        const value *s = value_at(call->eval->values, stride);
        val one = k->kind == VALUE_TUPLE && k->count == 2 ? k->as.items[i] : kernel;
        val step = s->kind == VALUE_TUPLE && s->count == 2 ? s->as.items[i] : stride;

        it->axes[2 + i] = window(call, x->axes[2 + i], candle_size(call->eval, one),
                                 number(call, 0), candle_size(call->eval, step), number(call, 1));
    }
    return true;
}

static bool shape_resize(flow_call *call, unsigned spatial)
{
    const flow_facts *x;
    flow_facts *it;

    if (!flow_want_rank(call, call->tensors[0], spatial + 2))
        return true;
    x = first(call);
    it = ranked(call, spatial + 2);
    it->axes[0] = x->axes[0];
    it->axes[1] = x->axes[1];
    for (unsigned i = 0; i < spatial; i++)
        it->axes[2 + i] = size_argument(call, 1 + i);
    return true;
}

static bool shape_shuffle(flow_call *call, bool is_back)
{
    expr factor = size_argument(call, 1);
    expr square = times(call, factor, factor);
    const flow_facts *x;
    flow_facts *it;

    if (!flow_want_rank(call, call->tensors[0], 4))
        return true;
    x = first(call);
    it = ranked(call, 4);
    it->axes[0] = x->axes[0];
    it->axes[1] = is_back ? times(call, x->axes[1], square) : over(call, x->axes[1], square);
    for (unsigned i = 2; i < 4; i++)
        it->axes[i] = is_back ? over(call, x->axes[i], factor) : times(call, x->axes[i], factor);
    return true;
}

/* --- the rest --- */

static bool shape_norm(flow_call *call, bool is_channels)
{
    flow_facts *it = &call->facts;
    node_ref weight = call->weight;
    const flow_facts *w;
    unsigned at;

    copy_shape(it, first(call));
    link_rank(call, 0, true);
    if (weight == 0 && operation_at(call->row)->operands[0] != 'm')
        weight = call->tensors[1];
    w = facts_of(call, weight);
    if (weight == 0 || !w->has_rank || w->rank != 1 || (is_channels && !it->has_rank) ||
        it->rank < (is_channels ? 2 : 1))
        return true;
    at = is_channels ? 1 : it->rank - 1u;
    if (can_differ(call, it->axes[at], w->axes[0]))
        require_shape(call, call->tensors[0], weight);
    else if (it->axes[at] == EXPR_NONE)
        it->axes[at] = w->axes[0];
    return true;
}

static bool shape_new(flow_call *call)
{
    val arg = argument(call, 0);
    flow_facts *it = &call->facts;

    it->has_rank = true;
    it->rank = 0;
    while (arg != 0 && it->rank < FLOW_AXES) {
        const value *at = value_at(call->eval->values, arg);
        expr count = number(call, 0);
        val next = 0;

        if (at->kind == VALUE_FLOAT || at->kind == VALUE_INT)
            return true;
        if (at->kind != VALUE_LIST) {
            type_ref type = value_type(call->eval->values, arg);
            enum type_class class =
                type == 0
                    ? CLASS_OTHER
                    : value_class(call->eval->values, value_transparent(call->eval->values, type));

            if (class != CLASS_FLOAT && class != CLASS_INT)
                it->has_rank = false;
            if (!it->has_rank)
                it->rank = 0;
            return true;
        }
        for (size_t i = 0; i < at->count; i++) {
            const value *item = value_at(call->eval->values, at->as.items[i]);

            next = item->kind == VALUE_REPEAT ? item->as.repeat.items[0] : at->as.items[i];
            count = plus(call, count,
                         item->kind == VALUE_REPEAT ? item->as.repeat.count : number(call, 1));
        }
        it->axes[it->rank++] = count;
        arg = next;
        if (arg == 0)
            it->has_rank = false;
    }
    return true;
}

static bool shape_arange(flow_call *call)
{
    flow_facts *it = ranked(call, 1);
    expr low = value_number(call->eval->values, argument(call, 0));
    expr high = value_number(call->eval->values, argument(call, 1));

    if (low == EXPR_NONE || high == EXPR_NONE)
        return true;
    it->axes[0] = minus(call, high, low);
    if (operation_at(call->row)->operands[2] == 'h') {
        expr step = size_argument(call, 2);
        int64_t by;

        it->axes[0] = expr_constant(pool(call), step, &by) && by > 0
                          ? over(call, plus(call, it->axes[0], number(call, by - 1)), step)
                          : EXPR_NONE;
    }
    return true;
}

static bool shape_pad(flow_call *call)
{
    const flow_facts *x = first(call);
    int at = axis_argument(call, 1, x, 0);

    copy_shape(&call->facts, x);
    link_rank(call, 0, false);
    if (at < 0) {
        forget_sizes(&call->facts);
        return true;
    }
    call->facts.axes[at] =
        plus(call, x->axes[at], plus(call, size_argument(call, 2), size_argument(call, 3)));
    return true;
}

static bool shape_unfold(flow_call *call)
{
    const flow_facts *x = first(call);
    int at = axis_argument(call, 1, x, 0);
    flow_facts *it = &call->facts;

    copy_shape(it, x);
    link_rank(call, 1, false);
    it->stride = STRIDE_OTHER;
    if (!x->has_rank || x->rank == FLOW_AXES) {
        it->has_rank = false;
        it->rank = 1;
        it->axes[0] = size_argument(call, 2);
        return true;
    }
    if (at >= 0)
        it->axes[at] = plus(
            call,
            over(call, minus(call, x->axes[at], size_argument(call, 2)), size_argument(call, 3)),
            number(call, 1));
    else
        memset(it->axes, 0, sizeof it->axes);
    it->axes[it->rank++] = size_argument(call, 2);
    return true;
}

static bool shape_get(flow_call *call, size_t axis_at)
{
    const flow_facts *x = first(call);
    flow_facts *it = &call->facts;
    int at =
        axis_at == 0 ? (x->has_rank && x->rank > 0 ? 0 : -1) : axis_argument(call, axis_at, x, 0);

    copy_shape(it, x);
    link_rank(call, -1, false);
    if (at < 0) {
        /* Taking the first axis away leaves the end as it was. */
        if (axis_at != 0)
            forget_sizes(it);
        if (it->has_rank && it->rank > 0)
            it->rank--;
        return true;
    }
    place_cut(call, x, at);
    memmove(it->axes + at, it->axes + at + 1, (x->rank - (unsigned)at - 1) * sizeof it->axes[0]);
    it->rank--;
    it->axes[it->rank] = EXPR_NONE;
    if (!it->has_rank)
        keep_from(it, (unsigned)at);
    return true;
}

static bool shape_where(flow_call *call)
{
    /* Condition and both ways have one shape. */
    return over_all(call, equal_with);
}

bool flow_shape_apply(flow_call *call)
{
    enum operation_shape rule = (enum operation_shape)operation_at(call->row)->shape;
    const flow_facts *x = first(call);
    uint32_t hole;

    switch (rule) {
    case SHAPE_UNKNOWN: return true;
    case SHAPE_SAME: link_rank(call, 0, true); return shape_like(call, call->tensors[0]);
    case SHAPE_EQUAL: link_rank(call, 0, true); return over_all(call, equal_with);
    case SHAPE_BROADCAST:
        if (call->tensors[1] != 0 && facts_of(call, call->tensors[1])->has_rank &&
            facts_of(call, call->tensors[1])->rank <= 1)
            link_rank(call, 0, false);
        return over_all(call, broadcast_with);
    case SHAPE_SCALAR: return shape_scalar(call);
    case SHAPE_DOT: ranked(call, 0); return true;
    case SHAPE_REDUCE: return shape_reduce(call, false);
    case SHAPE_KEEP: return shape_reduce(call, true);
    case SHAPE_MATMUL: return shape_matmul(call, false);
    case SHAPE_BROADCAST_MATMUL: return shape_matmul(call, true);
    case SHAPE_RESHAPE: return shape_reshape(call);
    case SHAPE_GIVEN:
        if (call->tensors[0] != 0)
            return shape_expand(call);
        for (size_t i = 0; operation_at(call->row)->operands[i] != '\0'; i++) {
            if (operation_at(call->row)->operands[i] == 's')
                return given(call, i, &hole);
        }
        return true;
    case SHAPE_LEFT: return shape_left(call);
    case SHAPE_TRANSPOSE: return shape_transpose(call);
    case SHAPE_T: return shape_t(call);
    case SHAPE_PERMUTE: return shape_permute(call);
    case SHAPE_SQUEEZE: return shape_squeeze(call);
    case SHAPE_UNSQUEEZE: return shape_unsqueeze(call, number(call, 1));
    case SHAPE_FLATTEN:
        return flatten_between(call, axis_argument(call, 1, x, 0), axis_argument(call, 2, x, 0));
    case SHAPE_FLATTEN_FROM:
        return flatten_between(call, axis_argument(call, 1, x, 0), x->rank > 0 ? x->rank - 1 : -1);
    case SHAPE_FLATTEN_TO: return flatten_between(call, 0, axis_argument(call, 1, x, 0));
    case SHAPE_FLATTEN_ALL:
        ranked(call, 1);
        count_of(call, x, &call->facts.axes[0]);
        return true;
    case SHAPE_NARROW: return shape_narrow(call, size_argument(call, 3));
    case SHAPE_CHUNK:
    case SHAPE_SPLIT: return shape_chunk(call);
    case SHAPE_INDEX: return shape_index(call);
    case SHAPE_GET: return shape_get(call, 0);
    case SHAPE_GET_ON: return shape_get(call, 1);
    case SHAPE_CAT: return shape_cat_checked(call);
    case SHAPE_STACK: return shape_cat(call, true);
    case SHAPE_REPEAT: return shape_repeat(call);
    case SHAPE_PAD: return shape_pad(call);
    case SHAPE_SELECT: return shape_select(call);
    case SHAPE_GATHER: return shape_like(call, call->tensors[1]);
    case SHAPE_EMBEDDING: return shape_embedding(call);
    case SHAPE_WHERE: return shape_where(call);
    case SHAPE_CONV1D: return shape_conv(call, 1, false);
    case SHAPE_CONV2D: return shape_conv(call, 2, false);
    case SHAPE_CONV_TRANSPOSE1D: return shape_conv(call, 1, true);
    case SHAPE_CONV_TRANSPOSE2D: return shape_conv(call, 2, true);
    case SHAPE_POOL2D: return shape_pool(call);
    case SHAPE_RESIZE1D: return shape_resize(call, 1);
    case SHAPE_RESIZE2D: return shape_resize(call, 2);
    case SHAPE_LINEAR: return shape_linear(call);
    case SHAPE_NORM: return shape_norm(call, false);
    case SHAPE_CHANNELS: return shape_norm(call, true);
    case SHAPE_UNFOLD: return shape_unfold(call);
    case SHAPE_MV: ranked(call, 1)->axes[0] = x->rank == 2 ? x->axes[0] : EXPR_NONE; return true;
    case SHAPE_NEW: return shape_new(call);
    case SHAPE_HOLE: return given(call, 1, &hole);
    case SHAPE_ARANGE: return shape_arange(call);
    case SHAPE_SQUARE:
        ranked(call, 2)->axes[0] = size_argument(call, 0);
        call->facts.axes[1] = call->facts.axes[0];
        return true;
    case SHAPE_LIKE: return shape_like(call, call->tensors[0]);
    case SHAPE_ONE_HOT:
        shape_like(call, call->tensors[0]);
        link_rank(call, 1, false);
        if (call->facts.rank < FLOW_AXES)
            call->facts.axes[call->facts.rank++] = size_argument(call, 1);
        return true;
    case SHAPE_SHUFFLE: return shape_shuffle(call, false);
    case SHAPE_UNSHUFFLE: return shape_shuffle(call, true);
    case SHAPE_PAD2D:
        shape_like(call, call->tensors[0]);
        link_rank(call, 0, false);
        for (unsigned i = 2; i < 4 && call->facts.has_rank && call->facts.rank == 4; i++)
            call->facts.axes[i] = plus(call, call->facts.axes[i],
                                       times(call, number(call, 2), size_argument(call, 1)));
        return true;
    case SHAPE_GROWN:
        shape_like(call, call->tensors[0]);
        link_rank(call, 0, false);
        forget_sizes(&call->facts);
        return true;
    case SHAPE_HALF_LAST:
        shape_like(call, call->tensors[0]);
        link_rank(call, 0, false);
        if (call->facts.rank > 0)
            call->facts.axes[call->facts.rank - 1] =
                over(call, call->facts.axes[call->facts.rank - 1], number(call, 2));
        return true;
    case SHAPE_ROPE:
        if (!flow_want_rank(call, call->tensors[0], 4))
            return true;
        link_rank(call, 0, true);
        return shape_like(call, call->tensors[0]);
    case SHAPE_SDPA: {
        const flow_facts *v = facts_of(call, call->node_at[2]);

        if (!flow_want_rank(call, call->tensors[0], 4))
            return true;
        shape_like(call, call->tensors[0]);
        call->facts.axes[3] = call->node_at[2] != 0 && v->rank == 4 ? v->axes[3] : EXPR_NONE;
        return true;
    }
    }
    return true;
}
