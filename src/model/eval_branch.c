/* match, and loops: rounds over what is known, else one repetition that stands for all of them. */
#include "model/catalogue.h"
#include "model/eval_state.h"
#include "model/expr_values.h"
#include "model/flow_build.h"
#include "model/index_text.h"

#define LOOP_PASSES 5u

/* --- match --- */

typedef struct match_arm {
    ast_ref value;
    cell *bound;
    bool is_good;  /* of a Result that is none */
    bool is_error; /* of a Result that is one */
} match_arm;

/* Where one arm takes what went well, an arm that does not say so takes what did not. */
static void mark_errors(match_arm *arms, size_t count)
{
    bool has_good = false;

    for (size_t i = 0; i < count; i++)
        has_good = has_good || arms[i].is_good;
    for (size_t i = 0; i < count; i++)
        arms[i].is_error = arms[i].is_error || (has_good && !arms[i].is_good);
}

/* The way that went well comes first: what was asked for on the way to it is part of it. */
static bool order_arms(match_arm *arms, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        match_arm good = arms[i];

        if (good.is_error)
            continue;
        memmove(arms + 1, arms, i * sizeof *arms);
        arms[0] = good;
        break;
    }
    for (size_t i = 1; i < count; i++) {
        if (arms[i].is_error)
            return !arms[0].is_error;
    }
    return false;
}

typedef struct match_ways {
    eval *eval;
    match_arm *arms;
    type_ref expected;
} match_ways;

static cg_code arm_way(void *context, size_t way, val *ret)
{
    match_ways *self = context;
    frame *scope = self->eval->state->frame;
    cell *top = scope->top;
    cg_code code;

    scope->top = self->arms[way].bound;
    self->eval->state->expected = self->expected;
    code = evaluate(self->eval, self->arms[way].value, ret);
    scope->top = top;
    return code;
}

cg_code evaluate_match(eval *self, ast_ref node, val *ret)
{
    frame *scope = self->state->frame;
    ast_ref scrutinee = ast_child(eval_tree(self), node, ROLE_VALUE);
    ast_ref body = ast_child(eval_tree(self), node, ROLE_BODY);
    match_ways ways = {.eval = self, .expected = self->state->expected};
    cell *top = scope->top;
    trail_mark before = trail_position(self->trail);
    size_t count = 0, room = 0;
    val which = 0;

    self->state->expected = 0;
    CG_TRY(evaluate(self, scrutinee, &which));
    if (eval_is_never(self, which)) {
        *ret = which;
        return CG_OK;
    }
    for (ast_ref i = body ? eval_node(self, body)->first : 0; i; i = eval_node(self, i)->next)
        room++;
    ways.arms = arena_take(&self->state->mem, (room + 1) * sizeof *ways.arms);
    if (!ways.arms)
        return err_nomem(self->reterr);
    for (ast_ref i = body ? eval_node(self, body)->first : 0; i; i = eval_node(self, i)->next) {
        ast_ref pattern, guard, with;
        enum verdict verdict = MATCH_MAYBE;

        if (eval_node(self, i)->kind != AST_MATCH_ARM)
            continue;
        if (ast_child_kind(eval_tree(self), i, AST_ATTRIBUTE_ITEM) &&
            program_cfg(self->program, scope->file, i) < 0)
            continue;
        pattern = ast_child(eval_tree(self), i, ROLE_PATTERN);
        with = ast_child(eval_tree(self), i, ROLE_VALUE);
        guard = pattern ? ast_child(eval_tree(self), pattern, ROLE_CONDITION) : 0;
        scope->top = top;
        if (pattern)
            CG_TRY(eval_match(self, pattern, which, &verdict));
        if (verdict != MATCH_NO && guard) {
            bool is_never = false;
            int truth = -1;

            CG_TRY(evaluate_condition(self, guard, &truth, &is_never));
            if (truth == 0 && !is_never)
                verdict = MATCH_NO;
            else if (truth < 0 || is_never)
                verdict = MATCH_MAYBE;
        }
        if (verdict == MATCH_NO)
            continue;
        ways.arms[count++] = (match_arm){with, scope->top, pattern_has_word(self, pattern, WORD_OK),
                                         pattern_has_word(self, pattern, WORD_ERR)};
        if (verdict == MATCH_YES)
            break;
    }
    scope->top = top;
    if (!count)
        return eval_give(self, value_unknown(self->values, 0, eval_source(self, "", node)), ret);
    mark_errors(ways.arms, count);
    return eval_ways_from(self, order_arms(ways.arms, count) ? &before : NULL, count,
                          eval_source(self, "match ", scrutinee), arm_way, &ways, ret);
}

/* --- one repetition --- */

typedef cg_code (*round_body)(void *context, val item, val *ret);

typedef struct carried {
    cell *cell;
    val before;
    val first; /* after the first look */
    val after;
    val inside;       /* what it holds at the beginning of any round */
    bool is_replaced; /* each round leaves a number that does not depend on the one before it */
    int64_t factor;   /* each round multiplies it by this; negative: divides; 0: neither */
    bool is_failed;   /* its numbers do not change by the same step every time */
} carried;

typedef struct repetition {
    eval *eval;
    round_body body;
    void *context;
    val item; /* 0: rounds have none */
    sym symbol;
    expr count;       /* 0 unknown */
    bool is_downward; /* the symbol goes from count - 1 to 0 */
    sym chosen_by;    /* the method that may leave rounds out; 0: none */
    cg_str text;      /* `i in 0..n` */
    loop_scope *loop;
    VEC(carried) cells;
    bool is_counter_named; /* the symbol takes the name of a variable that counts */
    sym limit_name;        /* `while name < limit` */
    expr limit;
    bool is_failed; /* of the variable that is being widened */
    int64_t factor;
    uint32_t repeat;
} repetition;

static expr symbol_of(repetition *self)
{
    return expr_symbol(self->eval->exprs, program_text(self->eval->program, self->symbol));
}

/* How many rounds came before. */
static expr rounds_before(repetition *self)
{
    expr_pool *pool = self->eval->exprs;

    if (!self->is_downward)
        return symbol_of(self);
    return expr_binary(pool, EXPR_SUB,
                       expr_binary(pool, EXPR_SUB, self->count, expr_const(pool, 1)),
                       symbol_of(self));
}

static bool is_active(const eval *self, sym symbol)
{
    for (uint32_t i = self->trail->repeat; i; i = self->trail->repeats.at[i].around) {
        if (self->trail->repeats.at[i].symbol == symbol)
            return true;
    }
    return false;
}

/* A name for the index that no enclosing repetition has. */
static sym free_symbol(eval *self, sym wanted)
{
    cg_str text = program_text(self->program, wanted);
    char name[72];

    if (!is_active(self, wanted))
        return wanted;
    if (text.len > 60)
        text.len = 60;
    memcpy(name, text.ptr, text.len);
    for (unsigned i = 2; i < 100; i++) {
        size_t len = text.len;
        sym made;

        if (i >= 10)
            name[len++] = (char)('0' + i / 10);
        name[len++] = (char)('0' + i % 10);
        made = intern_add(&self->program->names, (cg_str){name, len});
        if (!made || !is_active(self, made))
            return made;
    }
    return wanted;
}

/* --- variables that change from round to round --- */

static bool is_grown(const eval *self, val before, val after)
{
    const value *x = value_at(self->values, before), *y = value_at(self->values, after);

    if (x->kind != y->kind || (x->kind != VALUE_LIST && x->kind != VALUE_MAP) ||
        y->count < x->count)
        return false;
    for (size_t i = 0; i < x->count; i++) {
        if (x->as.items[i] != y->as.items[i] &&
            !value_equal(self->values, x->as.items[i], y->as.items[i]))
            return false;
    }
    return true;
}

/* `before` with what `after` has more than `seen` as repetitions, `count` times. */
static val repeat_growth(repetition *self, val before, val seen, val after, expr count)
{
    values *all = self->eval->values;
    value made = *value_at(all, after);
    size_t old = value_at(all, before)->count, skipped = value_at(all, seen)->count;
    val *items = arena_take(&all->mem, (made.count + old + 1u) * sizeof *items);
    size_t total = old;

    if (!items)
        return 0;
    if (old)
        memcpy(items, value_at(all, before)->as.items, old * sizeof *items);
    for (size_t i = skipped; i < made.count; i++) {
        value repeat = {.kind = VALUE_REPEAT};

        items[total] = made.as.items[i];
        if (made.kind == VALUE_LIST) {
            const value *inner = value_at(all, items[total]);
            expr often = count;

            /* A loop around a loop: as often as both say. */
            if (inner->kind == VALUE_REPEAT) {
                often = expr_binary(self->eval->exprs, EXPR_MUL, count, inner->as.repeat.count);
                items[total] = inner->as.repeat.items[0];
            }
            repeat.as.repeat.items = &items[total];
            repeat.is_inclusive = self->is_downward;
            repeat.as.repeat.symbol = self->symbol;
            repeat.as.repeat.count = often;
            items[total] = value_make(all, &repeat);
        }
        if (!items[total++])
            return 0;
    }
    made.count = (uint16_t)total;
    made.as.items = items;
    return value_make(all, &made);
}

/* The step from round to round, 0 when it is none. */
static expr step_of(repetition *self, val before, val after)
{
    eval *owner = self->eval;
    expr a = value_number(owner->values, before), b = value_number(owner->values, after);
    expr step = a && b ? expr_binary(owner->exprs, EXPR_SUB, b, a) : EXPR_NONE;
    expr_binding binding = {symbol_of(self), expr_const(owner->exprs, 7919)};

    if (!step || expr_substitute(owner->exprs, step, &binding, 1) != step)
        return EXPR_NONE;
    return step;
}

/* The number after so many rounds that multiply it by `factor`, or divide it by -factor. */
static expr scaled(eval *self, expr number, int64_t factor, expr times)
{
    expr_pool *pool = self->exprs;
    expr by = expr_const(pool, factor < 0 ? -factor : factor);

    if (!number || !times)
        return EXPR_NONE;
    return expr_binary(pool, factor < 0 ? EXPR_DIV : EXPR_MUL, number,
                       expr_binary(pool, EXPR_POW, by, times));
}

#define FACTOR_MOST 64

/* `c *= 2`, `c /= 2`, `c <<= 1`: what one round made of a number; 0: something else. */
static int64_t factor_of(eval *self, expr before, expr after)
{
    for (int64_t i = 2; before && after && i <= FACTOR_MOST; i++) {
        expr by = expr_const(self->exprs, i);

        if (expr_binary(self->exprs, EXPR_MUL, before, by) == after)
            return i;
        if (expr_binary(self->exprs, EXPR_DIV, before, by) == after)
            return -i;
    }
    return 0;
}

/* Is it a number, or one of several? *ret_items and their count; false: something else. */
static bool numbers_of(const values *all, const val *which, const val **ret_items,
                       size_t *ret_count)
{
    const value *at = value_at(all, *which);

    *ret_items = at->kind == VALUE_CHOICE ? at->as.items : which;
    *ret_count = at->kind == VALUE_CHOICE ? at->count : 1;
    for (size_t i = 0; i < *ret_count; i++) {
        if (value_kind_of(all, (*ret_items)[i]) != VALUE_INT)
            return false;
    }
    return true;
}

/*
 * What a variable holds at the beginning of some round, from what it held before the loop and
 * after the first look (`inside` 0); or behind the loop, from what it held inside and after.
 */
static val widened(repetition *self, val before, val inside, val after, bool is_after,
                   unsigned depth)
{
    eval *owner = self->eval;
    values *all = owner->values;
    const value *x = value_at(all, before), *y = value_at(all, after), *z = value_at(all, inside);
    expr times = is_after ? self->count : rounds_before(self);
    const val *numbers;
    size_t count;

    if (value_equal(all, before, after))
        return before;
    if (depth > 12)
        return value_join(all, before, after);
    if (x->kind == VALUE_INT && y->kind == VALUE_INT) {
        val from = inside && z->kind == VALUE_INT && z->as.number ? inside : before;
        expr step = step_of(self, from, after);
        expr whole = step && times ? expr_binary(owner->exprs, EXPR_ADD, value_number(all, before),
                                                 expr_binary(owner->exprs, EXPR_MUL, step, times))
                                   : EXPR_NONE;

        if (self->factor && depth == 0)
            return value_int(all, scaled(owner, value_number(all, before), self->factor, times));
        if (self->is_failed && is_after)
            return value_join(all, before, after);
        return value_int(all, self->is_failed ? EXPR_NONE : whole);
    }
    /* One of several numbers, and other ones in the round after: nobody knows which. */
    if (self->is_failed && !is_after && numbers_of(all, &before, &numbers, &count) &&
        numbers_of(all, &after, &numbers, &count))
        return value_int(all, EXPR_NONE);
    if (is_grown(owner, before, after)) {
        bool is_later = inside && is_grown(owner, inside, after);

        return repeat_growth(self, before, is_later ? inside : before, after, times);
    }
    if (x->kind == VALUE_STRUCT && y->kind == VALUE_STRUCT && x->type == y->type &&
        x->count == y->count) {
        bool has_inside = inside && z->kind == VALUE_STRUCT && z->count == y->count;
        value made = *y;
        value_field *fields = arena_take(&all->mem, (made.count + 1u) * sizeof *fields);

        if (!fields)
            return 0;
        memcpy(fields, y->as.fields, made.count * sizeof *fields);
        for (size_t i = 0; i < made.count; i++) {
            if (x->as.fields[i].name != fields[i].name)
                return value_join(all, before, after);
            fields[i].value =
                widened(self, x->as.fields[i].value, has_inside ? z->as.fields[i].value : 0,
                        fields[i].value, is_after, depth + 1);
            if (!fields[i].value)
                return 0;
        }
        made.as.fields = fields;
        return value_make(all, &made);
    }
    return value_join(all, before, after);
}

static carried *carried_find(repetition *self, const cell *which)
{
    for (size_t i = 0; i < self->cells.count; i++) {
        if (self->cells.at[i].cell == which)
            return &self->cells.at[i];
    }
    return NULL;
}

/* Note what a pass made of older variables, and undo it. */
static cg_code take_carried(repetition *self, size_t mark, uint32_t oldest)
{
    eval *owner = self->eval;
    eval_state *state = owner->state;

    for (size_t i = 0; i < self->cells.count; i++)
        self->cells.at[i].after = self->cells.at[i].cell->value;
    for (size_t i = mark; i < state->journal.count; i++) {
        cell *changed = state->journal.at[i].cell;
        carried *to;

        if (changed->serial > oldest || carried_find(self, changed))
            continue;
        to = vec_add(owner->program->heap, &self->cells);
        if (!to)
            return err_nomem(owner->reterr);
        *to = (carried){.cell = changed,
                        .before = state->journal.at[i].old,
                        .first = changed->value,
                        .after = changed->value};
    }
    /* What began inside nobody sees afterwards, but closures that were made there: it stays. */
    while (state->journal.count > mark) {
        journal_entry entry = state->journal.at[--state->journal.count];

        if (entry.cell->serial <= oldest)
            entry.cell->value = entry.old;
    }
    return CG_OK;
}

/* Must the body be seen again, with what later rounds begin with? */
static bool is_open(repetition *self, uint32_t clock)
{
    for (size_t i = 0; i < self->cells.count; i++) {
        carried *at = &self->cells.at[i];

        if (value_equal(self->eval->values, at->before, at->after))
            continue;
        if (!is_grown(self->eval, at->before, at->after) || at->cell->read > clock)
            return true;
    }
    return false;
}

/* Do the numbers of the next round follow from those of this one? */
static bool follows(const eval *self, val next, val after, unsigned depth)
{
    const value *x = value_at(self->values, next), *y = value_at(self->values, after);

    const val *known, *found;
    size_t known_count, found_count;

    if (x->kind == VALUE_INT && y->kind == VALUE_INT)
        return !x->as.number || x->as.number == y->as.number;
    /* Where keys are asked for; elsewhere one of several numbers is as good as another. */
    if (self->state->is_building && numbers_of(self->values, &next, &known, &known_count) &&
        numbers_of(self->values, &after, &found, &found_count)) {
        for (size_t i = 0; i < found_count; i++) {
            bool is_known = false;

            for (size_t k = 0; k < known_count && !is_known; k++) {
                expr number = value_number(self->values, known[k]);

                is_known = !number || number == value_number(self->values, found[i]);
            }
            if (!is_known)
                return false;
        }
        return true;
    }
    if (x->kind != VALUE_STRUCT || y->kind != VALUE_STRUCT || x->count != y->count || depth > 12)
        return true;
    for (size_t i = 0; i < x->count; i++) {
        if (!follows(self, x->as.fields[i].value, y->as.fields[i].value, depth + 1))
            return false;
    }
    return true;
}

/* What a round finds that the one before it left: what was there before the loop in the first. */
static val left_behind(repetition *self, const carried *at)
{
    eval *owner = self->eval;
    expr symbol = symbol_of(self);
    expr before = expr_binary(owner->exprs, EXPR_SUB, symbol, expr_const(owner->exprs, 1));
    val rest = value_substitute(owner->values, at->first, symbol, before);

    return rest ? value_int(owner->values,
                            index_choice_make(owner->exprs, expr_text(owner->exprs, symbol),
                                              value_number(owner->values, at->before),
                                              value_number(owner->values, rest)))
                : 0;
}

/* Are they two numbers, of which the later may have replaced the earlier one? */
static bool may_replace(const repetition *self, const carried *at)
{
    const values *all = self->eval->values;

    return !self->is_downward && value_kind_of(all, at->before) == VALUE_INT &&
           value_kind_of(all, at->first) == VALUE_INT && value_number(all, at->before) &&
           value_number(all, at->first);
}

/* Did the second look confirm what was expected of every variable? */
static bool is_settled(repetition *self)
{
    eval *owner = self->eval;
    expr symbol = symbol_of(self);
    expr next = expr_binary(owner->exprs, EXPR_ADD, symbol,
                            expr_const(owner->exprs, self->is_downward ? -1 : 1));
    bool is_good = true;

    for (size_t i = 0; i < self->cells.count; i++) {
        carried *at = &self->cells.at[i];
        val expected = at->inside ? value_substitute(owner->values, at->inside, symbol, next) : 0;

        if (!expected || at->is_failed)
            continue;
        if (at->is_replaced) {
            at->is_failed =
                value_number(owner->values, at->after) != value_number(owner->values, at->first);
            is_good = is_good && !at->is_failed;
        } else if (at->factor) {
            if (scaled(owner, value_number(owner->values, at->inside), at->factor,
                       expr_const(owner->exprs, 1)) == value_number(owner->values, at->after))
                continue;
            at->factor = 0;
            at->is_replaced = may_replace(self, at);
            at->is_failed = !at->is_replaced;
            is_good = false;
        } else if (!follows(owner, expected, at->after, 0)) {
            at->factor = value_kind_of(owner->values, at->first) == VALUE_INT &&
                                 value_kind_of(owner->values, at->before) == VALUE_INT
                             ? factor_of(owner, value_number(owner->values, at->before),
                                         value_number(owner->values, at->first))
                             : 0;
            is_good = false;
            if (at->factor)
                continue;
            at->is_replaced = may_replace(self, at);
            at->is_failed = !at->is_replaced;
            is_good = false;
        }
    }
    return is_good;
}

static void name_by_counter(repetition *self)
{
    for (size_t i = 0; i < self->cells.count && self->is_counter_named; i++) {
        carried *at = &self->cells.at[i];
        int64_t step;

        if (expr_constant(self->eval->exprs, step_of(self, at->before, at->after), &step) &&
            step > 0) {
            self->symbol = free_symbol(self->eval, at->cell->name);
            self->is_counter_named = false;
            if (at->cell->name == self->limit_name && step == 1)
                self->count = expr_binary(self->eval->exprs, EXPR_SUB, self->limit,
                                          value_number(self->eval->values, at->before));
        }
    }
}

/*
 * What the last round left that replaces what was there: item n - 1 of a list. Only of what names
 * an item: of no rounds at all it is a size that nobody knows, not another number. 0: no memory.
 */
static val left_last(repetition *self, const carried *at)
{
    eval *owner = self->eval;
    expr symbol = symbol_of(self);
    expr last = expr_binary(owner->exprs, EXPR_SUB, self->count, expr_const(owner->exprs, 1));
    expr_list symbols = {0};
    bool is_named = false;
    val made;

    if (expr_symbols(owner->exprs, value_number(owner->values, at->first), &symbols)) {
        is_named = last != EXPR_NONE;
        for (size_t i = 0; i < symbols.count; i++)
            is_named = is_named && symbols.at[i] != symbol;
    }
    vec_free(owner->exprs->heap, &symbols);
    made = is_named ? value_substitute(owner->values, at->first, symbol, last) : 0;
    if (made == at->first || !made)
        made = value_join(owner->values, at->before, at->after);
    return made;
}

/* What a round asks for that may be left out is not certain. */
static cg_code run_round(repetition *self, val *ret)
{
    eval *owner = self->eval;
    trail *track = owner->trail;
    uint32_t before = track->condition;
    uint32_t chosen = 0;
    cg_str text;
    cg_code code;

    if (self->chosen_by != 0 && before == 0) {
        if (!value_name(owner->values, CG_LIT("if `"), "",
                        program_text(owner->program, self->chosen_by), &text) ||
            !value_name(owner->values, text, "` keeps it", CG_LIT(""), &text))
            return err_nomem(owner->reterr);
        track->condition = chosen = trail_add_condition(track, text);
        if (chosen == 0)
            return err_nomem(owner->reterr);
    }
    code = self->body(self->context, self->item, ret);
    if (chosen != 0 && track->condition == chosen)
        track->condition = before;
    return code;
}

/*
 * The body once, for all rounds. *ret: its last value, VALUE_NEVER when no way comes back to the
 * loop.
 */
static cg_code repeat(repetition *self, val *ret)
{
    eval *owner = self->eval;
    eval_state *state = owner->state;
    trail *track = owner->trail;
    size_t mark = state->journal.count, pendings = state->pendings.count;
    uint32_t clock = state->clock, oldest = state->cells, around = track->repeat,
             had_condition = track->condition;
    trail_mark position = trail_position(track);
    flow_mark flow_place = owner->flow ? flow_position(owner->flow) : (flow_mark){0};
    cell *top = state->frame ? state->frame->top : NULL;
    cg_code code = CG_OK;
    bool is_done = false;

    state->watching++;
    for (unsigned pass = 0; pass < LOOP_PASSES && !is_done; pass++) {
        trail_repeat entry = {.symbol = self->symbol, .count = self->count, .text = self->text};

        for (size_t i = 0; i < self->cells.count && code == CG_OK; i++) {
            carried *at = &self->cells.at[i];

            self->is_failed = at->is_failed;
            self->factor = at->is_failed ? 0 : at->factor;
            if (owner->flow)
                owner->flow->is_widening = true;
            at->inside = at->is_replaced && !at->is_failed
                             ? left_behind(self, at)
                             : widened(self, at->before, 0, at->first, false, 0);
            if (owner->flow)
                owner->flow->is_widening = false;
            code = at->inside ? cell_assign(owner, at->cell, at->inside) : err_nomem(owner->reterr);
        }
        self->repeat = code == CG_OK ? trail_add_repeat(track, &entry) : 0;
        if (!self->repeat) {
            code = code == CG_OK ? err_nomem(owner->reterr) : code;
            break;
        }
        track->repeat = self->repeat;
        code = run_round(self, ret);
        track->repeat = around;
        if (state->frame)
            state->frame->top = top;
        if (code == CG_OK)
            code = take_carried(self, mark, oldest);
        if (code != CG_OK)
            break;
        if (pass == 0) {
            is_done = !is_open(self, clock);
            name_by_counter(self);
        } else {
            is_done = is_settled(self);
        }
        if (!is_done && pass + 1 < LOOP_PASSES) {
            trail_forget(track, position);
            if (owner->flow)
                flow_forget(owner->flow, flow_place);
            if (owner->values->joined.has_tensor)
                owner->values->joined = (joined_list){0};
            state->pendings.count = pendings;
            track->condition = had_condition;
            if (self->loop)
                self->loop->is_left = false;
        }
    }
    state->watching--;
    for (size_t i = 0; i < self->cells.count && code == CG_OK; i++) {
        carried *at = &self->cells.at[i];
        self->is_failed = at->is_failed || at->is_replaced;
        self->factor = self->is_failed ? 0 : at->factor;
        if (owner->flow && at->inside)
            flow_carry(owner->flow, at->inside, at->after);
        val made = at->is_replaced && !at->is_failed
                       ? left_last(self, at)
                       : widened(self, at->before, at->inside, at->after, true, 0);

        code = made ? cell_assign(owner, at->cell, made) : err_nomem(owner->reterr);
    }
    return code;
}

/* Is the index a part of the number, and not just of the name of what it picks? */
static bool counts_by(const eval *self, val item, sym symbol)
{
    expr index = expr_symbol(self->exprs, program_text(self->program, symbol));
    expr_list symbols = {0};
    bool is_there = false;

    if (expr_symbols(self->exprs, value_number(self->values, item), &symbols)) {
        for (size_t i = 0; i < symbols.count; i++)
            is_there = is_there || symbols.at[i] == index;
    }
    vec_free(self->exprs->heap, &symbols);
    return is_there;
}

/*
 * Rounds that come from the last item to the first: where the source does not see the index, they
 * are counted as they come.
 */
static cg_code count_upward(repetition *self)
{
    eval *owner = self->eval;
    const value *item = value_at(owner->values, self->item);
    val first = item->kind == VALUE_TUPLE && item->count ? item->as.items[0] : self->item;

    if (!self->is_downward || !self->count || counts_by(owner, first, self->symbol))
        return CG_OK;
    self->item = value_substitute(owner->values, self->item, symbol_of(self), rounds_before(self));
    self->is_downward = false;
    return self->item ? CG_OK : err_nomem(owner->reterr);
}

/* A repetition over the entries of a list: its own index, under a free name. */
static cg_code enter(repetition *self, val entry, sym wanted)
{
    eval *owner = self->eval;
    const value *at = value_at(owner->values, entry);
    const value *item = value_at(owner->values, at->as.repeat.items[0]);
    sym old = at->as.repeat.symbol;
    bool is_number =
        item->kind == VALUE_INT || (item->kind == VALUE_TUPLE && item->count &&
                                    value_kind_of(owner->values, item->as.items[0]) == VALUE_INT);

    self->item = at->as.repeat.items[0];
    self->count = at->as.repeat.count;
    self->is_downward = at->is_inclusive && old;
    self->chosen_by = at->variant;
    if (!old)
        old = eval_word(owner, WORD_INDEX);
    self->symbol = free_symbol(
        owner, wanted && is_number && wanted != eval_word(owner, WORD_UNDERSCORE) ? wanted : old);
    if (!self->symbol)
        return err_nomem(owner->reterr);
    if (self->symbol != old)
        self->item = value_substitute(owner->values, self->item,
                                      expr_symbol(owner->exprs, program_text(owner->program, old)),
                                      symbol_of(self));
    return self->item ? count_upward(self) : err_nomem(owner->reterr);
}

static val repeat_value(repetition *self, val item)
{
    value made = {.kind = VALUE_REPEAT};

    made.is_inclusive = self->is_downward;
    made.variant = self->chosen_by;
    made.as.repeat.items = &item;
    made.as.repeat.symbol = self->symbol;
    made.as.repeat.count = self->count;
    return value_make(self->eval->values, &made);
}

/* Would so many rounds, inside of those that are under way, be too many to walk one by one? */
static bool are_deep(const eval *self, uint64_t rounds)
{
    return rounds > 1 && self->state->rounds > 0 &&
           rounds * (self->state->rounds + 1) > self->limits.rounds;
}

static bool are_many(const eval *self, uint64_t rounds)
{
    return rounds > self->limits.unroll || are_deep(self, rounds);
}

/* From here on every round counts for so many; what is given back is to be stored again. */
static uint64_t begin_rounds(eval *self, uint64_t rounds)
{
    uint64_t before = self->state->rounds;

    self->state->rounds = (before + 1) * (rounds > 1 ? rounds : 1) - 1;
    return before;
}

/* The same list as one entry that is repeated. */
static cg_code as_repetition(eval *self, const value *list, val *ret)
{
    value entry = {.kind = VALUE_REPEAT};
    val item = value_join_items(self->values, list);

    if (!item)
        return err_nomem(self->reterr);
    entry.as.repeat.items = &item;
    entry.as.repeat.count = expr_const(self->exprs, list->count);
    item = value_make(self->values, &entry);
    return item ? eval_give(self, value_list(self->values, VALUE_LIST, &item, 1), ret)
                : err_nomem(self->reterr);
}

cg_code eval_each(eval *self, val list, model_place place,
                  cg_code (*body)(void *context, val item, val *ret), void *context, val *ret)
{
    const value *at;
    uint64_t before;
    val *results;
    size_t count = 0;

    (void)place;
    if (value_kind_of(self->values, list) != VALUE_LIST)
        CG_TRY(eval_items(self, list, &list));
    at = value_at(self->values, list);
    if (are_deep(self, at->count)) {
        CG_TRY(as_repetition(self, at, &list));
        at = value_at(self->values, list);
    }
    results = arena_take(&self->values->mem, (at->count + 1u) * sizeof *results);
    if (!results)
        return err_nomem(self->reterr);
    before = begin_rounds(self, at->count);
    for (size_t i = 0; i < at->count; i++) {
        const value *item = value_at(self->values, at->as.items[i]);
        val made = 0;

        if (item->kind != VALUE_REPEAT) {
            CG_TRY(body(context, at->as.items[i], &made));
        } else {
            repetition work = {.eval = self, .body = body, .context = context};
            cg_code code = enter(&work, at->as.items[i], 0);
            cg_str over;

            if (code == CG_OK && value_print(self->values, list, &over) &&
                value_name(self->values, program_text(self->program, work.symbol), " in ", over,
                           &work.text))
                code = repeat(&work, &made);
            else if (code == CG_OK)
                code = err_nomem(self->reterr);
            vec_free(self->program->heap, &work.cells);
            CG_TRY(code);
            if (made && value_kind_of(self->values, made) != VALUE_ERROR &&
                value_kind_of(self->values, made) != VALUE_NEVER)
                made = repeat_value(&work, made);
        }
        if (!made)
            return err_nomem(self->reterr);
        if (value_kind_of(self->values, made) == VALUE_ERROR ||
            value_kind_of(self->values, made) == VALUE_NEVER)
            continue;
        results[count++] = made;
    }
    self->state->rounds = before;
    return eval_give(self, value_list(self->values, VALUE_LIST, results, count), ret);
}

/* --- what can be walked --- */

/* `u32` of `0..n as u32`; 0: neither end says it. */
static type_ref range_type(const eval *self, const value *range)
{
    type_ref type = 0;

    for (size_t i = 0; i < 2 && type == 0; i++) {
        if (range->as.items[i])
            type = value_at(self->values, range->as.items[i])->type;
    }
    return type;
}

static val range_number(eval *self, expr number, type_ref type)
{
    value made = {.kind = VALUE_INT, .type = type, .as.number = number};
    int64_t known;

    made.is_known = expr_constant(self->exprs, number, &known);
    return value_make(self->values, &made);
}

/* `'a'..='c'`, of ASCII; *ret 0: it is none, or not known. */
static cg_code char_items(eval *self, const value *range, val *ret)
{
    const value *low = range->as.items[0] ? value_at(self->values, range->as.items[0]) : NULL;
    const value *high = range->as.items[1] ? value_at(self->values, range->as.items[1]) : NULL;
    uint64_t from, to;
    size_t count = 0;
    val *known;

    *ret = 0;
    if (!low || !high || low->kind != VALUE_CHAR || high->kind != VALUE_CHAR || !low->is_known ||
        !high->is_known)
        return CG_OK;
    from = low->as.number;
    to = high->as.number + (range->is_inclusive ? 1 : 0);
    if (to > from + self->limits.unroll || to > 0x80)
        return CG_OK;
    known = arena_take(&self->values->mem, (size_t)(to > from ? to - from : 1) * sizeof *known);
    if (!known)
        return err_nomem(self->reterr);
    for (uint64_t i = from; i < to; i++) {
        char letter = (char)i;
        value made = {.kind = VALUE_CHAR,
                      .is_known = true,
                      .type = low->type,
                      .text = {&letter, 1},
                      .as.number = i};

        known[count] = value_make(self->values, &made);
        if (!known[count++])
            return err_nomem(self->reterr);
    }
    return eval_give(self, value_list(self->values, VALUE_LIST, known, count), ret);
}

static cg_code range_items(eval *self, const value *range, val *ret)
{
    type_ref type = range_type(self, range);
    expr low = range->as.items[0] ? value_number(self->values, range->as.items[0])
                                  : expr_const(self->exprs, 0);
    expr high = range->as.items[1] ? value_number(self->values, range->as.items[1]) : EXPR_NONE;
    int64_t from, to;
    value repeat_shape = {.kind = VALUE_REPEAT};
    val items[1], item;

    if (high && range->is_inclusive)
        high = expr_binary(self->exprs, EXPR_ADD, high, expr_const(self->exprs, 1));
    if (expr_constant(self->exprs, low, &from) && expr_constant(self->exprs, high, &to) &&
        to - from <= (int64_t)self->limits.unroll) {
        val *known =
            arena_take(&self->values->mem, (size_t)(to > from ? to - from : 1) * sizeof *known);
        size_t count = 0;

        if (!known)
            return err_nomem(self->reterr);
        for (int64_t i = from; i < to; i++) {
            known[count] = range_number(self, expr_const(self->exprs, i), type);
            if (!known[count++])
                return err_nomem(self->reterr);
        }
        return eval_give(self, value_list(self->values, VALUE_LIST, known, count), ret);
    }
    item = range_number(
        self,
        expr_binary(
            self->exprs, EXPR_ADD, low,
            expr_symbol(self->exprs, program_text(self->program, eval_word(self, WORD_INDEX)))),
        type);
    if (!item)
        return err_nomem(self->reterr);
    repeat_shape.as.repeat.items = &item;
    repeat_shape.as.repeat.symbol = eval_word(self, WORD_INDEX);
    repeat_shape.as.repeat.count = expr_binary(self->exprs, EXPR_SUB, high, low);
    items[0] = value_make(self->values, &repeat_shape);
    return items[0] ? eval_give(self, value_list(self->values, VALUE_LIST, items, 1), ret)
                    : err_nomem(self->reterr);
}

/* One of several lists, or nothing known: its item, some number of times. */
static cg_code unknown_items(eval *self, val iterable, val *ret)
{
    const value *at = value_at(self->values, iterable);
    value repeat_shape = {.kind = VALUE_REPEAT};
    val item = 0, items[1];

    for (size_t i = 0; at->kind == VALUE_CHOICE && i < at->count; i++) {
        val one = 0;

        if (value_kind_of(self->values, at->as.items[i]) == VALUE_NOTHING)
            continue;
        CG_TRY(eval_items(self, at->as.items[i], &one));
        const value *list = value_at(self->values, one);

        for (size_t j = 0; j < list->count; j++) {
            const value *entry = value_at(self->values, list->as.items[j]);
            val inner = entry->kind == VALUE_REPEAT ? entry->as.repeat.items[0] : list->as.items[j];

            item = item ? value_join(self->values, item, inner) : inner;
            if (!item)
                return err_nomem(self->reterr);
        }
    }
    if (!item) {
        cg_str text = at->text;

        if (text.len && (!value_name(self->values, text, "[", CG_LIT("index"), &text) ||
                         !value_name(self->values, text, "]", CG_LIT(""), &text)))
            return err_nomem(self->reterr);
        item = value_unknown(self->values, 0, text);
        if (!item)
            return err_nomem(self->reterr);
    }
    repeat_shape.as.repeat.items = &item;
    repeat_shape.as.repeat.symbol = eval_word(self, WORD_INDEX);
    items[0] = value_make(self->values, &repeat_shape);
    return items[0] ? eval_give(self, value_list(self->values, VALUE_LIST, items, 1), ret)
                    : err_nomem(self->reterr);
}

/* --- iterators of read source --- */

typedef struct own_iterator {
    eval *eval;
    const method_found *next;
    place_value place; /* where the iterator lies */
} own_iterator;

static cg_code ask_next(void *context, val round, val *ret)
{
    own_iterator *self = context;
    eval *owner = self->eval;
    val to = eval_reference(owner, &self->place);
    val found = 0, item = 0;

    (void)round;
    if (!to)
        return err_nomem(owner->reterr);
    CG_TRY(eval_call(owner, self->next->function, &self->next->bindings, &to, 1, (model_place){0},
                     &found));
    const value *at = value_at(owner->values, found);

    for (size_t i = 0; at->kind == VALUE_CHOICE && i < at->count; i++) {
        const value *one = value_at(owner->values, at->as.items[i]);

        if (one->kind != VALUE_SOME)
            continue;
        item = item ? value_join(owner->values, item, one->as.items[0]) : one->as.items[0];
        if (!item)
            return err_nomem(owner->reterr);
    }
    if (at->kind == VALUE_SOME)
        item = at->as.items[0];
    if (at->kind == VALUE_NOTHING)
        item = eval_plain(owner, VALUE_NEVER);
    *ret = item ? item : found;
    return CG_OK;
}

static cg_code own_rounds(eval *self, val iterable, const method_found *next, val *ret)
{
    frame *scope = self->state->frame;
    cell *top = scope->top;
    own_iterator work = {.eval = self, .next = next};
    value entry = {.kind = VALUE_REPEAT};
    val round = eval_plain(self, VALUE_UNIT);
    cg_code code;

    CG_TRY(cell_add(self, 0, iterable));
    work.place.root = scope->top;
    entry.as.repeat.items = &round;
    entry.as.repeat.symbol = eval_word(self, WORD_INDEX);
    round = value_make(self->values, &entry);
    round = round ? value_list(self->values, VALUE_LIST, &round, 1) : 0;
    code = round ? eval_each(self, round, (model_place){0}, ask_next, &work, ret)
                 : err_nomem(self->reterr);
    scope->top = top;
    return code;
}

cg_code eval_own_items(eval *self, val iterable, bool *ret_known, val *ret)
{
    static const enum word words[] = {WORD_NEXT, WORD_INTO_ITER};
    type_ref type = value_type(self->values, iterable);

    *ret_known = false;
    if (value_kind_of(self->values, iterable) != VALUE_STRUCT || !self->state->frame ||
        type_at(self->types, type)->kind != TYPE_ITEM)
        return CG_OK;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        method_found found = {0};
        const function_fact *fact;
        val made = 0;

        CG_TRY(
            type_find_method(self->types, type, eval_word(self, words[i]), &found, self->reterr));
        if (!found.function || self->program->items.at[found.function].kind != ITEM_FUNCTION)
            continue;
        CG_TRY(eval_function_fact(self, found.function, &fact));
        if (!fact->body || fact->parameter_count != 1 || !fact->parameters[0].is_self)
            continue;
        if (!found.bindings.self_type)
            found.bindings.self_type = type;
        *ret_known = true;
        if (words[i] == WORD_NEXT)
            return own_rounds(self, iterable, &found, ret);
        CG_TRY(eval_call(self, found.function, &found.bindings, &iterable, 1, (model_place){0},
                         &made));
        /* One that gives itself has been asked for `next`. */
        *ret_known = value_type(self->values, made) != type;
        return *ret_known ? eval_items(self, made, ret) : CG_OK;
    }
    return CG_OK;
}

cg_code eval_items(eval *self, val iterable, val *ret)
{
    const value *at;
    bool is_known = false;

    iterable = eval_deref(self, iterable);
    at = value_at(self->values, iterable);
    switch ((enum value_kind)at->kind) {
    case VALUE_LIST: *ret = iterable; return CG_OK;
    case VALUE_RANGE:
        CG_TRY(char_items(self, at, ret));
        return *ret ? CG_OK : range_items(self, value_at(self->values, iterable), ret);
    case VALUE_LAZY: return std_walk(self, iterable, ret);
    case VALUE_SOME:
        return eval_give(self, value_list(self->values, VALUE_LIST, at->as.items, 1), ret);
    case VALUE_NOTHING: return eval_give(self, value_list(self->values, VALUE_LIST, NULL, 0), ret);
    case VALUE_MAP: {
        val *pairs = arena_take(&self->values->mem, (at->count / 2 + 1u) * sizeof *pairs);

        if (!pairs)
            return err_nomem(self->reterr);
        for (size_t i = 0; i + 1 < at->count; i += 2) {
            pairs[i / 2] = value_list(self->values, VALUE_TUPLE, at->as.items + i, 2);
            if (!pairs[i / 2])
                return err_nomem(self->reterr);
        }
        return eval_give(self, value_list(self->values, VALUE_LIST, pairs, at->count / 2), ret);
    }
    case VALUE_STRUCT:
        CG_TRY(eval_own_items(self, iterable, &is_known, ret));
        return is_known ? CG_OK : unknown_items(self, iterable, ret);
    default: return unknown_items(self, iterable, ret);
    }
}

/* --- for, while, loop --- */

typedef struct rounds {
    eval *eval;
    ast_ref node, pattern, condition, body;
    loop_scope *loop;
    bool is_asked;   /* the condition was evaluated, what it binds is there */
    bool is_over;    /* the loop was certainly left */
    bool is_passing; /* the way goes on elsewhere: return, an error, an outer loop */
    val passing;
} rounds;

/* One round; what jumps to this loop ends here. */
static cg_code one_round(void *context, val item, val *ret)
{
    rounds *self = context;
    eval *owner = self->eval;
    eval_state *state = owner->state;
    frame *scope = state->frame;
    cell *top = scope->top;
    loop_scope *around = scope->loop;
    uint32_t condition = owner->trail->condition;
    bool was_left = self->loop->is_left, is_never = false;
    enum verdict verdict;
    int truth = 1;
    cg_code code = CG_OK;

    scope->loop = self->loop;
    self->loop->is_left = false;
    *ret = eval_plain(owner, VALUE_UNIT);
    if (self->pattern && item)
        code = eval_match(owner, self->pattern, item, &verdict);
    if (self->condition && !self->is_asked && code == CG_OK)
        code = evaluate_condition(owner, self->condition, &truth, &is_never);
    if (code == CG_OK && is_never)
        *ret = eval_plain(owner, VALUE_NEVER);
    else if (code == CG_OK && truth == 0)
        self->is_over = true;
    else if (code == CG_OK)
        code = evaluate_block(owner, self->body, ret);
    scope->top = top;
    scope->loop = around;
    if (code != CG_OK)
        return code;
    if (eval_is_never(owner, *ret)) {
        bool is_ours = (state->jump == JUMP_BREAK || state->jump == JUMP_CONTINUE) &&
                       (!state->jump_label || state->jump_label == self->loop->label);

        if (is_ours) {
            self->is_over |= state->jump == JUMP_BREAK;
            *ret = eval_plain(owner, VALUE_UNIT);
        } else {
            self->is_passing = true;
            self->passing = *ret;
        }
    }
    /* When one way left the loop, all that follows in it depends on that it did not. */
    if (!self->loop->is_left || self->is_over)
        owner->trail->condition = condition;
    self->loop->is_left |= was_left;
    return CG_OK;
}

static cg_code repeat_rounds(rounds *self, repetition *work)
{
    val last = 0;
    enum jump_kind jump;
    cg_code code;

    work->eval = self->eval;
    work->body = one_round;
    work->context = self;
    work->loop = self->loop;
    code = repeat(work, &last);
    vec_free(self->eval->program->heap, &work->cells);
    jump = (enum jump_kind)self->eval->state->jump;
    /* It may also run no round at all. */
    if (self->is_passing && jump != JUMP_BREAK && jump != JUMP_CONTINUE)
        self->is_passing = false;
    return code;
}

static cg_code finish_loop(rounds *self, uint32_t condition, val *ret)
{
    eval *owner = self->eval;

    owner->trail->condition = condition;
    if (self->is_passing) {
        *ret = self->passing;
        return CG_OK;
    }
    return eval_give(owner, self->loop->result ? self->loop->result : eval_plain(owner, VALUE_UNIT),
                     ret);
}

static cg_str loop_text(eval *self, ast_ref pattern, ast_ref iterable)
{
    cg_str a = eval_source(self, "", pattern), b = eval_source(self, "", iterable), whole = a;

    return value_name(self->values, a, " in ", b, &whole) ? whole : a;
}

/* `for x in &mut xs`, and `for x in xs` of a variable that is a `&mut`: where it lies. */
static bool is_lent(eval *self, ast_ref iterable, place_value *ret)
{
    const ast_node *at = eval_node(self, iterable);

    if (at->kind == AST_REFERENCE_EXPRESSION)
        return (at->flags & AST_MUTABLE) != 0 && spot_of(self, iterable, ret);
    if (at->kind != AST_IDENTIFIER)
        return false;
    cell *local = cell_find(self->state->frame, at->text);

    return local && value_kind_of(self->values, local->value) == VALUE_REFERENCE &&
           spot_of(self, iterable, ret);
}

cg_code evaluate_for(eval *self, ast_ref node, val *ret)
{
    ast_ref iterable = ast_child(eval_tree(self), node, ROLE_VALUE);
    ast_ref label = ast_child_kind(eval_tree(self), node, AST_LABEL);
    frame *scope = self->state->frame;
    loop_scope loop = {.around = scope->loop, .label = label ? eval_node(self, label)->text : 0};
    rounds walk = {.eval = self,
                   .node = node,
                   .pattern = ast_child(eval_tree(self), node, ROLE_PATTERN),
                   .body = ast_child(eval_tree(self), node, ROLE_BODY),
                   .loop = &loop};
    uint32_t condition = self->trail->condition;
    val over = 0, list = 0, last = 0;

    CG_TRY(evaluate(self, iterable, &over));
    if (eval_is_never(self, over)) {
        *ret = over;
        return CG_OK;
    }
    place_value place;

    if (is_lent(self, iterable, &place))
        CG_TRY(eval_lent(self, &place, &over));
    CG_TRY(eval_items(self, over, &list));
    const value *items = value_at(self->values, list);

    if (are_many(self, items->count)) {
        repetition work = {.count = expr_const(self->exprs, items->count),
                           .symbol = free_symbol(self, eval_word(self, WORD_INDEX)),
                           .item = value_join_items(self->values, items),
                           .text = loop_text(self, walk.pattern, iterable)};

        if (!work.item || !work.symbol)
            return err_nomem(self->reterr);
        CG_TRY(repeat_rounds(&walk, &work));
        return finish_loop(&walk, condition, ret);
    }
    uint64_t before = begin_rounds(self, items->count);

    for (size_t i = 0; i < items->count && !walk.is_over && !walk.is_passing; i++) {
        if (value_kind_of(self->values, items->as.items[i]) == VALUE_REPEAT) {
            repetition work = {.eval = self, .text = loop_text(self, walk.pattern, iterable)};

            CG_TRY(enter(&work, items->as.items[i],
                         walk.pattern ? pattern_name(self, walk.pattern) : 0));
            CG_TRY(repeat_rounds(&walk, &work));
        } else {
            CG_TRY(one_round(&walk, items->as.items[i], &last));
        }
    }
    self->state->rounds = before;
    return finish_loop(&walk, condition, ret);
}

/* `while i < n`: how often, once it is known that i counts. */
static cg_code find_limit(eval *self, ast_ref condition, repetition *to)
{
    ast_ref left = ast_child(eval_tree(self), condition, ROLE_LEFT);
    ast_ref right = ast_child(eval_tree(self), condition, ROLE_RIGHT);
    ast_node at = *eval_node(self, condition);
    val limit = 0;

    if (at.kind != AST_BINARY_EXPRESSION || at.op != OP_LT || !left || !right ||
        eval_node(self, left)->kind != AST_IDENTIFIER ||
        (eval_node(self, right)->kind != AST_IDENTIFIER &&
         eval_node(self, right)->kind != AST_FIELD_EXPRESSION &&
         eval_node(self, right)->kind != AST_INTEGER_LITERAL))
        return CG_OK;
    CG_TRY(evaluate(self, right, &limit));
    to->limit = value_number(self->values, limit);
    to->limit_name = to->limit ? eval_node(self, left)->text : 0;
    return CG_OK;
}

/*
 * `while let`: the condition of one round, with what it takes out of a list. When it is not known
 * whether there is another round, nothing has happened.
 */
static cg_code ask_pattern(eval *self, ast_ref condition, int *ret, bool *ret_never)
{
    eval_state *state = self->state;
    size_t mark = state->journal.count;
    trail_mark before = trail_position(self->trail);

    state->watching++;
    CG_TRY(evaluate_condition(self, condition, ret, ret_never));
    state->watching--;
    if (*ret < 0 && !*ret_never) {
        while (state->journal.count > mark) {
            journal_entry entry = state->journal.at[--state->journal.count];

            entry.cell->value = entry.old;
        }
        trail_forget(self->trail, before);
    }
    if (!state->watching)
        state->journal.count = mark;
    return CG_OK;
}

cg_code evaluate_while(eval *self, ast_ref node, val *ret)
{
    ast_ref label = ast_child_kind(eval_tree(self), node, AST_LABEL);
    frame *scope = self->state->frame;
    loop_scope loop = {.around = scope->loop, .label = label ? eval_node(self, label)->text : 0};
    rounds walk = {.eval = self,
                   .node = node,
                   .condition = ast_child(eval_tree(self), node, ROLE_CONDITION),
                   .body = ast_child(eval_tree(self), node, ROLE_BODY),
                   .loop = &loop};
    uint32_t condition = self->trail->condition;
    val last = 0;

    /* As long as it is known whether there is another round. */
    uint64_t before = self->state->rounds;

    for (uint32_t i = 0; !are_many(self, i + 1) && !walk.is_over && !walk.is_passing; i++) {
        bool is_never = false;
        int truth = 1;
        cell *top = scope->top;
        uint8_t kind = walk.condition ? eval_node(self, walk.condition)->kind : (uint8_t)AST_NONE;
        bool is_pattern = kind == AST_LET_CONDITION || kind == AST_LET_CHAIN;

        if (is_pattern && loop.is_left)
            break;
        if (is_pattern) {
            CG_TRY(ask_pattern(self, walk.condition, &truth, &is_never));
        } else if (walk.condition) {
            CG_TRY(evaluate_condition(self, walk.condition, &truth, &is_never));
            scope->top = top;
        }
        if (truth == 0)
            walk.is_over = true;
        if (truth != 1 || is_never || loop.is_left) {
            scope->top = top;
            break;
        }
        walk.is_asked = is_pattern;
        (void)begin_rounds(self, i + 1);
        CG_TRY(one_round(&walk, 0, &last));
        self->state->rounds = before;
        walk.is_asked = false;
        scope->top = top;
        if (!walk.condition && !walk.is_over && !loop.is_left && i >= 7)
            break; /* `loop` without an end in sight */
    }
    if (!walk.is_over && !walk.is_passing) {
        repetition work = {
            .eval = self,
            .is_counter_named = true,
            .text = eval_source(self, walk.condition ? "while " : "loop", walk.condition),
            .symbol = free_symbol(self, eval_word(self, WORD_INDEX))};

        if (!work.symbol)
            return err_nomem(self->reterr);
        if (walk.condition)
            CG_TRY(find_limit(self, walk.condition, &work));
        CG_TRY(repeat_rounds(&walk, &work));
    }
    return finish_loop(&walk, condition, ret);
}
