/*
 * candles - which versions of the candle crates a crate is built with.
 *
 * Packages that are loaded are followed by their active dependencies, or by what cargo said of
 * them; the others by the lock file, without what Candle's own parts use for a device only. The
 * root package itself is none of them.
 */
#ifndef CG_CARGO_CANDLES_H
#define CG_CARGO_CANDLES_H

#include "cargo/graph.h"

/* Set `candles` of a graph that has a root package. CG_NOMEM. */
cg_code candles_find(cargo_graph *graph, cg_err *reterr) CG_MUST;

#endif
