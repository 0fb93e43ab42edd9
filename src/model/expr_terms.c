#include "model/expr_terms.h"

static const expr *operands_of(const expr_pool *self, expr e, size_t *ret_count)
{
    *ret_count = self->nodes.at[e].count;
    return expr_operands(self, &self->nodes.at[e]);
}

size_t terms_atoms(const expr_pool *self, const expr *product, const expr **ret)
{
    if (*product == EXPR_NONE)
        return 0;
    if (self->nodes.at[*product].kind == EXPR_PRODUCT) {
        size_t count;

        *ret = operands_of(self, *product, &count);
        return count;
    }
    *ret = product;
    return 1;
}

static int compare_products(const expr_pool *self, expr a, expr b)
{
    const expr *left = NULL;
    const expr *right = NULL;
    size_t left_count = terms_atoms(self, &a, &left);
    size_t right_count = terms_atoms(self, &b, &right);

    if (left_count != right_count)
        return left_count > right_count ? -1 : 1;
    for (size_t i = 0; i < left_count; i++) {
        if (left[i] != right[i])
            return expr_order(self, left[i], right[i]);
    }
    return 0;
}

void terms_add(const expr_pool *self, terms *to, int64_t factor, expr product)
{
    size_t low = 0;
    size_t high = to->count;

    if (to->is_over || factor == 0)
        return;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare_products(self, to->at[middle].product, product);

        if (order == 0) {
            if (__builtin_add_overflow(to->at[middle].factor, factor, &to->at[middle].factor)) {
                to->is_over = true;
            } else if (to->at[middle].factor == 0) {
                memmove(to->at + middle, to->at + middle + 1,
                        (to->count - middle - 1) * sizeof *to->at);
                to->count--;
            }
            return;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (to->count == EXPR_TERMS) {
        to->is_over = true;
        return;
    }
    memmove(to->at + low + 1, to->at + low, (to->count - low) * sizeof *to->at);
    to->at[low] = (term){factor, product};
    to->count++;
}

static term term_of(expr_pool *self, expr e)
{
    const expr_node *node = &self->nodes.at[e];
    const expr *operands = expr_operands(self, node);
    int64_t factor;

    if (node->kind == EXPR_CONSTANT)
        return (term){node->value, EXPR_NONE};
    if (node->kind != EXPR_PRODUCT || !expr_constant(self, operands[0], &factor))
        return (term){1, e};
    if (node->count == 2)
        return (term){factor, operands[1]};
    {
        expr rest[EXPR_TERMS]; /* the array of operands may move */
        size_t count = (size_t)node->count - 1;

        memcpy(rest, operands + 1, count * sizeof *rest);
        return (term){factor, expr_compound(self, EXPR_PRODUCT, rest, count)};
    }
}

void terms_of(expr_pool *self, expr e, int64_t sign, terms *to)
{
    size_t count = self->nodes.at[e].kind == EXPR_SUM ? self->nodes.at[e].count : 1;

    for (size_t i = 0; i < count; i++) {
        expr operand =
            self->nodes.at[e].kind == EXPR_SUM ? self->operands.at[self->nodes.at[e].first + i] : e;
        term part = term_of(self, operand);
        bool is_lost = part.product == EXPR_NONE && self->nodes.at[operand].kind != EXPR_CONSTANT;

        if (is_lost || __builtin_mul_overflow(part.factor, sign, &part.factor))
            to->is_over = true;
        terms_add(self, to, part.factor, part.product);
    }
}

static expr term_build(expr_pool *self, term part)
{
    expr room[EXPR_TERMS + 1];
    const expr *atoms = NULL;
    size_t count;

    if (part.product == EXPR_NONE)
        return expr_const(self, part.factor);
    if (part.factor == 1)
        return part.product;
    count = terms_atoms(self, &part.product, &atoms);
    memcpy(room + 1, atoms, count * sizeof *room);
    room[0] = expr_const(self, part.factor);
    return room[0] == EXPR_NONE ? EXPR_NONE : expr_compound(self, EXPR_PRODUCT, room, count + 1);
}

expr terms_build(expr_pool *self, const terms *from)
{
    expr room[EXPR_TERMS];

    if (from->is_over)
        return EXPR_NONE;
    if (from->count == 0)
        return expr_const(self, 0);
    for (size_t i = 0; i < from->count; i++) {
        room[i] = term_build(self, from->at[i]);
        if (room[i] == EXPR_NONE)
            return EXPR_NONE;
    }
    return from->count == 1 ? room[0] : expr_compound(self, EXPR_SUM, room, from->count);
}

/* Two products of atoms as one; false when it is too long. */
static bool multiply_products(expr_pool *self, expr a, expr b, expr *ret)
{
    expr room[EXPR_TERMS];
    const expr *left = NULL;
    const expr *right = NULL;
    size_t left_count = terms_atoms(self, &a, &left);
    size_t right_count = terms_atoms(self, &b, &right);
    size_t i = 0;
    size_t j = 0;

    *ret = left_count == 0 ? b : a;
    if (left_count == 0 || right_count == 0)
        return true;
    if (left_count + right_count > EXPR_TERMS)
        return false;
    while (i < left_count || j < right_count) {
        bool take_left =
            j == right_count || (i < left_count && expr_order(self, left[i], right[j]) <= 0);

        room[i + j] = take_left ? left[i] : right[j];
        if (take_left)
            i++;
        else
            j++;
    }
    *ret = expr_compound(self, EXPR_PRODUCT, room, left_count + right_count);
    return *ret != EXPR_NONE;
}

bool terms_divide_products(expr_pool *self, expr a, expr b, expr *ret)
{
    expr room[EXPR_TERMS];
    const expr *left = NULL;
    const expr *right = NULL;
    size_t left_count = terms_atoms(self, &a, &left);
    size_t right_count = terms_atoms(self, &b, &right);
    size_t kept = 0;
    size_t j = 0;

    for (size_t i = 0; i < left_count; i++) {
        if (j < right_count && left[i] == right[j])
            j++;
        else
            room[kept++] = left[i];
    }
    if (j < right_count)
        return false;
    *ret = kept == 0 ? EXPR_NONE : room[0];
    if (kept < 2)
        return true;
    *ret = expr_compound(self, EXPR_PRODUCT, room, kept);
    return *ret != EXPR_NONE;
}

void terms_multiply(expr_pool *self, const terms *a, term by, int64_t sign, terms *to)
{
    if (__builtin_mul_overflow(by.factor, sign, &by.factor))
        to->is_over = true;
    for (size_t i = 0; i < a->count && !to->is_over; i++) {
        int64_t factor;
        expr product;

        if (__builtin_mul_overflow(a->at[i].factor, by.factor, &factor) ||
            !multiply_products(self, a->at[i].product, by.product, &product))
            to->is_over = true;
        else
            terms_add(self, to, factor, product);
    }
}

bool terms_divide(expr_pool *self, terms *rest, const terms *by, terms *ret)
{
    terms_begin(ret);
    for (unsigned steps = 0; rest->count > 0; steps++) {
        term first = rest->at[0];
        expr product;

        if (steps == EXPR_TERMS || (by->at[0].factor == -1 && first.factor == INT64_MIN) ||
            first.factor % by->at[0].factor != 0 ||
            !terms_divide_products(self, first.product, by->at[0].product, &product))
            return false;
        first = (term){first.factor / by->at[0].factor, product};
        terms_add(self, ret, first.factor, first.product);
        terms_multiply(self, by, first, -1, rest);
        if (rest->is_over || ret->is_over)
            return false;
    }
    return true;
}

int64_t terms_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a < 0 && a != INT64_MIN ? -a : a;
}

bool terms_power(int64_t base, int64_t exponent, int64_t *ret)
{
    int64_t value = 1;

    if (exponent < 0)
        return false;
    if (base == 0 || base == 1) {
        *ret = exponent == 0 ? 1 : base;
        return true;
    }
    for (int64_t i = 0; i < exponent; i++) {
        if (i > 64 || __builtin_mul_overflow(value, base, &value))
            return false;
    }
    *ret = value;
    return true;
}
