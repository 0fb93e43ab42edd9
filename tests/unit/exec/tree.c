#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exec/questions.h"
#include "support/capture.h"

#include <cmocka.h>

static void add_optional(buf *out, const char *name, opt_u64 value)
{
    if (value.is_set)
        buf_addf(out, " %s=%" PRIu64, name, value.value);
}

/* `path xCOUNT total/self device= allocated= peak= net= share=` a line, after the measured time. */
static void expect_tree(const evidence *from, const char *want)
{
    tree_list list;
    buf out;

    assert_int_equal(tree_build(from->heap, from, &list, NULL), CG_OK);
    buf_init(&out, from->heap, SIZE_MAX);
    if (list.measured_ns.is_set)
        buf_addf(&out, "%" PRIu64 "\n", list.measured_ns.value);
    for (uint32_t i = 0; i < list.rows.count; i++) {
        const tree_row *row = &list.rows.at[i];
        uint32_t depth = row->parent == TRACE_NONE ? 0 : list.rows.at[row->parent].depth + 1;

        assert_int_equal(row->depth, depth);
        tree_path(from, &list, i, &out);
        buf_addf(&out, " x%" PRIu64 " %" PRIu64 "/%" PRIu64, row->count, row->host_total_ns,
                 row->host_self_ns);
        add_optional(&out, "device", row->device_ns);
        add_optional(&out, "allocated", row->allocated_bytes);
        add_optional(&out, "peak", row->peak_live_bytes);
        add_optional(&out, "net", row->peak_live_bytes_net);
        if (row->share.is_set)
            buf_addf(&out, " share=%.3f", row->share.value);
        buf_byte(&out, '\n');
    }
    capture_expect(&out, want);
    buf_free(&out);
    tree_free(&list);
}

static void siblings_of_one_name_are_one_row(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_span(&c, "s1", NULL, "root", 0, 200);
    capture_measured(&c, "s2", "s1", "call", 0, 100);
    capture_span(&c, "s3", "s2", "layer", 0, 30);
    capture_span(&c, "s4", "s2", "layer", 30, 20);
    capture_span(&c, "s5", "s3", "norm", 5, 10);
    capture_span(&c, "s6", "s4", "norm", 35, 5);
    capture_op(&c, "s6", "mul", "a", "b", 36, 2);
    e = capture_complete(&c, 200);
    expect_tree(e, "100\n"
                   "root x1 200/100\n"
                   "root > call x1 100/50 share=1.000\n"
                   "root > call > layer x2 50/35 share=0.500\n"
                   "root > call > layer > norm x2 15/13 share=0.150\n");
    evidence_free(e);
}

static void one_name_below_two_rows_is_two_rows(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_measured(&c, "s1", NULL, "root", 0, 100);
    capture_span(&c, "s2", "s1", "a", 0, 10);
    capture_span(&c, "s3", "s1", "b", 10, 20);
    capture_span(&c, "s4", "s2", "norm", 0, 5);
    capture_span(&c, "s5", "s3", "norm", 10, 5);
    e = capture_complete(&c, 100);
    expect_tree(e, "100\n"
                   "root x1 100/70 share=1.000\n"
                   "root > b x1 20/15 share=0.200\n"
                   "root > b > norm x1 5/5 share=0.050\n"
                   "root > a x1 10/5 share=0.100\n"
                   "root > a > norm x1 5/5 share=0.050\n");
    evidence_free(e);
}

static void equal_totals_come_by_name(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_measured(&c, "s1", NULL, "root", 0, 100);
    capture_span(&c, "s2", "s1", "b", 0, 10);
    capture_span(&c, "s3", "s1", "B", 10, 10);
    capture_span(&c, "s4", "s1", "ab", 20, 10);
    e = capture_complete(&c, 100);
    expect_tree(e, "100\n"
                   "root x1 100/70 share=1.000\n"
                   "root > B x1 10/10 share=0.100\n"
                   "root > ab x1 10/10 share=0.100\n"
                   "root > b x1 10/10 share=0.100\n");
    evidence_free(e);
}

static void spans_beside_the_measured_one_have_no_share(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_span(&c, "s1", NULL, "root", 0, 200);
    capture_span(&c, "s2", "s1", "load", 0, 50);
    capture_measured(&c, "s3", "s1", "call", 50, 100);
    e = capture_complete(&c, 200);
    expect_tree(e, "100\n"
                   "root x1 200/50\n"
                   "root > call x1 100/100 share=1.000\n"
                   "root > load x1 50/50\n");
    evidence_free(e);
}

static void a_row_that_is_partly_measured_shares_out_that_part(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_span(&c, "s1", NULL, "root", 0, 200);
    capture_span(&c, "s2", "s1", "step", 0, 50);
    capture_span(&c, "s3", "s2", "net", 0, 40);
    capture_measured(&c, "s4", "s1", "step", 50, 100);
    capture_span(&c, "s5", "s4", "net", 50, 80);
    e = capture_complete(&c, 200);
    expect_tree(e, "100\n"
                   "root x1 200/50\n"
                   "root > step x2 150/30 share=1.000\n"
                   "root > step > net x2 120/120 share=0.800\n");
    evidence_free(e);
}

static void concurrent_spans_share_at_most_the_whole(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_measured(&c, "s1", NULL, "root", 0, 100);
    capture_span(&c, "s2", "s1", "worker", 0, 80);
    capture_span(&c, "s3", "s1", "worker", 10, 80);
    e = capture_complete(&c, 100);
    expect_tree(e, "100\n"
                   "root x1 100/10 share=1.000\n"
                   "root > worker x2 160/160 share=1.000\n");
    evidence_free(e);
}

static void device_time_is_summed_on_one_clock_only(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_measured(&c, "s1", NULL, "root", 0, 100);
    capture_span(&c, "s2", "s1", "one", 0, 10);
    capture_span(&c, "s3", "s1", "one", 10, 10);
    capture_span(&c, "s4", "s1", "two", 20, 5);
    capture_span(&c, "s5", "s1", "two", 30, 5);
    capture_interval(&c, "s2", "cuda:0", "k", 0, 7);
    capture_interval(&c, "s3", "cuda:0", "k", 90, 4);
    capture_interval(&c, "s4", "cuda:0", "k", 20, 3);
    capture_interval(&c, "s5", "cuda:0", "other", 20, 3);
    e = capture_complete(&c, 100);
    expect_tree(e, "100\n"
                   "root x1 100/70 share=1.000\n"
                   "root > one x2 20/20 device=11 share=0.200\n"
                   "root > two x2 10/10 share=0.100\n");
    evidence_free(e);
}

static void memory_is_summed_and_its_peak_is_the_largest_of_the_row(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_measured(&c, "s1", NULL, "root", 0, 100);
    capture_span(&c, "s2", "s1", "layer", 0, 10);
    capture_span(&c, "s3", "s1", "layer", 10, 10);
    capture_span(&c, "s4", "s1", "rest", 20, 10);
    capture_memory(&c, "s2", "alloc", "a", 100, 1);
    capture_memory(&c, "s2", "free", "a", 100, 5);
    capture_memory(&c, "s3", "alloc", "b", 30, 11);
    capture_memory(&c, "s3", "free", "b", 30, 15);
    e = capture_complete(&c, 100);
    expect_tree(e, "100\n"
                   "root x1 100/70 peak=100 net=100 share=1.000\n"
                   "root > layer x2 20/20 allocated=130 peak=100 net=100 share=0.200\n"
                   "root > rest x1 10/10 share=0.100\n");
    evidence_free(e);
}

static void transients_are_netted_beside_the_figure_of_the_wire(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_measured(&c, "s1", NULL, "root", 0, 100);
    capture_memory(&c, "s1", "alloc", "a", 5, 10);
    capture_memory(&c, "s1", "free", "a", 5, 10);
    capture_memory(&c, "s1", "alloc", "b", 5, 10);
    capture_memory(&c, "s1", "free", "b", 5, 10);
    capture_memory(&c, "s1", "alloc", "c", 5, 10);
    capture_memory(&c, "s1", "free", "c", 5, 10);
    e = capture_complete(&c, 100);
    expect_tree(e, "100\nroot x1 100/100 allocated=15 peak=15 net=0 share=1.000\n");
    evidence_free(e);
}

static void a_failed_capture_sums_what_open_spans_hold(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_open(&c, "s1", NULL, "root", 0, false);
    capture_open(&c, "s2", "s1", "call", 0, true);
    capture_span(&c, "s3", "s2", "layer", 0, 30);
    capture_open(&c, "s4", "s2", "layer", 30, false);
    capture_op(&c, "s4", "mul", "a", "b", 40, 10);
    capture_memory(&c, "s4", "alloc", "a", 7, 45);
    capture_interval(&c, "s4", "cuda:0", "k", 0, 6);
    e = capture_failed(&c, 100);
    assert_false(e->has_graph);
    expect_tree(e, "root x1 40/0\n"
                   "root > call x1 40/0\n"
                   "root > call > layer x2 40/30 device=6 allocated=7\n");
    evidence_free(e);
}

static void peaks_of_closed_spans_are_known_in_a_failed_capture(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_open(&c, "s1", NULL, "root", 0, true);
    capture_span(&c, "s2", "s1", "layer", 0, 30);
    capture_span(&c, "s3", "s2", "norm", 10, 10);
    capture_span(&c, "s4", "s1", "head", 30, 10);
    capture_open(&c, "s5", "s1", "head", 40, false);
    capture_memory(&c, "s2", "alloc", "a", 100, 5);
    capture_memory(&c, "s3", "alloc", "b", 20, 12);
    capture_memory(&c, "s2", "free", "a", 100, 25);
    capture_memory(&c, "s4", "alloc", "c", 7, 31);
    capture_memory(&c, "s5", "alloc", "d", 9, 45);
    e = capture_failed(&c, 100);
    expect_tree(e, "root x1 40/0\n"
                   "root > layer x1 30/20 allocated=100 peak=120 net=120\n"
                   "root > layer > norm x1 10/10 allocated=20 peak=20 net=20\n"
                   "root > head x2 10/10 allocated=16\n");
    evidence_free(e);
}

static void a_failed_capture_may_have_a_measured_span(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_open(&c, "s1", NULL, "root", 0, false);
    capture_measured(&c, "s2", "s1", "call", 0, 50);
    capture_span(&c, "s3", "s2", "layer", 0, 30);
    capture_span(&c, "s4", "s2", "layer", 20, 30);
    e = capture_failed(&c, 100);
    expect_tree(e, "50\n"
                   "root x1 50/0\n"
                   "root > call x1 50/0 share=1.000\n"
                   "root > call > layer x2 60/60 share=1.000\n");
    evidence_free(e);
}

static void the_path_of_a_deep_row_is_cut_in_front(void **state)
{
    capture c;
    evidence *e;
    tree_list list;
    buf out;

    (void)state;
    capture_begin(&c);
    capture_measured(&c, "s0", NULL, "top", 0, 100);
    for (unsigned i = 1; i < 200; i++) {
        char id[8];
        char parent[8];

        snprintf(id, sizeof id, "s%u", i);
        snprintf(parent, sizeof parent, "s%u", i - 1);
        capture_span(&c, id, parent, i == 199 ? "end" : "n", 0, 100);
    }
    e = capture_complete(&c, 100);
    assert_int_equal(tree_build(e->heap, e, &list, NULL), CG_OK);
    assert_int_equal(list.rows.count, 200);
    buf_init(&out, e->heap, SIZE_MAX);
    tree_path(e, &list, 199, &out);
    assert_int_equal(out.len, strlen("\xe2\x80\xa6") + 127 * strlen(" > n") + strlen(" > end"));
    assert_memory_equal(out.at, "\xe2\x80\xa6 > n > n", 11);
    assert_memory_equal(out.at + out.len - 10, " > n > end", 10);
    buf_clear(&out);
    tree_path(e, &list, 127, &out);
    assert_memory_equal(out.at, "top > n", 7);
    assert_int_equal(out.len, strlen("top") + 127 * strlen(" > n"));
    buf_free(&out);
    tree_free(&list);
    evidence_free(e);
}

static void sums_stop_at_the_largest_number(void **state)
{
    capture c;
    evidence *e;

    (void)state;
    capture_begin(&c);
    capture_measured(&c, "s1", NULL, "root", 0, UINT64_MAX);
    capture_span(&c, "s2", "s1", "worker", 0, UINT64_MAX - 1);
    capture_span(&c, "s3", "s1", "worker", 1, UINT64_MAX - 1);
    e = capture_complete(&c, UINT64_MAX);
    expect_tree(e, "18446744073709551615\n"
                   "root x1 18446744073709551615/0 share=1.000\n"
                   "root > worker x2 18446744073709551615/18446744073709551615 share=1.000\n");
    evidence_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siblings_of_one_name_are_one_row),
        cmocka_unit_test(one_name_below_two_rows_is_two_rows),
        cmocka_unit_test(equal_totals_come_by_name),
        cmocka_unit_test(spans_beside_the_measured_one_have_no_share),
        cmocka_unit_test(a_row_that_is_partly_measured_shares_out_that_part),
        cmocka_unit_test(concurrent_spans_share_at_most_the_whole),
        cmocka_unit_test(device_time_is_summed_on_one_clock_only),
        cmocka_unit_test(memory_is_summed_and_its_peak_is_the_largest_of_the_row),
        cmocka_unit_test(transients_are_netted_beside_the_figure_of_the_wire),
        cmocka_unit_test(a_failed_capture_sums_what_open_spans_hold),
        cmocka_unit_test(peaks_of_closed_spans_are_known_in_a_failed_capture),
        cmocka_unit_test(a_failed_capture_may_have_a_measured_span),
        cmocka_unit_test(the_path_of_a_deep_row_is_cut_in_front),
        cmocka_unit_test(sums_stop_at_the_largest_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
