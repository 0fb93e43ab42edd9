#include <setjmp.h>
#include <stdarg.h>

#include "model/baseline.h"
#include "support/sample.h"

#include <cmocka.h>

static void expect_text(const char *want)
{
    buf_byte(&sample_out, '\0');
    assert_string_equal(sample_out.at, want);
}

/* What a comparison with the file says. */
static bool compare(const char *file)
{
    bool is_equal = false;

    buf_clear(&sample_out);
    assert_int_equal(
        baseline_compare(&memory, str_from(file), &sample.doc, &is_equal, &sample_out, NULL),
        CG_OK);
    return is_equal;
}

static const char fingerprint[] = "# candle-graph/model-baseline/1\n"
                                  "component\tnet::Block\tcomponent:net%3A%3ABlock\n"
                                  "component\tnet::Net\tcomponent:net%3A%3ANet\n"
                                  "parameter\tvb\thead.w\tlinear\n"
                                  "parameter\tvb\tlayers.{i}.b\tlinear\n"
                                  "parameter\tvb\tlayers.{i}.w\tlinear\n"
                                  "entrypoint\tnet::Net::forward\n"
                                  "finding\tdtype-conflict\terror\n"
                                  "finding\tgradient-cut\twarning\n";

static const char readable[] =
    "# candle-graph/readable-baseline/1\n"
    "component\tnet::Block\n"
    "component\tnet::Net\n"
    "parameter\tnet::Net\tvb\thead.w\t(3, 4)\tcertain\tlinear\n"
    "parameter\tnet::Net\tvb\tlayers.{i}.b\tdim\tconditional\tlinear\n"
    "parameter\tnet::Net\tvb\tlayers.{i}.w\t(dim, 4 * dim)\tcertain\tlinear\n"
    "entrypoint\tnet::Net::forward\n"
    "finding\tdtype-conflict\tsrc/net.rs\tNet::forward\t`add` gets F32 and U8\terror\tproven\t1\n"
    "finding\tgradient-cut\tsrc/net.rs\t\t`detach` has no backward step\twarning\tconditional\t1\n";

static void the_fingerprint_is_the_references(void **state)
{
    (void)state;
    assert_int_equal(baseline_write(&memory, &sample.doc, BASELINE_FINGERPRINT, &sample_out, NULL),
                     CG_OK);
    expect_text(fingerprint);
    assert_true(compare(fingerprint));
}

static void the_readable_one_has_shapes_and_numbers(void **state)
{
    (void)state;
    assert_int_equal(baseline_write(&memory, &sample.doc, BASELINE_READABLE, &sample_out, NULL),
                     CG_OK);
    expect_text(readable);
    assert_true(compare(readable));
}

static void blocks_are_compared_one_by_one(void **state)
{
    (void)state;
    assert_false(compare("# candle-graph/model-baseline/1\n"
                         "\n"
                         "parameter\tvb\thead.w\tlinear\n"
                         "parameter\tvb\tlayers.{i}.b\tlinear\n"
                         "parameter\tvb\tlayers.{i}.w\tlinear\n"
                         "parameter\tvb\tzz\tlinear   \n"
                         "component\tnet::Net\tcomponent:net%3A%3ANet\n"
                         "entrypoint\tnet::Net::forward\n"
                         "finding\tdtype-conflict\terror\n"));
    expect_text("- parameter\\tvb\\tzz\\tlinear\n"
                "+ component\\tnet::Block\\tcomponent:net%3A%3ABlock\n"
                "+ finding\\tgradient-cut\\twarning\n");
}

static void changes_are_told_in_sentences(void **state)
{
    (void)state;
    assert_false(compare("# candle-graph/readable-baseline/1\n"
                         "component\tnet::Block\n"
                         "component\tnet::Net\n"
                         "parameter\tnet::Net\tvb\thead.w\t(3, 5)\tconditional\tlinear\n"
                         "parameter\tnet::Net\tvb\tlayers.{i}.w\t(dim, 4 * dim)\tcertain\tlinear\n"
                         "parameter\tnet::Net\tvb\told.w\tdim\tcertain\tlinear\n"
                         "entrypoint\tnet::Net::forward\n"
                         "finding\tdtype-conflict\tsrc/net.rs\tNet::forward\t`add` gets F32 and "
                         "U8\terror\tproven\t1\n"));
    expect_text("parameter net::Net vb head.w: shape was `(3, 5)`, is `(3, 4)`; certainty was "
                "`conditional`, is `certain`\n"
                "parameter net::Net vb layers.{i}.b: new\n"
                "parameter net::Net vb old.w: gone\n"
                "finding gradient-cut src/net.rs `detach` has no backward step: new\n");
}

static void other_files_are_refused_with_the_line(void **state)
{
    cg_err error = {0};
    bool is_equal;

    (void)state;
    assert_int_equal(baseline_compare(&memory, CG_LIT("component\tx\ty\n"), &sample.doc, &is_equal,
                                      &sample_out, &error),
                     CG_INPUT);
    error = (cg_err){0};
    assert_int_equal(baseline_compare(&memory,
                                      CG_LIT("# candle-graph/model-baseline/1\n\n# note\n"),
                                      &sample.doc, &is_equal, &sample_out, &error),
                     CG_INPUT);
    assert_int_equal(error.line, 3);
}

static const char findings[] =
    "# candle-graph/findings-baseline/1\n"
    "finding\tdtype-conflict\terror\tproven\tsrc/net.rs\tNet::forward\t`add` gets F32 and U8\t1\n"
    "finding\tgradient-cut\twarning\tconditional\tsrc/net.rs\t\t`detach` has no backward step\t1\n";

static void what_is_known_of_findings_is_taken_out(void **state)
{
    size_t known = 9;
    size_t gone = 9;

    (void)state;
    assert_int_equal(baseline_write(&memory, &sample.doc, BASELINE_FINDINGS, &sample_out, NULL),
                     CG_OK);
    expect_text(findings);
    assert_true(compare(findings));
    assert_int_equal(baseline_take_known(&memory, str_from(findings), &sample, &known, &gone, NULL),
                     CG_OK);
    assert_int_equal(known, 2);
    assert_int_equal(gone, 0);
    assert_int_equal(sample.doc.findings.count, 0);
}

static void a_finding_that_is_graver_than_known_stays(void **state)
{
    size_t known;
    size_t gone;

    (void)state;
    assert_int_equal(
        baseline_take_known(&memory,
                            CG_LIT("# candle-graph/findings-baseline/1\n"
                                   "finding\tdtype-conflict\twarning\tproven\tsrc/net.rs\t"
                                   "Net::forward\t`add` gets F32 and U8\t1\n"
                                   "finding\tgradient-cut\twarning\tconditional\tsrc/net.rs\t\t"
                                   "`detach` has no backward step\t3\n"),
                            &sample, &known, &gone, NULL),
        CG_OK);
    assert_int_equal(known, 1);
    assert_int_equal(gone, 3); /* two more cuts, and the milder conflict */
    assert_int_equal(sample.doc.findings.count, 1);
    assert_true(
        str_equal(MODEL_AT(sample.doc.findings, model_finding, 0)->rule, CG_LIT("dtype-conflict")));
}

static void only_a_file_of_findings_says_what_is_known(void **state)
{
    cg_err error = {0};
    size_t known = 9;
    size_t gone = 9;

    (void)state;
    assert_int_equal(
        baseline_take_known(&memory, str_from(readable), &sample, &known, &gone, &error), CG_INPUT);
    error = (cg_err){0};
    assert_int_equal(baseline_take_known(&memory,
                                         CG_LIT("# candle-graph/findings-baseline/1\n"
                                                "entrypoint\tnet::Net::forward\n"),
                                         &sample, &known, &gone, &error),
                     CG_INPUT);
    assert_int_equal(error.line, 2);
    assert_int_equal(known, 9);
    assert_int_equal(sample.doc.findings.count, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sample_begin, sample_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_fingerprint_is_the_references),
        TEST(the_readable_one_has_shapes_and_numbers),
        TEST(blocks_are_compared_one_by_one),
        TEST(changes_are_told_in_sentences),
        TEST(other_files_are_refused_with_the_line),
        TEST(what_is_known_of_findings_is_taken_out),
        TEST(a_finding_that_is_graver_than_known_stays),
        TEST(only_a_file_of_findings_says_what_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
