/*
 * page - the offline HTML page of one run (`view`, and `viewer.html` of a bundle).
 *
 * One file without any reference to a network: style, script and the island of
 * view/payload. The same evidence always gives the same bytes. A policy in the
 * page allows exactly its own script and style, by digest; what comes from the
 * trace stands in the island only, escaped, and reaches the screen as text.
 *
 * The sources are web/page.{html,css,js}; tools/embed puts them into the
 * library. Without them (CG_VIEWER=OFF) page_is_built is false, page_write
 * refuses with CG_PLANNED, and bundles carry no page.
 */
#ifndef CG_VIEW_PAGE_H
#define CG_VIEW_PAGE_H

#include "exec/evidence.h"

bool page_is_built(void);
/* The whole page. When memory is the reason to fail, nothing has gone to the sink. */
cg_code page_write(const evidence *from, cg_sink sink, cg_err *reterr) CG_MUST;

#endif
