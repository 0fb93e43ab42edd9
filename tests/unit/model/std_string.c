/* Strings, formats and macros: handlers of std_functions.def. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/workbench.h"

static void formats_put_values_where_they_stand(void **state)
{
    (void)state;
    assert_printed(&b, macro(&b, "format", text(&b, "l.{}.{}"), number(&b, 3), text(&b, "w"), 0),
                   "l.3.w");
    assert_printed(&b, macro(&b, "format", text(&b, "{1}-{0}"), number(&b, 3), text(&b, "w"), 0),
                   "w-3");
    assert_printed(&b, macro(&b, "format", text(&b, "{{{}}}"), number(&b, 3), 0), "{3}");
    assert_printed(&b, macro(&b, "format", text(&b, "{:02}"), number(&b, 3), 0), "03");
    assert_printed(&b, macro(&b, "format", text(&b, "l{}"), symbol(&b, "i"), 0), "l{i}");
    assert_printed(&b, macro(&b, "format", text(&b, "plain"), 0), "plain");
}

static void names_in_formats_are_captured(void **state)
{
    (void)state;
    sym names[4];
    value_field fields[2];
    val named;

    assert_int_equal(std_captures(b.eval, CG_LIT("{a}.{b:02}.{a}.{}.{{x}}.{:w$}"), names, 4), 3);
    fields[0] = (value_field){names[0], number(&b, 1)};
    fields[1] = (value_field){names[1], number(&b, 2)};
    named = value_struct(b.eval->values, 0, fields, 2);
    assert_printed(&b, macro(&b, "format", text(&b, "{a}.{b:02}.{}"), text(&b, "z"), named, 0),
                   "1.02.z");
}

static void a_choice_in_a_format_is_a_choice_of_texts(void **state)
{
    (void)state;
    val which = either(&b, text(&b, "q"), text(&b, "k"));
    val whole = macro(&b, "format", text(&b, "{}_proj{}"), which, which, 0);

    assert_int_equal(kind_of(whole), VALUE_CHOICE);
    assert_int_equal(value_at(b.eval->values, whole)->count, 2);
}

static void holes_survive_what_is_done_around_them(void **state)
{
    (void)state;
    val key = macro(&b, "format", text(&b, "layer.{}.w"), symbol(&b, "i"), 0);

    assert_printed(&b, on(&b, key, "replace", text(&b, "."), text(&b, "_"), 0), "layer_{i}_w");
    assert_int_equal(truth_of(on(&b, key, "starts_with", text(&b, "layer"), 0)), 1);
    assert_int_equal(truth_of(on(&b, key, "starts_with", text(&b, "block"), 0)), 0);
    assert_int_equal(truth_of(on(&b, key, "ends_with", text(&b, "i.w"), 0)), -1);
    assert_int_equal(truth_of(on(&b, key, "is_empty", 0)), 0);
    assert_printed(&b, on(&b, key, "to_string", 0), "layer.{i}.w");
}

static void literals_are_computed(void **state)
{
    (void)state;
    val key = text(&b, "model.layers.0");

    assert_printed(&b, on(&b, key, "len", 0), "14");
    assert_int_equal(truth_of(on(&b, key, "contains", text(&b, "layers"), 0)), 1);
    assert_printed(&b, on(&b, on(&b, key, "strip_prefix", text(&b, "model."), 0), "unwrap", 0),
                   "layers.0");
    assert_int_equal(kind_of(on(&b, key, "strip_suffix", text(&b, "x"), 0)), VALUE_NOTHING);
    assert_printed(&b, on(&b, key, "trim_start_matches", text(&b, "model."), 0), "layers.0");
    assert_printed(&b, on(&b, text(&b, " A "), "trim", 0), "A");
    assert_printed(&b, on(&b, text(&b, "Ab"), "to_lowercase", 0), "ab");
    assert_printed(&b, on(&b, on(&b, key, "split", text(&b, "."), 0), "len", 0), "3");
    assert_printed(
        &b, on(&b, on(&b, on(&b, key, "split", text(&b, "."), 0), "last", 0), "unwrap", 0), "0");
    assert_printed(&b, on(&b, text(&b, "12"), "parse", 0), "12");
    assert_printed(&b, on(&b, text(&b, "ab"), "repeat", number(&b, 2), 0), "abab");
    assert_int_equal(kind_of(on(&b, key, "split_once", text(&b, "."), 0)), VALUE_SOME);
    assert_printed(&b, on(&b, on(&b, text(&b, "abc"), "chars", 0), "count", 0), "3");
}

static void strings_grow(void **state)
{
    (void)state;
    val grown;

    on(&b, called(&b, "std::string::String::new", 0), "push_str", text(&b, "ab"), 0);
    grown = b.eval->updated_receiver;
    assert_printed(&b, grown, "ab");
    on(&b, grown, "push_str", symbol(&b, "i"), 0);
    assert_printed(&b, b.eval->updated_receiver, "ab{i}");
    assert_printed(&b, macro(&b, "concat", text(&b, "a"), number(&b, 1), 0), "a1");
}

static void macros_give_what_they_are(void **state)
{
    (void)state;
    assert_int_equal(kind_of(macro(&b, "panic", text(&b, "no"), 0)), VALUE_NEVER);
    assert_int_equal(kind_of(macro(&b, "bail", text(&b, "no"), 0)), VALUE_NEVER);
    assert_int_equal(kind_of(macro(&b, "anyhow", text(&b, "no"), 0)), VALUE_ERROR);
    assert_int_equal(kind_of(macro(&b, "println", text(&b, "no"), 0)), VALUE_UNIT);
    assert_int_equal(kind_of(macro(&b, "assert_eq", number(&b, 1), number(&b, 1), 0)), VALUE_UNIT);
    assert_int_equal(kind_of(macro(&b, "matches", number(&b, 1), 0)), VALUE_BOOL);
    assert_int_equal(macro(&b, "of_somebody_else", number(&b, 1), 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(formats_put_values_where_they_stand, begin, end),
        cmocka_unit_test_setup_teardown(names_in_formats_are_captured, begin, end),
        cmocka_unit_test_setup_teardown(a_choice_in_a_format_is_a_choice_of_texts, begin, end),
        cmocka_unit_test_setup_teardown(holes_survive_what_is_done_around_them, begin, end),
        cmocka_unit_test_setup_teardown(literals_are_computed, begin, end),
        cmocka_unit_test_setup_teardown(strings_grow, begin, end),
        cmocka_unit_test_setup_teardown(macros_give_what_they_are, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
