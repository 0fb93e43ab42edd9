#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/runtime_fields.h"

static rec_text text;

static int begin(void **state)
{
    (void)state;
    text = (rec_text){0};
    return 0;
}

static int end(void **state)
{
    (void)state;
    text_free(&text);
    return 0;
}

static void expect_text(const char *want)
{
    text_add(&text, (cg_str){"", 1});
    assert_false(text.failed);
    assert_string_equal(text.at, want);
}

static void expect_refused(const runtime_record *record, const char *part)
{
    cg_err err = {0};

    assert_int_equal(runtime_check(record, &err), CG_USAGE);
    if (strstr(err.text, part) == NULL)
        fail_msg("`%s` has no `%s`", err.text, part);
}

static const cg_runtime_gradient present = {.size = sizeof present,
                                            .event_id = "g1",
                                            .root = "vb",
                                            .key = "a.weight",
                                            .state = CG_RUNTIME_PRESENT};

static void absent_fields_are_left_out(void **state)
{
    cg_runtime_gradient gradient = present;
    runtime_record record = {RUNTIME_RECORD_GRADIENT, .as.gradient = &gradient};

    (void)state;
    assert_int_equal(runtime_check(&record, NULL), CG_OK);
    assert_string_equal(runtime_event_id(&record), "g1");
    runtime_put(&record, &text);
    text_add(&text, CG_LIT("\n{"));
    gradient.has_step = gradient.has_norm = true;
    gradient.norm = 0.5;
    runtime_put(&record, &text);
    expect_text("\"event_id\":\"g1\",\"root\":\"vb\",\"key\":\"a.weight\",\"state\":\"present\"\n"
                "{\"event_id\":\"g1\",\"root\":\"vb\",\"key\":\"a.weight\",\"state\":\"present\","
                "\"step\":0,\"norm\":0.5");
}

static void a_tensor_without_axes_has_an_empty_shape(void **state)
{
    cg_runtime_tensor tensor = {
        .size = sizeof tensor, .event_id = "\"", .dtype = "F32", .device = "cpu"};
    runtime_record record = {RUNTIME_RECORD_TENSOR, .as.tensor = &tensor};

    (void)state;
    assert_int_equal(runtime_check(&record, NULL), CG_OK);
    runtime_put(&record, &text);
    expect_text("\"event_id\":\"\\\"\",\"shape\":[],\"dtype\":\"F32\",\"device\":\"cpu\","
                "\"contiguous\":false,\"requires_grad\":false");
}

static void the_field_that_is_missing_is_named(void **state)
{
    cg_runtime_tensor tensor = {.size = sizeof tensor, .dtype = "F32", .device = "cpu", .rank = 1};
    const char *inputs[] = {"a", NULL};
    cg_runtime_operation operation = {.size = sizeof operation, .inputs = inputs, .input_count = 2};
    cg_runtime_edge edge = {.size = sizeof edge, .from_static_id = "a"};
    cg_runtime_gradient gradient = present;
    cg_err err = {0};

    (void)state;
    expect_refused(&(runtime_record){RUNTIME_RECORD_TENSOR, .as.tensor = NULL}, "without its size");
    expect_refused(&(runtime_record){RUNTIME_RECORD_TENSOR, .as.tensor = &tensor}, "`shape`");
    tensor.device = NULL;
    expect_refused(&(runtime_record){RUNTIME_RECORD_TENSOR, .as.tensor = &tensor}, "\"device\"");
    tensor.size--;
    expect_refused(&(runtime_record){RUNTIME_RECORD_TENSOR, .as.tensor = &tensor}, "its size");
    expect_refused(&(runtime_record){RUNTIME_RECORD_OPERATION, .as.operation = &operation},
                   "\"op\"");
    operation.op = "matmul";
    expect_refused(&(runtime_record){RUNTIME_RECORD_OPERATION, .as.operation = &operation},
                   "entry 1 of \"inputs\"");
    expect_refused(&(runtime_record){RUNTIME_RECORD_EDGE, .as.edge = &edge}, "\"to_static_id\"");
    gradient.root = NULL;
    expect_refused(&(runtime_record){RUNTIME_RECORD_GRADIENT, .as.gradient = &gradient},
                   "\"root\"");
    assert_int_equal(runtime_check_begin(NULL, "matmul", NULL, 0, &err), CG_USAGE);
    assert_non_null(strstr(err.text, "\"static_id\""));
}

static void state_and_norm_agree(void **state)
{
    static const struct {
        uint32_t state;
        double norm;
        bool is_fine;
    } rows[] = {{CG_RUNTIME_PRESENT, 1, true},
                {CG_RUNTIME_PRESENT, 0, false},
                {CG_RUNTIME_PRESENT, NAN, false},
                {CG_RUNTIME_MISSING, 1, false},
                {CG_RUNTIME_ZERO, 0, true},
                {CG_RUNTIME_ZERO, 1, false},
                {CG_RUNTIME_NON_FINITE, NAN, true},
                {CG_RUNTIME_NON_FINITE, 1, false},
                {77, 1, false}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cg_runtime_gradient gradient = present;
        runtime_record record = {RUNTIME_RECORD_GRADIENT, .as.gradient = &gradient};

        gradient.state = rows[i].state;
        gradient.has_norm = true;
        gradient.norm = rows[i].norm;
        assert_int_equal(runtime_check(&record, NULL), rows[i].is_fine ? CG_OK : CG_USAGE);
    }
}

static void a_run_begins_a_line_or_a_document(void **state)
{
    cg_runtime_run run;

    (void)state;
    cg_runtime_run_profile(&run, CG_RUNTIME_TRAIN, "train");
    run.schema = NULL;
    assert_int_equal(runtime_check_run(&run, CG_RUNTIME_LINES, NULL), CG_OK);
    runtime_put_head(&run, false, &text);
    text_add(&text, CG_LIT("\n"));
    runtime_put_head(&run, true, &text);
    runtime_put_list(RUNTIME_RECORD_EDGE, &text);
    runtime_put_kind(RUNTIME_RECORD_EDGE, &text);
    expect_text("{\"kind\":\"meta\",\"schema\":\"candle-graph/runtime/1\",\"entrypoint\":\"train\","
                "\"profile\":\"release\",\"cargo_features\":[],\"cfg\":[],\"phase\":\"train\"}\n"
                "{\"schema\":\"candle-graph/runtime/1\",\"run\":{\"entrypoint\":\"train\","
                "\"profile\":\"release\",\"cargo_features\":[],\"cfg\":[],\"phase\":\"train\"}"
                ",\"edge_timings\":[\"kind\":\"edge_timing\"");
    run.schema = "candle-graph/runtime/9";
    assert_int_equal(runtime_check_run(&run, CG_RUNTIME_LINES, NULL), CG_USAGE);
    run.schema = NULL;
    assert_int_equal(runtime_check_run(&run, 9, NULL), CG_USAGE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(absent_fields_are_left_out),         TEST(a_tensor_without_axes_has_an_empty_shape),
        TEST(the_field_that_is_missing_is_named), TEST(state_and_norm_agree),
        TEST(a_run_begins_a_line_or_a_document),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
