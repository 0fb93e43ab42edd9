/*
 * index_text - texts that name one item of a list: `dims[i + 1]` where i is 2 is `dims[3]`.
 *
 * Only what stands between the brackets is read, as sums and products of numbers and names; what
 * cannot be read stays as it is written.
 */
#ifndef CG_MODEL_INDEX_TEXT_H
#define CG_MODEL_INDEX_TEXT_H

#include "model/expr.h"

/* Is the name in the text as a word of its own, not as a field or a part of a longer name? */
bool index_text_mentions(cg_str text, cg_str name);
/*
 * Append the text with `by` for the name in every index that is not an index of an index.
 * False: out of memory.
 */
bool index_text_replace(expr_pool *pool, cg_str text, cg_str name, expr by, buf *out) CG_MUST;

#endif
