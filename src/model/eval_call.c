/*
 * Calls: functions of read source with their arguments, closures, methods, and what libraries
 * know.
 */
#include "model/eval_state.h"
#include "model/eval_use.h"
#include "model/flow_build.h"

#define RECURSION 8u /* a function inside itself, through different prefixes */
#define INSTANCES 20000u
/* For a call that is given no builder while a model is built; for one that used it up once. */
#define SIDE_STEPS  8000u
#define HEAVY_STEPS 200u
#define IMPLS       16u /* of a trait, when it is not known which */
#define FANS        2u  /* such calls inside each other, when a builder is handed on; else one */

/* --- facts about functions --- */

cg_code eval_function_fact(eval *self, item_ref function, const function_fact **ret)
{
    eval_state *state = self->state;
    const program_item *item = &self->program->items.at[function];
    const ast *tree = program_tree(self->program, item->file);
    ast_ref parameters, generics;
    function_parameter *to;
    function_fact *made;
    sym *names;
    size_t count = 0;

    while (state->functions.count <= function) {
        function_fact **slot = vec_add(self->program->heap, &state->functions);

        if (!slot)
            return err_nomem(self->reterr);
        *slot = NULL;
    }
    *ret = state->functions.at[function];
    if (*ret)
        return CG_OK;
    parameters = ast_child(tree, item->node, ROLE_PARAMETERS);
    generics = ast_child(tree, item->node, ROLE_TYPE_PARAMETERS);
    for (ast_ref i = parameters ? ast_at(tree, parameters)->first : 0; i; i = ast_at(tree, i)->next)
        count++;
    to = arena_zero(&state->keep, (count + 1) * sizeof *to);
    made = arena_zero(&state->keep, sizeof *made);
    if (!to || !made)
        return err_nomem(self->reterr);
    made->parameters = to;
    for (ast_ref i = parameters ? ast_at(tree, parameters)->first : 0; i;
         i = ast_at(tree, i)->next) {
        const ast_node *at = ast_at(tree, i);

        if (at->kind == AST_SELF_PARAMETER) {
            to[made->parameter_count++] = (function_parameter){
                .is_self = true, .is_reference = (at->flags & AST_MUTABLE) != 0};
        } else if (at->kind == AST_PARAMETER) {
            function_parameter *one = &to[made->parameter_count++];

            one->pattern = ast_child(tree, i, ROLE_PATTERN);
            one->type_node = ast_child(tree, i, ROLE_TYPE);
            one->is_self = one->pattern && ast_kind_of(tree, one->pattern) == AST_SELF;
            one->is_reference = one->type_node &&
                                ast_kind_of(tree, one->type_node) == AST_REFERENCE_TYPE &&
                                (ast_at(tree, one->type_node)->flags & AST_MUTABLE);
        }
    }
    count = 0;
    for (ast_ref i = generics ? ast_at(tree, generics)->first : 0; i; i = ast_at(tree, i)->next)
        count++;
    names = arena_zero(&state->keep, (count + 1) * sizeof *names);
    if (!names)
        return err_nomem(self->reterr);
    for (ast_ref i = generics ? ast_at(tree, generics)->first : 0; i; i = ast_at(tree, i)->next) {
        ast_ref name = ast_child(tree, i, ROLE_NAME);

        if (ast_kind_of(tree, i) == AST_TYPE_PARAMETER && name)
            names[made->generic_count++] = ast_at(tree, name)->text;
    }
    made->generics = names;
    made->result = ast_child(tree, item->node, ROLE_RETURN_TYPE);
    made->body = ast_child(tree, item->node, ROLE_BODY);
    state->functions.at[function] = made;
    *ret = made;
    return CG_OK;
}

/* --- builders in values --- */

static const builder_value *builder_in(const eval *self, val which, unsigned depth)
{
    const value *at = value_at(self->values, which);
    const builder_value *found = NULL;

    if (!at->has_builder || depth > 12)
        return NULL;
    switch ((enum value_kind)at->kind) {
    case VALUE_BUILDER: return at->as.builder;
    case VALUE_STRUCT:
    case VALUE_ENUM:
        for (size_t i = 0; i < at->count && !found; i++)
            found = builder_in(self, at->as.fields[i].value, depth + 1);
        return found;
    case VALUE_REPEAT: return builder_in(self, at->as.repeat.items[0], depth + 1);
    case VALUE_FUNCTION: return builder_in(self, at->as.function.self, depth + 1);
    case VALUE_SOME:
    case VALUE_TUPLE:
    case VALUE_LIST:
    case VALUE_MAP:
    case VALUE_LAZY:
    case VALUE_CHOICE:
        for (size_t i = 0; i < at->count && !found; i++)
            found = builder_in(self, at->as.items[i], depth + 1);
        return found;
    default: return NULL;
    }
}

static void use_steps(eval *self, val which, unsigned depth)
{
    const value *at = value_at(self->values, which);

    if (!at->has_builder || depth > 12)
        return;
    if (at->kind == VALUE_BUILDER) {
        trail_step_used(self->trail, at->as.builder->last);
        return;
    }
    if (at->kind == VALUE_STRUCT || at->kind == VALUE_ENUM) {
        for (size_t i = 0; i < at->count; i++)
            use_steps(self, at->as.fields[i].value, depth + 1);
    } else if (at->kind == VALUE_REPEAT) {
        use_steps(self, at->as.repeat.items[0], depth + 1);
    } else if (at->kind == VALUE_SOME || at->kind == VALUE_TUPLE || at->kind == VALUE_LIST ||
               at->kind == VALUE_MAP || at->kind == VALUE_CHOICE || at->kind == VALUE_LAZY) {
        for (size_t i = 0; i < at->count; i++)
            use_steps(self, at->as.items[i], depth + 1);
    }
}

static bool holds_builder(eval *self, const val *args, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (args[i] && value_at(self->values, eval_deref(self, args[i]))->has_builder)
            return true;
    }
    return false;
}

/* --- what cannot be followed --- */

typedef struct unknown_closure {
    eval *eval;
    val closure;
    model_place place;
} unknown_closure;

static cg_code closure_way(void *context, size_t way, val *ret)
{
    unknown_closure *self = context;

    if (way == 0 && value_kind_of(self->eval->values, self->closure) == VALUE_LAZY)
        return eval_items(self->eval, self->closure, ret);
    if (way == 0)
        return eval_apply(self->eval, self->closure, NULL, 0, self->place, ret);
    *ret = eval_plain(self->eval, VALUE_UNIT);
    return CG_OK;
}

/* What is not followed was lent a place: what it may have left there. */
static cg_code loosen(eval *self, const place_value *place)
{
    val before = spot_read(self, place);
    val after = before ? std_loosened(self, before) : 0;

    if (before && !after)
        return err_nomem(self->reterr);
    return after != before ? spot_write(self, place, after) : CG_OK;
}

cg_code eval_unknown_call(eval *self, cg_str name, type_ref type, const val *args, size_t count,
                          model_place place, val *ret)
{
    bool has_builder = false;

    for (size_t i = 0; i < count; i++) {
        val arg = args[i] ? eval_deref(self, args[i]) : 0;

        if (arg && value_kind_of(self->values, args[i]) == VALUE_REFERENCE)
            CG_TRY(loosen(self, value_at(self->values, args[i])->as.reference));

        if (!arg)
            continue;
        has_builder |= value_at(self->values, arg)->has_builder;
        use_steps(self, arg, 0);
        if (value_kind_of(self->values, arg) == VALUE_CLOSURE ||
            value_kind_of(self->values, arg) == VALUE_LAZY) {
            /* It may be called: what it would do is not lost. */
            bool is_lazy = value_kind_of(self->values, arg) == VALUE_LAZY;
            unknown_closure work = {self, arg, place};
            val ignored = 0;

            CG_TRY(eval_ways(self, 2,
                             is_lazy ? CG_LIT("if the iterator is walked")
                                     : CG_LIT("if the closure is called"),
                             closure_way, &work, &ignored));
            self->state->jump = JUMP_NONE;
        }
    }
    if (self->flow && !has_builder) {
        bool is_known = false;

        CG_TRY(candle_lost(self, name, type, args, count, place, &is_known, ret));
        if (is_known)
            return CG_OK;
    }
    if (has_builder &&
        !trail_add_fault(self->trail, "structure-unresolved", place,
                         "`%.*s` cannot be followed: what it asks its VarBuilder for is not known",
                         name.len > 200 ? 200 : (int)name.len, name.ptr))
        return err_nomem(self->reterr);
    return eval_give(
        self, type ? value_of_type(self->values, type, name) : value_unknown(self->values, 0, name),
        ret);
}

/* `name(a, b)` for what is printed; the source when it stands there. */
static cg_str call_text(eval *self, model_place place, sym name)
{
    if (place.file && place.file < self->program->files.count) {
        cg_str text = self->program->files.at[place.file]->source.text;

        if (place.start < place.end && place.end <= text.len && place.end - place.start <= 120) {
            cg_str part = {text.ptr + place.start, place.end - place.start};

            if (str_find(part, CG_LIT("\n")) == SIZE_MAX)
                return part;
        }
    }
    return program_text(self->program, name);
}

/* --- calling functions of read source --- */

static size_t binding_find(const type_bindings *bindings, sym name)
{
    for (size_t i = 0; i < bindings->count; i++) {
        if (bindings->names[i] == name)
            return i;
    }
    return SIZE_MAX;
}

static bool is_open_type(const eval *self, type_ref type)
{
    enum type_kind kind = (enum type_kind)type_at(self->types, type)->kind;

    return !type || kind == TYPE_PARAMETER || kind == TYPE_UNKNOWN;
}

/* Type parameters of `declared` are what the value's type says. */
static void unify_types(const eval *self, type_ref declared, type_ref actual,
                        type_bindings *bindings, type_ref *types_of, unsigned depth)
{
    const model_type *shape = type_at(self->types, declared);
    const model_type *other = type_at(self->types, actual);

    if (!declared || !actual || depth > 8)
        return;
    if (shape->kind == TYPE_PARAMETER) {
        size_t at = binding_find(bindings, shape->name);

        if (at != SIZE_MAX && is_open_type(self, types_of[at]) && !is_open_type(self, actual))
            types_of[at] = actual;
        return;
    }
    if (shape->kind != other->kind || shape->item != other->item || shape->name != other->name ||
        shape->arg_count != other->arg_count)
        return;
    for (size_t i = 0; i < shape->arg_count; i++)
        unify_types(self, shape->args[i], other->args[i], bindings, types_of, depth + 1);
}

static void unify_value(eval *self, type_ref declared, val arg, type_bindings *bindings,
                        type_ref *types_of, unsigned depth)
{
    const model_type *shape;
    const value *at = value_at(self->values, arg);

    declared = value_transparent(self->values, declared);
    if (!declared || depth > 6)
        return;
    shape = type_at(self->types, declared);
    if (at->kind == VALUE_SOME && value_class(self->values, declared) == CLASS_OPTION &&
        shape->arg_count) {
        unify_value(self, shape->args[0], at->as.items[0], bindings, types_of, depth + 1);
        return;
    }
    if (at->kind == VALUE_LIST && at->count && shape->arg_count &&
        value_class(self->values, declared) == CLASS_LIST) {
        val item = at->as.items[0];

        if (value_kind_of(self->values, item) == VALUE_REPEAT)
            item = value_at(self->values, item)->as.repeat.items[0];
        unify_value(self, shape->args[0], item, bindings, types_of, depth + 1);
        return;
    }
    unify_types(self, declared, value_type(self->values, arg), bindings, types_of, 0);
}

/*
 * The names the callee's types may mention: what the caller gives, its own, and those of its impl.
 */
static cg_code bind_names(eval *self, item_ref function, const function_fact *fact,
                          const type_bindings *given, type_bindings *ret, type_ref **ret_types)
{
    size_t room = (given ? given->count : 0) + fact->generic_count, count = 0;
    sym *names = arena_take(&self->state->mem, (room + 1) * sizeof *names);
    type_ref *types_of = arena_zero(&self->state->mem, (room + 1) * sizeof *types_of);

    (void)function;
    if (!names || !types_of)
        return err_nomem(self->reterr);
    for (size_t i = 0; given && i < given->count; i++) {
        names[count] = given->names[i];
        types_of[count++] = given->types[i];
    }
    for (size_t i = 0; i < fact->generic_count; i++) {
        size_t j = 0;

        while (j < count && names[j] != fact->generics[i])
            j++;
        if (j == count)
            names[count++] = fact->generics[i];
    }
    *ret = (type_bindings){names, types_of, count, given ? given->self_type : 0};
    *ret_types = types_of;
    return CG_OK;
}

/* Is the call one that was made already, with the same arguments, or too deep? */
static cg_code check_recursion(eval *self, item_ref function, const val *args, size_t count,
                               model_place place, bool *ret_cut)
{
    eval_state *state = self->state;
    unsigned depth = 0;
    bool has_builder = holds_builder(self, args, count);

    *ret_cut = false;
    if (state->calls >= self->limits.call_depth) {
        *ret_cut = true;
        if (!state->is_cut) {
            state->is_cut = true;
            if (!trail_add_fault(self->trail, "analysis-budget", place,
                                 "calls are nested too deeply and were cut off here"))
                return err_nomem(self->reterr);
        }
        return CG_OK;
    }
    for (const frame *at = state->frame; at; at = at->caller) {
        bool is_same = at->function == function && at->args && at->arg_count == count;

        if (!is_same)
            continue;
        depth++;
        for (size_t i = 0; i < count && is_same; i++)
            is_same = args[i] == at->args[i] ||
                      (args[i] && at->args[i] && value_equal(self->values, args[i], at->args[i]));
        if (is_same || depth >= RECURSION)
            *ret_cut = true;
        if (*ret_cut) {
            if (has_builder &&
                !trail_add_fault(self->trail, "analysis-budget", place,
                                 "the function calls itself here; it was followed %u times", depth))
                return err_nomem(self->reterr);
            return CG_OK;
        }
    }
    return CG_OK;
}

/* --- module instances --- */

static void name_fields_in(eval *self, uint32_t parent, uint32_t first, val which, sym field,
                           unsigned depth, unsigned *budget)
{
    const value *at = value_at(self->values, which);
    trail *track = self->trail;
    bool is_module = false;

    if (depth > 5 || *budget == 0)
        return;
    (*budget)--;
    for (size_t i = first; i < track->instances.count; i++) {
        trail_instance *one = &track->instances.at[i];

        if (one->parent == parent && one->result == which && which) {
            is_module = true;
            if (!one->field)
                one->field = field;
        }
    }
    if (is_module)
        return;
    switch ((enum value_kind)at->kind) {
    case VALUE_SOME:
    case VALUE_TUPLE:
    case VALUE_LIST:
    case VALUE_MAP:
    case VALUE_CHOICE:
        for (size_t i = 0; i < at->count; i++)
            name_fields_in(self, parent, first, at->as.items[i], field, depth + 1, budget);
        return;
    case VALUE_REPEAT:
        name_fields_in(self, parent, first, at->as.repeat.items[0], field, depth + 1, budget);
        return;
    case VALUE_STRUCT:
    case VALUE_ENUM:
        for (size_t i = 0; i < at->count; i++)
            name_fields_in(self, parent, first, at->as.fields[i].value, field, depth + 1, budget);
        return;
    default: return;
    }
}

/* Modules made by an instance are named after the fields of its result they are stored in. */
static cg_code name_fields(eval *self, uint32_t parent, uint32_t first, val result, unsigned depth)
{
    const value *at = value_at(self->values, result);
    unsigned budget = 4096;

    if (first >= self->trail->instances.count || depth > 3)
        return CG_OK;
    if (at->kind == VALUE_CHOICE || at->kind == VALUE_SOME || at->kind == VALUE_TUPLE) {
        for (size_t i = 0; i < at->count; i++)
            CG_TRY(name_fields(self, parent, first, at->as.items[i], depth + 1));
        return CG_OK;
    }
    if (at->kind != VALUE_STRUCT && at->kind != VALUE_ENUM)
        return CG_OK;
    for (size_t i = 0; i < at->count; i++) {
        sym field = at->as.fields[i].name;

        if (!field) {
            char digits[8];
            size_t len = 0;

            if (i >= 10)
                digits[len++] = (char)('0' + i / 10 % 10);
            digits[len++] = (char)('0' + i % 10);
            field = intern_add(&self->program->names, (cg_str){digits, len});
            if (!field)
                return err_nomem(self->reterr);
        }
        name_fields_in(self, parent, first, at->as.fields[i].value, field, 0, &budget);
    }
    return CG_OK;
}

/* The module type a function makes from a builder, 0 when it makes none. */
static cg_code made_type(eval *self, const function_fact *fact, type_ref *ret)
{
    type_ref type = 0;
    const model_type *shape;

    *ret = 0;
    if (!fact->result)
        return CG_OK;
    CG_TRY(eval_type(self, fact->result, &type));
    type = value_transparent(self->values, type);
    if (value_class(self->values, type) == CLASS_OPTION) {
        shape = type_at(self->types, type);
        type = shape->arg_count ? value_transparent(self->values, shape->args[0]) : 0;
    }
    if (!type || value_is_builder_type(self->values, type))
        return CG_OK;
    shape = type_at(self->types, type);
    if (shape->kind == TYPE_ITEM && shape->item &&
        (self->program->items.at[shape->item].kind == ITEM_STRUCT ||
         self->program->items.at[shape->item].kind == ITEM_ENUM))
        *ret = type;
    return CG_OK;
}

static cg_code begin_instance(eval *self, item_ref function, const function_fact *fact,
                              const val *args, size_t count, model_place place, uint32_t *ret)
{
    const builder_value *builder = NULL;
    type_ref type = 0;

    *ret = 0;
    for (size_t i = 0; i < count && !builder; i++)
        builder = args[i] ? builder_in(self, eval_deref(self, args[i]), 0) : NULL;
    if (!builder)
        return CG_OK;
    CG_TRY(made_type(self, fact, &type));
    if (!type)
        return CG_OK;
    if (self->trail->instances.count >= INSTANCES)
        return eval_cut(self, fact->body, "too many modules; the rest was not looked into");
    val *kept = arena_take(&self->trail->mem, count * sizeof *kept);

    if (!kept)
        return err_nomem(self->reterr);
    for (size_t i = 0; i < count; i++)
        kept[i] = args[i] ? eval_deref(self, args[i]) : 0;
    *ret = trail_add_instance(self->trail, &(trail_instance){.parent = self->trail->instance,
                                                             .type = type,
                                                             .constructor = function,
                                                             .root = builder->root,
                                                             .prefix = builder->prefix,
                                                             .place = place,
                                                             .args = kept,
                                                             .arg_count = (uint32_t)count});
    return *ret ? CG_OK : err_nomem(self->reterr);
}

/* It was no module after all, but something that carries a builder around. */
static void dissolve(eval *self, uint32_t instance, uint32_t parent, size_t first_parameter)
{
    trail *track = self->trail;
    bool is_last = instance + 1 == track->instances.count;

    for (size_t i = instance + 1; i < track->instances.count; i++) {
        if (track->instances.at[i].parent == instance)
            track->instances.at[i].parent = parent;
        if (track->instances.at[i].parent > instance)
            track->instances.at[i].parent--;
    }
    for (size_t i = first_parameter; i < track->parameters.count; i++) {
        uint32_t *at = &track->parameters.at[i].instance;

        *at = *at == instance ? parent : *at > instance ? *at - 1 : *at;
    }
    for (size_t i = 1; i < track->faults.count; i++) {
        uint32_t *at = &track->faults.at[i].instance;

        *at = *at == instance ? parent : *at > instance ? *at - 1 : *at;
    }
    if (!is_last)
        memmove(track->instances.at + instance, track->instances.at + instance + 1,
                (track->instances.count - instance - 1) * sizeof *track->instances.at);
    track->instances.count--;
}

static cg_code end_instance(eval *self, uint32_t instance, uint32_t parent, size_t first_parameter,
                            val result)
{
    self->trail->instance = parent;
    if (value_at(self->values, result)->has_builder) {
        dissolve(self, instance, parent, first_parameter);
        return CG_OK;
    }
    self->trail->instances.at[instance].result = result;
    return name_fields(self, instance, instance + 1, result, 0);
}

/* --- the end of a function --- */

/* What ways that returned early recorded, and what the rest recorded, are alternatives. */
static cg_code join_returns(eval *self, size_t first, bool is_returning)
{
    eval_state *state = self->state;

    while (state->pendings.count > first) {
        pending_return last = state->pendings.at[--state->pendings.count];
        trail_mark now = trail_position(self->trail), marks[3] = {now, now, now};
        bool returns[2] = {true, is_returning};

        marks[0].parameters = last.begin;
        marks[1].parameters = last.end;
        if (!trail_join(self->trail, marks, 2, returns, last.text))
            return err_nomem(self->reterr);
        is_returning = true;
    }
    return CG_OK;
}

static cg_code finish_call(eval *self, frame *scope, val tail, model_place place, sym name,
                           val *ret)
{
    eval_state *state = self->state;
    bool is_never = eval_is_never(self, tail);
    bool is_error = value_kind_of(self->values, tail) == VALUE_ERROR;
    val result = tail;

    CG_TRY(join_returns(self, scope->first_pending, !is_never && !is_error));
    /* Only when no way returned before does the rest of the function run. */
    if (self->flow && scope->node_behind && !is_never && !is_error) {
        uint32_t nodes[2] = {scope->node_behind, (uint32_t)self->flow->nodes.count};
        bool never = false;

        flow_ways(self->flow, nodes, 1, &never, scope->behind);
    }
    state->jump = JUMP_NONE;
    if (scope->returned)
        result = is_never || is_error ? scope->returned
                                      : value_join(self->values, scope->returned, tail);
    else if (is_never)
        result = eval_plain(self, VALUE_ERROR);
    if (!result)
        return err_nomem(self->reterr);
    if (value_kind_of(self->values, result) == VALUE_ERROR && scope->result &&
        value_class(self->values, scope->result) != CLASS_RESULT)
        return eval_leave(self, JUMP_ERROR, 0, ret);
    if (value_kind_of(self->values, result) == VALUE_UNKNOWN &&
        !value_at(self->values, result)->type && scope->result) {
        cg_str text = value_at(self->values, result)->text;

        result = value_of_type(self->values, scope->result,
                               text.len ? text : call_text(self, place, name));
    }
    return eval_give(self, result, ret);
}

static cg_code bind_parameter(eval *self, const function_parameter *at, val arg, type_ref type)
{
    enum verdict verdict;
    sym name = at->is_self   ? eval_word(self, WORD_SELF)
               : at->pattern ? pattern_name(self, at->pattern)
                             : 0;
    bool is_plain =
        at->is_self || (at->pattern && eval_node(self, at->pattern)->kind == AST_IDENTIFIER);

    if (!arg)
        arg = at->is_self ? value_of_type(self->values, self->state->frame->bindings.self_type,
                                          CG_LIT("self"))
                          : value_of_type(self->values, type, program_text(self->program, name));
    if (!arg)
        return err_nomem(self->reterr);
    if (value_kind_of(self->values, arg) == VALUE_REFERENCE) {
        if (is_plain)
            return cell_add(self, name, arg);
        arg = eval_deref(self, arg);
    }
    if (type && value_kind_of(self->values, arg) == VALUE_UNKNOWN)
        arg = value_with_type(self->values, arg, value_transparent(self->values, type));
    if (!arg)
        return err_nomem(self->reterr);
    if (is_plain)
        return cell_add(self, name, arg);
    return at->pattern ? eval_match(self, at->pattern, arg, &verdict) : CG_OK;
}

static cg_code bind_arguments(eval *self, const function_fact *fact, const val *args, size_t count,
                              type_ref *types_of)
{
    frame *scope = self->state->frame;

    for (size_t i = 0; i < fact->parameter_count && scope->bindings.count; i++) {
        ast_ref node = fact->parameters[i].type_node;
        type_ref declared = 0;

        if (!node || i >= count || !args[i])
            continue;
        CG_TRY(eval_type(self, node, &declared));
        node_fact *known = eval_fact(self, scope->file, node);

        if (!known)
            return err_nomem(self->reterr);
        if (known->is_generic)
            unify_value(self, known->type, eval_deref(self, args[i]), &scope->bindings, types_of,
                        0);
    }
    for (size_t i = 0; i < fact->parameter_count; i++) {
        const function_parameter *at = &fact->parameters[i];
        val arg = i < count ? args[i] : 0;
        bool is_needed = !arg || value_kind_of(self->values, arg) == VALUE_UNKNOWN;
        type_ref type = 0;

        if (at->type_node && is_needed)
            CG_TRY(eval_type(self, at->type_node, &type));
        CG_TRY(bind_parameter(self, at, arg, type));
    }
    return CG_OK;
}

/*
 * While a model is built, a call without a builder makes only values: tensors converted, numbers
 * computed. It gets a small budget, so that the structure behind it is not lost for its sake.
 * *ret: what side_end wants back.
 */
static uint64_t side_begin(eval *self, item_ref function, const val *args, size_t count)
{
    eval_state *state = self->state;
    uint64_t left, mine = SIDE_STEPS;

    if (!state->frame) {
        state->is_building = holds_builder(self, args, count);
        return 0;
    }
    if (!state->is_building || state->side_most)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const value *at = args[i] ? value_at(self->values, eval_deref(self, args[i])) : NULL;

        if (at && (at->has_builder || at->kind == VALUE_CLOSURE || at->kind == VALUE_FUNCTION ||
                   at->kind == VALUE_CHOICE || at->kind == VALUE_VARMAP))
            return 0;
    }
    if (function < state->functions.count && state->functions.at[function] &&
        state->functions.at[function]->is_heavy)
        mine = HEAVY_STEPS;
    left = state->share / 2 > state->side_spent ? state->share / 2 - state->side_spent : 0;
    state->side_most = state->steps + (left < mine ? left : mine) + 1;
    return state->steps + 1;
}

static void side_end(eval *self, item_ref function, uint64_t begun)
{
    eval_state *state = self->state;

    if (!begun)
        return;
    function_fact *fact = function < state->functions.count ? state->functions.at[function] : NULL;

    if (state->steps > state->side_most && fact && !fact->is_heavy) {
        function_fact **slot = vec_add(self->program->heap, &state->heavy);

        /* Without memory it is only slower. */
        fact->is_heavy = slot != NULL;
        if (slot)
            *slot = fact;
    }
    state->side_spent += state->steps + 1 - begun;
    state->is_near =
        state->is_near || (state->steps + 1 - begun) * NEAR_A_BUDGET > state->side_most - begun;
    state->side_most = 0;
}

static cg_code call_function(eval *self, item_ref function, const type_bindings *given,
                             const val *args, size_t count, model_place place, val *ret)
{
    eval_state *state = self->state;
    program_item item = self->program->items.at[function];
    const function_fact *fact;
    frame *caller = state->frame, *scope;
    trail *track = self->trail;
    uint32_t instance = 0, parent = track->instance, condition = track->condition;
    size_t first_parameter = track->parameters.count, first_instance = track->instances.count;
    type_ref *types_of = NULL;
    type_ref wanted = value_transparent(self->values, state->expected);
    bool is_cut = false;
    val tail = 0;

    if (!program_edge(self->program, caller ? caller->file : place.file, item.file) ||
        !eval_ran(self, function))
        return err_nomem(self->reterr);
    CG_TRY(eval_function_fact(self, function, &fact));
    scope = frame_new(self, &(frame){.caller = caller,
                                     .function = function,
                                     .module = item.module,
                                     .file = item.file,
                                     .first_pending = state->pendings.count,
                                     .args = args,
                                     .arg_count = count});
    if (!scope)
        return err_nomem(self->reterr);
    CG_TRY(bind_names(self, function, fact, given, &scope->bindings, &types_of));
    CG_TRY(check_recursion(self, function, args, count, place, &is_cut));
    state->frame = scope;
    state->expected = 0;
    if (!scope->bindings.self_type && item.owner &&
        self->program->items.at[item.owner].kind == ITEM_IMPL) {
        ast_ref node =
            ast_child(eval_tree(self), self->program->items.at[item.owner].node, ROLE_TYPE);

        if (node)
            CG_TRY(eval_type(self, node, &scope->bindings.self_type));
    }
    if (!is_cut && fact->body) {
        CG_TRY(bind_arguments(self, fact, args, count, types_of));
    }
    if (fact->result) {
        node_fact *known;

        CG_TRY(eval_type(self, fact->result, &scope->result));
        known = eval_fact(self, item.file, fact->result);
        if (known && known->is_generic && wanted && scope->bindings.count) {
            unify_types(self, value_transparent(self->values, known->type), wanted,
                        &scope->bindings, types_of, 0);
            CG_TRY(eval_type(self, fact->result, &scope->result));
        }
    }
    scope->is_option = value_class(self->values, scope->result) == CLASS_OPTION;
    if (is_cut || !fact->body) {
        state->frame = caller;
        if (!is_cut)
            return eval_unknown_call(self, call_text(self, place, item.name), scope->result, args,
                                     count, place, ret);
        for (size_t i = 0; i < count; i++) {
            if (args[i])
                use_steps(self, eval_deref(self, args[i]), 0);
        }
        return eval_give(
            self, value_of_type(self->values, scope->result, call_text(self, place, item.name)),
            ret);
    }
    if (caller)
        CG_TRY(begin_instance(self, function, fact, args, count, place, &instance));
    if (instance)
        track->instance = instance;
    state->calls++;
    state->expected = scope->result;
    CG_TRY(evaluate_block(self, fact->body, &tail));
    tail = eval_settled(self, tail);
    if (!tail)
        return err_nomem(self->reterr);
    state->expected = 0;
    state->calls--;
    CG_TRY(finish_call(self, scope, tail, place, item.name, ret));
    state->frame = caller;
    track->condition = condition;
    if (instance)
        return end_instance(self, instance, parent, first_parameter, *ret);
    if (!caller && track->instance)
        return name_fields(self, track->instance, (uint32_t)first_instance, *ret, 0);
    return CG_OK;
}

/* Is it an item of the crate that is scanned, not of a dependency? */
static bool is_of_crate(const eval *self, item_ref item)
{
    const program *code_of = self->program;

    return code_of->crates.at[code_of->modules.at[code_of->items.at[item].module].crate].is_scanned;
}

cg_code eval_call(eval *self, item_ref function, const type_bindings *bindings, const val *args,
                  size_t count, model_place place, val *ret)
{
    val made = 0;
    uint64_t begun = side_begin(self, function, args, count);
    model_place outside = self->trail->outside;

    if (place.function && !outside.file && !is_of_crate(self, function) &&
        is_of_crate(self, place.function))
        self->trail->outside = place;
    CG_TRY(call_function(self, function, bindings, args, count, place, &made));
    self->trail->outside = outside;
    side_end(self, function, begun);
    return eval_give(self, made, ret);
}

/* --- closures --- */

static cg_code call_closure(eval *self, const closure_value *closure, const val *args, size_t count,
                            model_place place, val *ret)
{
    eval_state *state = self->state;
    frame *caller = state->frame;
    frame *scope = frame_new(self, closure->frame);
    uint32_t condition = self->trail->condition;
    ast_ref parameters, body, result;
    size_t index = 0;
    bool has_attribute = false;
    val tail = 0;

    if (!scope)
        return err_nomem(self->reterr);
    if (state->calls >= self->limits.call_depth) {
        if (caller)
            CG_TRY(eval_cut(self, 0, "calls are nested too deeply and were cut off"));
        return eval_give(self, value_unknown(self->values, 0, (cg_str){NULL, 0}), ret);
    }
    scope->caller = caller;
    scope->file = closure->file;
    scope->module = closure->module;
    scope->returned = 0;
    scope->loop = NULL;
    scope->result = 0;
    scope->is_option = false;
    scope->first_pending = state->pendings.count;
    scope->args = NULL;
    scope->arg_count = 0;
    state->frame = scope;
    parameters = ast_child(eval_tree(self), closure->node, ROLE_PARAMETERS);
    body = ast_child(eval_tree(self), closure->node, ROLE_BODY);
    result = ast_child(eval_tree(self), closure->node, ROLE_RETURN_TYPE);
    for (ast_ref i = parameters ? eval_node(self, parameters)->first : 0; i;
         i = eval_node(self, i)->next) {
        function_parameter one = {.pattern = i};
        val arg = index < count ? args[index] : 0;
        type_ref type = 0;

        if (eval_is_left_out(self, i, &has_attribute))
            continue;
        if (eval_node(self, i)->kind == AST_PARAMETER) {
            one.pattern = ast_child(eval_tree(self), i, ROLE_PATTERN);
            one.type_node = ast_child(eval_tree(self), i, ROLE_TYPE);
            if (one.type_node)
                CG_TRY(eval_type(self, one.type_node, &type));
        }
        index++;
        CG_TRY(bind_parameter(self, &one, arg, type));
    }
    if (result) {
        CG_TRY(eval_type(self, result, &scope->result));
        scope->is_option = value_class(self->values, scope->result) == CLASS_OPTION;
    }
    state->calls++;
    state->expected = scope->result;
    CG_TRY(evaluate(self, body, &tail));
    state->expected = 0;
    state->calls--;
    CG_TRY(finish_call(self, scope, tail, place, 0, ret));
    state->frame = caller;
    self->trail->condition = condition;
    return CG_OK;
}

/* --- constructors of tuple structs and variants --- */

static cg_code construct(eval *self, item_ref item, type_ref type, const val *args, size_t count,
                         val *ret)
{
    const program_item *at = &self->program->items.at[item];
    bool is_variant = at->kind == ITEM_VARIANT;
    value made = {.kind = is_variant ? VALUE_ENUM : VALUE_STRUCT,
                  .is_known = true,
                  .type = type,
                  .variant = is_variant ? at->name : 0};
    value_field *fields = arena_take(&self->values->mem, (count + 1) * sizeof *fields);

    if (!fields)
        return err_nomem(self->reterr);
    if (!type)
        CG_TRY(type_of_item(self->types, is_variant ? at->owner : item, &made.type, self->reterr));
    for (size_t i = 0; i < count; i++)
        fields[i] = (value_field){.value = eval_settled(self, args[i])};
    made.count = count > UINT16_MAX ? UINT16_MAX : (uint16_t)count;
    made.as.fields = fields;
    return eval_give(self, value_make(self->values, &made), ret);
}

/* --- what the libraries know --- */

typedef struct library_call {
    eval *eval;
    sym path;
    val receiver; /* 0: a function */
    sym name;
    val *args;
    size_t count;
    model_place place;
    type_ref wanted;
    bool is_known;
} library_call;

static cg_code ask_libraries(library_call *self, val *ret)
{
    eval *owner = self->eval;

    self->is_known = false;
    owner->updated_receiver = 0;
    owner->wanted = self->wanted;
    if (self->receiver) {
        enum value_kind kind = value_kind_of(owner->values, self->receiver);
        const value *at = value_at(owner->values, self->receiver);
        bool is_candle = kind == VALUE_BUILDER || kind == VALUE_TENSOR || kind == VALUE_VARMAP ||
                         kind == VALUE_DTYPE || kind == VALUE_DEVICE || kind == VALUE_STRUCT ||
                         kind == VALUE_ENUM || (kind == VALUE_UNKNOWN && at->type);

        for (unsigned i = 0; i < 2 && !self->is_known; i++) {
            if (is_candle == (i == 0))
                CG_TRY(candle_method(owner, self->receiver, self->name, self->args, self->count,
                                     self->place, &self->is_known, ret));
            else
                CG_TRY(std_method(owner, self->receiver, self->name, self->args, self->count,
                                  self->place, &self->is_known, ret));
        }
    } else {
        CG_TRY(candle_call(owner, self->path, self->args, self->count, self->place, &self->is_known,
                           ret));
        if (!self->is_known)
            CG_TRY(std_call(owner, self->path, self->args, self->count, self->place,
                            &self->is_known, ret));
    }
    owner->wanted = 0;
    return CG_OK;
}

static cg_code known_args(eval *self, const val *args, size_t count, val **ret)
{
    val *to = arena_take(&self->values->mem, (count + 1) * sizeof *to);

    if (!to)
        return err_nomem(self->reterr);
    for (size_t i = 0; i < count; i++) {
        to[i] = args[i] ? eval_deref(self, args[i]) : 0;
        if (!to[i])
            return err_nomem(self->reterr);
    }
    *ret = to;
    return CG_OK;
}

static cg_str last_segment(cg_str path)
{
    size_t at = str_find_last(path, ':');

    return at == SIZE_MAX ? path : (cg_str){path.ptr + at + 1, path.len - at - 1};
}

/* `Owner::name`: the owner begins with a capital letter. */
static bool is_member_path(cg_str path)
{
    cg_str last = last_segment(path), owner;

    if (last.len + 2 >= path.len)
        return false;
    owner = last_segment((cg_str){path.ptr, path.len - last.len - 2});
    return owner.len && owner.ptr[0] >= 'A' && owner.ptr[0] <= 'Z';
}

/* What a library's function makes of variables that it was lent with `&mut`. */
static cg_code change_lent(eval *self, cg_str path, const val *args, const val *known, size_t count,
                           bool is_known)
{
    bool is_swap = str_ends_with(path, CG_LIT("mem::swap")) && count == 2;
    bool is_replace = str_ends_with(path, CG_LIT("mem::replace")) && count == 2;

    for (size_t i = 0; i < count; i++) {
        const value *at = value_at(self->values, args[i]);
        val after = known[i];

        if (at->kind != VALUE_REFERENCE)
            continue;
        if (is_swap)
            after = known[1 - i];
        else if (is_replace)
            after = known[1];
        else if (!is_known)
            after = std_loosened(self, known[i]);
        if (!after)
            return err_nomem(self->reterr);
        if (after != known[i])
            CG_TRY(spot_write(self, at->as.reference, after));
    }
    return CG_OK;
}

/* `RmsNorm::make(..)` of a library's type for which a crate that is read has an impl. */
static cg_code call_impl_of_library_type(eval *self, sym path, type_ref wanted, const val *args,
                                         size_t count, model_place place, bool *ret_called,
                                         val *ret)
{
    cg_str text = program_text(self->program, path);
    cg_str last = last_segment(text);
    model_type shape = {.kind = TYPE_EXTERNAL};
    method_found found = {0};
    type_ref type = 0;
    sym name;

    *ret_called = false;
    if (!is_member_path(text))
        return CG_OK;
    name = intern_add(&self->program->names, last);
    shape.name = intern_add(&self->program->names, (cg_str){text.ptr, text.len - last.len - 2});
    if (!name || !shape.name)
        return err_nomem(self->reterr);
    CG_TRY(type_make(self->types, &shape, &type, self->reterr));
    CG_TRY(type_find_method(self->types, type, name, &found, self->reterr));
    if (!found.function || self->program->items.at[found.function].kind != ITEM_FUNCTION)
        return CG_OK;
    *ret_called = true;
    found.bindings.self_type = type;
    self->state->expected = wanted;
    return eval_call(self, found.function, &found.bindings, args, count, place, ret);
}

static cg_code call_library(eval *self, sym path, type_ref wanted, const val *args, size_t count,
                            model_place place, val *ret)
{
    bool is_called = false;

    library_call work = {
        .eval = self, .path = path, .count = count, .place = place, .wanted = wanted};
    cg_str text = program_text(self->program, path);
    sym name = intern_add(&self->program->names, last_segment(text));

    if (!name)
        return err_nomem(self->reterr);
    work.name = name;
    /* `Default::default()` is whatever is wanted. */
    if (count == 0 && name == eval_word(self, WORD_DEFAULT) && wanted &&
        str_ends_with(text, CG_LIT("Default::default")))
        return eval_default(self, wanted, place, ret);
    CG_TRY(known_args(self, args, count, &work.args));
    CG_TRY(ask_libraries(&work, ret));
    CG_TRY(change_lent(self, text, args, work.args, count, work.is_known));
    if (work.is_known)
        return eval_give(self, *ret, ret);
    /* A trait of a library, called by its path: the method of the first argument. */
    if (count && is_member_path(text)) {
        const value *at = value_at(self->values, work.args[0]);
        enum type_kind kind = (enum type_kind)type_at(self->types, at->type)->kind;

        if ((at->kind == VALUE_STRUCT || at->kind == VALUE_ENUM || at->kind == VALUE_UNKNOWN) &&
            at->type && (kind == TYPE_ITEM || kind == TYPE_TRAIT))
            return eval_method(self, work.args[0], name, work.args + 1, count - 1, place, ret);
        work.receiver = work.args[0];
        work.args++;
        work.count--;
        CG_TRY(ask_libraries(&work, ret));
        if (work.is_known)
            return eval_give(self, *ret, ret);
        work.args--;
        work.count++;
    }
    CG_TRY(call_impl_of_library_type(self, path, wanted, args, count, place, &is_called, ret));
    if (is_called)
        return CG_OK;
    return eval_unknown_call(self, text, 0, work.args, work.count, place, ret);
}

/* --- members of types --- */

typedef struct impl_ways {
    eval *eval;
    method_found *found;
    const val *args;
    size_t count;
    model_place place;
    bool has_self;
} impl_ways;

static cg_code impl_way(void *context, size_t way, val *ret)
{
    impl_ways *self = context;
    const method_found *at = &self->found[way];

    return eval_call(self->eval, at->function, &at->bindings, self->args, self->count, self->place,
                     ret);
}

/* A trait's method when the type behind it is not known: any impl may be meant. */
static cg_code call_any_impl(eval *self, item_ref declared, const val *args, size_t count,
                             model_place place, bool *ret_called, val *ret)
{
    item_ref trait_item = self->program->items.at[declared].owner;
    sym name = self->program->items.at[declared].name;
    const item_ref *impls = NULL;
    size_t total = 0, known = 0;
    method_found *found;
    cg_str text;

    *ret_called = false;
    if (!trait_item || self->program->items.at[trait_item].kind != ITEM_TRAIT)
        return CG_OK;
    /* Impls that call each other through the trait would be tried in all combinations. */
    if (self->state->fans >= (holds_builder(self, args, count) ? FANS : 1))
        return CG_OK;
    CG_TRY(type_impls_of(self->types, trait_item, 0, &impls, &total, self->reterr));
    found = arena_zero(&self->values->mem, (IMPLS + 1) * sizeof *found);
    if (!found)
        return err_nomem(self->reterr);
    for (size_t i = 0; i < total && known < IMPLS; i++) {
        program_item impl = self->program->items.at[impls[i]];

        for (item_ref j = impl.first_in_owner; j; j = self->program->items.at[j].next_in_owner) {
            if (self->program->items.at[j].kind != ITEM_FUNCTION ||
                self->program->items.at[j].name != name)
                continue;
            found[known].function = j;
            found[known].impl = impls[i];
            ast_ref node = ast_child(program_tree(self->program, impl.file), impl.node, ROLE_TYPE);

            if (node)
                CG_TRY(type_lower(self->types, impl.module, impl.file, node, NULL,
                                  &found[known].bindings.self_type, self->reterr));
            known++;
            break;
        }
    }
    if (!known)
        return CG_OK;
    impl_ways ways = {self, found, args, count, place, self->program->items.at[declared].has_self};
    val *own = arena_take(&self->values->mem, (count + 1) * sizeof *own);

    if (!own)
        return err_nomem(self->reterr);
    if (count)
        memcpy(own, args, count * sizeof *own);
    /* The receiver is then of that impl's type. */
    if (ways.has_self && count)
        own[0] = 0;
    ways.args = own;
    if (!value_name(self->values, CG_LIT("one of the impls of "), "",
                    program_text(self->program, self->program->items.at[trait_item].name), &text))
        return err_nomem(self->reterr);
    *ret_called = true;
    uint64_t begun = side_begin(self, declared, args, count);

    self->state->fans++;
    cg_code code =
        known == 1 ? impl_way(&ways, 0, ret) : eval_ways(self, known, text, impl_way, &ways, ret);

    self->state->fans--;
    side_end(self, declared, begun);
    return code;
}

/* The same type, with arguments where the other has none or only parameters. */
static bool is_narrower(const eval *self, type_ref open, type_ref wanted)
{
    const model_type *a = type_at(self->types, open), *b = type_at(self->types, wanted);

    if (!open || !wanted || open == wanted || a->kind != TYPE_ITEM || b->kind != TYPE_ITEM ||
        a->item != b->item)
        return false;
    for (size_t i = 0; i < a->arg_count; i++) {
        if (!is_open_type(self, a->args[i]))
            return false;
    }
    return b->arg_count > 0;
}

/* Type arguments written at the call stand for the function's own parameters. */
static cg_code add_type_arguments(eval *self, item_ref function, ast_ref arguments,
                                  type_bindings *bindings)
{
    const function_fact *fact;
    sym *names;
    type_ref *types_of;
    size_t count = bindings->count, index = 0;

    if (!arguments)
        return CG_OK;
    CG_TRY(eval_function_fact(self, function, &fact));
    names = arena_take(&self->values->mem, (count + fact->generic_count + 1) * sizeof *names);
    types_of = arena_take(&self->values->mem, (count + fact->generic_count + 1) * sizeof *types_of);
    if (!names || !types_of)
        return err_nomem(self->reterr);
    if (count) {
        memcpy(names, bindings->names, count * sizeof *names);
        memcpy(types_of, bindings->types, count * sizeof *types_of);
    }
    for (ast_ref i = eval_node(self, arguments)->first; i && index < fact->generic_count;
         i = eval_node(self, i)->next) {
        if (eval_node(self, i)->kind == AST_LIFETIME)
            continue;
        names[count] = fact->generics[index++];
        CG_TRY(eval_type(self, i, &types_of[count]));
        count++;
    }
    bindings->names = names;
    bindings->types = types_of;
    bindings->count = count;
    return CG_OK;
}

static cg_code call_member(eval *self, const target *given, type_ref wanted, const val *args,
                           size_t count, ast_ref node, val *ret)
{
    model_place place = eval_place(self, node);
    target whole = *given, *at = &whole;

    /* `let x: Residual<Mlp> = Residual::new(..)` says what the parameters are. */
    if (is_narrower(self, at->type, value_transparent(self->values, wanted)))
        at->type = value_transparent(self->values, wanted);

    item_ref variant = eval_variant(self, at->type, at->name);
    enum type_kind kind = (enum type_kind)type_at(self->types, at->type)->kind;
    method_found found = {0};
    bool is_called = false;

    if (variant)
        return construct(self, variant, at->type, args, count, ret);
    if (at->type && value_is_builder_type(self->values, at->type)) {
        library_call work = {.eval = self,
                             .name = at->name,
                             .count = count,
                             .place = place,
                             .wanted = wanted,
                             .path = eval_member_path(self, at->type, at->name)};

        if (!work.path)
            return err_nomem(self->reterr);
        CG_TRY(known_args(self, args, count, &work.args));
        CG_TRY(ask_libraries(&work, ret));
        if (work.is_known)
            return eval_give(self, *ret, ret);
    }
    if (at->type && at->trait_item)
        CG_TRY(type_find_trait_method(self->types, at->type, at->trait_item, 0, at->name, &found,
                                      self->reterr));
    if (at->type && !found.function)
        CG_TRY(type_find_method(self->types, at->type, at->name, &found, self->reterr));
    if (found.function) {
        const function_fact *fact;

        CG_TRY(eval_function_fact(self, found.function, &fact));
        if (!fact->body) {
            CG_TRY(call_any_impl(self, found.function, args, count, place, &is_called, ret));
            if (is_called)
                return CG_OK;
        }
        found.bindings.self_type = at->type;
        CG_TRY(add_type_arguments(self, found.function, at->arguments, &found.bindings));
        self->state->expected = wanted;
        return eval_call(self, found.function, &found.bindings, args, count, place, ret);
    }
    if (at->name == eval_word(self, WORD_DEFAULT) && count == 0 && kind == TYPE_ITEM)
        return eval_default(self, at->type, place, ret);
    if (kind == TYPE_EXTERNAL || kind == TYPE_PRIMITIVE) {
        sym path = eval_member_path(self, at->type, at->name);

        return path ? call_library(self, path, wanted ? wanted : 0, args, count, place, ret)
                    : err_nomem(self->reterr);
    }
    /* `Self::helper` of a type that implements a library's trait, called with a receiver. */
    if (count && at->type && value_type(self->values, eval_deref(self, args[0])) == at->type)
        return eval_method(self, args[0], at->name, args + 1, count - 1, place, ret);
    return eval_unknown_call(self, call_text(self, place, at->name), 0, args, count, place, ret);
}

static cg_code call_trait(eval *self, const target *at, type_ref wanted, const val *args,
                          size_t count, ast_ref node, val *ret)
{
    model_place place = eval_place(self, node);
    item_ref declared = 0;
    method_found found = {0};
    bool is_called = false;

    for (item_ref i = self->program->items.at[at->trait_item].first_in_owner; i;
         i = self->program->items.at[i].next_in_owner) {
        if (self->program->items.at[i].kind == ITEM_FUNCTION &&
            self->program->items.at[i].name == at->name)
            declared = i;
    }
    if (declared && self->program->items.at[declared].has_self && count)
        return eval_method(self, args[0], at->name, args + 1, count - 1, place, ret);
    wanted = value_transparent(self->values, wanted);
    if (declared && wanted) {
        CG_TRY(type_find_trait_method(self->types, wanted, at->trait_item, 0, at->name, &found,
                                      self->reterr));
        if (found.function) {
            found.bindings.self_type = wanted;
            return eval_call(self, found.function, &found.bindings, args, count, place, ret);
        }
    }
    if (declared)
        CG_TRY(call_any_impl(self, declared, args, count, place, &is_called, ret));
    if (is_called)
        return CG_OK;
    return eval_unknown_call(self, call_text(self, place, at->name), 0, args, count, place, ret);
}

static cg_code call_word(eval *self, enum word word, const val *args, size_t count, val *ret)
{
    val inner = count && args[0] ? eval_deref(self, args[0]) : eval_plain(self, VALUE_UNIT);

    if (!inner)
        return err_nomem(self->reterr);
    if (word == WORD_SOME)
        return eval_give(self, value_list(self->values, VALUE_SOME, &inner, 1), ret);
    if (word == WORD_ERR)
        return eval_give(self, eval_plain(self, VALUE_ERROR), ret);
    return eval_give(self, word == WORD_NONE ? eval_plain(self, VALUE_NOTHING) : inner, ret);
}

/* Does the call leave open which type it is of, as far as its arguments do not tell? */
static cg_code is_open_call(eval *self, const target *at, bool *ret)
{
    item_ref function = at->kind == TARGET_ITEM ? at->item : 0;
    const model_type *shape = type_at(self->types, at->type);
    const function_fact *fact;

    *ret = at->kind == TARGET_TRAIT;
    if (at->kind == TARGET_MEMBER && at->type) {
        method_found found = {0};

        *ret = shape->kind == TYPE_ITEM && shape->arg_count > 0;
        for (size_t i = 0; i < shape->arg_count; i++)
            *ret = *ret && is_open_type(self, shape->args[i]);
        if (*ret || at->arguments)
            return CG_OK;
        if (shape->kind == TYPE_ITEM)
            CG_TRY(type_find_method(self->types, at->type, at->name, &found, self->reterr));
        function = found.function;
    }
    if (!function || at->arguments || self->program->items.at[function].kind != ITEM_FUNCTION)
        return CG_OK;
    CG_TRY(eval_function_fact(self, function, &fact));
    *ret = fact->generic_count > 0 && fact->result;
    return CG_OK;
}

cg_code eval_target_call(eval *self, const target *at, const val *args, size_t count, ast_ref node,
                         val *ret)
{
    type_ref wanted = self->state->expected;
    model_place place = eval_place(self, node);
    type_bindings bindings = {0};

    self->state->expected = 0;
    if (is_open_type(self, value_transparent(self->values, wanted))) {
        bool is_open = false;

        CG_TRY(is_open_call(self, at, &is_open));
        if (is_open)
            CG_TRY(eval_use_type(self, node, &wanted));
    }
    switch ((enum target_kind)at->kind) {
    case TARGET_LOCAL:
        return eval_apply(self, eval_deref(self, at->value), args, count, place, ret);
    case TARGET_WORD: return call_word(self, at->word, args, count, ret);
    case TARGET_MEMBER: return call_member(self, at, wanted, args, count, node, ret);
    case TARGET_TRAIT: return call_trait(self, at, wanted, args, count, node, ret);
    case TARGET_EXTERNAL: return call_library(self, at->path, wanted, args, count, place, ret);
    case TARGET_ITEM: {
        uint8_t kind = self->program->items.at[at->item].kind;

        if (kind == ITEM_STRUCT || kind == ITEM_VARIANT)
            return construct(self, at->item, at->type, args, count, ret);
        if (kind == ITEM_CONST) {
            val callee = 0;

            CG_TRY(eval_constant(self, at->item, &callee));
            return eval_apply(self, callee, args, count, place, ret);
        }
        if (kind != ITEM_FUNCTION)
            break;
        CG_TRY(add_type_arguments(self, at->item, at->arguments, &bindings));
        self->state->expected = wanted;
        return eval_call(self, at->item, &bindings, args, count, place, ret);
    }
    case TARGET_NONE: break;
    }
    return eval_unknown_call(self, call_text(self, place, at->name), 0, args, count, place, ret);
}

/* --- whatever can be called --- */

typedef struct apply_ways {
    eval *eval;
    const value *many;
    const val *args;
    size_t count;
    model_place place;
} apply_ways;

static cg_code apply_way(void *context, size_t way, val *ret)
{
    apply_ways *self = context;

    return eval_apply(self->eval, self->many->as.items[way], self->args, self->count, self->place,
                      ret);
}

static cg_code apply_function(eval *self, const value *callee, const val *args, size_t count,
                              model_place place, val *ret)
{
    item_ref item = callee->as.function.item;
    static const enum word words[] = {WORD_SOME, WORD_OK, WORD_ERR};
    const val *all = args;

    if (callee->as.function.self) {
        val *to = arena_take(&self->values->mem, (count + 1) * sizeof *to);

        if (!to)
            return err_nomem(self->reterr);
        to[0] = callee->as.function.self;
        if (count)
            memcpy(to + 1, args, count * sizeof *to);
        all = to;
        count++;
    }
    if (item) {
        uint8_t kind = self->program->items.at[item].kind;

        if (kind == ITEM_FUNCTION)
            return eval_call(self, item, callee->as.function.bindings, all, count, place, ret);
        if (kind == ITEM_STRUCT || kind == ITEM_VARIANT)
            return construct(self, item, callee->type, all, count, ret);
        return eval_unknown_call(self,
                                 program_text(self->program, self->program->items.at[item].name), 0,
                                 all, count, place, ret);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (str_equal(callee->text, program_text(self->program, eval_word(self, words[i]))))
            return call_word(self, words[i], all, count, ret);
    }
    sym path = intern_add(&self->program->names, callee->text);

    if (!path)
        return err_nomem(self->reterr);
    if (str_find(callee->text, CG_LIT("::")) == SIZE_MAX && count)
        return eval_method(self, all[0], path, all + 1, count - 1, place, ret);
    return call_library(self, path, 0, all, count, place, ret);
}

cg_code eval_apply(eval *self, val callee, const val *args, size_t count, model_place place,
                   val *ret)
{
    const value *at;

    callee = eval_deref(self, callee);
    at = value_at(self->values, callee);
    switch ((enum value_kind)at->kind) {
    case VALUE_CLOSURE: return call_closure(self, at->as.closure, args, count, place, ret);
    case VALUE_FUNCTION: return apply_function(self, at, args, count, place, ret);
    case VALUE_CHOICE: {
        apply_ways ways = {self, at, args, count, place};

        return eval_ways(self, at->count,
                         at->text.len ? at->text : CG_LIT("one of several functions"), apply_way,
                         &ways, ret);
    }
    case VALUE_SOME: return eval_apply(self, at->as.items[0], args, count, place, ret);
    default: break;
    }
    type_ref type = 0;
    const model_type *shape = type_at(self->types, at->type);

    if (at->type && shape->kind == TYPE_FUNCTION && shape->arg_count)
        type = shape->args[shape->arg_count - 1];
    return eval_unknown_call(self, at->text.len ? at->text : call_text(self, place, 0), type, args,
                             count, place, ret);
}

/* --- methods --- */

typedef struct method_call {
    eval *eval;
    val value;
    ast_ref receiver;
    sym name;
    ast_ref arguments;
    const val *args;
    size_t count;
    model_place place;
    type_ref wanted;
    const struct value *many;
    unsigned depth;          /* through Deref */
    const place_value *lent; /* where the receiver lies, when it was lent; NULL */
} method_call;

static cg_code method(method_call *self, val *ret);

static cg_code method_way(void *context, size_t way, val *ret)
{
    method_call one = *(method_call *)context;

    one.value = one.many->as.items[way];
    one.receiver = 0;
    one.lent = NULL;
    return method(&one, ret);
}

/* One of several values of different types: each has the method of its own. */
static bool is_mixed(const eval *self, const value *many)
{
    type_ref common = 0;
    bool has_own = false, is_same = true;

    for (size_t i = 0; i < many->count; i++) {
        const value *at = value_at(self->values, many->as.items[i]);
        bool is_own = at->kind == VALUE_BUILDER || at->kind == VALUE_STRUCT ||
                      at->kind == VALUE_ENUM || at->kind == VALUE_TENSOR ||
                      at->kind == VALUE_CLOSURE || at->kind == VALUE_VARMAP ||
                      (at->kind == VALUE_UNKNOWN && at->type);

        if (at->kind == VALUE_SOME || at->kind == VALUE_NOTHING)
            return false;
        has_own |= is_own;
        if (i && at->type != common)
            is_same = false;
        common = at->type;
        if (at->kind == VALUE_BUILDER || at->kind == VALUE_TENSOR || !at->type)
            is_same = false;
    }
    return has_own && !(is_same && type_at(self->types, common)->kind == TYPE_ITEM);
}

/* Where the receiver lies; false: nowhere that can be written to. */
static bool receiver_spot(method_call *self, place_value *ret)
{
    if (self->lent)
        *ret = *self->lent;
    return self->lent || (self->receiver && spot_of(self->eval, self->receiver, ret));
}

/* A method of read source; *ret_called false: the type has none of this name. */
static cg_code own_method(method_call *self, type_ref type, bool *ret_called, val *ret)
{
    eval *owner = self->eval;
    method_found found = {0};
    const function_fact *fact;
    val *args;

    *ret_called = false;
    CG_TRY(type_find_method(owner->types, type, self->name, &found, owner->reterr));
    if (!found.function || owner->program->items.at[found.function].kind != ITEM_FUNCTION)
        return CG_OK;
    CG_TRY(eval_function_fact(owner, found.function, &fact));
    if (!fact->parameter_count || !fact->parameters[0].is_self)
        return CG_OK;
    args = arena_take(&owner->values->mem, (self->count + 1) * sizeof *args);
    if (!args)
        return err_nomem(owner->reterr);
    args[0] = self->value;
    if (self->count)
        memcpy(args + 1, self->args, self->count * sizeof *args);
    if (!fact->body) {
        CG_TRY(call_any_impl(owner, found.function, args, self->count + 1, self->place, ret_called,
                             ret));
        return CG_OK;
    }
    place_value place;

    if (fact->parameters[0].is_reference && receiver_spot(self, &place)) {
        args[0] = eval_reference(owner, &place);
        if (!args[0])
            return err_nomem(owner->reterr);
    }
    if (!found.bindings.self_type || type_at(owner->types, type)->kind == TYPE_ITEM)
        found.bindings.self_type = type;
    CG_TRY(add_type_arguments(owner, found.function, self->arguments, &found.bindings));
    *ret_called = true;
    return eval_call(owner, found.function, &found.bindings, args, self->count + 1, self->place,
                     ret);
}

/* `v` of `v[1..]`; 0: it is something else. */
static ast_ref sliced(const eval *self, ast_ref node)
{
    const ast *tree = eval_tree(self);
    ast_ref first = ast_at(tree, node)->first;
    ast_ref index = first ? ast_at(tree, first)->next : 0;

    return ast_kind_of(tree, node) == AST_INDEX_EXPRESSION && index &&
                   ast_kind_of(tree, index) == AST_RANGE_EXPRESSION
               ? first
               : 0;
}

/* What the library made of its receiver is stored where it came from. */
static cg_code store_receiver(method_call *self)
{
    eval *owner = self->eval;
    val updated = owner->updated_receiver;
    place_value place;

    owner->updated_receiver = 0;
    if (!updated || (!self->receiver && !self->lent))
        return CG_OK;
    if (!receiver_spot(self, &place)) {
        /* `v[1..].sort()`: which of them changed is not followed. */
        ast_ref whole = sliced(owner, self->receiver);

        if (!whole || !spot_of(owner, whole, &place))
            return CG_OK;
        updated = spot_read(owner, &place);
        updated = updated ? std_blurred(owner, updated) : 0;
        if (!updated)
            return CG_OK;
    }
    place.root->read = place.root->read_before;
    return spot_write(owner, &place, updated);
}

static const char *const lending[] = {
    "iter_mut",  "values_mut", "get_mut",  "last_mut",     "first_mut",    "back_mut",
    "front_mut", "as_mut",     "peek_mut", "par_iter_mut", "as_deref_mut",
};
static const char *const entering[] = {"or_insert", "or_insert_with", "or_default",
                                       "or_insert_with_key"};
static const char *const handing[] = {"borrow_mut", "lock",   "write",     "unwrap",
                                      "expect",     "as_mut", "deref_mut", "as_mut_slice"};

static bool is_named(const eval *self, sym name, const char *const *names, size_t count)
{
    cg_str text = program_text(self->program, name);

    for (size_t i = 0; i < count; i++) {
        if (str_is(text, names[i]))
            return true;
    }
    return false;
}

/* One reference, as it is or in an Option that may be empty: what can be followed. */
static bool is_one_place(const eval *self, val which)
{
    const value *at = value_at(self->values, which);

    if (at->kind == VALUE_CHOICE)
        return at->count == 2 && value_kind_of(self->values, at->as.items[0]) == VALUE_SOME &&
               value_kind_of(self->values, at->as.items[1]) == VALUE_NOTHING &&
               is_one_place(self, at->as.items[0]);
    return at->kind == VALUE_LIST || at->kind == VALUE_REFERENCE ||
           (at->kind == VALUE_SOME &&
            value_kind_of(self->values, at->as.items[0]) == VALUE_REFERENCE);
}

/* `v.get_mut(k)` where nobody knows k: any of the places, if there is one; 0: no place. */
static cg_code lend_any(eval *self, place_value place, val *ret)
{
    val now = spot_read(self, &place);
    enum value_kind kind = now ? value_kind_of(self->values, now) : VALUE_NONE;

    if ((kind != VALUE_LIST && kind != VALUE_MAP) || place.count == PLACE_STEPS)
        return CG_OK;
    place.steps[place.count++] = (place_step){.index = UINT32_MAX};
    now = spot_read(self, &place);
    if (!now || !eval_is_lendable(self, now))
        return CG_OK;
    now = eval_reference(self, &place);
    now = now ? value_list(self->values, VALUE_SOME, &now, 1) : 0;
    now = now ? value_join(self->values, now, eval_plain(self, VALUE_NOTHING)) : 0;
    return now ? eval_give(self, now, ret) : err_nomem(self->reterr);
}

/* The method once more, on the receiver with its items as the places where they lie. */
static cg_code lend(method_call *self, library_call *work, val *ret)
{
    eval *owner = self->eval;
    place_value place;
    val lent = 0;

    if (!receiver_spot(self, &place))
        return CG_OK;
    CG_TRY(eval_lent(owner, &place, &lent));
    if (!value_at(owner->values, lent)->has_reference)
        return CG_OK;
    work->receiver = lent;
    CG_TRY(ask_libraries(work, &lent));
    owner->updated_receiver = 0;
    if (!lent)
        return err_nomem(owner->reterr);
    if (value_at(owner->values, lent)->has_reference && is_one_place(owner, lent))
        *ret = lent;
    else if (str_is(program_text(owner->program, self->name), "get_mut") && self->count == 1 &&
             value_kind_of(owner->values, self->args[0]) != VALUE_RANGE &&
             value_kind_of(owner->values, *ret) != VALUE_NOTHING)
        return lend_any(owner, place, ret);
    return CG_OK;
}

/* Of `map.entry(key).or_default()` the key, and where the map lies; 0: it is something else. */
static ast_ref entered(method_call *self, place_value *ret_map)
{
    eval *owner = self->eval;
    const ast *tree = eval_tree(owner);
    ast_ref call = self->receiver;
    ast_ref function = call && ast_kind_of(tree, call) == AST_CALL_EXPRESSION
                           ? ast_child(tree, call, ROLE_FUNCTION)
                           : 0;
    ast_ref list = function ? ast_child(tree, call, ROLE_ARGUMENTS) : 0;
    ast_ref name = function ? ast_child(tree, function, ROLE_FIELD) : 0;
    val map;

    if (!name || !list ||
        !str_equal(program_text(owner->program, ast_at(tree, name)->text), CG_LIT("entry")) ||
        !spot_of(owner, ast_child(tree, function, ROLE_VALUE), ret_map))
        return 0;
    map = spot_read(owner, ret_map);
    return map && value_kind_of(owner->values, map) == VALUE_MAP ? ast_at(tree, list)->first : 0;
}

/* What the map's type says its values are; 0: nothing. */
static type_ref entered_type(method_call *self)
{
    place_value place;
    eval *owner = self->eval;

    if (!entered(self, &place))
        return 0;
    const model_type *shape =
        type_at(owner->types, value_at(owner->values, spot_read(owner, &place))->type);

    return shape->arg_count > 1 ? shape->args[1] : 0;
}

/* After `map.entry(key).or_default()` the map has it, and it is lent. */
static cg_code enter(method_call *self, val *ret)
{
    eval *owner = self->eval;
    place_value place;
    ast_ref key = entered(self, &place);
    sym insert = intern_add(&owner->program->names, CG_LIT("insert"));
    val args[2] = {0, eval_settled(owner, *ret)};
    val map, ignored = 0;
    uint32_t which = 0;

    if (!key)
        return CG_OK;
    map = eval_reference(owner, &place);
    if (!args[1] || !insert || !map)
        return err_nomem(owner->reterr);
    CG_TRY(evaluate(owner, key, &args[0]));
    if (eval_is_never(owner, args[0]))
        return CG_OK;
    CG_TRY(eval_method_at(owner, map, 0, insert, 0, args, 2, self->place, &ignored));
    map = spot_read(owner, &place);
    if (!map || value_kind_of(owner->values, map) != VALUE_MAP || place.count == PLACE_STEPS)
        return CG_OK;
    const value *at = value_at(owner->values, map);

    while (2 * which < at->count && !value_equal(owner->values, at->as.items[2 * which], args[0]))
        which++;
    if (2 * which >= at->count)
        return CG_OK;
    place.steps[place.count++] = (place_step){.index = which};
    return eval_give(owner, eval_reference(owner, &place), ret);
}

static cg_code library_method(method_call *self, bool *ret_known, val *ret)
{
    eval *owner = self->eval;
    library_call work = {.eval = owner,
                         .receiver = self->value,
                         .name = self->name,
                         .count = self->count,
                         .place = self->place,
                         .wanted = self->wanted};

    CG_TRY(known_args(owner, self->args, self->count, &work.args));
    if (self->arguments) {
        for (ast_ref i = eval_node(owner, self->arguments)->first; i; i = 0)
            CG_TRY(eval_type(owner, i, &work.wanted));
    }
    bool is_entering = is_named(owner, self->name, entering, sizeof entering / sizeof *entering);

    if (is_entering && !work.wanted)
        work.wanted = entered_type(self);
    CG_TRY(ask_libraries(&work, ret));
    *ret_known = work.is_known;
    if (work.is_known && !*ret)
        return err_nomem(owner->reterr);
    if (!work.is_known)
        return CG_OK;
    CG_TRY(store_receiver(self));
    if (is_named(owner, self->name, lending, sizeof lending / sizeof *lending))
        return lend(self, &work, ret);
    if (is_entering)
        return enter(self, ret);
    /* `r.borrow_mut()`, `slot.unwrap()` of what was lent: the same place. */
    if (self->lent && *ret == self->value &&
        is_named(owner, self->name, handing, sizeof handing / sizeof *handing))
        return eval_give(owner, eval_reference(owner, self->lent), ret);
    return CG_OK;
}

/* Is it a method that a trait of read source gives to tensors, and no operation of candle? */
static cg_code is_given_to_tensors(method_call *self, type_ref type, bool *ret)
{
    eval *owner = self->eval;
    method_found found = {0};
    cg_str path;

    *ret = false;
    if (value_class(owner->values, value_transparent(owner->values, type)) != CLASS_TENSOR)
        return CG_OK;
    CG_TRY(type_find_method(owner->types, type, self->name, &found, owner->reterr));
    if (!found.function)
        return CG_OK;
    if (!arena_format(&owner->values->mem, &path, "candle_core::Tensor::%.*s",
                      ERR_STR(program_text(owner->program, self->name))))
        return err_nomem(owner->reterr);
    *ret = operation_find(path) == 0;
    return CG_OK;
}

/* `self.act.forward(x)`, where `f` is a field that can be called, not a method. */
static cg_code field_method(method_call *self, bool *ret_called, val *ret)
{
    eval *owner = self->eval;
    val field = value_field_of(owner->values, self->value, self->name);
    const value *at = value_at(owner->values, field);

    *ret_called = false;
    if (!field)
        return CG_OK;
    bool is_callable = at->kind == VALUE_CLOSURE || at->kind == VALUE_FUNCTION ||
                       at->kind == VALUE_CHOICE ||
                       type_at(owner->types, at->type)->kind == TYPE_FUNCTION;

    if (!is_callable)
        return CG_OK;
    *ret_called = true;
    return eval_apply(owner, field, self->args, self->count, self->place, ret);
}

static cg_code convert(method_call *self, bool *ret_called, val *ret)
{
    eval *owner = self->eval;
    type_ref wanted = value_transparent(owner->values, self->wanted);
    method_found found = {0};

    *ret_called = false;
    if (!wanted || type_at(owner->types, wanted)->kind != TYPE_ITEM ||
        value_type(owner->values, self->value) == wanted)
        return CG_OK;
    CG_TRY(
        type_find_method(owner->types, wanted, eval_word(owner, WORD_FROM), &found, owner->reterr));
    if (!found.function)
        return CG_OK;
    found.bindings.self_type = wanted;
    *ret_called = true;
    return eval_call(owner, found.function, &found.bindings, &self->value, 1, self->place, ret);
}

/* A method of Iterator, of a type that has its own `next`. */
static cg_code iterator_method(method_call *self, type_ref type, bool *ret_called, val *ret)
{
    eval *owner = self->eval;
    method_call work = *self;
    method_found found = {0};

    *ret_called = false;
    if (value_kind_of(owner->values, self->value) != VALUE_STRUCT)
        return CG_OK;
    CG_TRY(
        type_find_method(owner->types, type, eval_word(owner, WORD_NEXT), &found, owner->reterr));
    if (!found.function)
        return CG_OK;
    CG_TRY(eval_own_items(owner, self->value, ret_called, &work.value));
    if (!*ret_called)
        return CG_OK;
    work.receiver = 0;
    work.lent = NULL;
    return library_method(&work, ret_called, ret);
}

static cg_code unknown_method(method_call *self, val *ret)
{
    eval *owner = self->eval;
    val *args = arena_take(&owner->values->mem, (self->count + 1) * sizeof *args);

    if (!args)
        return err_nomem(owner->reterr);
    args[0] = self->value;
    if (self->count)
        memcpy(args + 1, self->args, self->count * sizeof *args);
    place_value lent;

    if (value_kind_of(owner->values, self->value) == VALUE_LIST && receiver_spot(self, &lent))
        CG_TRY(loosen(owner, &lent));
    return eval_unknown_call(owner, call_text(owner, self->place, self->name), 0, args,
                             self->count + 1, self->place, ret);
}

static cg_code method(method_call *self, val *ret)
{
    eval *owner = self->eval;
    const value *at = value_at(owner->values, self->value);
    type_ref type = value_type(owner->values, self->value);
    enum type_kind kind = (enum type_kind)type_at(owner->types, type)->kind;
    bool is_done = false;

    if (at->kind == VALUE_ERROR || at->kind == VALUE_NEVER)
        return library_method(self, &is_done, ret) == CG_OK && is_done
                   ? CG_OK
                   : eval_give(owner, self->value, ret);
    if (at->kind == VALUE_CHOICE && is_mixed(owner, at)) {
        self->many = at;
        return eval_ways(owner, at->count, at->text.len ? at->text : CG_LIT("one of several"),
                         method_way, self, ret);
    }
    if (self->name == eval_word(owner, WORD_INTO) && self->count == 0) {
        CG_TRY(convert(self, &is_done, ret));
        if (is_done)
            return CG_OK;
    }
    bool is_own =
        type && !value_is_builder_type(owner->values, type) &&
        (kind == TYPE_ITEM || kind == TYPE_TRAIT || kind == TYPE_PARAMETER || kind == TYPE_SELF);

    if (is_own) {
        CG_TRY(own_method(self, type, &is_done, ret));
        if (is_done)
            return CG_OK;
        if (self->name == eval_word(owner, WORD_CLONE) && self->count == 0)
            return eval_give(owner, self->value, ret);
        CG_TRY(field_method(self, &is_done, ret));
        if (is_done)
            return CG_OK;
        CG_TRY(iterator_method(self, type, &is_done, ret));
        if (is_done)
            return CG_OK;
    }
    if (!is_own && type)
        CG_TRY(is_given_to_tensors(self, type, &is_done));
    if (is_done) {
        CG_TRY(own_method(self, type, &is_done, ret));
        if (is_done)
            return CG_OK;
    }
    CG_TRY(library_method(self, &is_done, ret));
    if (is_done)
        return CG_OK;
    if (self->name == eval_word(owner, WORD_CLONE) && self->count == 0)
        return eval_give(owner, self->value, ret);
    if (!is_own && type) {
        CG_TRY(own_method(self, type, &is_done, ret));
        if (is_done)
            return CG_OK;
    }
    /* Through Deref of the crate's own types. */
    if (kind == TYPE_ITEM && self->name != eval_word(owner, WORD_DEREF) && self->depth < 8) {
        method_call inner = *self;

        inner.depth++;
        inner.name = eval_word(owner, WORD_DEREF);
        inner.count = 0;
        inner.arguments = 0;
        CG_TRY(own_method(&inner, type, &is_done, &inner.value));
        if (is_done && !eval_is_never(owner, inner.value) && inner.value != self->value) {
            inner.name = self->name;
            inner.count = self->count;
            inner.receiver = 0;
            inner.lent = NULL;
            inner.arguments = self->arguments;
            return method(&inner, ret);
        }
    }
    return unknown_method(self, ret);
}

cg_code eval_method_at(eval *self, val which, ast_ref receiver, sym name, ast_ref arguments,
                       const val *args, size_t count, model_place place, val *ret)
{
    const value *at = value_at(self->values, which);
    method_call work = {.eval = self,
                        .lent = at->kind == VALUE_REFERENCE ? at->as.reference : NULL,
                        .value = eval_deref(self, which),
                        .receiver = receiver,
                        .name = name,
                        .arguments = arguments,
                        .args = args,
                        .count = count,
                        .place = place,
                        .wanted = self->state->expected};

    self->state->expected = 0;
    if (!work.value)
        return err_nomem(self->reterr);
    cg_code code = method(&work, ret);

    return code == CG_OK && !*ret ? err_nomem(self->reterr) : code;
}

cg_code eval_method(eval *self, val receiver, sym name, const val *args, size_t count,
                    model_place place, val *ret)
{
    val made = 0;

    CG_TRY(eval_method_at(self, receiver, 0, name, 0, args, count, place, &made));
    *ret = made;
    return CG_OK;
}

/* --- defaults --- */

/* The variant of an enum that has #[default]. */
static item_ref default_variant(const eval *self, item_ref owner)
{
    const program_item *item = &self->program->items.at[owner];
    const ast *tree = program_tree(self->program, item->file);
    ast_ref body = ast_child(tree, item->node, ROLE_BODY);
    bool is_next = false;

    for (ast_ref i = body ? ast_at(tree, body)->first : 0; i; i = ast_at(tree, i)->next) {
        if (ast_kind_of(tree, i) == AST_ATTRIBUTE_ITEM) {
            is_next |= str_find(ast_text(tree, i), CG_LIT("[default]")) != SIZE_MAX;
            continue;
        }
        if (is_next)
            return program_item_at(self->program, item->file, i);
    }
    return 0;
}

static cg_code default_of(eval *self, type_ref type, model_place place, val *ret)
{
    const model_type *shape;
    method_found found = {0};
    value made = {.kind = VALUE_LIST, .is_known = true};

    type = value_transparent(self->values, type);
    shape = type_at(self->types, type);
    switch (value_class(self->values, type)) {
    case CLASS_INT:
        return eval_give(self, value_int(self->values, expr_const(self->exprs, 0)), ret);
    case CLASS_FLOAT:
        made.kind = VALUE_FLOAT;
        return eval_give(self, value_make(self->values, &made), ret);
    case CLASS_BOOL: return eval_give(self, self->values->truth[0], ret);
    case CLASS_TEXT: return eval_give(self, value_text(self->values, CG_LIT("")), ret);
    case CLASS_OPTION: return eval_give(self, eval_plain(self, VALUE_NOTHING), ret);
    case CLASS_MAP:
        made.kind = VALUE_MAP;
        made.type = type;
        return eval_give(self, value_make(self->values, &made), ret);
    case CLASS_LIST:
        if (shape->kind == TYPE_ARRAY)
            break;
        made.type = type;
        return eval_give(self, value_make(self->values, &made), ret);
    default: break;
    }
    if (type && shape->kind == TYPE_EXTERNAL) {
        sym path = eval_member_path(self, type, eval_word(self, WORD_DEFAULT));
        val *none = NULL;
        library_call work = {.eval = self,
                             .path = path,
                             .place = place,
                             .name = eval_word(self, WORD_DEFAULT),
                             .args = none};

        if (!path)
            return err_nomem(self->reterr);
        CG_TRY(ask_libraries(&work, ret));
        if (work.is_known)
            return eval_give(self, *ret, ret);
    }
    if (type && shape->kind == TYPE_ITEM && shape->item) {
        item_ref item = shape->item, variant;

        CG_TRY(type_find_method(self->types, type, eval_word(self, WORD_DEFAULT), &found,
                                self->reterr));
        if (found.function) {
            found.bindings.self_type = type;
            return eval_call(self, found.function, &found.bindings, NULL, 0, place, ret);
        }
        if (self->program->items.at[item].kind == ITEM_STRUCT)
            return eval_item_fields(self, item, type, CG_LIT("default"), false, ret);
        variant = self->program->items.at[item].kind == ITEM_ENUM ? default_variant(self, item) : 0;
        if (variant)
            return construct(self, variant, type, NULL, 0, ret);
    }
    return eval_give(self, value_of_type(self->values, type, CG_LIT("default")), ret);
}

cg_code eval_default(eval *self, type_ref type, model_place place, val *ret)
{
    cg_code code;

    /* Types may hold themselves. */
    if (self->state->calls >= self->limits.call_depth)
        return eval_give(self, value_of_type(self->values, type, CG_LIT("default")), ret);
    self->state->calls++;
    code = default_of(self, type, place, ret);
    self->state->calls--;
    return code;
}
