#include "base/os_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "base/os_name.h"
#include "base/vec.h"

#define LIST_BLOCK ((size_t)32 << 10)

static cg_code fail(cg_str name, const char *what, int number, cg_err *reterr)
{
    char room[128];
    const char *reason = strerror_r(number, room, sizeof room);
    bool is_missing = number == ENOENT || number == ENOTDIR;
    enum problem problem = is_missing ? PROBLEM_INPUT_MISSING : PROBLEM_INPUT_UNREADABLE;

    if (name.len == 0)
        return cg_fail(reterr, problem, "cannot be %s: %s", what, reason);
    return cg_fail(reterr, problem, "`%.*s` cannot be %s: %s", ERR_STR(name), what, reason);
}

cg_code os_file_identity(const os_file *file, os_identity *ret, cg_err *reterr)
{
    struct stat about;
    int result;

    result = os_fstat(file->os, file->handle, &about);
    if (result != 0)
        return fail((cg_str){0}, "examined", errno, reterr);
    *ret = (os_identity){
        .device = (uint64_t)about.st_dev,
        .inode = (uint64_t)about.st_ino,
        .size = about.st_size > 0 ? (uint64_t)about.st_size : 0,
        .changed_s = (int64_t)about.st_ctim.tv_sec,
        .changed_ns = (int64_t)about.st_ctim.tv_nsec,
        .modified_s = (int64_t)about.st_mtim.tv_sec,
        .modified_ns = (int64_t)about.st_mtim.tv_nsec,
    };
    return CG_OK;
}

bool os_identity_equal(const os_identity *a, const os_identity *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->changed_s == b->changed_s && a->changed_ns == b->changed_ns &&
           a->modified_s == b->modified_s && a->modified_ns == b->modified_ns;
}

cg_code os_file_rewind(os_file *file, cg_err *reterr)
{
    int64_t result;

    OS_RETRY(result, file->os->seek(file->os->context, file->handle, 0));
    if (result != 0)
        return fail((cg_str){0}, "read again", errno, reterr);
    return CG_OK;
}

cg_code os_dir_enter(os_dir *self, cg_str name, os_dir *ret, cg_err *reterr)
{
    char text[OS_NAME_ROOM];
    int handle = -1;

    *ret = (os_dir){.os = self->os, .handle = -1};
    if (os_name(text, sizeof text, name))
        OS_RETRY(handle, self->os->open_at(self->os->context, self->handle, text,
                                           O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0));
    if (handle < 0)
        return fail(name, "opened", errno, reterr);
    ret->handle = handle;
    return CG_OK;
}

cg_code os_dir_kind(os_dir *self, cg_str name, enum os_kind *ret, cg_err *reterr)
{
    char text[OS_NAME_ROOM];
    struct stat about;
    int result = -1;

    if (os_name(text, sizeof text, name))
        result = os_lstat_at(self->os, self->handle, text, &about);
    if (result != 0 && errno != ENOENT)
        return fail(name, "examined", errno, reterr);
    if (result != 0)
        *ret = OS_MISSING;
    else if (S_ISREG(about.st_mode))
        *ret = OS_FILE;
    else if (S_ISDIR(about.st_mode))
        *ret = OS_DIRECTORY;
    else if (S_ISLNK(about.st_mode))
        *ret = OS_LINK;
    else
        *ret = S_ISFIFO(about.st_mode) ? OS_PIPE : OS_OTHER;
    return CG_OK;
}

void os_remove_file(const cg_env *env, cg_str path)
{
    const os_calls *os = os_of(env);
    char name[PATH_MAX];
    int result;

    if (path.len == 0 || path.len >= sizeof name || memchr(path.ptr, '\0', path.len) != NULL)
        return;
    memcpy(name, path.ptr, path.len);
    name[path.len] = '\0';
    OS_RETRY(result, os->unlink_at(os->context, AT_FDCWD, name, 0));
}

/* --- names --- */

typedef struct finding {
    heap *heap;
    arena *mem;
    cg_str prefix;
    VEC(cg_str) names;
} finding;

static cg_code find_in_block(finding *self, const char *block, size_t size, cg_err *reterr)
{
    size_t at = 0;

    while (at < size) {
        const char *entry = block + at + offsetof(struct dirent64, d_name);
        uint16_t length;
        cg_str name = str_from(entry);
        cg_str *added;

        memcpy(&length, block + at + offsetof(struct dirent64, d_reclen), sizeof length);
        if (length <= offsetof(struct dirent64, d_name) || length > size - at)
            return fail((cg_str){0}, "listed", EIO, reterr);
        at += length;
        if (!str_starts_with(name, self->prefix))
            continue;
        added = vec_add(self->heap, &self->names);
        if (added == NULL || !arena_text(self->mem, name, added))
            return err_nomem(reterr);
    }
    return CG_OK;
}

static cg_code find_all(os_dir *self, finding *found, char *block, cg_err *reterr)
{
    int64_t size;

    OS_RETRY(size, self->os->seek(self->os->context, self->handle, 0));
    if (size != 0)
        return fail((cg_str){0}, "listed", errno, reterr);
    for (;;) {
        OS_RETRY(size,
                 self->os->read_directory(self->os->context, self->handle, block, LIST_BLOCK));
        if (size < 0)
            return fail((cg_str){0}, "listed", errno, reterr);
        if (size == 0)
            return CG_OK;
        CG_TRY(find_in_block(found, block, (size_t)size, reterr));
    }
}

cg_code os_dir_find(os_dir *self, heap *from, arena *mem, cg_str prefix, os_names *ret,
                    cg_err *reterr)
{
    finding found = {.heap = from, .mem = mem, .prefix = prefix};
    char *block = heap_resize(from, NULL, 0, LIST_BLOCK);
    cg_code code = block == NULL ? err_nomem(reterr) : find_all(self, &found, block, reterr);
    cg_str *kept = NULL;

    if (code == CG_OK) {
        kept = arena_take(mem, (found.names.count > 0 ? found.names.count : 1) * sizeof *kept);
        if (kept == NULL)
            code = err_nomem(reterr);
    }
    if (code == CG_OK) {
        if (found.names.count > 0)
            memcpy(kept, found.names.at, found.names.count * sizeof *kept);
        *ret = (os_names){kept, found.names.count};
    }
    if (block != NULL)
        heap_resize(from, block, LIST_BLOCK, 0);
    vec_free(from, &found.names);
    return code;
}
