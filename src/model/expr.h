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

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/vec.h"

typedef uint32_t expr;

#define EXPR_NONE  0u
#define EXPR_DEPTH 40u   /* operations inside each other that are not sums or products */
#define EXPR_TERMS 256u  /* operands of one sum or product */
#define EXPR_SIZE  4096u /* symbols, constants and operations of one expression */

enum expr_op { EXPR_ADD, EXPR_SUB, EXPR_MUL, EXPR_DIV, EXPR_REM, EXPR_MIN, EXPR_MAX, EXPR_POW };

enum expr_kind {
    EXPR_UNKNOWN,
    EXPR_CONSTANT,
    EXPR_SYMBOL,   /* a name: `n`, `cfg.hidden_size` */
    EXPR_CALL,     /* a value nobody looks into: `groups(cfg)` */
    EXPR_SUM,      /* operands: products and atoms, a constant last */
    EXPR_PRODUCT,  /* operands: a constant first, then atoms */
    EXPR_QUOTIENT, /* two operands */
    EXPR_REMAINDER,
    EXPR_POWER,
    EXPR_LEAST, /* two or more, in order, a constant last */
    EXPR_GREATEST,
};

typedef struct expr_node {
    uint8_t kind;  /* enum expr_kind */
    uint8_t depth; /* 0: constants, symbols, calls */
    uint16_t count;
    uint32_t hash;
    uint32_t size;
    sym text;       /* of a symbol or call */
    uint32_t first; /* operands[first .. first + count) */
    int64_t value;  /* of a constant */
} expr_node;

typedef struct expr_pool {
    heap *heap;
    intern texts;
    VEC(expr_node) nodes; /* index = expr; entry 0 is EXPR_NONE */
    VEC(expr) operands;
    uint32_t *slots; /* open hash of nodes; 0 = free */
    size_t slot_count;
    bool failed;
} expr_pool;

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

bool expr_pool_init(expr_pool *self, heap *from) CG_MUST;
void expr_pool_free(expr_pool *self);

expr expr_const(expr_pool *self, int64_t value);
expr expr_symbol(expr_pool *self, cg_str text);
/* Text nobody looks into, equal only to itself; printed as it is, in parentheses if need be. */
expr expr_call(expr_pool *self, cg_str text);
/* `-a` is expr_binary(self, EXPR_SUB, expr_const(self, 0), a). */
expr expr_binary(expr_pool *self, enum expr_op op, expr a, expr b);

static inline enum expr_kind expr_kind_of(const expr_pool *self, expr e)
{
    return (enum expr_kind)self->nodes.at[e].kind;
}

/* The value, when it is a constant. */
bool expr_constant(const expr_pool *self, expr e, int64_t *ret);
/* The text of a symbol or call; absent for anything else. */
cg_str expr_text(const expr_pool *self, expr e);
/* Can the two never have the same value? Their difference is a constant other than 0. */
bool expr_differs(expr_pool *self, expr a, expr b);

/* Symbols and calls replaced at once, values are not looked into again. */
expr expr_substitute(expr_pool *self, expr e, const expr_binding *bindings, size_t count);
/* The value when every symbol is bound to a constant. Adds nothing to the pool. */
bool expr_evaluate(const expr_pool *self, expr e, const expr_binding *bindings, size_t count,
                   int64_t *ret);
/* Append the distinct symbols and calls of `e`, in order of appearance; of the pool's heap. */
bool expr_symbols(const expr_pool *self, expr e, expr_list *ret);

enum expr_answer {
    EXPR_OPEN,  /* cannot be told */
    EXPR_HOLDS, /* equal already */
    EXPR_FALSE, /* no value of the free symbols makes it so */
    EXPR_BINDS, /* exactly one value of the only free symbol: *ret */
};

/* What `e == number` says about the symbols that `bindings` (constants) leave free. */
enum expr_answer expr_solve(expr_pool *self, expr e, int64_t number, const expr_binding *bindings,
                            size_t count, expr_binding *ret);

/* Rust-like text with as few parentheses as it takes; `?` for EXPR_NONE. */
void expr_print(const expr_pool *self, expr e, buf *out);

#endif
