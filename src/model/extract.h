/*
 * extract - the components of a crate, and what their constructors ask for.
 *
 * A component is a struct or enum that some function makes from a VarBuilder, or a public
 * function that makes something from one (`resnet18(vb) -> Func`). Every constructor is
 * evaluated once, with its builder parameters as roots. Keys of the first constructor keep their
 * certainty; keys only another one asks for are conditional.
 */
#ifndef CG_MODEL_EXTRACT_H
#define CG_MODEL_EXTRACT_H

#include "model/eval.h"

/* A loop around a call: what counts its rounds, and how many there are. */
typedef struct extract_loop {
    expr symbol;
    expr count; /* EXPR_NONE: not known */
} extract_loop;

typedef struct extract_parameter {
    uint32_t instance; /* in instances of the component, from 0 */
    cg_str root;
    text_pieces key;
    cg_str printed; /* as in documents: `layers.{i}.weight` */
    const builder_step *last;
    const expr *shape;
    uint32_t rank;
    bool has_shape;
    cg_str shape_text; /* absent: not known */
    cg_str dtype;      /* `F32`; absent: not known */
    cg_str how;
    sym library;
    cg_str repeat;             /* absent: none */
    const extract_loop *loops; /* around it, the innermost first */
    uint32_t loop_count;
    cg_str condition; /* absent: certain */
    model_place place;
    bool is_running_state;
    cg_str alternative; /* see trail.h; absent: none */
    uint32_t asked_of;  /* root of the trail, if it was asked for on every way with a shape; 0 */
    uint32_t asked_in;  /* repetition of the trail */
} extract_parameter;

/* A key that is asked for again with a shape no tensor has besides the first. */
typedef struct extract_collision {
    uint32_t first; /* in parameters of the component */
    extract_parameter again;
} extract_collision;

typedef struct extract_instance {
    uint32_t parent; /* UINT32_MAX for the component's own */
    type_ref type;
    item_ref constructor;
    sym field;
    cg_str root;
    text_pieces prefix;
    cg_str printed;
    cg_str repeat;
    cg_str condition;
    model_place place;
} extract_instance;

typedef struct extract_fault {
    const char *rule;
    cg_str message;
    cg_str prefix; /* of builder-unused; else absent */
    model_place place;
} extract_fault;

typedef struct extract_component {
    item_ref type;        /* struct or enum; 0: a function component */
    item_ref constructor; /* the first one */
    cg_str name;
    cg_str qualified;
    bool is_public;
    bool is_nested;  /* some other component makes it */
    bool is_within;  /* a function that makes its builder has it built, inside of another one */
    bool is_maker;   /* its constructor makes the builders itself, and its roots are those */
    bool is_skipped; /* not evaluated: only what its signatures say is known */
    const cg_str *roots;
    size_t root_count;
    uint8_t *origins; /* by root: EXTRACT_LOADED, EXTRACT_MADE; what functions were seen to give */
    val result;       /* what the first constructor returned; only while `made` is called, then 0 */
    VEC(extract_parameter) parameters;
    VEC(extract_instance) instances; /* [0] is its own */
    VEC(extract_fault) faults;
    VEC(extract_collision) collisions; /* in the order of asking */
} extract_component;

/* Where builders come from, as functions that make them hand them on. */
#define EXTRACT_LOADED 1u /* straight from a file, or tensors: no variables */
#define EXTRACT_MADE   2u /* from a map, or something else that may be trained */

/* A component as a function that makes its builder itself has it built. */
typedef struct extract_use {
    uint32_t component; /* in components */
    item_ref function;  /* the one that makes the builder */
    model_place place;  /* of the call of the constructor */
    text_pieces prefix; /* of the builder that the constructor gets */
    cg_str printed;
    cg_str root; /* as the function calls the builder; one name, one map */
    /*
     * Of a constructor with several builders: as it calls the one that this is about, with a prefix
     * and no parameters. Absent: it has one.
     */
    cg_str given;
    bool is_renamed;                     /* names are changed between the file and the builder */
    bool is_followed;                    /* by renamers alone, and the keys are what they made */
    const extract_parameter *parameters; /* with whole keys, and shapes as called */
    size_t count;
} extract_use;

struct flow_mark;

typedef struct extraction {
    heap *heap;
    arena mem;
    eval *eval;
    VEC(extract_component) components; /* in source order */
    VEC(extract_use) uses;
    bool is_near;    /* what is kept of all components came near its ceiling */
    bool has_makers; /* components were found by what functions do: model/makers */
    bool has_maps;   /* a function makes a builder of a map of variables */
    bool is_run;     /* a program: nobody outside builds its components */
    const struct flow_mark *no_tensors; /* the empty graph, where there is one */
} extraction;

typedef struct extract_options {
    cg_str root; /* only this type, bare or qualified name; absent: all */
    /*
     * Called when the first constructor of a component was evaluated, with its place in the list;
     * trail and flow graph still have what it made. NULL: nobody wants to know.
     */
    cg_code (*made)(void *context, const extract_component *component, size_t index,
                    cg_err *reterr);
    void *context;
    bool is_open; /* more components will be added: extract_close is called then */
} extract_options;

/* What the trail has of a function that makes its builders itself. */
typedef struct extract_own {
    item_ref function;
    item_ref type;      /* struct or enum it gives; 0: the component is the function */
    const bool *is_own; /* by parameter of the trail: it belongs to the component */
    val result;
} extract_own;

/* CG_NOT_FOUND when options->root names nothing. */
cg_code extract_run(eval *interpreter, const extract_options *options, extraction *ret,
                    cg_err *reterr) CG_MUST;
/* One more component, from the trail of an evaluation; for options->is_open. */
cg_code extract_take(eval *interpreter, const extract_options *options, extraction *ret,
                     const extract_own *own, cg_err *reterr) CG_MUST;
/* One more component: what a free function that gets a builder makes, public or not. */
cg_code extract_function(eval *interpreter, const extract_options *options, extraction *ret,
                         item_ref function, bool *ret_is_built, cg_err *reterr) CG_MUST;
/*
 * How an instance of the trail, whose type is that of component number `component`, was built.
 * `is_part`, by parameter of the trail: the instance asks for it.
 */
cg_code extract_add_use(eval *interpreter, extraction *ret, uint32_t component, uint32_t instance,
                        item_ref function, const bool *is_part, cg_err *reterr) CG_MUST;
/*
 * What the builders that such an instance was given are made of. Where a root comes from files
 * wherever it is given, in a crate whose calls are all seen, nobody trains its parameters. With a
 * `function`, which makes the builders, each of several is a use as well.
 */
cg_code extract_note_origins(eval *interpreter, extraction *ret, uint32_t component,
                             uint32_t instance, item_ref function, cg_err *reterr) CG_MUST;
bool extract_is_loaded(const extraction *of, const extract_component *component, cg_str root);
cg_code extract_close(eval *interpreter, const extract_options *options, extraction *ret,
                      cg_err *reterr) CG_MUST;
void extraction_free(extraction *self);

/* A key or prefix as documents have it: `layers.{i}.weight`; in `mem`. */
bool extract_print(heap *from, text_pieces pieces, arena *mem, cg_str *ret);

#endif
