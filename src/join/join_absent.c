/* What is declared and did not run. */
#include "join/join_part.h"

#include "base/sort.h"

#define NONE DECLARED_NONE

typedef struct absence {
    const join *from;
    const declared *crate;
    const model_doc *doc;
    arena *mem;
    VEC(join_absent) rows;
    bool *is_told;      /* by item */
    bool *is_observed;  /* by component */
    bool *is_alive;     /* by item: it, a part of it or what it is part of was recorded */
    bool *is_reached;   /* by function */
    bool *has_function; /* by component: a span of one of its functions */
    sc_u64s runs;       /* of full worth */
    uint32_t *listed;   /* units whose gradients a run lists */
    size_t listed_count;
    text_index operations;
    bool is_out; /* of memory */
} absence;

/* --- calls --- */

bool *join_reach(const join *from, arena *mem, const bool *is_start)
{
    const model_doc *doc = from->doc;
    size_t count = doc->functions.count;
    bool *is_reached = arena_zero(mem, count + 1);
    uint32_t *open = arena_take(mem, (count + 1) * sizeof *open);
    size_t open_count = 0;

    if (is_reached == NULL || open == NULL)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        is_reached[i] = is_start[i];
        if (is_start[i])
            open[open_count++] = i;
    }
    while (open_count > 0) {
        const model_function *function =
            MODEL_AT(doc->functions, model_function, open[--open_count]);

        for (size_t i = 0; i < function->calls.count; i++) {
            size_t called = index_find(&from->crate.function_ids, function->calls.at[i]);

            if (called == INDEX_NONE || is_reached[called])
                continue;
            is_reached[called] = true;
            open[open_count++] = (uint32_t)called;
        }
    }
    return is_reached;
}

/* --- one row --- */

static void tell(absence *self, uint32_t item, uint8_t basis, cg_str explanation, cg_str finding)
{
    join_item what = join_item_of(self->crate, item);
    join_absent *fresh;

    if (self->is_out || self->is_told[item] || self->from->is_doubtful[item])
        return;
    fresh = vec_add(self->from->heap, &self->rows);
    if (fresh == NULL) {
        self->is_out = true;
        return;
    }
    self->is_told[item] = true;
    *fresh = (join_absent){.id = what.id,
                           .kind = what.kind,
                           .name = what.name,
                           .component = what.component,
                           .module = what.module,
                           .location = what.location,
                           .basis = basis,
                           .explanation = explanation,
                           .finding = finding,
                           .runs = self->runs};
}

/* A sentence with a name in it. */
static cg_str say(absence *self, const char *before, cg_str name, const char *behind)
{
    cg_str ret = {0};

    if (!arena_format(self->mem, &ret, "%s `%.*s`%s", before, (int)name.len, name.ptr, behind))
        self->is_out = true;
    return ret;
}

/* --- what was recorded --- */

/* A gradient that came, whatever it was, has been through the forward pass. */
static bool has_gradient(const join_gradient *event)
{
    return event->states[GRADIENT_STATE_PRESENT] > 0 || event->states[GRADIENT_STATE_ZERO] > 0 ||
           event->states[GRADIENT_STATE_NON_FINITE] > 0;
}

static void raise(absence *self, uint32_t item)
{
    const declared *crate = self->crate;

    if (self->is_alive[item])
        return;
    self->is_alive[item] = true;
    if (declared_kind(crate, item) == JOIN_ITEM_PARAMETER) {
        uint32_t layer = crate->layer_of[declared_place(crate, JOIN_ITEM_PARAMETER, item)];

        if (layer != NONE)
            self->is_alive[declared_item(crate, DECLARED_LAYER, layer)] = true;
    }
    for (uint32_t at = crate->parent_of[item]; at != NONE;) {
        uint32_t above = declared_item(crate, JOIN_ITEM_MODULE, at);

        if (self->is_alive[above])
            return;
        self->is_alive[above] = true;
        at = crate->parent_of[above];
    }
}

static void find_alive(absence *self)
{
    const join *from = self->from;
    const declared *crate = self->crate;

    for (size_t i = 0; i < from->facts.count; i++) {
        uint32_t item = from->facts.at[i].item;
        uint32_t component = crate->component_of[item];

        if (component != NONE)
            self->is_observed[component] = true;
        if (from->facts.at[i].fact.gradient == NULL)
            raise(self, item);
        if (component != NONE && declared_kind(crate, item) == JOIN_ITEM_FUNCTION)
            self->has_function[component] = true;
    }
    for (size_t i = 0; i < from->gradients.count; i++) {
        if (from->gradients.at[i].item != NONE && has_gradient(&from->gradients.at[i]))
            raise(self, from->gradients.at[i].item);
    }
    /* A layer that ran has run with all its parameters, a module with those it holds itself. */
    for (uint32_t i = 0; i < self->doc->parameters.count; i++) {
        uint32_t item = declared_item(crate, JOIN_ITEM_PARAMETER, i);
        uint32_t layer = crate->layer_of[i];

        if (layer != NONE && self->is_alive[declared_item(crate, DECLARED_LAYER, layer)])
            self->is_alive[item] = true;
    }
}

/* --- components --- */

static void find_components(absence *self)
{
    bool is_any = false;

    for (size_t i = 0; i < self->doc->components.count; i++)
        is_any = is_any || self->is_observed[i];
    for (uint32_t i = 0; is_any && i < self->doc->components.count; i++) {
        const model_component *component = MODEL_AT(self->doc->components, model_component, i);

        if (component->is_nested != BOOL_TRUE && !self->is_observed[i])
            tell(self, declared_item(self->crate, JOIN_ITEM_COMPONENT, i), JOIN_BASIS_COMPONENT,
                 CG_LIT("no function, module or parameter of it was recorded, of other components "
                        "there were"),
                 (cg_str){0});
    }
}

/* --- functions --- */

static void find_functions(absence *self)
{
    const declared *crate = self->crate;

    for (uint32_t i = 0; i < self->doc->functions.count; i++) {
        const model_function *function = MODEL_AT(self->doc->functions, model_function, i);
        uint32_t item = declared_item(crate, JOIN_ITEM_FUNCTION, i);
        uint32_t component = crate->component_of[item];
        bool computes = function->tensor_inputs.count > 0 || function->tensor_outputs.count > 0 ||
                        function->is_entrypoint;

        if (!computes || self->is_reached[i] || function->cfg_active == BOOL_FALSE ||
            component == NONE || !self->has_function[component])
            continue;
        tell(self, item, JOIN_BASIS_UNREACHED,
             say(self, "functions of its type were recorded, and none of them calls",
                 function->name, ""),
             (cg_str){0});
    }
}

/* --- modules and layers --- */

/* Does a function that ran use the parameter? Then it took part, whatever has a span. */
static bool is_used(absence *self, const model_parameter *parameter)
{
    for (size_t i = 0; i < parameter->uses.count; i++) {
        size_t at = index_find(&self->operations, parameter->uses.at[i]);
        uint32_t function;

        if (at == INDEX_NONE)
            continue;
        function = self->crate->function_of[declared_item(self->crate, JOIN_ITEM_OPERATION, at)];
        if (function != NONE && self->is_reached[function])
            return true;
    }
    return false;
}

/* Children of every module: how many there are, how many have spans. */
typedef struct family {
    uint32_t all, seen;
} family;

static void count_child(absence *self, family *families, uint32_t item)
{
    uint32_t parent = self->crate->parent_of[item];

    if (parent == NONE)
        return;
    families[parent].all++;
    families[parent].seen += self->from->is_span_seen[item] ? 1 : 0;
}

static bool is_left_out(const absence *self, const family *families, uint32_t item)
{
    uint32_t parent = self->crate->parent_of[item];

    /* One sibling with a span says little; most of them say that spans are made for all. */
    return parent != NONE && !self->is_alive[item] && !self->from->is_span_seen[item] &&
           families[parent].seen >= 2 && families[parent].seen > families[parent].all / 2;
}

static void tell_layer(absence *self, const family *families, uint32_t layer)
{
    const declared *crate = self->crate;
    const declared_layer *at = &crate->layers.at[layer];

    if (!is_left_out(self, families, declared_item(crate, DECLARED_LAYER, layer)))
        return;
    for (uint32_t i = at->first; i != NONE; i = crate->next_in_layer[i]) {
        const model_parameter *parameter = MODEL_AT(self->doc->parameters, model_parameter, i);

        if (!is_used(self, parameter))
            tell(self, declared_item(crate, JOIN_ITEM_PARAMETER, i), JOIN_BASIS_SIBLINGS,
                 say(self, "most layers beside", at->prefix, " have spans, and it has none"),
                 (cg_str){0});
    }
}

static void find_modules(absence *self)
{
    const declared *crate = self->crate;
    size_t modules = self->doc->modules.count;
    family *families = arena_zero(self->mem, (modules + 1) * sizeof *families);
    bool *is_in_use = arena_zero(self->mem, modules + 1);

    if (families == NULL || is_in_use == NULL) {
        self->is_out = true;
        return;
    }
    for (uint32_t i = 0; i < modules; i++)
        count_child(self, families, declared_item(crate, JOIN_ITEM_MODULE, i));
    for (uint32_t i = 0; i < crate->layers.count; i++)
        count_child(self, families, declared_item(crate, DECLARED_LAYER, i));
    for (uint32_t i = 0; i < self->doc->parameters.count; i++) {
        uint32_t module = crate->parent_of[declared_item(crate, JOIN_ITEM_PARAMETER, i)];

        if (module != NONE && !is_in_use[module])
            is_in_use[module] = is_used(self, MODEL_AT(self->doc->parameters, model_parameter, i));
    }
    for (uint32_t i = 0; i < modules; i++) {
        uint32_t item = declared_item(crate, JOIN_ITEM_MODULE, i);

        if (is_left_out(self, families, item) && !is_in_use[i])
            tell(self, item, JOIN_BASIS_SIBLINGS,
                 say(self, "most modules beside",
                     MODEL_AT(self->doc->modules, model_module, i)->prefix,
                     " have spans, and it has none"),
                 (cg_str){0});
    }
    for (uint32_t i = 0; i < crate->layers.count; i++)
        tell_layer(self, families, i);
}

/* --- operations --- */

/* Function and place of an operation. */
static uint64_t call_key(const absence *self, uint32_t item)
{
    const model_location *at = MODEL_AT(self->doc->operations, model_operation,
                                        declared_place(self->crate, JOIN_ITEM_OPERATION, item))
                                   ->location;

    return number_map_key(self->crate->function_of[item] + 1,
                          at != NULL ? (uint32_t)at->byte_start : UINT32_MAX);
}

/* An operation stands once for every phase: what was seen of one was seen of all. */
static bool find_seen_calls(absence *self, number_map *ret, bool *has_operation)
{
    const declared *crate = self->crate;

    for (size_t i = 0; i < self->from->facts.count; i++) {
        uint32_t item = self->from->facts.at[i].item;
        uint32_t function =
            declared_kind(crate, item) == JOIN_ITEM_OPERATION ? crate->function_of[item] : NONE;

        if (function == NONE)
            continue;
        has_operation[function] = true;
        if (number_map_put(ret, call_key(self, item), 1) == NULL)
            return false;
    }
    /* One of several that an ambiguous name may be has perhaps run. */
    for (size_t i = 0; i < self->from->candidates.count; i++) {
        uint32_t item = self->from->candidates.at[i];

        if (declared_kind(crate, item) == JOIN_ITEM_OPERATION &&
            number_map_put(ret, call_key(self, item), 1) == NULL)
            return false;
    }
    return true;
}

static void find_operations(absence *self)
{
    const declared *crate = self->crate;
    bool *has_operation = arena_zero(self->mem, self->doc->functions.count + 1);
    number_map seen;

    number_map_init(&seen, self->from->heap);
    if (has_operation == NULL || !find_seen_calls(self, &seen, has_operation))
        self->is_out = true;
    for (uint32_t i = 0; !self->is_out && i < self->doc->operations.count; i++) {
        uint32_t item = declared_item(crate, JOIN_ITEM_OPERATION, i);
        uint32_t function = crate->function_of[item];
        uint32_t *known;

        if (function == NONE || !crate->is_home[i] || !has_operation[function] ||
            !self->from->is_in_complete[function])
            continue;
        known = number_map_put(&seen, call_key(self, item), 0);
        if (known == NULL) {
            self->is_out = true;
        } else if (*known == 0) {
            *known = 1;
            tell(self, item, JOIN_BASIS_OPERATIONS,
                 CG_LIT("the run recorded all operations, its function ran, and this one is not "
                        "among them"),
                 (cg_str){0});
        }
    }
    number_map_free(&seen);
}

/* --- parameters --- */

static void find_unused(absence *self, const text_index *parameters)
{
    for (size_t i = 0; i < self->doc->findings.count; i++) {
        const model_finding *finding = MODEL_AT(self->doc->findings, model_finding, i);

        if (!str_equal(finding->rule, CG_LIT("unused-parameter")))
            continue;
        for (size_t k = 0; k < finding->related.count; k++) {
            size_t at = index_find(parameters, finding->related.at[k]);
            uint32_t item;
            uint32_t component;

            if (at == INDEX_NONE)
                continue;
            item = declared_item(self->crate, JOIN_ITEM_PARAMETER, at);
            component = self->crate->component_of[item];
            if (component != NONE && self->is_observed[component] && !self->is_alive[item])
                tell(self, item, JOIN_BASIS_UNUSED,
                     CG_LIT("it reaches no output in the source, and no run shows otherwise"),
                     finding->id);
        }
    }
}

static bool is_trained(const model_parameter *parameter)
{
    return parameter->role != MODEL_PARAMETER_ROLE_FROZEN &&
           parameter->role != MODEL_PARAMETER_ROLE_RUNNING_STATE &&
           parameter->role != MODEL_PARAMETER_ROLE_EXCLUDED;
}

/* Does a run list the gradients of that builder? */
static bool is_of_listed(const absence *self, uint32_t item, cg_str root)
{
    const declared *crate = self->crate;

    for (size_t i = 0; i < self->listed_count; i++) {
        const declared_unit *unit = &crate->units.at[self->listed[i]];

        if (unit->component == crate->component_of[item] && str_equal(unit->root, root))
            return true;
    }
    return false;
}

static void find_unlisted(absence *self)
{
    const join *from = self->from;
    const declared *crate = self->crate;

    for (uint32_t i = 0; i < self->doc->parameters.count; i++) {
        const model_parameter *parameter = MODEL_AT(self->doc->parameters, model_parameter, i);
        uint32_t item = declared_item(crate, JOIN_ITEM_PARAMETER, i);
        if (!from->is_listed[i] && !from->is_seen[item] && is_trained(parameter) &&
            is_of_listed(self, item, parameter->builder_root))
            tell(self, item, JOIN_BASIS_MANIFEST,
                 CG_LIT("the run's list of gradients does not name it"), (cg_str){0});
    }
}

/* --- the whole --- */

static bool list_runs(absence *self)
{
    const join *from = self->from;
    uint64_t *runs = arena_take(self->mem, (from->runs.count + 1) * sizeof *runs);
    size_t count = 0;

    if (runs == NULL)
        return false;
    for (size_t i = 0; i < from->runs.count; i++) {
        if (from->runs.at[i].worth == JOIN_WORTH_FULL)
            runs[count++] = i;
    }
    self->runs = (sc_u64s){runs, count};
    return true;
}

static bool begin(absence *self)
{
    size_t components = self->doc->components.count + 1;
    size_t items = (size_t)declared_count(self->crate) + 1;
    bool *is_start = arena_zero(self->mem, self->doc->functions.count + 1);

    self->listed = arena_take(self->mem, (self->crate->units.count + 1) * sizeof(uint32_t));
    self->is_told = arena_zero(self->mem, items);
    self->is_alive = arena_zero(self->mem, items);
    self->is_observed = arena_zero(self->mem, components);
    self->has_function = arena_zero(self->mem, components);
    if (is_start == NULL || self->listed == NULL || self->is_told == NULL ||
        self->is_alive == NULL || self->is_observed == NULL || self->has_function == NULL ||
        !list_runs(self))
        return false;
    for (uint32_t i = 0; i < self->crate->units.count; i++) {
        if (self->from->is_unit_listed[i])
            self->listed[self->listed_count++] = i;
    }
    for (uint32_t i = 0; i < self->doc->functions.count; i++)
        is_start[i] = self->from->is_seen[declared_item(self->crate, JOIN_ITEM_FUNCTION, i)];
    self->is_reached = join_reach(self->from, self->mem, is_start);
    return self->is_reached != NULL;
}

static bool absent_before(const void *context, uint32_t a, uint32_t b)
{
    const join_absent *rows = context;
    bool is_last = rows[a].kind == JOIN_ITEM_COMPONENT;

    /* A library has many models, and a run uses one. */
    if (is_last != (rows[b].kind == JOIN_ITEM_COMPONENT))
        return !is_last;
    return rows[a].kind < rows[b].kind;
}

/* By kind, components last; within a kind by ground, in the order of the document. */
static bool in_order(absence *self, sc_records *ret)
{
    size_t count = self->rows.count;
    join_absent *sorted = arena_take(self->mem, (count + 1) * sizeof *sorted);
    uint32_t *order = arena_take(self->mem, (count + 1) * sizeof *order);
    uint32_t *room = arena_take(self->mem, (count + 1) * sizeof *room);

    if (sorted == NULL || order == NULL || room == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort_with(order, room, count, absent_before, self->rows.at);
    for (size_t i = 0; i < count; i++)
        sorted[i] = self->rows.at[order[i]];
    *ret = (sc_records){sorted, count};
    return true;
}

cg_code join_absents_find(const join *from, arena *mem, sc_records *ret, cg_err *reterr)
{
    absence work = {.from = from, .crate = &from->crate, .doc = from->doc, .mem = mem};
    text_index parameters = {0};
    bool is_good = begin(&work) &&
                   index_build(&work.operations, from->heap, &from->doc->operations,
                               sizeof(model_operation), offsetof(model_operation, id)) &&
                   index_build(&parameters, from->heap, &from->doc->parameters,
                               sizeof(model_parameter), offsetof(model_parameter, id));

    if (is_good && work.runs.count > 0) {
        find_alive(&work);
        find_components(&work);
        find_functions(&work);
        find_unused(&work, &parameters);
        find_modules(&work);
        find_operations(&work);
        find_unlisted(&work);
    }
    is_good = is_good && !work.is_out && in_order(&work, ret);
    index_free(&work.operations);
    index_free(&parameters);
    vec_free(from->heap, &work.rows);
    return is_good ? CG_OK : err_nomem(reterr);
}
