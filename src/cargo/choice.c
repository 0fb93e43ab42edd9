#include "cargo/choice.h"

#include <stdio.h>

#include "cargo/activation.h"
#include "cargo/packages.h"

/* What there is to choose from, for whom chose what there is not; a long list is cut. */
typedef struct name_list {
    char at[320];
    size_t len;
} name_list;

static void add_name(name_list *self, cg_str name)
{
    size_t room = sizeof self->at - self->len;
    int size =
        snprintf(self->at + self->len, room, "%s`%.*s`", self->len > 0 ? ", " : "", ERR_STR(name));

    self->len += size < 0 ? 0 : (size_t)size < room ? (size_t)size : room - 1;
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
    name_list known = {0};

    for (size_t i = 0; i < manifest->feature_count; i++)
        add_name(&known, manifest->features[i].name);
    if (manifest->feature_count == 0)
        return cg_fail(reterr, PROBLEM_FEATURE, "`%.*s` has no feature `%.*s`; it has none at all",
                       ERR_STR(manifest->name), ERR_STR(name));
    return cg_fail(reterr, PROBLEM_FEATURE, "`%.*s` has no feature `%.*s`; it has %s",
                   ERR_STR(manifest->name), ERR_STR(name), known.at);
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

cg_code choice_features(cargo_graph *graph, const cargo_manifest *manifest, cargo_strs *ret_chosen,
                        cg_err *reterr)
{
    CG_TRY(split_features(graph, manifest, ret_chosen, reterr));
    for (size_t i = 0; i < ret_chosen->count; i++) {
        if (!has_feature(manifest, ret_chosen->at[i]))
            return refuse_feature(manifest, ret_chosen->at[i], reterr);
    }
    return CG_OK;
}

cg_code choice_want(cargo_graph *graph, cargo_strs chosen, cg_err *reterr)
{
    const cargo_options *options = &graph->state->options;
    const cargo_manifest *manifest = &graph->packages.at[graph->root].detail->manifest;

    for (size_t i = 0; options->is_all_features && i < manifest->feature_count; i++)
        CG_TRY(activation_want(graph, graph->root, manifest->features[i].name, reterr));
    if (!options->is_no_default_features)
        CG_TRY(activation_want(graph, graph->root, CG_LIT("default"), reterr));
    for (size_t i = 0; i < chosen.count; i++)
        CG_TRY(activation_want(graph, graph->root, chosen.at[i], reterr));
    return CG_OK;
}

/* --- the member of a workspace --- */

typedef struct member {
    cg_str directory;
    cg_str name;
    bool is_using_candle;
} member;

/* Does it name a package of Candle, itself or by what it inherits from the workspace? */
static bool is_using_candle(const cargo_manifest *workspace, const cargo_manifest *manifest)
{
    for (size_t i = 0; i < manifest->dependency_count; i++) {
        const manifest_dependency *of = &manifest->dependencies[i];
        cg_str package = of->package;

        for (size_t k = 0; of->is_inherited && k < workspace->workspace_dependency_count; k++) {
            if (str_equal(workspace->workspace_dependencies[k].name, of->name))
                package = workspace->workspace_dependencies[k].package;
        }
        if (str_starts_with(package, CG_LIT("candle-")))
            return true;
    }
    return false;
}

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
        at[count++] = (member){graph->workspace_root, state->workspace.name,
                               is_using_candle(&state->workspace, &state->workspace)};
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
            at[count++] = (member){directories.at[i], manifest.name,
                                   is_using_candle(&state->workspace, &manifest)};
    }
    *ret = at;
    *ret_count = count;
    return CG_OK;
}

static cg_code refuse_package(const cargo_graph *graph, const member *members, size_t count,
                              cg_err *reterr)
{
    cg_str wanted = graph->state->options.package;
    name_list known = {0}, using_candle = {0};
    size_t using_count = 0;

    for (size_t i = 0; i < count; i++) {
        add_name(&known, members[i].name);
        if (members[i].is_using_candle) {
            add_name(&using_candle, members[i].name);
            using_count++;
        }
    }
    if (count == 0)
        return cg_fail(reterr, PROBLEM_PACKAGE, "this workspace has no package that can be read");
    if (wanted.len > 0)
        return cg_fail(reterr, PROBLEM_PACKAGE, "the workspace has no package `%.*s`; it has %s",
                       ERR_STR(wanted), known.at);
    if (using_count > 0 && using_count < count)
        return cg_fail(reterr, PROBLEM_PACKAGE,
                       "this is a workspace of several packages; of them use Candle: %s",
                       using_candle.at);
    return cg_fail(reterr, PROBLEM_PACKAGE, "this is a workspace of several packages: %s",
                   known.at);
}

/* The member that is meant: named, or the only one, or the only default one. */
cg_code choice_member(cargo_graph *graph, cg_str *ret, cg_err *reterr)
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

/* --- the targets to scan --- */

static cg_code refuse_target(const cargo_graph *graph, const cargo_package *root, cg_err *reterr)
{
    name_list known = {0};

    for (size_t i = 0; i < root->target_count; i++)
        add_name(&known, root->targets[i].name);
    return cg_fail(reterr, PROBLEM_CARGO_TARGET, "`%.*s` has no target `%.*s`; it has %s",
                   ERR_STR(root->name), ERR_STR(graph->state->options.cargo_target),
                   known.len > 0 ? known.at : "none");
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

cg_code choice_targets(cargo_graph *graph, cg_err *reterr)
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
