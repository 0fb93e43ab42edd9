#include "unit/exec/lines.h"

static lines begin(const char *coverage)
{
    lines text = {0};

    lines_add(&text,
              "{'kind':'meta','schema':'candle-graph/trace/10','run_id':'r','correlation_id':'c',"
              "'entrypoint':'e','phase':'infer','timestamp':'t','capture_step':2,"
              "'warmup_steps':1,'device':'cpu','timing_mode':'host','tags':{},'capture_contract':{"
              "'measurement_scope':'unknown','operations':'none','logical_memory':'none',"
              "'physical_memory':'none','device_timing':'%s'}}",
              coverage);
    return text;
}

static void interval(lines *text, const char *span, const char *device, const char *clock,
                     const char *stream, const char *backend, uint64_t start, uint64_t duration)
{
    lines_add(text,
              "{'kind':'device_interval','span_id':'%s','device':'%s','clock_id':'%s',"
              "'stream_id':'%s','backend':'%s','start_ns':%" PRIu64 ",'duration_ns':%" PRIu64 "}",
              span, device, clock, stream, backend, start, duration);
}

static trace_doc *end(lines *text)
{
    lines_complete(text, 0);
    return lines_read(text);
}

static timing_plane build(trace_doc *trace)
{
    timing_plane plane;

    assert_int_equal(timing_build(&trace->heap, trace, &plane, NULL), CG_OK);
    return plane;
}

static void busy_time_is_the_saturating_union_of_intervals(void **state)
{
    lines text = begin("complete");
    trace_doc *trace;
    timing_plane plane;

    (void)state;
    interval(&text, "s", "d", "k", "0", "b", 10, 5);
    interval(&text, "s", "d", "k", "0", "b", UINT64_MAX - 4, 10);
    interval(&text, "s", "d", "k", "0", "b", 0, 10);
    trace = end(&text);
    plane = build(trace);
    assert_int_equal(plane.spans.count, 1);
    assert_int_equal(plane.spans.at[0].busy_ns, 19);
    assert_int_equal(plane.spans.at[0].interval_count, 3);
    assert_int_equal(plane.clocks.at[0].busy_ns, 19);
    assert_int_equal(plane.coverage, LEVEL_COMPLETE);
    timing_free(&plane);
    trace_free(trace);
}

static void intervals_inside_others_add_nothing(void **state)
{
    lines text = begin("none");
    trace_doc *trace;
    timing_plane plane;

    (void)state;
    interval(&text, "s", "d", "k", "0", "b", 0, 100);
    interval(&text, "s", "d", "k", "0", "b", 10, 5);
    interval(&text, "s", "d", "k", "0", "b", 50, 100);
    trace = end(&text);
    plane = build(trace);
    assert_int_equal(plane.clocks.at[0].busy_ns, 150);
    assert_int_equal(plane.coverage, LEVEL_PARTIAL); /* raised by the observation */
    timing_free(&plane);
    trace_free(trace);
}

static void without_intervals_the_declared_level_stays(void **state)
{
    lines text = begin("none");
    trace_doc *trace = end(&text);
    timing_plane plane = build(trace);

    (void)state;
    assert_int_equal(plane.coverage, LEVEL_NONE);
    assert_int_equal(plane.spans.count + plane.clocks.count, 0);
    timing_free(&plane);
    trace_free(trace);
}

static void rows_are_grouped_and_sorted_bytewise(void **state)
{
    lines text = begin("partial");
    trace_doc *trace;
    timing_plane plane;

    (void)state;
    interval(&text, "s2", "d", "k", "1", "b", 0, 1);
    interval(&text, "s10", "e", "k", "1", "b", 0, 2);
    interval(&text, "s10", "d", "l", "1", "b", 0, 4);
    interval(&text, "s10", "d", "k", "1", "b", 0, 8);
    trace = end(&text);
    plane = build(trace);
    assert_int_equal(plane.spans.count, 4);
    assert_int_equal(plane.spans.at[0].busy_ns, 8);
    assert_int_equal(plane.spans.at[1].busy_ns, 4);
    assert_int_equal(plane.spans.at[2].busy_ns, 2);
    assert_int_equal(plane.spans.at[3].busy_ns, 1);
    assert_int_equal(plane.clocks.count, 3);
    assert_int_equal(plane.clocks.at[0].busy_ns, 8); /* (d, k): both spans, overlapping */
    assert_int_equal(plane.clocks.at[0].interval_count, 2);
    assert_int_equal(plane.clocks.at[0].span_id, 0);
    timing_free(&plane);
    trace_free(trace);
}

static void names_are_distinct_and_sorted(void **state)
{
    static const char *const streams[] = {"7", "10", "7", "2", "10"};
    static const char *const want[] = {"10", "2", "7"};
    lines text = begin("partial");
    trace_doc *trace;
    timing_plane plane;

    (void)state;
    for (unsigned i = 0; i < 5; i++)
        interval(&text, "s", "d", "k", streams[i], i % 2 ? "u" : "v", i, 1);
    trace = end(&text);
    plane = build(trace);
    assert_int_equal(plane.spans.at[0].streams_count, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_text(trace_text(trace, plane.names.at[plane.spans.at[0].streams_at + i]), want[i]);
    assert_int_equal(plane.spans.at[0].backends_count, 2);
    assert_text(trace_text(trace, plane.names.at[plane.spans.at[0].backends_at]), "u");
    timing_free(&plane);
    trace_free(trace);
}

static void memory_that_is_refused_is_reported_and_given_back(void **state)
{
    lines text = begin("partial");
    trace_doc *trace;
    bool was_refused = true;
    char name[20];

    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "%u", i);
        interval(&text, i % 3 ? "s" : "r", i % 2 ? "d" : "e", "k", name, "b", 1000 - i, 3);
    }
    trace = end(&text);
    for (size_t k = 1; was_refused; k++) {
        failing refusing = {.fail_at = k};
        heap from;
        timing_plane plane;
        cg_err err = {0};

        heap_init(&from, failing_env(&refusing));
        was_refused = timing_build(&from, trace, &plane, &err) != CG_OK;
        assert_int_equal(err.code, was_refused ? CG_NOMEM : CG_OK);
        timing_free(&plane);
        assert_nothing_held(&refusing, &from);
    }
    trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(busy_time_is_the_saturating_union_of_intervals),
        cmocka_unit_test(intervals_inside_others_add_nothing),
        cmocka_unit_test(without_intervals_the_declared_level_stays),
        cmocka_unit_test(rows_are_grouped_and_sorted_bytewise),
        cmocka_unit_test(names_are_distinct_and_sorted),
        cmocka_unit_test(memory_that_is_refused_is_reported_and_given_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
