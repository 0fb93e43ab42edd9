/*
 * text_gpu - what the Nsight exports of a run say, as text.
 *
 * All times are on the clock of the GPU or projected to it; none of them
 * stands in one table with host time.
 */
#ifndef CG_VIEW_TEXT_GPU_H
#define CG_VIEW_TEXT_GPU_H

#include "view/text_section.h"

/* The answer to a query of kind QUERY_GPU_...; at most `most` rows a table. */
cg_code text_gpu(sections *to, uint32_t query_kind, uint64_t most, cg_err *reterr) CG_MUST;

#endif
