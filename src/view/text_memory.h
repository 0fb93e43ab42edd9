/*
 * text_memory - what was allocated, and what lived at the peak, as text.
 */
#ifndef CG_VIEW_TEXT_MEMORY_H
#define CG_VIEW_TEXT_MEMORY_H

#include "view/document.h"
#include "view/text_section.h"

/* Answers: the whole of one page, behind the verdict. */
cg_code text_heaviest(sections *to, const document_query *query, cg_err *reterr) CG_MUST;
cg_code text_memory(sections *to, const document_query *query, cg_err *reterr) CG_MUST;

/* A section that the long report shows too. */
cg_code text_memory_detail(sections *to, uint64_t most, cg_err *reterr) CG_MUST;

#endif
