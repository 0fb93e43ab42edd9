#include "view/model_choice.h"

#include "base/sort.h"

static const model_module *module_at(const model_links *self, size_t index)
{
    return MODEL_AT(self->doc->modules, model_module, index);
}

static const model_operation *operation_at(const model_links *self, size_t index)
{
    return MODEL_AT(self->doc->operations, model_operation, index);
}

static uint32_t find(const text_index *index, cg_str id)
{
    size_t at = id.ptr != NULL ? index_find(index, id) : INDEX_NONE;

    return at < LINK_NONE ? (uint32_t)at : LINK_NONE;
}

/* --- links --- */

static bool build_index(model_links *self, text_index *index, const sc_records *list, size_t stride)
{
    /* Every record begins with its id. */
    return index_build(index, self->heap, list, stride, 0);
}

static bool build_indices(model_links *self)
{
    const model_doc *doc = self->doc;

    return build_index(self, &self->components, &doc->components, sizeof(model_component)) &&
           build_index(self, &self->modules, &doc->modules, sizeof(model_module)) &&
           build_index(self, &self->parameters, &doc->parameters, sizeof(model_parameter)) &&
           build_index(self, &self->functions, &doc->functions, sizeof(model_function)) &&
           build_index(self, &self->tensors, &doc->tensors, sizeof(model_tensor));
}

/* For each record of a list, where the one is whose id stands at `offset`. */
static uint32_t *link_list(model_links *self, const sc_records *list, size_t stride, size_t offset,
                           const text_index *to)
{
    uint32_t *links = arena_take(&self->mem, (list->count + 1) * sizeof *links);

    for (size_t i = 0; links != NULL && i < list->count; i++)
        links[i] =
            find(to, *(const cg_str *)(const void *)((const char *)list->at + i * stride + offset));
    return links;
}

static bool link_lists(model_links *self)
{
    const model_doc *doc = self->doc;

    self->module_components = link_list(self, &doc->modules, sizeof(model_module),
                                        offsetof(model_module, component), &self->components);
    self->parameter_components = link_list(self, &doc->parameters, sizeof(model_parameter),
                                           offsetof(model_parameter, component), &self->components);
    self->parameter_modules = link_list(self, &doc->parameters, sizeof(model_parameter),
                                        offsetof(model_parameter, module), &self->modules);
    self->tensor_functions = link_list(self, &doc->tensors, sizeof(model_tensor),
                                       offsetof(model_tensor, owner_function), &self->functions);
    self->operation_functions = link_list(self, &doc->operations, sizeof(model_operation),
                                          offsetof(model_operation, function), &self->functions);
    return self->module_components != NULL && self->parameter_components != NULL &&
           self->parameter_modules != NULL && self->tensor_functions != NULL &&
           self->operation_functions != NULL;
}

/* Components that are not part of another first. */
static bool rank_components(model_links *self)
{
    size_t count = self->doc->components.count;
    size_t ranked = 0;

    self->ranked = arena_take(&self->mem, (count + 1) * sizeof *self->ranked);
    for (unsigned nested = 0; self->ranked != NULL && nested < 2; nested++) {
        for (size_t i = 0; i < count; i++) {
            const model_component *row = MODEL_AT(self->doc->components, model_component, i);

            if ((row->is_nested == BOOL_TRUE) == (nested == 1))
                self->ranked[ranked++] = (uint32_t)i;
        }
    }
    return self->ranked != NULL;
}

static bool count_parameters(model_links *self)
{
    self->module_parameters =
        arena_zero(&self->mem, (self->doc->modules.count + 1) * sizeof *self->module_parameters);
    for (size_t i = 0; self->module_parameters != NULL && i < self->doc->parameters.count; i++) {
        if (self->parameter_modules[i] != LINK_NONE)
            self->module_parameters[self->parameter_modules[i]]++;
    }
    return self->module_parameters != NULL;
}

/* --- data flow --- */

typedef struct function_order {
    const model_doc *doc;
    const model_flow *flow;
} function_order;

static bool function_before(const void *context, uint32_t a, uint32_t b)
{
    const function_order *by = context;
    uint64_t x = by->flow->operations[a];
    uint64_t y = by->flow->operations[b];

    if (x != y)
        return x > y;
    return str_compare(MODEL_AT(by->doc->functions, model_function, a)->qualified_name,
                       MODEL_AT(by->doc->functions, model_function, b)->qualified_name) < 0;
}

static void count_flow(const model_links *self, model_flow *flow)
{
    for (size_t i = 0; i < self->doc->tensors.count; i++) {
        if (MODEL_AT(self->doc->tensors, model_tensor, i)->execution_phase != flow->phase)
            continue;
        flow->node_count++;
        flow->edge_count += MODEL_AT(self->doc->tensors, model_tensor, i)->one_of.count;
        if (self->tensor_functions[i] != LINK_NONE)
            flow->tensors[self->tensor_functions[i]]++;
    }
    for (size_t i = 0; i < self->doc->operations.count; i++) {
        const model_operation *row = operation_at(self, i);

        if (row->execution_phase != flow->phase)
            continue;
        flow->node_count++;
        flow->edge_count += row->inputs.count + 1;
        if (self->operation_functions[i] != LINK_NONE)
            flow->operations[self->operation_functions[i]]++;
    }
}

static bool link_flow(model_links *self, model_flow *flow, uint8_t phase)
{
    size_t count = self->doc->functions.count;
    uint32_t *room = arena_take(&self->mem, (count + 1) * sizeof *room);
    function_order by = {self->doc, flow};

    flow->phase = phase;
    flow->functions = arena_take(&self->mem, (count + 1) * sizeof *flow->functions);
    flow->operations = arena_zero(&self->mem, (count + 1) * sizeof *flow->operations);
    flow->tensors = arena_zero(&self->mem, (count + 1) * sizeof *flow->tensors);
    if (room == NULL || flow->functions == NULL || flow->operations == NULL ||
        flow->tensors == NULL)
        return false;
    count_flow(self, flow);
    for (size_t i = 0; i < count; i++) {
        if (flow->operations[i] > 0 || flow->tensors[i] > 0)
            flow->functions[flow->function_count++] = (uint32_t)i;
    }
    sort_with(flow->functions, room, flow->function_count, function_before, &by);
    return true;
}

/* --- edges --- */

size_t model_architecture_edges(const model_links *self)
{
    return self->doc->architecture_edges.count + 2 * self->doc->modules.count;
}

bool model_architecture_edge(const model_links *self, const model_choice *choice, size_t number,
                             model_link *ret)
{
    size_t edges = self->doc->architecture_edges.count;
    size_t modules = self->doc->modules.count;
    const model_module *module;

    *ret = (model_link){0};
    if (number < edges) {
        ret->edge = MODEL_AT(self->doc->architecture_edges, model_edge, number);
        ret->from = find(&self->components, ret->edge->from);
        ret->to = find(&self->components, ret->edge->to);
        return choice_has(choice->components, ret->from) && choice_has(choice->components, ret->to);
    }
    number -= edges;
    ret->is_root = number >= modules;
    ret->to = (uint32_t)(ret->is_root ? number - modules : number);
    module = module_at(self, ret->to);
    if (ret->is_root)
        return self->doc->components.count == 1 && module->parent.ptr == NULL &&
               choice_has(choice->components, 0) && choice_has(choice->modules, ret->to);
    ret->from = find(&self->modules, module->parent);
    return module->parent.ptr != NULL && choice_has(choice->modules, ret->to) &&
           choice_has(choice->modules, ret->from);
}

bool model_stage_follows(const model_doc *doc, size_t stage)
{
    opt_u64 at;
    opt_u64 next;

    if (stage + 1 >= doc->stages.count)
        return false;
    at = MODEL_AT(doc->stages, model_stage, stage)->order;
    next = MODEL_AT(doc->stages, model_stage, stage + 1)->order;
    return at.is_set && next.is_set && at.value < UINT64_MAX && next.value == at.value + 1;
}

/* Edges of the first `stages` stages among themselves; dependencies are taken by what they name. */
static uint64_t count_stage_edges(const model_links *self, size_t stages, size_t rows)
{
    uint64_t count = 0;

    for (size_t i = 0; i < stages; i++) {
        size_t given = MODEL_AT(self->doc->stages, model_stage, i)->depends_on.count;

        count += given < rows ? given : rows;
        count += i + 1 < stages && model_stage_follows(self->doc, i);
    }
    return count < rows ? count : rows;
}

/* --- totals --- */

static bool is_diagnostic(const model_finding *finding)
{
    return finding->severity != MODEL_FINDING_SEVERITY_INFORMATION;
}

static uint64_t count_findings(const model_doc *doc, const bool *kept, bool is_diagnostics)
{
    uint64_t count = 0;

    for (size_t i = 0; i < doc->findings.count; i++)
        count += choice_has(kept, i) &&
                 (!is_diagnostics || is_diagnostic(MODEL_AT(doc->findings, model_finding, i)));
    return count;
}

static uint64_t count_related(const model_doc *doc, const bool *kept, size_t rows)
{
    uint64_t count = 0;

    for (size_t i = 0; i < doc->findings.count; i++) {
        size_t related = MODEL_AT(doc->findings, model_finding, i)->related.count;

        if (choice_has(kept, i))
            count += related < rows ? related : rows;
    }
    return count;
}

static uint64_t count_diagnosis_keys(const doc_checkpoint *checkpoint, size_t rows)
{
    uint64_t count = 0;

    for (size_t i = 0; i < checkpoint->diagnosis.count; i++) {
        const doc_diagnosis *row = MODEL_AT(checkpoint->diagnosis, doc_diagnosis, i);

        count += row->keys.count < rows ? row->keys.count : rows;
        count += row->file_keys.count < rows ? row->file_keys.count : rows;
    }
    return count;
}

static void count_checkpoint(const doc_checkpoint *checkpoint, uint64_t *totals)
{
    totals[SHOWN_LIST_MISSING] = checkpoint->missing_certain.count;
    totals[SHOWN_LIST_CONDITIONAL] = checkpoint->missing_conditional.count;
    totals[SHOWN_LIST_UNCLAIMED] = checkpoint->unclaimed.count;
    totals[SHOWN_LIST_TEMPLATES] = checkpoint->templates.count;
    totals[SHOWN_LIST_MISMATCHES] = checkpoint->shape_mismatches.count;
    totals[SHOWN_LIST_SHARDS] = checkpoint->shards.count;
    totals[SHOWN_LIST_DIAGNOSIS] = checkpoint->diagnosis.count;
    totals[SHOWN_LIST_DIAGNOSIS_KEYS] = count_diagnosis_keys(checkpoint, SIZE_MAX);
    totals[SHOWN_LIST_INDEX] = checkpoint->index_differences.count;
}

static uint64_t count_architecture(const model_links *self, const model_choice *choice)
{
    uint64_t count = 0;
    model_link link;

    for (size_t i = 0; i < model_architecture_edges(self); i++)
        count += model_architecture_edge(self, choice, i, &link);
    return count;
}

static uint64_t count_entrypoints(const model_doc *doc)
{
    uint64_t count = 0;

    for (size_t i = 0; i < doc->functions.count; i++)
        count += MODEL_AT(doc->functions, model_function, i)->is_entrypoint;
    return count;
}

static void count_totals(model_links *self)
{
    static const model_choice all = {.rows = SIZE_MAX, .flow_rows = SIZE_MAX};
    const model_doc *doc = self->doc;
    uint64_t *totals = self->totals;

    totals[SHOWN_LIST_ENTRYPOINTS] = count_entrypoints(doc);
    totals[SHOWN_LIST_MODULES] = doc->modules.count;
    totals[SHOWN_LIST_PARAMETERS] = doc->parameters.count;
    totals[SHOWN_LIST_NODES] = doc->components.count + doc->modules.count;
    totals[SHOWN_LIST_EDGES] = count_architecture(self, &all);
    totals[SHOWN_LIST_TRAIN_FUNCTIONS] = self->flows[FLOW_TRAIN].function_count;
    totals[SHOWN_LIST_TRAIN_NODES] = self->flows[FLOW_TRAIN].node_count;
    totals[SHOWN_LIST_TRAIN_EDGES] = self->flows[FLOW_TRAIN].edge_count;
    totals[SHOWN_LIST_INFER_FUNCTIONS] = self->flows[FLOW_INFER].function_count;
    totals[SHOWN_LIST_INFER_NODES] = self->flows[FLOW_INFER].node_count;
    totals[SHOWN_LIST_INFER_EDGES] = self->flows[FLOW_INFER].edge_count;
    totals[SHOWN_LIST_STAGES] = doc->stages.count;
    totals[SHOWN_LIST_STAGE_EDGES] = count_stage_edges(self, doc->stages.count, SIZE_MAX);
    totals[SHOWN_LIST_FINDINGS] = doc->findings.count;
    totals[SHOWN_LIST_DIAGNOSTICS] = count_findings(doc, NULL, true);
    totals[SHOWN_LIST_RELATED] = count_related(doc, NULL, SIZE_MAX);
    if (doc->runtime != NULL)
        totals[SHOWN_LIST_EDGE_TIMINGS] = ((const model_runtime *)doc->runtime)->edge_timings.count;
    if (self->checkpoint != NULL)
        count_checkpoint(self->checkpoint, totals);
}

cg_code model_links_make(heap *from, const model_doc *doc, const doc_checkpoint *checkpoint,
                         model_links *ret, cg_err *reterr)
{
    *ret = (model_links){.heap = from, .doc = doc, .checkpoint = checkpoint};
    arena_init(&ret->mem, from);
    if (!build_indices(ret) || !link_lists(ret) || !rank_components(ret) ||
        !count_parameters(ret) || !link_flow(ret, &ret->flows[FLOW_TRAIN], MODEL_PHASE_TRAIN) ||
        !link_flow(ret, &ret->flows[FLOW_INFER], MODEL_PHASE_INFER))
        return err_nomem(reterr);
    count_totals(ret);
    return CG_OK;
}

void model_links_free(model_links *self)
{
    text_index *const indices[] = {&self->components, &self->modules, &self->parameters,
                                   &self->functions, &self->tensors};

    for (size_t i = 0; i < sizeof indices / sizeof indices[0]; i++) {
        if (indices[i]->heap != NULL)
            index_free(indices[i]);
    }
    arena_free(&self->mem);
}

/* --- choice --- */

/* How much of each owner is shown: of two kinds of records. */
typedef struct shares {
    uint64_t *first;
    uint64_t *second;
} shares;

/*
 * Go through the owners in the order of `ranked` and take what they have, whole; only of the first
 * that has something a part is taken if need be. In: what they have; out: what is taken.
 */
static void share(const uint32_t *ranked, size_t count, uint64_t rows, shares *of)
{
    uint64_t left = rows;
    bool is_first = true;

    for (size_t i = 0; i < count; i++) {
        uint64_t *first = &of->first[ranked[i]];
        uint64_t *second = &of->second[ranked[i]];

        if (*first + *second > left && is_first) {
            *first = *first < left / 2 ? *first : left / 2;
            *second = *second < left - *first ? *second : left - *first;
        } else if (*first + *second > left) {
            *first = *second = 0;
        }
        left -= *first + *second;
        is_first = is_first && *first + *second == 0;
    }
}

/* Keep a record whose owner has some of its share left. */
static void keep(bool *kept, size_t index, uint32_t owner, uint64_t *left, uint64_t *displayed)
{
    if (owner == LINK_NONE || left[owner] == 0)
        return;
    left[owner]--;
    kept[index] = true;
    (*displayed)++;
}

static bool take_shares(arena *mem, size_t count, shares *ret)
{
    ret->first = arena_zero(mem, (count + 1) * sizeof *ret->first);
    ret->second = arena_zero(mem, (count + 1) * sizeof *ret->second);
    return ret->first != NULL && ret->second != NULL;
}

static bool choose_structure(const model_links *self, arena *mem, model_choice *choice)
{
    const model_doc *doc = self->doc;
    size_t shown = choice_rows(choice, doc->components.count);
    shares of;

    if (!take_shares(mem, doc->components.count, &of))
        return false;
    for (size_t i = 0; i < doc->modules.count; i++) {
        if (self->module_components[i] != LINK_NONE)
            of.first[self->module_components[i]]++;
    }
    for (size_t i = 0; i < doc->parameters.count; i++) {
        if (self->parameter_components[i] != LINK_NONE)
            of.second[self->parameter_components[i]]++;
    }
    for (size_t i = shown; i < doc->components.count; i++)
        of.first[self->ranked[i]] = of.second[self->ranked[i]] = 0;
    share(self->ranked, shown, choice->rows, &of);
    for (size_t i = 0; i < shown; i++)
        choice->components[self->ranked[i]] = true;
    for (size_t i = 0; i < doc->modules.count; i++)
        keep(choice->modules, i, self->module_components[i], of.first,
             &choice->displayed[SHOWN_LIST_MODULES]);
    for (size_t i = 0; i < doc->parameters.count; i++)
        keep(choice->parameters, i, self->parameter_components[i], of.second,
             &choice->displayed[SHOWN_LIST_PARAMETERS]);
    choice->displayed[SHOWN_LIST_NODES] = shown + choice->displayed[SHOWN_LIST_MODULES];
    choice->displayed[SHOWN_LIST_EDGES] =
        choice_rows(choice, (size_t)count_architecture(self, choice));
    return true;
}

/* The edges of an operation whose other end is shown too. */
static uint64_t count_flow_edges(const model_links *self, const model_choice *choice,
                                 const model_operation *row)
{
    uint64_t count = choice_has(choice->tensors, find(&self->tensors, row->output));

    for (size_t i = 0; i < row->inputs.count; i++)
        count += choice_has(choice->tensors, find(&self->tensors, row->inputs.at[i]));
    return count;
}

/* From what a joined tensor may be, as far as that is shown. */
static uint64_t count_join_edges(const model_links *self, const model_choice *choice,
                                 const model_tensor *row)
{
    uint64_t count = 0;

    for (size_t i = 0; i < row->one_of.count; i++)
        count += choice_has(choice->tensors, find(&self->tensors, row->one_of.at[i]));
    return count;
}

static bool choose_flow(const model_links *self, arena *mem, const model_flow *flow,
                        model_choice *choice, uint64_t *nodes, uint64_t *edges)
{
    const model_doc *doc = self->doc;
    size_t shown = choice_rows(choice, flow->function_count);
    uint32_t *smallest = arena_take(mem, (shown + 1) * sizeof *smallest);
    uint64_t count = 0;
    shares of;

    if (smallest == NULL || !take_shares(mem, doc->functions.count, &of))
        return false;
    for (size_t i = 0; i < shown; i++) {
        uint32_t function = flow->functions[i];

        smallest[shown - 1 - i] = function;
        of.first[function] = flow->tensors[function];
        of.second[function] = flow->operations[function];
    }
    share(smallest, shown, choice->flow_rows, &of);
    for (size_t i = 0; i < doc->tensors.count; i++) {
        if (MODEL_AT(doc->tensors, model_tensor, i)->execution_phase == flow->phase)
            keep(choice->tensors, i, self->tensor_functions[i], of.first, nodes);
    }
    for (size_t i = 0; i < doc->operations.count; i++) {
        const model_operation *row = operation_at(self, i);

        if (row->execution_phase != flow->phase)
            continue;
        keep(choice->operations, i, self->operation_functions[i], of.second, nodes);
        if (choice->operations[i])
            count += count_flow_edges(self, choice, row);
    }
    for (size_t i = 0; i < doc->tensors.count; i++) {
        const model_tensor *row = MODEL_AT(doc->tensors, model_tensor, i);

        if (row->execution_phase == flow->phase && choice->tensors[i])
            count += count_join_edges(self, choice, row);
    }
    *edges = count;
    return true;
}

static void choose_findings(const model_links *self, model_choice *choice)
{
    const model_doc *doc = self->doc;
    size_t left = choice_rows(choice, doc->findings.count);

    for (int severity = MODEL_FINDING_SEVERITY_ERROR; severity >= 0; severity--) {
        for (size_t i = 0; i < doc->findings.count && left > 0; i++) {
            if (MODEL_AT(doc->findings, model_finding, i)->severity == severity) {
                choice->findings[i] = true;
                left--;
            }
        }
    }
    choice->displayed[SHOWN_LIST_FINDINGS] = count_findings(doc, choice->findings, false);
    choice->displayed[SHOWN_LIST_RELATED] = count_related(doc, choice->findings, choice->rows);
    choice->displayed[SHOWN_LIST_DIAGNOSTICS] = count_findings(doc, choice->findings, true);
}

static bool take_structure(const model_doc *doc, arena *mem, model_choice *choice)
{
    choice->components = arena_zero(mem, doc->components.count + 1);
    choice->modules = arena_zero(mem, doc->modules.count + 1);
    choice->parameters = arena_zero(mem, doc->parameters.count + 1);
    choice->findings = arena_zero(mem, doc->findings.count + 1);
    return choice->components != NULL && choice->modules != NULL && choice->parameters != NULL &&
           choice->findings != NULL;
}

static bool take_flows(const model_doc *doc, arena *mem, model_choice *choice)
{
    choice->tensors = arena_zero(mem, doc->tensors.count + 1);
    choice->operations = arena_zero(mem, doc->operations.count + 1);
    return choice->tensors != NULL && choice->operations != NULL;
}

/* Everything but data flow. */
static bool choose_rows(const model_links *self, arena *mem, model_choice *choice)
{
    uint64_t *displayed = choice->displayed;

    displayed[SHOWN_LIST_MODULES] = displayed[SHOWN_LIST_PARAMETERS] = 0;
    if (!take_structure(self->doc, mem, choice) || !choose_structure(self, mem, choice))
        return false;
    choose_findings(self, choice);
    displayed[SHOWN_LIST_STAGE_EDGES] =
        count_stage_edges(self, choice_rows(choice, self->doc->stages.count), choice->rows);
    if (self->checkpoint != NULL) {
        doc_checkpoint cut = *self->checkpoint;

        cut.diagnosis.count = choice_rows(choice, cut.diagnosis.count);
        displayed[SHOWN_LIST_DIAGNOSIS_KEYS] = count_diagnosis_keys(&cut, choice->rows);
    }
    return true;
}

static bool choose_flows(const model_links *self, arena *mem, model_choice *choice)
{
    uint64_t *displayed = choice->displayed;

    displayed[SHOWN_LIST_TRAIN_NODES] = displayed[SHOWN_LIST_INFER_NODES] = 0;
    return take_flows(self->doc, mem, choice) &&
           choose_flow(self, mem, &self->flows[FLOW_TRAIN], choice,
                       &displayed[SHOWN_LIST_TRAIN_NODES], &displayed[SHOWN_LIST_TRAIN_EDGES]) &&
           choose_flow(self, mem, &self->flows[FLOW_INFER], choice,
                       &displayed[SHOWN_LIST_INFER_NODES], &displayed[SHOWN_LIST_INFER_EDGES]);
}

cg_code model_choose(const model_links *self, arena *mem, size_t rows, size_t flow_rows,
                     model_choice *ret, cg_err *reterr)
{
    *ret = (model_choice){.rows = rows, .flow_rows = flow_rows};
    for (unsigned i = 0; i < SHOWN_LIST_COUNT; i++)
        ret->displayed[i] = self->totals[i] < rows ? self->totals[i] : rows;
    /* Of these, what is shown follows from other lists. */
    for (unsigned i = SHOWN_LIST_TRAIN_NODES; i <= SHOWN_LIST_TRAIN_EDGES; i++)
        ret->displayed[i] = self->totals[i];
    for (unsigned i = SHOWN_LIST_INFER_NODES; i <= SHOWN_LIST_INFER_EDGES; i++)
        ret->displayed[i] = self->totals[i];
    if ((rows != SIZE_MAX && !choose_rows(self, mem, ret)) ||
        (flow_rows != SIZE_MAX && !choose_flows(self, mem, ret)))
        return err_nomem(reterr);
    return CG_OK;
}
