#include "support/folder.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void place(const folder *self, const char *name, char *ret, size_t room)
{
    int len = snprintf(ret, room, "%s/%s", self->path, name);

    assert_true(len > 0 && (size_t)len < room);
}

void folder_make(folder *self)
{
    snprintf(self->path, sizeof self->path, "/tmp/candle-graph-test-XXXXXX");
    assert_non_null(mkdtemp(self->path));
}

void folder_write_bytes(const folder *self, const char *name, const void *bytes, size_t count)
{
    char path[512];
    FILE *file;

    place(self, name, path, sizeof path);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

void folder_write(const folder *self, const char *name, const char *text)
{
    folder_write_bytes(self, name, text, strlen(text));
}

void folder_link(const folder *self, const char *name, const char *target)
{
    char path[512];

    place(self, name, path, sizeof path);
    assert_int_equal(symlink(target, path), 0);
}

void folder_remove(folder *self)
{
    DIR *listing = opendir(self->path);
    struct dirent *entry;
    char path[512];

    assert_non_null(listing);
    while ((entry = readdir(listing)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        place(self, entry->d_name, path, sizeof path);
        if (unlink(path) != 0)
            assert_int_equal(rmdir(path), 0);
    }
    closedir(listing);
    assert_int_equal(rmdir(self->path), 0);
}
