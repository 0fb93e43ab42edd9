/*
 * packed - what the views of a run's page draw, whole, whatever its size: the text of the element
 * `cg-packed` (view/columns, docs/schemas/page.md). The payload may be an overview; this never is.
 */
#ifndef CG_VIEW_PACKED_H
#define CG_VIEW_PACKED_H

#include "exec/evidence.h"

#define PACKED_TYPE "application/vnd.candle-graph.packed"

/* Appended to `ret`. Fails with CG_NOMEM, CG_LIMIT. */
cg_code packed_build(const evidence *from, buf *ret, cg_err *reterr) CG_MUST;

#endif
