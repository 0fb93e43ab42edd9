#include "view/rows.h"

void rows_write_stats(jsonw *out, const trace_doc *trace, size_t index)
{
    const trace_stats *stats = &trace->stats.at[index];
    rec_stats row = {
        .span_id = trace_text(trace, stats->span_id),
        .label = trace_text(trace, stats->label),
        .shape = trace_axes(trace, stats->shape),
        .dtype = trace_text(trace, stats->dtype),
        .elements = stats->elements,
        .non_finite = stats->non_finite,
        .rms = stats->rms,
        .abs_max = stats->abs_max,
        .mean = stats->mean,
    };

    sc_write(out, &table_stats, &row);
}

void rows_write_tensor(jsonw *out, const trace_doc *trace, size_t index)
{
    const trace_tensor *tensor = &trace->tensors.at[index];
    rec_tensor row = {
        .span_id = trace_text(trace, tensor->span_id),
        .tensor_id = trace_text(trace, tensor->tensor_id),
        .label = trace_text(trace, tensor->label),
        .shape = trace_axes(trace, tensor->shape),
        .dtype = trace_text(trace, tensor->dtype),
        .device = trace_text(trace, tensor->device),
        .is_grad_required = tensor->is_grad_required,
        .dense_bytes = {tensor->dense_bytes, tensor->has_dense_bytes},
        .category = tensor->category,
    };

    sc_write(out, &table_tensor, &row);
}

void rows_write_gradient(jsonw *out, const trace_doc *trace, size_t index)
{
    const trace_gradient *gradient = &trace->gradients.at[index];
    doc_gradient_row row = {
        .root = trace_text(trace, gradient->root),
        .key = trace_text(trace, gradient->key),
        .state = gradient->state,
        .norm = {gradient->norm, gradient->has_norm},
    };

    sc_write(out, &table_gradient_row, &row);
}

void rows_emit_stats(jsonw *out, const void *context)
{
    const trace_doc *trace = context;

    jw_array(out);
    for (size_t i = 0; i < trace->stats.count; i++)
        rows_write_stats(out, trace, i);
    jw_end(out);
}

void rows_emit_tensors(jsonw *out, const void *context)
{
    const trace_doc *trace = context;

    jw_array(out);
    for (size_t i = 0; i < trace->tensors.count; i++)
        rows_write_tensor(out, trace, i);
    jw_end(out);
}

void rows_emit_gradients(jsonw *out, const void *context)
{
    const trace_doc *trace = context;

    jw_array(out);
    for (size_t i = 0; i < trace->gradients.count; i++)
        rows_write_gradient(out, trace, i);
    jw_end(out);
}
