#include "model/expr.h"

#include "model/expr_terms.h"

#define POWER_TOP 8 /* constant exponents up to here are multiplied out */

bool expr_is_natural(const expr_pool *self, expr e)
{
    const expr_node *node = &self->nodes.at[e];
    bool all = true;
    bool any = false;

    for (size_t i = 0; i < node->count; i++) {
        bool one = expr_is_natural(self, self->operands.at[node->first + i]);

        all = all && one;
        any = any || one;
    }
    switch ((enum expr_kind)node->kind) {
    case EXPR_UNKNOWN: return false;
    case EXPR_CONSTANT: return node->value >= 0;
    case EXPR_SYMBOL:
    case EXPR_CALL: return true;
    case EXPR_GREATEST: return any;
    case EXPR_POWER: return expr_is_natural(self, self->operands.at[node->first]);
    case EXPR_SUM:
    case EXPR_PRODUCT:
    case EXPR_QUOTIENT:
    case EXPR_REMAINDER:
    case EXPR_LEAST: return all;
    }
    return false;
}

static expr pair(expr_pool *self, enum expr_kind kind, expr a, expr b)
{
    expr operands[2] = {a, b};

    return expr_compound(self, kind, operands, 2);
}

/*
 * Division by a constant above 1 when nothing is negative: what is divisible comes out of the
 * quotient and vanishes from the remainder.
 */
static void split_terms(expr_pool *self, const terms *from, int64_t by, terms *whole, terms *rest)
{
    for (size_t i = 0; i < from->count; i++) {
        term part = from->at[i];
        int64_t left = part.factor % by;

        if (part.product != EXPR_NONE && left != 0) {
            terms_add(self, rest, part.factor, part.product);
            continue;
        }
        terms_add(self, whole, part.factor / by, part.product);
        terms_add(self, rest, left, part.product);
    }
}

/* Both sides without their common factor: floor(g*a / (g*b)) is floor(a / b). */
static void cancel_common(expr_pool *self, terms *top, terms *bottom)
{
    int64_t common = 0;

    for (size_t i = 0; i < top->count; i++)
        common = terms_gcd(common, top->at[i].factor);
    for (size_t i = 0; i < bottom->count; i++)
        common = terms_gcd(common, bottom->at[i].factor);
    for (size_t i = 0; common > 1 && i < top->count; i++)
        top->at[i].factor /= common;
    for (size_t i = 0; common > 1 && i < bottom->count; i++)
        bottom->at[i].factor /= common;
    for (size_t at = 0; bottom->count == 1;) {
        const expr *atoms = NULL;
        size_t count = terms_atoms(self, &bottom->at[0].product, &atoms);
        terms shorter;
        expr atom;
        bool fits = at < count;

        if (!fits)
            return;
        atom = atoms[at];
        terms_begin(&shorter);
        for (size_t i = 0; fits && i < top->count; i++) {
            expr product;

            fits = terms_divide_products(self, top->at[i].product, atom, &product);
            if (fits)
                terms_add(self, &shorter, top->at[i].factor, product);
        }
        if (fits &&
            terms_divide_products(self, bottom->at[0].product, atom, &bottom->at[0].product))
            terms_copy(top, &shorter);
        else
            at++;
    }
}

static expr divide(expr_pool *self, expr a, expr b, bool is_remainder)
{
    enum expr_kind kind = is_remainder ? EXPR_REMAINDER : EXPR_QUOTIENT;
    terms top;
    terms bottom;
    terms rest;
    terms whole;
    int64_t by;
    expr quotient;

    terms_begin(&top);
    terms_begin(&bottom);
    terms_of(self, a, 1, &top);
    terms_of(self, b, 1, &bottom);
    if (top.is_over || bottom.is_over || bottom.count == 0)
        return EXPR_NONE;
    if (top.count == 0)
        return expr_const(self, 0);
    if (expr_constant(self, b, &by) && top.count == 1 && top.at[0].product == EXPR_NONE) {
        int64_t value = top.at[0].factor;

        if (by == -1)
            return is_remainder ? expr_const(self, 0)
                                : expr_binary(self, EXPR_SUB, expr_const(self, 0), a);
        return expr_const(self, is_remainder ? value % by : value / by);
    }
    terms_copy(&rest, &top);
    if (terms_divide(self, &rest, &bottom, &whole))
        return is_remainder ? expr_const(self, 0) : terms_build(self, &whole);
    if (expr_constant(self, b, &by) && by > 1 && expr_is_natural(self, a)) {
        terms_begin(&whole);
        terms_begin(&rest);
        split_terms(self, &top, by, &whole, &rest);
        a = terms_build(self, &rest);
        if (whole.count > 0 && a != EXPR_NONE) {
            quotient = expr_binary(self, is_remainder ? EXPR_REM : EXPR_DIV, a, b);
            return is_remainder ? quotient
                                : expr_binary(self, EXPR_ADD, terms_build(self, &whole), quotient);
        }
        terms_copy(&top, &rest);
    }
    if (!is_remainder) {
        cancel_common(self, &top, &bottom);
        a = terms_build(self, &top);
        b = terms_build(self, &bottom);
        if (a == EXPR_NONE || b == EXPR_NONE)
            return EXPR_NONE;
        if (expr_constant(self, b, &by) && by == 1)
            return a;
    }
    return a == EXPR_NONE ? EXPR_NONE : pair(self, kind, a, b);
}

static void take_operands(const expr_pool *self, expr e, enum expr_kind kind, terms *to)
{
    bool is_flat = self->nodes.at[e].kind == kind;
    size_t count = is_flat ? self->nodes.at[e].count : 1;

    for (size_t i = 0; i < count; i++) {
        if (to->count == EXPR_TERMS) {
            to->is_over = true;
            return;
        }
        to->at[to->count++].product = is_flat ? self->operands.at[self->nodes.at[e].first + i] : e;
    }
}

/* The least or greatest of operands that nobody can put in order. */
static expr extreme(expr_pool *self, enum expr_kind kind, expr a, expr b)
{
    expr kept[EXPR_TERMS];
    size_t count = 0;
    terms all;

    terms_begin(&all);
    take_operands(self, a, kind, &all);
    take_operands(self, b, kind, &all);
    if (all.is_over)
        return EXPR_NONE;
    for (size_t i = 0; i < all.count; i++) {
        expr one = all.at[i].product;
        size_t j = 0;
        int64_t by;
        bool is_beaten = false;

        for (; j < count; j++) {
            if (!expr_constant(self, expr_binary(self, EXPR_SUB, one, kept[j]), &by))
                continue;
            is_beaten = (kind == EXPR_LEAST) == (by >= 0);
            break;
        }
        if (is_beaten)
            continue;
        if (j < count) {
            memmove(kept + j, kept + j + 1, (count - j - 1) * sizeof *kept);
            count--;
        }
        for (j = count; j > 0 && expr_order(self, kept[j - 1], one) > 0; j--)
            kept[j] = kept[j - 1];
        kept[j] = one;
        count++;
    }
    if (count == 2 && kept[1] == expr_const(self, 0) && expr_is_natural(self, kept[0]))
        return kept[kind == EXPR_LEAST ? 1 : 0];
    return count == 1 ? kept[0] : expr_compound(self, kind, kept, count);
}

static expr power(expr_pool *self, expr a, expr b)
{
    int64_t base;
    int64_t exponent;
    expr result;

    if (!expr_constant(self, b, &exponent))
        return pair(self, EXPR_POWER, a, b);
    if (expr_constant(self, a, &base))
        return terms_power(base, exponent, &base) ? expr_const(self, base) : EXPR_NONE;
    if (exponent < 0)
        return EXPR_NONE;
    if (exponent > POWER_TOP)
        return pair(self, EXPR_POWER, a, b);
    result = expr_const(self, 1);
    for (int64_t i = 0; i < exponent; i++)
        result = expr_binary(self, EXPR_MUL, result, a);
    return result;
}

static expr multiply(expr_pool *self, expr a, expr b)
{
    terms left;
    terms right;
    terms result;

    terms_begin(&left);
    terms_begin(&right);
    terms_begin(&result);
    terms_of(self, a, 1, &left);
    terms_of(self, b, 1, &right);
    result.is_over = left.is_over || right.is_over;
    for (size_t i = 0; i < right.count; i++)
        terms_multiply(self, &left, right.at[i], 1, &result);
    return terms_build(self, &result);
}

static expr add(expr_pool *self, expr a, expr b, int64_t sign)
{
    terms result;

    terms_begin(&result);
    terms_of(self, a, 1, &result);
    terms_of(self, b, sign, &result);
    return terms_build(self, &result);
}

/* Numbers, as most operands are: the sums of terms come to the same. False: not so. */
static bool binary_numbers(enum expr_op op, int64_t a, int64_t b, int64_t *ret)
{
    switch (op) {
    case EXPR_ADD: return !__builtin_add_overflow(a, b, ret);
    case EXPR_SUB: return b != INT64_MIN && !__builtin_sub_overflow(a, b, ret);
    case EXPR_MUL: return !__builtin_mul_overflow(a, b, ret);
    case EXPR_DIV:
    case EXPR_REM:
        if (b == 0 || b == -1)
            return false;
        *ret = op == EXPR_DIV ? a / b : a % b;
        return true;
    case EXPR_MIN:
    case EXPR_MAX:
        if (a == INT64_MIN || __builtin_sub_overflow(b, a, ret))
            return false;
        *ret = (op == EXPR_MIN) == (a < b) ? a : b;
        return true;
    case EXPR_POW: break;
    }
    return false;
}

expr expr_binary(expr_pool *self, enum expr_op op, expr a, expr b)
{
    int64_t left;
    int64_t right;

    if (a == EXPR_NONE || b == EXPR_NONE)
        return EXPR_NONE;
    if (expr_constant(self, a, &left) && expr_constant(self, b, &right) &&
        binary_numbers(op, left, right, &left))
        return expr_const(self, left);
    switch (op) {
    case EXPR_ADD: return add(self, a, b, 1);
    case EXPR_SUB: return add(self, a, b, -1);
    case EXPR_MUL: return multiply(self, a, b);
    case EXPR_DIV:
    case EXPR_REM: return divide(self, a, b, op == EXPR_REM);
    case EXPR_MIN: return extreme(self, EXPR_LEAST, a, b);
    case EXPR_MAX: return extreme(self, EXPR_GREATEST, a, b);
    case EXPR_POW: return power(self, a, b);
    }
    return EXPR_NONE;
}

bool expr_differs(expr_pool *self, expr a, expr b)
{
    int64_t by;

    return a != b && expr_constant(self, expr_binary(self, EXPR_SUB, a, b), &by) && by != 0;
}
