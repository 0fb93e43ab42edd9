#include "compare/statistics.h"

#include <math.h>

#include "exec/columns.h"

#define DRIFT_SAMPLES 1000 /* pairs of them are looked at */

/* --- orders --- */

/* The items of `size` bytes at `values`, rearranged so that keys ascend. */
static bool rearrange(heap *from, void *values, size_t count, size_t size, const uint64_t *keys)
{
    uint32_t *order = column_take(from, count, sizeof *order);
    char *copy = column_take(from, count, size);
    bool is_done = order != NULL && copy != NULL;

    if (is_done) {
        for (size_t i = 0; i < count; i++)
            order[i] = (uint32_t)i;
        is_done = column_sort(from, order, count, keys);
    }
    if (is_done) {
        memcpy(copy, values, count * size);
        for (size_t i = 0; i < count; i++)
            memcpy((char *)values + i * size, copy + order[i] * size, size);
    }
    column_free(from, order, count, sizeof *order);
    column_free(from, copy, count, size);
    return is_done;
}

bool sample_sort(heap *from, uint64_t *samples, size_t count)
{
    uint64_t *keys = column_take(from, count, sizeof *keys);
    bool is_done = keys != NULL;

    if (is_done && count > 0) {
        memcpy(keys, samples, count * sizeof *keys);
        is_done = rearrange(from, samples, count, sizeof *samples, keys);
    }
    column_free(from, keys, count, sizeof *keys);
    return is_done;
}

bool delta_sort(heap *from, delta *deltas, size_t count)
{
    uint64_t *keys = column_take(from, count, sizeof *keys);
    bool is_done = keys != NULL;
    size_t negatives = 0;

    /* Two passes of a stable sort: by size, mirrored below zero; then by sign. */
    for (size_t i = 0; is_done && i < count; i++) {
        keys[i] = deltas[i].is_negative ? ~deltas[i].size : deltas[i].size;
        negatives += deltas[i].is_negative;
    }
    is_done = is_done && (count == 0 || rearrange(from, deltas, count, sizeof *deltas, keys));
    if (is_done && negatives > 0 && negatives < count) {
        for (size_t i = 0; i < count; i++)
            keys[i] = !deltas[i].is_negative;
        is_done = rearrange(from, deltas, count, sizeof *deltas, keys);
    }
    column_free(from, keys, count, sizeof *keys);
    return is_done;
}

bool double_sort(heap *from, double *values, size_t count)
{
    uint64_t *keys = column_take(from, count, sizeof *keys);
    bool is_done = keys != NULL;

    for (size_t i = 0; is_done && i < count; i++) {
        memcpy(&keys[i], &values[i], sizeof keys[i]);
        keys[i] ^= keys[i] >> 63 != 0 ? UINT64_MAX : UINT64_C(1) << 63;
    }
    is_done = is_done && (count == 0 || rearrange(from, values, count, sizeof *values, keys));
    column_free(from, keys, count, sizeof *keys);
    return is_done;
}

/* --- samples --- */

double sample_percentile(const uint64_t *sorted, size_t count, double q)
{
    double place;
    double weight;
    size_t low;
    size_t high;

    if (count == 0)
        return 0;
    place = q * (double)(count - 1);
    low = (size_t)floor(place);
    high = (size_t)ceil(place);
    weight = place - (double)low;
    return (double)sorted[low] * (1.0 - weight) + (double)sorted[high] * weight;
}

void sample_middle(const uint64_t *sorted, size_t count, uint64_t ret[2])
{
    ret[0] = count > 0 ? sorted[(count - 1) / 2] : 0;
    ret[1] = count > 0 ? sorted[count / 2] : 0;
}

/* To the nearest integer, halves up (away from zero), saturating. */
static uint64_t rounded(double value)
{
    double below = floor(value);
    double whole = value - below < 0.5 ? below : below + 1;

    return whole >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)whole;
}

bool sample_describe(heap *from, const uint64_t *samples, size_t count, sample_statistics *ret)
{
    uint64_t *sorted;
    uint64_t middle;
    double sum = 0;
    bool is_done;

    *ret = (sample_statistics){0};
    if (count == 0)
        return true;
    sorted = column_take(from, count, sizeof *sorted);
    if (sorted == NULL)
        return false;
    memcpy(sorted, samples, count * sizeof *sorted);
    is_done = sample_sort(from, sorted, count);
    if (is_done) {
        ret->median_ns = sample_percentile(sorted, count, 0.5);
        ret->p95_ns = sample_percentile(sorted, count, 0.95);
        ret->minimum_ns = sorted[0];
        ret->maximum_ns = sorted[count - 1];
        middle = rounded(ret->median_ns);
        for (size_t i = 0; i < count; i++) {
            sum += (double)samples[i];
            sorted[i] = samples[i] > middle ? samples[i] - middle : middle - samples[i];
        }
        ret->mean_ns = sum / (double)count;
        is_done = sample_sort(from, sorted, count);
        ret->mad_ns = sample_percentile(sorted, count, 0.5);
    }
    column_free(from, sorted, count, sizeof *sorted);
    return is_done;
}

/* --- differences --- */

delta delta_between(uint64_t from, uint64_t to)
{
    return to < from ? (delta){from - to, true} : (delta){to - from, false};
}

double delta_value(delta of)
{
    return of.is_negative ? -(double)of.size : (double)of.size;
}

double delta_median(const delta *sorted, size_t count)
{
    if (count == 0)
        return 0;
    if (count % 2 == 1)
        return delta_value(sorted[count / 2]);
    return (delta_value(sorted[count / 2 - 1]) + delta_value(sorted[count / 2])) / 2.0;
}

/* a + b, rounded once where the sum fits into 64 bits. */
static double delta_sum(delta a, delta b)
{
    if (a.is_negative != b.is_negative) {
        const delta *plus = a.is_negative ? &b : &a;
        const delta *minus = a.is_negative ? &a : &b;

        return delta_value(delta_between(minus->size, plus->size));
    }
    if (a.size > UINT64_MAX - b.size)
        return delta_value(a) + delta_value(b);
    return delta_value((delta){a.size + b.size, a.is_negative});
}

double median_difference(const uint64_t from[2], const uint64_t to[2])
{
    if (from[1] <= STATISTICS_EXACT && to[1] <= STATISTICS_EXACT) {
        double before =
            from[0] == from[1] ? (double)from[0] : (double)from[0] * 0.5 + (double)from[1] * 0.5;
        double after = to[0] == to[1] ? (double)to[0] : (double)to[0] * 0.5 + (double)to[1] * 0.5;

        return after - before;
    }
    return delta_sum(delta_between(from[0], to[0]), delta_between(from[1], to[1])) / 2.0;
}

/* --- trends --- */

static int sign_of(uint64_t from, uint64_t to)
{
    return (to > from) - (to < from);
}

/* Variance of Mann-Kendall's S, without the correction for ties (which would be smaller). */
static bool is_trend(int64_t score, size_t count)
{
    double n = (double)count;
    double deviation = sqrt(n * (n - 1) * (2 * n + 5) / 18);

    return (fabs((double)score) - 1) / deviation > 1.959963984540054;
}

static bool measure_drift(heap *from, const uint64_t *samples, size_t count, double median,
                          sample_drift *ret)
{
    size_t pairs = count * (count - 1) / 2;
    double *slopes = column_take(from, pairs, sizeof *slopes);
    int64_t score = 0;
    size_t filled = 0;
    bool is_done = slopes != NULL;

    if (!is_done)
        return false;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            score += sign_of(samples[i], samples[j]);
            slopes[filled++] = delta_value(delta_between(samples[i], samples[j])) / (double)(j - i);
        }
    }
    is_done = double_sort(from, slopes, pairs);
    if (is_done) {
        double slope = (slopes[(pairs - 1) / 2] + slopes[pairs / 2]) / 2;

        ret->is_significant = is_trend(score, count);
        ret->percent = (opt_f64){slope * (double)(count - 1) / median * 100, true};
    }
    column_free(from, slopes, pairs, sizeof *slopes);
    return is_done;
}

bool sample_find_drift(heap *from, const uint64_t *samples, size_t count, sample_drift *ret)
{
    size_t kept = count < DRIFT_SAMPLES ? count : DRIFT_SAMPLES;
    sample_statistics of;
    uint64_t *thinned;
    bool is_done;

    *ret = (sample_drift){0};
    if (count < 5)
        return true;
    if (!sample_describe(from, samples, count, &of))
        return false;
    if (of.median_ns == 0)
        return true;
    thinned = column_take(from, kept, sizeof *thinned);
    if (thinned == NULL)
        return false;
    for (size_t i = 0; i < kept; i++)
        thinned[i] = samples[kept == count ? i : i * (count - 1) / (kept - 1)];
    is_done = measure_drift(from, thinned, kept, of.median_ns, ret);
    column_free(from, thinned, kept, sizeof *thinned);
    return is_done;
}

opt_f64 line_slope(const double *x, const double *y, size_t count)
{
    double mean_x = 0;
    double mean_y = 0;
    double above = 0;
    double below = 0;

    for (size_t i = 0; i < count; i++) {
        mean_x += x[i] / (double)count;
        mean_y += y[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        above += (x[i] - mean_x) * (y[i] - mean_y);
        below += (x[i] - mean_x) * (x[i] - mean_x);
    }
    return (opt_f64){below > 0 ? above / below : 0, count >= 2 && below > 0};
}
