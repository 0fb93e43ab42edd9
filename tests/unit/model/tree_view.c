#include <setjmp.h>
#include <stdarg.h>

#include "model/text_model.h"
#include "model/tree_size.h"
#include "model/tree_view.h"
#include "support/sample.h"

#include <cmocka.h>

static void expect_text(const char *want)
{
    buf_byte(&sample_out, '\0');
    assert_string_equal(sample_out.at, want);
}

static void show(const tree_options *options)
{
    tree made;

    assert_int_equal(module_tree_make(&sample.mem, &memory, &sample.doc, options, &made, NULL),
                     CG_OK);
    buf_clear(&sample_out);
    tree_text(&made, &sample.doc, options, &sample_out);
}

static void a_family_is_shown_once_with_its_number(void **state)
{
    const tree_options options = {0};

    (void)state;
    show(&options);
    expect_text("net::Net  @src/net.rs:3  3 parameters, scalars: cfg.layers*dim + "
                "4*cfg.layers*dim*dim + 12\n"
                "  net::Net  [cfg.layers*dim + 4*cfg.layers*dim*dim + 12]\n"
                "    head.w  (3, 4)\n"
                "    layers.{i}: Block \xc3\x97 cfg.layers  [cfg.layers*dim + "
                "4*cfg.layers*dim*dim]\n"
                "      b  dim  (conditional)\n"
                "      w  (dim, 4 * dim)\n");
}

static void a_checkpoint_makes_numbers_of_names(void **state)
{
    static const uint64_t shape[] = {8, 32};
    static const uint64_t row[] = {8};
    static const uint64_t head[] = {3, 4};
    model_parameter *parameters = (model_parameter *)sample.doc.parameters.at;
    tree_match matches[2];
    tree_options options = {.matches = matches, .match_count = 2};

    (void)state;
    for (size_t i = 0; i < 3; i++)
        parameters[i].checkpoint_dtype = CG_LIT("BF16");
    parameters[0].checkpoint_shape = (sc_u64s){head, 2};
    parameters[1].checkpoint_shape = (sc_u64s){row, 1};
    parameters[2].checkpoint_shape = (sc_u64s){shape, 2};
    matches[0] = (tree_match){parameters[1].id, parameters[1].component, parameters[1].key, 5};
    matches[1] = (tree_match){parameters[2].id, parameters[2].component, parameters[2].key, 5};
    show(&options);
    model_expect_holds(&sample_out, "3 parameters, scalars: 1332  BF16 2664 bytes\n");
    model_expect_holds(&sample_out, "w  (8, 32)  BF16\n");
}

static void the_document_lists_modules_depth_first(void **state)
{
    const tree_options options = {.component = CG_LIT("Net")};
    tree made;
    jsonw writer;

    (void)state;
    assert_int_equal(module_tree_make(&sample.mem, &memory, &sample.doc, &options, &made, NULL),
                     CG_OK);
    assert_int_equal(jw_init(&writer, &memory, model_sink(&sample_out), false, false), CG_OK);
    tree_json(&made, &writer);
    assert_int_equal(jw_finish(&writer, NULL), CG_OK);
    model_expect_json(&memory, buf_text(&sample_out));
    model_expect_holds(&sample_out, "\"schema\":\"candle-graph/tree/1\"");
    model_expect_holds(&sample_out, "\"parent\":0,\"depth\":1,\"name\":\"layers.{i}\","
                                    "\"type_name\":\"Block\",\"builder_root\":\"vb\","
                                    "\"prefix\":\"layers.{i}\",\"times\":\"cfg.layers\"");
}

static void a_component_that_is_not_there_is_refused(void **state)
{
    const tree_options options = {.component = CG_LIT("Nobody")};
    tree made;

    (void)state;
    assert_int_equal(module_tree_make(&sample.mem, &memory, &sample.doc, &options, &made, NULL),
                     CG_INPUT);
}

static void expect_size(const char *shape, const char *want)
{
    size_term term = size_one();
    size_sum sum = {0};
    cg_str text;

    size_times_shape(&term, str_from(shape));
    assert_true(size_add(&sum, &sample.mem, &term));
    if (size_number(&sum).is_set) {
        assert_true(
            arena_format(&sample.mem, &text, "%lu", (unsigned long)size_number(&sum).value));
    } else {
        assert_true(size_text(&sum, &sample.mem, &text));
    }
    assert_string_equal(text.ptr, want);
}

static void shapes_are_products(void **state)
{
    (void)state;
    expect_size("(3, 4)", "12");
    expect_size("()", "1");
    expect_size("7", "7");
    expect_size("(d, 4 * d)", "4*d*d");
    expect_size("(x.unwrap_or(1),)", "x.unwrap_or(1)");
    expect_size("(out, in / groups(cfg), k, k)", "(in / groups(cfg))*k*k*out");
    expect_size("((a + b) * 2, c)", "2*(a + b)*c");
    expect_size("(* vocab, 2)", "2*vocab");
    expect_size("(18446744073709551615, 2)", "?");
}

static void people_get_a_summary(void **state)
{
    (void)state;
    text_model_summary(&sample.doc, &sample_out);
    model_expect_holds(&sample_out, "no package: the files of a folder\n");
    model_expect_holds(&sample_out,
                       "2 components, 2 modules, 3 parameters, 1 function, 1 entry point, 2 "
                       "tensors, 1 operation\n");
    model_expect_holds(&sample_out, "findings: 1 error, 1 warning, 0 notes");
    buf_clear(&sample_out);
    text_parameters(&sample.doc, 1, &sample_out);
    expect_text("  vb  head.w  (3, 4)  certain  @src/net.rs:11\n  ... and 2 more (--limit)\n");
}

/* The file has the lists of two parameters, and lacks the third, which only some ask for. */
static void what_the_file_lacks_is_told_in_its_sizes(void **state)
{
    static const uint64_t shape[] = {8, 32};
    model_parameter *parameters = (model_parameter *)sample.doc.parameters.at;
    tree_match match = {parameters[2].id, parameters[2].component, parameters[2].key, 5};
    const tree_options options = {.matches = &match, .match_count = 1};

    (void)state;
    parameters[1].checkpoint_dtype = (cg_str){0};
    parameters[1].checkpoint_shape = (sc_u64s){0};
    parameters[2].checkpoint_dtype = CG_LIT("BF16");
    parameters[2].checkpoint_shape = (sc_u64s){shape, 2};
    show(&options);
    expect_text("net::Net  @src/net.rs:3  3 parameters, scalars: 1332 (40 of them conditional, not "
                "in the file)  BF16 2560 bytes\n"
                "  net::Net  [1332]  BF16 2560 bytes\n"
                "    head.w  (3, 4)\n"
                "    layers.{i}: Block \xc3\x97 5  [1320]  BF16 2560 bytes\n"
                "      b  (8)  (conditional)\n"
                "      w  (8, 32)  BF16\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sample_begin, sample_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_family_is_shown_once_with_its_number),
        TEST(a_checkpoint_makes_numbers_of_names),
        TEST(what_the_file_lacks_is_told_in_its_sizes),
        TEST(the_document_lists_modules_depth_first),
        TEST(a_component_that_is_not_there_is_refused),
        TEST(shapes_are_products),
        TEST(people_get_a_summary),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
