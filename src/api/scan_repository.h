/*
 * scan_repository - how the files of a crate are called from the top of its repository.
 *
 *   findings_home home;
 *   CG_TRY(scan_home(env, doc, path, mem, &home, reterr));
 *   findings_github(view, &home, out);
 *
 * The top is the first of these that the crate lies in: $GITHUB_WORKSPACE, where a job of GitHub
 * checks out; the nearest folder with an entry `.git`, the top of a work tree; the crate's own
 * folder.
 */
#ifndef CG_API_SCAN_REPOSITORY_H
#define CG_API_SCAN_REPOSITORY_H

#include "model/findings_out.h"

/*
 * In `mem`; `path` is what was scanned, for a crate without a manifest. Fails with CG_NOMEM, and
 * with CG_NOT_FOUND when nobody can tell whether something is there.
 */
cg_code scan_home(const cg_env *env, const model_doc *doc, cg_str path, arena *mem,
                  findings_home *ret, cg_err *reterr) CG_MUST;

#endif
