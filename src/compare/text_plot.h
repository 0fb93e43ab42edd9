/*
 * text_plot - dots on a line, a line of heights, and signed amounts, for text.
 */
#ifndef CG_COMPARE_TEXT_PLOT_H
#define CG_COMPARE_TEXT_PLOT_H

#include "view/text_table.h"

/* The two ends of a line of dots. */
typedef struct plot_axis {
    double low, high;
    unsigned cells;
} plot_axis;

/* Axis from the smallest to the largest of what is on it; empty at first. */
void plot_stretch(plot_axis *axis, double value);
/*
 * One line: a dot for a sample, a digit for as many in one cell, `+` above 9; `|` marks
 * `middle` where no sample lies. `counts` is room for axis->cells numbers.
 */
typedef double plot_value(const void *context, size_t index);
void plot_dots(buf *out, const plot_axis *axis, plot_value *value, const void *context,
               size_t count, double middle, uint32_t *counts);

/*
 * Heights between the smallest and the largest value, at most `cells` of them (longer lists are
 * gathered, the largest of each part is shown). Not a number: a blank; infinite: `!`.
 */
void plot_heights(buf *out, const double *values, size_t count, unsigned cells);

/* `44 ns`, `13.5 ns`, `1.20 ms`; and `4.34 %`. Not negative. */
void plot_time(buf *out, double ns);
void plot_percent(buf *out, double percent);
/* `−44 ns`, `+1.20 ms`, `0 ns`. */
void plot_signed_time(buf *out, double ns);
/* `−4.34 %`; three digits, what is not nothing is never 0. */
void plot_signed_percent(buf *out, double percent);
/* `−1.2e-05`; in three digits. */
void plot_signed_float(buf *out, double value);

#endif
