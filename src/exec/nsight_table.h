/*
 * nsight_table - one Nsight export (CSV) as rows of numbers and symbols.
 *
 * Summaries give costs, time lines give events. Which columns a report has and
 * what they may be called: schema/nsight.def. One row that cannot be read
 * refuses the whole file, because a partial table would mislead. Rows with a
 * blank name are no rows.
 */
#ifndef CG_EXEC_NSIGHT_TABLE_H
#define CG_EXEC_NSIGHT_TABLE_H

#include "base/intern.h"
#include "codec/csv.h"
#include "codec/json.h"
#include "schema/nsight_schema.h"

enum nsight_figure {
    FIGURE_COUNT,
    FIGURE_AVERAGE,
    FIGURE_MINIMUM,
    FIGURE_MAXIMUM,
    FIGURE_COUNT_ALL
};

typedef struct nsight_cost {
    uint64_t total_ns;
    uint64_t figures[FIGURE_COUNT_ALL];
    sym name;
    sym category;    /* 0 = no such cell */
    uint8_t present; /* bit i: figures[i] is given */
} nsight_cost;

enum { EVENT_HAS_START = 1, EVENT_HAS_DURATION = 2, EVENT_HAS_OPERATIONS = 4 };

typedef struct nsight_event {
    uint64_t start_ns;
    uint64_t duration_ns;
    uint64_t projected_start_ns;    /* with EVENT_HAS_START */
    uint64_t projected_duration_ns; /* with EVENT_HAS_DURATION */
    uint64_t operations;            /* with EVENT_HAS_OPERATIONS */
    sym name;
    sym keys[JOIN_COUNT]; /* 0 = no such cell; the empty text is a key */
    uint8_t present;
} nsight_event;

typedef struct nsight_costs {
    VEC(nsight_cost) rows;
} nsight_costs;

typedef struct nsight_events {
    VEC(nsight_event) rows;
} nsight_events;

static inline bool nsight_is_summary(unsigned report)
{
    return report != GPU_REPORT_NVTX && report != GPU_REPORT_TIMELINE;
}

/*
 * Read the export of `report` from `fill`, append its rows in file order to
 * `costs` or `events`; texts become symbols of `texts`. On failure rows may
 * have been appended: the caller cuts them off.
 * Fails with CG_INPUT or CG_LIMIT (row and line in reterr), CG_NOMEM,
 * CG_INTERRUPTED, or what `fill` reports.
 */
cg_code nsight_table_read(const cg_env *env, heap *heap, intern *texts, unsigned report,
                          cg_code (*fill)(void *, void *, size_t, size_t *, cg_err *),
                          void *context, nsight_costs *costs, nsight_events *events,
                          cg_err *reterr) CG_MUST;

/* The name of a column as headers are compared, appended to `out`. */
void nsight_header(cg_str cell, buf *out);

enum nsight_number { NUMBER_ABSENT, NUMBER_GIVEN, NUMBER_REFUSED };

/*
 * A number of an export: thousands separators, fractions (cut off) and
 * exponents are fine; signs, NaN and everything from 2^64 on are refused.
 * `reader` and `scratch` are working room; scratch->failed afterwards: out of memory.
 */
enum nsight_number nsight_number_read(json_reader *reader, buf *scratch, cg_str cell,
                                      uint64_t *ret);

#endif
