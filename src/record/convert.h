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

#include "candlegraph/record.h"
#include "record/json.h"
#include "record/spool.h"
#include "record/wire.h"

typedef struct losses {
    uint64_t dropped[SPOOL_KINDS];
    uint64_t refused[SPOOL_KINDS];
    uint64_t late;
} losses;

uint64_t losses_total(const uint64_t counts[SPOOL_KINDS]);

typedef struct convert_job {
    spool *spool;
    uint64_t end_ticks; /* the moment of finish; 0: the latest record */
    clock_pair end;     /* the latest moment seen on both clocks */
    bool is_failed;
    bool is_recovery; /* the reason is made here */
    cg_str reason;    /* of a failed capture */
} convert_job;

typedef struct convert_account {
    losses losses;
    uint64_t records; /* lines, the terminal included */
    uint64_t spans;
    bool is_complete;
    cg_record_open_span *open_spans; /* owned; names in `names` */
    size_t open_span_count;
    rec_text names;
    rec_text reason;
    uint64_t malformed_streams;
    char cause[256]; /* the first refusal, "" = none */
} convert_account;

/* CG_OK, CG_NOMEM, CG_OUTPUT with *ret_error, CG_INPUT for streams that cannot be. */
cg_code convert(const convert_job *job, int file, convert_account *ret, int *ret_error);
void convert_account_free(convert_account *self);

#endif
