#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>

#include "exec/questions.h"
#include "support/capture.h"

#include <cmocka.h>

/* `kind label count first_span_id` a line. */
static void expect_labels(const evidence *from, const char *want)
{
    label_list list;
    buf out;

    assert_int_equal(labels_build(from->heap, from, &list, NULL), CG_OK);
    buf_init(&out, from->heap, SIZE_MAX);
    for (size_t i = 0; i < list.rows.count; i++) {
        const label_row *row = &list.rows.at[i];

        buf_add(&out, label_kind_word(row->kind));
        buf_byte(&out, ' ');
        buf_add(&out, row->label);
        buf_addf(&out, " %" PRIu64 " ", row->count);
        capture_add_text(from, row->first_span_id, &out);
        buf_byte(&out, '\n');
    }
    capture_expect(&out, want);
    buf_free(&out);
    labels_free(&list);
}

static void every_kind_is_listed_by_kind_then_label(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_span(&c, "s1", NULL, "root", 0, 100);
    capture_measured(&c, "s2", "s1", "call", 10, 80);
    capture_op(&c, "s2", "mul", "a", "b", 20, 5);
    capture_op(&c, "s2", "add", "a", "b", 30, 5);
    capture_tensor(&c, "s2", "b", "out", NULL);
    capture_tensor(&c, "s2", "a", NULL, NULL);
    capture_stats(&c, "s1", "out", 0);
    capture_gradient(&c, "vb", "w");
    capture_interval(&c, "s2", "cuda:0", "k", 0, 4);
    e = capture_complete(&c, 100);
    expect_labels(e, "span call 1 s2\nspan root 1 s1\n"
                     "op add 1 s2\nop mul 1 s2\n"
                     "tensor out 1 s2\n"
                     "tensor_stats out 1 s1\n"
                     "gradient vb/w 1 -\n"
                     "device_interval cuda:0 k 1 s2\n");
    evidence_free(e);
}

static void first_span_follows_the_stream_not_the_ids(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_span(&c, "s9", NULL, "root", 0, 100);
    capture_measured(&c, "s3", "s9", "call", 0, 90);
    capture_span(&c, "s2", "s3", "layer", 10, 5);
    capture_span(&c, "s10", "s3", "layer", 20, 5);
    capture_span(&c, "s1", "s3", "layer", 30, 5);
    capture_stats(&c, "s10", "h", 0);
    capture_stats(&c, "s1", "h", 0);
    e = capture_complete(&c, 100);
    expect_labels(e, "span call 1 s3\nspan layer 3 s2\nspan root 1 s9\ntensor_stats h 2 s10\n");
    evidence_free(e);
}

static void gradients_with_one_joined_text_are_one_label(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_measured(&c, "s1", NULL, "root", 0, 100);
    capture_gradient(&c, "a/b", "c");
    capture_gradient(&c, "z", "c");
    capture_gradient(&c, "a", "b/c");
    e = capture_complete(&c, 100);
    expect_labels(e, "span root 1 s1\ngradient a/b/c 2 -\ngradient z/c 1 -\n");
    evidence_free(e);
}

static void one_text_may_be_a_label_of_several_kinds(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_measured(&c, "s1", NULL, "x", 0, 100);
    capture_op(&c, "s1", "x", "x", "x", 20, 5);
    capture_tensor(&c, "s1", "x", "x", NULL);
    capture_stats(&c, "s1", "x", 0);
    capture_stats(&c, "s1", "x", 1);
    e = capture_complete(&c, 100);
    expect_labels(e, "span x 1 s1\nop x 1 s1\ntensor x 1 s1\ntensor_stats x 2 s1\n");
    evidence_free(e);
}

static void a_failed_capture_has_labels(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_open(&c, "s1", NULL, "root", 0, true);
    e = capture_failed(&c, 5);
    expect_labels(e, "span root 1 s1\n");
    evidence_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_listed_by_kind_then_label),
        cmocka_unit_test(first_span_follows_the_stream_not_the_ids),
        cmocka_unit_test(gradients_with_one_joined_text_are_one_label),
        cmocka_unit_test(one_text_may_be_a_label_of_several_kinds),
        cmocka_unit_test(a_failed_capture_has_labels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
