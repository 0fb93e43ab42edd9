/*
 * sys - the system calls of recording, as a table that tests replace.
 *
 * Calls return what the kernel returns and set errno, but for `allocate`, `take_ahead` and
 * `thread`, which return the error.
 * The recorder uses its own table instead of base/os: it maps memory, locks and starts a thread,
 * and takes nothing from the lower rooms that allocates.
 */
#ifndef CG_RECORD_SYS_H
#define CG_RECORD_SYS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rec_sys {
    void *context;
    int (*open)(void *context, const char *path, int flags, unsigned mode);
    int (*close)(void *context, int file);
    int64_t (*write_at)(void *context, int file, const void *from, size_t count, uint64_t at);
    int64_t (*read_at)(void *context, int file, void *to, size_t count, uint64_t at);
    int (*allocate)(void *context, int file, uint64_t at, uint64_t count);
    /* Take blocks without making the file longer. EOPNOTSUPP: none here, or no gain. */
    int (*take_ahead)(void *context, int file, uint64_t at, uint64_t count);
    void *(*map)(void *context, void *at, size_t count, int protection, int flags, int file,
                 uint64_t offset);
    int (*truncate)(void *context, int file, uint64_t size);
    int (*sync)(void *context, int file);
    int (*rename)(void *context, const char *from, const char *to);
    int (*unlink)(void *context, const char *path);
    int (*mkdir)(void *context, const char *path, unsigned mode);
    int (*lock)(void *context, int file);
    int (*thread)(void *context, pthread_t *ret, void *(*run)(void *), void *argument);
} rec_sys;

extern const rec_sys rec_sys_kernel;

/* Write all of it, retrying interrupted and short writes. 0 or the error. */
int rec_write(const rec_sys *sys, int file, const void *from, size_t count, uint64_t at);
/* Read up to `count` bytes, less at the end of the file only. -1: errno. */
int64_t rec_read(const rec_sys *sys, int file, void *to, size_t count, uint64_t at);
/* Make the missing parent directories of `path`. 0 or the error. */
int rec_make_parents(const rec_sys *sys, const char *path);
/* fsync the directory that holds `path`. 0 or the error. */
int rec_sync_parent(const rec_sys *sys, const char *path);
/* `path` with `end` behind it, from rec_take. */
char *rec_join(const char *path, const char *end);

/* SIGXFSZ would kill the program where a full disk only fails: it waits until we are done. */
typedef struct rec_quiet {
    sigset_t before;
    bool was_pending;
} rec_quiet;
void rec_be_quiet(rec_quiet *self);
void rec_be_normal(const rec_quiet *self);

/* Memory nobody else sees takes the place of a mapping: late stores of other threads end here. */
void rec_hide(void *at, size_t bytes);

/*
 * Memory comes from the C library: the recorder lives in a foreign process and must not bring an
 * allocator of its own. NULL when there is none. rec_free(NULL) is harmless.
 */
void *rec_take(size_t size); /* zeroed */
void *rec_resize(void *block, size_t size);
void rec_free(void *block);

#endif
