/*
 * recover - the spool of a dead process as a failed capture.
 */
#ifndef CG_RECORD_RECOVER_H
#define CG_RECORD_RECOVER_H

#include "candlegraph/record.h"
#include "record/sys.h"

/* Whether the first bytes of a file are a spool's. */
bool recover_is_spool(const void *bytes, size_t count);
/* The process that records into the spool, 0 = none. */
long recover_recorder_of(int file);
/*
 * `file` holds `size` bytes of a spool; the trace goes to `output`. Neither is closed. Of `sys`
 * only read_at, write_at (each byte behind the last) and truncate (to nothing, to begin again) are
 * used.
 */
cg_code recover_file(const rec_sys *sys, int file, uint64_t size, int output, const char *name,
                     cg_record_recovery *ret, cg_err *reterr);

#endif
