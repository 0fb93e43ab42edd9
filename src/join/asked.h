/*
 * asked - what the source of a crate asks of a checkpoint, and what the file adds to its document.
 *
 *   CG_TRY(asked_make(heap, mem, extraction, functions, &header, &asked, reterr));
 *   CG_TRY(checkpoint_compare(heap, mem, pool, asked.components, asked.count, ...));
 *   CG_TRY(asked_merge(&asked, heap, &header, &report, document, &matches, reterr));
 *
 * Texts and shapes are borrowed from the extraction, the rest lives in `mem`.
 */
#ifndef CG_JOIN_ASKED_H
#define CG_JOIN_ASKED_H

#include "codec/json.h"
#include "codec/safetensors.h"
#include "join/parameters.h"
#include "model/extract.h"
#include "model/functions.h"
#include "model/tree_view.h"
#include "schema/checkpoint_schema.h"

typedef struct asked_model {
    arena *mem;
    const extraction *from;
    const wanted_component *components; /* as in from->components */
    size_t count;
    const struct as_called_result *callers; /* by component */
} asked_model;

typedef struct asked_matches {
    const tree_match *at;
    size_t count;
} asked_matches;

/*
 * `functions` may be NULL: calls have no name then. With a header (NULL: none) components that
 * somebody builds ask for what they are built with: join/as_called.
 */
cg_code asked_make(heap *from_heap, arena *mem, const extraction *from,
                   const function_facts *functions, const tensor_header *header, asked_model *ret,
                   cg_err *reterr) CG_MUST;

/*
 * Put the shapes and dtypes of the file into the parameters of the components that were compared
 * (of a family: those of its first member in the order of names), add a finding for what is
 * missing, of another shape, and unclaimed, and put the document in order again. `matches`, in
 * the arena of `self`, says how many tensors each of these parameters has in the file.
 */
cg_code asked_merge(const asked_model *self, heap *from, const tensor_header *header,
                    const doc_checkpoint *report, model_document *document,
                    asked_matches *ret_matches, cg_err *reterr) CG_MUST;

/* The rules of the findings that a comparison adds. */
extern const cg_str asked_rules[];
#define ASKED_RULES 3

#endif
