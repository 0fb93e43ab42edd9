#include "unit/base/failing.h"

#include <math.h>

#include "codec/json.h"

typedef struct fixture {
    heap from;
    json_reader reader;
    json_fault fault;
    yyjson_val *value;
} fixture;

static fixture test;

static int set_up(void **state)
{
    (void)state;
    heap_init(&test.from, NULL);
    json_init(&test.reader, &test.from, 127);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    json_free(&test.reader);
    return test.from.used_bytes == 0 ? 0 : -1;
}

static cg_code read_text(cg_str text)
{
    return json_read(&test.reader, text, &test.value, &test.fault);
}

static yyjson_val *field(cg_str text)
{
    if (read_text(text) != CG_OK)
        fail_msg("%.*s: %s", (int)text.len, text.ptr, test.fault.text);
    return yyjson_obj_get(test.value, "x");
}

static void what_is_not_json_is_refused(void **state)
{
    static const cg_str bad[] = {
        {"{\"x\":1}}", 8},
        {"{\"x\":1} {\"x\":2}", 15},
        {"{\"x\":1}\n2", 9},
        {"{\"x\":1}\0", 8},
        {"\xEF\xBB\xBF{\"x\":1}", 10},
        {"{\"x\":01}", 8},
        {"{\"x\":-01}", 9},
        {"{\"x\":+1}", 8},
        {"{\"x\":.5}", 8},
        {"{\"x\":1.}", 8},
        {"{\"x\":1e}", 8},
        {"{\"x\":NaN}", 9},
        {"{\"x\":Infinity}", 14},
        {"{\"x\":-Infinity}", 15},
        {"{\"x\":1e400}", 11},
        {"{\"x\":-1e400}", 12},
        {"{\"x\":0x10}", 10},
        {"{\"x\":1,}", 8},
        {"[1,]", 4},
        {"{,}", 3},
        {"{x:1}", 5},
        {"{'x':1}", 7},
        {"{\"x\":1/**/}", 11},
        {"//\n{}", 5},
        {"{\"x\":\"\t\"}", 9},
        {"{\"x\":\"\0\"}", 9},
        {"{\"x\":\"\x1F\"}", 9},
        {"{\"x\":\"\\ud800\"}", 14},
        {"{\"x\":\"\\udc00\"}", 14},
        {"{\"x\":\"\\ud800\\u0041\"}", 20},
        {"{\"x\":\"\\x41\"}", 12},
        {"{\"x\":\"\xFF\"}", 9},
        {"{\"x\":\"\xC0\x80\"}", 10},
        {"{\"x\":\"\xED\xA0\x80\"}", 11},
        {"{\"x\":\"\xF4\x90\x80\x80\"}", 12},
        {"{\"x\":tru }", 10},
        {"{\"x\":True}", 10},
        {"{\"x\" 1}", 7},
        {"[1 2]", 5},
        {"]", 1},
        {"", 0},
        {" \t\r\n", 4},
        {"\xC2\xA0{}", 4},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (read_text(bad[i]) != CG_INPUT)
            fail_msg("accepted: %.*s", (int)bad[i].len, bad[i].ptr);
        assert_non_null(test.fault.text);
        assert_true(test.fault.offset <= bad[i].len);
        assert_false(test.fault.is_depth);
    }
}

static void a_text_that_ends_inside_is_told_from_a_wrong_one(void **state)
{
    static const char whole[] = "{\"x\":[1.5e3,\"a\\u00e9\xC3\xA9\",true,false,null,{\"y\":-1}]}";

    (void)state;
    for (size_t len = 1; len < sizeof whole - 1; len++) {
        assert_int_equal(read_text((cg_str){whole, len}), CG_INPUT);
        if (!test.fault.is_truncated)
            fail_msg("not seen as cut: %.*s", (int)len, whole);
        assert_int_equal(test.fault.offset, len);
    }
    assert_int_equal(read_text((cg_str){whole, sizeof whole - 1}), CG_OK);
    assert_int_equal(read_text(CG_LIT("{\"x\":?}")), CG_INPUT);
    assert_false(test.fault.is_truncated);
    assert_int_equal(test.fault.offset, 5);
}

static void integers_are_exact_and_unsigned(void **state)
{
    static const char *bad[] = {
        "{\"x\":-1}",
        "{\"x\":-0}",
        "{\"x\":1.0}",
        "{\"x\":1e2}",
        "{\"x\":\"5\"}",
        "{\"x\":-0.0}",
        "{\"x\":18446744073709551616}",
        "{\"x\":99999999999999999999}",
        "{\"x\":0.0}",
        "{\"x\":0e0}",
        "{\"x\":null}",
        "{\"x\":true}",
        "{\"x\":[]}",
        "{}",
    };
    uint64_t value = 7;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(json_u64(field(str_from(bad[i])), &value));
    assert_int_equal(value, 7);
    assert_true(json_u64(field(CG_LIT("{\"x\":0}")), &value));
    assert_int_equal(value, 0);
    assert_true(json_u64(field(CG_LIT("{\"x\":18446744073709551615}")), &value));
    assert_true(value == UINT64_MAX);
    assert_true(json_u64(field(CG_LIT("{\"x\":9223372036854775808}")), &value));
    assert_true(value == UINT64_C(1) << 63);
}

static void numbers_keep_their_sign_and_value(void **state)
{
    double value = 7;

    (void)state;
    assert_true(json_f64(field(CG_LIT("{\"x\":-0}")), &value));
    assert_true(value == 0 && signbit(value));
    assert_true(json_f64(field(CG_LIT("{\"x\":-0.0}")), &value));
    assert_true(value == 0 && signbit(value));
    assert_true(json_f64(field(CG_LIT("{\"x\":-0e5}")), &value));
    assert_true(value == 0 && signbit(value));
    assert_true(json_f64(field(CG_LIT("{\"x\":0}")), &value));
    assert_true(value == 0 && !signbit(value));
    assert_true(json_f64(field(CG_LIT("{\"x\":-3}")), &value));
    assert_true(value == -3.0);
    assert_true(json_f64(field(CG_LIT("{\"x\":18446744073709551615}")), &value));
    assert_true(value == 18446744073709551616.0);
    assert_true(json_f64(field(CG_LIT("{\"x\":18446744073709551616}")), &value));
    assert_true(value == 18446744073709551616.0);
    assert_true(json_f64(field(CG_LIT("{\"x\":1e-400}")), &value));
    assert_true(value == 0);
    assert_true(json_f64(field(CG_LIT("{\"x\":5e-324}")), &value));
    assert_true(value == 0x1p-1074);
    assert_false(json_f64(field(CG_LIT("{\"x\":\"1\"}")), &value));
    assert_false(json_f64(field(CG_LIT("{}")), &value));
}

static void strings_may_hold_nul_and_be_empty(void **state)
{
    (void)state;
    assert_true(str_equal(json_text(field(CG_LIT("{\"x\":\"a\\u0000b\"}"))), CG_LIT("a\0b")));
    assert_true(str_equal(json_text(field(CG_LIT("{\"x\":\"\\ud83d\\ude00\"}"))),
                          CG_LIT("\xF0\x9F\x98\x80")));
    assert_int_equal(json_text(field(CG_LIT("{\"x\":\"\"}"))).len, 0);
    assert_int_equal(read_text(CG_LIT(" \t\r\n{\"\":1} \r\n")), CG_OK);
    assert_int_equal(read_text(CG_LIT("7")), CG_OK);
}

/*
 * `count` containers inside each other, arrays and objects by turns, with brackets in strings and
 * closed containers on the way.
 */
static cg_str nested(char *out, size_t count)
{
    size_t len = 0;

    for (size_t i = 0; i < count; i++) {
        cg_str piece = i % 2 == 0 ? CG_LIT("{\"[[{\\\"[\":") : CG_LIT("[1,\"]\",");

        if (i + 1 < count && i % 2 == 1)
            piece = CG_LIT("[[],{},");
        memcpy(out + len, piece.ptr, piece.len);
        len += piece.len;
    }
    out[len++] = '0';
    for (size_t i = count; i > 0; i--)
        out[len++] = (i - 1) % 2 == 0 ? '}' : ']';
    return (cg_str){out, len};
}

static void depth_is_bounded_exactly(void **state)
{
    static char text[20000];
    static const size_t ceilings[] = {1, 2, 3, 126, 127, 255, 256, 257, 500};

    (void)state;
    for (size_t i = 0; i < sizeof ceilings / sizeof *ceilings; i++) {
        test.reader.depth_ceiling = ceilings[i];
        assert_int_equal(read_text(nested(text, ceilings[i])), CG_OK);
        for (size_t more = 1; more < 100; more += 7) {
            assert_int_equal(read_text(nested(text, ceilings[i] + more)), CG_INPUT);
            assert_true(test.fault.is_depth);
            assert_true(text[test.fault.offset] == '[' || text[test.fault.offset] == '{');
        }
    }
    test.reader.depth_ceiling = 127;
    memset(text, '[', 127);
    memset(text + 127, ']', 127);
    assert_int_equal(read_text((cg_str){text, 254}), CG_OK);
    memset(text, '[', 128);
    memset(text + 128, ']', 128);
    assert_int_equal(read_text((cg_str){text, 256}), CG_INPUT);
    assert_true(test.fault.is_depth);
    assert_int_equal(test.fault.offset, 127);
}

static void many_values_are_not_depth(void **state)
{
    static char text[40001];

    (void)state;
    text[0] = '[';
    for (size_t i = 0; i < 10000; i++)
        memcpy(text + 1 + 4 * i, "[0],", 4);
    text[sizeof text - 1] = ']';
    assert_int_equal(read_text((cg_str){text, sizeof text}), CG_OK);
    assert_int_equal(test.reader.doc_count, 20001);
}

static void a_megabyte_of_brackets_is_cheap(void **state)
{
    size_t len = 1 << 20;
    char *text = heap_resize(&test.from, NULL, 0, len);

    (void)state;
    memset(text, '[', len);
    assert_int_equal(read_text((cg_str){text, len}), CG_INPUT);
    assert_true(test.fault.is_truncated);
    heap_resize(&test.from, text, len, 0);
}

static void the_text_itself_is_left_alone(void **state)
{
    static const char text[] = "{\"x\":\"\\u0041\\n\"}";
    char copy[sizeof text];

    (void)state;
    memcpy(copy, text, sizeof text);
    assert_true(str_equal(json_text(field((cg_str){copy, sizeof text - 1})), CG_LIT("A\n")));
    assert_memory_equal(copy, text, sizeof text);
}

static void kinds_have_names(void **state)
{
    (void)state;
    assert_string_equal(json_kind_name(field(CG_LIT("{\"x\":null}"))), "null");
    assert_string_equal(json_kind_name(field(CG_LIT("{\"x\":false}"))), "a boolean");
    assert_string_equal(json_kind_name(field(CG_LIT("{\"x\":1.5}"))), "a number");
    assert_string_equal(json_kind_name(field(CG_LIT("{\"x\":\"\"}"))), "a string");
    assert_string_equal(json_kind_name(field(CG_LIT("{\"x\":[]}"))), "an array");
    assert_string_equal(json_kind_name(field(CG_LIT("{\"x\":{}}"))), "an object");
    assert_string_equal(json_kind_name(NULL), "nothing");
}

/* `[0,0,...,0]` with `count` numbers. */
static cg_str zeros(char *out, size_t count)
{
    out[0] = '[';
    for (size_t i = 0; i < count; i++)
        memcpy(out + 1 + 2 * i, "0,", 2);
    out[2 * count] = ']';
    return (cg_str){out, 2 * count + 1};
}

static void every_failing_request_is_survived(void **state)
{
    static char text[60001];

    (void)state;
    for (size_t k = 1;; k++) {
        failing memory = {.fail_at = k};
        heap from;
        json_reader reader;
        yyjson_val *value;
        json_fault fault;
        size_t failures = 0;

        heap_init(&from, failing_env(&memory));
        json_init(&reader, &from, 127);
        for (size_t count = 1; count < 30000; count *= 5) {
            cg_str wanted = zeros(text, count);
            cg_code code = json_read(&reader, wanted, &value, &fault);

            if (code == CG_NOMEM) {
                failures++;
                code = json_read(&reader, wanted, &value, &fault);
            }
            assert_int_equal(code, CG_OK);
            assert_int_equal(yyjson_arr_size(value), count);
        }
        assert_int_equal(failures, memory.requests >= k);
        json_free(&reader);
        assert_nothing_held(&memory, &from);
        if (memory.requests < k)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_not_json_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_text_that_ends_inside_is_told_from_a_wrong_one, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(integers_are_exact_and_unsigned, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers_keep_their_sign_and_value, set_up, tear_down),
        cmocka_unit_test_setup_teardown(strings_may_hold_nul_and_be_empty, set_up, tear_down),
        cmocka_unit_test_setup_teardown(depth_is_bounded_exactly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_values_are_not_depth, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_megabyte_of_brackets_is_cheap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_text_itself_is_left_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kinds_have_names, set_up, tear_down),
        cmocka_unit_test(every_failing_request_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
