/*
 * semantic - does everything in a bundle follow from its trace?
 *
 * Written by this very version (the producer marker says so): evidence, report
 * and the page, where there is one, must be derived again byte for byte, and
 * there is no other file but the trace and Nsight artifacts. A build without
 * the viewer lists the page as not checked. Anything else: the evidence must
 * follow field by field, wording left out, floats within 2 units in the last
 * place; the files that nothing was compared with are listed, so that a bundle
 * without its marker never looks checked.
 */
#ifndef CG_PUBLISH_SEMANTIC_H
#define CG_PUBLISH_SEMANTIC_H

#include "publish/derive.h"

/*
 * Refused with bundle-not-rederived, bundle-evidence-differs, or when the trace is no trace.
 * *ret lists what was not checked; it lives in the bundle. `is_strict`: refused if that is
 * something (bundle-not-rederivable).
 */
cg_code bundle_check_semantics(bundle *self, bool is_strict, sc_strs *ret, cg_err *reterr) CG_MUST;

#endif
