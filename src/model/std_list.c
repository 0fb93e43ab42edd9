/* Lists and iterators: handlers of std_functions.def. Iterators are lists, walked at once. */
#include "model/catalogue.h"
#include "model/std_handlers.h"

#include "base/str_name.h"
#include "model/expr_values.h"
#include "model/index_text.h"
#include "model/std_lazy.h"
#include "model/std_text.h"
#include "model/value_kinds.h"

typedef struct list_room {
    eval *eval;
    VEC(val) items;
    bool failed;
} list_room;

static void room_add(list_room *self, val item)
{
    val *at = item == 0 ? NULL : vec_add(self->eval->values->heap, &self->items);

    if (at == NULL)
        self->failed = true;
    else
        *at = item;
}

/* Give the list; the room is gone. */
static cg_code give_room(library_call *call, list_room *room, bool is_collection)
{
    val made = 0;

    if (!room->failed)
        made = is_collection ? std_vec_of(call->eval, room->items.at, room->items.count)
                             : std_list_of(call->eval, 0, room->items.at, room->items.count);
    vec_free(call->eval->values->heap, &room->items);
    return std_give(call, made);
}

static val make_repeat(eval *self, val item, sym symbol, expr count)
{
    value it = {.kind = VALUE_REPEAT, .count = 1};

    it.as.repeat.items = &item;
    it.as.repeat.symbol = symbol;
    it.as.repeat.count = count;
    return item == 0 ? 0 : value_make(self->values, &it);
}

/* A repetition made of that one: what may be left out of that one is left out of it. */
static val repeat_like(eval *self, const value *like, val item, sym symbol, expr count)
{
    value it = {.kind = VALUE_REPEAT, .count = 1};

    it.as.repeat.items = &item;
    it.as.repeat.symbol = symbol;
    it.as.repeat.count = count;
    it.variant = like->kind == VALUE_REPEAT ? like->variant : 0;
    return item == 0 ? 0 : value_make(self->values, &it);
}

static const value *at_of(const eval *self, val which)
{
    return value_at(self->values, which);
}

static bool is_repeat(const library_call *call, val which)
{
    return std_kind(call, which) == VALUE_REPEAT;
}

/* How many items the entry stands for; EXPR_NONE when not known. */
static expr entry_count(const library_call *call, val entry)
{
    const value *at = std_at(call, entry);

    return at->kind == VALUE_REPEAT ? at->as.repeat.count : expr_const(call->eval->exprs, 1);
}

static sym index_symbol(const library_call *call)
{
    return intern_add(&call->eval->program->names, CG_LIT("index"));
}

static expr symbol_expr(const library_call *call, sym symbol)
{
    return expr_symbol(call->eval->exprs, program_text(call->eval->program, symbol));
}

typedef struct list_view {
    const val *at;
    size_t count;
} list_view;

/* The repetition's item for one value of its index. */
static val item_for(library_call *call, val repeat, expr index)
{
    const value *at = std_at(call, repeat);

    if (at->as.repeat.symbol == 0)
        return at->as.repeat.items[0];
    return value_substitute(call->eval->values, at->as.repeat.items[0],
                            symbol_expr(call, at->as.repeat.symbol), index);
}

/* Some number that changes with the index, by a name of its own. */
static expr unknown_position(library_call *call, const char *how, sym symbol)
{
    cg_str text;

    if (!arena_format(&call->eval->values->mem, &text, "%s(%.*s)", how,
                      STR_NAME(program_text(call->eval->program, symbol))))
        return EXPR_NONE;
    return expr_call(call->eval->exprs, text);
}

/* The repetition of the items at first, first + step, ...; the numbers may be unknown. */
static val moved(library_call *call, val repeat, expr first, expr step, expr count)
{
    expr_pool *pool = call->eval->exprs;
    value like = *std_at(call, repeat);
    sym symbol = like.as.repeat.symbol;
    expr place;

    if (symbol == 0)
        return repeat_like(call->eval, &like, like.as.repeat.items[0], 0, count);
    place = expr_binary(pool, EXPR_ADD, first,
                        expr_binary(pool, EXPR_MUL, step, symbol_expr(call, symbol)));
    if (place == EXPR_NONE)
        place = unknown_position(call, "place", symbol);
    return repeat_like(call->eval, &like, item_for(call, repeat, place), symbol, count);
}

/* A repetition that counts down as one that counts up: its first item is the last one. */
static val upward(library_call *call, val entry)
{
    expr_pool *pool = call->eval->exprs;
    value at = *std_at(call, entry);
    expr last = expr_binary(pool, EXPR_SUB, at.as.repeat.count, expr_const(pool, 1));

    if (at.kind != VALUE_REPEAT || !at.is_inclusive)
        return entry;
    if (last != EXPR_NONE)
        return moved(call, entry, last, expr_const(pool, -1), at.as.repeat.count);
    return repeat_like(call->eval, &at,
                       item_for(call, entry, unknown_position(call, "rev", at.as.repeat.symbol)),
                       at.as.repeat.symbol, EXPR_NONE);
}

/* The items, whichever way a repetition counts; a copy of the view survives new values. */
static cg_code raw_view_of(library_call *call, val iterable, val closure, list_view *ret)
{
    val list = 0;

    CG_TRY(std_items(call, iterable, closure, &list));
    *ret = (list_view){NULL, 0};
    if (list != 0 && std_kind(call, list) == VALUE_LIST)
        *ret = (list_view){std_at(call, list)->as.items, std_at(call, list)->count};
    return CG_OK;
}

/* The items in the order they come in: item k of a repetition is that of index k. */
static cg_code view_of(library_call *call, val iterable, val closure, list_view *ret)
{
    list_view list;
    val *items = NULL;

    CG_TRY(raw_view_of(call, iterable, closure, &list));
    for (size_t i = 0; i < list.count; i++) {
        val one = is_repeat(call, list.at[i]) ? upward(call, list.at[i]) : list.at[i];

        if (one == list.at[i])
            continue;
        if (items == NULL) {
            items = arena_take(&call->eval->values->mem, list.count * sizeof *items);
            if (items == NULL || one == 0)
                return err_nomem(call->eval->reterr);
            memcpy(items, list.at, list.count * sizeof *items);
            list.at = items;
        }
        if (one == 0)
            return err_nomem(call->eval->reterr);
        items[i] = one;
    }
    *ret = list;
    return CG_OK;
}

static cg_code view_self(library_call *call, list_view *ret)
{
    return view_of(call, call->receiver, 0, ret);
}

static bool is_plain(const library_call *call, list_view list)
{
    for (size_t i = 0; i < list.count; i++) {
        if (is_repeat(call, list.at[i]))
            return false;
    }
    return true;
}

static bool known_arg(const library_call *call, size_t which, uint64_t *ret)
{
    val arg = std_arg(call, which);
    int64_t number = 0;

    if (arg == 0 ||
        !expr_constant(call->eval->exprs, value_number(call->eval->values, arg), &number) ||
        number < 0)
        return false;
    *ret = (uint64_t)number;
    return true;
}

static cg_code give_slice(library_call *call, list_view list, size_t from, size_t to)
{
    const val *at = from > 0 ? list.at + from : list.at;

    return std_give(call, std_list_of(call->eval, 0, at, to - from));
}

/* --- as iterators --- */

cg_code list_iter(library_call *call)
{
    val list = 0;
    value it;

    CG_TRY(std_items(call, call->receiver, 0, &list));
    it = *std_at(call, list);
    it.type = 0;
    it.is_inclusive = false;
    return std_give(call, value_make(call->eval->values, &it));
}

/* A number that is another one for every index, which no text says: two of them are not equal. */
static bool is_adrift(const library_call *call, val entry)
{
    value at = *std_at(call, entry);
    expr_list symbols = {NULL, 0, 0};
    bool is_tied = false;
    expr number;

    if (at.kind != VALUE_REPEAT || at.as.repeat.symbol == 0 || at.as.repeat.count != EXPR_NONE)
        return false;
    number = value_number(call->eval->values, at.as.repeat.items[0]);
    if (number == EXPR_NONE || !expr_symbols(call->eval->exprs, number, &symbols))
        return false;
    for (size_t i = 0; i < symbols.count; i++)
        is_tied = is_tied || symbols.at[i] == symbol_expr(call, at.as.repeat.symbol);
    vec_free(call->eval->exprs->heap, &symbols);
    return !is_tied;
}

/* As a Vec, whose items may be asked for by number. */
static cg_code give_vec(library_call *call, list_view list)
{
    list_room room = {.eval = call->eval};
    val result;

    for (size_t i = 0; i < list.count; i++) {
        value at = *std_at(call, list.at[i]);
        val item = list.at[i];

        if (is_adrift(call, item))
            item = make_repeat(call->eval, std_blurred(call->eval, at.as.repeat.items[0]),
                               at.as.repeat.symbol, EXPR_NONE);
        room_add(&room, item);
    }
    result = room.failed ? 0 : std_vec_of(call->eval, room.items.at, room.items.count);
    vec_free(call->eval->values->heap, &room.items);
    return std_give(call, result);
}

cg_code list_collection(library_call *call)
{
    list_view list;

    CG_TRY(view_self(call, &list));
    return give_vec(call, list);
}

typedef struct each {
    library_call *call;
    val callee;
    val state; /* of fold and scan */
} each;

static cg_code run_each(void *context, val item, val *ret)
{
    each *self = context;
    eval *owner = self->call->eval;

    CG_TRY(eval_apply(owner, self->callee, &item, 1, self->call->place, ret));
    /* One that names the index of a repetition is walked where the repetition is known. */
    return owner->trail->repeat != 0 && std_kind(self->call, *ret) == VALUE_LAZY
               ? std_walk(owner, *ret, ret)
               : CG_OK;
}

typedef struct until {
    each *walk;
    cg_code (*body)(void *context, val item, val *ret);
} until;

static cg_code run_until(void *context, val list, val *ret)
{
    until *self = context;
    library_call *call = self->walk->call;

    return eval_each(call->eval, list, call->place, self->body, self->walk, ret);
}

/* For each item until one of them is what is looked for: the first one is asked for sure. */
static cg_code each_until(library_call *call, val list, each *walk,
                          cg_code (*body)(void *context, val item, val *ret), val *ret)
{
    until work = {walk, body};

    CG_TRY(eval_items(call->eval, list, &list));
    return std_perhaps_all(call->eval, run_until, &work, list, std_sure_items(call->eval, list),
                           ret);
}

/* The closure's results, in a list of the same form. */
static cg_code applied(library_call *call, val *ret)
{
    each walk = {.call = call, .callee = std_arg(call, 0)};
    val list = 0;

    CG_TRY(std_items(call, call->receiver, walk.callee, &list));
    return eval_each(call->eval, list, call->place, run_each, &walk, ret);
}

cg_code list_map(library_call *call)
{
    bool is_array;
    val result = 0;

    if (call->count != 1)
        return CG_OK;
    if (std_is_collection(call->eval, call->receiver))
        return any_map(call); /* Result<Vec<_>>::map */
    is_array = std_kind(call, call->receiver) == VALUE_LIST &&
               at_of(call->eval, call->receiver)->is_inclusive;
    CG_TRY(applied(call, &result));
    if (is_array && std_kind(call, result) == VALUE_LIST) {
        value made = *std_at(call, result);

        made.is_inclusive = true;
        result = value_make(call->eval->values, &made);
    }
    return std_give(call, result);
}

cg_code list_for_each(library_call *call)
{
    val result = 0;

    if (call->count != 1)
        return CG_OK;
    CG_TRY(applied(call, &result));
    return any_unit(call);
}

cg_code list_inspect(library_call *call)
{
    val result = 0;

    if (call->count != 1)
        return CG_OK;
    CG_TRY(applied(call, &result));
    return std_give(call, call->receiver);
}

static val make_pair(eval *self, val a, val b)
{
    val both[2] = {a, b};

    return a == 0 || b == 0 ? 0 : value_list(self->values, VALUE_TUPLE, both, 2);
}

cg_code list_enumerate(library_call *call)
{
    list_room room = {.eval = call->eval};
    expr offset = std_arg(call, 0) != 0 /* of what was taken before: std_lazy.c */
                      ? value_number(call->eval->values, call->args[0])
                      : expr_const(call->eval->exprs, 0);
    list_view list;

    CG_TRY(view_self(call, &list));
    for (size_t i = 0; i < list.count; i++) {
        value entry = *std_at(call, list.at[i]);
        expr index = offset;
        val pair;

        if (entry.kind != VALUE_REPEAT) {
            pair = make_pair(call->eval, value_int(call->eval->values, index), list.at[i]);
            room_add(&room, pair);
        } else {
            sym symbol = entry.as.repeat.symbol != 0 ? entry.as.repeat.symbol : index_symbol(call);

            if (symbol == 0)
                break;
            val item = entry.as.repeat.items[0];

            /* What is counted are those that are left, which are other ones. */
            if (entry.variant != 0 && entry.as.repeat.symbol != 0)
                item = item_for(call, list.at[i],
                                unknown_position(call, "kept", entry.as.repeat.symbol));
            index = expr_binary(call->eval->exprs, EXPR_ADD, offset, symbol_expr(call, symbol));
            pair = make_pair(call->eval, value_int(call->eval->values, index), item);
            room_add(&room, repeat_like(call->eval, &entry, pair, symbol, entry.as.repeat.count));
        }
        offset = expr_binary(call->eval->exprs, EXPR_ADD, offset, entry_count(call, list.at[i]));
    }
    return give_room(call, &room, false);
}

static val zip_repeats(library_call *call, val a, val b)
{
    value left = *std_at(call, a);
    value right = *std_at(call, b);
    sym symbol = left.as.repeat.symbol != 0 ? left.as.repeat.symbol : right.as.repeat.symbol;
    expr count = left.as.repeat.count;
    val second = right.as.repeat.items[0];

    if (count == EXPR_NONE)
        count = right.as.repeat.count;
    else if (right.as.repeat.count != EXPR_NONE &&
             expr_differs(call->eval->exprs, count, right.as.repeat.count))
        count = expr_binary(call->eval->exprs, EXPR_MIN, count, right.as.repeat.count);
    if (symbol != 0 && right.as.repeat.symbol != symbol)
        second = item_for(call, b, symbol_expr(call, symbol));
    return repeat_like(call->eval, left.variant != 0 ? &left : &right,
                       make_pair(call->eval, left.as.repeat.items[0], second), symbol, count);
}

/* The repetition without its first items. */
static val beyond(library_call *call, val repeat, expr first)
{
    expr_pool *pool = call->eval->exprs;

    return moved(call, repeat, first, expr_const(pool, 1),
                 expr_binary(pool, EXPR_SUB, entry_count(call, repeat), first));
}

cg_code list_zip(library_call *call)
{
    list_room room = {.eval = call->eval};
    list_view a;
    list_view b;
    size_t count;

    if (call->count != 1)
        return CG_OK;
    CG_TRY(view_self(call, &a));
    CG_TRY(view_of(call, call->args[0], 0, &b));
    if (a.count == 1 && b.count == 1 && is_repeat(call, a.at[0]) && is_repeat(call, b.at[0])) {
        room_add(&room, zip_repeats(call, a.at[0], b.at[0]));
        return give_room(call, &room, false);
    }
    count = a.count < b.count ? a.count : b.count;
    if (a.count == 1 && is_repeat(call, a.at[0]))
        count = b.count;
    if (b.count == 1 && is_repeat(call, b.at[0]))
        count = a.count;
    for (size_t i = 0; i < count; i++) {
        expr index = expr_const(call->eval->exprs, (int64_t)i);
        val left = a.at[a.count == 1 && is_repeat(call, a.at[0]) ? 0 : i];
        val right = b.at[b.count == 1 && is_repeat(call, b.at[0]) ? 0 : i];

        if (is_repeat(call, left) && is_repeat(call, right)) {
            /* Behind some single items the one goes on where the other begins. */
            if (i > 0 && a.count == 1)
                left = beyond(call, left, index);
            if (i > 0 && b.count == 1)
                right = beyond(call, right, index);
            room_add(&room, left == 0 || right == 0 ? 0 : zip_repeats(call, left, right));
            continue;
        }
        if (is_repeat(call, left))
            left = item_for(call, left, index);
        if (is_repeat(call, right))
            right = item_for(call, right, index);
        room_add(&room, make_pair(call->eval, left, right));
    }
    return give_room(call, &room, false);
}

/* The last one first; repetitions count the other way. */
static void add_reversed(library_call *call, list_room *room, list_view list)
{
    for (size_t i = list.count; i > 0; i--) {
        value entry = *std_at(call, list.at[i - 1]);
        bool is_counted = entry.kind == VALUE_REPEAT && entry.as.repeat.symbol != 0;

        entry.is_inclusive = !entry.is_inclusive;
        room_add(room, is_counted ? value_make(call->eval->values, &entry) : list.at[i - 1]);
    }
}

cg_code list_rev(library_call *call)
{
    list_room room = {.eval = call->eval};
    list_view list;

    CG_TRY(raw_view_of(call, call->receiver, 0, &list));
    add_reversed(call, &room, list);
    return give_room(call, &room, false);
}

static void add_all(list_room *room, list_view list)
{
    for (size_t i = 0; i < list.count; i++)
        room_add(room, list.at[i]);
}

cg_code list_chain(library_call *call)
{
    list_room room = {.eval = call->eval};
    list_view list;
    list_view more;

    if (call->count != 1)
        return CG_OK;
    CG_TRY(view_self(call, &list));
    CG_TRY(view_of(call, call->args[0], 0, &more));
    add_all(&room, list);
    add_all(&room, more);
    return give_room(call, &room, false);
}

/* Items at first, first + step, ... of what is not known one by one. */
static cg_code give_moved(library_call *call, list_view list, expr first, expr step, expr count)
{
    list_room room = {.eval = call->eval};
    int64_t skipped = 0;
    size_t from = 0;

    /* Single items that come before. */
    if (expr_constant(call->eval->exprs, first, &skipped) &&
        step == expr_const(call->eval->exprs, 1)) {
        while ((int64_t)from < skipped && from < list.count && !is_repeat(call, list.at[from]))
            from++;
        first = expr_const(call->eval->exprs, skipped - (int64_t)from);
    }
    for (size_t i = from; i < list.count; i++) {
        if (!is_repeat(call, list.at[i]))
            room_add(&room, from > 0 && skipped == (int64_t)from
                                ? list.at[i]
                                : make_repeat(call->eval, list.at[i], 0, EXPR_NONE));
        else if (i == from)
            room_add(&room, moved(call, list.at[i], first, step, i + 1 == list.count ? count : 0));
        else
            room_add(&room, moved(call, list.at[i], EXPR_NONE, EXPR_NONE, EXPR_NONE));
    }
    return give_room(call, &room, false);
}

cg_code list_take(library_call *call)
{
    list_view list;
    uint64_t most = 0;
    expr number;

    if (call->count == 0)
        return CG_OK;
    CG_TRY(view_self(call, &list));
    if (known_arg(call, 0, &most) && is_plain(call, list))
        return give_slice(call, list, 0, most < list.count ? (size_t)most : list.count);
    number = value_number(call->eval->values, call->args[0]);
    if (list.count == 1 && entry_count(call, list.at[0]) != EXPR_NONE)
        number = expr_binary(call->eval->exprs, EXPR_MIN, number, entry_count(call, list.at[0]));
    return give_moved(call, list, expr_const(call->eval->exprs, 0),
                      expr_const(call->eval->exprs, 1), number);
}

cg_code list_skip(library_call *call)
{
    list_view list;
    uint64_t less = 0;
    expr number;

    if (call->count == 0)
        return CG_OK;
    CG_TRY(view_self(call, &list));
    if (known_arg(call, 0, &less) && is_plain(call, list))
        return give_slice(call, list, less < list.count ? (size_t)less : list.count, list.count);
    number = expr_binary(call->eval->exprs, EXPR_SUB,
                         list.count == 1 ? entry_count(call, list.at[0]) : EXPR_NONE,
                         value_number(call->eval->values, call->args[0]));
    return give_moved(call, list, value_number(call->eval->values, call->args[0]),
                      expr_const(call->eval->exprs, 1), number);
}

cg_code list_step_by(library_call *call)
{
    list_room room = {.eval = call->eval};
    list_view list;
    uint64_t step = 0;

    CG_TRY(view_self(call, &list));
    if (known_arg(call, 0, &step) && step == 1)
        return give_slice(call, list, 0, list.count);
    if (step == 0 || !is_plain(call, list)) {
        expr_pool *pool = call->eval->exprs;
        expr by = std_arg(call, 0) ? value_number(call->eval->values, call->args[0]) : EXPR_NONE;
        expr count = list.count == 1 ? entry_count(call, list.at[0]) : EXPR_NONE;

        count = expr_binary(pool, EXPR_ADD, count,
                            expr_binary(pool, EXPR_SUB, by, expr_const(pool, 1)));
        return give_moved(call, list, expr_const(pool, 0), by,
                          expr_binary(pool, EXPR_DIV, count, by));
    }
    for (size_t i = 0; i < list.count; i += (size_t)step)
        room_add(&room, list.at[i]);
    return give_room(call, &room, false);
}

/* Items whose presence is not known, but to `method`, are repetitions of unknown count. */
static void add_perhaps(list_room *room, val item, sym method)
{
    value entry = *at_of(room->eval, item);
    value it = {.kind = VALUE_REPEAT, .count = 1};

    it.as.repeat.items = entry.kind == VALUE_REPEAT ? entry.as.repeat.items : &item;
    it.as.repeat.symbol = entry.kind == VALUE_REPEAT ? entry.as.repeat.symbol : 0;
    it.variant = method;
    room_add(room, value_make(room->eval->values, &it));
}

/* A result entry without its repetition. */
static val bare(const library_call *call, val entry)
{
    const value *at = std_at(call, entry);

    return at->kind == VALUE_REPEAT ? at->as.repeat.items[0] : entry;
}

/*
 * What is left of a list has other places: item k is not item k of the list any more. Items that
 * say themselves where they were keep that.
 */
static val displaced(library_call *call, val entry)
{
    value at = *std_at(call, entry);
    expr number = at.kind == VALUE_REPEAT ? value_number(call->eval->values, at.as.repeat.items[0])
                                          : EXPR_NONE;
    expr_list symbols = {NULL, 0, 0};
    bool is_name = false;

    if (number == EXPR_NONE || at.as.repeat.symbol == 0)
        return entry;
    if (expr_symbols(call->eval->exprs, number, &symbols))
        is_name = symbols.count == 1 && symbols.at[0] != symbol_expr(call, at.as.repeat.symbol);
    vec_free(call->eval->exprs->heap, &symbols);
    if (!is_name)
        return entry;
    return repeat_like(call->eval, &at,
                       item_for(call, entry, unknown_position(call, "kept", at.as.repeat.symbol)),
                       at.as.repeat.symbol, EXPR_NONE);
}

static cg_code filter(library_call *call, bool is_while)
{
    list_room room = {.eval = call->eval};
    bool is_doubtful = false;
    list_view verdicts;
    list_view list;
    val result = 0;
    val items = 0;
    sym method = intern_add(&call->eval->program->names, call->name);
    each walk = {.call = call, .callee = std_arg(call, 0)};

    if (method == 0)
        return err_nomem(call->eval->reterr);
    if (call->count != 1)
        return CG_OK;
    CG_TRY(std_items(call, call->receiver, walk.callee, &items));
    CG_TRY(eval_each(call->eval, items, call->place, run_each, &walk, &result));
    CG_TRY(view_of(call, items, 0, &list));
    CG_TRY(view_of(call, result, 0, &verdicts));
    for (size_t i = 0; i < list.count; i++) {
        int truth = i < verdicts.count && verdicts.count == list.count
                        ? std_truth(call->eval, bare(call, verdicts.at[i]))
                        : -1;

        if (truth == 0 && is_while)
            break;
        is_doubtful = is_doubtful || (is_while && truth < 0);
        if (truth == 1 && !is_doubtful)
            room_add(&room, list.at[i]);
        else if (truth != 0)
            add_perhaps(&room, is_while ? list.at[i] : displaced(call, list.at[i]), method);
    }
    return give_room(call, &room, false);
}

cg_code list_filter(library_call *call)
{
    return filter(call, false);
}

/* take_while: up to the first that is refused; behind one that nobody knows all are doubtful. */
cg_code list_take_while(library_call *call)
{
    return filter(call, true);
}

/* A repetition of an entry: of what is inside, as often as both say. */
static void add_repeated(list_room *room, const value *around, val item)
{
    value inside = *at_of(room->eval, item);
    expr count = around->as.repeat.count;

    if (inside.kind == VALUE_REPEAT) {
        count = expr_binary(room->eval->exprs, EXPR_MUL, count, inside.as.repeat.count);
        item = inside.as.repeat.items[0];
    }
    room_add(room, repeat_like(room->eval, around, item, around->as.repeat.symbol, count));
}

/* The entries of one inner iterable; `around` when it stands inside a repetition. */
static void add_flat(list_room *room, const value *around, val inner)
{
    value at = *at_of(room->eval, inner);
    bool is_choice = at.kind == VALUE_CHOICE;
    size_t count = at.count;
    const val *items = at.as.items;

    if (at.kind == VALUE_NOTHING || at.kind == VALUE_NEVER || at.kind == VALUE_ERROR)
        return;
    if (at.kind != VALUE_LIST && at.kind != VALUE_SOME && !is_choice) {
        items = &inner;
        count = 1;
    }
    for (size_t i = 0; i < count; i++) {
        const value *option = at_of(room->eval, items[i]);
        val item = items[i];

        if (is_choice && option->kind == VALUE_NOTHING)
            continue;
        if (is_choice && option->kind == VALUE_SOME)
            item = option->as.items[0];
        if (around != NULL)
            add_repeated(room, around, item);
        else if (is_choice)
            add_perhaps(room, item, 0);
        else
            room_add(room, item);
    }
}

static cg_code give_flat(library_call *call, list_view list)
{
    list_room room = {.eval = call->eval};

    for (size_t i = 0; i < list.count; i++) {
        value entry = *std_at(call, list.at[i]);

        if (entry.kind == VALUE_REPEAT)
            add_flat(&room, &entry, entry.as.repeat.items[0]);
        else
            add_flat(&room, NULL, list.at[i]);
    }
    return give_room(call, &room, false);
}

static cg_code walk_item(void *context, val item, val *ret)
{
    library_call *call = context;

    *ret = item;
    return std_kind(call, item) == VALUE_LAZY ? std_walk(call->eval, item, ret) : CG_OK;
}

cg_code list_flatten(library_call *call)
{
    list_view list;
    val walked = 0;

    CG_TRY(view_self(call, &list));
    for (size_t i = 0; i < list.count && walked == 0; i++) {
        if (std_kind(call, bare(call, list.at[i])) == VALUE_LAZY)
            walked = std_list_of(call->eval, 0, list.at, list.count);
    }
    if (walked != 0) {
        CG_TRY(eval_each(call->eval, walked, call->place, walk_item, call, &walked));
        CG_TRY(view_of(call, walked, 0, &list));
    }
    return give_flat(call, list);
}

static cg_code run_flat(void *context, val item, val *ret)
{
    each *self = context;
    val made = 0;

    CG_TRY(eval_apply(self->call->eval, self->callee, &item, 1, self->call->place, &made));
    switch (std_kind(self->call, made)) {
    case VALUE_RANGE:
    case VALUE_LAZY:
    case VALUE_MAP: return eval_items(self->call->eval, made, ret);
    default: *ret = made; return CG_OK;
    }
}

/* flat_map and filter_map: what the closure gives, without the wrapping. */
cg_code list_flat_map(library_call *call)
{
    each walk = {.call = call, .callee = std_arg(call, 0)};
    list_view list;
    val items = 0;
    val result = 0;

    if (call->count != 1)
        return CG_OK;
    CG_TRY(std_items(call, call->receiver, walk.callee, &items));
    if (str_equal(call->name, CG_LIT("find_map")) || str_equal(call->name, CG_LIT("map_while")))
        CG_TRY(each_until(call, items, &walk, run_flat, &result));
    else
        CG_TRY(eval_each(call->eval, items, call->place, run_flat, &walk, &result));
    CG_TRY(view_of(call, result, 0, &list));
    return give_flat(call, list);
}

static cg_code run_fold(void *context, val item, val *ret)
{
    each *self = context;
    val both[2] = {self->state, item};

    CG_TRY(eval_apply(self->call->eval, self->callee, both, 2, self->call->place, ret));
    self->state = *ret;
    return CG_OK;
}

/*
 * fold, try_fold: the state goes from item to item. Through a repetition it goes once, and then it
 * may be either; a number that changes on the way is not known inside.
 */
cg_code list_fold(library_call *call)
{
    each walk = {.call = call, .callee = std_arg(call, 1), .state = std_arg(call, 0)};
    val before = walk.state;
    trail_mark mark = trail_position(call->eval->trail);
    list_view view;
    val list = 0;
    val result = 0;

    if (call->count != 2)
        return CG_OK;
    CG_TRY(std_items(call, call->receiver, 0, &list));
    CG_TRY(view_of(call, list, 0, &view));
    CG_TRY(eval_each(call->eval, list, call->place, run_fold, &walk, &result));
    if (is_plain(call, view) || before == walk.state)
        return std_give(call, walk.state);
    if (std_kind(call, before) == VALUE_INT) {
        trail_forget(call->eval->trail, mark);
        walk.state = value_int(call->eval->values, EXPR_NONE);
        if (walk.state == 0)
            return err_nomem(call->eval->reterr);
        CG_TRY(eval_each(call->eval, list, call->place, run_fold, &walk, &result));
    }
    return std_give(call, value_join(call->eval->values, before, walk.state));
}

/* The first item starts. */
cg_code list_reduce(library_call *call)
{
    each walk = {.call = call, .callee = std_arg(call, 0)};
    list_view view;
    val rest;
    val result = 0;

    if (call->count != 1)
        return CG_OK;
    CG_TRY(view_self(call, &view));
    if (view.count == 0)
        return std_give(call, std_plain(call->eval, VALUE_NOTHING));
    walk.state = bare(call, view.at[0]);
    rest = is_repeat(call, view.at[0]) ? std_list_of(call->eval, 0, view.at, view.count)
                                       : std_list_of(call->eval, 0, view.at + 1, view.count - 1);
    if (rest == 0)
        return err_nomem(call->eval->reterr);
    CG_TRY(eval_each(call->eval, rest, call->place, run_fold, &walk, &result));
    return std_give(call, std_some(call->eval, walk.state));
}

cg_code list_scan(library_call *call)
{
    each walk = {.call = call, .callee = std_arg(call, 1), .state = std_arg(call, 0)};
    list_view flat;
    val list = 0;
    val result = 0;
    val state;

    if (call->count != 2)
        return CG_OK;
    state = value_unknown(call->eval->values, std_at(call, walk.state)->type, CG_LIT("state"));
    if (state == 0)
        return err_nomem(call->eval->reterr);
    walk.state = state;
    CG_TRY(std_items(call, call->receiver, 0, &list));
    CG_TRY(eval_each(call->eval, list, call->place, run_fold, &walk, &result));
    CG_TRY(view_of(call, result, 0, &flat));
    return give_flat(call, flat);
}

/* --- collecting --- */

static bool path_is_one_of(cg_str path, const char *const *names)
{
    size_t colon = str_find_last(path, ':');
    cg_str last = path;

    if (path.len == 0)
        return false;
    if (colon != SIZE_MAX)
        last = (cg_str){path.ptr + colon + 1, path.len - colon - 1};
    for (; *names != NULL; names++) {
        if (str_is(last, *names))
            return true;
    }
    return false;
}

static cg_code collect_map(library_call *call, list_view list)
{
    list_room room = {.eval = call->eval};
    value it = {.kind = VALUE_MAP, .is_known = true};

    for (size_t i = 0; i < list.count; i++) {
        const value *pair = std_at(call, bare(call, list.at[i]));

        if (pair->kind != VALUE_TUPLE || pair->count != 2) {
            it.is_known = false;
            continue;
        }
        if (is_repeat(call, list.at[i]))
            it.is_known = false;
        room_add(&room, pair->as.items[0]);
        room_add(&room, pair->as.items[1]);
    }
    it.count = (uint16_t)(room.items.count > UINT16_MAX ? 0 : room.items.count);
    it.as.items = room.items.at;
    if (!room.failed)
        CG_TRY(std_give(call, value_make(call->eval->values, &it)));
    vec_free(call->eval->values->heap, &room.items);
    return room.failed ? err_nomem(call->eval->reterr) : CG_OK;
}

static cg_code collect_text(library_call *call, list_view list)
{
    std_text text;

    std_text_begin(&text, call->eval);
    for (size_t i = 0; i < list.count; i++) {
        if (is_repeat(call, list.at[i]))
            return vec_free(call->eval->values->heap, &text.pieces), any_unknown(call);
        std_text_value(&text, list.at[i]);
    }
    return std_give(call, std_text_end(&text));
}

cg_code list_collect(library_call *call)
{
    static const char *const maps[] = {"HashMap", "BTreeMap", "IndexMap", NULL};
    static const char *const texts[] = {"String", "str", "PathBuf", NULL};
    cg_str wanted = std_type_path(call->eval, std_type_inside(call->eval, call->wanted));
    list_view list;

    CG_TRY(view_self(call, &list));
    for (size_t i = 0; i < list.count; i++) {
        enum value_kind kind = std_kind(call, list.at[i]);

        if (kind == VALUE_ERROR || kind == VALUE_NEVER)
            return std_give(call, list.at[i]);
    }
    if (path_is_one_of(wanted, texts))
        return collect_text(call, list);
    if (path_is_one_of(wanted, maps))
        CG_TRY(collect_map(call, list));
    else
        CG_TRY(give_vec(call, list));
    return std_give(
        call, std_ordered(call->eval, call->result, std_type_inside(call->eval, call->wanted)));
}

cg_code list_unzip(library_call *call)
{
    list_room rooms[2] = {{.eval = call->eval}, {.eval = call->eval}};
    val both[2] = {0, 0};
    list_view list;

    CG_TRY(view_self(call, &list));
    for (size_t i = 0; i < list.count; i++) {
        value entry = *std_at(call, list.at[i]);
        const value *pair = std_at(call, bare(call, list.at[i]));
        const val *items = pair->as.items;

        if (pair->kind != VALUE_TUPLE || pair->count != 2) {
            vec_free(call->eval->values->heap, &rooms[0].items);
            vec_free(call->eval->values->heap, &rooms[1].items);
            return any_unknown(call);
        }
        for (size_t side = 0; side < 2; side++)
            room_add(&rooms[side], entry.kind == VALUE_REPEAT
                                       ? repeat_like(call->eval, &entry, items[side],
                                                     entry.as.repeat.symbol, entry.as.repeat.count)
                                       : items[side]);
    }
    for (size_t side = 0; side < 2; side++) {
        if (!rooms[side].failed)
            both[side] = std_vec_of(call->eval, rooms[side].items.at, rooms[side].items.count);
        vec_free(call->eval->values->heap, &rooms[side].items);
    }
    return std_give(call, make_pair(call->eval, both[0], both[1]));
}

/* --- numbers --- */

cg_code list_len(library_call *call)
{
    expr total = expr_const(call->eval->exprs, 0);
    list_view list;

    CG_TRY(view_self(call, &list));
    for (size_t i = 0; i < list.count; i++)
        total = expr_binary(call->eval->exprs, EXPR_ADD, total, entry_count(call, list.at[i]));
    return std_give_number(call, total);
}

/* Does the number change with the index of its repetition? */
static bool varies(const library_call *call, expr number, sym symbol)
{
    expr_list found = {NULL, 0, 0};
    bool is_inside = false;
    cg_str name;

    if (symbol == 0)
        return true;
    name = program_text(call->eval->program, symbol);
    if (!expr_symbols(call->eval->exprs, number, &found))
        is_inside = true;
    for (size_t i = 0; i < found.count; i++)
        is_inside =
            is_inside || index_text_mentions(expr_text(call->eval->exprs, found.at[i]), name);
    vec_free(call->eval->exprs->heap, &found);
    return is_inside;
}

static cg_code give_total(library_call *call, enum expr_op op)
{
    expr total = expr_const(call->eval->exprs, op == EXPR_ADD ? 0 : 1);
    list_view list;

    CG_TRY(view_self(call, &list));
    for (size_t i = 0; i < list.count; i++) {
        value entry = *std_at(call, list.at[i]);
        expr number = value_number(call->eval->values, bare(call, list.at[i]));

        if (entry.kind == VALUE_REPEAT && varies(call, number, entry.as.repeat.symbol))
            number = EXPR_NONE;
        else if (entry.kind == VALUE_REPEAT)
            number = expr_binary(call->eval->exprs, op == EXPR_ADD ? EXPR_MUL : EXPR_POW, number,
                                 entry.as.repeat.count);
        total = expr_binary(call->eval->exprs, op, total, number);
    }
    if (total != EXPR_NONE)
        return std_give_number(call, total);
    if (list.count > 0 && std_kind(call, bare(call, list.at[0])) == VALUE_INT)
        return any_int(call);
    return std_give_typed(call, call->wanted);
}

cg_code list_sum(library_call *call)
{
    return give_total(call, EXPR_ADD);
}

cg_code list_product(library_call *call)
{
    return give_total(call, EXPR_MUL);
}

static cg_code give_extreme(library_call *call, enum expr_op op)
{
    expr best = EXPR_NONE;
    list_view list;
    val made;

    CG_TRY(view_self(call, &list));
    if (list.count == 0)
        return std_give(call, std_plain(call->eval, VALUE_NOTHING));
    for (size_t i = 0; i < list.count; i++) {
        expr number = value_number(call->eval->values, list.at[i]);

        best = i == 0 ? number : expr_binary(call->eval->exprs, op, best, number);
    }
    if (best == EXPR_NONE || !is_plain(call, list)) {
        CG_TRY(any_unknown(call));
        return std_give(call, std_some(call->eval, call->result));
    }
    made = value_int(call->eval->values, best);
    return std_give(call, std_some(call->eval, made));
}

cg_code list_min(library_call *call)
{
    return give_extreme(call, EXPR_MIN);
}

cg_code list_max(library_call *call)
{
    return give_extreme(call, EXPR_MAX);
}

cg_code list_is_empty(library_call *call)
{
    list_view list;

    CG_TRY(view_self(call, &list));
    for (size_t i = 0; i < list.count; i++) {
        if (!is_repeat(call, list.at[i]))
            return std_give_bool(call, false);
    }
    return list.count == 0 ? std_give_bool(call, true) : any_bool(call);
}

/* --- looking for items --- */

/*
 * The closure's verdict for each item: `any` is decided by one that is `decisive`, by all others
 * otherwise.
 */
static cg_code give_verdict(library_call *call, int decisive)
{
    each walk = {.call = call, .callee = std_arg(call, 0)};
    bool is_open = false;
    list_view verdicts;
    val result = 0;
    val list = 0;

    if (call->count != 1)
        return CG_OK;
    CG_TRY(std_items(call, call->receiver, walk.callee, &list));
    CG_TRY(each_until(call, list, &walk, run_each, &result));
    CG_TRY(view_of(call, result, 0, &verdicts));
    for (size_t i = 0; i < verdicts.count; i++) {
        int truth = std_truth(call->eval, bare(call, verdicts.at[i]));

        if (truth == decisive && !is_repeat(call, verdicts.at[i]))
            return std_give_bool(call, decisive == 1);
        if (truth < 0 || truth == decisive)
            is_open = true;
    }
    return is_open ? any_bool(call) : std_give_bool(call, decisive == 0);
}

cg_code list_any(library_call *call)
{
    return give_verdict(call, 1);
}

cg_code list_all(library_call *call)
{
    return give_verdict(call, 0);
}

/* The values it may be, joined: Some of each, and None unless one is certain. */
static cg_code give_found(library_call *call, list_view list, list_view verdicts, bool is_position)
{
    val result = 0;

    for (size_t i = 0; i < list.count; i++) {
        int truth =
            list.count == verdicts.count ? std_truth(call->eval, bare(call, verdicts.at[i])) : -1;
        bool is_sure = truth == 1 && !is_repeat(call, list.at[i]);
        val item;

        if (truth == 0)
            continue;
        item = is_position
                   ? value_int(call->eval->values, is_repeat(call, list.at[i])
                                                       ? EXPR_NONE
                                                       : expr_const(call->eval->exprs, (int64_t)i))
                   : bare(call, list.at[i]);
        item = std_some(call->eval, item);
        if (item != 0 && result != 0)
            item = value_join(call->eval->values, result, item);
        if (item == 0)
            return err_nomem(call->eval->reterr);
        result = item;
        if (is_sure)
            return std_give(call, result);
    }
    if (result == 0)
        return std_give(call, std_plain(call->eval, VALUE_NOTHING));
    return std_give(call,
                    value_join(call->eval->values, result, std_plain(call->eval, VALUE_NOTHING)));
}

static cg_code give_search(library_call *call, bool is_position)
{
    each walk = {.call = call, .callee = std_arg(call, 0)};
    list_view verdicts;
    list_view list;
    val items = 0;
    val result = 0;

    if (call->count != 1)
        return CG_OK;
    CG_TRY(std_items(call, call->receiver, walk.callee, &items));
    CG_TRY(each_until(call, items, &walk, run_each, &result));
    CG_TRY(view_of(call, items, 0, &list));
    CG_TRY(view_of(call, result, 0, &verdicts));
    return give_found(call, list, verdicts, is_position);
}

cg_code list_find(library_call *call)
{
    return give_search(call, false);
}

cg_code list_position(library_call *call)
{
    return give_search(call, true);
}

/* The first Some the closure gives. */
cg_code list_find_map(library_call *call)
{
    list_view list;

    CG_TRY(list_flat_map(call));
    if (!call->is_known)
        return CG_OK;
    CG_TRY(view_of(call, call->result, 0, &list));
    if (list.count == 0)
        return std_give(call, std_plain(call->eval, VALUE_NOTHING));
    if (!is_repeat(call, list.at[0]))
        return std_give(call, std_some(call->eval, list.at[0]));
    return std_give(call, std_perhaps(call->eval, bare(call, list.at[0])));
}

/* Are two values certain to be equal (1) or different (0)? */
static int equal(const library_call *call, val a, val b)
{
    expr x = value_number(call->eval->values, a);
    expr y = value_number(call->eval->values, b);
    cg_str s = std_text_pattern(call->eval, a);
    cg_str t = std_text_pattern(call->eval, b);

    if (s.ptr != NULL && t.ptr != NULL)
        return str_equal(s, t);
    if (x != EXPR_NONE && y != EXPR_NONE)
        return x == y ? 1 : expr_differs(call->eval->exprs, x, y) ? 0 : -1;
    return -1;
}

cg_code list_contains(library_call *call)
{
    bool is_open = false;
    list_view list;

    if (call->count != 1)
        return CG_OK;
    CG_TRY(view_self(call, &list));
    for (size_t i = 0; i < list.count; i++) {
        int answer = is_repeat(call, list.at[i]) ? -1 : equal(call, list.at[i], call->args[0]);

        if (answer == 1)
            return std_give_bool(call, true);
        if (answer < 0)
            is_open = true;
    }
    return is_open ? any_bool(call) : std_give_bool(call, false);
}

/* `sizes[2]`, `sizes.last()`: one item of a repetition, by the name of where it stands. */
static bool item_text(library_call *call, val position, cg_str *ret)
{
    values *all = call->eval->values;
    cg_str list;
    cg_str index;

    if (!value_print(all, call->receiver, &list))
        return false;
    if (position == 0)
        return arena_format(&all->mem, ret, "%.*s.%.*s()", STR_NAME(list), STR_NAME(call->name));
    return value_print(all, position, &index) &&
           arena_format(&all->mem, ret, "%.*s[%.*s]", STR_NAME(list), STR_NAME(index));
}

/* The repetition's item at a position; 0: at some end. */
static val item_at(library_call *call, val repeat, val position)
{
    value entry = *std_at(call, repeat);
    val item = entry.as.repeat.items[0];
    value it = *std_at(call, item);
    expr number = value_number(call->eval->values, item);
    expr place = position == 0 ? EXPR_NONE : value_number(call->eval->values, position);

    if (number != EXPR_NONE && !varies(call, number, entry.as.repeat.symbol))
        return item;
    if (place != EXPR_NONE && entry.as.repeat.symbol != 0) {
        val placed = item_for(call, repeat, place);

        if (placed != item || place == symbol_expr(call, entry.as.repeat.symbol))
            return placed;
    }
    if (it.kind != VALUE_INT && it.kind != VALUE_UNKNOWN && it.kind != VALUE_FLOAT &&
        it.kind != VALUE_BOOL)
        return item;
    if (it.is_known)
        return item;
    if (!item_text(call, position, &it.text))
        return 0;
    if (it.kind != VALUE_INT)
        return value_make(call->eval->values, &it);
    return value_int(call->eval->values, expr_symbol(call->eval->exprs, it.text));
}

/* Some(item), or None behind the end; `position` says which it is, 0 for an end. */
static cg_code give_item(library_call *call, list_view list, size_t which, val position)
{
    val item;

    if (which >= list.count)
        return std_give(call, std_plain(call->eval, VALUE_NOTHING));
    if (!is_repeat(call, list.at[which]))
        return std_give(call, std_some(call->eval, list.at[which]));
    item = item_at(call, list.at[which], position);
    return std_give(call, item == 0 ? 0 : std_perhaps(call->eval, item));
}

cg_code list_first(library_call *call)
{
    list_view list;

    CG_TRY(view_self(call, &list));
    return give_item(call, list, 0, 0);
}

cg_code list_last(library_call *call)
{
    list_view list;
    val position = 0;

    CG_TRY(view_self(call, &list));
    /* Of single items and a repetition: item n - 1 of that. */
    if (list.count > 1 && entry_count(call, list.at[list.count - 1]) != EXPR_NONE &&
        is_repeat(call, list.at[list.count - 1])) {
        expr last =
            expr_binary(call->eval->exprs, EXPR_SUB, entry_count(call, list.at[list.count - 1]),
                        expr_const(call->eval->exprs, 1));

        position = last == EXPR_NONE ? 0 : value_int(call->eval->values, last);
    }
    return give_item(call, list, list.count == 0 ? 0 : list.count - 1, position);
}

/* The items of a range: `ids[..]`, `ids[1..n]`. */
static cg_code give_range(library_call *call, list_view list, const value *range)
{
    expr_pool *numbers = call->eval->exprs;
    expr low = range->as.items[0] ? value_number(call->eval->values, range->as.items[0])
                                  : expr_const(numbers, 0);
    expr high = EXPR_NONE;
    int64_t from = 0;
    int64_t to = 0;

    if (range->as.items[1] != 0) {
        high = value_number(call->eval->values, range->as.items[1]);
        if (high != EXPR_NONE && range->is_inclusive)
            high = expr_binary(numbers, EXPR_ADD, high, expr_const(numbers, 1));
    } else if (is_plain(call, list)) {
        high = expr_const(numbers, (int64_t)list.count);
    } else if (list.count == 1) {
        high = entry_count(call, list.at[0]);
    }
    if (is_plain(call, list) && expr_constant(numbers, low, &from) &&
        expr_constant(numbers, high, &to) && from >= 0 && from <= to && to <= (int64_t)list.count)
        return give_slice(call, list, (size_t)from, (size_t)to);
    return give_moved(call, list, low, expr_const(numbers, 1),
                      expr_binary(numbers, EXPR_SUB, high, low));
}

/* `ids[..]`. An item was looked for before; what is not known of it stays unknown. */
cg_code list_index(library_call *call)
{
    const value *range;
    list_view list;

    if (call->count != 1 || std_kind(call, call->args[0]) != VALUE_RANGE)
        return CG_OK;
    range = std_at(call, call->args[0]);
    if (range->as.items[0] == 0 && range->as.items[1] == 0)
        return std_give(call, call->receiver);
    CG_TRY(view_self(call, &list));
    return give_range(call, list, range);
}

/* get, nth, get_mut: by index or by range. */
cg_code list_get(library_call *call)
{
    uint64_t which = 0;
    list_view list;
    val result;

    if (call->count != 1)
        return CG_OK;
    CG_TRY(view_self(call, &list));
    if (std_kind(call, call->args[0]) == VALUE_TEXT) /* pairs that were collected into a map */
        return map_get(call);
    if (known_arg(call, 0, &which) && is_plain(call, list))
        return give_item(call, list, which > list.count ? list.count : (size_t)which,
                         call->args[0]);
    if (list.count == 0 || std_kind(call, call->args[0]) == VALUE_RANGE)
        return unknown_perhaps(call);
    if (list.count == 1 && is_repeat(call, list.at[0]))
        return give_item(call, list, 0, call->args[0]);
    result = bare(call, list.at[0]);
    for (size_t i = 1; i < list.count && result != 0; i++)
        result = value_join(call->eval->values, result, bare(call, list.at[i]));
    return std_give(call, result == 0 ? 0 : std_perhaps(call->eval, result));
}

cg_code list_next(library_call *call)
{
    list_view list;

    CG_TRY(view_self(call, &list));
    if (list.count > 0 && !is_repeat(call, list.at[0]))
        call->updated = std_list_of(call->eval, 0, list.at + 1, list.count - 1);
    return give_item(call, list, 0, 0);
}

/* The items at step * index + 0, 1, ... of one repetition, for every index. */
static cg_code give_windows_of(library_call *call, val repeat, uint64_t width, bool is_windows)
{
    expr_pool *pool = call->eval->exprs;
    list_room room = {.eval = call->eval};
    list_room outer = {.eval = call->eval};
    value entry = *std_at(call, repeat);
    sym symbol = entry.as.repeat.symbol != 0 ? entry.as.repeat.symbol : index_symbol(call);
    expr step = expr_const(pool, is_windows ? 1 : (int64_t)width);
    expr first = expr_binary(pool, EXPR_MUL, symbol_expr(call, symbol), step);
    expr count = expr_binary(pool, is_windows ? EXPR_SUB : EXPR_DIV, entry.as.repeat.count,
                             expr_const(pool, (int64_t)width - (is_windows ? 1 : 0)));
    val inner = 0;

    for (uint64_t i = 0; i < width; i++) {
        expr place = expr_binary(pool, EXPR_ADD, first, expr_const(pool, (int64_t)i));
        val position = value_int(call->eval->values, place);

        room_add(&room, position == 0 ? 0 : item_at(call, repeat, position));
    }
    if (!room.failed)
        inner = std_list_of(call->eval, 0, room.items.at, room.items.count);
    vec_free(call->eval->values->heap, &room.items);
    room_add(&outer, make_repeat(call->eval, inner, symbol, count));
    return give_room(call, &outer, false);
}

#define WINDOW 8 /* wider ones of lists that are not known are not told apart */

/*
 * The windows of single items and a repetition behind them: those that begin with a single one
 * each by itself, then those of the repetition.
 */
static cg_code give_windows_behind(library_call *call, list_view list, uint64_t width)
{
    expr_pool *pool = call->eval->exprs;
    list_room outer = {.eval = call->eval};
    val repeat = list.at[list.count - 1];
    library_call rest = *call;

    for (size_t i = 0; i + 1 < list.count; i++) {
        list_room room = {.eval = call->eval};
        val inner = 0;

        for (size_t k = i; k < i + width; k++) {
            val position = k + 1 < list.count
                               ? 0
                               : value_int(call->eval->values,
                                           expr_const(pool, (int64_t)(k + 1 - list.count)));

            room_add(&room, k + 1 < list.count ? list.at[k]
                            : position == 0    ? 0
                                               : item_at(call, repeat, position));
        }
        if (!room.failed)
            inner = std_list_of(call->eval, 0, room.items.at, room.items.count);
        vec_free(call->eval->values->heap, &room.items);
        room_add(&outer, inner);
    }
    CG_TRY(give_windows_of(&rest, repeat, width, true));
    if (rest.is_known)
        add_all(&outer,
                (list_view){std_at(call, rest.result)->as.items, std_at(call, rest.result)->count});
    return give_room(call, &outer, false);
}

/* windows(k), chunks(k) and chunks_exact(k) of known lists; of others some list of them. */
cg_code list_windows(library_call *call)
{
    list_room room = {.eval = call->eval};
    bool is_windows = str_starts_with(call->name, CG_LIT("windows"));
    uint64_t width = 0;
    list_view list;

    CG_TRY(view_self(call, &list));
    if (known_arg(call, 0, &width) && width > 0 && width <= WINDOW && list.count == 1 &&
        is_repeat(call, list.at[0]))
        return give_windows_of(call, list.at[0], width, is_windows);
    if (is_windows && width > 0 && width <= WINDOW && list.count > 1 &&
        is_repeat(call, list.at[list.count - 1]) &&
        is_plain(call, (list_view){list.at, list.count - 1}))
        return give_windows_behind(call, list, width);
    if (!known_arg(call, 0, &width) || width == 0 || !is_plain(call, list)) {
        list_room blurred = {.eval = call->eval};
        val some = 0;

        /* Which item stands where in one of them is not known. */
        for (size_t i = 0; i < list.count; i++)
            add_perhaps(&blurred, std_blurred(call->eval, bare(call, list.at[i])), 0);
        if (!blurred.failed)
            some = std_list_of(call->eval, 0, blurred.items.at, blurred.items.count);
        vec_free(call->eval->values->heap, &blurred.items);

        room_add(&room, make_repeat(call->eval, some, index_symbol(call), EXPR_NONE));
        return give_room(call, &room, false);
    }
    for (size_t i = 0; i < list.count; i += is_windows ? 1 : (size_t)width) {
        size_t end = list.count - i < width ? list.count : i + (size_t)width;

        if (end - i < width && (is_windows || str_ends_with(call->name, CG_LIT("exact"))))
            break;
        room_add(&room, std_list_of(call->eval, 0, list.at + i, end - i));
    }
    return give_room(call, &room, false);
}

cg_code list_cycle(library_call *call)
{
    list_view list;

    CG_TRY(view_self(call, &list));
    return give_moved(call, list, EXPR_NONE, EXPR_NONE, EXPR_NONE);
}

/* join, concat: of texts a text, of lists a list. */
cg_code list_join(library_call *call)
{
    val by = std_arg(call, 0);
    list_view list;
    std_text text;

    CG_TRY(view_self(call, &list));
    if (list.count > 0 && std_kind(call, bare(call, list.at[0])) == VALUE_LIST)
        return give_flat(call, list);
    std_text_begin(&text, call->eval);
    for (size_t i = 0; i < list.count; i++) {
        if (i > 0 && by != 0)
            std_text_value(&text, by);
        if (is_repeat(call, list.at[i]))
            return vec_free(call->eval->values->heap, &text.pieces), any_unknown(call);
        std_text_value(&text, list.at[i]);
    }
    return std_give(call, std_text_end(&text));
}

/* --- changing a collection --- */

/* The receiver afterwards; the result is still to be given. */
static cg_code update(library_call *call, list_room *room)
{
    call->updated = room->failed ? 0 : std_vec_of(call->eval, room->items.at, room->items.count);
    vec_free(call->eval->values->heap, &room->items);
    return call->updated == 0 ? err_nomem(call->eval->reterr) : CG_OK;
}

cg_code list_scatter(library_call *call, bool is_whole)
{
    list_room room = {.eval = call->eval};
    list_view list;

    CG_TRY(view_self(call, &list));
    for (size_t i = 0; i < list.count; i++) {
        value entry = *std_at(call, list.at[i]);
        val item = std_blurred(call->eval, bare(call, list.at[i]));

        if (entry.kind == VALUE_REPEAT)
            room_add(&room, make_repeat(call->eval, item, entry.as.repeat.symbol,
                                        is_whole ? entry.as.repeat.count : EXPR_NONE));
        else if (is_whole)
            room_add(&room, item);
        else
            add_perhaps(&room, item, 0);
    }
    return update(call, &room);
}

/* The receiver's own items, without making an iterator of what is not known. */
static cg_code update_from(library_call *call, list_view before, size_t from, size_t to)
{
    call->updated = std_vec_of(call->eval, to > from ? before.at + from : NULL, to - from);
    return call->updated == 0 ? err_nomem(call->eval->reterr) : CG_OK;
}

cg_code list_push(library_call *call)
{
    list_room room = {.eval = call->eval};
    list_view list;

    if (call->count == 0)
        return CG_OK;
    if (std_kind(call, call->receiver) == VALUE_LIST &&
        value_at(call->eval->values, call->receiver)->is_known) {
        call->updated = value_append(call->eval->values, call->receiver, call->args[0]);
        return call->updated == 0 ? err_nomem(call->eval->reterr) : any_unit(call);
    }
    CG_TRY(view_self(call, &list));
    add_all(&room, list);
    room_add(&room, call->args[0]);
    CG_TRY(update(call, &room));
    return any_unit(call);
}

cg_code list_push_front(library_call *call)
{
    list_room room = {.eval = call->eval};
    list_view list;

    if (call->count == 0)
        return CG_OK;
    CG_TRY(view_self(call, &list));
    room_add(&room, call->args[0]);
    add_all(&room, list);
    CG_TRY(update(call, &room));
    return any_unit(call);
}

/* insert(index, x) of a Vec, insert(x) of a set. */
cg_code list_insert(library_call *call)
{
    list_room room = {.eval = call->eval};
    uint64_t which = 0;
    list_view list;

    if (call->count == 1)
        return list_push(call);
    if (call->count != 2)
        return CG_OK;
    CG_TRY(view_self(call, &list));
    if (!known_arg(call, 0, &which) || which > list.count || !is_plain(call, list))
        which = list.count;
    add_all(&room, (list_view){list.at, (size_t)which});
    room_add(&room, call->args[1]);
    add_all(&room, (list_view){list.at + which, list.count - (size_t)which});
    CG_TRY(update(call, &room));
    return any_unit(call);
}

/* extend, extend_from_slice, append. */
cg_code list_extend(library_call *call)
{
    list_room room = {.eval = call->eval};
    list_view list;
    list_view more;

    if (call->count != 1)
        return CG_OK;
    CG_TRY(view_self(call, &list));
    CG_TRY(view_of(call, call->args[0], 0, &more));
    add_all(&room, list);
    add_all(&room, more);
    CG_TRY(update(call, &room));
    return any_unit(call);
}

cg_code list_pop(library_call *call)
{
    list_view list;

    CG_TRY(view_self(call, &list));
    if (list.count > 0 && !is_repeat(call, list.at[list.count - 1]))
        CG_TRY(update_from(call, list, 0, list.count - 1));
    return give_item(call, list, list.count == 0 ? 0 : list.count - 1, 0);
}

cg_code list_pop_front(library_call *call)
{
    list_view list;

    CG_TRY(view_self(call, &list));
    if (list.count > 0 && !is_repeat(call, list.at[0]))
        CG_TRY(update_from(call, list, 1, list.count));
    return give_item(call, list, 0, 0);
}

/* remove, swap_remove: the item itself. */
cg_code list_remove(library_call *call)
{
    list_room room = {.eval = call->eval};
    uint64_t which = 0;
    list_view list;

    CG_TRY(view_self(call, &list));
    if (!known_arg(call, 0, &which) || !is_plain(call, list) || which >= list.count) {
        CG_TRY(list_get(call));
        CG_TRY(list_scatter(call, false));
        return call->is_known && std_kind(call, call->result) == VALUE_CHOICE
                   ? std_run_on(call, call->result, "unwrap", NULL, 0, &call->result)
                   : CG_OK;
    }
    for (size_t i = 0; i < list.count; i++) {
        if (i != which)
            room_add(&room, list.at[i]);
    }
    CG_TRY(update(call, &room));
    return std_give(call, list.at[which]);
}

cg_code list_clear(library_call *call)
{
    CG_TRY(update_from(call, (list_view){NULL, 0}, 0, 0));
    return any_unit(call);
}

cg_code list_truncate(library_call *call)
{
    uint64_t most = 0;
    list_view list;

    CG_TRY(view_self(call, &list));
    if (known_arg(call, 0, &most) && most < list.count && is_plain(call, list))
        CG_TRY(update_from(call, list, 0, (size_t)most));
    return any_unit(call);
}

cg_code list_reverse(library_call *call)
{
    list_room room = {.eval = call->eval};
    list_view list;

    CG_TRY(view_self(call, &list));
    add_reversed(call, &room, list);
    for (size_t i = 0; i < room.items.count; i++) {
        if (is_repeat(call, room.items.at[i]))
            room.items.at[i] = upward(call, room.items.at[i]);
        room.failed = room.failed || room.items.at[i] == 0;
    }
    CG_TRY(update(call, &room));
    return any_unit(call);
}

cg_code list_split_off(library_call *call)
{
    uint64_t at = 0;
    list_view list;

    CG_TRY(view_self(call, &list));
    if (!known_arg(call, 0, &at) || at > list.count || !is_plain(call, list)) {
        CG_TRY(list_scatter(call, false));
        return std_give(call, call->updated);
    }
    CG_TRY(update_from(call, list, 0, (size_t)at));
    return std_give(call, std_vec_of(call->eval, list.at + at, list.count - (size_t)at));
}

/* split_at(k): both parts. */
cg_code list_split_at(library_call *call)
{
    uint64_t at = 0;
    list_view list;

    CG_TRY(view_self(call, &list));
    if (!known_arg(call, 0, &at) || at > list.count || !is_plain(call, list))
        return std_give(call, make_pair(call->eval, call->receiver, call->receiver));
    return std_give(call,
                    make_pair(call->eval, std_list_of(call->eval, 0, list.at, (size_t)at),
                              std_list_of(call->eval, 0, list.at + at, list.count - (size_t)at)));
}

/* split_first, split_last: an item and the rest. */
cg_code list_split_first(library_call *call)
{
    bool is_first = str_ends_with(call->name, CG_LIT("first"));
    list_view list;
    val item;
    val rest;

    CG_TRY(view_self(call, &list));
    if (list.count == 0)
        return std_give(call, std_plain(call->eval, VALUE_NOTHING));
    if (!is_plain(call, list))
        return unknown_perhaps(call);
    item = list.at[is_first ? 0 : list.count - 1];
    rest = std_list_of(call->eval, 0, list.at + (is_first ? 1 : 0), list.count - 1);
    return std_give(call, std_some(call->eval, make_pair(call->eval, item, rest)));
}

/* `drain(..n)`: what is taken out, and what stays. */
static cg_code drain_range(library_call *call, list_view list, const value *range)
{
    expr_pool *numbers = call->eval->exprs;
    list_room rest = {.eval = call->eval};
    int64_t from = 0;
    int64_t to = (int64_t)list.count;
    bool is_known = is_plain(call, list);

    if (range->as.items[0] != 0)
        is_known &=
            expr_constant(numbers, value_number(call->eval->values, range->as.items[0]), &from);
    if (range->as.items[1] != 0)
        is_known &=
            expr_constant(numbers, value_number(call->eval->values, range->as.items[1]), &to);
    if (range->as.items[1] != 0 && range->is_inclusive)
        to++;
    if (!is_known || from < 0 || to < from || to > (int64_t)list.count) {
        CG_TRY(list_scatter(call, false));
        return give_range(call, list, range);
    }
    for (size_t i = 0; i < list.count; i++) {
        if (i < (size_t)from || i >= (size_t)to)
            room_add(&rest, list.at[i]);
    }
    CG_TRY(update(call, &rest));
    return give_slice(call, list, (size_t)from, (size_t)to);
}

cg_code list_drain(library_call *call)
{
    list_view list;

    CG_TRY(view_self(call, &list));
    if (std_arg(call, 0) != 0 && std_kind(call, call->args[0]) == VALUE_RANGE &&
        (std_at(call, call->args[0])->as.items[0] != 0 ||
         std_at(call, call->args[0])->as.items[1] != 0))
        return drain_range(call, list, std_at(call, call->args[0]));
    CG_TRY(update_from(call, (list_view){NULL, 0}, 0, 0));
    return give_slice(call, list, 0, list.count);
}

/* resize(n, x), `vec![x; n]`, repeat_n(x, n): one item many times. */
static cg_code repeated(library_call *call, val item, val times, val *ret)
{
    list_room room = {.eval = call->eval};
    expr number = value_number(call->eval->values, times);
    int64_t count = 0;

    if (expr_constant(call->eval->exprs, number, &count) && count >= 0 &&
        count <= (int64_t)call->eval->limits.unroll) {
        for (int64_t i = 0; i < count; i++)
            room_add(&room, item);
    } else {
        room_add(&room, make_repeat(call->eval, item, index_symbol(call), number));
    }
    *ret = room.failed ? 0 : std_vec_of(call->eval, room.items.at, room.items.count);
    vec_free(call->eval->values->heap, &room.items);
    return *ret == 0 ? err_nomem(call->eval->reterr) : CG_OK;
}

cg_code list_resize(library_call *call)
{
    list_room room = {.eval = call->eval};
    list_view list;
    val one = 0;

    if (call->count != 2)
        return CG_OK;
    CG_TRY(view_self(call, &list));
    if (list.count == 0) {
        CG_TRY(repeated(call, call->args[1], call->args[0], &call->updated));
        return any_unit(call);
    }
    /* Cut off, or made longer by the other: which is not looked at. */
    one = std_blurred(call->eval, call->args[1]);
    for (size_t i = 0; i < list.count; i++)
        add_perhaps(&room, std_blurred(call->eval, bare(call, list.at[i])), 0);
    add_perhaps(&room, one, 0);
    CG_TRY(update(call, &room));
    return any_unit(call);
}

/* --- functions --- */

cg_code list_new(library_call *call)
{
    return std_give(call, std_vec_of(call->eval, NULL, 0));
}

/* `Vec::from([..])`, `HashSet::from_iter(..)`. */
cg_code list_from(library_call *call)
{
    list_view list;

    if (call->count != 1)
        return CG_OK;
    if (std_kind(call, call->args[0]) == VALUE_TEXT)
        return std_give(call, call->args[0]);
    CG_TRY(view_of(call, call->args[0], 0, &list));
    return std_give(call, std_vec_of(call->eval, list.at, list.count));
}

/* vec![a, b], and `vec![x; n]`, which is x and the range 0..n. */
cg_code list_macro(library_call *call)
{
    const value *last;
    val result = 0;

    if (call->count == 2) {
        last = std_at(call, call->args[1]);
        if (last->kind == VALUE_RANGE && last->as.items[1] != 0 &&
            std_kind(call, call->args[0]) != VALUE_RANGE) {
            CG_TRY(repeated(call, call->args[0], last->as.items[1], &result));
            return std_give(call, result);
        }
    }
    return std_give(call, std_vec_of(call->eval, call->args, call->count));
}

cg_code iter_repeat_n(library_call *call)
{
    val result = 0;

    if (call->count != 2)
        return CG_OK;
    CG_TRY(repeated(call, call->args[0], call->args[1], &result));
    return std_give(call, std_list_of(call->eval, 0, std_at(call, result)->as.items,
                                      std_at(call, result)->count));
}

cg_code iter_repeat(library_call *call)
{
    val entry;

    if (call->count != 1)
        return CG_OK;
    entry = make_repeat(call->eval, call->args[0], index_symbol(call), EXPR_NONE);
    return std_give(call, entry == 0 ? 0 : std_list_of(call->eval, 0, &entry, 1));
}

cg_code iter_once(library_call *call)
{
    return std_give(call, std_list_of(call->eval, 0, call->args, call->count));
}

/* What is in the option, if it is there. */
static val unwrapped(library_call *call, val item)
{
    const value *at = std_at(call, item);
    val joined = 0;

    if (at->kind == VALUE_SOME)
        return at->as.items[0];
    if (at->kind != VALUE_CHOICE)
        return item;
    for (size_t i = 0; i < at->count; i++) {
        val one = at->as.items[i];

        if (std_kind(call, one) == VALUE_SOME)
            one = std_at(call, one)->as.items[0];
        else if (std_kind(call, one) == VALUE_NOTHING)
            continue;
        joined = joined == 0 ? one : value_join(call->eval->values, joined, one);
        if (joined == 0)
            return 0;
    }
    return joined == 0 ? item : joined;
}

static cg_code run_made(void *context, val item, val *ret)
{
    each *self = context;
    bool takes_value = str_equal(self->call->name, CG_LIT("successors"));

    return eval_apply(self->call->eval, self->callee, &item, takes_value ? 1 : 0, self->call->place,
                      ret);
}

/* repeat_with(f), from_fn(f), successors(first, f): what the closure gives, as often as may be. */
cg_code iter_made(library_call *call)
{
    each walk = {.call = call, .callee = call->count == 0 ? 0 : call->args[call->count - 1]};
    list_room room = {.eval = call->eval};
    val rounds = 0;
    val made = 0;
    val entry;

    if (walk.callee == 0)
        return CG_OK;
    entry = value_unknown(call->eval->values, 0, CG_LIT("item"));
    entry = make_repeat(call->eval, entry, index_symbol(call), EXPR_NONE);
    rounds = entry == 0 ? 0 : std_list_of(call->eval, 0, &entry, 1);
    if (rounds == 0)
        return err_nomem(call->eval->reterr);
    CG_TRY(eval_each(call->eval, rounds, call->place, run_made, &walk, &made));
    for (size_t i = 0; i < std_at(call, made)->count; i++) {
        value one = *std_at(call, std_at(call, made)->as.items[i]);
        val item = unwrapped(call, bare(call, std_at(call, made)->as.items[i]));

        if (item != 0 && call->count > 1)
            item = std_blurred(call->eval, item);
        room_add(&room, repeat_like(call->eval, &one, item, index_symbol(call), EXPR_NONE));
    }
    return give_room(call, &room, false);
}

/* `from_fn(|i| ...)` of arrays: for every index; how many only the type says. */
cg_code array_from_fn(library_call *call)
{
    each walk = {.call = call, .callee = std_arg(call, 0)};
    value range = {.kind = VALUE_RANGE, .is_known = true, .count = 2};
    val ends[2] = {value_int(call->eval->values, expr_const(call->eval->exprs, 0)), 0};
    val result = 0;
    value made;

    if (call->count != 1)
        return CG_OK;
    range.as.items = ends;
    result = ends[0] == 0 ? 0 : value_make(call->eval->values, &range);
    if (result == 0)
        return err_nomem(call->eval->reterr);
    CG_TRY(std_items(call, result, walk.callee, &result));
    CG_TRY(eval_each(call->eval, result, call->place, run_each, &walk, &result));
    made = *std_at(call, result);
    made.is_inclusive = made.kind == VALUE_LIST;
    return std_give(call, value_make(call->eval->values, &made));
}

/* --- what is not known at all --- */

cg_code unknown_iter(library_call *call)
{
    cg_str text;
    val item;
    val entry;

    if (!value_print(call->eval->values, call->receiver, &text) ||
        !arena_format(&call->eval->values->mem, &text, "%.*s[index]",
                      (int)(text.len > 512 ? 512 : text.len), text.ptr))
        return err_nomem(call->eval->reterr);
    item = value_unknown(call->eval->values, 0, text);
    entry = make_repeat(call->eval, item, index_symbol(call), EXPR_NONE);
    return std_give(call, entry == 0 ? 0 : std_list_of(call->eval, 0, &entry, 1));
}
