/* Numbers: handlers of std_functions.def. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/workbench.h"

static void known_numbers_are_computed(void **state)
{
    (void)state;
    assert_printed(&b, on(&b, number(&b, 7), "div_ceil", number(&b, 2), 0), "4");
    assert_printed(&b, on(&b, number(&b, 7), "next_multiple_of", number(&b, 4), 0), "8");
    assert_printed(&b, on(&b, number(&b, 2), "pow", number(&b, 5), 0), "32");
    assert_printed(&b, on(&b, number(&b, 3), "saturating_sub", number(&b, 5), 0), "0");
    assert_printed(&b, on(&b, number(&b, 8), "ilog2", 0), "3");
    assert_printed(&b, on(&b, number(&b, 17), "isqrt", 0), "4");
    assert_printed(&b, on(&b, number(&b, 7), "rem_euclid", number(&b, 4), 0), "3");
    assert_int_equal(truth_of(on(&b, number(&b, 8), "is_power_of_two", 0)), 1);
    assert_int_equal(truth_of(on(&b, number(&b, 9), "is_multiple_of", number(&b, 2), 0)), 0);
    assert_printed(&b, called(&b, "std::cmp::max", number(&b, 2), number(&b, 5), 0), "5");
    assert_printed(&b, called(&b, "usize::pow", number(&b, 2), number(&b, 5), 0), "32");
    assert_printed(&b, on(&b, on(&b, number(&b, 7), "checked_sub", number(&b, 2), 0), "unwrap", 0),
                   "5");
    assert_printed(&b, constant(&b, "u8::MAX"), "255");
}

static void symbols_stay_symbols(void **state)
{
    (void)state;
    val n = symbol(&b, "n");

    assert_printed(&b, on(&b, n, "div_ceil", number(&b, 1), 0), "n");
    assert_printed(&b, on(&b, n, "min", number(&b, 8), 0), "n.min(8)");
    assert_int_equal(kind_of(on(&b, n, "is_power_of_two", 0)), VALUE_BOOL);
    assert_int_equal(truth_of(on(&b, n, "is_power_of_two", 0)), -1);
    assert_printed(&b, on(&b, n, "ilog2", 0), "n.ilog2()");
}

static void floats_are_computed_when_known(void **state)
{
    (void)state;
    value half = {.kind = VALUE_FLOAT, .text = CG_LIT("cfg.ratio")};

    assert_true(value_at(b.eval->values, on(&b, real(&b, 9.0), "sqrt", 0))->as.real == 3.0);
    assert_true(
        value_at(b.eval->values, on(&b, real(&b, 2.0), "powi", number(&b, 3), 0))->as.real == 8.0);
    assert_true(value_at(b.eval->values, constant(&b, "std::f64::consts::PI"))->as.real > 3.14);
    assert_int_equal(kind_of(on(&b, value_make(b.eval->values, &half), "sqrt", 0)), VALUE_FLOAT);
    assert_printed(&b, on(&b, value_make(b.eval->values, &half), "sqrt", 0), "cfg.ratio.sqrt()");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(known_numbers_are_computed, begin, end),
        cmocka_unit_test_setup_teardown(symbols_stay_symbols, begin, end),
        cmocka_unit_test_setup_teardown(floats_are_computed_when_known, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
