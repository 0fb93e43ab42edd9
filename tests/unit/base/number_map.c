#include "unit/base/failing.h"

#include "base/number_map.h"

static void values_are_found_by_their_keys(void **state)
{
    number_map map;
    heap from;

    (void)state;
    heap_init(&from, NULL);
    number_map_init(&map, &from);
    assert_null(number_map_find(&map, 1));
    assert_null(number_map_put(&map, 0, 1));
    for (uint32_t i = 1; i < 5000; i++)
        assert_int_equal(*number_map_put(&map, number_map_key(i, i * 7), i), i);
    assert_int_equal(*number_map_put(&map, number_map_key(3, 21), 99), 3);
    assert_int_equal(map.count, 4999);
    for (uint32_t i = 1; i < 5000; i++) {
        assert_int_equal(*number_map_find(&map, number_map_key(i, i * 7)), i);
        assert_null(number_map_find(&map, number_map_key(i, i * 7 + 1)));
    }
    assert_null(number_map_find(&map, 0));
    number_map_free(&map);
    assert_int_equal(from.used_bytes, 0);
}

static void a_refused_request_leaves_the_map_as_it_was(void **state)
{
    (void)state;
    for (size_t k = 1; k <= 3; k++) {
        failing memory = {.fail_at = k};
        number_map map;
        heap from;
        uint32_t i = 1;

        heap_init(&from, failing_env(&memory));
        number_map_init(&map, &from);
        while (number_map_put(&map, i, i) != NULL)
            i++;
        assert_int_equal(map.count, i - 1);
        for (uint32_t at = 1; at < i; at++)
            assert_int_equal(*number_map_find(&map, at), at);
        assert_non_null(number_map_put(&map, i, i));
        number_map_free(&map);
        assert_nothing_held(&memory, &from);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found_by_their_keys),
        cmocka_unit_test(a_refused_request_leaves_the_map_as_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
