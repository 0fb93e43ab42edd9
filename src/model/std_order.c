/* Order: sorted lists, maps and sets that keep their keys in order, as far as keys are known. */
#include "model/std_handlers.h"
#include "model/std_text.h"

#define SORTED_MOST 1024u /* items; a longer list is not sorted here */
#define KEY_PARTS   4u    /* of a tuple that is a key */

/* How two keys stand to each other; false: nobody knows. */
static bool compare_plain(eval *self, val a, val b, int *ret)
{
    cg_str s = std_text_pattern(self, a), t = std_text_pattern(self, b);
    const value *x = value_at(self->values, a), *y = value_at(self->values, b);
    int64_t left, right;

    if (s.ptr != NULL && t.ptr != NULL) {
        *ret = str_compare(s, t);
        return true;
    }
    if (x->kind == VALUE_FLOAT && y->kind == VALUE_FLOAT && x->is_known && y->is_known) {
        *ret = x->as.real < y->as.real ? -1 : x->as.real > y->as.real;
        return x->as.real == x->as.real && y->as.real == y->as.real;
    }
    if (x->kind != VALUE_INT || y->kind != VALUE_INT ||
        !expr_constant(self->exprs, value_number(self->values, a), &left) ||
        !expr_constant(self->exprs, value_number(self->values, b), &right))
        return false;
    *ret = left < right ? -1 : left > right;
    return true;
}

static bool compare(eval *self, val a, val b, int *ret)
{
    const value *x = value_at(self->values, a), *y = value_at(self->values, b);

    if (x->kind != VALUE_TUPLE || y->kind != VALUE_TUPLE)
        return compare_plain(self, a, b, ret);
    *ret = 0;
    for (size_t i = 0; i < x->count && *ret == 0; i++) {
        if (i >= y->count || i >= KEY_PARTS ||
            !compare_plain(self, x->as.items[i], y->as.items[i], ret))
            return false;
    }
    return true;
}

/*
 * Put entries of `step` values (1 or 2, the key first) in order; of equal keys the first place and
 * the last value stay when they are unique. false: not all keys are known, or they are too many.
 */
static bool sort_entries(eval *self, val *items, size_t *count, size_t step, bool is_unique)
{
    size_t kept = 0;

    if (*count > SORTED_MOST)
        return false;
    for (size_t i = 0; i < *count; i++) {
        int order;

        for (size_t k = 0; k < i; k++) {
            if (!compare(self, items[i * step], items[k * step], &order))
                return false;
        }
    }
    for (size_t i = 0; i < *count; i++) {
        val moved[2] = {items[i * step], items[i * step + step - 1]};
        size_t at = kept;
        int order = 1;

        while (at > 0 && compare(self, items[(at - 1) * step], moved[0], &order) && order > 0)
            at--;
        if (at > 0 && order == 0 && is_unique) {
            items[(at - 1) * step + step - 1] = moved[1];
            continue;
        }
        memmove(items + (at + 1) * step, items + at * step, (kept - at) * step * sizeof *items);
        items[at * step] = moved[0];
        items[at * step + step - 1] = moved[1];
        kept++;
    }
    *count = kept;
    return true;
}

/* A copy of the receiver's items; NULL when it is no list of single items, or there is no room. */
static val *items_of(library_call *call, size_t *ret_count)
{
    const value *list = std_at(call, call->receiver);
    val *items;

    if (list->kind != VALUE_LIST)
        return NULL;
    for (size_t i = 0; i < list->count; i++) {
        if (std_kind(call, list->as.items[i]) == VALUE_REPEAT)
            return NULL;
    }
    items = arena_take(&call->eval->values->mem, (list->count + 1) * sizeof *items);
    if (items != NULL && list->count > 0)
        memcpy(items, list->as.items, list->count * sizeof *items);
    *ret_count = list->count;
    return items;
}

static cg_code give_changed(library_call *call, const val *items, size_t count)
{
    call->updated = std_vec_of(call->eval, items, count);
    return call->updated == 0 ? err_nomem(call->eval->reterr)
                              : std_give(call, std_plain(call->eval, VALUE_UNIT));
}

/* sort, sort_unstable */
cg_code list_sort(library_call *call)
{
    size_t count = 0;
    val *items = items_of(call, &count);

    return items != NULL && sort_entries(call->eval, items, &count, 1, false)
               ? give_changed(call, items, count)
               : list_mixed(call);
}

/* dedup: what equals its neighbour goes. */
cg_code list_dedup(library_call *call)
{
    size_t count = 0, kept = 0;
    val *items = items_of(call, &count);
    int order = 1;

    if (items == NULL)
        return list_thinned(call);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && !compare(call->eval, items[kept - 1], items[i], &order))
            return list_thinned(call);
        if (kept == 0 || order != 0)
            items[kept++] = items[i];
    }
    return give_changed(call, items, kept);
}

/* retain: as a filter, in place. */
cg_code list_retain(library_call *call)
{
    library_call filtered = *call;
    const value *list;

    if (call->count != 1 || std_kind(call, call->receiver) != VALUE_LIST)
        return list_thinned(call);
    CG_TRY(list_filter(&filtered));
    if (!filtered.is_known)
        return list_thinned(call);
    list = std_at(call, filtered.result);
    for (size_t i = 0; list->kind == VALUE_LIST && i < list->count; i++) {
        if (std_kind(call, list->as.items[i]) == VALUE_REPEAT)
            return list_thinned(call);
    }
    return list->kind == VALUE_LIST ? give_changed(call, list->as.items, list->count)
                                    : list_thinned(call);
}

/* --- BTreeMap, BTreeSet, HashSet --- */

static bool is_called(eval *self, type_ref type, const char *name)
{
    cg_str path = std_type_path(self, type);
    size_t colon = path.ptr ? str_find_last(path, ':') : SIZE_MAX;

    if (path.ptr && colon != SIZE_MAX)
        path = (cg_str){path.ptr + colon + 1, path.len - colon - 1};
    return path.ptr && str_is(path, name);
}

val std_ordered(eval *self, val which, type_ref type)
{
    value it = *value_at(self->values, which);
    bool is_map = it.kind == VALUE_MAP;
    size_t step = is_map ? 2 : 1, count = it.count / step;
    val *items;

    if ((!is_map && it.kind != VALUE_LIST) ||
        !(is_called(self, type, "BTreeMap") || is_called(self, type, "BTreeSet")))
        return which;
    items = arena_take(&self->values->mem, (it.count + 1) * sizeof *items);
    if (items == NULL)
        return 0;
    if (it.count > 0)
        memcpy(items, it.as.items, it.count * sizeof *items);
    /* Where keys are not known nobody knows their order: what is there stays as it is written. */
    if (!sort_entries(self, items, &count, step, true))
        return which;
    it.as.items = items;
    it.count = (uint16_t)(count * step);
    it.type = is_map ? type : it.type;
    return value_make(self->values, &it);
}

static cg_code give_ordered(library_call *call, const char *path)
{
    return call->is_known
               ? std_give(call, std_ordered(call->eval, call->result, std_type(call->eval, path)))
               : CG_OK;
}

cg_code ordered_map_new(library_call *call)
{
    value it = {.kind = VALUE_MAP, .is_known = true};

    /* With what its type says of its values, for `entry(k).or_default()`. */
    it.type = std_type_inside(call->eval, call->wanted);
    if (it.type == 0 || !is_called(call->eval, it.type, "BTreeMap"))
        it.type = std_type(call->eval, "std::collections::BTreeMap");
    return std_give(call, value_make(call->eval->values, &it));
}

cg_code ordered_map_from(library_call *call)
{
    CG_TRY(map_from(call));
    return give_ordered(call, "std::collections::BTreeMap");
}

cg_code ordered_set_from(library_call *call)
{
    CG_TRY(list_from(call));
    return give_ordered(call, "std::collections::BTreeSet");
}
