/*
 * Random small captures, asked and answered twice: by the questions and by the
 * slowest possible reading of their definition (docs/schemas/query.md). Time is
 * so short that every nanosecond can be looked at.
 *
 * `questions SEED COUNT` repeats a run; a failure names the seed of its capture.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/questions.h"
#include "support/capture.h"

#include <cmocka.h>

enum { MOST_SPANS = 12, MOST_OPS = 20, MOST_NS = 60, TENSORS = 10 };

static uint64_t first_seed = 1;
static uint64_t capture_count = 3000;

static uint64_t seed_of_capture;
static uint64_t state_of_random;

static unsigned below(unsigned limit)
{
    state_of_random = state_of_random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)((state_of_random >> 33) % limit);
}

typedef struct random_span {
    unsigned parent, start, end;
    bool is_open;
} random_span;

/* What was put into the capture, in the order of the stream. */
typedef struct random_op {
    unsigned inputs[2], input_count, output;
} random_op;

typedef struct random_capture {
    random_span spans[MOST_SPANS];
    unsigned span_count;
    unsigned measured;
    unsigned end;
    bool is_failed;
    random_op made_by[TENSORS]; /* by tensor; output is 0 where no operation made it */
    unsigned category[TENSORS]; /* 0: no tensor event */
    unsigned stats_order[TENSORS];
    unsigned stats_count;
    unsigned non_finite[TENSORS];
} random_capture;

static capture text;

static void add_spans(random_capture *made)
{
    static const char *const names[] = {"a", "b", "c"};

    made->spans[0] = (random_span){0, 0, MOST_NS, made->is_failed && below(2) == 0};
    made->span_count = 1 + below(MOST_SPANS);
    made->measured = below(made->span_count);
    made->end = MOST_NS;
    for (unsigned i = 0; i < made->span_count; i++) {
        random_span *span = &made->spans[i];
        char id[16];
        char parent[16];

        if (i > 0) {
            const random_span *above;

            span->parent = below(i);
            above = &made->spans[span->parent];
            span->start = above->start + below(above->end - above->start + 1);
            span->end = span->start + below(above->end - span->start + 1);
            span->is_open = above->is_open && below(3) == 0;
            if (span->is_open)
                span->end = MOST_NS;
        }
        snprintf(id, sizeof id, "s%u", i);
        snprintf(parent, sizeof parent, "s%u", span->parent);
        if (span->is_open)
            capture_open(&text, id, i == 0 ? NULL : parent, names[below(3)], span->start,
                         i == made->measured);
        else if (i == made->measured)
            capture_measured(&text, id, i == 0 ? NULL : parent, names[below(3)], span->start,
                             span->end - span->start);
        else
            capture_span(&text, id, i == 0 ? NULL : parent, names[below(3)], span->start,
                         span->end - span->start);
    }
}

static void add_tensors(random_capture *made)
{
    static const char *const categories[] = {"", "parameter", "activation"};

    for (unsigned t = 1; t < TENSORS; t++) {
        random_op *op = &made->made_by[t];
        unsigned home = below(made->span_count);
        const random_span *span = &made->spans[home];
        char id[16];
        char name[8];
        char label[8];
        char inputs[32] = "";

        snprintf(id, sizeof id, "s%u", home);
        snprintf(name, sizeof name, "t%u", t);
        snprintf(label, sizeof label, "L%u", t);
        if (below(4) > 0) {
            op->output = t;
            op->input_count = below(3);
            for (unsigned k = 0; k < op->input_count; k++) {
                size_t len = strlen(inputs);

                op->inputs[k] = t == 1 || below(8) == 0 ? t + TENSORS : 1 + below(t - 1);
                snprintf(inputs + len, sizeof inputs - len, "%st%u", k > 0 ? "," : "",
                         op->inputs[k]);
            }
            capture_op(&text, id, "o", inputs, name,
                       span->start + below(span->end - span->start + 1), 0);
        }
        made->category[t] = below(8) == 0 ? 0 : 1 + below(2);
        if (made->category[t] != 0)
            capture_tensor(&text, id, name, label, categories[made->category[t]]);
        if (below(5) > 0) {
            made->non_finite[t] = below(2) * (1 + below(8));
            made->stats_order[made->stats_count++] = t;
            capture_stats(&text, id, label, made->non_finite[t]);
        }
    }
}

static void add_covering_ops(const random_capture *made)
{
    for (unsigned i = below(MOST_OPS); i > 0; i--) {
        unsigned home = below(made->span_count);
        const random_span *span = &made->spans[home];
        unsigned start = span->start + below(span->end - span->start + 1);
        char id[16];

        snprintf(id, sizeof id, "s%u", home);
        capture_op(&text, id, "o", "", NULL, start, below(span->end - start + 1));
    }
}

static evidence *make_capture(uint64_t seed, random_capture *made)
{
    seed_of_capture = seed;
    state_of_random = seed * UINT64_C(0x9e3779b97f4a7c15);
    *made = (random_capture){.is_failed = below(3) == 0};
    capture_begin(&text);
    add_spans(made);
    add_tensors(made);
    add_covering_ops(made);
    return made->is_failed ? capture_failed(&text, made->end) : capture_complete(&text, made->end);
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("seed %" PRIu64 ": " #condition, seed_of_capture);                            \
    } while (0)

/* --- idle --- */

static uint64_t end_of(const evidence *e, uint32_t span)
{
    const trace_span *at = &e->trace->spans.at[span];

    return at->is_closed ? at->start_ns + at->duration_ns : MOST_NS;
}

static void cover(bool *covered, uint64_t from, uint64_t to)
{
    for (uint64_t ns = from; ns < to; ns++)
        covered[ns] = true;
}

/* Idle nanoseconds of a span; no child: none. */
static uint64_t slow_idle(const evidence *e, uint32_t span)
{
    bool covered[MOST_NS + 1] = {false};
    bool has_child = false;
    uint64_t idle = 0;

    for (uint32_t i = 0; i < e->trace->spans.count; i++) {
        if (e->trace->spans.at[i].parent != span)
            continue;
        has_child = true;
        cover(covered, e->trace->spans.at[i].start_ns, end_of(e, i));
    }
    for (uint32_t i = 0; i < e->trace->ops.count; i++) {
        const trace_op *op = &e->trace->ops.at[i];

        if (trace_span_of(e->trace, op->span_id) != span)
            continue;
        has_child = true;
        cover(covered, op->timestamp_ns, op->timestamp_ns + op->duration_ns);
    }
    for (uint64_t ns = e->trace->spans.at[span].start_ns; ns < end_of(e, span); ns++)
        idle += has_child && !covered[ns];
    return idle;
}

static bool is_inside(const evidence *e, uint32_t span)
{
    while (span != TRACE_NONE && span != e->health.measured_span)
        span = e->trace->spans.at[span].parent;
    return span != TRACE_NONE;
}

static void check_idle(const evidence *e)
{
    uint64_t total = 0;
    size_t rows = 0;
    idle_list list;

    CHECK(idle_build(e->heap, e, &list, NULL) == CG_OK);
    for (size_t i = 0; i < list.rows.count; i++) {
        const idle_row *row = &list.rows.at[i];
        const idle_row *before = i > 0 ? row - 1 : NULL;

        CHECK(is_inside(e, row->span));
        CHECK(row->idle_ns == slow_idle(e, row->span));
        CHECK(row->gap_count > 0 && row->largest_duration_ns <= row->idle_ns);
        CHECK(row->largest_duration_ns * row->gap_count >= row->idle_ns);
        CHECK(before == NULL || before->idle_ns > row->idle_ns ||
              (before->idle_ns == row->idle_ns && before->span < row->span));
    }
    for (uint32_t i = 0; i < e->trace->spans.count; i++) {
        uint64_t idle = is_inside(e, i) ? slow_idle(e, i) : 0;

        total += idle;
        rows += idle > 0;
    }
    CHECK(total == list.idle_ns && rows == list.rows.count);
    idle_free(&list);
}

/* --- module tree --- */

/* Time of a span as the graph defines it. */
static uint64_t slow_total(const evidence *e, uint32_t span)
{
    uint64_t total = e->trace->spans.at[span].duration_ns;

    if (total > 0)
        return total;
    for (uint32_t i = 0; i < e->trace->ops.count; i++)
        if (trace_span_of(e->trace, e->trace->ops.at[i].span_id) == span)
            total += e->trace->ops.at[i].duration_ns;
    for (uint32_t i = 0; i < e->trace->spans.count; i++)
        if (e->trace->spans.at[i].parent == span)
            total += slow_total(e, i); /* at most MOST_SPANS deep */
    return total;
}

/* Does the span belong to the row, names compared from the bottom up? */
static bool belongs(const evidence *e, const tree_list *list, uint32_t span, uint32_t row)
{
    while (span != TRACE_NONE && row != TRACE_NONE) {
        if (e->trace->spans.at[span].name != list->rows.at[row].name)
            return false;
        span = e->trace->spans.at[span].parent;
        row = list->rows.at[row].parent;
    }
    return span == TRACE_NONE && row == TRACE_NONE;
}

static void check_tree(const evidence *e)
{
    uint64_t spans = 0;
    tree_list list;

    CHECK(tree_build(e->heap, e, &list, NULL) == CG_OK);
    for (uint32_t i = 0; i < list.rows.count; i++) {
        const tree_row *row = &list.rows.at[i];
        uint64_t total = 0;
        uint64_t inside = 0;
        uint64_t count = 0;
        bool has_inside = false;

        CHECK(row->parent == TRACE_NONE || row->parent < i);
        CHECK(i == 0 || row->depth <= list.rows.at[i - 1].depth + 1);
        for (uint32_t k = 0; k < e->trace->spans.count; k++) {
            if (!belongs(e, &list, k, i))
                continue;
            count++;
            total += slow_total(e, k);
            if (is_inside(e, k)) {
                inside += slow_total(e, k);
                has_inside = true;
            }
        }
        CHECK(count == row->count && total == row->host_total_ns);
        CHECK(row->host_self_ns <= row->host_total_ns);
        CHECK(row->share.is_set ==
              (has_inside && list.measured_ns.is_set && list.measured_ns.value > 0));
        if (row->share.is_set) {
            double share = (double)inside / (double)list.measured_ns.value;

            CHECK(row->share.value == (share < 1.0 ? share : 1.0));
        }
        for (uint32_t k = 0; k < i; k++)
            if (list.rows.at[k].parent == row->parent)
                CHECK(list.rows.at[k].name != row->name &&
                      list.rows.at[k].host_total_ns >= row->host_total_ns);
        spans += count;
    }
    CHECK(spans == e->trace->spans.count);
    tree_free(&list);
}

/* --- labels --- */

static void check_labels(const evidence *e)
{
    uint64_t counts[LABEL_KIND_COUNT] = {0};
    label_list list;

    CHECK(labels_build(e->heap, e, &list, NULL) == CG_OK);
    for (size_t i = 0; i < list.rows.count; i++) {
        const label_row *row = &list.rows.at[i];

        counts[row->kind] += row->count;
        CHECK(i == 0 || row[-1].kind < row->kind ||
              (row[-1].kind == row->kind && str_compare(row[-1].label, row->label) < 0));
    }
    CHECK(counts[LABEL_SPAN] == e->trace->spans.count);
    CHECK(counts[LABEL_OP] == e->trace->ops.count);
    CHECK(counts[LABEL_TENSOR] == e->trace->tensors.count);
    CHECK(counts[LABEL_TENSOR_STATS] == e->trace->stats.count);
    labels_free(&list);
}

/* --- origin: the table of the documentation, word by word --- */

enum { FINITE_SO_FAR = 1, BAD_SO_FAR = 2 };

static bool is_label(const evidence *e, sym symbol, unsigned tensor)
{
    char label[8];

    snprintf(label, sizeof label, "L%u", tensor);
    return str_equal(trace_text(e->trace, symbol), str_from(label));
}

static void check_origin(const evidence *e, const random_capture *made)
{
    unsigned so_far[3 * TENSORS] = {0};
    unsigned producers[TENSORS];
    unsigned propagators[TENSORS];
    size_t producer_count = 0;
    size_t propagator_count = 0;
    unsigned labels = 0;
    bool cannot_tell = false;
    origin_answer answer;

    for (unsigned i = 0; i < made->stats_count; i++) {
        unsigned t = made->stats_order[i];
        const random_op *op = &made->made_by[t];
        bool is_made = made->category[t] != 0 && op->output == t;
        bool has_bad = false;
        bool has_unknown = !is_made && made->category[t] != 1;

        for (unsigned k = 0; is_made && k < op->input_count; k++) {
            has_bad = has_bad || so_far[op->inputs[k]] == BAD_SO_FAR;
            has_unknown = has_unknown || so_far[op->inputs[k]] == 0;
        }
        if (made->non_finite[t] > 0) {
            if (has_bad)
                propagators[propagator_count++] = t;
            else if (!has_unknown)
                producers[producer_count++] = t;
            else if (labels == 0)
                cannot_tell = true;
            labels++;
        }
        if (made->category[t] != 0) /* else the label leads to no tensor */
            so_far[t] = made->non_finite[t] > 0 ? BAD_SO_FAR : FINITE_SO_FAR;
    }
    CHECK(origin_find(e->heap, e, &answer, NULL) == CG_OK);
    CHECK(answer.non_finite_labels == labels && answer.cannot_tell == cannot_tell);
    CHECK(answer.has_earliest == (labels > 0));
    CHECK(answer.has_origin == (producer_count > 0 && !cannot_tell));
    CHECK(answer.other_producers.count + answer.has_origin == producer_count);
    CHECK(answer.propagators.count == propagator_count);
    for (size_t i = 0; i < producer_count; i++) {
        const origin_row *row = i == 0 && answer.has_origin
                                    ? &answer.origin
                                    : &answer.other_producers.at[i - answer.has_origin];

        CHECK(is_label(e, row->label, producers[i]));
        CHECK(row->non_finite == made->non_finite[producers[i]]);
    }
    for (size_t i = 0; i < propagator_count; i++)
        CHECK(is_label(e, answer.propagators.at[i].label, propagators[i]));
    origin_free(&answer);
}

static void questions_and_their_definitions_agree(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < capture_count; i++) {
        random_capture made;
        evidence *e = make_capture(first_seed + i, &made);

        check_idle(e);
        check_tree(e);
        check_labels(e);
        check_origin(e, &made);
        evidence_free(e);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(questions_and_their_definitions_agree)};

    if (argc > 2) {
        first_seed = strtoull(argv[1], NULL, 10);
        capture_count = strtoull(argv[2], NULL, 10);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
