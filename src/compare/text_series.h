/*
 * text_series - campaigns and series for people: counts and trends first, then
 * one line a quantity with its course, its ends and its slope.
 */
#ifndef CG_COMPARE_TEXT_SERIES_H
#define CG_COMPARE_TEXT_SERIES_H

#include "compare/series.h"
#include "view/text_page.h"

cg_code text_campaign(const campaign *from, const text_style *style, cg_sink sink,
                      cg_err *reterr) CG_MUST;
cg_code text_series(const series *from, const text_style *style, cg_sink sink,
                    cg_err *reterr) CG_MUST;

#endif
