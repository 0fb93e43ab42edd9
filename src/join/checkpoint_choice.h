/*
 * checkpoint_choice - which components a file is compared with, and below which builder.
 *
 * The components that are not part of another one, or those of the name that was asked for; of
 * several builders of the first of them the one that most keys of are in the file.
 */
#ifndef CG_JOIN_CHECKPOINT_CHOICE_H
#define CG_JOIN_CHECKPOINT_CHOICE_H

#include "codec/safetensors.h"
#include "join/parameters.h"

typedef struct checkpoint_choice {
    cg_str root;      /* absent: to be chosen, `vb` when there is nothing to choose from */
    cg_str component; /* bare or qualified; absent: all at the top that have the root */
} checkpoint_choice;

/* By name, in `mem`. CG_INPUT (no component of that name), CG_NOMEM. */
cg_code checkpoint_choose(arena *mem, const wanted_component *components, size_t count,
                          const tensor_header *header, const checkpoint_choice *options,
                          const wanted_component ***ret, size_t *ret_count, cg_str *ret_root,
                          cg_err *reterr) CG_MUST;

#endif
