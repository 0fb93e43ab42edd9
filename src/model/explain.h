/*
 * explain - what a code means, why it hurts, and how to fix it.
 */
#ifndef CG_MODEL_EXPLAIN_H
#define CG_MODEL_EXPLAIN_H

#include "base/buf.h"
#include "codec/jsonw.h"
#include "model/rules.h"

/* candle-graph/explain/1 */
void explain_json(const rule_row *rule, jsonw *out);
/* For people: paragraphs of at most `width` columns (0: as wide as they come). */
void explain_text(const rule_row *rule, size_t width, buf *out);
/* Every code with its title, one a line, in the order of the table. */
void explain_list(buf *out);

#endif
