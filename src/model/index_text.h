/*
 * index_text - texts that name one item of a list: `dims[i + 1]` where i is 2 is `dims[3]`.
 *
 * Only what stands between the brackets is read, as sums and products of numbers and names; what
 * cannot be read stays as it is written.
 */
#ifndef CG_MODEL_INDEX_TEXT_H
#define CG_MODEL_INDEX_TEXT_H

#include "base/buf.h"
#include "model/expr.h"

/* Is the name in the text as a word of its own, not as a field or a part of a longer name? */
bool index_text_mentions(cg_str text, cg_str name);
/*
 * Append the text with `by` for the name in every index that is not an index of an index.
 * False: out of memory.
 */
bool index_text_replace(expr_pool *pool, cg_str text, cg_str name, expr by, buf *out) CG_MUST;

/*
 * `if i == 0 { input } else { dims[i - 1] }`: a number that is another one in the first round, as
 * one name. EXPR_NONE when one of the two cannot be written so.
 */
expr index_choice_make(expr_pool *pool, cg_str name, expr first, expr rest);
bool index_choice_is(cg_str text);
/*
 * Such a number with `by`, a constant or another name, for the name of its counter; EXPR_NONE when
 * it counts by another one, or cannot be told.
 */
expr index_choice_at(expr_pool *pool, cg_str text, cg_str name, expr by);

#endif
