/*
 * report - the Markdown report of one run (`report.md` of a bundle).
 *
 * Text from the trace is escaped so that no name can forge a line, a link or
 * markup. The same evidence always gives the same bytes.
 */
#ifndef CG_VIEW_REPORT_H
#define CG_VIEW_REPORT_H

#include "exec/evidence.h"

cg_code report_write(const evidence *from, cg_sink sink, cg_err *reterr) CG_MUST;

#endif
