/*
 * targets - what a package is built into: the targets its manifest names and those that Cargo finds
 * where it looks for them (src/lib.rs, src/main.rs, src/bin, examples, tests, benches).
 */
#ifndef CG_CARGO_TARGETS_H
#define CG_CARGO_TARGETS_H

#include "cargo/files.h"
#include "cargo/manifest.h"

typedef struct cargo_target {
    enum cargo_target_kind kind;
    bool is_proc_macro;
    cg_str name; /* as Cargo names it; of a library as code does */
    cg_str path; /* absolute; the file need not exist */
} cargo_target;

typedef struct cargo_targets {
    const cargo_target *at; /* sorted by name, kind, path */
    size_t count;
    bool has_build_script;
} cargo_targets;

/*
 * Targets of the package in directory `root`. Without `is_whole` only the library, which is all
 * that other packages can use.
 */
cg_code targets_find(cargo_files *files, cg_str root, const cargo_manifest *manifest, bool is_whole,
                     cargo_targets *ret, cg_err *reterr) CG_MUST;

/* A name as code writes it: `-` is `_`. */
cg_code targets_code_name(arena *mem, cg_str name, cg_str *ret, cg_err *reterr) CG_MUST;

#endif
