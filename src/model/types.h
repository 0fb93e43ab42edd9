/*
 * types - types as the source writes them, resolved; and who implements what.
 *
 * `Result<T, E>` of any library and `Box`, `Rc`, `Arc`, `Cow` stay visible as externals with
 * arguments, so that whoever asks can look through them (type_peel). Bindings may be NULL; generic
 * parameters they do not name stand for themselves. Everything lent lives as long as the types.
 */
#ifndef CG_MODEL_TYPES_H
#define CG_MODEL_TYPES_H

#include "model/type_table.h"

cg_code types_new(program *over, types **ret, cg_err *reterr) CG_MUST;
void types_free(types *self);

/* Lower a type node standing in `module` of `file`; a path of an expression will do as well. */
cg_code type_lower(types *self, module_ref module, file_ref file, ast_ref node,
                   const type_bindings *bindings, type_ref *ret, cg_err *reterr) CG_MUST;
/*
 * The type of an item, parameters stand for themselves: of a struct or enum; of an impl its self
 * type; of a variant its enum; of a function TYPE_FUNCTION (a receiver is its first parameter); of
 * a constant or alias what is written.
 */
cg_code type_of_item(types *self, item_ref item, type_ref *ret, cg_err *reterr) CG_MUST;
cg_code type_substitute(types *self, type_ref type, const type_bindings *bindings, type_ref *ret,
                        cg_err *reterr) CG_MUST;
/* Through Result, Option, Box, Rc, Arc, Cow, Cell, RefCell, Mutex, RwLock to the type inside. */
type_ref type_peel(const types *self, type_ref type);
/*
 * Declared type of a field (named, or by number for tuple structs), arguments substituted; 0: no
 * such field.
 */
cg_code type_field(types *self, type_ref owner, sym field, type_ref *ret, cg_err *reterr) CG_MUST;
/* Printed for people and documents: `Vec<layers::Block>`; in the program's memory. */
bool type_text(types *self, type_ref type, cg_str *ret);

/* --- who implements what (model/impls) --- */

/*
 * Methods and associated functions. `find` gives the one item a call `value.name()` or
 * `Type::name()` means: inherent first, then traits implemented by the type, then blanket impls;
 * for TYPE_TRAIT and TYPE_PARAMETER (by its bounds) the trait's own declaration. Box, Rc and Arc
 * are looked through. Candidates of inactive cfg are gone; with several undecided ones the first
 * in source order is taken and `is_ambiguous` set. `bindings` has the impl's own generics as far
 * as the type tells, and its self type.
 */
cg_code type_find_method(types *self, type_ref type, sym name, method_found *ret,
                         cg_err *reterr) CG_MUST;
/*
 * `<Type as Trait>::name`, also a trait of a library by its path (`candle_nn::Module` + forward):
 * give the item or the path, 0 for the other.
 */
cg_code type_find_trait_method(types *self, type_ref type, item_ref trait_item, sym trait_path,
                               sym name, method_found *ret, cg_err *reterr) CG_MUST;
/* Every impl of a trait in the read crates, in source order. */
cg_code type_impls_of(types *self, item_ref trait_item, sym trait_path, const item_ref **ret,
                      size_t *ret_count, cg_err *reterr) CG_MUST;
/* Every impl block (inherent and trait) whose self type is this struct or enum, in source order. */
cg_code type_impls_for(types *self, item_ref type_item, const item_ref **ret, size_t *ret_count,
                       cg_err *reterr) CG_MUST;
/*
 * The associated type `base::name` (of that trait, 0: of any): what an impl says, TYPE_ASSOCIATED
 * when the base is still a parameter.
 */
cg_code type_associated(types *self, type_ref base, item_ref trait_item, sym name, type_ref *ret,
                        cg_err *reterr) CG_MUST;

#endif
