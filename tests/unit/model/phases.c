/* Which phases a function belongs to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "model/phases.h"

static uint8_t of(const char *qualified, bool is_loss)
{
    cg_str whole = str_from(qualified);
    size_t colon = str_find_last(whole, ':');
    function_fact fact = {.qualified = whole, .name = whole, .is_loss = is_loss};

    if (colon != SIZE_MAX)
        fact.name = (cg_str){whole.ptr + colon + 1, whole.len - colon - 1};
    return phases_of(&fact);
}

static void losses_train(void **state)
{
    (void)state;
    assert_int_equal(of("Net::score", true), PHASES_TRAIN);
    assert_int_equal(of("Net::forward", true), PHASES_TRAIN);
    assert_int_equal(of("Net::leworld_loss", false), PHASES_TRAIN);
}

static void forward_is_for_both(void **state)
{
    (void)state;
    assert_int_equal(of("Net::forward", false), PHASES_TRAIN | PHASES_INFER);
    assert_int_equal(of("Net::forward_t", false), PHASES_TRAIN | PHASES_INFER);
    assert_int_equal(of("Net::forward_features", false), PHASES_TRAIN);
}

static void names_hint_by_whole_words(void **state)
{
    (void)state;
    assert_int_equal(of("eval_step", false), PHASES_INFER);
    assert_int_equal(of("Net::infer", false), PHASES_INFER);
    assert_int_equal(of("Net::eval_loss", false), PHASES_TRAIN | PHASES_INFER);
    assert_int_equal(of("Net::retrieval", false), PHASES_TRAIN);
    assert_int_equal(of("pretrained", false), PHASES_TRAIN);
}

static void modules_decide_when_the_name_does_not(void **state)
{
    (void)state;
    assert_int_equal(of("evaluation::accuracy", false), PHASES_INFER);
    assert_int_equal(of("evaluation::loss", false), PHASES_TRAIN);
    assert_int_equal(of("models::encode", false), PHASES_TRAIN);
}

static void a_loss_is_named_so_by_a_whole_word(void **state)
{
    (void)state;
    assert_true(phases_is_named_loss(CG_LIT("loss")));
    assert_true(phases_is_named_loss(CG_LIT("value_loss")));
    assert_false(phases_is_named_loss(CG_LIT("lossless")));
    assert_false(phases_is_named_loss(CG_LIT("gloss")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_train),
        cmocka_unit_test(forward_is_for_both),
        cmocka_unit_test(names_hint_by_whole_words),
        cmocka_unit_test(modules_decide_when_the_name_does_not),
        cmocka_unit_test(a_loss_is_named_so_by_a_whole_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
