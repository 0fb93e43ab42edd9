#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>

#include "compare/statistics.h"
#include "unit/base/failing.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static sample_statistics describe(const uint64_t *samples, size_t count)
{
    failing memory = {0};
    sample_statistics of;
    heap from;

    heap_init(&from, failing_env(&memory));
    assert_true(sample_describe(&from, samples, count, &of));
    assert_nothing_held(&memory, &from);
    return of;
}

static void the_vectors_of_the_contract_come_out(void **state)
{
    const uint64_t baseline[] = {1000, 1040, 990, 1013, 1075};
    const uint64_t candidate[] = {955, 940, 1003, 971, 969};
    sample_statistics a = describe(baseline, COUNT(baseline));
    sample_statistics b = describe(candidate, COUNT(candidate));

    (void)state;
    assert_true(a.median_ns == 1013.0 && a.p95_ns == 1068.0 && a.mad_ns == 23.0);
    assert_true(b.median_ns == 969.0 && b.p95_ns == 996.6 && b.mad_ns == 14.0);
    assert_int_equal(a.minimum_ns, 990);
    assert_int_equal(a.maximum_ns, 1075);
    assert_true(a.mean_ns == 1023.6);
}

static void no_samples_give_zeros(void **state)
{
    sample_statistics of = describe(NULL, 0);

    (void)state;
    assert_true(of.median_ns == 0 && of.p95_ns == 0 && of.mad_ns == 0);
}

static void an_even_count_takes_the_mean_and_rounds_halves_up_for_the_mad(void **state)
{
    const uint64_t samples[] = {10, 13};
    sample_statistics of = describe(samples, COUNT(samples));

    (void)state;
    /* median 11.5 -> 12: distances 2 and 1 */
    assert_true(of.median_ns == 11.5 && of.mad_ns == 1.5);
}

static void deltas_sort_by_value_across_zero(void **state)
{
    delta of[] = {{5, false},         {7, true},           {0, false},
                  {UINT64_MAX, true}, {UINT64_MAX, false}, {1, true}};
    const double want[] = {-18446744073709551615.0, -7, -1, 0, 5, 18446744073709551615.0};
    heap from;

    (void)state;
    heap_init(&from, NULL);
    assert_true(delta_sort(&from, of, COUNT(of)));
    for (size_t i = 0; i < COUNT(of); i++)
        assert_true(delta_value(of[i]) == want[i]);
    assert_true(delta_median(of, COUNT(of)) == -0.5);
    assert_true(delta_median(of, 5) == -1);
    assert_true(delta_median(of, 0) == 0);
}

static void doubles_sort_in_total_order(void **state)
{
    double of[] = {0.0, 3.5, -2.0, -0.0, 1e300, -1e300};
    heap from;

    (void)state;
    heap_init(&from, NULL);
    assert_true(double_sort(&from, of, COUNT(of)));
    assert_true(of[0] == -1e300 && of[1] == -2.0 && of[5] == 1e300 && of[4] == 3.5);
    assert_true(1 / of[2] < 0 && 1 / of[3] > 0);
}

static void medians_beyond_doubles_keep_their_difference(void **state)
{
    const uint64_t from[2] = {UINT64_C(1) << 60, UINT64_C(1) << 60};
    const uint64_t to[2] = {(UINT64_C(1) << 60) + 100, (UINT64_C(1) << 60) + 101};

    (void)state;
    assert_true(median_difference(from, to) == 100.5);
    assert_true(median_difference(to, from) == -100.5);
    assert_true(median_difference((uint64_t[2]){0, 0}, (uint64_t[2]){UINT64_MAX, UINT64_MAX}) ==
                18446744073709551615.0);
    assert_true(median_difference((uint64_t[2]){10, 13}, (uint64_t[2]){7, 7}) == -4.5);
}

static void a_steady_climb_is_drift_and_a_shuffle_is_not(void **state)
{
    const uint64_t climbing[] = {100, 104, 109, 111, 117, 120};
    const uint64_t mixed[] = {100, 117, 104, 111, 120, 109};
    sample_drift of;
    heap from;

    (void)state;
    heap_init(&from, NULL);
    assert_true(sample_find_drift(&from, climbing, COUNT(climbing), &of));
    assert_true(of.is_significant && of.percent.is_set);
    assert_true(of.percent.value > 17 && of.percent.value < 19);
    assert_true(sample_find_drift(&from, mixed, COUNT(mixed), &of));
    assert_false(of.is_significant);
    assert_true(sample_find_drift(&from, climbing, 4, &of));
    assert_false(of.is_significant || of.percent.is_set);
}

static void long_lists_are_thinned_for_drift(void **state)
{
    size_t count = 5000;
    uint64_t *samples = malloc(count * sizeof *samples);
    sample_drift of;
    heap from;

    (void)state;
    heap_init(&from, NULL);
    for (size_t i = 0; i < count; i++)
        samples[i] = 1000 + i;
    assert_true(sample_find_drift(&from, samples, count, &of));
    assert_true(of.is_significant);
    free(samples);
}

static void a_slope_needs_two_places(void **state)
{
    const double x[] = {1, 3, 5};
    const double y[] = {10, 14, 18};

    (void)state;
    assert_true(line_slope(x, y, 3).is_set && line_slope(x, y, 3).value == 2);
    assert_false(line_slope(x, y, 1).is_set);
    assert_false(line_slope(x, y, 0).is_set);
}

static void every_refused_request_is_told(void **state)
{
    const uint64_t samples[] = {5, 4, 9, 1, 3, 8};
    bool is_done = false;

    (void)state;
    for (size_t k = 1; !is_done; k++) {
        failing memory = {.fail_at = k};
        sample_statistics of;
        sample_drift drift;
        heap from;

        heap_init(&from, failing_env(&memory));
        is_done = sample_describe(&from, samples, COUNT(samples), &of) &&
                  sample_find_drift(&from, samples, COUNT(samples), &drift);
        assert_nothing_held(&memory, &from);
        assert_true(is_done == (memory.requests < k));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_the_contract_come_out),
        cmocka_unit_test(no_samples_give_zeros),
        cmocka_unit_test(an_even_count_takes_the_mean_and_rounds_halves_up_for_the_mad),
        cmocka_unit_test(deltas_sort_by_value_across_zero),
        cmocka_unit_test(doubles_sort_in_total_order),
        cmocka_unit_test(medians_beyond_doubles_keep_their_difference),
        cmocka_unit_test(a_steady_climb_is_drift_and_a_shuffle_is_not),
        cmocka_unit_test(long_lists_are_thinned_for_drift),
        cmocka_unit_test(a_slope_needs_two_places),
        cmocka_unit_test(every_refused_request_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
