/*
 * drivers - the functions that put a model together: they take no builder but make one.
 *
 * `main`, `train`, `load_model`: each is evaluated once. Kept is which maps of variables they make
 * and by which name, what is registered in them, which constructors get builders of which origin,
 * what is loaded when, and which variables an optimizer is given.
 */
#ifndef CG_MODEL_DRIVERS_H
#define CG_MODEL_DRIVERS_H

#include "model/draft.h"
#include "model/extract.h"
#include "model/functions.h"

#define DRIVER_NO_MAP UINT32_MAX

/* One VarMap. */
typedef struct driver_map {
    uint64_t number;     /* of the value */
    cg_str name;         /* what a builder is made from: `head_vars` */
    model_place builder; /* the first from_varmap; file 0: none */
    size_t key_count;    /* parameters registered in it */
} driver_map;

/* One parameter registered in a map, in the order of registration. */
typedef struct driver_key {
    uint32_t map;
    uint32_t instance; /* outermost module it belongs to, 0: none */
    sym field;         /* of that module, 0: not known */
    cg_str key;
    bool is_running_state;
    model_place place;
} driver_key;

/* VarMap::load. */
typedef struct driver_load {
    uint32_t map;
    cg_str name;    /* what the function calls the map */
    cg_str text;    /* the argument, as printed */
    uint32_t asked; /* parameters of the map at that time */
    bool may_hold;  /* something else may have put variables into it */
    bool is_conditional;
    model_place place;
} driver_load;

/* Variables of one map that an optimizer was given. */
typedef struct driver_share {
    uint32_t map;
    uint32_t asked;  /* parameters of the map when the variables were taken out */
    bool is_partial; /* a filter, or one way of several */
} driver_share;

/* A variable that holds a map or a module when an optimizer is made. */
typedef struct driver_holder {
    cg_str name;
    uint32_t map;      /* DRIVER_NO_MAP: it is a module */
    uint32_t instance; /* of a module */
} driver_holder;

typedef struct driver_optimizer {
    cg_str name;   /* `AdamW::new` */
    bool is_known; /* everything it was given is in `shares` */
    bool is_conditional;
    const driver_share *shares;
    size_t share_count;
    const driver_holder *holders;
    size_t holder_count;
    model_place place;
} driver_optimizer;

/* A builder handed to a constructor. */
typedef struct driver_builder {
    cg_str root;    /* name of the constructor's parameter */
    uint8_t source; /* enum builder_source */
    uint32_t map;
    sc_strs chain; /* prefixes, outermost first */
    cg_str dtype;  /* `F32`; absent: not known */
    cg_str device; /* `cpu`, `cuda`, `metal`; absent: not known */
    cg_str text;   /* first argument of the call that made it: what is loaded */
} driver_builder;

typedef struct driver_site {
    item_ref type;
    item_ref constructor;
    uint32_t instance;
    bool is_conditional;
    model_place place;
    const driver_builder *builders;
    size_t builder_count;
} driver_site;

typedef struct driver {
    item_ref function;
    bool is_cut; /* something was not followed */
    VEC(driver_map) maps;
    VEC(driver_key) keys;
    VEC(driver_load) loads;
    VEC(driver_optimizer) optimizers;
    VEC(driver_site) sites;
} driver;

typedef struct drivers {
    heap *heap;
    arena mem;
    VEC(driver) all;   /* in source order */
    const bool *makes; /* by function: it makes a builder, or calls what does */
    size_t function_count;
} drivers;

cg_code drivers_run(eval *interpreter, const function_facts *functions, drivers *ret,
                    cg_err *reterr) CG_MUST;
void drivers_free(drivers *self);

#endif
