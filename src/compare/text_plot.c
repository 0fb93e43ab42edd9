#include "compare/text_plot.h"

#include <math.h>

#define MINUS "−"

void plot_stretch(plot_axis *axis, double value)
{
    if (axis->low > axis->high) {
        axis->low = value;
        axis->high = value;
    }
    if (value < axis->low)
        axis->low = value;
    if (value > axis->high)
        axis->high = value;
}

static unsigned cell_of(const plot_axis *axis, double value)
{
    double share = axis->high > axis->low ? (value - axis->low) / (axis->high - axis->low) : 0.5;
    double place = share * (axis->cells - 1) + 0.5;

    return place < 0 ? 0 : place >= axis->cells ? axis->cells - 1 : (unsigned)place;
}

void plot_dots(buf *out, const plot_axis *axis, plot_value *value, const void *context,
               size_t count, double middle, uint32_t *counts)
{
    unsigned last = 0;
    unsigned mark = cell_of(axis, middle);

    memset(counts, 0, axis->cells * sizeof *counts);
    for (size_t i = 0; i < count; i++)
        counts[cell_of(axis, value(context, i))]++;
    for (unsigned i = 0; i < axis->cells; i++) {
        if (counts[i] > 0 || i == mark)
            last = i + 1;
    }
    for (unsigned i = 0; i < last; i++) {
        if (counts[i] == 1)
            buf_add(out, CG_LIT("•"));
        else if (counts[i] > 9)
            buf_byte(out, '+');
        else if (counts[i] > 1)
            buf_byte(out, (char)('0' + counts[i]));
        else
            buf_byte(out, i == mark ? '|' : ' ');
    }
}

/* --- heights --- */

static void add_height(buf *out, double value, double low, double high)
{
    static const char *const heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    double share = high > low ? (value - low) / (high - low) : 0.5;
    unsigned step;

    if (isnan(value)) {
        buf_byte(out, ' ');
        return;
    }
    if (isinf(value)) {
        buf_byte(out, '!');
        return;
    }
    step = (unsigned)(share * 7 + 0.5);
    buf_add(out, str_from(heights[step > 7 ? 7 : step]));
}

/* The largest value of a part; NaN when there is none. */
static double largest(const double *values, size_t from, size_t to)
{
    double found = (double)NAN;

    for (size_t i = from; i < to; i++) {
        if (isnan(found) || values[i] > found)
            found = values[i];
    }
    return found;
}

void plot_heights(buf *out, const double *values, size_t count, unsigned cells)
{
    size_t parts = count < cells ? count : cells;
    plot_axis axis = {.low = 1, .high = 0};

    for (size_t i = 0; i < parts; i++) {
        double value = largest(values, i * count / parts, (i + 1) * count / parts);

        if (isfinite(value))
            plot_stretch(&axis, value);
    }
    for (size_t i = 0; i < parts; i++)
        add_height(out, largest(values, i * count / parts, (i + 1) * count / parts), axis.low,
                   axis.high);
}

/* --- signed amounts --- */

static const char *sign_of(double value)
{
    return value < 0 ? MINUS : value > 0 ? "+" : "";
}

void plot_time(buf *out, double ns)
{
    if (ns != floor(ns) && ns < 1000)
        buf_addf(out, ns < 1 ? "%.2g ns" : "%.1f ns", ns);
    else
        number_time(out, ns >= 18446744073709549568.0 ? UINT64_MAX : (uint64_t)(ns + 0.5));
}

void plot_signed_time(buf *out, double ns)
{
    buf_add(out, str_from(sign_of(ns)));
    plot_time(out, fabs(ns));
}

void plot_percent(buf *out, double percent)
{
    if (percent > 0 && percent < 0.005)
        buf_addf(out, "%.1e %%", percent);
    else
        buf_addf(out, "%.*f %%", percent < 9.995 ? 2 : percent < 99.95 ? 1 : 0, percent);
}

void plot_signed_percent(buf *out, double percent)
{
    buf_add(out, str_from(sign_of(percent)));
    plot_percent(out, fabs(percent));
}

void plot_signed_float(buf *out, double value)
{
    buf_add(out, str_from(sign_of(value)));
    number_float(out, fabs(value));
}
