/*
 * manifest - what one Cargo.toml says.
 *
 * Only the text is looked at: no file of the package, no other manifest. What a member takes over
 * from its workspace (`version.workspace = true`) is put in by manifest_inherit. Texts are copied
 * into the arena; the document may be freed afterwards.
 */
#ifndef CG_CARGO_MANIFEST_H
#define CG_CARGO_MANIFEST_H

#include "cargo/cfg.h"
#include "codec/toml.h"

enum cargo_target_kind { CARGO_LIB, CARGO_BIN, CARGO_EXAMPLE, CARGO_TEST, CARGO_BENCH };

/* `bin`: the table of a manifest that declares targets of this kind. Static. */
cg_str manifest_target_key(enum cargo_target_kind kind);

enum cargo_dependency_kind { CARGO_NORMAL, CARGO_DEV, CARGO_BUILD };

typedef struct manifest_target {
    enum cargo_target_kind kind;
    bool is_proc_macro;
    cg_str name; /* absent: the package's */
    cg_str path; /* as written; absent: where Cargo looks for it */
    cargo_strs crate_types;
} manifest_target;

typedef struct manifest_dependency {
    cg_str name;        /* the key: what features call it */
    cg_str package;     /* the package's own name */
    cg_str requirement; /* absent: none written */
    cg_str path, git;   /* absent: none written */
    cg_str base;        /* absent, or the directory `path` is relative to (the workspace's) */
    cg_str platform;    /* of [target.X]: a triple or `cfg(..)`; absent: everywhere */
    cargo_strs features;
    enum cargo_dependency_kind kind;
    bool is_optional;
    bool has_default_features;
    bool is_default_features_set; /* written, not assumed */
    bool is_inherited;            /* `workspace = true`, until manifest_inherit */
    uint32_t line;
} manifest_dependency;

typedef struct manifest_feature {
    cg_str name;
    cargo_strs values; /* as written: `f`, `dep:d`, `d/f`, `d?/f` */
    bool is_implicit;  /* of an optional dependency that no feature names as `dep:` */
} manifest_feature;

typedef struct cargo_manifest {
    bool has_package;
    cg_str name;
    cg_str version;         /* "0.0.0" when none is written */
    cg_str edition;         /* "2015" when none is written */
    cg_str links_workspace; /* package.workspace */
    cg_str build;           /* package.build, absent: build.rs if it is there */
    bool is_build_off;      /* build = false */
    bool is_version_inherited, is_edition_inherited;
    bool has_auto[CARGO_BENCH + 1]; /* targets are looked for where Cargo looks */
    const manifest_target *targets;
    size_t target_count;
    const manifest_dependency *dependencies; /* sorted by name */
    size_t dependency_count;
    const manifest_feature *features; /* sorted by name */
    size_t feature_count;
    bool has_workspace;
    cargo_strs members, excluded, default_members; /* globs, relative */
    cg_str workspace_version, workspace_edition;   /* [workspace.package] */
    const manifest_dependency *workspace_dependencies;
    size_t workspace_dependency_count;
    const manifest_dependency *patches; /* [patch.*], [replace] is not looked at */
    size_t patch_count;
    uint32_t metadata; /* [package.metadata.candle-graph] in the document, or TOML_NONE */
} cargo_manifest;

/* CG_INPUT with the line of what has no meaning. */
cg_code cargo_manifest_read(arena *mem, heap *from, const toml_document *doc, cargo_manifest *ret,
                            cg_err *reterr) CG_MUST;

/*
 * Put in what `self` takes over from `root`, the manifest of its workspace in the directory `base`.
 * CG_INPUT when the workspace does not have it.
 */
cg_code manifest_inherit(arena *mem, cargo_manifest *self, const cargo_manifest *root, cg_str base,
                         cg_err *reterr) CG_MUST;

/* The feature of that name, also an implicit one; NULL: none. */
const manifest_feature *manifest_feature_find(const cargo_manifest *self, cg_str name);

/* The dependencies that features call `name`: the index of the first and how many. */
size_t manifest_dependency_find(const cargo_manifest *self, cg_str name, size_t *ret_first);

/* Does anything of it wait for manifest_inherit? */
bool manifest_is_inheriting(const cargo_manifest *self);

#endif
