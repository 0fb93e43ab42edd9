#include "view/text_gpu.h"

#include <inttypes.h>

#include "base/sort.h"

#define REASON_CELLS 400

static const uint8_t status_inks[] = {
    [GPU_STATUS_UNAVAILABLE] = INK_DIM,
    [GPU_STATUS_AVAILABLE] = INK_GOOD,
    [GPU_STATUS_FAILED] = INK_BAD,
};
static const uint8_t binding_inks[] = {
    [BINDING_PARTIAL] = INK_WARN,
    [BINDING_BOUND] = INK_GOOD,
    [BINDING_MISMATCH] = INK_BAD,
};

static void sentence(sections *to, enum ink ink, cg_str text)
{
    safe_add(&to->page.say, text, REASON_CELLS);
    page_paragraph(&to->page, ink, 2, 4);
}

/* A capability with its reason. */
static void level_line(sections *to, enum capability_kind kind)
{
    const capability *level = &to->from->capabilities.at[kind];

    buf_add(&to->page.say, capability_title(kind));
    buf_add(&to->page.say, CG_LIT(": "));
    buf_add(&to->page.say, capability_level_word(level->level));
    buf_add(&to->page.say, CG_LIT("; "));
    sentence(to, level->level == CAPABILITY_COMPLETE ? INK_GOOD : INK_DIM, level->reason);
}

/* Is the report there? Else says why not. */
static bool has_report(sections *to, unsigned report)
{
    const gpu_report *state = &to->from->gpu.reports[report];

    if (state->status == GPU_STATUS_AVAILABLE)
        return true;
    buf_add(&to->page.say, sc_word(&words_gpu_report, (uint8_t)report));
    buf_add(&to->page.say, CG_LIT(": "));
    buf_add(&to->page.say, sc_word(&words_gpu_status, state->status));
    buf_add(&to->page.say, CG_LIT("; "));
    sentence(to, (enum ink)status_inks[state->status], state->reason);
    return false;
}

/* --- status --- */

static void diagnostics(sections *to, sc_strs list, uint64_t most)
{
    for (size_t i = 0; i < list.count && i < most; i++)
        sentence(to, INK_WARN, list.at[i]);
    if (list.count > most)
        section_more(to, list.count - most, "--rows N shows them");
}

static void status(sections *to, uint64_t most)
{
    const gpu_evidence *gpu = &to->from->gpu;
    table rows;

    page_title(&to->page, "Nsight exports", NULL);
    if (gpu->wire.reason.ptr != NULL)
        sentence(to, (enum ink)status_inks[gpu->wire.status], gpu->wire.reason);
    table_open(&rows, &to->page, 2);
    table_column(&rows, COLUMN_WORD, "report");
    table_column(&rows, COLUMN_WORD, "state");
    table_column(&rows, COLUMN_NUMBER, "rows");
    for (unsigned i = 0; i < GPU_REPORT_COUNT; i++) {
        const gpu_report *state = &gpu->reports[i];

        buf_add(table_cell_text(&rows), sc_word(&words_gpu_report, (uint8_t)i));
        table_end_cell(&rows);
        table_ink(&rows, (enum ink)status_inks[state->status]);
        buf_add(table_cell_text(&rows), sc_word(&words_gpu_status, state->status));
        table_end_cell(&rows);
        if (state->status == GPU_STATUS_AVAILABLE)
            table_number(&rows, state->total);
        else
            table_text(&rows, "\xE2\x80\x94");
        table_row(&rows);
    }
    table_close(&rows);
    page_title(&to->page, "Binding to the run", NULL);
    sentence(to, (enum ink)binding_inks[gpu->provenance.binding],
             sc_word(&words_binding, gpu->provenance.binding));
    level_line(to, CAPABILITY_PROVENANCE);
    level_line(to, CAPABILITY_GPU_CORRELATION);
    if (gpu->provenance.diagnostics.count + gpu->wire.diagnostics.count > 0)
        page_title(&to->page, "Diagnostics", NULL);
    diagnostics(to, gpu->provenance.diagnostics, most);
    diagnostics(to, gpu->wire.diagnostics, most);
}

/* --- labels --- */

static void names(sections *to, const char *title, sc_strs list, enum ink ink, uint64_t most)
{
    if (list.count == 0)
        return;
    buf_add(&to->page.say, str_from(title));
    for (size_t i = 0; i < list.count && i < most; i++) {
        if (i > 0)
            buf_add(&to->page.say, CG_LIT(", "));
        safe_add(&to->page.say, list.at[i], 60);
    }
    if (list.count > most)
        buf_addf(&to->page.say, " ... and %" PRIu64 " more", list.count - most);
    page_paragraph(&to->page, ink, 2, 4);
}

static void repeated(sections *to, uint64_t most)
{
    const doc_gpu_ledger *ledger = &to->from->gpu.ledger;
    const doc_gpu_duplicate *rows = ledger->duplicates.at;

    if (ledger->duplicates.count == 0)
        return;
    buf_add(&to->page.say, CG_LIT("more than once: "));
    for (size_t i = 0; i < ledger->duplicates.count && i < most; i++) {
        if (i > 0)
            buf_add(&to->page.say, CG_LIT(", "));
        safe_add(&to->page.say, rows[i].semantic_key, 60);
        buf_addf(&to->page.say, " (%" PRIu64 ")", rows[i].occurrences);
    }
    page_paragraph(&to->page, INK_WARN, 2, 4);
}

static void problems(sections *to, uint64_t most)
{
    const doc_gpu_ledger *ledger = &to->from->gpu.ledger;

    names(to, "expected, not observed: ", ledger->missing_expected, INK_WARN, most);
    names(to, "observed, not expected: ", ledger->unexpected_observed, INK_WARN, most);
    names(to, "observed, although CPU-only: ", ledger->unexpected_cpu_only, INK_WARN, most);
    repeated(to, most);
}

static void correlation(sections *to, uint64_t most)
{
    page_title(&to->page, "Labels against projected ranges", "(Nsight clock)");
    if (!has_report(to, GPU_REPORT_NVTX))
        return;
    level_line(to, CAPABILITY_GPU_CORRELATION);
    names(to, "matched: ", to->from->gpu.ledger.matched, INK_PLAIN, most);
    problems(to, most);
}

/* --- rows in an order of their own --- */

/* Numbers 0 .. count-1 in order, in the first half of `ret`, which the caller gives back. */
static cg_code rank(sections *to, size_t count,
                    bool (*before)(const void *context, uint32_t a, uint32_t b), const void *rows,
                    uint32_t **ret, cg_err *reterr)
{
    *ret = NULL;
    if (count == 0)
        return CG_OK;
    if (count > UINT32_MAX / 2)
        return err_nomem(reterr);
    *ret = heap_resize(&to->heap, NULL, 0, 2 * count * sizeof **ret);
    if (*ret == NULL)
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++)
        (*ret)[i] = (uint32_t)i;
    sort_with(*ret, *ret + count, count, before, rows);
    return CG_OK;
}

static void give_back(sections *to, uint32_t *order, size_t count)
{
    heap_resize(&to->heap, order, 2 * count * sizeof *order, 0);
}

static bool kernel_before(const void *context, uint32_t a, uint32_t b)
{
    const doc_gpu_summary_row *rows = context;

    if (rows[a].total_ns != rows[b].total_ns)
        return rows[a].total_ns > rows[b].total_ns;
    return str_compare(rows[a].name, rows[b].name) < 0;
}

static cg_code kernels(sections *to, uint64_t most, cg_err *reterr)
{
    const gpu_evidence *gpu = &to->from->gpu;
    const doc_gpu_summary_row *from = gpu->wire.kernels.at;
    size_t count = gpu->wire.kernels.count;
    uint32_t *order;
    table rows;
    unit in;

    page_title(&to->page, "GPU kernels", "(Nsight clock)");
    if (!has_report(to, GPU_REPORT_KERNELS))
        return CG_OK;
    CG_TRY(rank(to, count, kernel_before, from, &order, reterr));
    in = unit_time(count > 0 ? from[order[0]].total_ns : 0);
    table_open(&rows, &to->page, 2);
    table_column(&rows, COLUMN_NAME, "kernel");
    table_column(&rows, COLUMN_NUMBER, "total %s", in.word);
    table_column(&rows, COLUMN_NUMBER, "calls");
    table_column(&rows, COLUMN_NUMBER, "mean %s", in.word);
    for (size_t i = 0; i < count && i < most; i++) {
        const doc_gpu_summary_row *row = &from[order[i]];

        table_name(&rows, "", row->name);
        table_amount(&rows, (opt_u64){row->total_ns, true}, in);
        if (row->count.is_set)
            table_number(&rows, row->count.value);
        else
            table_text(&rows, "\xE2\x80\x94");
        table_amount(&rows, row->average_ns, in);
        table_row(&rows);
    }
    table_close(&rows);
    if (gpu->reports[GPU_REPORT_KERNELS].total > most)
        section_more(to, gpu->reports[GPU_REPORT_KERNELS].total - most,
                     "kept are the first of each export");
    give_back(to, order, count);
    return CG_OK;
}

static bool phase_before(const void *context, uint32_t a, uint32_t b)
{
    const doc_gpu_phase *rows = context;

    if (rows[a].gpu_busy_ns != rows[b].gpu_busy_ns)
        return rows[a].gpu_busy_ns > rows[b].gpu_busy_ns;
    return str_compare(rows[a].semantic_key, rows[b].semantic_key) < 0;
}

static cg_code attributed(sections *to, uint64_t most, cg_err *reterr)
{
    const doc_gpu_phase *from = to->from->gpu.wire.phases.at;
    size_t count = to->from->gpu.wire.phases.count;
    uint32_t *order;
    table rows;
    unit in;

    page_title(&to->page, "Attributed GPU time",
               "(projected to the GPU, not aligned with the host)");
    if (!has_report(to, GPU_REPORT_NVTX) || !has_report(to, GPU_REPORT_TIMELINE))
        return CG_OK;
    if (count == 0) {
        sentence(to, INK_DIM, CG_LIT("no range could be attributed; see gpu-attribution-gaps"));
        return CG_OK;
    }
    CG_TRY(rank(to, count, phase_before, from, &order, reterr));
    in = unit_time(from[order[0]].gpu_busy_ns);
    table_open(&rows, &to->page, 2);
    table_column(&rows, COLUMN_NAME, "label");
    table_column(&rows, COLUMN_NUMBER, "busy %s", in.word);
    table_column(&rows, COLUMN_NUMBER, "interval %s", in.word);
    table_column(&rows, COLUMN_NUMBER, "operations");
    for (size_t i = 0; i < count && i < most; i++) {
        const doc_gpu_phase *row = &from[order[i]];

        table_name(&rows, "", row->semantic_key);
        table_amount(&rows, (opt_u64){row->gpu_busy_ns, true}, in);
        table_amount(&rows, (opt_u64){row->projected_duration_ns, true}, in);
        table_number(&rows, row->gpu_operation_count);
        table_row(&rows);
    }
    table_close(&rows);
    if (count > most)
        section_more(to, count - most, "--rows N shows them");
    give_back(to, order, count);
    return CG_OK;
}

static bool range_before(const void *context, uint32_t a, uint32_t b)
{
    const doc_gpu_timeline_row *rows = context;

    if (rows[a].projected_duration_ns.value != rows[b].projected_duration_ns.value)
        return rows[a].projected_duration_ns.value > rows[b].projected_duration_ns.value;
    return str_compare(rows[a].name, rows[b].name) < 0;
}

static cg_code projected(sections *to, uint64_t most, cg_err *reterr)
{
    const gpu_evidence *gpu = &to->from->gpu;
    const doc_gpu_timeline_row *from = gpu->wire.nvtx_ranges.at;
    size_t count = gpu->wire.nvtx_ranges.count;
    uint32_t *order;
    table rows;
    unit in;

    page_title(&to->page, "Projected ranges", "(the earliest of the export, longest first)");
    if (!has_report(to, GPU_REPORT_NVTX))
        return CG_OK;
    CG_TRY(rank(to, count, range_before, from, &order, reterr));
    in = unit_time(count > 0 ? from[order[0]].projected_duration_ns.value : 0);
    table_open(&rows, &to->page, 2);
    table_column(&rows, COLUMN_NAME, "range");
    table_column(&rows, COLUMN_NUMBER, "interval %s", in.word);
    table_column(&rows, COLUMN_NUMBER, "declared operations");
    for (size_t i = 0; i < count && i < most; i++) {
        const doc_gpu_timeline_row *row = &from[order[i]];

        table_name(&rows, "", row->name);
        table_amount(&rows, row->projected_duration_ns, in);
        if (row->gpu_operations.is_set)
            table_number(&rows, row->gpu_operations.value);
        else
            table_text(&rows, "\xE2\x80\x94");
        table_row(&rows);
    }
    table_close(&rows);
    if (gpu->reports[GPU_REPORT_NVTX].total > most)
        section_more(to, gpu->reports[GPU_REPORT_NVTX].total - most,
                     "kept are the first of each export");
    give_back(to, order, count);
    return CG_OK;
}

/* --- gaps --- */

static void gaps(sections *to, uint64_t most)
{
    const gpu_evidence *gpu = &to->from->gpu;

    page_title(&to->page, "What could not be attributed", "(Nsight clock)");
    if (!has_report(to, GPU_REPORT_NVTX) || !has_report(to, GPU_REPORT_TIMELINE)) {
        diagnostics(to, gpu->wire.diagnostics, most);
        return;
    }
    buf_addf(&to->page.say, "%zu of %" PRIu64 " projected ranges have GPU time attributed exactly",
             gpu->wire.phases.count, gpu->reports[GPU_REPORT_NVTX].total);
    page_paragraph(&to->page, INK_PLAIN, 2, 4);
    level_line(to, CAPABILITY_GPU_CORRELATION);
    problems(to, most);
    diagnostics(to, gpu->wire.diagnostics, most);
}

cg_code text_gpu(sections *to, uint32_t query_kind, uint64_t most, cg_err *reterr)
{
    switch (query_kind) {
    case QUERY_GPU_CORRELATION: correlation(to, most); return CG_OK;
    case QUERY_GPU_PHASES: CG_TRY(attributed(to, most, reterr)); return projected(to, most, reterr);
    case QUERY_GPU_KERNELS: return kernels(to, most, reterr);
    case QUERY_GPU_GAPS: gaps(to, most); return CG_OK;
    default: status(to, most); return CG_OK;
    }
}
