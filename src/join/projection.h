/*
 * projection - several keys that a file holds as one tensor, and the reverse.
 *
 * Query, key and value of an attention, gate and up of a gated layer, or any siblings: the parts
 * lie side by side along one axis of the whole. Shapes must allow it; names or an exact sum of all
 * missing siblings must ask for it.
 */
#ifndef CG_JOIN_PROJECTION_H
#define CG_JOIN_PROJECTION_H

#include "join/difference.h"

/* Rows `fused_projection`: one tensor, several keys. */
cg_code projection_find_fused(difference *self, cg_err *reterr) CG_MUST;
/* Rows `split_projection`: one key, several tensors. */
cg_code projection_find_split(difference *self, cg_err *reterr) CG_MUST;

#endif
