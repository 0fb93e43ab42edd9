/*
 * contract_findings - hazards as findings: numeric-domain-violation, zero-times-infinity,
 * unstable-library-loss, dtype-risk, dtype-conflict, dtype-unsupported, backend-unsupported,
 * shape-mismatch, layout-contract, device-mismatch.
 */
#ifndef CG_MODEL_CONTRACT_FINDINGS_H
#define CG_MODEL_CONTRACT_FINDINGS_H

#include "model/draft.h"
#include "model/functions.h"
#include "model/hazard.h"

/* One finding per hazard from row `first` on, with the fields its code has. */
cg_code contract_findings(const hazards *from, size_t first, const function_facts *functions,
                          model_draft *draft, cg_err *reterr) CG_MUST;

#endif
