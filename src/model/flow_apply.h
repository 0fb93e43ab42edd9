/*
 * flow_apply - one operation of the table is done to tensors: facts are computed, requirements
 * looked at, a node is made.
 *
 *   flow_call *call = flow_call_begin(eval, CG_LIT("candle_core::Tensor::matmul"), place);
 *   call->args = args; call->count = 2;            the receiver first
 *   code = flow_apply(call, &node);                0 and CG_OK: the table has no such operation
 *   flow_call_end(call);
 *
 * For layers (operands `m...`) args[0] is the layer; its tensors are taken from its fields.
 */
#ifndef CG_MODEL_FLOW_APPLY_H
#define CG_MODEL_FLOW_APPLY_H

#include "model/candle_shape.h"

#define FLOW_OPERANDS 72u /* edges of one operation: cat takes long lists */
#define FLOW_LETTERS  12u /* arguments a row can describe */
#define FLOW_NEEDS    16u /* requirements of one operation that are kept */

typedef struct flow_call flow_call;
struct flow_call {
    flow_call *next; /* of those that have ended */
    eval *eval;
    flow *flow;
    operation row;
    cg_str path;
    sym name; /* of the path */
    model_place place;
    const val *args;
    size_t count;
    /* found by flow_apply: */
    node_ref node_at[FLOW_LETTERS]; /* the tensor an argument is, 0 none */
    node_ref tensors[2];   /* the first two in order of arguments, lists and layers included */
    node_ref weight, bias; /* of a layer */
    size_t edge_count;
    flow_facts facts;
    size_t need_count;
    bool has_rank_link, is_same_shape;
    bool is_same_view;   /* lies in memory as its first operand */
    bool is_unsure_view; /* or does not: a size is not known */
    int8_t rank_step;
    uint16_t part; /* wanted of chunk and split */
    uint16_t part_count;
    /* not cleared at the beginning: */
    flow_edge edges[FLOW_OPERANDS];
    flow_requirement needs[FLOW_NEEDS];
};

/* NULL: out of memory. Its room is that of a call that has ended. */
flow_call *flow_call_begin(eval *owner, cg_str path, model_place place);
void flow_call_end(flow_call *self);
cg_code flow_apply(flow_call *self, node_ref *ret);
/* A node for what is not understood, made of all tensors among the arguments. */
cg_code flow_apply_unknown(flow_call *self, node_ref *ret);

/* A tensor-like value (also options and choices of them). */
bool flow_is_tensor(eval *self, val which);
/* A field of the layer, 0 none. */
val flow_field(flow_call *self, const char *name);
void flow_require(flow_call *self, enum flow_need need, enum check result, node_ref operand,
                  node_ref other, cg_str text);
/* The device of the result is this value. */
void flow_device(flow_call *self, val device);
/* It must have this rank: learned when it is not known. */
bool flow_want_rank(flow_call *self, node_ref which, unsigned rank);

/* Sizes of the result: flow_shape.c. */
bool flow_shape_apply(flow_call *self);

#endif
