#include "model/rows.h"

#include "model/select.h"

/* Copy the members of a field list from one structure into another. */
#define COPY(type, member, key, rule, sub) row->member = record->member;

/* The name of a record, else what identifies it, for a question about it. */
static bool drills(arena *mem, sc_records *list, size_t count, const uint8_t *kinds,
                   const cg_str *selects)
{
    *list = (sc_records){0};
    for (size_t i = 0; i < count; i++) {
        if (!ask_drill_add(mem, list, kinds[i], selects[i]))
            return false;
    }
    return true;
}

#define DRILLS(mem, list, ...)                                                                     \
    drills((mem), (list), sizeof(uint8_t[]){__VA_ARGS__}, (const uint8_t[]){__VA_ARGS__}, selects)

static bool component_row(const model_component *record, arena *mem, ask_item *ret)
{
    cg_str q = record->qualified_name;
    const cg_str selects[] = {q, q, record->name, record->name};
    ask_component *row = arena_zero(mem, sizeof *row);
    ask_builder *builders = arena_take(mem, (record->builders.count + 1) * sizeof *builders);

    if (row == NULL || builders == NULL)
        return false;
    for (size_t i = 0; i < record->builders.count; i++) {
        const model_builder *builder = MODEL_AT(record->builders, model_builder, i);

        builders[i] = (ask_builder){builder->name, builder->role};
    }
    row->id = record->id;
    row->name = record->name;
    row->qualified_name = q;
    row->source = record->source;
    row->builders = (sc_records){builders, record->builders.count};
    row->modules = record->modules.count;
    row->parameters = record->parameters.count;
    row->entrypoints = record->entrypoints;
    *ret = (ask_item){&table_ask_component, row};
    return DRILLS(mem, &row->drill_down, ASK_DRILL_COMPONENT, ASK_DRILL_MODULES,
                  ASK_DRILL_ENTRYPOINTS, ASK_DRILL_PARAMETERS);
}

static bool component_whole(const model_component *record, arena *mem, ask_item *ret)
{
    cg_str q = record->qualified_name;
    cg_str n = record->name;
    const cg_str selects[] = {q, n, n, n, n, q};
    ask_component_full *row = arena_zero(mem, sizeof *row);

    if (row == NULL)
        return false;
    MODEL_COMPONENT_FIELDS(COPY)
    *ret = (ask_item){&table_ask_component_full, row};
    return DRILLS(mem, &row->drill_down, ASK_DRILL_MODULES, ASK_DRILL_ENTRYPOINTS,
                  ASK_DRILL_PARAMETERS, ASK_DRILL_FUNCTIONS, ASK_DRILL_TENSORS,
                  ASK_DRILL_COMPOSITION);
}

static bool module_row(const ask *self, const model_module *record, arena *mem, ask_item *ret)
{
    const model_component *component = ask_component_of(self, record->component);
    ask_module *row = arena_zero(mem, sizeof *row);

    if (row == NULL)
        return false;
    row->id = record->id;
    row->component = record->component;
    if (component != NULL)
        row->component_name = component->name;
    row->parent = record->parent;
    row->type_name = record->type_name;
    row->qualified_type = record->qualified_type;
    row->field = record->field;
    row->builder_root = record->builder_root;
    row->prefix = record->prefix;
    row->repeat = record->repeat;
    row->source = record->source;
    row->confidence = record->confidence;
    *ret = (ask_item){&table_ask_module, row};
    return ask_drill_add(mem, &row->drill_down, ASK_DRILL_PARAMETERS, record->prefix) &&
           (index_find(&self->component_names, record->qualified_type) == INDEX_NONE ||
            ask_drill_add(mem, &row->drill_down, ASK_DRILL_COMPOSITION, record->qualified_type));
}

static bool end_of(const ask *self, cg_str id, arena *mem, ask_end **ret)
{
    const model_component *component = ask_component_of(self, id);
    ask_end *end = arena_zero(mem, sizeof *end);

    if (end == NULL)
        return false;
    end->id = id;
    if (component != NULL) {
        end->name = component->name;
        end->qualified_name = component->qualified_name;
    }
    *ret = end;
    return true;
}

static cg_str or_id(cg_str name, cg_str id)
{
    return name.ptr != NULL ? name : id;
}

static bool composition_row(const ask *self, const model_edge *record, arena *mem, ask_item *ret)
{
    ask_composition *row = arena_zero(mem, sizeof *row);
    ask_end *from;
    ask_end *to;

    if (row == NULL || !end_of(self, record->from, mem, &from) ||
        !end_of(self, record->to, mem, &to))
        return false;
    row->id = record->id;
    row->from = from;
    row->to = to;
    row->via_function = record->via_function;
    row->source = record->source;
    if (record->evidence.count > 0) {
        const model_evidence *first = record->evidence.at;

        row->confidence = first->confidence;
        row->detail = first->detail;
    }
    *ret = (ask_item){&table_ask_composition, row};
    return ask_drill_add(mem, &row->drill_down, ASK_DRILL_COMPONENT,
                         or_id(from->qualified_name, record->from)) &&
           ask_drill_add(mem, &row->drill_down, ASK_DRILL_MODULES,
                         or_id(from->name, record->from)) &&
           ask_drill_add(mem, &row->drill_down, ASK_DRILL_COMPONENT,
                         or_id(to->qualified_name, record->to));
}

static bool assembly_row(const ask *self, const model_assembly *record, arena *mem, ask_item *ret)
{
    const model_component *component = ask_component_of(self, record->component);
    const cg_str selects[] = {component != NULL ? component->qualified_name
                                                : record->component_name,
                              record->component_name, record->function_name};
    ask_assembly *row = arena_zero(mem, sizeof *row);

    if (row == NULL)
        return false;
    row->id = record->id;
    row->function_name = record->function_name;
    row->component_name = record->component_name;
    row->component = record->component;
    row->builder_root = record->builder_root;
    row->prefix_chain = record->prefix_chain;
    row->varmap = record->varmap;
    row->source_kind = record->source_kind;
    row->role = record->role;
    row->checkpoint_load = record->checkpoint_load;
    row->source = record->source;
    *ret = (ask_item){&table_ask_assembly, row};
    return DRILLS(mem, &row->drill_down, ASK_DRILL_COMPONENT, ASK_DRILL_PARAMETERS,
                  ASK_DRILL_FUNCTION);
}

ask_stage_brief row_stage_brief(const model_stage *stage)
{
    return (ask_stage_brief){.id = stage->id,
                             .name = stage->name,
                             .kind = stage->kind,
                             .order = stage->order,
                             .dispatch = stage->dispatch,
                             .subprocess_key = stage->subprocess_key,
                             .cli_flags = stage->cli_flags};
}

static bool stage_row(const model_stage *record, arena *mem, ask_item *ret)
{
    ask_stage *row = arena_zero(mem, sizeof *row);

    if (row == NULL)
        return false;
    *row = (ask_stage){.id = record->id,
                       .name = record->name,
                       .kind = record->kind,
                       .order = record->order,
                       .dispatch = record->dispatch,
                       .subprocess_key = record->subprocess_key,
                       .cli_flags = record->cli_flags,
                       .launcher = record->launcher,
                       .orchestrator = record->orchestrator,
                       .source = record->source,
                       .components = record->components.count};
    *ret = (ask_item){&table_ask_stage, row};
    return ask_drill_add(mem, &row->drill_down, ASK_DRILL_FUNCTION, record->function);
}

static bool function_row(const ask *self, const model_function *record, arena *mem, ask_item *ret)
{
    const cg_str selects[] = {record->qualified_name, record->qualified_name, record->id};
    ask_function *row = arena_zero(mem, sizeof *row);

    if (row == NULL)
        return false;
    *row = (ask_function){.id = record->id,
                          .name = record->name,
                          .qualified_name = record->qualified_name,
                          .owner_type = record->owner_type,
                          .visibility = record->visibility,
                          .source = record->source,
                          .is_entrypoint = record->is_entrypoint,
                          .is_component_entrypoint = ask_is_of_component(self, record),
                          .is_loss = record->is_loss,
                          .cfg_active = record->cfg_active,
                          .calls = record->calls.count,
                          .tensor_inputs = record->tensor_inputs.count,
                          .tensor_outputs = record->tensor_outputs.count};
    *ret = (ask_item){&table_ask_function, row};
    return DRILLS(mem, &row->drill_down, ASK_DRILL_FUNCTION, ASK_DRILL_TENSORS,
                  ASK_DRILL_OPERATIONS);
}

static bool function_whole(const model_function *record, arena *mem, ask_item *ret)
{
    const cg_str selects[] = {record->qualified_name, record->id};
    ask_function_full *row = arena_zero(mem, sizeof *row);
    const sc_strs *tensors =
        record->tensor_inputs.count > 0 ? &record->tensor_inputs : &record->tensor_outputs;

    if (row == NULL)
        return false;
    MODEL_FUNCTION_HEAD(COPY)
    MODEL_FUNCTION_TAIL(COPY)
    *ret = (ask_item){&table_ask_function_full, row};
    return DRILLS(mem, &row->drill_down, ASK_DRILL_TENSORS, ASK_DRILL_OPERATIONS) &&
           (tensors->count == 0 ||
            ask_drill_add(mem, &row->drill_down, ASK_DRILL_TENSOR, tensors->at[0]));
}

static bool parameter_row(const model_parameter *record, arena *mem, ask_item *ret)
{
    ask_parameter *row = arena_zero(mem, sizeof *row);

    if (row == NULL)
        return false;
    MODEL_PARAMETER_HEAD(COPY)
    MODEL_PARAMETER_TAIL(COPY)
    *ret = (ask_item){&table_ask_parameter, row};
    return ask_drill_add(mem, &row->drill_down, ASK_DRILL_PARAMETER, record->id);
}

static bool tensor_row(const ask *self, const model_tensor *record, arena *mem, ask_item *ret)
{
    const model_function *owner = ask_function_of(self, record->owner_function);
    const model_shape *shape = record->shape;
    ask_tensor *row = arena_zero(mem, sizeof *row);

    if (row == NULL)
        return false;
    *row = (ask_tensor){.id = record->id,
                        .name = record->name,
                        .role = record->role,
                        .owner_function = record->owner_function,
                        .owner = owner != NULL ? owner->qualified_name : CG_LIT(""),
                        .dtype = record->dtype,
                        .shape_rank = shape->rank,
                        .requires_grad = record->requires_grad};
    *ret = (ask_item){&table_ask_tensor, row};
    return ask_drill_add(mem, &row->drill_down, ASK_DRILL_TENSOR, record->id) &&
           ask_drill_add(mem, &row->drill_down, ASK_DRILL_FUNCTION, row->owner);
}

static bool operation_row(const model_operation *record, arena *mem, ask_item *ret)
{
    ask_operation *row = arena_zero(mem, sizeof *row);

    if (row == NULL)
        return false;
    *row = (ask_operation){.id = record->id,
                           .name = record->name,
                           .qualified_name = record->qualified_name,
                           .function = record->function,
                           .inputs = record->inputs.count,
                           .output = record->output,
                           .source = record->source};
    *ret = (ask_item){&table_ask_operation, row};
    return ask_drill_add(mem, &row->drill_down, ASK_DRILL_OPERATION, record->id) &&
           ask_drill_add(mem, &row->drill_down, ASK_DRILL_FUNCTION, record->function);
}

bool row_finding(const model_finding *finding, arena *mem, ask_finding *ret)
{
    *ret = (ask_finding){.id = finding->id,
                         .rule = finding->rule,
                         .severity = finding->severity,
                         .confidence = finding->confidence,
                         .message = finding->message,
                         .source = finding->source,
                         .related = finding->related.count};
    return ask_drill_add(mem, &ret->drill_down, ASK_DRILL_FINDINGS, finding->id);
}

static bool finding_row(const model_finding *record, arena *mem, ask_item *ret)
{
    ask_finding *row = arena_zero(mem, sizeof *row);

    *ret = (ask_item){&table_ask_finding, row};
    return row != NULL && row_finding(record, mem, row);
}

bool row_make(const ask *self, enum ask_kind kind, size_t index, bool is_whole, arena *mem,
              ask_item *ret)
{
    enum model_list list = select_list(kind);
    const sc_table *table = model_list_table(list);
    const void *record = (const char *)model_list_of((model_doc *)(uintptr_t)self->doc, list)->at +
                         index * table->size;

    is_whole = is_whole || ask_kinds[kind].select == ASK_SELECT_ONE;
    switch (list) {
    case MODEL_COMPONENTS:
        return is_whole ? component_whole(record, mem, ret) : component_row(record, mem, ret);
    case MODEL_EDGES: return composition_row(self, record, mem, ret);
    case MODEL_MODULES: return module_row(self, record, mem, ret);
    case MODEL_PARAMETERS:
        if (!is_whole)
            return parameter_row(record, mem, ret);
        break;
    case MODEL_FUNCTIONS:
        return is_whole ? function_whole(record, mem, ret) : function_row(self, record, mem, ret);
    case MODEL_TENSORS:
        if (!is_whole)
            return tensor_row(self, record, mem, ret);
        break;
    case MODEL_OPERATIONS:
        if (!is_whole)
            return operation_row(record, mem, ret);
        break;
    case MODEL_STAGES: return stage_row(record, mem, ret);
    case MODEL_ASSEMBLY: return assembly_row(self, record, mem, ret);
    case MODEL_FINDINGS:
        if (!is_whole)
            return finding_row(record, mem, ret);
        break;
    case MODEL_ARTIFACTS:
    case MODEL_OPTIMIZERS:
    case MODEL_LIST_COUNT: break;
    }
    *ret = (ask_item){table, record};
    return true;
}
