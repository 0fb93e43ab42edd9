#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>

#include "support/facts.h"
#include "unit/base/failing.h"

#include <cmocka.h>

static evidence *rich(capture *c)
{
    capture_begin(c);
    facts_rich(c);
    return capture_complete(c, 100);
}

static void findings_name_the_largest_spans(void **state)
{
    capture c;
    evidence *e = rich(&c);

    (void)state;
    assert_int_equal(e->finding_count, 2);
    assert_text(e->findings[0].code, "largest_observed_host_self_time");
    assert_text(e->findings[0].source, "s2");
    assert_int_equal(e->findings[0].qualification, CAPABILITY_COMPLETE);
    assert_text(e->findings[0].summary,
                "of functions and modules `update` has the largest own host time in the measured "
                "region: 0.00 ms");
    assert_text(e->findings[1].code, "largest_observed_device_busy_time");
    assert_text(e->findings[1].source, "s3");
    assert_int_equal(e->findings[1].requires[0], CAPABILITY_DEVICE_TIME);
    assert_int_equal(e->findings[1].qualification, CAPABILITY_PARTIAL);
    evidence_free(e);
}

static void facts_carry_their_numbers(void **state)
{
    capture c;
    evidence *e = rich(&c);

    (void)state;
    assert_int_equal(e->fact_count, 3);
    assert_text(e->facts[0].code, "outer_wall_time");
    assert_int_equal(e->facts[0].value_kind, FACT_DURATION_NS);
    assert_int_equal(e->facts[0].number, 80);
    assert_text(e->facts[1].code, "gradient_observations");
    assert_int_equal(e->facts[1].number, 2);
    assert_text(e->facts[2].code, "logical_peak_live_bytes");
    assert_int_equal(e->facts[2].value_kind, FACT_BYTES);
    assert_int_equal(e->facts[2].number, 96);
    assert_text(e->facts[2].source, "logical_storage_lifetimes");
    evidence_free(e);
}

static void a_failed_capture_has_no_graph_and_no_findings(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    facts_rich(&c);
    e = capture_failed(&c, 100);
    assert_false(e->has_graph);
    assert_int_equal(e->finding_count, 0);
    assert_int_equal(e->fact_count, 1);
    assert_text(e->facts[0].code, "logical_peak_live_bytes");
    evidence_free(e);
}

static void gaps_are_sorted_and_distinct(void **state)
{
    capture c;
    evidence *e;
    uint64_t incomplete = 0;

    (void)state;
    capture_begin(&c);
    facts_rich(&c);
    capture_op(&c, "nowhere", "lost", "", NULL, 20, 1); /* five planes share one reason */
    e = facts_complete(&c, 100);
    for (size_t i = 1; i < e->gaps.count; i++)
        assert_true(str_compare(e->gaps.at[i - 1], e->gaps.at[i]) < 0);
    for (unsigned i = 0; i < CAPABILITY_COUNT; i++)
        incomplete += e->capabilities.at[i].level != CAPABILITY_COMPLETE;
    assert_int_equal(incomplete, CAPABILITY_COUNT);
    assert_int_equal(e->gaps.count, e->health.warning_count + 7);
    evidence_free(e);
}

static void gpu_evidence_is_absent_without_a_directory(void **state)
{
    capture c;
    evidence *e = rich(&c);

    (void)state;
    assert_int_equal(e->gpu.wire.status, GPU_STATUS_UNAVAILABLE);
    assert_true(e->gpu.wire.reason.len > 0);
    assert_int_equal(e->gpu.provenance.binding, BINDING_PARTIAL);
    assert_int_equal(e->gpu.provenance.diagnostics.count, 2);
    assert_int_equal(e->gpu.wire.diagnostics.count, 0);
    evidence_free(e);
}

static void a_view_takes_memory_of_its_own(void **state)
{
    capture c;
    evidence *e = rich(&c);
    uint64_t used = e->heap->used_bytes;
    evidence view;
    heap work;
    memory_list live = {0};

    (void)state;
    evidence_view(e, &work, &view);
    assert_int_equal(memory_peak_set(&view.memory, &live, NULL), CG_OK);
    assert_int_equal(live.count, 2);
    assert_true(work.used_bytes > used);
    assert_int_equal(e->heap->used_bytes, used);
    vec_free(&work, &live);
    assert_int_equal(work.used_bytes, used);
    evidence_free(e);
}

static bool stop_late(void *context, const char *stage, uint64_t done, uint64_t total)
{
    (void)stage;
    (void)total;
    return done < *(const uint64_t *)context;
}

static void progress_can_stop_every_stage(void **state)
{
    capture c;

    (void)state;
    capture_begin(&c);
    facts_rich(&c);
    capture_line(&c, "{'kind':'terminal','outcome':'complete','timestamp_ns':100}");
    for (uint64_t stop = 0; stop < 7; stop++) {
        failing memory = {.fail_at = 0};
        cg_env env = *failing_env(&memory);
        trace_doc *trace = NULL;
        evidence *e = NULL;
        cg_err err = {0};

        assert_int_equal(trace_read_text(&env, (cg_str){c.text, c.len}, &trace, &err), CG_OK);
        env.progress = stop_late;
        env.progress_context = &stop;
        assert_int_equal(evidence_build(&env, trace, &e, &err), CG_INTERRUPTED);
        assert_null(e);
        assert_int_equal(memory.blocks, 0);
    }
}

static void every_refused_request_is_reported_and_nothing_stays(void **state)
{
    capture c;
    cg_code code = CG_NOMEM;

    (void)state;
    capture_begin(&c);
    facts_rich(&c);
    capture_line(&c, "{'kind':'terminal','outcome':'complete','timestamp_ns':100}");
    for (size_t k = 1; code != CG_OK; k++) {
        failing memory = {.fail_at = k};
        const cg_env *env = failing_env(&memory);
        trace_doc *trace = NULL;
        evidence *e = NULL;
        cg_err err = {0};

        code = trace_read_text(env, (cg_str){c.text, c.len}, &trace, &err);
        if (code == CG_OK)
            code = evidence_build(env, trace, &e, &err);
        assert_int_equal(err.code, code);
        assert_true(code == CG_OK || code == CG_NOMEM);
        assert_true(code == CG_OK || e == NULL);
        evidence_free(e);
        assert_int_equal(memory.blocks, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings_name_the_largest_spans),
        cmocka_unit_test(facts_carry_their_numbers),
        cmocka_unit_test(a_failed_capture_has_no_graph_and_no_findings),
        cmocka_unit_test(gaps_are_sorted_and_distinct),
        cmocka_unit_test(gpu_evidence_is_absent_without_a_directory),
        cmocka_unit_test(a_view_takes_memory_of_its_own),
        cmocka_unit_test(progress_can_stop_every_stage),
        cmocka_unit_test(every_refused_request_is_reported_and_nothing_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
