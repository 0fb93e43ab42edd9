#include "unit/base/failing.h"

#include "exec/pairs.h"

#define KEYS 64

/* Every pair of two small numbers, against an array that simply holds what should be there. */
static void entries_are_found_until_they_are_removed(void **state)
{
    static uint32_t want[KEYS][KEYS]; /* value + 1 */
    uint64_t seed = 88172645463325252u;
    failing memory = {0};
    size_t count = 0;
    heap from;
    pairs table;

    (void)state;
    heap_init(&from, failing_env(&memory));
    pairs_init(&table, &from, 77);
    for (uint32_t round = 0; round < 100000; round++) {
        uint32_t a = (uint32_t)(test_random(&seed) % KEYS);
        uint32_t b = 1 + (uint32_t)(test_random(&seed) % (KEYS - 1));
        uint32_t *found = pairs_find(&table, a, b);

        assert_int_equal(found != NULL, want[a][b] != 0);
        if (found != NULL)
            assert_int_equal(*found, want[a][b] - 1);
        if (found != NULL && test_random(&seed) % 4 != 0) {
            pairs_remove(&table, found);
            want[a][b] = 0;
            count--;
        } else {
            bool is_new = false;
            uint32_t *added = pairs_add(&table, a, b, round, &is_new);

            assert_int_equal(is_new, found == NULL);
            if (is_new) {
                want[a][b] = round + 1;
                count++;
            }
            assert_int_equal(*added, want[a][b] - 1);
        }
        assert_int_equal(table.count, count);
    }
    pairs_free(&table);
    assert_nothing_held(&memory, &from);
}

static void a_table_that_cannot_grow_keeps_what_it_has(void **state)
{
    failing memory = {.fail_at = 2};
    uint32_t kept = 0;
    bool is_new;
    heap from;
    pairs table;

    (void)state;
    heap_init(&from, failing_env(&memory));
    pairs_init(&table, &from, 0);
    assert_null(pairs_find(&table, 1, 1));
    while (pairs_add(&table, 1, kept, kept, &is_new) != NULL)
        kept++;
    assert_true(kept > 0);
    assert_int_equal(table.count, kept);
    for (uint32_t i = 0; i < kept; i++)
        assert_int_equal(*pairs_find(&table, 1, i), i);
    assert_non_null(pairs_add(&table, 1, kept, kept, &is_new)); /* the next try succeeds */
    pairs_free(&table);
    pairs_free(&table);
    assert_nothing_held(&memory, &from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_found_until_they_are_removed),
        cmocka_unit_test(a_table_that_cannot_grow_keeps_what_it_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
