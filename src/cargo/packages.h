/*
 * packages - the entries of a graph: adding them, finding which one a dependency means, reading
 * their manifests. What is missing or broken becomes a diagnostic.
 */
#ifndef CG_CARGO_PACKAGES_H
#define CG_CARGO_PACKAGES_H

#include "cargo/graph.h"

/* A diagnostic `cargo-context`; path may be absent. */
cg_code packages_say(cargo_graph *graph, cg_str path, uint32_t line, cg_str message,
                     cg_err *reterr) CG_MUST;
/*
 * A failure as a diagnostic: CG_OK, and `failure` is emptied. Memory, interruption and files that
 * cannot be read are passed on. The message is `what` and what the failure says.
 */
cg_code packages_forgive(cargo_graph *graph, cg_code code, cg_err *failure, cg_str path,
                         const char *what, cg_err *reterr) CG_MUST;

/* The manifest of a directory; *ret_is_there is false when it has none. `ret_doc` may be NULL. */
cg_code packages_read_manifest(cargo_graph *graph, cg_str directory, cargo_manifest *ret,
                               toml_document **ret_doc, bool *ret_is_there, cg_err *reterr) CG_MUST;

/*
 * The nearest directory at or above `start` whose manifest is the root of a workspace that
 * `directory` can belong to; absent when there is none.
 */
cg_code packages_find_workspace(cargo_graph *graph, cg_str start, cg_str directory,
                                cargo_manifest *ret_manifest, cg_str *ret, cg_err *reterr) CG_MUST;

/* The package of that directory, added when it is new; its manifest is read. */
cg_code packages_add_directory(cargo_graph *graph, cg_str directory, cg_str name, bool is_member,
                               uint32_t *ret, cg_err *reterr) CG_MUST;
/* The same with a version and a source that is perhaps not there (directory absent). */
cg_code packages_add(cargo_graph *graph, cg_str name, cg_str number, cg_str directory,
                     uint32_t *ret, cg_err *reterr) CG_MUST;

/* Which package dependency `of` of `package` is; CARGO_MISSING: nothing is known of it. */
cg_code packages_resolve(cargo_graph *graph, uint32_t package, const manifest_dependency *of,
                         uint32_t *ret, cg_err *reterr) CG_MUST;

/* Read its manifest, if that was not done; has_manifest tells whether it worked. */
cg_code packages_read(cargo_graph *graph, uint32_t package, cg_err *reterr) CG_MUST;

/* Directories of the workspace's members. */
cg_code packages_members(cargo_graph *graph, cargo_strs *ret, cg_err *reterr) CG_MUST;

#endif
