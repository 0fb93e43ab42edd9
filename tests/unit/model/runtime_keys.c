#include <setjmp.h>
#include <stdarg.h>

#include "model/runtime_keys.h"
#include "support/model.h"

#include <cmocka.h>

static bool matches(const char *pattern, const char *key)
{
    return runtime_key_matches(str_from(pattern), str_from(key));
}

static void a_hole_is_a_number(void **state)
{
    (void)state;
    assert_true(matches("layers.{i}.w", "layers.0.w"));
    assert_true(matches("layers.{i}.w", "layers.120.w"));
    assert_true(matches("layer{i + 1}_w", "layer7_w"));
    assert_true(matches("l.{self . cfg . n}.w", "l.3.w"));
    assert_false(matches("layers.{i}.w", "layers..w"));
    assert_false(matches("layers.{i}.w", "layers.x.w"));
    assert_false(matches("layers.{i}.w", "layers.-1.w"));
    assert_false(matches("layers.{i}.w", "layers.{i}.w"));
    assert_false(matches("layers.{i}.w", "layers.0.w.more"));
    assert_false(matches("layers.{i}.w", "layers.0"));
}

static void numbers_have_no_leading_zeros(void **state)
{
    (void)state;
    assert_true(matches("{i}.w", "0.w"));
    assert_false(matches("{i}.w", "00.w"));
    assert_false(matches("{i}.w", "07.w"));
}

static void holes_of_one_name_are_one_number(void **state)
{
    (void)state;
    assert_true(matches("a.{i}.b.{i}", "a.4.b.4"));
    assert_false(matches("a.{i}.b.{i}", "a.4.b.5"));
    assert_true(matches("a.{i}.b.{j}", "a.4.b.5"));
}

static void find(const runtime_keys *keys, arena *mem, const char *root, const char *key,
                 size_t expected)
{
    runtime_key_list found = {0};

    assert_true(runtime_keys_find(keys, mem, str_from(root), str_from(key), &found));
    assert_int_equal(found.count, expected);
    vec_free(mem->heap, &found);
}

static void the_exact_key_goes_before_families(void **state)
{
    static const char *const texts[] = {"a.{i}.w", "a.0.w", "b.{i}.w", "b.{j}.w", "b{i}.w"};
    runtime_key_list found = {0};
    model_document document;
    model_draft draft;
    runtime_keys keys;
    heap memory;
    arena mem;

    (void)state;
    heap_init(&memory, NULL);
    arena_init(&mem, &memory);
    model_draft_init(&draft, &memory);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        model_parameter *parameter = draft_parameter(&draft);

        assert_non_null(parameter);
        parameter->id = str_from(texts[i]);
        parameter->key = str_from(texts[i]);
        parameter->builder_root = CG_LIT("vb");
    }
    assert_int_equal(model_finish(&draft, &document, NULL), CG_OK);
    assert_true(runtime_keys_make(&mem, &document.doc, &keys));
    assert_true(runtime_keys_find(&keys, &mem, CG_LIT("vb"), CG_LIT("a.0.w"), &found));
    assert_int_equal(found.count, 1);
    assert_string_equal(MODEL_AT(document.doc.parameters, model_parameter, found.at[0])->key.ptr,
                        "a.0.w");
    find(&keys, &mem, "vb", "a.1.w", 1);
    find(&keys, &mem, "vb", "b.1.w", 2);
    find(&keys, &mem, "vb", "b1.w", 1);
    find(&keys, &mem, "other", "a.0.w", 0);
    find(&keys, &mem, "vb", "c.1.w", 0);
    find(&keys, &mem, "vb", "", 0);
    vec_free(&memory, &found);
    model_free(&document);
    arena_free(&mem);
    assert_int_equal(memory.used_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hole_is_a_number),
        cmocka_unit_test(numbers_have_no_leading_zeros),
        cmocka_unit_test(holes_of_one_name_are_one_number),
        cmocka_unit_test(the_exact_key_goes_before_families),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
