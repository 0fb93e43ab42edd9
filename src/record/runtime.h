/*
 * runtime - the writer of runtime/1, 2, 3, with the system calls it is to use.
 *
 * A record is made as text at once; lines are handed over by the 64 KiB, a document at its end.
 * Memory: every event id (they must be told apart), and a document's records.
 */
#ifndef CG_RECORD_RUNTIME_H
#define CG_RECORD_RUNTIME_H

#include "candlegraph/runtime.h"
#include "record/sys.h"

cg_code runtime_open(const char *path, uint32_t form, const cg_runtime_run *run, const rec_sys *sys,
                     cg_runtime **ret, cg_err *reterr);

#endif
