/*
 * std_call - one call of a library's function or method while it is answered, and what handlers
 * are made with.
 *
 * A handler reads the receiver and the arguments and gives a result (std_give and its relatives,
 * which return the handler's result code). A handler that gives nothing leaves the call unknown.
 * Handlers are listed in std_functions.def; the tables are in std.c.
 */
#ifndef CG_MODEL_STD_CALL_H
#define CG_MODEL_STD_CALL_H

#include "model/eval.h"

typedef struct library_call {
    eval *eval;
    val receiver;    /* 0 for functions */
    const val *args; /* without the receiver */
    size_t count;
    model_place place;
    cg_str name;     /* of the method, or the last segment of the path */
    type_ref wanted; /* what the result is wanted as, 0: not said */
    bool is_known;
    val result;  /* when is_known */
    val updated; /* the receiver afterwards, 0: it stays */
} library_call;

typedef cg_code (*std_handler)(library_call *call);

/* The argument, or 0. */
static inline val std_arg(const library_call *call, size_t which)
{
    return which < call->count ? call->args[which] : 0;
}

static inline const value *std_at(const library_call *call, val which)
{
    return value_at(call->eval->values, which);
}

static inline enum value_kind std_kind(const library_call *call, val which)
{
    return (enum value_kind)value_at(call->eval->values, which)->kind;
}

/* The result is this value; CG_NOMEM when it is 0. */
cg_code std_give(library_call *call, val result);
cg_code std_give_bool(library_call *call, bool value);
cg_code std_give_number(library_call *call, expr number);
/*
 * The result is not known, but it is of this kind (VALUE_INT, VALUE_BOOL, VALUE_FLOAT,
 * VALUE_UNKNOWN with `type`) and printed as the call is written: `cfg.sizes.len()`, `a.min(b)`.
 */
cg_code std_give_opaque(library_call *call, enum value_kind kind, type_ref type);
/* The value of a type, named as the call is written. */
cg_code std_give_typed(library_call *call, type_ref type);

/* A value without contents: VALUE_UNIT, VALUE_NOTHING, VALUE_NEVER, VALUE_ERROR. */
val std_plain(eval *self, enum value_kind kind);
/* VALUE_SOME of it. */
val std_some(eval *self, val inner);
/* A known float; `text` as value_print would. */
val std_float(eval *self, double real);
/* Two values, one of which it will be: {Some(inner), None}. */
val std_perhaps(eval *self, val inner);

/* The external type of this canonical path, without arguments; 0 when there is no memory. */
type_ref std_type(eval *self, const char *path);
/* The path of an external or primitive type, absent for others. */
cg_str std_type_path(eval *self, type_ref type);
/* The type through Result, Option, Box, ... */
type_ref std_type_inside(eval *self, type_ref type);

/*
 * `make` for every combination of what the arguments that are choices can be, joined; arguments
 * that are the same value vary together. With more than VALUE_CHOICES combinations once, with
 * the choices as they are.
 */
val std_each_choice(eval *self, const val *args, size_t count,
                    val (*make)(eval *self, const val *args, size_t count, const void *context),
                    const void *context);

/* What a choice by this value is printed as: `if cfg.bias`, `match cfg.head_dim`. */
bool std_condition(eval *self, val by, cg_str *ret);
/* Is a condition known? 1 yes and true, 0 yes and false, -1 no. */
int std_truth(eval *self, val condition);

#endif
