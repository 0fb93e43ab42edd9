#include "cargo/files.h"

#include <errno.h>

#include "base/os.h"
#include "base/os_run.h"

#define ENTRY_CEILING ((size_t)200000)

static cg_code add_input(cargo_files *self, cg_str path, const buf *text, cg_err *reterr)
{
    cargo_input *to;
    digest sum;
    cargo_input found = {.is_missing = text == NULL};

    for (size_t i = 0; i < self->inputs->count; i++) {
        if (str_equal(self->inputs->at[i].path, path))
            return CG_OK;
    }
    if (!arena_text(self->mem, path, &found.path))
        return err_nomem(reterr);
    if (text != NULL) {
        CG_TRY(digest_start(&sum, reterr));
        digest_add(&sum, text->at, text->len);
        CG_TRY(digest_finish(&sum, found.sum, reterr));
    }
    to = vec_add(self->heap, self->inputs);
    if (to == NULL)
        return err_nomem(reterr);
    *to = found;
    return CG_OK;
}

/* A link in a circle, a name that no file can have: nothing is there, now and later. */
static bool leads_nowhere(int number)
{
    return number == ENOENT || number == ENOTDIR || number == ELOOP || number == ENAMETOOLONG;
}

static bool is_forbidden(int number)
{
    return number == EACCES || number == EPERM;
}

static cg_code pass_on(cg_code code, const cg_err *cause, cg_err *reterr)
{
    if (reterr != NULL && reterr->code == CG_OK)
        *reterr = *cause;
    return code;
}

cg_code files_read(cargo_files *self, cg_str path, buf *ret, bool *ret_is_there, cg_err *reterr)
{
    enum os_kind kind = OS_MISSING;
    cg_err cause = {0};
    cg_code code;

    *ret_is_there = false;
    buf_init(ret, self->heap, FILES_BYTES);
    code = os_kind_of(self->env, path, true, &kind, &cause);
    if (code != CG_OK && !leads_nowhere(errno))
        return pass_on(code, &cause, reterr);
    if (code == CG_OK && kind == OS_MISSING)
        return add_input(self, path, NULL, reterr);
    if (kind != OS_FILE) {
        code =
            cg_fail(reterr, PROBLEM_INPUT_KIND, "%s", code == CG_OK ? "is not a file" : cause.text);
        err_in_file(reterr, path);
        return code;
    }
    code = os_read_whole(self->env, path, ret, reterr);
    if (code == CG_OK)
        code = add_input(self, path, ret, reterr);
    if (code != CG_OK) {
        buf_free(ret);
        err_in_file(reterr, path);
        return code;
    }
    *ret_is_there = true;
    return CG_OK;
}

cg_code files_read_toml(cargo_files *self, cg_str path, toml_document **ret, cg_err *reterr)
{
    bool is_there = false;
    cg_code code;
    buf text;

    *ret = NULL;
    CG_TRY(files_read(self, path, &text, &is_there, reterr));
    if (!is_there)
        return CG_OK;
    code = toml_read(self->env, self->heap, buf_text(&text), ret, reterr);
    buf_free(&text);
    if (code != CG_OK)
        err_in_file(reterr, path);
    return code;
}

/* What we may not look at is said, and not there; any other failure is passed on. */
static cg_code forgive(const cargo_files *self, cg_str path, cg_code code, int number,
                       const cg_err *cause, cg_err *reterr)
{
    if (code == CG_OK)
        return CG_OK;
    if (self->say == NULL || code != CG_NOT_FOUND || !is_forbidden(number))
        return pass_on(code, cause, reterr);
    return files_say(self, path, str_from(cause->text), reterr);
}

static cg_code is_of_kind(const cargo_files *self, cg_str path, enum os_kind kind, bool *ret,
                          cg_err *reterr)
{
    enum os_kind found = OS_MISSING;
    cg_code code = os_kind_of(self->env, path, true, &found, reterr);

    *ret = code == CG_OK && found == kind;
    return code;
}

cg_code files_is(const cargo_files *self, cg_str path, enum os_kind kind, bool *ret, cg_err *reterr)
{
    cg_err cause = {0};
    cg_code code = is_of_kind(self, path, kind, ret, &cause);

    return code == CG_OK || leads_nowhere(errno) ? CG_OK : pass_on(code, &cause, reterr);
}

cg_code files_has(const cargo_files *self, cg_str path, enum os_kind kind, bool *ret,
                  cg_err *reterr)
{
    cg_err cause = {0};
    cg_code code = is_of_kind(self, path, kind, ret, &cause);
    int number = errno;

    if (code != CG_OK && leads_nowhere(number))
        return CG_OK;
    return forgive(self, path, code, number, &cause, reterr);
}

cg_code files_real(const cargo_files *self, cg_str path, cg_str *ret, bool *ret_is_there,
                   cg_err *reterr)
{
    cg_err cause = {0};
    cg_code code = os_real_path(path, self->mem, ret, &cause);
    int number = errno;

    *ret_is_there = code == CG_OK;
    if (code == CG_NOT_FOUND && leads_nowhere(number))
        return CG_OK;
    return forgive(self, path, code, number, &cause, reterr);
}

cg_code files_say(const cargo_files *self, cg_str path, cg_str message, cg_err *reterr)
{
    return self->say == NULL ? CG_OK : self->say(self->context, path, message, reterr);
}

/* A failure has its number in `ret_number`; that nothing is there is none. */
static cg_code list(cargo_files *self, cg_str path, os_entries *ret, int *ret_number,
                    cg_err *reterr)
{
    os_dir directory;
    os_entries found = {0};
    cg_err cause = {0};
    cg_code code = os_dir_open(self->env, path, &directory, &cause);

    *ret = found;
    *ret_number = errno;
    if (code != CG_OK && leads_nowhere(*ret_number))
        return CG_OK;
    if (code == CG_OK) {
        code = os_dir_list(&directory, self->heap, self->mem, ENTRY_CEILING, &found, &cause);
        *ret_number =
            code == CG_OK || cause.problem != problem_id(PROBLEM_INPUT_UNREADABLE) ? 0 : errno;
        os_dir_close(&directory);
    }
    if (code == CG_OK) {
        *ret = found;
        return CG_OK;
    }
    err_in_file(&cause, path);
    return pass_on(code, &cause, reterr);
}

cg_code files_list(cargo_files *self, cg_str path, os_entries *ret, cg_err *reterr)
{
    int number;

    return list(self, path, ret, &number, reterr);
}

cg_code files_list_directories(cargo_files *self, cg_str path, cargo_names *to, cg_err *reterr)
{
    os_entries entries;
    cg_err cause = {0};
    int number;
    cg_code code = list(self, path, &entries, &number, &cause);

    CG_TRY(forgive(self, path, code, number, &cause, reterr));
    for (size_t i = 0; i < entries.count; i++) {
        bool is_directory = entries.at[i].kind == OS_DIRECTORY;
        cg_str inner;
        cg_str *at;

        if (entries.at[i].name.ptr[0] == '.')
            continue;
        CG_TRY(files_join(self->mem, path, entries.at[i].name, &inner, reterr));
        if (!is_directory)
            CG_TRY(files_has(self, inner, OS_DIRECTORY, &is_directory, reterr));
        if (!is_directory)
            continue;
        at = vec_add(self->heap, to);
        if (at == NULL)
            return err_nomem(reterr);
        *at = inner;
    }
    return CG_OK;
}

cg_code files_join(arena *mem, cg_str directory, cg_str name, cg_str *ret, cg_err *reterr)
{
    bool is_slashed = directory.len > 0 && directory.ptr[directory.len - 1] == '/';
    char *at;

    if (name.len > 0 && name.ptr[0] == '/')
        return arena_text(mem, name, ret) ? CG_OK : err_nomem(reterr);
    at = arena_bytes(mem, directory.len + name.len + 2);
    if (at == NULL)
        return err_nomem(reterr);
    if (directory.len > 0)
        memcpy(at, directory.ptr, directory.len);
    if (!is_slashed)
        at[directory.len] = '/';
    if (name.len > 0)
        memcpy(at + directory.len + !is_slashed, name.ptr, name.len);
    at[directory.len + !is_slashed + name.len] = '\0';
    *ret = (cg_str){at, directory.len + !is_slashed + name.len};
    return CG_OK;
}

cg_str files_parent(cg_str path)
{
    size_t slash = str_find_last(path, '/');

    if (slash == SIZE_MAX || path.len == 1)
        return (cg_str){path.ptr, 0};
    return (cg_str){path.ptr, slash > 0 ? slash : 1};
}

cg_str files_name(cg_str path)
{
    size_t slash = str_find_last(path, '/');

    return slash == SIZE_MAX ? path : (cg_str){path.ptr + slash + 1, path.len - slash - 1};
}

bool files_is_below(cg_str path, cg_str root)
{
    if (root.len == 1 && root.ptr[0] == '/')
        return true;
    return str_starts_with(path, root) && (path.len == root.len || path.ptr[root.len] == '/');
}

/* --- patterns --- */

/* The first part, taken off; slashes and `.` parts in front are skipped. */
static cg_str take_part(cg_str *path)
{
    cg_str part;

    do {
        while (path->len > 0 && path->ptr[0] == '/')
            *path = (cg_str){path->ptr + 1, path->len - 1};
        part = (cg_str){path->ptr, 0};
        while (part.len < path->len && path->ptr[part.len] != '/')
            part.len++;
        *path = (cg_str){path->ptr + part.len, path->len - part.len};
    } while (part.len == 1 && part.ptr[0] == '.');
    return part;
}

/* One part without slashes: after a `*` that led nowhere, the last one takes a byte more. */
static bool match_part(cg_str pattern, cg_str name)
{
    size_t p = 0;
    size_t n = 0;
    size_t star = SIZE_MAX;
    size_t star_n = 0;

    while (n < name.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            star_n = n;
        } else if (p < pattern.len && (pattern.ptr[p] == '?' || pattern.ptr[p] == name.ptr[n])) {
            p++;
            n++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            n = ++star_n;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}

bool files_match(cg_str pattern, cg_str path)
{
    cg_str star_pattern = {0};
    cg_str star_path = {0};

    for (;;) {
        cg_str before = path;
        cg_str wanted = take_part(&pattern);
        cg_str part;

        if (str_equal(wanted, CG_LIT("**"))) {
            star_pattern = pattern;
            star_path = before;
            continue;
        }
        part = take_part(&path);
        if (wanted.len == 0 && part.len == 0)
            return true;
        if (wanted.len > 0 && part.len > 0 && match_part(wanted, part))
            continue;
        /* The last `**` takes one part more. */
        if (star_pattern.ptr == NULL || take_part(&star_path).len == 0)
            return false;
        pattern = star_pattern;
        path = star_path;
    }
}
