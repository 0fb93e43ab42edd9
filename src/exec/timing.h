/*
 * timing - busy time per device clock. Device time is never added to host time
 * and never rolled up from a child span into its parent.
 */
#ifndef CG_EXEC_TIMING_H
#define CG_EXEC_TIMING_H

#include "exec/trace.h"

typedef struct timing_row {
    sym span_id; /* 0 in clock rows */
    sym device;
    sym clock_id;
    uint64_t interval_count;
    uint64_t busy_ns;                     /* union of intervals, saturating */
    uint32_t backends_at, backends_count; /* distinct, bytewise: stretch of plane->names */
    uint32_t streams_at, streams_count;
} timing_row;

typedef struct timing_plane {
    heap *heap;
    uint8_t coverage;       /* LEVEL_, raised to partial when there are intervals */
    VEC(timing_row) spans;  /* by (span id, device, clock), bytewise */
    VEC(timing_row) clocks; /* by (device, clock), bytewise */
    VEC(sym) names;
} timing_plane;

/* O(n log n). */
cg_code timing_build(heap *from, const trace_doc *trace, timing_plane *ret, cg_err *reterr) CG_MUST;
void timing_free(timing_plane *plane);

#endif
