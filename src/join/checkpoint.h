/*
 * checkpoint - does a file hold what a model asks for?
 *
 *   code = checkpoint_compare(heap, mem, pool, components, count, &header, &options, &doc, reterr);
 *   sc_write(out, &table_checkpoint, doc);
 *
 * Compared are the components that are not part of another one, or the one asked for; of those the
 * parameters that hang on one builder, the root. Families of keys have the members that the file
 * names. Texts are borrowed from the components and the header, the rest lives in `mem`.
 */
#ifndef CG_JOIN_CHECKPOINT_H
#define CG_JOIN_CHECKPOINT_H

#include "codec/safetensors.h"
#include "join/parameters.h"
#include "schema/checkpoint_schema.h"

typedef struct checkpoint_options {
    cg_str root;      /* absent: the first builder of the first component, else `vb` */
    cg_str component; /* bare or qualified; absent: all at the top */
    /*
     * Gets what the file decided because the code leaves it open, for people: `cfg.dim = 64,
     * blocks: 3`. First of the report itself, then of its components; absent where nothing was
     * open. NULL: not wanted.
     */
    sc_strs *settled;
} checkpoint_options;

/*
 * Fails with CG_INPUT (no component of that name), CG_NOMEM. Symbols of `pool` get values of their
 * own for the members of a family.
 */
cg_code checkpoint_compare(heap *from, arena *mem, expr_pool *pool,
                           const wanted_component *components, size_t count,
                           const tensor_header *header, const checkpoint_options *options,
                           doc_checkpoint *ret, cg_err *reterr) CG_MUST;

/* Model key -> file key of every rename that is settled, for `--key-map`. */
cg_code checkpoint_key_map(arena *mem, const doc_checkpoint *doc, doc_key_map *ret,
                           cg_err *reterr) CG_MUST;

#endif
