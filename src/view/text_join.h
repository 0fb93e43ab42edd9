/*
 * text_join - a crate and its runs, for people.
 *
 * Answers first: what never ran, what never learned (by module, each with the call that cuts it),
 * what was not finite and where; then what was recorded, and what nobody could place.
 */
#ifndef CG_VIEW_TEXT_JOIN_H
#define CG_VIEW_TEXT_JOIN_H

#include "schema/join_schema.h"
#include "view/text_table.h"

cg_code text_join(heap *from, const join_doc *doc, const text_style *style, cg_sink sink,
                  cg_err *reterr) CG_MUST;

#endif
