#include "unit/base/failing.h"

#include "join/key_pattern.h"

typedef struct world {
    heap heap;
    arena mem;
} world;

static void begin(world *self)
{
    heap_init(&self->heap, NULL);
    arena_init(&self->mem, &self->heap);
}

static void end(world *self)
{
    arena_free(&self->mem);
    assert_int_equal(self->heap.used_bytes, 0);
}

static const key_piece layers[] = {
    {.text = {"layers.", 7}}, {.text = {"i", 1}, .is_number = true}, {.text = {".w", 2}}};

static key_pattern pattern_of(world *self, const key_piece *pieces, size_t count)
{
    key_pattern ret;

    assert_true(key_pattern_make(&self->mem, pieces, count, &ret));
    return ret;
}

static key_name name_of(world *self, const char *text)
{
    key_name ret;

    assert_true(key_name_make(&self->mem, str_from(text), &ret));
    return ret;
}

static bool matches(world *self, const key_pattern *pattern, const char *text, key_numbers *ret)
{
    key_name name = name_of(self, text);

    *ret = (key_numbers){0};
    return key_pattern_match(pattern, 0, &name, 0, ret);
}

static void a_number_with_places_is_filled_up_to_them(void **state)
{
    static const key_piece zeros[] = {
        {.text = {"l", 1}}, {.text = {"i", 1}, .is_number = true, .width = 2, .fill = '0'}};
    static const key_piece blanks[] = {
        {.text = {"l", 1}}, {.text = {"i", 1}, .is_number = true, .width = 3, .fill = ' '}};
    key_pattern pattern;
    key_numbers numbers;
    cg_str text;
    world w;

    (void)state;
    begin(&w);
    pattern = pattern_of(&w, zeros, 2);
    assert_true(matches(&w, &pattern, "l07", &numbers));
    assert_int_equal(numbers.at[0], 7);
    assert_true(key_pattern_text(&w.mem, &w.heap, &pattern, &numbers, &text));
    assert_text(text, "l07");
    assert_true(matches(&w, &pattern, "l00", &numbers));
    assert_true(matches(&w, &pattern, "l123", &numbers));
    assert_false(matches(&w, &pattern, "l7", &numbers));
    assert_false(matches(&w, &pattern, "l007", &numbers));
    pattern = pattern_of(&w, blanks, 2);
    assert_true(matches(&w, &pattern, "l  7", &numbers));
    assert_int_equal(numbers.at[0], 7);
    assert_true(key_pattern_text(&w.mem, &w.heap, &pattern, &numbers, &text));
    assert_text(text, "l  7");
    assert_true(matches(&w, &pattern, "l1234", &numbers));
    assert_false(matches(&w, &pattern, "l 7", &numbers));
    assert_false(matches(&w, &pattern, "l   7", &numbers));
    assert_false(matches(&w, &pattern, "l 07", &numbers));
    assert_false(matches(&w, &pattern, "l   ", &numbers));
    end(&w);
}

static void a_placeholder_is_digits_and_nothing_else(void **state)
{
    key_pattern pattern;
    key_numbers numbers;
    world w;

    (void)state;
    begin(&w);
    pattern = pattern_of(&w, layers, 3);
    assert_int_equal(pattern.count, 3);
    assert_int_equal(pattern.number_count, 1);
    assert_true(matches(&w, &pattern, "layers.12.w", &numbers));
    assert_int_equal(numbers.at[0], 12);
    assert_true(matches(&w, &pattern, "layers.0.w", &numbers));
    assert_false(matches(&w, &pattern, "layers.01.w", &numbers));
    assert_false(matches(&w, &pattern, "layers.foo.w", &numbers));
    assert_false(matches(&w, &pattern, "layers.-1.w", &numbers));
    assert_false(matches(&w, &pattern, "layers..w", &numbers));
    assert_false(matches(&w, &pattern, "layers.1.w.x", &numbers));
    assert_false(matches(&w, &pattern, "layers.1", &numbers));
    assert_false(matches(&w, &pattern, "layers.18446744073709551616.w", &numbers));
    end(&w);
}

static void placeholders_of_one_name_are_one_number(void **state)
{
    const key_piece pieces[] = {{.text = CG_LIT("a")},
                                {.text = CG_LIT("i"), .is_number = true},
                                {.text = CG_LIT(".b_")},
                                {.text = CG_LIT("i"), .is_number = true},
                                {.text = CG_LIT("x")}};
    key_pattern pattern;
    key_numbers numbers;
    world w;

    (void)state;
    begin(&w);
    pattern = pattern_of(&w, pieces, 5);
    assert_int_equal(pattern.number_count, 1);
    assert_true(matches(&w, &pattern, "a7.b_7x", &numbers));
    assert_false(matches(&w, &pattern, "a7.b_8x", &numbers));
    end(&w);
}

static void numbers_that_are_not_known_are_printed_as_names(void **state)
{
    key_numbers numbers = {0};
    key_pattern pattern;
    cg_str text;
    world w;

    (void)state;
    begin(&w);
    pattern = pattern_of(&w, layers, 3);
    assert_true(key_pattern_text(&w.mem, &w.heap, &pattern, &numbers, &text));
    assert_text(text, "layers.{i}.w");
    numbers = (key_numbers){.at = {3}, .bound = 1};
    assert_true(key_pattern_text(&w.mem, &w.heap, &pattern, &numbers, &text));
    assert_text(text, "layers.3.w");
    end(&w);
}

static key_family expand(world *self, const key_pattern *pattern, const char *const *texts,
                         size_t count)
{
    key_name names[8];
    key_family family;
    cg_err err = {0};

    for (size_t i = 0; i < count; i++)
        names[i] = name_of(self, texts[i]);
    assert_int_equal(key_pattern_expand(&self->heap, &self->mem, pattern, names, count,
                                        (key_numbers){0}, false, &family, &err),
                     CG_OK);
    return family;
}

static void a_family_has_the_members_up_to_the_highest_that_is_named(void **state)
{
    const char *const some[] = {"layers.0.w", "layers.2.v", "other"};
    const char *const none[] = {"other"};
    key_pattern pattern;
    key_family family;
    world w;

    (void)state;
    begin(&w);
    pattern = pattern_of(&w, layers, 3);
    family = expand(&w, &pattern, some, 3);
    assert_true(family.is_counted);
    assert_int_equal(family.count, 3);
    assert_int_equal(family.at[1].at[0], 1);
    family = expand(&w, &pattern, none, 1);
    assert_false(family.is_counted);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_with_places_is_filled_up_to_them),
        cmocka_unit_test(a_placeholder_is_digits_and_nothing_else),
        cmocka_unit_test(placeholders_of_one_name_are_one_number),
        cmocka_unit_test(numbers_that_are_not_known_are_printed_as_names),
        cmocka_unit_test(a_family_has_the_members_up_to_the_highest_that_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
