/* Published evidence against what follows from the trace: facts, wording, forgeries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/published.h"

#include <cmocka.h>

#define MARKER                                                                                     \
    ",\n  \"producer\": {\n    \"name\": \"candle-graph\",\n    \"version\": \"" CG_VERSION_TEXT   \
    "\"\n  }"

static int setup(void **state)
{
    static published self;

    published_begin(&self, false);
    *state = &self;
    return 0;
}

static int teardown(void **state)
{
    published_end(*state);
    return 0;
}

static cg_code swallow(void *context, const char *bytes, size_t count)
{
    (void)context;
    (void)bytes;
    (void)count;
    return CG_OK;
}

/* The problem of opening the bundle and writing one document, "" when that works. */
static const char *problem_of(published *self, const char *what)
{
    static cg_err err;
    const cg_format format = {.size = sizeof format};
    const cg_sink sink = {NULL, swallow};
    cg_query query = {.size = sizeof query};
    cg_run *run = NULL;
    cg_code code;

    memset(&err, 0, sizeof err);
    if (cg_run_open(NULL, self->bundle, &run, &err) != CG_OK)
        return err.problem;
    if (strcmp(what, "import") == 0)
        code = cg_write_evidence(run, &format, sink, &err);
    else if (strcmp(what, "summary") == 0)
        code = cg_write_summary(run, &format, sink, &err);
    else if (strcmp(what, "overview") == 0)
        code = cg_write_overview(run, &format, sink, &err);
    else if (cg_query_find(what, &query.kind))
        code = cg_write_query(run, &query, &format, sink, &err);
    else
        code = CG_INTERNAL;
    cg_run_free(run);
    return code == CG_OK ? "" : err.problem;
}

static void forge(published *self, const char *old, const char *text)
{
    published_replace(self, "evidence.json", old, text);
    published_rehash(self, "evidence.json");
}

static void drop_marker(published *self)
{
    published_replace(self, "bundle.json", MARKER, "");
}

static void a_number_is_refused_where_it_is_shown_and_only_there(void **state)
{
    published *self = *state;

    forge(self, "\"host_self_time_ns\": ", "\"host_self_time_ns\": 9");
    assert_string_equal(published_problem(self, CG_VERIFY_BYTES), "");
    assert_string_equal(published_problem(self, CG_VERIFY_SEMANTIC), "bundle-not-rederived");
    assert_string_equal(problem_of(self, "overview"), "");
    assert_string_equal(problem_of(self, "memory"), "");
    assert_string_equal(problem_of(self, "spans"), "bundle-evidence-differs");
    assert_string_equal(problem_of(self, "import"), "bundle-evidence-differs");
}

static void a_forged_total_is_refused_everywhere_it_appears(void **state)
{
    published *self = *state;

    forge(self, "\"outer_wall_time_ns\": 900", "\"outer_wall_time_ns\": 9");
    assert_string_equal(problem_of(self, "overview"), "bundle-evidence-differs");
    assert_string_equal(problem_of(self, "summary"), "bundle-evidence-differs");
    assert_string_equal(problem_of(self, "slowest-host"), "bundle-evidence-differs");
    assert_string_equal(problem_of(self, "tensors"), "");
}

static void the_marker_decides_what_semantic_may_claim(void **state)
{
    published *self = *state;

    published_replace(self, "report.md", "#", "%");
    published_rehash(self, "report.md");
    assert_string_equal(published_problem(self, CG_VERIFY_SEMANTIC), "bundle-not-rederived");
    drop_marker(self);
    assert_string_equal(published_problem(self, CG_VERIFY_SEMANTIC), "");
    assert_string_equal(published_problem(self, CG_VERIFY_STRICT), "bundle-not-rederivable");
}

static void without_the_marker_wording_is_free_and_facts_are_not(void **state)
{
    published *self = *state;

    drop_marker(self);
    forge(self, "\"label\": \"wall time", "\"label\": \"WALL time");
    forge(self, "\"summary\": \"", "\"summary\": \"so ");
    assert_string_equal(published_problem(self, CG_VERIFY_SEMANTIC), "");
    assert_string_equal(problem_of(self, "import"), "");
    forge(self, "\"code\": \"outer_wall_time\"", "\"code\": \"inner_wall_time\"");
    assert_string_equal(published_problem(self, CG_VERIFY_SEMANTIC), "bundle-evidence-differs");
    assert_string_equal(problem_of(self, "import"), "bundle-evidence-differs");
}

static void floats_may_be_off_by_two_units_in_the_last_place(void **state)
{
    published *self = *state;

    drop_marker(self);
    forge(self, "\"rms\": 0.0,", "\"rms\": 1e-323,");
    assert_string_equal(published_problem(self, CG_VERIFY_SEMANTIC), "");
    assert_string_equal(problem_of(self, "tensor-stats"), "");
    forge(self, "\"rms\": 1e-323,", "\"rms\": 1.5e-323,");
    assert_string_equal(published_problem(self, CG_VERIFY_SEMANTIC), "bundle-evidence-differs");
    assert_string_equal(problem_of(self, "tensor-stats"), "bundle-evidence-differs");
    forge(self, "\"rms\": 1.5e-323,", "\"rms\": 0,");
    assert_string_equal(problem_of(self, "tensor-stats"), "bundle-evidence-differs");
}

static void fields_of_later_versions_are_ignored_by_readers_only(void **state)
{
    published *self = *state;

    forge(self, "\"provenance\": {", "\"later\": {}, \"provenance\": {");
    forge(self, "\"memory\": {", "\"memory\": {\"future_plane\": [1], ");
    assert_string_equal(problem_of(self, "overview"), "");
    assert_string_equal(problem_of(self, "memory"), "");
    drop_marker(self);
    assert_string_equal(published_problem(self, CG_VERIFY_SEMANTIC), "bundle-evidence-differs");
}

static void a_field_we_know_is_no_later_field(void **state)
{
    published *self = *state;

    /* Left out for this span, because it is unknown: saying a number is a difference. */
    forge(self, "\"host_total_time_ns\": 1000", "\"host_total_time_ns\": 1000, \"dense_bytes\": 7");
    assert_string_equal(problem_of(self, "spans"), "bundle-evidence-differs");
}

static void data_given_twice_or_besides_is_refused(void **state)
{
    published *self = *state;

    forge(self, "\"tags\": {", "\"tags\": {\"a\": \"b\"");
    assert_string_equal(problem_of(self, "overview"), "bundle-evidence");
    forge(self, "\"tags\": {\"a\": \"b\"", "\"tags\": {");
    assert_string_equal(problem_of(self, "overview"), "");
    forge(self, "\"health\": {", "\"health\": {}, \"health\": {");
    assert_string_equal(problem_of(self, "overview"), "bundle-evidence-differs");
}

static void evidence_of_another_kind_is_refused(void **state)
{
    published *self = *state;

    forge(self, "evidence/4", "evidence/3");
    assert_string_equal(problem_of(self, "overview"), "bundle-evidence");
    forge(self, "evidence/3", "evidence/4");
    forge(self, "graph/5", "graph/4");
    assert_string_equal(problem_of(self, "overview"), "bundle-evidence");
    forge(self, "graph/4", "graph/5");
    forge(self, "\"capture_step\": ", "\"capture_step\": 1");
    assert_string_equal(problem_of(self, "overview"), "bundle-evidence");
    published_write(self, "evidence.json", "[]");
    published_rehash(self, "evidence.json");
    assert_string_equal(problem_of(self, "overview"), "bundle-evidence");
}

static void a_file_this_version_never_writes_is_a_forgery(void **state)
{
    published *self = *state;

    published_write(self, "extra.html", "<script>");
    published_replace(self, "bundle.json", "\"files\": [",
                      "\"files\": [{\"path\": \"extra.html\", \"bytes\": 1, \"sha256\": \"0\"},");
    published_rehash(self, "extra.html");
    assert_string_equal(published_problem(self, CG_VERIFY_BYTES), "");
    assert_string_equal(published_problem(self, CG_VERIFY_SEMANTIC), "bundle-not-rederived");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_number_is_refused_where_it_is_shown_and_only_there),
        TEST(a_forged_total_is_refused_everywhere_it_appears),
        TEST(the_marker_decides_what_semantic_may_claim),
        TEST(without_the_marker_wording_is_free_and_facts_are_not),
        TEST(floats_may_be_off_by_two_units_in_the_last_place),
        TEST(fields_of_later_versions_are_ignored_by_readers_only),
        TEST(a_field_we_know_is_no_later_field),
        TEST(data_given_twice_or_besides_is_refused),
        TEST(evidence_of_another_kind_is_refused),
        TEST(a_file_this_version_never_writes_is_a_forgery),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
