#include "unit/base/failing.h"

#include "codec/escape.h"

static void expect(void (*escape)(buf *, cg_str), cg_str text, const char *want)
{
    heap from;
    buf out;

    heap_init(&from, NULL);
    buf_init(&out, &from, SIZE_MAX);
    escape(&out, text);
    assert_false(out.failed);
    assert_text(buf_text(&out), want);
    buf_free(&out);
    assert_int_equal(from.used_bytes, 0);
}

static void a_terminal_gets_no_commands(void **state)
{
    (void)state;
    expect(esc_tty, CG_LIT(""), "");
    expect(esc_tty, CG_LIT("plain C:\\path | `x`"), "plain C:\\path | `x`");
    expect(esc_tty, CG_LIT("\x1B[31m\x1B]0;t\x07"), "\\x1b[31m\\x1b]0;t\\x07");
    expect(esc_tty, CG_LIT("a\nb\tc\rd\be"), "a\\nb\\tc\\rd\\x08e");
    expect(esc_tty,
           CG_LIT("\xC2\x9B"
                  "1m\xC2\x85"),
           "\\x9b1m\\x85");
    expect(esc_tty, CG_LIT("\x9B\xFF\xC3"), "\\x9b\\xff\\xc3");
    expect(esc_tty, CG_LIT("x\xE2\x80\xAEy\xE2\x81\xA9\xE2\x80\x8F\xD8\x9C"),
           "x\\u202ey\\u2069\\u200f\\u061c");
    expect(esc_tty, CG_LIT("\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\x8B\xEF\xBB\xBF"),
           "\\u2028\\u2029\\u200b\\ufeff");
    expect(esc_tty, CG_LIT("\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x94\xA5"),
           "\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x94\xA5");
}

static void markdown_gets_no_markup(void **state)
{
    (void)state;
    expect(esc_md, CG_LIT("a.b-c (d) 1.5 x/y"), "a.b-c (d) 1.5 x/y");
    expect(esc_md, CG_LIT("a|b"), "a\\|b");
    expect(esc_md, CG_LIT("a\\|b"), "a\\\\\\|b"); /* a backslash must not free the bar */
    expect(esc_md, CG_LIT("`x` *y* _z_ ~~w~~ $v$"),
           "\\`x\\` \\*y\\* \\_z\\_ \\~\\~w\\~\\~ \\$v\\$");
    expect(esc_md, CG_LIT("[a](javascript:x) ![b](c)"), "\\[a\\](javascript:x) !\\[b\\](c)");
    expect(esc_md, CG_LIT("<img src=x onerror=y>&lt;"), "&lt;img src=x onerror=y&gt;&amp;lt;");
    expect(esc_md, CG_LIT("# x # y"), "\\# x # y");
    expect(esc_md, CG_LIT("  ## x"), "  \\## x");
    expect(esc_md, CG_LIT("- x"), "\\- x");
    expect(esc_md, CG_LIT("+ x"), "\\+ x");
    expect(esc_md, CG_LIT("---"), "\\---");
    expect(esc_md, CG_LIT("==="), "\\===");
    expect(esc_md, CG_LIT("-1"), "-1");
    expect(esc_md, CG_LIT("12. x"), "12\\. x");
    expect(esc_md, CG_LIT("1) x"), "1\\) x");
    expect(esc_md, CG_LIT("12"), "12");
    expect(esc_md, CG_LIT("a\n# b\x1B"), "a\\n# b\\x1b");
    expect(esc_md, CG_LIT("\xC3\xA9\xE2\x80\xAE"), "\xC3\xA9\\u202e");
}

static void html_gets_no_elements(void **state)
{
    (void)state;
    expect(esc_html, CG_LIT("<b a=\"x\" c='y'>&amp;"),
           "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;amp;");
    expect(esc_html, CG_LIT("a\n\tb\r\0\x1B\xFF\xE2\x80\xAE"), "a\n\tb\\r\\x00\\x1b\\xff\\u202e");
    expect(esc_html, CG_LIT("\xE4\xB8\xAD"), "\xE4\xB8\xAD");
}

static void a_script_element_cannot_be_left(void **state)
{
    (void)state;
    expect(esc_script, CG_LIT("{\"a\":\"</script><!-- & \xE2\x80\xA8\xE2\x80\xA9\"}"),
           "{\"a\":\"\\u003c/script\\u003e\\u003c!-- \\u0026 \\u2028\\u2029\"}");
    expect(esc_script, CG_LIT("{\"a\":\"\xE2\x80\xA6 \\n\"}"), "{\"a\":\"\xE2\x80\xA6 \\n\"}");
    expect(esc_script, CG_LIT(""), "");
    expect(esc_script, CG_LIT("\xE2\x80"), "\xE2\x80");
}

/* Whatever comes in, nothing that acts goes out. */
static void random_bytes_never_act(void **state)
{
    uint64_t seed = 23;

    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        static const char seeds[] = "<>&\"'|`*_[]#\\\n\x1B\x9B\xE2\x80\xA8\xAE\xC2\x85\xF0 x";
        char bytes[24];
        size_t len = test_random(&seed) % sizeof bytes;
        heap from;
        buf out;
        cg_str text;

        for (size_t j = 0; j < len; j++)
            bytes[j] = seeds[test_random(&seed) % sizeof seeds];
        heap_init(&from, NULL);
        buf_init(&out, &from, SIZE_MAX);
        esc_tty(&out, (cg_str){bytes, len});
        text = buf_text(&out);
        assert_true(str_utf8_error(text) == SIZE_MAX);
        for (size_t at = 0; at < text.len;) {
            uint32_t c = str_next(text, &at);

            assert_true(c >= 0x20 && (c < 0x7F || c >= 0xA0) && c != 0x2028 && c != 0x202E);
        }
        buf_clear(&out);
        esc_html(&out, (cg_str){bytes, len});
        text = buf_text(&out);
        for (size_t j = 0; j < text.len; j++)
            assert_null(memchr("<>\"'\x1B", text.ptr[j], 5));
        buf_clear(&out);
        esc_md(&out, (cg_str){bytes, len});
        text = buf_text(&out);
        for (size_t j = 0; j < text.len; j++) {
            assert_true(text.ptr[j] != '<' && text.ptr[j] != '>' && text.ptr[j] != '\n');
            if (text.ptr[j] == '\\' && j + 1 < text.len)
                j++;
            else
                assert_null(memchr("|`*_[]", text.ptr[j], 6));
        }
        buf_free(&out);
    }
}

static void a_full_buffer_is_remembered(void **state)
{
    static void (*const doors[])(buf *, cg_str) = {esc_tty, esc_md, esc_html, esc_script};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        heap from;
        buf out;

        heap_init(&from, NULL);
        buf_init(&out, &from, 10);
        doors[i](&out, CG_LIT("<<<<<<<<<<<"));
        assert_true(out.failed);
        assert_true(out.len <= 10);
        buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_terminal_gets_no_commands),
        cmocka_unit_test(markdown_gets_no_markup),
        cmocka_unit_test(html_gets_no_elements),
        cmocka_unit_test(a_script_element_cannot_be_left),
        cmocka_unit_test(random_bytes_never_act),
        cmocka_unit_test(a_full_buffer_is_remembered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
