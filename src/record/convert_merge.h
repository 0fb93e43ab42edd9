/*
 * convert_merge - all lanes as one stream of records, in the order of their times.
 */
#ifndef CG_RECORD_CONVERT_MERGE_H
#define CG_RECORD_CONVERT_MERGE_H

#include "record/converter.h"

/* Every sound record of lanes that were just opened. */
void merge_lanes(converter *self);

#endif
