/*
 * page - the offline HTML pages: of one run (`view`, `viewer.html` of a bundle), and of a model.
 *
 * One file without any reference to a network: style, script and the island of
 * view/payload or view/model_payload. The same evidence always gives the same bytes. A policy
 * in the page allows exactly its own script and style, by digest; what comes from the
 * trace or the crate stands in the island only, escaped, and reaches the screen as text.
 *
 * The sources are web/NAME.{html,js}, web/common.js and web/page.css; tools/embed puts them into
 * the library. Without them (CG_VIEWER=OFF) page_is_built is false, the writers
 * refuse with CG_PLANNED, and bundles carry no page.
 */
#ifndef CG_VIEW_PAGE_H
#define CG_VIEW_PAGE_H

#include "exec/evidence.h"
#include "view/model_payload.h"

bool page_is_built(void);
/* The whole page. When memory is the reason to fail, nothing has gone to the sink. */
cg_code page_write(const evidence *from, cg_sink sink, cg_err *reterr) CG_MUST;
/* As model_payload_write, with the page around it. */
cg_code page_write_model(heap *heap, const model_doc *doc, const doc_checkpoint *checkpoint,
                         cg_sink sink, cg_err *reterr) CG_MUST;

#endif
