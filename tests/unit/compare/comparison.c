#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>

#include "compare/calibration.h"
#include "compare/comparison.h"
#include "compare/text_compare.h"
#include "support/facts.h"
#include "unit/compare/runs.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])
#define RUNS        5

static const uint64_t baseline[RUNS] = {1000, 1040, 990, 1013, 1075};
static const uint64_t candidate[RUNS] = {955, 940, 1003, 971, 969};

/* Two cohorts that are in order; tests change what they are about. */
typedef struct cohorts {
    run_facts runs[COHORT_COUNT][RUNS];
    char ids[COHORT_COUNT][RUNS][24];
    size_t count[COHORT_COUNT];
} cohorts;

static void in_order(cohorts *of)
{
    *of = (cohorts){.count = {RUNS, RUNS}};
    for (size_t i = 0; i < RUNS; i++) {
        snprintf(of->ids[0][i], sizeof of->ids[0][i], "a%zu", i);
        snprintf(of->ids[1][i], sizeof of->ids[1][i], "b%zu", i);
        of->runs[0][i] =
            (run_facts){.id = of->ids[0][i], .sample_ns = baseline[i], .implementation = "ia"};
        of->runs[1][i] =
            (run_facts){.id = of->ids[1][i], .sample_ns = candidate[i], .implementation = "ib"};
    }
}

static void paired(cohorts *of)
{
    static const char *const ids[RUNS] = {"p0", "p1", "p2", "p3", "p4"};

    in_order(of);
    for (size_t i = 0; i < RUNS; i++) {
        of->runs[0][i].pair = ids[i];
        of->runs[1][i].pair = ids[i];
    }
}

static cg_code fill(const cg_env *env, comparison *to, const cohorts *of)
{
    for (unsigned cohort = 0; cohort < COHORT_COUNT; cohort++) {
        for (size_t i = 0; i < of->count[cohort]; i++) {
            source from = run_open(NULL, &of->runs[cohort][i]);
            cg_code code = comparison_take(to, cohort, &from, NULL);

            (void)env;
            source_close(&from);
            if (code != CG_OK)
                return code;
        }
    }
    return CG_OK;
}

static comparison *compare_with(const cohorts *of, opt_f64 min_effect)
{
    comparison *ret;

    assert_int_equal(comparison_new(NULL, true, &ret, NULL), CG_OK);
    assert_int_equal(fill(NULL, ret, of), CG_OK);
    assert_int_equal(comparison_finish(ret, min_effect, NULL), CG_OK);
    return ret;
}

static comparison *compare(const cohorts *of)
{
    return compare_with(of, (opt_f64){0});
}

/* The codes in order of emission, separated by blanks. */
static void expect_reasons(const cohorts *of, const char *want)
{
    comparison *c = compare(of);
    buf got;

    buf_init(&got, &c->heap, SIZE_MAX);
    for (size_t i = 0; i < c->reasons.count; i++) {
        if (i > 0)
            buf_byte(&got, ' ');
        buf_add(&got, c->reasons.at[i].code);
        assert_true(c->reasons.at[i].message.len > 0);
    }
    assert_text(buf_text(&got), want);
    assert_int_equal(c->document.is_comparable, want[0] == '\0');
    assert_int_equal(c->document.verdict == VERDICT_INELIGIBLE, want[0] != '\0');
    assert_int_equal(c->document.interval == NULL, want[0] != '\0');
    buf_free(&got);
    comparison_free(c);
}

static void cohorts_in_order_give_the_vector_of_the_contract(void **state)
{
    cohorts of;
    comparison *c;

    (void)state;
    in_order(&of);
    c = compare(&of);
    assert_true(c->document.is_comparable && !c->document.is_paired);
    assert_int_equal(c->document.verdict, VERDICT_FASTER);
    assert_true(c->document.median_delta_ns == -44.0);
    assert_true(c->document.median_delta_percent.value == -4.343534057255676);
    assert_true(c->interval.lower_delta_ns == -106.0 && c->interval.upper_delta_ns == -10.0);
    assert_text(c->document.baseline_implementation_id, "ia");
    assert_non_null(c->document.identity);
    comparison_free(c);
}

static void pairs_are_in_the_order_of_their_ids(void **state)
{
    cohorts of;
    comparison *c;
    run_facts swap;

    (void)state;
    paired(&of);
    swap = of.runs[1][0];
    of.runs[1][0] = of.runs[1][3];
    of.runs[1][3] = swap;
    c = compare(&of);
    assert_true(c->document.is_paired);
    assert_int_equal(c->document.verdict, VERDICT_INCONCLUSIVE);
    assert_true(c->document.median_delta_ns == -45.0);
    assert_true(c->document.median_delta_percent.value == -4.4422507403751235);
    assert_true(c->interval.lower_delta_ns == -106.0 && c->interval.upper_delta_ns == 13.0);
    comparison_free(c);
}

static void every_run_at_fault_is_named_in_order(void **state)
{
    cohorts of;

    (void)state;
    in_order(&of);
    of.runs[0][1].is_profiled = true;
    of.runs[1][0].is_failed = true;
    of.runs[1][2].has_two_regions = true;
    expect_reasons(&of, "not_production_equivalent incomplete_capture incomplete_capture "
                        "measured_region_count_invalid capture_semantics_mismatch");
    in_order(&of);
    for (size_t i = 0; i < RUNS; i++) {
        of.runs[0][i].device = "cuda:0";
        of.runs[1][i].device = "cuda:0";
    }
    of.count[0] = 1;
    expect_reasons(&of,
                   "unsynchronized_device_region unsynchronized_device_region "
                   "unsynchronized_device_region unsynchronized_device_region "
                   "unsynchronized_device_region unsynchronized_device_region insufficient_runs");
}

static void a_run_given_twice_is_found_across_cohorts(void **state)
{
    cohorts of;

    (void)state;
    in_order(&of);
    of.runs[1][4].id = "a0";
    expect_reasons(&of, "duplicate_run_ids");
}

static void any_difference_of_the_capture_is_one_reason(void **state)
{
    cohorts of;

    (void)state;
    in_order(&of);
    of.runs[0][2].step = 3;
    of.runs[1][2].step = 4;
    expect_reasons(&of, "capture_semantics_mismatch");
    in_order(&of);
    of.runs[1][0].device = "cpu1";
    expect_reasons(&of, "capture_semantics_mismatch");
}

static void identities_are_judged_in_steps(void **state)
{
    cohorts of;

    (void)state;
    in_order(&of);
    of.runs[1][2].has_no_identity = true;
    expect_reasons(&of, "identity_missing implementation_id_missing");
    in_order(&of);
    of.runs[0][0].workload = " ";
    expect_reasons(&of, "incomplete_capture identity_invalid");
    in_order(&of);
    of.runs[1][1].workload = "other";
    expect_reasons(&of, "identity_conditions_differ");
}

static void implementations_are_judged_by_cohort(void **state)
{
    cohorts of;

    (void)state;
    in_order(&of);
    of.runs[0][3].implementation = NULL;
    of.runs[1][3].implementation = "ic";
    expect_reasons(&of, "implementation_id_missing implementation_id_inconsistent");
    in_order(&of);
    for (size_t i = 0; i < RUNS; i++)
        of.runs[1][i].implementation = "ia";
    expect_reasons(&of, "");
}

static void the_first_fault_of_pairing_wins(void **state)
{
    cohorts of;

    (void)state;
    paired(&of);
    of.runs[0][4].pair = "p0";
    of.runs[0][2].pair = NULL;
    expect_reasons(&of, "pairing_incomplete");
    paired(&of);
    of.runs[0][1].pair = "p0";
    of.runs[0][2].pair = NULL;
    expect_reasons(&of, "pair_ids_duplicated");
    paired(&of);
    of.runs[1][4].pair = "p9";
    expect_reasons(&of, "pair_sets_mismatch");
    in_order(&of);
    of.runs[1][4].pair = "p9";
    expect_reasons(&of, "pairing_incomplete");
}

static void a_run_without_a_region_counts_as_zero(void **state)
{
    cohorts of;
    comparison *c;

    (void)state;
    in_order(&of);
    of.runs[0][0].has_no_region = true;
    c = compare(&of);
    assert_int_equal(c->samples[0][0], 0);
    assert_false(c->document.is_comparable);
    comparison_free(c);
}

static void raw_traces_are_never_eligible(void **state)
{
    cohorts of;
    comparison *c;

    (void)state;
    in_order(&of);
    assert_int_equal(comparison_new(NULL, false, &c, NULL), CG_OK);
    assert_int_equal(fill(NULL, c, &of), CG_OK);
    assert_int_equal(comparison_finish(c, (opt_f64){0}, NULL), CG_OK);
    assert_int_equal(c->reasons.count, 1);
    assert_text(c->reasons.at[0].code, "unverified_inputs");
    assert_int_equal(c->inputs.baseline.count, 0);
    comparison_free(c);
}

static void a_least_effect_moves_the_verdict_only(void **state)
{
    cohorts of;
    comparison *c;

    (void)state;
    in_order(&of);
    c = compare_with(&of, (opt_f64){0.5, true});
    assert_int_equal(c->document.verdict, VERDICT_FASTER);
    comparison_free(c);
    c = compare_with(&of, (opt_f64){5, true});
    assert_int_equal(c->document.verdict, VERDICT_INCONCLUSIVE);
    assert_int_equal(c->min_effect.plain_verdict, VERDICT_FASTER);
    assert_true(c->min_effect.threshold_ns == 50.65);
    assert_false(c->min_effect.is_within);
    comparison_free(c);
    c = compare_with(&of, (opt_f64){20, true});
    assert_true(c->min_effect.is_within);
    comparison_free(c);
}

static void a_calibrated_baseline_is_compared_with_itself(void **state)
{
    cohorts of;
    comparison *c;

    (void)state;
    in_order(&of);
    c = compare(&of);
    assert_null(c->document.calibration);
    assert_int_equal(calibration_add(c, NULL), CG_OK);
    assert_non_null(c->document.calibration);
    assert_int_equal(c->calibration.first_runs, 3);
    assert_int_equal(c->calibration.second_runs, 2);
    /* 1000, 990, 1075 against 1040, 1013 */
    assert_true(c->calibration.median_delta_ns == 26.5);
    assert_false(c->calibration.differs);
    assert_true(c->calibration.noise_floor_ns >= 26.5);
    comparison_free(c);
}

#define STATS(label, rms, bad)                                                                     \
    "{'kind':'tensor_stats','span_id':'s2','label':'" label "','shape':[2],'dtype':'f32',"         \
    "'elements':2,'non_finite':" bad ",'rms':" rms ",'abs_max':" rms ",'mean':0.0}"

static void labels_are_matched_whatever_the_verdict(void **state)
{
    cohorts of;
    comparison *c;
    const doc_mechanism_row *rows;

    (void)state;
    in_order(&of);
    of.count[0] = 1;
    of.count[1] = 2;
    of.runs[0][0].more = STATS("same", "2.0", "0") "\n" STATS("twice", "1.0", "0") "\n" STATS(
        "zero", "0.0", "0") "\n" STATS("only/a", "1.0", "0");
    of.runs[1][0].more = STATS("same", "2.0", "0") "\n" STATS("twice", "2.0", "1") "\n" STATS(
        "zero", "3.0", "0") "\n" STATS("only/b", "1.0", "0");
    of.runs[1][1].more = STATS("twice", "2.0", "1");
    c = compare(&of);
    rows = c->tensor_stats.matched.at;
    assert_int_equal(c->tensor_stats.matched.count, 3);
    assert_text(rows[0].label, "zero"); /* no ratio: as far as can be */
    assert_false(rows[0].rms_ratio.is_set);
    assert_text(rows[1].label, "twice");
    assert_true(rows[1].rms_ratio.value == 2.0);
    assert_int_equal(rows[1].non_finite_b, 2);
    assert_int_equal(rows[1].runs_b, 2);
    assert_text(rows[2].label, "same");
    assert_int_equal(c->tensor_stats.unmatched_a.count, 1);
    assert_int_equal(c->tensor_stats.unmatched_b.count, 1);
    comparison_free(c);
}

static void sums_that_overflow_still_have_a_mean(void **state)
{
    cohorts of;
    comparison *c;
    const doc_mechanism_row *rows;

    (void)state;
    in_order(&of);
    of.count[0] = 2;
    of.count[1] = 2;
    for (size_t i = 0; i < 2; i++) {
        of.runs[0][i].more = STATS("big", "1.5e308", "0");
        of.runs[1][i].more = STATS("big", "1.5e308", "0");
    }
    c = compare(&of);
    rows = c->tensor_stats.matched.at;
    assert_true(rows[0].rms_a > 1.49e308 && rows[0].rms_a < 1.51e308);
    assert_false(rows[0].rms_ratio.is_set);
    comparison_free(c);
}

static void expect_first_line(const cohorts *of, opt_f64 min_effect, const char *want)
{
    const text_style style = {.width = 100, .rows = 20};
    comparison *c = compare_with(of, min_effect);
    heap from;
    buf got;

    heap_init(&from, NULL);
    buf_init(&got, &from, SIZE_MAX);
    assert_int_equal(text_comparison(c, &style, facts_sink(&got), NULL), CG_OK);
    assert_text((cg_str){got.at, strcspn(got.at, "\n")}, want);
    buf_free(&got);
    comparison_free(c);
}

static void the_first_line_says_what_may_be_concluded(void **state)
{
    cohorts of;

    (void)state;
    in_order(&of);
    expect_first_line(&of, (opt_f64){0},
                      "Candidate faster by 4.34 %: the 95 % interval −10.5 % to −0.99 % excludes "
                      "zero");
    expect_first_line(&of, (opt_f64){5, true},
                      "Candidate faster, but not shown to be so by 5 %: the 95 % interval −10.5 % "
                      "to −0.99 % (measured:");
    expect_first_line(&of, (opt_f64){20, true},
                      "No change of 20 % or more: the 95 % interval −10.5 % to −0.99 % lies within "
                      "(measured: −4.34 %)");
    paired(&of);
    expect_first_line(&of, (opt_f64){0},
                      "No difference shown: the 95 % interval −10.5 % to +1.28 % includes zero "
                      "(measured: −4.44 %)");
    in_order(&of);
    of.count[0] = 4;
    expect_first_line(&of, (opt_f64){0},
                      "Nothing may be concluded: a cohort has fewer than 5 runs");
}

static cg_code all_of_it(const cg_env *env, const cohorts *of)
{
    comparison *c;
    cg_code code;

    CG_TRY(comparison_new(env, true, &c, NULL));
    code = fill(env, c, of);
    if (code == CG_OK)
        code = comparison_finish(c, (opt_f64){1, true}, NULL);
    if (code == CG_OK)
        code = calibration_add(c, NULL);
    comparison_free(c);
    return code;
}

static void every_refused_request_is_told(void **state)
{
    cohorts of;
    bool is_whole = false;

    (void)state;
    paired(&of);
    of.runs[0][0].more = STATS("a", "2.0", "0");
    of.runs[1][0].more = STATS("a", "2.0", "0");
    /* The 1,000 splits ask for memory again and again: some of those requests will do. */
    for (size_t k = 1; !is_whole; k += k < 200 ? 1 : 997) {
        failing memory = {.fail_at = k};
        cg_code code = all_of_it(failing_env(&memory), &of);
        assert_int_equal(memory.blocks, 0);
        assert_int_equal(memory.bytes, 0);
        is_whole = memory.requests < k;
        /* A table of names can do without some of what it asks for. */
        assert_true(code == CG_OK || (code == CG_NOMEM && !is_whole));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cohorts_in_order_give_the_vector_of_the_contract),
        cmocka_unit_test(pairs_are_in_the_order_of_their_ids),
        cmocka_unit_test(every_run_at_fault_is_named_in_order),
        cmocka_unit_test(a_run_given_twice_is_found_across_cohorts),
        cmocka_unit_test(any_difference_of_the_capture_is_one_reason),
        cmocka_unit_test(identities_are_judged_in_steps),
        cmocka_unit_test(implementations_are_judged_by_cohort),
        cmocka_unit_test(the_first_fault_of_pairing_wins),
        cmocka_unit_test(a_run_without_a_region_counts_as_zero),
        cmocka_unit_test(raw_traces_are_never_eligible),
        cmocka_unit_test(a_least_effect_moves_the_verdict_only),
        cmocka_unit_test(a_calibrated_baseline_is_compared_with_itself),
        cmocka_unit_test(labels_are_matched_whatever_the_verdict),
        cmocka_unit_test(sums_that_overflow_still_have_a_mean),
        cmocka_unit_test(the_first_line_says_what_may_be_concluded),
        cmocka_unit_test(every_refused_request_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
