/*
 * gradient - the exact gradient contract: is it well formed, what is its digest?
 */
#ifndef CG_EXEC_GRADIENT_H
#define CG_EXEC_GRADIENT_H

#include "base/digest.h"
#include "exec/trace.h"

#define GRADIENT_DIGEST_TEXT (7 + DIGEST_HEX)

/* `sha256:` and 64 digits over the manifest entries in order (candle-graph/gradient-manifest/1). */
cg_code gradient_digest(const rec_gradient_contract *contract, char ret[GRADIENT_DIGEST_TEXT],
                        cg_err *reterr) CG_MUST;

/*
 * Validate: *ret_problem is NULL when the contract is sound, else a sentence
 * in `mem` naming the first broken rule.
 */
cg_code gradient_contract_check(arena *mem, const rec_gradient_contract *contract,
                                cg_str *ret_problem, cg_err *reterr) CG_MUST;

/* Does the state agree with the norm? */
bool gradient_norm_fits(const trace_gradient *event);

#endif
