/*
 * text - the same facts for people: aligned tables, trees, bars of share.
 *
 * Every number names its unit, every time its clock; what is absent is shown
 * as an em dash and explained. Names leave through codec/escape; colour only
 * when asked for. Lines fit `width` cells where names allow it (long names are
 * shortened in the middle, visibly).
 */
#ifndef CG_VIEW_TEXT_H
#define CG_VIEW_TEXT_H

#include "view/document.h"
#include "view/text_page.h" /* text_style */

cg_code text_evidence(const evidence *from, const document_input *input, const text_style *style,
                      cg_sink sink, cg_err *reterr) CG_MUST;
cg_code text_summary(const evidence *from, const document_input *input, const text_style *style,
                     cg_sink sink, cg_err *reterr) CG_MUST;
cg_code text_overview(const evidence *from, const document_input *input, const text_style *style,
                      cg_sink sink, cg_err *reterr) CG_MUST;
cg_code text_query(const evidence *from, const document_input *input, const document_query *query,
                   const text_style *style, cg_sink sink, cg_err *reterr) CG_MUST;
cg_code text_protocol(heap *heap, const document_command *commands, size_t count,
                      const text_style *style, cg_sink sink, cg_err *reterr) CG_MUST;

#endif
