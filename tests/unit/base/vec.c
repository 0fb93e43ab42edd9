#include "unit/base/failing.h"

#include "base/vec.h"

static void items_stay_when_the_array_grows(void **state)
{
    failing memory = {0};
    heap from;
    VEC(uint32_t) rows = {0};

    (void)state;
    heap_init(&from, failing_env(&memory));
    for (uint32_t i = 0; i < 10000; i++) {
        uint32_t *row = vec_add(&from, &rows);

        assert_non_null(row);
        *row = i;
    }
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(rows.at[i], i);
    assert_true(rows.capacity < 20000);
    vec_free(&from, &rows);
    assert_nothing_held(&memory, &from);
}

static void the_first_growth_makes_room_for_sixteen(void **state)
{
    heap from;
    VEC(char) rows = {0};

    (void)state;
    heap_init(&from, NULL);
    assert_true(vec_reserve(&from, &rows, 1));
    assert_int_equal(rows.capacity, 16);
    assert_true(vec_reserve(&from, &rows, 17));
    assert_int_equal(rows.capacity, 24);
    assert_true(vec_reserve(&from, &rows, 1000));
    assert_int_equal(rows.capacity, 1000);
    vec_free(&from, &rows);
    assert_null(rows.at);
    vec_free(&from, &rows);
}

static void a_refusal_leaves_the_array_as_it_was(void **state)
{
    failing memory = {.fail_at = 2};
    heap from;
    VEC(uint64_t) rows = {0};

    (void)state;
    heap_init(&from, failing_env(&memory));
    for (size_t i = 0; i < 16; i++)
        *vec_add(&from, &rows) = i;
    assert_null(vec_add(&from, &rows));
    assert_int_equal(rows.count, 16);
    assert_int_equal(rows.at[15], 15);
    assert_false(vec_reserve(&from, &rows, SIZE_MAX / 4));
    assert_non_null(vec_add(&from, &rows));
    vec_free(&from, &rows);
    assert_nothing_held(&memory, &from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_stay_when_the_array_grows),
        cmocka_unit_test(the_first_growth_makes_room_for_sixteen),
        cmocka_unit_test(a_refusal_leaves_the_array_as_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
