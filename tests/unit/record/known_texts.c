#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "record/known_texts.h"

static known_texts known;

static int begin(void **state)
{
    (void)state;
    known = (known_texts){0};
    return 0;
}

static int end(void **state)
{
    (void)state;
    known_texts_free(&known);
    return known.count == 0 && known.table == NULL ? 0 : -1;
}

static known_text *put(cg_str text, bool is_new)
{
    bool found = !is_new;
    known_text *entry = known_texts_put(&known, text, &found);

    assert_non_null(entry);
    assert_int_equal(found, is_new);
    return entry;
}

static void a_text_is_new_once(void **state)
{
    (void)state;
    put(CG_LIT("a"), true)->number = 7;
    put(CG_LIT("b"), true)->number = 8;
    assert_int_equal(put(CG_LIT("a"), false)->number, 7);
    assert_int_equal(put(CG_LIT("b"), false)->number, 8);
}

static void any_bytes_are_a_text(void **state)
{
    (void)state;
    put(CG_LIT(""), true)->number = 1;
    put(CG_LIT("\0"), true)->number = 2;
    put(CG_LIT("\0\0"), true)->number = 3;
    assert_int_equal(put(CG_LIT(""), false)->number, 1);
    assert_int_equal(put(CG_LIT("\0"), false)->number, 2);
    assert_int_equal(put(CG_LIT("\0\0"), false)->number, 3);
}

static void many_texts_keep_their_numbers(void **state)
{
    char text[32];

    (void)state;
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 1; i <= 5000; i++) {
            int len = snprintf(text, sizeof text, "layer.%u", i);
            known_text *entry = put((cg_str){text, (size_t)len}, round == 0);

            if (round == 0)
                entry->number = i;
            assert_int_equal(entry->number, i);
        }
    }
    assert_int_equal(known.count, 5000);
}

static void what_was_taken_back_is_new_again(void **state)
{
    (void)state;
    put(CG_LIT("kept"), true)->number = 1;
    known_texts_take_back(&known, put(CG_LIT("not"), true));
    assert_int_equal(known.count, 1);
    assert_int_equal(put(CG_LIT("kept"), false)->number, 1);
    assert_int_equal(put(CG_LIT("not"), true)->number, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_text_is_new_once),
        TEST(any_bytes_are_a_text),
        TEST(many_texts_keep_their_numbers),
        TEST(what_was_taken_back_is_new_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
