#include "cargo/manifest.h"

#include <stdlib.h>

typedef struct reading {
    arena *mem;
    heap *heap;
    const toml_document *doc;
    cargo_manifest *to;
    VEC(manifest_dependency) dependencies, workspace_dependencies, patches;
    VEC(manifest_target) targets;
    VEC(manifest_feature) features;
    cg_err *reterr;
} reading;

/* More than any real manifest has; what is done per pair of entries stays fast below it. */
#define ENTRY_CEILING 8192u

/* --- taking things out of the document --- */

static const toml_node *node_of(const reading *self, uint32_t index)
{
    return &self->doc->nodes.at[index];
}

static cg_code refuse(reading *self, uint32_t node, cg_str key, const char *expected)
{
    cg_fail(self->reterr, PROBLEM_MANIFEST, "`%.*s` is %s, expected %s", ERR_STR(key),
            toml_kind_name(self->doc, node), expected);
    err_at_line(self->reterr, node < self->doc->nodes.count ? node_of(self, node)->line : 0, 0);
    return problem_code(PROBLEM_MANIFEST);
}

static cg_code too_many(reading *self, cg_str key)
{
    return cg_fail(self->reterr, PROBLEM_LIMIT, "more than %u entries of `%.*s`", ENTRY_CEILING,
                   ERR_STR(key));
}

static cg_code copy(reading *self, cg_str text, cg_str *ret)
{
    return arena_text(self->mem, text, ret) ? CG_OK : err_nomem(self->reterr);
}

/* A string of a table, absent when it is not there. */
static cg_code take_text(reading *self, uint32_t table, cg_str key, cg_str *ret)
{
    uint32_t node = toml_get(self->doc, table, key);

    if (node == TOML_NONE)
        return CG_OK;
    if (!toml_is(self->doc, node, TOML_STRING))
        return refuse(self, node, key, "a string");
    return copy(self, node_of(self, node)->text, ret);
}

static cg_code take_boolean(reading *self, uint32_t table, cg_str key, bool *ret)
{
    uint32_t node = toml_get(self->doc, table, key);

    if (node != TOML_NONE && !toml_boolean(self->doc, node, ret))
        return refuse(self, node, key, "true or false");
    return CG_OK;
}

static cg_code copy_texts(reading *self, uint32_t array, cg_str key, cargo_strs *ret)
{
    size_t count = 0;
    cg_str *at;

    if (!toml_is(self->doc, array, TOML_ARRAY))
        return refuse(self, array, key, "an array of strings");
    at = arena_take(self->mem, (node_of(self, array)->count + 1) * sizeof *at);
    if (at == NULL)
        return err_nomem(self->reterr);
    for (uint32_t i = node_of(self, array)->first; i != TOML_NONE; i = node_of(self, i)->next) {
        if (!toml_is(self->doc, i, TOML_STRING))
            return refuse(self, i, key, "an array of strings");
        CG_TRY(copy(self, node_of(self, i)->text, &at[count++]));
    }
    *ret = (cargo_strs){at, count};
    return CG_OK;
}

static cg_code take_texts(reading *self, uint32_t table, cg_str key, cargo_strs *ret)
{
    uint32_t node = toml_get(self->doc, table, key);

    return node == TOML_NONE ? CG_OK : copy_texts(self, node, key, ret);
}

/* A key with its older spelling. */
static uint32_t get_either(const reading *self, uint32_t table, cg_str key, cg_str older)
{
    uint32_t node = toml_get(self->doc, table, key);

    return node != TOML_NONE ? node : toml_get(self->doc, table, older);
}

/* Is it `{ workspace = true }`? */
static bool is_inherited(const reading *self, uint32_t node)
{
    bool is_true = false;

    return toml_boolean(self->doc, toml_get(self->doc, node, CG_LIT("workspace")), &is_true) &&
           is_true;
}

/* --- dependencies --- */

static cg_code read_dependency_table(reading *self, uint32_t node, manifest_dependency *to)
{
    uint32_t defaults =
        get_either(self, node, CG_LIT("default-features"), CG_LIT("default_features"));
    cg_str package = {0};

    CG_TRY(take_text(self, node, CG_LIT("package"), &package));
    if (package.ptr != NULL)
        to->package = package;
    CG_TRY(take_text(self, node, CG_LIT("version"), &to->requirement));
    CG_TRY(take_text(self, node, CG_LIT("path"), &to->path));
    CG_TRY(take_text(self, node, CG_LIT("git"), &to->git));
    CG_TRY(take_texts(self, node, CG_LIT("features"), &to->features));
    CG_TRY(take_boolean(self, node, CG_LIT("optional"), &to->is_optional));
    if (defaults != TOML_NONE) {
        if (!toml_boolean(self->doc, defaults, &to->has_default_features))
            return refuse(self, defaults, CG_LIT("default-features"), "true or false");
        to->is_default_features_set = true;
    }
    to->is_inherited = is_inherited(self, node);
    return CG_OK;
}

/* `name = "1"` or `name = { .. }` */
static cg_code read_dependency(reading *self, uint32_t node, cg_str platform,
                               enum cargo_dependency_kind kind, manifest_dependency *ret)
{
    manifest_dependency found = {.platform = platform,
                                 .kind = kind,
                                 .has_default_features = true,
                                 .line = node_of(self, node)->line};

    CG_TRY(copy(self, node_of(self, node)->key, &found.name));
    found.package = found.name;
    if (toml_is(self->doc, node, TOML_STRING))
        CG_TRY(copy(self, node_of(self, node)->text, &found.requirement));
    else if (toml_is(self->doc, node, TOML_TABLE))
        CG_TRY(read_dependency_table(self, node, &found));
    else
        return refuse(self, node, found.name, "a version or a table");
    *ret = found;
    return CG_OK;
}

static cg_code read_dependency_list(reading *self, uint32_t table, cg_str key, cg_str platform,
                                    enum cargo_dependency_kind kind)
{
    if (table == TOML_NONE)
        return CG_OK;
    if (!toml_is(self->doc, table, TOML_TABLE))
        return refuse(self, table, key, "a table");
    for (uint32_t i = node_of(self, table)->first; i != TOML_NONE; i = node_of(self, i)->next) {
        manifest_dependency *to = NULL;

        if (self->dependencies.count >= ENTRY_CEILING)
            return too_many(self, key);
        to = vec_add(self->heap, &self->dependencies);

        if (to == NULL)
            return err_nomem(self->reterr);
        CG_TRY(read_dependency(self, i, platform, kind, to));
    }
    return CG_OK;
}

/* The three lists of the manifest, or of one [target.X]. */
static cg_code read_dependencies(reading *self, uint32_t table, cg_str platform)
{
    static const cg_str keys[] = {
        {"dependencies", 12}, {"dev-dependencies", 16}, {"build-dependencies", 18}};
    static const cg_str older[] = {
        {"dependencies", 12}, {"dev_dependencies", 16}, {"build_dependencies", 18}};

    for (unsigned i = 0; i < 3; i++)
        CG_TRY(read_dependency_list(self, get_either(self, table, keys[i], older[i]), keys[i],
                                    platform, (enum cargo_dependency_kind)i));
    return CG_OK;
}

static cg_code read_platforms(reading *self)
{
    uint32_t table = toml_get(self->doc, TOML_ROOT, CG_LIT("target"));

    if (!toml_is(self->doc, table, TOML_TABLE))
        return CG_OK;
    for (uint32_t i = node_of(self, table)->first; i != TOML_NONE; i = node_of(self, i)->next) {
        cg_str platform;

        CG_TRY(copy(self, node_of(self, i)->key, &platform));
        if (toml_is(self->doc, i, TOML_TABLE))
            CG_TRY(read_dependencies(self, i, platform));
    }
    return CG_OK;
}

static cg_code read_patches(reading *self)
{
    uint32_t table = toml_get(self->doc, TOML_ROOT, CG_LIT("patch"));

    if (!toml_is(self->doc, table, TOML_TABLE))
        return CG_OK;
    for (uint32_t i = node_of(self, table)->first; i != TOML_NONE; i = node_of(self, i)->next) {
        if (!toml_is(self->doc, i, TOML_TABLE))
            continue;
        for (uint32_t k = node_of(self, i)->first; k != TOML_NONE; k = node_of(self, k)->next) {
            manifest_dependency *to = NULL;

            if (self->patches.count >= ENTRY_CEILING)
                return too_many(self, CG_LIT("patch"));
            to = vec_add(self->heap, &self->patches);
            if (to == NULL)
                return err_nomem(self->reterr);
            CG_TRY(read_dependency(self, k, (cg_str){0}, CARGO_NORMAL, to));
        }
    }
    return CG_OK;
}

/* --- targets --- */

static cg_code read_target(reading *self, uint32_t node, cg_str key, enum cargo_target_kind kind)
{
    manifest_target *to = vec_add(self->heap, &self->targets);
    uint32_t types = get_either(self, node, CG_LIT("crate-type"), CG_LIT("crate_type"));
    uint32_t is_macro = get_either(self, node, CG_LIT("proc-macro"), CG_LIT("proc_macro"));

    if (to == NULL)
        return err_nomem(self->reterr);
    *to = (manifest_target){.kind = kind};
    if (!toml_is(self->doc, node, TOML_TABLE))
        return refuse(self, node, key, "a table");
    CG_TRY(take_text(self, node, CG_LIT("name"), &to->name));
    CG_TRY(take_text(self, node, CG_LIT("path"), &to->path));
    if (toml_is(self->doc, types, TOML_ARRAY))
        CG_TRY(copy_texts(self, types, CG_LIT("crate-type"), &to->crate_types));
    toml_boolean(self->doc, is_macro, &to->is_proc_macro);
    for (size_t i = 0; i < to->crate_types.count; i++) {
        if (str_equal(to->crate_types.at[i], CG_LIT("proc-macro")))
            to->is_proc_macro = true;
    }
    if (kind != CARGO_LIB && to->name.ptr == NULL)
        return refuse(self, TOML_NONE, CG_LIT("name"), "the name of the target");
    return CG_OK;
}

cg_str manifest_target_key(enum cargo_target_kind kind)
{
    static const cg_str keys[] = {
        {"lib", 3}, {"bin", 3}, {"example", 7}, {"test", 4}, {"bench", 5}};

    return keys[kind];
}

static cg_code read_targets(reading *self)
{
    for (unsigned kind = CARGO_LIB; kind <= CARGO_BENCH; kind++) {
        cg_str key = manifest_target_key((enum cargo_target_kind)kind);
        uint32_t node = toml_get(self->doc, TOML_ROOT, key);

        if (node == TOML_NONE)
            continue;
        if (kind == CARGO_LIB) {
            CG_TRY(read_target(self, node, key, CARGO_LIB));
            continue;
        }
        if (!toml_is(self->doc, node, TOML_ARRAY))
            return refuse(self, node, key, "an array of tables");
        for (uint32_t i = node_of(self, node)->first; i != TOML_NONE; i = node_of(self, i)->next)
            CG_TRY(read_target(self, i, key, (enum cargo_target_kind)kind));
        /* Before 2018, naming binaries turned looking for them off. */
        if (kind == CARGO_BIN && str_equal(self->to->edition, CG_LIT("2015")) &&
            !self->to->is_edition_inherited &&
            toml_get(self->doc, toml_get(self->doc, TOML_ROOT, CG_LIT("package")),
                     CG_LIT("autobins")) == TOML_NONE)
            self->to->has_auto[CARGO_BIN] = false;
    }
    return CG_OK;
}

/* --- features --- */

static int by_feature_name(const void *a, const void *b)
{
    return str_compare(((const manifest_feature *)a)->name, ((const manifest_feature *)b)->name);
}

const manifest_feature *manifest_feature_find(const cargo_manifest *self, cg_str name)
{
    size_t low = 0;
    size_t high = self->feature_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_compare(self->features[middle].name, name);

        if (order == 0)
            return &self->features[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const cg_str *)a, *(const cg_str *)b);
}

/* Sorted names that features reach with `dep:`: those dependencies are no features themselves. */
static cg_code collect_hidden(reading *self, cargo_strs *ret)
{
    VEC(cg_str) names = {0};
    cg_code code = CG_OK;

    for (size_t i = 0; i < self->features.count && code == CG_OK; i++) {
        const cargo_strs *values = &self->features.at[i].values;

        for (size_t k = 0; k < values->count && code == CG_OK; k++) {
            cg_str *to;

            if (!str_starts_with(values->at[k], CG_LIT("dep:")))
                continue;
            to = vec_add(self->heap, &names);
            if (to == NULL)
                code = err_nomem(self->reterr);
            else
                *to = (cg_str){values->at[k].ptr + 4, values->at[k].len - 4};
        }
    }
    if (code == CG_OK) {
        cg_str *at = arena_take(self->mem, (names.count + 1) * sizeof *at);

        if (at == NULL) {
            code = err_nomem(self->reterr);
        } else {
            if (names.count > 0)
                memcpy(at, names.at, names.count * sizeof *at);
            qsort(at, names.count, sizeof *at, by_text);
            *ret = (cargo_strs){at, names.count};
        }
    }
    vec_free(self->heap, &names);
    return code;
}

/* An optional dependency that no feature names as `dep:` is a feature of its own name. */
static cg_code add_implicit(reading *self, cargo_strs hidden)
{
    size_t declared = self->features.count;

    for (size_t i = 0; i < self->dependencies.count; i++) {
        const manifest_dependency *of = &self->dependencies.at[i];
        manifest_feature key = {.name = of->name};
        manifest_feature *to;

        if (!of->is_optional)
            continue;
        if (hidden.count > 0 &&
            bsearch(&of->name, hidden.at, hidden.count, sizeof *hidden.at, by_text) != NULL)
            continue;
        if (declared > 0 && bsearch(&key, self->features.at, declared, sizeof *self->features.at,
                                    by_feature_name) != NULL)
            continue;
        to = vec_add(self->heap, &self->features);
        if (to == NULL)
            return err_nomem(self->reterr);
        *to = (manifest_feature){.name = of->name, .is_implicit = true};
    }
    return CG_OK;
}

static cg_code read_features(reading *self)
{
    uint32_t table = toml_get(self->doc, TOML_ROOT, CG_LIT("features"));
    cargo_strs hidden = {0};
    size_t kept = 0;

    if (table != TOML_NONE && !toml_is(self->doc, table, TOML_TABLE))
        return refuse(self, table, CG_LIT("features"), "a table");
    for (uint32_t i = table == TOML_NONE ? TOML_NONE : node_of(self, table)->first; i != TOML_NONE;
         i = node_of(self, i)->next) {
        manifest_feature *to = NULL;

        if (self->features.count >= ENTRY_CEILING)
            return too_many(self, CG_LIT("features"));
        to = vec_add(self->heap, &self->features);

        if (to == NULL)
            return err_nomem(self->reterr);
        *to = (manifest_feature){0};
        CG_TRY(copy(self, node_of(self, i)->key, &to->name));
        CG_TRY(copy_texts(self, i, to->name, &to->values));
    }
    if (self->features.count > 0)
        qsort(self->features.at, self->features.count, sizeof *self->features.at, by_feature_name);
    CG_TRY(collect_hidden(self, &hidden));
    CG_TRY(add_implicit(self, hidden));
    if (self->features.count > 0)
        qsort(self->features.at, self->features.count, sizeof *self->features.at, by_feature_name);
    /* A dependency of several platforms is one feature. */
    for (size_t i = 0; i < self->features.count; i++) {
        if (kept == 0 || !str_equal(self->features.at[kept - 1].name, self->features.at[i].name))
            self->features.at[kept++] = self->features.at[i];
    }
    self->features.count = kept;
    return CG_OK;
}

/* --- [package] and [workspace] --- */

static cg_code take_inheritable(reading *self, uint32_t table, cg_str key, cg_str *ret,
                                bool *ret_is_inherited)
{
    uint32_t node = toml_get(self->doc, table, key);

    if (is_inherited(self, node)) {
        *ret_is_inherited = true;
        return CG_OK;
    }
    return take_text(self, table, key, ret);
}

static cg_code read_package(reading *self)
{
    static const cg_str autos[] = {{"autolib", 7},
                                   {"autobins", 8},
                                   {"autoexamples", 12},
                                   {"autotests", 9},
                                   {"autobenches", 11}};
    cargo_manifest *to = self->to;
    uint32_t table = get_either(self, TOML_ROOT, CG_LIT("package"), CG_LIT("project"));
    uint32_t build = toml_get(self->doc, table, CG_LIT("build"));
    bool has_build = true;

    for (unsigned i = 0; i <= CARGO_BENCH; i++)
        to->has_auto[i] = true;
    to->version = CG_LIT("0.0.0");
    to->edition = CG_LIT("2015");
    if (table == TOML_NONE)
        return CG_OK;
    if (!toml_is(self->doc, table, TOML_TABLE))
        return refuse(self, table, CG_LIT("package"), "a table");
    to->has_package = true;
    CG_TRY(take_text(self, table, CG_LIT("name"), &to->name));
    if (to->name.len == 0)
        return refuse(self, TOML_NONE, CG_LIT("package.name"), "the name of the package");
    CG_TRY(
        take_inheritable(self, table, CG_LIT("version"), &to->version, &to->is_version_inherited));
    CG_TRY(
        take_inheritable(self, table, CG_LIT("edition"), &to->edition, &to->is_edition_inherited));
    CG_TRY(take_text(self, table, CG_LIT("workspace"), &to->links_workspace));
    if (toml_boolean(self->doc, build, &has_build))
        to->is_build_off = !has_build;
    else if (toml_is(self->doc, build, TOML_STRING))
        CG_TRY(take_text(self, table, CG_LIT("build"), &to->build));
    for (unsigned i = 0; i <= CARGO_BENCH; i++)
        CG_TRY(take_boolean(self, table, autos[i], &to->has_auto[i]));
    to->metadata =
        toml_get(self->doc, toml_get(self->doc, table, CG_LIT("metadata")), CG_LIT("candle-graph"));
    return CG_OK;
}

static cg_code read_workspace(reading *self)
{
    cargo_manifest *to = self->to;
    uint32_t table = toml_get(self->doc, TOML_ROOT, CG_LIT("workspace"));
    uint32_t package = toml_get(self->doc, table, CG_LIT("package"));
    uint32_t list = toml_get(self->doc, table, CG_LIT("dependencies"));

    if (!toml_is(self->doc, table, TOML_TABLE))
        return CG_OK;
    to->has_workspace = true;
    CG_TRY(take_texts(self, table, CG_LIT("members"), &to->members));
    CG_TRY(take_texts(self, table, CG_LIT("exclude"), &to->excluded));
    CG_TRY(take_texts(self, table, CG_LIT("default-members"), &to->default_members));
    CG_TRY(take_text(self, package, CG_LIT("version"), &to->workspace_version));
    CG_TRY(take_text(self, package, CG_LIT("edition"), &to->workspace_edition));
    if (!toml_is(self->doc, list, TOML_TABLE))
        return CG_OK;
    for (uint32_t i = node_of(self, list)->first; i != TOML_NONE; i = node_of(self, i)->next) {
        manifest_dependency *dependency = NULL;

        if (self->workspace_dependencies.count >= ENTRY_CEILING)
            return too_many(self, CG_LIT("workspace.dependencies"));
        dependency = vec_add(self->heap, &self->workspace_dependencies);

        if (dependency == NULL)
            return err_nomem(self->reterr);
        CG_TRY(read_dependency(self, i, (cg_str){0}, CARGO_NORMAL, dependency));
    }
    return CG_OK;
}

/* --- the whole --- */

static int by_dependency_name(const void *a, const void *b)
{
    const manifest_dependency *x = a;
    const manifest_dependency *y = b;
    int order = str_compare(x->name, y->name);

    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

size_t manifest_dependency_find(const cargo_manifest *self, cg_str name, size_t *ret_first)
{
    size_t low = 0;
    size_t high = self->dependency_count;
    size_t end;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (str_compare(self->dependencies[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < self->dependency_count && str_equal(self->dependencies[end].name, name);)
        end++;
    *ret_first = low;
    return end - low;
}

/* The items of a vector as an array of the arena. */
static void *settle(reading *self, const void *at, size_t count, size_t size)
{
    void *copied = arena_take(self->mem, count * size + 1);

    if (copied != NULL && count > 0)
        memcpy(copied, at, count * size);
    return copied;
}

static cg_code read_all(reading *self)
{
    cargo_manifest *to = self->to;

    CG_TRY(read_package(self));
    CG_TRY(read_workspace(self));
    if (!to->has_package && !to->has_workspace)
        return cg_fail(self->reterr, PROBLEM_MANIFEST,
                       "there is neither [package] nor [workspace]");
    CG_TRY(read_dependencies(self, TOML_ROOT, (cg_str){0}));
    CG_TRY(read_platforms(self));
    CG_TRY(read_patches(self));
    CG_TRY(read_targets(self));
    CG_TRY(read_features(self));
    if (self->dependencies.count > 0)
        qsort(self->dependencies.at, self->dependencies.count, sizeof *self->dependencies.at,
              by_dependency_name);
#define SETTLE(member, count_member, vec)                                                          \
    to->member = settle(self, (vec).at, (vec).count, sizeof *(vec).at);                            \
    to->count_member = (vec).count;                                                                \
    if (to->member == NULL)                                                                        \
    return err_nomem(self->reterr)
    SETTLE(dependencies, dependency_count, self->dependencies);
    SETTLE(workspace_dependencies, workspace_dependency_count, self->workspace_dependencies);
    SETTLE(patches, patch_count, self->patches);
    SETTLE(targets, target_count, self->targets);
    SETTLE(features, feature_count, self->features);
#undef SETTLE
    return CG_OK;
}

cg_code cargo_manifest_read(arena *mem, heap *from, const toml_document *doc, cargo_manifest *ret,
                            cg_err *reterr)
{
    cargo_manifest found = {.metadata = TOML_NONE};
    reading self = {.mem = mem, .heap = from, .doc = doc, .to = &found, .reterr = reterr};
    cg_code code = read_all(&self);

    vec_free(from, &self.dependencies);
    vec_free(from, &self.workspace_dependencies);
    vec_free(from, &self.patches);
    vec_free(from, &self.targets);
    vec_free(from, &self.features);
    if (code == CG_OK)
        *ret = found;
    return code;
}

/* --- inheritance --- */

bool manifest_is_inheriting(const cargo_manifest *self)
{
    bool is_inheriting = self->is_version_inherited || self->is_edition_inherited;

    for (size_t i = 0; i < self->dependency_count && !is_inheriting; i++)
        is_inheriting = self->dependencies[i].is_inherited;
    return is_inheriting;
}

static const manifest_dependency *find_shared(const cargo_manifest *root, cg_str name)
{
    for (size_t i = 0; i < root->workspace_dependency_count; i++) {
        if (str_equal(root->workspace_dependencies[i].name, name))
            return &root->workspace_dependencies[i];
    }
    return NULL;
}

/* Features of both; `default-features = false` counts only when the workspace says so. */
static cg_code merge_dependency(arena *mem, manifest_dependency *self,
                                const manifest_dependency *shared, cg_str base, cg_err *reterr)
{
    size_t count = self->features.count + shared->features.count;
    cg_str *at = arena_take(mem, (count + 1) * sizeof *at);

    if (at == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++)
        at[i] = i < shared->features.count ? shared->features.at[i]
                                           : self->features.at[i - shared->features.count];
    self->features = (cargo_strs){at, count};
    self->package = shared->package;
    self->requirement = shared->requirement;
    self->path = shared->path;
    self->git = shared->git;
    self->base = base;
    if (shared->is_default_features_set)
        self->has_default_features = shared->has_default_features ||
                                     (self->is_default_features_set && self->has_default_features);
    else
        self->has_default_features = true;
    self->is_inherited = false;
    return CG_OK;
}

static cg_code cannot_inherit(cg_str what, uint32_t line, cg_err *reterr)
{
    cg_fail(reterr, PROBLEM_MANIFEST, "`%.*s` is taken from the workspace, which does not have it",
            ERR_STR(what));
    err_at_line(reterr, line, 0);
    return problem_code(PROBLEM_MANIFEST);
}

cg_code manifest_inherit(arena *mem, cargo_manifest *self, const cargo_manifest *root, cg_str base,
                         cg_err *reterr)
{
    manifest_dependency *at;

    if (self->is_version_inherited && root->workspace_version.ptr == NULL)
        return cannot_inherit(CG_LIT("version"), 0, reterr);
    if (self->is_edition_inherited && root->workspace_edition.ptr == NULL)
        return cannot_inherit(CG_LIT("edition"), 0, reterr);
    at = arena_take(mem, self->dependency_count * sizeof *at + 1);
    if (at == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < self->dependency_count; i++) {
        const manifest_dependency *shared;

        at[i] = self->dependencies[i];
        if (!at[i].is_inherited)
            continue;
        shared = find_shared(root, at[i].name);
        if (shared == NULL)
            return cannot_inherit(at[i].name, at[i].line, reterr);
        CG_TRY(merge_dependency(mem, &at[i], shared, base, reterr));
    }
    self->dependencies = at;
    if (self->is_version_inherited)
        self->version = root->workspace_version;
    if (self->is_edition_inherited)
        self->edition = root->workspace_edition;
    self->is_version_inherited = false;
    self->is_edition_inherited = false;
    return CG_OK;
}
