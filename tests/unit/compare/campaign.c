/* What a plan may say, and what has become of its captures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compare/campaign.h"
#include "support/faults.h"
#include "support/published.h"

#include <cmocka.h>

#define PLAN(captures)                                                                             \
    "{'schema':'candle-graph/campaign/1','campaign_id':'c','entrypoint':'e',"                      \
    "'planned':[" captures "]}"
/* Of the trace that is published. */
#define ENTRYPOINT "e"
#define STEP       1

#define CAPTURE(step, bundle) "{'capture_step':" step ",'bundle':'" bundle "'}"

/* ' stands for " in plans. */
static cg_str quoted(const char *plan, char *ret, size_t room)
{
    size_t len = strlen(plan);

    assert_true(len < room);
    for (size_t i = 0; i < len; i++)
        ret[i] = plan[i] == '\'' ? '"' : plan[i];
    return (cg_str){ret, len};
}

static campaign *read_plan(const char *path, const char *plan)
{
    char text[4096];
    campaign *ret = NULL;
    cg_err err = {0};

    if (campaign_read_text(NULL, str_from(path), quoted(plan, text, sizeof text), &ret, &err) !=
        CG_OK)
        fail_msg("%s", err.text);
    return ret;
}

static void expect_refusal(const char *plan, const char *problem, const char *part)
{
    char text[4096];
    campaign *none = NULL;
    cg_err err = {0};

    assert_int_equal(
        campaign_read_text(NULL, CG_LIT("plan.json"), quoted(plan, text, sizeof text), &none, &err),
        CG_INPUT);
    assert_null(none);
    assert_string_equal(err.problem, problem);
    if (strstr(err.text, part) == NULL)
        fail_msg("`%s` does not say `%s`", err.text, part);
}

static void assert_str(cg_str have, const char *want)
{
    assert_int_equal(have.len, strlen(want));
    assert_memory_equal(have.ptr, want, have.len);
}

static void captures_stand_by_step_below_the_directory_of_the_plan(void **state)
{
    campaign *plan =
        read_plan("some/where//plan.json", PLAN(CAPTURE("500", "z") "," CAPTURE("0", "a//b")));

    (void)state;
    assert_int_equal(plan->count, 2);
    assert_str(plan->id, "c");
    assert_str(plan->entrypoint, "e");
    assert_int_equal(plan->captures[0].step, 0);
    assert_str(plan->captures[0].bundle, "a//b");
    assert_str(plan->captures[0].path, "some/where/a//b");
    assert_str(plan->captures[1].path, "some/where/z");
    assert_int_equal(campaign_state_count(plan, CAPTURE_STATE_MISSING), 2);
    campaign_free(plan);
    plan = read_plan("plan.json", PLAN(CAPTURE("1", "a")));
    assert_str(plan->captures[0].path, "a");
    campaign_free(plan);
    plan = read_plan("/plan.json", PLAN(CAPTURE("1", "a")));
    assert_str(plan->captures[0].path, "/a");
    campaign_free(plan);
}

static void a_plan_that_could_mean_two_things_is_refused(void **state)
{
    (void)state;
    expect_refusal(PLAN(CAPTURE("1", "a") "," CAPTURE("1", "b")), "campaign-manifest", "step 1");
    expect_refusal(PLAN(CAPTURE("1", "a/b") "," CAPTURE("2", "a/b")), "campaign-manifest", "twice");
    expect_refusal(PLAN(CAPTURE("1", "a/b") "," CAPTURE("2", "a//b")), "campaign-manifest",
                   "twice");
    expect_refusal(PLAN(CAPTURE("1", "a/./b") "," CAPTURE("2", "a/b/")), "campaign-manifest",
                   "twice");
}

static void unsafe_paths_are_refused(void **state)
{
    (void)state;
    expect_refusal(PLAN(CAPTURE("1", "")), "campaign-manifest", "no safe path");
    expect_refusal(PLAN(CAPTURE("1", ".")), "campaign-manifest", "no safe path");
    expect_refusal(PLAN(CAPTURE("1", "/a")), "campaign-manifest", "no safe path");
    expect_refusal(PLAN(CAPTURE("1", "./a")), "campaign-manifest", "no safe path");
    expect_refusal(PLAN(CAPTURE("1", "a/../b")), "campaign-manifest", "no safe path");
    expect_refusal(PLAN(CAPTURE("1", "a\\\\b")), "campaign-manifest", "no safe path");
}

static void what_is_no_plan_is_refused(void **state)
{
    (void)state;
    expect_refusal("", "campaign-manifest", "no JSON");
    expect_refusal("[]", "campaign-manifest", "not an object");
    expect_refusal(PLAN(""), "campaign-manifest", "no capture");
    expect_refusal("{'schema':'candle-graph/campaign/2','campaign_id':'c','entrypoint':'e',"
                   "'planned':[" CAPTURE("1", "a") "]}",
                   "campaign-manifest", "campaign/2");
    expect_refusal("{'schema':'candle-graph/campaign/1','campaign_id':' ','entrypoint':'e',"
                   "'planned':[" CAPTURE("1", "a") "]}",
                   "campaign-manifest", "campaign_id");
    expect_refusal("{'schema':'candle-graph/campaign/1','campaign_id':'c','entrypoint':'',"
                   "'planned':[" CAPTURE("1", "a") "]}",
                   "campaign-manifest", "entrypoint");
    expect_refusal("{'schema':'candle-graph/campaign/1'}", "field-missing", "campaign_id");
}

static void a_file_that_is_not_there_is_told(void **state)
{
    campaign *none = NULL;
    cg_err err = {0};

    (void)state;
    assert_int_equal(campaign_read(NULL, CG_LIT("/nowhere/plan.json"), &none, &err), CG_NOT_FOUND);
    assert_string_equal(err.file, "/nowhere/plan.json");
}

/* --- states --- */

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

/* A plan of the published bundle `b` beside others; the entry point and step of its trace. */
static campaign *plan_at(const published *self, const char *entrypoint, unsigned step)
{
    char path[400];
    char plan[1024];
    char text[1024];
    campaign *ret = NULL;
    cg_err err = {0};
    cg_str written;

    snprintf(plan, sizeof plan,
             "{'schema':'candle-graph/campaign/1','campaign_id':'c','entrypoint':'%s','planned':["
             "{'capture_step':%u,'bundle':'b'},{'capture_step':99,'bundle':'not/yet'}]}",
             entrypoint, step);
    written = quoted(plan, text, sizeof text);
    place_write(self->root, "plan.json", written.ptr, written.len);
    snprintf(path, sizeof path, "%s/plan.json", self->root);
    if (campaign_read(NULL, str_from(path), &ret, &err) != CG_OK)
        fail_msg("%s", err.text);
    return ret;
}

static void expect_state(campaign *plan, unsigned want, const char *message)
{
    const campaign_capture *capture = &plan->captures[0];

    assert_int_equal(campaign_examine_all(plan, NULL), CG_OK);
    assert_int_equal(capture->state, want);
    if (message == NULL)
        assert_null(capture->message.ptr);
    else if (capture->message.ptr == NULL || strstr(capture->message.ptr, message) == NULL)
        fail_msg("`%.*s` does not say `%s`", (int)capture->message.len, capture->message.ptr,
                 message);
    assert_int_equal(plan->captures[1].state, CAPTURE_STATE_MISSING);
    assert_int_equal(campaign_state_count(plan, want), 1);
}

static void a_published_capture_is_told_with_run_and_manifest(void **state)
{
    campaign *plan = plan_at(*state, ENTRYPOINT, STEP);
    source from;

    expect_state(plan, CAPTURE_STATE_PUBLISHED, NULL);
    assert_str(plan->captures[0].run_id, "r");
    assert_int_equal(plan->captures[0].manifest.len, 64);
    assert_int_equal(campaign_examine(plan, 0, &from, NULL), CG_OK);
    assert_non_null(from.trace);
    source_close(&from);
    assert_int_equal(campaign_examine(plan, 1, &from, NULL), CG_OK);
    assert_null(from.trace);
    campaign_free(plan);
}

static void another_entry_point_or_step_is_a_mismatch(void **state)
{
    campaign *plan = plan_at(*state, "elsewhere", STEP);

    expect_state(plan, CAPTURE_STATE_MISMATCH, "elsewhere");
    campaign_free(plan);
    plan = plan_at(*state, ENTRYPOINT, 77);
    expect_state(plan, CAPTURE_STATE_MISMATCH, "77");
    campaign_free(plan);
}

static void a_tampered_bundle_is_a_state_and_no_failure(void **state)
{
    published *self = *state;
    campaign *plan = plan_at(self, ENTRYPOINT, STEP);

    published_replace(self, "trace.jsonl", "root", "rooT");
    expect_state(plan, CAPTURE_STATE_UNVERIFIED, "trace.jsonl");
    campaign_free(plan);
}

static void a_file_in_place_of_a_bundle_is_a_state(void **state)
{
    published *self = *state;
    campaign *plan = plan_at(self, ENTRYPOINT, STEP);
    char aside[400];

    snprintf(aside, sizeof aside, "%s/aside", self->root);
    assert_int_equal(rename(self->bundle, aside), 0);
    place_write(self->root, "b", "x", 1);
    expect_state(plan, CAPTURE_STATE_UNVERIFIED, "no bundle");
    campaign_free(plan);
}

#define STATE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captures_stand_by_step_below_the_directory_of_the_plan),
        cmocka_unit_test(a_plan_that_could_mean_two_things_is_refused),
        cmocka_unit_test(unsafe_paths_are_refused),
        cmocka_unit_test(what_is_no_plan_is_refused),
        cmocka_unit_test(a_file_that_is_not_there_is_told),
        STATE(a_published_capture_is_told_with_run_and_manifest),
        STATE(another_entry_point_or_step_is_a_mismatch),
        STATE(a_tampered_bundle_is_a_state_and_no_failure),
        STATE(a_file_in_place_of_a_bundle_is_a_state),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
