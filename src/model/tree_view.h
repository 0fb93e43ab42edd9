/*
 * tree_view - the modules of a model as a tree, with what they hold.
 *
 * A family of layers (`layers.{i}`) is shown once, with how often it is there.
 * Numbers of scalars count the whole family; they are expressions where the
 * configuration decides, and numbers where the code or a checkpoint says so.
 * Bytes are known for parameters with a checkpoint.
 */
#ifndef CG_MODEL_TREE_VIEW_H
#define CG_MODEL_TREE_VIEW_H

#include "base/buf.h"
#include "model/document.h"
#include "model/tree_known.h"
#include "schema/static_query_schema.h"

typedef struct tree_options {
    cg_str component; /* name, qualified name or id; absent: all that are not part of another */
    const tree_match *matches;
    size_t match_count;
    uint64_t depth; /* of the text: levels below a component; 0: all */
} tree_options;

/* The records live in `mem`. Fails with CG_INPUT (no such component) or CG_NOMEM. */
cg_code module_tree_make(arena *mem, heap *heap, const model_doc *doc, const tree_options *options,
                         tree *ret, cg_err *reterr) CG_MUST;

/* candle-graph/tree/1 */
void tree_json(const tree *self, jsonw *out);
/* For people; safe for a terminal. `doc` is what the tree was made of. */
void tree_text(const tree *self, const model_doc *doc, const tree_options *options, buf *out);

#endif
