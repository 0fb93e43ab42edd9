/*
 * workspace - which packages a crate is made of: features, targets, active cfg, and where the
 * sources of its dependencies lie. Nothing is run; files are read, and what is missing is said.
 *
 *   cargo_graph *graph;
 *   CG_TRY(cargo_graph_open(env, from, path, &options, &graph, reterr));
 *   cargo_package *root = graph->root < graph->packages.count ? &graph->packages.at[graph->root]
 *                                                             : NULL;     NULL: directory scan
 *   CG_TRY(cargo_package_load(graph, index, reterr));      before looking into a dependency
 *   cargo_graph_free(graph);
 *
 * The root package, path dependencies and packages named candle-* are loaded by cargo_graph_open;
 * any other dependency has a name, a version and perhaps a directory until it is loaded. Loading
 * may grow the active features of packages that are loaded already, and moves `packages.at`.
 *
 * Everything lent lives as long as the graph. A choice that only the user can make, a path that
 * leads nowhere, and memory end in an error; all else is a diagnostic.
 */
#ifndef CG_CARGO_WORKSPACE_H
#define CG_CARGO_WORKSPACE_H

#include "cargo/graph.h"

/*
 * Find the crate at `path` (a directory, a Cargo.toml, a file inside a crate) and what it is made
 * of. Without a manifest that can be read: a graph without packages. CG_NOT_FOUND: nothing is
 * there; CG_INPUT: an unknown feature, target or member, or a workspace that needs --package.
 */
cg_code cargo_graph_open(const cg_env *env, heap *from, cg_str path, const cargo_options *options,
                         cargo_graph **ret, cg_err *reterr) CG_MUST;
void cargo_graph_free(cargo_graph *graph);

/*
 * Fill in a package: its targets, features and dependencies, which may appear as new packages. No
 * source or a broken manifest is a diagnostic and CG_OK. Does nothing when it is loaded.
 */
cg_code cargo_package_load(cargo_graph *graph, uint32_t package, cg_err *reterr) CG_MUST;

/* The active dependency that code of `package` calls `extern_name`; CARGO_MISSING: none. */
uint32_t cargo_extern_find(const cargo_graph *graph, uint32_t package, cg_str extern_name);

/* What a cfg predicate is in `package` (CARGO_MISSING: in a directory scan). */
enum cfg_truth cargo_cfg_eval(const cargo_graph *graph, uint32_t package, cg_str predicate);

#endif
