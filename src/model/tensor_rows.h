/*
 * tensor_rows - a node of the flow graph as a row of the model document: what is known of it.
 */
#ifndef CG_MODEL_TENSOR_ROWS_H
#define CG_MODEL_TENSOR_ROWS_H

#include "model/draft.h"
#include "model/flow.h"

/* A call that was told already: the same one is evaluated by many entries. */
typedef struct tensor_place {
    model_place place;
    const model_location *location;
    cg_str source;
} tensor_place;

typedef struct tensor_rows {
    heap *heap;
    model_draft *draft;
    program *program;
    expr_pool *exprs;
    number_map axis_of; /* size -> index */
    VEC(model_dimension) axes;
    number_map device_of; /* expression -> index */
    VEC(sc_tagged) devices;
    number_map shape_of; /* hash of the sizes -> index */
    VEC(const model_shape *) shapes;
    number_map place_of; /* hash of the place -> index */
    VEC(tensor_place) places;
} tensor_rows;

void tensor_rows_init(tensor_rows *self, program *code_of, expr_pool *exprs, model_draft *draft);
void tensor_rows_free(tensor_rows *self);
/*
 * Shape, dtype, device, layout, place and evidence of the node; id, name, role, owner and phase are
 * the caller's. *ret_source is the label of the place, empty without one. false: out of memory.
 */
bool tensor_rows_fill(tensor_rows *self, const flow *graph, node_ref node, model_tensor *ret,
                      cg_str *ret_source) CG_MUST;
/* Does training change what it is made of? */
opt_bool tensor_rows_learns(const flow *graph, node_ref node);

#endif
