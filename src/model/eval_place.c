/*
 * Places: where `x.f[0] = ..`, `&mut x` and methods that change their receiver store what they
 * make.
 */
#include "model/eval_state.h"

static bool add_step(place_value *place, place_step step)
{
    if (place->count == PLACE_STEPS)
        return false;
    place->steps[place->count++] = step;
    return true;
}

/* Methods that hand out what they are called on. */
static bool is_handing_out(const eval *self, sym name)
{
    return name == eval_word(self, WORD_BORROW_MUT) || name == eval_word(self, WORD_AS_MUT) ||
           name == eval_word(self, WORD_LOCK) || name == eval_word(self, WORD_WRITE) ||
           name == eval_word(self, WORD_UNWRAP) || name == eval_word(self, WORD_EXPECT) ||
           name == eval_word(self, WORD_DEREF_MUT);
}

static bool is_option(const eval *self, val which)
{
    const value *at = value_at(self->values, which);

    if (at->kind == VALUE_CHOICE) {
        for (size_t i = 0; i < at->count; i++) {
            if (is_option(self, at->as.items[i]))
                return true;
        }
    }
    return at->kind == VALUE_SOME || at->kind == VALUE_NOTHING;
}

static bool place_within(eval *self, ast_ref node, place_value *ret, unsigned depth)
{
    const ast *tree = eval_tree(self);
    const ast_node *at = ast_at(tree, node);
    ast_ref inner;
    cell *local;

    if (!node || depth > 2 * PLACE_STEPS)
        return false;
    switch ((enum ast_kind)at->kind) {
    case AST_IDENTIFIER:
    case AST_SELF:
        local = cell_find(self->state->frame,
                          at->kind == AST_SELF ? eval_word(self, WORD_SELF) : at->text);
        if (!local)
            return false;
        if (value_at(self->values, local->value)->kind == VALUE_REFERENCE)
            *ret = *value_at(self->values, local->value)->as.reference;
        else
            *ret = (place_value){.root = local};
        return true;
    case AST_FIELD_EXPRESSION:
        inner = ast_child(tree, node, ROLE_FIELD);
        return inner && place_within(self, ast_child(tree, node, ROLE_VALUE), ret, depth + 1) &&
               add_step(ret, (place_step){.field = ast_at(tree, inner)->text});
    case AST_INDEX_EXPRESSION: {
        place_step step = {.index = UINT32_MAX};
        ast_ref index = ast_at(tree, at->first)->next;

        if (!at->first || !index || !place_within(self, at->first, ret, depth + 1))
            return false;
        if (ast_kind_of(tree, index) == AST_RANGE_EXPRESSION)
            return false;
        if (ast_kind_of(tree, index) == AST_INTEGER_LITERAL ||
            ast_kind_of(tree, index) == AST_IDENTIFIER) {
            int64_t number;
            val which = 0;

            if (ast_kind_of(tree, index) == AST_INTEGER_LITERAL) {
                which = eval_literal(self, index);
            } else {
                local = cell_find(self->state->frame, ast_at(tree, index)->text);
                which = local ? eval_deref(self, local->value) : 0;
            }
            if (which && expr_constant(self->exprs, value_number(self->values, which), &number) &&
                number >= 0 && number < UINT16_MAX)
                step.index = (uint32_t)number;
        }
        return add_step(ret, step);
    }
    case AST_UNARY_EXPRESSION:
        return at->op == OP_DEREF && place_within(self, at->first, ret, depth + 1);
    case AST_REFERENCE_EXPRESSION:
        return place_within(self, ast_child(tree, node, ROLE_VALUE), ret, depth + 1);
    case AST_TRY_EXPRESSION: return place_within(self, at->first, ret, depth + 1);
    case AST_CALL_EXPRESSION: {
        ast_ref function = ast_child(tree, node, ROLE_FUNCTION);
        ast_ref name = function ? ast_child(tree, function, ROLE_FIELD) : 0;

        if (!name || ast_kind_of(tree, function) != AST_FIELD_EXPRESSION ||
            !is_handing_out(self, ast_at(tree, name)->text) ||
            !place_within(self, ast_child(tree, function, ROLE_VALUE), ret, depth + 1))
            return false;
        val now = spot_read(self, ret);

        return now && !is_option(self, now);
    }
    default: return false;
    }
}

bool spot_of(eval *self, ast_ref node, place_value *ret)
{
    return place_within(self, node, ret, 0);
}

static val step_read(eval *self, val of, place_step step)
{
    const value *at = value_at(self->values, of);
    val joined = 0;

    if (step.field)
        return value_field_of(self->values, of, step.field);
    if (at->kind != VALUE_LIST)
        return 0;
    for (size_t i = 0; i < at->count; i++) {
        val item = at->as.items[i];

        if (value_at(self->values, item)->kind == VALUE_REPEAT) {
            step.index = UINT32_MAX;
            item = value_at(self->values, item)->as.repeat.items[0];
        } else if (step.index == i) {
            return item;
        }
        joined = joined ? value_join(self->values, joined, item) : item;
    }
    return step.index == UINT32_MAX ? joined : 0;
}

val spot_read(eval *self, const place_value *place)
{
    val at = place->root->value;

    if (value_at(self->values, at)->kind == VALUE_REFERENCE)
        at = eval_deref(self, at);
    for (uint32_t i = 0; i < place->count && at; i++)
        at = step_read(self, at, place->steps[i]);
    return at;
}

static val step_write(eval *self, val of, place_step step, val with)
{
    const value *at = value_at(self->values, of);
    value made = *at;
    val *items;

    if (step.field)
        return value_with_field(self->values, of, step.field, with);
    if (at->kind != VALUE_LIST || !at->count)
        return of;
    items = arena_take(&self->values->mem, at->count * sizeof *items);
    if (!items)
        return 0;
    memcpy(items, at->as.items, at->count * sizeof *items);
    made.as.items = items;
    for (size_t i = 0; i < at->count; i++) {
        const value *item = value_at(self->values, items[i]);

        if (item->kind == VALUE_REPEAT) {
            value repeat = *item;
            val joined = value_join(self->values, item->as.repeat.items[0], with);

            repeat.as.repeat.items = &joined;
            items[i] = joined ? value_make(self->values, &repeat) : 0;
            step.index = UINT32_MAX; /* nobody knows how many it stands for */
        } else if (step.index == i) {
            items[i] = with;
            return value_make(self->values, &made);
        } else if (step.index == UINT32_MAX) {
            items[i] = value_join(self->values, items[i], with);
        }
        if (!items[i])
            return 0;
    }
    return value_make(self->values, &made);
}

cg_code spot_write(eval *self, const place_value *place, val with)
{
    val levels[PLACE_STEPS + 1] = {0};
    place_value whole = *place;

    /* A reference to a reference: the variable it leads to. */
    for (unsigned i = 0; i < 8; i++) {
        const value *at = value_at(self->values, whole.root->value);
        place_value inner;

        if (at->kind != VALUE_REFERENCE)
            break;
        inner = *at->as.reference;
        for (uint32_t j = 0; j < whole.count; j++) {
            if (!add_step(&inner, whole.steps[j]))
                return CG_OK;
        }
        whole = inner;
    }
    levels[0] = whole.root->value;
    for (uint32_t i = 0; i < whole.count; i++) {
        levels[i + 1] = step_read(self, levels[i], whole.steps[i]);
        /* A field that is not there yet is made by the write. */
        if (!levels[i + 1] && i + 1 < whole.count)
            return CG_OK;
    }
    levels[whole.count] = with;
    for (uint32_t i = whole.count; i > 0; i--) {
        levels[i - 1] = step_write(self, levels[i - 1], whole.steps[i - 1], levels[i]);
        if (!levels[i - 1])
            return err_nomem(self->reterr);
    }
    return cell_assign(self, whole.root, levels[0]);
}
