/*
 * text_query - one answer as text, by the word of its kind.
 */
#ifndef CG_VIEW_TEXT_QUERY_H
#define CG_VIEW_TEXT_QUERY_H

#include "view/document.h"
#include "view/text_section.h"

/*
 * Print the answer to `query` on an open page. Fails before the first byte
 * with CG_INPUT (a filter the kind does not take), CG_NO_GRAPH or CG_USAGE.
 */
cg_code text_answer(sections *to, const document_query *query, cg_err *reterr) CG_MUST;

/* A section that the long report shows too. */
void text_statistics_table(sections *to, const document_query *query);

#endif
