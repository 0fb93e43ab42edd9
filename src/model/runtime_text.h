/*
 * runtime_text - what a run showed, for people: `query runtime` and `query profile` as text.
 *
 * The answer comes first: which parameters never had a gradient, module by module, then those that
 * are not finite, that lost theirs, that are in doubt; of times the slowest operations. Safe for a
 * terminal.
 */
#ifndef CG_MODEL_RUNTIME_TEXT_H
#define CG_MODEL_RUNTIME_TEXT_H

#include "base/buf.h"
#include "model/document.h"
#include "model/runtime_facts.h"

typedef struct runtime_style {
    size_t width; /* cells of a line */
    size_t rows;  /* of a list */
} runtime_style;

/* `facts` of the trace that was merged into `doc`; NULL: none was. Failures show in out->failed. */
void runtime_text_run(const model_doc *doc, const runtime_facts *facts, const runtime_style *style,
                      buf *out);
void runtime_text_profile(const model_doc *doc, const runtime_facts *facts,
                          const runtime_style *style, buf *out);

#endif
