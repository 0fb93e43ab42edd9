/*
 * expr_pool - the expressions of model/expr as numbers of a pool: each once, with what it is
 * made of.
 *
 * Constants, symbols and calls are made here. What has operands is made by model/expr, which puts
 * them in the order that makes equal expressions equal; expr_compound and expr_order are for it.
 */
#ifndef CG_MODEL_EXPR_POOL_H
#define CG_MODEL_EXPR_POOL_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/vec.h"

typedef uint32_t expr;

#define EXPR_NONE  0u
#define EXPR_DEPTH 40u   /* operations inside each other that are not sums or products */
#define EXPR_TERMS 256u  /* operands of one sum or product */
#define EXPR_SIZE  4096u /* symbols, constants and operations of one expression */

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

bool expr_pool_init(expr_pool *self, heap *from) CG_MUST;
void expr_pool_free(expr_pool *self);

expr expr_const(expr_pool *self, int64_t value);
expr expr_symbol(expr_pool *self, cg_str text);
/* Text nobody looks into, equal only to itself; printed as it is, in parentheses if need be. */
expr expr_call(expr_pool *self, cg_str text);

static inline enum expr_kind expr_kind_of(const expr_pool *self, expr e)
{
    return (enum expr_kind)self->nodes.at[e].kind;
}

/* The value, when it is a constant. */
bool expr_constant(const expr_pool *self, expr e, int64_t *ret);
/* The text of a symbol or call; absent for anything else. */
cg_str expr_text(const expr_pool *self, expr e);

/* NULL as long as no expression of the pool has any. */
static inline const expr *expr_operands(const expr_pool *self, const expr_node *node)
{
    return self->operands.at != NULL ? self->operands.at + node->first : NULL;
}

/* The expression with these operands as they are; EXPR_NONE when it would be too large. */
expr expr_compound(expr_pool *self, enum expr_kind kind, const expr *operands, size_t count);
/*
 * A fixed order of expressions that depends on their text alone, not on the order of their making.
 */
int expr_order(const expr_pool *self, expr a, expr b);

#endif
