#include <setjmp.h>
#include <stdarg.h>

#include "model/gate.h"
#include "model/rules.h"
#include "model/suppress.h"
#include "support/sample.h"

#include <cmocka.h>

static gate_verdict judge(const char *deny)
{
    sc_strs words = {0};
    gate_verdict verdict;

    assert_true(gate_add_words(&sample.mem, str_from(deny), &words));
    assert_true(gate_judge(&sample.mem, &sample.doc, words, &verdict));
    return verdict;
}

static void proven_errors_fail_a_strict_check_only(void **state)
{
    gate_verdict verdict = judge("");

    (void)state;
    assert_int_equal(verdict.proven_errors, 1);
    assert_int_equal(gate_result(&verdict, false, NULL), CG_OK);
    assert_int_equal(gate_result(&verdict, true, NULL), CG_GATE);
}

static void keys_that_a_checkpoint_lacks_fail_a_strict_check_only(void **state)
{
    const gate_verdict verdict = {.missing = 2};

    (void)state;
    assert_int_equal(gate_result(&verdict, false, NULL), CG_OK);
    assert_int_equal(gate_result(&verdict, true, NULL), CG_GATE);
}

static void denied_words_are_codes_or_their_beginnings(void **state)
{
    gate_verdict verdict = judge(" DTYPE , nonsense,,gradient-cut");

    (void)state;
    assert_int_equal(verdict.denied, 1); /* the gradient-cut is conditional */
    assert_int_equal(verdict.unknown.count, 1);
    assert_string_equal(rules[RULE_CODE_DTYPE_CONFLICT].code.ptr, "dtype-conflict");
    assert_int_equal(gate_result(&verdict, false, NULL), CG_GATE);
    assert_false(rule_is_named(CG_LIT("dtype-conflict"), CG_LIT("dtype-")));
    assert_false(rule_is_named(CG_LIT("dtype-conflict"), CG_LIT("dty")));
    assert_false(rule_is_named(CG_LIT("dtype-conflict"), CG_LIT(" ")));
}

static void comments_allow_what_stands_below_them(void **state)
{
    const suppress_comment comments[] = {
        {.file = CG_LIT("src/net.rs"), .line = 29, .code = CG_LIT("dtype-conflict")},
        {.file = CG_LIT("src/net.rs"), .line = 28, .code = CG_LIT("layout-contract")},
        {.file = CG_LIT("src/net.rs"), .line = 22, .code = CG_LIT("gradient-cut")},
    };
    const suppress_list list = {.comments = comments, .comment_count = 3};
    size_t gone;
    const model_finding *first;

    (void)state;
    assert_int_equal(suppress_apply(&sample, &list, &gone, NULL), CG_OK);
    assert_int_equal(gone, 1);
    assert_int_equal(sample.doc.findings.count, 3);
    first = MODEL_AT(sample.doc.findings, model_finding, 0);
    assert_string_equal(first->rule.ptr, "gradient-cut");
    for (size_t i = 1; i < 3; i++)
        assert_string_equal(MODEL_AT(sample.doc.findings, model_finding, i)->rule.ptr,
                            "unused-suppression");
    assert_int_equal(((const model_coverage *)sample.doc.coverage)->diagnostics, 3);
}

static void comments_on_lines_in_a_row_cover_one_line(void **state)
{
    const suppress_comment comments[] = {
        {.file = CG_LIT("src/net.rs"), .line = 28, .code = CG_LIT("dtype")},
        {.file = CG_LIT("src/net.rs"), .line = 29, .code = CG_LIT("gradient-cut")},
    };
    const suppress_list list = {.comments = comments, .comment_count = 2};
    size_t gone;

    (void)state;
    assert_int_equal(suppress_apply(&sample, &list, &gone, NULL), CG_OK);
    assert_int_equal(gone, 1);
}

static void levels_change_rules_everywhere(void **state)
{
    const suppress_level levels[] = {
        {CG_LIT("gradient-cut"), SUPPRESS_ERROR, {0}},
        {CG_LIT("dtype"), SUPPRESS_ALLOW, {0}},
        {CG_LIT("never-heard-of"), SUPPRESS_ALLOW, CG_LIT("candle-graph.toml:3")},
    };
    const suppress_list list = {.levels = levels, .level_count = 3};
    size_t gone;
    const model_finding *finding;

    (void)state;
    assert_int_equal(suppress_apply(&sample, &list, &gone, NULL), CG_OK);
    assert_int_equal(gone, 1);
    finding = MODEL_AT(sample.doc.findings, model_finding, 0);
    assert_int_equal(finding->severity, MODEL_FINDING_SEVERITY_ERROR);
    finding = MODEL_AT(sample.doc.findings, model_finding, 1);
    assert_string_equal(finding->source.ptr, "candle-graph.toml:3");
    assert_non_null(strstr(finding->message.ptr, "no code of that name"));
    assert_int_equal(suppress_word_of(CG_LIT("Deny")), SUPPRESS_ERROR);
    assert_int_equal(suppress_word_of(CG_LIT("off")), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sample_begin, sample_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(proven_errors_fail_a_strict_check_only),
        TEST(keys_that_a_checkpoint_lacks_fail_a_strict_check_only),
        TEST(denied_words_are_codes_or_their_beginnings),
        TEST(comments_allow_what_stands_below_them),
        TEST(comments_on_lines_in_a_row_cover_one_line),
        TEST(levels_change_rules_everywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
