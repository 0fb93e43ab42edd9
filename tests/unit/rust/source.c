#include "rust/source.h"
#include "unit/base/failing.h"

typedef struct place_fact {
    const char *text;
    uint32_t offset;
    uint32_t line;
    uint32_t column;
} place_fact;

static void places_count_lines_and_characters_from_one(void **state)
{
    static const place_fact facts[] = {
        {"", 0, 1, 1},
        {"ab\ncd", 0, 1, 1},
        {"ab\ncd", 2, 1, 3},
        {"ab\ncd", 3, 2, 1},
        {"ab\ncd", 5, 2, 3},
        {"ab\ncd", 99, 2, 3}, /* behind the end is the end */
        {"a\n\n\n", 4, 4, 1},
        {"a\r\nb", 3, 2, 1},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80x", 9, 1, 4}, /* 2, 3 and 4 bytes */
        {"\xff\xfe\x80x", 3, 1, 4},                         /* not UTF-8: one each */
        {"\xef\xbb\xbfx", 3, 1, 1},                         /* the byte order mark is none */
        {"\xef\xbb\xbfxy\nz", 4, 1, 2},
        {"\xef\xbb\xbfx\ny", 5, 2, 1},
    };
    heap from;
    arena mem;

    (void)state;
    heap_init(&from, NULL);
    arena_init(&mem, &from);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        rust_source source;
        rust_place place;

        assert_true(source_init(&source, &mem, CG_LIT("x.rs"), str_from(facts[i].text)));
        place = source_place(&source, facts[i].offset);
        assert_int_equal(place.line, facts[i].line);
        assert_int_equal(place.column, facts[i].column);
    }
    arena_free(&mem);
}

static void a_text_without_bytes_has_one_line(void **state)
{
    rust_source source;
    heap from;
    arena mem;

    (void)state;
    heap_init(&from, NULL);
    arena_init(&mem, &from);
    assert_true(source_init(&source, &mem, CG_LIT("x.rs"), (cg_str){NULL, 0}));
    assert_int_equal(source.line_count, 1);
    assert_int_equal(source_place(&source, 0).line, 1);
    arena_free(&mem);
}

static void long_lines_are_counted_as_short_ones(void **state)
{
    static const char *const parts[] = {"a",    "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
                                        "\x80", "\xff"};
    static char text[9000];
    size_t length = 0, at = 0;
    uint32_t seed = 1, column = 1;
    rust_source source;
    heap from;
    arena mem;

    (void)state;
    while (length + 4 < sizeof text) {
        const char *part = parts[(seed = seed * 1664525u + 1013904223u) >> 16 & 1 ? 0 : seed % 6];

        memcpy(text + length, part, strlen(part));
        length += strlen(part);
    }
    heap_init(&from, NULL);
    arena_init(&mem, &from);
    assert_true(source_init(&source, &mem, CG_LIT("x.rs"), (cg_str){text, length}));
    while (at < length) {
        assert_int_equal(source_place(&source, (uint32_t)at).column, column);
        str_next(source.text, &at);
        column++;
    }
    arena_free(&mem);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_count_lines_and_characters_from_one),
        cmocka_unit_test(a_text_without_bytes_has_one_line),
        cmocka_unit_test(long_lines_are_counted_as_short_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
