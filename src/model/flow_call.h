/*
 * flow_call - one operation of the table while it is done to tensors: what it is given, what the
 * result will be, what it needs.
 *
 *   flow_call *call = flow_call_begin(eval, CG_LIT("candle_core::Tensor::matmul"), place);
 *   call->args = args; call->count = 2;            the receiver first
 *   code = flow_apply(call, &node);                model/flow_apply
 *   flow_call_end(call);
 *
 * For layers (operands `m...`) args[0] is the layer; its tensors are taken from its fields.
 *
 * Between begin and end every module writes its own part of the call: flow_operands the edges, the
 * rules of flow_shape the sizes, flow_dtypes, flow_memory, flow_gradient and flow_domain the other
 * facts, flow_needs what must hold. flow_apply makes the node of all that.
 */
#ifndef CG_MODEL_FLOW_CALL_H
#define CG_MODEL_FLOW_CALL_H

#include "model/eval.h"
#include "model/flow_build.h"

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
    /* what is given, flow_gather: */
    node_ref node_at[FLOW_LETTERS]; /* the tensor an argument is, 0 none */
    node_ref tensors[2];   /* the first two in order of arguments, lists and layers included */
    node_ref weight, bias; /* of a layer */
    size_t edge_count;
    flow_facts facts; /* of the result, as far as they are found */
    size_t need_count;
    bool has_rank_link, is_same_shape;
    bool is_same_view;   /* lies in memory as its first operand */
    bool is_unsure_view; /* or does not: a size is not known */
    int8_t rank_step;
    uint16_t part; /* wanted of chunk and split */
    /* not cleared at the beginning: */
    flow_edge edges[FLOW_OPERANDS];
    flow_requirement needs[FLOW_NEEDS];
};

/* NULL: out of memory. Its room is that of a call that has ended. */
flow_call *flow_call_begin(eval *owner, cg_str path, model_place place);
void flow_call_end(flow_call *self);

static inline const operation_row *call_row(const flow_call *self)
{
    return operation_at(self->row);
}

static inline const flow_facts *call_facts(const flow_call *self, node_ref which)
{
    return &self->flow->nodes.at[which].facts;
}

/* The facts of the first tensor; those of none when there is no tensor. */
static inline const flow_facts *call_first(const flow_call *self)
{
    return call_facts(self, self->tensors[0]);
}

/* The receiver is argument 0; 0 when there is none. */
static inline val call_argument(const flow_call *self, size_t which)
{
    return which < self->count ? self->args[which] : 0;
}

/* A field of the layer, 0 none. */
val flow_field(flow_call *self, const char *name);
/* Kept in the order of the calls, at most FLOW_NEEDS. */
void flow_require(flow_call *self, enum flow_need need, enum check result, node_ref operand,
                  node_ref other, cg_str text);
/* It must have this rank: learned when it is not known. false: it has another, or too many axes. */
bool flow_want_rank(flow_call *self, node_ref which, unsigned rank);

#endif
