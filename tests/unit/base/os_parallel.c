/* Every item once, whatever the number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/os_parallel.h"

#include <cmocka.h>

#define ITEMS 10000

typedef struct counts {
    atomic_uint seen[ITEMS];
    atomic_uint out_of_range;
    unsigned workers;
} counts;

static void count(void *context, unsigned worker, size_t item)
{
    counts *self = context;

    if (worker >= self->workers || item >= ITEMS)
        atomic_fetch_add(&self->out_of_range, 1);
    else
        atomic_fetch_add(&self->seen[item], 1);
}

static void every_item_is_done_once(void **state)
{
    static const unsigned widths[] = {1, 2, 3, OS_PARALLEL_MOST};

    (void)state;
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        static counts of;

        for (size_t k = 0; k < ITEMS; k++)
            atomic_store(&of.seen[k], 0);
        atomic_store(&of.out_of_range, 0);
        of.workers = widths[i];
        os_parallel(widths[i], ITEMS, count, &of);
        assert_int_equal(atomic_load(&of.out_of_range), 0);
        for (size_t k = 0; k < ITEMS; k++)
            assert_int_equal(atomic_load(&of.seen[k]), 1);
    }
}

static void no_item_is_no_work(void **state)
{
    static counts of = {.workers = OS_PARALLEL_MOST};

    (void)state;
    os_parallel(OS_PARALLEL_MOST, 0, count, &of);
    assert_int_equal(atomic_load(&of.seen[0]), 0);
}

static void the_width_is_within_bounds(void **state)
{
    (void)state;
    assert_true(os_parallel_width() >= 1 && os_parallel_width() <= OS_PARALLEL_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_is_done_once),
        cmocka_unit_test(no_item_is_no_work),
        cmocka_unit_test(the_width_is_within_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
