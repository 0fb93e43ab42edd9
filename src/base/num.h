/*
 * num - integers and doubles as text and back, and arithmetic that never wraps.
 *
 * Writers append to a caller's buffer and return the number of bytes.
 */
#ifndef CG_BASE_NUM_H
#define CG_BASE_NUM_H

#include "base/str.h"

#define NUM_U64_ROOM 20
#define NUM_F64_ROOM 32

size_t num_write_u64(char *out, uint64_t value);
size_t num_write_i64(char *out, int64_t value);

/*
 * The shortest decimal that reads back as `value` (finite). With the decimal
 * exponent E of d.ddd x 10^E: -5 <= E <= 15 is written plain, integers with
 * `.0`; else scientific with a sign on positive exponents: 1e+16, 5e-324
 * (docs/schemas/trace.md, values). -0.0 is "-0.0".
 */
size_t num_write_f64(char *out, double value);

/* Decimal digits only, no sign, no spaces; false on anything else or overflow. */
bool num_read_u64(cg_str text, uint64_t *ret);

static inline uint64_t num_sat_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline uint64_t num_sat_sub(uint64_t a, uint64_t b)
{
    return a < b ? 0 : a - b;
}

/* The lower half of the product; *ret_high is the upper one. */
static inline uint64_t num_mul_wide(uint64_t a, uint64_t b, uint64_t *ret_high)
{
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;

    *ret_high = (uint64_t)(product >> 64);
    return (uint64_t)product;
#else
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
    uint64_t left = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
    uint64_t right = (a & UINT32_MAX) * (b >> 32) + (left & UINT32_MAX);

    *ret_high = (a >> 32) * (b >> 32) + (left >> 32) + (right >> 32);
    return right << 32 | (low & UINT32_MAX);
#endif
}

uint64_t num_sat_mul(uint64_t a, uint64_t b);

/* false on overflow, *ret is then unchanged */
bool num_add(size_t a, size_t b, size_t *ret);
bool num_mul(size_t a, size_t b, size_t *ret);

#endif
