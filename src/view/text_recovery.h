/*
 * text_recovery - the account of a recovery, as text.
 */
#ifndef CG_VIEW_TEXT_RECOVERY_H
#define CG_VIEW_TEXT_RECOVERY_H

#include "schema/recovery_schema.h"
#include "view/text_page.h"

cg_code text_recovery(heap *from, const rec_recovery *account, const text_style *style,
                      cg_sink sink, cg_err *reterr) CG_MUST;

#endif
