/*
 * text_time - where host and device time went, as text.
 */
#ifndef CG_VIEW_TEXT_TIME_H
#define CG_VIEW_TEXT_TIME_H

#include "view/document.h"
#include "view/text_section.h"

/* Answers: the whole of one page, behind the verdict. */
cg_code text_slowest_host(sections *to, const document_query *query, cg_err *reterr) CG_MUST;
cg_code text_slowest_device(sections *to, const document_query *query, cg_err *reterr) CG_MUST;
cg_code text_time_tree(sections *to, const document_query *query, cg_err *reterr) CG_MUST;
cg_code text_gaps(sections *to, const document_query *query, cg_err *reterr) CG_MUST;

/* A section that the long report shows too. */
cg_code text_module_tree(sections *to, uint64_t most, cg_err *reterr) CG_MUST;

#endif
