#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/stats.h"

#define VIEW(kind, values, ...)                                                                    \
    ((cg_record_view){.size = sizeof(cg_record_view), .type = kind, .data = values, __VA_ARGS__})

static cg_record_stats reduce(const cg_record_view *view)
{
    cg_record_stats stats = {0};

    assert_true(cg_record_reduce(view, &stats));
    return stats;
}

static void near(double have, double want)
{
    if (fabs(have - want) > 1e-14 * fabs(want)) {
        fail_msg("%.17g, expected %.17g", have, want);
    }
}

static void large_and_tiny_values_keep_their_squares(void **state)
{
    const uint64_t shape[] = {2};
    const float large[] = {1e30f, -1e30f};
    const double huge[] = {1e300, 1e300};
    const double tiny[] = {1e-300, -1e-300};
    const double least[] = {5e-324, 5e-324};

    (void)state;
    cg_record_stats stats = reduce(&VIEW(CG_RECORD_F32, large, .rank = 1, .shape = shape));
    near(stats.rms, (double)1e30f);
    assert_int_equal(stats.non_finite, 0);
    assert_true(stats.mean == 0);
    near(reduce(&VIEW(CG_RECORD_F64, huge, .rank = 1, .shape = shape)).rms, 1e300);
    near(reduce(&VIEW(CG_RECORD_F64, huge, .rank = 1, .shape = shape)).mean, 1e300);
    near(reduce(&VIEW(CG_RECORD_F64, tiny, .rank = 1, .shape = shape)).rms, 1e-300);
    assert_true(reduce(&VIEW(CG_RECORD_F64, least, .rank = 1, .shape = shape)).rms == 5e-324);
    assert_true(reduce(&VIEW(CG_RECORD_F64, least, .rank = 1, .shape = shape)).mean == 5e-324);
}

static void non_finite_elements_are_counted_on_their_own_type(void **state)
{
    const uint64_t shape[] = {4};
    const double doubles[] = {1, (double)INFINITY, (double)NAN, 1e300};
    const uint16_t halves[] = {0x3c00, 0x7c00, 0xfe00, 0x0001};

    (void)state;
    cg_record_stats stats = reduce(&VIEW(CG_RECORD_F64, doubles, .rank = 1, .shape = shape));
    assert_int_equal(stats.non_finite, 2);
    assert_int_equal(stats.elements, 4);
    assert_true(stats.rms == 0 && stats.abs_max == 0 && stats.mean == 0);
    assert_int_equal(reduce(&VIEW(CG_RECORD_F16, halves, .rank = 1, .shape = shape)).non_finite, 2);
}

static void every_type_is_read_exactly(void **state)
{
    const uint64_t shape[] = {2};
    const int64_t integers[] = {16777217, 16777217};
    const int64_t lowest[] = {INT64_MIN, INT64_MIN};
    const uint16_t halves[] = {0x3c00, 0xc000};  /* 1, -2 */
    const uint16_t bfloats[] = {0x3f80, 0xc000}; /* 1, -2 */
    const uint8_t bytes[] = {255, 1};
    const int8_t signed_bytes[] = {-128, 0};

    (void)state;
    assert_true(reduce(&VIEW(CG_RECORD_I64, integers, .rank = 1, .shape = shape)).mean == 16777217);
    assert_true(reduce(&VIEW(CG_RECORD_I64, lowest, .rank = 1, .shape = shape)).abs_max == 0x1p63);
    near(reduce(&VIEW(CG_RECORD_F16, halves, .rank = 1, .shape = shape)).rms, sqrt(2.5));
    near(reduce(&VIEW(CG_RECORD_BF16, bfloats, .rank = 1, .shape = shape)).rms, sqrt(2.5));
    assert_true(reduce(&VIEW(CG_RECORD_F16, halves, .rank = 1, .shape = shape)).mean == -0.5);
    assert_true(reduce(&VIEW(CG_RECORD_U8, bytes, .rank = 1, .shape = shape)).mean == 128);
    assert_true(reduce(&VIEW(CG_RECORD_BOOL, bytes, .rank = 1, .shape = shape)).mean == 1);
    assert_true(reduce(&VIEW(CG_RECORD_I8, signed_bytes, .rank = 1, .shape = shape)).mean == -64);
}

static void strides_pick_the_elements_of_the_view(void **state)
{
    float matrix[6 * 8];
    const uint64_t shape[] = {4, 3};
    const int64_t transposed[] = {2, 8}; /* columns 0, 2, 4, 6 of rows 0, 1, 2 */
    const int64_t backwards[] = {-8, -1};
    double want = 0;

    (void)state;
    for (int i = 0; i < 48; i++) {
        matrix[i] = (float)i;
    }
    for (int column = 0; column < 4; column++) {
        for (int row = 0; row < 3; row++) {
            want += matrix[2 * column + 8 * row];
        }
    }
    cg_record_stats stats =
        reduce(&VIEW(CG_RECORD_F32, matrix, .rank = 2, .shape = shape, .strides = transposed));
    assert_int_equal(stats.elements, 12);
    near(stats.mean, want / 12);
    near(stats.abs_max, 22);
    stats =
        reduce(&VIEW(CG_RECORD_F32, matrix + 47, .rank = 2, .shape = shape, .strides = backwards));
    near(stats.abs_max, 47);
    near(stats.mean, 47 - 1 - 12);
}

static void empty_and_scalar_views_have_statistics(void **state)
{
    const uint64_t none[] = {3, 0, 2};
    const double value = -2.5;

    (void)state;
    cg_record_stats stats = reduce(&VIEW(CG_RECORD_F32, NULL, .rank = 3, .shape = none));
    assert_int_equal(stats.elements, 0);
    assert_true(stats.rms == 0 && stats.abs_max == 0 && stats.mean == 0);
    stats = reduce(&VIEW(CG_RECORD_F64, &value, .rank = 0));
    assert_int_equal(stats.elements, 1);
    assert_true(stats.mean == -2.5 && stats.rms == 2.5);
}

static void views_that_cannot_be_are_refused(void **state)
{
    const uint64_t shape[] = {2};
    const uint64_t vast[] = {UINT64_MAX, 4};
    const float values[] = {1, 2};
    cg_record_stats stats;

    (void)state;
    assert_false(cg_record_reduce(NULL, &stats));
    assert_false(cg_record_reduce(&VIEW(99, values, .rank = 1, .shape = shape), &stats));
    assert_false(cg_record_reduce(&VIEW(CG_RECORD_F32, NULL, .rank = 1, .shape = shape), &stats));
    assert_false(cg_record_reduce(&VIEW(CG_RECORD_F32, values, .rank = 1), &stats));
    assert_false(cg_record_reduce(&VIEW(CG_RECORD_F32, values, .rank = 2, .shape = vast), &stats));
    assert_false(cg_record_reduce(&VIEW(CG_RECORD_F32, values, .rank = 65, .shape = vast), &stats));
}

static void sums_of_many_small_values_do_not_drift(void **state)
{
    enum { COUNT = 1000000 };
    const uint64_t shape[] = {COUNT};
    float *values = malloc(COUNT * sizeof *values);

    (void)state;
    assert_non_null(values);
    for (int i = 0; i < COUNT; i++) {
        values[i] = 0.1f;
    }
    cg_record_stats stats = reduce(&VIEW(CG_RECORD_F32, values, .rank = 1, .shape = shape));
    near(stats.mean, (double)0.1f);
    near(stats.rms, (double)0.1f);
    free(values);
}

static void a_norm_is_neither_lost_nor_infinite(void **state)
{
    const uint64_t shape[] = {3};
    const float tiny[] = {1e-30f, 0, 0};
    const double huge[] = {DBL_MAX, DBL_MAX, DBL_MAX};
    cg_record_stats stats;
    double norm = 0;

    (void)state;
    assert_true(stats_reduce(&VIEW(CG_RECORD_F32, tiny, .rank = 1, .shape = shape), &stats, &norm));
    near(norm, (double)1e-30f);
    assert_true(stats_reduce(&VIEW(CG_RECORD_F64, huge, .rank = 1, .shape = shape), &stats, &norm));
    assert_true(isfinite(norm) && isfinite(stats.rms));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_and_tiny_values_keep_their_squares),
        cmocka_unit_test(non_finite_elements_are_counted_on_their_own_type),
        cmocka_unit_test(every_type_is_read_exactly),
        cmocka_unit_test(strides_pick_the_elements_of_the_view),
        cmocka_unit_test(empty_and_scalar_views_have_statistics),
        cmocka_unit_test(views_that_cannot_be_are_refused),
        cmocka_unit_test(sums_of_many_small_values_do_not_drift),
        cmocka_unit_test(a_norm_is_neither_lost_nor_infinite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
