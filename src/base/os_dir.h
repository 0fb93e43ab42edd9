/*
 * os_dir - what lies in a directory, and its files by a name relative to it.
 *
 *   os_dir dir;
 *   CG_TRY(os_dir_open(env, path, &dir, reterr));
 *   code = os_dir_list(&dir, heap, mem, 100000, &list, reterr);
 *   code = os_dir_open_file(&dir, list.at[0].name, 0, &file, reterr);
 *   os_dir_close(&dir);
 *
 * The directory is opened once; everything later goes through its handle, so
 * renaming or replacing it meanwhile changes nothing. Messages name the entry,
 * never the place of the directory.
 */
#ifndef CG_BASE_OS_DIR_H
#define CG_BASE_OS_DIR_H

#include "base/arena.h"
#include "base/os.h"

typedef struct os_dir {
    const os_calls *os;
    int handle;
} os_dir;

typedef struct os_entry {
    cg_str name;       /* bytes as the file system has them, perhaps not UTF-8 */
    enum os_kind kind; /* of the entry itself: a link is OS_LINK */
} os_entry;

typedef struct os_entries {
    const os_entry *at;
    size_t count;
} os_entries;

/* Open a directory; links on the way are followed. CG_NOT_FOUND, and errno is the kernel's. */
cg_code os_dir_open(const cg_env *env, cg_str path, os_dir *ret, cg_err *reterr) CG_MUST;
void os_dir_close(os_dir *self);

/*
 * All entries but `.` and `..`, sorted bytewise by name, in `mem`; working
 * memory from `from`. CG_LIMIT when there are more than `ceiling`. Entries
 * that vanish while being listed are left out.
 */
cg_code os_dir_list(os_dir *self, heap *from, arena *mem, size_t ceiling, os_entries *ret,
                    cg_err *reterr) CG_MUST;

/*
 * Open a regular file below the directory for reading. `path` is relative, `/` between its
 * parts, without `..`. Links are refused: on the way always, at its end unless OS_DIR_FOLLOW is
 * given. Pipes and devices are refused without waiting for them. Close with os_close.
 */
#define OS_DIR_FOLLOW 1u
cg_code os_dir_open_file(os_dir *self, cg_str path, unsigned flags, os_file *ret,
                         cg_err *reterr) CG_MUST;

/* May os_dir_open_file have it: not empty, no leading `/` or `./`, no part `..`, no NUL? */
bool os_dir_is_safe(cg_str path);

/*
 * Does the kernel's number tell how the files are: missing, a link in a circle, a name that is too
 * long, not for us? Any other tells how the machine is now, and may be none the next time.
 */
bool os_is_lasting(int number);

#endif
