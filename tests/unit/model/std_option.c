/* Option, Result, bool: handlers of std_functions.def. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/workbench.h"

static void unwrapping_takes_what_is_inside(void **state)
{
    (void)state;
    assert_printed(&b, on(&b, some(&b, number(&b, 3)), "unwrap", 0), "3");
    assert_int_equal(kind_of(on(&b, none(&b), "unwrap", 0)), VALUE_NEVER);
    assert_printed(&b, on(&b, none(&b), "unwrap_or", number(&b, 4), 0), "4");
    assert_printed(&b, on(&b, some(&b, number(&b, 3)), "unwrap_or", number(&b, 4), 0), "3");
    assert_int_equal(kind_of(on(&b, none(&b), "ok_or", text(&b, "no"), 0)), VALUE_ERROR);
    assert_printed(&b, on(&b, some(&b, number(&b, 3)), "ok_or", text(&b, "no"), 0), "3");
    assert_printed(&b, on(&b, either(&b, some(&b, number(&b, 3)), none(&b)), "unwrap", 0), "3");
}

static void a_default_for_an_option_nobody_knows_is_a_number_by_name(void **state)
{
    val option = either(&b, some(&b, symbol(&b, "cfg.head_dim")), none(&b));
    value named = *value_at(b.eval->values, option);
    val result;

    (void)state;
    named.text = CG_LIT("cfg.head_dim");
    result = on(&b, value_make(b.eval->values, &named), "unwrap_or", symbol(&b, "d"), 0);
    assert_int_equal(kind_of(result), VALUE_INT);
    assert_printed(&b, result, "cfg.head_dim.unwrap_or(d)");
    result = on(&b, option, "unwrap_or", symbol(&b, "d"), 0);
    assert_int_equal(value_number(b.eval->values, result), EXPR_NONE);
}

static void mapping_applies_to_what_is_there(void **state)
{
    (void)state;
    val from = function(&b, "usize::from");

    assert_int_equal(kind_of(on(&b, none(&b), "map", from, 0)), VALUE_NOTHING);
    assert_printed(&b, on(&b, on(&b, some(&b, number(&b, 3)), "map", from, 0), "unwrap", 0), "3");
    assert_printed(&b, on(&b, number(&b, 5), "map", from, 0), "5");
    assert_int_equal(kind_of(on(&b, some(&b, number(&b, 3)), "and_then",
                                function(&b, "std::option::Option::Some"), 0)),
                     VALUE_SOME);
    assert_printed(&b, on(&b, none(&b), "map_or", number(&b, 9), from, 0), "9");
}

static void being_there_is_known_or_not(void **state)
{
    (void)state;
    val option = either(&b, some(&b, number(&b, 3)), none(&b));

    assert_int_equal(truth_of(on(&b, none(&b), "is_some", 0)), 0);
    assert_int_equal(truth_of(on(&b, none(&b), "is_none", 0)), 1);
    assert_int_equal(truth_of(on(&b, some(&b, number(&b, 3)), "is_some", 0)), 1);
    assert_int_equal(truth_of(on(&b, option, "is_some", 0)), -1);
    assert_int_equal(kind_of(on(&b, option, "is_some", 0)), VALUE_BOOL);
}

static void options_are_combined(void **state)
{
    (void)state;
    val three = some(&b, number(&b, 3));

    assert_int_equal(kind_of(on(&b, three, "zip", none(&b), 0)), VALUE_NOTHING);
    assert_int_equal(kind_of(on(&b, three, "zip", three, 0)), VALUE_SOME);
    assert_printed(&b, on(&b, on(&b, none(&b), "or", three, 0), "unwrap", 0), "3");
    assert_int_equal(kind_of(on(&b, some(&b, three), "flatten", 0)), VALUE_SOME);
    assert_printed(&b, on(&b, on(&b, three, "iter", 0), "len", 0), "1");
    assert_printed(&b, on(&b, on(&b, none(&b), "iter", 0), "len", 0), "0");
}

static void a_transposed_error_is_the_error(void **state)
{
    value error = {.kind = VALUE_ERROR};

    (void)state;
    assert_int_equal(kind_of(on(&b, some(&b, number(&b, 3)), "transpose", 0)), VALUE_SOME);
    assert_int_equal(kind_of(on(&b, some(&b, value_make(b.eval->values, &error)), "transpose", 0)),
                     VALUE_ERROR);
}

static void taking_and_replacing_change_the_receiver(void **state)
{
    (void)state;
    val three = some(&b, number(&b, 3));

    assert_int_equal(on(&b, three, "take", 0), three);
    assert_int_equal(kind_of(b.eval->updated_receiver), VALUE_NOTHING);
    assert_int_equal(on(&b, three, "replace", number(&b, 4), 0), three);
    assert_printed(&b, on(&b, b.eval->updated_receiver, "unwrap", 0), "4");
    assert_printed(&b, on(&b, none(&b), "get_or_insert", number(&b, 5), 0), "5");
    on(&b, three, "is_some", 0);
    assert_int_equal(b.eval->updated_receiver, 0);
}

static void errors_go_through_everything_but_what_asks_for_them(void **state)
{
    (void)state;
    value shape = {.kind = VALUE_ERROR};
    val error = value_make(b.eval->values, &shape);

    assert_int_equal(kind_of(on(&b, error, "map", function(&b, "usize::from"), 0)), VALUE_ERROR);
    assert_int_equal(kind_of(on(&b, error, "ok", 0)), VALUE_NOTHING);
    assert_int_equal(truth_of(on(&b, error, "is_err", 0)), 1);
    assert_printed(&b, on(&b, error, "unwrap_or", number(&b, 4), 0), "4");
    assert_int_equal(kind_of(on(&b, error, "unwrap", 0)), VALUE_NEVER);
}

static void a_condition_decides_about_then(void **state)
{
    (void)state;
    val seven = number(&b, 7);

    assert_int_equal(kind_of(on(&b, truth(&b, false), "then_some", seven, 0)), VALUE_NOTHING);
    assert_int_equal(kind_of(on(&b, truth(&b, true), "then_some", seven, 0)), VALUE_SOME);
    assert_int_equal(kind_of(on(&b, maybe(&b, "c"), "then_some", seven, 0)), VALUE_CHOICE);
    assert_int_equal(
        kind_of(on(&b, maybe(&b, "c"), "then", function(&b, "std::string::String::new"), 0)),
        VALUE_CHOICE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(unwrapping_takes_what_is_inside, begin, end),
        cmocka_unit_test_setup_teardown(a_default_for_an_option_nobody_knows_is_a_number_by_name,
                                        begin, end),
        cmocka_unit_test_setup_teardown(mapping_applies_to_what_is_there, begin, end),
        cmocka_unit_test_setup_teardown(being_there_is_known_or_not, begin, end),
        cmocka_unit_test_setup_teardown(options_are_combined, begin, end),
        cmocka_unit_test_setup_teardown(a_transposed_error_is_the_error, begin, end),
        cmocka_unit_test_setup_teardown(taking_and_replacing_change_the_receiver, begin, end),
        cmocka_unit_test_setup_teardown(errors_go_through_everything_but_what_asks_for_them, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_condition_decides_about_then, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
