/* Bounds through functions and operators, and what they promise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <cmocka.h>

#include "model/interval.h"

static interval combine(enum interval_operator operator, interval a, interval b)
{
    return interval_combine(operator, a, b);
}

static void assert_ends(interval it, double lo, double hi)
{
    assert_true(it.is_known);
    assert_true(it.lo == lo);
    assert_true(it.hi == hi);
}

static void operators_move_ends(void **state)
{
    interval unit = interval_between(0, 1);

    (void)state;
    assert_ends(combine(INTERVAL_ADD, unit, interval_point(2)), 2, 3);
    assert_ends(combine(INTERVAL_SUB, interval_point(1), unit), 0, 1);
    assert_ends(combine(INTERVAL_MUL, unit, interval_point(-2)), -2, 0);
    assert_ends(combine(INTERVAL_MUL, interval_all(), interval_point(0)), 0, 0);
    assert_ends(combine(INTERVAL_DIV, unit, interval_point(4)), 0, 0.25);
    assert_ends(combine(INTERVAL_MIN, interval_all(), interval_point(3)), -INFINITY, 3);
    assert_ends(combine(INTERVAL_MAX, unit, interval_point(0.5)), 0.5, 1);
    /* One bound is enough. */
    assert_ends(combine(INTERVAL_MAX, interval_unknown(), interval_point(1)), 1, INFINITY);
    assert_false(combine(INTERVAL_ADD, interval_unknown(), unit).is_known);
}

static void functions_know_their_ranges(void **state)
{
    interval positive = interval_above(interval_between(0, INFINITY), true);

    (void)state;
    assert_ends(interval_apply(INTERVAL_EXP, interval_all()), 0, INFINITY);
    assert_false(interval_apply(INTERVAL_EXP, interval_all()).lo_open);
    assert_ends(interval_apply(INTERVAL_SQUARE, interval_between(-3, 2)), 0, 9);
    assert_ends(interval_apply(INTERVAL_ABS, interval_between(-3, -2)), 2, 3);
    assert_ends(interval_apply(INTERVAL_RELU, interval_all()), 0, INFINITY);
    assert_ends(interval_apply(INTERVAL_SQRT, interval_between(4, 9)), 2, 3);
    assert_ends(interval_apply(INTERVAL_RECIP, interval_between(2, 4)), 0.25, 0.5);
    assert_ends(interval_apply(INTERVAL_TANH, interval_unknown()), -1, 1);
    assert_int_equal(interval_check(interval_apply(INTERVAL_RECIP, positive), INTERVAL_NONNEGATIVE),
                     CHECK_HOLDS);
    assert_false(interval_apply(INTERVAL_LOG, interval_unknown()).is_known);
}

static void ends_of_the_unknown_prove_nothing(void **state)
{
    interval unknown = interval_unknown(), one = interval_point(1);
    interval relu = interval_apply(INTERVAL_RELU, unknown);

    (void)state;
    assert_int_equal(interval_check(relu, INTERVAL_POSITIVE), CHECK_FAILS);
    assert_int_equal(
        interval_check(combine(INTERVAL_SUB, one, interval_apply(INTERVAL_EXP, unknown)),
                       INTERVAL_NONNEGATIVE),
        CHECK_UNKNOWN);
    assert_int_equal(interval_check(combine(INTERVAL_SUB, one, relu), INTERVAL_NONNEGATIVE),
                     CHECK_UNKNOWN);
    assert_int_equal(
        interval_check(combine(INTERVAL_SUB, one, interval_apply(INTERVAL_EXP, interval_all())),
                       INTERVAL_NONNEGATIVE),
        CHECK_FAILS);
    assert_int_equal(interval_check(interval_apply(INTERVAL_ELU, unknown), INTERVAL_NONNEGATIVE),
                     CHECK_UNKNOWN);
}

static void promises_are_kept_broken_or_open(void **state)
{
    interval positive = interval_above(interval_between(0, 1), true);

    (void)state;
    assert_int_equal(interval_check(positive, INTERVAL_POSITIVE), CHECK_HOLDS);
    assert_int_equal(interval_check(interval_between(0, 1), INTERVAL_POSITIVE), CHECK_FAILS);
    assert_int_equal(interval_check(interval_all(), INTERVAL_NONNEGATIVE), CHECK_FAILS);
    assert_int_equal(interval_check(interval_between(-2, -1), INTERVAL_NONZERO), CHECK_HOLDS);
    assert_int_equal(interval_check(interval_unknown(), INTERVAL_NONZERO), CHECK_UNKNOWN);
    /* Squares of half numbers become 0. */
    assert_int_equal(interval_check(interval_apply(INTERVAL_SQUARE, positive), INTERVAL_POSITIVE),
                     CHECK_FAILS);
    /* a - b of two that are not negative: nobody knows whether it gets below 0. */
    assert_int_equal(
        interval_check(combine(INTERVAL_SUB, interval_between(0, 1), interval_between(0, 1)),
                       INTERVAL_NONNEGATIVE),
        CHECK_UNKNOWN);
}

static void loops_widen(void **state)
{
    interval it = interval_widen(interval_between(0, 1), interval_between(1, 2));

    (void)state;
    assert_ends(it, 0, INFINITY);
    it = interval_widen(interval_between(0, 1), interval_between(-1, 1));
    assert_ends(it, -INFINITY, 1);
    assert_ends(interval_widen(interval_between(0, 1), interval_between(0, 1)), 0, 1);
}

static void labels_are_the_documents_words(void **state)
{
    (void)state;
    assert_string_equal(interval_label(interval_unknown()), "unknown");
    assert_string_equal(interval_label(interval_all()), "real");
    assert_string_equal(interval_label(interval_between(0, 4)), "non_negative");
    assert_string_equal(interval_label(interval_between(1, 4)), "strictly_positive");
    assert_string_equal(interval_label(interval_between(0, 1)),
                        "saturating_unit(f32_upper=16.6355,f32_lower=-88.7228)");
}

static void phrases_are_plain(void **state)
{
    (void)state;
    assert_string_equal(interval_phrase(interval_unknown()), "can be a number nobody knows");
    assert_string_equal(interval_phrase(interval_all()), "can be 0 or below");
    assert_string_equal(interval_phrase(interval_between(0, 4)), "can be 0, but not below");
    assert_string_equal(interval_phrase(interval_between(1, 4)), "is above 0");
    assert_string_equal(interval_phrase(interval_between(-4, -1)), "is below 0");
    assert_string_equal(interval_phrase(interval_between(0, 1)),
                        "can reach exactly 0 or 1 after rounding");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_move_ends),
        cmocka_unit_test(functions_know_their_ranges),
        cmocka_unit_test(ends_of_the_unknown_prove_nothing),
        cmocka_unit_test(promises_are_kept_broken_or_open),
        cmocka_unit_test(loops_widen),
        cmocka_unit_test(labels_are_the_documents_words),
        cmocka_unit_test(phrases_are_plain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
