/*
 * os_place - where does a path really lie?
 *
 * Answers are about the file system as it is now; they protect inputs and
 * bundles from being overwritten by mistake, not against a hostile owner of
 * the directory.
 */
#ifndef CG_BASE_OS_PLACE_H
#define CG_BASE_OS_PLACE_H

#include "base/os.h"

/*
 * Do both paths lead to one existing file (device and inode, links followed)? Directories on the
 * way that do not exist yet are walked by name.
 */
cg_code os_same_file(const cg_env *env, cg_str a, cg_str b, bool *ret, cg_err *reterr) CG_MUST;

/*
 * Does any directory that `path` passes through, or any directory above one of
 * them, hold an entry named `marker`? Parts that do not exist yet are walked
 * by name, links are followed. The last part itself is not entered.
 */
cg_code os_is_below(const cg_env *env, cg_str path, const char *marker, bool *ret,
                    cg_err *reterr) CG_MUST;

/*
 * Is `path` the directory `root`, or does it pass through it? Neither needs to exist yet. A path
 * that starts inside an existing root without passing through it is not noticed.
 */
cg_code os_is_within(const cg_env *env, cg_str path, cg_str root, bool *ret,
                     cg_err *reterr) CG_MUST;

#endif
