#include "model/shape_sizes.h"

#include "model/candle_shape.h"

expr size_const(const flow_call *call, int64_t it)
{
    return expr_const(call->eval->exprs, it);
}

expr size_plus(const flow_call *call, expr a, expr b)
{
    return expr_binary(call->eval->exprs, EXPR_ADD, a, b);
}

expr size_minus(const flow_call *call, expr a, expr b)
{
    return expr_binary(call->eval->exprs, EXPR_SUB, a, b);
}

expr size_times(const flow_call *call, expr a, expr b)
{
    return expr_binary(call->eval->exprs, EXPR_MUL, a, b);
}

expr size_over(const flow_call *call, expr a, expr b)
{
    return expr_binary(call->eval->exprs, EXPR_DIV, a, b);
}

expr size_product(const flow_call *call, const expr *axes, unsigned from, unsigned to)
{
    expr product = size_const(call, 1);

    for (unsigned i = from; i < to; i++)
        product = size_times(call, product, axes[i]);
    return product;
}

expr size_of_all(const flow_call *call, const flow_facts *facts)
{
    return facts->has_rank ? size_product(call, facts->axes, 0, facts->rank) : EXPR_NONE;
}

expr size_argument(const flow_call *call, size_t which)
{
    val arg = call_argument(call, which);

    return arg == 0 ? EXPR_NONE : candle_size(call->eval, arg);
}

bool size_is_one(const flow_call *call, expr size)
{
    int64_t it;

    return size != EXPR_NONE && expr_constant(call->eval->exprs, size, &it) && it == 1;
}

static bool is_one_term(const flow_call *call, expr of)
{
    enum expr_kind kind = expr_kind_of(call->eval->exprs, of);

    return kind == EXPR_SYMBOL || kind == EXPR_CALL || kind == EXPR_PRODUCT;
}

bool size_can_differ(const flow_call *call, expr a, expr b)
{
    expr by;

    if (a == EXPR_NONE || b == EXPR_NONE || a == b)
        return false;
    if (expr_differs(call->eval->exprs, a, b))
        return true;
    by = expr_binary(call->eval->exprs, EXPR_SUB, a, b);
    return is_one_term(call, a) && is_one_term(call, b) && by != EXPR_NONE && is_one_term(call, by);
}

expr size_broadcast(const flow_call *call, expr a, expr b, bool *ret_fails)
{
    int64_t x;
    int64_t y;
    bool x_known = a != EXPR_NONE && expr_constant(call->eval->exprs, a, &x);
    bool y_known = b != EXPR_NONE && expr_constant(call->eval->exprs, b, &y);

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
