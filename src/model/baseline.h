/*
 * baseline - what a model was like when somebody last looked, as a text file.
 *
 * Three kinds, told apart by their first line. The fingerprint is the
 * reference's: components, parameters, entrypoints, and of the findings only
 * rule and severity. The readable one adds shapes, certainty, functions and
 * numbers of findings, so that a comparison says what changed. That of findings
 * has nothing but the findings, which can be taken out of a document as known.
 * None has lines of source, so that moving code changes nothing.
 */
#ifndef CG_MODEL_BASELINE_H
#define CG_MODEL_BASELINE_H

#include "base/buf.h"
#include "model/document.h"

/* What the first line says behind `# `. */
#define BASELINE_FINGERPRINT_SCHEMA "candle-graph/model-baseline/1"
#define BASELINE_READABLE_SCHEMA    "candle-graph/readable-baseline/1"
#define BASELINE_FINDINGS_SCHEMA    "candle-graph/findings-baseline/1"

enum baseline_kind { BASELINE_FINGERPRINT, BASELINE_READABLE, BASELINE_FINDINGS };

/* The kind of a file, by its first line. Fails with CG_INPUT when it is no baseline. */
cg_code baseline_kind_of(cg_str text, enum baseline_kind *ret, cg_err *reterr) CG_MUST;

/* The whole file. Fails with CG_NOMEM. */
cg_code baseline_write(heap *heap, const model_doc *doc, enum baseline_kind kind, buf *out,
                       cg_err *reterr) CG_MUST;

/*
 * Compare the file with the document. `out` gets what differs, nothing when
 * all is equal: for a fingerprint lines `- ...` and `+ ...`, else sentences.
 * Fails with CG_INPUT (with the line) when the file is no baseline, or CG_NOMEM.
 */
cg_code baseline_compare(heap *heap, cg_str text, const model_doc *doc, bool *ret_is_equal,
                         buf *out, cg_err *reterr) CG_MUST;

/*
 * Take the findings that a file of the third kind has out of the document, as many equal ones as it
 * has of them, and put it in order again. `ret_known`: how many went; `ret_gone`: how many of the
 * file's are not there any more. Fails like baseline_compare; the document is unchanged then.
 */
cg_code baseline_take_known(heap *heap, cg_str text, model_document *document, size_t *ret_known,
                            size_t *ret_gone, cg_err *reterr) CG_MUST;

#endif
