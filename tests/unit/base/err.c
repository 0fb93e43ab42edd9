#include "unit/base/failing.h"

static void the_first_cause_wins(void **state)
{
    cg_err err = {0};

    (void)state;
    assert_int_equal(cg_fail(&err, PROBLEM_TRACE_KIND, "kind `%.*s`", ERR_STR(CG_LIT("x"))),
                     CG_INPUT);
    assert_int_equal(cg_fail(&err, PROBLEM_NOMEM, "later"), CG_INPUT);
    assert_string_equal(err.text, "kind `x`");
    assert_string_equal(err.problem, "trace-unknown-kind");
    assert_non_null(err.help);
}

static void a_report_is_optional(void **state)
{
    (void)state;
    assert_int_equal(cg_fail(NULL, PROBLEM_LIMIT, "x"), CG_LIMIT);
    assert_int_equal(err_nomem(NULL), CG_NOMEM);
    err_at_line(NULL, 1, 2);
    err_in_file(NULL, CG_LIT("f"));
}

static void texts_are_made_safe_for_a_terminal(void **state)
{
    cg_err err = {0};

    (void)state;
    cg_fail(&err, PROBLEM_INTERNAL, "%s", "a\x1B]0;x\x07 \xE2\x80\xAE \xFF");
    assert_string_equal(err.text, "a\\x1b]0;x\\x07 \\u202e \\xff");
}

static void long_texts_end_with_an_ellipsis_at_a_border(void **state)
{
    char text[3000];

    (void)state;
    for (size_t shift = 0; shift < 4; shift++) {
        for (size_t len = 460; len < sizeof text - 4; len += len < 500 ? 1 : 97) {
            cg_err err = {0};

            memset(text, 'a', shift);
            for (size_t i = shift; i + 3 <= len; i += 3)
                memcpy(text + i, "\xE4\xB8\xAD", 3);
            text[shift + (len - shift) / 3 * 3] = '\0';
            cg_fail(&err, PROBLEM_INTERNAL, "%s", text);
            assert_true(str_utf8_error(str_from(err.text)) == SIZE_MAX);
            assert_true(strlen(err.text) < sizeof err.text);
            if (strlen(text) < sizeof err.text)
                assert_string_equal(err.text, text);
            else
                assert_true(str_ends_with(str_from(err.text), CG_LIT("\xE2\x80\xA6")));
        }
    }
}

static void slices_are_shortened_at_a_border(void **state)
{
    char text[200];

    (void)state;
    memset(text, 'x', sizeof text);
    assert_int_equal(err_shorten((cg_str){text, 80}).len, 80);
    assert_int_equal(err_shorten((cg_str){text, 200}).len, 80);
    memcpy(text + 79, "\xE4\xB8\xAD", 3);
    assert_int_equal(err_shorten((cg_str){text, 200}).len, 79);
    memset(text, 0x80, sizeof text);
    assert_int_equal(err_shorten((cg_str){text, 200}).len, 80);
    assert_non_null(err_shorten((cg_str){NULL, 0}).ptr);
}

static void places_are_added_once(void **state)
{
    cg_err err = {0};

    (void)state;
    err_at_line(&err, 1, 2);
    err_in_file(&err, CG_LIT("early"));
    assert_int_equal(err.line, 0);
    assert_string_equal(err.file, "");
    cg_fail(&err, PROBLEM_INTERNAL, "x");
    err_at_line(&err, 7, 0);
    err_at_line(&err, 8, 9);
    err_in_file(&err, CG_LIT("a\n.jsonl"));
    err_in_file(&err, CG_LIT("b"));
    assert_int_equal(err.line, 7);
    assert_int_equal(err.offset, 0);
    assert_true(err.has_offset);
    assert_string_equal(err.file, "a\\n.jsonl");
}

static void a_long_path_keeps_its_end(void **state)
{
    cg_err err = {0};
    char path[600];

    (void)state;
    memset(path, 'd', sizeof path);
    memcpy(path + sizeof path - 12, "/trace.jsonl", 12);
    cg_fail(&err, PROBLEM_INTERNAL, "x");
    err_in_file(&err, (cg_str){path, sizeof path});
    assert_int_equal(strlen(err.file), 255);
    assert_true(str_starts_with(str_from(err.file), CG_LIT("\xE2\x80\xA6"
                                                           "d")));
    assert_true(str_ends_with(str_from(err.file), CG_LIT("d/trace.jsonl")));
}

static void every_problem_has_an_id_of_its_own(void **state)
{
    (void)state;
    for (int i = 1; i < PROBLEM_COUNT; i++) {
        assert_true(problem_id((enum problem)i)[0] != '\0');
        assert_true(problem_code((enum problem)i) != CG_OK);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(problem_id((enum problem)i), problem_id((enum problem)j));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_cause_wins),
        cmocka_unit_test(a_report_is_optional),
        cmocka_unit_test(texts_are_made_safe_for_a_terminal),
        cmocka_unit_test(long_texts_end_with_an_ellipsis_at_a_border),
        cmocka_unit_test(slices_are_shortened_at_a_border),
        cmocka_unit_test(places_are_added_once),
        cmocka_unit_test(a_long_path_keeps_its_end),
        cmocka_unit_test(every_problem_has_an_id_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
