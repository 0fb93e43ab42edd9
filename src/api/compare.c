/* Cohorts, campaigns and series. */
#include "api/caller.h"
#include "api/compare.h"
#include "compare/calibration.h"
#include "compare/document.h"
#include "compare/text_compare.h"
#include "compare/text_series.h"

#define X(name, number)                                                                            \
    _Static_assert((int)CG_VERDICT_##name == (int)VERDICT_##name && CG_VERDICT_##name == (number), \
                   #name);
X(INELIGIBLE, 0)
X(INCONCLUSIVE, 1)
X(FASTER, 2)
X(SLOWER, 3)
#undef X

/* --- compare --- */

static cg_code add_cohort(comparison *to, unsigned cohort, const char *const *paths, size_t count,
                          size_t done, size_t total, cg_err *reterr)
{
    for (size_t i = 0; i < count; i++) {
        if (!env_progress(to->env, "reading", done + i, total))
            return cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped on request");
        CG_TRY(comparison_add(to, cohort, str_from(paths[i]), reterr));
    }
    return CG_OK;
}

static cg_code compare(const cg_env *env, const cg_compare_request *request, comparison **ret,
                       cg_err *reterr)
{
    size_t total = request->baseline_count + request->candidate_count;
    opt_f64 min_effect = {request->min_effect_percent, request->has_min_effect};
    comparison *of;
    cg_code code;

    CG_TRY(comparison_new(env, !request->are_traces, &of, reterr));
    code = add_cohort(of, COHORT_BASELINE, request->baseline, request->baseline_count, 0, total,
                      reterr);
    if (code == CG_OK)
        code = add_cohort(of, COHORT_CANDIDATE, request->candidate, request->candidate_count,
                          request->baseline_count, total, reterr);
    if (code == CG_OK)
        code = comparison_finish(of, min_effect, reterr);
    if (code == CG_OK && request->is_calibrated)
        code = calibration_add(of, reterr);
    if (code != CG_OK) {
        comparison_free(of);
        return code;
    }
    *ret = of;
    return CG_OK;
}

cg_code cg_compare(const cg_env *env, const cg_compare_request *request, cg_comparison **ret,
                   cg_err *reterr)
{
    heap start;
    cg_compare_request wanted;
    cg_comparison *handle;
    cg_code code;

    caller_read(&wanted, sizeof wanted, request);
    if (wanted.baseline_count == 0 || wanted.candidate_count == 0)
        return cg_fail(reterr, PROBLEM_USAGE, "a comparison needs a baseline and a candidate");
    if (wanted.has_min_effect && !(wanted.min_effect_percent >= 0))
        return cg_fail(reterr, PROBLEM_USAGE, "the least effect must not be negative");
    heap_init(&start, env);
    handle = heap_resize(&start, NULL, 0, sizeof *handle);
    if (handle == NULL)
        return err_nomem(reterr);
    *handle = (cg_comparison){.heap = start};
    code = compare(env, &wanted, &handle->of, reterr);
    if (code != CG_OK) {
        cg_comparison_free(handle);
        return code;
    }
    *ret = handle;
    return CG_OK;
}

void cg_comparison_free(cg_comparison *handle)
{
    if (handle == NULL)
        return;
    comparison_free(handle->of);
    heap_release(&handle->heap, handle, sizeof *handle);
}

cg_code cg_write_comparison(const cg_comparison *handle, const cg_format *format, cg_sink sink,
                            cg_err *reterr)
{
    text_style style;

    if (caller_wants_text(format, &style))
        return text_comparison(handle->of, &style, sink, reterr);
    return document_comparison(handle->of, sink, reterr);
}

void cg_comparison_facts_of(const cg_comparison *handle, cg_comparison_facts *ret)
{
    const comparison *of = handle->of;
    cg_comparison_facts facts = {
        .size = ret->size,
        .verdict = of->document.verdict,
        .is_comparable = of->document.is_comparable,
        .is_paired = of->document.is_paired,
        .baseline_count = comparison_runs(of, COHORT_BASELINE),
        .candidate_count = comparison_runs(of, COHORT_CANDIDATE),
        .baseline_median_ns = of->statistics[COHORT_BASELINE].median_ns,
        .candidate_median_ns = of->statistics[COHORT_CANDIDATE].median_ns,
        .median_delta_ns = of->document.median_delta_ns,
        .lower_delta_ns = of->interval.lower_delta_ns,
        .upper_delta_ns = of->interval.upper_delta_ns,
    };

    memcpy(ret, &facts, ret->size < sizeof facts ? ret->size : sizeof facts);
}

bool cg_comparison_reason(const cg_comparison *handle, uint64_t index, cg_str *ret)
{
    cg_str last = {NULL, 0};

    /* The smallest code above the last one, again and again: there are not many. */
    for (uint64_t i = 0; i <= index; i++) {
        cg_str next = {NULL, 0};

        for (unsigned reason = 0; reason < REASON_COUNT; reason++) {
            cg_str code = reason_rows[reason].code;

            if (comparison_reason_count(handle->of, reason) > 0 &&
                (last.ptr == NULL || str_compare(code, last) > 0) &&
                (next.ptr == NULL || str_compare(code, next) < 0))
                next = code;
        }
        if (next.ptr == NULL)
            return false;
        last = next;
    }
    *ret = last;
    return true;
}

cg_code cg_write_compare_plan(const cg_env *env, uint64_t pairs, const cg_format *format,
                              cg_sink sink, cg_err *reterr)
{
    text_style style;
    heap room;

    if (pairs < COMPARISON_FEWEST_RUNS || pairs > PLAN_MOST_PAIRS)
        return cg_fail(reterr, PROBLEM_USAGE, "a plan has %d to %d pairs, not %llu",
                       COMPARISON_FEWEST_RUNS, PLAN_MOST_PAIRS, (unsigned long long)pairs);
    heap_init(&room, env);
    if (caller_wants_text(format, &style))
        return text_plan(&room, pairs, &style, sink, reterr);
    return document_plan(&room, pairs, sink, reterr);
}

/* --- campaigns --- */

cg_code cg_write_campaign_status(const cg_env *env, const char *path, const cg_format *format,
                                 cg_sink sink, cg_err *reterr)
{
    text_style style;
    campaign *of;
    cg_code code;

    CG_TRY(campaign_read(env, str_from(path), &of, reterr));
    code = campaign_examine_all(of, reterr);
    if (code == CG_OK && caller_wants_text(format, &style)) {
        code = text_campaign(of, &style, sink, reterr);
    } else if (code == CG_OK) {
        code = document_campaign(of, sink, reterr);
    }
    campaign_free(of);
    return code;
}

/* --- series --- */

static cg_code fill_series(series *to, const cg_series_request *request, cg_err *reterr)
{
    if (request->manifest != NULL)
        CG_TRY(series_add_campaign(to, str_from(request->manifest), reterr));
    for (size_t i = 0; request->manifest == NULL && i < request->bundle_count; i++) {
        if (!env_progress(to->env, "reading", i, request->bundle_count))
            return cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped on request");
        CG_TRY(series_add(to, str_from(request->bundles[i]), reterr));
    }
    return series_finish(to, reterr);
}

cg_code cg_write_series(const cg_env *env, const cg_series_request *request,
                        const cg_format *format, cg_sink sink, cg_err *reterr)
{
    cg_series_request wanted;
    text_style style;
    series *of;
    cg_code code;

    caller_read(&wanted, sizeof wanted, request);
    if ((wanted.manifest != NULL) == (wanted.bundle_count > 0))
        return cg_fail(reterr, PROBLEM_USAGE, "a series needs a manifest or bundles");
    CG_TRY(series_new(env, wanted.label_prefix, &of, reterr));
    code = fill_series(of, &wanted, reterr);
    if (code == CG_OK && caller_wants_text(format, &style)) {
        code = text_series(of, &style, sink, reterr);
    } else if (code == CG_OK) {
        code = document_series(of, wanted.has_growth, sink, reterr);
    }
    series_free(of);
    return code;
}
