/*
 * lock - the packages of a Cargo.lock, in any of its formats.
 *
 * What Cargo writes is read line by line; anything else goes through the TOML grammar. Texts are
 * copied into the arena. At most LOCK_BYTES, and in any other form TOML_BYTES.
 */
#ifndef CG_CARGO_LOCK_H
#define CG_CARGO_LOCK_H

#include "cargo/cfg.h"

#define LOCK_BYTES ((size_t)16 << 20)

typedef struct lock_package {
    cg_str name, version;
    cg_str source;           /* `registry+URL`, `git+URL#COMMIT`; absent: a path */
    cargo_strs dependencies; /* as written: `name`, `name version`, `name version (source)` */
} lock_package;

typedef struct cargo_lock {
    const lock_package *packages; /* sorted by name and version */
    size_t count;
} cargo_lock;

cg_code lock_read(const cg_env *env, arena *mem, heap *from, cg_str text, cargo_lock *ret,
                  cg_err *reterr) CG_MUST;

/* All versions of a package: the index of the first one and how many. */
size_t lock_find(const cargo_lock *self, cg_str name, size_t *ret_first);

#define LOCK_NONE SIZE_MAX
/* The package of that name and version number (absent: any, the highest); LOCK_NONE. */
size_t lock_find_version(const cargo_lock *self, cg_str name, cg_str number);

/*
 * The package that `of` (an index, LOCK_NONE: unknown) means by a dependency on `name`. LOCK_NONE
 * when it has none; among several the highest version that `requirement` allows.
 */
size_t lock_resolve(const cargo_lock *self, size_t of, cg_str name, cg_str requirement);

/* The name in front of an entry of `dependencies`, and the version behind it or absent. */
cg_str lock_entry_name(cg_str entry, cg_str *ret_version);

#endif
