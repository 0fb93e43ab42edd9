/*
 * gpu - what documents say of the Nsight evidence: headline and queries.
 */
#ifndef CG_VIEW_GPU_H
#define CG_VIEW_GPU_H

#include "view/pen.h"

/* The headline, which points at the parts beside it. */
typedef struct gpu_parts {
    doc_report_state rows[GPU_REPORT_COUNT];
    doc_report_state phases; /* needs projected ranges and the time line */
    doc_correlation_state correlation;
    doc_normalized_rows normalized_rows;
    doc_gpu_headline headline;
} gpu_parts;

/* `ret` must stay where it is while the document is written. */
void gpu_describe(const pen *self, gpu_parts *ret);

/* The result of QUERY_GPU_...: one JSON value; failures stay in the pen's writer. */
void gpu_write_result(pen *self, uint32_t query_kind);

#endif
