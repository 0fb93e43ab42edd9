#include "model/singles.h"

#include "base/sort.h"
#include "model/doctor.h"
#include "model/rows.h"
#include "model/select.h"

#define SLOWEST_SHOWN 50

static bool add_drills(ask *self, sc_records *list, const uint8_t *kinds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!ask_drill_add(&self->mem, list, kinds[i], (cg_str){0}))
            return false;
    }
    return true;
}

static bool list_stages(ask *self, sc_records *ret)
{
    size_t count = self->doc->stages.count;
    ask_stage_brief *rows = arena_take(&self->mem, (count + 1) * sizeof *rows);

    if (rows == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        rows[i] = row_stage_brief(MODEL_AT(self->doc->stages, model_stage, i));
    *ret = (sc_records){rows, count};
    return true;
}

static bool list_artifacts(ask *self, sc_records *ret)
{
    size_t count = self->doc->artifacts.count;
    ask_named *rows = arena_take(&self->mem, (count + 1) * sizeof *rows);

    if (rows == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const model_artifact *artifact = MODEL_AT(self->doc->artifacts, model_artifact, i);

        rows[i] = (ask_named){artifact->id, artifact->name};
    }
    *ret = (sc_records){rows, count};
    return true;
}

static bool cargo_brief(ask *self, const void **ret)
{
    const model_cargo *cargo = self->doc->cargo;
    ask_cargo_brief *brief;

    if (cargo == NULL)
        return true;
    brief = arena_take(&self->mem, sizeof *brief);
    if (brief == NULL)
        return false;
    *brief = (ask_cargo_brief){.build_id = cargo->build_id,
                               .package = cargo->package_name,
                               .version = cargo->package_version,
                               .target = cargo->selected_target,
                               .active_features = cargo->active_features,
                               .candle_packages = cargo->candle_packages};
    *ret = brief;
    return true;
}

bool single_summary(ask *self, ask_item *ret)
{
    static const uint8_t next[] = {
        ASK_DRILL_ARCHITECTURE, ASK_DRILL_COMPOSITION, ASK_DRILL_COMPONENTS, ASK_DRILL_MODULES,
        ASK_DRILL_FUNCTIONS,    ASK_DRILL_ENTRYPOINTS, ASK_DRILL_TENSORS,    ASK_DRILL_FINDINGS,
        ASK_DRILL_CARGO,        ASK_DRILL_DOCTOR};
    size_t count = self->doc->components.count;
    ask_summary *row = arena_zero(&self->mem, sizeof *row);
    cg_str *names = arena_take(&self->mem, (count + 1) * sizeof *names);

    if (row == NULL || names == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        names[i] = MODEL_AT(self->doc->components, model_component, i)->name;
    row->id = ASK_SINGLE_SUMMARY;
    row->schema = self->doc->schema;
    row->analysis_id = self->doc->analysis_id;
    row->coverage = self->doc->coverage;
    row->components = (sc_strs){names, count};
    row->runtime = self->doc->runtime;
    *ret = (ask_item){&table_ask_summary, row};
    return cargo_brief(self, &row->cargo) && list_stages(self, &row->pipeline) &&
           doctor_count_severities(self, &row->finding_counts) &&
           add_drills(self, &row->drill_down, next, sizeof next);
}

static bool list_components(ask *self, sc_records *ret)
{
    size_t count = self->doc->components.count;
    ask_component_brief *rows = arena_zero(&self->mem, (count + 1) * sizeof *rows);

    if (rows == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const model_component *component = MODEL_AT(self->doc->components, model_component, i);

        rows[i] = (ask_component_brief){.id = component->id,
                                        .name = component->name,
                                        .qualified_name = component->qualified_name,
                                        .source = component->source,
                                        .modules = component->modules.count,
                                        .parameters = component->parameters.count,
                                        .entrypoints = component->entrypoints.count};
        if (!ask_drill_add(&self->mem, &rows[i].drill_down, ASK_DRILL_COMPONENT,
                           component->qualified_name))
            return false;
    }
    *ret = (sc_records){rows, count};
    return true;
}

static bool list_edges(ask *self, sc_records *ret)
{
    size_t count = self->doc->architecture_edges.count;
    ask_edge_brief *rows = arena_take(&self->mem, (count + 1) * sizeof *rows);

    if (rows == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const model_edge *edge = MODEL_AT(self->doc->architecture_edges, model_edge, i);

        rows[i] = (ask_edge_brief){.id = edge->id,
                                   .from = edge->from,
                                   .to = edge->to,
                                   .via_function = edge->via_function,
                                   .kind = ask_is_composition(edge) ? ASK_EDGE_KIND_COMPOSITION
                                                                    : ASK_EDGE_KIND_CALL_FLOW};
    }
    *ret = (sc_records){rows, count};
    return true;
}

static bool list_stage_names(ask *self, sc_records *ret)
{
    size_t count = self->doc->stages.count;
    ask_stage_name *rows = arena_take(&self->mem, (count + 1) * sizeof *rows);

    if (rows == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const model_stage *stage = MODEL_AT(self->doc->stages, model_stage, i);

        rows[i] = (ask_stage_name){stage->id, stage->name, stage->kind, stage->order};
    }
    *ret = (sc_records){rows, count};
    return true;
}

bool single_architecture(ask *self, ask_item *ret)
{
    static const uint8_t next[] = {ASK_DRILL_COMPONENTS, ASK_DRILL_COMPOSITION, ASK_DRILL_MODULES,
                                   ASK_DRILL_FUNCTIONS,  ASK_DRILL_TENSORS,     ASK_DRILL_FINDINGS};
    const model_coverage *coverage = self->doc->coverage;
    ask_architecture *row = arena_zero(&self->mem, sizeof *row);

    if (row == NULL)
        return false;
    row->id = ASK_SINGLE_ARCHITECTURE;
    row->composition_edges = coverage->composition_edges;
    row->entrypoints = coverage->entrypoints;
    *ret = (ask_item){&table_ask_architecture, row};
    return list_components(self, &row->components) && list_edges(self, &row->edges) &&
           list_stage_names(self, &row->stages) && list_artifacts(self, &row->artifacts) &&
           add_drills(self, &row->drill_down, next, sizeof next);
}

bool single_cargo(ask *self, ask_item *ret)
{
    static const uint8_t next[] = {ASK_DRILL_SUMMARY, ASK_DRILL_FUNCTIONS};
    ask_cargo *row = arena_zero(&self->mem, sizeof *row);

    if (row == NULL)
        return false;
    row->id = ASK_SINGLE_CARGO;
    row->context = self->doc->cargo;
    *ret = (ask_item){&table_ask_cargo, row};
    return add_drills(self, &row->drill_down, next, sizeof next);
}

bool single_pipeline(ask *self, ask_item *ret)
{
    static const uint8_t next[] = {ASK_DRILL_STAGES, ASK_DRILL_ARTIFACTS, ASK_DRILL_OPTIMIZERS};
    const model_coverage *coverage = self->doc->coverage;
    ask_pipeline *row = arena_zero(&self->mem, sizeof *row);

    if (row == NULL)
        return false;
    row->id = ASK_SINGLE_PIPELINE;
    row->subprocess_stages = coverage->subprocess_stages;
    row->optimizers = self->doc->optimizers.count;
    *ret = (ask_item){&table_ask_pipeline, row};
    return list_stages(self, &row->stages) && list_artifacts(self, &row->artifacts) &&
           add_drills(self, &row->drill_down, next, sizeof next);
}

bool single_runtime(ask *self, ask_item *ret)
{
    static const uint8_t next[] = {ASK_DRILL_TENSORS};
    ask_runtime *row = arena_zero(&self->mem, sizeof *row);

    if (row == NULL)
        return false;
    row->id = ASK_SINGLE_RUNTIME;
    row->summary = self->doc->runtime;
    for (size_t i = 0; i < self->doc->findings.count; i++)
        row->gradient_findings += str_starts_with(
            MODEL_AT(self->doc->findings, model_finding, i)->rule, CG_LIT("runtime-"));
    *ret = (ask_item){&table_ask_runtime, row};
    return ask_drill_add(&self->mem, &row->drill_down, ASK_DRILL_FINDINGS, CG_LIT("runtime-")) &&
           add_drills(self, &row->drill_down, next, sizeof next);
}

/* --- profile --- */

static const model_timing *timing_at(const ask *self, size_t index)
{
    return MODEL_AT(self->doc->operations, model_operation, index)->timing;
}

static bool slower(const void *context, uint32_t a, uint32_t b)
{
    const ask *self = context;

    return timing_at(self, a)->avg_ns > timing_at(self, b)->avg_ns;
}

static bool list_slowest(ask *self, sc_records *ret)
{
    size_t all = self->doc->operations.count;
    uint32_t *items = arena_take(&self->mem, (2 * all + 1) * sizeof *items);
    ask_slow *rows = arena_take(&self->mem, SLOWEST_SHOWN * sizeof *rows);
    size_t count = 0;

    if (items == NULL || rows == NULL)
        return false;
    for (size_t i = 0; i < all; i++) {
        if (timing_at(self, i) != NULL)
            items[count++] = (uint32_t)i;
    }
    sort_with(items, items + all, count, slower, self);
    count = count < SLOWEST_SHOWN ? count : SLOWEST_SHOWN;
    for (size_t i = 0; i < count; i++) {
        const model_operation *operation =
            MODEL_AT(self->doc->operations, model_operation, items[i]);

        rows[i] = (ask_slow){.id = operation->id,
                             .name = operation->name,
                             .phase = operation->execution_phase,
                             .timing = operation->timing};
    }
    *ret = (sc_records){rows, count};
    return true;
}

bool single_profile(ask *self, ask_item *ret)
{
    static const uint8_t next[] = {ASK_DRILL_GRAPH_TRAIN, ASK_DRILL_GRAPH_INFER, ASK_DRILL_RUNTIME};
    ask_profile *row = arena_zero(&self->mem, sizeof *row);

    if (row == NULL)
        return false;
    row->id = ASK_SINGLE_PROFILE;
    row->runtime = self->doc->runtime;
    *ret = (ask_item){&table_ask_profile, row};
    return list_slowest(self, &row->slowest) &&
           add_drills(self, &row->drill_down, next, sizeof next);
}

/* --- the graph of a phase --- */

typedef struct graph_list {
    const ask *from;
    uint32_t *at;
    size_t count;
    size_t shown;
} graph_list;

static void emit_tensors(jsonw *out, const void *context)
{
    const graph_list *list = context;

    jw_array(out);
    for (size_t i = 0; i < list->shown; i++) {
        const model_tensor *tensor = MODEL_AT(list->from->doc->tensors, model_tensor, list->at[i]);
        ask_graph_tensor row = {tensor->id,
                                tensor->name,
                                tensor->role,
                                tensor->requires_grad,
                                tensor->owner_function,
                                tensor->one_of};

        sc_write(out, &table_ask_graph_tensor, &row);
    }
    jw_end(out);
}

static void emit_operations(jsonw *out, const void *context)
{
    const graph_list *list = context;

    jw_array(out);
    for (size_t i = 0; i < list->shown; i++) {
        const model_operation *operation =
            MODEL_AT(list->from->doc->operations, model_operation, list->at[i]);
        ask_graph_operation row = {operation->id,     operation->name,   operation->function,
                                   operation->inputs, operation->output, operation->timing};

        sc_write(out, &table_ask_graph_operation, &row);
    }
    jw_end(out);
}

/* For every function: is it one the selector means? NULL: all are. */
static bool mark_functions(ask *self, cg_str selector, bool **ret)
{
    ask_picks picks;
    bool *marks;

    *ret = NULL;
    if (selector.ptr == NULL)
        return true;
    marks = arena_zero(&self->mem, self->doc->functions.count + 1);
    if (marks == NULL || select_records(self, ASK_KIND_FUNCTIONS, selector, &picks, NULL) != CG_OK)
        return false;
    for (size_t i = 0; i < picks.count; i++)
        marks[picks.at[i]] = true;
    *ret = marks;
    return true;
}

static bool is_marked(const ask *self, const bool *marks, cg_str function)
{
    size_t at;

    if (marks == NULL)
        return true;
    at = index_find(&self->functions, function);
    return at != INDEX_NONE && marks[at];
}

static graph_list *new_list(ask *self, size_t most)
{
    graph_list *list = arena_zero(&self->mem, sizeof *list);

    if (list == NULL)
        return NULL;
    list->from = self;
    list->at = arena_take(&self->mem, (most + 1) * sizeof *list->at);
    return list->at != NULL ? list : NULL;
}

static void bound(graph_list *list, uint64_t limit)
{
    list->shown = limit == 0 || limit > list->count ? list->count : (size_t)limit;
}

static opt_bool is_cut(const graph_list *list, uint64_t limit)
{
    if (limit == 0)
        return BOOL_UNKNOWN;
    return list->shown < list->count ? BOOL_TRUE : BOOL_FALSE;
}

bool single_graph(ask *self, uint8_t phase, cg_str selector, uint64_t limit, ask_item *ret)
{
    static const uint8_t next[] = {ASK_DRILL_TENSORS, ASK_DRILL_OPERATIONS, ASK_DRILL_PROFILE};
    const model_doc *doc = self->doc;
    ask_graph *row = arena_zero(&self->mem, sizeof *row);
    graph_list *tensors = new_list(self, doc->tensors.count);
    graph_list *operations = new_list(self, doc->operations.count);
    bool *marks;

    if (row == NULL || tensors == NULL || operations == NULL ||
        !mark_functions(self, selector, &marks))
        return false;
    for (size_t i = 0; i < doc->tensors.count; i++) {
        const model_tensor *tensor = MODEL_AT(doc->tensors, model_tensor, i);

        if (tensor->execution_phase == phase && is_marked(self, marks, tensor->owner_function))
            tensors->at[tensors->count++] = (uint32_t)i;
    }
    for (size_t i = 0; i < doc->operations.count; i++) {
        const model_operation *operation = MODEL_AT(doc->operations, model_operation, i);

        if (operation->execution_phase == phase && is_marked(self, marks, operation->function))
            operations->at[operations->count++] = (uint32_t)i;
    }
    bound(tensors, limit);
    bound(operations, limit);
    *row = (ask_graph){.id = phase == MODEL_PHASE_TRAIN ? ASK_SINGLE_GRAPH_TRAIN
                                                        : ASK_SINGLE_GRAPH_INFER,
                       .phase = phase,
                       .tensor_count = tensors->count,
                       .operation_count = operations->count,
                       .tensors = {emit_tensors, tensors},
                       .operations = {emit_operations, operations},
                       .is_tensors_cut = is_cut(tensors, limit),
                       .is_operations_cut = is_cut(operations, limit)};
    *ret = (ask_item){&table_ask_graph, row};
    return add_drills(self, &row->drill_down, next, sizeof next);
}
