/*
 * text_checkpoint - a checkpoint report for people: what fits, what does not, and what to do.
 */
#ifndef CG_VIEW_TEXT_CHECKPOINT_H
#define CG_VIEW_TEXT_CHECKPOINT_H

#include "schema/checkpoint_schema.h"
#include "view/text_page.h"

/*
 * One page; names are made safe, long lists end with how many more there are. `settled` is what
 * checkpoint_compare gives; it may be NULL.
 */
cg_code text_checkpoint(heap *from, const doc_checkpoint *doc, const sc_strs *settled,
                        const text_style *style, cg_sink sink, cg_err *reterr) CG_MUST;

#endif
