#define CG_BANNED_EXEMPT
#include "base/banned.h"

#include "record/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/vfs.h>
#endif

static int kernel_open(void *context, const char *path, int flags, unsigned mode)
{
    (void)context;
    return open(path, flags | O_CLOEXEC, (mode_t)mode);
}

static int kernel_close(void *context, int file)
{
    (void)context;
    return close(file);
}

static int64_t kernel_write_at(void *context, int file, const void *from, size_t count, uint64_t at)
{
    (void)context;
    return pwrite(file, from, count, (off_t)at);
}

static int64_t kernel_read_at(void *context, int file, void *to, size_t count, uint64_t at)
{
    (void)context;
    return pread(file, to, count, (off_t)at);
}

static int kernel_allocate(void *context, int file, uint64_t at, uint64_t count)
{
    (void)context;
    return posix_fallocate(file, (off_t)at, (off_t)count);
}

#if defined(__linux__) && defined(FALLOC_FL_KEEP_SIZE)
#define MEMORY_FILES 0x01021994 /* tmpfs, as statfs names it */

static int kernel_take_ahead(void *context, int file, uint64_t at, uint64_t count)
{
    struct statfs about;

    (void)context;
    if (fstatfs(file, &about) != 0) {
        return errno;
    }
    if (about.f_type == MEMORY_FILES) {
        return EOPNOTSUPP; /* it would zero the pages now that are copied over later */
    }
    return fallocate(file, FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)count) == 0 ? 0 : errno;
}
#else
static int kernel_take_ahead(void *context, int file, uint64_t at, uint64_t count)
{
    (void)context;
    (void)file;
    (void)at;
    (void)count;
    return EOPNOTSUPP;
}
#endif

static void *kernel_map(void *context, void *at, size_t count, int protection, int flags, int file,
                        uint64_t offset)
{
    (void)context;
    return mmap(at, count, protection, flags, file, (off_t)offset);
}

static int kernel_truncate(void *context, int file, uint64_t size)
{
    (void)context;
    return ftruncate(file, (off_t)size);
}

static int kernel_sync(void *context, int file)
{
    (void)context;
    return fsync(file);
}

static int kernel_rename(void *context, const char *from, const char *to)
{
    (void)context;
    return rename(from, to);
}

static int kernel_unlink(void *context, const char *path)
{
    (void)context;
    return unlink(path);
}

static int kernel_mkdir(void *context, const char *path, unsigned mode)
{
    (void)context;
    return mkdir(path, (mode_t)mode);
}

static int kernel_lock(void *context, int file)
{
    struct flock whole;

    (void)context;
    memset(&whole, 0, sizeof whole);
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    return fcntl(file, F_SETLK, &whole);
}

/* No signal of the program is handled on our thread. */
static int kernel_thread(void *context, pthread_t *ret, void *(*run)(void *), void *argument)
{
    sigset_t all;
    sigset_t before;

    (void)context;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(ret, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

const rec_sys rec_sys_kernel = {.open = kernel_open,
                                .close = kernel_close,
                                .write_at = kernel_write_at,
                                .read_at = kernel_read_at,
                                .allocate = kernel_allocate,
                                .take_ahead = kernel_take_ahead,
                                .map = kernel_map,
                                .truncate = kernel_truncate,
                                .sync = kernel_sync,
                                .rename = kernel_rename,
                                .unlink = kernel_unlink,
                                .mkdir = kernel_mkdir,
                                .lock = kernel_lock,
                                .thread = kernel_thread};

int rec_write(const rec_sys *sys, int file, const void *from, size_t count, uint64_t at)
{
    const char *bytes = from;

    while (count > 0) {
        int64_t done = sys->write_at(sys->context, file, bytes, count, at);

        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return done < 0 ? errno : EIO;
        }
        bytes += done;
        at += (uint64_t)done;
        count -= (size_t)done;
    }
    return 0;
}

int64_t rec_read(const rec_sys *sys, int file, void *to, size_t count, uint64_t at)
{
    char *bytes = to;
    size_t have = 0;

    while (have < count) {
        int64_t done = sys->read_at(sys->context, file, bytes + have, count - have, at + have);

        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done < 0) {
            return -1;
        }
        if (done == 0) {
            break;
        }
        have += (size_t)done;
    }
    return (int64_t)have;
}

int rec_make_parents(const rec_sys *sys, const char *path)
{
    size_t length = strlen(path);
    char *copy = rec_take(length + 1);
    int error = 0;

    if (copy == NULL) {
        return ENOMEM;
    }
    memcpy(copy, path, length);
    for (size_t i = 1; i < length && error == 0; i++) {
        if (copy[i] == '/' && copy[i - 1] != '/') {
            copy[i] = '\0';
            if (sys->mkdir(sys->context, copy, 0777) != 0 && errno != EEXIST) {
                struct stat info;
                int cause = errno;

                /* A read-only parent of a directory that is there already is no obstacle. */
                if (stat(copy, &info) != 0 || !S_ISDIR(info.st_mode)) {
                    error = cause;
                }
            }
            copy[i] = '/';
        }
    }
    rec_free(copy);
    return error;
}

int rec_sync_parent(const rec_sys *sys, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    char *copy = rec_take(length + 1);
    int error = 0;

    if (copy == NULL) {
        return ENOMEM;
    }
    memcpy(copy, slash == NULL ? "." : path, length);
    int file = sys->open(sys->context, copy, O_RDONLY | O_DIRECTORY, 0);
    rec_free(copy);
    if (file < 0) {
        return errno;
    }
    if (sys->sync(sys->context, file) != 0 && errno != EINVAL) {
        error = errno;
    }
    sys->close(sys->context, file);
    return error;
}

void rec_be_quiet(rec_quiet *self)
{
    sigset_t size;
    sigset_t pending;

    sigemptyset(&size);
    sigaddset(&size, SIGXFSZ);
    sigemptyset(&pending);
    sigpending(&pending);
    self->was_pending = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &size, &self->before);
}

void rec_be_normal(const rec_quiet *self)
{
    sigset_t size;
    struct timespec now = {0, 0};

    sigemptyset(&size);
    sigaddset(&size, SIGXFSZ);
    if (!self->was_pending) {
        while (sigtimedwait(&size, NULL, &now) == SIGXFSZ) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &self->before, NULL);
}

void rec_hide(void *at, size_t bytes)
{
    if (mmap(at, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED) {
        /* Then the old mapping stays and keeps the removed file's blocks: wasteful, not wrong. */
        return;
    }
}

char *rec_join(const char *path, const char *end)
{
    size_t length = strlen(path);
    size_t more = strlen(end) + 1;
    char *text = rec_take(length + more);

    if (text != NULL) {
        memcpy(text, path, length);
        memcpy(text + length, end, more);
    }
    return text;
}

void *rec_take(size_t size)
{
    return calloc(1, size == 0 ? 1 : size);
}

void *rec_resize(void *block, size_t size)
{
    return realloc(block, size == 0 ? 1 : size);
}

void rec_free(void *block)
{
    free(block);
}
