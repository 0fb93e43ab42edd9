/*
 * expr_values - values for the symbols of an expression.
 */
#ifndef CG_MODEL_EXPR_VALUES_H
#define CG_MODEL_EXPR_VALUES_H

#include "model/expr.h"

/* One symbol or call and what it is. */
typedef struct expr_binding {
    expr symbol;
    expr value;
} expr_binding;

typedef struct expr_list {
    expr *at;
    size_t count;
    size_t capacity;
} expr_list; /* freed with vec_free(heap, &list) */

/* Symbols and calls replaced at once, values are not looked into again. */
expr expr_substitute(expr_pool *self, expr e, const expr_binding *bindings, size_t count);
/* The value when every symbol is bound to a constant. Adds nothing to the pool. */
bool expr_evaluate(const expr_pool *self, expr e, const expr_binding *bindings, size_t count,
                   int64_t *ret);
/* Append the distinct symbols and calls of `e`, in order of appearance; of the pool's heap. */
bool expr_symbols(const expr_pool *self, expr e, expr_list *ret);

/* Values of symbols: the bindings, and one more that need not be in the pool. */
typedef struct expr_values {
    const expr_binding *bindings;
    size_t count;
    expr free;
    int64_t free_value;
} expr_values;

bool expr_value_of(const expr_pool *self, expr e, const expr_values *from, int64_t *ret);

#endif
