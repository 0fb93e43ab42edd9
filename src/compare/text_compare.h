/*
 * text_compare - a comparison and a plan for people.
 *
 * The first line says what may be concluded and why, or why nothing may be.
 * Then the figures of both cohorts, every sample as a dot, drift between runs,
 * what changed inside, and for runs that may not be compared what to do.
 */
#ifndef CG_COMPARE_TEXT_COMPARE_H
#define CG_COMPARE_TEXT_COMPARE_H

#include "compare/comparison.h"
#include "view/text_page.h"

cg_code text_comparison(const comparison *from, const text_style *style, cg_sink sink,
                        cg_err *reterr) CG_MUST;
cg_code text_plan(heap *room, uint64_t pairs, const text_style *style, cg_sink sink,
                  cg_err *reterr) CG_MUST;

#endif
