/* Maps: handlers of std_functions.def. A list of pairs is taken for a map too. */
#include "model/std_handlers.h"
#include "model/value_kinds.h"
#include "model/std_text.h"

typedef struct entries {
    const val *at; /* key, value, key, value, ... */
    size_t count;  /* of entries */
    size_t step;   /* VALUEs per entry: 2, or 1 for a list of pairs */
    bool is_whole; /* there are no others */
} entries;

static entries entries_of(const library_call *call)
{
    const value *at = std_at(call, call->receiver);

    if (at->kind == VALUE_MAP)
        return (entries){at->as.items, at->count / 2u, 2, at->is_known};
    if (at->kind == VALUE_LIST)
        return (entries){at->as.items, at->count, 1, true};
    return (entries){NULL, 0, 2, false};
}

/* Key or value of an entry, 0 when the entry is no pair. */
static val part_of(const library_call *call, const entries *all, size_t which, size_t side)
{
    const value *pair;

    if (all->step == 2)
        return all->at[2 * which + side];
    pair = std_at(call, all->at[which]);
    return pair->kind == VALUE_TUPLE && pair->count == 2 ? pair->as.items[side] : 0;
}

/* 1 the same key, 0 another, -1 not known. */
static int same_key(const library_call *call, val a, val b)
{
    cg_str s = a == 0 ? (cg_str){NULL, 0} : std_text_literal(call->eval, a);
    cg_str t = b == 0 ? (cg_str){NULL, 0} : std_text_literal(call->eval, b);
    expr x;
    expr y;

    if (s.ptr != NULL && t.ptr != NULL)
        return str_equal(s, t);
    if (a == 0 || b == 0)
        return -1;
    x = value_number(call->eval->values, a);
    y = value_number(call->eval->values, b);
    if (x != EXPR_NONE && y != EXPR_NONE)
        return x == y ? 1 : expr_differs(call->eval->exprs, x, y) ? 0 : -1;
    return a == b ? 1 : -1;
}

/* The type of the values when the map is only known by its type. */
static type_ref element_type(library_call *call, size_t which)
{
    type_ref type = std_at(call, call->receiver)->type;
    const model_type *at;

    if (type == 0 || call->eval->types == NULL)
        return 0;
    at = type_at(call->eval->types, type);
    return at->kind == TYPE_EXTERNAL && at->arg_count > which ? at->args[which] : 0;
}

/* What computes: a layer, a tensor, a closure. Of other values the type says enough. */
static bool is_computing(const library_call *call, val which)
{
    enum value_kind kind = which == 0 ? VALUE_NONE : std_kind(call, which);

    return kind == VALUE_STRUCT || kind == VALUE_ENUM || kind == VALUE_TENSOR ||
           kind == VALUE_CLOSURE;
}

/* Some value of the map: one of those that are known, or of others when there may be some. */
static cg_code give_some_value(library_call *call)
{
    entries all = entries_of(call);
    size_t count = 0;
    val result, *some;

    if (!all.is_whole || all.count == 0)
        CG_TRY(std_give_typed(call, element_type(call, 1)));
    if (call->is_known && (all.count == 0 || !is_computing(call, part_of(call, &all, 0, 1))))
        return CG_OK;
    some = arena_take(&call->eval->values->mem, (all.count + 1) * sizeof *some);
    if (some == NULL)
        return err_nomem(call->eval->reterr);
    /* What was put in last comes first. */
    for (size_t i = all.count; i > 0; i--) {
        val one = part_of(call, &all, i - 1, 1);

        if (one != 0)
            some[count++] = one;
    }
    if (call->is_known)
        some[count++] = call->result;
    result = value_join_all(call->eval->values, some, count);
    return result != 0 ? std_give(call, result) : std_give_typed(call, element_type(call, 1));
}

cg_code map_get(library_call *call)
{
    entries all = entries_of(call);
    bool is_open = !all.is_whole;

    if (call->count != 1)
        return CG_OK;
    for (size_t i = all.count; i > 0; i--) {
        int answer = same_key(call, part_of(call, &all, i - 1, 0), call->args[0]);

        if (answer == 1 && !is_open)
            return std_give(call, std_some(call->eval, part_of(call, &all, i - 1, 1)));
        if (answer < 0)
            is_open = true;
    }
    if (!is_open)
        return std_give(call, std_plain(call->eval, VALUE_NOTHING));
    CG_TRY(give_some_value(call));
    return std_give(call, std_perhaps(call->eval, call->result));
}

/* `map[key]`: what `get` gives, without the option. */
cg_code map_index(library_call *call)
{
    const value *found;

    CG_TRY(map_get(call));
    found = call->is_known ? std_at(call, call->result) : NULL;
    call->is_known = false;
    if (found != NULL && found->kind == VALUE_SOME)
        return std_give(call, found->as.items[0]);
    return give_some_value(call);
}

cg_code map_contains_key(library_call *call)
{
    CG_TRY(map_get(call));
    if (!call->is_known)
        return CG_OK;
    switch (std_kind(call, call->result)) {
    case VALUE_SOME: return std_give_bool(call, true);
    case VALUE_NOTHING: return std_give_bool(call, false);
    default: return any_bool(call);
    }
}

/* The map with an entry more, or another value for a key it has. */
static val with_entry(library_call *call, val key, val value_of_key)
{
    values *store = call->eval->values;
    entries all = entries_of(call);
    value it = {.kind = VALUE_MAP, .is_known = all.is_whole};
    VEC(val) items = {0};
    bool is_replaced = false;
    val made = 0;

    if (!vec_reserve(store->heap, &items, 2 * all.count + 2))
        return 0;
    for (size_t i = 0; i < all.count; i++) {
        val old = part_of(call, &all, i, 0);
        bool is_same = same_key(call, old, key) == 1;

        if (old == 0)
            continue;
        items.at[items.count++] = old;
        items.at[items.count++] = is_same ? value_of_key : part_of(call, &all, i, 1);
        is_replaced = is_replaced || is_same;
    }
    if (!is_replaced) {
        items.at[items.count++] = key;
        items.at[items.count++] = value_of_key;
    }
    it.type = std_at(call, call->receiver)->type;
    it.as.items = items.at;
    it.count = (uint16_t)items.count;
    if (items.count <= UINT16_MAX) {
        made = value_make(store, &it);
        made = made ? std_ordered(call->eval, made, it.type) : 0;
    } else {
        made = call->receiver;
    }
    vec_free(store->heap, &items);
    return made;
}

cg_code map_insert(library_call *call)
{
    if (call->count != 2)
        return CG_OK;
    call->updated = with_entry(call, call->args[0], call->args[1]);
    return call->updated == 0 ? err_nomem(call->eval->reterr)
                              : std_give(call, std_plain(call->eval, VALUE_NOTHING));
}

/* An entry is the option of what the map has: `or_insert_with` then is Option's. */
cg_code map_entry(library_call *call)
{
    return map_get(call);
}

cg_code map_remove(library_call *call)
{
    return map_get(call);
}

static cg_code give_side(library_call *call, size_t side)
{
    entries all = entries_of(call);
    VEC(val) items = {0};
    val made = 0;

    if (!all.is_whole)
        return unknown_iter(call);
    if (!vec_reserve(call->eval->values->heap, &items, all.count + 1))
        return err_nomem(call->eval->reterr);
    for (size_t i = 0; i < all.count; i++) {
        val one = part_of(call, &all, i, side);

        if (one != 0)
            items.at[items.count++] = one;
    }
    made = std_list_of(call->eval, 0, items.at, items.count);
    vec_free(call->eval->values->heap, &items);
    return std_give(call, made);
}

cg_code map_keys(library_call *call)
{
    return give_side(call, 0);
}

cg_code map_values(library_call *call)
{
    return give_side(call, 1);
}

cg_code map_len(library_call *call)
{
    entries all = entries_of(call);

    if (!all.is_whole)
        return any_int(call);
    return std_give_number(call, expr_const(call->eval->exprs, (int64_t)all.count));
}

cg_code map_is_empty(library_call *call)
{
    entries all = entries_of(call);

    if (all.count > 0)
        return std_give_bool(call, false);
    return all.is_whole ? std_give_bool(call, true) : any_bool(call);
}

/* A map as iterator: pairs. */
cg_code map_iter(library_call *call)
{
    val list = 0;

    if (std_kind(call, call->receiver) != VALUE_MAP)
        return unknown_iter(call);
    CG_TRY(eval_items(call->eval, call->receiver, &list));
    return list == 0 ? CG_OK : std_give(call, list);
}

/* extend(pairs): what is in it is no longer known exactly. */
cg_code map_extend(library_call *call)
{
    value it = *std_at(call, call->receiver);

    it.is_known = false;
    call->updated = value_make(call->eval->values, &it);
    return call->updated == 0 ? err_nomem(call->eval->reterr) : any_unit(call);
}

/* Of the type it is wanted as: that says what `entry(k).or_default()` puts in. */
cg_code map_new(library_call *call)
{
    type_ref wanted = std_type_inside(call->eval, call->wanted);
    value it = *std_at(call, std_plain(call->eval, VALUE_MAP));

    if (wanted == 0 || value_class(call->eval->values, wanted) != CLASS_MAP)
        return std_give(call, std_plain(call->eval, VALUE_MAP));
    it.type = wanted;
    return std_give(call, value_make(call->eval->values, &it));
}

/* `HashMap::from([(k, v), ...])`, `from_iter`. */
cg_code map_from(library_call *call)
{
    val list = 0;
    type_ref wanted = call->wanted;

    if (call->count != 1)
        return CG_OK;
    CG_TRY(eval_items(call->eval, call->args[0], &list));
    if (list == 0)
        return CG_OK;
    call->receiver = list;
    call->wanted = std_type(call->eval, "std::collections::HashMap");
    CG_TRY(list_collect(call));
    call->receiver = 0;
    call->wanted = wanted;
    return CG_OK;
}
