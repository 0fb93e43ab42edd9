/*
 * os_name - a path, or a name in a directory, as the kernel wants it.
 */
#ifndef CG_BASE_OS_NAME_H
#define CG_BASE_OS_NAME_H

#include "base/str.h"

#define OS_NAME_ROOM 256 /* for a name in a directory */

/*
 * `text` with NUL behind it. False with errno when it cannot be a name: ENOENT when it is empty or
 * has a NUL inside, ENAMETOOLONG when `room` bytes do not hold it.
 */
bool os_name(char *ret, size_t room, cg_str text);

#endif
