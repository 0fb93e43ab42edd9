#include "cargo/activation.h"

#include "cargo/packages.h"

/* More features asked of one package than any graph has. */
#define WANTED_CEILING 4096u

/* --- features: what dependents want --- */

cg_code activation_mark(cargo_graph *graph, uint32_t package, cg_err *reterr)
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

cg_code activation_want(cargo_graph *graph, uint32_t package, cg_str feature, cg_err *reterr)
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
    return graph->packages.at[package].is_loaded ? activation_mark(graph, package, reterr) : CG_OK;
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
        CG_TRY(activation_want(graph, package, features.at[i], reterr));
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
        CG_TRY(activation_want(graph, to->package, CG_LIT("default"), reterr));
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
                CG_TRY(activation_want(graph, to->package, request->feature, reterr));
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
            CG_TRY(activation_mark(graph, target, reterr));
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
cg_code activation_settle(cargo_graph *graph, cg_err *reterr)
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
