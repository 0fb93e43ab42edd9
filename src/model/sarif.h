/*
 * sarif - findings as a SARIF 2.1.0 log, for code hosting services.
 *
 * Every rule is described, so that a service can show what a code means.
 * Places are relative to %SRCROOT%, which the reader of the log knows: the top
 * of the repository. A finding about the crate as a whole has a place too, the
 * first line of its manifest, since services refuse logs with results without.
 */
#ifndef CG_MODEL_SARIF_H
#define CG_MODEL_SARIF_H

#include "model/findings_out.h"

/* Fails with CG_NOMEM; what `out` could not write shows in jw_finish. */
cg_code sarif_write(const findings_view *view, const findings_home *home, arena *mem, jsonw *out,
                    cg_err *reterr) CG_MUST;

#endif
