/*
 * session - from open to finish: the spool is made, flushed, and becomes the trace.
 *
 * Locks, in this order: process, session (`mutex`), file. Recording takes none of them but when
 * its ring is full or a thread records for the first time.
 */
#ifndef CG_RECORD_SESSION_H
#define CG_RECORD_SESSION_H

#include "record/lane.h"

cg_code session_open(const char *path, const cg_record_run *run, const cg_record_options *options,
                     const rec_sys *sys, cg_record **ret, cg_err *reterr);
/* Write the trace. `reason` absent: a complete capture, if no span is open. */
cg_code session_end(cg_record *session, cg_str reason, cg_record_result *ret, cg_err *reterr);
cg_code session_flush(cg_record *session, cg_err *reterr);

/* What one record costs here; measured once in a process. */
typedef struct record_cost {
    double span_ns, op_ns, tensor_ns, scalar_ns;
} record_cost;
record_cost cost_measure(enum clock_kind clock, uint64_t rate);

#endif
