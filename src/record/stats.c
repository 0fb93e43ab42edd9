#include "record/stats.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define BLOCK     512u
#define RANK_MOST 64u

typedef struct element_type {
    const char *name;
    uint32_t bytes;
} element_type;

static const element_type element_types[] = {
    [CG_RECORD_F32] = {"f32", 4},   [CG_RECORD_F64] = {"f64", 8}, [CG_RECORD_F16] = {"f16", 2},
    [CG_RECORD_BF16] = {"bf16", 2}, [CG_RECORD_I8] = {"i8", 1},   [CG_RECORD_U8] = {"u8", 1},
    [CG_RECORD_I16] = {"i16", 2},   [CG_RECORD_U16] = {"u16", 2}, [CG_RECORD_I32] = {"i32", 4},
    [CG_RECORD_U32] = {"u32", 4},   [CG_RECORD_I64] = {"i64", 8}, [CG_RECORD_U64] = {"u64", 8},
    [CG_RECORD_BOOL] = {"bool", 1}};

#define TYPE_COUNT (sizeof element_types / sizeof *element_types)

const char *stats_type_name(uint32_t type)
{
    return type < TYPE_COUNT ? element_types[type].name : NULL;
}

static double half_value(uint16_t bits)
{
    unsigned exponent = bits >> 10 & 31u;
    double fraction = bits & 1023u;
    double value = exponent == 31  ? (fraction == 0 ? (double)INFINITY : (double)NAN)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(fraction + 1024, (int)exponent - 25);

    return (bits & 0x8000u) != 0 ? -value : value;
}

static double bfloat_value(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;

    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

/* `count` elements `stride` apart as doubles. Views need not be aligned. */
#define LOAD(type, convert)                                                                        \
    for (size_t i = 0; i < count; i++, at += step) {                                               \
        type value;                                                                                \
        memcpy(&value, at, sizeof value);                                                          \
        to[i] = convert(value);                                                                    \
    }                                                                                              \
    break
#define AS_IS(value)   ((double)(value))
#define AS_BOOL(value) ((value) != 0 ? 1.0 : 0.0)

static void load(double *to, const char *at, uint32_t type, int64_t stride, size_t count)
{
    ptrdiff_t step = (ptrdiff_t)(stride * (int64_t)element_types[type].bytes);

    switch (type) {
    case CG_RECORD_F32: LOAD(float, AS_IS);
    case CG_RECORD_F64: LOAD(double, AS_IS);
    case CG_RECORD_F16: LOAD(uint16_t, half_value);
    case CG_RECORD_BF16: LOAD(uint16_t, bfloat_value);
    case CG_RECORD_I8: LOAD(int8_t, AS_IS);
    case CG_RECORD_U8: LOAD(uint8_t, AS_IS);
    case CG_RECORD_I16: LOAD(int16_t, AS_IS);
    case CG_RECORD_U16: LOAD(uint16_t, AS_IS);
    case CG_RECORD_I32: LOAD(int32_t, AS_IS);
    case CG_RECORD_U32: LOAD(uint32_t, AS_IS);
    case CG_RECORD_I64: LOAD(int64_t, AS_IS);
    case CG_RECORD_U64: LOAD(uint64_t, AS_IS);
    case CG_RECORD_BOOL: LOAD(uint8_t, AS_BOOL);
    default: break;
    }
}

typedef struct total {
    int exponent; /* sums are in units of 2^exponent (and its square) */
    double sum, sum_error;
    double squares, squares_error;
    double abs_max;
    uint64_t finite, non_finite;
} total;

/* Neumaier: what the addition lost is kept apart. */
static void add_to(double *sum, double *error, double value)
{
    double next = *sum + value;

    *error += fabs(*sum) >= fabs(value) ? (*sum - next) + value : (value - next) + *sum;
    *sum = next;
}

static void rescale(total *self, double largest)
{
    int exponent = 0;

    frexp(largest, &exponent);
    exponent = exponent < -1000 ? -1000 : exponent; /* its inverse must be finite */
    if (exponent <= self->exponent) {
        return;
    }
    /* By powers of two: exact, but for what is too small to count beside `largest`. */
    int by = self->exponent - exponent;
    self->sum = ldexp(self->sum, by);
    self->sum_error = ldexp(self->sum_error, by);
    self->squares = ldexp(self->squares, 2 * by);
    self->squares_error = ldexp(self->squares_error, 2 * by);
    self->exponent = exponent;
}

static void add_block(total *self, double *values, size_t count)
{
    double largest = 0;
    double sum = 0;
    double squares = 0;

    for (size_t i = 0; i < count; i++) {
        bool is_finite = isfinite(values[i]);

        self->non_finite += !is_finite;
        values[i] = is_finite ? values[i] : 0;
        largest = fmax(largest, fabs(values[i]));
    }
    self->finite += count;
    if (largest == 0) {
        return;
    }
    self->abs_max = fmax(self->abs_max, largest);
    rescale(self, largest);
    double factor = ldexp(1, -self->exponent);
    for (size_t i = 0; i < count; i++) {
        double scaled = values[i] * factor;

        sum += scaled;
        squares += scaled * scaled;
    }
    add_to(&self->sum, &self->sum_error, sum);
    add_to(&self->squares, &self->squares_error, squares);
}

static bool is_view(const cg_record_view *view)
{
    bool is_empty = false;

    if (view == NULL || view->size < sizeof *view || view->type >= TYPE_COUNT ||
        view->rank > RANK_MOST || (view->rank > 0 && view->shape == NULL)) {
        return false;
    }
    uint64_t elements = 1;
    for (uint32_t i = 0; i < view->rank; i++) {
        if (view->shape[i] != 0 && elements > (UINT64_C(1) << 60) / view->shape[i]) {
            return false;
        }
        is_empty |= view->shape[i] == 0;
        elements *= view->shape[i] == 0 ? 1 : view->shape[i];
    }
    return is_empty || view->data != NULL;
}

/* One row of the last axis, in blocks. */
static void add_row(total *self, const cg_record_view *view, const char *at, int64_t stride,
                    uint64_t count)
{
    double values[BLOCK];
    ptrdiff_t bytes = (ptrdiff_t)element_types[view->type].bytes;

    while (count > 0) {
        size_t part = count < BLOCK ? (size_t)count : BLOCK;

        load(values, at, view->type, stride, part);
        add_block(self, values, part);
        at += (ptrdiff_t)stride * (ptrdiff_t)part * bytes;
        count -= part;
    }
}

/* All rows but the last axis counted through like the digits of a number. */
static void add_all(total *self, const cg_record_view *view)
{
    int64_t strides[RANK_MOST];
    uint64_t index[RANK_MOST] = {0};
    const char *at = view->data;
    int64_t bytes = element_types[view->type].bytes;
    uint32_t rank = view->rank;
    int64_t next = 1;

    for (uint32_t i = rank; i-- > 0;) {
        strides[i] = view->strides != NULL ? view->strides[i] : next;
        next *= (int64_t)view->shape[i];
    }
    if (rank == 0) {
        add_row(self, view, at, 1, 1);
        return;
    }
    for (;;) {
        uint32_t axis = rank - 1;

        add_row(self, view, at, strides[axis], view->shape[axis]);
        do {
            if (axis == 0) {
                return;
            }
            axis--;
            index[axis]++;
            at += strides[axis] * bytes;
            if (index[axis] < view->shape[axis]) {
                break;
            }
            at -= strides[axis] * bytes * (int64_t)view->shape[axis];
            index[axis] = 0;
        } while (true);
    }
}

bool stats_reduce(const cg_record_view *view, cg_record_stats *ret, double *ret_norm)
{
    total all = {.exponent = -1000};
    uint64_t elements = 1;
    double norm = 0;

    if (!is_view(view)) {
        return false;
    }
    for (uint32_t i = 0; i < view->rank; i++) {
        elements *= view->shape[i];
    }
    /* A contiguous view is one row, whatever its axes. */
    if (elements > 0 && view->strides == NULL) {
        add_row(&all, view, view->data, 1, elements);
    } else if (elements > 0) {
        add_all(&all, view);
    }
    *ret = (cg_record_stats){.elements = elements, .non_finite = all.non_finite};
    if (elements > 0 && all.non_finite == 0) {
        double count = (double)elements;
        double squares = all.squares + all.squares_error;

        norm = ldexp(sqrt(squares), all.exponent);
        ret->abs_max = all.abs_max;
        ret->rms = fmin(ldexp(sqrt(squares / count), all.exponent), all.abs_max);
        ret->mean = ldexp((all.sum + all.sum_error) / count, all.exponent);
        if (fabs(ret->mean) > all.abs_max) { /* the last rounding */
            ret->mean = copysign(all.abs_max, ret->mean);
        }
    }
    if (ret_norm != NULL) {
        /* A norm that is not 0 must not become 0, nor infinite. */
        *ret_norm = norm == 0 && ret->abs_max > 0 ? ret->abs_max : fmin(norm, DBL_MAX);
    }
    return true;
}
