/*
 * parameter_list - parameters of a model as a few lines of text, for tests.
 *
 *   component models::Gpt            what follows belongs to it
 *   vb wte.weight = vocab, dim : embedding
 *   vb h.{i}.up.weight = 3 * dim, dim : linear
 *   vb? head.bias                    conditional, shape not known
 *   step Gpt::new src/lib.rs 12 1    a call of the line before: function, file, line, pieces
 */
#ifndef CG_TESTS_SUPPORT_PARAMETER_LIST_H
#define CG_TESTS_SUPPORT_PARAMETER_LIST_H

#include "join/parameters.h"

typedef struct parameter_list {
    expr_pool *pool;
    arena *mem;
    wanted_component *components;
    size_t count;
} parameter_list;

/* Everything lives in `mem`; a line that cannot be read ends the program. */
void parameter_list_read(arena *mem, expr_pool *pool, cg_str text, parameter_list *ret);

#endif
