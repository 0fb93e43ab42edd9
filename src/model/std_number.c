/* Numbers: handlers of std_functions.def. */
#include <math.h>

#include "base/num.h"
#include "model/std_handlers.h"
#include "model/std_text.h"

static expr number_of(const library_call *call, val which)
{
    return which == 0 ? EXPR_NONE : value_number(call->eval->values, which);
}

static expr self_number(const library_call *call)
{
    return number_of(call, call->receiver);
}

static bool known(const library_call *call, expr number, int64_t *ret)
{
    return number != EXPR_NONE && expr_constant(call->eval->exprs, number, ret);
}

static expr constant(const library_call *call, int64_t number)
{
    return expr_const(call->eval->exprs, number);
}

static expr combine(const library_call *call, enum expr_op op, expr a, expr b)
{
    return expr_binary(call->eval->exprs, op, a, b);
}

/* The sum, product, ... of the receiver and the argument. */
static cg_code give_combined(library_call *call, enum expr_op op)
{
    return std_give_number(call,
                           combine(call, op, self_number(call), number_of(call, std_arg(call, 0))));
}

static cg_code give_some_number(library_call *call, expr number)
{
    val made;

    if (number == EXPR_NONE)
        return unknown_perhaps(call);
    made = value_int(call->eval->values, number);
    return std_give(call, std_some(call->eval, made));
}

cg_code int_add(library_call *call)
{
    return give_combined(call, EXPR_ADD);
}

cg_code int_sub(library_call *call)
{
    return give_combined(call, EXPR_SUB);
}

cg_code int_mul(library_call *call)
{
    return give_combined(call, EXPR_MUL);
}

cg_code int_div(library_call *call)
{
    return give_combined(call, EXPR_DIV);
}

cg_code int_rem(library_call *call)
{
    return give_combined(call, EXPR_REM);
}

cg_code int_pow(library_call *call)
{
    return give_combined(call, EXPR_POW);
}

cg_code int_min(library_call *call)
{
    return give_combined(call, EXPR_MIN);
}

cg_code int_max(library_call *call)
{
    return give_combined(call, EXPR_MAX);
}

/* How many bits the type has, negative for signed ones; 0: not known. */
static int bits_of(const library_call *call, val which)
{
    static const struct {
        const char *name;
        int bits;
    } rows[] = {{"u8", 8},  {"u16", 16},  {"u32", 32},  {"u64", 64},  {"usize", 64},
                {"i8", -8}, {"i16", -16}, {"i32", -32}, {"i64", -64}, {"isize", -64}};
    cg_str name = std_type_path(call->eval, std_at(call, which)->type);

    for (size_t i = 0; name.ptr != NULL && i < sizeof rows / sizeof rows[0]; i++) {
        if (str_is(name, rows[i].name))
            return rows[i].bits;
    }
    return 0;
}

/* A known result where its type may be too small for it; false: what it becomes is not known. */
static bool fit(int bits, bool is_wrapping, int64_t *number)
{
    int count = bits < 0 ? -bits : bits;
    int64_t low = bits < 0 && count < 64 ? -(INT64_C(1) << (count - 1)) : 0;
    int64_t high = count < 64 ? (INT64_C(1) << (bits < 0 ? count - 1 : count)) - 1 : INT64_MAX;

    if (bits == 0)
        return *number >= 0 && *number <= INT32_MAX;
    if (count == 64)
        return bits < 0 || *number >= 0;
    if (*number >= low && *number <= high)
        return true;
    if (!is_wrapping) {
        *number = *number < low ? low : high;
        return true;
    }
    *number = (int64_t)((uint64_t)*number & ((UINT64_C(1) << count) - 1));
    if (*number > high)
        *number -= INT64_C(1) << count;
    return true;
}

/* wrapping_add, saturating_mul, ...: where the result is no number it is what the type makes it. */
cg_code int_wrapping(library_call *call)
{
    bool is_wrapping = str_starts_with(call->name, CG_LIT("wrapping"));
    cg_str name = call->name;
    enum expr_op op = str_ends_with(name, CG_LIT("add"))   ? EXPR_ADD
                      : str_ends_with(name, CG_LIT("sub")) ? EXPR_SUB
                      : str_ends_with(name, CG_LIT("mul")) ? EXPR_MUL
                                                           : EXPR_POW;
    int64_t left, right, number;
    expr result = combine(call, op, self_number(call), number_of(call, std_arg(call, 0)));

    if (!known(call, self_number(call), &left) ||
        !known(call, number_of(call, std_arg(call, 0)), &right))
        return std_give_number(call, result);
    if (!known(call, result, &number) || !fit(bits_of(call, call->receiver), is_wrapping, &number))
        return any_int(call);
    return std_give_number(call, constant(call, number));
}

/* The remainder that is not negative. */
cg_code int_rem_euclid(library_call *call)
{
    int64_t left = 0, right = 0;

    if (!known(call, self_number(call), &left) ||
        !known(call, number_of(call, std_arg(call, 0)), &right))
        return give_combined(call, EXPR_REM);
    if (right == 0 || right == -1)
        return right == 0 ? any_int(call) : std_give_number(call, constant(call, 0));
    left %= right;
    return std_give_number(call, constant(call, left >= 0   ? left
                                                : right > 0 ? left + right
                                                            : left - right));
}

cg_code int_checked_add(library_call *call)
{
    return give_some_number(
        call, combine(call, EXPR_ADD, self_number(call), number_of(call, std_arg(call, 0))));
}

cg_code int_checked_mul(library_call *call)
{
    return give_some_number(
        call, combine(call, EXPR_MUL, self_number(call), number_of(call, std_arg(call, 0))));
}

/* Only what is certain not to fail: known numbers. */
static cg_code give_checked(library_call *call, enum expr_op op)
{
    expr b = number_of(call, std_arg(call, 0));
    int64_t left = 0;
    int64_t right = 0;

    if (!known(call, self_number(call), &left) || !known(call, b, &right)) {
        expr result = combine(call, op, self_number(call), b);

        if (result == EXPR_NONE)
            return unknown_perhaps(call);
        return std_give(call, std_perhaps(call->eval, value_int(call->eval->values, result)));
    }
    if (op == EXPR_SUB ? left < right : right == 0)
        return std_give(call, std_plain(call->eval, VALUE_NOTHING));
    return give_some_number(call, combine(call, op, self_number(call), b));
}

cg_code int_checked_sub(library_call *call)
{
    return give_checked(call, EXPR_SUB);
}

cg_code int_checked_div(library_call *call)
{
    return give_checked(call, EXPR_DIV);
}

cg_code int_checked_rem(library_call *call)
{
    return give_checked(call, EXPR_REM);
}

cg_code int_saturating_sub(library_call *call)
{
    expr difference = combine(call, EXPR_SUB, self_number(call), number_of(call, std_arg(call, 0)));

    return std_give_number(call, combine(call, EXPR_MAX, difference, constant(call, 0)));
}

static expr divided_up(const library_call *call, expr a, expr b)
{
    expr over = combine(call, EXPR_SUB, combine(call, EXPR_ADD, a, b), constant(call, 1));

    return combine(call, EXPR_DIV, over, b);
}

cg_code int_div_ceil(library_call *call)
{
    return std_give_number(call,
                           divided_up(call, self_number(call), number_of(call, std_arg(call, 0))));
}

cg_code int_next_multiple_of(library_call *call)
{
    expr b = number_of(call, std_arg(call, 0));

    return std_give_number(call,
                           combine(call, EXPR_MUL, divided_up(call, self_number(call), b), b));
}

cg_code int_is_multiple_of(library_call *call)
{
    expr rest = combine(call, EXPR_REM, self_number(call), number_of(call, std_arg(call, 0)));
    int64_t left = 0;

    if (known(call, rest, &left))
        return std_give_bool(call, left == 0);
    return any_bool(call);
}

cg_code int_abs_diff(library_call *call)
{
    expr a = self_number(call);
    expr b = number_of(call, std_arg(call, 0));

    return std_give_number(call, combine(call, EXPR_MAX, combine(call, EXPR_SUB, a, b),
                                         combine(call, EXPR_SUB, b, a)));
}

cg_code int_clamp(library_call *call)
{
    expr low = combine(call, EXPR_MAX, self_number(call), number_of(call, std_arg(call, 0)));

    return std_give_number(call, combine(call, EXPR_MIN, low, number_of(call, std_arg(call, 1))));
}

cg_code int_abs(library_call *call)
{
    int64_t number = 0;

    if (known(call, self_number(call), &number) && number < 0)
        return std_give_number(call, combine(call, EXPR_SUB, constant(call, 0), self_number(call)));
    return std_give(call, call->receiver);
}

cg_code int_is_power_of_two(library_call *call)
{
    int64_t number = 0;

    if (!known(call, self_number(call), &number))
        return any_bool(call);
    return std_give_bool(call, number > 0 && (number & (number - 1)) == 0);
}

cg_code int_next_power_of_two(library_call *call)
{
    int64_t number = 0;
    int64_t power = 1;

    if (!known(call, self_number(call), &number) || number > INT64_C(1) << 62)
        return any_int(call);
    while (power < number)
        power *= 2;
    return std_give_number(call, constant(call, power));
}

cg_code int_ilog2(library_call *call)
{
    int64_t number = 0;
    int64_t power = 0;

    if (!known(call, self_number(call), &number) || number <= 0)
        return any_int(call);
    while (number >> (power + 1) > 0)
        power++;
    return std_give_number(call, constant(call, power));
}

cg_code int_isqrt(library_call *call)
{
    int64_t number = 0;
    int64_t root;

    if (!known(call, self_number(call), &number) || number < 0 || number > INT64_C(1) << 52)
        return any_int(call);
    root = (int64_t)sqrt((double)number);
    while (root * root > number)
        root--;
    while ((root + 1) * (root + 1) <= number)
        root++;
    return std_give_number(call, constant(call, root));
}

/* `usize::from(x)`, `u32::try_from(x)`. */
cg_code int_from(library_call *call)
{
    if (call->count != 1)
        return CG_OK;
    switch (std_kind(call, call->args[0])) {
    case VALUE_INT: return std_give(call, call->args[0]);
    case VALUE_BOOL:
        if (std_truth(call->eval, call->args[0]) >= 0)
            return std_give_number(call, constant(call, std_truth(call->eval, call->args[0])));
        return any_int(call);
    default: return any_int(call);
    }
}

/* --- floats --- */

static bool real_of(const library_call *call, val which, double *ret)
{
    const value *at;
    int64_t whole = 0;

    if (which == 0)
        return false;
    at = std_at(call, which);
    if (at->kind == VALUE_FLOAT && at->is_known) {
        *ret = at->as.real;
        return true;
    }
    if (at->kind == VALUE_INT && known(call, value_number(call->eval->values, which), &whole)) {
        *ret = (double)whole;
        return true;
    }
    return false;
}

static cg_code give_real(library_call *call, double real)
{
    return std_give(call, std_float(call->eval, real));
}

/* A function of one number; names are those of C where Rust's differ. */
cg_code float_function(library_call *call)
{
    static const struct {
        const char *name;
        double (*run)(double);
    } functions[] = {
        {"sqrt", sqrt},   {"cbrt", cbrt},   {"exp", exp},   {"exp2", exp2},   {"exp_m1", expm1},
        {"ln", log},      {"ln_1p", log1p}, {"log2", log2}, {"log10", log10}, {"sin", sin},
        {"cos", cos},     {"tan", tan},     {"asin", asin}, {"acos", acos},   {"atan", atan},
        {"sinh", sinh},   {"cosh", cosh},   {"tanh", tanh}, {"floor", floor}, {"ceil", ceil},
        {"round", round}, {"trunc", trunc}, {"abs", fabs},
    };
    double x = 0;

    if (!real_of(call, call->receiver, &x))
        return any_float(call);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (str_is(call->name, functions[i].name))
            return give_real(call, functions[i].run(x));
    }
    if (str_equal(call->name, CG_LIT("recip")))
        return give_real(call, 1.0 / x);
    if (str_equal(call->name, CG_LIT("fract")))
        return give_real(call, x - trunc(x));
    if (str_equal(call->name, CG_LIT("signum")))
        return give_real(call, signbit(x) ? -1.0 : 1.0);
    return any_float(call);
}

cg_code float_function2(library_call *call)
{
    double x = 0;
    double y = 0;

    if (!real_of(call, call->receiver, &x) || !real_of(call, std_arg(call, 0), &y))
        return any_float(call);
    if (str_equal(call->name, CG_LIT("powi")) || str_equal(call->name, CG_LIT("powf")))
        return give_real(call, pow(x, y));
    if (str_equal(call->name, CG_LIT("min")))
        return give_real(call, fmin(x, y));
    if (str_equal(call->name, CG_LIT("max")))
        return give_real(call, fmax(x, y));
    if (str_equal(call->name, CG_LIT("log")))
        return give_real(call, log(x) / log(y));
    if (str_equal(call->name, CG_LIT("atan2")))
        return give_real(call, atan2(x, y));
    if (str_equal(call->name, CG_LIT("hypot")))
        return give_real(call, hypot(x, y));
    return any_float(call);
}

cg_code float_clamp(library_call *call)
{
    double x = 0;
    double low = 0;
    double high = 0;

    if (!real_of(call, call->receiver, &x) || !real_of(call, std_arg(call, 0), &low) ||
        !real_of(call, std_arg(call, 1), &high))
        return any_float(call);
    return give_real(call, fmin(fmax(x, low), high));
}

cg_code float_mul_add(library_call *call)
{
    double x = 0;
    double a = 0;
    double b = 0;

    if (!real_of(call, call->receiver, &x) || !real_of(call, std_arg(call, 0), &a) ||
        !real_of(call, std_arg(call, 1), &b))
        return any_float(call);
    return give_real(call, fma(x, a, b));
}

cg_code float_is_nan(library_call *call)
{
    double x = 0;

    return real_of(call, call->receiver, &x) ? std_give_bool(call, isnan(x)) : any_bool(call);
}

cg_code float_is_finite(library_call *call)
{
    double x = 0;

    return real_of(call, call->receiver, &x) ? std_give_bool(call, isfinite(x)) : any_bool(call);
}

cg_code float_from(library_call *call)
{
    double x = 0;

    return real_of(call, std_arg(call, 0), &x) ? give_real(call, x) : any_float(call);
}

/* --- std::cmp --- */

static cg_code give_extreme(library_call *call, enum expr_op op)
{
    double a = 0;
    double b = 0;
    expr number =
        combine(call, op, number_of(call, std_arg(call, 0)), number_of(call, std_arg(call, 1)));

    if (number != EXPR_NONE)
        return std_give_number(call, number);
    if (real_of(call, std_arg(call, 0), &a) && real_of(call, std_arg(call, 1), &b))
        return give_real(call, op == EXPR_MIN ? fmin(a, b) : fmax(a, b));
    return std_give_opaque(call, VALUE_INT, 0);
}

cg_code compare_min(library_call *call)
{
    return give_extreme(call, EXPR_MIN);
}

cg_code compare_max(library_call *call)
{
    return give_extreme(call, EXPR_MAX);
}
