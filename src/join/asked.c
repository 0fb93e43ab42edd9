#include "join/asked.h"

#include "join/as_called.h"
#include "join/asked_key.h"
#include "join/attempts.h"

static enum parameter_use use_of(cg_str library, const extract_parameter *from)
{
    static const struct {
        const char *part;
        enum parameter_use use;
    } uses[] = {{"batch_norm", PARAMETER_BATCH_NORM}, {"BatchNorm", PARAMETER_BATCH_NORM},
                {"layer_norm", PARAMETER_NORM},       {"LayerNorm", PARAMETER_NORM},
                {"rms_norm", PARAMETER_NORM},         {"RmsNorm", PARAMETER_NORM},
                {"group_norm", PARAMETER_NORM},       {"GroupNorm", PARAMETER_NORM},
                {"embedding", PARAMETER_EMBEDDING},   {"Embedding", PARAMETER_EMBEDDING},
                {"linear", PARAMETER_LINEAR},         {"Linear", PARAMETER_LINEAR},
                {"conv", PARAMETER_CONVOLUTION},      {"Conv", PARAMETER_CONVOLUTION}};

    if (from->is_running_state)
        return PARAMETER_RUNNING;
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        if (str_find(library, str_from(uses[i].part)) != SIZE_MAX)
            return uses[i].use;
    }
    return PARAMETER_ANY;
}

/* Where the component itself begins what the parameter ends up in; its own ones are in no part. */
static model_place part_of(const extract_component *component, const extract_parameter *parameter)
{
    size_t count = component != NULL ? component->instances.count : 0;
    uint32_t at = parameter->instance;
    model_place place = {0};

    /* Each constructor has an instance without a parent. */
    while (at < count && component->instances.at[at].parent != UINT32_MAX) {
        place = component->instances.at[at].place;
        at = component->instances.at[at].parent;
    }
    return place;
}

static cg_code make_parameter(arena *mem, const extraction *from, const function_facts *functions,
                              const extract_component *component,
                              const extract_parameter *parameter, wanted_parameter *to,
                              cg_err *reterr)
{
    bool is_open = false;

    *to = (wanted_parameter){
        .root = parameter->root,
        .is_certain = parameter->condition.ptr == NULL,
        .has_rank = parameter->has_shape,
        .shape = parameter->shape,
        .rank = parameter->has_shape ? parameter->rank : 0,
    };
    if (parameter->library != 0)
        to->use = use_of(program_text(from->eval->program, parameter->library), parameter);
    else if (parameter->is_running_state)
        to->use = PARAMETER_RUNNING;
    if (parameter->alternative.len > 0) {
        to->alternatives = &parameter->alternative;
        to->alternative_count = 1;
    }
    CG_TRY(asked_key_make(mem, from, functions, parameter, to, &is_open, reterr));
    if (!asked_step(mem, from->eval->program, functions, parameter->place, &to->asked_at) ||
        !asked_step(mem, from->eval->program, functions, part_of(component, parameter),
                    &to->part_at))
        return err_nomem(reterr);
    if (attempts_is_of_file(parameter->condition, parameter->root))
        to->attempt = parameter->condition;
    to->is_certain = to->is_certain && !is_open;
    return CG_OK;
}

/* Is a program scanned? Then nobody outside builds its components. */
static bool is_program(const program *code_of)
{
    for (item_ref i = 1; i < code_of->items.count; i++) {
        const program_item *item = &code_of->items.at[i];
        const program_crate *crate =
            item->kind == ITEM_FUNCTION
                ? &code_of->crates.at[code_of->modules.at[item->module].crate]
                : NULL;

        if (crate && crate->is_scanned && !crate->is_library && !item->owner &&
            item->module == crate->root &&
            str_equal(program_text(code_of, item->name), CG_LIT("main")))
            return true;
    }
    return false;
}

/* What the calls themselves ask for; their root is called as the constructor calls it. */
static cg_code list_called(const as_called *called, const function_facts *functions,
                           const as_called_result *result, wanted_component *to, cg_err *reterr)
{
    const extract_component *component = &called->from->components.at[result->use->component];
    wanted_parameter *list = arena_zero(called->mem, (result->count + 1) * sizeof *list);

    if (list == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < result->count; i++) {
        CG_TRY(make_parameter(called->mem, called->from, functions, NULL, result->asked[i],
                              &list[i], reterr));
        list[i].root = component->roots[0];
    }
    to->parameters = list;
    to->parameter_count = result->count;
    return CG_OK;
}

/* What those who build a component say about it. */
static cg_code add_callers(const as_called *called, const function_facts *functions, size_t at,
                           wanted_component *to, wanted_parameter *parameters,
                           as_called_result *ret, cg_err *reterr)
{
    size_t count = called->from->uses.count;
    const extract_use *all = called->from->uses.at;
    key_step *steps = arena_zero(called->mem, (count + 1) * sizeof *steps);

    if (!steps)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++) {
        if (all[i].component == at && !asked_step(called->mem, called->from->eval->program,
                                                  functions, all[i].place, &steps[i]))
            return err_nomem(reterr);
    }
    for (size_t i = 0; i < count && to->renamed_by == NULL; i++) {
        if (all[i].component == at && all[i].is_renamed)
            to->renamed_by = &steps[i];
    }
    CG_TRY(as_called_apply(called, at, parameters, steps, ret, reterr));
    if (ret->use) {
        to->built_by = &steps[ret->use - all];
        to->maker = ret->use->function;
        to->maker_root = ret->use->root;
        if (ret->use->is_followed)
            to->renamed_by = NULL;
    }
    return ret->asked ? list_called(called, functions, ret, to, reterr) : CG_OK;
}

cg_code asked_make(heap *from_heap, arena *mem, const extraction *from,
                   const function_facts *functions, const tensor_header *header, asked_model *ret,
                   cg_err *reterr)
{
    size_t count = from->components.count;
    wanted_component *components = arena_zero(mem, (count + 1) * sizeof *components);
    as_called_result *callers = arena_zero(mem, (count + 1) * sizeof *callers);
    as_called called = {.heap = from_heap,
                        .mem = mem,
                        .from = from,
                        .header = header,
                        .is_program = is_program(from->eval->program)};

    if (components == NULL || callers == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++) {
        const extract_component *component = &from->components.at[i];
        size_t parameters = component->parameters.count;
        wanted_parameter *to = arena_zero(mem, (parameters + 1) * sizeof *to);

        if (to == NULL)
            return err_nomem(reterr);
        for (size_t j = 0; j < parameters; j++)
            CG_TRY(make_parameter(mem, from, functions, component, &component->parameters.at[j],
                                  &to[j], reterr));
        components[i] = (wanted_component){.name = component->qualified,
                                           .is_top_level = !component->is_nested,
                                           .parameters = to,
                                           .parameter_count = parameters};
        if (component->is_maker && component->root_count == 1) {
            components[i].maker = component->constructor;
            components[i].maker_root = component->roots[0];
        }
        if (header != NULL)
            CG_TRY(add_callers(&called, functions, i, &components[i], to, &callers[i], reterr));
        /* A type parameter of another one, that only its callers know. */
        if (header != NULL && component->is_within && callers[i].use == NULL)
            components[i].is_top_level = false;
    }
    *ret = (asked_model){mem, from, components, count, callers};
    return CG_OK;
}
