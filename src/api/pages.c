/* Pages of several runs, and of documents about them that lie in a file. */
#include "api/compare.h"
#include "api/run.h"
#include "base/os.h"
#include "compare/document.h"
#include "compare/reread.h"
#include "view/page.h"

/* A document as text, for an island. */
static cg_code add_text(void *context, const char *bytes, size_t count)
{
    buf *to = context;

    buf_add(to, (cg_str){bytes, count});
    return to->failed ? CG_NOMEM : CG_OK;
}

static cg_sink text_sink(buf *to)
{
    return (cg_sink){to, add_text};
}

/* --- compare --- */

cg_code cg_write_comparison_page(const cg_comparison *handle, cg_sink sink, cg_err *reterr)
{
    heap memory = {.allocator = handle->heap.allocator,
                   .ceiling_bytes = handle->heap.ceiling_bytes};
    buf text;
    cg_code code;

    buf_init(&text, &memory, SIZE_MAX);
    code = document_comparison(handle->of, text_sink(&text), reterr);
    if (code == CG_OK) {
        const page_text island = {PAGE_COMPARISON_ID, buf_text(&text)};

        code = page_write_texts(&memory, PAGE_COMPARISON, &island, 1, sink, reterr);
    }
    buf_free(&text);
    return code;
}

static cg_str manifest_of(const cg_run *run)
{
    return run_is_of_bundle(run) ? run->receipt.manifest_sha256 : (cg_str){0};
}

/* comparison/6 of one run against one other. */
static cg_code compare_two(const cg_env *env, const cg_run *run, const cg_run *against, buf *ret,
                           cg_err *reterr)
{
    bool are_bundles = run_is_of_bundle(run) && run_is_of_bundle(against);
    comparison *of;
    cg_code code;

    CG_TRY(comparison_new(env, are_bundles, &of, reterr));
    code = comparison_take_evidence(of, COHORT_BASELINE, against->evidence, manifest_of(against),
                                    reterr);
    if (code == CG_OK)
        code =
            comparison_take_evidence(of, COHORT_CANDIDATE, run->evidence, manifest_of(run), reterr);
    if (code == CG_OK)
        code = comparison_finish(of, (opt_f64){0}, reterr);
    if (code == CG_OK)
        code = document_comparison(of, text_sink(ret), reterr);
    comparison_free(of);
    return code;
}

cg_code cg_write_page_against(const cg_env *env, const cg_run *run, const cg_run *against,
                              cg_sink sink, cg_err *reterr)
{
    heap memory = {.allocator = run->heap.allocator, .ceiling_bytes = run->heap.ceiling_bytes};
    buf text;
    cg_code code;

    CG_TRY(run_check_whole(run, reterr));
    CG_TRY(run_check_whole(against, reterr));
    buf_init(&text, &memory, SIZE_MAX);
    code = compare_two(env, run, against, &text, reterr);
    if (code == CG_OK) {
        const page_text island = {PAGE_COMPARISON_ID, buf_text(&text)};

        code = page_write_against(run->evidence, against->evidence, &island, sink, reterr);
    }
    buf_free(&text);
    return code;
}

/* --- campaigns --- */

/* Look at every capture; those that are published are also taken into the series. */
static cg_code examine(campaign *plan, series *into, cg_err *reterr)
{
    for (size_t i = 0; i < plan->count; i++) {
        source from = {0};
        cg_code code;

        if (!env_progress(plan->env, "reading", i, plan->count))
            return cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped on request");
        CG_TRY(campaign_examine(plan, i, &from, reterr));
        if (plan->captures[i].state != CAPTURE_STATE_PUBLISHED)
            continue;
        code = series_take(into, &from, plan->captures[i].path, reterr);
        source_close(&from);
        if (code != CG_OK)
            return code;
    }
    return CG_OK;
}

static cg_code write_campaign(campaign *plan, series *of, buf *status, buf *rows, cg_sink sink,
                              cg_err *reterr)
{
    page_text islands[2];
    size_t count = 0;

    CG_TRY(examine(plan, of, reterr));
    CG_TRY(document_campaign(plan, text_sink(status), reterr));
    islands[count++] = (page_text){PAGE_CAMPAIGN_ID, buf_text(status)};
    if (of->runs.count > 0) {
        CG_TRY(series_finish(of, reterr));
        CG_TRY(document_series(of, true, text_sink(rows), reterr));
        islands[count++] = (page_text){PAGE_SERIES_ID, buf_text(rows)};
    }
    return page_write_texts(&plan->heap, PAGE_SERIES, islands, count, sink, reterr);
}

cg_code cg_write_campaign_page(const cg_env *env, const char *path, cg_sink sink, cg_err *reterr)
{
    campaign *plan;
    series *of;
    heap memory;
    buf status;
    buf rows;
    cg_code code;

    CG_TRY(campaign_read(env, str_from(path), &plan, reterr));
    code = series_new(env, (cg_str){0}, &of, reterr);
    if (code == CG_OK) {
        heap_init(&memory, env);
        buf_init(&status, &memory, SIZE_MAX);
        buf_init(&rows, &memory, SIZE_MAX);
        code = write_campaign(plan, of, &status, &rows, sink, reterr);
        buf_free(&status);
        buf_free(&rows);
        series_free(of);
    }
    campaign_free(plan);
    return code;
}

/* --- documents in files --- */

static cg_code write_document(heap *memory, cg_str text, cg_sink sink, cg_err *reterr)
{
    static const struct {
        const char *id;
        const char *kind;
    } places[REREAD_KIND_COUNT] = {
        [REREAD_COMPARISON] = {PAGE_COMPARISON_ID, PAGE_COMPARISON},
        [REREAD_SERIES] = {PAGE_SERIES_ID, PAGE_SERIES},
        [REREAD_CAMPAIGN] = {PAGE_CAMPAIGN_ID, PAGE_SERIES},
        [REREAD_JOIN] = {PAGE_JOIN_ID, PAGE_JOIN},
    };
    enum reread_kind kind;
    page_text island;

    CG_TRY(reread_check(memory, text, &kind, reterr));
    island = (page_text){places[kind].id, text};
    return page_write_texts(memory, places[kind].kind, &island, 1, sink, reterr);
}

cg_code cg_write_document_page(const cg_env *env, const char *path, cg_sink sink, cg_err *reterr)
{
    heap memory;
    buf text;
    cg_code code;

    heap_init(&memory, env);
    buf_init(&text, &memory, (size_t)limit_of(env, CG_LIMIT_JSON_DOCUMENT_BYTES));
    code = os_read_whole(env, str_from(path), &text, reterr);
    if (code == CG_OK)
        code = write_document(&memory, buf_text(&text), sink, reterr);
    if (code != CG_OK)
        err_in_file(reterr, str_from(path));
    buf_free(&text);
    return code;
}
