#include "cargo/workspace.h"

#include <stdio.h>

#include "cargo/candles.h"
#include "cargo/packages.h"
#include "cargo/version.h"

/* More features asked of one package than any graph has. */
#define WANTED_CEILING 4096u

/* --- features: what dependents want --- */

static cg_code make_dirty(cargo_graph *graph, uint32_t package, cg_err *reterr)
{
    cargo_state *state = graph->state;
    cargo_detail *detail = graph->packages.at[package].detail;
    uint32_t *to;

    if (detail->is_dirty)
        return CG_OK;
    to = vec_add(state->heap, &state->dirty);
    if (to == NULL)
        return err_nomem(reterr);
    *to = package;
    detail->is_dirty = true;
    return CG_OK;
}

static cg_code want(cargo_graph *graph, uint32_t package, cg_str feature, cg_err *reterr)
{
    cargo_detail *detail = graph->packages.at[package].detail;
    cg_str *to;

    if (detail->asked != NULL || detail->wanted.count >= WANTED_CEILING)
        return CG_OK;
    for (size_t i = 0; i < detail->wanted.count; i++) {
        if (str_equal(detail->wanted.at[i], feature))
            return CG_OK;
    }
    to = vec_add(graph->state->heap, &detail->wanted);
    if (to == NULL)
        return err_nomem(reterr);
    *to = feature;
    return graph->packages.at[package].is_loaded ? make_dirty(graph, package, reterr) : CG_OK;
}

static cg_code enable_wanted(cargo_detail *detail, cg_err *reterr)
{
    bool is_known;

    for (; detail->enabled_count < detail->wanted.count; detail->enabled_count++)
        CG_TRY(features_enable(&detail->features, detail->wanted.at[detail->enabled_count],
                               &is_known, reterr));
    return CG_OK;
}

/* --- one package: its active dependencies --- */

static bool is_on_platform(const cargo_graph *graph, const manifest_dependency *of)
{
    cfg_set set = {.lines = graph->state->target_lines,
                   .is_known = graph->cfg_source != CARGO_CFG_NONE};

    if (of->platform.len == 0)
        return true;
    if (str_starts_with(of->platform, CG_LIT("cfg(")))
        return cfg_eval(&set, of->platform) != CFG_FALSE;
    return str_equal(of->platform, graph->target);
}

static bool is_chosen(const cargo_graph *graph, uint32_t package, size_t index)
{
    const cargo_package *by = &graph->packages.at[package];
    const manifest_dependency *of = &by->detail->manifest.dependencies[index];

    if (of->kind == CARGO_DEV && !by->is_member)
        return false;
    return !of->is_optional || by->detail->features.is_brought_in[index];
}

/* Code calls a dependency by the key of the manifest, or by its library when it is not renamed. */
static void name_extern(const cargo_graph *graph, const manifest_dependency *of,
                        cargo_dependency *to)
{
    const cargo_package *target =
        to->package == CARGO_MISSING ? NULL : &graph->packages.at[to->package];

    if (target != NULL && target->library != CARGO_MISSING && str_equal(of->name, of->package))
        to->extern_name = target->targets[target->library].name;
}

static cg_code want_all(cargo_graph *graph, uint32_t package, cargo_strs features, cg_err *reterr)
{
    for (size_t i = 0; i < features.count; i++)
        CG_TRY(want(graph, package, features.at[i], reterr));
    return CG_OK;
}

static cg_code activate(cargo_graph *graph, uint32_t package, size_t index, cg_err *reterr)
{
    cargo_detail *detail = graph->packages.at[package].detail;
    const manifest_dependency *of = &detail->manifest.dependencies[index];
    cargo_dependency *to = &detail->dependencies[index];

    if (!to->is_active) {
        to->is_active = true;
        /* What only a build script uses is none of the code that is read. */
        if (of->kind != CARGO_BUILD)
            CG_TRY(packages_resolve(graph, package, of, &to->package, reterr));
        if (detail->asked != NULL && to->package == CARGO_MISSING)
            to->is_active = false;
    }
    if (to->package == CARGO_MISSING)
        return CG_OK;
    name_extern(graph, of, to);
    if (of->has_default_features)
        CG_TRY(want(graph, to->package, CG_LIT("default"), reterr));
    return want_all(graph, to->package, of->features, reterr);
}

/* `d/f`: of those dependencies that are active. */
static cg_code pass_requests(cargo_graph *graph, const cargo_detail *detail, cg_err *reterr)
{
    for (size_t i = 0; i < detail->features.requests.count; i++) {
        const feature_request *request = &detail->features.requests.at[i];
        size_t first = 0;
        size_t count = manifest_dependency_find(&detail->manifest, request->dependency, &first);

        for (size_t k = first; k < first + count; k++) {
            const cargo_dependency *to = &detail->dependencies[k];

            if (to->is_active && to->package != CARGO_MISSING)
                CG_TRY(want(graph, to->package, request->feature, reterr));
        }
    }
    return CG_OK;
}

/* Is it loaded without being asked for? */
static bool is_eager(const cargo_package *of)
{
    return of->is_source_found && !of->is_loaded && !of->detail->is_failed &&
           (of->is_member || of->detail->has_manifest ||
            str_starts_with(of->name, CG_LIT("candle-")));
}

static cg_code set_cfg(cargo_graph *graph, uint32_t package, cg_err *reterr)
{
    cargo_state *state = graph->state;
    cargo_package *of = &graph->packages.at[package];

    if (of->detail->asked != NULL)
        of->features = of->detail->asked->features;
    else
        CG_TRY(features_list(&of->detail->features, &state->mem, false, &of->features, reterr));
    if (!cfg_set_make(&state->mem, state->target_lines, of->features, &of->cfg))
        return err_nomem(reterr);
    of->cfg.is_known = graph->cfg_source != CARGO_CFG_NONE;
    of->cfg.is_open = of->has_build_script;
    return CG_OK;
}

/* A loaded package whose features grew, or that was loaded just now. */
static cg_code refresh(cargo_graph *graph, uint32_t package, cg_err *reterr)
{
    cargo_detail *detail = graph->packages.at[package].detail;

    detail->is_dirty = false;
    CG_TRY(enable_wanted(detail, reterr));
    for (size_t i = 0; i < detail->manifest.dependency_count; i++) {
        const manifest_dependency *of = &detail->manifest.dependencies[i];

        if (detail->asked != NULL ? of->kind != CARGO_BUILD
                                  : is_on_platform(graph, of) && is_chosen(graph, package, i))
            CG_TRY(activate(graph, package, i, reterr));
    }
    CG_TRY(pass_requests(graph, detail, reterr));
    CG_TRY(set_cfg(graph, package, reterr));
    for (size_t i = 0; i < detail->manifest.dependency_count; i++) {
        uint32_t target = detail->dependencies[i].package;

        if (target != CARGO_MISSING && is_eager(&graph->packages.at[target]))
            CG_TRY(make_dirty(graph, target, reterr));
    }
    return CG_OK;
}

/* --- loading --- */

static cg_code make_dependencies(cargo_graph *graph, uint32_t package, cg_err *reterr)
{
    cargo_package *of = &graph->packages.at[package];
    cargo_detail *detail = of->detail;
    size_t count = detail->manifest.dependency_count;

    detail->dependencies = arena_zero(&graph->state->mem, count * sizeof *detail->dependencies + 1);
    if (detail->dependencies == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++) {
        const manifest_dependency *from = &detail->manifest.dependencies[i];
        cargo_dependency *to = &detail->dependencies[i];

        to->package_name = from->package;
        to->requirement = from->requirement.ptr != NULL ? from->requirement : CG_LIT("");
        to->kind = from->kind;
        to->is_optional = from->is_optional;
        to->package = CARGO_MISSING;
        CG_TRY(targets_code_name(&graph->state->mem, from->name, &to->extern_name, reterr));
    }
    of->dependencies = detail->dependencies;
    of->dependency_count = count;
    return CG_OK;
}

/* Dependents loaded earlier took the package's name for the library's. */
static void rename_externs(cargo_graph *graph, uint32_t package)
{
    for (size_t i = 0; i < graph->packages.count; i++) {
        const cargo_detail *detail = graph->packages.at[i].detail;

        if (!graph->packages.at[i].is_loaded)
            continue;
        for (size_t k = 0; k < detail->manifest.dependency_count; k++) {
            if (detail->dependencies[k].package == package)
                name_extern(graph, &detail->manifest.dependencies[k], &detail->dependencies[k]);
        }
    }
}

static cg_code load(cargo_graph *graph, uint32_t package, cg_err *reterr)
{
    cargo_state *state = graph->state;
    cargo_package *of = &graph->packages.at[package];
    cargo_detail *detail = of->detail;
    cargo_targets targets = {0};

    CG_TRY(packages_read(graph, package, reterr));
    of = &graph->packages.at[package];
    if (!detail->has_manifest)
        return CG_OK;
    CG_TRY(
        targets_find(&state->files, of->root, &detail->manifest, of->is_member, &targets, reterr));
    of->targets = targets.at;
    of->target_count = targets.count;
    of->has_build_script = targets.has_build_script;
    for (size_t i = 0; i < targets.count; i++) {
        if (targets.at[i].kind == CARGO_LIB)
            of->library = (uint32_t)i;
    }
    CG_TRY(features_init(&detail->features, state->heap, &state->mem, &detail->manifest, reterr));
    detail->has_features = true;
    CG_TRY(features_list(&detail->features, &state->mem, true, &of->feature_names, reterr));
    CG_TRY(make_dependencies(graph, package, reterr));
    graph->packages.at[package].is_loaded = true;
    rename_externs(graph, package);
    return CG_OK;
}

/* Until nothing grows any more. Features are only turned on, so that this ends. */
static cg_code settle(cargo_graph *graph, cg_err *reterr)
{
    cargo_state *state = graph->state;

    while (state->dirty.count > 0) {
        uint32_t package = state->dirty.at[--state->dirty.count];

        graph->packages.at[package].detail->is_dirty = false;
        if (!graph->packages.at[package].is_loaded)
            CG_TRY(load(graph, package, reterr));
        if (graph->packages.at[package].is_loaded)
            CG_TRY(refresh(graph, package, reterr));
    }
    return CG_OK;
}

cg_code cargo_package_load(cargo_graph *graph, uint32_t package, cg_err *reterr)
{
    if (package >= graph->packages.count || graph->packages.at[package].is_loaded ||
        graph->packages.at[package].detail->is_failed ||
        !graph->packages.at[package].is_source_found)
        return CG_OK;
    CG_TRY(make_dirty(graph, package, reterr));
    return settle(graph, reterr);
}

uint32_t cargo_extern_find(const cargo_graph *graph, uint32_t package, cg_str extern_name)
{
    const cargo_package *of;
    uint32_t found = CARGO_MISSING;

    if (package >= graph->packages.count)
        return CARGO_MISSING;
    of = &graph->packages.at[package];
    for (size_t i = 0; i < of->dependency_count; i++) {
        const cargo_dependency *dependency = &of->dependencies[i];

        if (!dependency->is_active || dependency->package == CARGO_MISSING ||
            !str_equal(dependency->extern_name, extern_name))
            continue;
        /* What the code is built with comes before what its tests are. */
        if (dependency->kind == CARGO_NORMAL)
            return dependency->package;
        found = dependency->package;
    }
    return found;
}

enum cfg_truth cargo_cfg_eval(const cargo_graph *graph, uint32_t package, cg_str predicate)
{
    return cfg_eval(package < graph->packages.count ? &graph->packages.at[package].cfg : NULL,
                    predicate);
}

/* --- features chosen on the command line --- */

static bool is_own_word(cg_str name)
{
    return str_equal(name, CG_LIT("static")) || str_equal(name, CG_LIT("runtime")) ||
           str_equal(name, CG_LIT("visualizer")) || str_equal(name, CG_LIT("all"));
}

static bool is_separator(char byte)
{
    return byte == ',' || byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* Single names, in the arena; `root/f` is `f`. Words of ours that the crate lacks are left out. */
static cg_code split_features(cargo_graph *graph, const cargo_manifest *manifest, cargo_strs *ret,
                              cg_err *reterr)
{
    const cargo_strs *given = &graph->state->options.features;
    size_t count = 0;
    size_t room = 1;
    cg_str *at;

    for (size_t i = 0; i < given->count; i++)
        room += given->at[i].len / 2 + 1;
    at = arena_take(&graph->state->mem, room * sizeof *at);
    if (at == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < given->count; i++) {
        cg_str rest = given->at[i];

        while (rest.len > 0) {
            cg_str name = {rest.ptr, 0};

            while (name.len < rest.len && !is_separator(rest.ptr[name.len]))
                name.len++;
            rest = (cg_str){rest.ptr + name.len, rest.len - name.len};
            if (rest.len > 0)
                rest = (cg_str){rest.ptr + 1, rest.len - 1};
            if (str_starts_with(name, manifest->name) && name.len > manifest->name.len &&
                name.ptr[manifest->name.len] == '/')
                name =
                    (cg_str){name.ptr + manifest->name.len + 1, name.len - manifest->name.len - 1};
            if (name.len == 0 ||
                (is_own_word(name) && manifest_feature_find(manifest, name) == NULL))
                continue;
            if (!arena_text(&graph->state->mem, name, &at[count++]))
                return err_nomem(reterr);
        }
    }
    *ret = (cargo_strs){at, count};
    return CG_OK;
}

static cg_code refuse_feature(const cargo_manifest *manifest, cg_str name, cg_err *reterr)
{
    char known[320];
    size_t len = 0;

    for (size_t i = 0; i < manifest->feature_count && len < sizeof known; i++) {
        cg_str feature = manifest->features[i].name;
        int size = snprintf(known + len, sizeof known - len, "%s`%.*s`", i > 0 ? ", " : "",
                            ERR_STR(feature));

        len += size > 0 ? (size_t)size : 0;
    }
    if (manifest->feature_count == 0)
        return cg_fail(reterr, PROBLEM_FEATURE, "`%.*s` has no feature `%.*s`; it has none at all",
                       ERR_STR(manifest->name), ERR_STR(name));
    return cg_fail(reterr, PROBLEM_FEATURE, "`%.*s` has no feature `%.*s`; it has %s",
                   ERR_STR(manifest->name), ERR_STR(name), known);
}

/* Would it be turned on? `d/f` and `d?/f` need the dependency, `dep:d` is not for users. */
static bool has_feature(const cargo_manifest *manifest, cg_str name)
{
    const char *slash = memchr(name.ptr, '/', name.len);
    cg_str dependency = {name.ptr, slash == NULL ? 0 : (size_t)(slash - name.ptr)};
    size_t first = 0;

    if (slash == NULL)
        return manifest_feature_find(manifest, name) != NULL;
    if (dependency.len > 0 && dependency.ptr[dependency.len - 1] == '?')
        dependency.len--;
    return manifest_dependency_find(manifest, dependency, &first) > 0;
}

static cg_code choose_features(cargo_graph *graph, const cargo_manifest *manifest,
                               cargo_strs *ret_chosen, cg_err *reterr)
{
    CG_TRY(split_features(graph, manifest, ret_chosen, reterr));
    for (size_t i = 0; i < ret_chosen->count; i++) {
        if (!has_feature(manifest, ret_chosen->at[i]))
            return refuse_feature(manifest, ret_chosen->at[i], reterr);
    }
    return CG_OK;
}

static cg_code want_chosen(cargo_graph *graph, cargo_strs chosen, cg_err *reterr)
{
    const cargo_options *options = &graph->state->options;
    const cargo_manifest *manifest = &graph->packages.at[graph->root].detail->manifest;

    for (size_t i = 0; options->is_all_features && i < manifest->feature_count; i++)
        CG_TRY(want(graph, graph->root, manifest->features[i].name, reterr));
    if (!options->is_no_default_features)
        CG_TRY(want(graph, graph->root, CG_LIT("default"), reterr));
    return want_all(graph, graph->root, chosen, reterr);
}

/* --- finding the crate --- */

/* The directory to start from: the path itself, or where the file lies. */
static cg_code find_start(cargo_graph *graph, cg_str path, cg_str *ret, cg_err *reterr)
{
    enum os_kind kind;
    cg_str real;

    CG_TRY(os_real_path(path, &graph->state->mem, &real, reterr));
    CG_TRY(os_kind_of(graph->state->files.env, real, true, &kind, reterr));
    *ret = kind == OS_DIRECTORY ? real : files_parent(real);
    if (kind != OS_DIRECTORY)
        graph->state->file = real;
    return CG_OK;
}

/*
 * The nearest directory at or above `start` with a Cargo.toml; absent: none. Whether there is one
 * must be known: without it another crate would be read, or the same one without its features.
 */
static cg_code find_manifest(cargo_graph *graph, cg_str start, cg_str *ret, cg_err *reterr)
{
    cargo_state *state = graph->state;

    *ret = (cg_str){0};
    for (cg_str at = start; at.len > 0; at = files_parent(at)) {
        enum os_kind kind;
        cg_str path;

        CG_TRY(files_join(&state->mem, at, CG_LIT("Cargo.toml"), &path, reterr));
        CG_TRY(os_kind_of(state->files.env, path, true, &kind, reterr));
        if (kind == OS_FILE) {
            *ret = at;
            return CG_OK;
        }
    }
    return CG_OK;
}

static cg_code scan_directory(cargo_graph *graph, cg_str directory, const char *why, cg_err *reterr)
{
    graph->root = CARGO_MISSING;
    graph->scan_root = directory;
    graph->workspace_root = directory;
    graph->selected_target = CG_LIT("unknown");
    graph->cfg_source = CARGO_CFG_NONE;
    if (why == NULL)
        return CG_OK;
    return packages_say(graph, directory, 0, str_from(why), reterr);
}

/* The workspace that the manifest of `directory` belongs to, which may be itself. */
static cg_code find_workspace(cargo_graph *graph, cg_str directory, const cargo_manifest *manifest,
                              cg_err *reterr)
{
    cargo_state *state = graph->state;
    cg_str start = files_parent(directory);
    cg_str root = {0};

    graph->workspace_root = directory;
    if (manifest->has_workspace) {
        state->workspace = *manifest;
        state->has_workspace = true;
        return CG_OK;
    }
    if (manifest->links_workspace.len > 0) {
        bool is_there;

        CG_TRY(files_join(&state->mem, directory, manifest->links_workspace, &start, reterr));
        CG_TRY(files_real(&state->files, start, &start, &is_there, reterr));
        if (!is_there)
            return packages_say(graph, start, 0,
                                CG_LIT("the workspace that the manifest names is not there"),
                                reterr);
    }
    CG_TRY(packages_find_workspace(graph, start, directory, &state->workspace, &root, reterr));
    if (root.len == 0) {
        /* A package alone is a workspace of one: its patches count. */
        state->workspace = *manifest;
        state->has_workspace = true;
        return CG_OK;
    }
    state->has_workspace = true;
    graph->workspace_root = root;
    return CG_OK;
}

typedef struct member {
    cg_str directory;
    cg_str name;
} member;

static cg_code read_members(cargo_graph *graph, member **ret, size_t *ret_count, cg_err *reterr)
{
    cargo_state *state = graph->state;
    cargo_strs directories = {0};
    size_t count = 0;
    member *at;

    CG_TRY(packages_members(graph, &directories, reterr));
    at = arena_take(&state->mem, (directories.count + 1) * sizeof *at);
    if (at == NULL)
        return err_nomem(reterr);
    if (state->workspace.has_package)
        at[count++] = (member){graph->workspace_root, state->workspace.name};
    for (size_t i = 0; i < directories.count; i++) {
        cargo_manifest manifest;
        cg_err failure = {0};
        bool is_there = false;
        cg_code code =
            packages_read_manifest(graph, directories.at[i], &manifest, NULL, &is_there, &failure);

        CG_TRY(packages_forgive(graph, code, &failure, directories.at[i],
                                "a member of the workspace is left out: ", reterr));
        if (is_there && manifest.has_package &&
            !str_equal(directories.at[i], graph->workspace_root))
            at[count++] = (member){directories.at[i], manifest.name};
    }
    *ret = at;
    *ret_count = count;
    return CG_OK;
}

static cg_code refuse_package(const cargo_graph *graph, const member *members, size_t count,
                              cg_err *reterr)
{
    cg_str wanted = graph->state->options.package;
    char known[320] = "";
    size_t len = 0;

    for (size_t i = 0; i < count && len < sizeof known; i++) {
        int size = snprintf(known + len, sizeof known - len, "%s`%.*s`", i > 0 ? ", " : "",
                            ERR_STR(members[i].name));

        len += size > 0 ? (size_t)size : 0;
    }
    if (count == 0)
        return cg_fail(reterr, PROBLEM_PACKAGE, "this workspace has no package that can be read");
    if (wanted.len > 0)
        return cg_fail(reterr, PROBLEM_PACKAGE, "the workspace has no package `%.*s`; it has %s",
                       ERR_STR(wanted), known);
    return cg_fail(reterr, PROBLEM_PACKAGE, "this is a workspace of several packages: %s", known);
}

/* The member that is meant: named, or the only one, or the only default one. */
static cg_code choose_member(cargo_graph *graph, cg_str *ret, cg_err *reterr)
{
    const cargo_strs *defaults = &graph->state->workspace.default_members;
    cg_str wanted = graph->state->options.package;
    size_t at_sign = str_find(wanted, CG_LIT("@"));
    member *members = NULL;
    size_t count = 0;

    if (at_sign != SIZE_MAX)
        wanted.len = at_sign;
    CG_TRY(read_members(graph, &members, &count, reterr));
    for (size_t i = 0; i < count; i++) {
        const member *of = &members[i];
        cg_str relative = {of->directory.ptr, 0};

        if (files_is_below(of->directory, graph->workspace_root))
            relative = (cg_str){of->directory.ptr + graph->workspace_root.len,
                                of->directory.len - graph->workspace_root.len};
        if (wanted.len > 0
                ? str_equal(of->name, wanted)
                : count == 1 || (defaults->count == 1 && files_match(defaults->at[0], relative))) {
            *ret = of->directory;
            return CG_OK;
        }
    }
    return refuse_package(graph, members, count, reterr);
}

/* --- what it is built for --- */

static cg_code find_target(cargo_graph *graph, cg_err *reterr)
{
    cargo_state *state = graph->state;
    char text[160];
    int size;

    graph->target = state->options.target.len > 0 ? state->options.target : cfg_host();
    graph->cfg_source = CARGO_CFG_BUILT_IN;
    if (cfg_has_target(graph->target))
        return cfg_target_lines(&state->mem, graph->target, &state->target_lines)
                   ? CG_OK
                   : err_nomem(reterr);
    graph->cfg_source = CARGO_CFG_NONE;
    size = snprintf(text, sizeof text,
                    "the target `%.*s` is not known here, so that no cfg is decided; --cargo asks "
                    "rustc",
                    ERR_STR(graph->target));
    return packages_say(graph, (cg_str){0}, 0, (cg_str){text, (size_t)size}, reterr);
}

/* --- asking cargo and rustc --- */

static cg_code ask_rustc(cargo_graph *graph, const ask_question *question, cg_err *reterr)
{
    cargo_state *state = graph->state;
    cg_err failure = {0};
    cargo_strs lines = {0};
    cfg_set sorted;
    cg_code code = ask_cfg(state->files.env, state->heap, &state->mem, question,
                           state->options.runner, &lines, &failure);

    CG_TRY(packages_forgive(graph, code, &failure, (cg_str){0},
                            "rustc did not answer, the built-in cfg table is used: ", reterr));
    if (lines.count == 0)
        return CG_OK;
    if (!cfg_set_make(&state->mem, lines, (cargo_strs){0}, &sorted))
        return err_nomem(reterr);
    state->target_lines = sorted.lines;
    graph->cfg_source = CARGO_CFG_RUSTC;
    return CG_OK;
}

static cg_code ask_cargo(cargo_graph *graph, const ask_question *question, cg_err *reterr)
{
    cargo_state *state = graph->state;
    cg_err failure = {0};
    cg_code code = ask_metadata(state->files.env, state->heap, &state->mem, question,
                                state->options.runner, &state->answer, &failure);

    if (code == CG_OK && state->answer.root == UINT32_MAX)
        code = cg_fail(&failure, PROBLEM_RUN, "it does not know the package");
    state->is_answered = code == CG_OK;
    return packages_forgive(graph, code, &failure, (cg_str){0},
                            "cargo did not answer, the files are read instead: ", reterr);
}

/* One package of the graph for each of the answer, at the same index. */
static cg_code take_answer(cargo_graph *graph, cg_err *reterr)
{
    cargo_state *state = graph->state;

    for (size_t i = 0; i < state->answer.package_count; i++) {
        const ask_package *of = &state->answer.packages[i];
        cg_str directory = files_parent(of->manifest_path);
        uint32_t index;
        bool is_there;

        CG_TRY(files_real(&state->files, directory, &directory, &is_there, reterr));
        if (!is_there)
            directory = (cg_str){0};
        CG_TRY(packages_add(graph, of->name, of->version, directory, &index, reterr));
        /* Two packages in one place are none of cargo's: believe the files then. */
        if (index != i) {
            graph->packages.count = 0;
            state->is_answered = false;
            return packages_say(graph, (cg_str){0}, 0,
                                CG_LIT("cargo's answer is inconsistent, the files are read"),
                                reterr);
        }
        graph->packages.at[i].detail->asked = of;
        graph->packages.at[i].is_member =
            files_is_below(directory, graph->workspace_root) && directory.len > 0;
    }
    graph->root = state->answer.root;
    return CG_OK;
}

static cg_code ask(cargo_graph *graph, cg_str directory, cargo_strs features, cg_err *reterr)
{
    cargo_state *state = graph->state;
    ask_question question = {.workspace_root = graph->workspace_root,
                             .features = features,
                             .is_all_features = state->options.is_all_features,
                             .is_no_default_features = state->options.is_no_default_features,
                             .target = state->options.target};

    CG_TRY(
        files_join(&state->mem, directory, CG_LIT("Cargo.toml"), &question.manifest_path, reterr));
    CG_TRY(ask_rustc(graph, &question, reterr));
    CG_TRY(ask_cargo(graph, &question, reterr));
    return state->is_answered ? take_answer(graph, reterr) : CG_OK;
}

/* --- the targets to scan --- */

static cg_code refuse_target(const cargo_graph *graph, const cargo_package *root, cg_err *reterr)
{
    char known[320] = "";
    size_t len = 0;

    for (size_t i = 0; i < root->target_count && len < sizeof known; i++) {
        int size = snprintf(known + len, sizeof known - len, "%s`%.*s`", i > 0 ? ", " : "",
                            ERR_STR(root->targets[i].name));

        len += size > 0 ? (size_t)size : 0;
    }
    return cg_fail(reterr, PROBLEM_CARGO_TARGET, "`%.*s` has no target `%.*s`; it has %s",
                   ERR_STR(root->name), ERR_STR(graph->state->options.cargo_target),
                   len > 0 ? known : "none");
}

static bool is_named(const cargo_graph *graph, const cargo_target *target)
{
    cg_str wanted = graph->state->options.cargo_target;

    if (wanted.len != target->name.len)
        return false;
    for (size_t i = 0; i < wanted.len; i++) {
        char byte = wanted.ptr[i];

        if (byte != target->name.ptr[i] &&
            !(target->kind == CARGO_LIB && byte == '-' && target->name.ptr[i] == '_'))
            return false;
    }
    return true;
}

static cg_code select_targets(cargo_graph *graph, cg_err *reterr)
{
    const cargo_package *root = &graph->packages.at[graph->root];
    uint32_t *at = arena_take(&graph->state->mem, (root->target_count + 1) * sizeof *at);
    bool is_asked = graph->state->options.cargo_target.len > 0;
    bool is_chosen;
    size_t count = 0;

    if (at == NULL)
        return err_nomem(reterr);
    for (uint32_t i = 0; is_asked && i < root->target_count; i++) {
        if (is_named(graph, &root->targets[i]))
            at[count++] = i;
    }
    if (is_asked && count == 0)
        return refuse_target(graph, root, reterr);
    /* Who names `src/bin/x.rs` means that program. */
    for (uint32_t i = 0; !is_asked && count == 0 && i < root->target_count; i++) {
        if (graph->state->file.ptr && str_equal(root->targets[i].path, graph->state->file))
            at[count++] = i;
    }
    is_chosen = is_asked || count > 0;
    if (!is_chosen && root->library != CARGO_MISSING)
        at[count++] = root->library;
    for (uint32_t i = 0; !is_chosen && i < root->target_count; i++) {
        if (root->targets[i].kind == CARGO_BIN)
            at[count++] = i;
    }
    graph->selected = at;
    graph->selected_count = count;
    graph->selected_target = is_asked    ? graph->state->options.cargo_target
                             : count > 0 ? root->targets[at[0]].name
                                         : CG_LIT("unknown");
    if (count > 0)
        return CG_OK;
    return packages_say(graph, root->manifest_path, 0,
                        CG_LIT("the package has neither a library nor a binary"), reterr);
}

/* --- opening --- */

static cg_code read_lock(cargo_graph *graph, cg_err *reterr)
{
    cargo_state *state = graph->state;
    cg_err failure = {0};
    bool is_there = false;
    cg_code code;
    cg_str path;
    buf text;

    CG_TRY(files_join(&state->mem, graph->workspace_root, CG_LIT("Cargo.lock"), &path, reterr));
    code = files_read(&state->files, path, &text, &is_there, &failure);
    if (code == CG_OK && is_there) {
        code = lock_read(state->files.env, &state->mem, state->heap, buf_text(&text), &state->lock,
                         &failure);
        buf_free(&text);
    }
    state->has_lock = code == CG_OK && is_there;
    CG_TRY(packages_forgive(graph, code, &failure, path, "the lock file is left out: ", reterr));
    return CG_OK;
}

/* The package is known: what it is made of. */
static cg_code open_package(cargo_graph *graph, cg_str directory, cg_err *reterr)
{
    cargo_state *state = graph->state;
    cargo_strs chosen = {0};
    cargo_manifest manifest;
    bool is_there = false;
    cargo_package *root;

    CG_TRY(packages_read_manifest(graph, directory, &manifest, NULL, &is_there, reterr));
    if (!is_there)
        return cg_fail(reterr, PROBLEM_MANIFEST, "the manifest went away");
    CG_TRY(choose_features(graph, &manifest, &chosen, reterr));
    CG_TRY(sources_init(&state->sources, &state->files, state->options.cargo_home,
                        graph->workspace_root, state->options.sources, reterr));
    CG_TRY(read_lock(graph, reterr));
    CG_TRY(find_target(graph, reterr));
    if (state->options.is_asking)
        CG_TRY(ask(graph, directory, chosen, reterr));
    if (!state->is_answered)
        graph->root = 0;
    CG_TRY(packages_add_directory(graph, directory, manifest.name, true, &graph->root, reterr));
    graph->scan_root = directory;
    CG_TRY(make_dirty(graph, graph->root, reterr));
    if (!graph->packages.at[graph->root].detail->has_manifest)
        return scan_directory(graph, directory, NULL, reterr);
    CG_TRY(want_chosen(graph, chosen, reterr));
    CG_TRY(settle(graph, reterr));
    root = &graph->packages.at[graph->root];
    graph->active_cfg = root->cfg.lines;
    graph->manifest = state->document;
    graph->metadata = root->detail->manifest.metadata;
    CG_TRY(select_targets(graph, reterr));
    return candles_find(graph, reterr);
}

static cg_code open_graph(cargo_graph *graph, cg_str path, cg_err *reterr)
{
    cargo_manifest manifest;
    cg_err failure = {0};
    bool is_there = false;
    cg_code code;
    cg_str start;
    cg_str directory;

    CG_TRY(find_start(graph, path, &start, reterr));
    CG_TRY(find_manifest(graph, start, &directory, reterr));
    if (directory.len == 0 && str_ends_with(graph->state->file, CG_LIT(".rs"))) {
        graph->scan_file = graph->state->file;
        return scan_directory(graph, start,
                              "no Cargo.toml here or above: this file and its modules are read, "
                              "and no feature, version or cfg is known",
                              reterr);
    }
    if (directory.len == 0)
        return scan_directory(graph, start,
                              "no Cargo.toml here or above: all .rs files are read, and no "
                              "feature, version or cfg is known",
                              reterr);
    code = packages_read_manifest(graph, directory, &manifest, NULL, &is_there, &failure);
    CG_TRY(packages_forgive(graph, code, &failure, directory,
                            "Cargo.toml cannot be used, so that all .rs files are read: ", reterr));
    if (!is_there)
        return scan_directory(graph, directory, NULL, reterr);
    CG_TRY(find_workspace(graph, directory, &manifest, reterr));
    if (!manifest.has_package || (graph->state->options.package.len > 0 &&
                                  !str_equal(manifest.name, graph->state->options.package)))
        CG_TRY(choose_member(graph, &directory, reterr));
    return open_package(graph, directory, reterr);
}

static cg_code say(void *context, cg_str path, cg_str message, cg_err *reterr)
{
    return packages_say(context, path, 0, message, reterr);
}

cg_code cargo_graph_open(const cg_env *env, heap *from, cg_str path, const cargo_options *options,
                         cargo_graph **ret, cg_err *reterr)
{
    cargo_graph *graph = heap_resize(from, NULL, 0, sizeof *graph);
    cargo_state *state;
    cg_code code;

    if (graph == NULL)
        return err_nomem(reterr);
    *graph = (cargo_graph){.root = CARGO_MISSING, .metadata = TOML_NONE};
    state = heap_resize(from, NULL, 0, sizeof *state);
    if (state == NULL) {
        heap_resize(from, graph, sizeof *graph, 0);
        return err_nomem(reterr);
    }
    *state = (cargo_state){.heap = from, .options = *options};
    arena_init(&state->mem, from);
    state->files = (cargo_files){env, from, &state->mem, &graph->inputs, say, graph};
    graph->state = state;
    code = open_graph(graph, path, reterr);
    if (code != CG_OK) {
        cargo_graph_free(graph);
        return code;
    }
    *ret = graph;
    return CG_OK;
}

void cargo_graph_free(cargo_graph *graph)
{
    cargo_state *state;
    heap *from;

    if (graph == NULL)
        return;
    state = graph->state;
    from = state->heap;
    for (size_t i = 0; i < graph->packages.count; i++) {
        cargo_detail *detail = graph->packages.at[i].detail;

        vec_free(from, &detail->wanted);
        if (detail->has_features)
            features_free(&detail->features);
    }
    toml_free(state->document);
    sources_free(&state->sources);
    vec_free(from, &state->dirty);
    vec_free(from, &graph->packages);
    vec_free(from, &graph->diagnostics);
    vec_free(from, &graph->inputs);
    arena_free(&state->mem);
    heap_resize(from, state, sizeof *state, 0);
    heap_resize(from, graph, sizeof *graph, 0);
}
