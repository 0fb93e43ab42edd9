#include "model/interval.h"

#include <math.h>

/* sigmoid is exactly 1 from here on, and exactly 0 below: f32. */
#define SIGMOID_LABEL "saturating_unit(f32_upper=16.6355,f32_lower=-88.7228)"

interval interval_unknown(void)
{
    return (interval){.lo = -INFINITY, .hi = INFINITY};
}

interval interval_all(void)
{
    return (interval){.lo = -INFINITY, .hi = INFINITY, .is_known = true, .is_whole = true};
}

interval interval_point(double at)
{
    return (interval){.lo = at, .hi = at, .is_known = true, .is_whole = true};
}

interval interval_between(double lo, double hi)
{
    return (interval){.lo = lo, .hi = hi, .is_known = true, .is_whole = true};
}

static interval both(interval a, interval b)
{
    interval it = {.lo = -INFINITY, .hi = INFINITY};

    it.is_known = a.is_known && b.is_known;
    it.is_whole = a.is_whole && b.is_whole;
    it.is_assumed = a.is_assumed || b.is_assumed;
    it.is_mixed = a.is_mixed || b.is_mixed;
    it.lo_guessed = a.lo_guessed || b.lo_guessed;
    it.hi_guessed = a.hi_guessed || b.hi_guessed;
    return it;
}

static bool ends_at_zero(interval of)
{
    return of.lo == 0 || of.hi == 0;
}

/* An end of the result that is 0 is one of these: is each of them rounded? */
static bool rounded_of(interval it, interval a, interval b)
{
    bool has_a = ends_at_zero(a), has_b = ends_at_zero(b);

    return ends_at_zero(it) && (has_a || has_b) && (!has_a || a.is_rounded) &&
           (!has_b || b.is_rounded);
}

/* The smaller of two lower ends; of equal ones the closed one. */
static void lower(interval *it, double a, bool a_open, double b, bool b_open)
{
    it->lo = a < b ? a : b;
    it->lo_open = a == b ? a_open && b_open : a < b ? a_open : b_open;
}

static void upper(interval *it, double a, bool a_open, double b, bool b_open)
{
    it->hi = a > b ? a : b;
    it->hi_open = a == b ? a_open && b_open : a > b ? a_open : b_open;
}

interval interval_join(interval a, interval b)
{
    interval it = both(a, b);

    if (!it.is_known)
        return it;
    /* An end that one of the two attains is attained. */
    lower(&it, a.lo, a.lo_open, b.lo, b.lo_open);
    upper(&it, a.hi, a.hi_open, b.hi, b.hi_open);
    it.is_rounded = rounded_of(it, a, b);
    return it;
}

interval interval_widen(interval before, interval after)
{
    interval it = interval_join(before, after);

    if (!it.is_known)
        return it;
    if (it.lo < before.lo) {
        /* What never went below 0 stays above. */
        it.lo = after.lo >= 0 && before.lo >= 0 ? 0 : -INFINITY;
        it.lo_open = false;
        it.is_whole = false;
    }
    if (it.hi > before.hi) {
        it.hi = INFINITY;
        it.hi_open = false;
    }
    return it;
}

static interval sum_of(interval a, interval b)
{
    interval it = both(a, b);

    if (!it.is_known)
        return it;
    it.lo = a.lo + b.lo;
    it.hi = a.hi + b.hi;
    if (isnan(it.lo))
        it.lo = -INFINITY;
    if (isnan(it.hi))
        it.hi = INFINITY;
    it.lo_open = a.lo_open || b.lo_open;
    it.hi_open = a.hi_open || b.hi_open;
    it.is_rounded = (it.lo == 0 && ((a.lo == 0 && a.is_rounded) || (b.lo == 0 && b.is_rounded))) ||
                    (it.hi == 0 && ((a.hi == 0 && a.is_rounded) || (b.hi == 0 && b.is_rounded)));
    /* Two operands may never be small together: what is attained by each need not be by the sum. */
    if (a.lo != a.hi && b.lo != b.hi && !(it.lo == -INFINITY && it.hi == INFINITY))
        it.is_whole = false;
    return it;
}

static interval difference_of(interval a, interval b)
{
    return sum_of(a, interval_apply(INTERVAL_NEG, b));
}

static double product(double a, double b)
{
    return a == 0 || b == 0 ? 0 : a * b;
}

/* What turns ends around: a guess of one is a guess of both. */
static interval either_guessed(interval it)
{
    it.lo_guessed = it.hi_guessed = it.lo_guessed || it.hi_guessed;
    return it;
}

static interval product_of(interval a, interval b)
{
    bool is_plain = a.lo >= 0 && b.lo >= 0;
    interval it = is_plain ? both(a, b) : either_guessed(both(a, b));
    const double ends[4] = {product(a.lo, b.lo), product(a.lo, b.hi), product(a.hi, b.lo),
                            product(a.hi, b.hi)};
    const bool open[4] = {a.lo_open || b.lo_open, a.lo_open || b.hi_open, a.hi_open || b.lo_open,
                          a.hi_open || b.hi_open};

    if (!it.is_known)
        return it;
    it.lo = it.hi = ends[0];
    it.lo_open = it.hi_open = open[0];
    for (unsigned i = 1; i < 4; i++) {
        lower(&it, it.lo, it.lo_open, ends[i], open[i]);
        upper(&it, it.hi, it.hi_open, ends[i], open[i]);
    }
    it.is_rounded = rounded_of(it, a, b);
    /* Small times small becomes 0. */
    if (it.lo == 0 && (a.lo != a.hi || b.lo != b.hi))
        it.lo_open = false;
    if (a.lo != a.hi && b.lo != b.hi && !(it.lo == -INFINITY && it.hi == INFINITY))
        it.is_whole = it.is_whole && it.lo == 0;
    return it;
}

static interval quotient_of(interval a, interval b)
{
    return product_of(a, interval_apply(INTERVAL_RECIP, b));
}

static interval least_of(interval a, interval b)
{
    interval it = both(a, b);

    if (!it.is_known) {
        /* One bound is enough. */
        it.is_known = a.is_known || b.is_known;
        it.hi = a.is_known && (!b.is_known || a.hi < b.hi) ? a.hi : b.hi;
        it.is_whole = false;
        return it;
    }
    lower(&it, a.lo, a.lo_open, b.lo, b.lo_open);
    it.hi = a.hi < b.hi ? a.hi : b.hi;
    it.hi_open = a.hi < b.hi ? a.hi_open : b.hi_open;
    it.is_rounded = rounded_of(it, a, b);
    return it;
}

static interval greatest_of(interval a, interval b)
{
    return interval_apply(
        INTERVAL_NEG, least_of(interval_apply(INTERVAL_NEG, a), interval_apply(INTERVAL_NEG, b)));
}

static interval reciprocal(interval of)
{
    interval it = either_guessed(of);

    it.is_rounded = false;
    if (of.lo > 0 || (of.lo == 0 && of.lo_open)) {
        it.lo = of.hi == INFINITY ? 0 : 1 / of.hi;
        it.lo_open = of.hi == INFINITY ? false : of.hi_open;
        it.hi = of.lo == 0 ? INFINITY : 1 / of.lo;
        it.hi_open = of.lo_open;
        return it;
    }
    if (of.lo == 0) {
        it.lo = of.hi == INFINITY ? 0 : 1 / of.hi;
        it.lo_open = false;
        it.hi = INFINITY;
        return it;
    }
    if (of.hi < 0 || (of.hi == 0 && of.hi_open)) {
        it.lo = of.hi == 0 ? -INFINITY : 1 / of.hi;
        it.hi = of.lo == -INFINITY ? 0 : 1 / of.lo;
        it.lo_open = it.hi_open = false;
        return it;
    }
    it = interval_all();
    it.is_known = of.is_known;
    it.is_assumed = of.is_assumed;
    it.lo_guessed = it.hi_guessed = of.lo_guessed || of.hi_guessed;
    return it;
}

static interval magnitude(interval of)
{
    interval it = of;
    double top = fmax(fabs(of.lo), fabs(of.hi));

    if (of.lo >= 0)
        return it;
    it.hi = top;
    it.hi_open = false;
    it = either_guessed(it);
    it.is_rounded = it.is_rounded && of.hi == 0;
    if (of.hi < 0 || (of.hi == 0 && of.hi_open)) {
        it.lo = -of.hi;
        it.lo_open = of.hi_open;
    } else {
        it.lo = 0;
        it.lo_open = false;
    }
    return it;
}

static interval squared(interval of)
{
    interval it = magnitude(of);

    it.lo *= it.lo;
    it.hi *= it.hi;
    if (it.lo == 0)
        it.lo_open = false; /* small numbers: their square becomes 0 */
    return it;
}

/* f on both ends, which grows everywhere. */
static interval growing(interval of, double (*f)(double))
{
    interval it = of;

    it.lo = f(of.lo);
    it.hi = f(of.hi);
    return it;
}

static interval logarithm(interval of)
{
    interval it = of;

    it.lo = of.lo > 0 ? log(of.lo) : -INFINITY;
    it.hi = of.hi > 0 ? log(of.hi) : INFINITY;
    it.lo_open = of.lo > 0 && of.lo_open;
    it.is_rounded = false;
    return it;
}

static interval sigmoid(interval of)
{
    interval it = interval_between(0, 1);

    it.is_assumed = of.is_assumed;
    if (of.is_known && of.lo > -80) {
        it.lo = 1 / (1 + exp(-of.lo));
        it.is_whole = of.is_whole;
    }
    if (of.is_known && of.hi < 16) {
        it.hi = 1 / (1 + exp(-of.hi));
        it.is_whole = of.is_whole;
    }
    return it;
}

interval interval_apply(enum interval_function function, interval of)
{
    interval it = of;

    switch (function) {
    case INTERVAL_EXP:
        it = growing(of, exp);
        it.is_known = true; /* not below 0, whatever it is */
        it.is_whole = of.is_known && of.is_whole;
        if (!of.is_known) {
            it.lo = 0;
            it.hi = INFINITY;
            it.is_whole = true;
            it.lo_guessed = it.hi_guessed = true;
        }
        if (of.lo < -80) {
            it.lo = 0;
            it.lo_open = false;
        }
        it.is_rounded = it.lo == 0;
        return it;
    case INTERVAL_LOG: return logarithm(of);
    case INTERVAL_SQRT:
        it.lo = of.lo > 0 ? sqrt(of.lo) : 0;
        it.hi = of.hi > 0 ? sqrt(of.hi) : 0;
        it.lo_open = of.lo >= 0 && of.lo_open;
        it.is_whole = of.is_known && of.is_whole && of.lo >= 0;
        it.is_known = true;
        return it;
    case INTERVAL_SQUARE:
    case INTERVAL_ABS:
        it = function == INTERVAL_ABS ? magnitude(of) : squared(of);
        it.is_known = true;
        it.is_whole = !of.is_known || of.is_whole;
        it.hi_guessed = it.hi_guessed || !of.is_known;
        return it;
    case INTERVAL_NEG:
        it.lo = -of.hi;
        it.hi = -of.lo;
        it.lo_open = of.hi_open;
        it.hi_open = of.lo_open;
        it.lo_guessed = of.hi_guessed;
        it.hi_guessed = of.lo_guessed;
        return it;
    case INTERVAL_RECIP: return reciprocal(of);
    case INTERVAL_RELU:
        if (of.lo > 0 || (of.lo == 0 && of.lo_open))
            return it;
        it.lo = 0;
        it.lo_open = false;
        it.hi = of.hi > 0 ? of.hi : 0;
        it.is_known = true;
        it.is_whole = !of.is_known || of.is_whole;
        it.hi_guessed = it.hi_guessed || !of.is_known;
        return it;
    case INTERVAL_SIGMOID: return sigmoid(of);
    case INTERVAL_TANH:
        it = interval_between(-1, 1);
        it.is_assumed = of.is_assumed;
        if (of.is_known && of.lo >= 0)
            it.lo = of.lo > 1e-6 ? tanh(of.lo) : 0;
        return it;
    case INTERVAL_WAVE: return interval_between(-1, 1);
    case INTERVAL_ROUND:
        if (!of.is_known)
            return it;
        it.lo = floor(of.lo);
        it.hi = ceil(of.hi);
        it.lo_open = it.hi_open = false;
        return it;
    case INTERVAL_SIGN: return interval_between(of.is_known && of.lo >= 0 ? 0 : -1, 1);
    case INTERVAL_SILU:
    case INTERVAL_GELU:
        /* The lowest points of the two. */
        it.lo = of.lo >= 0 ? 0 : function == INTERVAL_SILU ? -0.2785 : -0.1701;
        it.lo_open = false;
        it.hi = of.hi > 0 ? of.hi : 0;
        it.is_known = true;
        it.is_whole = !of.is_known || of.is_whole;
        it.hi_guessed = it.hi_guessed || !of.is_known;
        return it;
    case INTERVAL_ELU:
        if (of.lo >= 0 && of.is_known)
            return it;
        /* Its lowest number is that of its factor, which may be any. */
        it.lo = -INFINITY;
        it.lo_open = false;
        it.hi = of.hi > 0 ? of.hi : 0;
        it.is_known = true;
        it.is_whole = !of.is_known || of.is_whole;
        it.lo_guessed = true;
        it.hi_guessed = it.hi_guessed || !of.is_known;
        return it;
    }
    return interval_unknown();
}

interval interval_merged(interval of)
{
    of.is_whole = of.is_whole && !of.is_mixed;
    of.is_mixed = false;
    return of;
}

interval interval_sum(interval of)
{
    interval it = interval_merged(of);

    if (!of.is_known)
        return it;
    if (of.lo < 0) {
        it.lo = -INFINITY;
        it.lo_open = false;
    }
    if (of.hi > 0) {
        it.hi = INFINITY;
        it.hi_open = false;
    }
    return it;
}

interval interval_narrow(interval of, double smallest)
{
    interval it = of;

    if (of.is_known && of.lo >= 0 && of.lo < smallest) {
        it.lo = 0;
        it.lo_open = false;
    }
    return it;
}

interval interval_combine(enum interval_operator operator, interval a, interval b)
{
    switch (operator) {
    case INTERVAL_ADD: return sum_of(a, b);
    case INTERVAL_SUB: return difference_of(a, b);
    case INTERVAL_MUL: return product_of(a, b);
    case INTERVAL_DIV: return quotient_of(a, b);
    case INTERVAL_MIN: return least_of(a, b);
    case INTERVAL_MAX: return greatest_of(a, b);
    }
    return interval_unknown();
}

enum check interval_check(interval of, enum interval_need need)
{
    bool is_met = false;
    bool is_broken = false;

    if (need == INTERVAL_ANY)
        return CHECK_HOLDS;
    if (!of.is_known)
        return CHECK_UNKNOWN;
    switch (need) {
    case INTERVAL_ANY: break;
    case INTERVAL_POSITIVE:
        is_met = of.lo > 0 || (of.lo == 0 && of.lo_open);
        is_broken = !is_met;
        break;
    case INTERVAL_NONNEGATIVE:
        is_met = of.lo >= 0;
        is_broken = !is_met;
        break;
    case INTERVAL_NONZERO:
        is_met = of.lo > 0 || of.hi < 0 || (of.lo == 0 && of.lo_open) || (of.hi == 0 && of.hi_open);
        is_broken = !is_met;
        break;
    }
    if (is_met)
        return CHECK_HOLDS;
    if (of.lo_guessed || (need == INTERVAL_NONZERO && of.hi_guessed && of.lo < 0))
        return CHECK_UNKNOWN;
    return is_broken && of.is_whole && !(of.is_rounded && ends_at_zero(of)) ? CHECK_FAILS
                                                                            : CHECK_UNKNOWN;
}

const char *interval_label(interval of)
{
    if (!of.is_known)
        return "unknown";
    if (of.lo > 0 || (of.lo == 0 && of.lo_open))
        return "strictly_positive";
    if (of.lo == 0 && of.hi == 1)
        return SIGMOID_LABEL;
    return of.lo >= 0 ? "non_negative" : "real";
}

const char *interval_phrase(interval of)
{
    if (!of.is_known)
        return "can be a number nobody knows";
    if (of.lo > 0 || (of.lo == 0 && of.lo_open))
        return "is above 0";
    if (of.lo == 0 && of.hi == 1)
        return "can reach exactly 0 or 1 after rounding";
    if (of.lo == 0)
        return "can be 0, but not below";
    return of.hi < 0 || (of.hi == 0 && of.hi_open) ? "is below 0" : "can be 0 or below";
}
