/*
 * names - what a path means where it stands: `use`, aliases, globs, re-exports, `self`, `super`,
 * `crate`, dependency renames, the prelude, items of blocks, followed to the definition.
 *
 * Nothing is ever found by its last segment alone. What lies in a library known by name only is an
 * external definition with its canonical path (model/canonical): `candle::Tensor`,
 * `candle_core::tensor::Tensor` and a renamed dependency all give `candle_core::Tensor`;
 * `candle_nn::Module` gives `candle_core::Module`, where it is defined.
 *
 * Locals and generic parameters are not names: who walks a body looks them up first. Visibility is
 * only looked at where it decides, in globs. What can be built or not (cfg undecided) is found when
 * nothing else is; of several alternatives the first in source order.
 */
#ifndef CG_MODEL_NAMES_H
#define CG_MODEL_NAMES_H

#include "model/paths.h"
#include "model/program.h"

#define NAMES_DEPTH 100 /* imports of imports, globs of globs */

/*
 * Resolve a path node (identifier, scoped_identifier, type_identifier, scoped_type_identifier,
 * generic_type, generic_function: their path) standing in `module` of `file`. A path that begins
 * with a type in brackets (`<T as Trait>::f`) is DEF_NONE: model/types resolves those.
 */
cg_code names_resolve(program *self, module_ref module, file_ref file, ast_ref path,
                      enum name_space space, name_def *ret, cg_err *reterr) CG_MUST;
/* The same for one name. */
cg_code names_find(program *self, module_ref module, sym name, enum name_space space, name_def *ret,
                   cg_err *reterr) CG_MUST;
/* A member of a module as seen from outside it: re-exports and globs followed. */
cg_code names_member(program *self, module_ref module, sym name, enum name_space space,
                     name_def *ret, cg_err *reterr) CG_MUST;
/*
 * Is the item reachable from outside the crate by some public path? A method is when its type (and
 * its trait) is, and it is public.
 */
cg_code names_is_reachable(program *self, item_ref item, bool *ret, cg_err *reterr) CG_MUST;

/* The type an impl is written for, or the trait it implements, as far as a path tells. */
cg_code names_of_impl(program *self, item_ref impl, bool is_trait, name_def *ret,
                      cg_err *reterr) CG_MUST;

/* The canonical form of a path; 0: out of memory. */
sym names_canonical(program *self, cg_str path);

/*
 * Qualified name of an item, without crate name: `module::Type::method`, `module::function`; what
 * is implemented for a type of a library begins with its path. In self->mem.
 */
bool program_item_path(program *self, item_ref item, cg_str *ret);

/* What does not resolve, of the `use` declarations of scanned crates; for tests and reports. */
typedef bool (*names_visitor)(void *context, file_ref file, ast_ref node, cg_str path,
                              bool is_found);
cg_code names_visit_imports(program *self, names_visitor visit, void *context,
                            cg_err *reterr) CG_MUST;

#endif
