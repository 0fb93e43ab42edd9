#include <setjmp.h>
#include <stdarg.h>

#include "model/ids.h"

#include <cmocka.h>

static heap memory;
static arena mem;

static int begin(void **state)
{
    (void)state;
    heap_init(&memory, NULL);
    arena_init(&mem, &memory);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_free(&mem);
    return memory.used_bytes == 0 ? 0 : -1;
}

static void expect(cg_str id, const char *want)
{
    assert_string_equal(id.ptr, want);
    assert_int_equal(id.len, strlen(want));
}

static void five_bytes_are_escaped_and_no_others(void **state)
{
    cg_str id;

    (void)state;
    assert_true(id_make(&mem, MODEL_ID_KIND_ARTIFACT,
                        ID_PARTS(CG_LIT("a%b:c/d\\e f\t\"<{g}\xc3\xa9")), &id));
    expect(id, "artifact:a%25b%3Ac%2Fd%5Ce%20f\t\"<{g}\xc3\xa9");
}

static void an_id_inside_an_id_is_escaped_again(void **state)
{
    cg_str function;
    cg_str tensor;

    (void)state;
    assert_true(id_function(&mem, CG_LIT("Net::forward"), (sc_strs){0}, &function));
    expect(function, "function:Net%3A%3Aforward:");
    assert_true(id_flow(&mem, MODEL_ID_KIND_TENSOR, MODEL_PHASE_TRAIN, function, 3, &tensor));
    expect(tensor, "tensor:train:function%3ANet%253A%253Aforward%3A:3");
}

static void predicates_and_prefixes_are_joined(void **state)
{
    const cg_str cfg[] = {{"unix", 4}, {"feature = \"a\"", 13}};
    const cg_str chain[] = {{"a", 1}, {"b", 1}};
    cg_str id;

    (void)state;
    assert_true(id_function(&mem, CG_LIT("f"), (sc_strs){cfg, 2}, &id));
    expect(id, "function:f:unix%20&&%20feature%20=%20\"a\"");
    assert_true(
        id_assembly(&mem, CG_LIT("f"), CG_LIT("c"), CG_LIT("vb"), (sc_strs){chain, 2}, &id));
    expect(id, "assembly-site:f:c:vb:a%2Fb");
    assert_true(
        id_module(&mem, CG_LIT("component:Net"), CG_LIT("vb"), CG_LIT(""), CG_LIT("Net"), 0, &id));
    expect(id, "module:component%3ANet:vb::Net:0");
}

static void build_ids_follow_the_test_vector(void **state)
{
    const cg_str features[] = {{"a", 1}};
    const cg_str cfg[] = {{"feature=\"a\"", 11}, {"unix", 4}};
    const sc_pair candle[] = {{CG_LIT("candle-core"), CG_LIT("0.11.0")},
                              {CG_LIT("candle-nn"), CG_LIT("0.11.0")}};
    cg_str id;

    (void)state;
    assert_true(id_build(&mem, CG_LIT("demo"), CG_LIT("0.1.0"), CG_LIT("demo"),
                         (sc_strs){features, 1}, (sc_strs){cfg, 2}, (sc_map){candle, 2}, &id));
    expect(id, "candle-graph/build/1:fcecf24f2fb7cf9e");
}

static void numbers_at_the_end_are_compared_as_numbers(void **state)
{
    (void)state;
    assert_true(id_compare(CG_LIT("t:2"), CG_LIT("t:10")) < 0);
    assert_true(id_compare(CG_LIT("t:10"), CG_LIT("t:10")) == 0);
    assert_true(id_compare(CG_LIT("t:10"), CG_LIT("t:x")) < 0);
    assert_true(id_compare(CG_LIT("t"), CG_LIT("t:1")) < 0);
    assert_true(id_compare(CG_LIT("a:9:x"), CG_LIT("a:10:x")) > 0);
    /* As if written with 20 digits, whatever stands on the other side. */
    assert_true(id_compare(CG_LIT("x:5"), CG_LIT("x:1:7")) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(five_bytes_are_escaped_and_no_others, begin, end),
        cmocka_unit_test_setup_teardown(an_id_inside_an_id_is_escaped_again, begin, end),
        cmocka_unit_test_setup_teardown(predicates_and_prefixes_are_joined, begin, end),
        cmocka_unit_test_setup_teardown(build_ids_follow_the_test_vector, begin, end),
        cmocka_unit_test(numbers_at_the_end_are_compared_as_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
