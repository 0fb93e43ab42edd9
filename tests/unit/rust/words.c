#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "rust/words.h"

#include <cmocka.h>

static void words_are_found_wherever_they_stand(void **state)
{
    static const char *const words[] = {"fn", "a_1", "T",      "x", "é",
                                        "in", "a",   "string", "r", "try"};
    cg_str text = CG_LIT("fn a_1<T>(x: é) /* in */ \"a string\" r#try()"), word;
    size_t count = 0, at = 0;

    (void)state;
    while (words_next(text, &at, &word)) {
        assert_true(count < sizeof words / sizeof words[0]);
        assert_true(str_equal(word, str_from(words[count++])));
    }
    assert_int_equal(count, sizeof words / sizeof words[0]);
    at = 0;
    assert_false(words_next(CG_LIT(" - "), &at, &word));
    assert_false(words_next((cg_str){0}, &at, &word));
}

static void a_filter_forgets_no_word(void **state)
{
    uint64_t filter[WORDS_FILTER] = {0};
    char name[8] = "w000";
    size_t wrong = 0;

    (void)state;
    for (unsigned i = 0; i < 500; i++) {
        name[1] = (char)('0' + i / 100);
        name[2] = (char)('0' + i / 10 % 10);
        name[3] = (char)('0' + i % 10);
        words_note(filter, str_from(name));
        assert_true(words_may_have(filter, str_from(name)));
    }
    name[0] = 'v';
    for (unsigned i = 0; i < 500; i++) {
        name[1] = (char)('0' + i / 100);
        name[2] = (char)('0' + i / 10 % 10);
        name[3] = (char)('0' + i % 10);
        wrong += words_may_have(filter, str_from(name));
    }
    /* One in two hundred is what chance gives. */
    assert_true(wrong < 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_found_wherever_they_stand),
        cmocka_unit_test(a_filter_forgets_no_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
