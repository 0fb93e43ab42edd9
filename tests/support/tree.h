/*
 * tree - a directory of a test's own with files at any depth.
 *
 *   tree at;
 *   tree_make(&at);
 *   tree_write(&at, "src/lib.rs", "");
 *   ... tree_place(&at, "src") ...
 *   tree_remove(&at);
 *
 * Every call fails the running test when it cannot be done.
 */
#ifndef CG_TESTS_SUPPORT_TREE_H
#define CG_TESTS_SUPPORT_TREE_H

#include "base/str.h"

typedef struct tree {
    char root[256]; /* as the kernel calls it, without links */
    char path[1024];
} tree;

void tree_make(tree *self);
/* Directories on the way are made. */
void tree_write(tree *self, const char *name, const char *text);
/* The same, for everyone to execute. */
void tree_program(tree *self, const char *name, const char *text);
void tree_link(tree *self, const char *name, const char *target);
bool tree_has(tree *self, const char *name);
/* The path of a name; one at a time. */
cg_str tree_place(tree *self, const char *name);
void tree_remove(tree *self);

#endif
