/*
 * checkpoint_families - how many members a family has that the file keeps elsewhere.
 *
 * `layers.{i}.w` finds no number below `layers` when the file has it all below `model.`. The rest
 * of its keys is looked for among the tensors nobody claims: one place where at least half of the
 * keys that begin alike are found tells how many members there are; else the only list of the same
 * name; else, for large members, the only list whose members are about as large.
 */
#ifndef CG_JOIN_CHECKPOINT_FAMILIES_H
#define CG_JOIN_CHECKPOINT_FAMILIES_H

#include "join/checkpoint_part.h"

/*
 * Put members in the place of the templates that are found; after part_claim, and the new members
 * claim nothing, as they are not in their own place. CG_NOMEM.
 */
cg_code families_resolve(checkpoint_part *self, cg_err *reterr) CG_MUST;

#endif
