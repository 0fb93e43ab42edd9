#include "view/text_number.h"

#include <math.h>

unit unit_time(uint64_t largest_ns)
{
    if (largest_ns < UINT64_C(10000))
        return (unit){1, "ns", 0};
    if (largest_ns < UINT64_C(10000000))
        return (unit){1e3, "µs", 1};
    if (largest_ns < UINT64_C(10000000000))
        return (unit){1e6, "ms", largest_ns < UINT64_C(100000000) ? 3 : 2};
    return (unit){1e9, "s", 3};
}

unit unit_bytes(uint64_t largest)
{
    static const char *const words[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double divisor = 1024;
    size_t i = 0;

    if (largest < 10000)
        return (unit){1, "B", 0};
    while (i + 1 < sizeof words / sizeof *words && (double)largest >= divisor * 10000) {
        divisor *= 1024;
        i++;
    }
    return (unit){divisor, words[i], 1};
}

void number_in(buf *out, uint64_t value, unit in)
{
    if (in.decimals == 0)
        buf_addf(out, "%llu", (unsigned long long)value);
    else
        buf_addf(out, "%.*f", in.decimals, (double)value / in.divisor);
}

/* Three significant digits of what is below 1000. */
static void add_scaled(buf *out, double value, const char *word)
{
    buf_addf(out, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, word);
}

void number_time(buf *out, uint64_t ns)
{
    if (ns < 1000)
        buf_addf(out, "%llu ns", (unsigned long long)ns);
    else if (ns < UINT64_C(999500))
        add_scaled(out, (double)ns / 1e3, "µs");
    else if (ns < UINT64_C(999500000))
        add_scaled(out, (double)ns / 1e6, "ms");
    else
        add_scaled(out, (double)ns / 1e9, "s");
}

void number_bytes(buf *out, uint64_t bytes)
{
    static const char *const words[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes / 1024;
    size_t i = 0;

    if (bytes < 10000) {
        buf_addf(out, "%llu B", (unsigned long long)bytes);
        return;
    }
    while (i + 1 < sizeof words / sizeof *words && value >= 1000) {
        value /= 1024;
        i++;
    }
    add_scaled(out, value, words[i]);
}

void number_share(buf *out, double share)
{
    if (share > 0 && share < 0.0005)
        buf_add(out, CG_LIT("<0.1 %"));
    else
        buf_addf(out, "%.1f %%", share * 100);
}

void number_float(buf *out, double value)
{
    double size = fabs(value);

    if (value == 0)
        buf_add(out, CG_LIT("0"));
    else if (size >= 1e-3 && size < 1e5)
        buf_addf(out, "%.4g", value);
    else
        buf_addf(out, "%.3e", value);
}

void number_bar(buf *out, double share, unsigned cells)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    unsigned count;

    if (!(share > 0))
        return;
    if (share > 1)
        share = 1;
    count = (unsigned)(share * cells * 8 + 0.5);
    if (count == 0)
        count = 1;
    for (unsigned i = 0; i < count / 8; i++)
        buf_add(out, CG_LIT("█"));
    buf_add(out, str_from(eighths[count % 8]));
}

void number_height(buf *out, uint64_t value, uint64_t largest)
{
    static const char *const heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    double share = largest > 0 ? (double)value / (double)largest : 0;
    unsigned step = (unsigned)(share * 7 + 0.5);

    if (value == 0)
        buf_byte(out, ' ');
    else
        buf_add(out, str_from(heights[step > 7 ? 7 : step]));
}

void number_shape(buf *out, const uint64_t *axes, size_t rank)
{
    buf_byte(out, '[');
    for (size_t i = 0; i < rank; i++) {
        if (i == 8) {
            buf_addf(out, ", … %zu axes", rank);
            break;
        }
        buf_addf(out, "%s%llu", i > 0 ? ", " : "", (unsigned long long)axes[i]);
    }
    buf_byte(out, ']');
}
