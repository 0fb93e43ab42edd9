/*
 * interval - what numbers the elements of a tensor can be, as far as that can be told.
 *
 *   interval p = interval_apply(INTERVAL_EXP, interval_all());     [0, inf): exp rounds to 0
 *   p = interval_combine(INTERVAL_ADD, p, interval_point(1e-6));   [1e-6, inf)
 *   interval_check(p, INTERVAL_POSITIVE)                           CHECK_HOLDS
 *
 * Bounds are those after rounding to the float type: what is mathematically above 0 but can become
 * 0 has the closed bound 0. Unknown (`is_known` false) means that nobody told; all numbers
 * (interval_all) that everything is possible. The first stays silent, the second is a reason to
 * warn.
 */
#ifndef CG_MODEL_INTERVAL_H
#define CG_MODEL_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct interval {
    double lo, hi; /* may be infinite */
    bool lo_open, hi_open;
    bool is_known;
    bool is_whole;   /* both ends are attained somewhere: a bound that is no guess */
    bool is_assumed; /* rests on `eps` fields being above 0 and the like */
    bool is_rounded; /* 0 is an end only because small numbers round to it: `exp` */
    bool is_mixed;   /* elements of different kinds lie side by side: constants, and others */
    /* Of an operand that nobody knows: whether the end is ever reached nobody knows either. */
    bool lo_guessed, hi_guessed;
} interval;

enum interval_need {
    INTERVAL_ANY,
    INTERVAL_POSITIVE,    /* `log`, the base of `pow` */
    INTERVAL_NONZERO,     /* divisors, `recip` */
    INTERVAL_NONNEGATIVE, /* `sqrt` */
};

enum check { CHECK_HOLDS, CHECK_FAILS, CHECK_UNKNOWN };

interval interval_unknown(void);
interval interval_all(void);
interval interval_point(double at);
/* [lo, hi] */
interval interval_between(double lo, double hi);

static inline interval interval_above(interval it, bool is_open)
{
    it.lo_open = is_open;
    return it;
}

/* Either of the two. */
interval interval_join(interval a, interval b);
/* As `before`, but ends that `after` moved go to infinity: for what changes from round to round. */
interval interval_widen(interval before, interval after);

enum interval_operator {
    INTERVAL_ADD,
    INTERVAL_SUB,
    INTERVAL_MUL,
    INTERVAL_DIV,
    INTERVAL_MIN,
    INTERVAL_MAX
};

interval interval_combine(enum interval_operator operator, interval a, interval b);

/* Functions of one operand, by the name the table of operations has for them: INTERVAL_EXP, ... */
enum interval_function {
    INTERVAL_EXP,
    INTERVAL_LOG,
    INTERVAL_SQRT,
    INTERVAL_SQUARE,
    INTERVAL_ABS,
    INTERVAL_NEG,
    INTERVAL_RECIP,
    INTERVAL_RELU,
    INTERVAL_SIGMOID,
    INTERVAL_TANH,
    INTERVAL_WAVE,  /* sin, cos */
    INTERVAL_ROUND, /* floor, ceil, round */
    INTERVAL_SIGN,
    INTERVAL_SILU,
    INTERVAL_GELU,
    INTERVAL_ELU
};

interval interval_apply(enum interval_function function, interval of);
/* `sum` over at least one element. */
interval interval_sum(interval of);
/* Several elements as one: of a mixture, nobody knows which ends that attains. */
interval interval_merged(interval of);
/* To a float type with this smallest normal number: what is smaller becomes 0. */
interval interval_narrow(interval of, double smallest);

/* CHECK_UNKNOWN only for what is not known, or rests on ends nobody attains but by rounding. */
enum check interval_check(interval of, enum interval_need need);
/*
 * `real`, `non_negative`, `strictly_positive`, `unknown`,
 * `saturating_unit(f32_upper=16.6355,f32_lower=-88.7228)`: the words of model/1.
 */
const char *interval_label(interval of);
/* The same for people, after the name of a value: `can be 0, but not below`. */
const char *interval_phrase(interval of);

#endif
