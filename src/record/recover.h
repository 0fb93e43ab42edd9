/*
 * recover - the spool of a dead process as a failed capture.
 */
#ifndef CG_RECORD_RECOVER_H
#define CG_RECORD_RECOVER_H

#include "candlegraph/record.h"
#include "record/sys.h"

/* Whether the first bytes of a file are a spool's. */
bool recover_is_spool(const void *bytes, size_t count);
/* `file` holds `size` bytes of a spool; the trace goes to `output`. Neither is closed. */
cg_code recover_file(const rec_sys *sys, int file, uint64_t size, int output, const char *name,
                     cg_record_recovery *ret, cg_err *reterr);

#endif
