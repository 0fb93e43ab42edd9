/*
 * canonical - one name for each thing of a library that is never read.
 *
 * `candle_core::tensor::Tensor` is `candle_core::Tensor`, `candle_nn::Module` is
 * `candle_core::Module` (where it is defined), `alloc::vec::Vec` is `std::vec::Vec`. What the table
 * (canonical.def) does not know stays as it is.
 */
#ifndef CG_MODEL_CANONICAL_H
#define CG_MODEL_CANONICAL_H

#include "base/arena.h"

#define CANONICAL_ROOM 512 /* bytes; longer paths stay as they are */

/* Write the canonical form of `path` to `out` when it is another one: its length, else 0. */
size_t canonical_path(cg_str path, char out[CANONICAL_ROOM]);

/* Does a glob import of the module `path` bring `name`? */
bool canonical_contains(cg_str path, cg_str name);

/* Path of the module or type whose `name` is there without a `use`; absent: none. */
cg_str canonical_prelude(cg_str name, bool is_macro);

/* Is it a type of the language: usize, f32, str ...? */
bool canonical_is_primitive(cg_str name);

#endif
