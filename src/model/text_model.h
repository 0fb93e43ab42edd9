/*
 * text_model - a model document for people on a terminal.
 *
 * Short: what was read, what was found, what to look at next. Everything is
 * safe for a terminal; long lists are cut and say how to see the rest.
 */
#ifndef CG_MODEL_TEXT_MODEL_H
#define CG_MODEL_TEXT_MODEL_H

#include "base/buf.h"
#include "model/document.h"

/* Package, counts, components, findings by severity, next questions: `report`, `summary`. */
void text_model_summary(const model_doc *doc, buf *out);
/* A line for each parameter: root, key, shape, how sure, place. */
void text_parameters(const model_doc *doc, size_t limit, buf *out);

#endif
