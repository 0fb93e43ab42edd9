/*
 * sarif - findings as a SARIF 2.1.0 log, for code hosting services.
 *
 * Every rule is described, so that a service can show what a code means.
 * Places are relative to %SRCROOT%, which the reader of the log knows.
 */
#ifndef CG_MODEL_SARIF_H
#define CG_MODEL_SARIF_H

#include "model/findings_out.h"

/* Fails with CG_NOMEM; what `out` could not write shows in jw_finish. */
cg_code sarif_write(const findings_view *view, arena *mem, jsonw *out, cg_err *reterr) CG_MUST;

#endif
