/*
 * findings_out - findings as documents and text, ordered by place.
 *
 *   findings_view view;
 *   if (!findings_order(mem, doc, &view)) ...      out of memory
 *   findings_json(&view, out);                     or one of the others
 *
 * Findings without a place come first, then by file, line, column, code and
 * message. SARIF and the lines of cargo are in model/sarif.h and
 * model/cargo_lines.h. Text is safe for a terminal.
 */
#ifndef CG_MODEL_FINDINGS_OUT_H
#define CG_MODEL_FINDINGS_OUT_H

#include "base/buf.h"
#include "model/document.h"

typedef struct findings_view {
    const model_doc *doc;
    const uint32_t *order; /* positions in doc->findings */
    size_t count;
    uint64_t by_severity[MODEL_FINDING_SEVERITY_COUNT];
    cg_str told_elsewhere; /* how codes begin whose findings another text tells; NULL: none do */
} findings_view;

/* `order` lives in `mem`. */
bool findings_order(arena *mem, const model_doc *doc, findings_view *ret) CG_MUST;
const model_finding *findings_at(const findings_view *self, size_t index);
model_place_text findings_place(const model_finding *finding);

/* candle-graph/findings/1 */
void findings_json(const findings_view *self, jsonw *out);
/*
 * error: message, --> place, = code, the first parameters, = help; a line of counts, and one when
 * there is no model. Nothing when there are none. Here
 * and in short lines what a rule only ever notes is counted and not shown; the documents hold it.
 * So are here the findings that are told elsewhere.
 */
void findings_human(const findings_view *self, buf *out);
/* file:line:column: error[code]: message */
void findings_short(const findings_view *self, buf *out);
/* Where the files of a document lie, absolute; absent: not known, names stay as they are. */
typedef struct findings_home {
    cg_str top;    /* of the repository; what lies there is named from there */
    cg_str folder; /* of the crate, at the top or below it */
    cg_str whole;  /* file of the crate that stands for all of it; absent: there is none */
} findings_home;
/* `file`, of the crate or absolute, as the repository names it. */
void findings_file(const findings_home *home, cg_str file, buf *out);
/* ::error file=...,line=...,col=...,title=...::message */
void findings_github(const findings_view *self, const findings_home *home, buf *out);
/* One finding as findings_human prints it. */
void findings_human_one(const model_finding *finding, buf *out);

#endif
