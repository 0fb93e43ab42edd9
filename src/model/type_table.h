/*
 * type_table - types as numbers: equal types are the same one.
 *
 * A type is a definition with arguments. References, parentheses and lifetimes vanish, aliases are
 * followed. Generic parameters are types of their own until they are substituted; 0 is unknown and
 * may stand for any argument.
 */
#ifndef CG_MODEL_TYPE_TABLE_H
#define CG_MODEL_TYPE_TABLE_H

#include "model/names.h"

typedef uint32_t type_ref; /* 0: unknown */

enum type_kind {
    TYPE_UNKNOWN,
    TYPE_ITEM,       /* struct, enum, union of a read crate: item, args */
    TYPE_EXTERNAL,   /* path, args: std::vec::Vec<T>, candle_core::Tensor, candle_nn::Linear */
    TYPE_PRIMITIVE,  /* path: usize, f64, bool, str */
    TYPE_TUPLE,      /* args; the unit type has none */
    TYPE_ARRAY,      /* arg 0; arrays and slices */
    TYPE_FUNCTION,   /* args: parameters, then the result; fn pointers, functions, impl or dyn Fn */
    TYPE_PARAMETER,  /* a generic parameter: name, of `item` (function, impl, struct, trait) */
    TYPE_TRAIT,      /* `impl Trait`, `dyn Trait`, a bound: item or path, args; `Item = T` last */
    TYPE_SELF,       /* `Self` inside a trait: item */
    TYPE_ASSOCIATED, /* `T::Name` of a parameter: arg 0 is T; item: the trait, if it is written */
    TYPE_KIND_COUNT
};

#define TYPE_NESTING 48     /* types inside types; what lies deeper is unknown */
#define TYPE_ARGS    255    /* arguments of one type, others are left out */
#define TYPE_STEPS   20000u /* parts of one type, and of what it stands for */
#define TYPE_CALLS   12u    /* types that are asked for to answer for one */

typedef struct model_type {
    uint8_t kind;
    uint8_t arg_count;
    item_ref item;
    sym name; /* path of externals and primitives, name of a parameter */
    const type_ref *args;
} model_type;

/* Names of generic parameters with what stands for them. */
typedef struct type_bindings {
    const sym *names;
    const type_ref *types;
    size_t count;
    type_ref self_type; /* `Self`; 0 when there is none */
} type_bindings;

/* What a name of a type leads to, see type_find_method. */
typedef struct method_found {
    item_ref function; /* 0: none */
    item_ref impl;     /* 0 when found in a trait */
    type_bindings bindings;
    bool is_ambiguous;
} method_found;

/* The same, kept; right as long as there are no more impls than then. */
typedef struct method_memory {
    method_found found;
    size_t impls;
} method_memory;

/* An impl block as model/impls keeps it. */
typedef struct impl_entry {
    item_ref item;
    type_ref self_type;
    item_ref trait_item; /* 0: inherent, or a trait of a library */
    sym trait_path;
    type_ref trait_type; /* with its arguments */
    uint32_t next_for;   /* with the same head of the self type, in source order */
    uint32_t next_of;    /* of the same trait */
} impl_entry;

typedef struct item_list {
    const item_ref *at;
    size_t count;
    size_t impls; /* how many there were when it was made */
} item_list;

typedef struct types {
    program *program;
    heap *heap;
    arena mem;
    VEC(model_type) all;
    VEC(type_ref) chain; /* earlier type with the same hash */
    number_map by_hash;
    number_map self_types;               /* (1, impl) -> type + 1 */
    uint32_t calls;                      /* type_lower and type_substitute inside each other */
    uint32_t fuel;                       /* steps that are left to the outermost one */
    item_ref open_aliases[TYPE_NESTING]; /* what they stand for is being looked at */
    uint32_t open_count;
    /* model/impls' own: */
    VEC(impl_entry) impls;
    size_t seen_items;
    bool is_following;
    number_map first_for, last_for; /* head of a type -> impl */
    number_map first_of, last_of;   /* trait -> impl */
    number_map opened;              /* (1, module) whose surroundings were read */
    number_map lists;
    VEC(item_list) listed;
    number_map methods; /* (type, name and kind) -> remembered */
    VEC(method_memory) remembered;
} types;

bool type_table_init(types *self, program *over);
void type_table_free(types *self);

static inline const model_type *type_at(const types *self, type_ref type)
{
    return &self->all.at[type];
}

/* The names of an item's generic parameters, lifetimes left out. */
size_t type_parameters(const types *self, item_ref item, sym ret[TYPE_ARGS]);

/* The type of that shape; arguments are copied. */
cg_code type_make(types *self, const model_type *shape, type_ref *ret, cg_err *reterr) CG_MUST;

#endif
