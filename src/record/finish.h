/*
 * finish - the trace of a session whose writer has stopped, put in place whole or not at all.
 */
#ifndef CG_RECORD_FINISH_H
#define CG_RECORD_FINISH_H

#include "record/convert.h"
#include "record/lane.h"

/* `job` without its spool, which is gathered here. CG_NOMEM, CG_OUTPUT; nothing is left then. */
cg_code finish_trace(cg_record *session, convert_job *job, convert_account *account,
                     cg_err *reterr);

#endif
