/* What operations of tensors do to facts: sizes, dtypes, layout, gradients, numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "model/flow_build.h"
#include "support/library_calls.h"

static workbench b;
static flow *graph;

static int begin(void **state)
{
    (void)state;
    workbench_begin(&b);
    assert_true(flow_new(b.eval->values, b.eval->trail, &b.heap, &graph));
    b.eval->flow = graph;
    return 0;
}

static int end(void **state)
{
    (void)state;
    flow_free(graph);
    workbench_end(&b);
    return 0;
}

static val cpu(void)
{
    return constant(&b, "candle_core::Device::Cpu");
}

static val dtype(const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "candle_core::DType::%s", name);
    return constant(&b, path);
}

/* Sizes: numbers, or letters that are symbols. `2 3 d` */
static val shape(const char *text)
{
    val items[8];
    size_t count = 0;

    for (const char *at = text; *at != '\0'; at++) {
        char name[2] = {*at, '\0'};
        int64_t size = 0;

        if (*at == ' ')
            continue;
        if (*at < '0' || *at > '9') {
            items[count++] = symbol(&b, name);
            continue;
        }
        for (; *at >= '0' && *at <= '9'; at++)
            size = size * 10 + (*at - '0');
        at--;
        items[count++] = number(&b, size);
    }
    return value_list(b.eval->values, VALUE_TUPLE, items, count);
}

static val zeros(const char *sizes, const char *element)
{
    return called(&b, "candle_core::Tensor::zeros", shape(sizes), dtype(element), cpu(), 0);
}

static val f32(const char *sizes)
{
    return zeros(sizes, "F32");
}

static val input(const char *name)
{
    return value_of_type(b.eval->values, external(&b, "candle_core::Tensor"), str_from(name));
}

/* A parameter asked for from `vb`. */
static val parameter(const char *key, const char *sizes)
{
    return on(&b, builder(&b), "get", shape(sizes), text(&b, key), 0);
}

static const flow_node *node(val which)
{
    return flow_at(graph, flow_of(graph, which));
}

static void assert_shape(val which, const char *wanted)
{
    char found[256];
    cg_str it = flow_shape_text(graph, flow_of(graph, which));

    snprintf(found, sizeof found, "%.*s", (int)it.len, it.ptr);
    assert_string_equal(found, wanted);
}

static void assert_dtype(val which, const char *wanted)
{
    assert_string_equal(flow_element_name(flow_dtype(graph, flow_of(graph, which), NULL)), wanted);
}

static size_t count_needs(enum flow_need need, enum check result)
{
    size_t found = 0;

    for (size_t i = 0; i < graph->requirements.count; i++)
        found += graph->requirements.at[i].need == need &&
                 graph->requirements.at[i].result == result &&
                 !flow_at(graph, graph->requirements.at[i].node)->is_forgotten;
    return found;
}

static val minus_one(void)
{
    return constant(&b, "candle_core::D::Minus1");
}

static void sizes_follow_from_sizes(void **state)
{
    val x = f32("b 4 s");
    val y;

    (void)state;
    assert_shape(x, "(b, 4, s)");
    assert_shape(on(&b, x, "relu", 0), "(b, 4, s)");
    assert_shape(on(&b, x, "transpose", number(&b, 1), number(&b, 2), 0), "(b, s, 4)");
    assert_shape(on(&b, x, "t", 0), "(b, s, 4)");
    assert_shape(on(&b, x, "permute", shape("2 0 1"), 0), "(s, b, 4)");
    assert_shape(on(&b, x, "unsqueeze", number(&b, 1), 0), "(b, 1, 4, s)");
    assert_shape(on(&b, x, "unsqueeze", minus_one(), 0), "(b, 4, s, 1)");
    assert_shape(on(&b, on(&b, x, "unsqueeze", number(&b, 0), 0), "squeeze", number(&b, 0), 0),
                 "(b, 4, s)");
    assert_shape(on(&b, x, "sum", number(&b, 1), 0), "(b, s)");
    assert_shape(on(&b, x, "mean_keepdim", minus_one(), 0), "(b, 4, 1)");
    assert_shape(on(&b, x, "sum_all", 0), "()");
    assert_shape(on(&b, x, "sum_keepdim", tuple_of(&b, number(&b, 0), number(&b, 2), 0), 0),
                 "(1, 4, 1)");
    assert_shape(on(&b, x, "narrow", number(&b, 1), number(&b, 0), number(&b, 2), 0), "(b, 2, s)");
    assert_shape(on(&b, x, "flatten_all", 0), "(4 * b * s)");
    assert_shape(on(&b, x, "flatten_from", number(&b, 1), 0), "(b, 4 * s)");
    assert_shape(on(&b, x, "flatten_to", number(&b, 1), 0), "(4 * b, s)");
    assert_shape(on(&b, x, "get", number(&b, 0), 0), "(4, s)");
    assert_shape(on(&b, x, "repeat", shape("1 2 3"), 0), "(b, 8, 3 * s)");
    assert_shape(on(&b, x, "repeat", number(&b, 2), 0), "(2 * b, 4, s)");
    assert_shape(on(&b, x, "repeat", shape("5 1 1 2"), 0), "(5, b, 4, 2 * s)");
    assert_shape(on(&b, x, "pad_with_zeros", number(&b, 1), number(&b, 1), number(&b, 2), 0),
                 "(b, 7, s)");
    y = on(&b, x, "reshape",
           tuple_of(&b, symbol(&b, "b"), number(&b, 2),
                    value_make(b.eval->values, &(value){.kind = VALUE_UNIT}), 0),
           0);
    assert_shape(y, "(b, 2, 2 * s)");
    y = on(&b, x, "i", tuple_of(&b, range(&b, number(&b, 0), number(&b, 2)), number(&b, 1), 0), 0);
    assert_shape(y, "(2, s)");
    assert_shape(on(&b, x, "broadcast_as", shape("7 b 4 s"), 0), "(7, b, 4, s)");
    assert_shape(on(&b, x, "matmul", f32("b s 9"), 0), "(b, 4, 9)");
    assert_shape(on(&b, x, "broadcast_add", f32("s"), 0), "(b, 4, s)");
    assert_shape(on(&b, x, "argmax", minus_one(), 0), "(b, 4)");
    assert_int_equal(count_needs(FLOW_NEED_SHAPE, CHECK_FAILS), 0);
}

static void parts_lists_and_ids(void **state)
{
    val x = f32("b 6 d");
    val parts = on(&b, x, "chunk", number(&b, 3), number(&b, 1), 0);
    val ids = zeros("b t", "U32");
    val table = f32("100 d");

    (void)state;
    assert_shape(value_at(b.eval->values, parts)->as.items[0], "(b, 2, d)");
    assert_int_equal(node(value_at(b.eval->values, parts)->as.items[1])->part, 1);
    assert_shape(
        called(&b, "candle_core::Tensor::cat", list_of(&b, x, f32("b 1 d"), 0), number(&b, 1), 0),
        "(b, 7, d)");
    assert_shape(called(&b, "candle_core::Tensor::stack", list_of(&b, x, x, 0), number(&b, 0), 0),
                 "(2, b, 6, d)");
    assert_shape(on(&b, table, "index_select", zeros("n", "U32"), number(&b, 0), 0), "(n, d)");
    assert_shape(on(&b, table, "embedding", zeros("n", "U32"), 0), "(n, d)");
    assert_shape(on(&b, f32("b 6 d"), "gather", zeros("b 2 d", "U32"), number(&b, 1), 0),
                 "(b, 2, d)");
    assert_shape(on(&b, f32("b 3 32 32"), "conv2d", f32("8 3 3 3"), number(&b, 1), number(&b, 2),
                    number(&b, 1), number(&b, 1), 0),
                 "(b, 8, 16, 16)");
    assert_shape(on(&b, f32("b 3 32 32"), "max_pool2d", number(&b, 2), 0), "(b, 3, 16, 16)");
    assert_shape(on(&b, f32("b 3 32 32"), "upsample_nearest2d", number(&b, 64), number(&b, 48), 0),
                 "(b, 3, 64, 48)");
    assert_shape(on(&b, f32("b 3 10"), "conv1d", f32("8 3 3"), number(&b, 0), number(&b, 1),
                    number(&b, 1), number(&b, 1), 0),
                 "(b, 8, 8)");
    assert_int_equal(node(ids)->facts.rank, 2);
}

static void sizes_that_never_fit_are_said(void **state)
{
    (void)state;
    on(&b, f32("2 3"), "add", f32("2 4"), 0);
    assert_int_equal(count_needs(FLOW_NEED_SHAPE, CHECK_FAILS), 1);
    on(&b, f32("2 3"), "matmul", f32("4 5"), 0);
    on(&b, f32("2 3"), "broadcast_mul", f32("2"), 0);
    on(&b, f32("2 3"), "reshape", shape("7"), 0);
    called(&b, "candle_core::Tensor::cat", list_of(&b, f32("2 3"), f32("2 4"), 0), number(&b, 0),
           0);
    assert_int_equal(count_needs(FLOW_NEED_SHAPE, CHECK_FAILS), 5);
    on(&b, f32("n 3"), "add", f32("m 3"), 0);
    on(&b, f32("n 3"), "broadcast_add", f32("1 3"), 0);
    assert_int_equal(count_needs(FLOW_NEED_SHAPE, CHECK_FAILS), 5);
    on(&b, f32("n 3"), "conv2d", f32("8 3 3 3"), number(&b, 1), number(&b, 2), number(&b, 1),
       number(&b, 1), 0);
    assert_int_equal(count_needs(FLOW_NEED_RANK, CHECK_FAILS), 1);
}

static void dtypes_are_known_or_named(void **state)
{
    val x = input("x");
    val y = input("y");
    sym source = 0;

    (void)state;
    assert_dtype(f32("2"), "F32");
    assert_dtype(on(&b, f32("2"), "to_dtype", dtype("BF16"), 0), "BF16");
    assert_dtype(on(&b, f32("2"), "gt", f32("2"), 0), "U8");
    assert_dtype(on(&b, f32("2"), "argmax", number(&b, 0), 0), "U32");
    assert_dtype(x, "Unknown");
    flow_dtype(graph, flow_of(graph, on(&b, x, "relu", 0)), &source);
    assert_true(str_equal(program_text(&b.program, source), CG_LIT("x.dtype()")));
    flow_dtype(graph, flow_of(graph, on(&b, y, "to_dtype", on(&b, x, "dtype", 0), 0)), &source);
    assert_true(str_equal(program_text(&b.program, source), CG_LIT("x.dtype()")));
    /* Adding proves that both are F32, and is a risk. */
    on(&b, x, "add", f32("2"), 0);
    assert_int_equal(count_needs(FLOW_NEED_DTYPE, CHECK_UNKNOWN), 1);
    assert_dtype(x, "F32");
    on(&b, on(&b, x, "to_dtype", dtype("F16"), 0), "mul", f32("2"), 0);
    assert_int_equal(count_needs(FLOW_NEED_DTYPE, CHECK_FAILS), 1);
    assert_dtype(on(&b, x, "mul", real(&b, 2.0), 0), "F32");
    assert_int_equal(count_needs(FLOW_NEED_DTYPE, CHECK_FAILS), 1);
}

static void layouts_say_who_made_them(void **state)
{
    val x = f32("2 3 4 5");
    val t = on(&b, x, "transpose", number(&b, 1), number(&b, 2), 0);
    val all = range(&b, 0, 0);

    (void)state;
    assert_int_equal(node(x)->facts.layout, FLOW_CONTIGUOUS);
    assert_int_equal(node(t)->facts.layout, FLOW_STRIDED);
    assert_int_equal(node(t)->facts.strided_by, flow_of(graph, t));
    assert_int_equal(node(on(&b, t, "contiguous", 0))->facts.layout, FLOW_CONTIGUOUS);
    assert_int_equal(node(on(&b, t, "relu", 0))->facts.layout, FLOW_CONTIGUOUS);
    assert_int_equal(
        node(on(&b, x, "narrow", number(&b, 0), number(&b, 0), number(&b, 1), 0))->facts.layout,
        FLOW_CONTIGUOUS);
    assert_int_equal(
        node(on(&b, x, "narrow", number(&b, 1), number(&b, 0), number(&b, 1), 0))->facts.layout,
        FLOW_STRIDED);
    assert_int_equal(
        node(on(&b, x, "i", tuple_of(&b, number(&b, 0), number(&b, 1), 0), 0))->facts.layout,
        FLOW_CONTIGUOUS);
    assert_int_equal(node(on(&b, x, "i", tuple_of(&b, all, number(&b, 1), 0), 0))->facts.layout,
                     FLOW_STRIDED);
    on(&b, t, "matmul", f32("2 4 5 3"), 0);
    assert_int_equal(count_needs(FLOW_NEED_LAYOUT, CHECK_FAILS), 1);
    on(&b, x, "matmul", on(&b, f32("2 3 7 5"), "t", 0), 0);
    assert_int_equal(count_needs(FLOW_NEED_LAYOUT, CHECK_FAILS), 1);
    called(&b, "candle_nn::ops::softmax_last_dim", t, 0);
    assert_int_equal(count_needs(FLOW_NEED_LAYOUT, CHECK_FAILS), 2);
}

static uint8_t reached(val from, val parameter_tensor)
{
    arena mem;
    uint8_t *reach = NULL;
    node_ref start = flow_of(graph, from);
    uint8_t found;

    arena_init(&mem, &b.heap);
    assert_true(flow_reach(graph, &start, 1, &mem, &reach));
    found = reach[flow_of(graph, parameter_tensor)];
    arena_free(&mem);
    return found;
}

static void gradients_are_cut_where_candle_cuts_them(void **state)
{
    val w = parameter("w", "4 4");
    val x = f32("2 4");
    val y = on(&b, x, "matmul", w, 0);
    val cut;

    (void)state;
    assert_int_equal(node(w)->kind, FLOW_PARAMETER);
    assert_int_equal(reached(y, w), FLOW_REACHED);
    assert_int_equal(node(y)->facts.carries, FLOW_YES);
    cut = called(&b, "candle_nn::ops::softmax_last_dim", y, 0);
    assert_int_equal(reached(cut, w), FLOW_CUT);
    assert_int_equal(node(cut)->facts.carries, FLOW_NO);
    assert_string_equal(flow_severing(graph, flow_of(graph, cut)), "always");
    assert_string_equal(operation_alternative(node(cut)->row), "candle_nn::ops::softmax");
    assert_int_equal(reached(called(&b, "candle_nn::ops::softmax", y, minus_one(), 0), w),
                     FLOW_REACHED);
    assert_int_equal(reached(on(&b, cut, "add", y, 0), w), FLOW_REACHED);
    assert_int_equal(reached(on(&b, y, "detach", 0), w), FLOW_CUT);
    assert_int_equal(reached(on(&b, y, "floor", 0), w), FLOW_CUT);
    assert_int_equal(reached(on(&b, y, "to_dtype", dtype("U32"), 0), w), FLOW_CUT);
    assert_int_equal(reached(on(&b, x, "apply_op1", number(&b, 1), 0), w), FLOW_APART);
    assert_int_equal(reached(on(&b, y, "apply_op1", number(&b, 1), 0), w), FLOW_MAYBE);
    assert_int_equal(reached(on(&b, y, "nobody_knows_it", 0), w), FLOW_MAYBE);
    /* Through host memory. */
    cut = called(&b, "candle_core::Tensor::new", on(&b, y, "to_vec1", 0), cpu(), 0);
    assert_int_equal(reached(cut, w), FLOW_CUT);
    assert_string_equal(flow_severing(graph, flow_of(graph, cut)), "host_values");
}

static void layers_use_their_parameters(void **state)
{
    val vb = builder(&b);
    val linear = called(&b, "candle_nn::linear", number(&b, 4), number(&b, 8),
                        on(&b, vb, "pp", text(&b, "linear"), 0), 0);
    val norm = called(&b, "candle_nn::rms_norm", number(&b, 8), real(&b, 1e-5),
                      on(&b, vb, "pp", text(&b, "norm"), 0), 0);
    val x = f32("2 3 4");
    val y = on(&b, linear, "forward", x, 0);
    val z;
    size_t count = 0;
    const flow_edge *edges;

    (void)state;
    assert_shape(y, "(2, 3, 8)");
    edges = flow_edges(graph, flow_of(graph, y), &count);
    assert_int_equal(count, 3);
    assert_int_equal(edges[1].role, FLOW_MODULE);
    assert_true(str_equal(program_text(&b.program, edges[1].name), CG_LIT("weight")));
    assert_int_equal(node(y)->facts.carries, FLOW_YES);
    z = on(&b, norm, "forward", y, 0);
    assert_int_equal(node(z)->facts.carries, FLOW_NO);
    assert_string_equal(flow_severing(graph, flow_of(graph, z)), "contiguous_input");
    z = on(&b, norm, "forward", on(&b, y, "transpose", number(&b, 0), number(&b, 1), 0), 0);
    assert_int_equal(node(z)->facts.carries, FLOW_YES);
    z = on(&b, norm, "forward",
           on(&b, input("x"), "narrow", number(&b, 0), number(&b, 0), number(&b, 1), 0), 0);
    assert_int_equal(flow_edges(graph, flow_of(graph, z), &count)[0].passes, FLOW_DEPENDS);
    assert_int_equal(node(on(&b, norm, "forward_diff", y, 0))->facts.carries, FLOW_YES);
    on(&b, linear, "forward", f32("2 5"), 0);
    assert_int_equal(count_needs(FLOW_NEED_SHAPE, CHECK_FAILS), 1);
    /* A sequence is its layers. */
    z = called(&b, "candle_nn::seq", 0);
    z = on(&b, z, "add", linear, 0);
    z = on(&b, z, "add", norm, 0);
    assert_shape(on(&b, z, "forward", x, 0), "(2, 3, 8)");
    z = called(&b, "candle_nn::embedding", number(&b, 100), number(&b, 16), vb, 0);
    assert_shape(on(&b, z, "forward", zeros("b s", "U32"), 0), "(b, s, 16)");
    assert_shape(on(&b, x, "apply", linear, 0), "(2, 3, 8)");
}

static void numbers_are_bounded(void **state)
{
    val x = input("x");
    val y;

    (void)state;
    on(&b, on(&b, x, "sqr", 0), "sqrt", 0);
    assert_int_equal(count_needs(FLOW_NEED_NONNEGATIVE, CHECK_HOLDS), 1);
    on(&b, x, "log", 0);
    assert_int_equal(count_needs(FLOW_NEED_POSITIVE, CHECK_UNKNOWN), 1);
    on(&b, called(&b, "candle_nn::ops::softmax", x, minus_one(), 0), "log", 0);
    assert_int_equal(count_needs(FLOW_NEED_POSITIVE, CHECK_FAILS), 1);
    y = on(&b, on(&b, x, "sqr", 0), "mean_keepdim", minus_one(), 0);
    on(&b, x, "broadcast_div", on(&b, y, "sqrt", 0), 0);
    assert_int_equal(count_needs(FLOW_NEED_NONZERO, CHECK_FAILS), 1);
    y = on(&b, on(&b, y, "affine", real(&b, 1), real(&b, 1e-6), 0), "sqrt", 0);
    on(&b, x, "broadcast_div", y, 0);
    assert_int_equal(count_needs(FLOW_NEED_NONZERO, CHECK_HOLDS), 1);
    /* softmax by hand */
    y = on(&b, on(&b, x, "broadcast_sub", on(&b, x, "max_keepdim", minus_one(), 0), 0), "exp", 0);
    y = on(&b, y, "broadcast_div", on(&b, y, "sum_keepdim", minus_one(), 0), 0);
    assert_int_equal(count_needs(FLOW_NEED_NONZERO, CHECK_HOLDS), 2);
    assert_int_equal(count_needs(FLOW_NEED_NONZERO, CHECK_FAILS), 1);
    /* without the maximum it may overflow, but the sum is above 0 */
    y = on(&b, x, "exp", 0);
    on(&b, y, "broadcast_div", on(&b, y, "sum_keepdim", minus_one(), 0), 0);
    assert_int_equal(count_needs(FLOW_NEED_NONZERO, CHECK_HOLDS), 3);
    y = on(&b, x, "relu", 0);
    on(&b, y, "broadcast_div", on(&b, y, "sum_keepdim", minus_one(), 0), 0);
    assert_int_equal(count_needs(FLOW_NEED_NONZERO, CHECK_FAILS), 2);
    on(&b, x, "div", real(&b, 2), 0);
    assert_int_equal(count_needs(FLOW_NEED_NONZERO, CHECK_FAILS), 2);
    y = on(&b, called(&b, "candle_nn::ops::sigmoid", x, 0), "affine", real(&b, -1), real(&b, 1), 0);
    on(&b, y, "log", 0);
    assert_int_equal(count_needs(FLOW_NEED_POSITIVE, CHECK_FAILS), 2);
    y = on(&b, called(&b, "candle_nn::ops::sigmoid", x, 0), "clamp", real(&b, 1e-6), real(&b, 1),
           0);
    on(&b, y, "log", 0);
    assert_int_equal(count_needs(FLOW_NEED_POSITIVE, CHECK_HOLDS), 1);
}

static void the_loss_that_takes_logits_is_looked_into(void **state)
{
    val loss =
        called(&b, "candle_nn::loss::binary_cross_entropy_with_logit", input("x"), input("t"), 0);
    size_t inside = 0;

    (void)state;
    assert_shape(loss, "()");
    for (node_ref i = 1; i < graph->nodes.count; i++)
        inside += flow_at(graph, i)->body == flow_of(graph, loss);
    assert_true(inside >= 8);
    assert_int_equal(count_needs(FLOW_NEED_POSITIVE, CHECK_FAILS), 2);
    assert_int_equal(count_needs(FLOW_NEED_FINITE, CHECK_FAILS), 2);
}

static void what_is_asked_gives_values(void **state)
{
    val x = input("x");

    (void)state;
    assert_printed(&b, on(&b, x, "dims3", 0), "(x.dim(0), x.dim(1), x.dim(2))");
    assert_shape(on(&b, x, "relu", 0), "(x.dim(0), x.dim(1), x.dim(2))");
    assert_printed(&b, on(&b, x, "dim", minus_one(), 0), "x.dim(2)");
    assert_printed(&b, on(&b, x, "rank", 0), "3");
    assert_printed(&b, on(&b, f32("2 3"), "elem_count", 0), "6");
    assert_printed(&b, on(&b, f32("2 3"), "dims", 0), "[2, 3]");
    assert_shape(called(&b, "candle_core::Tensor::ones", on(&b, f32("2 3"), "shape", 0),
                        on(&b, f32("2"), "dtype", 0), on(&b, f32("2"), "device", 0), 0),
                 "(2, 3)");
    assert_int_equal(node(f32("2"))->facts.device, FLOW_CPU);
    assert_printed(&b, on(&b, on(&b, f32("2 3"), "shape", 0), "dims2", 0), "(2, 3)");
    assert_int_equal(value_at(b.eval->values, on(&b, f32("2"), "is_contiguous", 0))->as.number, 1);
}

static void two_ways_become_one(void **state)
{
    val x = f32("2 3");
    val y = on(&b, x, "relu", 0);
    val z = on(&b, f32("2 4"), "to_dtype", dtype("BF16"), 0);
    val joined = either(&b, x, y);

    (void)state;
    assert_int_equal(node(joined)->kind, FLOW_JOIN);
    assert_shape(joined, "(2, 3)");
    assert_dtype(joined, "F32");
    assert_int_equal(flow_of(graph, either(&b, x, y)), flow_of(graph, joined));
    joined = either(&b, x, z);
    assert_shape(joined, "(2, ?)");
    assert_dtype(joined, "Unknown");
}

static void loops_close(void **state)
{
    val w = parameter("w", "4 4");
    val before = f32("2 4");
    val inside;
    val after = on(&b, before, "matmul", w, 0);
    size_t count = 0;

    (void)state;
    graph->is_widening = true;
    inside = either(&b, before, after);
    graph->is_widening = false;
    assert_int_equal(node(inside)->kind, FLOW_LOOP);
    after = on(&b, inside, "matmul", w, 0);
    flow_carry(graph, inside, after);
    assert_int_equal(flow_of(graph, either(&b, before, after)), flow_of(graph, inside));
    assert_int_equal(flow_edges(graph, flow_of(graph, inside), &count)[1].from,
                     flow_of(graph, after));
    assert_int_equal(reached(inside, w), FLOW_REACHED);
}

static void an_evaluation_is_forgotten(void **state)
{
    val x = input("x");
    flow_mark base;

    (void)state;
    on(&b, x, "relu", 0);
    base = flow_position(graph);
    on(&b, x, "add", f32("2"), 0);
    assert_dtype(x, "F32");
    flow_reset(graph, base);
    assert_dtype(x, "Unknown");
    assert_int_equal(graph->requirements.count, 0);
}

static void ranks_follow_backwards(void **state)
{
    val x = input("x");
    val y = on(&b, on(&b, x, "relu", 0), "contiguous", 0);
    flow_mark all = {.nodes = 1};

    (void)state;
    on(&b, y, "dims3", 0);
    assert_false(node(x)->facts.has_rank);
    assert_true(flow_settle(graph, all));
    assert_true(node(x)->facts.has_rank);
    assert_int_equal(node(x)->facts.rank, 3);
}

static void kernels_that_are_missing(void **state)
{
    (void)state;
    b.catalogue.candle_core = CATALOGUE_VERSION(0, 11, 0);
    on(&b, zeros("2 2", "BF16"), "matmul", zeros("2 2", "BF16"), 0);
    assert_int_equal(count_needs(FLOW_NEED_KERNEL, CHECK_FAILS), 1);
    b.catalogue.candle_core = CATALOGUE_VERSION(0, 11, 1);
    on(&b, zeros("2 2", "BF16"), "matmul", zeros("2 2", "BF16"), 0);
    assert_int_equal(count_needs(FLOW_NEED_KERNEL, CHECK_FAILS), 1);
}

/* Tables grow while the node of a name is made; and go back to what they were. */
static void names_keep_their_nodes(void **state)
{
    flow_mark empty = flow_position(graph);
    node_ref nodes[300];
    char name[16];

    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 300; i++) {
            snprintf(name, sizeof name, "x%u", i * (round + 1));
            nodes[i] = flow_named_input(graph, str_from(name));
            assert_int_equal(nodes[i], empty.nodes + i);
        }
        for (unsigned i = 0; i < 300; i++) {
            snprintf(name, sizeof name, "x%u", i * (round + 1));
            assert_int_equal(flow_named_input(graph, str_from(name)), nodes[i]);
        }
        flow_reset(graph, empty);
    }
}

static void joins_of_a_graph_that_was_reset_are_gone(void **state)
{
    flow_mark empty = flow_position(graph);
    node_ref first[3], second[4];

    (void)state;
    first[0] = flow_named_input(graph, CG_LIT("x"));
    first[1] = flow_named_input(graph, CG_LIT("y"));
    first[2] = flow_join(graph, first[0], first[1]);
    assert_int_equal(flow_join(graph, first[0], first[1]), first[2]);
    flow_reset(graph, empty);
    second[0] = flow_named_input(graph, CG_LIT("u"));
    second[1] = flow_named_input(graph, CG_LIT("v"));
    graph->is_widening = true;
    second[2] = flow_join(graph, second[0], second[1]);
    graph->is_widening = false;
    assert_int_equal(second[2], first[2]);
    second[3] = flow_join(graph, second[1], second[0]);
    assert_int_not_equal(second[3], second[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sizes_follow_from_sizes, begin, end),
        cmocka_unit_test_setup_teardown(parts_lists_and_ids, begin, end),
        cmocka_unit_test_setup_teardown(sizes_that_never_fit_are_said, begin, end),
        cmocka_unit_test_setup_teardown(dtypes_are_known_or_named, begin, end),
        cmocka_unit_test_setup_teardown(layouts_say_who_made_them, begin, end),
        cmocka_unit_test_setup_teardown(gradients_are_cut_where_candle_cuts_them, begin, end),
        cmocka_unit_test_setup_teardown(layers_use_their_parameters, begin, end),
        cmocka_unit_test_setup_teardown(numbers_are_bounded, begin, end),
        cmocka_unit_test_setup_teardown(the_loss_that_takes_logits_is_looked_into, begin, end),
        cmocka_unit_test_setup_teardown(what_is_asked_gives_values, begin, end),
        cmocka_unit_test_setup_teardown(two_ways_become_one, begin, end),
        cmocka_unit_test_setup_teardown(loops_close, begin, end),
        cmocka_unit_test_setup_teardown(an_evaluation_is_forgotten, begin, end),
        cmocka_unit_test_setup_teardown(names_keep_their_nodes, begin, end),
        cmocka_unit_test_setup_teardown(joins_of_a_graph_that_was_reset_are_gone, begin, end),
        cmocka_unit_test_setup_teardown(ranks_follow_backwards, begin, end),
        cmocka_unit_test_setup_teardown(kernels_that_are_missing, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
