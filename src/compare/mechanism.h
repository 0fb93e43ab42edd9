/*
 * mechanism - what changed inside: tensor statistics of two cohorts, by label.
 *
 * Sums per cohort and label are kept while runs come and go; the rows are made
 * at the end. Independent of whether times may be compared.
 */
#ifndef CG_COMPARE_MECHANISM_H
#define CG_COMPARE_MECHANISM_H

#include "exec/trace.h"
#include "schema/compare_schema.h"

typedef struct label_sums {
    double rms, abs_max;               /* plain sums, in the order of the documents */
    double rms_scaled, abs_max_scaled; /* by 2^-64: finite when the plain sum is not */
    uint64_t non_finite;
    uint64_t samples;
    uint64_t runs;
    uint64_t last_run; /* number of the run counted last, from 1 */
} label_sums;

typedef struct mechanism {
    heap *heap;
    intern labels;
    VEC(label_sums) sums[COHORT_COUNT]; /* by symbol */
    uint64_t runs[COHORT_COUNT];
} mechanism;

bool mechanism_init(mechanism *self, const cg_env *env, heap *from);
void mechanism_free(mechanism *self);
/* Add one run to a cohort; nothing of the trace is kept. False: no memory. */
bool mechanism_add(mechanism *self, unsigned cohort, const trace_doc *trace);
/*
 * Matched rows, the most changed first (|ln| of the ratio of rms, then label), and the labels
 * of one side only, bytewise. Rows live in `mem`, texts as long as the mechanism.
 */
bool mechanism_finish(mechanism *self, arena *mem, doc_mechanism *ret);

#endif
