/*
 * salvage - a trace without its terminal as a failed capture.
 *
 * The writer of the trace died: everything it had written is there, but for the end, and the last
 * record may be cut. All complete records go out unchanged and in order, then one terminal with
 * outcome `failed` whose reason tells how many they were and which spans were open. No end of a
 * span is invented.
 *
 * Strict as the reader: a fault in any record but the last is a refusal, and so is a trace that
 * has its terminal. Memory: the text, twice for a moment.
 */
#ifndef CG_EXEC_SALVAGE_H
#define CG_EXEC_SALVAGE_H

#include "exec/trace.h"
#include "schema/recovery_schema.h"

/*
 * `text` is what is left of a trace. The recovered trace goes to `out`; *ret gets all fields but
 * `input` and `output`, its texts and lists live in `mem`.
 * CG_INPUT, CG_LIMIT, CG_NOMEM, or what `out` returned.
 */
cg_code salvage_trace(const cg_env *env, cg_str text, cg_sink out, arena *mem, rec_recovery *ret,
                      cg_err *reterr) CG_MUST;

/* The account as JSON. */
cg_code salvage_write_account(const rec_recovery *account, heap *own, bool is_pretty, cg_sink sink,
                              cg_err *reterr) CG_MUST;

#endif
