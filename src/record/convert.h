/*
 * convert - the streams of a spool as one trace/10.
 *
 * Lanes are merged by the time of their records; spans are numbered in the order they began. What
 * would make the trace unreadable or unsound is settled here, where everything is known:
 *
 *   a span that outlives its parent ends with it; an end that comes more than a microsecond later
 *       is counted as late
 *   a span begun under a closed one hangs on the nearest open ancestor
 *   an operation or a memory event outside its span, an edge that contradicts the spans or names
 *       an unknown tensor, a statistic that contradicts itself: left out, counted, reported
 *
 * Losses go into `meta`, the first line: the conversion is run again in the rare case that some
 * were only found on the way. Time O(records log lanes), memory O(spans + names).
 */
#ifndef CG_RECORD_CONVERT_H
#define CG_RECORD_CONVERT_H

#include "record/account.h"

/* CG_OK, CG_NOMEM, CG_OUTPUT with *ret_error, CG_INPUT for streams that cannot be. */
cg_code convert(const convert_job *job, int file, convert_account *ret, int *ret_error);

#endif
