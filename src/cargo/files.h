/*
 * files - what Cargo's part of the static plane reads from the disk, and a list of it.
 *
 * Every file that was read, and every manifest and lock file that was looked for in vain, is an
 * input. Files that are not there are no error. What lies in directories (targets,
 * members, sources) is no input: looking again costs a few milliseconds.
 */
#ifndef CG_CARGO_FILES_H
#define CG_CARGO_FILES_H

#include "base/arena.h"
#include "base/digest.h"
#include "base/os_dir.h"
#include "base/vec.h"
#include "codec/toml.h"

typedef struct cargo_input {
    cg_str path;
    bool is_missing; /* then without a sum */
    uint8_t sum[DIGEST_BYTES];
} cargo_input;

typedef VEC(cargo_input) cargo_inputs;
typedef VEC(cg_str) cargo_names; /* grows on the heap */

typedef struct cargo_files {
    const cg_env *env;
    heap *heap;
    arena *mem;
    cargo_inputs *inputs;
    /* Tells the user about a path, which may then be done without. NULL: such things fail. */
    cg_code (*say)(void *context, cg_str path, cg_str message, cg_err *reterr);
    void *context;
} cargo_files;

#define FILES_BYTES ((size_t)16 << 20) /* of one file; larger is a mistake or an attack */

/*
 * The file's text in `ret` (a fresh buf); *ret_is_there is false when there is none. CG_INPUT: what
 * is there is no file; CG_NOT_FOUND: it cannot be read, and another time it perhaps can.
 */
cg_code files_read(cargo_files *self, cg_str path, buf *ret, bool *ret_is_there,
                   cg_err *reterr) CG_MUST;
/* The same as a document; NULL when there is no file. The caller frees it. */
cg_code files_read_toml(cargo_files *self, cg_str path, toml_document **ret,
                        cg_err *reterr) CG_MUST;

/*
 * Is it there and of that kind (links followed)? A link in a circle, and a name that is too long
 * for any file, are not there. CG_NOT_FOUND: nobody can tell.
 */
cg_code files_is(const cargo_files *self, cg_str path, enum os_kind kind, bool *ret,
                 cg_err *reterr) CG_MUST;
/* The same of what others put there: that we may not look at it is said, then it is not there. */
cg_code files_has(const cargo_files *self, cg_str path, enum os_kind kind, bool *ret,
                  cg_err *reterr) CG_MUST;

/* The path without links, as os_real_path; *ret_is_there as files_has tells it. */
cg_code files_real(const cargo_files *self, cg_str path, cg_str *ret, bool *ret_is_there,
                   cg_err *reterr) CG_MUST;
/* Tell the user about a path. */
cg_code files_say(const cargo_files *self, cg_str path, cg_str message, cg_err *reterr) CG_MUST;

/* The entries of a directory, sorted; none when it is not there. Fails as files_is. */
cg_code files_list(cargo_files *self, cg_str path, os_entries *ret, cg_err *reterr) CG_MUST;

/*
 * The directories in a directory, links followed, hidden ones left out, as paths; appended. Those
 * we may not look at are said and left out, as files_has does it.
 */
cg_code files_list_directories(cargo_files *self, cg_str path, cargo_names *to,
                               cg_err *reterr) CG_MUST;

/* `name` seen from `directory`: an absolute name stays as it is. */
cg_code files_join(arena *mem, cg_str directory, cg_str name, cg_str *ret, cg_err *reterr) CG_MUST;
/* The directory above; empty above `/`. */
cg_str files_parent(cg_str path);
/* The last part. */
cg_str files_name(cg_str path);
/* Is `path` the directory `root` or below it, by name? */
bool files_is_below(cg_str path, cg_str root);

/* Does a path relative to some directory match a pattern of Cargo (`*`, `?`, `**` as a part)? */
bool files_match(cg_str pattern, cg_str path);

#endif
