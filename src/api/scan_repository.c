#include "api/scan_repository.h"

#include "base/os_run.h"
#include "cargo/files.h"

/* Links resolved; absent: it leads nowhere, or nobody can tell. */
static cg_code real_path(cg_str path, arena *mem, cg_str *ret, cg_err *reterr)
{
    cg_code code = path.ptr == NULL ? CG_NOT_FOUND : os_real_path(path, mem, ret, NULL);

    if (code != CG_OK)
        *ret = (cg_str){0};
    return code == CG_NOMEM ? err_nomem(reterr) : CG_OK;
}

/* The folder that the documents name its files from, and the file in it that the crate begins with:
 * its manifest, or the source that is read alone. */
static cg_code crate_folder(const cg_env *env, const model_doc *doc, cg_str path, arena *mem,
                            cg_str *ret, cg_str *ret_whole, cg_err *reterr)
{
    const model_cargo *cargo = doc->cargo;
    enum os_kind kind = OS_FILE;

    CG_TRY(real_path(cargo != NULL ? cargo->manifest_path : path, mem, ret, reterr));
    if (ret->ptr == NULL)
        return CG_OK;
    if (cargo == NULL)
        CG_TRY(os_kind_of(env, *ret, true, &kind, reterr));
    if (kind == OS_DIRECTORY)
        return CG_OK;
    *ret_whole = files_name(*ret);
    *ret = files_parent(*ret);
    return CG_OK;
}

/* The nearest folder at or above `folder` that a work tree of git begins in; absent: none. */
static cg_code work_tree(const cg_env *env, cg_str folder, arena *mem, cg_str *ret, cg_err *reterr)
{
    *ret = (cg_str){0};
    for (cg_str at = folder; at.len > 0; at = files_parent(at)) {
        enum os_kind kind = OS_MISSING;
        cg_str path;

        CG_TRY(files_join(mem, at, CG_LIT(".git"), &path, reterr));
        CG_TRY(os_kind_of(env, path, true, &kind, reterr));
        if (kind == OS_DIRECTORY || kind == OS_FILE) {
            *ret = at;
            return CG_OK;
        }
    }
    return CG_OK;
}

cg_code scan_home(const cg_env *env, const model_doc *doc, cg_str path, arena *mem,
                  findings_home *ret, cg_err *reterr)
{
    cg_str folder = {0};
    cg_str whole = {0};
    cg_str top = {0};

    *ret = (findings_home){0};
    CG_TRY(crate_folder(env, doc, path, mem, &folder, &whole, reterr));
    if (folder.ptr == NULL)
        return CG_OK;
    CG_TRY(real_path(os_variable("GITHUB_WORKSPACE"), mem, &top, reterr));
    if (top.ptr == NULL || !files_is_below(folder, top))
        CG_TRY(work_tree(env, folder, mem, &top, reterr));
    *ret = (findings_home){.top = top.ptr != NULL ? top : folder, .folder = folder, .whole = whole};
    return CG_OK;
}
