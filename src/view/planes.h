/*
 * planes - device timing and memory as parts of documents, streamed.
 */
#ifndef CG_VIEW_PLANES_H
#define CG_VIEW_PLANES_H

#include "view/pen.h"

doc_timing planes_timing(const pen *self);

/* The memory object is `planes`, which points at the two beside it. */
typedef struct memory_parts {
    doc_logical logical;
    doc_physical physical;
    doc_planes planes;
} memory_parts;

/* `ret` must stay where it is while the document is written. */
void planes_memory(const pen *self, memory_parts *ret);
/* Points of the logical time line, and how many of `total` are written under the pen's row_cap. */
cg_code planes_count_points(const pen *self, uint64_t *ret, cg_err *reterr) CG_MUST;
uint64_t planes_thinned_points(const pen *self, uint64_t total);

#endif
