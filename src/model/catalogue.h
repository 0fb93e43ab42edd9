/*
 * catalogue - what the libraries we know by name do, as data: std, candle-core and candle-nn.
 *
 * Tables (std_functions.def, candle_modules.def, candle_functions.def) are keyed by canonical path
 * and by the range of versions they were verified for. Outside of the range a row still holds, but
 * only conditionally.
 *
 * Every function sets *is_known false (and leaves *ret alone) when no table has the path or the
 * method, or when it cannot tell what comes out; the caller then goes on with an unknown value
 * and, when a builder was among the arguments, reports the call. Only running out of memory and
 * the user's interruption are failures. `eval->wanted` may say what the result is wanted as; it
 * is used up.
 */
#ifndef CG_MODEL_CATALOGUE_H
#define CG_MODEL_CATALOGUE_H

#include "model/trail.h"

typedef struct eval eval; /* model/eval */

/* Which candle the scanned crate is built with: CATALOGUE_VERSION(0, 11, 1), 0 when not known. */
#define CATALOGUE_VERSION(major, minor, patch)                                                     \
    ((uint32_t)(major) << 20 | (uint32_t)(minor) << 10 | (uint32_t)(patch))

typedef struct catalogue {
    uint32_t candle_core;
    uint32_t candle_nn;
} catalogue;

/* `0.11.1`, `0.9.1-alpha.2`; 0 when it is no version. */
uint32_t catalogue_version(cg_str text);
/* Were the tables compared with the sources of this version of candle-nn? */
bool catalogue_is_verified(uint32_t candle_nn);

/*
 * Call a function of candle by its canonical path (model/canonical): `candle_nn::linear`,
 * `candle_nn::VarBuilder::zeros`, `candle_core::Tensor::zeros`.
 */
cg_code candle_call(eval *self, sym path, const val *args, size_t count, model_place place,
                    bool *is_known, val *ret);
/* The value of a constant of candle: `candle_core::DType::F32`, `candle_core::Device::Cpu`. */
cg_code candle_constant(eval *self, sym path, bool *is_known, val *ret);
/* A method of a builder, a VarMap, a library module or a tensor. */
cg_code candle_method(eval *self, val receiver, sym name, const val *args, size_t count,
                      model_place place, bool *is_known, val *ret);

/* `left + right`, `-left` (right 0) when one is a tensor of the flow graph; name: `add`, `neg`. */
cg_code candle_operator(eval *self, cg_str name, val left, val right, model_place place,
                        bool *is_known, val *ret);

/*
 * A call nobody can follow: when tensors go in and a tensor may come out, the flow graph keeps what
 * it is made of. `type` is what it is known to give, 0 nothing.
 */
cg_code candle_lost(eval *self, cg_str name, type_ref type, const val *args, size_t count,
                    model_place place, bool *is_known, val *ret);

/* The same for std: numbers, strings, options, lists, maps, iterators, closures. */
cg_code std_call(eval *self, sym path, const val *args, size_t count, model_place place,
                 bool *is_known, val *ret);
cg_code std_constant(eval *self, sym path, bool *is_known, val *ret);
/* Numbers and texts, alone or in a list, as what they may be after somebody could change them. */
val std_blurred(eval *self, val which);
/* As blurred, and lists that were empty may have got items. */
val std_loosened(eval *self, val which);

/* The items of a VALUE_LAZY, made now: a VALUE_LIST. */
cg_code std_walk(eval *self, val lazy, val *ret);

/*
 * A method of a value. Results are transparent: on what is no option, `map`, `unwrap`, ... mean the
 * methods of Result. Lists whose type is `std::vec::Vec` are finished collections, all others
 * iterators. Changes of the receiver are left in `eval->updated_receiver`.
 */
cg_code std_method(eval *self, val receiver, sym name, const val *args, size_t count,
                   model_place place, bool *is_known, val *ret);

/*
 * Macros that give a value. `name` is the last segment as written; `path` may be 0.
 *
 * format!, println!, bail!, anyhow!, ...: the positional arguments, the format string being one of
 * them; after them, when the format string captures (`{i}`) or names (`n = x`), one VALUE_STRUCT of
 * type 0 whose fields are these names: see std_captures. vec!, smallvec!, array macros: the
 * elements; `vec![x; n]` is x and a VALUE_RANGE from 0 to n. assert!, debug_assert!, dbg!,
 * concat!, stringify!, todo!, unreachable!, panic!: their arguments.
 */
cg_code std_macro(eval *self, sym path, sym name, const val *args, size_t count, model_place place,
                  bool *is_known, val *ret);
/*
 * The distinct names a format string captures, in order of appearance, at most `room`: `{i:02}` and
 * `{:width$}` name `i` and `width`. Returns how many. Names live as long as the program.
 */
size_t std_captures(eval *self, cg_str format, sym *ret, size_t room);

#endif
