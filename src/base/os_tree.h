/*
 * os_tree - what a directory tree is made of, looked at through open handles.
 *
 * An identity says which file a handle holds and in which state. Two equal
 * identities of one handle mean that nobody has written to the file, changed
 * its name or its links in between, as far as the clock of the file system can
 * tell two moments apart.
 */
#ifndef CG_BASE_OS_TREE_H
#define CG_BASE_OS_TREE_H

#include "base/os_dir.h"

typedef struct os_identity {
    uint64_t device, inode;
    uint64_t size;
    int64_t changed_s, changed_ns;   /* of the inode: every write, rename and chmod moves it */
    int64_t modified_s, modified_ns; /* of the content */
} os_identity;

/* Identity of what the handle holds. */
cg_code os_file_identity(const os_file *file, os_identity *ret, cg_err *reterr) CG_MUST;
bool os_identity_equal(const os_identity *a, const os_identity *b);
/* Read from the start again. */
cg_code os_file_rewind(os_file *file, cg_err *reterr) CG_MUST;

/* Open a directory that lies in another one; links are refused. Close with os_dir_close. */
cg_code os_dir_enter(os_dir *self, cg_str name, os_dir *ret, cg_err *reterr) CG_MUST;

/* Names in the directory that begin with `prefix`, in no order, in `mem`. */
typedef struct os_names {
    const cg_str *at;
    size_t count;
} os_names;
cg_code os_dir_find(os_dir *self, heap *from, arena *mem, cg_str prefix, os_names *ret,
                    cg_err *reterr) CG_MUST;

/* Kind of the entry `name` itself, OS_MISSING when there is none. */
cg_code os_dir_kind(os_dir *self, cg_str name, enum os_kind *ret, cg_err *reterr) CG_MUST;

/* Remove a file, as far as that is possible. */
void os_remove_file(const cg_env *env, cg_str path);

/* Call repeatedly while the kernel was only interrupted. */
#define OS_RETRY(result, call)                                                                     \
    do                                                                                             \
        (result) = (call);                                                                         \
    while ((result) < 0 && errno == EINTR)

#endif
