/*
 * scan_excerpts - the source around the findings of a crate, for its page.
 */
#ifndef CG_API_SCAN_EXCERPTS_H
#define CG_API_SCAN_EXCERPTS_H

#include "api/scan.h"

/*
 * candle-graph/page-sources/1 as text: of each finding with a place in a file of the crate the
 * lines around it, of the first EXCERPTS_MOST findings by severity; long lines are cut visibly.
 * Reads the crate again when the scan came from the cache.
 */
#define EXCERPTS_MOST 1000
cg_code scan_excerpts(const cg_scan *self, heap *heap, buf *ret, cg_err *reterr) CG_MUST;

#endif
