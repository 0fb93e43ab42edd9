/*
 * document - comparison/6, compare-plan/1, campaign-status/1 and series/1 as JSON.
 *
 * Pretty printed, keys in the order of the tables, ending with a newline.
 */
#ifndef CG_COMPARE_DOCUMENT_H
#define CG_COMPARE_DOCUMENT_H

#include "compare/comparison.h"
#include "compare/series.h"

#define PLAN_MOST_PAIRS 100000

cg_code document_comparison(const comparison *from, cg_sink sink, cg_err *reterr) CG_MUST;
cg_code document_campaign(const campaign *from, cg_sink sink, cg_err *reterr) CG_MUST;
/* `has_growth` adds residual bytes and growth. */
cg_code document_series(const series *from, bool has_growth, cg_sink sink, cg_err *reterr) CG_MUST;

/*
 * An order in which to measure `pairs` pairs so that drift hits both builds
 * alike: baseline first in one pair, candidate first in the next.
 */
cg_code document_plan(heap *room, uint64_t pairs, cg_sink sink, cg_err *reterr) CG_MUST;
/* Run `index` of the plan; the text of the pair id goes to `room`. */
#define PLAN_ID_ROOM 24
doc_planned_run plan_run(uint64_t pairs, uint64_t index, char room[PLAN_ID_ROOM]);

#endif
