/*
 * os_stage - a directory that appears whole or not at all.
 *
 *   CG_TRY(os_stage_open(env, heap, "runs/b", &stage, reterr));   parents are made
 *   os_stage_sweep(&stage);                                       what dead owners left
 *   code = os_stage_begin(env, &stage, reterr);                   runs/.b.staging-<pid>-<random>
 *   code = os_stage_file(&stage, NULL, name, &file, reterr);      write, then os_staged_finish
 *   code = os_stage_sync(&stage, reterr);
 *   code = os_stage_commit(&stage, &is_taken, reterr);            appears, or somebody was first
 *   os_stage_drop(&stage);                                        always
 *
 * The owner holds the lock of the staging directory itself while it is alive.
 * A staging directory whose lock is free belongs to a process that died: sweep
 * removes it. On file systems without locks nothing is ever swept.
 *
 * Interrupted anywhere, the destination is absent or complete. If the kernel
 * cannot rename without replacing, an empty directory is made at the
 * destination and replaced: then a process that dies between these two calls
 * leaves that empty directory, which later runs take for somebody else's.
 */
#ifndef CG_BASE_OS_STAGE_H
#define CG_BASE_OS_STAGE_H

#include "base/digest.h"
#include "base/os_name.h"
#include "base/os_tree.h"
#include "base/vec.h"

/* A directory in which an entry was made on the way to the destination. */
typedef struct os_made {
    int handle;
    bool is_ours; /* else somebody made it at the same time: it is synced, not removed */
    char name[OS_NAME_ROOM];
} os_made;

typedef struct os_stage {
    const os_calls *os;
    heap *heap;
    os_dir parent;           /* where it is to appear */
    os_dir staging;          /* handle -1: not begun; open to the end, also behind the new name */
    bool is_keeping;         /* directories that were made for it stay */
    char name[OS_NAME_ROOM]; /* last part of the destination */
    char staging_name[OS_NAME_ROOM]; /* "" once it is renamed or removed */
    VEC(os_made) made;
} os_stage;

/* A file being written into the stage; `sum` is known after os_staged_finish. */
typedef struct os_staged {
    const os_calls *os;
    int handle;
    digest digest;
    uint64_t bytes;
    uint8_t sum[DIGEST_BYTES];
} os_staged;

/* Open the parent of `path` (`.` for a bare name), make what is missing of it. */
cg_code os_stage_open(const cg_env *env, heap *from, cg_str path, os_stage *ret,
                      cg_err *reterr) CG_MUST;
/* Remove staging directories of this destination whose owner is dead; what fails is left. */
void os_stage_sweep(os_stage *self);
cg_code os_stage_begin(const cg_env *env, os_stage *self, cg_err *reterr) CG_MUST;

/* Make a directory in the stage; close it with os_stage_close_directory, which syncs it. */
cg_code os_stage_directory(os_stage *self, cg_str name, os_dir *ret, cg_err *reterr) CG_MUST;
cg_code os_stage_close_directory(os_dir *directory, cg_err *reterr) CG_MUST;
/* Create a file in `directory` of the stage, or in the stage itself (NULL). */
cg_code os_stage_file(os_stage *self, os_dir *directory, cg_str name, os_staged *ret,
                      cg_err *reterr) CG_MUST;
cg_code os_staged_write(os_staged *self, const void *bytes, size_t count, cg_err *reterr) CG_MUST;
/* fsync and close, in every case; on success the digest is in `sum`. */
cg_code os_staged_finish(os_staged *self, cg_err *reterr) CG_MUST;
/* Close a file that is not wanted any more. */
void os_staged_drop(os_staged *self);

cg_code os_stage_sync(os_stage *self, cg_err *reterr) CG_MUST;
/*
 * Rename into place and make that durable. *ret_is_taken: something stands at the destination and
 * nothing was done. CG_DURABILITY: it is in place, but a sync failed.
 */
cg_code os_stage_commit(os_stage *self, bool *ret_is_taken, cg_err *reterr) CG_MUST;
/* Make durable what somebody else has put there. CG_DURABILITY. */
cg_code os_stage_settle(os_stage *self, cg_err *reterr) CG_MUST;
/* Name for a trace that is recorded beside the destination: `.NAME.trace-<pid>-<random>.jsonl`. */
bool os_stage_trace_name(const cg_env *env, const os_stage *self, char ret[OS_NAME_ROOM]);
/* Remove such traces with exactly this content; what fails is left. */
void os_stage_sweep_traces(os_stage *self, uint64_t bytes, const uint8_t sum[DIGEST_BYTES]);
/* Remove what was not published, and directories made for it; close everything. */
void os_stage_drop(os_stage *self);

#endif
