/*
 * sources - where on this machine the source of a package lies: given directories, the vendored
 * ones of the workspace, the registry's unpacked archives, checkouts of git. Nothing is fetched.
 */
#ifndef CG_CARGO_SOURCES_H
#define CG_CARGO_SOURCES_H

#include "cargo/files.h"
#include "cargo/manifest.h"

typedef struct cargo_sources {
    cargo_files *files;
    cg_str home;            /* of Cargo; absent: none */
    cg_str vendor;          /* directory `vendor` of the workspace; absent: none */
    cargo_strs given;       /* NAME=DIR */
    cargo_names registries; /* directories with NAME-VERSION in them */
    cargo_names archives;   /* all of these, sorted by their last part */
    cargo_names checkouts;  /* of git: directories NAME-HASH */
    bool is_archives_listed, is_checkouts_listed;
} cargo_sources;

/* home absent: $CARGO_HOME, else $HOME/.cargo. */
cg_code sources_init(cargo_sources *self, cargo_files *files, cg_str home, cg_str workspace_root,
                     cargo_strs given, cg_err *reterr) CG_MUST;
void sources_free(cargo_sources *self);

/* The directory given for a package; absent: none. */
cg_str sources_given(const cargo_sources *self, cg_str name);

/* The directory of exactly this version; absent: none. */
cg_code sources_find(cargo_sources *self, cg_str name, cg_str number, cg_str *ret,
                     cg_err *reterr) CG_MUST;

/* The highest version there is that the requirement allows, and its directory; absent: none. */
cg_code sources_choose(cargo_sources *self, cg_str name, cg_str requirement, cg_str *ret_number,
                       cg_str *ret, cg_err *reterr) CG_MUST;

/*
 * The checkout of a repository: at `commit`, or with an absent one any. The directory of the whole
 * repository; absent: none.
 */
cg_code sources_checkout(cargo_sources *self, cg_str url, cg_str commit, cg_str *ret,
                         cg_err *reterr) CG_MUST;

/*
 * Directories below `root` that patterns of [workspace] members mean and that hold a Cargo.toml,
 * sorted, without the excluded ones.
 */
cg_code sources_members(cargo_files *files, cg_str root, const cargo_manifest *workspace,
                        cargo_strs *ret, cg_err *reterr) CG_MUST;

#endif
