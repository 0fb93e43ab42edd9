/*
 * expr_solve - which values of its symbols make an expression a number.
 */
#ifndef CG_MODEL_EXPR_SOLVE_H
#define CG_MODEL_EXPR_SOLVE_H

#include "model/expr_values.h"

enum expr_answer {
    EXPR_OPEN,  /* cannot be told */
    EXPR_HOLDS, /* equal already */
    EXPR_FALSE, /* no value of the free symbols makes it so */
    EXPR_BINDS, /* exactly one value of the only free symbol: *ret */
};

/* What `e == number` says about the symbols that `bindings` (constants) leave free. */
enum expr_answer expr_solve(expr_pool *self, expr e, int64_t number, const expr_binding *bindings,
                            size_t count, expr_binding *ret);

#endif
