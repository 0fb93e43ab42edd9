/*
 * payload - what the page of one run shows, as candle-graph/viewer/5: the text
 * of the script element `cg-payload`.
 *
 * Compact JSON, keys sorted bytewise, `<`, `>`, `&`, U+2028 and U+2029 escaped.
 * Complete up to PAYLOAD_BYTES. Beyond that it is an overview of the same shape
 * whose lists are cut: nodes by host time, storages by size, points of the time
 * line by height, everything else from its beginning. `bounded` then names each
 * list that was cut with its whole length; it is null otherwise. What the run
 * says of itself (provenance) is never cut.
 */
#ifndef CG_VIEW_PAYLOAD_H
#define CG_VIEW_PAYLOAD_H

#include "exec/evidence.h"

#define PAYLOAD_BYTES ((size_t)4 << 20)

/* Fails with CG_NOMEM or what the sink reports. Held: the text twice. */
cg_code payload_write(const evidence *from, cg_sink sink, cg_err *reterr) CG_MUST;

#endif
