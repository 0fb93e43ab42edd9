/*
 * candle_forward - what the layers of candle-nn do to tensors: forward, step, and what calls other
 * layers.
 *
 * Only with a flow graph; the layer is the receiver. Methods that are no computation stay unknown.
 */
#ifndef CG_MODEL_CANDLE_FORWARD_H
#define CG_MODEL_CANDLE_FORWARD_H

#include "model/std_call.h"

/* A method of a layer of this type: `candle_nn::Linear`. */
cg_code forward_method(library_call *call, cg_str type_path);

#endif
