/*
 * capture_run - from a planned capture to its bundle, once.
 *
 * Begin answers "already published" when the destination holds a verified
 * bundle of the same plan, refuses when it holds anything else, and otherwise
 * hands out the path for the trace to be recorded to, beside the destination.
 * Publishing takes that trace. A failed capture is published like any other.
 * A trace that was not published stays where it is and is named in the error.
 */
#ifndef CG_PUBLISH_CAPTURE_RUN_H
#define CG_PUBLISH_CAPTURE_RUN_H

#include "publish/publication.h"

typedef struct capture_run {
    heap heap;
    arena arena;
    cg_str bundle_path;
    cg_str trace_path;
    cg_str nsight_path; /* absent: none */
    publish_plan plan;
} capture_run;

/* Exactly one of *ret (owned by the caller) and *ret_receipt (texts in `mem`) is given. */
cg_code capture_run_begin(const cg_env *env, cg_str path, const publish_plan *plan, arena *mem,
                          capture_run **ret, publication_receipt *ret_receipt,
                          cg_err *reterr) CG_MUST;
/* The recorder has finished; `outcome` (OUTCOME_) is what its trace must say. */
cg_code capture_run_publish(const cg_env *env, capture_run *self, uint8_t outcome, arena *mem,
                            publication_receipt *ret, cg_err *reterr) CG_MUST;
/* Leaves a recorded trace where it is. */
void capture_run_free(capture_run *self);

#endif
