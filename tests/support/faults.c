#include "support/faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* The call at hand fails with errno set? A call that is to be the last one does not return. */
static bool fails(faults *self, const char *call)
{
    self->calls++;
    if (self->fault == FAULT_NONE || self->fault >= FAULT_SHORT || self->calls < self->at)
        return false;
    if (self->fault == FAULT_KILL) {
        if (self->calls == self->at)
            raise(SIGKILL);
        return false;
    }
    if (self->fault == FAULT_ERROR && self->calls > self->at)
        return false;
    if (self->failures++ == 0)
        self->failed = call;
    errno = self->error;
    return true;
}

static int open_at(void *context, int directory, const char *path, int flags, unsigned mode)
{
    faults *self = context;
    int file;

    if (fails(self, "open"))
        return -1;
    file = self->kernel->open_at(self->kernel->context, directory, path, flags, mode);
    self->open_files += file >= 0;
    return file;
}

static int close_file(void *context, int file)
{
    faults *self = context;
    bool is_failing = fails(self, "close");

    assert_int_equal(self->kernel->close(self->kernel->context, file), 0);
    self->open_files--;
    if (!is_failing)
        return 0;
    errno = self->error;
    return -1;
}

static size_t moved(const faults *self, size_t count)
{
    if (self->fault == FAULT_SHORTS)
        return count > 3 ? 3 : count;
    return self->fault == FAULT_SHORT && self->calls == self->at && count > 1 ? count / 2 : count;
}

static int64_t read_file(void *context, int file, void *to, size_t count)
{
    faults *self = context;

    if (fails(self, "read"))
        return -1;
    return self->kernel->read(self->kernel->context, file, to, moved(self, count));
}

static int64_t write_file(void *context, int file, const void *from, size_t count)
{
    faults *self = context;

    if (fails(self, "write")) {
        /* A full disk takes half before it says so; an interrupted call has taken nothing. */
        if (self->error != EINTR && count > 1)
            assert_true(self->kernel->write(self->kernel->context, file, from, count / 2) > 0);
        errno = self->error;
        return -1;
    }
    return self->kernel->write(self->kernel->context, file, from, moved(self, count));
}

static int fstat_file(void *context, int file, struct stat *ret)
{
    faults *self = context;

    return fails(self, "fstat") ? -1 : self->kernel->fstat(self->kernel->context, file, ret);
}

static int lstat_at(void *context, int directory, const char *path, struct stat *ret)
{
    faults *self = context;

    return fails(self, "lstat")
               ? -1
               : self->kernel->lstat_at(self->kernel->context, directory, path, ret);
}

static int fsync_file(void *context, int file)
{
    (void)file;
    return fails(context, "fsync") ? -1 : 0;
}

static int rename_at(void *context, int from_directory, const char *from, int to_directory,
                     const char *to)
{
    faults *self = context;

    return fails(self, "rename") ? -1
                                 : self->kernel->rename_at(self->kernel->context, from_directory,
                                                           from, to_directory, to);
}

static int rename_new_at(void *context, int from_directory, const char *from, int to_directory,
                         const char *to)
{
    faults *self = context;

    return fails(self, "rename")
               ? -1
               : self->kernel->rename_new_at(self->kernel->context, from_directory, from,
                                             to_directory, to);
}

static int unlink_at(void *context, int directory, const char *path, int flags)
{
    faults *self = context;

    return fails(self, "unlink")
               ? -1
               : self->kernel->unlink_at(self->kernel->context, directory, path, flags);
}

static int mkdir_at(void *context, int directory, const char *path, unsigned mode)
{
    faults *self = context;

    return fails(self, "mkdir")
               ? -1
               : self->kernel->mkdir_at(self->kernel->context, directory, path, mode);
}

static int64_t random_bytes(void *context, void *to, size_t count)
{
    faults *self = context;

    return fails(self, "random") ? -1 : self->kernel->random(self->kernel->context, to, count);
}

static uint64_t monotonic_ns(void *context)
{
    faults *self = context;

    return self->kernel->monotonic_ns(self->kernel->context);
}

static int64_t read_directory(void *context, int directory, void *to, size_t count)
{
    faults *self = context;

    return fails(self, "list")
               ? -1
               : self->kernel->read_directory(self->kernel->context, directory, to, count);
}

static int64_t seek(void *context, int file, int64_t offset)
{
    faults *self = context;

    return fails(self, "seek") ? -1 : self->kernel->seek(self->kernel->context, file, offset);
}

static int lock(void *context, int file)
{
    faults *self = context;

    return fails(self, "lock") ? -1 : self->kernel->lock(self->kernel->context, file);
}

os_calls faults_table(faults *self)
{
    *self = (faults){.kernel = os_of(NULL)};
    return (os_calls){
        .context = self,
        .open_at = open_at,
        .close = close_file,
        .read = read_file,
        .write = write_file,
        .fstat = fstat_file,
        .lstat_at = lstat_at,
        .fsync = fsync_file,
        .rename_at = rename_at,
        .unlink_at = unlink_at,
        .mkdir_at = mkdir_at,
        .random = random_bytes,
        .monotonic_ns = monotonic_ns,
        .read_directory = read_directory,
        .seek = seek,
        .rename_new_at = rename_new_at,
        .lock = lock,
    };
}

void faults_arm(faults *self, enum fault fault, uint64_t at, int error)
{
    self->fault = fault;
    self->at = at;
    self->error = error;
    self->calls = 0;
    self->failures = 0;
    self->failed = "";
}

/* --- directories --- */

void place_make(char ret[256])
{
    const char *root = getenv("TMPDIR");

    snprintf(ret, 256, "%s/cg-place-XXXXXX", root != NULL && *root != '\0' ? root : "/tmp");
    assert_non_null(mkdtemp(ret));
}

static void join(char ret[1024], const char *directory, const char *name)
{
    assert_true(snprintf(ret, 1024, "%s/%s", directory, name) < 1024);
}

/* Deep trees are not made by tests: recursion is fine here. */
void place_remove(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    char below[1024];

    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        struct stat about;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        join(below, path, entry->d_name);
        assert_int_equal(lstat(below, &about), 0);
        if (S_ISDIR(about.st_mode))
            place_remove(below);
        else
            assert_int_equal(unlink(below), 0);
    }
    closedir(directory);
    assert_int_equal(rmdir(path), 0);
}

void place_write(const char *directory, const char *name, const char *bytes, size_t count)
{
    char path[1024];
    FILE *file;

    join(path, directory, name);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

unsigned place_count_hidden(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    unsigned count = 0;

    if (directory == NULL)
        return 0;
    while ((entry = readdir(directory)) != NULL)
        count += entry->d_name[0] == '.' && strcmp(entry->d_name, ".") != 0 &&
                 strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}

bool place_exists(const char *directory, const char *name)
{
    char path[1024];
    struct stat about;

    join(path, directory, name);
    return lstat(path, &about) == 0;
}
