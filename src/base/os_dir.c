#include "base/os_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "base/os_name.h"
#include "base/sort.h"
#include "base/vec.h"

#define LIST_BLOCK ((size_t)32 << 10)

static cg_code fail(cg_str name, const char *what, int number, cg_err *reterr)
{
    char room[128];
    bool is_missing = number == ENOENT || number == ENOTDIR;
    const char *reason = strerror_r(number, room, sizeof room);
    enum problem problem = is_missing ? PROBLEM_INPUT_MISSING : PROBLEM_INPUT_UNREADABLE;

    cg_code code =
        name.len == 0
            ? cg_fail(reterr, problem, "the folder cannot be %s: %s", what, reason)
            : cg_fail(reterr, problem, "`%.*s` cannot be %s: %s", ERR_STR(name), what, reason);

    errno = number;
    return code;
}

static int open_retried(const os_calls *os, int directory, const char *name, int flags)
{
    int handle;

    do
        handle = os->open_at(os->context, directory, name, flags | O_RDONLY | O_CLOEXEC, 0);
    while (handle < 0 && errno == EINTR);
    return handle;
}

cg_code os_dir_open(const cg_env *env, cg_str path, os_dir *ret, cg_err *reterr)
{
    const os_calls *os = os_of(env);
    char name[PATH_MAX];
    int handle = -1;

    *ret = (os_dir){.os = os, .handle = -1};
    if (os_name(name, sizeof name, path))
        handle = open_retried(os, AT_FDCWD, name, O_DIRECTORY);
    if (handle < 0)
        return fail((cg_str){0}, "opened", errno, reterr);
    ret->handle = handle;
    return CG_OK;
}

void os_dir_close(os_dir *self)
{
    if (self->handle >= 0)
        self->os->close(self->os->context, self->handle);
    self->handle = -1;
}

/* --- listing --- */

typedef struct listing {
    heap *heap;
    arena *mem;
    VEC(os_entry) entries;
    size_t ceiling;
} listing;

static enum os_kind kind_of_mode(mode_t mode)
{
    if (S_ISREG(mode))
        return OS_FILE;
    if (S_ISDIR(mode))
        return OS_DIRECTORY;
    if (S_ISLNK(mode))
        return OS_LINK;
    return S_ISFIFO(mode) ? OS_PIPE : OS_OTHER;
}

static cg_code list_entry(os_dir *self, listing *list, const char *name, cg_err *reterr)
{
    os_entry entry = {.kind = OS_OTHER};
    os_entry *added;
    struct stat about;

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return CG_OK;
    if (os_lstat_at(self->os, self->handle, name, &about) != 0)
        return errno == ENOENT ? CG_OK : fail(str_from(name), "examined", errno, reterr);
    if (list->entries.count >= list->ceiling)
        return cg_fail(reterr, PROBLEM_LIMIT, "the folder holds more than %zu entries",
                       list->ceiling);
    entry.kind = kind_of_mode(about.st_mode);
    added = vec_add(list->heap, &list->entries);
    if (added == NULL || !arena_text(list->mem, str_from(name), &entry.name))
        return err_nomem(reterr);
    *added = entry;
    return CG_OK;
}

static cg_code list_block(os_dir *self, listing *list, const char *block, size_t size,
                          cg_err *reterr)
{
    size_t at = 0;

    while (at < size) {
        uint16_t length;

        memcpy(&length, block + at + offsetof(struct dirent64, d_reclen), sizeof length);
        if (length <= offsetof(struct dirent64, d_name) || length > size - at)
            return fail((cg_str){0}, "listed", EIO, reterr);
        CG_TRY(list_entry(self, list, block + at + offsetof(struct dirent64, d_name), reterr));
        at += length;
    }
    return CG_OK;
}

static bool name_before(const void *context, uint32_t a, uint32_t b)
{
    const os_entry *entries = context;

    return str_compare(entries[a].name, entries[b].name) < 0;
}

static cg_code sort_listing(listing *list, os_entries *ret, cg_err *reterr)
{
    size_t count = list->entries.count;
    size_t size = 2 * count * sizeof(uint32_t);
    os_entry *sorted = arena_take(list->mem, (count > 0 ? count : 1) * sizeof *sorted);
    uint32_t *order;

    if (sorted == NULL)
        return err_nomem(reterr);
    *ret = (os_entries){sorted, count};
    if (count == 0)
        return CG_OK;
    order = heap_resize(list->heap, NULL, 0, size);
    if (order == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort_with(order, order + count, count, name_before, list->entries.at);
    for (size_t i = 0; i < count; i++)
        sorted[i] = list->entries.at[order[i]];
    heap_resize(list->heap, order, size, 0);
    return CG_OK;
}

static cg_code read_listing(os_dir *self, listing *list, char *block, cg_err *reterr)
{
    for (;;) {
        int64_t size;

        do
            size = self->os->read_directory(self->os->context, self->handle, block, LIST_BLOCK);
        while (size < 0 && errno == EINTR);
        if (size < 0)
            return fail((cg_str){0}, "listed", errno, reterr);
        if (size == 0)
            return CG_OK;
        CG_TRY(list_block(self, list, block, (size_t)size, reterr));
    }
}

cg_code os_dir_list(os_dir *self, heap *from, arena *mem, size_t ceiling, os_entries *ret,
                    cg_err *reterr)
{
    listing list = {
        .heap = from, .mem = mem, .ceiling = ceiling < UINT32_MAX ? ceiling : UINT32_MAX};
    char *block = heap_resize(from, NULL, 0, LIST_BLOCK);
    cg_code code = block == NULL ? err_nomem(reterr) : read_listing(self, &list, block, reterr);
    int number;

    if (code == CG_OK)
        code = sort_listing(&list, ret, reterr);
    number = errno;
    heap_resize(from, block, LIST_BLOCK, 0);
    vec_free(from, &list.entries);
    errno = number;
    return code;
}

/* --- files --- */

bool os_dir_is_safe(cg_str path)
{
    size_t at = 0;

    if (path.len == 0 || path.ptr[0] == '/' || str_starts_with(path, CG_LIT("./")) ||
        memchr(path.ptr, '\0', path.len) != NULL)
        return false;
    while (at < path.len) {
        size_t end = at;

        while (end < path.len && path.ptr[end] != '/')
            end++;
        if (str_equal((cg_str){path.ptr + at, end - at}, CG_LIT("..")))
            return false;
        at = end + 1;
    }
    return true;
}

/* Open the directory that the last part of `path` lies in; *ret_last is that part. */
static int open_parent(os_dir *self, cg_str path, cg_str *ret_last)
{
    int at = self->handle;
    size_t start = 0;

    for (;;) {
        char part[NAME_MAX + 1];
        size_t end = start;
        int next;
        int number;

        while (end < path.len && path.ptr[end] != '/')
            end++;
        if (end == path.len)
            break;
        if (end > start) {
            next = os_name(part, sizeof part, (cg_str){path.ptr + start, end - start})
                       ? open_retried(self->os, at, part, O_DIRECTORY | O_NOFOLLOW)
                       : -1;
            number = errno;
            if (at != self->handle)
                self->os->close(self->os->context, at);
            errno = number;
            if (next < 0)
                return -1;
            at = next;
        }
        start = end + 1;
    }
    *ret_last = (cg_str){path.ptr + start, path.len - start};
    return at;
}

static cg_code describe(os_dir *self, int handle, cg_str path, os_file *ret, cg_err *reterr)
{
    struct stat about;

    if (os_fstat(self->os, handle, &about) != 0)
        return fail(path, "examined", errno, reterr);
    if (!S_ISREG(about.st_mode))
        return cg_fail(reterr, PROBLEM_INPUT_UNREADABLE, "`%.*s` is no regular file",
                       ERR_STR(path));
    *ret = (os_file){.os = self->os,
                     .handle = handle,
                     .is_regular = true,
                     .size = about.st_size > 0 ? (uint64_t)about.st_size : 0,
                     .device = (uint64_t)about.st_dev,
                     .inode = (uint64_t)about.st_ino};
    return CG_OK;
}

cg_code os_dir_open_file(os_dir *self, cg_str path, unsigned flags, os_file *ret, cg_err *reterr)
{
    char part[NAME_MAX + 1];
    cg_str last;
    cg_code code;
    int parent;
    int handle = -1;
    int number;

    *ret = (os_file){.handle = -1};
    if (!os_dir_is_safe(path))
        return cg_fail(reterr, PROBLEM_INPUT_UNREADABLE, "`%.*s` leads out of the folder",
                       ERR_STR(path));
    parent = open_parent(self, path, &last);
    if (parent < 0)
        return fail(path, "opened", errno, reterr);
    if (os_name(part, sizeof part, last))
        handle = open_retried(self->os, parent, part,
                              O_NOCTTY | O_NONBLOCK | (flags & OS_DIR_FOLLOW ? 0 : O_NOFOLLOW));
    number = errno;
    if (parent != self->handle)
        self->os->close(self->os->context, parent);
    if (handle < 0)
        return fail(path, "opened", number, reterr);
    code = describe(self, handle, path, ret, reterr);
    if (code != CG_OK)
        self->os->close(self->os->context, handle);
    return code;
}

bool os_is_lasting(int number)
{
    return number == ENOENT || number == ENOTDIR || number == ELOOP || number == ENAMETOOLONG ||
           number == EACCES || number == EPERM;
}
