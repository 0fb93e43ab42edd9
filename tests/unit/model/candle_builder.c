/* Builders: prefixes, raw gets, where they come from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/workbench.h"

static void prefixes_are_joined_by_dots_and_empty_parts_stay(void **state)
{
    (void)state;
    val vb = builder(&b);

    vb = on(&b, vb, "pp", text(&b, "a."), 0);
    vb = on(&b, vb, "push_prefix", text(&b, ""), 0);
    vb = on(&b, vb, "pp", text(&b, "b..c"), 0);
    vb = on(&b, vb, "pp", number(&b, 0), 0);
    vb = on(&b, vb, "pp", symbol(&b, "i"), 0);
    vb = on(&b, vb, "pp", symbol(&b, "j"), 0);
    vb = on(&b, vb, "pp", text(&b, "x"), 0);
    on(&b, vb, "get", number(&b, 3), text(&b, "w"), 0);
    assert_string_equal(registered(&b), "a...b..c.0.{i}.{j}.x.w [3]\n");
    on(&b, on(&b, vb, "root", 0), "get", number(&b, 3), text(&b, "w"), 0);
    assert_string_equal(registered(&b), "w [3]\n");
    on(&b, on(&b, vb, "set_prefix", text(&b, "abs"), 0), "get", number(&b, 3), text(&b, "w"), 0);
    assert_string_equal(registered(&b), "abs.w [3]\n");
}

static void every_shape_a_tensor_can_be_asked_with(void **state)
{
    (void)state;
    val vb = builder(&b);
    value unit = {.kind = VALUE_UNIT};

    on(&b, vb, "get", value_make(b.eval->values, &unit), text(&b, "a"), 0);
    on(&b, vb, "get", tuple_of(&b, number(&b, 3), symbol(&b, "n"), 0), text(&b, "b"), 0);
    on(&b, vb, "get", list_of(&b, number(&b, 3), number(&b, 4), 0), text(&b, "c"), 0);
    on(&b, vb, "get_unchecked", text(&b, "d"), 0);
    on(&b, vb, "get_with_hints", symbol(&b, "n"), text(&b, "e"), number(&b, 0), 0);
    on(&b, vb, "get", value_unknown(b.eval->values, 0, CG_LIT("shape")), text(&b, "f"), 0);
    assert_string_equal(registered(&b), "a []\nb [3, n]\nc [3, 4]\nd\ne [n]\nf\n");
}

static void a_name_that_may_be_two_is_asked_for_conditionally(void **state)
{
    (void)state;
    on(&b, builder(&b), "get", number(&b, 3), either(&b, text(&b, "a"), text(&b, "b")), 0);
    assert_non_null(strstr(registered(&b), "b [3] "));
}

static void a_prefix_that_may_be_two_makes_two_builders(void **state)
{
    (void)state;
    val vb = on(&b, builder(&b), "pp", either(&b, text(&b, "a"), text(&b, "b")), 0);

    assert_int_equal(kind_of(vb), VALUE_CHOICE);
    on(&b, vb, "get", number(&b, 3), text(&b, "w"), 0);
    assert_non_null(strstr(registered(&b), "b.w [3] "));
}

static void renamed_builders_ask_conditionally(void **state)
{
    (void)state;
    val vb = on(&b, builder(&b), "rename_f", function(&b, "usize::from"), 0);

    on(&b, vb, "get", number(&b, 3), text(&b, "w"), 0);
    assert_string_equal(registered(&b), "w [3] keys are renamed\n");
}

static void a_name_goes_with_its_prefix_through_a_renamer_into_the_renamed_builder(void **state)
{
    (void)state;
    val vb = on(&b, on(&b, builder(&b), "pp", text(&b, "in"), 0), "rename_f",
                function(&b, "String::from"), 0);

    on(&b, on(&b, vb, "pp", text(&b, "a"), 0), "get", number(&b, 3), text(&b, "w"), 0);
    assert_string_equal(registered(&b), "in.in.a.w [3]\n");
}

static void steps_without_a_registration_stay_unused(void **state)
{
    (void)state;
    val vb = builder(&b);
    val used = on(&b, vb, "pp", text(&b, "used"), 0);

    on(&b, vb, "pp", text(&b, "lost"), 0);
    on(&b, used, "get", number(&b, 3), text(&b, "w"), 0);
    assert_int_equal(b.eval->trail->unused_steps.count, 1);
    assert_string_equal(registered(&b), "used.w [3]\n");
}

static void what_a_checkpoint_contains_is_a_condition(void **state)
{
    (void)state;
    val answer =
        on(&b, on(&b, builder(&b), "pp", text(&b, "a"), 0), "contains_tensor", text(&b, "w"), 0);

    assert_int_equal(kind_of(answer), VALUE_BOOL);
    assert_printed(&b, answer, "contains_tensor(a.w)");
}

static void new_roots_say_where_they_come_from(void **state)
{
    (void)state;
    val vb = called(&b, "candle_nn::VarBuilder::from_mmaped_safetensors",
                    list_of(&b, text(&b, "f"), 0), constant(&b, "candle_core::DType::F16"),
                    constant(&b, "candle_core::Device::Cpu"), 0);

    assert_int_equal(kind_of(vb), VALUE_BUILDER);
    assert_int_equal(b.eval->trail->roots.at[b.eval->trail->roots.count - 1].source, BUILDER_MMAP);
    assert_printed(&b, on(&b, vb, "dtype", 0), "F16");
    vb = called(&b, "candle_nn::VarBuilder::zeros", constant(&b, "candle_core::DType::F32"),
                constant(&b, "candle_core::Device::Cpu"), 0);
    assert_int_equal(kind_of(on(&b, vb, "clone", 0)), VALUE_BUILDER);
    assert_printed(
        &b, on(&b, on(&b, vb, "to_dtype", constant(&b, "candle_core::DType::BF16"), 0), "dtype", 0),
        "BF16");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(prefixes_are_joined_by_dots_and_empty_parts_stay, begin,
                                        end),
        cmocka_unit_test_setup_teardown(every_shape_a_tensor_can_be_asked_with, begin, end),
        cmocka_unit_test_setup_teardown(a_name_that_may_be_two_is_asked_for_conditionally, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_prefix_that_may_be_two_makes_two_builders, begin, end),
        cmocka_unit_test_setup_teardown(renamed_builders_ask_conditionally, begin, end),
        cmocka_unit_test_setup_teardown(
            a_name_goes_with_its_prefix_through_a_renamer_into_the_renamed_builder, begin, end),
        cmocka_unit_test_setup_teardown(steps_without_a_registration_stay_unused, begin, end),
        cmocka_unit_test_setup_teardown(what_a_checkpoint_contains_is_a_condition, begin, end),
        cmocka_unit_test_setup_teardown(new_roots_say_where_they_come_from, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
