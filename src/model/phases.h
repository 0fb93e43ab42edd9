/*
 * phases - is a function part of training, of inference, or of both?
 *
 * A function that computes a loss of the library trains; `forward` and `forward_t` do both.
 * Everything else is told by the words of its name (`eval_step`: eval, step): words of inference,
 * words of training, both. A name without such a word takes those of its modules, and trains when
 * they have none either.
 */
#ifndef CG_MODEL_PHASES_H
#define CG_MODEL_PHASES_H

#include "model/functions.h"

#define PHASES_TRAIN (1u << MODEL_PHASE_TRAIN)
#define PHASES_INFER (1u << MODEL_PHASE_INFER)

/* PHASES_TRAIN, PHASES_INFER or both. */
uint8_t phases_of(const function_fact *function);
/* Is it called a loss: is `loss` a word of its name? */
bool phases_is_named_loss(cg_str name);

#endif
