/*
 * Examples of a configuration: what functions without arguments that make one (`Default::default`,
 * `Config::base`) put into its fields. A string of the configuration that becomes part of a key is
 * then
 * one of those, or something else.
 */
#include "model/eval_state.h"

#define EXAMPLES 16u

/* Does the value have a string in it that is not known? */
static bool is_open_text(const eval *self, val which, unsigned depth)
{
    const value *at = value_at(self->values, which);

    if (at->kind == VALUE_TEXT)
        return at->as.pieces.count == 1 && at->as.pieces.at[0].is_hole;
    if ((at->kind != VALUE_CHOICE && at->kind != VALUE_SOME) || depth > 2)
        return false;
    for (size_t i = 0; i < at->count; i++) {
        if (is_open_text(self, at->as.items[i], depth + 1))
            return true;
    }
    return false;
}

static bool is_literal(const eval *self, val which)
{
    const value *at = value_at(self->values, which);

    if (at->kind == VALUE_SOME)
        at = value_at(self->values, at->as.items[0]);
    if (at->kind != VALUE_TEXT || !at->as.pieces.count)
        return false;
    for (size_t i = 0; i < at->as.pieces.count; i++) {
        if (at->as.pieces.at[i].is_hole)
            return false;
    }
    return true;
}

/* Call a function that takes nothing; whatever it records is no part of the evaluation. */
static cg_code try_function(eval *self, item_ref function, type_ref type, example_list *to)
{
    trail *track = self->trail;
    trail_mark mark = trail_position(track);
    size_t roots = track->roots.count;
    frame *caller = self->state->frame;
    bool is_building = self->state->is_building;
    const function_fact *fact;
    type_bindings bindings = {.self_type = type};
    val made = 0;

    CG_TRY(eval_function_fact(self, function, &fact));
    if (fact->parameter_count || !fact->result || !fact->body)
        return CG_OK;
    self->state->frame = NULL;
    CG_TRY(eval_call(self, function, &bindings, NULL, 0, (model_place){0}, &made));
    self->state->frame = caller;
    self->state->is_building = is_building;
    trail_forget(track, mark);
    track->roots.count = roots;
    if (value_kind_of(self->values, made) == VALUE_STRUCT &&
        value_at(self->values, made)->type == type)
        to->at[to->count++] = made;
    return CG_OK;
}

/* Who looks at the examples depends on the functions that make them. */
static cg_code note_use(eval *self, item_ref item)
{
    const program *code_of = self->program;
    file_ref user = self->state->frame ? self->state->frame->file : 0;
    const item_ref *impls = NULL;
    size_t count = 0;

    CG_TRY(type_impls_for(self->types, item, &impls, &count, self->reterr));
    for (size_t i = 0; i < count; i++) {
        if (!program_edge(self->program, user, code_of->items.at[impls[i]].file))
            return err_nomem(self->reterr);
    }
    return CG_OK;
}

static cg_code collect(eval *self, item_ref item, type_ref type, example_list *to)
{
    const item_ref *impls = NULL;
    size_t count = 0;

    CG_TRY(type_impls_for(self->types, item, &impls, &count, self->reterr));
    for (size_t i = 0; i < count; i++) {
        item_ref next;

        for (item_ref j = self->program->items.at[impls[i]].first_in_owner; j; j = next) {
            next = self->program->items.at[j].next_in_owner;
            if (self->program->items.at[j].kind == ITEM_FUNCTION && to->count < EXAMPLES)
                CG_TRY(try_function(self, j, type, to));
        }
    }
    return CG_OK;
}

cg_code eval_with_examples(eval *self, val of, sym field, val found, val *ret)
{
    eval_state *state = self->state;
    const value *at = value_at(self->values, of);
    const model_type *shape = type_at(self->types, at->type);
    example_list *list;

    *ret = found;
    if (at->kind != VALUE_UNKNOWN || !at->type || shape->kind != TYPE_ITEM || !shape->item ||
        shape->arg_count || !is_open_text(self, found, 0) || state->is_collecting)
        return CG_OK;
    CG_TRY(note_use(self, shape->item));
    shape = type_at(self->types, at->type);
    while (state->examples.count <= shape->item) {
        example_list **slot = vec_add(self->program->heap, &state->examples);

        if (!slot)
            return err_nomem(self->reterr);
        *slot = NULL;
    }
    list = state->examples.at[shape->item];
    if (!list) {
        list = arena_zero(&state->keep, sizeof *list + EXAMPLES * sizeof *list->at);
        if (!list)
            return err_nomem(self->reterr);
        list->at = (val *)(list + 1);
        state->examples.at[shape->item] = list;
    }
    if (!list->is_done) {
        list->count = 0;
        list->is_done = true;
        CG_TRY(eval_made(self, shape->item));
        state->is_collecting = true;
        CG_TRY(collect(self, shape->item, at->type, list));
        state->is_collecting = false;
    }
    for (size_t i = 0; i < list->count; i++) {
        const value *example = value_at(self->values, list->at[i]);

        for (size_t j = 0; j < example->count; j++) {
            if (example->as.fields[j].name != field ||
                !is_literal(self, example->as.fields[j].value))
                continue;
            *ret = value_join(self->values, *ret, example->as.fields[j].value);
            if (!*ret)
                return err_nomem(self->reterr);
        }
    }
    return CG_OK;
}
