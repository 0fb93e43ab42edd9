#include "model/expr_solve.h"

#include "model/expr_terms.h"

#define SEARCH_TOP (INT64_C(1) << 42) /* no size of a model is larger */

/* Does a larger value of any symbol never make `e` smaller, and is it never negative? */
static bool is_rising(const expr_pool *self, expr e, bool may_be_negative)
{
    const expr_node *node = &self->nodes.at[e];
    const expr *operands = expr_operands(self, node);

    switch ((enum expr_kind)node->kind) {
    case EXPR_CONSTANT: return may_be_negative || node->value >= 0;
    case EXPR_SYMBOL:
    case EXPR_CALL: return true;
    case EXPR_QUOTIENT:
        return self->nodes.at[operands[1]].kind == EXPR_CONSTANT &&
               self->nodes.at[operands[1]].value > 0 &&
               is_rising(self, operands[0], may_be_negative);
    case EXPR_POWER:
        return self->nodes.at[operands[1]].kind == EXPR_CONSTANT &&
               is_rising(self, operands[0], false);
    case EXPR_SUM:
    case EXPR_LEAST:
    case EXPR_GREATEST:
        for (size_t i = 0; i < node->count; i++) {
            if (!is_rising(self, operands[i], may_be_negative))
                return false;
        }
        return true;
    case EXPR_PRODUCT:
        for (size_t i = 0; i < node->count; i++) {
            if (!is_rising(self, operands[i], false))
                return false;
        }
        return true;
    case EXPR_UNKNOWN:
    case EXPR_REMAINDER: break;
    }
    return false;
}

/* The smallest value of the free symbol that makes `e` at least `number`, else SEARCH_TOP. */
static int64_t search(const expr_pool *self, expr e, expr_values from, int64_t number)
{
    int64_t low = 0;
    int64_t high = SEARCH_TOP;

    while (low < high) {
        int64_t value;

        from.free_value = low + (high - low) / 2;
        if (!expr_value_of(self, e, &from, &value) || value >= number)
            high = from.free_value;
        else
            low = from.free_value + 1;
    }
    return low;
}

static enum expr_answer bind_symbol(expr_pool *self, expr symbol, int64_t value, expr_binding *ret)
{
    expr constant = expr_const(self, value);

    if (constant == EXPR_NONE)
        return EXPR_OPEN;
    *ret = (expr_binding){symbol, constant};
    return EXPR_BINDS;
}

static enum expr_answer solve_rising(expr_pool *self, expr e, int64_t number, expr_values from,
                                     expr_binding *ret)
{
    int64_t least = search(self, e, from, number);
    int64_t value;

    if (least == SEARCH_TOP)
        return EXPR_FALSE;
    from.free_value = least;
    if (!expr_value_of(self, e, &from, &value))
        return EXPR_OPEN;
    if (value != number)
        return EXPR_FALSE;
    if (number == INT64_MAX || search(self, e, from, number + 1) != least + 1)
        return EXPR_OPEN;
    return bind_symbol(self, from.free, least, ret);
}

/* factor * symbol + offset == number */
static enum expr_answer solve_line(expr_pool *self, const terms *line, int64_t number,
                                   expr_binding *ret)
{
    int64_t offset = line->count == 2 ? line->at[1].factor : 0;
    int64_t factor = line->at[0].factor;
    int64_t left;

    if (__builtin_sub_overflow(number, offset, &left) || (factor == -1 && left == INT64_MIN))
        return EXPR_OPEN;
    if (left % factor != 0 || left / factor < 0)
        return EXPR_FALSE;
    return bind_symbol(self, line->at[0].product, left / factor, ret);
}

/* No value of several symbols: a common factor that does not divide, or all too large already. */
static bool is_impossible(const expr_pool *self, const terms *from, int64_t number)
{
    int64_t common = 0;
    int64_t left = number;
    bool is_positive = true;

    for (size_t i = 0; i < from->count; i++) {
        if (from->at[i].product == EXPR_NONE) {
            if (__builtin_sub_overflow(number, from->at[i].factor, &left))
                return false;
            continue;
        }
        common = terms_gcd(common, from->at[i].factor);
        is_positive =
            is_positive && from->at[i].factor > 0 && expr_is_natural(self, from->at[i].product);
    }
    return (common > 1 && left % common != 0) || (is_positive && left < 0);
}

enum expr_answer expr_solve(expr_pool *self, expr e, int64_t number, const expr_binding *bindings,
                            size_t count, expr_binding *ret)
{
    expr_list symbols = {0};
    expr bound = expr_substitute(self, e, bindings, count);
    terms sum;
    bool is_listed;
    expr free = EXPR_NONE;
    int64_t value;

    if (bound == EXPR_NONE)
        return EXPR_OPEN;
    if (expr_constant(self, bound, &value))
        return value == number ? EXPR_HOLDS : EXPR_FALSE;
    is_listed = expr_symbols(self, bound, &symbols);
    if (!is_listed)
        self->failed = true;
    if (is_listed && symbols.count == 1)
        free = symbols.at[0];
    vec_free(self->heap, &symbols);
    terms_begin(&sum);
    terms_of(self, bound, 1, &sum);
    if (!is_listed || sum.is_over)
        return EXPR_OPEN;
    if (free == EXPR_NONE)
        return is_impossible(self, &sum, number) ? EXPR_FALSE : EXPR_OPEN;
    if (sum.at[0].product == free && (sum.count == 1 || sum.at[1].product == EXPR_NONE))
        return solve_line(self, &sum, number, ret);
    if (is_rising(self, bound, true))
        return solve_rising(self, bound, number, (expr_values){NULL, 0, free, 0}, ret);
    return is_impossible(self, &sum, number) ? EXPR_FALSE : EXPR_OPEN;
}
