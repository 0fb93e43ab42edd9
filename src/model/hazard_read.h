/*
 * hazard_read - all hazards of one entry: what operations need, against what its graph says.
 */
#ifndef CG_MODEL_HAZARD_READ_H
#define CG_MODEL_HAZARD_READ_H

#include "model/hazard.h"

/* For entry_reader.read; the context is the hazards. */
cg_code hazards_read(void *context, const entry_run *run, cg_err *reterr);

#endif
