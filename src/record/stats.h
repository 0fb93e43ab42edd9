/*
 * stats - reductions over a strided view of host memory, in f64 with scaling.
 *
 * Values are scaled by a power of two near the largest magnitude seen, so neither large nor tiny
 * elements are lost to overflow or underflow of their squares; sums are compensated. Elements that
 * are not finite are counted on their own type. A square that overflows f32 does not concern us.
 */
#ifndef CG_RECORD_STATS_H
#define CG_RECORD_STATS_H

#include "candlegraph/record.h"

/* False: a view that cannot be (type, rank, null data). `ret_norm`: the L2 norm, finite. */
bool stats_reduce(const cg_record_view *view, cg_record_stats *ret, double *ret_norm);
/* `f32` and so on; NULL for no type. */
const char *stats_type_name(uint32_t type);

#endif
