#include "unit/base/failing.h"

static void absent_is_not_empty(void **state)
{
    (void)state;
    assert_null(str_from(NULL).ptr);
    assert_non_null(str_from("").ptr);
    assert_int_equal(CG_LIT("a\0b").len, 3);
}

static void a_prefix_sorts_first(void **state)
{
    (void)state;
    assert_true(str_compare(CG_LIT("a"), CG_LIT("a\0")) < 0);
    assert_true(str_compare(CG_LIT("a\xFF"), CG_LIT("a\x01")) > 0);
    assert_true(str_compare(CG_LIT("s10"), CG_LIT("s2")) < 0);
    assert_int_equal(str_compare(CG_LIT(""), (cg_str){NULL, 0}), 0);
    assert_int_equal(str_compare(CG_LIT("abc"), CG_LIT("abc")), 0);
}

static void parts_are_found(void **state)
{
    (void)state;
    assert_int_equal(str_find(CG_LIT("aab"), CG_LIT("ab")), 1);
    assert_int_equal(str_find(CG_LIT("aab"), CG_LIT("")), 0);
    assert_true(str_find(CG_LIT("aab"), CG_LIT("aabb")) == SIZE_MAX);
    assert_true(str_find(CG_LIT("aab"), CG_LIT("ba")) == SIZE_MAX);
    assert_true(str_find(CG_LIT(""), CG_LIT("b")) == SIZE_MAX);
    assert_int_equal(str_find(CG_LIT("a\0b"), CG_LIT("\0b")), 1);
    assert_int_equal(str_find_last(CG_LIT("a/b/c"), '/'), 3);
    assert_true(str_find_last(CG_LIT("abc"), '/') == SIZE_MAX);
    assert_true(str_starts_with(CG_LIT("abc"), CG_LIT("ab")));
    assert_false(str_starts_with(CG_LIT("a"), CG_LIT("ab")));
    assert_true(str_ends_with(CG_LIT("abc"), CG_LIT("bc")));
    assert_false(str_ends_with(CG_LIT("c"), CG_LIT("bc")));
    assert_true(str_equal_nocase(CG_LIT("BF16"), CG_LIT("bf16")));
    assert_false(str_equal_nocase(CG_LIT("BF1"), CG_LIT("bf16")));
}

static void unicode_white_space_is_trimmed(void **state)
{
    (void)state;
    assert_text(str_trim(CG_LIT(" \t\r\n\v\f x y \r\n")), "x y");
    assert_text(str_trim(CG_LIT("\xC2\xA0\xC2\x85\xE2\x80\xA8\xE3\x80\x80x\xE1\x9A\x80")), "x");
    /* U+FEFF and U+200B are not white space. */
    assert_text(str_trim(CG_LIT("\xEF\xBB\xBFx\xE2\x80\x8B")), "\xEF\xBB\xBFx\xE2\x80\x8B");
    /* A stray continuation byte is not the end of a space. */
    assert_text(str_trim(CG_LIT("x\xA0")), "x\xA0");
    assert_int_equal(str_trim(CG_LIT(" \xE2\x80\x89 ")).len, 0);
    assert_true(str_is_blank(CG_LIT(" \xE2\x80\x89\n")));
    assert_true(str_is_blank(CG_LIT("")));
    assert_false(str_is_blank(CG_LIT(" \0")));
}

static void malformed_utf8_is_located(void **state)
{
    (void)state;
    assert_true(str_utf8_error(CG_LIT("plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80")) == SIZE_MAX);
    assert_true(str_utf8_error(CG_LIT("\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF")) == SIZE_MAX);
    assert_int_equal(str_utf8_error(CG_LIT("0123456789\xFF")), 10);
    assert_int_equal(str_utf8_error(CG_LIT("a\xC0\x80")), 1);        /* overlong */
    assert_int_equal(str_utf8_error(CG_LIT("\xE0\x80\x80")), 0);     /* overlong */
    assert_int_equal(str_utf8_error(CG_LIT("\xF0\x80\x80\x80")), 0); /* overlong */
    assert_int_equal(str_utf8_error(CG_LIT("a\xED\xA0\x80")), 1);    /* surrogate */
    assert_int_equal(str_utf8_error(CG_LIT("\xF4\x90\x80\x80")), 0); /* beyond the end */
    assert_int_equal(str_utf8_error(CG_LIT("ab\xE2\x82")), 2);       /* cut */
    assert_int_equal(str_utf8_error(CG_LIT("\x80")), 0);
}

static void every_code_point_survives_decoding(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < 0x110000; c++) {
        char bytes[4];
        size_t len = 0;
        size_t at = 0;

        if (c < 0x80) {
            bytes[len++] = (char)c;
        } else if (c < 0x800) {
            bytes[len++] = (char)(0xC0 | c >> 6);
            bytes[len++] = (char)(0x80 | (c & 63));
        } else if (c < 0x10000) {
            bytes[len++] = (char)(0xE0 | c >> 12);
            bytes[len++] = (char)(0x80 | (c >> 6 & 63));
            bytes[len++] = (char)(0x80 | (c & 63));
        } else {
            bytes[len++] = (char)(0xF0 | c >> 18);
            bytes[len++] = (char)(0x80 | (c >> 12 & 63));
            bytes[len++] = (char)(0x80 | (c >> 6 & 63));
            bytes[len++] = (char)(0x80 | (c & 63));
        }
        if (c >= 0xD800 && c < 0xE000) {
            assert_int_equal(str_next((cg_str){bytes, len}, &at), 0xFFFD);
            assert_int_equal(at, 1);
        } else {
            assert_int_equal(str_next((cg_str){bytes, len}, &at), c);
            assert_int_equal(at, len);
        }
    }
}

static void cells_follow_the_width_of_the_script(void **state)
{
    (void)state;
    assert_int_equal(str_cells('a'), 1);
    assert_int_equal(str_cells(0xE9), 1);
    assert_int_equal(str_cells(0), 0);
    assert_int_equal(str_cells(0x7F), 0);
    assert_int_equal(str_cells(0x301), 0);
    assert_int_equal(str_cells(0x200D), 0);
    assert_int_equal(str_cells(0xFE0F), 0);
    assert_int_equal(str_cells(0x4E2D), 2);
    assert_int_equal(str_cells(0xFF21), 2);
    assert_int_equal(str_cells(0xFF71), 1); /* half-width katakana */
    assert_int_equal(str_cells(0x1F525), 2);
    assert_int_equal(str_cells(0x1F3AB), 2);
    assert_int_equal(str_cells(0x2500), 1);
    assert_int_equal(str_cells(0x10FFFF), 1);
}

static cg_str safe(cg_str text, char *out)
{
    size_t at = 0;
    size_t len = 0;

    while (at < text.len)
        len += str_next_safe(text, &at, out + len);
    return (cg_str){out, len};
}

static void what_acts_on_a_terminal_is_spelled(void **state)
{
    char out[256];

    (void)state;
    assert_text(safe(CG_LIT("a\\b \x1B[2J\r\n\t\x7F"), out), "a\\b \\x1b[2J\\r\\n\\t\\x7f");
    assert_text(safe(CG_LIT("\0\xC2\x9B"
                            "31m\xFF"),
                     out),
                "\\x00\\x9b31m\\xff");
    assert_text(safe(CG_LIT("\xE2\x80\xAE\xE2\x81\xA6\xE2\x80\x8B\xE2\x80\xA8\xEF\xBB\xBF"), out),
                "\\u202e\\u2066\\u200b\\u2028\\ufeff");
    assert_text(safe(CG_LIT("\xF3\xA0\x81\x81"), out), "\\U000e0041");
    assert_text(safe(CG_LIT("\xE4\xB8\xAD\xC3\xA9"), out), "\xE4\xB8\xAD\xC3\xA9");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absent_is_not_empty),
        cmocka_unit_test(a_prefix_sorts_first),
        cmocka_unit_test(parts_are_found),
        cmocka_unit_test(unicode_white_space_is_trimmed),
        cmocka_unit_test(malformed_utf8_is_located),
        cmocka_unit_test(every_code_point_survives_decoding),
        cmocka_unit_test(cells_follow_the_width_of_the_script),
        cmocka_unit_test(what_acts_on_a_terminal_is_spelled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
