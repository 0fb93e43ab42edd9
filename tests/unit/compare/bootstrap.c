#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>

#include "compare/bootstrap.h"
#include "unit/base/failing.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static const uint64_t baseline[] = {1000, 1040, 990, 1013, 1075, 1021};
static const uint64_t candidate[] = {955, 940, 1003, 971, 969};

static bootstrap_interval unpaired(size_t baseline_count)
{
    failing memory = {0};
    bootstrap_interval of;
    heap from;

    heap_init(&from, failing_env(&memory));
    assert_int_equal(bootstrap_unpaired(NULL, &from, (sample_list){baseline, baseline_count},
                                        (sample_list){candidate, COUNT(candidate)}, &of, NULL),
                     CG_OK);
    assert_nothing_held(&memory, &from);
    return of;
}

static void the_generator_is_the_one_of_the_contract(void **state)
{
    uint64_t x = BOOTSTRAP_SEED;
    const uint64_t indices[] = {0, 4, 1, 4, 4};

    (void)state;
    assert_true(bootstrap_next(&x) == UINT64_C(0x76e0cf04b412ebd1));
    assert_true(bootstrap_next(&x) == UINT64_C(0xddb59041d0361a46));
    assert_true(bootstrap_next(&x) == UINT64_C(0xcd45eba3d2bc27f2));
    x = BOOTSTRAP_SEED;
    for (size_t i = 0; i < COUNT(indices); i++)
        assert_int_equal(bootstrap_next(&x) % 5, indices[i]);
}

static void five_against_five(void **state)
{
    bootstrap_interval of = unpaired(5);

    (void)state;
    assert_true(of.lower_ns == -106.0 && of.upper_ns == -10.0);
}

static void six_against_five(void **state)
{
    bootstrap_interval of = unpaired(6);

    (void)state;
    assert_true(of.lower_ns == -93.0 && of.upper_ns == -14.0);
}

static void five_pairs(void **state)
{
    bootstrap_interval of;
    delta pairs[5];
    heap from;

    (void)state;
    heap_init(&from, NULL);
    for (size_t i = 0; i < COUNT(pairs); i++)
        pairs[i] = delta_between(baseline[i], candidate[i]);
    assert_int_equal(bootstrap_paired(NULL, &from, pairs, COUNT(pairs), &of, NULL), CG_OK);
    assert_true(of.lower_ns == -106.0 && of.upper_ns == 13.0);
}

/* The same thing done the slow way: draw, sort, take the middle. */
static void it_agrees_with_sorting_every_resample(void **state)
{
    uint64_t random = 77;

    (void)state;
    for (size_t round = 0; round < 6; round++) {
        size_t count = 5 + round % 4;
        double *deltas = malloc(BOOTSTRAP_RESAMPLES * sizeof *deltas);
        uint64_t x = BOOTSTRAP_SEED;
        bootstrap_interval of;
        uint64_t a[8];
        uint64_t b[8];
        heap from;

        heap_init(&from, NULL);
        for (size_t i = 0; i < count; i++) {
            a[i] = test_random(&random) % 50;
            b[i] = test_random(&random) % 50;
        }
        for (size_t i = 0; i < BOOTSTRAP_RESAMPLES; i++) {
            uint64_t drawn[2][8];

            for (size_t j = 0; j < count; j++)
                drawn[0][j] = a[bootstrap_next(&x) % count];
            for (size_t j = 0; j < count; j++)
                drawn[1][j] = b[bootstrap_next(&x) % count];
            assert_true(sample_sort(&from, drawn[0], count) && sample_sort(&from, drawn[1], count));
            deltas[i] =
                sample_percentile(drawn[1], count, 0.5) - sample_percentile(drawn[0], count, 0.5);
        }
        assert_true(double_sort(&from, deltas, BOOTSTRAP_RESAMPLES));
        assert_int_equal(bootstrap_unpaired(NULL, &from, (sample_list){a, count},
                                            (sample_list){b, count}, &of, NULL),
                         CG_OK);
        assert_true(of.lower_ns == deltas[BOOTSTRAP_LOWER]);
        assert_true(of.upper_ns == deltas[BOOTSTRAP_UPPER]);
        free(deltas);
    }
}

static bool stop(void *context, const char *stage, uint64_t done, uint64_t total)
{
    (void)context;
    (void)stage;
    (void)total;
    return done < 2000;
}

static void a_stop_on_request_is_heard(void **state)
{
    const cg_env env = {.size = sizeof env, .progress = stop};
    bootstrap_interval of;
    heap from;

    (void)state;
    heap_init(&from, &env);
    assert_int_equal(bootstrap_unpaired(&env, &from, (sample_list){baseline, 5},
                                        (sample_list){candidate, 5}, &of, NULL),
                     CG_INTERRUPTED);
    assert_int_equal(from.used_bytes, 0);
}

static void every_refused_request_is_told(void **state)
{
    delta pairs[5];
    cg_code code = CG_NOMEM;

    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++)
        pairs[i] = delta_between(baseline[i], candidate[i]);
    for (size_t k = 1; code == CG_NOMEM; k++) {
        failing memory = {.fail_at = k};
        bootstrap_interval of;
        heap from;

        heap_init(&from, failing_env(&memory));
        code = bootstrap_unpaired(NULL, &from, (sample_list){baseline, 5},
                                  (sample_list){candidate, 5}, &of, NULL);
        if (code == CG_OK)
            code = bootstrap_paired(NULL, &from, pairs, COUNT(pairs), &of, NULL);
        assert_nothing_held(&memory, &from);
        assert_true((code == CG_OK) == (memory.requests < k));
    }
    assert_int_equal(code, CG_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_generator_is_the_one_of_the_contract),
        cmocka_unit_test(five_against_five),
        cmocka_unit_test(six_against_five),
        cmocka_unit_test(five_pairs),
        cmocka_unit_test(it_agrees_with_sorting_every_resample),
        cmocka_unit_test(a_stop_on_request_is_heard),
        cmocka_unit_test(every_refused_request_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
