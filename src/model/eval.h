/*
 * eval - an interpreter of Rust over abstract values.
 *
 * It follows calls into the source of the crate and its dependencies, with the arguments of the
 * call. What executes on every way is certain; what depends on something unknown is evaluated once
 * for each way, and joined. Loops over known short lists are unrolled, all others become one
 * repetition with a symbolic index. Everything observed on the way (parameters asked for, modules
 * built, tensor operations, what could not be followed) is reported to a recorder, model/trail.
 *
 * The depth of calls and nesting and the number of steps are bounded. The evaluations of what one
 * file declares share a budget that grows with the file, so that what is found does not depend on
 * what else is in the crate; all together have one that only a crate made to be slow uses up: a
 * crate takes time linear in its size. What was cut off is reported, never silently. One thread at
 * a time.
 *
 *   eval *self;
 *   CG_TRY(eval_new(&program, types, &exprs, &self, reterr));
 *   self->catalogue = &versions;                 self->reterr = reterr;
 *   eval_begin(self, file);
 *   trail_reset(self->trail);
 *   CG_TRY(eval_call(self, constructor, NULL, args, count, place, &result));
 *   ... self->trail, result ...
 *   eval_free(self);
 *
 * Values and the trail belong to the evaluation's owner: eval_new makes both, eval_free frees them.
 */
#ifndef CG_MODEL_EVAL_H
#define CG_MODEL_EVAL_H

#include "model/trail.h"

typedef struct frame frame;

typedef struct eval_limits {
    uint32_t call_depth; /* 48 */
    uint32_t nesting;    /* of expressions, per evaluation: 1500 */
    uint64_t steps;      /* nodes visited per evaluation: 500 000 */
    uint64_t least;      /* what an evaluation gets when a budget is used up: 2 000 */
    uint32_t unroll;     /* longest list a loop is unrolled for: 64 */
    uint32_t rounds;     /* most of loops in loops that are unrolled: 1 024 */
} eval_limits;

typedef struct eval {
    program *program;
    types *types;
    expr_pool *exprs;
    values *values;
    trail *trail;
    const struct catalogue *catalogue;
    struct flow *flow; /* tensor operations, model/flow; NULL: tensors are opaque */
    eval_limits limits;
    cg_err *reterr; /* set for the duration of an evaluation */
    /*
     * Set by std_method when the method changes its receiver (`push`, `insert`, ...): what is to be
     * stored where the receiver came from; 0 when it stays.
     */
    val updated_receiver;
    /*
     * What the result of the next library call is wanted as, 0 when nothing says it: the type
     * written at the call (`collect::<Result<Vec<_>>>()`, `parse::<usize>()`) or of the `let`,
     * field
     * or result it ends up in. Whoever calls candle_* and std_* sets it.
     */
    type_ref wanted;
    /*
     * While a method is called: how many parameters were on the trail before its receiver was
     * evaluated. What the receiver asked for comes after them.
     */
    size_t receiver_begin;
    /* the state of one evaluation; eval.c owns it */
    struct eval_state *state;
} eval;

cg_code eval_new(program *program, types *types, expr_pool *exprs, eval **ret,
                 cg_err *reterr) CG_MUST;
void eval_free(eval *self);

/*
 * A fresh evaluation of what `owner` declares (0: of no file): forget the variables and constants,
 * start a new budget. The trail goes on.
 */
void eval_begin(eval *self, file_ref owner);
/*
 * The same for calling what an evaluation made: variables that closures saw stay, so do constants
 * unless their values were forgotten (values_forget), and the steps are not the file's but `most`.
 * Gives how many steps were done since the last begin.
 */
uint64_t eval_again(eval *self, uint64_t most);
/* Since then: would the evaluation have come to its end with half of the `most` steps? */
bool eval_has_room(const eval *self, uint64_t most);

/*
 * Call a function item. args: the receiver first when it has one; 0 stands for "as its declared
 * type says".
 * CG_OK also when the body could not be understood: then the value is unknown, typed by the
 * declared
 * result. Only CG_NOMEM and CG_INTERRUPTED are failures.
 */
cg_code eval_call(eval *self, item_ref function, const type_bindings *bindings, const val *args,
                  size_t count, model_place place, val *ret);
/*
 * Remember what was run since eval_begin as an evaluation of `function`, in the program: what was
 * found can change only when the body of one of these does, or what is no body.
 */
cg_code eval_note(eval *self, item_ref function);
/* Call whatever can be called: a closure, function value, tuple struct, library function. */
cg_code eval_apply(eval *self, val callee, const val *args, size_t count, model_place place,
                   val *ret);
/* A method by name, as `receiver.name(args)` resolves it. */
cg_code eval_method(eval *self, val receiver, sym name, const val *args, size_t count,
                    model_place place, val *ret);
/* The value of a const or static item. */
cg_code eval_constant(eval *self, item_ref constant, val *ret);

/* --- for model/std_*, model/candle: --- */

/*
 * Evaluate `body(context, i)` for i in 0..ways as alternatives: what is recorded in all of them is
 * certain, the rest conditional on `condition`; assignments are joined, and so are the values
 * (VALUE_NEVER: that way does not come back here, VALUE_ERROR: it failed; both are no
 * alternatives).
 */
cg_code eval_ways(eval *self, size_t ways, cg_str condition,
                  cg_code (*body)(void *context, size_t way, val *ret), void *context, val *ret);
/*
 * Evaluate `body` for every item of a list, a repetition once under its repeat; results as a list
 * of
 * the same form.
 */
cg_code eval_each(eval *self, val list, model_place place,
                  cg_code (*body)(void *context, val item, val *ret), void *context, val *ret);
/* Any iterable (range, list, map, option, unknown of a list type) as a VALUE_LIST. */
cg_code eval_items(eval *self, val iterable, val *ret);

#endif
