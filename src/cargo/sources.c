#include "cargo/sources.h"

#include <stdlib.h>

#include "base/os_run.h"
#include "cargo/version.h"

#define MEMBER_CEILING 10000u
#define MEMBER_DEPTH   8u

static cg_code find_home(cargo_sources *self, cg_str home, cg_err *reterr)
{
    arena *mem = self->files->mem;
    cg_str user = os_variable("HOME");

    if (home.len == 0)
        home = os_variable("CARGO_HOME");
    if (home.len > 0)
        return arena_text(mem, home, &self->home) ? CG_OK : err_nomem(reterr);
    if (user.len > 0)
        return files_join(mem, user, CG_LIT(".cargo"), &self->home, reterr);
    return CG_OK;
}

cg_code sources_init(cargo_sources *self, cargo_files *files, cg_str home, cg_str workspace_root,
                     cargo_strs given, cg_err *reterr)
{
    bool is_there;
    cg_str path;

    *self = (cargo_sources){.files = files, .given = given};
    CG_TRY(find_home(self, home, reterr));
    CG_TRY(files_join(files->mem, workspace_root, CG_LIT("vendor"), &path, reterr));
    CG_TRY(files_has(files, path, OS_DIRECTORY, &is_there, reterr));
    if (is_there)
        self->vendor = path;
    if (self->home.len == 0)
        return CG_OK;
    CG_TRY(files_join(files->mem, self->home, CG_LIT("registry/src"), &path, reterr));
    return files_list_directories(files, path, &self->registries, reterr);
}

void sources_free(cargo_sources *self)
{
    if (self->files == NULL)
        return;
    vec_free(self->files->heap, &self->registries);
    vec_free(self->files->heap, &self->archives);
    vec_free(self->files->heap, &self->checkouts);
}

cg_str sources_given(const cargo_sources *self, cg_str name)
{
    for (size_t i = 0; i < self->given.count; i++) {
        cg_str entry = self->given.at[i];

        if (str_starts_with(entry, name) && entry.len > name.len && entry.ptr[name.len] == '=')
            return (cg_str){entry.ptr + name.len + 1, entry.len - name.len - 1};
    }
    return (cg_str){0};
}

/* --- vendored and unpacked archives --- */

/* Names from manifests and lock files become parts of paths: nothing that leaves the directory. */
static bool is_plain(cg_str name)
{
    return name.len > 0 && name.ptr[0] != '.' && memchr(name.ptr, '/', name.len) == NULL &&
           memchr(name.ptr, '\0', name.len) == NULL;
}

/* The version that vendor/NAME holds; absent: none. */
static cg_code vendored_number(cargo_sources *self, cg_str directory, cg_str *ret, cg_err *reterr)
{
    toml_document *doc = NULL;
    cg_err cause = {0};
    cg_str path;
    cg_code code;
    bool is_there;
    bool is_copied;

    *ret = (cg_str){0};
    CG_TRY(files_join(self->files->mem, directory, CG_LIT("Cargo.toml"), &path, reterr));
    CG_TRY(files_has(self->files, path, OS_FILE, &is_there, reterr));
    if (!is_there)
        return CG_OK;
    code = files_read_toml(self->files, path, &doc, &cause);
    if (code == CG_NOMEM || code == CG_INTERRUPTED || code == CG_NOT_FOUND) {
        if (reterr != NULL && reterr->code == CG_OK)
            *reterr = cause;
        return code;
    }
    if (code != CG_OK)
        return files_say(self->files, path, str_from(cause.text), reterr);
    is_copied = arena_text(self->files->mem,
                           toml_text(doc, toml_get(doc, toml_get(doc, TOML_ROOT, CG_LIT("package")),
                                                   CG_LIT("version"))),
                           ret);
    toml_free(doc);
    return is_copied ? CG_OK : err_nomem(reterr);
}

/* vendor/NAME when its version is right, or fits; else absent. */
static cg_code find_vendored(cargo_sources *self, cg_str name, cg_str number, cg_str requirement,
                             cg_str *ret_number, cg_str *ret, cg_err *reterr)
{
    bool is_there;
    cg_str path;
    cg_str found;

    *ret = (cg_str){0};
    if (self->vendor.len == 0)
        return CG_OK;
    CG_TRY(files_join(self->files->mem, self->vendor, name, &path, reterr));
    CG_TRY(files_has(self->files, path, OS_DIRECTORY, &is_there, reterr));
    if (!is_there)
        return CG_OK;
    CG_TRY(vendored_number(self, path, &found, reterr));
    if (found.ptr == NULL ||
        (number.ptr != NULL ? !str_equal(found, number) : !version_text_fits(requirement, found)))
        return CG_OK;
    *ret_number = found;
    *ret = path;
    return CG_OK;
}

static cg_code find_archive(cargo_sources *self, cg_str directory, cg_str name, cg_str number,
                            cg_str *ret, cg_err *reterr)
{
    bool is_there;
    cg_str path;

    if (!arena_format(self->files->mem, &path, "%.*s/%.*s-%.*s", (int)directory.len, directory.ptr,
                      (int)name.len, name.ptr, (int)number.len, number.ptr))
        return err_nomem(reterr);
    CG_TRY(files_has(self->files, path, OS_DIRECTORY, &is_there, reterr));
    if (is_there)
        *ret = path;
    return CG_OK;
}

cg_code sources_find(cargo_sources *self, cg_str name, cg_str number, cg_str *ret, cg_err *reterr)
{
    cg_str found;

    *ret = (cg_str){0};
    if (!is_plain(name) || !is_plain(number))
        return CG_OK;
    CG_TRY(find_vendored(self, name, number, CG_LIT(""), &found, ret, reterr));
    if (ret->len == 0 && self->vendor.len > 0)
        CG_TRY(find_archive(self, self->vendor, name, number, ret, reterr));
    for (size_t i = 0; i < self->registries.count && ret->len == 0; i++)
        CG_TRY(find_archive(self, self->registries.at[i], name, number, ret, reterr));
    return CG_OK;
}

static int by_last_part(const void *a, const void *b)
{
    cg_str x = *(const cg_str *)a;
    cg_str y = *(const cg_str *)b;
    int order = str_compare(files_name(x), files_name(y));

    return order != 0 ? order : str_compare(x, y);
}

static cg_code list_archives(cargo_sources *self, cg_err *reterr)
{
    if (self->is_archives_listed)
        return CG_OK;
    self->is_archives_listed = true;
    if (self->vendor.len > 0)
        CG_TRY(files_list_directories(self->files, self->vendor, &self->archives, reterr));
    for (size_t i = 0; i < self->registries.count; i++)
        CG_TRY(
            files_list_directories(self->files, self->registries.at[i], &self->archives, reterr));
    if (self->archives.count > 0)
        qsort(self->archives.at, self->archives.count, sizeof(cg_str), by_last_part);
    return CG_OK;
}

/* The first archive whose last part does not sort before `prefix`. */
static size_t first_archive(const cargo_sources *self, cg_str prefix)
{
    size_t low = 0;
    size_t high = self->archives.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (str_compare(files_name(self->archives.at[middle]), prefix) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

cg_code sources_choose(cargo_sources *self, cg_str name, cg_str requirement, cg_str *ret_number,
                       cg_str *ret, cg_err *reterr)
{
    version best = {0};
    cg_str prefix;

    *ret = (cg_str){0};
    *ret_number = (cg_str){0};
    if (!is_plain(name))
        return CG_OK;
    CG_TRY(find_vendored(self, name, (cg_str){0}, requirement, ret_number, ret, reterr));
    if (ret->len > 0)
        return CG_OK;
    CG_TRY(list_archives(self, reterr));
    if (!arena_format(self->files->mem, &prefix, "%.*s-", (int)name.len, name.ptr))
        return err_nomem(reterr);
    for (size_t i = first_archive(self, prefix); i < self->archives.count; i++) {
        cg_str last = files_name(self->archives.at[i]);
        cg_str number;
        version found;

        if (!str_starts_with(last, prefix))
            break;
        number = (cg_str){last.ptr + prefix.len, last.len - prefix.len};
        if (!version_read(number, &found) || version_fits(requirement, &found) != VERSION_YES ||
            (ret->len > 0 && version_compare(&found, &best) <= 0))
            continue;
        best = found;
        *ret = self->archives.at[i];
        *ret_number = number;
    }
    return CG_OK;
}

/* --- checkouts --- */

/* What Cargo calls the directory of a repository: the last part of its URL. */
static cg_str repository_name(cg_str url)
{
    size_t end = str_find(url, CG_LIT("?"));
    cg_str path = url;

    if (end != SIZE_MAX)
        path.len = end;
    end = str_find(path, CG_LIT("#"));
    if (end != SIZE_MAX)
        path.len = end;
    while (path.len > 0 && path.ptr[path.len - 1] == '/')
        path.len--;
    path = files_name(path);
    if (str_ends_with(path, CG_LIT(".git")))
        path.len -= 4;
    return path;
}

static cg_code list_checkouts(cargo_sources *self, cg_err *reterr)
{
    cg_str path;

    if (self->is_checkouts_listed || self->home.len == 0)
        return CG_OK;
    self->is_checkouts_listed = true;
    CG_TRY(files_join(self->files->mem, self->home, CG_LIT("git/checkouts"), &path, reterr));
    return files_list_directories(self->files, path, &self->checkouts, reterr);
}

/* Is `directory` NAME-HASH with this name? */
static bool is_checkout_of(cg_str directory, cg_str name)
{
    cg_str last = files_name(directory);
    size_t dash = str_find_last(last, '-');

    return dash != SIZE_MAX && str_equal((cg_str){last.ptr, dash}, name);
}

cg_code sources_checkout(cargo_sources *self, cg_str url, cg_str commit, cg_str *ret,
                         cg_err *reterr)
{
    cg_str name = repository_name(url);
    cargo_names revisions = {0};
    cg_code code;

    *ret = (cg_str){0};
    CG_TRY(list_checkouts(self, reterr));
    code = CG_OK;
    for (size_t i = 0; i < self->checkouts.count && code == CG_OK; i++) {
        if (is_checkout_of(self->checkouts.at[i], name))
            code = files_list_directories(self->files, self->checkouts.at[i], &revisions, reterr);
    }
    for (size_t i = 0; i < revisions.count && ret->len == 0; i++) {
        if (commit.len == 0 || str_starts_with(commit, files_name(revisions.at[i])))
            *ret = revisions.at[i];
    }
    vec_free(self->files->heap, &revisions);
    return code;
}

/* --- members --- */

static bool has_wildcard(cg_str text)
{
    return memchr(text.ptr, '*', text.len) != NULL || memchr(text.ptr, '?', text.len) != NULL;
}

static bool is_excluded(const cargo_manifest *workspace, cg_str relative)
{
    for (size_t i = 0; i < workspace->excluded.count; i++) {
        if (files_match(workspace->excluded.at[i], relative))
            return true;
    }
    return false;
}

typedef struct expansion {
    cargo_files *files;
    cg_str root;
    const cargo_manifest *workspace;
    cargo_names *to;
    cg_err *reterr;
} expansion;

/*
 * A member that is named, or whose manifest is a link to nowhere: it is missed when it is not read.
 * What a pattern finds without a manifest is a folder like any other.
 */
static cg_code say_left_out(expansion *self, cg_str directory, cg_str manifest, bool is_named)
{
    enum os_kind kind = OS_MISSING;
    cg_str text;

    /* What may not be looked at was said. */
    if (os_kind_of(self->files->env, manifest, false, &kind, NULL) != CG_OK ||
        (!is_named && kind == OS_MISSING))
        return CG_OK;
    if (!arena_format(self->files->mem, &text,
                      kind == OS_MISSING ? "the member `%.*s` of the workspace is left out: it "
                                           "has no Cargo.toml"
                                         : "the member `%.*s` of the workspace is left out: its "
                                           "Cargo.toml is no file, or a link to none",
                      ERR_STR(files_name(directory))))
        return err_nomem(self->reterr);
    return files_say(self->files, manifest, text, self->reterr);
}

static cg_code add_member(expansion *self, cg_str directory, bool is_named)
{
    cg_str relative = directory;
    cg_str manifest;
    bool is_there;
    cg_str *at;

    if (files_is_below(directory, self->root))
        relative = (cg_str){directory.ptr + self->root.len, directory.len - self->root.len};
    if (is_excluded(self->workspace, relative) || self->to->count >= MEMBER_CEILING)
        return CG_OK;
    CG_TRY(files_join(self->files->mem, directory, CG_LIT("Cargo.toml"), &manifest, self->reterr));
    CG_TRY(files_has(self->files, manifest, OS_FILE, &is_there, self->reterr));
    if (!is_there)
        return say_left_out(self, directory, manifest, is_named);
    at = vec_add(self->files->heap, self->to);
    if (at == NULL)
        return err_nomem(self->reterr);
    *at = directory;
    return CG_OK;
}

/* Directories below the part of the pattern that has no wildcard, level by level. */
static cg_code expand(expansion *self, cg_str pattern)
{
    cg_str fixed = pattern;
    cargo_names level = {0};
    cg_code code = CG_OK;
    cg_str start;
    size_t begin = 0;

    while (has_wildcard(fixed))
        fixed = files_parent(fixed);
    CG_TRY(files_join(self->files->mem, self->root, fixed, &start, self->reterr));
    for (unsigned depth = 0; depth < MEMBER_DEPTH && code == CG_OK; depth++) {
        size_t end = level.count;

        if (depth == 0)
            code = files_list_directories(self->files, start, &level, self->reterr);
        for (; depth > 0 && begin < end && code == CG_OK && end < MEMBER_CEILING; begin++) {
            cg_str name = files_name(level.at[begin]);

            if (!str_equal(name, CG_LIT("target")) && !str_equal(name, CG_LIT("node_modules")))
                code = files_list_directories(self->files, level.at[begin], &level, self->reterr);
        }
        begin = depth > 0 ? end : 0;
        if (level.count == end)
            break;
        for (size_t i = end; i < level.count && code == CG_OK; i++) {
            cg_str relative = {level.at[i].ptr + self->root.len, level.at[i].len - self->root.len};

            if (files_match(pattern, relative))
                code = add_member(self, level.at[i], false);
        }
        /* Without `**` a pattern reaches as deep as it has parts. */
        if (str_find(pattern, CG_LIT("**")) == SIZE_MAX) {
            size_t slashes = 0;

            for (size_t i = fixed.len; i < pattern.len; i++)
                slashes += pattern.ptr[i] == '/';
            if (depth >= slashes)
                break;
        }
    }
    vec_free(self->files->heap, &level);
    return code;
}

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const cg_str *)a, *(const cg_str *)b);
}

static cg_code expand_all(expansion *self)
{
    for (size_t i = 0; i < self->workspace->members.count; i++) {
        cg_str pattern = self->workspace->members.at[i];
        cg_str directory, real;
        bool is_there;

        if (has_wildcard(pattern)) {
            CG_TRY(expand(self, pattern));
            continue;
        }
        CG_TRY(files_join(self->files->mem, self->root, pattern, &directory, self->reterr));
        CG_TRY(files_real(self->files, directory, &real, &is_there, self->reterr));
        CG_TRY(add_member(self, is_there ? real : directory, true));
    }
    return CG_OK;
}

cg_code sources_members(cargo_files *files, cg_str root, const cargo_manifest *workspace,
                        cargo_strs *ret, cg_err *reterr)
{
    cargo_names found = {0};
    expansion self = {files, root, workspace, &found, reterr};
    cg_code code = expand_all(&self);
    size_t count = 0;
    cg_str *at = NULL;

    if (code == CG_OK) {
        at = arena_take(files->mem, found.count * sizeof *at + 1);
        code = at == NULL ? err_nomem(reterr) : CG_OK;
    }
    if (code == CG_OK && found.count > 0)
        qsort(found.at, found.count, sizeof *at, by_text);
    for (size_t i = 0; i < found.count && code == CG_OK; i++) {
        if (count == 0 || !str_equal(at[count - 1], found.at[i]))
            at[count++] = found.at[i];
    }
    vec_free(files->heap, &found);
    if (code == CG_OK)
        *ret = (cargo_strs){at, count};
    return code;
}
