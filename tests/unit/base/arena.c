#include "unit/base/failing.h"

#include "base/arena.h"

static void blocks_are_aligned_and_apart(void **state)
{
    failing memory = {0};
    heap from;
    arena taken;
    uint64_t seed = 1;
    char *blocks[400];
    size_t sizes[400];

    (void)state;
    heap_init(&from, failing_env(&memory));
    arena_init(&taken, &from);
    for (size_t i = 0; i < 400; i++) {
        uint64_t bits = test_random(&seed);

        sizes[i] = bits % 7 == 0 ? bits % 300000 : bits % 90;
        blocks[i] = arena_take(&taken, sizes[i]);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        memset(blocks[i], (int)i, sizes[i]);
    }
    for (size_t i = 0; i < 400; i++)
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal((unsigned char)blocks[i][j], i & 255);
    arena_free(&taken);
    assert_nothing_held(&memory, &from);
}

static void a_large_request_leaves_the_block_in_use(void **state)
{
    heap from;
    arena taken;
    char *first;
    char *second;

    (void)state;
    heap_init(&from, NULL);
    arena_init(&taken, &from);
    first = arena_take(&taken, 16);
    assert_non_null(arena_take(&taken, 3 << 20));
    second = arena_take(&taken, 16);
    assert_ptr_equal(second, first + 16);
    arena_free(&taken);
}

static void a_reset_gives_back_what_came_after_the_mark(void **state)
{
    failing memory = {0};
    heap from;
    arena taken;
    arena_place empty;
    arena_place place;
    char *kept;
    size_t bytes, held = 0;

    (void)state;
    heap_init(&from, failing_env(&memory));
    arena_init(&taken, &from);
    empty = arena_mark(&taken);
    kept = arena_take(&taken, 100);
    memset(kept, 'k', 100);
    assert_non_null(arena_take(&taken, 100000)); /* a large block is the last one at the mark */
    place = arena_mark(&taken);
    bytes = memory.bytes;
    for (int round = 0; round < 3; round++) {
        char *again = arena_take(&taken, 32);

        assert_ptr_equal(again, kept + 112);
        for (size_t i = 0; i < 1000; i++) {
            char *block = arena_take(&taken, i * 37 % 9000);

            assert_non_null(block);
            memset(block, 'x', i * 37 % 9000);
        }
        arena_reset(&taken, place);
        /* One block is kept, the same from the first round on. */
        assert_in_range(memory.bytes, bytes + 1, bytes + (1 << 20));
        assert_true(round == 0 || memory.bytes == held);
        held = memory.bytes;
    }
    assert_int_equal(kept[99], 'k');
    arena_reset(&taken, empty);
    assert_non_null(arena_take(&taken, 1));
    assert_int_equal(memory.bytes, held - bytes);
    arena_free(&taken);
    assert_nothing_held(&memory, &from);
}

static void a_block_of_the_heap_is_taken_over(void **state)
{
    failing memory = {0};

    (void)state;
    for (int with_block = 0; with_block < 2; with_block++) {
        heap from;
        arena taken;
        arena_place place;
        char *kept = NULL;
        char *own;

        heap_init(&from, failing_env(&memory));
        arena_init(&taken, &from);
        if (with_block)
            kept = arena_take(&taken, 16);
        own = heap_resize(&from, NULL, 0, ARENA_HEAD + 5000);
        assert_non_null(own);
        memset(own + ARENA_HEAD, 7, 5000);
        place = arena_mark(&taken);
        arena_adopt(&taken, own, ARENA_HEAD + 5000);
        for (size_t i = 1; i < 40; i++) {
            char *more = arena_take(&taken, i * 300);

            assert_non_null(more);
            memset(more, 1, i * 300);
        }
        for (size_t i = 0; i < 5000; i++)
            assert_int_equal(own[ARENA_HEAD + i], 7);
        arena_reset(&taken, place);
        if (with_block)
            assert_ptr_equal(arena_take(&taken, 16), kept + 16);
        arena_free(&taken);
        assert_nothing_held(&memory, &from);
    }
}

static void texts_are_copied_with_a_nul(void **state)
{
    heap from;
    arena taken;
    cg_str copy;

    (void)state;
    heap_init(&from, NULL);
    arena_init(&taken, &from);
    assert_true(arena_text(&taken, CG_LIT("a\0b"), &copy));
    assert_int_equal(copy.len, 3);
    assert_memory_equal(copy.ptr, "a\0b", 4);
    assert_true(arena_text(&taken, CG_LIT(""), &copy));
    assert_non_null(copy.ptr);
    assert_true(arena_text(&taken, (cg_str){NULL, 0}, &copy));
    assert_null(copy.ptr);
    assert_true(arena_format(&taken, &copy, "%s-%d", "x", 7));
    assert_text(copy, "x-7");
    assert_int_equal(*(char *)arena_zero(&taken, 8), 0);
    arena_free(&taken);
}

static void every_failing_request_is_survived(void **state)
{
    (void)state;
    for (size_t k = 1;; k++) {
        failing memory = {.fail_at = k};
        heap from;
        arena taken;
        cg_str copy;
        size_t failures = 0;

        heap_init(&from, failing_env(&memory));
        arena_init(&taken, &from);
        for (size_t i = 0; i < 60; i++) {
            failures += arena_take(&taken, i * 200) == NULL;
            failures += !arena_text(&taken, CG_LIT("text"), &copy);
            failures += !arena_format(&taken, &copy, "%0500d", 1);
        }
        assert_int_equal(failures, memory.requests >= k);
        arena_free(&taken);
        assert_nothing_held(&memory, &from);
        if (memory.requests < k)
            break;
    }
}

static void absurd_sizes_are_refused(void **state)
{
    heap from;
    arena taken;

    (void)state;
    heap_init(&from, NULL);
    arena_init(&taken, &from);
    assert_null(arena_take(&taken, SIZE_MAX));
    assert_null(arena_take(&taken, SIZE_MAX - 8));
    assert_non_null(arena_take(&taken, 8));
    assert_null(arena_take(&taken, SIZE_MAX - 8));
    assert_null(arena_bytes(&taken, SIZE_MAX));
    arena_free(&taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_apart),
        cmocka_unit_test(a_large_request_leaves_the_block_in_use),
        cmocka_unit_test(a_reset_gives_back_what_came_after_the_mark),
        cmocka_unit_test(a_block_of_the_heap_is_taken_over),
        cmocka_unit_test(texts_are_copied_with_a_nul),
        cmocka_unit_test(every_failing_request_is_survived),
        cmocka_unit_test(absurd_sizes_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
