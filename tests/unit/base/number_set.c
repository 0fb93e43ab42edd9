#include "unit/base/failing.h"

#include "base/number_set.h"

#include <cmocka.h>

#define MOST 300000

static bool plain[MOST];

/* Members from `from` on, counted the plain way and through the set. */
static void members_agree(const number_set *set, size_t count)
{
    size_t next = number_set_next(set, 0);

    for (size_t i = 0; i < count; i++) {
        if (!plain[i])
            continue;
        assert_int_equal(next, i);
        next = number_set_next(set, i + 1);
    }
    assert_int_equal(next, count);
    assert_int_equal(number_set_next(set, count), count);
}

static void members_come_in_order_at_every_size(void **state)
{
    static const size_t counts[] = {0, 1, 63, 64, 65, 4095, 4096, 4097, 262144, 262145, MOST};
    uint64_t seed = 3;

    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        size_t count = counts[c];
        failing memory = {0};
        heap from;
        number_set set;

        heap_init(&from, failing_env(&memory));
        memset(plain, 0, sizeof plain);
        assert_true(number_set_init(&set, &from, count));
        members_agree(&set, count);
        for (size_t round = 0; round < 6 && count > 0; round++) {
            for (size_t i = 0; i < (round == 3 ? count : 40); i++) {
                size_t number = (size_t)(test_random(&seed) % count);
                bool is_put = (test_random(&seed) & 3) != 0;

                if (is_put)
                    number_set_put(&set, number);
                else
                    number_set_drop(&set, number);
                plain[number] = is_put;
            }
            members_agree(&set, count);
        }
        for (size_t i = 0; i < count; i++) {
            number_set_drop(&set, i);
            plain[i] = false;
        }
        members_agree(&set, count);
        number_set_free(&set);
        assert_int_equal(memory.blocks, 0);
    }
}

static void no_memory_is_told(void **state)
{
    failing memory = {.fail_at = 1};
    heap from;
    number_set set;

    (void)state;
    heap_init(&from, failing_env(&memory));
    assert_false(number_set_init(&set, &from, 100));
    number_set_free(&set);
    assert_true(number_set_init(&set, &from, 100));
    number_set_free(&set);
    assert_int_equal(memory.blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_come_in_order_at_every_size),
        cmocka_unit_test(no_memory_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
