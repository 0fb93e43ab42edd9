/*
 * slice - what an expression of a function is computed from, by its text: the variables, the
 * values they were given, and theirs. What stands before `.detach()` does not count.
 *
 * A coarse answer: ways are not looked at, and of the order of statements only this: what a later
 * `let` of the same block hides counts for what stands between.
 */
#ifndef CG_MODEL_SLICE_H
#define CG_MODEL_SLICE_H

#include "model/walk.h"

/* Where a variable is named. */
typedef struct slice_use {
    sym name;
    uint32_t start;
} slice_use;

typedef struct slice {
    heap *heap;
    const program *program;
    const ast *tree;
    ast_ref body;
    VEC(sym) names;     /* of variables */
    VEC(sym) fields;    /* `self.field` */
    VEC(ast_ref) nodes; /* expressions it is computed from */
    VEC(slice_use) uses;
} slice;

void slice_begin(slice *self, heap *from, const program *code_of, item_ref function);
/* One more expression below the body; false: out of memory. */
bool slice_add(slice *self, ast_ref expression) CG_MUST;
/* Follow all names to their values. */
bool slice_close(slice *self) CG_MUST;
/* Does the place lie in one of the expressions, and not before a `.detach()`? */
bool slice_has(const slice *self, model_place place);
bool slice_has_field(const slice *self, sym field);
void slice_free(slice *self);

#endif
