/*
 * choice - what the user chose of a crate: a member of the workspace, features, a target.
 *
 *   CG_TRY(choice_member(graph, &directory, reterr));          when the path is a workspace
 *   CG_TRY(choice_features(graph, &manifest, &chosen, reterr));
 *   ... the root package is in the graph ...
 *   CG_TRY(choice_want(graph, chosen, reterr));
 *   ... the graph has settled ...
 *   CG_TRY(choice_targets(graph, reterr));
 *
 * What the crate does not have, and what only the user can decide, is CG_INPUT and says what there
 * is to choose from.
 */
#ifndef CG_CARGO_CHOICE_H
#define CG_CARGO_CHOICE_H

#include "cargo/graph.h"

/* The directory of the member that is meant: named, or the only one, or the only default one. */
cg_code choice_member(cargo_graph *graph, cg_str *ret, cg_err *reterr) CG_MUST;

/* The names given, one by one; `root/f` is `f`. Words of ours that the crate lacks are left out. */
cg_code choice_features(cargo_graph *graph, const cargo_manifest *manifest, cargo_strs *ret_chosen,
                        cg_err *reterr) CG_MUST;
/* Ask for them, for all or without the default, of the root package. */
cg_code choice_want(cargo_graph *graph, cargo_strs chosen, cg_err *reterr) CG_MUST;

/* The targets to scan: the named one, that of the file given, else the library and all binaries. */
cg_code choice_targets(cargo_graph *graph, cg_err *reterr) CG_MUST;

#endif
