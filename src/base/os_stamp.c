#include "base/os_stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static uint64_t nanoseconds(const struct timespec *at)
{
    return (uint64_t)at->tv_sec * 1000000000u + (uint64_t)at->tv_nsec;
}

void os_stamp_of(const cg_env *env, cg_str path, os_stamp *ret)
{
    char name[PATH_MAX];
    struct stat found;

    *ret = (os_stamp){.kind = OS_OTHER};
    if (path.len >= sizeof name || memchr(path.ptr, '\0', path.len) != NULL)
        return;
    memcpy(name, path.ptr, path.len);
    name[path.len] = '\0';
    if (os_lstat_at(os_of(env), AT_FDCWD, name, &found) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            ret->kind = OS_MISSING;
        return;
    }
    if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode))
        return;
    *ret = (os_stamp){
        .size = (uint64_t)found.st_size,
        .inode = (uint64_t)found.st_ino,
        .device = (uint64_t)found.st_dev,
        .modified_ns = nanoseconds(&found.st_mtim),
        .changed_ns = nanoseconds(&found.st_ctim),
        .kind = S_ISREG(found.st_mode) ? OS_FILE : OS_DIRECTORY,
    };
}

bool os_stamp_equal(const os_stamp *a, const os_stamp *b)
{
    return a->kind != OS_OTHER && a->kind == b->kind && a->size == b->size &&
           a->inode == b->inode && a->device == b->device && a->modified_ns == b->modified_ns &&
           a->changed_ns == b->changed_ns;
}

bool os_stamp_is_settled(const os_stamp *self, uint64_t now_ns)
{
    return self->kind == OS_MISSING ||
           (self->changed_ns < now_ns && now_ns - self->changed_ns > OS_STAMP_TICK_NS &&
            self->modified_ns < now_ns && now_ns - self->modified_ns > OS_STAMP_TICK_NS);
}

uint64_t os_wall_ns(void)
{
    struct timespec now;

    return clock_gettime(CLOCK_REALTIME, &now) == 0 ? nanoseconds(&now) : 0;
}
