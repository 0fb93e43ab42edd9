#include "model/scan.h"

#include "model/compute.h"
#include "model/catalogue.h"
#include "model/fingerprint.h"
#include "model/ids.h"
#include "model/inference.h"
#include "model/makers.h"
#include "model/pipeline.h"
#include "model/training.h"
#include "model/wiring.h"

struct scan {
    heap heap;
    cargo_graph *cargo;
    bool is_graph_lent;
    program program;
    bool has_program;
    types *types;
    expr_pool exprs;
    bool has_exprs;
    eval *eval;
    catalogue versions;
    extraction extraction;
    model_draft draft;
    function_facts functions;
    compute compute;
    drivers drivers;
    model_document document;
};

/* --- the head of the document --- */

static sc_strs strs_of(cargo_strs from)
{
    return (sc_strs){from.at, from.count};
}

static cg_code fill_cargo(scan *self, cg_err *reterr)
{
    const cargo_graph *graph = self->cargo;
    model_draft *draft = &self->draft;
    arena *mem = &draft->mem;

    if (graph->root == CARGO_MISSING) {
        return id_make(mem, MODEL_ID_KIND_ANALYSIS, ID_PARTS(graph->scan_root), &draft->analysis_id)
                   ? CG_OK
                   : err_nomem(reterr);
    }
    const cargo_package *package = &graph->packages.at[graph->root];
    model_cargo *cargo = arena_zero(mem, sizeof *cargo);
    sc_pair *candles = arena_take(mem, (graph->candle_count + 1) * sizeof *candles);

    if (!cargo || !candles)
        return err_nomem(reterr);
    for (size_t i = 0; i < graph->candle_count; i++)
        candles[i] = (sc_pair){graph->candles[i].name, graph->candles[i].versions};
    *cargo = (model_cargo){
        .workspace_root = graph->workspace_root,
        .manifest_path = package->manifest_path,
        .package_name = package->name,
        .package_version = package->version,
        .selected_target = graph->selected_target,
        .active_features = strs_of(package->features),
        .active_cfg = strs_of(graph->active_cfg),
        .candle_packages = {candles, graph->candle_count},
        .cfg_source = graph->cfg_source == CARGO_CFG_RUSTC      ? MODEL_CFG_SOURCE_RUSTC
                      : graph->cfg_source == CARGO_CFG_BUILT_IN ? MODEL_CFG_SOURCE_BUILT_IN
                                                                : MODEL_CFG_SOURCE_NONE,
    };
    draft->cargo = cargo;
    if (!id_build(mem, package->name, package->version, graph->selected_target,
                  cargo->active_features, cargo->active_cfg, cargo->candle_packages,
                  &cargo->build_id) ||
        !id_make(mem, MODEL_ID_KIND_ANALYSIS, ID_PARTS(cargo->build_id), &draft->analysis_id) ||
        !program_fingerprint(&self->program, mem, &cargo->source_fingerprint))
        return err_nomem(reterr);
    return CG_OK;
}

/* The one thing every scan says: what it does not look for unless asked. */
static cg_code add_notice(scan *self, const scan_options *options, cg_err *reterr)
{
    if (options->is_heuristic)
        return CG_OK;
    return assemble_finding(&self->program, NULL, &self->draft, "compiler-semantic-evidence",
                            MODEL_CONFIDENCE_UNKNOWN,
                            CG_LIT("pipeline stages, artifacts and call order between components "
                                   "are guesses from names, and are listed only with "
                                   "--heuristic-architecture"),
                            (model_place){0})
               ? CG_OK
               : err_nomem(reterr);
}

/* What is only guessed, and only when asked for. */
static cg_code add_guesses(scan *self, cg_err *reterr)
{
    pipeline guess;
    cg_code code;

    CG_TRY(pipeline_begin(&self->extraction, &self->drivers, &self->functions, &self->draft, &guess,
                          reterr));
    code = pipeline_stages(&guess);
    if (code == CG_OK)
        code = pipeline_artifacts(&guess);
    if (code == CG_OK)
        code = pipeline_calls(&guess);
    if (code == CG_OK)
        code = pipeline_roles(&guess);
    pipeline_end(&guess);
    return code;
}

/* Which candle the crate is built with. */
static void find_versions(scan *self)
{
    for (size_t i = 0; i < self->cargo->candle_count; i++) {
        const cargo_candle *candle = &self->cargo->candles[i];

        if (str_equal(candle->name, CG_LIT("candle-core")))
            self->versions.candle_core = catalogue_version(candle->versions);
        if (str_equal(candle->name, CG_LIT("candle-nn")))
            self->versions.candle_nn = catalogue_version(candle->versions);
    }
    self->eval->catalogue = &self->versions;
}

/* Is candle built without any other device? */
static bool is_cpu_only(const cargo_graph *graph)
{
    bool is_found = false;

    for (size_t i = 0; i < graph->packages.count; i++) {
        const cargo_package *package = &graph->packages.at[i];

        if (!str_equal(package->name, CG_LIT("candle-core")))
            continue;
        is_found = package->is_loaded;
        for (size_t k = 0; k < package->features.count; k++) {
            if (str_equal(package->features.at[k], CG_LIT("cuda")) ||
                str_equal(package->features.at[k], CG_LIT("metal")))
                return false;
        }
    }
    return is_found;
}

static cg_code run(scan *self, const cg_env *env, cg_str path, const scan_options *options,
                   cg_err *reterr)
{
    extract_options extract = {.root = options->root, .is_open = true};
    bool computes = !options->is_structure;

    if (computes) {
        extract.made = compute_component;
        extract.context = &self->compute;
    }
    self->cargo = options->graph;
    self->is_graph_lent = options->graph != NULL;
    if (!self->cargo)
        CG_TRY(cargo_graph_open(env, &self->heap, path, &options->cargo, &self->cargo, reterr));
    CG_TRY(program_load_part(env, &self->heap, self->cargo, options->part, &self->program, reterr));
    self->has_program = true;
    CG_TRY(types_new(&self->program, &self->types, reterr));
    if (!expr_pool_init(&self->exprs, &self->heap))
        return err_nomem(reterr);
    self->has_exprs = true;
    CG_TRY(eval_new(&self->program, self->types, &self->exprs, &self->eval, reterr));
    find_versions(self);
    CG_TRY(functions_list(self->types, &self->draft, options->root, &self->functions, reterr));
    if (computes)
        CG_TRY(compute_begin(&self->compute, self->eval, &self->functions, &self->draft,
                             options->is_findings, reterr));
    CG_TRY(extract_run(self->eval, &extract, &self->extraction, reterr));
    CG_TRY(makers_run(self->eval, &self->functions, &extract, &self->extraction, reterr));
    CG_TRY(extract_close(self->eval, &extract, &self->extraction, reterr));
    if (computes)
        CG_TRY(compute_rest(&self->compute, &self->extraction, reterr));
    CG_TRY(assemble_structure(&self->extraction, &self->functions, &self->draft, reterr));
    if (computes)
        CG_TRY(compute_report(&self->compute, &self->extraction, reterr));
    CG_TRY(drivers_run(self->eval, &self->functions, &self->drivers, reterr));
    if (computes)
        CG_TRY(compute_kernels(&self->compute, &self->drivers, is_cpu_only(self->cargo), reterr));
    CG_TRY(inference_settle(&self->program, &self->draft, reterr));
    CG_TRY(wiring_sites(&self->extraction, &self->drivers, &self->functions, &self->draft, reterr));
    CG_TRY(training_check(self->eval, &self->drivers, &self->functions, &self->draft, reterr));
    if (options->is_heuristic)
        CG_TRY(add_guesses(self, reterr));
    CG_TRY(fill_cargo(self, reterr)); /* all files that are read have been */
    CG_TRY(assemble_context(&self->program, &self->draft, reterr));
    CG_TRY(add_notice(self, options, reterr));
    return model_finish(&self->draft, &self->document, reterr);
}

cg_code scan_open(const cg_env *env, cg_str path, const scan_options *options, scan **ret,
                  cg_err *reterr)
{
    heap first;
    scan *self;
    cg_code code;

    heap_init(&first, env);
    self = heap_resize(&first, NULL, 0, sizeof *self);
    if (!self)
        return err_nomem(reterr);
    memset(self, 0, sizeof *self);
    self->heap = first;
    model_draft_init(&self->draft, &self->heap);
    code = run(self, env, path, options, reterr);
    if (code == CG_OK && self->heap.is_short)
        code = err_nomem(reterr);
    if (code != CG_OK) {
        scan_free(self);
        return code;
    }
    *ret = self;
    return CG_OK;
}

void scan_free(scan *self)
{
    if (!self)
        return;
    model_free(&self->document);
    if (self->drivers.heap)
        drivers_free(&self->drivers);
    compute_free(&self->compute);
    functions_free(&self->functions);
    model_draft_free(&self->draft);
    if (self->extraction.heap)
        extraction_free(&self->extraction);
    eval_free(self->eval);
    if (self->has_exprs)
        expr_pool_free(&self->exprs);
    types_free(self->types);
    if (self->has_program)
        program_free(&self->program);
    if (!self->is_graph_lent)
        cargo_graph_free(self->cargo);
    heap_release(&self->heap, self, sizeof *self);
}

model_document *scan_document(scan *self)
{
    return &self->document;
}

const extraction *scan_extraction(const scan *self)
{
    return &self->extraction;
}

const program *scan_program(const scan *self)
{
    return &self->program;
}

const function_facts *scan_functions(const scan *self)
{
    return &self->functions;
}

const drivers *scan_drivers(const scan *self)
{
    return &self->drivers;
}

struct compute *scan_compute(scan *self)
{
    return &self->compute;
}
