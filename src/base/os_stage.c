#include "base/os_stage.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAGING_WORD ".staging-"
#define TRACE_WORD   ".trace-"
#define TRACE_END    ".jsonl"
#define SUM_BLOCK    ((size_t)64 << 10)
/* Directories of a stage lie at most this deep; what lies deeper is not ours. */
#define SWEEP_DEPTH 3

static cg_code fail_as(enum problem problem, const char *what, int number, cg_err *reterr)
{
    char room[128];

    return cg_fail(reterr, problem, "%s: %s", what, strerror_r(number, room, sizeof room));
}

static cg_code fail(const char *what, int number, cg_err *reterr)
{
    return fail_as(PROBLEM_OUTPUT, what, number, reterr);
}

static void close_handle(const os_calls *os, int *handle)
{
    if (*handle >= 0)
        os->close(os->context, *handle);
    *handle = -1;
}

static int open_directory(const os_calls *os, int at, const char *name, int flags)
{
    int handle;

    OS_RETRY(handle, os->open_at(os->context, at, name, flags | O_DIRECTORY | O_CLOEXEC, 0));
    return handle;
}

/* Some file systems have nothing to sync; that is their answer, not a failure. */
static int sync_handle(const os_calls *os, int handle)
{
    int result;

    OS_RETRY(result, os->fsync(os->context, handle));
    return result != 0 && (errno == EINVAL || errno == ENOTSUP || errno == ENOSYS) ? 0 : result;
}

static int remove_entry(const os_calls *os, int at, const char *name, int flags)
{
    int result;

    OS_RETRY(result, os->unlink_at(os->context, at, name, flags));
    return result;
}

/* --- the way to the destination --- */

/* Make `name` in the directory `*at` and step into it. */
static cg_code make_step(os_stage *self, int *at, const char *name, cg_err *reterr)
{
    const os_calls *os = self->os;
    os_made *made = vec_add(self->heap, &self->made);
    int result;
    int next;

    if (made == NULL)
        return err_nomem(reterr);
    made->is_ours = false;
    memcpy(made->name, name, strlen(name) + 1);
    made->handle = open_directory(os, *at, ".", O_RDONLY);
    if (made->handle < 0) {
        self->made.count--;
        return fail("its folder cannot be made", errno, reterr);
    }
    OS_RETRY(result, os->mkdir_at(os->context, *at, name, 0777));
    made->is_ours = result == 0;
    if (result != 0 && errno != EEXIST)
        return fail("its folder cannot be made", errno, reterr);
    next = open_directory(os, *at, name, O_PATH);
    if (next < 0)
        return fail("its folder cannot be opened", errno, reterr);
    close_handle(os, at);
    *at = next;
    return CG_OK;
}

static cg_code step(os_stage *self, int *at, cg_str part, cg_err *reterr)
{
    char name[OS_NAME_ROOM];
    int next;

    if (!os_name(name, sizeof name, part))
        return fail("its folder cannot be opened", errno, reterr);
    next = open_directory(self->os, *at, name, O_PATH);
    if (next < 0 && errno == ENOENT)
        return make_step(self, at, name, reterr);
    if (next < 0)
        return fail("its folder cannot be opened", errno, reterr);
    close_handle(self->os, at);
    *at = next;
    return CG_OK;
}

static cg_code walk(os_stage *self, int *at, cg_str parent, cg_err *reterr)
{
    size_t start = 0;

    while (start < parent.len) {
        size_t end = start;

        while (end < parent.len && parent.ptr[end] != '/')
            end++;
        if (end > start)
            CG_TRY(step(self, at, (cg_str){parent.ptr + start, end - start}, reterr));
        start = end + 1;
    }
    self->parent.handle = open_directory(self->os, *at, ".", O_RDONLY);
    if (self->parent.handle < 0)
        return fail("its folder cannot be opened", errno, reterr);
    return CG_OK;
}

static cg_code open_parent(os_stage *self, cg_str path, cg_err *reterr)
{
    size_t slash;
    cg_str parent = {"", 0};
    cg_code code;
    int at;

    while (path.len > 1 && path.ptr[path.len - 1] == '/')
        path.len--;
    slash = str_find_last(path, '/');
    if (slash != SIZE_MAX) {
        parent = (cg_str){path.ptr, slash + 1};
        path = (cg_str){path.ptr + slash + 1, path.len - slash - 1};
    }
    if (!os_name(self->name, sizeof self->name, path) || strcmp(self->name, ".") == 0 ||
        strcmp(self->name, "..") == 0)
        return cg_fail(reterr, PROBLEM_OUTPUT_NAME, "`%.*s` is no name a folder can be given",
                       ERR_STR(path));
    at = open_directory(self->os, AT_FDCWD, parent.len > 0 && parent.ptr[0] == '/' ? "/" : ".",
                        O_PATH);
    if (at < 0)
        return fail("its folder cannot be opened", errno, reterr);
    code = walk(self, &at, parent, reterr);
    close_handle(self->os, &at);
    return code;
}

cg_code os_stage_open(const cg_env *env, heap *from, cg_str path, os_stage *ret, cg_err *reterr)
{
    const os_calls *os = os_of(env);
    cg_code code;

    *ret = (os_stage){.os = os, .heap = from, .parent = {os, -1}, .staging = {os, -1}};
    code = open_parent(ret, path, reterr);
    if (code != CG_OK)
        os_stage_drop(ret);
    return code;
}

/* --- staging directories --- */

/* `.NAME` and a word; a long name is cut and told apart by its digest. */
static bool write_prefix(const os_stage *self, const char *word, char ret[OS_NAME_ROOM])
{
    enum { most = 150, word_most = 16 };
    size_t len = strlen(self->name);
    uint8_t sum[DIGEST_BYTES];
    char hex[DIGEST_HEX];
    digest of;

    if (len <= most) {
        snprintf(ret, OS_NAME_ROOM, ".%.*s%.*s", (int)most, self->name, (int)word_most, word);
        return true;
    }
    if (digest_start(&of, NULL) != CG_OK)
        return false;
    digest_add(&of, self->name, len);
    if (digest_finish(&of, sum, NULL) != CG_OK)
        return false;
    digest_hex(sum, hex);
    snprintf(ret, OS_NAME_ROOM, ".%.*s-%.16s%.*s", (int)most, self->name, hex, (int)word_most,
             word);
    return true;
}

/* `<pid>-<16 hex>` and nothing else. */
static bool is_owner(cg_str text)
{
    size_t at = 0;

    while (at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9')
        at++;
    if (at == 0 || at == text.len || text.ptr[at] != '-' || text.len - at != 17)
        return false;
    for (at++; at < text.len; at++) {
        char digit = text.ptr[at];

        if (!(digit >= '0' && digit <= '9') && !(digit >= 'a' && digit <= 'f'))
            return false;
    }
    return true;
}

/* Is `handle` what stands at `name`? 1, 0, or -1 with errno. */
static int is_at(const os_calls *os, int parent, const char *name, int handle)
{
    struct stat named;
    struct stat held;
    int result;

    result = os_lstat_at(os, parent, name, &named);
    if (result != 0)
        return errno == ENOENT ? 0 : -1;
    result = os_fstat(os, handle, &held);
    if (result != 0)
        return -1;
    return named.st_dev == held.st_dev && named.st_ino == held.st_ino;
}

static int take_lock(const os_calls *os, int handle)
{
    int result;

    OS_RETRY(result, os->lock(os->context, handle));
    return result;
}

/*
 * Remove everything in the directory, as deep as stages are. The order on the stack is that of a
 * walk: a directory is removed when all in it is gone.
 */
static void empty_directory(const os_stage *self, os_dir *top)
{
    struct level {
        os_dir dir;
        os_names names;
        size_t next;
    } levels[SWEEP_DEPTH];
    size_t depth = 1;
    arena mem;

    arena_init(&mem, self->heap);
    levels[0].dir = *top;
    levels[0].next = 0;
    if (os_dir_find(top, self->heap, &mem, CG_LIT(""), &levels[0].names, NULL) != CG_OK)
        depth = 0;
    while (depth > 0) {
        struct level *at = &levels[depth - 1];
        char name[OS_NAME_ROOM];

        if (at->next == at->names.count) {
            depth--;
            if (depth > 0) {
                at = &levels[depth - 1];
                if (os_name(name, sizeof name, at->names.at[at->next - 1]))
                    remove_entry(self->os, at->dir.handle, name, AT_REMOVEDIR);
                os_dir_close(&levels[depth].dir);
            }
            continue;
        }
        if (!os_name(name, sizeof name, at->names.at[at->next++]) || strcmp(name, ".") == 0 ||
            strcmp(name, "..") == 0 || remove_entry(self->os, at->dir.handle, name, 0) == 0)
            continue;
        if (depth == SWEEP_DEPTH ||
            os_dir_enter(&at->dir, str_from(name), &levels[depth].dir, NULL) != CG_OK)
            continue;
        levels[depth].next = 0;
        if (os_dir_find(&levels[depth].dir, self->heap, &mem, CG_LIT(""), &levels[depth].names,
                        NULL) == CG_OK)
            depth++;
        else
            os_dir_close(&levels[depth].dir);
    }
    arena_free(&mem);
}

static void sweep_one(os_stage *self, cg_str name)
{
    os_dir stale;
    char text[OS_NAME_ROOM];

    if (os_dir_enter(&self->parent, name, &stale, NULL) != CG_OK)
        return;
    if (os_name(text, sizeof text, name) && take_lock(self->os, stale.handle) == 0 &&
        is_at(self->os, self->parent.handle, text, stale.handle) == 1) {
        empty_directory(self, &stale);
        remove_entry(self->os, self->parent.handle, text, AT_REMOVEDIR);
    }
    os_dir_close(&stale);
}

void os_stage_sweep(os_stage *self)
{
    char prefix[OS_NAME_ROOM];
    size_t len;
    os_names names = {0};
    arena mem;

    if (!write_prefix(self, STAGING_WORD, prefix))
        return;
    len = strlen(prefix);
    arena_init(&mem, self->heap);
    if (os_dir_find(&self->parent, self->heap, &mem, str_from(prefix), &names, NULL) == CG_OK) {
        for (size_t i = 0; i < names.count; i++) {
            cg_str name = names.at[i];

            if (is_owner((cg_str){name.ptr + len, name.len - len}))
                sweep_one(self, name);
        }
    }
    arena_free(&mem);
}

/* --- traces beside the destination --- */

bool os_stage_trace_name(const cg_env *env, const os_stage *self, char ret[OS_NAME_ROOM])
{
    char prefix[OS_NAME_ROOM];

    if (!write_prefix(self, TRACE_WORD, prefix))
        return false;
    snprintf(ret, OS_NAME_ROOM, "%.200s%ld-%016" PRIx64 TRACE_END, prefix, (long)getpid(),
             os_random(env));
    return true;
}

static bool has_content(os_stage *self, cg_str name, char *block, uint64_t bytes,
                        const uint8_t want[DIGEST_BYTES])
{
    os_file file;
    digest of;
    uint8_t sum[DIGEST_BYTES];
    uint64_t left = bytes;
    size_t got = 0;
    bool is_read;

    if (os_dir_open_file(&self->parent, name, 0, &file, NULL) != CG_OK)
        return false;
    is_read = file.size == bytes && digest_start(&of, NULL) == CG_OK;
    if (is_read) {
        while (left > 0) {
            size_t part = left < SUM_BLOCK ? (size_t)left : SUM_BLOCK;

            if (os_read(&file, block, part, &got, NULL) != CG_OK || got == 0)
                break;
            digest_add(&of, block, got);
            left -= got;
        }
        is_read = digest_finish(&of, sum, NULL) == CG_OK && left == 0 &&
                  memcmp(sum, want, sizeof sum) == 0;
    }
    os_close(&file);
    return is_read;
}

void os_stage_sweep_traces(os_stage *self, uint64_t bytes, const uint8_t sum[DIGEST_BYTES])
{
    char prefix[OS_NAME_ROOM];
    size_t len;
    os_names names = {0};
    arena mem;
    char *block;

    if (!write_prefix(self, TRACE_WORD, prefix))
        return;
    len = strlen(prefix);
    arena_init(&mem, self->heap);
    block = arena_bytes(&mem, SUM_BLOCK);
    if (block != NULL &&
        os_dir_find(&self->parent, self->heap, &mem, str_from(prefix), &names, NULL) == CG_OK) {
        for (size_t i = 0; i < names.count; i++) {
            cg_str name = names.at[i];
            size_t rest = name.len - len;
            char text[OS_NAME_ROOM];

            if (str_ends_with(name, CG_LIT(TRACE_END)) &&
                is_owner((cg_str){name.ptr + len, rest - (sizeof TRACE_END - 1)}) &&
                os_name(text, sizeof text, name) && has_content(self, name, block, bytes, sum))
                remove_entry(self->os, self->parent.handle, text, 0);
        }
    }
    arena_free(&mem);
}

static bool is_lock_missing(int number)
{
    return number == ENOTSUP || number == EOPNOTSUPP || number == EINVAL || number == ENOSYS ||
           number == ENOLCK || number == EBADF;
}

/*
 * Open and lock the directory that was just made. *ret_again: a sweeping process was faster than
 * our lock and takes it for the leftover of a dead owner.
 */
static cg_code claim_staging(os_stage *self, bool *ret_again, cg_err *reterr)
{
    const os_calls *os = self->os;
    int same;

    *ret_again = false;
    self->staging.handle =
        open_directory(os, self->parent.handle, self->staging_name, O_RDONLY | O_NOFOLLOW);
    if (self->staging.handle < 0 && errno == ENOENT) {
        *ret_again = true;
        return CG_OK;
    }
    if (self->staging.handle < 0)
        return fail("its staging folder cannot be opened", errno, reterr);
    if (take_lock(os, self->staging.handle) != 0 && !is_lock_missing(errno)) {
        if (errno != EWOULDBLOCK)
            return fail("its staging folder cannot be locked", errno, reterr);
        *ret_again = true;
        return CG_OK;
    }
    same = is_at(os, self->parent.handle, self->staging_name, self->staging.handle);
    if (same < 0)
        return fail("its staging folder cannot be examined", errno, reterr);
    *ret_again = same == 0;
    return CG_OK;
}

cg_code os_stage_begin(const cg_env *env, os_stage *self, cg_err *reterr)
{
    const os_calls *os = self->os;
    char prefix[OS_NAME_ROOM];

    if (!write_prefix(self, STAGING_WORD, prefix))
        return err_nomem(reterr);
    for (int tries = 0; tries < 16; tries++) {
        bool is_again;
        int result;

        snprintf(self->staging_name, sizeof self->staging_name, "%.200s%ld-%016" PRIx64, prefix,
                 (long)getpid(), os_random(env));
        OS_RETRY(result, os->mkdir_at(os->context, self->parent.handle, self->staging_name, 0777));
        if (result != 0) {
            self->staging_name[0] = '\0';
            if (errno == EEXIST)
                continue;
            return fail("its staging folder cannot be made", errno, reterr);
        }
        CG_TRY(claim_staging(self, &is_again, reterr));
        if (!is_again)
            return CG_OK;
        close_handle(os, &self->staging.handle);
        self->staging_name[0] = '\0';
    }
    return cg_fail(reterr, PROBLEM_OUTPUT, "its staging folder is taken away again and again");
}

/* --- content --- */

cg_code os_stage_directory(os_stage *self, cg_str name, os_dir *ret, cg_err *reterr)
{
    const os_calls *os = self->os;
    char text[OS_NAME_ROOM];
    int result;

    *ret = (os_dir){.os = os, .handle = -1};
    if (!os_name(text, sizeof text, name))
        return fail("a folder of the bundle cannot be made", errno, reterr);
    OS_RETRY(result, os->mkdir_at(os->context, self->staging.handle, text, 0777));
    if (result != 0)
        return fail("a folder of the bundle cannot be made", errno, reterr);
    ret->handle = open_directory(os, self->staging.handle, text, O_RDONLY | O_NOFOLLOW);
    if (ret->handle < 0)
        return fail("a folder of the bundle cannot be opened", errno, reterr);
    return CG_OK;
}

cg_code os_stage_close_directory(os_dir *directory, cg_err *reterr)
{
    int result = sync_handle(directory->os, directory->handle);
    int number = errno;

    os_dir_close(directory);
    if (result != 0)
        return fail("a folder of the bundle cannot be made durable", number, reterr);
    return CG_OK;
}

cg_code os_stage_file(os_stage *self, os_dir *directory, cg_str name, os_staged *ret,
                      cg_err *reterr)
{
    const os_calls *os = self->os;
    char text[OS_NAME_ROOM];
    cg_code code;

    *ret = (os_staged){.os = os, .handle = -1};
    if (!os_name(text, sizeof text, name))
        return fail("a file of the bundle cannot be created", errno, reterr);
    CG_TRY(digest_start(&ret->digest, reterr));
    OS_RETRY(ret->handle,
             os->open_at(os->context, directory != NULL ? directory->handle : self->staging.handle,
                         text, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (ret->handle >= 0)
        return CG_OK;
    code = fail("a file of the bundle cannot be created", errno, reterr);
    digest_drop(&ret->digest);
    return code;
}

cg_code os_staged_write(os_staged *self, const void *bytes, size_t count, cg_err *reterr)
{
    const char *from = bytes;

    digest_add(&self->digest, bytes, count);
    self->bytes += count;
    while (count > 0) {
        size_t part = count < SSIZE_MAX ? count : SSIZE_MAX;
        int64_t done;

        OS_RETRY(done, self->os->write(self->os->context, self->handle, from, part));
        if (done <= 0)
            return fail("a file of the bundle cannot be written", done == 0 ? ENOSPC : errno,
                        reterr);
        from += done;
        count -= (size_t)done;
    }
    return CG_OK;
}

cg_code os_staged_finish(os_staged *self, cg_err *reterr)
{
    int result = sync_handle(self->os, self->handle);
    int number = errno;

    /* The handle is gone afterwards, whatever the answer; an interrupted close has closed. */
    if (self->os->close(self->os->context, self->handle) != 0 && errno != EINTR && result == 0) {
        result = -1;
        number = errno;
    }
    self->handle = -1;
    if (result != 0) {
        digest_drop(&self->digest);
        return fail("a file of the bundle cannot be made durable", number, reterr);
    }
    return digest_finish(&self->digest, self->sum, reterr);
}

void os_staged_drop(os_staged *self)
{
    if (self->os != NULL)
        close_handle(self->os, &self->handle);
    digest_drop(&self->digest);
}

/* --- into place --- */

cg_code os_stage_sync(os_stage *self, cg_err *reterr)
{
    if (sync_handle(self->os, self->staging.handle) != 0)
        return fail("the bundle cannot be made durable", errno, reterr);
    return CG_OK;
}

/* Without a rename that refuses to replace: claim the name by an empty directory, replace that. */
static int rename_by_claim(os_stage *self)
{
    const os_calls *os = self->os;
    int parent = self->parent.handle;
    int result;
    int number;

    OS_RETRY(result, os->mkdir_at(os->context, parent, self->name, 0777));
    if (result != 0)
        return -1;
    OS_RETRY(result, os->rename_at(os->context, parent, self->staging_name, parent, self->name));
    number = errno;
    /* Fails when it is not empty: then it is somebody else's by now. */
    if (result != 0)
        remove_entry(os, parent, self->name, AT_REMOVEDIR);
    errno = number;
    return result;
}

static int rename_into_place(os_stage *self)
{
    const os_calls *os = self->os;
    int parent = self->parent.handle;
    int result;

    OS_RETRY(result,
             os->rename_new_at(os->context, parent, self->staging_name, parent, self->name));
    if (result != 0 && (errno == ENOSYS || errno == EINVAL || errno == ENOTSUP))
        return rename_by_claim(self);
    return result;
}

cg_code os_stage_settle(os_stage *self, cg_err *reterr)
{
    int result = sync_handle(self->os, self->parent.handle);

    for (size_t i = self->made.count; i > 0 && result == 0; i--)
        result = sync_handle(self->os, self->made.at[i - 1].handle);
    self->is_keeping = true;
    if (result != 0)
        return fail_as(PROBLEM_DURABILITY, "is published, but may not survive a loss of power",
                       errno, reterr);
    return CG_OK;
}

cg_code os_stage_commit(os_stage *self, bool *ret_is_taken, cg_err *reterr)
{
    *ret_is_taken = false;
    if (rename_into_place(self) != 0) {
        *ret_is_taken = errno == EEXIST || errno == ENOTEMPTY;
        return *ret_is_taken ? CG_OK : fail("the bundle cannot be put in place", errno, reterr);
    }
    self->staging_name[0] = '\0';
    return os_stage_settle(self, reterr);
}

void os_stage_drop(os_stage *self)
{
    const os_calls *os = self->os;

    if (os == NULL)
        return;
    if (self->staging_name[0] != '\0') {
        if (self->staging.handle >= 0)
            empty_directory(self, &self->staging);
        remove_entry(os, self->parent.handle, self->staging_name, AT_REMOVEDIR);
        self->staging_name[0] = '\0';
    }
    for (size_t i = self->made.count; i > 0; i--) {
        os_made *made = &self->made.at[i - 1];

        if (!self->is_keeping && made->is_ours)
            remove_entry(os, made->handle, made->name, AT_REMOVEDIR);
        close_handle(os, &made->handle);
    }
    vec_free(self->heap, &self->made);
    os_dir_close(&self->staging);
    os_dir_close(&self->parent);
    self->os = NULL;
}
