/*
 * row - the line a bench prints: `name value unit budget verdict`.
 *
 * Five words apart by blanks, so that bench/table can read them. The budget is `<=N`, `>=N`, or `-`
 * for a figure that is only stated; the verdict is `ok`, `BROKEN` or `stated`. Lines that start
 * with `#` are remarks.
 */
#ifndef CG_BENCH_ROW_H
#define CG_BENCH_ROW_H

#include <stdbool.h>
#include <stdio.h>

static inline bool row_judged(const char *name, double figure, const char *unit, const char *sign,
                              double budget, bool is_kept)
{
    printf("%-40s %10.3f %-10s %s%g %s\n", name, figure, unit, sign, budget,
           is_kept ? "ok" : "BROKEN");
    fflush(stdout);
    return is_kept;
}

/* Whether the promise is kept: at most, at least. */
static inline bool row_most(const char *name, double figure, const char *unit, double budget)
{
    return row_judged(name, figure, unit, "<=", budget, figure <= budget);
}

static inline bool row_least(const char *name, double figure, const char *unit, double budget)
{
    return row_judged(name, figure, unit, ">=", budget, figure >= budget);
}

static inline void row_stated(const char *name, double figure, const char *unit)
{
    printf("%-40s %10.3f %-10s - stated\n", name, figure, unit);
    fflush(stdout);
}

#endif
