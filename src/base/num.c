#include "base/num.h"

#include <math.h>

static const char num_pairs[] = "00010203040506070809"
                                "10111213141516171819"
                                "20212223242526272829"
                                "30313233343536373839"
                                "40414243444546474849"
                                "50515253545556575859"
                                "60616263646566676869"
                                "70717273747576777879"
                                "80818283848586878889"
                                "90919293949596979899";

size_t num_write_u64(char *out, uint64_t value)
{
    char digits[NUM_U64_ROOM];
    size_t at = sizeof digits;
    size_t len;

    if (value < 10) {
        out[0] = (char)('0' + value);
        return 1;
    }
    while (value >= 100) {
        at -= 2;
        memcpy(digits + at, num_pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10) {
        at -= 2;
        memcpy(digits + at, num_pairs + value * 2, 2);
    } else {
        digits[--at] = (char)('0' + value);
    }
    len = sizeof digits - at;
    memcpy(out, digits + at, len);
    return len;
}

size_t num_write_i64(char *out, int64_t value)
{
    if (value >= 0)
        return num_write_u64(out, (uint64_t)value);
    out[0] = '-';
    return 1 + num_write_u64(out + 1, -(uint64_t)value);
}

bool num_read_u64(cg_str text, uint64_t *ret)
{
    uint64_t value = 0;

    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        uint64_t digit = (uint64_t)(unsigned char)text.ptr[i] - '0';

        if (digit > 9 || value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *ret = value;
    return true;
}

uint64_t num_sat_mul(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

bool num_add(size_t a, size_t b, size_t *ret)
{
    if (a > SIZE_MAX - b)
        return false;
    *ret = a + b;
    return true;
}

bool num_mul(size_t a, size_t b, size_t *ret)
{
    if (b != 0 && a > SIZE_MAX / b)
        return false;
    *ret = a * b;
    return true;
}

/*
 * --- doubles: the method of Raffaello Giulietti, "The Schubfach way to render doubles" (2021) ---
 */

#define POWERS_FIRST (-297)
#define POWERS_STEP  27

/* 10^k for k = -297, -270 ... 324: 192 bits from the highest one bit on, cut off. */
static const uint64_t num_powers[][3] = {
    {UINT64_C(0xa76c582338ed2621), UINT64_C(0xaf2af2b80af6f24e), UINT64_C(0x657c8f4d43323a36)},
    {UINT64_C(0x873e4f75e2224e68), UINT64_C(0x5a7744a6e804a291), UINT64_C(0xcc35eddfcf0996d7)},
    {UINT64_C(0xda7f5bf590966848), UINT64_C(0xaf39a475506a899e), UINT64_C(0xa30294cc2934e662)},
    {UINT64_C(0xb080392cc4349dec), UINT64_C(0xbd8d794d96aacfb3), UINT64_C(0xfe13a5c86af64418)},
    {UINT64_C(0x8e938662882af53e), UINT64_C(0x547eb47b7282ee9c), UINT64_C(0x41b0230e1421487d)},
    {UINT64_C(0xe65829b3046b0afa), UINT64_C(0x0cb4a5a3112a5112), UINT64_C(0xa3b561b1cb208396)},
    {UINT64_C(0xba121a4650e4ddeb), UINT64_C(0x92f34d62616ce413), UINT64_C(0x21a0183e10583cd3)},
    {UINT64_C(0x964e858c91ba2655), UINT64_C(0x3a6a07f8d510f86f), UINT64_C(0xe9082f25e9c5e9ec)},
    {UINT64_C(0xf2d56790ab41c2a2), UINT64_C(0xfae27299423fb9c3), UINT64_C(0x3695dad7e8858901)},
    {UINT64_C(0xc428d05aa4751e4c), UINT64_C(0xaa97e14c3c26b886), UINT64_C(0x96842dc95323f5a8)},
    {UINT64_C(0x9e74d1b791e07e48), UINT64_C(0x775ea264cf55347d), UINT64_C(0xca49f1c05120c9c7)},
    {UINT64_C(0x8000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)},
    {UINT64_C(0xcecb8f27f4200f3a), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)},
    {UINT64_C(0xa70c3c40a64e6c51), UINT64_C(0x999090b65f67d924), UINT64_C(0x0000000000000000)},
    {UINT64_C(0x86f0ac99b4e8dafd), UINT64_C(0x69a028bb3ded71a3), UINT64_C(0xdf9f915627c04e28)},
    {UINT64_C(0xda01ee641a708de9), UINT64_C(0xe80e6f4820cc9495), UINT64_C(0xd74baad03bc1d8d3)},
    {UINT64_C(0xb01ae745b101e9e4), UINT64_C(0x5ec05dcff72e7f8f), UINT64_C(0xc04c79ffe324301f)},
    {UINT64_C(0x8e41ade9fbebc27d), UINT64_C(0x14588f13be847307), UINT64_C(0x23bd6a2059c002f5)},
    {UINT64_C(0xe5d3ef282a242e81), UINT64_C(0x8f1668c8a86da5fa), UINT64_C(0xf0b5ccf5176ecc7c)},
    {UINT64_C(0xb9a74a0637ce2ee1), UINT64_C(0x6d953e2bd7173692), UINT64_C(0x88efb0037ac08bde)},
    {UINT64_C(0x95f83d0a1fb69cd9), UINT64_C(0x4abdaf101564f98e), UINT64_C(0x0d5a4af7b3a98e47)},
    {UINT64_C(0xf24a01a73cf2dccf), UINT64_C(0xbc633b39673c8cec), UINT64_C(0x3d9c44cd2f36917c)},
    {UINT64_C(0xc3b8358109e84f07), UINT64_C(0x0a862f80ec4700c8), UINT64_C(0x02606ea01029dc37)},
    {UINT64_C(0x9e19db92b4e31ba9), UINT64_C(0x6c07a2c26a8346d1), UINT64_C(0x4944d9f52cd0dec2)},
};

/* 5^k */
static const uint64_t num_fives[POWERS_STEP] = {
    1,
    5,
    25,
    125,
    625,
    3125,
    15625,
    78125,
    390625,
    1953125,
    9765625,
    48828125,
    244140625,
    1220703125,
    UINT64_C(6103515625),
    UINT64_C(30517578125),
    UINT64_C(152587890625),
    UINT64_C(762939453125),
    UINT64_C(3814697265625),
    UINT64_C(19073486328125),
    UINT64_C(95367431640625),
    UINT64_C(476837158203125),
    UINT64_C(2384185791015625),
    UINT64_C(11920928955078125),
    UINT64_C(59604644775390625),
    UINT64_C(298023223876953125),
    UINT64_C(1490116119384765625),
};

typedef struct power {
    uint64_t high, low;
} power;

/* floor(log2(10^k)) for |k| < 1233 */
static int log2_of_power(int k)
{
    /* The shift of a negative number rounds down, as every compiler we know does it. */
    return (int)((int64_t)k * 1741647 >> 19);
}

/* floor(log10(2^e)), or of 3/4 of it, for |e| < 1500 */
static int log10_of_binary(int e, bool is_three_quarters)
{
    return (int)(((int64_t)e * 1262611 - (is_three_quarters ? 524031 : 0)) >> 22);
}

/*
 * 128 bits of 10^k from the highest one bit on, rounded up: the nearest stored power below times a
 * power of five. 192 bits make every k from -292 to 324 exact, which was checked one by one.
 */
static power power_of_ten(int k)
{
    int index = (k - POWERS_FIRST) / POWERS_STEP;
    int stored = index * POWERS_STEP + POWERS_FIRST;
    const uint64_t *words = num_powers[index];
    int shift = log2_of_power(k) - log2_of_power(stored) - (k - stored);
    uint64_t product[4] = {0};
    bool has_more;
    power ret;

    if (k == stored) {
        ret = (power){words[0], words[1]};
        has_more = words[2] != 0;
    } else {
        for (int i = 0; i < 3; i++) {
            uint64_t high;
            uint64_t low = num_mul_wide(words[2 - i], num_fives[k - stored], &high);

            product[i] += low;
            product[i + 1] = high + (product[i] < low);
        }
        ret.high = product[3] << (64 - shift) | product[2] >> shift;
        ret.low = product[2] << (64 - shift) | product[1] >> shift;
        has_more = (product[1] << (64 - shift) | product[0]) != 0;
    }
    ret.low += has_more;
    ret.high += has_more && ret.low == 0;
    return ret;
}

/* Upper 64 bits of the product; the lowest bit also stands for everything that is cut off. */
static uint64_t round_to_odd(power factor, uint64_t value)
{
    uint64_t carried;
    uint64_t high;
    uint64_t low = num_mul_wide(factor.high, value, &high);

    num_mul_wide(factor.low, value, &carried);
    low += carried;
    high += low < carried;
    return high | (low > 1);
}

/* value = digits x 10^exponent with the fewest digits, of these the nearest. */
typedef struct decimal {
    uint64_t digits;
    int exponent;
} decimal;

/* `value` is finite and greater than zero. */
static decimal decimal_of(double value)
{
    uint64_t bits;
    uint64_t fraction;
    int biased;
    uint64_t c;
    int q;
    bool is_lower_closer;
    bool is_odd;
    int k;
    int h;
    power factor;
    uint64_t lower;
    uint64_t exact;
    uint64_t upper;
    uint64_t s;

    memcpy(&bits, &value, sizeof bits);
    fraction = bits & ((UINT64_C(1) << 52) - 1);
    biased = (int)(bits >> 52);
    c = biased != 0 ? fraction | UINT64_C(1) << 52 : fraction;
    q = (biased != 0 ? biased : 1) - 1075;
    is_lower_closer = fraction == 0 && biased > 1;
    is_odd = (c & 1) != 0;

    /* Four times the value and the borders of what reads back as it, in units of 10^k. */
    k = log10_of_binary(q, is_lower_closer);
    h = q + log2_of_power(-k) + 1;
    factor = power_of_ten(-k);
    lower = round_to_odd(factor, (4 * c - 2 + is_lower_closer) << h) + is_odd;
    exact = round_to_odd(factor, (4 * c) << h);
    upper = round_to_odd(factor, (4 * c + 2) << h) - is_odd;
    s = exact / 4;

    if (s >= 10) {
        uint64_t tens = s / 10;
        bool is_low_inside = lower <= 40 * tens;
        bool is_high_inside = 40 * tens + 40 <= upper;

        if (is_low_inside != is_high_inside)
            return (decimal){tens + is_high_inside, k + 1};
    }
    {
        bool is_low_inside = lower <= 4 * s;
        bool is_high_inside = 4 * s + 4 <= upper;
        uint64_t middle = 4 * s + 2;

        if (is_low_inside != is_high_inside)
            return (decimal){s + is_high_inside, k};
        return (decimal){s + (exact > middle || (exact == middle && (s & 1) != 0)), k};
    }
}

size_t num_write_f64(char *out, double value)
{
    decimal number;
    char digits[NUM_U64_ROOM];
    int count;
    int exponent;
    size_t len = 0;

    if (signbit(value)) {
        out[len++] = '-';
        value = -value;
    }
    if (value == 0) {
        memcpy(out + len, "0.0", 3);
        return len + 3;
    }
    number = decimal_of(value);
    if (number.digits % 100000000 == 0) {
        number.digits /= 100000000;
        number.exponent += 8;
    }
    count = (int)num_write_u64(digits, number.digits);
    exponent = number.exponent + count - 1;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    if (exponent < -5 || exponent > 15) {
        out[len++] = digits[0];
        if (count > 1) {
            out[len++] = '.';
            memcpy(out + len, digits + 1, (size_t)count - 1);
            len += (size_t)count - 1;
        }
        out[len++] = 'e';
        if (exponent > 0)
            out[len++] = '+';
        return len + num_write_i64(out + len, exponent);
    }
    if (exponent < 0) {
        memcpy(out + len, "0.0000", 6);
        len += 1 + (size_t)-exponent;
        memcpy(out + len, digits, (size_t)count);
        return len + (size_t)count;
    }
    for (int i = 0; i < count || i <= exponent; i++) {
        out[len++] = i < count ? digits[i] : '0';
        if (i == exponent && i + 1 < count)
            out[len++] = '.';
    }
    if (count <= exponent + 1) {
        memcpy(out + len, ".0", 2);
        len += 2;
    }
    return len;
}
