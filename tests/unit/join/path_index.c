#include "unit/base/failing.h"

#include "join/path_index.h"

typedef struct world {
    heap heap;
    path_index index;
    path_hits hits;
} world;

static void begin(world *self)
{
    memset(self, 0, sizeof *self);
    heap_init(&self->heap, NULL);
    assert_true(path_index_init(&self->index, &self->heap, 7));
}

static void add(world *self, const char *text, uint32_t value)
{
    assert_true(path_index_add(&self->index, str_from(text), value));
}

/* How many fit, and that the first one is `want`. */
static void expect(world *self, const char *name, size_t count, uint32_t want)
{
    assert_true(path_index_find(&self->index, str_from(name), &self->hits));
    if (self->hits.values.count != count)
        fail_msg("`%s` fits %zu, not %zu", name, self->hits.values.count, count);
    if (count > 0)
        assert_int_equal(self->hits.values.at[0], want);
}

static void end(world *self)
{
    path_hits_free(&self->heap, &self->hits);
    path_index_free(&self->index);
    assert_int_equal(self->heap.used_bytes, 0);
}

static void separators_are_equal(void **state)
{
    world w;

    (void)state;
    begin(&w);
    add(&w, "encoder.norm", 1);
    add(&w, "models::Net::loss", 2);
    expect(&w, "encoder/norm", 1, 1);
    expect(&w, "encoder::norm", 1, 1);
    expect(&w, "models/Net.loss", 1, 2);
    expect(&w, "encoder:norm", 0, 0);
    expect(&w, "Encoder.norm", 0, 0);
    expect(&w, "", 0, 0);
    end(&w);
}

static void a_placeholder_is_one_number(void **state)
{
    world w;

    (void)state;
    begin(&w);
    add(&w, "layers.{i}.w", 1);
    add(&w, "grid.{x}.{y}", 2);
    add(&w, "twin.{n}.of.{n}", 3);
    add(&w, "block{k}", 4);
    expect(&w, "layers.0.w", 1, 1);
    expect(&w, "layers/31/w", 1, 1);
    expect(&w, "layers.07.w", 0, 0);
    expect(&w, "layers.x.w", 0, 0);
    expect(&w, "layers.1.2.w", 0, 0);
    expect(&w, "layers..w", 0, 0);
    expect(&w, "layers.{i}.w", 1, 1);
    expect(&w, "grid.3.4", 1, 2);
    expect(&w, "twin.5.of.5", 1, 3);
    expect(&w, "twin.5.of.6", 0, 0);
    expect(&w, "block12", 1, 4);
    expect(&w, "block", 0, 0);
    end(&w);
}

static void what_is_written_out_comes_before_templates(void **state)
{
    world w;

    (void)state;
    begin(&w);
    add(&w, "filters.{i}.w", 1);
    add(&w, "filters.3.w", 2);
    expect(&w, "filters.3.w", 1, 2);
    assert_false(w.hits.is_template);
    expect(&w, "filters.4.w", 1, 1);
    assert_true(w.hits.is_template);
    end(&w);
}

static void all_that_fit_are_found_in_order(void **state)
{
    world w;

    (void)state;
    begin(&w);
    add(&w, "fc1.weight", 9);
    add(&w, "fc1.weight", 4);
    add(&w, "a.{i}.w", 5);
    add(&w, "a.{j}.w", 6);
    expect(&w, "fc1.weight", 2, 9);
    expect(&w, "a.0.w", 2, 5);
    end(&w);
}

static void hostile_texts_are_only_texts(void **state)
{
    char braces[4096];
    world w;

    (void)state;
    memset(braces, '{', sizeof braces - 1);
    braces[sizeof braces - 1] = '\0';
    begin(&w);
    add(&w, "a.{i.b", 1);
    add(&w, "{a}{b}{c}{d}{e}{f}{g}{h}{i}", 2);
    expect(&w, "a.{i.b", 1, 1);
    expect(&w, "123456789", 0, 0);
    expect(&w, braces, 0, 0);
    expect(&w, "#", 0, 0);
    end(&w);
}

static void out_of_memory_is_told_and_leaks_nothing(void **state)
{
    (void)state;
    for (size_t k = 1; k < 60; k++) {
        failing memory = {.fail_at = k};
        path_hits hits = {0};
        path_index index;
        heap from;

        heap_init(&from, failing_env(&memory));
        if (path_index_init(&index, &from, 7)) {
            if (path_index_add(&index, CG_LIT("layers.{i}.w"), 1) &&
                path_index_add(&index, CG_LIT("head.w"), 2))
                (void)!path_index_find(&index, CG_LIT("layers.2.w"), &hits);
            path_hits_free(&from, &hits);
            path_index_free(&index);
        }
        assert_nothing_held(&memory, &from);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(separators_are_equal),
        cmocka_unit_test(a_placeholder_is_one_number),
        cmocka_unit_test(what_is_written_out_comes_before_templates),
        cmocka_unit_test(all_that_fit_are_found_in_order),
        cmocka_unit_test(hostile_texts_are_only_texts),
        cmocka_unit_test(out_of_memory_is_told_and_leaks_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
