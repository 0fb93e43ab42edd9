/*
 * asked_merge - what a checkpoint adds to the document of the source that was compared with it.
 */
#ifndef CG_JOIN_ASKED_MERGE_H
#define CG_JOIN_ASKED_MERGE_H

#include "codec/safetensors.h"
#include "join/asked.h"
#include "model/document.h"
#include "model/tree_view.h"
#include "schema/checkpoint_schema.h"

typedef struct asked_matches {
    const tree_match *at;
    size_t count;
} asked_matches;

/*
 * Put the shapes and dtypes of the file into the parameters of the components that were compared
 * (of a family: those of its first member in the order of names), add a finding for what is
 * missing, of another shape, and unclaimed, and put the document in order again. `matches`, in
 * the arena of `self`, says how many tensors each of these parameters has in the file.
 */
cg_code asked_merge(const asked_model *self, heap *from, const tensor_header *header,
                    const doc_checkpoint *report, model_document *document,
                    asked_matches *ret_matches, cg_err *reterr) CG_MUST;

#endif
