#include "view/shown_flow.h"

#include <inttypes.h>
#include <stdio.h>

#include "model/coverage.h"

/* `result_of_Linear::forward` is `Linear`, `self.word_emb` is `word emb`. */
static cg_str short_tensor(shown_work *self, cg_str name)
{
    static const char result[] = "result_of_";
    static const char forward[] = "::forward";

    if (str_starts_with(name, CG_LIT(result)))
        name = shown_behind(name, sizeof result - 1);
    if (str_ends_with(name, CG_LIT(forward)) && name.len >= sizeof forward)
        name.len -= sizeof forward - 1;
    name = shown_behind_dot(name);
    buf_clear(&self->text);
    for (size_t i = 0; i < name.len; i++)
        buf_byte(&self->text, name.ptr[i] == '_' ? ' ' : name.ptr[i]);
    return shown_text(self, &self->text);
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

static void emit_functions(jsonw *out, const void *context)
{
    const flow_part *part = context;
    const model_flow *flow = part->flow;
    shown_work *self = part->of;
    size_t count = choice_rows(self->choice, flow->function_count);

    jw_array(out);
    for (size_t i = 0; i < count && out->code == CG_OK; i++) {
        uint32_t at = flow->functions[i];
        const model_function *row = MODEL_AT(shown_doc(self)->functions, model_function, at);

        sc_write(out, &table_shown_function,
                 &(doc_shown_function){
                     .id = row->id,
                     .label = row->qualified_name,
                     .short_label = shown_last_segments(row->qualified_name, 2),
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

static void write_tensor(jsonw *out, shown_work *self, const model_tensor *row)
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
        .shape = {shown_no_shape, NULL},
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
            MODEL_AT(shown_doc(self)->parameters, model_parameter, parameter)->builder_root;
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
    shown_work *self = part->of;
    const model_doc *doc = shown_doc(self);

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
static bool has_end(const shown_work *self, cg_str tensor)
{
    size_t at;

    if (self->choice->tensors == NULL)
        return true;
    at = index_find(&self->links->tensors, tensor);
    return at != INDEX_NONE && self->choice->tensors[at];
}

static void write_flow_edge(jsonw *out, shown_work *self, uint8_t gradient, cg_str from, cg_str to,
                            cg_str label)
{
    sc_write(out, &table_shown_flow_edge,
             &(doc_shown_flow_edge){
                 .id = shown_text(self, &self->text),
                 .from = from,
                 .to = to,
                 .kind = gradient == SHOWN_GRAD_STATE_SEVERED ? SHOWN_EDGE_KIND_SEVERING
                                                              : SHOWN_EDGE_KIND_DATA,
                 .grad_state = gradient,
                 .label = label,
             });
}

static void write_flow_edges(jsonw *out, shown_work *self, const model_operation *row)
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
static void write_join_edges(jsonw *out, shown_work *self, const model_tensor *row)
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
    shown_work *self = part->of;
    const model_doc *doc = shown_doc(self);

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

doc_shown_flow shown_flow_of(const flow_part *part)
{
    return (doc_shown_flow){.phase = part->flow->phase,
                            .functions = {emit_functions, part},
                            .nodes = {emit_flow_nodes, part},
                            .edges = {emit_flow_edges, part}};
}
