#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>

#include "exec/questions.h"
#include "support/capture.h"

#include <cmocka.h>

static void add_producer(const evidence *from, const origin_answer *answer, const char *what,
                         const origin_row *row, buf *out)
{
    buf_addf(out, "%s ", what);
    capture_add_text(from, row->label, out);
    buf_byte(out, ' ');
    capture_add_text(from, row->span_id, out);
    buf_byte(out, ' ');
    capture_add_text(from, row->operation, out);
    buf_addf(out, " %" PRIu64 "/%" PRIu64 " (", row->non_finite, row->elements);
    for (uint32_t i = 0; i < row->inputs_count; i++) {
        buf_addf(out, "%s", i > 0 ? " " : "");
        capture_add_text(from, answer->names.at[row->inputs_at + i], out);
    }
    buf_addf(out, ")\n");
}

/* One line for every answer that is given. */
static void expect_origin(evidence *from, const char *want)
{
    origin_answer answer;
    buf out;

    assert_int_equal(origin_find(from->heap, from, &answer, NULL), CG_OK);
    buf_init(&out, from->heap, SIZE_MAX);
    if (answer.has_origin)
        add_producer(from, &answer, "origin", &answer.origin, &out);
    if (answer.cannot_tell)
        buf_addf(&out, "cannot tell\n");
    for (size_t i = 0; i < answer.other_producers.count; i++)
        add_producer(from, &answer, "other", &answer.other_producers.at[i], &out);
    for (size_t i = 0; i < answer.propagators.count; i++) {
        buf_addf(&out, "passes ");
        capture_add_text(from, answer.propagators.at[i].label, &out);
        buf_addf(&out, " %" PRIu64 "\n", answer.propagators.at[i].non_finite);
    }
    if (answer.has_earliest) {
        buf_addf(&out, "earliest ");
        capture_add_text(from, answer.earliest.label, &out);
        buf_byte(&out, ' ');
        capture_add_text(from, answer.earliest.span_id, &out);
        buf_byte(&out, '\n');
    }
    for (size_t i = 0; i < answer.unrecorded_inputs.count; i++) {
        buf_addf(&out, "unrecorded ");
        capture_add_text(from, answer.unrecorded_inputs.at[i], &out);
        buf_byte(&out, '\n');
    }
    buf_addf(&out, "labels %" PRIu64 "\n", answer.non_finite_labels);
    capture_expect(&out, want);
    buf_free(&out);
    origin_free(&answer);
    evidence_free(from);
}

static void begin(capture *c)
{
    capture_begin(c);
    capture_measured(c, "s1", NULL, "root", 0, 100);
}

/* A tensor and its statistics, as a recorder writes them. */
static void observe(capture *c, const char *span, const char *id, const char *label,
                    uint64_t non_finite)
{
    capture_tensor(c, span, id, label, NULL);
    capture_stats(c, span, label, non_finite);
}

static void finite_input_makes_a_producer(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    observe(&c, "s1", "x", "X", 0);
    capture_op(&c, "s1", "log", "x", "y", 1, 1);
    observe(&c, "s1", "y", "Y", 2);
    expect_origin(capture_complete(&c, 100), "origin Y s1 log 2/8 (X)\nearliest Y s1\nlabels 1\n");
}

static void non_finite_input_makes_a_propagator(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    observe(&c, "s1", "x", "X", 0);
    observe(&c, "s1", "b", "B", 0);
    capture_op(&c, "s1", "log", "x", "y", 1, 1);
    observe(&c, "s1", "y", "Y", 2);
    capture_op(&c, "s1", "add", "b,y", "z", 2, 1);
    observe(&c, "s1", "z", "Z", 3);
    expect_origin(capture_complete(&c, 100),
                  "origin Y s1 log 2/8 (X)\npasses Z 3\nearliest Y s1\nlabels 2\n");
}

static void one_bad_input_is_enough_even_beside_an_unrecorded_one(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    observe(&c, "s1", "x", "X", 0);
    capture_op(&c, "s1", "log", "x", "y", 1, 1);
    observe(&c, "s1", "y", "Y", 2);
    capture_op(&c, "s1", "add", "hidden,y", "z", 2, 1);
    observe(&c, "s1", "z", "Z", 3);
    expect_origin(capture_complete(&c, 100),
                  "origin Y s1 log 2/8 (X)\npasses Z 3\nearliest Y s1\nlabels 2\n");
}

static void a_parameter_without_operation_is_a_producer(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    capture_tensor(&c, "s1", "w", "W", "parameter");
    capture_stats(&c, "s1", "W", 1);
    capture_op(&c, "s1", "mul", "w", "y", 1, 1);
    observe(&c, "s1", "y", "Y", 8);
    expect_origin(capture_complete(&c, 100),
                  "origin W s1 - 1/8 ()\npasses Y 8\nearliest W s1\nlabels 2\n");
}

static void anything_else_without_operation_is_undecided(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    capture_tensor(&c, "s1", "x", "X", "activation");
    capture_stats(&c, "s1", "X", 1);
    expect_origin(capture_complete(&c, 100), "cannot tell\nearliest X s1\nlabels 1\n");
}

static void statistics_without_any_tensor_are_undecided(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    capture_stats(&c, "s1", "loss", 1);
    expect_origin(capture_complete(&c, 100), "cannot tell\nearliest loss s1\nlabels 1\n");
}

static void an_input_without_statistics_is_undecided_and_named(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    observe(&c, "s1", "x", "X", 0);
    capture_tensor(&c, "s1", "m", "mask", NULL);
    capture_op(&c, "s1", "div", "x,t7,m,t7", "y", 1, 1);
    observe(&c, "s1", "y", "Y", 2);
    expect_origin(capture_complete(&c, 100), "cannot tell\nearliest Y s1\nunrecorded t7\n"
                                             "unrecorded mask\nlabels 1\n");
}

static void statistics_of_an_input_that_come_later_do_not_count(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    capture_op(&c, "s1", "log", "x", "y", 1, 1);
    observe(&c, "s1", "y", "Y", 2);
    observe(&c, "s1", "x", "X", 0);
    expect_origin(capture_complete(&c, 100),
                  "cannot tell\nearliest Y s1\nunrecorded X\nlabels 1\n");
}

static void later_producers_are_listed_apart(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    observe(&c, "s1", "x", "X", 0);
    capture_op(&c, "s1", "log", "x", "y", 1, 1);
    observe(&c, "s1", "y", "Y", 2);
    capture_op(&c, "s1", "div", "x,x", "z", 2, 1);
    observe(&c, "s1", "z", "Z", 3);
    expect_origin(capture_complete(&c, 100), "origin Y s1 log 2/8 (X)\nother Z s1 div 3/8 (X)\n"
                                             "earliest Y s1\nlabels 2\n");
}

static void an_undecided_earliest_label_leaves_no_origin(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    observe(&c, "s1", "x", "X", 0);
    capture_stats(&c, "s1", "early", 1);
    capture_op(&c, "s1", "log", "x", "y", 1, 1);
    observe(&c, "s1", "y", "Y", 2);
    expect_origin(capture_complete(&c, 100), "cannot tell\nother Y s1 log 2/8 (X)\n"
                                             "earliest early s1\nlabels 2\n");
}

static void an_undecided_later_label_does_not_hide_the_origin(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    observe(&c, "s1", "x", "X", 0);
    capture_op(&c, "s1", "log", "x", "y", 1, 1);
    observe(&c, "s1", "y", "Y", 2);
    capture_op(&c, "s1", "exp", "h", "z", 2, 1);
    observe(&c, "s1", "z", "Z", 1);
    expect_origin(capture_complete(&c, 100),
                  "origin Y s1 log 2/8 (X)\nearliest Y s1\nunrecorded h\nlabels 2\n");
}

static void an_operation_without_inputs_is_a_producer(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    capture_op(&c, "s1", "full", "", "y", 1, 1);
    observe(&c, "s1", "y", "Y", 8);
    expect_origin(capture_complete(&c, 100), "origin Y s1 full 8/8 ()\nearliest Y s1\nlabels 1\n");
}

static void a_tensor_first_seen_without_label_goes_by_its_later_one(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    capture_tensor(&c, "s1", "x", NULL, NULL);
    observe(&c, "s1", "x", "X", 0);
    capture_op(&c, "s1", "log", "x", "y", 1, 1);
    observe(&c, "s1", "y", "Y", 2);
    expect_origin(capture_complete(&c, 100), "origin Y s1 log 2/8 (X)\nearliest Y s1\nlabels 1\n");
}

static void a_label_is_counted_and_listed_once(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    observe(&c, "s1", "x", "X", 0);
    capture_op(&c, "s1", "log", "x", "y", 1, 1);
    observe(&c, "s1", "y", "Y", 2);
    capture_stats(&c, "s1", "Y", 4);
    capture_stats(&c, "s1", "Y", 5);
    expect_origin(capture_complete(&c, 100), "origin Y s1 log 2/8 (X)\nearliest Y s1\nlabels 1\n");
}

/* Three rounds of a loop, one label, a tensor of its own each: the second round goes bad. */
static void a_repeated_label_is_joined_round_by_round(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    observe(&c, "s1", "h0", "h", 0);
    capture_op(&c, "s1", "exp", "h0", "h1", 1, 1);
    observe(&c, "s1", "h1", "h", 0);
    capture_op(&c, "s1", "log", "h1", "h2", 2, 1);
    observe(&c, "s1", "h2", "h", 3);
    capture_op(&c, "s1", "neg", "h2", "h3", 3, 1);
    observe(&c, "s1", "h3", "h", 4);
    expect_origin(capture_complete(&c, 100), "origin h s1 log 3/8 (h)\nearliest h s1\nlabels 1\n");
}

static void a_repeated_label_is_joined_within_its_span_first(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    capture_span(&c, "s2", "s1", "a", 0, 40);
    capture_span(&c, "s3", "s1", "b", 40, 40);
    observe(&c, "s1", "x", "X", 0);
    capture_op(&c, "s2", "exp", "x", "h1", 1, 1);
    capture_tensor(&c, "s2", "h1", "h", NULL); /* no statistics in this round */
    capture_op(&c, "s3", "log", "x", "h2", 41, 1);
    observe(&c, "s3", "h2", "h", 3);
    expect_origin(capture_complete(&c, 100), "origin h s3 log 3/8 (X)\nearliest h s3\nlabels 1\n");
}

static void a_second_label_on_one_value_passes_it_on(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    capture_span(&c, "s2", "s1", "next", 50, 40);
    observe(&c, "s1", "x", "X", 0);
    capture_op(&c, "s1", "log", "x", "y", 1, 1);
    observe(&c, "s1", "y", "one/out", 2);
    observe(&c, "s2", "y", "two/in", 2);
    expect_origin(capture_complete(&c, 100), "origin one/out s1 log 2/8 (X)\npasses two/in 2\n"
                                             "earliest one/out s1\nlabels 2\n");
}

static void statistics_made_before_the_tensor_event_are_joined(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    observe(&c, "s1", "x", "X", 0);
    capture_stats(&c, "s1", "Y", 2);
    capture_tensor(&c, "s1", "y", "Y", NULL);
    capture_op(&c, "s1", "log", "x", "y", 1, 1);
    expect_origin(capture_complete(&c, 100), "origin Y s1 log 2/8 (X)\nearliest Y s1\nlabels 1\n");
}

static void an_id_written_again_counts_with_its_latest_value(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    capture_span(&c, "s2", "s1", "repair", 20, 10);
    observe(&c, "s1", "x", "X", 0);
    capture_op(&c, "s1", "log", "x", "t", 1, 1);
    observe(&c, "s1", "t", "T", 2);
    capture_op(&c, "s2", "where", "x", "t", 21, 1);
    observe(&c, "s2", "t", "repaired", 0);
    capture_op(&c, "s1", "sqrt", "t", "y", 40, 1);
    observe(&c, "s1", "y", "Y", 1);
    expect_origin(capture_complete(&c, 100),
                  "origin T s1 log 2/8 (X)\nother Y s1 sqrt 1/8 (T)\nearliest T s1\nlabels 2\n");
}

static void an_operation_in_place_is_judged_by_the_value_it_found(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    observe(&c, "s1", "t", "before", 0);
    capture_op(&c, "s1", "log_", "t", "t", 1, 1);
    observe(&c, "s1", "t", "after", 2);
    expect_origin(capture_complete(&c, 100),
                  "origin after s1 log_ 2/8 (before)\nearliest after s1\nlabels 1\n");
}

static void stream_order_is_not_the_order_of_span_ids(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    capture_span(&c, "s9", "s1", "first", 0, 10);
    capture_span(&c, "s10", "s1", "second", 10, 10);
    observe(&c, "s1", "x", "X", 0);
    capture_op(&c, "s9", "log", "x", "y", 1, 1);
    observe(&c, "s9", "y", "Y", 2);
    capture_op(&c, "s10", "div", "x", "z", 11, 1);
    observe(&c, "s10", "z", "A", 3);
    expect_origin(capture_complete(&c, 100), "origin Y s9 log 2/8 (X)\nother A s10 div 3/8 (X)\n"
                                             "earliest Y s9\nlabels 2\n");
}

static void all_finite_is_said_so(void **state)
{
    capture c;

    (void)state;
    begin(&c);
    observe(&c, "s1", "x", "X", 0);
    expect_origin(capture_complete(&c, 100), "labels 0\n");
}

static void a_failed_capture_is_answered(void **state)
{
    capture c;

    (void)state;
    capture_begin(&c);
    capture_open(&c, "s1", NULL, "root", 0, true);
    observe(&c, "s1", "x", "X", 0);
    capture_op(&c, "s1", "log", "x", "y", 1, 1);
    observe(&c, "s1", "y", "Y", 2);
    expect_origin(capture_failed(&c, 100), "origin Y s1 log 2/8 (X)\nearliest Y s1\nlabels 1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finite_input_makes_a_producer),
        cmocka_unit_test(non_finite_input_makes_a_propagator),
        cmocka_unit_test(one_bad_input_is_enough_even_beside_an_unrecorded_one),
        cmocka_unit_test(a_parameter_without_operation_is_a_producer),
        cmocka_unit_test(anything_else_without_operation_is_undecided),
        cmocka_unit_test(statistics_without_any_tensor_are_undecided),
        cmocka_unit_test(an_input_without_statistics_is_undecided_and_named),
        cmocka_unit_test(statistics_of_an_input_that_come_later_do_not_count),
        cmocka_unit_test(later_producers_are_listed_apart),
        cmocka_unit_test(an_undecided_earliest_label_leaves_no_origin),
        cmocka_unit_test(an_undecided_later_label_does_not_hide_the_origin),
        cmocka_unit_test(an_operation_without_inputs_is_a_producer),
        cmocka_unit_test(a_tensor_first_seen_without_label_goes_by_its_later_one),
        cmocka_unit_test(a_label_is_counted_and_listed_once),
        cmocka_unit_test(a_repeated_label_is_joined_round_by_round),
        cmocka_unit_test(a_repeated_label_is_joined_within_its_span_first),
        cmocka_unit_test(a_second_label_on_one_value_passes_it_on),
        cmocka_unit_test(statistics_made_before_the_tensor_event_are_joined),
        cmocka_unit_test(an_id_written_again_counts_with_its_latest_value),
        cmocka_unit_test(an_operation_in_place_is_judged_by_the_value_it_found),
        cmocka_unit_test(stream_order_is_not_the_order_of_span_ids),
        cmocka_unit_test(all_finite_is_said_so),
        cmocka_unit_test(a_failed_capture_is_answered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
