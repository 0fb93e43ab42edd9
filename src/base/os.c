#include "base/os.h"

#include "base/os_name.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* --- the kernel --- */

static int kernel_open_at(void *context, int directory, const char *path, int flags, unsigned mode)
{
    (void)context;
    return openat(directory, path, flags, (mode_t)mode);
}

static int kernel_close(void *context, int file)
{
    (void)context;
    return close(file);
}

static int64_t kernel_read(void *context, int file, void *to, size_t count)
{
    (void)context;
    return read(file, to, count);
}

static int64_t kernel_write(void *context, int file, const void *from, size_t count)
{
    (void)context;
    return write(file, from, count);
}

static int kernel_fstat(void *context, int file, struct stat *ret)
{
    (void)context;
    return fstat(file, ret);
}

static int kernel_lstat_at(void *context, int directory, const char *path, struct stat *ret)
{
    (void)context;
    return fstatat(directory, path, ret, AT_SYMLINK_NOFOLLOW);
}

static int kernel_fsync(void *context, int file)
{
    (void)context;
    return fsync(file);
}

static int kernel_rename_at(void *context, int from_directory, const char *from, int to_directory,
                            const char *to)
{
    (void)context;
    return renameat(from_directory, from, to_directory, to);
}

static int kernel_unlink_at(void *context, int directory, const char *path, int flags)
{
    (void)context;
    return unlinkat(directory, path, flags);
}

static int kernel_mkdir_at(void *context, int directory, const char *path, unsigned mode)
{
    (void)context;
    return mkdirat(directory, path, (mode_t)mode);
}

static int64_t kernel_random(void *context, void *to, size_t count)
{
    (void)context;
    return getrandom(to, count, 0);
}

static uint64_t kernel_monotonic_ns(void *context)
{
    struct timespec now;

    (void)context;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static int64_t kernel_read_directory(void *context, int directory, void *to, size_t count)
{
    (void)context;
    return getdents64(directory, to, count);
}

static int64_t kernel_seek(void *context, int file, int64_t offset)
{
    (void)context;
    return lseek(file, (off_t)offset, SEEK_SET);
}

static int kernel_rename_new_at(void *context, int from_directory, const char *from,
                                int to_directory, const char *to)
{
    (void)context;
    return renameat2(from_directory, from, to_directory, to, RENAME_NOREPLACE);
}

static int kernel_lock(void *context, int file)
{
    (void)context;
    return flock(file, LOCK_EX | LOCK_NB);
}

static const os_calls kernel_calls = {
    .open_at = kernel_open_at,
    .close = kernel_close,
    .read = kernel_read,
    .write = kernel_write,
    .fstat = kernel_fstat,
    .lstat_at = kernel_lstat_at,
    .fsync = kernel_fsync,
    .rename_at = kernel_rename_at,
    .unlink_at = kernel_unlink_at,
    .mkdir_at = kernel_mkdir_at,
    .random = kernel_random,
    .monotonic_ns = kernel_monotonic_ns,
    .read_directory = kernel_read_directory,
    .seek = kernel_seek,
    .rename_new_at = kernel_rename_new_at,
    .lock = kernel_lock,
};

const os_calls *os_of(const cg_env *env)
{
    if (env != NULL && env->size >= offsetof(cg_env, os) + sizeof env->os && env->os != NULL)
        return env->os;
    return &kernel_calls;
}

int os_fstat(const os_calls *os, int file, struct stat *ret)
{
    int result;

    do
        result = os->fstat(os->context, file, ret);
    while (result != 0 && errno == EINTR);
    return result;
}

int os_lstat_at(const os_calls *os, int directory, const char *path, struct stat *ret)
{
    int result;

    do
        result = os->lstat_at(os->context, directory, path, ret);
    while (result != 0 && errno == EINTR);
    return result;
}

/* --- words for what the kernel says --- */

typedef struct os_reason {
    char text[128];
} os_reason;

static const char *os_say(os_reason *self, int number)
{
    return strerror_r(number, self->text, sizeof self->text);
}

static cg_code os_fail_input(cg_str path, const char *what, int number, cg_err *reterr)
{
    os_reason reason;
    bool is_missing = number == ENOENT || number == ENOTDIR;
    cg_code code = cg_fail(reterr, is_missing ? PROBLEM_INPUT_MISSING : PROBLEM_INPUT_UNREADABLE,
                           "%s: %s", what, os_say(&reason, number));

    err_in_file(reterr, path);
    errno = number;
    return code;
}

static cg_code os_fail_output(cg_str path, const char *what, int number, cg_err *reterr)
{
    os_reason reason;
    cg_code code = cg_fail(reterr, PROBLEM_OUTPUT, "%s: %s", what, os_say(&reason, number));

    err_in_file(reterr, path);
    return code;
}

static int os_open_retried(const os_calls *os, int directory, const char *path, int flags,
                           unsigned mode)
{
    int handle;

    do
        handle = os->open_at(os->context, directory, path, flags | O_CLOEXEC, mode);
    while (handle < 0 && errno == EINTR);
    return handle;
}

/* Description of what the path leads to, without the effects that opening a pipe or device has. */
static int os_stat_followed(const os_calls *os, int directory, const char *path, struct stat *ret)
{
    int handle = os_open_retried(os, directory, path, O_PATH, 0);
    int result;
    int number;

    if (handle < 0)
        return -1;
    result = os_fstat(os, handle, ret);
    number = errno;
    os->close(os->context, handle);
    errno = number;
    return result;
}

static enum os_kind os_kind_of_mode(mode_t mode)
{
    if (S_ISREG(mode))
        return OS_FILE;
    if (S_ISDIR(mode))
        return OS_DIRECTORY;
    if (S_ISLNK(mode))
        return OS_LINK;
    return S_ISFIFO(mode) ? OS_PIPE : OS_OTHER;
}

cg_code os_kind_of(const cg_env *env, cg_str path, bool follow, enum os_kind *ret, cg_err *reterr)
{
    const os_calls *os = os_of(env);
    char name[PATH_MAX];
    struct stat about;
    int result = -1;

    if (os_name(name, sizeof name, path))
        result = follow ? os_stat_followed(os, AT_FDCWD, name, &about)
                        : os_lstat_at(os, AT_FDCWD, name, &about);
    if (result == 0) {
        *ret = os_kind_of_mode(about.st_mode);
        return CG_OK;
    }
    if (errno != ENOENT && errno != ENOTDIR)
        return os_fail_input(path, "cannot be examined", errno, reterr);
    *ret = OS_MISSING;
    return CG_OK;
}

/* --- reading --- */

/* A signal came while a pipe kept us waiting: does the caller of the library want to stop? */
static bool is_stopped(const cg_env *env)
{
    return !env_progress(env, "waiting for a pipe", 0, 0);
}

cg_code os_open_read(const cg_env *env, cg_str path, os_file *ret, cg_err *reterr)
{
    const os_calls *os = os_of(env);
    char name[PATH_MAX];
    struct stat about;
    int number = 0;
    int handle;

    *ret = (os_file){.handle = -1};
    if (!os_name(name, sizeof name, path))
        return os_fail_input(path, "cannot be opened", errno, reterr);
    while ((handle = os->open_at(os->context, AT_FDCWD, name, O_RDONLY | O_NOCTTY | O_CLOEXEC, 0)) <
           0) {
        if (errno != EINTR)
            return os_fail_input(path, "cannot be opened", errno, reterr);
        if (is_stopped(env))
            return cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped while opening the input");
    }
    if (os_fstat(os, handle, &about) != 0)
        number = errno;
    else if (S_ISDIR(about.st_mode))
        number = EISDIR;
    if (number != 0) {
        os->close(os->context, handle);
        return os_fail_input(path, "cannot be read", number, reterr);
    }
    *ret = (os_file){.os = os,
                     .env = env,
                     .handle = handle,
                     .is_regular = S_ISREG(about.st_mode),
                     .device = (uint64_t)about.st_dev,
                     .inode = (uint64_t)about.st_ino};
    if (ret->is_regular && about.st_size > 0)
        ret->size = (uint64_t)about.st_size;
    return CG_OK;
}

cg_code os_seek(os_file *file, uint64_t offset, cg_err *reterr)
{
    int64_t result = -1;

    errno = EINVAL;
    if (offset <= INT64_MAX)
        result = file->os->seek(file->os->context, file->handle, (int64_t)offset);
    if (result < 0) {
        os_reason reason;

        return cg_fail(reterr, PROBLEM_INPUT_UNREADABLE, "cannot be read: %s",
                       os_say(&reason, errno));
    }
    return CG_OK;
}

cg_code os_read(os_file *file, void *to, size_t count, size_t *ret, cg_err *reterr)
{
    int64_t got;

    if (count > SSIZE_MAX)
        count = SSIZE_MAX;
    while ((got = file->os->read(file->os->context, file->handle, to, count)) < 0) {
        os_reason reason;

        if (errno != EINTR)
            return cg_fail(reterr, PROBLEM_INPUT_UNREADABLE, "cannot be read: %s",
                           os_say(&reason, errno));
        if (is_stopped(file->env))
            return cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped while reading the input");
    }
    *ret = (size_t)got;
    return CG_OK;
}

void os_close(os_file *file)
{
    if (file->os != NULL && file->handle >= 0)
        file->os->close(file->os->context, file->handle);
    file->handle = -1;
}

cg_code os_read_to_end(os_file *file, buf *ret, cg_err *reterr)
{
    size_t step = (size_t)64 << 10;

    /* One byte more than the file is said to hold shows its end without another round. */
    if (file->size < SIZE_MAX - 1 && file->size >= step)
        step = (size_t)file->size + 1;
    for (;;) {
        size_t left = ret->ceiling - ret->len;
        size_t wanted = step < left ? step : left;
        size_t got = 0;
        char extra;
        char *room = wanted == 0 ? &extra : buf_room(ret, wanted);

        if (room == NULL)
            return err_nomem(reterr);
        CG_TRY(os_read(file, room, wanted == 0 ? 1 : wanted, &got, reterr));
        if (got == 0)
            return CG_OK;
        if (wanted == 0)
            return cg_fail(reterr, PROBLEM_LIMIT, "the file is larger than %zu bytes",
                           ret->ceiling);
        ret->len += got;
        step = ret->capacity - ret->len - 1;
        if (step == 0)
            step = (size_t)64 << 10;
    }
}

cg_code os_read_whole(const cg_env *env, cg_str path, buf *ret, cg_err *reterr)
{
    os_file file;
    cg_code code;

    CG_TRY(os_open_read(env, path, &file, reterr));
    code = os_read_to_end(&file, ret, reterr);
    os_close(&file);
    if (code != CG_OK)
        err_in_file(reterr, path);
    return code;
}

uint64_t os_random(const cg_env *env)
{
    const os_calls *os = os_of(env);
    uint64_t bits = 0;
    uint64_t clock;

    if (os->random(os->context, &bits, sizeof bits) == (int64_t)sizeof bits)
        return bits;
    /* Good enough to tell names and hash tables apart; nothing secret depends on it. */
    clock = os->monotonic_ns(os->context) + (uint64_t)(uintptr_t)&bits;
    clock = (clock ^ clock >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return clock ^ clock >> 29;
}

/* --- writing --- */

static cg_str output_path(const os_output *self)
{
    return str_from(self->path);
}

static cg_code output_fail(const os_output *self, const char *what, int number, cg_err *reterr)
{
    return os_fail_output(output_path(self), what, number, reterr);
}

static bool output_copy_path(os_output *self, cg_str path)
{
    self->path_size = 2 * (path.len + 1);
    self->path = heap_resize(self->heap, NULL, 0, self->path_size);
    if (self->path == NULL)
        return false;
    memset(self->path, 0, self->path_size);
    memcpy(self->path, path.ptr, path.len);
    self->made = self->path + path.len + 1;
    return true;
}

/* Length of the directory part of path[0..len), without slashes at its end; 0: there is none. */
static size_t parent_length(const char *path, size_t len)
{
    while (len > 0 && path[len - 1] == '/')
        len--;
    while (len > 0 && path[len - 1] != '/')
        len--;
    while (len > 1 && path[len - 1] == '/')
        len--;
    return len;
}

/* The first `len` bytes of the path as a name for the kernel. */
static const char *output_prefix(const os_output *self, char ret[PATH_MAX], size_t len)
{
    if (len == 0)
        return ".";
    memcpy(ret, self->path, len);
    ret[len] = '\0';
    return ret;
}

/* Length of the directory part after going up `count` more times. */
static size_t output_parent(const os_output *self, unsigned count)
{
    size_t len = parent_length(self->path, strlen(self->path));

    for (; count > 0; count--)
        len = parent_length(self->path, len);
    return len;
}

/* Take back directories that were made, innermost first: as far as they are empty. */
static void output_remove_parents(os_output *self)
{
    const os_calls *os = self->os;
    char prefix[PATH_MAX];

    for (size_t len = output_parent(self, 0); len > 0; len = parent_length(self->path, len)) {
        if (self->made[len] != 0)
            os->unlink_at(os->context, AT_FDCWD, output_prefix(self, prefix, len), AT_REMOVEDIR);
        self->made[len] = 0;
    }
}

/*
 * Make the missing directories, outermost first; all of them or none. What is there by then is
 * left alone: `a/..` is there as soon as `a` is, and somebody else may be making directories too.
 */
static int output_make_parents(os_output *self)
{
    const os_calls *os = self->os;
    char prefix[PATH_MAX];
    unsigned missing = 0;
    struct stat about;

    while (os_stat_followed(os, AT_FDCWD, output_prefix(self, prefix, output_parent(self, missing)),
                            &about) != 0) {
        if (errno != ENOENT || output_parent(self, missing) == 0)
            return -1;
        missing++;
    }
    for (; missing > 0; missing--) {
        size_t len = output_parent(self, missing - 1);
        int number;

        if (os->mkdir_at(os->context, AT_FDCWD, output_prefix(self, prefix, len),
                         self->is_private ? 0700 : 0777) == 0) {
            self->made[len] = 1;
            continue;
        }
        number = errno;
        if (number == EEXIST)
            continue;
        output_remove_parents(self);
        errno = number;
        return -1;
    }
    return 0;
}

static cg_code output_open_parent(os_output *self, cg_err *reterr)
{
    const os_calls *os = self->os;
    const int flags = O_RDONLY | O_DIRECTORY;
    char prefix[PATH_MAX];
    const char *parent = output_prefix(self, prefix, output_parent(self, 0));

    self->directory = os_open_retried(os, AT_FDCWD, parent, flags, 0);
    if (self->directory < 0 && errno == ENOENT) {
        if (output_make_parents(self) != 0)
            return output_fail(self, "its folder cannot be made", errno, reterr);
        self->directory = os_open_retried(os, AT_FDCWD, parent, flags, 0);
    }
    if (self->directory < 0)
        return output_fail(self, "its folder cannot be opened", errno, reterr);
    return CG_OK;
}

static bool is_stream_mode(mode_t mode)
{
    return S_ISFIFO(mode) || S_ISCHR(mode);
}

/* Write straight to the pipe or device that stands there. */
static cg_code output_open_stream(os_output *self, cg_err *reterr)
{
    struct stat about;

    while ((self->handle = self->os->open_at(self->os->context, self->directory, self->name,
                                             O_WRONLY | O_NOCTTY | O_CLOEXEC, 0)) < 0) {
        if (errno != EINTR)
            return output_fail(self, "cannot be opened", errno, reterr);
        if (is_stopped(self->env))
            return cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped while opening the output");
    }
    self->is_stream = true;
    if (os_fstat(self->os, self->handle, &about) != 0)
        return output_fail(self, "cannot be examined", errno, reterr);
    if (!is_stream_mode(about.st_mode))
        return output_fail(self, "was replaced while it was opened", EAGAIN, reterr);
    return CG_OK;
}

/* `.NAME.tmp-<16 hex>`, with as much of NAME as fits. */
static void output_name_temporary(os_output *self, uint64_t number)
{
    const size_t rest = sizeof ".."
                               "tmp-0123456789abcdef";
    size_t len = strlen(self->name);
    size_t room = sizeof self->temporary - rest;

    if (len > room) {
        len = room;
        while (len > 0 && ((unsigned char)self->name[len] & 0xC0) == 0x80)
            len--;
    }
    snprintf(self->temporary, sizeof self->temporary, ".%.*s.tmp-%016" PRIx64, (int)len, self->name,
             number);
}

/*
 * Temporary files that are looked after have one of so few names: what a process that was killed
 * has left is found without listing the directory. Whoever writes one holds its lock; one that
 * nobody holds is stale. Only the holder of a file's lock removes or renames it, so that between a
 * look at the name and its removal no other file gets there.
 */
#define OUTPUT_SLOTS 4u

static int output_lock(const os_output *self, int handle)
{
    int result;

    do
        result = self->os->lock(self->os->context, handle);
    while (result != 0 && errno == EINTR);
    return result;
}

/* Is `handle`, whose lock is held, what stands at the temporary name? */
static bool output_is_there(const os_output *self, int handle)
{
    struct stat named;
    struct stat held;

    return os_lstat_at(self->os, self->directory, self->temporary, &named) == 0 &&
           os_fstat(self->os, handle, &held) == 0 && S_ISREG(held.st_mode) &&
           named.st_dev == held.st_dev && named.st_ino == held.st_ino;
}

static void output_sweep(os_output *self)
{
    const os_calls *os = self->os;

    for (unsigned slot = 0; slot < OUTPUT_SLOTS; slot++) {
        int handle;

        output_name_temporary(self, slot);
        handle = os_open_retried(os, self->directory, self->temporary,
                                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
        if (handle < 0)
            continue;
        if (output_lock(self, handle) == 0 && output_is_there(self, handle))
            os->unlink_at(os->context, self->directory, self->temporary, 0);
        os->close(os->context, handle);
    }
    self->temporary[0] = '\0';
}

/*
 * Is the file that was just made taken for a stale one by another process? That may be so until
 * its lock is held. Where there are no locks nobody removes anything.
 */
static bool output_is_lost(const os_output *self)
{
    struct stat about;

    if (output_lock(self, self->handle) != 0)
        return errno == EWOULDBLOCK;
    return os_fstat(self->os, self->handle, &about) == 0 && about.st_nlink == 0;
}

static cg_code output_open_temporary(const cg_env *env, os_output *self, mode_t mode,
                                     cg_err *reterr)
{
    int number = EEXIST;

    output_sweep(self);
    for (unsigned try = 0; try < 2 * OUTPUT_SLOTS && number == EEXIST; try++) {
        output_name_temporary(self, try < OUTPUT_SLOTS ? try : os_random(env));
        self->handle = os_open_retried(self->os, self->directory, self->temporary,
                                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
        if (self->handle < 0) {
            number = errno;
            continue;
        }
        if (!output_is_lost(self))
            return CG_OK;
        self->os->close(self->os->context, self->handle);
        self->handle = -1;
    }
    self->temporary[0] = '\0';
    return output_fail(self, "cannot be created", number, reterr);
}

/* Look at what stands at the path and open accordingly. */
static cg_code output_open_target(const cg_env *env, os_output *self, cg_err *reterr)
{
    const os_calls *os = self->os;
    struct stat about;

    if (os_lstat_at(os, self->directory, self->name, &about) != 0) {
        if (errno != ENOENT)
            return output_fail(self, "cannot be examined", errno, reterr);
        return output_open_temporary(env, self, self->is_private ? 0600 : 0666, reterr);
    }
    if (S_ISLNK(about.st_mode)) {
        if (os_stat_followed(os, self->directory, self->name, &about) != 0 ||
            !is_stream_mode(about.st_mode)) {
            cg_code code = cg_fail(reterr, PROBLEM_OUTPUT_LINK, "is a symbolic link");

            err_in_file(reterr, output_path(self));
            return code;
        }
    }
    if (is_stream_mode(about.st_mode))
        return output_open_stream(self, reterr);
    if (S_ISDIR(about.st_mode))
        return output_fail(self, "cannot be written", EISDIR, reterr);
    if (!S_ISREG(about.st_mode))
        return output_fail(self, "cannot be written", ENOTSUP, reterr);
    /* What was kept from others stays so. */
    return output_open_temporary(env, self, self->is_private ? 0600 : about.st_mode & 0777, reterr);
}

cg_code os_output_open(const cg_env *env, heap *from, cg_str path, bool is_private, os_output *ret,
                       cg_err *reterr)
{
    os_output self = {.os = os_of(env),
                      .env = env,
                      .directory = -1,
                      .handle = -1,
                      .is_private = is_private,
                      .heap = from};
    char checked[PATH_MAX];
    cg_code code;

    *ret = (os_output){.directory = -1, .handle = -1};
    if (!os_name(checked, sizeof checked, path))
        return os_fail_output(path, "cannot be written", errno, reterr);
    if (!output_copy_path(&self, path))
        return err_nomem(reterr);
    self.name = strrchr(self.path, '/');
    self.name = self.name == NULL ? self.path : self.name + 1;
    if (self.name[0] == '\0' || strcmp(self.name, ".") == 0 || strcmp(self.name, "..") == 0)
        code = output_fail(&self, "cannot be written", EISDIR, reterr);
    else
        code = output_open_parent(&self, reterr);
    if (code == CG_OK)
        code = output_open_target(env, &self, reterr);
    if (code != CG_OK) {
        os_output_drop(&self);
        return code;
    }
    *ret = self;
    return CG_OK;
}

cg_code os_output_write(os_output *self, const void *bytes, size_t count, cg_err *reterr)
{
    const char *from = bytes;

    while (count > 0) {
        size_t step = count < SSIZE_MAX ? count : SSIZE_MAX;
        int64_t done = self->os->write(self->os->context, self->handle, from, step);

        if (done < 0 && errno == EINTR) {
            if (self->is_stream && is_stopped(self->env))
                return CG_CLOSED;
            continue;
        }
        if (done < 0 && errno == EPIPE && self->is_stream)
            return CG_CLOSED;
        if (done <= 0)
            return output_fail(self, "cannot be written", done == 0 ? ENOSPC : errno, reterr);
        from += done;
        count -= (size_t)done;
    }
    return CG_OK;
}

/* Some file systems have nothing to sync; that is their answer, not a failure. */
static bool is_sync_missing(int number)
{
    return number == EINVAL || number == ENOTSUP || number == ENOSYS;
}

static int output_sync(const os_calls *os, int handle)
{
    int result;

    do
        result = os->fsync(os->context, handle);
    while (result != 0 && errno == EINTR);
    return result != 0 && is_sync_missing(errno) ? 0 : result;
}

/* The directory of the file, then each directory that got a new one. */
static int output_sync_parents(const os_output *self)
{
    const os_calls *os = self->os;
    char prefix[PATH_MAX];
    int result = output_sync(os, self->directory);

    for (size_t len = output_parent(self, 0); len > 0 && result == 0;) {
        size_t above = parent_length(self->path, len);
        int handle;
        int number;

        if (self->made[len] != 0) {
            handle = os_open_retried(os, AT_FDCWD, output_prefix(self, prefix, above),
                                     O_RDONLY | O_DIRECTORY, 0);
            if (handle < 0)
                return -1;
            result = output_sync(os, handle);
            number = errno;
            os->close(os->context, handle);
            errno = number;
        }
        len = above;
    }
    return result;
}

/* The handle is gone afterwards, whatever the answer. */
static int output_close(os_output *self)
{
    int result = self->os->close(self->os->context, self->handle);

    self->handle = -1;
    return result != 0 && errno != EINTR ? -1 : 0;
}

static cg_code output_publish(os_output *self, cg_err *reterr)
{
    const os_calls *os = self->os;
    bool is_durable;

    if (self->is_stream) {
        if (output_close(self) != 0)
            return output_fail(self, "cannot be written", errno, reterr);
        return CG_OK;
    }
    /* Open until it is in place: its lock keeps the temporary file from being swept. */
    errno = 0;
    if (!self->is_passing &&
        (output_sync(os, self->handle) != 0 || (is_sync_missing(errno) && output_close(self) != 0)))
        return output_fail(self, "cannot be written", errno, reterr);
    if (os->rename_at(os->context, self->directory, self->temporary, self->directory, self->name) !=
        0)
        return output_fail(self, "cannot be put in place", errno, reterr);
    self->temporary[0] = '\0';
    /* All of it is on the disk: there is nothing left that closing could fail to write. */
    if (self->handle >= 0)
        (void)output_close(self);
    is_durable = self->is_passing || output_sync_parents(self) == 0;
    memset(self->made, 0, self->path_size / 2);
    if (!is_durable) {
        os_reason reason;
        cg_code code = cg_fail(reterr, PROBLEM_OUTPUT_DURABILITY, "its folder cannot be synced: %s",
                               os_say(&reason, errno));

        err_in_file(reterr, output_path(self));
        return code;
    }
    return CG_OK;
}

cg_code os_output_commit(os_output *self, cg_err *reterr)
{
    cg_code code = output_publish(self, reterr);

    os_output_drop(self);
    return code;
}

void os_output_drop(os_output *self)
{
    const os_calls *os = self->os;

    if (os == NULL)
        return;
    if (self->temporary[0] != '\0' && self->directory >= 0)
        os->unlink_at(os->context, self->directory, self->temporary, 0);
    if (self->handle >= 0)
        os->close(os->context, self->handle);
    if (self->directory >= 0)
        os->close(os->context, self->directory);
    if (self->path != NULL) {
        output_remove_parents(self);
        heap_resize(self->heap, self->path, self->path_size, 0);
    }
    *self = (os_output){.directory = -1, .handle = -1};
}
