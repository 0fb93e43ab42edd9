#include "cargo/workspace.h"

#include <stdio.h>

#include "cargo/activation.h"
#include "cargo/answer.h"
#include "cargo/candles.h"
#include "cargo/choice.h"
#include "cargo/packages.h"

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
    CG_TRY(choice_features(graph, &manifest, &chosen, reterr));
    CG_TRY(sources_init(&state->sources, &state->files, state->options.cargo_home,
                        graph->workspace_root, state->options.sources, reterr));
    CG_TRY(read_lock(graph, reterr));
    CG_TRY(find_target(graph, reterr));
    if (state->options.is_asking)
        CG_TRY(answer_take(graph, directory, chosen, reterr));
    if (!state->is_answered)
        graph->root = 0;
    CG_TRY(packages_add_directory(graph, directory, manifest.name, true, &graph->root, reterr));
    graph->scan_root = directory;
    CG_TRY(activation_mark(graph, graph->root, reterr));
    if (!graph->packages.at[graph->root].detail->has_manifest)
        return scan_directory(graph, directory, NULL, reterr);
    CG_TRY(choice_want(graph, chosen, reterr));
    CG_TRY(activation_settle(graph, reterr));
    root = &graph->packages.at[graph->root];
    graph->active_cfg = root->cfg.lines;
    graph->manifest = state->document;
    graph->metadata = root->detail->manifest.metadata;
    CG_TRY(choice_targets(graph, reterr));
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
        CG_TRY(choice_member(graph, &directory, reterr));
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

/* --- questions to a graph --- */

cg_code cargo_package_load(cargo_graph *graph, uint32_t package, cg_err *reterr)
{
    if (package >= graph->packages.count || graph->packages.at[package].is_loaded ||
        graph->packages.at[package].detail->is_failed ||
        !graph->packages.at[package].is_source_found)
        return CG_OK;
    CG_TRY(activation_mark(graph, package, reterr));
    return activation_settle(graph, reterr);
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
