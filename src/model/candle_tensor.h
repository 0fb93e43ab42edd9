/*
 * candle_tensor - everything the interpreter does on tensors passes through here.
 *
 * With a flow graph (eval->flow) operations become nodes of it, and a tensor is VALUE_TENSOR with
 * its node. Without one a tensor is an unknown value of type candle_core::Tensor with the text of
 * the call that made it: all that constructors need.
 */
#ifndef CG_MODEL_CANDLE_TENSOR_H
#define CG_MODEL_CANDLE_TENSOR_H

#include "model/std_call.h"
#include "model/trail.h"

/* Is it a tensor, a Var or a QTensor? */
bool tensor_is(const eval *self, val which);
/* A parameter that was just registered; without a graph, what it is called. */
val tensor_parameter(eval *self, const trail_parameter *entry, cg_str text);
/* The result is a tensor nobody knows more of. */
cg_code tensor_give(library_call *call);
/*
 * The operation of this path on the receiver (0: none) and the arguments; unknown ones give a
 * tensor too.
 */
cg_code tensor_operation(library_call *call, cg_str path);
/*
 * `left + right`, `-left` (right 0): name as the operator's trait has it; stays unknown when no
 * operand is a tensor.
 */
cg_code tensor_operator(library_call *call, val left, val right);

/* A call nobody can follow, named as written; stays unknown when no tensor is lost by it. */
cg_code tensor_lost(library_call *call, type_ref type);

/* A method of a tensor; unknown ones give a tensor too. */
cg_code tensor_method(library_call *call);
/* `candle_core::Tensor::zeros` and its kind, by path. */
cg_code tensor_call(library_call *call, cg_str path);

#endif
