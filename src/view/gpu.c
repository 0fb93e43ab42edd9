#include "view/gpu.h"

#include "base/sort.h"
#include "view/parts.h"

#define ROWS_CAP        50
#define LABELS_CAP      100
#define DIAGNOSTICS_CAP 50

static doc_report_state describe_report(const gpu_evidence *gpu, unsigned report)
{
    const gpu_report *from = &gpu->reports[report];

    return (doc_report_state){
        .status = from->status,
        .reason = from->reason,
        .total = {from->total, from->status == GPU_STATUS_AVAILABLE},
    };
}

/* What needs both reports; failed when any is. */
static doc_report_state describe_both(const gpu_evidence *gpu, unsigned a, unsigned b)
{
    doc_report_state first = describe_report(gpu, a);
    doc_report_state second = describe_report(gpu, b);
    doc_report_state *weaker = &first;

    if (first.status == GPU_STATUS_AVAILABLE ||
        (first.status == GPU_STATUS_UNAVAILABLE && second.status == GPU_STATUS_FAILED))
        weaker = &second;
    weaker->total.is_set = false;
    return *weaker;
}

void gpu_describe(const pen *self, gpu_parts *ret)
{
    const gpu_evidence *gpu = &self->view.gpu;
    const doc_report_state *nvtx = &ret->rows[GPU_REPORT_NVTX];

    for (unsigned i = 0; i < sizeof ret->rows / sizeof ret->rows[0]; i++)
        ret->rows[i] = describe_report(gpu, i);
    ret->phases = describe_both(gpu, GPU_REPORT_NVTX, GPU_REPORT_TIMELINE);
    if (ret->phases.status == GPU_STATUS_AVAILABLE)
        ret->phases.total = (opt_u64){gpu->wire.phases.count, true};
    ret->correlation = (doc_correlation_state){.status = nvtx->status, .reason = nvtx->reason};
    if (nvtx->status == GPU_STATUS_AVAILABLE)
        ret->correlation.complete = pen_truth(gpu->correlation.is_complete);
    ret->normalized_rows = (doc_normalized_rows){
        .kernels = &ret->rows[GPU_REPORT_KERNELS],
        .runtime_calls = &ret->rows[GPU_REPORT_RUNTIME],
        .memory_operations = &ret->rows[GPU_REPORT_MEMORY],
        .projected_ranges = nvtx,
        .gpu_timeline = &ret->rows[GPU_REPORT_TIMELINE],
    };
    ret->headline = (doc_gpu_headline){
        .status = gpu->wire.status,
        .reason = gpu->wire.reason,
        .binding = gpu->provenance.binding,
        .correlation = &ret->correlation,
        .coverage = &gpu->coverage,
        .normalized_rows = &ret->normalized_rows,
        .attributed_phases = &ret->phases,
        .diagnostic_count = gpu->wire.diagnostics.count + gpu->provenance.diagnostics.count,
    };
}

/* --- queries --- */

/* One result at work: everything in `mem` is gone when it is written. */
typedef struct result {
    pen *pen;
    const gpu_evidence *gpu;
    arena mem;
    gpu_parts parts;
    doc_report_need needs_at[GPU_REPORT_COUNT];
    doc_report_needs needs;
    doc_gpu_capabilities capabilities;
    bool failed; /* out of memory */
} result;

static size_t at_most(size_t count, size_t cap)
{
    return count < cap ? count : cap;
}

/* Rows of a table as a stream. */
typedef struct records {
    const sc_table *table;
    const void *at;
    size_t count;
} records;

static void emit_records(jsonw *out, const void *context)
{
    const records *list = context;

    jw_array(out);
    for (size_t i = 0; i < list->count; i++)
        sc_write(out, list->table, (const char *)list->at + i * list->table->size);
    jw_end(out);
}

/* `list` must stay where it is while the document is written. */
static doc_bounded_rows bound_records(records *list, size_t cap)
{
    size_t total = list->count;

    list->count = at_most(total, cap);
    return (doc_bounded_rows){
        .total = total,
        .displayed = list->count,
        .is_truncated = list->count < total,
        .rows = {emit_records, list},
    };
}

/* Numbers 0 .. count-1 in order; NULL when there are none or no memory is left. */
static const uint32_t *ranked(result *self, size_t count,
                              bool (*before)(const void *context, uint32_t a, uint32_t b),
                              const void *context)
{
    uint32_t *order;

    if (count == 0)
        return NULL;
    order = count <= UINT32_MAX ? arena_take(&self->mem, 2 * count * sizeof *order) : NULL;
    if (order == NULL) {
        self->failed = true;
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort_with(order, order + count, count, before, context);
    return order;
}

static bool text_before(const void *context, uint32_t a, uint32_t b)
{
    const cg_str *texts = context;

    return str_compare(texts[a], texts[b]) < 0;
}

/* Sorted, each once. */
static sc_strs distinct(result *self, const cg_str *texts, size_t count)
{
    const uint32_t *order = ranked(self, count, text_before, texts);
    cg_str *kept = order != NULL ? arena_take(&self->mem, count * sizeof *kept) : NULL;
    size_t kept_count = 0;

    if (kept == NULL) {
        self->failed = self->failed || count > 0;
        return (sc_strs){0};
    }
    for (size_t i = 0; i < count; i++) {
        if (kept_count == 0 || !str_equal(kept[kept_count - 1], texts[order[i]]))
            kept[kept_count++] = texts[order[i]];
    }
    return (sc_strs){kept, kept_count};
}

static bool is_among(sc_strs sorted, cg_str text)
{
    size_t low = 0, high = sorted.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_compare(sorted.at[middle], text);

        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* Those of `list` that are not in `sorted`, in the order of `list`. */
static sc_strs without(result *self, sc_strs list, sc_strs sorted)
{
    cg_str *kept;
    size_t count = 0;

    if (list.count == 0)
        return list;
    kept = arena_take(&self->mem, list.count * sizeof *kept);
    if (kept == NULL) {
        self->failed = true;
        return (sc_strs){0};
    }
    for (size_t i = 0; i < list.count; i++) {
        if (!is_among(sorted, list.at[i]))
            kept[count++] = list.at[i];
    }
    return (sc_strs){kept, count};
}

/* Diagnostics of both lists, sorted, each once. */
static doc_bounded_texts diagnostics(result *self)
{
    sc_strs first = self->gpu->provenance.diagnostics;
    sc_strs second = self->gpu->wire.diagnostics;
    size_t count = first.count + second.count;
    cg_str *texts = count > 0 ? arena_take(&self->mem, count * sizeof *texts) : NULL;

    if (texts == NULL) {
        self->failed = self->failed || count > 0;
        return (doc_bounded_texts){0};
    }
    for (size_t i = 0; i < count; i++)
        texts[i] = i < first.count ? first.at[i] : second.at[i - first.count];
    return parts_bound_texts(distinct(self, texts, count), DIAGNOSTICS_CAP);
}

static const doc_report_need *need(result *self, unsigned report)
{
    const gpu_report *from = &self->gpu->reports[report];

    self->needs_at[report] = (doc_report_need){.status = from->status, .reason = from->reason};
    return &self->needs_at[report];
}

static void write_status(result *self)
{
    const gpu_evidence *gpu = self->gpu;
    doc_bounded_texts notes = diagnostics(self);
    doc_source_artifacts artifacts = {gpu->wire.raw_report != NULL, gpu->wire.source_csv.count};

    sc_write(&self->pen->out, &table_gpu_status_result,
             &(doc_gpu_status_result){
                 .status = gpu->wire.status,
                 .reason = gpu->wire.reason,
                 .binding = gpu->provenance.binding,
                 .capabilities = &self->capabilities,
                 .coverage = &gpu->coverage,
                 .correlation = &self->parts.correlation,
                 .normalized_rows = &self->parts.normalized_rows,
                 .source_artifacts = &artifacts,
                 .diagnostics = &notes,
             });
}

/* The ledger, bounded; a part that points at the parts beside it. */
typedef struct ledger_parts {
    doc_bounded_texts lists[7];
    records duplicates_at;
    doc_bounded_rows duplicates;
    doc_ledger_result ledger;
} ledger_parts;

static void describe_ledger(const doc_gpu_ledger *from, ledger_parts *ret)
{
    const sc_strs lists[] = {
        from->expected,
        from->cpu_only,
        from->observed,
        from->matched,
        from->missing_expected,
        from->unexpected_observed,
        from->unexpected_cpu_only,
    };

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        ret->lists[i] = parts_bound_texts(lists[i], LABELS_CAP);
    ret->duplicates_at =
        (records){&table_gpu_duplicate, from->duplicates.at, from->duplicates.count};
    ret->duplicates = bound_records(&ret->duplicates_at, LABELS_CAP);
    ret->ledger = (doc_ledger_result){
        .expected = &ret->lists[0],
        .cpu_only = &ret->lists[1],
        .observed = &ret->lists[2],
        .matched = &ret->lists[3],
        .missing_expected = &ret->lists[4],
        .unexpected_observed = &ret->lists[5],
        .unexpected_cpu_only = &ret->lists[6],
        .duplicates = &ret->duplicates,
    };
}

static void write_correlation(result *self)
{
    const doc_gpu_correlation *from = &self->gpu->correlation;
    ledger_parts ledger;
    doc_gpu_correlation_result document;

    self->needs.nvtx = need(self, GPU_REPORT_NVTX);
    document = (doc_gpu_correlation_result){
        .status = self->parts.correlation.status,
        .reason = self->parts.correlation.reason,
        .binding = self->gpu->provenance.binding,
        .reports = &self->needs,
        .capabilities = &self->capabilities,
    };
    if (document.status == GPU_STATUS_AVAILABLE) {
        describe_ledger(&self->gpu->ledger, &ledger);
        document.mode = sc_word(&words_correlation_mode, from->mode);
        document.clock_aligned = pen_truth(from->is_clock_aligned);
        document.complete = pen_truth(from->is_complete);
        document.correlation_reason = from->reason;
        document.ledger = &ledger.ledger;
    }
    sc_write(&self->pen->out, &table_gpu_correlation_result, &document);
}

/* --- projected ranges and attributed phases --- */

static bool range_before(const void *context, uint32_t a, uint32_t b)
{
    const doc_gpu_timeline_row *rows = context;
    uint64_t first = rows[a].projected_duration_ns.is_set ? rows[a].projected_duration_ns.value : 0;
    uint64_t second =
        rows[b].projected_duration_ns.is_set ? rows[b].projected_duration_ns.value : 0;

    return first != second ? first > second : str_compare(rows[a].name, rows[b].name) < 0;
}

/* Words of what a range can be joined by. */
static sc_strs join_keys(result *self, const doc_gpu_timeline_row *row)
{
    const cg_str values[] = {row->correlation_id, row->device, row->context, row->stream};
    const size_t count = sizeof values / sizeof values[0];
    cg_str *keys = arena_take(&self->mem, count * sizeof *keys);
    size_t used = 0;

    if (keys == NULL) {
        self->failed = true;
        return (sc_strs){0};
    }
    for (uint8_t i = 0; i < count; i++) {
        if (values[i].ptr != NULL)
            keys[used++] = sc_word(&words_join_key, i);
    }
    return (sc_strs){keys, used};
}

static void describe_ranges(result *self, doc_ranges_result *ret)
{
    const doc_report_state *state = &self->parts.rows[GPU_REPORT_NVTX];
    const doc_gpu_timeline_row *from = self->gpu->wire.nvtx_ranges.at;
    size_t retained = self->gpu->wire.nvtx_ranges.count;
    size_t displayed = at_most(retained, ROWS_CAP);
    const uint32_t *order;
    doc_range_row *rows;

    *ret = (doc_ranges_result){
        .status = state->status,
        .reason = state->reason,
        .sample_selection = SAMPLE_SELECTION_EARLIEST,
        .ordering = GPU_ORDERING_PROJECTED,
    };
    if (state->status != GPU_STATUS_AVAILABLE)
        return;
    order = ranked(self, retained, range_before, from);
    rows = order != NULL ? arena_take(&self->mem, displayed * sizeof *rows) : NULL;
    if (rows == NULL) {
        self->failed = self->failed || retained > 0;
        displayed = 0;
    }
    for (size_t i = 0; i < displayed; i++) {
        const doc_gpu_timeline_row *row = &from[order[i]];

        rows[i] = (doc_range_row){
            .name = row->name,
            .semantic_key = row->semantic_key,
            .projected_start_ns = row->projected_start_ns,
            .projected_duration_ns = row->projected_duration_ns,
            .operations = row->gpu_operations,
            .join_keys = join_keys(self, row),
        };
    }
    ret->population_total = state->total;
    ret->retained = (opt_u64){retained, true};
    ret->displayed = displayed;
    ret->cut_before_ranking = pen_truth(retained < state->total.value);
    ret->cut = pen_truth(displayed < retained);
    ret->rows = (sc_records){rows, displayed};
}

static bool phase_before(const void *context, uint32_t a, uint32_t b)
{
    const doc_gpu_phase *rows = context;

    if (rows[a].gpu_busy_ns != rows[b].gpu_busy_ns)
        return rows[a].gpu_busy_ns > rows[b].gpu_busy_ns;
    return str_compare(rows[a].semantic_key, rows[b].semantic_key) < 0;
}

static void describe_phases(result *self, doc_phases_result *ret)
{
    const doc_report_state *state = &self->parts.phases;
    const doc_gpu_phase *from = self->gpu->wire.phases.at;
    size_t total = self->gpu->wire.phases.count;
    size_t displayed = at_most(total, ROWS_CAP);
    const uint32_t *order;
    doc_gpu_phase *rows;

    *ret = (doc_phases_result){
        .status = state->status, .reason = state->reason, .ordering = GPU_ORDERING_BUSY};
    if (state->status != GPU_STATUS_AVAILABLE)
        return;
    order = ranked(self, total, phase_before, from);
    rows = order != NULL ? arena_take(&self->mem, displayed * sizeof *rows) : NULL;
    if (rows == NULL) {
        self->failed = self->failed || total > 0;
        displayed = 0;
    }
    for (size_t i = 0; i < displayed; i++)
        rows[i] = from[order[i]];
    ret->population_total = (opt_u64){total, true};
    ret->displayed = displayed;
    ret->cut = pen_truth(displayed < total);
    ret->rows = (sc_records){rows, displayed};
}

static void write_phases(result *self)
{
    doc_ranges_result ranges;
    doc_phases_result phases;

    self->needs.nvtx = need(self, GPU_REPORT_NVTX);
    self->needs.timeline = need(self, GPU_REPORT_TIMELINE);
    describe_ranges(self, &ranges);
    describe_phases(self, &phases);
    sc_write(&self->pen->out, &table_gpu_phases_result,
             &(doc_gpu_phases_result){
                 .status = self->parts.phases.status,
                 .reason = self->parts.phases.reason,
                 .binding = self->gpu->provenance.binding,
                 .reports = &self->needs,
                 .clock_plane = CLOCK_PLANE_PROJECTED,
                 .ranges = &ranges,
                 .phases = &phases,
             });
}

/* --- kernels --- */

static bool kernel_before(const void *context, uint32_t a, uint32_t b)
{
    const doc_gpu_summary_row *rows = context;

    if (rows[a].total_ns != rows[b].total_ns)
        return rows[a].total_ns > rows[b].total_ns;
    return str_compare(rows[a].name, rows[b].name) < 0;
}

static void write_kernels(result *self)
{
    const doc_report_state *state = &self->parts.rows[GPU_REPORT_KERNELS];
    const doc_gpu_summary_row *from = self->gpu->wire.kernels.at;
    size_t retained = self->gpu->wire.kernels.count;
    size_t displayed = at_most(retained, ROWS_CAP);
    const uint32_t *order = NULL;
    doc_gpu_summary_row *rows = NULL;
    doc_gpu_kernels_result document = {
        .status = state->status,
        .reason = state->reason,
        .binding = self->gpu->provenance.binding,
        .reports = &self->needs,
        .clock_plane = CLOCK_PLANE_NSIGHT,
    };

    self->needs.kernels = need(self, GPU_REPORT_KERNELS);
    if (state->status == GPU_STATUS_AVAILABLE) {
        order = ranked(self, retained, kernel_before, from);
        rows = order != NULL ? arena_take(&self->mem, displayed * sizeof *rows) : NULL;
        if (rows == NULL) {
            self->failed = self->failed || retained > 0;
            displayed = 0;
        }
        for (size_t i = 0; i < displayed; i++)
            rows[i] = from[order[i]];
        document.population_total = state->total;
        document.displayed = displayed;
        document.cut = pen_truth(displayed < state->total.value);
        document.rows = (sc_records){rows, displayed};
    }
    sc_write(&self->pen->out, &table_gpu_kernels_result, &document);
}

/* --- attribution gaps --- */

typedef struct gap_parts {
    ledger_parts ledger;
    doc_bounded_texts unattributed;
    doc_bounded_texts unexpected;
    records truncated_at;
    doc_bounded_rows truncated;
} gap_parts;

static sc_strs attributed_keys(result *self)
{
    const doc_gpu_phase *phases = self->gpu->wire.phases.at;
    size_t count = self->gpu->wire.phases.count;
    cg_str *keys;

    if (count == 0)
        return (sc_strs){0};
    keys = arena_take(&self->mem, count * sizeof *keys);
    if (keys == NULL) {
        self->failed = true;
        return (sc_strs){0};
    }
    for (size_t i = 0; i < count; i++)
        keys[i] = phases[i].semantic_key;
    return distinct(self, keys, count);
}

static void list_truncated(result *self, records *ret)
{
    const gpu_evidence *gpu = self->gpu;
    doc_truncated_report *rows;
    size_t count = 0;

    *ret = (records){.table = &table_truncated_report};
    if (gpu->limit_count == 0)
        return;
    rows = arena_take(&self->mem, gpu->limit_count * sizeof *rows);
    if (rows == NULL) {
        self->failed = true;
        return;
    }
    for (size_t i = 0; i < gpu->limit_count; i++) {
        const gpu_limit *limit = &gpu->limits[i];

        if (limit->rows.is_truncated)
            rows[count++] = (doc_truncated_report){limit->file, limit->rows.total_rows,
                                                   limit->rows.displayed_rows};
    }
    ret->at = rows;
    ret->count = count;
}

static void describe_gaps(result *self, gap_parts *parts, doc_gpu_gaps_result *ret)
{
    const doc_gpu_ledger *ledger = &self->gpu->ledger;
    sc_strs attributed = attributed_keys(self);

    describe_ledger(ledger, &parts->ledger);
    parts->unattributed = parts_bound_texts(without(self, ledger->matched, attributed), LABELS_CAP);
    parts->unexpected = parts_bound_texts(without(self, attributed, ledger->expected), LABELS_CAP);
    list_truncated(self, &parts->truncated_at);
    parts->truncated = bound_records(&parts->truncated_at, ROWS_CAP);
    ret->complete = pen_truth(self->gpu->correlation.is_complete);
    ret->correlation_reason = self->gpu->correlation.reason;
    ret->missing_expected = parts->ledger.ledger.missing_expected;
    ret->unexpected_observed = parts->ledger.ledger.unexpected_observed;
    ret->unexpected_cpu_only = parts->ledger.ledger.unexpected_cpu_only;
    ret->duplicates = &parts->ledger.duplicates;
    ret->unattributed = &parts->unattributed;
    ret->attributed_unexpected = &parts->unexpected;
    ret->range_rows = self->parts.rows[GPU_REPORT_NVTX].total;
    ret->phase_rows = (opt_u64){self->gpu->wire.phases.count, true};
    ret->truncated_reports = &parts->truncated;
}

static void write_gaps(result *self)
{
    doc_bounded_texts notes = diagnostics(self);
    gap_parts parts;
    doc_gpu_gaps_result document = {
        .status = self->parts.phases.status,
        .reason = self->parts.phases.reason,
        .binding = self->gpu->provenance.binding,
        .reports = &self->needs,
        .diagnostics = &notes,
    };

    self->needs.nvtx = need(self, GPU_REPORT_NVTX);
    self->needs.timeline = need(self, GPU_REPORT_TIMELINE);
    if (document.status == GPU_STATUS_AVAILABLE)
        describe_gaps(self, &parts, &document);
    sc_write(&self->pen->out, &table_gpu_gaps_result, &document);
}

void gpu_write_result(pen *with, uint32_t query_kind)
{
    const capability *levels = with->view.capabilities.at;
    result self = {
        .pen = with,
        .gpu = &with->view.gpu,
        .capabilities = {&levels[CAPABILITY_GPU_CORRELATION], &levels[CAPABILITY_PROVENANCE]},
    };

    arena_init(&self.mem, &with->heap);
    gpu_describe(with, &self.parts);
    if (query_kind == QUERY_GPU_STATUS)
        write_status(&self);
    else if (query_kind == QUERY_GPU_CORRELATION)
        write_correlation(&self);
    else if (query_kind == QUERY_GPU_PHASES)
        write_phases(&self);
    else if (query_kind == QUERY_GPU_KERNELS)
        write_kernels(&self);
    else
        write_gaps(&self);
    if (self.failed)
        pen_latch(&with->out, CG_NOMEM);
    arena_free(&self.mem);
}
