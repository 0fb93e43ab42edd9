/*
 * eval_use - what an expression is wanted as, by where its value ends up.
 *
 * Rust takes the type that `make(d, vb)?` gives from any use of the result in the function: the
 * field it becomes, the parameter it is handed to, the list it is pushed to, the result. This finds
 * that use in the syntax: outwards from the expression, and on to where the variable that it is
 * bound to is used.
 */
#ifndef CG_MODEL_EVAL_USE_H
#define CG_MODEL_EVAL_USE_H

#include "model/eval_state.h"

/* The type wanted of `node` in the function that is evaluated; 0: no use says it. */
cg_code eval_use_type(eval *self, ast_ref node, type_ref *ret);

#endif
