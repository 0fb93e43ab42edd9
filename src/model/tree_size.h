/*
 * tree_size - how many scalars, as a sum of products of names and numbers.
 *
 * Shapes come as text, `(hidden, 4 * hidden)`; equal products are added up, so
 * that twelve equal layers are one term. A sum holds at most SIZE_TERMS
 * different products; what does not fit counts as unknown.
 */
#ifndef CG_MODEL_TREE_SIZE_H
#define CG_MODEL_TREE_SIZE_H

#include "base/arena.h"
#include "schema/schema.h"

#define SIZE_TERMS   32
#define SIZE_FACTORS 16

/* number * factor * factor ...; factors in bytewise order. */
typedef struct size_term {
    uint64_t number;
    cg_str factors[SIZE_FACTORS];
    size_t count;
    bool is_unknown; /* too many factors, or too large */
} size_term;

typedef struct size_sum {
    size_term *terms; /* from the arena, with room for a power of two */
    size_t count;
    uint64_t unknown; /* parameters whose size is not known */
} size_sum;

/* The term 1. */
size_term size_one(void);
/* Multiply with a whole number, or with an expression such as `4 * (n + 1)`. */
void size_times_number(size_term *self, uint64_t number);
void size_times_text(size_term *self, cg_str expression);
/* Multiply with every axis of a shape: `(a, b)` or `a`. */
void size_times_shape(size_term *self, cg_str shape);

bool size_add(size_sum *self, arena *mem, const size_term *term) CG_MUST;
/* The number, when nothing symbolic and nothing unknown is in it. */
opt_u64 size_number(const size_sum *self);
/* `2*d*d + 128`, with `+ ?` when something is unknown; absent when it is a plain number. */
bool size_text(const size_sum *self, arena *mem, cg_str *ret) CG_MUST;

/* Bits of one scalar by the spelling of safetensors, 0: unknown. */
uint64_t size_dtype_bits(cg_str dtype);

#endif
