/*
 * statistics - medians, percentiles and differences of nanosecond samples.
 *
 * The formulas are those of the comparison contract and give the same bits on
 * every machine: no fused operations, no locale, no library but `floor`.
 */
#ifndef CG_COMPARE_STATISTICS_H
#define CG_COMPARE_STATISTICS_H

#include "base/heap.h"

/* Above this, a double no longer holds every integer. */
#define STATISTICS_EXACT (UINT64_C(1) << 53)

typedef struct sample_statistics {
    double median_ns, p95_ns, mad_ns;
    double mean_ns;
    uint64_t minimum_ns, maximum_ns;
} sample_statistics;

/* A difference of two samples; 65 bits wide. */
typedef struct delta {
    uint64_t size;
    bool is_negative; /* never with size 0 */
} delta;

/* Ascending; false: no memory. */
bool sample_sort(heap *from, uint64_t *samples, size_t count);
bool delta_sort(heap *from, delta *deltas, size_t count);
/* Ascending in the total order of IEEE 754. */
bool double_sort(heap *from, double *values, size_t count);

/* Linear interpolation between the neighbours of q x (count - 1); 0 without samples. */
double sample_percentile(const uint64_t *sorted, size_t count, double q);

/* Of samples in any order; all zero without samples. False: no memory. */
bool sample_describe(heap *from, const uint64_t *samples, size_t count, sample_statistics *ret);

delta delta_between(uint64_t from, uint64_t to);
double delta_value(delta of);
/* Middle one, or the mean of the two middle ones. */
double delta_median(const delta *sorted, size_t count);

/*
 * Difference of two medians, each the mean of two samples (twice the same one
 * for an odd count). Exact where doubles are not: above STATISTICS_EXACT.
 */
double median_difference(const uint64_t from[2], const uint64_t to[2]);
/* The two samples the median of sorted ones is the mean of. */
void sample_middle(const uint64_t *sorted, size_t count, uint64_t ret[2]);

/*
 * Is there a trend in the order of the samples? Mann-Kendall at the 5 % level,
 * amount by Theil-Sen from the first sample to the last, in percent of the
 * median. Long lists are thinned evenly. False: no memory.
 */
typedef struct sample_drift {
    opt_f64 percent; /* unset: fewer than 5 samples, or a median of 0 */
    bool is_significant;
} sample_drift;
bool sample_find_drift(heap *from, const uint64_t *samples, size_t count, sample_drift *ret);

/* Least-squares slope of y over x; unset for fewer than two different x. */
opt_f64 line_slope(const double *x, const double *y, size_t count);

#endif
