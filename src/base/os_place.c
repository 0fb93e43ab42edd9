#include "base/os_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

static int open_place(const os_calls *os, int directory, const char *path, int flags)
{
    int handle;

    do
        handle = os->open_at(os->context, directory, path, O_PATH | O_CLOEXEC | flags, 0);
    while (handle < 0 && errno == EINTR);
    return handle;
}

static cg_code cannot_look(cg_str path, cg_err *reterr)
{
    cg_fail(reterr, PROBLEM_OUTPUT, "cannot tell where it lies");
    err_in_file(reterr, path);
    return CG_OUTPUT;
}

enum known { KNOWN, KNOWN_ABSENT, NOT_KNOWN };

static enum known holds(const os_calls *os, int directory, const char *marker)
{
    struct stat ignored;

    if (os_lstat_at(os, directory, marker, &ignored) == 0)
        return KNOWN;
    return errno == ENOENT || errno == ENOTDIR ? KNOWN_ABSENT : NOT_KNOWN;
}

/* Move *at one directory up; KNOWN_ABSENT at the root. *at is closed unless it stays. */
static enum known go_up(const os_calls *os, int *at, bool is_owned)
{
    struct stat here;
    struct stat there;
    int above = open_place(os, *at, "..", O_DIRECTORY);

    if (above < 0)
        return NOT_KNOWN;
    if (os_fstat(os, *at, &here) != 0 || os_fstat(os, above, &there) != 0) {
        os->close(os->context, above);
        return NOT_KNOWN;
    }
    if (here.st_dev == there.st_dev && here.st_ino == there.st_ino) {
        os->close(os->context, above);
        return KNOWN_ABSENT;
    }
    if (is_owned)
        os->close(os->context, *at);
    *at = above;
    return KNOWN;
}

/* `directory` and all above it. Keeps `directory` open. */
static enum known holds_above(const os_calls *os, int directory, const char *marker)
{
    int at = directory;
    enum known found = holds(os, at, marker);
    enum known moved = KNOWN;

    while (found == KNOWN_ABSENT && moved == KNOWN) {
        moved = go_up(os, &at, at != directory);
        if (moved == KNOWN)
            found = holds(os, at, marker);
        else if (moved == NOT_KNOWN)
            found = NOT_KNOWN;
    }
    if (at != directory)
        os->close(os->context, at);
    return found;
}

/* The next part of *rest, NUL-terminated in `part`; false at the end. */
static bool next_part(cg_str *rest, char part[NAME_MAX + 1], bool *ret_is_last, bool *ret_is_long)
{
    size_t len = 0;
    size_t after;

    while (rest->len > 0 && rest->ptr[0] == '/') {
        rest->ptr++;
        rest->len--;
    }
    while (len < rest->len && rest->ptr[len] != '/')
        len++;
    if (len == 0)
        return false;
    *ret_is_long = len > NAME_MAX;
    if (*ret_is_long)
        return true;
    memcpy(part, rest->ptr, len);
    part[len] = '\0';
    after = len;
    while (after < rest->len && rest->ptr[after] == '/')
        after++;
    *ret_is_last = after == rest->len;
    rest->ptr += len;
    rest->len -= len;
    return true;
}

cg_code os_is_below(const cg_env *env, cg_str path, const char *marker, bool *ret, cg_err *reterr)
{
    const os_calls *os = os_of(env);
    char part[NAME_MAX + 1];
    cg_str rest = path;
    size_t missing = 0; /* parts that do not exist, below `at` */
    bool is_last = false;
    bool is_long = false;
    enum known found;
    int at = open_place(os, AT_FDCWD, path.len > 0 && path.ptr[0] == '/' ? "/" : ".", O_DIRECTORY);

    if (at < 0)
        return cannot_look(path, reterr);
    found = holds_above(os, at, marker);
    while (found == KNOWN_ABSENT && !is_last && next_part(&rest, part, &is_last, &is_long)) {
        int next;

        if (is_long) {
            os->close(os->context, at);
            return cannot_look(path, reterr);
        }
        if (strcmp(part, ".") == 0 || is_last)
            continue;
        if (missing > 0) {
            missing = strcmp(part, "..") == 0 ? missing - 1 : missing + 1;
            continue;
        }
        next = open_place(os, at, part, O_DIRECTORY);
        if (next < 0) {
            if (errno != ENOENT && errno != ENOTDIR) {
                os->close(os->context, at);
                return cannot_look(path, reterr);
            }
            missing = 1;
            continue;
        }
        os->close(os->context, at);
        at = next;
        /* A link may have led somewhere else altogether: look at everything above again. */
        found = holds_above(os, at, marker);
    }
    os->close(os->context, at);
    if (found == NOT_KNOWN)
        return cannot_look(path, reterr);
    *ret = found == KNOWN;
    return CG_OK;
}

/* --- paths that need not exist --- */

/* A place: an existing directory, and below it parts that do not exist yet. */
typedef struct place {
    const os_calls *os;
    int directory;
    size_t missing_len;
    char missing[PATH_MAX]; /* `/a/b` */
} place;

static bool place_start(const os_calls *os, cg_str path, place *ret)
{
    ret->os = os;
    ret->missing_len = 0;
    ret->directory =
        open_place(os, AT_FDCWD, path.len > 0 && path.ptr[0] == '/' ? "/" : ".", O_DIRECTORY);
    return ret->directory >= 0;
}

static bool place_missing(place *self, const char *part)
{
    size_t len = strlen(part);

    if (strcmp(part, "..") == 0) {
        while (self->missing[--self->missing_len] != '/') {
        }
        return true;
    }
    if (self->missing_len + 1 + len >= sizeof self->missing)
        return false;
    self->missing[self->missing_len++] = '/';
    memcpy(self->missing + self->missing_len, part, len);
    self->missing_len += len;
    return true;
}

static bool place_step(place *self, const char *part)
{
    int next;

    if (strcmp(part, ".") == 0)
        return true;
    if (self->missing_len > 0)
        return place_missing(self, part);
    next = open_place(self->os, self->directory, part, O_DIRECTORY);
    if (next < 0)
        return (errno == ENOENT || errno == ENOTDIR) && place_missing(self, part);
    self->os->close(self->os->context, self->directory);
    self->directory = next;
    return true;
}

/* KNOWN: they are one place. */
static enum known place_equal(const place *a, const place *b)
{
    struct stat one;
    struct stat other;

    if (a->missing_len != b->missing_len || memcmp(a->missing, b->missing, a->missing_len) != 0)
        return KNOWN_ABSENT;
    if (os_fstat(a->os, a->directory, &one) != 0 || os_fstat(b->os, b->directory, &other) != 0)
        return NOT_KNOWN;
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino ? KNOWN : KNOWN_ABSENT;
}

/* Walk all parts; with `target`, stop with *ret_is_met at the first place that equals it. */
static bool place_walk(place *self, cg_str rest, const place *target, bool *ret_is_met)
{
    char part[NAME_MAX + 1];
    bool is_last = false;
    bool is_long = false;

    while (!is_last && next_part(&rest, part, &is_last, &is_long)) {
        enum known is_there = KNOWN_ABSENT;

        if (is_long || !place_step(self, part))
            return false;
        if (target != NULL)
            is_there = place_equal(self, target);
        if (is_there == NOT_KNOWN)
            return false;
        if (is_there == KNOWN) {
            *ret_is_met = true;
            return true;
        }
    }
    return true;
}

cg_code os_is_within(const cg_env *env, cg_str path, cg_str root, bool *ret, cg_err *reterr)
{
    const os_calls *os = os_of(env);
    place target;
    place at;
    bool is_known;

    *ret = false;
    if (!place_start(os, root, &target))
        return cannot_look(root, reterr);
    if (!place_start(os, path, &at)) {
        os->close(os->context, target.directory);
        return cannot_look(path, reterr);
    }
    is_known = place_walk(&target, root, NULL, ret) && place_walk(&at, path, &target, ret);
    os->close(os->context, target.directory);
    os->close(os->context, at.directory);
    return is_known ? CG_OK : cannot_look(path, reterr);
}

/* --- paths that lead to one file --- */

static enum known examine(place *self, const char *last, struct stat *ret)
{
    enum known known = KNOWN;
    int handle;

    if (self->missing_len > 0)
        return KNOWN_ABSENT;
    handle = open_place(self->os, self->directory, last, 0);
    if (handle < 0)
        return errno == ENOENT || errno == ENOTDIR ? KNOWN_ABSENT : NOT_KNOWN;
    if (os_fstat(self->os, handle, ret) != 0)
        known = NOT_KNOWN;
    self->os->close(self->os->context, handle);
    return known;
}

/* Directories of the path that are still to be made are taken for made: `new/../file` is `file`. */
static enum known identity_of(const os_calls *os, cg_str path, struct stat *ret)
{
    char part[NAME_MAX + 1] = ".";
    bool is_last = false;
    bool is_long = false;
    enum known known = NOT_KNOWN;
    place at;

    if (!place_start(os, path, &at))
        return NOT_KNOWN;
    while (!is_last && next_part(&path, part, &is_last, &is_long) && !is_long &&
           (is_last || place_step(&at, part))) {
    }
    if (is_last || path.len == 0)
        known = examine(&at, part, ret);
    os->close(os->context, at.directory);
    return known;
}

cg_code os_same_file(const cg_env *env, cg_str a, cg_str b, bool *ret, cg_err *reterr)
{
    const os_calls *os = os_of(env);
    struct stat one;
    struct stat other;
    enum known has_one = identity_of(os, a, &one);
    enum known has_other = has_one == KNOWN ? identity_of(os, b, &other) : KNOWN_ABSENT;

    if (has_one == NOT_KNOWN || has_other == NOT_KNOWN)
        return cannot_look(a, reterr);
    *ret = has_one == KNOWN && has_other == KNOWN && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
    return CG_OK;
}
