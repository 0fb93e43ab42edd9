/*
 * cargo_lines - findings as the lines of `cargo build --message-format json`,
 * for editors and scripts that read those.
 *
 * One compact object a line: a compiler-message for each finding, then
 * build-finished. `column_end` counts as if the call stood on one line.
 */
#ifndef CG_MODEL_CARGO_LINES_H
#define CG_MODEL_CARGO_LINES_H

#include "model/findings_out.h"

/* What the document does not tell about the target; absent: a library of edition 2021. */
typedef struct cargo_lines_target {
    cg_str kind; /* lib, bin, ... */
    cg_str src_path;
    cg_str edition;
} cargo_lines_target;

/* `is_success` is false when a gate failed. Fails with CG_NOMEM or as the sink does. */
cg_code cargo_lines_write(const findings_view *view, const cargo_lines_target *target,
                          bool is_success, heap *heap, cg_sink sink, cg_err *reterr) CG_MUST;

#endif
