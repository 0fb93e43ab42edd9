/*
 * os - the only room with a window to the kernel.
 *
 * Every system call goes through a table that tests replace: fail the k-th
 * call, stop at it, write half. NULL as table means the kernel itself.
 * Calls return what the kernel returns and set errno.
 */
#ifndef CG_BASE_OS_H
#define CG_BASE_OS_H

#include "base/buf.h"

struct stat;

typedef struct os_calls {
    void *context;
    int (*open_at)(void *context, int directory, const char *path, int flags, unsigned mode);
    int (*close)(void *context, int file);
    int64_t (*read)(void *context, int file, void *to, size_t count);
    int64_t (*write)(void *context, int file, const void *from, size_t count);
    int (*fstat)(void *context, int file, struct stat *ret);
    int (*lstat_at)(void *context, int directory, const char *path, struct stat *ret);
    int (*fsync)(void *context, int file);
    int (*rename_at)(void *context, int from_directory, const char *from, int to_directory,
                     const char *to);
    int (*unlink_at)(void *context, int directory, const char *path, int flags);
    int (*mkdir_at)(void *context, int directory, const char *path, unsigned mode);
    int64_t (*random)(void *context, void *to, size_t count);
    uint64_t (*monotonic_ns)(void *context);
    int64_t (*read_directory)(void *context, int directory, void *to, size_t count);
    int64_t (*seek)(void *context, int file, int64_t offset); /* from the start */
    /* As rename_at, but refuses (EEXIST) when something stands there. */
    int (*rename_new_at)(void *context, int from_directory, const char *from, int to_directory,
                         const char *to);
    /* The exclusive lock of an open file or directory, without waiting; its last handle ends it. */
    int (*lock)(void *context, int file);
} os_calls;

/* The table of env, or the kernel's. Never NULL. */
const os_calls *os_of(const cg_env *env);

/* The calls of the table, taken up again when they were only interrupted. */
int os_fstat(const os_calls *os, int file, struct stat *ret);
int os_lstat_at(const os_calls *os, int directory, const char *path, struct stat *ret);

/* --- reading --- */

typedef struct os_file {
    const os_calls *os;
    const cg_env *env; /* NULL: nobody is asked whether to go on waiting */
    int handle;
    bool is_regular;
    uint64_t size; /* bytes at open, 0 for pipes */
    uint64_t device, inode;
} os_file;

enum os_kind { OS_MISSING, OS_FILE, OS_DIRECTORY, OS_LINK, OS_PIPE, OS_OTHER };

/*
 * Kind of `path`; follow: look through links. Errors other than "missing" are reported, and errno
 * is the kernel's.
 */
cg_code os_kind_of(const cg_env *env, cg_str path, bool follow, enum os_kind *ret, cg_err *reterr);

/*
 * Open for reading; links are followed, what was opened is described from the handle. While a pipe
 * keeps this call or os_read waiting, a signal asks the progress report of `env`, which must stay
 * until os_close, whether to go on: CG_INTERRUPTED.
 */
cg_code os_open_read(const cg_env *env, cg_str path, os_file *ret, cg_err *reterr) CG_MUST;
/* Read on from this byte of a regular file. */
cg_code os_seek(os_file *file, uint64_t offset, cg_err *reterr) CG_MUST;
/* Bytes read, 0 at the end. */
cg_code os_read(os_file *file, void *to, size_t count, size_t *ret, cg_err *reterr) CG_MUST;
void os_close(os_file *file);
/* What is left of the file, at most what the ceiling of `ret` allows, appended to `ret`. */
cg_code os_read_to_end(os_file *file, buf *ret, cg_err *reterr) CG_MUST;
/* The same of a whole file. */
cg_code os_read_whole(const cg_env *env, cg_str path, buf *ret, cg_err *reterr) CG_MUST;

/* --- writing: a file that appears whole or not at all --- */

typedef struct os_output {
    const os_calls *os;
    const cg_env *env;
    int directory;
    int handle;
    bool is_stream;     /* a pipe or character device: written directly */
    char temporary[64]; /* name beside the target while it is being written */
    char *name;         /* last part of the path */
    char *path;         /* the whole path, owned; then as many bytes for `made` */
    size_t path_size;
    char *made; /* by length of a prefix of the path: a directory made for this output */
    bool is_private;
    bool is_passing; /* set by the caller: can be made again, is not synced */
    heap *heap;
} os_output;

/*
 * Begin writing `path`: missing parent directories are made, the bytes go to a temporary file
 * beside it; what a killed process left of its own there is removed. Refuses links and directories.
 * `env` must stay until the output is committed or dropped; what it stops while a pipe keeps us
 * waiting ends with CG_INTERRUPTED, from os_output_write with CG_CLOSED. is_private: only the user
 * may read the file, and enter the directories that are made for it.
 */
cg_code os_output_open(const cg_env *env, heap *heap, cg_str path, bool is_private, os_output *ret,
                       cg_err *reterr) CG_MUST;
cg_code os_output_write(os_output *self, const void *bytes, size_t count, cg_err *reterr) CG_MUST;
/*
 * fsync, rename into place, fsync the directory; without is_passing. Afterwards the output is
 * closed.
 */
cg_code os_output_commit(os_output *self, cg_err *reterr) CG_MUST;
/* Remove the temporary file and the directories made for it, close. Harmless after commit. */
void os_output_drop(os_output *self);

/* 64 random bits for hash seeds and temporary names; falls back to the clock. */
uint64_t os_random(const cg_env *env);

#endif
