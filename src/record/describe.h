/*
 * describe - the run as the pieces of its `meta` record, checked before anything is created.
 *
 * The record is cut where losses may change it: levels of the contract, the gradient contract that
 * goes with `complete`, the tags.
 */
#ifndef CG_RECORD_DESCRIBE_H
#define CG_RECORD_DESCRIBE_H

#include "candlegraph/record.h"
#include "record/json.h"
#include "record/spool.h"

typedef struct description {
    rec_text pieces[SPOOL_PIECES];
    uint8_t levels[8];
} description;

/* `now` is the wall clock for the run id and the time stamp. CG_USAGE with a sentence, CG_NOMEM. */
cg_code describe(description *ret, const cg_record_run *run, const struct timespec *now, long pid,
                 cg_err *reterr);
void description_free(description *self);

/* The `meta` line with what is known at the end. */
typedef struct meta_facts {
    uint8_t levels[8];
    bool has_gradient_contract;
    uint64_t dropped, refused, late;
    uint64_t measured_records, measured_overhead_ns;
} meta_facts;
void describe_meta(rec_text *ret, const spool *source, const meta_facts *facts);

/* `sha256:` and 64 digits. */
void describe_digest(const cg_record_gradients *manifest, char ret[72]);

/* Fill an error; the first cause stays. Returns `code`. */
cg_code rec_fail(cg_err *reterr, cg_code code, const char *problem, const char *format, ...)
    CG_PRINTF(4, 5);
/* The same for what the kernel refused: "cannot `what` `path`", and its reason for `error`. */
cg_code rec_cannot(cg_err *reterr, const char *what, const char *path, int error);

#endif
