#include "model/expr_values.h"

#include "model/expr_terms.h"

static expr bound_value(const expr_binding *bindings, size_t count, expr symbol)
{
    for (size_t i = 0; i < count; i++) {
        if (bindings[i].symbol == symbol)
            return bindings[i].value;
    }
    return EXPR_NONE;
}

static enum expr_op op_of(enum expr_kind kind)
{
    switch (kind) {
    case EXPR_SUM: return EXPR_ADD;
    case EXPR_PRODUCT: return EXPR_MUL;
    case EXPR_QUOTIENT: return EXPR_DIV;
    case EXPR_REMAINDER: return EXPR_REM;
    case EXPR_POWER: return EXPR_POW;
    case EXPR_LEAST: return EXPR_MIN;
    case EXPR_GREATEST:
    case EXPR_UNKNOWN:
    case EXPR_CONSTANT:
    case EXPR_SYMBOL:
    case EXPR_CALL: break;
    }
    return EXPR_MAX;
}

/* Depth is bounded by EXPR_DEPTH, time by EXPR_SIZE. */
expr expr_substitute(expr_pool *self, expr e, const expr_binding *bindings, size_t count)
{
    expr_node node = self->nodes.at[e];
    expr result = EXPR_NONE;

    if (node.count == 0) {
        result = node.kind == EXPR_CONSTANT ? EXPR_NONE : bound_value(bindings, count, e);
        return result != EXPR_NONE ? result : e;
    }
    for (size_t i = 0; i < node.count; i++) {
        expr operand = expr_substitute(self, self->operands.at[node.first + i], bindings, count);

        if (operand == EXPR_NONE)
            return EXPR_NONE;
        result =
            i == 0 ? operand : expr_binary(self, op_of((enum expr_kind)node.kind), result, operand);
    }
    return result;
}

static bool apply(enum expr_kind kind, int64_t a, int64_t b, int64_t *ret)
{
    switch (kind) {
    case EXPR_SUM: return !__builtin_add_overflow(a, b, ret);
    case EXPR_PRODUCT: return !__builtin_mul_overflow(a, b, ret);
    case EXPR_QUOTIENT:
    case EXPR_REMAINDER:
        if (b == 0 || (b == -1 && a == INT64_MIN))
            return false;
        *ret = kind == EXPR_QUOTIENT ? a / b : a % b;
        return true;
    case EXPR_POWER: return terms_power(a, b, ret);
    case EXPR_LEAST: *ret = a < b ? a : b; return true;
    case EXPR_GREATEST: *ret = a > b ? a : b; return true;
    case EXPR_UNKNOWN:
    case EXPR_CONSTANT:
    case EXPR_SYMBOL:
    case EXPR_CALL: break;
    }
    return false;
}

bool expr_value_of(const expr_pool *self, expr e, const expr_values *from, int64_t *ret)
{
    const expr_node *node = &self->nodes.at[e];
    int64_t result = 0;

    if (node->count == 0) {
        if (node->kind == EXPR_CONSTANT)
            result = node->value;
        else if (e == from->free && e != EXPR_NONE)
            result = from->free_value;
        else if (!expr_constant(self, bound_value(from->bindings, from->count, e), &result))
            return false;
        *ret = result;
        return true;
    }
    for (size_t i = 0; i < node->count; i++) {
        int64_t value;

        if (!expr_value_of(self, self->operands.at[node->first + i], from, &value))
            return false;
        if (i == 0)
            result = value;
        else if (!apply((enum expr_kind)node->kind, result, value, &result))
            return false;
    }
    *ret = result;
    return true;
}

bool expr_evaluate(const expr_pool *self, expr e, const expr_binding *bindings, size_t count,
                   int64_t *ret)
{
    return expr_value_of(self, e, &(expr_values){bindings, count, EXPR_NONE, 0}, ret);
}

bool expr_symbols(const expr_pool *self, expr e, expr_list *ret)
{
    const expr_node *node = &self->nodes.at[e];

    if (node->kind == EXPR_SYMBOL || node->kind == EXPR_CALL) {
        expr *added;

        for (size_t i = 0; i < ret->count; i++) {
            if (ret->at[i] == e)
                return true;
        }
        added = vec_add(self->heap, ret);
        if (added == NULL)
            return false;
        *added = e;
    }
    for (size_t i = 0; i < node->count; i++) {
        if (!expr_symbols(self, self->operands.at[node->first + i], ret))
            return false;
    }
    return true;
}
