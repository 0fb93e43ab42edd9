/*
 * expr_terms - polynomials as lists of terms, while they are added, multiplied and divided: a
 * factor and a product of atoms each, in one order, every product once.
 */
#ifndef CG_MODEL_EXPR_TERMS_H
#define CG_MODEL_EXPR_TERMS_H

#include "model/expr_pool.h"

typedef struct term {
    int64_t factor;
    expr product; /* EXPR_NONE: the constant term */
} term;

typedef struct terms {
    size_t count;
    bool is_over; /* too many, too large, or out of memory */
    term at[EXPR_TERMS];
} terms;

/* Instead of an initialiser, which clears all of the array. */
static inline void terms_begin(terms *self)
{
    self->count = 0;
    self->is_over = false;
}

static inline void terms_copy(terms *to, const terms *from)
{
    to->count = from->count;
    to->is_over = from->is_over;
    memcpy(to->at, from->at, from->count * sizeof *from->at);
}

/* Add an expression, or with sign -1 take it away. */
void terms_of(expr_pool *self, expr e, int64_t sign, terms *to);
/* Add to the term of this product, kept in order. */
void terms_add(const expr_pool *self, terms *to, int64_t factor, expr product);
/* Add a * by, or with sign -1 take it away. */
void terms_multiply(expr_pool *self, const terms *a, term by, int64_t sign, terms *to);
/*
 * *ret is rest / by, when nothing is left; else false. `rest` is used up. The leading terms decide,
 * as by hand: the order of products is one that multiplication respects, so an exact quotient is
 * found.
 */
bool terms_divide(expr_pool *self, terms *rest, const terms *by, terms *ret);
/* The sum as an expression; EXPR_NONE when it is over. */
expr terms_build(expr_pool *self, const terms *from);
/* The atoms of a product without its factor, as a slice of the pool or of `product` itself. */
size_t terms_atoms(const expr_pool *self, const expr *product, const expr **ret);
/* a / b for products of atoms when every atom of b is one of a. */
bool terms_divide_products(expr_pool *self, expr a, expr b, expr *ret);
/* Of the factors of terms: not negative, unless it is INT64_MIN. */
int64_t terms_gcd(int64_t a, int64_t b);
/* base to the exponent; false: it is no whole number, or too large. */
bool terms_power(int64_t base, int64_t exponent, int64_t *ret);

#endif
