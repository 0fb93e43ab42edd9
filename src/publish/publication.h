/*
 * publication - a trace becomes a bundle, whole or not at all.
 *
 * Copies of trace and Nsight files, and what is derived from these copies, are
 * written to a staging directory beside the destination, made durable and
 * verified; then it is renamed, refusing to replace anything. Interrupted
 * anywhere, the destination is absent or complete, and the next publication
 * of the same finishes the work or finds it done.
 *
 * A destination that exists is left alone. It answers "already published" when
 * it is a verified bundle of the same inputs (trace and Nsight files, byte for
 * byte), or, with a plan, of the same planned capture; else it is a conflict.
 */
#ifndef CG_PUBLISH_PUBLICATION_H
#define CG_PUBLISH_PUBLICATION_H

#include "publish/derive.h"
#include "publish/receipt.h"

/* What a planned capture is recognised by. */
typedef struct publish_plan {
    cg_str entrypoint;
    cg_str correlation_id;
    cg_str device;
    uint64_t capture_step;
    uint8_t phase; /* PHASE_ */
} publish_plan;

typedef struct publish_request {
    cg_str trace_path;  /* a file, or a pipe that is read once */
    cg_str nsight_path; /* absent: none */
    cg_str bundle_path;
    cg_str receipt_path;      /* where the caller will write the receipt; absent: to no file */
    const publish_plan *plan; /* NULL: recognised by the same inputs */
    uint8_t outcome;          /* with a plan: OUTCOME_ the trace must have */
} publish_request;

/* Receipt in `mem`. CG_DURABILITY: the bundle is in place, but a sync failed. */
cg_code publication_publish(const cg_env *env, const publish_request *request, arena *mem,
                            publication_receipt *ret, cg_err *reterr) CG_MUST;

/*
 * What stands at `path`, for a plan: nothing (*ret_found false), or a verified bundle of this plan.
 * bundle-conflict names the fields that differ, or says why it is no bundle.
 */
cg_code publication_reconcile(const cg_env *env, cg_str path, const publish_plan *plan, arena *mem,
                              bool *ret_found, publication_receipt *ret, cg_err *reterr) CG_MUST;

/* Refuse a destination or receipt that would lie in a bundle. */
cg_code publication_check_place(const cg_env *env, const publish_request *request,
                                cg_err *reterr) CG_MUST;

#endif
