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

/* What any entry of a map may be; 0: it has none. */
static val joined_entries(eval *self, const value *map)
{
    val joined = 0;

    for (size_t i = 1; i < map->count; i += 2) {
        joined = joined ? value_join(self->values, joined, map->as.items[i]) : map->as.items[i];
        if (!joined)
            return 0;
    }
    return joined;
}

static val step_read(eval *self, val of, place_step step)
{
    const value *at = value_at(self->values, of);

    if (step.field)
        return value_field_of(self->values, of, step.field);
    if (step.is_inside) {
        for (size_t i = 0; at->kind == VALUE_CHOICE && i < at->count; i++) {
            if (value_kind_of(self->values, at->as.items[i]) == VALUE_SOME)
                return value_at(self->values, at->as.items[i])->as.items[0];
        }
        return at->kind == VALUE_SOME ? at->as.items[0] : 0;
    }
    if (at->kind == VALUE_MAP && step.index == UINT32_MAX)
        return joined_entries(self, at);
    if (at->kind == VALUE_MAP)
        return 2 * (uint64_t)step.index + 1 < at->count ? at->as.items[2 * step.index + 1] : 0;
    if (at->kind != VALUE_LIST && at->kind != VALUE_TUPLE)
        return 0;
    for (size_t i = 0; i < at->count; i++) {
        val item = at->as.items[i];
        bool is_repeat = value_at(self->values, item)->kind == VALUE_REPEAT;

        if (step.index == i && (!is_repeat || step.is_each))
            return is_repeat ? value_at(self->values, item)->as.repeat.items[0] : item;
        if (is_repeat)
            step.index = UINT32_MAX; /* nobody knows how many it stands for */
    }
    return step.index == UINT32_MAX ? value_join_items(self->values, at) : 0;
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
    if ((at->kind != VALUE_LIST && at->kind != VALUE_TUPLE && at->kind != VALUE_MAP &&
         !(step.is_inside && (at->kind == VALUE_SOME || at->kind == VALUE_CHOICE))) ||
        !at->count)
        return of;
    items = arena_take(&self->values->mem, at->count * sizeof *items);
    if (!items)
        return 0;
    memcpy(items, at->as.items, at->count * sizeof *items);
    made.as.items = items;
    if (step.is_inside) {
        for (size_t i = 0; i < at->count; i++) {
            value inner = {.kind = VALUE_SOME, .count = 1, .as.items = &with};

            if (at->kind == VALUE_SOME)
                items[i] = with;
            else if (value_kind_of(self->values, items[i]) == VALUE_SOME)
                items[i] = value_make(self->values, &inner);
            if (!items[i])
                return 0;
        }
        return value_make(self->values, &made);
    }
    if (at->kind == VALUE_MAP) {
        for (size_t i = 1; step.index == UINT32_MAX && i < at->count; i += 2) {
            items[i] = value_join(self->values, items[i], with);
            if (!items[i])
                return 0;
        }
        if (2 * (uint64_t)step.index + 1 < at->count)
            items[2 * step.index + 1] = with;
        return value_make(self->values, &made);
    }
    for (size_t i = 0; i < at->count; i++) {
        const value *item = value_at(self->values, items[i]);

        if (item->kind == VALUE_REPEAT) {
            value repeat = *item;
            bool is_all = step.is_each && step.index == i;
            val joined = is_all ? with : value_join(self->values, item->as.repeat.items[0], with);

            repeat.as.repeat.items = &joined;
            items[i] = joined ? value_make(self->values, &repeat) : 0;
            if (is_all)
                return items[i] ? value_make(self->values, &made) : 0;
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
    with = eval_settled(self, with);
    if (!with)
        return err_nomem(self->reterr);
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

/* --- what is lent --- */

val eval_reference(eval *self, const place_value *place)
{
    value made = {.kind = VALUE_REFERENCE};
    place_value *copy = arena_take(&self->state->mem, sizeof *copy);

    if (!copy)
        return 0;
    *copy = *place;
    made.as.reference = copy;
    return value_make(self->values, &made);
}

/* `v[i]` or `v[k]`: `v` at an index that nobody knows. */
val eval_either_place(values *self, const value *a, const value *b)
{
    const place_value *x = a->as.reference, *y = b->as.reference;
    value made = {.kind = VALUE_REFERENCE};
    place_value *copy;

    if (x->root != y->root || x->count != y->count)
        return 0;
    copy = arena_take(&self->mem, sizeof *copy);
    if (!copy)
        return 0;
    *copy = *x;
    for (uint32_t i = 0; i < x->count; i++) {
        place_step left = x->steps[i], right = y->steps[i];

        if (left.field != right.field || left.is_inside != right.is_inside)
            return 0;
        if (left.index != right.index || left.is_each != right.is_each)
            copy->steps[i] = (place_step){.index = UINT32_MAX};
    }
    made.as.reference = copy;
    return value_make(self, &made);
}

bool eval_is_lendable(const eval *self, val which)
{
    switch (value_kind_of(self->values, which)) {
    case VALUE_STRUCT:
    case VALUE_ENUM:
    case VALUE_SOME:
    case VALUE_NOTHING:
    case VALUE_TUPLE:
    case VALUE_LIST:
    case VALUE_MAP:
    case VALUE_CHOICE: return true;
    default: return false;
    }
}

/* The item, as a reference to where it lies. */
static val lent_item(eval *self, const place_value *place, place_step step, val item)
{
    place_value inner = *place;
    value repeat = *value_at(self->values, item);

    if (repeat.kind == VALUE_REPEAT) {
        val lent;

        step.is_each = true;
        lent = lent_item(self, place, step, repeat.as.repeat.items[0]);
        if (!lent || lent == repeat.as.repeat.items[0])
            return lent ? item : 0;
        repeat.as.repeat.items = &lent;
        return value_make(self->values, &repeat);
    }
    return eval_is_lendable(self, item) && add_step(&inner, step) ? eval_reference(self, &inner)
                                                                  : item;
}

cg_code eval_lent(eval *self, const place_value *place, val *ret)
{
    val now = spot_read(self, place);
    value made;
    val *items;

    now = now ? eval_deref(self, now) : value_unknown(self->values, 0, (cg_str){NULL, 0});
    *ret = now;
    if (!now)
        return err_nomem(self->reterr);
    made = *value_at(self->values, now);
    if ((made.kind != VALUE_LIST && made.kind != VALUE_MAP && made.kind != VALUE_SOME) ||
        !made.count || made.has_reference)
        return CG_OK;
    items = arena_take(&self->values->mem, made.count * sizeof *items);
    if (!items)
        return err_nomem(self->reterr);
    for (uint32_t i = 0; i < made.count; i++) {
        place_step step = {.index = made.kind == VALUE_MAP ? i / 2 : i,
                           .is_inside = made.kind == VALUE_SOME};

        items[i] = made.as.items[i];
        if (made.kind != VALUE_MAP || i % 2 == 1)
            items[i] = lent_item(self, place, step, items[i]);
        if (!items[i])
            return err_nomem(self->reterr);
    }
    made.as.items = items;
    return eval_give(self, value_make(self->values, &made), ret);
}

static val settled(eval *self, val which, unsigned depth)
{
    value made = *value_at(self->values, which);

    if (!made.has_reference)
        return which;
    if (depth > 12)
        return value_unknown(self->values, made.type, (cg_str){NULL, 0});
    if (made.kind == VALUE_REFERENCE)
        return settled(self, eval_deref(self, which), depth + 1);
    if (made.kind == VALUE_REPEAT) {
        val inner = settled(self, made.as.repeat.items[0], depth + 1);

        made.as.repeat.items = &inner;
        made.has_reference = false;
        return inner ? value_make(self->values, &made) : 0;
    }
    bool has_fields = made.kind == VALUE_STRUCT || made.kind == VALUE_ENUM;
    value_field *fields = arena_take(&self->values->mem, (made.count + 1u) * sizeof *fields);
    val *items = arena_take(&self->values->mem, (made.count + 1u) * sizeof *items);

    if (!fields || !items)
        return 0;
    for (size_t i = 0; i < made.count; i++) {
        val *to = has_fields ? &fields[i].value : &items[i];

        if (has_fields)
            fields[i] = made.as.fields[i];
        else
            items[i] = made.as.items[i];
        *to = *to ? settled(self, *to, depth + 1) : 0;
        if (!*to && (has_fields ? made.as.fields[i].value : made.as.items[i]))
            return 0;
    }
    if (has_fields)
        made.as.fields = fields;
    else
        made.as.items = items;
    made.has_reference = false;
    return value_make(self->values, &made);
}

val eval_settled(eval *self, val which)
{
    return settled(self, which, 0);
}
