#include "view/model_payload.h"

#include <inttypes.h>
#include <stdio.h>

#include "codec/escape.h"
#include "model/coverage.h"
#include "schema/viewer_static_schema.h"
#include "view/model_choice.h"

/* Rows of a list in the first attempt at an overview; each further one has three quarters. */
#define FIRST_ROWS ((size_t)65536)
/* What an overview leaves for data flow, if the rest needs that much. */
#define STRUCTURE_BYTES (MODEL_PAYLOAD_BYTES / 8 * 7)

typedef struct island {
    jsonw out;
    const model_links *links;
    const model_choice *choice;
    arena *mem;
    buf text; /* room for the record at hand */
} island;

/* A list of one phase, or any other part: the context of an emitting function. */
typedef struct flow_part {
    island *of;
    const model_flow *flow;
} flow_part;

static const model_doc *doc_of(const island *self)
{
    return self->links->doc;
}

static cg_str texted(island *self, const buf *from)
{
    if (from->failed && self->out.code == CG_OK)
        self->out.code = CG_NOMEM;
    return buf_text(from);
}

/* --- labels --- */

static cg_str behind(cg_str text, size_t at)
{
    return at >= text.len ? text : (cg_str){text.ptr + at, text.len - at};
}

static cg_str behind_dot(cg_str text)
{
    size_t dot = str_find_last(text, '.');

    return dot == SIZE_MAX ? text : behind(text, dot + 1);
}

/* The last `count` segments of a path. */
static cg_str last_segments(cg_str path, unsigned count)
{
    for (size_t i = path.len; i >= 2; i--) {
        if (path.ptr[i - 1] != ':' || path.ptr[i - 2] != ':')
            continue;
        if (--count == 0)
            return behind(path, i);
        i--;
    }
    return path;
}

/* `result_of_Linear::forward` is `Linear`, `self.word_emb` is `word emb`. */
static cg_str short_tensor(island *self, cg_str name)
{
    static const char result[] = "result_of_";
    static const char forward[] = "::forward";

    if (str_starts_with(name, CG_LIT(result)))
        name = behind(name, sizeof result - 1);
    if (str_ends_with(name, CG_LIT(forward)) && name.len >= sizeof forward)
        name.len -= sizeof forward - 1;
    name = behind_dot(name);
    buf_clear(&self->text);
    for (size_t i = 0; i < name.len; i++)
        buf_byte(&self->text, name.ptr[i] == '_' ? ' ' : name.ptr[i]);
    return texted(self, &self->text);
}

/* --- shapes --- */

static void emit_no_shape(jsonw *out, const void *context)
{
    (void)context;
    jw_str(out, CG_LIT(SHOWN_NO_SHAPE));
}

/* Texts of the axes, else what is known of the rank or the source. */
static void emit_shape(jsonw *out, const void *context)
{
    const model_shape *shape = context;
    char rank[32];
    int len;

    if (shape->dimensions.count > 0) {
        jw_array(out);
        for (size_t i = 0; i < shape->dimensions.count; i++) {
            const model_dimension *axis = MODEL_AT(shape->dimensions, model_dimension, i);

            jw_str(out, axis->expr.len > 0 || axis->name.ptr == NULL ? axis->expr : axis->name);
        }
        jw_end(out);
    } else if (shape->rank.is_set) {
        len = snprintf(rank, sizeof rank, "rank %" PRIu64, shape->rank.value);
        jw_str(out, (cg_str){rank, len > 0 ? (size_t)len : 0});
    } else if (shape->source_expr.len > 0) {
        jw_str(out, shape->source_expr);
    } else {
        jw_str(out, CG_LIT(SHOWN_NO_SHAPE));
    }
}

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

static const model_module *module_at(const island *self, size_t index)
{
    return MODEL_AT(doc_of(self)->modules, model_module, index);
}

static const model_component *component_at(const island *self, size_t index)
{
    return MODEL_AT(doc_of(self)->components, model_component, index);
}

static void emit_modules(jsonw *out, const void *context)
{
    island *self = (island *)(uintptr_t)context;

    jw_array(out);
    for (size_t i = 0; i < doc_of(self)->modules.count && out->code == CG_OK; i++) {
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
    island *self = (island *)(uintptr_t)context;

    jw_array(out);
    for (size_t i = 0; i < doc_of(self)->parameters.count && out->code == CG_OK; i++) {
        const model_parameter *row = MODEL_AT(doc_of(self)->parameters, model_parameter, i);
        uint32_t module = self->links->parameter_modules[i];
        sc_stream shape = {emit_no_shape, NULL};

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
                .short_label = behind_dot(row->key),
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
static cg_str module_label(island *self, const model_module *row)
{
    if (row->field.len == 0)
        return row->type_name;
    buf_clear(&self->text);
    buf_add(&self->text, row->field);
    buf_add(&self->text, CG_LIT(": "));
    buf_add(&self->text, row->type_name);
    return texted(self, &self->text);
}

static void write_module_node(jsonw *out, island *self, size_t index)
{
    const model_module *row = module_at(self, index);

    sc_write(out, &table_shown_module_node,
             &(doc_shown_module_node){
                 .id = row->id,
                 .label = module_label(self, row),
                 .short_label = row->field.len > 0 ? row->field : last_segments(row->type_name, 1),
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
    island *self = (island *)(uintptr_t)context;

    jw_array(out);
    for (size_t i = 0; i < doc_of(self)->components.count && out->code == CG_OK; i++) {
        if (choice_has(self->choice->components, i))
            write_component(out, component_at(self, i));
    }
    for (size_t i = 0; i < doc_of(self)->modules.count && out->code == CG_OK; i++) {
        if (choice_has(self->choice->modules, i))
            write_module_node(out, self, i);
    }
    jw_end(out);
}

/* An edge between components: its own id, and the names of both. */
static void describe_edge(island *self, const model_link *link, doc_shown_architecture_edge *ret)
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
        .label = texted(self, &self->text),
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
static void describe_child(island *self, const model_link *link, doc_shown_architecture_edge *ret)
{
    const model_module *to = module_at(self, link->to);
    cg_str from = link->is_root ? component_at(self, link->from)->id : to->parent;

    buf_clear(&self->text);
    buf_add(&self->text, link->is_root ? CG_LIT("component-edge:") : CG_LIT("module-edge:"));
    buf_add(&self->text, from);
    buf_byte(&self->text, ':');
    buf_add(&self->text, to->id);
    *ret = (doc_shown_architecture_edge){
        .id = texted(self, &self->text),
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
    island *self = (island *)(uintptr_t)context;
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

/* --- data flow --- */

static void emit_functions(jsonw *out, const void *context)
{
    const flow_part *part = context;
    const model_flow *flow = part->flow;
    island *self = part->of;
    size_t count = choice_rows(self->choice, flow->function_count);

    jw_array(out);
    for (size_t i = 0; i < count && out->code == CG_OK; i++) {
        uint32_t at = flow->functions[i];
        const model_function *row = MODEL_AT(doc_of(self)->functions, model_function, at);

        sc_write(out, &table_shown_function,
                 &(doc_shown_function){
                     .id = row->id,
                     .label = row->qualified_name,
                     .short_label = last_segments(row->qualified_name, 2),
                     .is_entrypoint = row->is_entrypoint,
                     .operations = flow->operations[at],
                     .tensors = flow->tensors[at],
                 });
    }
    jw_end(out);
}

static uint8_t tensor_gradient(const model_tensor *row)
{
    if (row->role == MODEL_TENSOR_ROLE_LOSS)
        return SHOWN_GRAD_STATE_DIFFERENTIABLE;
    if (row->requires_grad == BOOL_UNKNOWN)
        return SHOWN_GRAD_STATE_UNKNOWN;
    return row->requires_grad == BOOL_TRUE ? SHOWN_GRAD_STATE_TRAINABLE : SHOWN_GRAD_STATE_FROZEN;
}

static void write_tensor(jsonw *out, island *self, const model_tensor *row)
{
    size_t parameter = row->parameter.ptr != NULL
                           ? index_find(&self->links->parameters, row->parameter)
                           : INDEX_NONE;
    bool is_parameter = row->role == MODEL_TENSOR_ROLE_PARAMETER || parameter != INDEX_NONE;
    doc_shown_tensor shown = {
        .id = row->id,
        .label = row->name,
        .short_label = short_tensor(self, row->name),
        .kind = is_parameter ? SHOWN_NODE_KIND_PARAMETER : SHOWN_NODE_KIND_TENSOR,
        .role = row->role,
        .shape = {emit_no_shape, NULL},
        .source = row->owner_function,
        .grad_state = tensor_gradient(row),
        .requires_grad = row->requires_grad,
        .function = row->owner_function,
    };

    if (coverage_has_dtype(row))
        shown.dtype = row->dtype;
    if (row->shape != NULL)
        shown.shape = (sc_stream){emit_shape, row->shape};
    if (parameter != INDEX_NONE)
        shown.builder_root =
            MODEL_AT(doc_of(self)->parameters, model_parameter, parameter)->builder_root;
    sc_write(out, &table_shown_tensor, &shown);
}

static void write_operation(jsonw *out, const model_operation *row)
{
    const model_timing *timing = row->timing;
    doc_shown_operation shown = {
        .id = row->id,
        .label = row->name,
        .short_label = row->name,
        .qualified_name = row->qualified_name,
        .kind = SHOWN_NODE_KIND_OPERATION,
        .function = row->function,
        .source = row->source,
        .dtype_rule = row->dtype_rule,
        .gradient_rule = row->gradient_rule,
        .timing = timing,
    };

    if (timing != NULL)
        shown.avg_duration_ms = (opt_f64){(double)timing->avg_ns / 1e6, true};
    sc_write(out, &table_shown_operation, &shown);
}

static void emit_flow_nodes(jsonw *out, const void *context)
{
    const flow_part *part = context;
    island *self = part->of;
    const model_doc *doc = doc_of(self);

    jw_array(out);
    for (size_t i = 0; i < doc->tensors.count && out->code == CG_OK; i++) {
        const model_tensor *row = MODEL_AT(doc->tensors, model_tensor, i);

        if (row->execution_phase == part->flow->phase && choice_has(self->choice->tensors, i))
            write_tensor(out, self, row);
    }
    for (size_t i = 0; i < doc->operations.count && out->code == CG_OK; i++) {
        const model_operation *row = MODEL_AT(doc->operations, model_operation, i);

        if (row->execution_phase == part->flow->phase && choice_has(self->choice->operations, i))
            write_operation(out, row);
    }
    jw_end(out);
}

static uint8_t rule_gradient(cg_str rule)
{
    if (str_find(rule, CG_LIT("Severs")) != SIZE_MAX)
        return SHOWN_GRAD_STATE_SEVERED;
    if (str_find(rule, CG_LIT("LayoutDependent")) != SIZE_MAX)
        return SHOWN_GRAD_STATE_LAYOUT_DEPENDENT;
    if (str_find(rule, CG_LIT("Propagates")) != SIZE_MAX)
        return SHOWN_GRAD_STATE_DIFFERENTIABLE;
    return SHOWN_GRAD_STATE_UNKNOWN;
}

/* Is the other end of an edge shown too? When everything is, nobody asks whether it is there. */
static bool has_end(const island *self, cg_str tensor)
{
    size_t at;

    if (self->choice->tensors == NULL)
        return true;
    at = index_find(&self->links->tensors, tensor);
    return at != INDEX_NONE && self->choice->tensors[at];
}

static void write_flow_edge(jsonw *out, island *self, uint8_t gradient, cg_str from, cg_str to,
                            cg_str label)
{
    sc_write(out, &table_shown_flow_edge,
             &(doc_shown_flow_edge){
                 .id = texted(self, &self->text),
                 .from = from,
                 .to = to,
                 .kind = gradient == SHOWN_GRAD_STATE_SEVERED ? SHOWN_EDGE_KIND_SEVERING
                                                              : SHOWN_EDGE_KIND_DATA,
                 .grad_state = gradient,
                 .label = label,
             });
}

static void write_flow_edges(jsonw *out, island *self, const model_operation *row)
{
    uint8_t gradient = rule_gradient(row->gradient_rule);

    for (size_t i = 0; i < row->inputs.count && out->code == CG_OK; i++) {
        if (!has_end(self, row->inputs.at[i]))
            continue;
        buf_clear(&self->text);
        buf_add(&self->text, row->id);
        buf_addf(&self->text, ":in:%zu", i);
        write_flow_edge(out, self, gradient, row->inputs.at[i], row->id, CG_LIT(SHOWN_LABEL_IN));
    }
    if (!has_end(self, row->output))
        return;
    buf_clear(&self->text);
    buf_add(&self->text, row->id);
    buf_add(&self->text, CG_LIT(":out"));
    write_flow_edge(out, self, gradient, row->id, row->output, CG_LIT(SHOWN_LABEL_OUT));
}

/* From each value that a joined tensor may be. */
static void write_join_edges(jsonw *out, island *self, const model_tensor *row)
{
    for (size_t i = 0; i < row->one_of.count && out->code == CG_OK; i++) {
        if (!has_end(self, row->one_of.at[i]))
            continue;
        buf_clear(&self->text);
        buf_add(&self->text, row->id);
        buf_addf(&self->text, ":" SHOWN_LABEL_ONE ":%zu", i);
        write_flow_edge(out, self, SHOWN_GRAD_STATE_DIFFERENTIABLE, row->one_of.at[i], row->id,
                        CG_LIT(SHOWN_LABEL_ONE));
    }
}

static void emit_flow_edges(jsonw *out, const void *context)
{
    const flow_part *part = context;
    island *self = part->of;
    const model_doc *doc = doc_of(self);

    jw_array(out);
    for (size_t i = 0; i < doc->operations.count && out->code == CG_OK; i++) {
        const model_operation *row = MODEL_AT(doc->operations, model_operation, i);

        if (row->execution_phase == part->flow->phase && choice_has(self->choice->operations, i))
            write_flow_edges(out, self, row);
    }
    for (size_t i = 0; i < doc->tensors.count && out->code == CG_OK; i++) {
        const model_tensor *row = MODEL_AT(doc->tensors, model_tensor, i);

        if (row->execution_phase == part->flow->phase && choice_has(self->choice->tensors, i))
            write_join_edges(out, self, row);
    }
    jw_end(out);
}

static doc_shown_flow describe_flow(const flow_part *part)
{
    return (doc_shown_flow){.phase = part->flow->phase,
                            .functions = {emit_functions, part},
                            .nodes = {emit_flow_nodes, part},
                            .edges = {emit_flow_edges, part}};
}

/* --- pipeline --- */

static const model_stage *stage_at(const island *self, size_t index)
{
    return MODEL_AT(doc_of(self)->stages, model_stage, index);
}

static void emit_stages(jsonw *out, const void *context)
{
    island *self = (island *)(uintptr_t)context;
    size_t count = choice_rows(self->choice, doc_of(self)->stages.count);

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

static void write_stage_edge(jsonw *out, island *self, cg_str from, cg_str to, uint8_t kind)
{
    buf_clear(&self->text);
    buf_add(&self->text, sc_word(&words_shown_edge_kind, kind));
    buf_byte(&self->text, ':');
    buf_add(&self->text, from);
    buf_byte(&self->text, ':');
    buf_add(&self->text, to);
    sc_write(out, &table_shown_stage_edge,
             &(doc_shown_stage_edge){texted(self, &self->text), from, to, kind});
}

static void emit_stage_edges(jsonw *out, const void *context)
{
    island *self = (island *)(uintptr_t)context;
    size_t count = choice_rows(self->choice, doc_of(self)->stages.count);
    uint64_t left = self->choice->displayed[SHOWN_LIST_STAGE_EDGES];

    jw_array(out);
    for (size_t i = 0; i < count && out->code == CG_OK; i++) {
        const model_stage *row = stage_at(self, i);

        for (size_t k = 0; k < row->depends_on.count && left > 0; k++, left--)
            write_stage_edge(out, self, row->depends_on.at[k], row->id, SHOWN_EDGE_KIND_DEPENDS_ON);
        if (left > 0 && i + 1 < count && model_stage_follows(doc_of(self), i)) {
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
    island *self = (island *)(uintptr_t)context;

    jw_array(out);
    for (size_t i = 0; i < doc_of(self)->findings.count && out->code == CG_OK; i++) {
        const model_finding *row = MODEL_AT(doc_of(self)->findings, model_finding, i);

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
    island *self = (island *)(uintptr_t)context;

    jw_array(out);
    for (size_t i = 0; i < doc_of(self)->findings.count && out->code == CG_OK; i++) {
        const model_finding *row = MODEL_AT(doc_of(self)->findings, model_finding, i);

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
    island *self = (island *)(uintptr_t)context;
    uint64_t left = self->choice->displayed[SHOWN_LIST_ENTRYPOINTS];

    jw_array(out);
    for (size_t i = 0; i < doc_of(self)->functions.count && left > 0; i++) {
        const model_function *row = MODEL_AT(doc_of(self)->functions, model_function, i);

        if (row->is_entrypoint) {
            jw_str(out, row->qualified_name);
            left--;
        }
    }
    jw_end(out);
}

/* The package, else the only model. */
static cg_str model_name(const island *self)
{
    const model_cargo *cargo = doc_of(self)->cargo;

    if (cargo != NULL)
        return cargo->package_name;
    return doc_of(self)->components.count == 1 ? component_at(self, 0)->name : CG_LIT("model");
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

static doc_shown_extent extent(const island *self, enum shown_list nodes, enum shown_list edges,
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
static const doc_checkpoint *describe_checkpoint(island *self)
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

static const model_runtime *describe_runtime(island *self, model_runtime *room)
{
    const model_runtime *runtime = doc_of(self)->runtime;

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

static const doc_shown_bounds *describe_cuts(const island *self, cuts *ret)
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
    ret->bounds = (doc_shown_bounds){MODEL_PAYLOAD_BYTES, {ret->at, count}};
    return &ret->bounds;
}

static void write_views(island *self, doc_shown *shown)
{
    flow_part train_part = {self, &self->links->flows[FLOW_TRAIN]};
    flow_part infer_part = {self, &self->links->flows[FLOW_INFER]};
    doc_shown_structure structure = {{emit_modules, self}, {emit_parameters, self}};
    doc_shown_graph architecture = {{emit_architecture_nodes, self},
                                    {emit_architecture_edges, self}};
    doc_shown_graph pipeline = {{emit_stages, self}, {emit_stage_edges, self}};
    doc_shown_findings findings = {{emit_findings, self}};
    doc_shown_flow train = describe_flow(&train_part);
    doc_shown_flow infer = describe_flow(&infer_part);
    doc_shown_pages views = {&structure, &architecture, &train, &infer, &pipeline, &findings};

    shown->views = &views;
    sc_write(&self->out, &table_shown, shown);
}

static void write_summary(island *self, doc_shown *shown)
{
    const model_doc *doc = doc_of(self);
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

static void write_document(island *self)
{
    const model_doc *doc = doc_of(self);
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

/* --- attempts --- */

/* JSON text in the making, no longer than `limit`. */
typedef struct gathered {
    buf text;
    size_t limit;
    bool is_over;
} gathered;

static cg_code gather_text(void *context, const char *bytes, size_t count)
{
    gathered *self = context;

    if (count > self->limit - self->text.len) {
        self->is_over = true;
        return CG_LIMIT;
    }
    buf_add(&self->text, (cg_str){bytes, count});
    return self->text.failed ? CG_NOMEM : CG_OK;
}

/* What is tried: how many rows, and how long it may become. */
typedef struct attempt {
    size_t rows, flow_rows, limit;
} attempt;

static cg_code write_attempt(const model_links *links, const attempt *of, gathered *json,
                             cg_err *reterr)
{
    arena mem;
    model_choice choice;
    island self = {.links = links, .choice = &choice, .mem = &mem};
    cg_code code;

    arena_init(&mem, links->heap);
    buf_init(&self.text, links->heap, SIZE_MAX);
    code = model_choose(links, &mem, of->rows, of->flow_rows, &choice, reterr);
    if (code == CG_OK &&
        jw_init(&self.out, links->heap, (cg_sink){json, gather_text}, false, true) != CG_OK)
        code = err_nomem(reterr);
    if (code == CG_OK) {
        write_document(&self);
        code = jw_finish(&self.out, json->is_over ? NULL : reterr);
    }
    buf_free(&self.text);
    arena_free(&mem);
    return json->is_over && code == CG_LIMIT ? CG_OK : code;
}

/* Write into *ret, escaped; *ret_fits false: it would be too long. */
static cg_code try_attempt(const model_links *links, const attempt *of, buf *ret, bool *ret_fits,
                           cg_err *reterr)
{
    gathered json = {.limit = of->limit};
    cg_code code;

    buf_init(&json.text, links->heap, SIZE_MAX);
    code = write_attempt(links, of, &json, reterr);
    *ret_fits = !json.is_over;
    if (code == CG_OK && *ret_fits) {
        buf_clear(ret);
        esc_script(ret, buf_text(&json.text));
        *ret_fits = ret->len <= of->limit;
        code = ret->failed ? err_nomem(reterr) : CG_OK;
    }
    buf_free(&json.text);
    return code;
}

/* Lower *rows, one of the numbers of `of`, until the attempt fits. */
static cg_code shrink(const model_links *links, attempt *of, size_t *rows, buf *ret, cg_err *reterr)
{
    bool fits;

    for (;;) {
        CG_TRY(try_attempt(links, of, ret, &fits, reterr));
        if (fits)
            return CG_OK;
        if (*rows == 0)
            return cg_fail(reterr, PROBLEM_LIMIT, "not even the head of the model fits in a page");
        *rows = *rows == SIZE_MAX ? FIRST_ROWS : *rows * 3 / 4;
    }
}

/* The whole; else as much of everything but data flow as has room, then of that. */
static cg_code find_island(const model_links *links, buf *ret, cg_err *reterr)
{
    attempt of = {SIZE_MAX, SIZE_MAX, MODEL_PAYLOAD_BYTES};
    bool fits;

    CG_TRY(try_attempt(links, &of, ret, &fits, reterr));
    if (fits)
        return CG_OK;
    of = (attempt){SIZE_MAX, 0, STRUCTURE_BYTES};
    CG_TRY(shrink(links, &of, &of.rows, ret, reterr));
    of.flow_rows = SIZE_MAX;
    of.limit = MODEL_PAYLOAD_BYTES;
    return shrink(links, &of, &of.flow_rows, ret, reterr);
}

cg_code model_payload_write(heap *from, const model_doc *doc, const doc_checkpoint *checkpoint,
                            cg_sink sink, cg_err *reterr)
{
    model_links links;
    buf text;
    cg_code code = model_links_make(from, doc, checkpoint, &links, reterr);

    buf_init(&text, from, SIZE_MAX);
    if (code == CG_OK)
        code = find_island(&links, &text, reterr);
    if (code == CG_OK) {
        code = sink.write(sink.context, text.at, text.len);
        if (code == CG_OUTPUT)
            cg_fail(reterr, PROBLEM_OUTPUT, "the page could not be written");
    }
    buf_free(&text);
    model_links_free(&links);
    return code;
}
