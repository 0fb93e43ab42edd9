/*
 * walk - moving through the syntax of one function: in order, by place, by what is called.
 *
 * Nothing recurses; a walk costs what it visits.
 */
#ifndef CG_MODEL_WALK_H
#define CG_MODEL_WALK_H

#include "model/value.h"

/* The node after `at` in a walk over the subtree of `top`, 0 at the end. */
ast_ref walk_next(const ast *tree, ast_ref top, ast_ref at);
/* The same without what is inside of `at`. */
ast_ref walk_skip(const ast *tree, ast_ref top, ast_ref at);
/* The call a place stands for, below `top`; 0 when there is none. */
ast_ref walk_call_at(const ast *tree, ast_ref top, model_place place);
/* The body of a function, 0 when it has none. */
ast_ref walk_body(const program *code_of, item_ref function);
/* The name a call is made by: `load` of `map.load(..)`, `new` of `a::B::new(..)`; 0 for others. */
ast_ref walk_called(const ast *tree, ast_ref call);
/* What a method is called on, 0 when the call is no method call. */
ast_ref walk_receiver(const ast *tree, ast_ref call);
/* The argument number `index` of a call, 0 when there are less. */
ast_ref walk_argument(const ast *tree, ast_ref call, size_t index);
/* Without `&`, `?`, `unsafe {}`, `.clone()` and the like around it. */
ast_ref walk_bare(const program *code_of, const ast *tree, ast_ref at);
/* Is the function a test, or one of the modules around it made for tests? */
bool walk_is_test(const program *code_of, item_ref function);

#endif
