/*
 * prefix - keys that differ from a file's names by what stands in front, or twice.
 */
#ifndef CG_JOIN_PREFIX_H
#define CG_JOIN_PREFIX_H

#include "join/difference.h"

/* Rows `prefix_repeated`: a part of the key is there twice, the file has it once. */
cg_code prefix_find_repeated(difference *self, cg_err *reterr) CG_MUST;
/* Rows `prefix_shifted`: the file puts a module in front, leaves one out, or calls it otherwise. */
cg_code prefix_find_shifted(difference *self, cg_err *reterr) CG_MUST;
/* The same for keys that stand alone: of which one tensor is the only one that can be meant. */
cg_code prefix_find_single(difference *self, cg_err *reterr) CG_MUST;
/* A doc_prefix_call for a document; NULL for NULL. false: out of memory. */
bool prefix_call_of(arena *mem, const key_step *step, const void **ret);

#endif
