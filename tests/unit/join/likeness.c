#include "unit/base/failing.h"

#include "join/likeness.h"

static double like(const char *a, const char *b)
{
    double one = likeness_of(str_from(a), str_from(b));

    assert_true(one >= 0.0 && one <= 1.0);
    assert_true(one == likeness_of(str_from(b), str_from(a)));
    return one;
}

static void equal_segments_are_wholly_alike(void **state)
{
    (void)state;
    assert_true(like("self_attn", "self_attn") == 1.0);
    assert_true(like("", "") == 1.0);
}

static void two_spellings_of_one_thing_are_nearly_so(void **state)
{
    (void)state;
    assert_true(like("q_proj", "query") == 0.9);
    assert_true(like("wte", "embed_tokens") == 0.9);
    assert_true(like("LayerNorm", "layer_norm") < 1.0);
    assert_true(like("LayerNorm", "layer_norm") > 0.8);
    assert_true(like("q_proj", "k_proj") < 0.9);
}

static void what_shares_no_word_is_not_alike(void **state)
{
    (void)state;
    assert_true(like("drum", "nerve") == 0.0);
    assert_true(like("", "nerve") == 0.0);
    assert_true(like("#", "0") == 0.0);
}

static void a_leaf_tells_what_a_parameter_is(void **state)
{
    (void)state;
    assert_int_equal(likeness_leaf(CG_LIT("gamma")), LEAF_WEIGHT);
    assert_int_equal(likeness_leaf(CG_LIT("bias")), LEAF_BIAS);
    assert_int_equal(likeness_leaf(CG_LIT("drum")), LEAF_OTHER);
    assert_true(likeness_is_running(CG_LIT("running_mean")));
    assert_true(likeness_is_running(CG_LIT("moving_variance")));
    assert_false(likeness_is_running(CG_LIT("weight")));
    assert_true(likeness_is_counter(CG_LIT("num_batches_tracked")));
    assert_true(likeness_is_head(CG_LIT("lm_head")));
    assert_true(likeness_is_table(CG_LIT("token_embedding")));
    assert_false(likeness_is_table(CG_LIT("lm_head")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_segments_are_wholly_alike),
        cmocka_unit_test(two_spellings_of_one_thing_are_nearly_so),
        cmocka_unit_test(what_shares_no_word_is_not_alike),
        cmocka_unit_test(a_leaf_tells_what_a_parameter_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
