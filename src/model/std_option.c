/* Option, Result and what every value has: handlers of std_functions.def. */
#include "model/eval_state.h"
#include "model/std_handlers.h"

static val inner_of(const library_call *call)
{
    return std_at(call, call->receiver)->as.items[0];
}

static bool is_some(const library_call *call)
{
    return std_kind(call, call->receiver) == VALUE_SOME;
}

static cg_code apply(library_call *call, val callee, const val *args, size_t count, val *ret)
{
    return eval_apply(call->eval, callee, args, count, call->place, ret);
}

static cg_code give_applied(library_call *call, val callee, const val *args, size_t count)
{
    val result = 0;

    if (callee == 0)
        return CG_OK;
    CG_TRY(apply(call, callee, args, count, &result));
    return std_give(call, result);
}

/* Some(x), unless computing x never came back. */
static cg_code give_some(library_call *call, val inner)
{
    return std_give(call,
                    std_kind(call, inner) == VALUE_NEVER ? inner : std_some(call->eval, inner));
}

static cg_code give_nothing(library_call *call)
{
    return std_give(call, std_plain(call->eval, VALUE_NOTHING));
}

/* --- the receiver as it is --- */

cg_code any_same(library_call *call)
{
    return std_give(call, call->receiver);
}

cg_code any_argument(library_call *call)
{
    return call->count == 0 ? CG_OK : std_give(call, call->args[call->count - 1]);
}

cg_code any_unit(library_call *call)
{
    return std_give(call, std_plain(call->eval, VALUE_UNIT));
}

cg_code any_unknown(library_call *call)
{
    return std_give_opaque(call, VALUE_UNKNOWN, 0);
}

cg_code any_bool(library_call *call)
{
    return std_give_opaque(call, VALUE_BOOL, 0);
}

cg_code any_int(library_call *call)
{
    return std_give_opaque(call, VALUE_INT, 0);
}

cg_code any_float(library_call *call)
{
    return std_give_opaque(call, VALUE_FLOAT, 0);
}

cg_code any_never(library_call *call)
{
    return std_give(call, std_plain(call->eval, VALUE_NEVER));
}

cg_code any_error(library_call *call)
{
    return std_give(call, std_plain(call->eval, VALUE_ERROR));
}

/* Is it a Cell, as far as its contents tell: what is stored is of the kind that was there. */
static bool is_stored(const library_call *call)
{
    return call->count == 1 && std_kind(call, call->receiver) == std_kind(call, call->args[0]) &&
           std_kind(call, call->receiver) != VALUE_UNKNOWN;
}

cg_code any_set(library_call *call)
{
    if (is_stored(call))
        call->updated = call->args[0];
    return call->count == 1 ? std_give(call, std_plain(call->eval, VALUE_UNIT)) : CG_OK;
}

cg_code any_replace(library_call *call)
{
    if (!is_stored(call))
        return CG_OK;
    call->updated = call->args[0];
    return std_give(call, call->receiver);
}

/* Cell::get. */
cg_code any_get(library_call *call)
{
    return call->count == 0 ? std_give(call, call->receiver) : CG_OK;
}

/* --- Result: the value is Ok, or it would be VALUE_ERROR --- */

cg_code any_map(library_call *call)
{
    return give_applied(call, std_arg(call, 0), &call->receiver, 1);
}

/* `thread::spawn(f)`: what joining it gives. `thread::scope` gives `f` something to spawn by. */
cg_code call_given(library_call *call)
{
    val scope = value_unknown(call->eval->values, 0, CG_LIT("spawner"));

    if (scope == 0)
        return err_nomem(call->eval->reterr);
    return call->count == 0 ? CG_OK : give_applied(call, std_arg(call, 0), &scope, 1);
}

/* Of a thread; a path is joined with something. */
cg_code any_join(library_call *call)
{
    return call->count == 0 ? any_same(call) : any_unknown(call);
}

/* `rayon::join(f, g)` */
cg_code call_both(library_call *call)
{
    val both[2] = {0, 0};

    if (call->count != 2)
        return CG_OK;
    for (size_t i = 0; i < 2; i++)
        CG_TRY(eval_apply(call->eval, call->args[i], NULL, 0, call->place, &both[i]));
    return std_give(call, value_list(call->eval->values, VALUE_TUPLE, both, 2));
}

cg_code any_map_or(library_call *call)
{
    return give_applied(call, std_arg(call, 1), &call->receiver, 1);
}

/* What `x` asked for in `x.ok()` may be missing: nobody is told. */
static bool accept_absence(library_call *call)
{
    trail *track = call->eval->trail;
    uint32_t condition = 0;

    for (size_t i = call->eval->receiver_begin; i < track->parameters.count; i++) {
        trail_parameter *at = &track->parameters.at[i];

        if (i == 0 || at->condition != 0)
            continue;
        if (condition == 0)
            condition = trail_add_condition(track, CG_LIT("if it is there"));
        if (condition == 0)
            return false;
        at->condition = condition;
    }
    return true;
}

cg_code any_ok(library_call *call)
{
    const value *at = std_at(call, call->receiver);
    bool is_plain = at->is_known && (at->kind == VALUE_INT || at->kind == VALUE_FLOAT ||
                                     at->kind == VALUE_TEXT || at->kind == VALUE_BOOL);

    if (is_plain)
        return std_give(call, std_some(call->eval, call->receiver));
    if (!accept_absence(call))
        return err_nomem(call->eval->reterr);
    return std_give(call, std_perhaps(call->eval, call->receiver));
}

/* What came out of something fallible, or the alternative. */
cg_code any_unwrap_or(library_call *call)
{
    const value *at = std_at(call, call->receiver);
    val other = std_arg(call, 0);

    if (other == 0 || at->kind == VALUE_INT || at->kind == VALUE_BOOL || at->kind == VALUE_FLOAT)
        return std_give(call, call->receiver);
    if (!accept_absence(call))
        return err_nomem(call->eval->reterr);
    if (at->kind == VALUE_UNKNOWN) {
        enum value_kind kind = std_kind(call, other);

        if (kind == VALUE_INT || kind == VALUE_BOOL || kind == VALUE_FLOAT)
            return std_give_opaque(call, kind, 0);
    }
    return std_give(call, value_join(call->eval->values, call->receiver, other));
}

typedef struct otherwise {
    library_call *call;
    val callee;
    bool takes_error;
} otherwise;

static cg_code run_otherwise(void *context, size_t way, val *ret)
{
    otherwise *self = context;
    val error;

    if (way == 0) {
        *ret = self->call->receiver;
        return CG_OK;
    }
    error = value_unknown(self->call->eval->values, 0, CG_LIT("error"));
    if (error == 0)
        return err_nomem(self->call->eval->reterr);
    return apply(self->call, self->callee, &error, self->takes_error ? 1 : 0, ret);
}

#define ATTEMPT_SHOWN 160u

/* `Enc::new(vb.pp("a")) fails` of what stands before `.or_else(`. */
static bool attempt_text(const library_call *call, cg_str *ret)
{
    program *code_of = call->eval->program;
    model_place at = call->place;
    cg_str text;
    size_t end;

    *ret = CG_LIT("the first attempt fails");
    if (at.file == 0 || at.file >= code_of->files.count)
        return true;
    text = code_of->files.at[at.file]->source.text;
    if (at.start >= at.end || at.end > text.len)
        return true;
    text = (cg_str){text.ptr + at.start, at.end - at.start};
    end = str_find(text, CG_LIT(".or_else("));
    text = str_trim((cg_str){text.ptr, end == SIZE_MAX ? 0 : end});
    if (text.len == 0 || text.len > ATTEMPT_SHOWN || memchr(text.ptr, '\n', text.len) != NULL)
        return true;
    return arena_format(&call->eval->values->mem, ret, "%.*s fails", (int)text.len, text.ptr);
}

/* `or_else(|_| ...)` of a Result: the second is tried when the first fails. */
cg_code any_or_else(library_call *call)
{
    cg_str condition;
    otherwise ways = {.call = call, .callee = std_arg(call, 0), .takes_error = true};
    trail_mark before = trail_position(call->eval->trail);
    val result = 0;

    if (ways.callee == 0)
        return CG_OK;
    /* What the first asked for is as uncertain as what the second does. */
    if (call->eval->receiver_begin < before.parameters)
        before.parameters = call->eval->receiver_begin;
    if (!attempt_text(call, &condition))
        return err_nomem(call->eval->reterr);
    CG_TRY(eval_ways_from(call->eval, &before, 2, condition, run_otherwise, &ways, &result));
    return std_give(call, result);
}

cg_code any_or(library_call *call)
{
    if (call->count != 1)
        return CG_OK;
    /* Both are asked for, and one of them is enough. */
    if (!accept_absence(call))
        return err_nomem(call->eval->reterr);
    return std_give(call, value_join(call->eval->values, call->receiver, call->args[0]));
}


/* --- Option --- */

cg_code option_map(library_call *call)
{
    val callee = std_arg(call, 0);
    val inner = 0;
    val result = 0;

    if (!is_some(call))
        return give_nothing(call);
    if (callee == 0)
        return CG_OK;
    inner = inner_of(call);
    CG_TRY(apply(call, callee, &inner, 1, &result));
    return give_some(call, result);
}

cg_code option_and_then(library_call *call)
{
    val inner;

    if (!is_some(call))
        return give_nothing(call);
    inner = inner_of(call);
    return give_applied(call, std_arg(call, 0), &inner, 1);
}

cg_code option_and(library_call *call)
{
    return !is_some(call) || call->count == 0 ? give_nothing(call) : std_give(call, call->args[0]);
}

cg_code option_map_or(library_call *call)
{
    val inner;

    if (call->count != 2)
        return CG_OK;
    if (!is_some(call))
        return std_give(call, call->args[0]);
    inner = inner_of(call);
    return give_applied(call, call->args[1], &inner, 1);
}

cg_code option_map_or_else(library_call *call)
{
    val inner;

    if (call->count != 2)
        return CG_OK;
    if (!is_some(call))
        return give_applied(call, call->args[0], NULL, 0);
    inner = inner_of(call);
    return give_applied(call, call->args[1], &inner, 1);
}

cg_code option_unwrap(library_call *call)
{
    return is_some(call) ? std_give(call, inner_of(call)) : any_never(call);
}

/* ok_or, context: Some(x) becomes Ok(x), None an error. */
cg_code option_ok_or(library_call *call)
{
    return is_some(call) ? std_give(call, inner_of(call)) : any_error(call);
}

cg_code option_unwrap_or(library_call *call)
{
    if (is_some(call))
        return std_give(call, inner_of(call));
    return call->count == 0 ? CG_OK : std_give(call, call->args[0]);
}

cg_code option_unwrap_or_else(library_call *call)
{
    if (is_some(call))
        return std_give(call, inner_of(call));
    return give_applied(call, std_arg(call, 0), NULL, 0);
}

cg_code option_unwrap_or_default(library_call *call)
{
    val made;

    if (is_some(call))
        return std_give(call, inner_of(call));
    made = std_default(call->eval, call->wanted);
    return made != 0 ? std_give(call, made) : std_give_opaque(call, VALUE_UNKNOWN, call->wanted);
}

cg_code option_or(library_call *call)
{
    if (is_some(call))
        return std_give(call, call->receiver);
    return call->count == 0 ? CG_OK : std_give(call, call->args[0]);
}

cg_code option_or_else(library_call *call)
{
    if (is_some(call))
        return std_give(call, call->receiver);
    return give_applied(call, std_arg(call, 0), NULL, 0);
}

cg_code option_filter(library_call *call)
{
    val inner;
    val verdict = 0;

    if (!is_some(call))
        return give_nothing(call);
    if (call->count != 1)
        return CG_OK;
    inner = inner_of(call);
    CG_TRY(apply(call, call->args[0], &inner, 1, &verdict));
    switch (std_truth(call->eval, verdict)) {
    case 1: return std_give(call, call->receiver);
    case 0: return give_nothing(call);
    default: return std_give(call, std_perhaps(call->eval, inner));
    }
}

cg_code option_zip(library_call *call)
{
    val pair[2];
    val tuple;
    enum value_kind other;

    if (!is_some(call))
        return give_nothing(call);
    if (call->count != 1)
        return CG_OK;
    other = std_kind(call, call->args[0]);
    if (other == VALUE_NOTHING)
        return give_nothing(call);
    if (other != VALUE_SOME && other != VALUE_CHOICE)
        return CG_OK;
    pair[0] = inner_of(call);
    if (other == VALUE_SOME) {
        pair[1] = std_at(call, call->args[0])->as.items[0];
    } else {
        CG_TRY(std_run_on(call, call->args[0], "unwrap", NULL, 0, &pair[1]));
    }
    tuple = value_list(call->eval->values, VALUE_TUPLE, pair, 2);
    if (tuple == 0)
        return err_nomem(call->eval->reterr);
    return std_give(call, other == VALUE_SOME ? std_some(call->eval, tuple)
                                              : std_perhaps(call->eval, tuple));
}

cg_code option_take(library_call *call)
{
    call->updated = std_plain(call->eval, VALUE_NOTHING);
    return call->updated == 0 ? err_nomem(call->eval->reterr) : std_give(call, call->receiver);
}

cg_code option_replace(library_call *call)
{
    call->updated = std_some(call->eval, std_arg(call, 0));
    return call->updated == 0 ? CG_OK : std_give(call, call->receiver);
}

cg_code option_insert(library_call *call)
{
    call->updated = std_some(call->eval, std_arg(call, 0));
    return call->updated == 0 ? CG_OK : std_give(call, call->args[0]);
}

cg_code option_get_or_insert(library_call *call)
{
    return is_some(call) ? std_give(call, inner_of(call)) : option_insert(call);
}

cg_code option_get_or_insert_with(library_call *call)
{
    val made = 0;

    if (is_some(call))
        return std_give(call, inner_of(call));
    if (call->count != 1)
        return CG_OK;
    CG_TRY(apply(call, call->args[0], NULL, 0, &made));
    call->updated = std_some(call->eval, made);
    return std_give(call, call->updated == 0 ? 0 : made);
}

/* `OnceCell::set` of an empty one, which holds what it is given; `Cell<Option<_>>::set`. */
cg_code option_set(library_call *call)
{
    if (call->count != 1)
        return CG_OK;
    call->updated = call->args[0];
    return any_unit(call);
}

/* `OnceCell::get_or_init` of an empty one. */
cg_code option_get_or_init(library_call *call)
{
    val made = 0;

    if (is_some(call))
        return std_give(call, call->receiver);
    if (call->count != 1)
        return CG_OK;
    CG_TRY(apply(call, call->args[0], NULL, 0, &made));
    call->updated = made;
    return std_give(call, made);
}

cg_code option_is_some(library_call *call)
{
    return std_give_bool(call, is_some(call));
}

cg_code option_is_none(library_call *call)
{
    return std_give_bool(call, !is_some(call));
}

cg_code option_is_some_and(library_call *call)
{
    val inner;

    if (!is_some(call))
        return std_give_bool(call, false);
    inner = inner_of(call);
    return give_applied(call, std_arg(call, 0), &inner, 1);
}

cg_code option_is_none_or(library_call *call)
{
    val inner;

    if (!is_some(call))
        return std_give_bool(call, true);
    inner = inner_of(call);
    return give_applied(call, std_arg(call, 0), &inner, 1);
}

/* Option<Result<T>> to Result<Option<T>>: an error inside is the error. */
cg_code option_transpose(library_call *call)
{
    if (is_some(call)) {
        enum value_kind inside = std_kind(call, inner_of(call));

        if (inside == VALUE_ERROR || inside == VALUE_NEVER)
            return std_give(call, inner_of(call));
    }
    return std_give(call, call->receiver);
}

cg_code option_flatten(library_call *call)
{
    if (!is_some(call))
        return give_nothing(call);
    switch (std_kind(call, inner_of(call))) {
    case VALUE_SOME:
    case VALUE_NOTHING:
    case VALUE_CHOICE: return std_give(call, inner_of(call));
    default: return std_give(call, call->receiver);
    }
}

cg_code option_iter(library_call *call)
{
    val inner = is_some(call) ? inner_of(call) : 0;

    return std_give(call, std_list_of(call->eval, 0, &inner, is_some(call) ? 1 : 0));
}

cg_code option_unzip(library_call *call)
{
    val pair[2];
    const value *tuple;

    if (is_some(call)) {
        tuple = std_at(call, inner_of(call));
        if (tuple->kind != VALUE_TUPLE || tuple->count != 2)
            return CG_OK;
        pair[0] = std_some(call->eval, tuple->as.items[0]);
        pair[1] = std_some(call->eval, std_at(call, inner_of(call))->as.items[1]);
    } else {
        pair[0] = pair[1] = call->receiver;
    }
    if (pair[0] == 0 || pair[1] == 0)
        return err_nomem(call->eval->reterr);
    return std_give(call, value_list(call->eval->values, VALUE_TUPLE, pair, 2));
}

/* --- what is neither known nor typed --- */

typedef struct guess {
    library_call *call;
    val callee;
    val inner;
} guess;

static cg_code run_guess(void *context, size_t way, val *ret)
{
    guess *self = context;

    if (way == 1) {
        *ret = std_plain(self->call->eval, VALUE_NOTHING);
        return *ret == 0 ? err_nomem(self->call->eval->reterr) : CG_OK;
    }
    CG_TRY(apply(self->call, self->callee, &self->inner, 1, ret));
    if (std_kind(self->call, *ret) != VALUE_NEVER)
        *ret = std_some(self->call->eval, *ret);
    return *ret == 0 ? err_nomem(self->call->eval->reterr) : CG_OK;
}

/* An option as likely as anything else: what the closure does is conditional. */
cg_code unknown_map(library_call *call)
{
    guess ways = {.call = call, .callee = std_arg(call, 0), .inner = call->receiver};
    cg_str condition = {NULL, 0};
    val result = 0;

    if (ways.callee == 0)
        return CG_OK;
    if (!std_condition(call->eval, call->receiver, &condition))
        return err_nomem(call->eval->reterr);
    CG_TRY(eval_ways(call->eval, 2, condition, run_guess, &ways, &result));
    return std_give(call, result);
}

cg_code unknown_perhaps(library_call *call)
{
    cg_code code = std_give_opaque(call, VALUE_UNKNOWN, 0);

    return code != CG_OK ? code : std_give(call, std_perhaps(call->eval, call->result));
}

/* --- bool --- */

static cg_code run_then(void *context, size_t way, val *ret)
{
    otherwise *self = context;

    if (way == 1) {
        *ret = std_plain(self->call->eval, VALUE_NOTHING);
    } else {
        CG_TRY(apply(self->call, self->callee, NULL, 0, ret));
        if (std_kind(self->call, *ret) != VALUE_NEVER)
            *ret = std_some(self->call->eval, *ret);
    }
    return *ret == 0 ? err_nomem(self->call->eval->reterr) : CG_OK;
}

cg_code bool_then(library_call *call)
{
    otherwise ways = {.call = call, .callee = std_arg(call, 0)};
    cg_str condition = {NULL, 0};
    val result = 0;

    if (call->count != 1)
        return CG_OK;
    switch (std_truth(call->eval, call->receiver)) {
    case 0: return give_nothing(call);
    case 1: {
        CG_TRY(apply(call, call->args[0], NULL, 0, &result));
        return give_some(call, result);
    }
    default: break;
    }
    if (!std_condition(call->eval, call->receiver, &condition))
        return err_nomem(call->eval->reterr);
    CG_TRY(eval_ways(call->eval, 2, condition, run_then, &ways, &result));
    return std_give(call, result);
}

cg_code bool_then_some(library_call *call)
{
    if (call->count != 1)
        return CG_OK;
    switch (std_truth(call->eval, call->receiver)) {
    case 0: return give_nothing(call);
    case 1: return std_give(call, std_some(call->eval, call->args[0]));
    default: return std_give(call, std_perhaps(call->eval, call->args[0]));
    }
}
