#include "cargo/packages.h"

#include <stdio.h>

#include "cargo/version.h"

#define DIAGNOSTIC_CEILING 1000u
#define WANTED_DEPTH       64u /* directories above each other that are searched for a workspace */

/* --- diagnostics --- */

cg_code packages_say(cargo_graph *graph, cg_str path, uint32_t line, cg_str message, cg_err *reterr)
{
    arena *mem = &graph->state->mem;
    cargo_diagnostic *to;
    cargo_diagnostic found = {.code = "cargo-context", .line = line};

    if (graph->diagnostics.count >= DIAGNOSTIC_CEILING)
        return CG_OK;
    for (size_t i = 0; i < graph->diagnostics.count; i++) {
        if (str_equal(graph->diagnostics.at[i].message, message) &&
            str_equal(graph->diagnostics.at[i].path, path))
            return CG_OK;
    }
    if (!arena_text(mem, message, &found.message) || !arena_text(mem, path, &found.path))
        return err_nomem(reterr);
    to = vec_add(graph->state->heap, &graph->diagnostics);
    if (to == NULL)
        return err_nomem(reterr);
    *to = found;
    return CG_OK;
}

cg_code packages_forgive(cargo_graph *graph, cg_code code, cg_err *failure, cg_str path,
                         const char *what, cg_err *reterr)
{
    char text[640];
    int size;

    if (code == CG_OK)
        return CG_OK;
    /* With a file that cannot be read another answer would be given than the next time. */
    if (code == CG_NOMEM || code == CG_INTERRUPTED || code == CG_INTERNAL ||
        failure->problem == problem_id(PROBLEM_INPUT_UNREADABLE)) {
        if (reterr != NULL && reterr->code == CG_OK)
            *reterr = *failure;
        return code;
    }
    size = snprintf(text, sizeof text, "%s%s", what, failure->text);
    if (size < 0 || (size_t)size >= sizeof text)
        size = (int)sizeof text - 1;
    code = packages_say(graph, path, failure->line > UINT32_MAX ? 0 : (uint32_t)failure->line,
                        (cg_str){text, (size_t)size}, reterr);
    *failure = (cg_err){0};
    return code;
}

/* --- manifests --- */

cg_code packages_read_manifest(cargo_graph *graph, cg_str directory, cargo_manifest *ret,
                               toml_document **ret_doc, bool *ret_is_there, cg_err *reterr)
{
    cargo_state *state = graph->state;
    toml_document *doc = NULL;
    cg_code code;
    cg_str path;

    *ret_is_there = false;
    CG_TRY(files_join(&state->mem, directory, CG_LIT("Cargo.toml"), &path, reterr));
    CG_TRY(files_read_toml(&state->files, path, &doc, reterr));
    if (doc == NULL)
        return CG_OK;
    code = cargo_manifest_read(&state->mem, state->heap, doc, ret, reterr);
    if (code != CG_OK)
        err_in_file(reterr, path);
    if (code == CG_OK && ret_doc != NULL)
        *ret_doc = doc;
    else
        toml_free(doc);
    *ret_is_there = code == CG_OK;
    return code;
}

static bool matches_any(cargo_strs patterns, cg_str relative)
{
    for (size_t i = 0; i < patterns.count; i++) {
        if (files_match(patterns.at[i], relative))
            return true;
    }
    return false;
}

/* As Cargo does: excluded ones do not belong, named ones do, others may as path dependencies. */
static bool can_belong(const cargo_manifest *workspace, cg_str root, cg_str directory)
{
    cg_str relative;

    if (!files_is_below(directory, root))
        return false;
    relative = (cg_str){directory.ptr + root.len, directory.len - root.len};
    return relative.len == 0 || matches_any(workspace->members, relative) ||
           !matches_any(workspace->excluded, relative);
}

cg_code packages_find_workspace(cargo_graph *graph, cg_str start, cg_str directory,
                                cargo_manifest *ret_manifest, cg_str *ret, cg_err *reterr)
{
    cg_str at = start;

    *ret = (cg_str){0};
    for (unsigned i = 0; i < WANTED_DEPTH && at.len > 0; i++, at = files_parent(at)) {
        cargo_manifest found;
        cg_err failure = {0};
        bool is_there = false;
        cg_code code = packages_read_manifest(graph, at, &found, NULL, &is_there, &failure);

        CG_TRY(
            packages_forgive(graph, code, &failure, at, "no workspace can be read here: ", reterr));
        if (!is_there || !found.has_workspace)
            continue;
        if (!can_belong(&found, at, directory))
            return CG_OK;
        *ret_manifest = found;
        *ret = at;
        return CG_OK;
    }
    return CG_OK;
}

cg_code packages_members(cargo_graph *graph, cargo_strs *ret, cg_err *reterr)
{
    cargo_state *state = graph->state;

    if (!state->is_members_known && state->has_workspace)
        CG_TRY(sources_members(&state->files, graph->workspace_root, &state->workspace,
                               &state->members, reterr));
    state->is_members_known = true;
    *ret = state->members;
    return CG_OK;
}

/* What the manifest takes over from the workspace that `directory` belongs to. */
static cg_code inherit(cargo_graph *graph, cg_str directory, cargo_manifest *manifest,
                       cg_err *reterr)
{
    cargo_state *state = graph->state;
    cargo_manifest workspace;
    cg_str root = {0};

    if (manifest->has_workspace)
        return manifest_inherit(&state->mem, manifest, manifest, directory, reterr);
    if (state->has_workspace && files_is_below(directory, graph->workspace_root))
        return manifest_inherit(&state->mem, manifest, &state->workspace, graph->workspace_root,
                                reterr);
    CG_TRY(packages_find_workspace(graph, directory, directory, &workspace, &root, reterr));
    if (root.len == 0)
        return cg_fail(reterr, PROBLEM_MANIFEST,
                       "something is taken from a workspace that is not there");
    return manifest_inherit(&state->mem, manifest, &workspace, root, reterr);
}

cg_code packages_read(cargo_graph *graph, uint32_t package, cg_err *reterr)
{
    cargo_package *of = &graph->packages.at[package];
    cargo_detail *detail = of->detail;
    toml_document **document = package == graph->root ? &graph->state->document : NULL;
    cg_str root = of->root;
    cg_err failure = {0};
    bool is_there = false;
    cg_code code;

    if (detail->has_manifest || detail->is_failed || !of->is_source_found)
        return CG_OK;
    detail->is_failed = true;
    code = packages_read_manifest(graph, root, &detail->manifest, document, &is_there, &failure);
    if (code == CG_OK && (!is_there || !detail->manifest.has_package))
        code = cg_fail(&failure, PROBLEM_MANIFEST, "there is no package here");
    CG_TRY(packages_forgive(graph, code, &failure, of->manifest_path,
                            "the manifest is left out: ", reterr));
    if (code != CG_OK)
        return CG_OK;
    if (manifest_is_inheriting(&detail->manifest)) {
        code = inherit(graph, root, &detail->manifest, &failure);
        CG_TRY(packages_forgive(graph, code, &failure, graph->packages.at[package].manifest_path,
                                "", reterr));
    }
    of = &graph->packages.at[package];
    detail->is_failed = false;
    detail->has_manifest = true;
    of->name = detail->manifest.name;
    of->edition = detail->manifest.edition;
    if (of->version.len == 0 || detail->lock == LOCK_NONE)
        of->version = detail->manifest.version;
    return CG_OK;
}

/* --- entries --- */

cg_code packages_add(cargo_graph *graph, cg_str name, cg_str number, cg_str directory,
                     uint32_t *ret, cg_err *reterr)
{
    cargo_state *state = graph->state;
    cargo_package made = {.library = CARGO_MISSING, .version = CG_LIT("")};
    cargo_package *to;

    for (uint32_t i = 0; i < graph->packages.count; i++) {
        const cargo_package *of = &graph->packages.at[i];
        bool is_same = directory.len > 0 ? str_equal(of->root, directory)
                                         : of->root.len == 0 && str_equal(of->name, name) &&
                                               str_equal(of->version, number);

        if (is_same) {
            *ret = i;
            return CG_OK;
        }
    }
    made.detail = arena_zero(&state->mem, sizeof *made.detail);
    if (made.detail == NULL || !arena_text(&state->mem, name, &made.name) ||
        (number.len > 0 && !arena_text(&state->mem, number, &made.version)) ||
        !arena_text(&state->mem, directory, &made.root))
        return err_nomem(reterr);
    made.detail->lock = number.len > 0 ? lock_find_version(&state->lock, name, number) : LOCK_NONE;
    made.is_source_found = directory.len > 0;
    if (made.is_source_found)
        CG_TRY(
            files_join(&state->mem, directory, CG_LIT("Cargo.toml"), &made.manifest_path, reterr));
    if (graph->packages.count >= CARGO_MISSING - 1)
        return err_nomem(reterr);
    to = vec_add(state->heap, &graph->packages);
    if (to == NULL)
        return err_nomem(reterr);
    *to = made;
    *ret = (uint32_t)(graph->packages.count - 1);
    return CG_OK;
}

cg_code packages_add_directory(cargo_graph *graph, cg_str directory, cg_str name, bool is_member,
                               uint32_t *ret, cg_err *reterr)
{
    cargo_state *state = graph->state;
    cargo_package *of;

    CG_TRY(packages_add(graph, name, CG_LIT(""), directory, ret, reterr));
    CG_TRY(packages_read(graph, *ret, reterr));
    of = &graph->packages.at[*ret];
    of->is_member = of->is_member || is_member;
    if (of->detail->has_manifest && of->detail->lock == LOCK_NONE)
        of->detail->lock = lock_find_version(&state->lock, of->name, of->version);
    return CG_OK;
}

/* A package of which nothing but a name, and perhaps a version, is known. */
static cg_code add_unknown(cargo_graph *graph, cg_str name, cg_str number, uint32_t *ret,
                           cg_err *reterr)
{
    return packages_add(graph, name, number, (cg_str){0}, ret, reterr);
}

/* --- what a dependency means --- */

/* Sources at `path`, which stands in a manifest of `base`. */
static cg_code resolve_path(cargo_graph *graph, cg_str base, cg_str path, cg_str name,
                            bool is_member, uint32_t *ret, cg_err *reterr)
{
    cargo_state *state = graph->state;
    cg_err failure = {0};
    cg_str directory;
    cg_code code;

    CG_TRY(files_join(&state->mem, base, path, &directory, reterr));
    code = os_real_path(directory, &state->mem, &directory, &failure);
    if (code == CG_OK)
        return packages_add_directory(graph, directory, name, is_member, ret, reterr);
    CG_TRY(packages_forgive(graph, code, &failure, directory,
                            "the sources of a dependency are left out: ", reterr));
    return add_unknown(graph, name, CG_LIT(""), ret, reterr);
}

/* The directory of a package inside a repository; absent: not there. */
static cg_code find_in_repository(cargo_graph *graph, cg_str repository, cg_str name, cg_str *ret,
                                  cg_err *reterr)
{
    cargo_state *state = graph->state;
    cg_str tries[2] = {repository, {0}};
    cargo_strs members = {0};
    cargo_manifest manifest;
    cg_err failure = {0};
    bool is_there = false;
    cg_code code;

    *ret = (cg_str){0};
    if (name.len > 0 && name.ptr[0] != '.' && memchr(name.ptr, '/', name.len) == NULL)
        CG_TRY(files_join(&state->mem, repository, name, &tries[1], reterr));
    for (unsigned i = 0; i < 2; i++) {
        if (tries[i].len == 0)
            continue;
        code = packages_read_manifest(graph, tries[i], &manifest, NULL, &is_there, &failure);
        CG_TRY(packages_forgive(graph, code, &failure, tries[i], "", reterr));
        if (is_there && manifest.has_package && str_equal(manifest.name, name)) {
            *ret = tries[i];
            return CG_OK;
        }
        if (i == 0 && is_there && manifest.has_workspace)
            CG_TRY(sources_members(&state->files, repository, &manifest, &members, reterr));
    }
    for (size_t i = 0; i < members.count; i++) {
        code = packages_read_manifest(graph, members.at[i], &manifest, NULL, &is_there, &failure);
        CG_TRY(packages_forgive(graph, code, &failure, members.at[i], "", reterr));
        if (is_there && manifest.has_package && str_equal(manifest.name, name)) {
            *ret = members.at[i];
            return CG_OK;
        }
    }
    return CG_OK;
}

static cg_code resolve_git(cargo_graph *graph, cg_str url, cg_str commit, cg_str name,
                           cg_str number, uint32_t *ret, cg_err *reterr)
{
    cargo_state *state = graph->state;
    cg_str directory = {0};
    bool is_there = false;
    cg_str repository;

    CG_TRY(sources_checkout(&state->sources, url, commit, &repository, reterr));
    if (repository.len > 0)
        CG_TRY(find_in_repository(graph, repository, name, &directory, reterr));
    if (directory.len > 0)
        CG_TRY(files_real(&state->files, directory, &directory, &is_there, reterr));
    if (is_there)
        return packages_add_directory(graph, directory, name, false, ret, reterr);
    return add_unknown(graph, name, number, ret, reterr);
}

/* A member of the workspace by its name; CARGO_MISSING: none. */
static cg_code resolve_member(cargo_graph *graph, cg_str name, uint32_t *ret, cg_err *reterr)
{
    cargo_strs members = {0};

    *ret = CARGO_MISSING;
    for (uint32_t i = 0; i < graph->packages.count; i++) {
        if (graph->packages.at[i].is_member && str_equal(graph->packages.at[i].name, name)) {
            *ret = i;
            return CG_OK;
        }
    }
    CG_TRY(packages_members(graph, &members, reterr));
    for (size_t i = 0; i < members.count; i++) {
        cargo_manifest manifest;
        cg_err failure = {0};
        bool is_there = false;
        cg_code code =
            packages_read_manifest(graph, members.at[i], &manifest, NULL, &is_there, &failure);

        CG_TRY(packages_forgive(graph, code, &failure, members.at[i], "", reterr));
        if (is_there && manifest.has_package && str_equal(manifest.name, name))
            return packages_add_directory(graph, members.at[i], name, true, ret, reterr);
    }
    return CG_OK;
}

/* The locked version is not on this machine: one that could stand for it is better than none. */
static cg_code resolve_near(cargo_graph *graph, const lock_package *locked, cg_str *ret,
                            cg_err *reterr)
{
    char text[320];
    cg_str number;
    int size = snprintf(text, sizeof text, "^%.*s", ERR_STR(locked->version));

    *ret = (cg_str){0};
    if (!str_starts_with(locked->name, CG_LIT("candle-")) || size < 0 ||
        (size_t)size >= sizeof text)
        return CG_OK;
    CG_TRY(sources_choose(&graph->state->sources, locked->name, (cg_str){text, (size_t)size},
                          &number, ret, reterr));
    if (!ret->len)
        return CG_OK;
    size = snprintf(text, sizeof text,
                    "`%.*s` %.*s of Cargo.lock is not on this machine, %.*s was read instead: run "
                    "`cargo fetch`",
                    ERR_STR(locked->name), ERR_STR(locked->version), ERR_STR(number));
    if (size < 0 || (size_t)size >= sizeof text)
        return CG_OK;
    return packages_say(graph, graph->workspace_root, 0, (cg_str){text, (size_t)size}, reterr);
}

/* What the lock file says at `index`. */
static cg_code resolve_locked(cargo_graph *graph, size_t index, uint32_t *ret, cg_err *reterr)
{
    cargo_state *state = graph->state;
    const lock_package *locked = &state->lock.packages[index];
    cg_str directory;

    if (locked->source.ptr == NULL) {
        CG_TRY(resolve_member(graph, locked->name, ret, reterr));
        if (*ret != CARGO_MISSING)
            return CG_OK;
        return add_unknown(graph, locked->name, locked->version, ret, reterr);
    }
    if (str_starts_with(locked->source, CG_LIT("git+"))) {
        size_t hash = str_find_last(locked->source, '#');
        cg_str commit = {0};

        if (hash != SIZE_MAX)
            commit = (cg_str){locked->source.ptr + hash + 1, locked->source.len - hash - 1};
        return resolve_git(graph, locked->source, commit, locked->name, locked->version, ret,
                           reterr);
    }
    CG_TRY(sources_find(&state->sources, locked->name, locked->version, &directory, reterr));
    if (!directory.len)
        CG_TRY(resolve_near(graph, locked, &directory, reterr));
    return packages_add(graph, locked->name, locked->version, directory, ret, reterr);
}

/* A package that is there already and that the requirement allows: Cargo takes no second one. */
static uint32_t find_present(const cargo_graph *graph, cg_str name, cg_str requirement)
{
    uint32_t best = CARGO_MISSING;

    for (uint32_t i = 0; i < graph->packages.count; i++) {
        const cargo_package *of = &graph->packages.at[i];

        if (str_equal(of->name, name) && version_text_fits(requirement, of->version) &&
            (best == CARGO_MISSING ||
             version_compare_text(graph->packages.at[best].version, of->version) < 0))
            best = i;
    }
    return best;
}

static cg_code say_chosen(cargo_graph *graph, uint32_t package, cg_str requirement, cg_err *reterr)
{
    const cargo_package *of = &graph->packages.at[package];
    char text[320];
    int size;

    if (!str_starts_with(of->name, CG_LIT("candle-")) ||
        str_starts_with(str_trim(requirement), CG_LIT("=")))
        return CG_OK;
    size = snprintf(text, sizeof text,
                    "there is no Cargo.lock: of `%.*s`, %.*s is read, the highest version %s that "
                    "`%.*s` allows",
                    ERR_STR(of->name), ERR_STR(of->version),
                    of->is_source_found ? "on this machine" : "known", ERR_STR(requirement));
    if (size < 0 || (size_t)size >= sizeof text || of->version.len == 0)
        return CG_OK;
    CG_TRY(packages_say(graph, graph->workspace_root, 0, (cg_str){text, (size_t)size}, reterr));
    graph->diagnostics.at[graph->diagnostics.count - 1].is_note = true;
    return CG_OK;
}

/* The version an unresolved requirement on a Candle package means, or "". */
static cg_str packages_candle_version(cg_str requirement)
{
    static const char *const known[] = {"0.11.1", "0.11.0", "0.10.2", "0.10.1", "0.10.0",
                                        "0.9.2",  "0.9.1",  "0.9.0",  "0.8.4"};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (version_text_fits(requirement, str_from(known[i])))
            return str_from(known[i]);
    }
    return CG_LIT("");
}

static cg_code resolve_unlocked(cargo_graph *graph, const manifest_dependency *of, uint32_t *ret,
                                cg_err *reterr)
{
    cargo_state *state = graph->state;
    cg_str requirement = of->requirement.ptr != NULL ? of->requirement : CG_LIT("*");
    cg_str directory;
    cg_str number;

    *ret = find_present(graph, of->package, requirement);
    if (*ret != CARGO_MISSING)
        return CG_OK;
    CG_TRY(sources_choose(&state->sources, of->package, requirement, &number, &directory, reterr));
    if (directory.len == 0)
        number = str_starts_with(of->package, CG_LIT("candle-"))
                     ? packages_candle_version(requirement)
                     : CG_LIT("");
    CG_TRY(packages_add(graph, of->package, number, directory, ret, reterr));
    return say_chosen(graph, *ret, requirement, reterr);
}

static const manifest_dependency *find_patch(const cargo_graph *graph, cg_str name)
{
    const cargo_state *state = graph->state;

    if (!state->has_workspace)
        return NULL;
    for (size_t i = 0; i < state->workspace.patch_count; i++) {
        const manifest_dependency *patch = &state->workspace.patches[i];

        if (str_equal(patch->package, name) && (patch->path.len > 0 || patch->git.len > 0))
            return patch;
    }
    return NULL;
}

/* What cargo itself said about a dependency; CARGO_MISSING: that it is not used. */
static uint32_t find_asked(const cargo_graph *graph, const ask_package *asked,
                           const manifest_dependency *of)
{
    const ask_answer *answer = &graph->state->answer;

    for (size_t i = 0; i < asked->dependency_count; i++) {
        uint32_t index = asked->dependencies[i].package;
        const ask_package *to = &answer->packages[index];

        if (str_equal(to->name, of->package) &&
            (of->requirement.len == 0 || version_text_fits(of->requirement, to->version)))
            return index;
    }
    return CARGO_MISSING;
}

cg_code packages_resolve(cargo_graph *graph, uint32_t package, const manifest_dependency *of,
                         uint32_t *ret, cg_err *reterr)
{
    cargo_state *state = graph->state;
    const cargo_package *by = &graph->packages.at[package];
    cg_str given = sources_given(&state->sources, of->package);
    const manifest_dependency *patch = find_patch(graph, of->package);
    size_t locked = LOCK_NONE;

    if (by->detail->asked != NULL) {
        *ret = find_asked(graph, by->detail->asked, of);
        return CG_OK;
    }
    if (given.len > 0)
        return resolve_path(graph, CG_LIT("."), given, of->package, false, ret, reterr);
    if (of->path.len > 0)
        return resolve_path(graph, of->base.len > 0 ? of->base : by->root, of->path, of->package,
                            by->is_member, ret, reterr);
    if (patch != NULL && patch->path.len > 0)
        return resolve_path(graph, graph->workspace_root, patch->path, of->package, false, ret,
                            reterr);
    if (state->has_lock)
        locked = lock_resolve(&state->lock, by->detail->lock, of->package, of->requirement);
    if (locked != LOCK_NONE)
        return resolve_locked(graph, locked, ret, reterr);
    if (patch != NULL || of->git.len > 0)
        return resolve_git(graph, patch != NULL ? patch->git : of->git, (cg_str){0}, of->package,
                           CG_LIT(""), ret, reterr);
    return resolve_unlocked(graph, of, ret, reterr);
}
