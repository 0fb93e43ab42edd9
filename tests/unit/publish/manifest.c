/* bundle.json: what is refused, what is free, and how files are found in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "publish/manifest.h"

#include <cmocka.h>

#define SUM "0123456789abcdef0123456789abcdef0123456789abcdef0123456789ABCDEF"

typedef struct fixture {
    heap heap;
    arena arena;
    manifest manifest;
    cg_err err;
} fixture;

static int setup(void **state)
{
    static fixture self;

    memset(&self, 0, sizeof self);
    heap_init(&self.heap, NULL);
    arena_init(&self.arena, &self.heap);
    *state = &self;
    return 0;
}

static int teardown(void **state)
{
    fixture *self = *state;

    arena_free(&self->arena);
    assert_int_equal(self->heap.used_bytes, 0);
    return 0;
}

static cg_code read_with(fixture *self, const cg_env *env, const char *text)
{
    memset(&self->err, 0, sizeof self->err);
    return manifest_read(env, &self->heap, &self->arena, str_from(text), &self->manifest,
                         &self->err);
}

static cg_code read_files(fixture *self, const char *files)
{
    char text[2048];

    snprintf(text, sizeof text,
             "{\"schema\":\"candle-graph/bundle/1\",\"run_id\":\"r\",\"files\":[%s]}", files);
    return read_with(self, NULL, text);
}

#define FILE_NAMED(path) "{\"path\":\"" path "\",\"bytes\":1,\"sha256\":\"" SUM "\"}"

static void expect_refused(fixture *self, const char *files, const char *problem)
{
    assert_int_not_equal(read_files(self, files), CG_OK);
    assert_string_equal(self->err.problem, problem);
    assert_string_equal(self->err.file, "bundle.json");
}

static void files_are_sorted_and_found(void **state)
{
    fixture *self = *state;

    assert_int_equal(read_files(self, FILE_NAMED("n/b") "," FILE_NAMED("a") "," FILE_NAMED(
                                          "n-x") "," FILE_NAMED("n/a/c") "," FILE_NAMED("n0")),
                     CG_OK);
    assert_int_equal(self->manifest.count, 5);
    assert_memory_equal(self->manifest.files[0].path.ptr, "a", 1);
    assert_int_equal(self->manifest.files[0].sum[31], 0xef);
    assert_non_null(manifest_find(&self->manifest, CG_LIT("n/b")));
    assert_null(manifest_find(&self->manifest, CG_LIT("n")));
    assert_true(manifest_has_directory(&self->manifest, CG_LIT("n")));
    assert_true(manifest_has_directory(&self->manifest, CG_LIT("n/a")));
    assert_false(manifest_has_directory(&self->manifest, CG_LIT("n/b")));
    assert_false(manifest_has_directory(&self->manifest, CG_LIT("a")));
    assert_false(manifest_has_directory(&self->manifest, CG_LIT("n-")));
}

static void paths_that_lead_elsewhere_are_refused(void **state)
{
    static const char *const files[] = {
        FILE_NAMED("/a"),          FILE_NAMED("../a"),      FILE_NAMED("a/../b"),
        FILE_NAMED("./a"),         FILE_NAMED("a\\\\b"),    FILE_NAMED(""),
        FILE_NAMED("bundle.json"), FILE_NAMED("a\\u0000b"),
    };

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        expect_refused(*state, files[i], "bundle-unsafe-path");
}

static void what_could_mean_two_things_is_refused(void **state)
{
    expect_refused(*state, FILE_NAMED("a") "," FILE_NAMED("b") "," FILE_NAMED("a"),
                   "bundle-declared-twice");
    expect_refused(*state, "{\"path\":\"a\",\"path\":\"b\",\"bytes\":1,\"sha256\":\"" SUM "\"}",
                   "bundle-manifest");
    expect_refused(*state, "{\"path\":\"a\",\"bytes\":1.0,\"sha256\":\"" SUM "\"}",
                   "bundle-manifest");
    expect_refused(*state, "{\"path\":\"a\",\"bytes\":1,\"sha256\":\"0" SUM "\"}",
                   "bundle-digest-form");
    expect_refused(*state,
                   "{\"path\":\"a\",\"bytes\":1,\"sha256\":\"g123456789abcdef0123456789abcdef"
                   "0123456789abcdef0123456789abcdef\"}",
                   "bundle-digest-form");
    assert_int_not_equal(read_with(*state, NULL, "[]"), CG_OK);
    assert_string_equal(((fixture *)*state)->err.problem, "bundle-manifest");
    assert_int_not_equal(
        read_with(*state, NULL,
                  "{\"schema\":\"candle-graph/bundle/2\",\"run_id\":\"r\",\"files\":[]}"),
        CG_OK);
    assert_string_equal(((fixture *)*state)->err.problem, "bundle-schema");
}

static void ceilings_hold_and_can_be_moved(void **state)
{
    fixture *self = *state;
    cg_limits limits;
    cg_env env = {.size = sizeof env, .limits = &limits};
    static const char text[] =
        "{\"schema\":\"candle-graph/bundle/1\",\"run_id\":\"r\",\"files\":[" FILE_NAMED(
            "a/b/c") "," FILE_NAMED("d") "]}";

    limits_default(&limits);
    limits.size = sizeof limits;
    assert_int_equal(read_with(self, &env, text), CG_OK);
    limits.value[CG_LIMIT_BUNDLE_FILES] = 1;
    assert_int_equal(read_with(self, &env, text), CG_LIMIT);
    limits.value[CG_LIMIT_BUNDLE_FILES] = 2;
    limits.value[CG_LIMIT_BUNDLE_DEPTH] = 1;
    assert_int_equal(read_with(self, &env, text), CG_LIMIT);
    limits.value[CG_LIMIT_BUNDLE_DEPTH] = 2;
    limits.value[CG_LIMIT_BUNDLE_PATH_BYTES] = 4;
    assert_int_equal(read_with(self, &env, text), CG_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_are_sorted_and_found, setup, teardown),
        cmocka_unit_test_setup_teardown(paths_that_lead_elsewhere_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(what_could_mean_two_things_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(ceilings_hold_and_can_be_moved, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
