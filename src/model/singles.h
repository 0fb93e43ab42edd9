/*
 * singles - answers that are one item about the whole model.
 */
#ifndef CG_MODEL_SINGLES_H
#define CG_MODEL_SINGLES_H

#include "model/ask.h"

bool single_summary(ask *self, ask_item *ret) CG_MUST;
bool single_architecture(ask *self, ask_item *ret) CG_MUST;
bool single_cargo(ask *self, ask_item *ret) CG_MUST;
bool single_pipeline(ask *self, ask_item *ret) CG_MUST;
bool single_runtime(ask *self, ask_item *ret) CG_MUST;
bool single_profile(ask *self, ask_item *ret) CG_MUST;

/*
 * The dataflow of one phase (MODEL_PHASE_...). An absent selector takes all,
 * else tensors and operations of the functions it means; limit 0: no bound.
 */
bool single_graph(ask *self, uint8_t phase, cg_str selector, uint64_t limit, ask_item *ret) CG_MUST;

#endif
