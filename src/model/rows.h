/*
 * rows - the item of an answer that one record becomes.
 *
 * Listing kinds put counts and ids where the record has lists, and never show
 * evidence or shapes; kinds about one record show all of it.
 */
#ifndef CG_MODEL_ROWS_H
#define CG_MODEL_ROWS_H

#include "model/ask.h"

/*
 * Make the item of record `index` of the kind's list. With `is_whole` a
 * finding comes with its evidence. The item lives in `mem` and the document.
 */
bool row_make(const ask *self, enum ask_kind kind, size_t index, bool is_whole, arena *mem,
              ask_item *ret) CG_MUST;

/* Parts that answers about everything share. */
bool row_finding(const model_finding *finding, arena *mem, ask_finding *ret) CG_MUST;
ask_stage_brief row_stage_brief(const model_stage *stage);

#endif
