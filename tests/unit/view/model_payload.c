#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "support/model.h"
#include "unit/base/failing.h"
#include "view/model_payload.h"
#include "view/page.h"

#include <cmocka.h>

static heap memory;
static model_document sample;
static doc_checkpoint report;
static const doc_checkpoint *given;
static buf out;

static int begin(void **state)
{
    (void)state;
    heap_init(&memory, NULL);
    model_sample_document(&memory, &sample);
    buf_init(&out, &memory, SIZE_MAX);
    given = NULL;
    return 0;
}

static int end(void **state)
{
    (void)state;
    model_free(&sample);
    buf_free(&out);
    return memory.used_bytes == 0 ? 0 : -1;
}

static void write(void)
{
    buf_clear(&out);
    assert_int_equal(model_payload_write(&memory, &sample.doc, given, model_sink(&out), NULL),
                     CG_OK);
}

static void expect(const char *part)
{
    model_expect_holds(&out, part);
}

static void expect_not(const char *part)
{
    if (str_find(buf_text(&out), str_from(part)) != SIZE_MAX)
        fail_msg("`%s` is there", part);
}

static size_t count_of(const char *part)
{
    cg_str rest = buf_text(&out);
    size_t count = 0;
    size_t at;

    while ((at = str_find(rest, str_from(part))) != SIZE_MAX) {
        rest = (cg_str){rest.ptr + at + 1, rest.len - at - 1};
        count++;
    }
    return count;
}

/* The value of the only record whose id ends so; texts of the sample are changed through it. */
static model_parameter *parameter(const char *key)
{
    for (size_t i = 0; i < sample.doc.parameters.count; i++) {
        model_parameter *row = (model_parameter *)(uintptr_t)sample.doc.parameters.at + i;

        if (str_equal(row->key, str_from(key)))
            return row;
    }
    fail_msg("no parameter %s", key);
    return NULL;
}

/* --- facts --- */

static void the_document_is_sorted_and_compact(void **state)
{
    static const char *const parts[] = {
        "{\"agent_context\":{\"grad_states\":{\"Differentiable\":",
        "\"analysis_id\":\"analysis:sample\",\"coverage\":{\"architecture_edges\":",
        "\"diagnostics\":[{\"at\":",
        "\"package\":null,\"runtime\":null,\"schema\":\"candle-graph/viewer/1\",\"summary\":{",
        "\"views\":{\"architecture\":{\"edges\":[",
        "\"dataflow_infer\":{\"edges\":[],\"functions\":[],\"nodes\":[],\"phase\":\"infer\"}",
        "\"dataflow_train\":{\"edges\":[{",
        "\"findings\":{\"items\":[{",
        "\"pipeline\":{\"edges\":[],\"nodes\":[]}",
        "\"structure\":{\"modules\":[{",
    };
    size_t at = 0;

    (void)state;
    write();
    model_expect_json(&memory, buf_text(&out));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        size_t found = str_find((cg_str){out.at + at, out.len - at}, str_from(parts[i]));

        if (found == SIZE_MAX)
            fail_msg("`%s` is missing or out of order", parts[i]);
        at += found;
    }
    expect_not("\"bounded\"");
    expect_not("\"checkpoint\"");
    expect_not("\"cargo\"");
}

static void a_parameter_says_where_it_is_asked_for(void **state)
{
    (void)state;
    write();
    expect("\"builder_root\":\"vb\",\"certainty\":\"Conditional\",\"dtype\":null,"
           "\"grad_state\":\"Unknown\",\"id\":\"parameter:component%3Anet%253A%253ANet:vb:"
           "layers.{i}.b\",\"key\":\"layers.{i}.b\",\"kind\":\"parameter\"");
    expect("\"module_prefix\":\"layers.{i}\",\"param_kind\":\"linear\",\"role\":\"Unknown\","
           "\"shape\":\"\xe2\x80\x94\",\"short_label\":\"b\",\"source\":\"src/net.rs:11\","
           "\"symbolic_shape\":\"dim\"");
}

static void a_checkpoint_gives_shape_and_dtype(void **state)
{
    static const uint64_t shape[] = {3, 4};
    model_parameter *head;
    model_parameter *scalar;

    (void)state;
    head = parameter("head.w");
    head->checkpoint_shape = (sc_u64s){shape, 2};
    head->checkpoint_dtype = CG_LIT("BF16");
    scalar = parameter("layers.{i}.b");
    scalar->checkpoint_dtype = CG_LIT("F32");
    write();
    expect("\"dtype\":\"BF16\"");
    expect("\"shape\":[\"3\",\"4\"],\"short_label\":\"w\"");
    expect("\"shape\":[],\"short_label\":\"b\"");
}

static void roles_are_gradient_states(void **state)
{
    (void)state;
    parameter("head.w")->role = MODEL_PARAMETER_ROLE_OPTIMIZED;
    parameter("layers.{i}.b")->role = MODEL_PARAMETER_ROLE_RUNNING_STATE;
    parameter("layers.{i}.w")->role = MODEL_PARAMETER_ROLE_EXCLUDED;
    write();
    expect("\"grad_state\":\"Trainable\"");
    expect("\"grad_state\":\"LayoutDependent\"");
    expect("\"grad_state\":\"Frozen\"");
    expect("\"role\":\"RunningState\"");
    expect("\"total_parameters\":3,\"trainable_parameters\":1");
}

static void components_come_before_modules_and_edges_follow(void **state)
{
    (void)state;
    write();
    expect("\"kind\":\"component\",\"label\":\"Block\",\"modules\":0,\"nested\":true");
    expect("\"kind\":\"module\",\"label\":\"Block\",\"parameters\":2");
    expect("\"id\":\"module-edge:module:");
    expect("\"kind\":\"composition\",\"label\":\"child\",\"source\":\"src/net.rs:9\"");
    expect_not("\"component-edge:"); /* only with one component */
    expect("\"architecture\":{\"description\":\"components and their modules, and what holds "
           "what\",\"edges\":1,\"functions\":null,\"nodes\":4}");
}

static void one_component_leads_to_its_root(void **state)
{
    (void)state;
    sample.doc.components.count = 1;
    write();
    expect("\"id\":\"component-edge:component:");
    expect("\"label\":\"root\"");
}

static void a_function_has_its_operations_and_edges(void **state)
{
    (void)state;
    write();
    expect("\"functions\":[{\"id\":\"function:net%3A%3ANet%3A%3Aforward:\",\"is_entrypoint\":true,"
           "\"label\":\"net::Net::forward\",\"operations\":1,\"short_label\":\"Net::forward\","
           "\"tensors\":2}]");
    expect(":in:0\",\"kind\":\"data\",\"label\":\"in\"");
    expect(":out\",\"kind\":\"data\",\"label\":\"out\"");
    expect("\"label\":\"result_of_matmul\"");
    expect("\"short_label\":\"matmul\"");
    expect("\"entrypoints\":[\"net::Net::forward\"]");
}

static void an_operation_that_severs_makes_severing_edges(void **state)
{
    model_operation *row = (model_operation *)(uintptr_t)sample.doc.operations.at;

    (void)state;
    row->gradient_rule = CG_LIT("Severs");
    row->inputs = (sc_strs){row->inputs.at, 1};
    write();
    assert_int_equal(count_of("\"grad_state\":\"Severed\""), 2);
    assert_int_equal(count_of("\"kind\":\"severing\""), 2);
}

static void shapes_are_texts(void **state)
{
    const model_dimension axes[] = {{CG_LIT("batch"), CG_LIT("b")}, {{NULL, 0}, CG_LIT("2 * d")}};
    const model_shape of[] = {
        {.dimensions = {axes, 2}}, {.rank = {3, true}}, {.source_expr = CG_LIT("x.shape()")}};
    static const char *const want[] = {"\"shape\":[\"b\",\"2 * d\"]", "\"shape\":\"rank 3\"",
                                       "\"shape\":\"x.shape()\""};
    model_tensor *row = (model_tensor *)(uintptr_t)sample.doc.tensors.at;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        row->shape = &of[i];
        write();
        expect(want[i]);
    }
}

static void short_labels_leave_out_what_is_said_elsewhere(void **state)
{
    static const char *const names[][2] = {
        {"result_of_Linear::forward", "\"short_label\":\"Linear\""},
        {"result_of_", "\"short_label\":\"result of \""},
        {"::forward", "\"short_label\":\"::forward\""},
        {"self.word_emb", "\"short_label\":\"word emb\""},
        {"x.", "\"short_label\":\"x.\""},
    };
    model_tensor *row = (model_tensor *)(uintptr_t)sample.doc.tensors.at;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        row->name = str_from(names[i][0]);
        write();
        expect(names[i][1]);
    }
}

static void findings_have_place_help_and_a_view(void **state)
{
    (void)state;
    write();
    expect("\"findings_by_severity\":{\"Error\":1,\"Warning\":1}");
    expect("\"confidence\":\"Conditional\",\"help\":\"leave it out while training\",\"id\":");
    expect("\"location\":{\"byte_end\":892,\"byte_start\":880,\"column\":9,"
           "\"file\":\"src/net.rs\",\"line\":22}");
    expect("\"rule\":\"gradient-cut\",\"severity\":\"Warning\"");
    expect("\"suggested_view\":\"dataflow_train\"");
    expect("\"suggested_view\":\"architecture\"");
    assert_int_equal(count_of("\"message\":\"`add` gets F32 and U8\""), 2); /* a diagnostic too */
}

static void a_checkpoint_report_is_shown_without_its_parts(void **state)
{
    const cg_str keys[] = {CG_LIT("head.w")};
    const doc_diagnosis row = {
        .code = CG_LIT("unexplained"), .keys = {keys, 1}, .explanation = CG_LIT("nobody knows")};
    const doc_checkpoint part = {.root = CG_LIT("part-of-it")};

    (void)state;
    report = (doc_checkpoint){.root = CG_LIT("vb"),
                              .missing_certain = {keys, 1},
                              .diagnosis = {&row, 1},
                              .components = {&part, 1}};
    given = &report;
    write();
    expect("\"checkpoint\":{\"checkpoint_tensors\":0,\"component\":null,\"diagnosis\":[{\"code\":"
           "\"unexplained\",\"explanation\":\"nobody knows\",\"file_keys\":[],"
           "\"keys\":[\"head.w\"]}]");
    expect_not("part-of-it");
}

static void what_is_named_but_not_there_stops_nobody(void **state)
{
    (void)state;
    sample.doc.components.count = 0;
    sample.doc.functions.count = 0;
    write();
    model_expect_json(&memory, buf_text(&out));
    expect("\"component\":\"component:net%3A%3ANet\"");
    expect("\"label\":\"result_of_matmul\"");
    sample.doc.modules.count = 0;
    write();
    model_expect_json(&memory, buf_text(&out));
    expect("\"key\":\"head.w\"");
}

static void an_empty_model_has_a_page(void **state)
{
    (void)state;
    sample.doc.components.count = sample.doc.modules.count = sample.doc.parameters.count = 0;
    sample.doc.functions.count = sample.doc.tensors.count = sample.doc.operations.count = 0;
    sample.doc.findings.count = 0;
    write();
    expect("\"model_name\":\"model\"");
    expect("\"findings_by_severity\":{}");
    model_expect_json(&memory, buf_text(&out));
}

/* --- injection --- */

static void hostile_names_stay_inside(void **state)
{
    static const char hostile[] = "</script><!-- &amp; \"' \xE2\x80\xA8\xE2\x80\xA9 "
                                  "\xE2\x80\xAE\x1b[2J\0__proto__";
    const cg_str name = {hostile, sizeof hostile - 1};
    model_parameter *row;
    model_component *component = (model_component *)(uintptr_t)sample.doc.components.at;
    model_finding *finding = (model_finding *)(uintptr_t)sample.doc.findings.at;

    (void)state;
    row = parameter("head.w");
    row->key = row->symbolic_shape = row->condition = name;
    component->name = component->qualified_name = name;
    finding->message = finding->help = name;
    write();
    model_expect_json(&memory, buf_text(&out));
    expect("\\u003c/script\\u003e\\u003c!-- \\u0026amp; \\\"' \\u2028\\u2029 ");
    expect("\\u001b[2J\\u0000__proto__");
    for (const char *byte = "<>&\n\x1b"; *byte != '\0'; byte++)
        assert_null(memchr(out.at, *byte, out.len));
    assert_null(memchr(out.at, 0, out.len));
}

/* --- the ceiling --- */

/* A model whose lists of parameters, modules, tensors and operations are `count` long. */
static void enlarge(size_t components, size_t count, size_t flow)
{
    arena *mem = &sample.mem;
    model_component *all = arena_zero(mem, components * sizeof *all);
    model_module *modules = arena_zero(mem, components * sizeof *modules);
    model_parameter *parameters = arena_zero(mem, components * count * sizeof *parameters);
    model_tensor *tensors = arena_zero(mem, 2 * flow * sizeof *tensors);
    model_operation *operations = arena_zero(mem, flow * sizeof *operations);
    const model_function *function = sample.doc.functions.at;
    cg_str *ends = arena_zero(mem, 2 * flow * sizeof *ends);

    for (size_t c = 0; c < components; c++) {
        bool is_good = arena_format(mem, &all[c].id, "component:n%zu", c) &&
                       arena_format(mem, &modules[c].id, "module:n%zu", c);

        assert_true(is_good);
        all[c].name = all[c].qualified_name = all[c].source = all[c].id;
        all[c].is_nested = c % 2 == 0 ? BOOL_TRUE : BOOL_FALSE;
        modules[c].component = all[c].id;
        modules[c].type_name = modules[c].builder_root = modules[c].prefix = modules[c].source =
            CG_LIT("m");
        for (size_t i = 0; i < count; i++) {
            model_parameter *row = &parameters[c * count + i];

            assert_true(
                arena_format(mem, &row->id, "parameter:n%zu:%zu:of:a:certain:length", c, i));
            row->component = all[c].id;
            row->module = modules[c].id;
            row->key = row->kind = row->source = row->builder_root = CG_LIT("layers.0.weight");
        }
    }
    for (size_t i = 0; i < 2 * flow; i++) {
        assert_true(arena_format(mem, &tensors[i].id, "tensor:train:%zu", i));
        tensors[i].name = CG_LIT("result_of_x");
        tensors[i].dtype = CG_LIT("Unknown");
        tensors[i].owner_function = function->id;
        tensors[i].execution_phase = MODEL_PHASE_TRAIN;
        ends[i] = tensors[i].id;
    }
    for (size_t i = 0; i < flow; i++) {
        assert_true(arena_format(mem, &operations[i].id, "operation:train:%zu", i));
        operations[i].function = function->id;
        operations[i].name = operations[i].dtype_rule = operations[i].gradient_rule =
            operations[i].source = CG_LIT("op");
        operations[i].inputs = (sc_strs){&ends[i], 1};
        operations[i].output = ends[flow + i];
        operations[i].execution_phase = MODEL_PHASE_TRAIN;
    }
    sample.doc.components = (sc_records){all, components};
    sample.doc.modules = (sc_records){modules, components};
    sample.doc.parameters = (sc_records){parameters, components * count};
    sample.doc.tensors = (sc_records){tensors, 2 * flow};
    sample.doc.operations = (sc_records){operations, flow};
}

static void expect_cut(const char *list, size_t displayed, size_t total)
{
    char part[128];

    (void)snprintf(part, sizeof part, "{\"displayed\":%zu,\"list\":\"%s\",\"total\":%zu}",
                   displayed, list, total);
    expect(part);
}

static void data_flow_is_cut_before_parameters(void **state)
{
    (void)state;
    enlarge(10, 100, 60000);
    write();
    assert_true(out.len <= MODEL_PAYLOAD_BYTES);
    assert_true(out.len > MODEL_PAYLOAD_BYTES / 2);
    assert_int_equal(count_of("\"kind\":\"parameter\""), 1000);
    expect("\"bounded\":{\"limit_bytes\":33554432,\"lists\":[{");
    expect_not("\"list\":\"views.structure.parameters\"");
    expect_cut("views.dataflow_train.nodes",
               count_of("\"kind\":\"tensor\"") + count_of("\"kind\":\"operation\""), 180000);
    expect_cut("views.dataflow_train.edges", count_of("\"kind\":\"data\""), 120000);
    assert_true(count_of("\"kind\":\"operation\"") > 1000);
    expect("\"operations\":60000"); /* the summary is whole */
}

static void components_at_the_top_are_shown_whole_first(void **state)
{
    (void)state;
    enlarge(30, 8000, 10);
    write();
    assert_true(out.len <= MODEL_PAYLOAD_BYTES);
    expect_cut("views.structure.parameters", count_of("\"kind\":\"parameter\""), 240000);
    assert_int_equal(count_of("\"kind\":\"parameter\"") % 8000, 0);
    expect("\"parameter:n1:7999:");
    expect_not("\"parameter:n0:0:");
    expect("\"total_parameters\":240000");
    assert_int_equal(count_of("\"kind\":\"operation\""), 10);
}

static void a_single_component_that_is_too_large_is_shown_in_part(void **state)
{
    (void)state;
    enlarge(1, 120000, 1);
    write();
    assert_true(out.len <= MODEL_PAYLOAD_BYTES);
    assert_true(count_of("\"kind\":\"parameter\"") > 1000);
}

static void one_text_that_is_too_long_is_refused(void **state)
{
    size_t length = MODEL_PAYLOAD_BYTES + 1;
    char *text = arena_bytes(&sample.mem, length);
    cg_err err = {0};

    (void)state;
    assert_non_null(text);
    memset(text, 'x', length);
    sample.doc.analysis_id = (cg_str){text, length};
    assert_int_equal(model_payload_write(&memory, &sample.doc, NULL, model_sink(&out), &err),
                     CG_LIMIT);
    assert_int_equal(err.code, CG_LIMIT);
    assert_int_equal(out.len, 0);
}

/* --- failures --- */

static cg_code refuse(void *context, const char *bytes, size_t count)
{
    unsigned *left = context;

    (void)bytes;
    (void)count;
    if (*left == 0)
        return CG_OUTPUT;
    --*left;
    return CG_OK;
}

static void a_refusing_sink_is_reported(void **state)
{
    cg_code code = page_is_built() ? CG_OUTPUT : CG_PLANNED;

    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        unsigned left = k;
        cg_err err = {0};

        assert_int_equal(page_write_model(&memory, &sample.doc, NULL, (cg_str){0},
                                          (cg_sink){&left, refuse}, &err),
                         code);
        assert_int_equal(err.code, code);
    }
}

static void every_refused_allocation_is_reported_and_leaves_nothing(void **state)
{
    cg_code code;
    size_t k = 0;

    (void)state;
    do {
        failing room = {.fail_at = ++k};
        cg_err err = {0};
        heap from;

        failing_env(&room);
        heap_init(&from, NULL);
        from.allocator = room.allocator;
        buf_clear(&out);
        code = model_payload_write(&from, &sample.doc, NULL, model_sink(&out), &err);
        assert_int_equal(room.blocks, 0);
        if (code != CG_OK) {
            assert_int_equal(code, CG_NOMEM);
            assert_int_equal(err.code, CG_NOMEM);
            assert_int_equal(out.len, 0);
        }
    } while (code != CG_OK);
    assert_true(k > 8);
}

/* --- the page --- */

static void the_island_stands_in_the_page_as_it_is(void **state)
{
    buf page;
    buf element;

    (void)state;
    if (!page_is_built())
        skip();
    write();
    buf_init(&page, &memory, SIZE_MAX);
    buf_init(&element, &memory, SIZE_MAX);
    assert_int_equal(
        page_write_model(&memory, &sample.doc, NULL, (cg_str){0}, model_sink(&page), NULL), CG_OK);
    buf_add(&element, CG_LIT("<script id=\"cg-payload\" type=\"application/json\">"));
    buf_add(&element, buf_text(&out));
    buf_add(&element, CG_LIT("</script>"));
    assert_true(str_starts_with(buf_text(&page), CG_LIT("<!DOCTYPE html>\n<html ")));
    assert_true(str_ends_with(buf_text(&page), CG_LIT("</html>\n")));
    assert_true(str_find(buf_text(&page), buf_text(&element)) != SIZE_MAX);
    assert_true(str_find(buf_text(&page), CG_LIT("default-src 'none'")) != SIZE_MAX);
    assert_true(str_find(buf_text(&page), CG_LIT("data-viewer=\"candle-graph\"")) != SIZE_MAX);
    buf_free(&page);
    buf_free(&element);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_document_is_sorted_and_compact),
        TEST(a_parameter_says_where_it_is_asked_for),
        TEST(a_checkpoint_gives_shape_and_dtype),
        TEST(roles_are_gradient_states),
        TEST(components_come_before_modules_and_edges_follow),
        TEST(one_component_leads_to_its_root),
        TEST(a_function_has_its_operations_and_edges),
        TEST(an_operation_that_severs_makes_severing_edges),
        TEST(shapes_are_texts),
        TEST(short_labels_leave_out_what_is_said_elsewhere),
        TEST(findings_have_place_help_and_a_view),
        TEST(a_checkpoint_report_is_shown_without_its_parts),
        TEST(what_is_named_but_not_there_stops_nobody),
        TEST(an_empty_model_has_a_page),
        TEST(hostile_names_stay_inside),
        TEST(data_flow_is_cut_before_parameters),
        TEST(components_at_the_top_are_shown_whole_first),
        TEST(a_single_component_that_is_too_large_is_shown_in_part),
        TEST(one_text_that_is_too_long_is_refused),
        TEST(a_refusing_sink_is_reported),
        TEST(every_refused_allocation_is_reported_and_leaves_nothing),
        TEST(the_island_stands_in_the_page_as_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
