/*
 * absent_layers - members of a family that a file leaves out, while it has others.
 */
#ifndef CG_JOIN_ABSENT_LAYERS_H
#define CG_JOIN_ABSENT_LAYERS_H

#include "join/difference.h"

/* A row `unexplained` for each family: which of how many are not there. */
cg_code absent_layers_find(difference *self, cg_err *reterr) CG_MUST;

#endif
