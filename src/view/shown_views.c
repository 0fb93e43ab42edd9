#include "view/shown_views.h"

#include <inttypes.h>
#include <stdio.h>

#include "view/shown_flow.h"

static void emit_checkpoint_shape(jsonw *out, const void *context)
{
    const sc_u64s *shape = context;
    char axis[24];

    jw_array(out);
    for (size_t i = 0; i < shape->count; i++) {
        int len = snprintf(axis, sizeof axis, "%" PRIu64, shape->at[i]);

        jw_str(out, (cg_str){axis, len > 0 ? (size_t)len : 0});
    }
    jw_end(out);
}

/* --- structure --- */

static const model_module *module_at(const shown_work *self, size_t index)
{
    return MODEL_AT(shown_doc(self)->modules, model_module, index);
}

static const model_component *component_at(const shown_work *self, size_t index)
{
    return MODEL_AT(shown_doc(self)->components, model_component, index);
}

static void emit_modules(jsonw *out, const void *context)
{
    shown_work *self = (shown_work *)(uintptr_t)context;

    jw_array(out);
    for (size_t i = 0; i < shown_doc(self)->modules.count && out->code == CG_OK; i++) {
        const model_module *row = module_at(self, i);
        uint32_t component = self->links->module_components[i];

        if (!choice_has(self->choice->modules, i))
            continue;
        sc_write(out, &table_shown_module,
                 &(doc_shown_module){
                     .id = row->id,
                     .component = component == LINK_NONE ? row->component
                                                         : component_at(self, component)->name,
                     .parent = row->parent,
                     .type_name = row->type_name,
                     .field = row->field,
                     .builder_root = row->builder_root,
                     .prefix = row->prefix,
                     .repeat = row->repeat,
                     .source = row->source,
                     .confidence = row->confidence,
                     .component_id = row->component,
                 });
    }
    jw_end(out);
}

static uint8_t parameter_gradient(const model_parameter *row)
{
    switch (row->role) {
    case MODEL_PARAMETER_ROLE_OPTIMIZED: return SHOWN_GRAD_STATE_TRAINABLE;
    case MODEL_PARAMETER_ROLE_FROZEN:
    case MODEL_PARAMETER_ROLE_EXCLUDED: return SHOWN_GRAD_STATE_FROZEN;
    case MODEL_PARAMETER_ROLE_RUNNING_STATE: return SHOWN_GRAD_STATE_LAYOUT_DEPENDENT;
    default: return SHOWN_GRAD_STATE_UNKNOWN;
    }
}

static void emit_parameters(jsonw *out, const void *context)
{
    shown_work *self = (shown_work *)(uintptr_t)context;

    jw_array(out);
    for (size_t i = 0; i < shown_doc(self)->parameters.count && out->code == CG_OK; i++) {
        const model_parameter *row = MODEL_AT(shown_doc(self)->parameters, model_parameter, i);
        uint32_t module = self->links->parameter_modules[i];
        sc_stream shape = {shown_no_shape, NULL};

        if (!choice_has(self->choice->parameters, i))
            continue;
        /* A scalar has a shape too: no axes. */
        if (row->checkpoint_dtype.ptr != NULL || row->checkpoint_shape.count > 0)
            shape = (sc_stream){emit_checkpoint_shape, &row->checkpoint_shape};
        sc_write(
            out, &table_shown_parameter,
            &(doc_shown_parameter){
                .id = row->id,
                .label = row->key,
                .short_label = shown_behind_dot(row->key),
                .key = row->key,
                .kind = SHOWN_NODE_KIND_PARAMETER,
                .builder_root = row->builder_root,
                .role = row->role,
                .param_kind = row->kind,
                .symbolic_shape = row->symbolic_shape,
                .module_id = row->module,
                .module_prefix = module == LINK_NONE ? CG_LIT("") : module_at(self, module)->prefix,
                .source = row->source,
                .grad_state = parameter_gradient(row),
                .dtype = row->checkpoint_dtype,
                .shape = shape,
                .certainty = row->certainty,
                .condition = row->condition,
            });
    }
    jw_end(out);
}

/* --- architecture --- */

static void write_component(jsonw *out, const model_component *row)
{
    sc_write(out, &table_shown_component_node,
             &(doc_shown_component_node){
                 .id = row->id,
                 .label = row->name,
                 .short_label = row->name,
                 .qualified_name = row->qualified_name,
                 .source = row->source,
                 .kind = SHOWN_NODE_KIND_COMPONENT,
                 .modules = row->modules.count,
                 .parameters = row->parameters.count,
                 .is_nested = row->is_nested,
             });
}

/* `field: Type` */
static cg_str module_label(shown_work *self, const model_module *row)
{
    if (row->field.len == 0)
        return row->type_name;
    buf_clear(&self->text);
    buf_add(&self->text, row->field);
    buf_add(&self->text, CG_LIT(": "));
    buf_add(&self->text, row->type_name);
    return shown_text(self, &self->text);
}

static void write_module_node(jsonw *out, shown_work *self, size_t index)
{
    const model_module *row = module_at(self, index);

    sc_write(
        out, &table_shown_module_node,
        &(doc_shown_module_node){
            .id = row->id,
            .label = module_label(self, row),
            .short_label = row->field.len > 0 ? row->field : shown_last_segments(row->type_name, 1),
            .qualified_name = row->qualified_type,
            .type_name = row->type_name,
            .field = row->field,
            .source = row->source,
            .kind = SHOWN_NODE_KIND_MODULE,
            .builder_root = row->builder_root,
            .parameters = self->links->module_parameters[index],
            .confidence = row->confidence,
        });
}

static void emit_architecture_nodes(jsonw *out, const void *context)
{
    shown_work *self = (shown_work *)(uintptr_t)context;

    jw_array(out);
    for (size_t i = 0; i < shown_doc(self)->components.count && out->code == CG_OK; i++) {
        if (choice_has(self->choice->components, i))
            write_component(out, component_at(self, i));
    }
    for (size_t i = 0; i < shown_doc(self)->modules.count && out->code == CG_OK; i++) {
        if (choice_has(self->choice->modules, i))
            write_module_node(out, self, i);
    }
    jw_end(out);
}

/* An edge between components: its own id, and the names of both. */
static void describe_edge(shown_work *self, const model_link *link,
                          doc_shown_architecture_edge *ret)
{
    const model_edge *edge = link->edge;
    cg_str from = link->from == LINK_NONE ? edge->from : component_at(self, link->from)->name;
    cg_str to = link->to == LINK_NONE ? edge->to : component_at(self, link->to)->name;
    uint8_t confidence = MODEL_CONFIDENCE_UNKNOWN;

    if (edge->evidence.count > 0)
        confidence = MODEL_AT(edge->evidence, model_evidence, 0)->confidence;
    buf_clear(&self->text);
    buf_add(&self->text, from);
    buf_add(&self->text, CG_LIT(" \xe2\x86\x92 "));
    buf_add(&self->text, to);
    *ret = (doc_shown_architecture_edge){
        .id = edge->id,
        .from = edge->from,
        .to = edge->to,
        .label = shown_text(self, &self->text),
        .kind =
            str_starts_with(edge->id, sc_word(&words_model_id_kind, MODEL_ID_KIND_COMPOSITION_EDGE))
                ? SHOWN_EDGE_KIND_COMPOSITION
                : SHOWN_EDGE_KIND_CALL_FLOW,
        .source = edge->source,
        .via_function = edge->via_function,
        .confidence = sc_word(&words_shown_confidence, confidence),
    };
}

/* From a module to one in it, or from the component to its root. */
static void describe_child(shown_work *self, const model_link *link,
                           doc_shown_architecture_edge *ret)
{
    const model_module *to = module_at(self, link->to);
    cg_str from = link->is_root ? component_at(self, link->from)->id : to->parent;

    buf_clear(&self->text);
    buf_add(&self->text, link->is_root ? CG_LIT("component-edge:") : CG_LIT("module-edge:"));
    buf_add(&self->text, from);
    buf_byte(&self->text, ':');
    buf_add(&self->text, to->id);
    *ret = (doc_shown_architecture_edge){
        .id = shown_text(self, &self->text),
        .from = from,
        .to = to->id,
        .label = link->is_root       ? CG_LIT(SHOWN_LABEL_ROOT)
                 : to->field.len > 0 ? to->field
                                     : CG_LIT(SHOWN_LABEL_CHILD),
        .kind = SHOWN_EDGE_KIND_COMPOSITION,
        .source = to->source,
    };
}

static void emit_architecture_edges(jsonw *out, const void *context)
{
    shown_work *self = (shown_work *)(uintptr_t)context;
    uint64_t left = self->choice->displayed[SHOWN_LIST_EDGES];
    size_t count = model_architecture_edges(self->links);

    jw_array(out);
    for (size_t i = 0; i < count && left > 0 && out->code == CG_OK; i++) {
        doc_shown_architecture_edge row;
        model_link link;

        if (!model_architecture_edge(self->links, self->choice, i, &link))
            continue;
        if (link.edge != NULL)
            describe_edge(self, &link, &row);
        else
            describe_child(self, &link, &row);
        sc_write(out, &table_shown_architecture_edge, &row);
        left--;
    }
    jw_end(out);
}

/* --- pipeline --- */

static const model_stage *stage_at(const shown_work *self, size_t index)
{
    return MODEL_AT(shown_doc(self)->stages, model_stage, index);
}

static void emit_stages(jsonw *out, const void *context)
{
    shown_work *self = (shown_work *)(uintptr_t)context;
    size_t count = choice_rows(self->choice, shown_doc(self)->stages.count);

    jw_array(out);
    for (size_t i = 0; i < count && out->code == CG_OK; i++) {
        const model_stage *row = stage_at(self, i);

        sc_write(out, &table_shown_stage,
                 &(doc_shown_stage){
                     .id = row->id,
                     .label = row->name,
                     .kind = SHOWN_NODE_KIND_STAGE,
                     .stage_kind = row->kind,
                     .order = row->order,
                     .source = row->source,
                     .dispatch = row->dispatch,
                     .subprocess_key = row->subprocess_key,
                 });
    }
    jw_end(out);
}

static void write_stage_edge(jsonw *out, shown_work *self, cg_str from, cg_str to, uint8_t kind)
{
    buf_clear(&self->text);
    buf_add(&self->text, sc_word(&words_shown_edge_kind, kind));
    buf_byte(&self->text, ':');
    buf_add(&self->text, from);
    buf_byte(&self->text, ':');
    buf_add(&self->text, to);
    sc_write(out, &table_shown_stage_edge,
             &(doc_shown_stage_edge){shown_text(self, &self->text), from, to, kind});
}

static void emit_stage_edges(jsonw *out, const void *context)
{
    shown_work *self = (shown_work *)(uintptr_t)context;
    size_t count = choice_rows(self->choice, shown_doc(self)->stages.count);
    uint64_t left = self->choice->displayed[SHOWN_LIST_STAGE_EDGES];

    jw_array(out);
    for (size_t i = 0; i < count && out->code == CG_OK; i++) {
        const model_stage *row = stage_at(self, i);

        for (size_t k = 0; k < row->depends_on.count && left > 0; k++, left--)
            write_stage_edge(out, self, row->depends_on.at[k], row->id, SHOWN_EDGE_KIND_DEPENDS_ON);
        if (left > 0 && i + 1 < count && model_stage_follows(shown_doc(self), i)) {
            write_stage_edge(out, self, row->id, stage_at(self, i + 1)->id,
                             SHOWN_EDGE_KIND_SEQUENCE);
            left--;
        }
    }
    jw_end(out);
}

/* --- findings --- */

static uint8_t view_for(cg_str rule)
{
    static const struct {
        cg_str part;
        uint8_t view;
    } rows[] = {
#define X(part, view) {{part, sizeof(part) - 1}, SHOWN_VIEW_##view},
        SHOWN_VIEW_RULES(X)
#undef X
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (str_find(rule, rows[i].part) != SIZE_MAX)
            return rows[i].view;
    }
    return SHOWN_VIEW_ARCHITECTURE;
}

static void emit_findings(jsonw *out, const void *context)
{
    shown_work *self = (shown_work *)(uintptr_t)context;

    jw_array(out);
    for (size_t i = 0; i < shown_doc(self)->findings.count && out->code == CG_OK; i++) {
        const model_finding *row = MODEL_AT(shown_doc(self)->findings, model_finding, i);

        if (!choice_has(self->choice->findings, i))
            continue;
        sc_write(out, &table_shown_finding,
                 &(doc_shown_finding){
                     .id = row->id,
                     .rule = row->rule,
                     .severity = row->severity,
                     .confidence = row->confidence,
                     .message = row->message,
                     .source = row->source,
                     .related = {row->related.at, choice_rows(self->choice, row->related.count)},
                     .suggested_view = view_for(row->rule),
                     .function = row->function,
                     .location = row->location,
                     .help = row->help,
                 });
    }
    jw_end(out);
}

static void emit_diagnostics(jsonw *out, const void *context)
{
    shown_work *self = (shown_work *)(uintptr_t)context;

    jw_array(out);
    for (size_t i = 0; i < shown_doc(self)->findings.count && out->code == CG_OK; i++) {
        const model_finding *row = MODEL_AT(shown_doc(self)->findings, model_finding, i);

        if (row->severity != MODEL_FINDING_SEVERITY_INFORMATION &&
            choice_has(self->choice->findings, i))
            sc_write(out, &table_shown_diagnostic,
                     &(doc_shown_diagnostic){row->source, row->message, row->rule, row->severity});
    }
    jw_end(out);
}

/* --- summary --- */

static void emit_entrypoints(jsonw *out, const void *context)
{
    shown_work *self = (shown_work *)(uintptr_t)context;
    uint64_t left = self->choice->displayed[SHOWN_LIST_ENTRYPOINTS];

    jw_array(out);
    for (size_t i = 0; i < shown_doc(self)->functions.count && left > 0; i++) {
        const model_function *row = MODEL_AT(shown_doc(self)->functions, model_function, i);

        if (row->is_entrypoint) {
            jw_str(out, row->qualified_name);
            left--;
        }
    }
    jw_end(out);
}

/* The package, else the only model. */
static cg_str model_name(const shown_work *self)
{
    const model_cargo *cargo = shown_doc(self)->cargo;

    if (cargo != NULL)
        return cargo->package_name;
    return shown_doc(self)->components.count == 1 ? component_at(self, 0)->name : CG_LIT("model");
}

/* How many of each severity there are, bytewise by word, those that there are. */
static size_t count_severities(const model_doc *doc, sc_count ret[])
{
    uint64_t counts[MODEL_FINDING_SEVERITY_COUNT] = {0};
    static const uint8_t order[] = {MODEL_FINDING_SEVERITY_ERROR,
                                    MODEL_FINDING_SEVERITY_INFORMATION,
                                    MODEL_FINDING_SEVERITY_WARNING};
    size_t count = 0;

    for (size_t i = 0; i < doc->findings.count; i++)
        counts[MODEL_AT(doc->findings, model_finding, i)->severity]++;
    for (size_t i = 0; i < sizeof order; i++) {
        if (counts[order[i]] > 0)
            ret[count++] =
                (sc_count){sc_word(&words_shown_finding_severity, order[i]), counts[order[i]]};
    }
    return count;
}

static uint64_t count_trainable(const model_doc *doc)
{
    uint64_t count = 0;

    for (size_t i = 0; i < doc->parameters.count; i++)
        count +=
            MODEL_AT(doc->parameters, model_parameter, i)->role == MODEL_PARAMETER_ROLE_OPTIMIZED;
    return count;
}

static doc_shown_extent extent(const shown_work *self, enum shown_list nodes, enum shown_list edges,
                               opt_u64 functions, enum shown_view view)
{
    const uint64_t *totals = self->links->totals;

    return (doc_shown_extent){totals[nodes], totals[edges], functions, shown_view_meaning(view)};
}

/* --- checkpoint, runtime --- */

static void cut_list(const model_choice *choice, sc_strs *list)
{
    list->count = choice_rows(choice, list->count);
}

/* The report of all that was compared, every list of it cut; NULL: no memory. */
static const doc_checkpoint *describe_checkpoint(shown_work *self)
{
    const model_choice *choice = self->choice;
    doc_checkpoint *cut = arena_take(self->mem, sizeof *cut);
    doc_diagnosis *rows;

    if (cut == NULL)
        return NULL;
    *cut = *self->links->checkpoint;
    cut->components = (sc_records){0};
    if (choice->rows == SIZE_MAX)
        return cut;
    cut_list(choice, &cut->missing_certain);
    cut_list(choice, &cut->missing_conditional);
    cut_list(choice, &cut->unclaimed);
    cut->templates.count = choice_rows(choice, cut->templates.count);
    cut->shape_mismatches.count = choice_rows(choice, cut->shape_mismatches.count);
    cut->shards.count = choice_rows(choice, cut->shards.count);
    cut->index_differences.count = choice_rows(choice, cut->index_differences.count);
    cut->diagnosis.count = choice_rows(choice, cut->diagnosis.count);
    rows = arena_take(self->mem, (cut->diagnosis.count + 1) * sizeof *rows);
    if (rows == NULL)
        return NULL;
    for (size_t i = 0; i < cut->diagnosis.count; i++) {
        rows[i] = *MODEL_AT(cut->diagnosis, doc_diagnosis, i);
        cut_list(choice, &rows[i].keys);
        cut_list(choice, &rows[i].file_keys);
        cut_list(choice, &rows[i].model_modules);
        cut_list(choice, &rows[i].file_modules);
        rows[i].key_map.count = choice_rows(choice, rows[i].key_map.count);
    }
    cut->diagnosis.at = rows;
    return cut;
}

static const model_runtime *describe_runtime(shown_work *self, model_runtime *room)
{
    const model_runtime *runtime = shown_doc(self)->runtime;

    if (runtime == NULL)
        return NULL;
    *room = *runtime;
    room->edge_timings.count = choice_rows(self->choice, room->edge_timings.count);
    return room;
}

/* --- the document --- */

/* What was cut, when this is an overview. */
typedef struct cuts {
    doc_shown_cut at[SHOWN_LIST_COUNT];
    doc_shown_bounds bounds;
} cuts;

static const doc_shown_bounds *describe_cuts(const shown_work *self, cuts *ret)
{
    const model_choice *choice = self->choice;
    size_t count = 0;

    if (choice->rows == SIZE_MAX && choice->flow_rows == SIZE_MAX)
        return NULL;
    for (unsigned i = 0; i < SHOWN_LIST_COUNT; i++) {
        if (choice->displayed[i] < self->links->totals[i])
            ret->at[count++] = (doc_shown_cut){shown_list_path((enum shown_list)i),
                                               self->links->totals[i], choice->displayed[i]};
    }
    ret->bounds = (doc_shown_bounds){self->ceiling, {ret->at, count}};
    return &ret->bounds;
}

static void write_views(shown_work *self, doc_shown *shown)
{
    flow_part train_part = {self, &self->links->flows[FLOW_TRAIN]};
    flow_part infer_part = {self, &self->links->flows[FLOW_INFER]};
    doc_shown_structure structure = {{emit_modules, self}, {emit_parameters, self}};
    doc_shown_graph architecture = {{emit_architecture_nodes, self},
                                    {emit_architecture_edges, self}};
    doc_shown_graph pipeline = {{emit_stages, self}, {emit_stage_edges, self}};
    doc_shown_findings findings = {{emit_findings, self}};
    doc_shown_flow train = shown_flow_of(&train_part);
    doc_shown_flow infer = shown_flow_of(&infer_part);
    doc_shown_pages views = {&structure, &architecture, &train, &infer, &pipeline, &findings};

    shown->views = &views;
    sc_write(&self->out, &table_shown, shown);
}

static void write_summary(shown_work *self, doc_shown *shown)
{
    const model_doc *doc = shown_doc(self);
    const model_flow *flows = self->links->flows;
    opt_u64 none = {0};
    doc_shown_extent architecture =
        extent(self, SHOWN_LIST_NODES, SHOWN_LIST_EDGES, none, SHOWN_VIEW_ARCHITECTURE);
    doc_shown_extent train =
        extent(self, SHOWN_LIST_TRAIN_NODES, SHOWN_LIST_TRAIN_EDGES,
               (opt_u64){flows[FLOW_TRAIN].function_count, true}, SHOWN_VIEW_TRAIN);
    doc_shown_extent infer =
        extent(self, SHOWN_LIST_INFER_NODES, SHOWN_LIST_INFER_EDGES,
               (opt_u64){flows[FLOW_INFER].function_count, true}, SHOWN_VIEW_INFER);
    doc_shown_extent pipeline =
        extent(self, SHOWN_LIST_STAGES, SHOWN_LIST_STAGE_EDGES, none, SHOWN_VIEW_PIPELINE);
    doc_shown_extents extents = {&architecture, &train, &infer, &pipeline};
    sc_count severities[MODEL_FINDING_SEVERITY_COUNT];
    doc_shown_summary summary = {
        .model_name = model_name(self),
        .entrypoints = {emit_entrypoints, self},
        .trainable_parameters = count_trainable(doc),
        .total_parameters = doc->parameters.count,
        .findings = {severities, count_severities(doc, severities)},
        .views = &extents,
    };

    shown->summary = &summary;
    write_views(self, shown);
}

void shown_write(shown_work *self)
{
    const model_doc *doc = shown_doc(self);
    const model_cargo *cargo = doc->cargo;
    doc_shown_agent agent = {CG_LIT(SHOWN_PURPOSE), CG_LIT(SHOWN_SCHEMA), shown_views_meant,
                             shown_grad_states_meant, shown_node_kinds_meant};
    doc_shown_cargo crate = {0};
    model_runtime runtime;
    cuts cut;
    doc_shown shown = {
        .schema = CG_LIT(SHOWN_SCHEMA),
        .analysis_id = doc->analysis_id,
        .coverage = doc->coverage,
        .runtime = describe_runtime(self, &runtime),
        .agent_context = &agent,
        .diagnostics = {emit_diagnostics, self},
        .bounds = describe_cuts(self, &cut),
    };

    if (cargo != NULL) {
        crate = (doc_shown_cargo){cargo->package_version, cargo->selected_target,
                                  cargo->active_features, cargo->candle_packages};
        shown.package = cargo->package_name;
        shown.cargo = &crate;
    }
    if (self->links->checkpoint != NULL) {
        shown.checkpoint = describe_checkpoint(self);
        if (shown.checkpoint == NULL)
            self->out.code = CG_NOMEM;
    }
    if (self->out.code == CG_OK)
        write_summary(self, &shown);
}
