/*
 * declared - all that a model document declares, found by the names that a run may use for it.
 *
 * Everything has a number, its item: components, modules, functions, operations, parameters and
 * contract tensors in the order of the document, then layers. A layer is what holds parameters
 * below a path that is no module (`head` of `head.weight`: the Linear of a library); it has no id,
 * and what is known of it is known of its parameters.
 *
 * A name may stand for several things; the look-ups give all of them, and nobody here chooses.
 * Texts are borrowed from the document, which must neither move nor change.
 */
#ifndef CG_JOIN_DECLARED_H
#define CG_JOIN_DECLARED_H

#include "base/number_map.h"
#include "join/path_index.h"
#include "model/document.h"
#include "model/index.h"
#include "schema/join_schema.h"

#define DECLARED_NONE  UINT32_MAX
#define DECLARED_LAYER JOIN_ITEM_WORD_COUNT /* a kind beside JOIN_ITEM_... */
#define DECLARED_KINDS (DECLARED_LAYER + 1)

/* Where keys hang: a builder of a component, below what another function puts in front of it. */
typedef struct declared_unit {
    uint32_t component;
    cg_str root;
    cg_str prefix; /* empty: none */
} declared_unit;

typedef struct declared_alias {
    uint32_t item;
    uint32_t unit; /* of modules, layers and parameters */
    bool is_whole; /* of functions: the name is all of the qualified name */
} declared_alias;

typedef struct declared_layer {
    cg_str prefix;
    uint32_t unit;
    uint32_t first; /* parameter; they are linked by declared.next_in_layer */
} declared_layer;

typedef struct declared {
    heap *heap;
    arena mem;
    const model_doc *doc;
    uint32_t first[DECLARED_KINDS + 1]; /* by kind: its first item */
    text_index component_ids, module_ids, function_ids;
    uint32_t *component_of;  /* by item: number of the component, DECLARED_NONE: of none */
    uint32_t *parent_of;     /* by module: module around it; by parameter and layer: its module */
    uint32_t *function_of;   /* by operation and tensor: number of the function */
    uint32_t *first_held;    /* by module: its first own parameter */
    uint32_t *layer_of;      /* by parameter */
    uint32_t *next_in_layer; /* by parameter: the next one */
    bool *is_home;           /* by operation: it stands in its function's own text */
    VEC(declared_layer) layers;
    VEC(declared_unit) units;
    VEC(declared_alias) aliases; /* what the paths lead to */
    path_index keys;             /* of parameters */
    path_index key_ends;         /* ends of keys, of two segments or more */
    path_index modules;          /* paths of modules and layers */
    path_index module_ends;      /* every end of them */
    path_index fields;           /* of modules: paths of the fields that hold them */
    path_index field_ends;       /* every end of them */
    path_index functions;        /* qualified names and every end of them */
    path_index types;            /* squeezed names of types: components and modules */
    intern names;                /* of operations, squeezed, and of tensors */
    number_map by_function;      /* (number of a function + 1, name) -> first of a chain */
    number_map by_name;          /* (1, name) -> first of a chain of operations at home */
    uint32_t *next_in_function;  /* by operation and tensor */
    uint32_t *next_of_name;      /* by operation */
    buf room;
} declared;

cg_code declared_make(declared *self, heap *from, const model_doc *doc, uint64_t seed,
                      cg_err *reterr) CG_MUST;
void declared_free(declared *self);

/* The kind of an item (DECLARED_LAYER too), and its place in its list. */
uint8_t declared_kind(const declared *self, uint32_t item);
static inline uint32_t declared_place(const declared *self, uint8_t kind, uint32_t item)
{
    return item - self->first[kind];
}
static inline uint32_t declared_item(const declared *self, uint8_t kind, size_t place)
{
    return self->first[kind] + (uint32_t)place;
}
static inline uint32_t declared_count(const declared *self)
{
    return self->first[DECLARED_KINDS];
}

/* Lower case, without `_`, `-` and blanks, put behind what `out` holds. */
void declared_squeeze(cg_str name, buf *out);
/* What an operation is called, squeezed: `RmsNorm::forward` and `rms_norm` are `rmsnorm`. */
void declared_operation_name(cg_str name, buf *out);

/* The first operation or tensor of that name in a function, by declared.next_in_function. */
uint32_t declared_in_function(declared *self, uint32_t function, cg_str name, bool is_operation);
/* The first operation of that name in the crate, by declared.next_of_name. */
uint32_t declared_operation(declared *self, cg_str name);

#endif
