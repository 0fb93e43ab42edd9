#include "publish/semantic.h"

/* Inputs of the derivation: they are what everything else is compared with. */
static bool is_input(cg_str path)
{
    cg_str nsight = bundle_member_path(MEMBER_NSIGHT);

    return str_equal(path, bundle_member_path(MEMBER_TRACE)) ||
           (path.len > nsight.len && str_starts_with(path, nsight) && path.ptr[nsight.len] == '/');
}

static cg_code check_member(bundle *self, const evidence *derived, const derived_member *member,
                            cg_err *reterr)
{
    cg_str path = bundle_member_path(member->member);
    bool is_same = false;

    /* A build without the viewer writes no page. */
    if (!bundle_has(self, member->member) && member->member == MEMBER_PAGE)
        return CG_OK;
    if (!bundle_has(self, member->member))
        return cg_fail(reterr, PROBLEM_BUNDLE_NOT_REDERIVED,
                       "`%s` is not there, which this version always writes", path.ptr);
    CG_TRY(bundle_is_rederived(self, derived, member, &is_same, reterr));
    if (is_same)
        return CG_OK;
    return cg_fail(reterr, PROBLEM_BUNDLE_NOT_REDERIVED,
                   "`%s` is not what this version derives from the trace", path.ptr);
}

static bool is_derived(cg_str path)
{
    for (size_t i = 0; i < derived_member_count; i++) {
        if (str_equal(path, bundle_member_path(derived_members[i].member)))
            return true;
    }
    return false;
}

/* *ret: the page, where this build has no viewer to derive it with. */
static cg_code check_own(bundle *self, const evidence *derived, sc_strs *ret, cg_err *reterr)
{
    cg_str *page = arena_take(&self->arena, sizeof *page);

    if (page == NULL)
        return err_nomem(reterr);
    *page = bundle_member_path(MEMBER_PAGE);
    for (size_t i = 0; i < self->manifest.count; i++) {
        cg_str path = self->manifest.files[i].path;

        if (is_input(path) || is_derived(path))
            continue;
        if (str_equal(path, *page))
            *ret = (sc_strs){page, 1};
        else
            return cg_fail(reterr, PROBLEM_BUNDLE_NOT_REDERIVED,
                           "`%.*s` is declared, which this version never writes", ERR_STR(path));
    }
    for (size_t k = 0; k < derived_member_count; k++) {
        CG_TRY(check_member(self, derived, &derived_members[k], reterr));
    }
    return CG_OK;
}

static cg_code list_unchecked(bundle *self, sc_strs *ret, cg_err *reterr)
{
    cg_str *list = arena_take(&self->arena, (self->manifest.count + 1) * sizeof *list);
    size_t count = 0;

    if (list == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < self->manifest.count; i++) {
        cg_str path = self->manifest.files[i].path;

        if (str_equal(path, bundle_member_path(MEMBER_EVIDENCE)))
            list[count++] = CG_LIT(NOT_REDERIVABLE_TEXTS);
        else if (!is_input(path))
            list[count++] = path;
    }
    *ret = (sc_strs){list, count};
    return CG_OK;
}

static cg_code check(bundle *self, const evidence *derived, bool is_strict, sc_strs *ret,
                     cg_err *reterr)
{
    *ret = (sc_strs){NULL, 0};
    if (manifest_is_ours(&self->manifest)) {
        CG_TRY(check_own(self, derived, ret, reterr));
    } else {
        CG_TRY(bundle_compare_all(self, derived, reterr));
        CG_TRY(list_unchecked(self, ret, reterr));
    }
    if (is_strict && ret->count > 0)
        return cg_fail(reterr, PROBLEM_BUNDLE_NOT_CHECKED,
                       "%zu files could not be derived again, `%.*s` first", ret->count,
                       ERR_STR(ret->at[0]));
    return CG_OK;
}

cg_code bundle_check_semantics(bundle *self, bool is_strict, sc_strs *ret, cg_err *reterr)
{
    evidence *derived;
    cg_code code;

    CG_TRY(bundle_derive(self, &derived, reterr));
    code = check(self, derived, is_strict, ret, reterr);
    evidence_free(derived);
    return code == CG_OK ? bundle_recheck(self, reterr) : code;
}
