/*
 * text_origin - where the first non-finite value was made, as text.
 */
#ifndef CG_VIEW_TEXT_ORIGIN_H
#define CG_VIEW_TEXT_ORIGIN_H

#include "view/document.h"
#include "view/text_section.h"

/* Answers: the whole of one page, behind the verdict. */
cg_code text_nan_origin(sections *to, const document_query *query, cg_err *reterr) CG_MUST;

/* A section that the long report shows too. */
cg_code text_origin(sections *to, cg_err *reterr) CG_MUST;

#endif
