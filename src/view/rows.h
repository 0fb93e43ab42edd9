/*
 * rows - records of the trace as the rows of documents.
 *
 * The `emit` functions write all of them and take the trace as context.
 */
#ifndef CG_VIEW_ROWS_H
#define CG_VIEW_ROWS_H

#include "exec/trace.h"
#include "schema/evidence_schema.h"

void rows_write_stats(jsonw *out, const trace_doc *trace, size_t index);
void rows_write_tensor(jsonw *out, const trace_doc *trace, size_t index);
void rows_write_gradient(jsonw *out, const trace_doc *trace, size_t index);
void rows_emit_stats(jsonw *out, const void *context);
void rows_emit_tensors(jsonw *out, const void *context);
void rows_emit_gradients(jsonw *out, const void *context);

#endif
