/*
 * account - what a conversion is asked, and what it has to say about its trace.
 */
#ifndef CG_RECORD_ACCOUNT_H
#define CG_RECORD_ACCOUNT_H

#include "candlegraph/record.h"
#include "record/json.h"
#include "record/spool.h"

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

void convert_account_free(convert_account *self);

#endif
