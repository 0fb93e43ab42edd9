/*
 * island - a JSON text as it may stand in a script element of a page: without white space between
 * its values, and with `<`, `>`, `&`, U+2028 and U+2029 escaped, so that nothing in it can end the
 * element or begin another one.
 */
#ifndef CG_VIEW_ISLAND_H
#define CG_VIEW_ISLAND_H

#include "base/heap.h"

/* `json` must be JSON. Nothing has gone to the sink when memory is the reason to fail. */
cg_code island_write(heap *heap, cg_str json, cg_sink sink, cg_err *reterr) CG_MUST;

#endif
