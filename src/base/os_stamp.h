/*
 * os_stamp - by what a file is recognised without reading it: size, times, where it lies.
 *
 * Two equal stamps mean equal content as long as the clock of the file system had moved on between
 * the last change and the stamp (os_stamp_is_settled): a second change within one tick shows
 * nowhere.
 */
#ifndef CG_BASE_OS_STAMP_H
#define CG_BASE_OS_STAMP_H

#include "base/os.h"

#define OS_STAMP_TICK_NS 3000000000u /* the coarsest clock of a file system, with room */

typedef struct os_stamp {
    uint64_t size, inode, device;
    uint64_t modified_ns, changed_ns; /* since 1970 */
    uint64_t kind; /* OS_MISSING, OS_FILE, OS_DIRECTORY; OS_OTHER: cannot be told */
} os_stamp;

/* OS_OTHER for everything that is neither a file nor a directory, links included. */
void os_stamp_of(const cg_env *env, cg_str path, os_stamp *ret);
bool os_stamp_equal(const os_stamp *a, const os_stamp *b);
/* Was it last changed well before `now_ns`? */
bool os_stamp_is_settled(const os_stamp *self, uint64_t now_ns);
/* The clock files are stamped with, as far as it is that of this machine. */
uint64_t os_wall_ns(void);

#endif
