/* Iterators by need: stages around a list, and how far they are walked. */
#include "model/std_lazy.h"

#include "model/catalogue.h"
#include "model/std_handlers.h"

#define STAGES_MOST 100u /* around one list; more are walked as they are made */

enum stage_kind {
    STAGE_EVEN,   /* gives one item for each */
    STAGE_UNEVEN, /* drops, adds or turns round */
    STAGE_SAME    /* is the iterator it is called on */
};

typedef struct stage_row {
    const char *name;
    uint8_t kind;
    bool is_maker; /* by a closure: made of lists too */
} stage_row;

/* clang-format off */
#define STAGE(name, kind, is_maker) {#name, kind, is_maker},
static const stage_row stages[] = {
    STAGE(map, STAGE_EVEN, true)
    STAGE(inspect, STAGE_EVEN, true)
    STAGE(map_init, STAGE_EVEN, true)
    STAGE(map_with, STAGE_EVEN, true)
    STAGE(enumerate, STAGE_EVEN, false)
    STAGE(zip, STAGE_EVEN, false)
    STAGE(zip_eq, STAGE_EVEN, false)
    STAGE(cloned, STAGE_SAME, false)
    STAGE(copied, STAGE_SAME, false)
    STAGE(clone, STAGE_SAME, false)
    STAGE(by_ref, STAGE_SAME, false)
    STAGE(fuse, STAGE_SAME, false)
    STAGE(peekable, STAGE_SAME, false)
    STAGE(iter, STAGE_SAME, false)
    STAGE(into_iter, STAGE_SAME, false)
    STAGE(par_iter, STAGE_SAME, false)
    STAGE(as_mut, STAGE_SAME, false)
    STAGE(as_ref, STAGE_SAME, false)
    STAGE(with_min_len, STAGE_SAME, false)
    STAGE(into_par_iter, STAGE_SAME, false)
    STAGE(borrow_mut, STAGE_SAME, false)
    STAGE(filter, STAGE_UNEVEN, true)
    STAGE(filter_map, STAGE_UNEVEN, true)
    STAGE(flat_map, STAGE_UNEVEN, true)
    STAGE(map_while, STAGE_UNEVEN, true)
    STAGE(take_while, STAGE_UNEVEN, true)
    STAGE(scan, STAGE_UNEVEN, true)
    STAGE(chain, STAGE_UNEVEN, false)
    STAGE(rev, STAGE_UNEVEN, false)
    STAGE(skip, STAGE_UNEVEN, false)
    STAGE(take, STAGE_UNEVEN, false)
    STAGE(step_by, STAGE_UNEVEN, false)
    STAGE(flatten, STAGE_UNEVEN, false)
    STAGE(cycle, STAGE_UNEVEN, false)
    STAGE(skip_while, STAGE_UNEVEN, false)
};
#undef STAGE
/* clang-format on */

static const stage_row *stage_of(cg_str name)
{
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        if (str_is(name, stages[i].name))
            return &stages[i];
    }
    return NULL;
}

static bool is_named(cg_str name, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (str_is(name, *names))
            return true;
    }
    return false;
}

static bool is_lazy(const eval *self, val which)
{
    return value_at(self->values, which)->kind == VALUE_LAZY;
}

static cg_str name_of(const eval *self, const value *lazy)
{
    return program_text(self->program, lazy->variant);
}

/* The stage around another iterator. */
static cg_code around(eval *self, const value *like, val source, const val *args, size_t count,
                      val *ret)
{
    val *items = arena_take(&self->values->mem, (count + 1) * sizeof *items);
    value it = *like;

    if (items == NULL || source == 0)
        return err_nomem(self->reterr);
    items[0] = source;
    if (count > 0)
        memcpy(items + 1, args, count * sizeof *items);
    it.count = (uint16_t)(count + 1);
    it.as.items = items;
    it.as.lazy.depth = 1;
    for (size_t i = 0; i <= count; i++) {
        const value *inside = value_at(self->values, items[i]);

        if (inside->kind == VALUE_LAZY && inside->as.lazy.depth >= it.as.lazy.depth)
            it.as.lazy.depth = inside->as.lazy.depth + 1;
    }
    *ret = value_make(self->values, &it);
    if (*ret == 0)
        return err_nomem(self->reterr);
    return it.as.lazy.depth > STAGES_MOST ? std_walk(self, *ret, ret) : CG_OK;
}

static cg_code make_stage(eval *self, const char *name, val source, const val *args, size_t count,
                          model_place place, val *ret)
{
    value it = {.kind = VALUE_LAZY};
    model_place *kept = arena_take(&self->values->mem, sizeof *kept);

    it.variant = intern_add(&self->program->names, str_from(name));
    if (it.variant == 0 || kept == NULL)
        return err_nomem(self->reterr);
    *kept = place;
    it.as.lazy.place = kept;
    return around(self, &it, source, args, count, ret);
}

/* --- walking --- */

/* The stage over a list. */
static cg_code run_stage(eval *self, val lazy, val list, val *ret)
{
    const value *at = value_at(self->values, lazy);
    library_call call = {.eval = self,
                         .receiver = list,
                         .args = at->as.items + 1,
                         .count = at->count - 1u,
                         .place = *at->as.lazy.place,
                         .name = name_of(self, at)};

    CG_TRY(std_run(&call, STD_LIST));
    if (!call.is_known)
        CG_TRY(std_give_opaque(&call, VALUE_UNKNOWN, 0));
    return std_items(&call, call.result, 0, ret);
}

cg_code std_perhaps_all(eval *self, cg_code (*run)(void *context, val list, val *ret),
                        void *context, val list, size_t sure, val *ret)
{
    value whole = *value_at(self->values, list);
    uint32_t condition = self->trail->condition;
    val part = 0;
    val parts[2] = {0, 0};
    val *items;
    size_t counts[2];
    cg_code code;

    if (whole.kind != VALUE_LIST || sure >= whole.count)
        return run(context, list, ret);
    part = std_list_of(self, whole.type, whole.as.items, sure);
    if (part == 0)
        return err_nomem(self->reterr);
    if (sure > 0)
        CG_TRY(run(context, part, &parts[0]));
    if (condition == 0)
        self->trail->condition = trail_add_condition(self->trail, CG_LIT(STD_LAZY_CONDITION));
    if (self->trail->condition == 0)
        return err_nomem(self->reterr);
    if (sure > 0) {
        part = std_list_of(self, whole.type, whole.as.items + sure, whole.count - sure);
        code = part == 0 ? err_nomem(self->reterr) : run(context, part, &parts[1]);
    } else {
        code = run(context, list, &parts[1]);
    }
    self->trail->condition = condition;
    CG_TRY(code);
    if (sure == 0 || value_at(self->values, parts[0])->kind != VALUE_LIST ||
        value_at(self->values, parts[1])->kind != VALUE_LIST) {
        *ret = parts[1];
        return CG_OK;
    }
    for (size_t i = 0; i < 2; i++)
        counts[i] = value_at(self->values, parts[i])->count;
    items = arena_take(&self->values->mem, (counts[0] + counts[1] + 1) * sizeof *items);
    if (items == NULL)
        return err_nomem(self->reterr);
    for (size_t i = 0, at = 0; i < 2; at += counts[i++]) {
        if (counts[i] > 0)
            memcpy(items + at, value_at(self->values, parts[i])->as.items,
                   counts[i] * sizeof *items);
    }
    *ret = std_list_of(self, 0, items, counts[0] + counts[1]);
    return *ret == 0 ? err_nomem(self->reterr) : CG_OK;
}

size_t std_sure_items(const eval *self, val list)
{
    const value *at = value_at(self->values, list);

    return at->kind == VALUE_LIST && at->count > 0 &&
                   value_at(self->values, at->as.items[0])->kind != VALUE_REPEAT
               ? 1
               : 0;
}

typedef struct one_stage {
    eval *eval;
    val lazy;
} one_stage;

static cg_code stage_over(void *context, val list, val *ret)
{
    one_stage *self = context;

    return run_stage(self->eval, self->lazy, list, ret);
}

/*
 * All stages, the innermost first. Those inside of one that stops early, or all when it is not
 * known that all items are asked for (`is_open`), are sure of the first item only.
 */
static cg_code walk(eval *self, val lazy, bool is_open, val *ret)
{
    static const char *const stops[] = {"take", "take_while", "map_while", NULL};
    val chain[STAGES_MOST + 2];
    size_t stop = is_open ? 0 : SIZE_MAX; /* stages from here inwards are walked as far as needed */
    size_t turn = SIZE_MAX;               /* stages from here inwards begin at the other end */
    size_t count = 0;
    bool is_even = true;
    val list = lazy;

    for (; is_lazy(self, list) && count < STAGES_MOST + 2;
         list = value_at(self->values, list)->as.items[0]) {
        cg_str name = name_of(self, value_at(self->values, list));

        chain[count++] = list;
        if (stop == SIZE_MAX && is_named(name, stops))
            stop = count;
        if (turn == SIZE_MAX && str_equal(name, CG_LIT("rev")))
            turn = count;
    }
    for (size_t i = count; i > 0; i--) {
        const stage_row *row = stage_of(name_of(self, value_at(self->values, chain[i - 1])));
        one_stage stage = {self, chain[i - 1]};

        if (row != NULL && row->is_maker && i > stop) {
            size_t sure = i > turn || !is_even ? 0 : SIZE_MAX;

            CG_TRY(eval_items(self, list, &list));
            if (sure != 0)
                sure = std_sure_items(self, list);
            CG_TRY(std_perhaps_all(self, stage_over, &stage, list, sure, &list));
        } else {
            CG_TRY(run_stage(self, chain[i - 1], list, &list));
        }
        is_even = is_even && row != NULL && row->kind == STAGE_EVEN;
    }
    *ret = list;
    return CG_OK;
}

cg_code std_walk(eval *self, val lazy, val *ret)
{
    return walk(self, lazy, false, ret);
}

/* --- the first items, and the others --- */

static bool plain_count(const eval *self, val list, uint64_t *ret)
{
    const value *at = value_at(self->values, list);

    if (at->kind != VALUE_LIST)
        return false;
    for (size_t i = 0; i < at->count; i++) {
        if (value_at(self->values, at->as.items[i])->kind == VALUE_REPEAT)
            return false;
    }
    *ret = at->count;
    return true;
}

static bool constant_of(const eval *self, val number, uint64_t *ret)
{
    int64_t known = 0;

    if (!expr_constant(self->exprs, value_number(self->values, number), &known) || known < 0)
        return false;
    *ret = (uint64_t)known;
    return true;
}

static val number_of(eval *self, uint64_t number)
{
    return value_int(self->values, expr_const(self->exprs, (int64_t)number));
}

/* `take` or `skip` of what is no chain of stages, or of one that it cannot go into. */
static cg_code cut(library_call *call, const char *name, val source, val number, val *ret)
{
    if (is_lazy(call->eval, source))
        return make_stage(call->eval, name, source, &number, 1, call->place, ret);
    return std_run_on(call, source, name, &number, 1, ret);
}

static cg_code cut_inside(library_call *call, const char *name, val lazy, val number, val *ret);

static cg_code cut_arg(library_call *call, const char *name, val source, val number, val *ret)
{
    return is_lazy(call->eval, source) ? cut_inside(call, name, source, number, ret)
                                       : cut(call, name, source, number, ret);
}

/*
 * `take(number)`, or what is left behind as many (`name` is "skip"), as far inside as it may stand.
 */
static cg_code cut_inside(library_call *call, const char *name, val lazy, val number, val *ret)
{
    eval *self = call->eval;
    bool is_skip = name[0] == 's';
    val chain[STAGES_MOST + 2];
    size_t count = 0;
    val made = lazy;
    uint64_t most = 0;
    uint64_t before = 0;

    while (is_lazy(self, made) && count < STAGES_MOST + 2) {
        const value *at = value_at(self->values, made);
        const stage_row *row = stage_of(name_of(self, at));
        bool is_skipping = str_equal(name_of(self, at), CG_LIT("skip"));

        if (row == NULL || (row->kind != STAGE_EVEN && !is_skipping))
            break;
        if (is_skipping) {
            if (at->count != 2 || !constant_of(self, at->as.items[1], &before) ||
                !constant_of(self, number, &most))
                break;
            number = number_of(self, before + most);
            if (number == 0)
                return err_nomem(self->reterr);
        }
        if (!is_skipping || !is_skip)
            chain[count++] = made;
        made = at->as.items[0];
    }
    /* Of a known list and what comes behind it: the one, or the other. */
    if (is_lazy(self, made) &&
        str_equal(name_of(self, value_at(self->values, made)), CG_LIT("chain")) &&
        plain_count(self, value_at(self->values, made)->as.items[0], &before) &&
        constant_of(self, number, &most)) {
        const value *at = value_at(self->values, made);
        val parts[2] = {at->as.items[0], at->as.items[1]};

        if (most > before || (is_skip && most == before)) {
            val rest = number_of(self, most - before);

            CG_TRY(rest == 0 ? err_nomem(self->reterr)
                             : cut_arg(call, name, parts[1], rest, &parts[1]));
            if (is_skip)
                made = parts[1];
            else
                CG_TRY(make_stage(self, "chain", parts[0], &parts[1], 1, call->place, &made));
        } else {
            CG_TRY(cut(call, name, parts[0], number, &parts[0]));
            if (is_skip)
                CG_TRY(make_stage(self, "chain", parts[0], &parts[1], 1, call->place, &made));
            else
                made = parts[0];
        }
    } else {
        CG_TRY(cut(call, name, made, number, &made));
    }
    for (size_t i = count; i > 0; i--) {
        value at = *value_at(self->values, chain[i - 1]);
        cg_str stage = name_of(self, &at);
        val arg = at.count > 1 ? at.as.items[1] : 0;
        size_t args = at.count - 1u;
        const val *from = at.as.items + 1;

        if (str_starts_with(stage, CG_LIT("zip")) && arg != 0) {
            CG_TRY(cut_arg(call, name, arg, number, &arg));
            from = &arg;
        } else if (is_skip && str_equal(stage, CG_LIT("enumerate"))) {
            expr offset = expr_const(self->exprs, 0);

            if (arg != 0)
                offset = value_number(self->values, arg);
            arg = value_int(self->values, expr_binary(self->exprs, EXPR_ADD, offset,
                                                      value_number(self->values, number)));
            if (arg == 0)
                return err_nomem(self->reterr);
            from = &arg;
            args = 1;
        }
        CG_TRY(around(self, &at, made, from, args, &made));
    }
    *ret = made;
    return CG_OK;
}

/* next, nth(k), peek: what comes before it is made as well, what comes behind it is not. */
static cg_code give_next(library_call *call)
{
    eval *self = call->eval;
    bool is_peek = str_starts_with(call->name, CG_LIT("peek"));
    uint64_t which = 0;
    uint64_t count = 0;
    val head = 0;
    val rest = 0;
    val number;

    if (call->count > 0 && !constant_of(self, call->args[0], &which))
        return walk(self, call->receiver, true, &call->receiver);
    number = number_of(self, which + 1);
    if (number == 0)
        return err_nomem(self->reterr);
    CG_TRY(cut_inside(call, "take", call->receiver, number, &head));
    CG_TRY(eval_items(self, head, &head));
    if (!plain_count(self, head, &count)) {
        /* One of a repetition: which, nobody knows. */
        call->receiver = head;
        return CG_OK;
    }
    CG_TRY(cut_inside(call, "skip", call->receiver, number, &rest));
    if (is_peek && count > 0)
        CG_TRY(make_stage(self, "chain", head, &rest, 1, call->place, &rest));
    call->updated = rest;
    if (which >= count)
        return std_give(call, std_plain(self, VALUE_NOTHING));
    return std_give(call, std_some(self, value_at(self->values, head)->as.items[which]));
}

/* --- methods --- */

/* Lists that are there: `map` of an array, or of a Result that is a Vec, runs at once. */
static bool is_finished(const library_call *call)
{
    const value *at = std_at(call, call->receiver);
    enum type_kind kind;

    if (at->kind == VALUE_RANGE || at->kind == VALUE_MAP)
        return false;
    if (at->kind != VALUE_LIST || at->is_inclusive)
        return true;
    if (at->type == 0)
        return false;
    kind = (enum type_kind)type_at(call->eval->types, at->type)->kind;
    return std_is_collection(call->eval, call->receiver) || kind == TYPE_ARRAY;
}

static bool has_callable(const library_call *call)
{
    for (size_t i = 0; i < call->count; i++) {
        enum value_kind kind = std_kind(call, call->args[i]);

        if (kind == VALUE_CLOSURE || kind == VALUE_FUNCTION)
            return true;
    }
    return false;
}

/*
 * `a.zip(b)` asks both until one has no more. That `a` may be asked once more than `b` has items
 * is left to the standard library.
 */
static cg_code zip_needed(library_call *call, val sides[2])
{
    uint64_t count = 0;
    val number;

    for (size_t i = 0; i < 2; i++) {
        val other = sides[1 - i];

        if (!is_lazy(call->eval, sides[i]) || is_lazy(call->eval, other))
            continue;
        if (std_kind(call, other) == VALUE_RANGE)
            CG_TRY(eval_items(call->eval, other, &other));
        if (!plain_count(call->eval, other, &count))
            continue;
        number = number_of(call->eval, count);
        if (number == 0)
            return err_nomem(call->eval->reterr);
        CG_TRY(cut_inside(call, "take", sides[i], number, &sides[i]));
    }
    return CG_OK;
}

cg_code std_lazy(library_call *call)
{
    static const char *const single[] = {"next", "nth", "peek", "peek_mut", NULL};
    static const char *const open[] = {"any", "all", "find", "find_map", "position", NULL};
    const stage_row *row = stage_of(call->name);
    bool is_zip = str_starts_with(call->name, CG_LIT("zip")) && call->count == 1;
    val sides[2] = {call->receiver, std_arg(call, 0)};
    val made = 0;

    if (call->count == 1 && (is_zip || str_equal(call->name, CG_LIT("chain"))) &&
        (is_lazy(call->eval, sides[0]) || is_lazy(call->eval, sides[1]))) {
        if (is_zip)
            CG_TRY(zip_needed(call, sides));
        CG_TRY(make_stage(call->eval, row->name, sides[0], &sides[1], 1, call->place, &made));
        return std_give(call, made);
    }
    if (!is_lazy(call->eval, call->receiver)) {
        if (row == NULL || !row->is_maker || !has_callable(call) || is_finished(call))
            return CG_OK;
        CG_TRY(make_stage(call->eval, row->name, call->receiver, call->args, call->count,
                          call->place, &made));
        return std_give(call, made);
    }
    if (row != NULL && row->kind == STAGE_SAME)
        return std_give(call, call->receiver);
    if (row != NULL && str_equal(call->name, CG_LIT("take")) && call->count == 1) {
        CG_TRY(cut_inside(call, "take", call->receiver, call->args[0], &made));
        return std_give(call, made);
    }
    if (row != NULL) {
        CG_TRY(make_stage(call->eval, row->name, call->receiver, call->args, call->count,
                          call->place, &made));
        return std_give(call, made);
    }
    if (is_named(call->name, single))
        return give_next(call);
    /* How many there are is known without making them. */
    for (val at = call->receiver; str_equal(call->name, CG_LIT("len"));) {
        const value *stage = std_at(call, at);

        if (stage->kind != VALUE_LAZY) {
            call->receiver = at;
            return CG_OK;
        }
        row = stage_of(name_of(call->eval, stage));
        if (row == NULL || row->kind != STAGE_EVEN ||
            str_starts_with(str_from(row->name), CG_LIT("zip")))
            break;
        at = stage->as.items[0];
    }
    return walk(call->eval, call->receiver, is_named(call->name, open), &call->receiver);
}
