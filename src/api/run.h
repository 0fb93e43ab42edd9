/*
 * run - an open run behind its public handle.
 */
#ifndef CG_API_RUN_H
#define CG_API_RUN_H

#include "candlegraph/candlegraph.h"
#include "publish/derive.h"
#include "view/document.h"

struct cg_run {
    heap heap; /* of the handle itself */
    arena arena;
    evidence *evidence;
    document_input input;
    doc_receipt receipt;   /* of a bundle; `input` leads to it */
    difference difference; /* of a bundle: where its evidence is not what follows from its trace */
};

static inline bool run_is_of_bundle(const cg_run *self)
{
    return self->input.verification.emit != NULL;
}

/* Refuse a run of a bundle any part of whose evidence is not what follows from its trace. */
cg_code run_check_whole(const cg_run *self, cg_err *reterr) CG_MUST;

#endif
