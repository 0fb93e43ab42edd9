/*
 * paths - the segments of a path as it is written, and what a path can mean.
 */
#ifndef CG_MODEL_PATHS_H
#define CG_MODEL_PATHS_H

#include "model/items.h"

#define PATH_SEGMENTS 32 /* longer paths mean nothing */

enum name_space { SPACE_TYPE, SPACE_VALUE, SPACE_MACRO };

enum def_kind {
    DEF_NONE, /* not found: a local, a generic parameter, or nothing */
    DEF_ITEM,
    DEF_MODULE,
    DEF_EXTERNAL,  /* of a library or an absent crate: `path` */
    DEF_PRIMITIVE, /* `usize`: `path` */
    DEF_SELF_TYPE  /* `Self` alone: the caller knows which */
};

typedef struct name_def {
    uint8_t kind;
    item_ref item;
    module_ref module;
    sym path;      /* canonical path of an external or primitive: `candle_nn::linear`, `usize` */
    uint32_t rest; /* segments of the path that lie beyond what was found: `Type::method` gives Type
                      and 1; `external::path::X::new` gives the whole path and 0 */
} name_def;

/*
 * The names of a path node from left to right, generic arguments left out. 0: no path of names
 * (`<T as Trait>::f`), or a longer one than PATH_SEGMENTS. *ret_is_global: it begins with `::`.
 */
size_t path_segments(const program *self, file_ref file, ast_ref path, sym ret[PATH_SEGMENTS],
                     bool *ret_is_global);

#endif
