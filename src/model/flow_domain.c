#include "model/flow_domain.h"

#include <math.h>

#include "model/flow_pattern.h"
#include "model/value_kinds.h"

bool flow_scalar(eval *self, val which, interval *ret)
{
    const value *at = value_at(self->values, which);
    enum type_class class = CLASS_OTHER;
    int64_t whole;
    cg_str text;

    *ret = interval_unknown();
    if (at->kind == VALUE_FLOAT && at->is_known) {
        *ret = interval_point(at->as.real);
        return true;
    }
    if (at->kind == VALUE_INT) {
        if (expr_constant(self->exprs, (expr)at->as.number, &whole)) {
            *ret = interval_point((double)whole);
        } else {
            /* sizes and counts */
            *ret = interval_between(0, INFINITY);
            ret->is_whole = false;
        }
        return true;
    }
    if (at->type != 0 && at->kind == VALUE_UNKNOWN)
        class = value_class(self->values, value_transparent(self->values, at->type));
    if (at->kind != VALUE_FLOAT && class != CLASS_FLOAT && class != CLASS_INT)
        return false;
    text = at->text;
    if (str_find(text, CG_LIT("eps")) != SIZE_MAX || str_find(text, CG_LIT("EPS")) != SIZE_MAX) {
        *ret = interval_above(interval_between(0, INFINITY), true);
        ret->is_assumed = true;
        ret->is_whole = false;
    } else if (str_ends_with(text, CG_LIT(".sqrt()")) || str_ends_with(text, CG_LIT(".abs()"))) {
        *ret = interval_between(0, INFINITY);
        ret->is_whole = false;
    }
    return true;
}

static interval domain_of(flow_call *self, size_t argument)
{
    interval it = interval_unknown();

    if (argument >= self->count)
        return it;
    if (argument < FLOW_LETTERS && self->node_at[argument] != 0)
        return call_facts(self, self->node_at[argument])->domain;
    (void)flow_scalar(self->eval, self->args[argument], &it);
    return it;
}

static interval domain_given(flow_call *self, val data, unsigned depth)
{
    const value *at = value_at(self->eval->values, data);
    interval it = interval_unknown();

    if (at->kind != VALUE_LIST) {
        (void)flow_scalar(self->eval, data, &it);
        return it;
    }
    for (size_t i = 0; i < at->count && depth < 4; i++) {
        interval one;

        if (value_kind_of(self->eval->values, at->as.items[i]) == VALUE_REPEAT)
            return interval_unknown();
        one = domain_given(self, at->as.items[i], depth + 1);
        it = i == 0 ? one : interval_join(it, one);
    }
    return it;
}

static interval domain_cast(flow_call *self, interval x)
{
    enum flow_element from = flow_dtype(self->flow, self->tensors[0], NULL);
    enum flow_element to = flow_class_element(self->flow, self->facts.dtype, NULL);

    if (to != ELEMENT_UNKNOWN && !flow_is_float(to)) {
        x = interval_apply(INTERVAL_ROUND, x);
        if (to == ELEMENT_U8 || to == ELEMENT_U32)
            x = interval_combine(INTERVAL_MAX, x, interval_point(0));
        return x;
    }
    if (to == from && to != ELEMENT_UNKNOWN)
        return x;
    return interval_narrow(x, to == ELEMENT_F16 || to == ELEMENT_F8E4M3 ? 6e-8 : 1e-37);
}

static interval domain_power(flow_call *self, interval x)
{
    interval e = domain_of(self, 1);
    double power = e.lo;
    bool is_even = e.lo == e.hi && fmod(power, 2) == 0;
    bool is_whole = e.lo == e.hi && floor(power) == power;
    interval it = interval_all();

    if (!e.is_known || e.lo != e.hi) {
        it.is_known = x.is_known;
        return it;
    }
    if (power < 0)
        flow_require(self, FLOW_NEED_NONZERO, interval_check(x, INTERVAL_NONZERO), self->tensors[0],
                     0, (cg_str){NULL, 0});
    if (!is_whole)
        flow_require(self, FLOW_NEED_NONNEGATIVE, interval_check(x, INTERVAL_NONNEGATIVE),
                     self->tensors[0], 0, (cg_str){NULL, 0});
    if (power == 2)
        return interval_apply(INTERVAL_SQUARE, x);
    if (power == 1)
        return x;
    if (power == 0.5)
        return interval_apply(INTERVAL_SQRT, x);
    if (power == -1)
        return interval_apply(INTERVAL_RECIP, x);
    if (is_even || !is_whole || (x.is_known && x.lo >= 0)) {
        it = interval_between(0, INFINITY);
        if (power < 0 && x.is_known && x.lo > 0) {
            it.lo = x.hi == INFINITY ? 0 : pow(x.hi, power);
            it.lo_open = false;
        } else if (power > 0 && x.is_known && x.lo > 0) {
            it.lo = pow(x.lo, power);
        }
        return it;
    }
    it.is_known = x.is_known;
    return it;
}

/* Learned numbers can have any sign, and so has what is made with them. */
static bool has_both_signs(const flow_call *self, node_ref which)
{
    const flow_node *node = flow_at(self->flow, pattern_same_numbers(self, which));
    interval x = node->facts.domain;

    return node->kind == FLOW_PARAMETER || (x.is_known && x.is_whole && x.lo < 0 && x.hi > 0);
}

static interval domain_product(const flow_call *self, interval a, interval b)
{
    interval it = interval_unknown();

    if (has_both_signs(self, self->node_at[0]) || has_both_signs(self, self->node_at[1])) {
        it = interval_all();
        it.is_whole = !a.is_mixed && !b.is_mixed;
        return it;
    }
    if (!a.is_known || !b.is_known)
        return it;
    return interval_sum(interval_combine(INTERVAL_MUL, a, b));
}

static interval domain_scatter(const flow_call *self, interval x)
{
    interval added = call_facts(self, self->node_at[2])->domain;
    interval it = interval_sum(added);

    if (!x.is_known || !added.is_known)
        return interval_unknown();
    it = interval_combine(INTERVAL_ADD, x, interval_join(it, interval_point(0)));
    /* Where nothing is added the first stays as it is. */
    it.is_whole = x.is_whole;
    return it;
}

static interval domain_activation(const flow_call *self, interval x)
{
    static const struct {
        const char *variant;
        uint8_t function;
    } rows[] = {
        {"Relu", INTERVAL_RELU},       {"Silu", INTERVAL_SILU},
        {"Swish", INTERVAL_SILU},      {"Gelu", INTERVAL_GELU},
        {"NewGelu", INTERVAL_GELU},    {"GeluPytorchTanh", INTERVAL_GELU},
        {"Sigmoid", INTERVAL_SIGMOID}, {"Tanh", INTERVAL_TANH},
        {"Elu", INTERVAL_ELU},
    };
    const value *at = value_at(self->eval->values, self->args[0]);
    cg_str name = {NULL, 0};

    if (at->kind == VALUE_ENUM)
        name = program_text(self->eval->program, at->variant);
    if (str_equal(name, CG_LIT("Relu2")))
        return interval_apply(INTERVAL_SQUARE, interval_apply(INTERVAL_RELU, x));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (str_is(name, rows[i].variant))
            return interval_apply((enum interval_function)rows[i].function, x);
    }
    return interval_unknown();
}

/* What x is compared with, when that is one number. */
static bool compared_with(const flow_call *self, const flow_node *comparison, double *ret)
{
    interval it = interval_unknown();

    if (comparison->compared != 0)
        (void)flow_scalar(self->eval, comparison->compared, &it);
    else if (comparison->edge_count > 1)
        it = call_facts(self, pattern_operand(self, comparison, 1))->domain;
    *ret = it.lo;
    return it.is_known && it.lo == it.hi;
}

static interval above(interval x, double bound, bool is_open)
{
    if (x.lo > bound || (x.lo == bound && (x.lo_open || !is_open)))
        return x;
    x.lo = bound;
    x.lo_open = is_open;
    x.is_known = true;
    x.is_rounded = false;
    return x;
}

static interval below(interval x, double bound, bool is_open)
{
    x = interval_apply(INTERVAL_NEG, x);
    return interval_apply(INTERVAL_NEG, above(x, -bound, is_open));
}

/* The numbers of one way of where_cond: `x` where `x > 0` is above 0. */
static interval admitted(flow_call *self, node_ref way, bool is_true)
{
    static const char *const names[] = {"gt", "ge", "lt", "le", "ne", "eq"};
    static const char *const wide[] = {"broadcast_gt", "broadcast_ge", "broadcast_lt",
                                       "broadcast_le", "broadcast_ne", "broadcast_eq"};
    node_ref condition = pattern_same_numbers(self, self->node_at[0]);
    const flow_node *node = flow_at(self->flow, condition);
    interval x = call_facts(self, way)->domain;
    double bound = 0;
    size_t which = 0;

    while (which < 6 && pattern_made_by(self, condition, names[which]) == NULL &&
           pattern_made_by(self, condition, wide[which]) == NULL)
        which++;
    if (which == 6 || way == 0 ||
        pattern_same_numbers(self, pattern_operand(self, node, 0)) !=
            pattern_same_numbers(self, way) ||
        !compared_with(self, node, &bound))
        return x;
    /* gt <-> le, ge <-> lt, ne <-> eq when it does not hold */
    if (!is_true)
        which = which < 4 ? 3 - which : 9 - which;
    switch (which) {
    case 0: return above(x, bound, true);
    case 1: return above(x, bound, false);
    case 2: return below(x, bound, true);
    case 3: return below(x, bound, false);
    case 4: return x.is_known && x.lo == bound ? above(x, bound, true) : x;
    default: return interval_point(bound);
    }
}

static bool is_reduction(const operation_row *row)
{
    return row->shape == SHAPE_REDUCE || row->shape == SHAPE_KEEP || row->shape == SHAPE_SCALAR;
}

interval flow_result_domain(flow_call *self)
{
    const operation_row *row = call_row(self);
    interval x =
        self->tensors[0] != 0 ? call_facts(self, self->tensors[0])->domain : interval_unknown();
    interval a = domain_of(self, 0);
    interval b = domain_of(self, 1);
    interval it = interval_unknown();

    switch ((enum operation_domain)row->domain) {
    case DOMAIN_UNKNOWN: return it;
    case DOMAIN_ALL: return interval_all();
    case DOMAIN_SAME: return is_reduction(row) ? interval_merged(x) : x;
    case DOMAIN_JOIN: {
        bool is_first = true, has_constant = false;

        for (size_t i = 0; i < self->edge_count; i++) {
            if (self->edges[i].passes == FLOW_SEVERED)
                continue;
            x = call_facts(self, self->edges[i].from)->domain;
            has_constant = has_constant || (x.is_known && x.lo == x.hi);
            it = is_first ? x : interval_join(it, x);
            is_first = false;
        }
        it.is_mixed = it.is_mixed || (has_constant && it.lo != it.hi);
        return it;
    }
    case DOMAIN_SUM:
        it = interval_sum(x);
        /* All exponentials of a sum becoming 0 is nothing to warn of. */
        if (pattern_made_by(self, pattern_same_numbers(self, self->tensors[0]), "exp") != NULL)
            it = interval_above(interval_between(0, INFINITY), true);
        if (pattern_is_shifted_exp(self, self->tensors[0]))
            it = interval_between(1, INFINITY);
        it.is_rounded |= pattern_is_part_of_softmax(self, self->tensors[0]);
        return it;
    case DOMAIN_CALL:
        it = interval_apply((enum interval_function)row->function, x);
        if (row->function == INTERVAL_ELU && it.lo < 0 && b.is_known && b.lo == b.hi) {
            it.lo = -fabs(b.lo);
            it.lo_guessed = x.lo_guessed || !x.is_known;
        }
        return it;
    case DOMAIN_ADD: return interval_combine(INTERVAL_ADD, a, b);
    case DOMAIN_SUB: return interval_combine(INTERVAL_SUB, a, b);
    case DOMAIN_MUL:
        if (self->node_at[0] != 0 && self->node_at[0] == self->node_at[1])
            return interval_apply(INTERVAL_SQUARE, a);
        return interval_combine(INTERVAL_MUL, a, b);
    case DOMAIN_DIV:
        if (self->node_at[1] != 0 && pattern_is_share(self))
            return interval_between(0, 1);
        return interval_combine(INTERVAL_DIV, a, b);
    case DOMAIN_MIN: return interval_combine(INTERVAL_MIN, a, b);
    case DOMAIN_MAX: return interval_combine(INTERVAL_MAX, a, b);
    case DOMAIN_CLAMP:
        return interval_combine(INTERVAL_MIN, interval_combine(INTERVAL_MAX, x, b),
                                domain_of(self, 2));
    case DOMAIN_AFFINE:
        return interval_combine(INTERVAL_ADD, interval_combine(INTERVAL_MUL, x, b),
                                domain_of(self, 2));
    case DOMAIN_POWF: return domain_power(self, x);
    case DOMAIN_POW: return interval_between(0, INFINITY);
    case DOMAIN_UNIT: return interval_between(0, 1);
    case DOMAIN_NONPOSITIVE: return interval_between(-INFINITY, 0);
    case DOMAIN_NONNEGATIVE: return interval_between(0, INFINITY);
    case DOMAIN_ZERO: return interval_point(0);
    case DOMAIN_ONE: return interval_point(1);
    case DOMAIN_GIVEN: return domain_given(self, self->args[0], 0);
    case DOMAIN_RANGE:
        if (!a.is_known || a.lo != a.hi)
            return it;
        it = interval_between(a.lo, b.is_known && b.lo == b.hi ? b.lo : INFINITY);
        it.hi_open = true;
        return it;
    case DOMAIN_RAND:
        if (row->operands[0] == 'x') { /* rand_like: the tensor is before the bounds */
            a = b;
            b = domain_of(self, 2);
        }
        if (!a.is_known || !b.is_known)
            return it;
        it = interval_between(a.lo, b.hi);
        it.hi_open = true;
        return it;
    case DOMAIN_CAST: return domain_cast(self, x);
    case DOMAIN_PAD: return interval_join(x, interval_point(0));
    case DOMAIN_PRODUCT: return domain_product(self, a, b);
    case DOMAIN_DROPOUT:
        return x.is_known ? interval_combine(INTERVAL_MUL, x, interval_between(0, INFINITY)) : it;
    case DOMAIN_SCATTER: return domain_scatter(self, x);
    case DOMAIN_ACTIVATION: return domain_activation(self, x);
    case DOMAIN_WHERE:
        return interval_join(admitted(self, self->node_at[1], true),
                             admitted(self, self->node_at[2], false));
    case DOMAIN_ON_OFF:
        return self->count > 3 ? interval_join(domain_of(self, 2), domain_of(self, 3)) : it;
    }
    return it;
}
