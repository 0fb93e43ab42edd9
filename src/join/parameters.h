/*
 * parameters - what a comparison with a checkpoint is told about a model.
 *
 * Plain structures, filled by whoever read the source; nothing here is copied, so all of it must
 * stay as long as the report that is made of it.
 */
#ifndef CG_JOIN_PARAMETERS_H
#define CG_JOIN_PARAMETERS_H

#include "join/key_pattern.h"
#include "model/expr.h"

/* A call that puts segments in front of what follows: `vb.pp("model.layers")`. */
typedef struct key_step {
    uint32_t piece_count; /* pieces of the key that it adds, in order */
    cg_str function;      /* whose body holds the call, as `Type::name` or `name` */
    cg_str file;          /* relative to the crate */
    cg_str crate;         /* whose file it is, when that is not what is scanned; else absent */
    uint64_t line, column;
    uint64_t byte_start, byte_end;
} key_step;

/* What the library makes of a parameter; helps where names alone do not settle a question. */
enum parameter_use {
    PARAMETER_ANY,
    PARAMETER_LINEAR,
    PARAMETER_EMBEDDING,
    PARAMETER_NORM, /* of a layer or root mean square norm, Candle knows gamma and beta */
    PARAMETER_BATCH_NORM,
    PARAMETER_CONVOLUTION,
    PARAMETER_RUNNING, /* a running mean or variance */
};

typedef struct wanted_parameter {
    cg_str root; /* name of the builder it hangs on */
    const key_piece *pieces;
    size_t piece_count;
    bool is_certain;   /* proven: every construction asks for it */
    bool has_rank;     /* false: nothing is known about the shape */
    const expr *shape; /* EXPR_NONE: an axis nobody knows */
    uint32_t rank;
    enum parameter_use use;
    const cg_str *alternatives; /* last segments that Candle takes instead: `gamma` for `weight` */
    size_t alternative_count;
    const key_step *steps; /* outermost first; may end early */
    size_t step_count;
    key_step asked_at; /* the call that asks for it; adds no piece */
    key_step part_at;  /* where the component builds the part it is in; no file: in none */
    cg_str attempt; /* the condition, when the file decides whether it is asked for; else absent */
} wanted_parameter;

typedef struct wanted_component {
    cg_str name;       /* qualified: `models::llama::Llama` */
    bool is_top_level; /* not constructed inside another component */
    const wanted_parameter *parameters;
    size_t parameter_count;
    const key_step *built_by; /* the call whose prefix and sizes the parameters have; NULL: none */
    /* Who makes its builder, 0: nobody known; components of one builder are of one file. */
    uint32_t maker;
    cg_str maker_root;          /* as that one calls the builder */
    const key_step *renamed_by; /* a call whose builder changes names; NULL: none */
} wanted_component;

#endif
