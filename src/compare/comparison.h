/*
 * comparison - two cohorts of runs: may they be compared, and what follows?
 *
 *   comparison_new(env, true, &c, reterr);
 *   comparison_add(c, COHORT_BASELINE, path, reterr);     every baseline run,
 *   comparison_add(c, COHORT_CANDIDATE, path, reterr);    then every candidate
 *   comparison_finish(c, min_effect, reterr);
 *   c->document                                           comparison/6
 *
 * A run that cannot be verified or read fails the call; a run that may not be
 * compared adds a reason. Statistics and tensor statistics are there in every
 * case, the interval and a verdict only without reasons. The order in which
 * runs are given matters: resampling draws by place.
 *
 * The rules are those of the comparison contract (docs/schemas/comparison.md).
 */
#ifndef CG_COMPARE_COMPARISON_H
#define CG_COMPARE_COMPARISON_H

#include "compare/bootstrap.h"
#include "compare/mechanism.h"
#include "compare/source.h"
#include "exec/evidence.h"

#define COMPARISON_FEWEST_RUNS 5

typedef struct cohort_run {
    cg_str run_id;
    cg_str manifest;          /* 64 digits, absent for a raw trace */
    cg_str implementation_id; /* absent: none */
    cg_str pair_id;
    uint64_t sample_ns; /* 0 without a measured span */
    bool has_sample;
} cohort_run;

typedef struct reason_note {
    uint8_t reason; /* enum reason */
    uint8_t cohort; /* COHORT_COUNT: both */
} reason_note;

typedef struct comparison {
    heap heap;
    arena arena;
    const cg_env *env;
    bool is_verified;
    VEC(cohort_run) runs[COHORT_COUNT];
    mechanism mechanism;
    VEC(doc_comparison_reason) reasons; /* in the order of the contract */
    VEC(reason_note) notes;             /* beside them */
    bool has_first;
    rec_run first; /* of the first run; the others are held against it */
    bool is_semantics_mixed, is_identity_missing, are_conditions_mixed;
    cg_str device;

    /* After comparison_finish (calibration: after calibration_add): */
    uint64_t *samples[COHORT_COUNT];
    sample_statistics statistics[COHORT_COUNT];
    sample_drift drift[COHORT_COUNT];
    delta *pairs; /* candidate - baseline, in the order of pair ids */
    size_t pair_count;
    doc_compared_inputs inputs;
    doc_conditions conditions;
    doc_cohort_statistics cohorts[COHORT_COUNT];
    doc_interval interval;
    doc_mechanism tensor_stats;
    doc_min_effect min_effect;
    doc_calibration calibration;
    doc_cohort_spread spreads[COHORT_COUNT];
    doc_interval calibration_interval;
    doc_comparison document;
} comparison;

/* The env must outlive the comparison. */
cg_code comparison_new(const cg_env *env, bool is_verified, comparison **ret,
                       cg_err *reterr) CG_MUST;
void comparison_free(comparison *self);
/* Verify, read and judge one run, keep what is needed of it, close it. Baseline runs first. */
cg_code comparison_add(comparison *self, unsigned cohort, cg_str path, cg_err *reterr) CG_MUST;
/* The same for a run that is open; it stays open. */
cg_code comparison_take(comparison *self, unsigned cohort, const source *from,
                        cg_err *reterr) CG_MUST;
/* The same of a run that was derived already; `digits`: of its manifest, absent for a raw trace. */
cg_code comparison_take_evidence(comparison *self, unsigned cohort, const evidence *from,
                                 cg_str digits, cg_err *reterr) CG_MUST;
/* Judge and conclude. With a least effect the verdict asks for an interval wholly beyond it. */
cg_code comparison_finish(comparison *self, opt_f64 min_effect_percent, cg_err *reterr) CG_MUST;

static inline size_t comparison_runs(const comparison *self, unsigned cohort)
{
    return self->runs[cohort].count;
}

/* In how many places does this reason stand? */
size_t comparison_reason_count(const comparison *self, unsigned reason);

#endif
