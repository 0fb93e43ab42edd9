/*
 * faults - a kernel that stops or fails at the k-th call.
 *
 *   faults f;
 *   os_calls table = faults_table(&f);
 *   cg_env env = {.size = sizeof env, .os = &table};
 *   faults_arm(&f, FAULT_ERROR, 17, EIO);
 *
 * Every call is counted, those of closing too. fsync is counted and not done:
 * a test of a thousand publications would wait for the disk otherwise. A close
 * that fails has closed all the same; a write that fails may have written half.
 */
#ifndef CG_TESTS_SUPPORT_FAULTS_H
#define CG_TESTS_SUPPORT_FAULTS_H

#include "base/os.h"

enum fault {
    FAULT_NONE,
    FAULT_KILL,   /* SIGKILL before the call */
    FAULT_ERROR,  /* the call fails once */
    FAULT_ERRORS, /* and all later ones, but for close */
    FAULT_SHORT,  /* a read or write moves half */
    FAULT_SHORTS  /* every one moves three bytes at most */
};

typedef struct faults {
    const os_calls *kernel;
    enum fault fault;
    uint64_t at; /* from 1 */
    int error;
    uint64_t calls; /* since faults_arm */
    uint64_t failures;
    const char *failed; /* name of the call that failed first */
    int open_files;
} faults;

os_calls faults_table(faults *self);
void faults_arm(faults *self, enum fault fault, uint64_t at, int error);

/* --- directories to work in --- */

/* A fresh directory below $TMPDIR or /tmp; `ret` gets its path. */
void place_make(char ret[256]);
/* Remove it with everything in it. */
void place_remove(const char *path);
void place_write(const char *directory, const char *name, const char *bytes, size_t count);
/* Entries of `directory` that begin with a dot, `.` and `..` aside. */
unsigned place_count_hidden(const char *directory);
bool place_exists(const char *directory, const char *name);

#endif
