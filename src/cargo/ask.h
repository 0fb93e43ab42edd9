/*
 * ask - what cargo and rustc themselves say, for those who opt in (--cargo).
 *
 * Asking runs programs of the tool chain, never one that the scanned crate names: cargo and rustc
 * are looked up on PATH without its relative entries and without those inside the crate; they run
 * in `/`, so that no .cargo/config.toml and no rust-toolchain.toml of the crate is read; their
 * environment is PATH, HOME, CARGO_HOME and RUSTUP_HOME alone; cargo is told to stay offline and
 * to leave the lock file alone. Both have a time limit. What they write is read as hostile input.
 */
#ifndef CG_CARGO_ASK_H
#define CG_CARGO_ASK_H

#include "base/os_run.h"
#include "cargo/cfg.h"

typedef struct ask_question {
    cg_str manifest_path;
    cg_str workspace_root; /* programs in it are not run */
    cargo_strs features;   /* single names */
    bool is_all_features;
    bool is_no_default_features;
    cg_str target; /* triple; absent: the host's */
} ask_question;

typedef struct ask_dependency {
    cg_str extern_name;
    uint32_t package;
} ask_dependency;

typedef struct ask_package {
    cg_str name, version, manifest_path;
    cargo_strs features; /* active, sorted */
    const ask_dependency *dependencies;
    size_t dependency_count;
} ask_package;

typedef struct ask_answer {
    cg_str workspace_root;
    const ask_package *packages;
    size_t package_count;
    uint32_t root; /* the package of the manifest, UINT32_MAX when it is not among them */
} ask_answer;

/* Runs a command as os_run does; tests put their own in place. */
typedef struct ask_runner {
    void *context;
    cg_code (*run)(void *context, const cg_env *env, const os_command *command, buf *output,
                   buf *errors, int *ret_status, cg_err *reterr);
} ask_runner;

/*
 * `cargo metadata` and `rustc --print cfg`. The error says what went wrong in the program's own
 * words, in one line. runner may be NULL: os_run.
 */
cg_code ask_metadata(const cg_env *env, heap *from, arena *mem, const ask_question *question,
                     const ask_runner *runner, ask_answer *ret, cg_err *reterr) CG_MUST;
cg_code ask_cfg(const cg_env *env, heap *from, arena *mem, const ask_question *question,
                const ask_runner *runner, cargo_strs *ret, cg_err *reterr) CG_MUST;

#endif
