#include "model/program.h"

#include <errno.h>

#include "base/os_dir.h"
#include "base/sort.h"
#include "model/collect.h"
#include "model/texts.h"

#define MOST_ENTRIES 100000u /* of one directory */
/* Of a folder without a manifest; with more below it is no crate but a disk. */
#define MOST_DIRECTORIES 20000u
#define MOST_SOURCES     5000u
#define MOST_PATH        4096u /* bytes of a printed module path */

static const ast_range nowhere = {0, 0};

/* --- crates --- */

/* The name of a package as code writes it. */
static sym code_name(program *self, cg_str name)
{
    char *out = arena_bytes(&self->mem, name.len + 1);

    if (out == NULL)
        return 0;
    for (size_t i = 0; i < name.len; i++)
        out[i] = (char)(name.ptr[i] == '-' ? '_' : name.ptr[i]);
    return intern_add(&self->names, (cg_str){out, name.len});
}

static cg_code add_crate(program *self, const program_crate *crate, crate_ref *ret, cg_err *reterr)
{
    program_crate *place = vec_add(self->heap, &self->crates);

    if (place == NULL || crate->name == 0)
        return err_nomem(reterr);
    *place = *crate;
    *ret = (crate_ref)(self->crates.count - 1);
    return CG_OK;
}

/* A crate that is known by its name only. */
static cg_code named_crate(program *self, enum crate_kind kind, sym name, uint32_t package,
                           crate_ref *ret, cg_err *reterr)
{
    program_crate crate = {
        .name = name, .kind = (uint8_t)kind, .is_library = true, .package = package};
    uint32_t *known;

    if (name == 0)
        return err_nomem(reterr);
    known = number_map_put(&self->crate_by_name, number_map_key(1, name), 0);
    if (known == NULL)
        return err_nomem(reterr);
    if (*known == 0)
        CG_TRY(add_crate(self, &crate, known, reterr));
    *ret = *known;
    return CG_OK;
}

static cg_code add_root(program *self, crate_ref crate, cg_str directory, module_ref *ret,
                        cg_err *reterr)
{
    program_module *module = vec_add(self->heap, &self->modules);

    if (module == NULL)
        return err_nomem(reterr);
    *module =
        (program_module){.crate = crate, .cfg = 1, .directory = directory, .path_base = directory};
    *ret = (module_ref)(self->modules.count - 1);
    self->crates.at[crate].root = *ret;
    return CG_OK;
}

/* --- modules in files of their own --- */

static bool is_open_above(const program *self, module_ref module, cg_str path)
{
    for (module_ref at = self->modules.at[module].parent; at != 0;
         at = self->modules.at[at].parent) {
        file_ref file = self->modules.at[at].file;

        if (file != 0 && str_equal(self->files.at[file]->full_path, path))
            return true;
    }
    return false;
}

static cg_code module_fault(program *self, module_ref module, const char *what, cg_str path,
                            cg_err *reterr)
{
    const program_module *at = &self->modules.at[module];
    const program_item *item = &self->items.at[at->item];
    ast_range range = nowhere;

    if (item->file != 0) {
        const ast_node *node = ast_at(program_tree(self, item->file), item->node);

        range = (ast_range){node->start, node->end};
    }
    return texts_fault(self, at->crate, item->file, range, (cg_str){NULL, 0}, reterr,
                       "module `%.*s`: %s `%.*s`", ERR_STR(program_text(self, at->name)), what,
                       ERR_STR(path));
}

/* Read the file of `module` from one of its places, which then has its body. */
static cg_code find_file(program *self, module_ref module, cg_err *reterr)
{
    program_module at = self->modules.at[module];
    cg_str places[2] = {at.wanted, at.wanted};
    size_t count = 1;
    file_ref file = 0;
    bool is_missing = true;
    size_t i;

    if (at.wanted.ptr == NULL) {
        if (!arena_format(&self->mem, &places[0], "%.*s.rs", (int)at.directory.len,
                          at.directory.ptr) ||
            !arena_format(&self->mem, &places[1], "%.*s/mod.rs", (int)at.directory.len,
                          at.directory.ptr))
            return err_nomem(reterr);
        count = 2;
    }
    for (i = 0; i < count && is_missing; i++) {
        if (is_open_above(self, module, places[i]))
            return module_fault(self, module, "its file holds the declaration itself:", places[i],
                                reterr);
        CG_TRY(texts_load(self, at.crate, places[i], &file, &is_missing, reterr));
    }
    if (is_missing)
        return module_fault(self, module, "its file is not there:", places[0], reterr);
    if (file == 0)
        return CG_OK; /* a fault says why */
    at.file = file;
    at.body = 1;
    at.path_base = texts_directory(places[i - 1]);
    if (at.wanted.ptr != NULL)
        at.directory = at.path_base;
    self->modules.at[module] = at;
    return CG_OK;
}

static cg_code open_file(program *self, module_ref module, cg_err *reterr)
{
    self->modules.at[module].is_pending = false;
    CG_TRY(find_file(self, module, reterr));
    return self->modules.at[module].file != 0 ? collect_body(self, module, reterr) : CG_OK;
}

/* Is the file of a pending module left out for now? Those that give macros to others never are. */
static bool is_left_out(program *self, module_ref module)
{
    const program_module *at = &self->modules.at[module];
    const program_part *part = self->part;

    if (part == NULL || at->has_macros || !self->crates.at[at->crate].is_scanned)
        return false;
    for (size_t i = 0; i < part->wanted_count; i++) {
        cg_str path = part->wanted[i];

        if (at->wanted.ptr != NULL ? str_equal(path, at->wanted)
                                   : str_starts_with(path, at->directory) &&
                                         (path.len == at->directory.len + 3 ||
                                          (path.len == at->directory.len + 7 &&
                                           str_ends_with(path, CG_LIT("/mod.rs")))))
            return false;
    }
    return true;
}

/* Where the file of a pending module lies, but for its ending. */
static cg_str place_of(const program *self, uint32_t module)
{
    const program_module *at = &self->modules.at[module];

    return at->wanted.ptr != NULL ? at->wanted : at->directory;
}

static bool place_before(const void *context, uint32_t a, uint32_t b)
{
    const program *self = context;
    int order = str_compare(place_of(self, a), place_of(self, b));

    return order != 0 ? order < 0 : a < b;
}

/*
 * Open the modules of `list`, by the names of their files: what comes first must not depend on the
 * order of the `mod` declarations, nor on what else is declared.
 */
static cg_code open_sorted(program *self, uint32_t *list, size_t count, cg_err *reterr)
{
    sort_with(list, list + count, count, place_before, self);
    for (size_t i = 0; i < count; i++) {
        if (!self->modules.at[list[i]].is_pending)
            continue;
        CG_TRY(open_file(self, list[i], reterr));
        if (!env_progress(self->env, "rust", self->files.count, 0))
            return cg_fail(reterr, PROBLEM_INTERRUPTED, "interrupted");
    }
    return CG_OK;
}

/* Open what is pending from module `from` on, all of it or only what gives macros to others. */
static cg_code open_rest(program *self, module_ref from, bool is_whole, cg_err *reterr)
{
    size_t reached = from;

    while (reached < self->modules.count) {
        size_t end = self->modules.count, count = 0;
        size_t room = 2 * (end - reached) * sizeof(uint32_t);
        uint32_t *list = heap_resize(self->heap, NULL, 0, room);
        cg_code code;

        if (list == NULL)
            return err_nomem(reterr);
        for (; reached < end; reached++) {
            const program_module *at = &self->modules.at[reached];

            if (at->is_pending && (is_whole || at->has_macros) &&
                !is_left_out(self, (module_ref)reached))
                list[count++] = (uint32_t)reached;
        }
        code = open_sorted(self, list, count, reterr);
        heap_resize(self->heap, list, room, 0);
        CG_TRY(code);
        if (reached == self->modules.count)
            CG_TRY(collect_macros(self, reterr));
    }
    return CG_OK;
}

cg_code program_open(program *self, module_ref module, cg_err *reterr)
{
    module_ref from = (module_ref)self->modules.count;

    if (!self->modules.at[module].is_pending)
        return CG_OK;
    CG_TRY(open_file(self, module, reterr));
    if (self->part != NULL && self->crates.at[self->modules.at[module].crate].is_scanned) {
        file_ref *late = vec_add(self->heap, &self->late);

        if (late == NULL)
            return err_nomem(reterr);
        *late = self->modules.at[module].file;
    }
    return open_rest(self, from, false, reterr);
}

/*
 * Every program has a `main`, and as good as every one a `Config`. Of several that are read
 * together the items of each are told apart by its name, as those of modules are. A module that
 * two of them may have in common is not: it is one thing.
 */
static void name_apart(const program *self, const cargo_package *of, uint32_t target,
                       program_crate *crate)
{
    cg_str folder = texts_directory(of->targets[target].path);
    size_t programs = 0;

    crate->is_apart = true;
    for (size_t i = 0; i < self->cargo->selected_count; i++) {
        const cargo_target *other = &of->targets[self->cargo->selected[i]];

        programs += other->kind != CARGO_LIB;
        if (self->cargo->selected[i] != target && str_equal(texts_directory(other->path), folder))
            crate->is_apart = false;
    }
    if (programs > 1)
        crate->shown = crate->name;
}

/* The crate of a target, its root read now; the rest of it when `is_whole`. */
static cg_code load_target(program *self, uint32_t package, uint32_t target, bool is_whole,
                           crate_ref *ret, cg_err *reterr)
{
    const cargo_package *of = &self->cargo->packages.at[package];
    const cargo_target *what = &of->targets[target];
    program_crate crate = {.kind = CRATE_SOURCE,
                           .is_scanned = is_whole,
                           .is_library = what->kind == CARGO_LIB,
                           .is_2015 = str_equal(of->edition, CG_LIT("2015")),
                           .package = package,
                           .name = code_name(self, what->name)};
    uint32_t *known =
        number_map_put(&self->crate_by_target, number_map_key(package + 1, target), 0);
    cg_str path = what->path;
    module_ref root = 0;
    file_ref file = 0;
    bool is_missing = false;

    if (known == NULL)
        return err_nomem(reterr);
    if (*known != 0) {
        *ret = *known;
        return CG_OK;
    }
    if (is_whole && !crate.is_library)
        name_apart(self, of, target, &crate);
    CG_TRY(add_crate(self, &crate, known, reterr));
    *ret = *known;
    CG_TRY(texts_load(self, *ret, path, &file, &is_missing, reterr));
    if (is_missing)
        CG_TRY(texts_fault(self, *ret, 0, nowhere, path, reterr,
                           "the root file of crate `%.*s` is not there",
                           ERR_STR(program_text(self, crate.name))));
    CG_TRY(add_root(self, *ret, texts_directory(path), &root, reterr));
    if (file == 0)
        return CG_OK;
    self->modules.at[root].file = file;
    self->modules.at[root].body = 1;
    CG_TRY(collect_body(self, root, reterr));
    return open_rest(self, root, is_whole, reterr);
}

/* --- dependencies --- */

/*
 * Does a package of a registry build on candle? What does not cannot take a builder or a tensor,
 * so that its name says as much as its source would.
 */
static bool has_candle(const cargo_package *package)
{
    for (size_t i = 0; i < package->dependency_count; i++) {
        if (str_starts_with(package->dependencies[i].package_name, CG_LIT("candle")))
            return true;
    }
    return false;
}

static cg_code package_crate(program *self, uint32_t package, crate_ref *ret, cg_err *reterr)
{
    const cargo_package *of = &self->cargo->packages.at[package];
    sym name = code_name(self, of->name);

    if (str_equal(of->name, CG_LIT("candle-core")) || str_equal(of->name, CG_LIT("candle-nn"))) {
        if (package != self->cargo->root)
            return named_crate(self, CRATE_LIBRARY, name, package, ret, reterr);
    }
    CG_TRY(cargo_package_load(self->cargo, package, reterr));
    of = &self->cargo->packages.at[package];
    if (!of->is_source_found || of->library == CARGO_MISSING)
        return named_crate(self, CRATE_ABSENT, name, package, ret, reterr);
    if (!of->is_member && !has_candle(of))
        return named_crate(self, CRATE_LIBRARY, name, package, ret, reterr);
    return load_target(self, package, of->library, false, ret, reterr);
}

static bool is_standard(cg_str name)
{
    return str_equal(name, CG_LIT("std")) || str_equal(name, CG_LIT("core")) ||
           str_equal(name, CG_LIT("alloc")) || str_equal(name, CG_LIT("proc_macro"));
}

/* A name no manifest tells about: what it usually stands for. */
static cg_code guess_crate(program *self, cg_str name, crate_ref *ret, cg_err *reterr)
{
    if (str_equal(name, CG_LIT("candle")) || str_equal(name, CG_LIT("candle_core")))
        return named_crate(self, CRATE_LIBRARY, intern_add(&self->names, CG_LIT("candle_core")),
                           CARGO_MISSING, ret, reterr);
    if (str_equal(name, CG_LIT("candle_nn")))
        return named_crate(self, CRATE_LIBRARY, intern_add(&self->names, name), CARGO_MISSING, ret,
                           reterr);
    if (str_starts_with(name, CG_LIT("candle_")))
        return named_crate(self, CRATE_ABSENT, intern_add(&self->names, name), CARGO_MISSING, ret,
                           reterr);
    return CG_OK;
}

cg_code program_extern(program *self, crate_ref from, sym name, crate_ref *ret, cg_err *reterr)
{
    uint32_t package = self->crates.at[from].package;
    cg_str text = program_text(self, name);
    const cargo_package *of;
    uint32_t found;

    *ret = 0;
    if (is_standard(text))
        return named_crate(self, CRATE_LIBRARY, name, CARGO_MISSING, ret, reterr);
    if (package == CARGO_MISSING)
        return guess_crate(self, text, ret, reterr);
    of = &self->cargo->packages.at[package];
    if (!self->crates.at[from].is_library && of->library != CARGO_MISSING &&
        name == code_name(self, of->targets[of->library].name))
        return load_target(self, package, of->library, false, ret, reterr);
    found = cargo_extern_find(self->cargo, package, text);
    if (found != CARGO_MISSING)
        return package_crate(self, found, ret, reterr);
    for (size_t i = 0; i < of->dependency_count; i++) {
        const cargo_dependency *one = &of->dependencies[i];
        cg_str real = one->package_name;

        if (!str_equal(one->extern_name, text))
            continue;
        return named_crate(self,
                           str_equal(real, CG_LIT("candle-core")) ||
                                   str_equal(real, CG_LIT("candle-nn"))
                               ? CRATE_LIBRARY
                               : CRATE_ABSENT,
                           code_name(self, real), CARGO_MISSING, ret, reterr);
    }
    return CG_OK;
}

/* --- directory scan --- */

static bool is_skipped(cg_str name)
{
    static const char *const others[] = {"target", "artifacts", "runs", "node_modules"};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (str_is(name, others[i]))
            return true;
    }
    return name.len == 0 || name.ptr[0] == '.';
}

static cg_code remember_listing(program *self, cg_str path, const os_entries *list, cg_err *reterr)
{
    cg_code code;
    buf names;

    buf_init(&names, self->heap, SIZE_MAX);
    for (size_t i = 0; i < list->count; i++) {
        buf_add(&names, list->at[i].name);
        buf_byte(&names, '\0');
    }
    code = names.failed ? err_nomem(reterr)
                        : texts_input(self, INPUT_DIRECTORY, path, buf_text(&names), reterr);
    buf_free(&names);
    return code;
}

/* The module `name` in `parent`, made when there is none. */
static cg_code scanned_module(program *self, module_ref parent, cg_str name, module_ref *ret,
                              cg_err *reterr)
{
    sym symbol = intern_add(&self->names, name);
    program_module *module;

    for (size_t i = parent + 1; i < self->modules.count; i++) {
        if (self->modules.at[i].parent == parent && self->modules.at[i].name == symbol &&
            self->modules.at[i].item == 0 && !self->modules.at[i].is_block) {
            *ret = (module_ref)i;
            return CG_OK;
        }
    }
    module = vec_add(self->heap, &self->modules);
    if (module == NULL || symbol == 0)
        return err_nomem(reterr);
    *module = (program_module){
        .parent = parent, .crate = self->modules.at[parent].crate, .name = symbol, .cfg = 1};
    *ret = (module_ref)(self->modules.count - 1);
    return CG_OK;
}

/* The module of a file by its path below the root: `src/a/mod.rs` is `a`. */
static cg_code scanned_place(program *self, module_ref root, cg_str relative, module_ref *ret,
                             cg_err *reterr)
{
    cg_str left = {relative.ptr, relative.len - 3};

    *ret = root;
    if (str_starts_with(left, CG_LIT("src/")))
        left = (cg_str){left.ptr + 4, left.len - 4};
    while (left.len > 0) {
        size_t end = str_find(left, CG_LIT("/"));
        cg_str part = {left.ptr, end == SIZE_MAX ? left.len : end};
        bool is_last = end == SIZE_MAX;

        left = is_last ? (cg_str){"", 0} : (cg_str){left.ptr + end + 1, left.len - end - 1};
        if (is_last && (str_equal(part, CG_LIT("mod")) || str_equal(part, CG_LIT("lib")) ||
                        str_equal(part, CG_LIT("main"))))
            continue;
        CG_TRY(scanned_module(self, *ret, part, ret, reterr));
    }
    return CG_OK;
}

static cg_code scan_file(program *self, module_ref root, cg_str base, cg_str path, cg_err *reterr)
{
    cg_str relative = {path.ptr + base.len + 1, path.len - base.len - 1};
    bool is_missing = false;
    file_ref file = 0;
    module_ref module;
    program_module *at;
    program_module before;

    CG_TRY(scanned_place(self, root, relative, &module, reterr));
    CG_TRY(texts_load(self, self->modules.at[root].crate, path, &file, &is_missing, reterr));
    if (file == 0)
        return CG_OK;
    at = &self->modules.at[module];
    before = *at;
    at->file = file;
    at->body = 1;
    at->path_base = texts_directory(path);
    at->directory = at->path_base;
    if (!str_ends_with(path, CG_LIT("/mod.rs")) && !str_ends_with(path, CG_LIT("/lib.rs")) &&
        !str_ends_with(path, CG_LIT("/main.rs")))
        at->directory = (cg_str){path.ptr, path.len - 3};
    CG_TRY(collect_body(self, module, reterr));
    if (before.file != 0) { /* a library and a program: one module, the first file leads */
        at = &self->modules.at[module];
        at->file = before.file;
        at->body = before.body;
        at->path_base = before.path_base;
        at->directory = before.directory;
    }
    return CG_OK;
}

typedef struct scan_list {
    VEC(cg_str) paths; /* still to be looked at, the next one last; directories end in `/` */
    VEC(cg_str) files; /* found, in order */
} scan_list;

static cg_code list_directory(program *self, cg_str path, scan_list *list, cg_err *reterr)
{
    os_entries entries = {0};
    cg_err cause = {0};
    os_dir dir;
    cg_code code = os_dir_open(self->env, path, &dir, &cause);
    int number = errno;

    if (code == CG_OK) {
        code = os_dir_list(&dir, self->heap, &self->mem, MOST_ENTRIES, &entries, &cause);
        number = errno;
        os_dir_close(&dir);
    }
    if (code == CG_NOMEM)
        return err_nomem(reterr);
    if (code == CG_NOT_FOUND && !os_is_lasting(number)) {
        err_in_file(&cause, path);
        if (reterr != NULL && reterr->code == CG_OK)
            *reterr = cause;
        return code;
    }
    if (code != CG_OK)
        return texts_fault(self, self->scanned, 0, nowhere, path, reterr, "not searched: %s",
                           cause.text);
    CG_TRY(remember_listing(self, path, &entries, reterr));
    for (size_t i = entries.count; i-- > 0;) {
        const os_entry *entry = &entries.at[i];
        bool is_directory = entry->kind == OS_DIRECTORY;
        cg_str *place;

        if (is_directory ? is_skipped(entry->name)
                         : entry->kind != OS_FILE || !str_ends_with(entry->name, CG_LIT(".rs")))
            continue;
        place = vec_add(self->heap, &list->paths);
        if (place == NULL ||
            !arena_format(&self->mem, place, "%.*s/%.*s%s", (int)path.len, path.ptr,
                          (int)entry->name.len, entry->name.ptr, is_directory ? "/" : ""))
            return err_nomem(reterr);
    }
    return CG_OK;
}

/* `mod x;` means the module that was found for that file. */
static void join_scanned(program *self)
{
    for (size_t i = 1; i < self->modules.count; i++) {
        program_module *at = &self->modules.at[i];
        cg_str twin = at->wanted;

        for (size_t j = 1; at->is_pending && j < self->modules.count; j++) {
            const program_module *other = &self->modules.at[j];

            if (other->item != 0 || other->is_block || other->file == 0)
                continue;
            if (twin.ptr != NULL ? str_equal(self->files.at[other->file]->full_path, twin)
                                 : other->parent == at->parent && other->name == at->name) {
                self->items.at[at->item].target = (module_ref)j;
                at->is_pending = false;
            }
        }
    }
}

static cg_code too_wide(cg_str base, const char *what, unsigned most, cg_err *reterr)
{
    cg_code code = cg_fail(reterr, PROBLEM_NO_PACKAGE,
                           "no Cargo.toml here or above, and more than %u %s below", most, what);

    err_in_file(reterr, base);
    return code;
}

/* All files below, before any is read. */
static cg_code find_sources(program *self, cg_str base, scan_list *list, cg_err *reterr)
{
    size_t directories = 0;

    CG_TRY(list_directory(self, base, list, reterr));
    while (list->paths.count > 0) {
        cg_str path = list->paths.at[--list->paths.count];
        cg_str *file;

        if (!env_progress(self->env, "rust", self->files.count, 0))
            return cg_fail(reterr, PROBLEM_INTERRUPTED, "interrupted");
        if (path.ptr[path.len - 1] == '/') {
            if (++directories > MOST_DIRECTORIES)
                return too_wide(base, "folders", MOST_DIRECTORIES, reterr);
            CG_TRY(list_directory(self, (cg_str){path.ptr, path.len - 1}, list, reterr));
            continue;
        }
        if (list->files.count == MOST_SOURCES)
            return too_wide(base, ".rs files", MOST_SOURCES, reterr);
        file = vec_add(self->heap, &list->files);
        if (file == NULL)
            return err_nomem(reterr);
        *file = path;
    }
    return CG_OK;
}

static cg_code scan_all(program *self, module_ref root, cg_str base, scan_list *list,
                        cg_err *reterr)
{
    CG_TRY(find_sources(self, base, list, reterr));
    for (size_t i = 0; i < list->files.count; i++) {
        CG_TRY(scan_file(self, root, base, list->files.at[i], reterr));
        if (!env_progress(self->env, "rust", self->files.count, 0))
            return cg_fail(reterr, PROBLEM_INTERRUPTED, "interrupted");
    }
    if (self->files.count == 1 && self->faults.count == 0) {
        cg_code code = cg_fail(reterr, PROBLEM_NO_SOURCES, "there is no .rs file in this folder");

        err_in_file(reterr, base);
        return code;
    }
    join_scanned(self);
    return open_rest(self, root, true, reterr);
}

/* The file is the root, as for rustc. */
static cg_code scan_one(program *self, module_ref root, cg_str path, cg_err *reterr)
{
    bool is_missing = false;
    file_ref file = 0;

    CG_TRY(texts_load(self, self->modules.at[root].crate, path, &file, &is_missing, reterr));
    if (file == 0)
        return CG_OK;
    self->modules.at[root].file = file;
    self->modules.at[root].body = 1;
    CG_TRY(collect_body(self, root, reterr));
    return open_rest(self, root, true, reterr);
}

static cg_code scan_directory(program *self, cg_err *reterr)
{
    program_crate crate = {.name = intern_add(&self->names, CG_LIT("crate")),
                           .kind = CRATE_SOURCE,
                           .is_scanned = true,
                           .is_library = true,
                           .package = CARGO_MISSING};
    scan_list list = {0};
    module_ref root;
    cg_code code;

    CG_TRY(add_crate(self, &crate, &self->scanned, reterr));
    CG_TRY(add_root(self, self->scanned, self->cargo->scan_root, &root, reterr));
    if (self->cargo->scan_file.len > 0)
        return scan_one(self, root, self->cargo->scan_file, reterr);
    code = scan_all(self, root, self->cargo->scan_root, &list, reterr);
    vec_free(self->heap, &list.paths);
    vec_free(self->heap, &list.files);
    return code;
}

/* --- the program --- */

static cg_code load(program *self, cg_err *reterr)
{
    const cargo_graph *cargo = self->cargo;

    if (vec_add(self->heap, &self->files) == NULL || vec_add(self->heap, &self->crates) == NULL ||
        vec_add(self->heap, &self->modules) == NULL || vec_add(self->heap, &self->items) == NULL ||
        vec_add(self->heap, &self->uses) == NULL ||
        !intern_init(&self->names, self->heap, os_random(self->env)))
        return err_nomem(reterr);
    self->files.at[0] = NULL;
    self->crates.at[0] = (program_crate){.package = CARGO_MISSING};
    self->modules.at[0] = (program_module){0};
    self->items.at[0] = (program_item){0};
    self->uses.at[0] = (program_use){0};
    CG_TRY(rust_parser_new(self->heap, &self->parser, reterr));
    rust_parser_watch(self->parser, self->env);
    CG_TRY(collect_new(self, reterr));
    if (cargo->root == CARGO_MISSING)
        return scan_directory(self, reterr);
    for (size_t i = 0; i < cargo->selected_count; i++) {
        crate_ref crate;

        CG_TRY(load_target(self, cargo->root, cargo->selected[i], true, &crate, reterr));
        if (i == 0)
            self->scanned = crate;
    }
    return CG_OK;
}

cg_code program_load(const cg_env *env, heap *from, cargo_graph *cargo, program *ret,
                     cg_err *reterr)
{
    return program_load_part(env, from, cargo, NULL, ret, reterr);
}

cg_code program_load_part(const cg_env *env, heap *from, cargo_graph *cargo,
                          const program_part *part, program *ret, cg_err *reterr)
{
    cg_code code;

    *ret = (program){.env = env, .heap = from, .cargo = cargo, .part = part};
    number_map_init(&ret->edges, from);
    arena_init(&ret->mem, from);
    number_map_init(&ret->text_by_path, from);
    number_map_init(&ret->item_by_node, from);
    number_map_init(&ret->block_by_node, from);
    number_map_init(&ret->crate_by_target, from);
    number_map_init(&ret->crate_by_name, from);
    code = load(ret, reterr);
    if (code != CG_OK)
        program_free(ret);
    else
        rust_parser_rest(ret->parser);
    return code;
}

void program_free(program *self)
{
    for (size_t i = 1; i < self->files.count; i++)
        ast_free(&self->files.at[i]->tree);
    if (self->free_scopes != NULL)
        self->free_scopes(self);
    collect_free(self);
    if (self->parser != NULL)
        rust_parser_free(self->parser);
    vec_free(self->heap, &self->files);
    vec_free(self->heap, &self->crates);
    vec_free(self->heap, &self->modules);
    vec_free(self->heap, &self->items);
    vec_free(self->heap, &self->uses);
    vec_free(self->heap, &self->faults);
    vec_free(self->heap, &self->inputs);
    vec_free(self->heap, &self->late);
    number_map_free(&self->edges);
    vec_free(self->heap, &self->runs);
    vec_free(self->heap, &self->ran);
    vec_free(self->heap, &self->sites);
    number_map_free(&self->text_by_path);
    number_map_free(&self->item_by_node);
    number_map_free(&self->block_by_node);
    number_map_free(&self->crate_by_target);
    number_map_free(&self->crate_by_name);
    if (self->names.heap != NULL)
        intern_free(&self->names);
    arena_free(&self->mem);
    *self = (program){0};
}

cg_code program_block(program *self, module_ref around, file_ref file, ast_ref block,
                      module_ref *ret, cg_err *reterr)
{
    CG_TRY(collect_block(self, around, file, block, ret, reterr));
    return *ret != 0 ? open_rest(self, *ret, true, reterr) : CG_OK;
}

item_ref program_item_at(const program *self, file_ref file, ast_ref node)
{
    const uint32_t *known = number_map_find(&self->item_by_node, number_map_key(file, node));

    return known != NULL ? *known : 0;
}

int8_t program_cfg(const program *self, file_ref file, ast_ref node)
{
    return collect_cfg(self, file, node);
}

bool program_module_path(program *self, module_ref module, cg_str *ret)
{
    char path[MOST_PATH];
    size_t at = sizeof path;
    const program_crate *crate = &self->crates.at[self->modules.at[module].crate];
    file_ref file = self->modules.at[module].file;
    bool is_shown = crate->is_apart || file == self->modules.at[crate->root].file;

    for (module_ref one = module; one != 0; one = self->modules.at[one].parent) {
        bool is_root = one == crate->root;
        sym symbol = is_root && is_shown ? crate->shown : self->modules.at[one].name;
        cg_str name = symbol != 0 ? program_text(self, symbol) : CG_LIT("");

        if (symbol == 0)
            continue;
        if (name.len + 2 > at)
            break; /* nobody reads a path of this length */
        if (at < sizeof path) {
            at -= 2;
            memcpy(path + at, "::", 2);
        }
        at -= name.len;
        memcpy(path + at, name.ptr, name.len);
    }
    return arena_text(&self->mem, (cg_str){path + at, sizeof path - at}, ret);
}
