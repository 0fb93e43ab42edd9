#include "unit/base/failing.h"

static void used_bytes_are_counted(void **state)
{
    failing memory = {0};
    heap from;
    char *block;

    (void)state;
    heap_init(&from, failing_env(&memory));
    block = heap_resize(&from, NULL, 0, 100);
    assert_int_equal(from.used_bytes, 100);
    block = heap_resize(&from, block, 100, 300);
    block = heap_resize(&from, block, 300, 50);
    assert_int_equal(from.used_bytes, 50);
    assert_int_equal(from.peak_bytes, 300);
    heap_resize(&from, block, 50, 0);
    assert_nothing_held(&memory, &from);
    assert_null(heap_resize(&from, NULL, 0, 0));
}

static void the_ceiling_holds_to_the_byte(void **state)
{
    heap from;
    char *block;

    (void)state;
    heap_init(&from, NULL);
    assert_int_equal(from.ceiling_bytes, UINT64_C(8) << 30);
    from.ceiling_bytes = 100;
    block = heap_resize(&from, NULL, 0, 100);
    assert_non_null(block);
    assert_null(heap_resize(&from, NULL, 0, 1));
    assert_null(heap_resize(&from, block, 100, 101));
    block = heap_resize(&from, block, 100, 40);
    assert_null(heap_resize(&from, NULL, 0, 61));
    heap_resize(&from, block, 40, 0);
    assert_int_equal(from.used_bytes, 0);
}

static void a_refused_request_changes_nothing(void **state)
{
    failing memory = {.fail_at = 2};
    heap from;
    char *block;

    (void)state;
    heap_init(&from, failing_env(&memory));
    block = heap_resize(&from, NULL, 0, 10);
    memset(block, 'x', 10);
    assert_null(heap_resize(&from, block, 10, 20));
    assert_int_equal(from.used_bytes, 10);
    assert_int_equal(block[9], 'x');
    heap_resize(&from, block, 10, 0);
    assert_nothing_held(&memory, &from);
}

static void limits_come_from_the_caller_as_far_as_he_knows_them(void **state)
{
    cg_limits limits;
    cg_env env = {.size = sizeof env, .limits = &limits};

    (void)state;
    limits_default(&limits);
    assert_int_equal(limits.value[CG_LIMIT_JSON_DEPTH], 127);
    limits.value[CG_LIMIT_JSON_DEPTH] = 0;
    limits.value[CG_LIMIT_MEMORY_BYTES] = 5;
    assert_int_equal(limit_of(&env, CG_LIMIT_JSON_DEPTH), 0);
    limits.size = offsetof(cg_limits, value) + 8 * CG_LIMIT_MEMORY_BYTES;
    assert_int_equal(limit_of(&env, CG_LIMIT_MEMORY_BYTES), UINT64_C(8) << 30);
    env.size = offsetof(cg_env, limits);
    assert_int_equal(limit_of(&env, CG_LIMIT_JSON_DEPTH), 127);
    assert_int_equal(limit_of(NULL, CG_LIMIT_JSON_DEPTH), 127);
    assert_int_equal(limit_find(CG_LIT("line-bytes")), CG_LIMIT_LINE_BYTES);
    assert_int_equal(limit_find(CG_LIT("line")), -1);
}

static bool stop(void *context, const char *stage, uint64_t done, uint64_t total)
{
    *(uint64_t *)context = done + total + strlen(stage);
    return false;
}

static void progress_is_optional(void **state)
{
    uint64_t seen = 0;
    cg_env env = {.size = sizeof env, .progress = stop, .progress_context = &seen};

    (void)state;
    assert_true(env_progress(NULL, "read", 1, 2));
    assert_false(env_progress(&env, "read", 1, 2));
    assert_int_equal(seen, 7);
    env.size = offsetof(cg_env, progress);
    assert_true(env_progress(&env, "read", 1, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(used_bytes_are_counted),
        cmocka_unit_test(the_ceiling_holds_to_the_byte),
        cmocka_unit_test(a_refused_request_changes_nothing),
        cmocka_unit_test(limits_come_from_the_caller_as_far_as_he_knows_them),
        cmocka_unit_test(progress_is_optional),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
