/*
 * asked - what the source of a crate asks of a checkpoint; join/asked_merge puts the answer back.
 *
 *   CG_TRY(asked_make(heap, mem, extraction, functions, &header, &asked, reterr));
 *   CG_TRY(checkpoint_compare(heap, mem, pool, asked.components, asked.count, ...));
 *   CG_TRY(asked_merge(&asked, heap, &header, &report, document, &matches, reterr));
 *
 * Texts and shapes are borrowed from the extraction, the rest lives in `mem`.
 */
#ifndef CG_JOIN_ASKED_H
#define CG_JOIN_ASKED_H

#include "codec/safetensors.h"
#include "join/parameters.h"
#include "model/extract.h"
#include "model/functions.h"

typedef struct asked_model {
    arena *mem;
    const extraction *from;
    const wanted_component *components; /* as in from->components */
    size_t count;
    const struct as_called_result *callers; /* by component */
} asked_model;

/*
 * `functions` may be NULL: calls have no name then. With a header (NULL: none) components that
 * somebody builds ask for what they are built with: join/as_called.
 */
cg_code asked_make(heap *from_heap, arena *mem, const extraction *from,
                   const function_facts *functions, const tensor_header *header, asked_model *ret,
                   cg_err *reterr) CG_MUST;

#endif
