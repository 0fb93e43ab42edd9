#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>

#include "exec/questions.h"
#include "support/capture.h"

#include <cmocka.h>

/* `measured idle`, then `span idle gaps: start+duration after before` a line. */
static void expect_idle(const evidence *from, const char *want)
{
    idle_list list;
    buf out;

    assert_int_equal(idle_build(from->heap, from, &list, NULL), CG_OK);
    buf_init(&out, from->heap, SIZE_MAX);
    if (list.measured_ns.is_set)
        buf_addf(&out, "%" PRIu64, list.measured_ns.value);
    else
        buf_byte(&out, '-');
    buf_addf(&out, " %" PRIu64 "\n", list.idle_ns);
    for (size_t i = 0; i < list.rows.count; i++) {
        const idle_row *row = &list.rows.at[i];

        buf_add(&out, trace_text(from->trace, from->trace->spans.at[row->span].id));
        buf_addf(&out, " %" PRIu64 " %" PRIu64 ": %" PRIu64 "+%" PRIu64 " ", row->idle_ns,
                 row->gap_count, row->largest_start_ns, row->largest_duration_ns);
        capture_add_text(from, row->largest_after, &out);
        buf_byte(&out, ' ');
        capture_add_text(from, row->largest_before, &out);
        buf_byte(&out, '\n');
    }
    capture_expect(&out, want);
    buf_free(&out);
    idle_free(&list);
}

static void spans_and_operations_both_cover_time(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_span(&c, "s1", NULL, "root", 0, 200);
    capture_measured(&c, "s2", "s1", "call", 10, 100);
    capture_span(&c, "s3", "s2", "embed", 10, 20);
    capture_op(&c, "s2", "mul", "a", "b", 40, 10);
    capture_span(&c, "s4", "s2", "head", 80, 30);
    e = capture_complete(&c, 200);
    expect_idle(e, "100 40\ns2 40 2: 50+30 mul head\n");
    evidence_free(e);
}

static void edges_have_no_neighbour_and_the_first_of_equals_is_largest(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_measured(&c, "s1", NULL, "call", 0, 100);
    capture_span(&c, "s2", "s1", "only", 20, 60);
    e = capture_complete(&c, 100);
    expect_idle(e, "100 40\ns1 40 2: 0+20 - only\n");
    evidence_free(e);
}

static void overlapping_and_touching_children_leave_no_gap(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_measured(&c, "s1", NULL, "call", 0, 100);
    capture_span(&c, "s2", "s1", "a", 0, 60);
    capture_span(&c, "s3", "s1", "b", 10, 20);
    capture_span(&c, "s4", "s1", "c", 60, 40);
    e = capture_complete(&c, 100);
    expect_idle(e, "100 0\n");
    evidence_free(e);
}

static void the_neighbour_before_a_gap_is_the_child_that_ended_last(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_measured(&c, "s1", NULL, "call", 0, 100);
    capture_span(&c, "s2", "s1", "long", 0, 60);
    capture_span(&c, "s3", "s1", "short", 10, 20);
    capture_span(&c, "s4", "s1", "next", 70, 30);
    e = capture_complete(&c, 100);
    expect_idle(e, "100 10\ns1 10 1: 60+10 long next\n");
    evidence_free(e);
}

static void time_outside_the_measured_region_is_not_looked_at(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_span(&c, "s1", NULL, "root", 0, 200);
    capture_measured(&c, "s2", "s1", "call", 50, 50);
    capture_span(&c, "s3", "s1", "other", 120, 40);
    capture_op(&c, "s3", "mul", "a", "b", 130, 10);
    e = capture_complete(&c, 200);
    expect_idle(e, "50 0\n");
    evidence_free(e);
}

static void parents_come_by_idle_time_then_id(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_measured(&c, "s1", NULL, "call", 0, 100);
    capture_span(&c, "s9", "s1", "a", 0, 30);
    capture_span(&c, "s2", "s1", "b", 30, 30);
    capture_span(&c, "s10", "s1", "c", 60, 40);
    capture_op(&c, "s9", "x", "", "t", 0, 20);
    capture_op(&c, "s2", "x", "", "t", 30, 20);
    capture_op(&c, "s10", "x", "", "t", 60, 10);
    e = capture_complete(&c, 100);
    expect_idle(e, "100 50\ns10 30 1: 70+30 x -\ns2 10 1: 50+10 x -\ns9 10 1: 20+10 x -\n");
    evidence_free(e);
}

static void a_child_without_length_splits_its_gap(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_measured(&c, "s1", NULL, "call", 0, 100);
    capture_op(&c, "s1", "start", "", "t", 0, 0);
    capture_op(&c, "s1", "tick", "", "t", 40, 0);
    capture_op(&c, "s1", "stop", "", "t", 100, 0);
    e = capture_complete(&c, 100);
    expect_idle(e, "100 100\ns1 100 2: 40+60 tick stop\n");
    evidence_free(e);
}

static void an_open_span_lasts_to_the_end_of_the_capture(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_open(&c, "s1", NULL, "root", 0, false);
    capture_open(&c, "s2", "s1", "call", 0, true);
    capture_span(&c, "s3", "s2", "embed", 0, 20);
    capture_open(&c, "s4", "s2", "head", 50, false);
    capture_op(&c, "s4", "mul", "a", "b", 60, 10);
    e = capture_failed(&c, 100);
    expect_idle(e, "- 70\ns4 40 2: 70+30 mul -\ns2 30 1: 20+30 embed head\n");
    evidence_free(e);
}

static void without_a_measured_span_there_is_no_region(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_open(&c, "s1", NULL, "root", 0, false);
    capture_span(&c, "s2", "s1", "a", 10, 20);
    e = capture_failed(&c, 100);
    expect_idle(e, "- 0\n");
    evidence_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_and_operations_both_cover_time),
        cmocka_unit_test(edges_have_no_neighbour_and_the_first_of_equals_is_largest),
        cmocka_unit_test(overlapping_and_touching_children_leave_no_gap),
        cmocka_unit_test(the_neighbour_before_a_gap_is_the_child_that_ended_last),
        cmocka_unit_test(time_outside_the_measured_region_is_not_looked_at),
        cmocka_unit_test(parents_come_by_idle_time_then_id),
        cmocka_unit_test(a_child_without_length_splits_its_gap),
        cmocka_unit_test(an_open_span_lasts_to_the_end_of_the_capture),
        cmocka_unit_test(without_a_measured_span_there_is_no_region),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
