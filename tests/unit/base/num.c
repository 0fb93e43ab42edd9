#include "unit/base/failing.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/num.h"

static void integers_are_written_plainly(void **state)
{
    char out[NUM_U64_ROOM + 1];
    char want[32];
    uint64_t seed = 7;

    (void)state;
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t bits = test_random(&seed);
        uint64_t value = i < 2000 ? i : bits >> (bits & 63);
        cg_str text = {out, num_write_u64(out, value)};
        uint64_t back = 0;

        snprintf(want, sizeof want, "%llu", (unsigned long long)value);
        assert_text(text, want);
        assert_true(num_read_u64(text, &back));
        assert_true(back == value);
    }
    assert_text((cg_str){out, num_write_u64(out, UINT64_MAX)}, "18446744073709551615");
    assert_text((cg_str){out, num_write_i64(out, INT64_MIN)}, "-9223372036854775808");
    assert_text((cg_str){out, num_write_i64(out, INT64_MAX)}, "9223372036854775807");
    assert_text((cg_str){out, num_write_i64(out, -1)}, "-1");
}

static void only_digits_within_64_bits_are_read(void **state)
{
    const char *bad[] = {"",
                         "-1",
                         "+1",
                         " 1",
                         "1 ",
                         "1.0",
                         "0x1",
                         "18446744073709551616",
                         "99999999999999999999",
                         "\xD9\xA1"};
    uint64_t value = 5;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(num_read_u64(str_from(bad[i]), &value));
    assert_int_equal(value, 5);
    assert_true(num_read_u64(CG_LIT("18446744073709551615"), &value));
    assert_true(value == UINT64_MAX);
    assert_true(num_read_u64(CG_LIT("007"), &value));
    assert_int_equal(value, 7);
}

static void arithmetic_never_wraps(void **state)
{
    size_t result = 5;

    (void)state;
    assert_true(num_sat_add(UINT64_MAX, 1) == UINT64_MAX);
    assert_int_equal(num_sat_sub(1, 2), 0);
    assert_true(num_sat_mul(UINT64_MAX, 2) == UINT64_MAX);
    assert_true(num_sat_mul(UINT64_C(1) << 32, UINT64_C(1) << 32) == UINT64_MAX);
    assert_true(num_sat_mul(UINT64_MAX, 1) == UINT64_MAX);
    assert_int_equal(num_sat_mul(0, UINT64_MAX), 0);
    assert_false(num_add(SIZE_MAX, 1, &result));
    assert_false(num_mul(SIZE_MAX / 2 + 1, 2, &result));
    assert_int_equal(result, 5);
    assert_true(num_add(SIZE_MAX - 1, 1, &result));
    assert_true(num_mul(SIZE_MAX / 2, 2, &result));
}

static void wide_products_keep_every_bit(void **state)
{
    uint64_t high = 0;

    (void)state;
    assert_true(num_mul_wide(UINT64_MAX, UINT64_MAX, &high) == 1 && high == UINT64_MAX - 1);
    assert_true(num_mul_wide(UINT64_C(0x123456789abcdef0), UINT64_C(0xfedcba9876543210), &high) ==
                UINT64_C(0x236d88fe5618cf00));
    assert_true(high == UINT64_C(0x121fa00ad77d7422));
    assert_true(num_mul_wide(UINT64_C(1) << 32, UINT64_C(1) << 32, &high) == 0 && high == 1);
}

static void doubles_have_the_spelling_of_the_wire(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.0, "1.0"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {0.3, "0.3"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1e-5, "0.00001"},
        {1.25e-5, "0.0000125"},
        {1e-6, "1e-6"},
        {9.99e-6, "9.99e-6"},
        {1e15, "1000000000000000.0"},
        {9007199254740991.0, "9007199254740991.0"},
        {9007199254740992.0, "9007199254740992.0"},
        {1e16, "1e+16"},
        {123456789012345678.0, "1.2345678901234568e+17"},
        {1e22, "1e+22"},
        {1e23, "1e+23"},
        {9e15, "9000000000000000.0"},
        {1234567890123456.0, "1234567890123456.0"},
        {123456789012345.6, "123456789012345.6"},
        {5e-324, "5e-324"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {-DBL_MAX, "-1.7976931348623157e+308"},
        {2.225073858507201e-308, "2.225073858507201e-308"},
        {100.0, "100.0"},
        {1e100, "1e+100"},
        {3.141592653589793, "3.141592653589793"},
        {9.5367431640625e-7, "9.5367431640625e-7"},
        {0x1p-44, "5.684341886080802e-14"},
        {0x1p-1074 * 3, "1.5e-323"},
        {9.007199254740993e15, "9007199254740992.0"},
        {2e-44, "2e-44"},
        {1.7800590868057611e-307, "1.7800590868057611e-307"},
        {2.8480945388892178e-306, "2.848094538889218e-306"},
        {4.708356024711512e18, "4.708356024711512e+18"},
        {9.409340012568248e18, "9.409340012568248e+18"},
    };
    char out[NUM_F64_ROOM];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_text((cg_str){out, num_write_f64(out, cases[i].value)}, cases[i].text);
}

/* The significant digits of a number as text, without zeros on both sides. */
static cg_str take_digits(cg_str text, char out[64])
{
    cg_str digits = {out, 0};

    for (size_t i = 0; i < text.len && text.ptr[i] != 'e'; i++)
        if (text.ptr[i] >= '0' && text.ptr[i] <= '9')
            out[digits.len++] = text.ptr[i];
    while (digits.len > 1 && digits.ptr[digits.len - 1] == '0')
        digits.len--;
    while (digits.len > 1 && digits.ptr[0] == '0') {
        digits.ptr++;
        digits.len--;
    }
    return digits;
}

static int count_digits(cg_str text)
{
    char digits[64];

    return (int)take_digits(text, digits).len;
}

static bool is_same_digits(const char *left, const char *right)
{
    char digits[2][64];

    return str_equal(take_digits(str_from(left), digits[0]),
                     take_digits(str_from(right), digits[1]));
}

static double double_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Reads back; no text of fewer digits does; none of as many digits is nearer. */
static void check_double(double value)
{
    char out[NUM_F64_ROOM + 1];
    char rounded[64];
    char shorter[64];
    size_t len = num_write_f64(out, value);
    int digits;

    assert_true(len <= NUM_F64_ROOM);
    out[len] = '\0';
    if (strtod(out, NULL) != value)
        fail_msg("%a was written as %s", value, out);
    digits = count_digits((cg_str){out, len});
    assert_true(digits <= 17);
    snprintf(rounded, sizeof rounded, "%.*e", digits - 1, value);
    if (strtod(rounded, NULL) == value && !is_same_digits(rounded, out))
        fail_msg("%a was written as %s, but %s is nearer", value, out, rounded);
    if (digits > 1) {
        snprintf(shorter, sizeof shorter, "%.*e", digits - 2, value);
        if (strtod(shorter, NULL) == value)
            fail_msg("%a was written as %s, but %s is shorter", value, out, shorter);
    }
}

static void random_doubles_read_back_from_the_shortest_text(void **state)
{
    uint64_t seed = 99;

    (void)state;
    for (unsigned i = 0; i < 300000; i++) {
        uint64_t bits = test_random(&seed);
        double value = double_of(bits);

        if (isfinite(value))
            check_double(value);
        if (i % 4 == 0) /* subnormal */
            check_double(double_of(bits & UINT64_C(0x800FFFFFFFFFFFFF) >> (bits >> 58)));
        if (i % 4 == 1) /* few decimals */
            check_double((double)(int64_t)(bits >> 40) / 1000.0);
        if (i % 4 == 2) /* the middle of the range */
            check_double((double)(bits >> 11) * 0x1p-53);
        if (i % 4 == 3) /* integers about 2^53 */
            check_double((double)(bits >> (bits & 15)));
    }
}

static void borders_read_back_from_the_shortest_text(void **state)
{
    (void)state;
    for (uint64_t exponent = 0; exponent < 2047; exponent++) {
        for (uint64_t step = 0; step < 3; step++) {
            check_double(double_of((exponent << 52) + step));
            if (exponent > 0)
                check_double(double_of((exponent << 52) - 1 - step));
        }
    }
    for (int exponent = -324; exponent <= 308; exponent++) {
        char text[32];
        double power;

        snprintf(text, sizeof text, "1e%d", exponent);
        power = strtod(text, NULL);
        check_double(power);
        check_double(nextafter(power, 0));
        check_double(nextafter(power, INFINITY));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_written_plainly),
        cmocka_unit_test(only_digits_within_64_bits_are_read),
        cmocka_unit_test(arithmetic_never_wraps),
        cmocka_unit_test(wide_products_keep_every_bit),
        cmocka_unit_test(doubles_have_the_spelling_of_the_wire),
        cmocka_unit_test(random_doubles_read_back_from_the_shortest_text),
        cmocka_unit_test(borders_read_back_from_the_shortest_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
