/*
 * mend - what to change in the code where it has another prefix than the file, and where.
 */
#ifndef CG_JOIN_MEND_H
#define CG_JOIN_MEND_H

#include "join/difference.h"

/* `file` stands where the code has `model`; either may be empty. */
typedef struct mend_shift {
    cg_str model, file;
    uint32_t model_count; /* segments of `model` */
} mend_shift;

/* The call that adds this segment of the key; NULL when it is not known. */
const key_step *mend_step_of(const model_key *key, uint32_t segment);

/*
 * One sentence about the shift of these keys, with the mend. *ret_call is the call to change, NULL
 * when none is known. Fails with CG_NOMEM.
 */
cg_code mend_explain(difference *self, const mend_shift *by, const key_pairs *pairs, cg_str *ret,
                     const key_step **ret_call, cg_err *reterr) CG_MUST;

#endif
