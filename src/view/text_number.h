/*
 * text_number - amounts with their units, for running text and for columns.
 *
 * In a column every row has the unit of the largest one, which its title
 * names. Times are nanoseconds in, bytes are powers of 1024 out.
 */
#ifndef CG_VIEW_TEXT_NUMBER_H
#define CG_VIEW_TEXT_NUMBER_H

#include "base/buf.h"

typedef struct unit {
    double divisor;
    const char *word;
    int decimals;
} unit;

unit unit_time(uint64_t largest_ns);
unit unit_bytes(uint64_t largest);
void number_in(buf *out, uint64_t value, unit in);

/* With the unit: `12.4 ms`, `512 B`, `1.50 MiB`. */
void number_time(buf *out, uint64_t ns);
void number_bytes(buf *out, uint64_t bytes);
/* `12.3 %`; what is not nothing is never shown as 0.0. */
void number_share(buf *out, double share);
/* Three significant digits, as short as a float can be said. */
void number_float(buf *out, double value);
/* A bar of block characters, eighths of a cell; at most `cells` cells. */
void number_bar(buf *out, double share, unsigned cells);
/* One block character of eight heights, for a line of them. */
void number_height(buf *out, uint64_t value, uint64_t largest);
/* `[2, 3]`, shortened behind eight axes. */
void number_shape(buf *out, const uint64_t *axes, size_t rank);

#endif
