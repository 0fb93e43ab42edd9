#include "model/texts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/os_dir.h"
#include "rust/kept.h"

#define MOST_BROKEN_RANGES 8 /* faults of one file */

cg_str texts_directory(cg_str path)
{
    size_t slash = str_find_last(path, '/');

    if (slash == SIZE_MAX)
        return CG_LIT(".");
    return (cg_str){path.ptr, slash > 0 ? slash : 1};
}

/* Append the parts of `path`, `.` and `..` as text. */
static size_t walk(char *out, size_t len, cg_str path)
{
    for (size_t at = 0; at < path.len;) {
        size_t end = at;
        size_t count;

        while (end < path.len && path.ptr[end] != '/')
            end++;
        count = end - at;
        if (count == 2 && memcmp(path.ptr + at, "..", 2) == 0 && len > 0 &&
            !(len >= 2 && memcmp(out + len - 2, "..", 2) == 0)) {
            while (len > 0 && out[len - 1] != '/')
                len--;
            len -= len > 1; /* the slash, unless it is the root */
        } else if (count > 0 && !(count == 1 && path.ptr[at] == '.')) {
            if (len > 0 && out[len - 1] != '/')
                out[len++] = '/';
            memcpy(out + len, path.ptr + at, count);
            len += count;
        }
        at = end + 1;
    }
    return len;
}

bool texts_join(arena *mem, cg_str base, cg_str path, cg_str *ret)
{
    bool is_absolute = path.len > 0 && path.ptr[0] == '/';
    char *out = arena_bytes(mem, base.len + path.len + 4);
    size_t len = 0;

    if (out == NULL)
        return false;
    if (is_absolute || (base.len > 0 && base.ptr[0] == '/'))
        out[len++] = '/';
    if (!is_absolute)
        len = walk(out, len, base);
    len = walk(out, len, path);
    if (len == 0)
        out[len++] = '.';
    out[len] = '\0';
    *ret = (cg_str){out, len};
    return true;
}

cg_code texts_fault(program *self, crate_ref crate, file_ref file, ast_range range, cg_str path,
                    cg_err *reterr, const char *format, ...)
{
    program_fault *fault = vec_add(self->heap, &self->faults);
    char text[512];
    va_list args;
    int len;

    if (fault == NULL)
        return err_nomem(reterr);
    *fault = (program_fault){.rule = "source-load",
                             .crate = crate,
                             .file = file,
                             .start = range.start,
                             .end = range.end,
                             .path = path};
    va_start(args, format);
    len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (len < 0)
        len = 0;
    if ((size_t)len >= sizeof text)
        len = sizeof text - 1;
    return arena_text(&self->mem, (cg_str){text, (size_t)len}, &fault->message) ? CG_OK
                                                                                : err_nomem(reterr);
}

cg_code texts_input(program *self, enum program_input_kind kind, cg_str path, cg_str bytes,
                    cg_err *reterr)
{
    program_input input = {.path = path, .kind = (uint8_t)kind};
    program_input *place;

    if (bytes.ptr != NULL) {
        digest sum;

        CG_TRY(digest_start(&sum, reterr));
        digest_add(&sum, bytes.ptr, bytes.len);
        CG_TRY(digest_finish(&sum, input.sum, reterr));
    }
    place = vec_add(self->heap, &self->inputs);
    if (place == NULL)
        return err_nomem(reterr);
    *place = input;
    return CG_OK;
}

/*
 * Texts of the source go into documents, which are UTF-8. A file that is none does not compile;
 * its stray bytes are read as `?`, so that every other byte stays where it is.
 */
static cg_code only_utf8(program *self, crate_ref crate, cg_str path, cg_str *text, cg_err *reterr)
{
    size_t first = str_utf8_error(*text);
    char *at;

    if (first == SIZE_MAX)
        return CG_OK;
    at = arena_bytes(&self->mem, text->len + 1);
    if (at == NULL)
        return err_nomem(reterr);
    memcpy(at, text->ptr, text->len);
    at[text->len] = '\0';
    *text = (cg_str){at, text->len};
    for (size_t bad = first; bad < text->len;) {
        cg_str rest = {at + bad, text->len - bad};
        size_t next = str_utf8_error(rest);

        bad = next == SIZE_MAX ? text->len : bad + next;
        if (bad < text->len)
            at[bad++] = '?';
    }
    return texts_fault(self, crate, 0, (ast_range){0, 0}, path, reterr,
                       "is no UTF-8 at byte %zu; such bytes are read as `?`", first);
}

static const program_text_given *given_at(const program *self, cg_str path)
{
    for (size_t i = 0; self->part != NULL && i < self->part->text_count; i++) {
        if (str_equal(self->part->texts[i].path, path))
            return &self->part->texts[i];
    }
    return NULL;
}

/* The text at `path`; absent and CG_OK when it is missing or a fault says why it cannot be read. */
static cg_code read_text(program *self, crate_ref crate, cg_str path, cg_str *ret,
                         bool *ret_is_missing, cg_err *reterr)
{
    const program_text_given *given = given_at(self, path);
    enum os_kind kind = OS_MISSING;
    cg_err cause = {0};
    buf text;
    cg_code code;
    int number;

    *ret = (cg_str){NULL, 0};
    *ret_is_missing = false;
    if (given != NULL) {
        *ret = given->text;
        return only_utf8(self, crate, path, ret, reterr);
    }
    /* The source may name anything; a pipe nobody writes to would be waited for. */
    code = os_kind_of(self->env, path, true, &kind, &cause);
    if (code == CG_OK && kind != OS_FILE && kind != OS_MISSING) {
        CG_TRY(texts_input(self, INPUT_MISSING, path, (cg_str){NULL, 0}, reterr));
        return texts_fault(self, crate, 0, (ast_range){0, 0}, path, reterr,
                           "is %s, not a file of Rust",
                           kind == OS_DIRECTORY ? "a folder" : "a device or a pipe");
    }
    buf_init(&text, self->heap, TEXTS_MOST_BYTES);
    if (code == CG_OK)
        code = os_read_whole(self->env, path, &text, &cause);
    number = errno;
    if (code == CG_OK) {
        bool has_room = arena_text(&self->mem, buf_text(&text), ret);

        buf_free(&text);
        if (!has_room)
            return err_nomem(reterr);
        CG_TRY(texts_input(self, INPUT_FILE, path, *ret, reterr));
        return only_utf8(self, crate, path, ret, reterr);
    }
    buf_free(&text);
    if (code == CG_NOMEM || code == CG_INTERRUPTED ||
        (code == CG_NOT_FOUND && !os_is_lasting(number))) {
        if (reterr != NULL && reterr->code == CG_OK)
            *reterr = cause;
        return code;
    }
    CG_TRY(texts_input(self, INPUT_MISSING, path, (cg_str){NULL, 0}, reterr));
    if (cause.problem == problem_id(PROBLEM_INPUT_MISSING)) {
        *ret_is_missing = true;
        return CG_OK;
    }
    return texts_fault(self, crate, 0, (ast_range){0, 0}, path, reterr, "%s", cause.text);
}

/* The path as shown: below its package's directory, else as it is. */
static cg_str shown_path(const program *self, crate_ref crate, cg_str path)
{
    uint32_t package = self->crates.at[crate].package;
    cg_str root = self->cargo->scan_root;

    if (package != CARGO_MISSING)
        root = self->cargo->packages.at[package].root;
    if (root.ptr != NULL && path.len > root.len + 1 && str_starts_with(path, root) &&
        path.ptr[root.len] == '/')
        return (cg_str){path.ptr + root.len + 1, path.len - root.len - 1};
    return path;
}

static cg_str behind_blanks(cg_str text)
{
    while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t' || text.ptr[0] == '\n' ||
                            text.ptr[0] == '\r'))
        text = (cg_str){text.ptr + 1, text.len - 1};
    return text;
}

/*
 * Is it `dyn 'a + Trait`, bounds that begin with a lifetime? That is valid Rust which the grammar
 * does not know: it stumbles over the word, or over what stands behind it.
 */
static bool is_lifetime_first(cg_str text, ast_range broken)
{
    cg_str before = str_trim((cg_str){text.ptr, broken.start});
    cg_str rest = {text.ptr + broken.start, text.len - broken.start};
    size_t word = str_starts_with(rest, CG_LIT("dyn"))    ? 3
                  : str_starts_with(rest, CG_LIT("impl")) ? 4
                                                          : 0;
    size_t name = 1;

    if (word == 0 && !str_ends_with(before, CG_LIT("dyn")) &&
        !str_ends_with(before, CG_LIT("impl")))
        return false;
    rest = behind_blanks((cg_str){rest.ptr + word, rest.len - word});
    while (name < rest.len &&
           (rest.ptr[name] == '_' || (rest.ptr[name] >= 'a' && rest.ptr[name] <= 'z') ||
            (rest.ptr[name] >= '0' && rest.ptr[name] <= '9')))
        name++;
    if (rest.len == 0 || rest.ptr[0] != '\'' || name == 1)
        return false;
    rest = behind_blanks((cg_str){rest.ptr + name, rest.len - name});
    return rest.len > 0 && rest.ptr[0] == '+' && broken.end <= (size_t)(rest.ptr - text.ptr) + 1;
}

static cg_code tell_broken(program *self, crate_ref crate, file_ref of, ast_range range,
                           cg_err *reterr)
{
    const cg_str nowhere = {NULL, 0};

    if (!is_lifetime_first(self->files.at[of]->source.text, range))
        return texts_fault(self, crate, of, range, nowhere, reterr,
                           "not understood as Rust; what stands around it is kept");
    CG_TRY(texts_fault(self, crate, of, range, nowhere, reterr,
                       "bounds that begin with a lifetime are not understood, so this one type is "
                       "unknown; nothing else is lost"));
    self->faults.at[self->faults.count - 1].is_minor = true;
    return CG_OK;
}

static cg_code make_tree(program *self, program_file *file, cg_err *reterr)
{
    const program_text_given *given = given_at(self, file->full_path);
    bool is_kept = false;

    if (given != NULL && given->tree.ptr != NULL && given->text.ptr == file->source.text.ptr)
        CG_TRY(kept_read(given->tree, &file->source, &self->names, self->heap, &file->tree,
                         &is_kept, reterr));
    return is_kept ? CG_OK
                   : rust_parse(self->parser, &file->source, &self->names, &file->tree, reterr);
}

static cg_code parse(program *self, crate_ref crate, cg_str path, cg_str text, file_ref *ret,
                     cg_err *reterr)
{
    program_file *file = arena_zero(&self->mem, sizeof *file);
    program_file **place;
    cg_err cause = {0};
    cg_code code;
    size_t shown;

    /* Binary bytes: the parser would look for Rust in them for minutes. */
    if (memchr(text.ptr, '\0', text.len) != NULL)
        return texts_fault(self, crate, 0, (ast_range){0, 0}, path, reterr,
                           "not read: it holds NUL bytes, so it is no Rust text");
    if (file == NULL)
        return err_nomem(reterr);
    file->full_path = path;
    file->crate = crate;
    if (!source_init(&file->source, &self->mem, shown_path(self, crate, path), text))
        return err_nomem(reterr);
    code = make_tree(self, file, &cause);
    if (code == CG_LIMIT)
        return texts_fault(self, crate, 0, (ast_range){0, 0}, path, reterr, "not read: %s",
                           cause.text);
    if (code != CG_OK) {
        if (reterr != NULL && reterr->code == CG_OK)
            *reterr = cause;
        return code;
    }
    place = vec_add(self->heap, &self->files);
    if (place == NULL) {
        ast_free(&file->tree);
        return err_nomem(reterr);
    }
    *place = file;
    *ret = (file_ref)(self->files.count - 1);
    shown =
        file->tree.broken.count < MOST_BROKEN_RANGES ? file->tree.broken.count : MOST_BROKEN_RANGES;
    for (size_t i = 0; i < shown; i++)
        CG_TRY(tell_broken(self, crate, *ret, file->tree.broken.at[i], reterr));
    return CG_OK;
}

cg_code texts_load(program *self, crate_ref crate, cg_str path, file_ref *ret, bool *ret_is_missing,
                   cg_err *reterr)
{
    sym name = intern_add(&self->names, path);
    uint32_t *known;
    cg_str text = {NULL, 0};
    cg_str stable;

    if (name == 0)
        return err_nomem(reterr);
    *ret = 0;
    *ret_is_missing = false;
    stable = intern_text_of(&self->names, name);
    known = number_map_put(&self->text_by_path, number_map_key(1, name), UINT32_MAX);
    if (known == NULL)
        return err_nomem(reterr);
    if (*known == UINT32_MAX) {
        CG_TRY(read_text(self, crate, stable, &text, ret_is_missing, reterr));
    } else if (*known > 0) {
        text = self->files.at[*known]->source.text;
    } else {
        *ret_is_missing = true;
    }
    if (text.ptr != NULL)
        CG_TRY(parse(self, crate, stable, text, ret, reterr));
    known = number_map_put(&self->text_by_path, number_map_key(1, name), 0);
    if (*known == UINT32_MAX)
        *known = *ret;
    return CG_OK;
}
