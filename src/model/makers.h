/*
 * makers - functions that make a VarBuilder themselves and ask it for parameters: `main` of a small
 * program, `train`, a `new` without a builder among its arguments.
 *
 * Such a function is a component of its own, named after the struct or enum of the crate that it
 * gives back, else after itself. Its parameters are those that are asked of its own builders
 *
 *   by its own code and its closures, by functions of the crate it calls and by libraries,
 *   but not inside of structs and functions that are components: those have their own.
 *
 * Who asks for nothing himself, but has one free function do it by one call
 * (`build(vb) -> Result<Sequential>`), is none: that function is one then, public or not. With a
 * prefix or other arguments (`build(8, vb.pp("model"))`) only the caller knows the keys and their
 * shapes, and is the component.
 *
 * Components that such a function has built are not its own, but what it gives their constructors
 * is kept: extraction->uses.
 *
 * Its roots are called as the variables that hold the builders; builders of one map are one root.
 */
#ifndef CG_MODEL_MAKERS_H
#define CG_MODEL_MAKERS_H

#include "model/draft.h"
#include "model/extract.h"
#include "model/functions.h"

/* Between extract_run with options->is_open and extract_close. */
cg_code makers_run(eval *interpreter, const function_facts *functions,
                   const extract_options *options, extraction *ret, cg_err *reterr) CG_MUST;
/* Give the roots of the trail their names, after an evaluation of the function. */
bool makers_name_roots(eval *interpreter);
/*
 * Is what the call of a function makes held by nobody, or by a variable that the function never
 * names again? A layer that is named may go where nobody follows it: into a thread, a table, a
 * macro.
 */
bool makers_forgets(const program *code_of, item_ref function, model_place call);

#endif
