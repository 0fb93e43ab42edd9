/*
 * expr - whole numbers that are known as text or as a value: shapes, counts, indices.
 *
 *   expr_pool pool;
 *   expr_pool_init(&pool, heap);
 *   expr h = expr_symbol(&pool, CG_LIT("cfg.hidden_size"));
 *   expr four = expr_binary(&pool, EXPR_MUL, h, expr_const(&pool, 4));   4 * cfg.hidden_size
 *
 * An expr is a number of its pool; EXPR_NONE (0) stands for "not known" and every operation on it
 * gives it back. Equal expressions are the same number: sums of products are multiplied out,
 * collected and put in an order of their own, so `a == b` compares polynomials. Different numbers
 * may still mean equal values (`n / 2 * 2` and `n`): expr_differs says when they cannot.
 *
 * Symbols and calls stand for sizes and counts: whole and not negative, one value each. Division
 * is Rust's, towards zero; `(a * b) / b` is `a`, while `(a / b) * b` stays. What would overflow,
 * divide by zero, or grow beyond EXPR_DEPTH, EXPR_TERMS or EXPR_SIZE is EXPR_NONE. Out of memory
 * gives EXPR_NONE too and sets `failed`: look once, at the end.
 *
 * Texts are copied. Everything lives as long as the pool.
 */
#ifndef CG_MODEL_EXPR_H
#define CG_MODEL_EXPR_H

#include "model/expr_pool.h"

enum expr_op { EXPR_ADD, EXPR_SUB, EXPR_MUL, EXPR_DIV, EXPR_REM, EXPR_MIN, EXPR_MAX, EXPR_POW };

/* `-a` is expr_binary(self, EXPR_SUB, expr_const(self, 0), a). */
expr expr_binary(expr_pool *self, enum expr_op op, expr a, expr b);


/* Can the two never have the same value? Their difference is a constant other than 0. */
bool expr_differs(expr_pool *self, expr a, expr b);

/* Is it never negative, whatever its symbols are? false: perhaps it is. */
bool expr_is_natural(const expr_pool *self, expr e);

#endif
