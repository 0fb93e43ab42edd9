/*
 * folder - a directory of a test's own, with files written in place.
 *
 *   folder at;
 *   folder_make(&at);
 *   folder_write(&at, "a.csv", "x,y\n1,2\n");
 *   ... at.path ...
 *   folder_remove(&at);
 *
 * One level deep; every call fails the running test when it cannot be done.
 */
#ifndef CG_TESTS_SUPPORT_FOLDER_H
#define CG_TESTS_SUPPORT_FOLDER_H

#include <stddef.h>

typedef struct folder {
    char path[64];
} folder;

void folder_make(folder *self);
void folder_write(const folder *self, const char *name, const char *text);
void folder_write_bytes(const folder *self, const char *name, const void *bytes, size_t count);
/* A symbolic link. */
void folder_link(const folder *self, const char *name, const char *target);
/* The directory and everything in it. */
void folder_remove(folder *self);

#endif
