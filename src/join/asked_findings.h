/*
 * asked_findings - what a comparison with a checkpoint found, as findings of the document: what the
 * file lacks, what nobody asks for, what has another shape.
 */
#ifndef CG_JOIN_ASKED_FINDINGS_H
#define CG_JOIN_ASKED_FINDINGS_H

#include "join/asked_merging.h"

/* Texts are copied into the document. Fails with CG_NOMEM. */
cg_code asked_findings_add(asked_merging *self, cg_err *reterr) CG_MUST;

#endif
