/*
 * graph - the packages of a crate as structures; cargo/workspace has the functions.
 */
#ifndef CG_CARGO_GRAPH_H
#define CG_CARGO_GRAPH_H

#include "cargo/ask.h"
#include "cargo/features.h"
#include "cargo/lock.h"
#include "cargo/sources.h"
#include "cargo/targets.h"

#define CARGO_MISSING UINT32_MAX

typedef struct cargo_options {
    cargo_strs features; /* entries may hold several names, separated by commas or spaces */
    bool is_all_features;
    bool is_no_default_features;
    cg_str target;            /* triple; absent: the host's */
    cg_str cargo_target;      /* name of a target; absent: the library, else the first binary */
    cg_str package;           /* name of a workspace member; absent: the one at the path */
    cargo_strs sources;       /* NAME=DIR: where the sources of a package lie */
    cg_str cargo_home;        /* absent: $CARGO_HOME, else $HOME/.cargo */
    bool is_asking;           /* ask cargo and rustc (cargo/ask.h) */
    const ask_runner *runner; /* NULL: os_run */
} cargo_options;

typedef struct cargo_dependency {
    cg_str extern_name;  /* as code writes it: with `_` */
    cg_str package_name; /* as its own manifest writes it */
    cg_str requirement;  /* text, "" when none is written */
    enum cargo_dependency_kind kind;
    bool is_optional;
    bool is_active;   /* enabled by the features and the target */
    uint32_t package; /* in packages, CARGO_MISSING when inactive or not resolved */
} cargo_dependency;

typedef struct cargo_package {
    cg_str name;
    cg_str version; /* "" when nothing tells it */
    cg_str edition; /* "2015" when the manifest has none; absent until loaded */
    cg_str root;    /* absolute, canonical directory; absent when no source was found */
    cg_str manifest_path;
    bool is_source_found;
    bool is_loaded;
    bool is_member; /* of the scanned workspace, or a path dependency */
    bool has_build_script;
    const cargo_target *targets; /* sorted by name, kind, path */
    size_t target_count;
    uint32_t library; /* in targets, CARGO_MISSING when there is none */
    const cargo_dependency *dependencies;
    size_t dependency_count;
    cargo_strs features;         /* active, sorted */
    cargo_strs feature_names;    /* all that can be chosen, sorted */
    cfg_set cfg;                 /* the target's lines and `feature="..."` of this package */
    struct cargo_detail *detail; /* see below */
} cargo_package;

enum cargo_cfg_source {
    CARGO_CFG_NONE,     /* no manifest, or an unknown target: nothing can be decided */
    CARGO_CFG_BUILT_IN, /* the table of cargo/cfg */
    CARGO_CFG_RUSTC     /* `rustc --print cfg` */
};

typedef struct cargo_diagnostic {
    const char *code; /* "cargo-context" */
    cg_str message;
    cg_str path; /* absent: of no file */
    uint32_t line;
    bool is_note; /* nothing is lost: worth knowing, not worth a warning */
} cargo_diagnostic;

typedef struct cargo_candle {
    cg_str name;
    cg_str versions; /* sorted, joined with `,` */
} cargo_candle;

typedef struct cargo_graph {
    VEC(cargo_package) packages;
    uint32_t root;    /* CARGO_MISSING: directory scan, there are no packages */
    cg_str scan_root; /* canonical directory: of the root package, or the one given */
    cg_str scan_file; /* without packages: the file that was given, the root of its modules */
    cg_str workspace_root;
    cg_str selected_target;   /* name, "unknown" when there is none */
    const uint32_t *selected; /* targets of the root package to scan */
    size_t selected_count;
    cargo_strs active_cfg; /* sorted: that of the root package */
    cg_str target;         /* triple */
    enum cargo_cfg_source cfg_source;
    const cargo_candle *candles; /* sorted by name, without the root package itself */
    size_t candle_count;
    VEC(cargo_diagnostic) diagnostics;
    cargo_inputs inputs;           /* see cargo/files.h */
    const toml_document *manifest; /* of the root package; NULL in a directory scan */
    uint32_t metadata;             /* [package.metadata.candle-graph] in it, or TOML_NONE */
    struct cargo_state *state;     /* see below */
} cargo_graph;

/* --- for this room only --- */

typedef struct cargo_detail {
    cargo_manifest manifest;
    bool has_manifest;        /* read, and what it takes over put in */
    bool is_failed;           /* tried in vain: not again */
    bool has_features;        /* `features` is set up */
    bool is_dirty;            /* waits to be looked at (again) */
    size_t lock;              /* in the lock file, or LOCK_NONE */
    const ask_package *asked; /* what cargo says about it; NULL: not asked */
    cargo_names wanted;       /* features that dependents ask for */
    size_t enabled_count;     /* of them, turned on already */
    feature_state features;
    cargo_dependency *dependencies; /* in the order of the manifest's */
} cargo_detail;

typedef struct cargo_state {
    heap *heap;
    arena mem;
    cargo_files files;
    cargo_sources sources;
    cargo_options options;
    cg_str file;              /* the file that was asked for; absent: a directory was */
    cargo_manifest workspace; /* of the workspace's root, when has_workspace */
    bool has_workspace;
    cargo_strs members; /* directories, when is_members_known */
    bool is_members_known;
    cargo_lock lock;
    bool has_lock;
    cargo_strs target_lines; /* cfg of the target, without features */
    ask_answer answer;
    bool is_answered;
    toml_document *document; /* of the root package's manifest */
    VEC(uint32_t) dirty;
} cargo_state;

#endif
