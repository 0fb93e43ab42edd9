/*
 * series - one quantity over many captures of a training run.
 *
 *   series_new(env, &options, &s, reterr);
 *   series_add(s, path, reterr);                each bundle, or once:
 *   series_add_campaign(s, manifest, reterr);   all captures of a campaign
 *   series_finish(s, reterr);
 *
 * All captures share entrypoint and phase and differ in their step. A campaign
 * is taken only when every planned capture is published. Failed and invalid
 * captures are accepted one by one; whoever shows a series says so.
 *
 * Rows are kept, traces are not: memory is that of one trace and of the rows.
 */
#ifndef CG_COMPARE_SERIES_H
#define CG_COMPARE_SERIES_H

#include "compare/campaign.h"

typedef struct series_run {
    uint64_t step;
    cg_str run_id;
    cg_str bundle; /* path as given */
    cg_str manifest;
    opt_u64 wall_ns; /* unset unless there is exactly one closed measured span */
    bool is_complete, is_valid;
} series_run;

/* Rows are of a run (its place among the runs by step) and of a name. */
typedef struct series_stat {
    double rms, abs_max, mean;
    uint64_t non_finite, elements;
    sym label;
    uint32_t run;
} series_stat;

typedef struct series_gradient {
    double norm;
    sym name; /* `root/key` */
    uint32_t run;
    uint8_t state;
    bool has_norm;
} series_gradient;

typedef struct series_residual {
    uint64_t bytes;
    sym span;
    uint32_t run;
} series_residual;

/* Rows of one name: `count` of them from `at` on. */
typedef struct series_group {
    sym name;
    size_t at;
    size_t count;
} series_group;

typedef struct series_groups {
    const series_group *at;
    size_t count;
} series_groups;

/* A span name whose kept bytes rise from capture to capture. */
typedef struct series_growth {
    sym span;
    uint64_t from_bytes, to_bytes;
    const uint64_t *bytes; /* one for each run, by step */
} series_growth;

typedef struct series {
    heap heap;
    arena arena;
    const cg_env *env;
    cg_str label_prefix; /* absent: no filter */
    cg_str entrypoint;
    uint8_t phase;
    intern names;
    VEC(series_run) runs; /* by step after series_finish */
    VEC(series_stat) stats;
    VEC(series_gradient) gradients;
    VEC(series_residual) residuals;
    /* After series_finish rows stand together by name (bytewise), then by run, then as recorded: */
    series_groups stat_groups, gradient_groups, residual_groups;
    series_growth *growth;
    size_t growth_count;
} series;

/* `label_prefix` is copied. The env must outlive the series. */
cg_code series_new(const cg_env *env, cg_str label_prefix, series **ret, cg_err *reterr) CG_MUST;
void series_free(series *self);
cg_code series_add(series *self, cg_str path, cg_err *reterr) CG_MUST;
cg_code series_add_campaign(series *self, cg_str path, cg_err *reterr) CG_MUST;
/* Take the rows of an open run, which stays open; `path` is what it is called. */
cg_code series_take(series *self, const source *from, cg_str path, cg_err *reterr) CG_MUST;
/* Order everything, find what grows. */
cg_code series_finish(series *self, cg_err *reterr) CG_MUST;

static inline cg_str series_name(const series *self, sym name)
{
    return intern_text_of(&self->names, name);
}

#endif
