/* Sizes of results whose shape is an argument. */
#include "base/str_name.h"
#include "model/candle_shape.h"
#include "model/shape_facts.h"
#include "model/shape_rules.h"
#include "model/shape_sizes.h"

static bool take_shape(flow_call *call, size_t which, uint32_t *ret_hole)
{
    val arg = call_argument(call, which);
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
        facts_copy_axes(it, call_facts(call, like));
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

bool shape_reshape(flow_call *call)
{
    const flow_facts *x = call_first(call);
    flow_facts *it = &call->facts;
    expr whole;
    expr made;
    uint32_t hole;

    if (!take_shape(call, 1, &hole))
        return false;
    whole = size_of_all(call, x);
    if (it->has_rank && hole < it->rank) {
        expr others = size_times(call, size_product(call, it->axes, 0, hole),
                                 size_product(call, it->axes, hole + 1, it->rank));

        it->axes[hole] = size_over(call, whole, others);
        return !call->eval->exprs->failed;
    }
    made = size_of_all(call, it);
    if (size_can_differ(call, whole, made)) {
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

        if (size_is_one(call, it->axes[i]) || (before != EXPR_NONE && before == it->axes[i]))
            continue;
        if (i < added || size_is_one(call, before))
            return;
        is_unsure = true;
    }
    call->is_same_view = !is_unsure;
    call->is_unsure_view = is_unsure;
}

static bool expand(flow_call *call)
{
    const flow_facts *x = call_first(call);
    flow_facts *it = &call->facts;
    uint32_t hole;

    if (!take_shape(call, 1, &hole))
        return false;
    it->stride = STRIDE_SPREAD;
    for (unsigned i = 1; i <= x->rank && i <= it->rank && it->has_rank; i++) {
        int64_t from;
        int64_t to;

        if (expr_constant(call->eval->exprs, x->axes[x->rank - i], &from) &&
            expr_constant(call->eval->exprs, it->axes[it->rank - i], &to) && from != to &&
            from != 1) {
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

/* `broadcast_as` and `expand` of a tensor, `zeros` of nothing. */
bool shape_given(flow_call *call)
{
    const char *letters = call_row(call)->operands;
    uint32_t hole;

    if (call->tensors[0] != 0)
        return expand(call);
    for (size_t i = 0; letters[i] != '\0'; i++) {
        if (letters[i] == 's')
            return take_shape(call, i, &hole);
    }
    return true;
}

bool shape_hole(flow_call *call)
{
    uint32_t hole;

    return take_shape(call, 1, &hole);
}

bool shape_left(flow_call *call)
{
    const flow_facts *x = call_first(call);
    flow_facts *it = &call->facts;
    unsigned left;
    uint32_t hole;

    if (!take_shape(call, 1, &hole))
        return false;
    it->stride = STRIDE_SPREAD;
    left = it->rank;
    if (!it->has_rank || left + x->rank > FLOW_AXES) {
        facts_copy_axes(it, x);
        it->has_rank = false;
        return true;
    }
    facts_link_rank(call, (int)left, false);
    call->is_same_view = x->has_rank;
    for (unsigned i = 0; i < left; i++)
        call->is_same_view = call->is_same_view && size_is_one(call, it->axes[i]);
    memcpy(it->axes + left, x->axes, x->rank * sizeof it->axes[0]);
    it->rank = (uint8_t)(left + x->rank);
    it->has_rank = x->has_rank;
    if (!x->has_rank)
        facts_copy_axes(it, x);
    return true;
}

bool shape_repeat(flow_call *call)
{
    const flow_facts *x = call_first(call);
    flow_facts *it = &call->facts;
    flow_facts by;
    uint32_t hole;
    unsigned rank;

    if (!take_shape(call, 1, &hole))
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
        expr size = i >= before ? x->axes[i - before] : size_const(call, 1);

        it->axes[i] = size_times(call, size, i < by.rank ? by.axes[i] : size_const(call, 1));
    }
    return true;
}
