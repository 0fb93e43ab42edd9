/*
 * What candle itself gave for expressions on tensors of known sizes, against what is told of them
 * from the source: what is told is the same, and most of it is told.
 */
#include "little.h"

#include "model/flow_build.h"
#include "model/eval.h"

#define CASES "tests/data/operations/candle-0.11.0.txt"
#define MOST  256

typedef struct one_case {
    char expression[160];
    char sizes[64];
    char dtype[16];
    char layout[16];
} one_case;

static one_case cases[MOST];
static size_t case_count;

static void read_cases(void)
{
    char line[400];
    FILE *file = fopen(CASES, "rb");

    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL && case_count < MOST) {
        one_case *it = &cases[case_count];

        if (line[0] != '#' && sscanf(line, "%159[^;]; %63[^;]; %15[^ ;] ; %15s", it->expression,
                                     it->sizes, it->dtype, it->layout) == 4)
            case_count++;
    }
    fclose(file);
    assert_true(case_count > 100);
}

static void write_crate(little *l)
{
    static char text[MOST * 700];
    size_t used = 0;

    used += (size_t)snprintf(text, sizeof text,
                             "use candle::{DType, Device, IndexOp, Result, Tensor, D};\n"
                             "use candle::Module;\n"
                             "use candle as candle_core;\n");
    for (size_t i = 0; i < case_count; i++)
        used += (size_t)snprintf(
            text + used, sizeof text - used,
            "pub fn case_%zu() -> Result<Tensor> {\n"
            "  let x = Tensor::zeros((2, 3, 4), DType::F32, &Device::Cpu)?;\n"
            "  let img = Tensor::zeros((2, 3, 10, 12), DType::F32, &Device::Cpu)?;\n"
            "  let seq = Tensor::zeros((2, 3, 10), DType::F32, &Device::Cpu)?;\n"
            "  let ids = Tensor::new(&[0u32, 1], &Device::Cpu)?;\n  %s\n}\n",
            i, cases[i].expression);
    assert_true(used < sizeof text);
    little_begin(l);
    little_write(l, "Cargo.toml", LITTLE_MANIFEST);
    little_write(l, "src/lib.rs", text);
    little_load(l, "");
}

/* Nothing told may differ; returns how much was left open. */
static size_t compare(const one_case *it, flow *graph, node_ref node)
{
    const flow_facts *facts = &flow_at(graph, node)->facts;
    enum flow_element element = flow_dtype(graph, node, NULL);
    cg_str shape = flow_shape_text(graph, node);
    char found[64];
    size_t open = 0;

    snprintf(found, sizeof found, "%.*s ", (int)shape.len, shape.ptr);
    if (node == 0 || !facts->has_rank || strchr(found, '?') != NULL)
        open++;
    else if (strcmp(found, it->sizes) != 0)
        fail_msg("%s: %s, candle has %s", it->expression, found, it->sizes);
    if (element == ELEMENT_UNKNOWN)
        open++;
    else if (strcmp(flow_element_name(element), it->dtype) != 0)
        fail_msg("%s: %s, candle has %s", it->expression, flow_element_name(element), it->dtype);
    if (facts->layout == FLOW_ANY_LAYOUT)
        open++;
    else if ((facts->layout == FLOW_CONTIGUOUS) != (strcmp(it->layout, "contiguous") == 0))
        fail_msg("%s: candle has %s", it->expression, it->layout);
    return open;
}

static void candle_gives_what_is_told(void **state)
{
    little l;
    expr_pool exprs;
    eval *interpreter = NULL;
    flow *graph = NULL;
    cg_err err = {0};
    size_t open = 0;

    (void)state;
    read_cases();
    write_crate(&l);
    assert_true(expr_pool_init(&exprs, &l.heap));
    assert_int_equal(eval_new(&l.program, l.types, &exprs, &interpreter, &err), CG_OK);
    assert_true(flow_new(interpreter->values, interpreter->trail, &l.heap, &graph));
    interpreter->flow = graph;
    interpreter->reterr = &err;
    for (size_t i = 0; i < case_count; i++) {
        char name[32];
        val result = 0;
        item_ref function;

        snprintf(name, sizeof name, "case_%zu", i);
        function = little_item(&l, name);
        assert_true(function != 0);
        eval_begin(interpreter, 0);
        assert_int_equal(eval_call(interpreter, function, NULL, NULL, 0,
                                   (model_place){.function = function}, &result),
                         CG_OK);
        open += compare(&cases[i], graph, flow_of(graph, result));
    }
    /* One fact of a hundred may stay open; every case has three. */
    assert_in_range(open, 0, case_count * 3 / 100);
    flow_free(graph);
    eval_free(interpreter);
    expr_pool_free(&exprs);
    little_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(candle_gives_what_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
