/*
 * fingerprint - one digest of everything a scan has read.
 */
#ifndef CG_MODEL_FINGERPRINT_H
#define CG_MODEL_FINGERPRINT_H

#include "model/program.h"

/*
 * Hexadecimal SHA-256 over the paths (below the scanned root) and digests of all inputs, in `mem`.
 */
bool program_fingerprint(const program *self, arena *mem, cg_str *ret) CG_MUST;
/* The same of a list: what Cargo's files are first. `root`: of the scan, as the graph has it. */
bool fingerprint_of(cg_str root, const program_input *inputs, size_t count, arena *mem,
                    cg_str *ret) CG_MUST;

#endif
