#include "model/canonical.h"

typedef struct row {
    cg_str module;
    cg_str root;  /* absent: the names are only contained */
    cg_str names; /* with blanks between */
} row;

#define TEXT(text) {(text), sizeof(text) - 1}

static const row rows[] = {
#define REEXPORT(module, root, names) {TEXT(module), TEXT(root), TEXT(names)},
#define CONTAINS(module, names)       {TEXT(module), {NULL, 0}, TEXT(names)},
#define PRELUDE(names, module)
#include "model/canonical.def"
#undef REEXPORT
#undef CONTAINS
#undef PRELUDE
};

static const row prelude[] = {
#define REEXPORT(module, root, names)
#define CONTAINS(module, names)
#define PRELUDE(names, module) {TEXT(module), {NULL, 0}, TEXT(names)},
#include "model/canonical.def"
#undef REEXPORT
#undef CONTAINS
#undef PRELUDE
};

#define ROW_COUNT     (sizeof rows / sizeof rows[0])
#define PRELUDE_COUNT (sizeof prelude / sizeof prelude[0])

static bool lists(cg_str names, cg_str name)
{
    size_t at = 0;

    while (at < names.len) {
        size_t end = at;

        while (end < names.len && names.ptr[end] != ' ')
            end++;
        if (end - at == name.len && memcmp(names.ptr + at, name.ptr, name.len) == 0)
            return true;
        at = end + 1;
    }
    return false;
}

/* The first segment of `path`. */
static cg_str head_of(cg_str path)
{
    size_t end = str_find(path, CG_LIT("::"));

    return (cg_str){path.ptr, end == SIZE_MAX ? path.len : end};
}

/* `path` below `module`: what follows `module::`; absent when it lies elsewhere. */
static cg_str below(cg_str path, cg_str module)
{
    if (path.len <= module.len + 2 || !str_starts_with(path, module) ||
        memcmp(path.ptr + module.len, "::", 2) != 0)
        return (cg_str){NULL, 0};
    return (cg_str){path.ptr + module.len + 2, path.len - module.len - 2};
}

static size_t join(char *out, cg_str root, cg_str rest)
{
    if (root.len + 2 + rest.len > CANONICAL_ROOM)
        return 0;
    memmove(out + root.len + 2, rest.ptr, rest.len);
    memcpy(out, root.ptr, root.len);
    memcpy(out + root.len, "::", 2);
    return root.len + 2 + rest.len;
}

/* `std::prelude::v1::Vec`, as if it were there without a `use`. */
static size_t from_prelude(cg_str path, char *out)
{
    cg_str rest = below(path, CG_LIT("std::prelude"));
    cg_str version;
    cg_str home;

    if (rest.ptr == NULL)
        return 0;
    version = head_of(rest);
    if (version.len == rest.len)
        return 0;
    rest = (cg_str){rest.ptr + version.len + 2, rest.len - version.len - 2};
    home = canonical_prelude(head_of(rest), false);
    return home.ptr != NULL ? join(out, home, rest) : 0;
}

size_t canonical_path(cg_str path, char out[CANONICAL_ROOM])
{
    cg_str head = head_of(path);
    size_t len = 0;

    if (path.len > CANONICAL_ROOM)
        return 0;
    if (str_equal(head, CG_LIT("core")) || str_equal(head, CG_LIT("alloc"))) {
        cg_str rest = {path.ptr + head.len, path.len - head.len};

        if (rest.len == 0) {
            memcpy(out, "std", 3);
            return 3;
        }
        len = join(out, CG_LIT("std"), (cg_str){rest.ptr + 2, rest.len - 2});
        if (len == 0)
            return 0;
        path = (cg_str){out, len};
        head = CG_LIT("std");
    }
    for (size_t i = 0; i < ROW_COUNT; i++) {
        cg_str rest = below(path, rows[i].module);

        if (rest.ptr != NULL && rows[i].root.ptr != NULL && lists(rows[i].names, head_of(rest)))
            return join(out, rows[i].root, rest);
    }
    if (str_equal(head, CG_LIT("std"))) {
        size_t found = from_prelude(path, out);

        if (found > 0)
            return found;
    }
    return len;
}

bool canonical_contains(cg_str path, cg_str name)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if ((str_equal(rows[i].module, path) ||
             (rows[i].root.ptr != NULL && str_equal(rows[i].root, path))) &&
            lists(rows[i].names, name))
            return true;
    }
    return false;
}

cg_str canonical_prelude(cg_str name, bool is_macro)
{
    for (size_t i = 0; i < PRELUDE_COUNT; i++) {
        if (str_equal(prelude[i].module, CG_LIT("std")) == is_macro &&
            lists(prelude[i].names, name))
            return prelude[i].module;
    }
    return (cg_str){NULL, 0};
}

bool canonical_is_primitive(cg_str name)
{
    return name.len <= 5 &&
           lists(CG_LIT("bool char str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f16 f32 "
                        "f64 f128"),
                 name);
}
