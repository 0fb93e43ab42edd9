/*
 * as_called - what a comparison with a file learns from the functions that build a component.
 *
 * A constructor says `a.weight (16, n_in)`; its only caller, `Model::new(vb.pp("model"), 8)`, that
 * a file of this program has `model.a.weight (16, 8)`. Applied to a component are the prefix, the
 * sizes and the number of members that every call with this prefix agrees in:
 *
 *   in a program, where nobody else can call it, those of the function that fits the file best:
 *   of all its calls when each prefix is one call, else of the prefix that fits best;
 *   the same of what a library keeps to itself; what it makes public others may call too: its keys
 *   get a prefix only where that fits the file better than none.
 *
 * Of a builder whose names were followed through its renamers the keys are those of the only call.
 * A call that was not followed to its end, and a prefix that is not known, change nothing.
 */
#ifndef CG_JOIN_AS_CALLED_H
#define CG_JOIN_AS_CALLED_H

#include "codec/safetensors.h"
#include "join/parameters.h"
#include "model/extract.h"

typedef struct as_called {
    heap *heap;
    arena *mem;
    const extraction *from;
    const tensor_header *header;
    bool is_program; /* what is scanned is run: nobody outside builds its components */
} as_called;

/* What a component is compared with, in place of what its constructor says. */
typedef struct as_called_result {
    const extract_use *use; /* one of those it is taken from; NULL: all stays */
    /*
     * Each call with a prefix is one call: what they ask for counts, and each is that parameter of
     * the constructor with the index in `sources`, UINT32_MAX: none of them. NULL: the parameters
     * of the constructor were changed.
     */
    const extract_parameter *const *asked;
    const uint32_t *sources;
    size_t count;
    /* Of several builders, by parameter of the constructor: the use its prefix is of; or NULL. */
    const extract_use *const *given;
} as_called_result;

/* `parameters` are those of the constructor; `steps`, by use: the call. */
cg_code as_called_apply(const as_called *self, size_t component, wanted_parameter *parameters,
                        const key_step *steps, as_called_result *ret, cg_err *reterr) CG_MUST;

#endif
