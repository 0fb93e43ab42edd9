/* No line of text is wider than the terminal; what fits is not touched. */
#include "fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct page {
    char at[32768];
    size_t len;
} page;

static cg_code take(void *context, const char *bytes, size_t count)
{
    page *self = context;

    assert_true(self->len + count < sizeof self->at);
    memcpy(self->at + self->len, bytes, count);
    self->len += count;
    self->at[self->len] = '\0';
    return CG_OK;
}

/* `text` folded at `width`, handed over `part` bytes at a time. */
static void expect(const char *text, size_t width, size_t part, const char *wanted)
{
    static page to;
    static fold self;
    size_t len = strlen(text);

    to.len = 0;
    to.at[0] = '\0';
    fold_open(&self, (cg_sink){&to, take}, width);
    for (size_t at = 0; at < len; at += part)
        assert_int_equal(fold_write(&self, text + at, part < len - at ? part : len - at), CG_OK);
    assert_int_equal(fold_close(&self), CG_OK);
    assert_string_equal(to.at, wanted);
}

#define NINE  "nine nine "
#define FIFTY NINE NINE NINE NINE NINE

static void a_line_that_fits_is_not_touched(void **state)
{
    (void)state;
    expect("  a b\n\n   \nlast", 60, 3, "  a b\n\n   \nlast");
    expect(FIFTY "ten ten te", 60, 7, FIFTY "ten ten te");
}

static void a_wide_line_is_broken_between_words_and_hangs(void **state)
{
    (void)state;
    expect("  " FIFTY "beyond the end\nnext\n", 60, 1000,
           "  " FIFTY "beyond\n      the end\nnext\n");
    expect("  " FIFTY "beyond the end\nnext\n", 60, 1, "  " FIFTY "beyond\n      the end\nnext\n");
}

static void without_a_width_nothing_is_broken(void **state)
{
    (void)state;
    expect(FIFTY FIFTY FIFTY "\n", 0, 11, FIFTY FIFTY FIFTY "\n");
}

static void a_word_wider_than_the_terminal_stays_whole(void **state)
{
    const char *word = "a/very/long/path/that/nobody/wants/to/see/broken/into/pieces/here.rs:12";
    char text[200];
    char wanted[200];

    (void)state;
    (void)snprintf(text, sizeof text, "%s and more\n", word);
    (void)snprintf(wanted, sizeof wanted, "%s\n    and more\n", word);
    expect(text, 60, 5, wanted);
}

static void colours_and_bytes_of_a_character_take_no_room(void **state)
{
    (void)state;
    expect("\033[32m" FIFTY "\303\227\303\227\303\227 ten te\033[0m\n", 60, 4,
           "\033[32m" FIFTY "\303\227\303\227\303\227 ten te\033[0m\n");
}

static void a_line_longer_than_any_room_is_passed_on(void **state)
{
    static char text[20002];

    (void)state;
    memset(text, 'x', sizeof text - 2);
    for (size_t i = 9; i < sizeof text - 2; i += 10)
        text[i] = ' ';
    text[sizeof text - 2] = '\n';
    expect(text, 60, 777, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_that_fits_is_not_touched),
        cmocka_unit_test(a_wide_line_is_broken_between_words_and_hangs),
        cmocka_unit_test(without_a_width_nothing_is_broken),
        cmocka_unit_test(a_word_wider_than_the_terminal_stays_whole),
        cmocka_unit_test(colours_and_bytes_of_a_character_take_no_room),
        cmocka_unit_test(a_line_longer_than_any_room_is_passed_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
