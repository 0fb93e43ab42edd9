/*
 * expr_print - an expression as text.
 */
#ifndef CG_MODEL_EXPR_PRINT_H
#define CG_MODEL_EXPR_PRINT_H

#include "base/buf.h"
#include "model/expr_pool.h"

/* Rust-like text with as few parentheses as it takes; `?` for EXPR_NONE. */
void expr_print(const expr_pool *self, expr e, buf *out);

#endif
