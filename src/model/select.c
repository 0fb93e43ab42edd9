#include "model/select.h"

#define SELECT_TEXTS 8

enum model_list select_list(enum ask_kind kind)
{
    switch (kind) {
    case ASK_KIND_COMPONENTS:
    case ASK_KIND_COMPONENT: return MODEL_COMPONENTS;
    case ASK_KIND_MODULES: return MODEL_MODULES;
    case ASK_KIND_COMPOSITION: return MODEL_EDGES;
    case ASK_KIND_ASSEMBLY: return MODEL_ASSEMBLY;
    case ASK_KIND_STAGES: return MODEL_STAGES;
    case ASK_KIND_ARTIFACTS: return MODEL_ARTIFACTS;
    case ASK_KIND_ENTRYPOINTS:
    case ASK_KIND_FUNCTIONS:
    case ASK_KIND_FUNCTION: return MODEL_FUNCTIONS;
    case ASK_KIND_PARAMETERS:
    case ASK_KIND_PARAMETER: return MODEL_PARAMETERS;
    case ASK_KIND_TENSORS:
    case ASK_KIND_TENSOR: return MODEL_TENSORS;
    case ASK_KIND_OPERATIONS:
    case ASK_KIND_OPERATION: return MODEL_OPERATIONS;
    case ASK_KIND_OPTIMIZERS: return MODEL_OPTIMIZERS;
    case ASK_KIND_FINDINGS: return MODEL_FINDINGS;
    case ASK_KIND_SUMMARY:
    case ASK_KIND_DOCTOR:
    case ASK_KIND_ARCHITECTURE:
    case ASK_KIND_CARGO:
    case ASK_KIND_PIPELINE:
    case ASK_KIND_RUNTIME:
    case ASK_KIND_PATH:
    case ASK_KIND_MODEL_IMPROVEMENT:
    case ASK_KIND_GRAPH_TRAIN:
    case ASK_KIND_GRAPH_INFER:
    case ASK_KIND_PROFILE:
    case ASK_KIND_COUNT: break;
    }
    return MODEL_LIST_COUNT;
}

static char lower(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

bool select_holds(cg_str text, cg_str part)
{
    if (part.len == 0)
        return text.ptr != NULL;
    for (size_t start = 0; start + part.len <= text.len; start++) {
        size_t at = 0;

        while (at < part.len && lower(text.ptr[start + at]) == lower(part.ptr[at]))
            at++;
        if (at == part.len)
            return true;
    }
    return false;
}

/* The texts of one record; those of a selector's kind, the id first. */
typedef struct record_texts {
    cg_str at[SELECT_TEXTS];
    size_t count;
    cg_str qualified_name; /* absent: the kind has none */
    cg_str root;           /* `root:key` means a parameter too */
    cg_str key;
} record_texts;

static void add(record_texts *self, cg_str text)
{
    if (text.ptr != NULL)
        self->at[self->count++] = text;
}

static void add_component(const ask *self, cg_str id, record_texts *ret)
{
    const model_component *component = ask_component_of(self, id);

    add(ret, id);
    if (component != NULL) {
        add(ret, component->name);
        add(ret, component->qualified_name);
    }
}

static cg_str function_name(const ask *self, cg_str id)
{
    const model_function *function = ask_function_of(self, id);

    return function != NULL ? function->qualified_name : (cg_str){0};
}

static void module_texts(const ask *self, const model_module *module, record_texts *ret)
{
    const model_component *component = ask_component_of(self, module->component);

    add(ret, module->type_name);
    add(ret, module->qualified_type);
    add(ret, module->field);
    add(ret, module->prefix);
    add(ret, module->builder_root);
    if (component != NULL)
        add(ret, component->name);
}

static void assembly_texts(const model_assembly *site, record_texts *ret)
{
    add(ret, site->component_name);
    add(ret, site->function_name);
    add(ret, site->builder_root);
    add(ret, site->varmap);
    add(ret, site->checkpoint_load);
}

static void operation_texts(const ask *self, enum ask_kind kind, const model_operation *operation,
                            record_texts *ret)
{
    add(ret, operation->name);
    add(ret, operation->qualified_name);
    if (kind == ASK_KIND_OPERATIONS) {
        add(ret, operation->function);
        add(ret, function_name(self, operation->function));
    }
}

static void parameter_texts(enum ask_kind kind, const model_parameter *parameter, record_texts *ret)
{
    add(ret, parameter->key);
    add(ret, parameter->builder_root);
    if (kind == ASK_KIND_PARAMETERS)
        add(ret, parameter->kind);
    ret->root = parameter->builder_root;
    ret->key = parameter->key;
}

/* Of a component or a function. */
static void named_texts(cg_str id, cg_str name, cg_str qualified, record_texts *to)
{
    add(to, id);
    add(to, name);
    add(to, qualified);
    to->qualified_name = qualified;
}

static record_texts texts_of(const ask *self, enum ask_kind kind, size_t index)
{
    const model_doc *doc = self->doc;
    enum model_list list = select_list(kind);
    record_texts texts = {0};

    switch (list) {
    case MODEL_COMPONENTS: {
        const model_component *component = MODEL_AT(doc->components, model_component, index);

        named_texts(component->id, component->name, component->qualified_name, &texts);
        break;
    }
    case MODEL_MODULES: {
        const model_module *module = MODEL_AT(doc->modules, model_module, index);

        add(&texts, module->id);
        module_texts(self, module, &texts);
        break;
    }
    case MODEL_EDGES: {
        const model_edge *edge = MODEL_AT(doc->architecture_edges, model_edge, index);

        add_component(self, edge->from, &texts);
        add_component(self, edge->to, &texts);
        break;
    }
    case MODEL_ASSEMBLY: {
        const model_assembly *site = MODEL_AT(doc->assembly_sites, model_assembly, index);

        add(&texts, site->id);
        assembly_texts(site, &texts);
        break;
    }
    case MODEL_STAGES: {
        const model_stage *stage = MODEL_AT(doc->stages, model_stage, index);

        add(&texts, stage->id);
        add(&texts, stage->name);
        break;
    }
    case MODEL_ARTIFACTS: {
        const model_artifact *artifact = MODEL_AT(doc->artifacts, model_artifact, index);

        add(&texts, artifact->id);
        add(&texts, artifact->name);
        add(&texts, artifact->path_expr);
        break;
    }
    case MODEL_FUNCTIONS: {
        const model_function *function = MODEL_AT(doc->functions, model_function, index);

        named_texts(function->id, function->name, function->qualified_name, &texts);
        break;
    }
    case MODEL_PARAMETERS: {
        const model_parameter *parameter = MODEL_AT(doc->parameters, model_parameter, index);

        add(&texts, parameter->id);
        parameter_texts(kind, parameter, &texts);
        break;
    }
    case MODEL_TENSORS: {
        const model_tensor *tensor = MODEL_AT(doc->tensors, model_tensor, index);

        add(&texts, tensor->id);
        add(&texts, tensor->name);
        add(&texts, tensor->owner_function);
        add(&texts, function_name(self, tensor->owner_function));
        break;
    }
    case MODEL_OPERATIONS: {
        const model_operation *operation = MODEL_AT(doc->operations, model_operation, index);

        add(&texts, operation->id);
        operation_texts(self, kind, operation, &texts);
        break;
    }
    case MODEL_OPTIMIZERS: {
        const model_optimizer *optimizer = MODEL_AT(doc->optimizers, model_optimizer, index);

        add(&texts, optimizer->id);
        add(&texts, optimizer->optimizer);
        add(&texts, optimizer->varmap);
        add(&texts, optimizer->stage);
        break;
    }
    case MODEL_FINDINGS: {
        const model_finding *finding = MODEL_AT(doc->findings, model_finding, index);

        add(&texts, finding->id);
        add(&texts, finding->rule);
        add(&texts, finding->message);
        break;
    }
    case MODEL_LIST_COUNT: break;
    }
    return texts;
}

/* `root:key` against the two. */
static bool is_root_and_key(const record_texts *texts, cg_str selector)
{
    return texts->root.ptr != NULL && selector.len == texts->root.len + 1 + texts->key.len &&
           str_starts_with(selector, texts->root) && selector.ptr[texts->root.len] == ':' &&
           str_ends_with(selector, texts->key);
}

static bool matches(const record_texts *texts, cg_str selector)
{
    for (size_t i = 0; i < texts->count; i++) {
        if (select_holds(texts->at[i], selector))
            return true;
    }
    return is_root_and_key(texts, selector);
}

static bool is_exactly(const record_texts *texts, bool is_one, cg_str selector)
{
    if (texts->qualified_name.ptr != NULL && str_equal(texts->qualified_name, selector))
        return true;
    for (size_t i = 0; is_one && i < texts->count; i++) {
        if (str_equal(texts->at[i], selector))
            return true;
    }
    return is_one && is_root_and_key(texts, selector);
}

/* Does the kind speak of this record at all? */
static bool is_in(const ask *self, enum ask_kind kind, size_t index)
{
    if (kind == ASK_KIND_ENTRYPOINTS)
        return MODEL_AT(self->doc->functions, model_function, index)->is_entrypoint;
    if (kind == ASK_KIND_COMPOSITION)
        return ask_is_composition(MODEL_AT(self->doc->architecture_edges, model_edge, index));
    return true;
}

cg_code select_records(ask *self, enum ask_kind kind, cg_str selector, ask_picks *ret,
                       cg_err *reterr)
{
    enum model_list list = select_list(kind);
    const sc_table *table = model_list_table(list);
    const sc_records *records = model_list_of((model_doc *)(uintptr_t)self->doc, list);
    bool is_one = ask_kinds[kind].select == ASK_SELECT_ONE;
    ask_picks picks = {0};
    uint32_t exact = 0;
    size_t exact_count = 0;

    picks.at = arena_take(&self->mem, (records->count + 1) * sizeof *picks.at);
    if (picks.at == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < records->count; i++) {
        record_texts texts;

        if (!is_in(self, kind, i))
            continue;
        if (selector.ptr == NULL) {
            picks.at[picks.count++] = (uint32_t)i;
            continue;
        }
        if (str_equal(model_id_at(records, table, i), selector)) {
            picks.at[0] = (uint32_t)i;
            picks.count = 1;
            exact_count = 0;
            break;
        }
        texts = texts_of(self, kind, i);
        if (is_exactly(&texts, is_one, selector)) {
            exact = (uint32_t)i;
            exact_count++;
        }
        if (matches(&texts, selector))
            picks.at[picks.count++] = (uint32_t)i;
    }
    if (exact_count == 1) {
        picks.at[0] = exact;
        picks.count = 1;
    }
    *ret = picks;
    return CG_OK;
}
