/*
 * convert_records - a record of a lane becomes a line, or is refused when it contradicts the rest.
 */
#ifndef CG_RECORD_CONVERT_RECORDS_H
#define CG_RECORD_CONVERT_RECORDS_H

#include "record/converter.h"

/* `at` is the next record of `lane`; `depth` as for convert_find_span. */
void record_put(converter *self, size_t lane, const slot *at, unsigned depth);
/* Edges, which wait until all spans and tensors are known. */
void record_put_edges(converter *self);

#endif
