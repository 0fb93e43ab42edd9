/*
 * model - a small model document made by hand, for the tests of the static plane.
 */
#ifndef CG_TESTS_SUPPORT_MODEL_H
#define CG_TESTS_SUPPORT_MODEL_H

#include "base/buf.h"
#include "codec/jsonw.h"
#include "model/draft.h"

/*
 * Two components: `net::Net` with a repeated `Block` (two parameters below
 * `layers.{i}`, one of them conditional) and `net::Block` that is nested.
 * Net has an entrypoint `forward` with two tensors and a matmul in its train
 * phase, and two findings: a proven dtype-conflict and a gradient-cut.
 */
void model_sample(heap *heap, model_draft *draft);
/* The sample as a finished document. */
void model_sample_document(heap *heap, model_document *ret);

/* A sink that adds to a buffer. */
cg_sink model_sink(buf *out);
/* Read `text` as JSON, or fail the test. */
void model_expect_json(heap *heap, cg_str text);
/* Fail unless `text` holds `part`. */
void model_expect_holds(const buf *text, const char *part);

#endif
