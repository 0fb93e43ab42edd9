/*
 * candle_builder - VarBuilder: its prefix as a value, and what is asked for through it.
 *
 * Every call that adds to a prefix is a step (trail_step_made); a builder whose last step was never
 * used by a registration, a further step or something unknown asked for nothing.
 */
#ifndef CG_MODEL_CANDLE_BUILDER_H
#define CG_MODEL_CANDLE_BUILDER_H

#include "model/std_call.h"

/* One thing to be registered. */
typedef struct candle_parameter {
    val builder;     /* VALUE_BUILDER */
    text_pieces key; /* behind its prefix */
    const expr *shape;
    uint32_t rank;
    bool has_shape;
    cg_str shape_text; /* when there is no shape */
    val dtype;         /* 0: the builder's */
    cg_str how;
    sym library; /* 0: a raw get */
    cg_str alternative;
    cg_str condition; /* absent: certain */
    bool is_running_state;
} candle_parameter;

/* Record it; *ret is the tensor. */
cg_code candle_register(library_call *call, const candle_parameter *parameter, val *ret);

/* A method of a builder. */
cg_code builder_method(library_call *call);
/* `candle_nn::VarBuilder::from_varmap` and its kind; `call->name` is the last segment. */
cg_code builder_call(library_call *call);
/* A method of a VarMap, or a function of it when there is no receiver. */
cg_code varmap_call(library_call *call);

#endif
