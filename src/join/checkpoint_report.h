/*
 * checkpoint_report - what a comparison found, as the report of a checkpoint.
 *
 * The comparison itself is join/checkpoint.
 */
#ifndef CG_JOIN_CHECKPOINT_REPORT_H
#define CG_JOIN_CHECKPOINT_REPORT_H

#include "join/checkpoint_part.h"

/*
 * Every list of the report, sorted; texts are borrowed from the part and the difference, which has
 * been diagnosed. CG_NOMEM.
 */
cg_code checkpoint_report(checkpoint_part *self, difference *from, doc_checkpoint *ret,
                          cg_err *reterr) CG_MUST;

#endif
