/*
 * Methods that change their receiver in a way that is followed only roughly: what is certain before
 * is not certain after. An order that is not known makes every place any of the items, items that
 * may have gone are there an unknown number of times, and numbers, texts and tensors that were lent
 * out to be changed may be anything. Modules that are lent stay: their layers are run through such
 * loans everywhere, and hardly ever exchanged.
 */
#include "model/catalogue.h"
#include "model/std_handlers.h"

static val join_items(library_call *call, const value *list)
{
    val joined = 0;

    for (size_t i = 0; i < list->count; i++) {
        const value *item = std_at(call, list->as.items[i]);
        val one = item->kind == VALUE_REPEAT ? item->as.repeat.items[0] : list->as.items[i];

        joined = joined == 0 ? one : value_join(call->eval->values, joined, one);
        if (joined == 0)
            return 0;
    }
    return joined;
}

static val repeat_of(library_call *call, val item, sym symbol, expr count)
{
    value it = {.kind = VALUE_REPEAT, .count = 1};

    it.as.repeat.items = &item;
    it.as.repeat.symbol = symbol;
    it.as.repeat.count = count;
    return value_make(call->eval->values, &it);
}

/* The receiver afterwards: a list in which every item is `with`, not sure: or is not there. */
static cg_code replace_items(library_call *call, val with, bool is_sure)
{
    values *all = call->eval->values;
    const value *list = std_at(call, call->receiver);
    val *to;

    if (list->kind != VALUE_LIST || list->count == 0)
        return CG_OK;
    to = arena_take(&all->mem, list->count * sizeof *to);
    if (to == NULL || with == 0)
        return err_nomem(call->eval->reterr);
    for (size_t i = 0; i < list->count; i++) {
        const value *item = std_at(call, list->as.items[i]);

        if (item->kind == VALUE_REPEAT)
            to[i] = repeat_of(call, with, item->as.repeat.symbol,
                              is_sure ? item->as.repeat.count : EXPR_NONE);
        else
            to[i] = is_sure ? with : repeat_of(call, with, 0, EXPR_NONE);
        if (to[i] == 0)
            return err_nomem(call->eval->reterr);
    }
    call->updated = std_vec_of(call->eval, to, list->count);
    return call->updated == 0 ? err_nomem(call->eval->reterr) : CG_OK;
}

static bool constant(const library_call *call, size_t which, size_t most, size_t *ret)
{
    val arg = std_arg(call, which);
    int64_t number;

    if (arg == 0 ||
        !expr_constant(call->eval->exprs, value_number(call->eval->values, arg), &number) ||
        number < 0 || (uint64_t)number >= most)
        return false;
    *ret = (size_t)number;
    return true;
}

static bool has_repeats(library_call *call, const value *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (std_kind(call, list->as.items[i]) == VALUE_REPEAT)
            return true;
    }
    return false;
}

/* sort and its kind, rotate_left, shuffle. */
cg_code list_mixed(library_call *call)
{
    const value *list = std_at(call, call->receiver);

    if (list->kind == VALUE_LIST && has_repeats(call, list))
        CG_TRY(list_scatter(call, true));
    else if (list->kind == VALUE_LIST && list->count > 1)
        CG_TRY(replace_items(call, join_items(call, list), true));
    return std_give(call, std_plain(call->eval, VALUE_UNIT));
}

cg_code list_swap(library_call *call)
{
    const value *list = std_at(call, call->receiver);
    size_t a = 0;
    size_t b = 0;
    val *to;

    if (list->kind != VALUE_LIST || has_repeats(call, list) ||
        !constant(call, 0, list->count, &a) || !constant(call, 1, list->count, &b))
        return list_mixed(call);
    to = arena_take(&call->eval->values->mem, list->count * sizeof *to);
    if (to == NULL)
        return err_nomem(call->eval->reterr);
    memcpy(to, list->as.items, list->count * sizeof *to);
    to[a] = list->as.items[b];
    to[b] = list->as.items[a];
    call->updated = std_vec_of(call->eval, to, list->count);
    return call->updated == 0 ? err_nomem(call->eval->reterr)
                              : std_give(call, std_plain(call->eval, VALUE_UNIT));
}

/* retain, dedup and their kind: some items may have gone. */
cg_code list_thinned(library_call *call)
{
    const value *list = std_at(call, call->receiver);

    if (list->kind == VALUE_LIST && has_repeats(call, list))
        CG_TRY(list_scatter(call, false));
    else if (list->kind == VALUE_LIST && list->count > 0)
        CG_TRY(replace_items(call, join_items(call, list), false));
    return std_give(call, std_plain(call->eval, VALUE_UNIT));
}

cg_code list_filled(library_call *call)
{
    if (std_arg(call, 0) != 0)
        CG_TRY(replace_items(call, std_arg(call, 0), true));
    return std_give(call, std_plain(call->eval, VALUE_UNIT));
}

/* copy_from_slice, clone_from_slice: as long as what is copied. */
cg_code list_copied(library_call *call)
{
    call->updated = std_arg(call, 0);
    return std_give(call, std_plain(call->eval, VALUE_UNIT));
}

/* --- what is lent --- */

static val blurred_item(eval *self, val which)
{
    value it = *value_at(self->values, which);

    switch ((enum value_kind)it.kind) {
    case VALUE_INT: {
        value number = {.kind = VALUE_INT, .type = it.type, .as.number = EXPR_NONE};

        return value_make(self->values, &number);
    }
    case VALUE_FLOAT:
    case VALUE_BOOL: {
        value plain = {.kind = it.kind, .type = it.type};

        return value_make(self->values, &plain);
    }
    case VALUE_TENSOR:
    case VALUE_TEXT:
    case VALUE_CHAR: return value_unknown(self->values, it.type, (cg_str){NULL, 0});
    default: return which;
    }
}

val std_blurred(eval *self, val which)
{
    value it = *value_at(self->values, which);
    val *to;

    if (it.kind != VALUE_LIST || it.count == 0)
        return blurred_item(self, which);
    to = arena_take(&self->values->mem, it.count * sizeof *to);
    if (to == NULL)
        return 0;
    for (size_t i = 0; i < it.count; i++) {
        value item = *value_at(self->values, it.as.items[i]);
        val inner;

        if (item.kind != VALUE_REPEAT) {
            to[i] = blurred_item(self, it.as.items[i]);
        } else {
            inner = blurred_item(self, item.as.repeat.items[0]);
            item.as.repeat.items = &inner;
            to[i] = inner == 0 ? 0 : value_make(self->values, &item);
        }
        if (to[i] == 0)
            return 0;
    }
    return std_vec_of(self, to, it.count);
}

/* What an empty list may be after something that is not followed: some items, each anything. */
static val filled_list(eval *self)
{
    value repeat = {.kind = VALUE_REPEAT};
    val item = value_unknown(self->values, 0, (cg_str){NULL, 0});
    val made;

    repeat.as.repeat.items = &item;
    made = item == 0 ? 0 : value_make(self->values, &repeat);
    return made == 0 ? 0 : std_vec_of(self, &made, 1);
}

/* What lies in the list, each with what may have been put there. */
static val loosened_items(eval *self, val which)
{
    value it = *value_at(self->values, which);
    val *to;

    if (it.kind != VALUE_LIST || it.count == 0)
        return blurred_item(self, which);
    to = arena_take(&self->values->mem, it.count * sizeof *to);
    if (to == NULL)
        return 0;
    for (size_t i = 0; i < it.count; i++) {
        value item = *value_at(self->values, it.as.items[i]);
        bool is_repeat = item.kind == VALUE_REPEAT;
        val inner = is_repeat ? item.as.repeat.items[0] : it.as.items[i];
        const value *at = value_at(self->values, inner);

        inner = at->kind == VALUE_LIST && at->count == 0 ? filled_list(self)
                                                         : blurred_item(self, inner);
        item.as.repeat.items = is_repeat ? &inner : item.as.repeat.items;
        to[i] = inner != 0 && is_repeat ? value_make(self->values, &item) : inner;
        if (to[i] == 0)
            return 0;
    }
    return std_vec_of(self, to, it.count);
}

val std_loosened(eval *self, val which)
{
    const value *it = value_at(self->values, which);

    return it->kind == VALUE_LIST && it->count == 0 ? filled_list(self)
                                                    : loosened_items(self, which);
}

/* iter_mut, get_mut and their kind: what is lent is looked at as what it may be afterwards. */
static cg_code lend(library_call *call, val after, cg_code (*as)(library_call *call))
{
    if (after == 0)
        return err_nomem(call->eval->reterr);
    if (after != call->receiver)
        call->updated = call->receiver = after;
    return as(call);
}

cg_code list_lend_items(library_call *call)
{
    return lend(call, std_blurred(call->eval, call->receiver), list_iter);
}

cg_code list_lend_one(library_call *call)
{
    return lend(call, std_blurred(call->eval, call->receiver), list_get);
}

cg_code list_lend_first(library_call *call)
{
    return lend(call, std_blurred(call->eval, call->receiver), list_first);
}

cg_code list_lend_last(library_call *call)
{
    return lend(call, std_blurred(call->eval, call->receiver), list_last);
}

cg_code list_lend_windows(library_call *call)
{
    return lend(call, loosened_items(call->eval, call->receiver), list_windows);
}

cg_code list_lend_parts(library_call *call)
{
    return lend(call, loosened_items(call->eval, call->receiver), list_split_at);
}

/* as_mut of an option: there or not as before. */
cg_code option_lend(library_call *call)
{
    value it = *std_at(call, call->receiver);
    val inner;

    if (it.kind != VALUE_SOME)
        return any_same(call);
    inner = std_blurred(call->eval, it.as.items[0]);
    if (inner == 0)
        return err_nomem(call->eval->reterr);
    if (inner != it.as.items[0])
        call->updated = call->receiver = std_some(call->eval, inner);
    return call->receiver == 0 ? err_nomem(call->eval->reterr) : any_same(call);
}

/* nth(k) of an iterator: what follows is left. */
cg_code list_nth(library_call *call)
{
    value list = *std_at(call, call->receiver);
    size_t which = 0;

    if (list.kind == VALUE_LIST && list.count > 0 &&
        !std_is_collection(call->eval, call->receiver)) {
        if (!has_repeats(call, &list) && constant(call, 0, list.count, &which))
            call->updated =
                std_list_of(call->eval, 0, list.as.items + which + 1, list.count - which - 1);
        else
            CG_TRY(replace_items(call, join_items(call, &list), false));
        if (call->updated == 0)
            return err_nomem(call->eval->reterr);
    }
    return list_get(call);
}

/* get_mut, values_mut, iter_mut of a map: keys stay. */
static cg_code lend_values(library_call *call, cg_code (*as)(library_call *call))
{
    value it = *std_at(call, call->receiver);
    val *to;

    if (it.kind != VALUE_MAP || it.count == 0)
        return as(call);
    to = arena_take(&call->eval->values->mem, it.count * sizeof *to);
    if (to == NULL)
        return err_nomem(call->eval->reterr);
    for (size_t i = 0; i < it.count; i++) {
        to[i] = i % 2 == 0 ? it.as.items[i] : std_blurred(call->eval, it.as.items[i]);
        if (to[i] == 0)
            return err_nomem(call->eval->reterr);
    }
    it.as.items = to;
    call->updated = call->receiver = value_make(call->eval->values, &it);
    return call->updated == 0 ? err_nomem(call->eval->reterr) : as(call);
}

cg_code map_lend_one(library_call *call)
{
    return lend_values(call, map_get);
}

cg_code map_lend_items(library_call *call)
{
    return lend_values(call, map_iter);
}

cg_code map_lend_values(library_call *call)
{
    return lend_values(call, map_values);
}

/* --- texts --- */

/* insert_str, truncate, make_ascii_uppercase and their kind. */
cg_code string_changed(library_call *call)
{
    call->updated =
        value_unknown(call->eval->values, std_at(call, call->receiver)->type, (cg_str){NULL, 0});
    return call->updated == 0 ? err_nomem(call->eval->reterr)
                              : std_give(call, std_plain(call->eval, VALUE_UNIT));
}

/* pop, remove: also gives something. */
cg_code string_shortened(library_call *call)
{
    CG_TRY(string_changed(call));
    return str_equal(call->name, CG_LIT("pop")) ? unknown_perhaps(call) : any_unknown(call);
}
