#include "unit/exec/lines.h"

#include "base/num.h"
#include "exec/graph_edges.h"

static lines begin(const char *memory)
{
    lines text = {0};

    lines_meta(&text, memory);
    return text;
}

#define NOTHING         LINES_LEVELS("none")
#define COMPLETE_MEMORY LINES_LEVELS("complete")

/* Root a 0..100 and measured b 10..90. */
static lines begin_small(const char *memory)
{
    lines text = begin(memory);

    lines_span(&text, "a", NULL, "root", 0, 100);
    lines_measured(&text, "b", "a", "call", 10, 90);
    return text;
}

static void build(lines *text, uint64_t end, analysis *ret)
{
    analyse(text, end, ret);
    for (size_t i = 0; i < ret->health.issues.count && !ret->has_graph; i++)
        if (ret->health.issues.at[i].is_error)
            print_error("%s\n", health_code_word(ret->health.issues.at[i].code).ptr);
    assert_true(ret->has_graph);
    /* The few spans the summary names are replayed on their own; they must agree with the rest. */
    for (uint32_t i = 0; i < ret->graph.heaviest_count; i++) {
        uint32_t span = ret->graph.heaviest[i];
        const graph *few = &ret->summary_graph;

        assert_int_equal(few->has_peak[span], ret->graph.has_peak[span]);
        if (!few->has_peak[span])
            continue;
        assert_true(few->peak_live_bytes[span] == ret->graph.peak_live_bytes[span]);
        assert_true(few->residual_bytes[span] == ret->graph.residual_bytes[span]);
    }
}

static uint64_t at(const analysis *of, const uint64_t *column, const char *span)
{
    return column[span_index(of->trace, span)];
}

/* --- host time --- */

static void self_time_is_what_children_do_not_cover(void **state)
{
    lines text = begin_small(NOTHING);
    analysis of;

    (void)state;
    lines_op(&text, "b", "late", "", "null", 40, 60);
    lines_op(&text, "b", "early", "", "null", 20, 30);
    lines_span(&text, "c", "b", "n", 25, 45); /* overlaps both */
    lines_span(&text, "d", "b", "n", 26, 28); /* inside c */
    build(&text, 100, &of);
    assert_int_equal(at(&of, of.graph.self_ns, "a"), 20);
    assert_int_equal(at(&of, of.graph.self_ns, "b"), 40);
    assert_int_equal(at(&of, of.graph.self_ns, "c"), 20);
    assert_int_equal(of.graph.depth[span_index(of.trace, "d")], 2);
    assert_false(of.graph.in_subtree[span_index(of.trace, "a")]);
    assert_true(of.graph.in_subtree[span_index(of.trace, "d")]);
    analysis_free(&of);
}

static void spans_without_a_duration_last_as_long_as_what_is_below(void **state)
{
    lines text = begin(NOTHING);
    analysis of;

    (void)state;
    lines_span(&text, "a", NULL, "root", 0, 0);
    lines_measured(&text, "b", "a", "call", 0, 0);
    lines_span(&text, "c", "b", "n", 0, 0);
    lines_op(&text, "c", "x", "", "null", 0, 0);
    build(&text, 0, &of);
    assert_int_equal(at(&of, of.graph.total_ns, "a"), 0);
    assert_int_equal(of.graph.host_count, 0);
    analysis_free(&of);
    text = begin_small(NOTHING);
    lines_span(&text, "z0", "b", "n", 50, 50);
    lines_span(&text, "z1", "z0", "n", 50, 50);
    build(&text, 100, &of);
    /* Healthy children of an empty span are empty too, so nothing can add up. */
    assert_int_equal(at(&of, of.graph.total_ns, "z0"), 0);
    analysis_free(&of);
}

static void ends_that_saturate_still_add_up(void **state)
{
    lines text = begin(NOTHING);
    analysis of;

    (void)state;
    lines_start(&text, "a", NULL, "root", 0, LINES_FUNCTION);
    lines_end(&text, "a", UINT64_MAX);
    lines_start(&text, "b", "a", "call", UINT64_MAX - 10, LINES_FUNCTION ",'measured':true");
    lines_end(&text, "b", 100);
    build(&text, UINT64_MAX, &of);
    assert_int_equal(at(&of, of.graph.total_ns, "b"), 100);
    assert_true(at(&of, of.graph.self_ns, "a") == UINT64_MAX - 10);
    assert_int_equal(of.graph.host[0].clipped_total_ns, 10);
    analysis_free(&of);
}

static void the_measured_window_clips_and_ranks(void **state)
{
    lines text = begin(NOTHING);
    analysis of;
    static const char *const want[] = {"s2", "a", "z", "s3"};

    (void)state;
    lines_span(&text, "s1", NULL, "root", 0, 120);
    lines_measured(&text, "s2", "s1", "call", 20, 80);
    lines_span(&text, "s3", "s2", "n", 30, 40);
    lines_span(&text, "z", "s1", "n", 10, 40);
    lines_span(&text, "a", "s1", "n", 60, 90);
    lines_span(&text, "out", "s1", "n", 80, 90);
    build(&text, 120, &of);
    assert_int_equal(of.graph.host_count, 4);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(of.graph.host[i].span, span_index(of.trace, want[i]));
    assert_int_equal(of.graph.host[0].clipped_self_ns, 50);
    assert_int_equal(at(&of, of.graph.self_ns, "s2"), 50);
    assert_int_equal(of.graph.host[1].clipped_self_ns, 20);
    assert_int_equal(at(&of, of.graph.self_ns, "a"), 30);
    assert_true(of.graph.host[1].is_concurrent);
    assert_int_equal(of.graph.host[2].clipped_total_ns, 20);
    assert_false(of.graph.host[3].is_concurrent);
    analysis_free(&of);
}

static void eight_rows_are_kept_and_ties_go_by_id(void **state)
{
    lines text = begin_small(NOTHING);
    analysis of;
    char name[16];

    (void)state;
    for (unsigned i = 10; i-- > 0;) {
        snprintf(name, sizeof name, "s%u", i);
        lines_span(&text, name, "b", "n", 20 + i, 21 + i + (i == 7));
    }
    lines_start(&text, "op", "b", "n", 40, ",'span_kind':'op'"); /* never ranks */
    lines_end(&text, "op", 30);
    build(&text, 100, &of);
    assert_int_equal(of.graph.host_count, GRAPH_RANK_ROWS);
    assert_int_equal(of.graph.host[0].span, span_index(of.trace, "b"));
    assert_int_equal(of.graph.host[1].span, span_index(of.trace, "s7"));
    assert_int_equal(of.graph.host[2].span, span_index(of.trace, "s0"));
    assert_int_equal(of.graph.host[7].span, span_index(of.trace, "s5"));
    analysis_free(&of);
}

static void device_rows_come_from_the_measured_subtree(void **state)
{
    static const struct {
        const char *span;
        const char *device;
        unsigned busy;
    } rows[] = {{"b", "g", 5}, {"a", "g", 90}, {"c", "h", 7}, {"c", "g", 5}};
    lines text = begin_small(NOTHING);
    analysis of;

    (void)state;
    lines_span(&text, "c", "b", "n", 20, 30);
    for (unsigned i = 0; i < 4; i++)
        lines_add(&text,
                  "{'kind':'device_interval','span_id':'%s','device':'%s','stream_id':'0',"
                  "'clock_id':'k','backend':'x','start_ns':0,'duration_ns':%u}",
                  rows[i].span, rows[i].device, rows[i].busy);
    build(&text, 100, &of);
    assert_int_equal(of.graph.device_count, 3);
    assert_int_equal(of.timing.spans.at[of.graph.device[0].timing].busy_ns, 7);
    assert_int_equal(of.graph.device[1].span, span_index(of.trace, "b"));
    assert_int_equal(of.graph.device[2].span, span_index(of.trace, "c"));
    assert_int_equal(of.graph.timing_at[0], 0);
    assert_int_equal(of.graph.timing_at[1], 1);
    assert_int_equal(of.graph.timing_at[3], 4);
    analysis_free(&of);
}

/* --- nodes --- */

static void assert_node(const analysis *of, uint32_t node, const char *want)
{
    buf out;

    buf_init(&out, of->heap, 1 << 10);
    graph_node_id(&of->graph, node, &out);
    assert_text(buf_text(&out), want);
    buf_free(&out);
}

static void nodes_are_spans_then_operations_then_tensors(void **state)
{
    lines text = begin_small(NOTHING);
    analysis of;

    (void)state;
    lines_op(&text, "b", "x", "'z','y'", "'w'", 20, 30);
    lines_op(&text, "a", "x", "", "null", 20, 30);
    lines_op(&text, "b", "x", "'w'", "null", 30, 40);
    for (unsigned i = 0; i < 2; i++)
        lines_add(&text,
                  "{'kind':'tensor','span_id':'b','tensor_id':'y','label':'%u','shape':[],"
                  "'dtype':'f32','device':'d'}",
                  i);
    build(&text, 100, &of);
    assert_int_equal(graph_node_count(&of.graph), 2 + 3 + 3);
    assert_node(&of, 0, "a");
    assert_node(&of, 2, "b/op/0");
    assert_node(&of, 3, "a/op/0");
    assert_node(&of, 4, "b/op/1");
    assert_node(&of, 5, "tensor/w");
    assert_node(&of, 7, "tensor/z");
    assert_int_equal(of.graph.tensors[0].event, TRACE_NONE);
    assert_int_equal(of.graph.tensors[1].event, 0);
    analysis_free(&of);
}

static void ids_of_two_nodes_are_refused(void **state)
{
    static const struct {
        const char *span;
        const char *tensor;
        const char *problem; /* NULL: no collision */
    } cases[] = {
        {"b/op/1", "t", "span `b/op/1` has the node id of operation 1 of span `b`"},
        {"b/op/2", "t", NULL},
        {"b/op/01", "t", NULL},
        {"b/op/", "t", NULL},
        {"/op/0", "t", NULL},
        {"tensor/t", "t", "span `tensor/t` has the node id of tensor `t`"},
        {"tensor/b", "t", NULL},
        {"tensor", "op/0", "tensor `op/0` has the node id of operation 0 of span `tensor`"},
        {"tensor/q", "q/op/0", "tensor `q/op/0` has the node id of operation 0 of span `tensor/q`"},
        {"tensor/q", "q/op/1", NULL},
        {"tensor", "op/00", NULL},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        lines text = begin_small(NOTHING);
        char input[20];
        analysis of;
        cg_err err = {0};
        cg_code code;

        snprintf(input, sizeof input, "'%s'", cases[i].tensor);
        lines_span(&text, cases[i].span, "b", "n", 20, 60);
        lines_op(&text, "b", "x", input, "null", 20, 30);
        lines_op(&text, "b", "x", "", "null", 20, 30);
        lines_op(&text, cases[i].span, "x", "", "null", 20, 30);
        lines_complete(&text, 100);
        of = analyse_trace(lines_read(&text));
        code = graph_build(of.heap, of.trace, &of.health, &of.memory, &of.timing, &of.graph, &err);
        assert_int_equal(code, cases[i].problem != NULL ? CG_INPUT : CG_OK);
        if (cases[i].problem != NULL) {
            assert_string_equal(err.problem, "graph-id-collision");
            assert_string_equal(err.text, cases[i].problem);
        }
        analysis_free(&of);
    }
}

/* --- edges --- */

static void assert_edges(const analysis *of, const char *want)
{
    static const char *const labels[] = {"", " op", " input", " output"};
    graph_edges edges;
    buf out;

    assert_int_equal(graph_edges_build(of->heap, &of->graph, &edges, NULL), CG_OK);
    buf_init(&out, of->heap, 1 << 16);
    for (size_t i = 0; i < edges.rows.count; i++) {
        const graph_edge *edge = &edges.rows.at[i];

        graph_node_id(&of->graph, edge->from, &out);
        buf_add(&out, edge->kind == EDGE_KIND_CALL ? CG_LIT(" calls ") : CG_LIT(" gives "));
        graph_node_id(&of->graph, edge->to, &out);
        buf_addf(&out, " %" PRIu64 "%s\n", edge->duration_ns, labels[edge->label]);
    }
    assert_text(buf_text(&out), want);
    buf_free(&out);
    graph_edges_free(&edges);
}

static void edges_are_added_once_and_sorted_by_id(void **state)
{
    lines text = begin_small(NOTHING);
    analysis of;

    (void)state;
    lines_span(&text, "c", "b", "n", 20, 30);
    lines_start(&text, "k", "b", "n", 20, ",'span_kind':'op'"); /* gets no implicit edge */
    lines_end(&text, "k", 5);
    lines_op(&text, "b", "x", "'s','t','s'", "'t'", 20, 27);
    lines_add(&text, "{'kind':'edge','edge_kind':'data','from_tensor':'t','to_tensor':'s'}");
    lines_add(&text, "{'kind':'edge','edge_kind':'data','from_tensor':'t','to_tensor':'s'}");
    lines_add(&text, "{'kind':'edge','edge_kind':'call','from_span':'b','to_span':'c',"
                     "'host_duration_ns':10}");
    build(&text, 100, &of);
    assert_edges(&of, "a calls b 80\n"
                      "b calls b/op/0 7 op\n"
                      "b calls c 10\n"
                      "b/op/0 gives tensor/t 0 output\n"
                      "tensor/s gives b/op/0 0 input\n"
                      "tensor/t gives b/op/0 0 input\n"
                      "tensor/t gives tensor/s 0\n"
                      "tensor/t gives tensor/s 0\n");
    analysis_free(&of);
}

static void ids_that_contain_each_other_are_sorted_as_text(void **state)
{
    lines text = begin(NOTHING);
    analysis of;

    (void)state;
    lines_span(&text, "a", NULL, "root", 0, 100);
    lines_measured(&text, "a-b", "a", "call", 10, 90);
    lines_span(&text, "a/op/1x", "a-b", "n", 10, 90);
    lines_span(&text, "az", "a-b", "n", 10, 90);
    for (unsigned i = 0; i < 12; i++)
        lines_op(&text, "a", "x", "", "null", 0, i);
    lines_op(&text, "a-b", "x", "", "null", 10, 90);
    lines_op(&text, "a/op/1x", "x", "", "null", 10, 90);
    build(&text, 100, &of);
    assert_edges(&of, "a calls a-b 80\n"
                      "a calls a/op/0 0 op\n"
                      "a calls a/op/1 1 op\n"
                      "a calls a/op/10 10 op\n"
                      "a calls a/op/11 11 op\n"
                      "a calls a/op/2 2 op\n"
                      "a calls a/op/3 3 op\n"
                      "a calls a/op/4 4 op\n"
                      "a calls a/op/5 5 op\n"
                      "a calls a/op/6 6 op\n"
                      "a calls a/op/7 7 op\n"
                      "a calls a/op/8 8 op\n"
                      "a calls a/op/9 9 op\n"
                      "a-b calls a-b/op/0 80 op\n"
                      "a-b calls a/op/1x 80\n"
                      "a-b calls az 80\n"
                      "a/op/1x calls a/op/1x/op/0 80 op\n");
    analysis_free(&of);
}

/* --- memory --- */

static void without_memory_events_nothing_is_known(void **state)
{
    lines text = begin_small(COMPLETE_MEMORY);
    analysis of;

    (void)state;
    build(&text, 100, &of);
    assert_false(of.graph.has_memory);
    assert_false(of.graph.has_allocated[0]);
    assert_false(of.graph.has_peak[0]);
    assert_int_equal(of.graph.heaviest_count, 0);
    analysis_free(&of);
}

static void allocations_belong_to_span_and_operation(void **state)
{
    lines text = begin_small(NOTHING);
    analysis of;

    (void)state;
    lines_span(&text, "c", "b", "n", 20, 60);
    lines_span(&text, "d", "b", "n", 20, 60);
    lines_op(&text, "c", "one", "", "null", 20, 30);
    lines_op(&text, "c", "two", "", "null", 20, 30);
    lines_op(&text, "c", "two", "", "null", 20, 30);
    lines_op(&text, "d", "one", "", "null", 20, 30);
    for (unsigned i = 0; i < 4; i++)
        lines_add(&text,
                  "{'kind':'memory','timestamp_ns':25,'storage_id':'m%u','tensor_id':'t',"
                  "'span_id':'c','device':'cpu','bytes':%u,'action':'alloc','dtype':'u8',"
                  "'op_name':'%s'}",
                  i, 1u << i,
                  i < 2    ? "one"
                  : i == 2 ? "two"
                           : "none");
    lines_memory(&text, "free", "d", "m3", "t", 8, 40);
    build(&text, 100, &of);
    assert_true(of.graph.has_op_allocated[0]);
    assert_int_equal(of.graph.op_allocated[0], 3);
    assert_false(of.graph.has_op_allocated[1]);
    assert_false(of.graph.has_op_allocated[2]);
    assert_false(of.graph.has_op_allocated[3]);
    assert_int_equal(at(&of, of.graph.allocated_bytes, "c"), 15);
    assert_false(of.graph.has_allocated[span_index(of.trace, "b")]);
    assert_true(of.graph.has_peak[span_index(of.trace, "b")]);
    assert_false(of.graph.has_peak[span_index(of.trace, "d")]);
    assert_int_equal(at(&of, of.graph.peak_live_bytes, "a"), 15);
    assert_int_equal(at(&of, of.graph.residual_bytes, "a"), 7);
    assert_int_equal(of.graph.heaviest_count, 1);
    assert_int_equal(of.graph.heaviest[0], span_index(of.trace, "c"));
    analysis_free(&of);
}

static void declared_complete_turns_unknown_into_zero(void **state)
{
    lines text = begin_small(COMPLETE_MEMORY);
    analysis of;

    (void)state;
    lines_span(&text, "c", "b", "n", 20, 60);
    lines_memory(&text, "alloc", "b", "m", "t", 8, 30);
    build(&text, 100, &of);
    assert_true(of.graph.has_allocated[span_index(of.trace, "c")]);
    assert_int_equal(at(&of, of.graph.allocated_bytes, "c"), 0);
    assert_true(of.graph.has_peak[span_index(of.trace, "c")]);
    assert_int_equal(at(&of, of.graph.peak_live_bytes, "c"), 0);
    assert_int_equal(of.graph.heaviest_count, 2);
    analysis_free(&of);
}

/* Three storages come and go at one timestamp: counted three times, or not at all when netted. */
static void transients_inflate_the_peak_unless_netted(void **state)
{
    lines text = begin_small(NOTHING);
    analysis of;
    uint64_t net[2];
    char name[16];

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "m%u", i);
        lines_memory(&text, "alloc", "b", name, "t", 5, 30);
        lines_memory(&text, "free", "b", name, "t", 5, 30);
    }
    build(&text, 100, &of);
    assert_int_equal(of.memory.peak_live_bytes, 0);
    assert_int_equal(of.graph.peak_live_bytes[1], 15);
    assert_int_equal(of.graph.residual_bytes[1], 0);
    assert_int_equal(graph_net_peaks(&of.graph, net, NULL), CG_OK);
    assert_int_equal(net[0], 0);
    assert_int_equal(net[1], 0);
    analysis_free(&of);
}

static void lifetimes_are_clipped_to_the_span(void **state)
{
    lines text = begin_small(NOTHING);
    analysis of;

    (void)state;
    lines_span(&text, "c", "b", "n", 30, 50);
    lines_memory(&text, "alloc", "c", "start", "t", 1, 30); /* live at the start */
    lines_memory(&text, "alloc", "c", "end", "t", 2, 50);   /* counts for b only */
    lines_memory(&text, "alloc", "c", "exact", "t", 4, 40);
    lines_memory(&text, "free", "c", "exact", "t", 4, 50); /* neither freed nor left over in c */
    lines_memory(&text, "alloc", "c", "past", "t", 8, 45);
    lines_memory(&text, "free", "b", "past", "t", 8, 60);
    build(&text, 100, &of);
    assert_int_equal(at(&of, of.graph.peak_live_bytes, "c"), 13);
    assert_int_equal(at(&of, of.graph.residual_bytes, "c"), 9);
    assert_int_equal(at(&of, of.graph.peak_live_bytes, "b"), 13);
    assert_int_equal(at(&of, of.graph.residual_bytes, "b"), 3);
    analysis_free(&of);
}

static void sums_beyond_every_integer_are_still_exact(void **state)
{
    lines text = begin_small(NOTHING);
    analysis of;
    uint64_t net[3];

    (void)state;
    lines_span(&text, "c", "b", "n", 30, 50);
    lines_memory(&text, "alloc", "c", "m", "t", UINT64_MAX - 5, 30);
    lines_memory(&text, "free", "c", "m", "t", UINT64_MAX - 5, 40);
    lines_memory(&text, "alloc", "b", "n", "t", 9, 35);
    lines_memory(&text, "alloc", "b", "o", "t", 1, 60);
    build(&text, 100, &of);
    assert_true(at(&of, of.graph.peak_live_bytes, "c") == UINT64_MAX - 5);
    assert_int_equal(at(&of, of.graph.residual_bytes, "c"), 0);
    assert_true(at(&of, of.graph.peak_live_bytes, "b") == UINT64_MAX);
    assert_int_equal(at(&of, of.graph.residual_bytes, "b"), 10);
    assert_int_equal(graph_net_peaks(&of.graph, net, NULL), CG_OK);
    assert_true(net[2] == UINT64_MAX - 5);
    analysis_free(&of);
}

/* --- against the rules as they are written --- */

typedef struct naive {
    uint64_t peak;
    uint64_t residual;
    uint64_t net;
} naive;

static bool is_under(const trace_doc *trace, uint32_t span, uint32_t top)
{
    while (span != TRACE_NONE && span != top)
        span = trace->spans.at[span].parent;
    return span == top;
}

/* Clipped peak and residual of one span, timestamp by timestamp. */
static naive replay_naively(const analysis *of, uint32_t top, uint64_t last)
{
    const trace_span *span = &of->trace->spans.at[top];
    uint64_t a = span->start_ns;
    uint64_t b = trace_span_end(span);
    uint64_t level = 0;
    int64_t net_level = 0;
    naive ret = {0};

    for (uint64_t now = a; b > a && now <= last; now++) {
        uint64_t freed = 0;
        uint64_t allocated = 0;

        for (size_t i = 0; i < of->memory.lifetimes.count; i++) {
            const memory_lifetime *life = &of->memory.lifetimes.at[i];
            const trace_memory *row = &of->trace->memory.at[life->alloc_event];
            uint64_t end = life->is_closed ? life->end_ns : UINT64_MAX;

            if (!is_under(of->trace, trace_span_of(of->trace, row->span_id), top) ||
                life->start_ns >= b || end <= a)
                continue;
            if (life->start_ns == now || (now == a && life->start_ns < a))
                allocated += row->bytes;
            if (end == now && a < end && end < b)
                freed += row->bytes;
            if (now == a && end > b)
                ret.residual += row->bytes;
        }
        level = num_sat_sub(level, freed) + allocated;
        net_level += (int64_t)allocated - (int64_t)freed;
        if (level > ret.peak)
            ret.peak = level;
        if (net_level > (int64_t)ret.net)
            ret.net = (uint64_t)net_level;
    }
    return ret;
}

/* Own time, nanosecond by nanosecond. */
static uint64_t self_naively(const analysis *of, uint32_t span)
{
    const trace_doc *trace = of->trace;
    uint64_t covered = 0;
    uint64_t total = of->graph.total_ns[span];

    for (uint64_t now = 0; now < 64; now++) {
        bool is_covered = false;

        for (uint32_t i = 0; i < of->graph.span_count; i++)
            is_covered = is_covered ||
                         (trace->spans.at[i].parent == span && now >= trace->spans.at[i].start_ns &&
                          now - trace->spans.at[i].start_ns < of->graph.total_ns[i]);
        for (uint32_t i = 0; i < of->graph.op_count; i++)
            is_covered =
                is_covered || (trace_span_of(trace, trace->ops.at[i].span_id) == span &&
                               now >= trace->ops.at[i].timestamp_ns &&
                               now - trace->ops.at[i].timestamp_ns < trace->ops.at[i].duration_ns);
        covered += is_covered;
    }
    return num_sat_sub(total, covered);
}

/* A random number from `low` to `high`. */
static uint64_t between(uint64_t *seed, uint64_t low, uint64_t high)
{
    return low + test_random(seed) % (high - low + 1);
}

typedef struct random_tree {
    unsigned count;
    uint64_t start[24];
    uint64_t end[24];
} random_tree;

static void add_random_spans(lines *text, uint64_t *seed, random_tree *tree)
{
    char name[16];
    char parent_name[8];
    bool is_chain = test_random(seed) % 2;

    tree->count = (unsigned)between(seed, 2, 24);
    tree->start[0] = 0;
    tree->end[0] = 40;
    lines_span(text, "s0", NULL, "n", 0, 40);
    for (unsigned i = 1; i < tree->count; i++) {
        unsigned parent =
            is_chain && test_random(seed) % 8 ? i - 1 : (unsigned)between(seed, 0, i - 1);

        tree->start[i] = between(seed, tree->start[parent], tree->end[parent]);
        tree->end[i] = between(seed, tree->start[i], tree->end[parent]);
        if (test_random(seed) % 3 == 0) {
            tree->start[i] = tree->start[parent];
            tree->end[i] = tree->end[parent];
        }
        snprintf(name, sizeof name, "s%u", i);
        snprintf(parent_name, sizeof parent_name, "s%u", parent);
        (i == 1 ? lines_measured : lines_span)(text, name, parent_name, "n", tree->start[i],
                                               tree->end[i]);
    }
}

static void add_random_events(lines *text, uint64_t *seed, const random_tree *tree)
{
    char span[16];
    char storage[16];
    unsigned count = (unsigned)between(seed, 0, 40);

    for (unsigned i = 0; i < count; i++) {
        unsigned home = (unsigned)between(seed, 0, tree->count - 1);
        uint64_t from = between(seed, tree->start[home], tree->end[home]);
        uint64_t bytes = between(seed, 0, 9);

        snprintf(span, sizeof span, "s%u", home);
        snprintf(storage, sizeof storage, "m%u", i);
        lines_memory(text, "alloc", span, storage, "t", bytes, from);
        if (test_random(seed) % 4 != 0)
            lines_memory(text, "free", "s0", storage, "t", bytes, between(seed, from, 40));
        if (test_random(seed) % 3 == 0)
            lines_op(text, span, "x", "", "null", from, between(seed, from, tree->end[home]));
    }
}

static void random_trees_agree_with_the_rules(void **state)
{
    uint64_t seed = 88172645463325252u;

    (void)state;
    for (unsigned round = 0; round < 2000; round++) {
        lines text = begin(round % 2 ? COMPLETE_MEMORY : NOTHING);
        random_tree tree;
        uint64_t net[24];
        analysis of;

        add_random_spans(&text, &seed, &tree);
        add_random_events(&text, &seed, &tree);
        build(&text, 40, &of);
        assert_int_equal(graph_net_peaks(&of.graph, net, NULL), CG_OK);
        for (uint32_t span = 0; span < of.graph.span_count; span++) {
            naive want = replay_naively(&of, span, 40);

            assert_int_equal(of.graph.self_ns[span], self_naively(&of, span));
            assert_int_equal(net[span], want.net);
            if (!of.graph.has_memory || !of.graph.has_peak[span])
                continue;
            assert_int_equal(of.graph.peak_live_bytes[span], want.peak);
            assert_int_equal(of.graph.residual_bytes[span], want.residual);
        }
        analysis_free(&of);
    }
}

/* --- growth: would take hours if anything here were quadratic, and the stack if it recursed --- */

static void a_deep_chain_with_memory_is_built(void **state)
{
    enum { COUNT = 60000 };
    lines text = begin(NOTHING);
    analysis of;
    char name[12];
    char parent[12] = "r";
    uint64_t *net;

    (void)state;
    lines_span(&text, "r", NULL, "root", 0, 4 * COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "s%u", i);
        (i == 0 ? lines_measured : lines_span)(&text, name, parent, "n", i, 4 * COUNT - i);
        lines_memory(&text, "alloc", name, name, "t", 1, i);
        lines_memory(&text, "free", name, name, "t", 1, 4 * COUNT - i);
        memcpy(parent, name, sizeof name);
    }
    build(&text, 4 * COUNT, &of);
    assert_int_equal(of.graph.peak_live_bytes[span_index(of.trace, "r")], COUNT);
    assert_int_equal(of.graph.peak_live_bytes[span_index(of.trace, "s59999")], 1);
    assert_int_equal(of.graph.depth[span_index(of.trace, "s59999")], COUNT);
    net = malloc((COUNT + 1) * sizeof *net);
    assert_non_null(net);
    assert_int_equal(graph_net_peaks(&of.graph, net, NULL), CG_OK);
    assert_int_equal(net[span_index(of.trace, "s1")], COUNT - 1);
    free(net);
    analysis_free(&of);
}

static void many_overlapping_spans_are_built(void **state)
{
    enum { COUNT = 40000 };
    lines text = begin(NOTHING);
    analysis of;
    char name[12];

    (void)state;
    lines_span(&text, "r", NULL, "root", 0, 4 * COUNT);
    lines_measured(&text, "m", "r", "call", COUNT, 2 * COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "s%u", i);
        lines_span(&text, name, i % 2 ? "m" : "r", "n", COUNT + i / 2, 2 * COUNT - i % 2);
        lines_memory(&text, "alloc", name, name, "t", 1, COUNT + i / 2);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "s%u", (unsigned)(i * UINT64_C(7919) % COUNT));
        lines_memory(&text, "free", "r", name, "t", 1, 2 * COUNT + i);
    }
    build(&text, 4 * COUNT, &of);
    assert_int_equal(at(&of, of.graph.peak_live_bytes, "r"), COUNT);
    assert_int_equal(at(&of, of.graph.residual_bytes, "m"), COUNT / 2);
    assert_int_equal(at(&of, of.graph.residual_bytes, "r"), 0);
    analysis_free(&of);
}

static void memory_that_is_refused_is_reported_and_given_back(void **state)
{
    uint64_t seed = 42;
    random_tree tree;
    lines text = begin(NOTHING);
    analysis of;
    bool was_refused = true;

    (void)state;
    add_random_spans(&text, &seed, &tree);
    for (unsigned i = 0; i < 3; i++)
        add_random_events(&text, &seed, &tree);
    free(text.at);
    text = begin(NOTHING);
    add_random_spans(&text, &seed, &tree);
    add_random_events(&text, &seed, &tree);
    lines_op(&text, "s0", "x", "'a','b'", "'c'", 3, 5);
    lines_op(&text, "s0", "x", "'b'", "null", 1, 2);
    lines_span(&text, "tensor", "s0", "n", 30, 31);
    lines_span(&text, "A", "s0", "n", 0, 1);
    lines_op(&text, "A", "x", "'op/1'", "null", 0, 1);
    build(&text, 40, &of);
    for (size_t k = 1; was_refused; k++) {
        failing refusing = {.fail_at = k};
        heap from;
        graph made = {0};
        graph_edges edges = {0};
        uint64_t net[32];
        cg_err err = {0};
        cg_code code;

        heap_init(&from, failing_env(&refusing));
        code = graph_build(&from, of.trace, &of.health, &of.memory, &of.timing, &made, &err);
        if (code == CG_OK)
            code = graph_edges_build(&from, &made, &edges, &err);
        if (code == CG_OK)
            code = graph_net_peaks(&made, net, &err);
        graph full = made;
        if (code == CG_OK)
            code = graph_complete(&from, &full, &err);
        assert_int_equal(err.code, code);
        was_refused = code != CG_OK;
        if (was_refused)
            assert_int_equal(code, CG_NOMEM);
        graph_uncomplete(&from, &full);
        graph_edges_free(&edges);
        graph_free(&made);
        graph_free(&made);
        assert_nothing_held(&refusing, &from);
    }
    analysis_free(&of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(self_time_is_what_children_do_not_cover),
        cmocka_unit_test(spans_without_a_duration_last_as_long_as_what_is_below),
        cmocka_unit_test(ends_that_saturate_still_add_up),
        cmocka_unit_test(the_measured_window_clips_and_ranks),
        cmocka_unit_test(eight_rows_are_kept_and_ties_go_by_id),
        cmocka_unit_test(device_rows_come_from_the_measured_subtree),
        cmocka_unit_test(nodes_are_spans_then_operations_then_tensors),
        cmocka_unit_test(ids_of_two_nodes_are_refused),
        cmocka_unit_test(edges_are_added_once_and_sorted_by_id),
        cmocka_unit_test(ids_that_contain_each_other_are_sorted_as_text),
        cmocka_unit_test(without_memory_events_nothing_is_known),
        cmocka_unit_test(allocations_belong_to_span_and_operation),
        cmocka_unit_test(declared_complete_turns_unknown_into_zero),
        cmocka_unit_test(transients_inflate_the_peak_unless_netted),
        cmocka_unit_test(lifetimes_are_clipped_to_the_span),
        cmocka_unit_test(sums_beyond_every_integer_are_still_exact),
        cmocka_unit_test(random_trees_agree_with_the_rules),
        cmocka_unit_test(a_deep_chain_with_memory_is_built),
        cmocka_unit_test(many_overlapping_spans_are_built),
        cmocka_unit_test(memory_that_is_refused_is_reported_and_given_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
