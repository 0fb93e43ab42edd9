/*
 * rules - a rule of `macro_rules!` applied to tokens: text to text.
 *
 *   rules_work work;
 *   if (rules_begin(&work, heap, mem, input) && rules_apply(&work, pattern, body, &fits) && fits)
 *       ... buf_text(&work.out) ...
 *   rules_end(&work);
 *
 * Fragments reach as far as what may follow their kind and are not looked into; one that is an
 * expression is put in parentheses, a type before `::` in angle brackets, so that it stays one.
 * `$crate` and what is no variable of the rule are left as they are. Bounded by steps, by the size
 * of the text, and by how deep a rule nests: beyond, a rule does not fit.
 */
#ifndef CG_RUST_RULES_H
#define CG_RUST_RULES_H

#include "base/buf.h"
#include "base/vec.h"
#include "rust/tokens.h"

/* A fuzzer reaches these ceilings with every tenth input: then they cost little. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define RULES_TEXT_CEILING ((size_t)1 << 14)
#define RULES_STEPS        20000
#else
#define RULES_TEXT_CEILING ((size_t)1 << 20)
#define RULES_STEPS        4000000 /* tokens looked at, for all the rules of one macro */
#endif
#define RULES_NEST  48 /* groups and repetitions inside each other */
#define RULES_LOOPS 6  /* repetitions inside each other */

/* A variable of a rule, for one turn of the repetitions around it. */
typedef struct rules_binding {
    cg_str name;
    cg_str text;
    uint32_t turns[RULES_LOOPS];
    uint8_t depth;
    bool is_expression;
    bool is_type;
} rules_binding;

typedef struct rules_variable {
    cg_str name;
    uint8_t depth; /* repetitions around it */
} rules_variable;

typedef struct rules_work {
    heap *heap;
    arena *mem;
    buf out;
    rust_tokens input;
    rust_tokens pattern;
    rust_tokens body;
    VEC(rules_binding) bindings;
    VEC(rules_variable) variables;
    uint32_t turns[RULES_LOOPS];
    uint32_t depth; /* repetitions around the present place */
    uint32_t steps_left;
    bool is_lacking; /* memory */
} rules_work;

/* `input`: what stands between the delimiters of the invocation. False when out of memory. */
bool rules_begin(rules_work *self, heap *heap, arena *mem, cg_str input);
void rules_end(rules_work *self);

/* *ret_fits: the text is in self->out, until the next rule. False when out of memory. */
bool rules_apply(rules_work *self, cg_str pattern, cg_str body, bool *ret_fits);

#endif
