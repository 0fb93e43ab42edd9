#include "cargo/targets.h"

#include <stdlib.h>

typedef struct finding {
    cargo_files *files;
    cg_str root;
    const cargo_manifest *manifest;
    VEC(cargo_target) found;
    cg_err *reterr;
} finding;

cg_code targets_code_name(arena *mem, cg_str name, cg_str *ret, cg_err *reterr)
{
    char *at = arena_bytes(mem, name.len + 1);

    if (at == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < name.len; i++)
        at[i] = name.ptr[i] == '-' ? '_' : name.ptr[i];
    at[name.len] = '\0';
    *ret = (cg_str){at, name.len};
    return CG_OK;
}

static cg_code add(finding *self, enum cargo_target_kind kind, cg_str name, cg_str path)
{
    cargo_target *to = vec_add(self->files->heap, &self->found);

    if (to == NULL)
        return err_nomem(self->reterr);
    *to = (cargo_target){.kind = kind, .name = name, .path = path};
    return CG_OK;
}

static bool has_name(const finding *self, enum cargo_target_kind kind, cg_str name)
{
    for (size_t i = 0; i < self->found.count; i++) {
        if (self->found.at[i].kind == kind && str_equal(self->found.at[i].name, name))
            return true;
    }
    return false;
}

static cg_code path_of(finding *self, cg_str *ret, const char *folder, cg_str name,
                       const char *rest)
{
    arena *mem = self->files->mem;

    if (!arena_format(mem, ret, "%.*s/%s%.*s%s", (int)self->root.len, self->root.ptr, folder,
                      (int)name.len, name.ptr, rest))
        return err_nomem(self->reterr);
    return CG_OK;
}

/* Where Cargo looks for the targets of a kind; with its slash. */
static const char *folder_of(enum cargo_target_kind kind)
{
    switch (kind) {
    case CARGO_LIB: return "src/";
    case CARGO_BIN: return "src/bin/";
    case CARGO_EXAMPLE: return "examples/";
    case CARGO_TEST: return "tests/";
    case CARGO_BENCH: return "benches/";
    }
    return "";
}

static cg_code is_file(const finding *self, cg_str path, bool *ret)
{
    return files_is(self->files, path, OS_FILE, ret, self->reterr);
}

/* The file of a target that its manifest names without a path. */
static cg_code guess_path(finding *self, enum cargo_target_kind kind, cg_str name, cg_str *ret)
{
    cg_str other;
    bool is_there;

    CG_TRY(path_of(self, ret, folder_of(kind), name, ".rs"));
    CG_TRY(is_file(self, *ret, &is_there));
    if (is_there)
        return CG_OK;
    CG_TRY(path_of(self, &other, folder_of(kind), name, "/main.rs"));
    CG_TRY(is_file(self, other, &is_there));
    if (is_there) {
        *ret = other;
        return CG_OK;
    }
    if (kind == CARGO_BIN && str_equal(name, self->manifest->name))
        return path_of(self, ret, "src/", CG_LIT("main"), ".rs");
    return CG_OK;
}

static cg_code add_library(finding *self, const manifest_target *declared)
{
    cg_str name = self->manifest->name;
    bool is_there = declared != NULL;
    cg_str path;

    CG_TRY(path_of(self, &path, "src/", CG_LIT("lib"), ".rs"));
    if (!is_there && self->manifest->has_auto[CARGO_LIB])
        CG_TRY(is_file(self, path, &is_there));
    if (!is_there)
        return CG_OK;
    if (declared != NULL && declared->name.len > 0)
        name = declared->name;
    if (declared != NULL && declared->path.len > 0)
        CG_TRY(files_join(self->files->mem, self->root, declared->path, &path, self->reterr));
    CG_TRY(targets_code_name(self->files->mem, name, &name, self->reterr));
    CG_TRY(add(self, CARGO_LIB, name, path));
    self->found.at[self->found.count - 1].is_proc_macro =
        declared != NULL && declared->is_proc_macro;
    return CG_OK;
}

static cg_code add_declared(finding *self, enum cargo_target_kind kind)
{
    for (size_t i = 0; i < self->manifest->target_count; i++) {
        const manifest_target *of = &self->manifest->targets[i];
        cg_str path;

        if (of->kind != kind || of->name.ptr == NULL || has_name(self, kind, of->name))
            continue;
        if (of->path.len > 0)
            CG_TRY(files_join(self->files->mem, self->root, of->path, &path, self->reterr));
        else
            CG_TRY(guess_path(self, kind, of->name, &path));
        CG_TRY(add(self, kind, of->name, path));
    }
    return CG_OK;
}

/* FOLDER/x.rs and FOLDER/x/main.rs */
static cg_code add_found(finding *self, enum cargo_target_kind kind)
{
    const char *folder = folder_of(kind);
    os_entries entries;
    cg_str path;

    CG_TRY(path_of(self, &path, folder, CG_LIT(""), ""));
    CG_TRY(files_list(self->files, path, &entries, self->reterr));
    for (size_t i = 0; i < entries.count; i++) {
        cg_str name = entries.at[i].name;
        bool is_source = str_ends_with(name, CG_LIT(".rs"));
        bool is_there;

        if (name.ptr[0] == '.' || str_utf8_error(name) != SIZE_MAX)
            continue;
        CG_TRY(path_of(self, &path, folder, name, is_source ? "" : "/main.rs"));
        CG_TRY(is_file(self, path, &is_there));
        if (!is_there)
            continue;
        if (is_source)
            name.len -= 3;
        if (!has_name(self, kind, name))
            CG_TRY(add(self, kind, name, path));
    }
    return CG_OK;
}

static cg_code add_main(finding *self)
{
    bool is_there;
    cg_str path;

    CG_TRY(path_of(self, &path, "src/", CG_LIT("main"), ".rs"));
    CG_TRY(is_file(self, path, &is_there));
    if (!is_there || has_name(self, CARGO_BIN, self->manifest->name))
        return CG_OK;
    /* Named otherwise by the manifest: then it is that binary. */
    for (size_t i = 0; i < self->found.count; i++) {
        if (self->found.at[i].kind == CARGO_BIN && str_equal(self->found.at[i].path, path))
            return CG_OK;
    }
    return add(self, CARGO_BIN, self->manifest->name, path);
}

static cg_code find_all(finding *self, bool is_whole)
{
    const manifest_target *library = NULL;

    for (size_t i = 0; i < self->manifest->target_count; i++) {
        if (self->manifest->targets[i].kind == CARGO_LIB)
            library = &self->manifest->targets[i];
    }
    CG_TRY(add_library(self, library));
    for (unsigned kind = CARGO_BIN; is_whole && kind <= CARGO_BENCH; kind++) {
        CG_TRY(add_declared(self, (enum cargo_target_kind)kind));
        if (!self->manifest->has_auto[kind])
            continue;
        if (kind == CARGO_BIN)
            CG_TRY(add_main(self));
        CG_TRY(add_found(self, (enum cargo_target_kind)kind));
    }
    return CG_OK;
}

static int by_name(const void *a, const void *b)
{
    const cargo_target *x = a;
    const cargo_target *y = b;
    int order = str_compare(x->name, y->name);

    if (order == 0)
        order = (x->kind > y->kind) - (x->kind < y->kind);
    return order != 0 ? order : str_compare(x->path, y->path);
}

static cg_code has_build_script(finding *self, bool *ret)
{
    cg_str path;

    *ret = self->manifest->build.len > 0;
    if (*ret || self->manifest->is_build_off)
        return CG_OK;
    CG_TRY(path_of(self, &path, "", CG_LIT("build"), ".rs"));
    return is_file(self, path, ret);
}

cg_code targets_find(cargo_files *files, cg_str root, const cargo_manifest *manifest, bool is_whole,
                     cargo_targets *ret, cg_err *reterr)
{
    finding self = {.files = files, .root = root, .manifest = manifest, .reterr = reterr};
    cargo_targets found = {0};
    cg_code code = find_all(&self, is_whole);

    if (code == CG_OK)
        code = has_build_script(&self, &found.has_build_script);
    if (code == CG_OK) {
        cargo_target *at = arena_take(files->mem, self.found.count * sizeof *at + 1);

        if (at == NULL) {
            code = err_nomem(reterr);
        } else {
            if (self.found.count > 0)
                memcpy(at, self.found.at, self.found.count * sizeof *at);
            qsort(at, self.found.count, sizeof *at, by_name);
            found.at = at;
            found.count = self.found.count;
        }
    }
    vec_free(files->heap, &self.found);
    if (code == CG_OK)
        *ret = found;
    return code;
}
