/*
 * activation - which features and dependencies of every package are on.
 *
 *   CG_TRY(activation_mark(graph, root, reterr));
 *   CG_TRY(activation_want(graph, root, CG_LIT("default"), reterr));
 *   CG_TRY(activation_settle(graph, reterr));
 *
 * A feature turns on features and dependencies, a dependency asks for features of the package it
 * means, which is loaded when it is one of ours or of Candle's. Features are only ever turned on,
 * so that this ends. What cargo said of a package is believed instead of its manifest.
 */
#ifndef CG_CARGO_ACTIVATION_H
#define CG_CARGO_ACTIVATION_H

#include "cargo/graph.h"

/* Look at the package (again) when things settle; it is loaded then. */
cg_code activation_mark(cargo_graph *graph, uint32_t package, cg_err *reterr) CG_MUST;

/* Somebody asks for this feature of the package; nothing when cargo said which ones are on. */
cg_code activation_want(cargo_graph *graph, uint32_t package, cg_str feature,
                        cg_err *reterr) CG_MUST;

/* Until nothing grows any more. Packages may be added, which moves `packages.at`. */
cg_code activation_settle(cargo_graph *graph, cg_err *reterr) CG_MUST;

#endif
