/*
 * published - a bundle in a fresh directory, to be looked at and tampered with.
 */
#ifndef CG_TESTS_SUPPORT_PUBLISHED_H
#define CG_TESTS_SUPPORT_PUBLISHED_H

#include "candlegraph/candlegraph.h"

typedef struct published {
    char root[256];
    char trace[320];
    char nsight[320];
    char bundle[320];
} published;

/* Publish a small training trace, with Nsight files on request. */
void published_begin(published *self, bool has_nsight);
void published_end(published *self);
/* Path of a file of the bundle; one at a time. */
const char *published_path(published *self, const char *name);
void published_write(published *self, const char *name, const char *text);
/* Replace the first `old` in a file of the bundle. */
void published_replace(published *self, const char *name, const char *old, const char *text);
/* Make bundle.json agree with the file again (same length of digest, new size). */
void published_rehash(published *self, const char *name);

/* The problem of verifying, "" when that works. */
const char *published_problem(published *self, cg_verify_depth depth);

#endif
