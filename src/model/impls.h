/*
 * impls - more questions about who implements what: constants, bounds, paths through types.
 *
 * The index follows the program: impls of files that are read later are found from then on. For a
 * type of a dependency the modules below its own, and a few beside it, are read when a method is
 * not found in what is there.
 */
#ifndef CG_MODEL_IMPLS_H
#define CG_MODEL_IMPLS_H

#include "model/types.h"

/* Does an impl, blanket ones included, give `type` that trait? */
cg_code type_implements(types *self, type_ref type, item_ref trait_item, sym trait_path, bool *ret,
                        cg_err *reterr) CG_MUST;

/* What a path of an expression means, types included. */
typedef struct path_meaning {
    name_def def;       /* rest is 0, or `owner` tells the rest */
    type_ref owner;     /* the type before the last segment: `Vec<T>` of `Vec::<T>::new`; 0: none */
    sym name;           /* the last segment */
    method_found found; /* the function or constant of a read crate it leads to */
} path_meaning;

/*
 * Resolve a path of an expression: functions, constants, variants, `Type::name`, `T::name`,
 * `Self::name`, `<T as Trait>::name`, through aliases. What leads into a library is DEF_EXTERNAL.
 */
cg_code type_resolve(types *self, module_ref module, file_ref file, ast_ref path,
                     const type_bindings *bindings, path_meaning *ret, cg_err *reterr) CG_MUST;

#endif
