/*
 * place - where something stands, in the words of the documents.
 */
#ifndef CG_MODEL_PLACE_H
#define CG_MODEL_PLACE_H

#include "model/draft.h"
#include "model/value.h"

/*
 * `src/model.rs:12` in `mem`; absent when out of memory. Of a call the line is that of the called
 * name: in a chain over several lines, where the method stands.
 */
cg_str place_label(const program *code_of, model_place place, arena *mem);
/* With column and bytes, in the draft's memory; NULL when out of memory. */
const model_location *place_location(const program *code_of, model_place place, model_draft *draft);

#endif
