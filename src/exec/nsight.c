#include "exec/nsight.h"

#include <inttypes.h>

#include "base/num.h"
#include "base/sort.h"
#include "exec/columns.h"
#include "exec/nsight_files.h"
#include "exec/nsight_join.h"
#include "exec/nsight_ledger.h"
#include "exec/nsight_manifest.h"
#include "exec/nsight_table.h"

#define STATUS_BYTES ((size_t)64 << 10)
#define SUMMARIES    3 /* kinds of reports that are summaries; they come first */

typedef struct summary_rows {
    VEC(doc_gpu_summary_row) rows;
} summary_rows;

typedef struct work {
    const nsight_source *source;
    heap *heap;
    arena *mem;
    nsight_files files;
    nsight_labels labels;
    intern texts;
    nsight_notes diagnostics;
    nsight_notes provenance;
    summary_rows summaries[SUMMARIES];
    nsight_events ranges;
    nsight_events operations;
    nsight_match *matches; /* one per range */
    VEC(doc_artifact) tables;
    VEC(gpu_limit) limits;
    doc_artifact raw_report;
    bool has_raw_report;
    bool is_covered[GPU_REPORT_COUNT];
    bool is_failed[GPU_REPORT_COUNT];
    cg_str failures[GPU_REPORT_COUNT]; /* the first diagnostic of each */
    uint64_t totals[GPU_REPORT_COUNT];
} work;

_Static_assert(GPU_REPORT_KERNELS < SUMMARIES && GPU_REPORT_RUNTIME < SUMMARIES &&
                   GPU_REPORT_MEMORY < SUMMARIES,
               "summaries come first");

/* --- what was found, as the wire has it --- */

static void emit_limits(jsonw *out, const void *context)
{
    const gpu_evidence *gpu = context;

    jw_object(out);
    for (size_t i = 0; i < gpu->limit_count; i++) {
        jw_key(out, gpu->limits[i].file);
        sc_write(out, &table_gpu_limit, &gpu->limits[i].rows);
    }
    jw_end(out);
}

static void link_parts(gpu_evidence *gpu)
{
    gpu->correlation.ledger = &gpu->ledger;
    gpu->wire.provenance = &gpu->provenance;
    gpu->wire.coverage = &gpu->coverage;
    gpu->wire.correlation = &gpu->correlation;
    gpu->wire.limits = (sc_stream){emit_limits, gpu};
}

/* The state without rows: nothing was read, nothing is bound. */
static void describe_nothing(gpu_evidence *ret, uint8_t status, cg_str reason)
{
#define TEXT(text) {text, sizeof(text) - 1}
    static const cg_str diagnostics[] = {
        TEXT("no capture manifest was given"),
        TEXT("without a manifest nothing binds Nsight files to this run"),
    };
#undef TEXT
    gpu_evidence gpu = {
        .wire = {.status = status, .reason = reason},
        .provenance = {.binding = BINDING_PARTIAL,
                       .diagnostics = {diagnostics, sizeof diagnostics / sizeof diagnostics[0]}},
        .correlation = {.mode = CORRELATION_MODE_NONE,
                        .reason = CG_LIT("no projected NVTX range was read")},
    };

    for (unsigned i = 0; i < GPU_REPORT_COUNT; i++)
        gpu.reports[i] = (gpu_report){.status = status, .reason = reason};
    *ret = gpu;
    link_parts(ret);
}

/* --- which files --- */

/* What stands behind the last dot; nothing when the name begins with its only dot. */
static cg_str extension_of(cg_str name)
{
    size_t dot = str_find_last(name, '.');

    if (dot == SIZE_MAX || dot == 0)
        return CG_LIT("");
    return (cg_str){name.ptr + dot + 1, name.len - dot - 1};
}

static bool find_report(cg_str name, unsigned *ret)
{
    if (!str_equal_nocase(extension_of(name), CG_LIT(NSIGHT_TABLE_EXTENSION)))
        return false;
    for (unsigned i = 0; i < GPU_REPORT_COUNT; i++) {
        if (str_find(name, sc_word(&words_gpu_report, (uint8_t)i)) != SIZE_MAX) {
            *ret = i;
            return true;
        }
    }
    return false;
}

/* --- one table --- */

/* Order rows[first..] by keys[i] of the i-th of them, stable. */
static bool order_rows(work *self, void *rows, size_t row_size, size_t count, const uint64_t *keys)
{
    uint32_t *items = column_take(self->heap, count, sizeof *items);
    char *copy = column_take(self->heap, count, row_size);
    bool is_done = items != NULL && copy != NULL && count <= UINT32_MAX;

    if (is_done) {
        for (size_t i = 0; i < count; i++)
            items[i] = (uint32_t)i;
        is_done = column_sort(self->heap, items, count, keys);
    }
    if (is_done) {
        memcpy(copy, rows, count * row_size);
        for (size_t i = 0; i < count; i++)
            memcpy((char *)rows + i * row_size, copy + items[i] * row_size, row_size);
    }
    column_free(self->heap, items, count, sizeof *items);
    column_free(self->heap, copy, count, row_size);
    return is_done;
}

static bool order_events(work *self, nsight_event *rows, size_t count)
{
    uint64_t *keys = column_take(self->heap, count, sizeof *keys);
    bool is_done = false;

    if (keys != NULL && count > 0) {
        for (size_t i = 0; i < count; i++)
            keys[i] = rows[i].start_ns;
        is_done = order_rows(self, rows, sizeof *rows, count, keys);
    }
    column_free(self->heap, keys, count, sizeof *keys);
    return is_done || count == 0;
}

/* Largest total first. */
static bool order_costs(work *self, nsight_cost *rows, size_t count)
{
    uint64_t *keys = column_take(self->heap, count, sizeof *keys);
    bool is_done = false;

    if (keys != NULL && count > 0) {
        for (size_t i = 0; i < count; i++)
            keys[i] = UINT64_MAX - rows[i].total_ns;
        is_done = order_rows(self, rows, sizeof *rows, count, keys);
    }
    column_free(self->heap, keys, count, sizeof *keys);
    return is_done || count == 0;
}

static bool keep_text(work *self, sym symbol, cg_str *ret)
{
    return symbol == 0 || arena_text(self->mem, intern_text_of(&self->texts, symbol), ret);
}

static opt_u64 figure_of(const nsight_cost *cost, enum nsight_figure figure)
{
    bool is_given = (cost->present >> figure & 1) != 0;

    return (opt_u64){is_given ? cost->figures[figure] : 0, is_given};
}

static bool keep_costs(work *self, const nsight_cost *rows, size_t count, summary_rows *ret)
{
    for (size_t i = 0; i < count && i < NSIGHT_SUMMARY_ROWS; i++) {
        doc_gpu_summary_row *row = vec_add(self->heap, &ret->rows);

        if (row == NULL)
            return false;
        *row = (doc_gpu_summary_row){
            .total_ns = rows[i].total_ns,
            .count = figure_of(&rows[i], FIGURE_COUNT),
            .average_ns = figure_of(&rows[i], FIGURE_AVERAGE),
            .minimum_ns = figure_of(&rows[i], FIGURE_MINIMUM),
            .maximum_ns = figure_of(&rows[i], FIGURE_MAXIMUM),
        };
        if (!keep_text(self, rows[i].name, &row->name) ||
            !keep_text(self, rows[i].category, &row->category))
            return false;
    }
    return true;
}

static bool note_limit(work *self, cg_str file, unsigned report, size_t total)
{
    size_t cap = nsight_is_summary(report) ? NSIGHT_SUMMARY_ROWS : NSIGHT_TIMELINE_ROWS;
    gpu_limit *limit = vec_add(self->heap, &self->limits);

    if (limit == NULL)
        return false;
    *limit = (gpu_limit){file, {total, total < cap ? total : cap, total > cap}};
    self->totals[report] += total;
    self->is_covered[report] = true;
    return true;
}

/* Cut off what a file left behind that could not be read to its end. */
static void note_failure(work *self, cg_str file, unsigned report, const cg_err *fault)
{
    cg_str *text = nsight_notes_next(&self->diagnostics);
    bool is_made;

    if (fault->line > 0)
        is_made = arena_format(self->mem, text, "%.*s, line %" PRIu64 ": %s", (int)file.len,
                               file.ptr, fault->line, fault->text);
    else
        is_made = arena_format(self->mem, text, "%.*s: %s", (int)file.len, file.ptr, fault->text);
    if (!is_made)
        self->diagnostics.failed = true;
    else if (!self->is_failed[report])
        self->failures[report] = *text;
    self->is_failed[report] = true;
}

static nsight_events *events_of(work *self, unsigned report)
{
    return report == GPU_REPORT_NVTX ? &self->ranges : &self->operations;
}

static bool keep_rows(work *self, cg_str file, unsigned report, nsight_costs *costs,
                      size_t event_start)
{
    nsight_events *events = events_of(self, report);

    if (nsight_is_summary(report))
        return order_costs(self, costs->rows.at, costs->rows.count) &&
               keep_costs(self, costs->rows.at, costs->rows.count, &self->summaries[report]) &&
               note_limit(self, file, report, costs->rows.count);
    return order_events(self, events->rows.at + event_start, events->rows.count - event_start) &&
           note_limit(self, file, report, events->rows.count - event_start);
}

static bool is_content_fault(cg_code code)
{
    return code == CG_INPUT || code == CG_LIMIT;
}

static cg_code read_stream(work *self, cg_str file, unsigned report, nsight_stream *stream,
                           cg_err *reterr)
{
    nsight_events *events = events_of(self, report);
    size_t event_start = events->rows.count;
    nsight_costs costs = {0};
    cg_err fault = {0};
    doc_artifact *artifact;
    cg_code code = nsight_table_read(self->files.env, self->heap, &self->texts, report,
                                     nsight_stream_fill, stream, &costs, events, &fault);

    if (is_content_fault(code)) {
        events->rows.count = event_start;
        note_failure(self, file, report, &fault);
        code = CG_OK;
    } else if (code != CG_OK) {
        if (reterr != NULL && reterr->code == CG_OK)
            *reterr = fault;
    } else {
        artifact = vec_add(self->heap, &self->tables);
        if (artifact == NULL || !keep_rows(self, file, report, &costs, event_start))
            code = err_nomem(reterr);
        else
            code = nsight_stream_artifact(stream, file, artifact, reterr);
    }
    vec_free(self->heap, &costs.rows);
    return code;
}

static cg_code read_table(work *self, cg_str file, unsigned report, bool is_link, cg_err *reterr)
{
    nsight_stream stream;
    cg_err fault = {0};
    cg_code code = nsight_stream_open(&self->files, file, &stream, &fault);

    if (code == CG_NOT_FOUND && is_link)
        return CG_OK; /* it leads nowhere, or to no file */
    if (code != CG_OK) {
        if (reterr != NULL && reterr->code == CG_OK)
            *reterr = fault;
        return code;
    }
    code = read_stream(self, file, report, &stream, reterr);
    nsight_stream_close(&stream);
    return code;
}

/* --- the directory --- */

static cg_code read_raw_report(work *self, cg_str file, bool is_link, cg_err *reterr)
{
    cg_err fault = {0};
    cg_code code = nsight_files_digest(&self->files, file, &self->raw_report, &fault);

    if (code == CG_OK) {
        self->has_raw_report = true;
    } else if (code == CG_NOT_FOUND && is_link) {
        code = CG_OK;
    } else if (reterr != NULL && reterr->code == CG_OK) {
        *reterr = fault;
    }
    return code;
}

/* A name that is no text cannot stand in a document. */
static cg_code refuse_name(work *self, cg_str name, unsigned report, cg_err *reterr)
{
    cg_err fault = {0};
    cg_str shown = {0};
    buf text;

    buf_init(&text, self->heap, SIZE_MAX);
    for (size_t at = 0; at < name.len;) {
        char piece[STR_SAFE_ROOM];

        buf_add(&text, (cg_str){piece, str_next_safe(name, &at, piece)});
    }
    cg_fail(&fault, PROBLEM_NSIGHT_TABLE, "the name of the file is no UTF-8 text");
    if (!text.failed && arena_text(self->mem, buf_text(&text), &shown))
        note_failure(self, shown, report, &fault);
    buf_free(&text);
    return shown.ptr == NULL ? err_nomem(reterr) : CG_OK;
}

static cg_code read_entry(work *self, const os_entry *entry, cg_err *reterr)
{
    bool is_link = entry->kind == OS_LINK;
    bool is_text = str_utf8_error(entry->name) == SIZE_MAX;
    unsigned report;

    if (entry->kind != OS_FILE && !(is_link && self->source->follows_links))
        return CG_OK;
    if (find_report(entry->name, &report))
        return is_text ? read_table(self, entry->name, report, is_link, reterr)
                       : refuse_name(self, entry->name, report, reterr);
    if (!self->has_raw_report && is_text &&
        str_equal(extension_of(entry->name), CG_LIT(NSIGHT_RAW_EXTENSION)))
        return read_raw_report(self, entry->name, is_link, reterr);
    return CG_OK;
}

static cg_code read_entries(work *self, cg_err *reterr)
{
    os_entries entries;

    CG_TRY(os_dir_list(&self->files.directory, self->heap, self->mem, NSIGHT_ENTRIES, &entries,
                       reterr));
    for (size_t i = 0; i < entries.count; i++) {
        if (!env_progress(self->files.env, "Nsight files", i, entries.count))
            return cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped on request in Nsight files");
        CG_TRY(read_entry(self, &entries.at[i], reterr));
    }
    return CG_OK;
}

/* --- what the rows say --- */

typedef struct event_order {
    const nsight_event *events;
    const intern *texts;
} event_order;

static bool event_before(const void *context, uint32_t a, uint32_t b)
{
    const event_order *order = context;
    const nsight_event *one = &order->events[a];
    const nsight_event *other = &order->events[b];

    if (one->start_ns != other->start_ns)
        return one->start_ns < other->start_ns;
    return one->name != other->name && str_compare(intern_text_of(order->texts, one->name),
                                                   intern_text_of(order->texts, other->name)) < 0;
}

/* The earliest events by start and name: indices in items[0 .. *ret_count). */
static bool pick_earliest(work *self, const nsight_events *events, uint32_t *items, uint32_t *room,
                          uint64_t *keys, size_t *ret_count)
{
    event_order order = {events->rows.at, &self->texts};
    size_t count = events->rows.count;
    size_t last = count;

    for (size_t i = 0; i < count; i++) {
        items[i] = (uint32_t)i;
        keys[i] = events->rows.at[i].start_ns;
    }
    if (!column_sort(self->heap, items, count, keys))
        return false;
    if (count > NSIGHT_TIMELINE_ROWS) {
        /* Names decide among those that start with the last one kept. */
        last = NSIGHT_TIMELINE_ROWS;
        while (last < count && keys[items[last]] == keys[items[NSIGHT_TIMELINE_ROWS - 1]])
            last++;
    }
    sort_with(items, room, last, event_before, &order);
    *ret_count = count < NSIGHT_TIMELINE_ROWS ? count : NSIGHT_TIMELINE_ROWS;
    return true;
}

static opt_u64 when(bool is_set, uint64_t value)
{
    return (opt_u64){is_set ? value : 0, is_set};
}

static bool keep_event(work *self, const nsight_event *event, uint8_t kind,
                       doc_gpu_timeline_row *ret)
{
    doc_gpu_timeline_row row = {
        .kind = kind,
        .start_ns = event->start_ns,
        .duration_ns = event->duration_ns,
        .projected_start_ns = when(event->present & EVENT_HAS_START, event->projected_start_ns),
        .projected_duration_ns =
            when(event->present & EVENT_HAS_DURATION, event->projected_duration_ns),
        .gpu_operations = when(event->present & EVENT_HAS_OPERATIONS, event->operations),
    };

    if (!keep_text(self, event->name, &row.name) ||
        !keep_text(self, event->keys[JOIN_CORRELATION], &row.correlation_id) ||
        !keep_text(self, event->keys[JOIN_DEVICE], &row.device) ||
        !keep_text(self, event->keys[JOIN_CONTEXT], &row.context) ||
        !keep_text(self, event->keys[JOIN_STREAM], &row.stream))
        return false;
    if (kind == TIMELINE_KIND_NVTX_RANGE)
        row.semantic_key = row.name;
    *ret = row;
    return true;
}

static bool keep_earliest(work *self, const nsight_events *events, uint8_t kind, sc_records *ret)
{
    size_t count = events->rows.count;
    uint32_t *items = column_take(self->heap, count, sizeof *items);
    uint32_t *room = column_take(self->heap, count, sizeof *room);
    uint64_t *keys = column_take(self->heap, count, sizeof *keys);
    doc_gpu_timeline_row *rows = NULL;
    size_t kept = 0;
    bool is_done = items != NULL && room != NULL && keys != NULL && count <= UINT32_MAX &&
                   pick_earliest(self, events, items, room, keys, &kept);

    if (is_done)
        rows = arena_take(self->mem, (kept + 1) * sizeof *rows);
    is_done = rows != NULL;
    for (size_t i = 0; is_done && i < kept; i++)
        is_done = keep_event(self, &events->rows.at[items[i]], kind, &rows[i]);
    column_free(self->heap, items, count, sizeof *items);
    column_free(self->heap, room, count, sizeof *room);
    column_free(self->heap, keys, count, sizeof *keys);
    if (is_done)
        *ret = (sc_records){rows, kept};
    return is_done;
}

/* `join_keys` by the mask of keys that are there. */
static bool list_join_keys(arena *mem, sc_strs ret[1u << JOIN_COUNT])
{
    for (unsigned mask = 0; mask < 1u << JOIN_COUNT; mask++) {
        cg_str *words = arena_take(mem, JOIN_COUNT * sizeof *words);
        size_t count = 0;

        if (words == NULL)
            return false;
        for (unsigned i = 0; i < JOIN_COUNT; i++) {
            if (mask >> i & 1)
                words[count++] = sc_word(&words_join_key, (uint8_t)i);
        }
        ret[mask] = (sc_strs){words, count};
    }
    return true;
}

static bool is_attributed(const nsight_event *range, const nsight_match *match)
{
    const unsigned needed = EVENT_HAS_START | EVENT_HAS_DURATION | EVENT_HAS_OPERATIONS;

    return (range->present & needed) == needed && nsight_keys_of(range) != 0 &&
           range->operations == match->count;
}

static bool keep_phases(work *self, sc_records *ret)
{
    sc_strs join_keys[1u << JOIN_COUNT];
    size_t count = 0;
    doc_gpu_phase *rows;

    if (!list_join_keys(self->mem, join_keys))
        return false;
    for (size_t i = 0; i < self->ranges.rows.count; i++)
        count += is_attributed(&self->ranges.rows.at[i], &self->matches[i]);
    if (count >= SIZE_MAX / sizeof *rows)
        return false;
    rows = arena_take(self->mem, (count + 1) * sizeof *rows);
    if (rows == NULL)
        return false;
    *ret = (sc_records){rows, count};
    for (size_t i = 0; i < self->ranges.rows.count; i++) {
        const nsight_event *range = &self->ranges.rows.at[i];

        if (!is_attributed(range, &self->matches[i]))
            continue;
        *rows = (doc_gpu_phase){
            .projected_start_ns = range->projected_start_ns,
            .projected_duration_ns = range->projected_duration_ns,
            .gpu_busy_ns = self->matches[i].busy_ns,
            .gpu_operation_count = self->matches[i].count,
            .join_keys = join_keys[nsight_keys_of(range)],
        };
        if (!keep_text(self, range->name, &rows->semantic_key))
            return false;
        rows++;
    }
    return true;
}

static cg_code conclude(work *self, gpu_evidence *ret, cg_err *reterr)
{
    nsight_ranges ranges = {.at = self->ranges.rows.at,
                            .count = self->ranges.rows.count,
                            .has_operations = self->operations.rows.count > 0};

    self->matches = column_take(self->heap, ranges.count, sizeof *self->matches);
    ranges.matches = self->matches;
    if (self->matches == NULL)
        return err_nomem(reterr);
    CG_TRY(nsight_join(self->heap, ranges.at, ranges.count, self->operations.rows.at,
                       self->operations.rows.count, self->matches, reterr));
    CG_TRY(nsight_ledger_build(self->heap, self->mem, &self->texts, &ranges,
                               self->labels.gpu_expected, self->labels.cpu_only, &ret->correlation,
                               &ret->ledger, reterr));
    if (!keep_phases(self, &ret->wire.phases) ||
        !keep_earliest(self, &self->ranges, TIMELINE_KIND_NVTX_RANGE, &ret->wire.nvtx_ranges) ||
        !keep_earliest(self, &self->operations, TIMELINE_KIND_GPU_OPERATION,
                       &ret->wire.gpu_timeline))
        return err_nomem(reterr);
    return CG_OK;
}

static cg_code bind(work *self, gpu_evidence *ret, cg_err *reterr)
{
    const nsight_used used = {.tables = self->tables.at,
                              .table_count = self->tables.count,
                              .raw_report = self->has_raw_report ? &self->raw_report : NULL};
    doc_nsight_manifest *manifest;

    CG_TRY(nsight_manifest_read(&self->files, &self->provenance, &manifest, reterr));
    ret->provenance.manifest = manifest;
    if (manifest == NULL) {
        nsight_note(&self->provenance, "without a manifest nothing binds Nsight files to this run");
        return CG_OK;
    }
    CG_TRY(nsight_manifest_check(&self->files, manifest, &used, &self->labels, self->source->run_id,
                                 self->source->correlation_id, &self->provenance, reterr));
    ret->provenance.binding = self->provenance.texts.count == 0 ? BINDING_BOUND : BINDING_MISMATCH;
    return CG_OK;
}

/* The reason that a script left in status.txt; absent when there is none. */
static cg_code read_status(work *self, cg_str *ret, cg_err *reterr)
{
    const cg_str word = CG_LIT(NSIGHT_STATUS_REASON);
    cg_err fault = {0};
    cg_str rest;
    buf text;
    cg_code code;

    *ret = (cg_str){0};
    buf_init(&text, self->heap, STATUS_BYTES);
    code = nsight_files_text(&self->files, CG_LIT(NSIGHT_STATUS_FILE), &text, &fault);
    rest = buf_text(&text);
    while (code == CG_OK && ret->ptr == NULL && rest.len > 0) {
        size_t len = 0;
        cg_str line;

        while (len < rest.len && rest.ptr[len] != '\n')
            len++;
        line = (cg_str){rest.ptr, len};
        if (line.len > 0 && line.ptr[line.len - 1] == '\r')
            line.len--;
        if (str_starts_with(line, word) && str_utf8_error(line) == SIZE_MAX &&
            !arena_text(self->mem, (cg_str){line.ptr + word.len, line.len - word.len}, ret))
            code = CG_NOMEM;
        len += len < rest.len;
        rest = (cg_str){rest.ptr + len, rest.len - len};
    }
    buf_free(&text);
    return code == CG_NOMEM ? err_nomem(reterr) : CG_OK;
}

/* --- everything together --- */

static bool keep_list(arena *mem, const void *rows, size_t count, size_t row_size, sc_records *ret)
{
    void *kept = arena_take(mem, count > 0 ? count * row_size : 1);

    if (kept == NULL)
        return false;
    if (count > 0)
        memcpy(kept, rows, count * row_size);
    *ret = (sc_records){kept, count};
    return true;
}

static bool keep_lists(work *self, gpu_evidence *ret)
{
    sc_records limits;
    sc_records *summaries[SUMMARIES] = {
        [GPU_REPORT_KERNELS] = &ret->wire.kernels,
        [GPU_REPORT_RUNTIME] = &ret->wire.runtime_calls,
        [GPU_REPORT_MEMORY] = &ret->wire.memory_operations,
    };

    for (unsigned i = 0; i < SUMMARIES; i++) {
        if (!keep_list(self->mem, self->summaries[i].rows.at, self->summaries[i].rows.count,
                       sizeof(doc_gpu_summary_row), summaries[i]))
            return false;
    }
    if (!keep_list(self->mem, self->tables.at, self->tables.count, sizeof(doc_artifact),
                   &ret->wire.source_csv) ||
        !keep_list(self->mem, self->limits.at, self->limits.count, sizeof(gpu_limit), &limits) ||
        !nsight_notes_keep(&self->diagnostics, &ret->wire.diagnostics) ||
        !nsight_notes_keep(&self->provenance, &ret->provenance.diagnostics))
        return false;
    ret->limits = limits.at;
    ret->limit_count = limits.count;
    if (self->has_raw_report) {
        doc_artifact *raw = arena_take(self->mem, sizeof *raw);

        if (raw == NULL)
            return false;
        *raw = self->raw_report;
        ret->wire.raw_report = raw;
    }
    return true;
}

static bool has_rows(const doc_gpu *gpu)
{
    return gpu->kernels.count > 0 || gpu->runtime_calls.count > 0 ||
           gpu->memory_operations.count > 0 || gpu->nvtx_ranges.count > 0 ||
           gpu->gpu_timeline.count > 0;
}

static void cover(const work *self, doc_gpu_coverage *ret)
{
    *ret = (doc_gpu_coverage){
        .has_kernels = self->is_covered[GPU_REPORT_KERNELS],
        .has_runtime = self->is_covered[GPU_REPORT_RUNTIME],
        .has_memory = self->is_covered[GPU_REPORT_MEMORY],
        .has_nvtx = self->is_covered[GPU_REPORT_NVTX],
        .has_timeline = self->is_covered[GPU_REPORT_TIMELINE],
    };
}

/* Available needs a file that was read, and none that failed. */
static bool qualify(arena *mem, bool is_covered, unsigned report, cg_str failure, uint64_t total,
                    const doc_gpu *gpu, gpu_report *ret)
{
    cg_str word = sc_word(&words_gpu_report, (uint8_t)report);
    bool is_failed = failure.ptr != NULL || gpu->status == GPU_STATUS_FAILED;

    *ret = (gpu_report){.status = GPU_STATUS_AVAILABLE, .total = total};
    if (is_covered && failure.ptr == NULL)
        return true;
    ret->status = is_failed ? GPU_STATUS_FAILED : GPU_STATUS_UNAVAILABLE;
    ret->total = 0;
    ret->reason = failure.ptr != NULL ? failure : gpu->reason;
    return ret->reason.ptr != NULL ||
           arena_format(mem, &ret->reason, "there is no %.*s export", ERR_STR(word));
}

static cg_code describe(work *self, gpu_evidence *ret, cg_err *reterr)
{
    cg_str reason;

    CG_TRY(conclude(self, ret, reterr));
    CG_TRY(bind(self, ret, reterr));
    CG_TRY(read_status(self, &reason, reterr));
    if (!keep_lists(self, ret))
        return err_nomem(reterr);
    cover(self, &ret->coverage);
    ret->wire.status = GPU_STATUS_AVAILABLE;
    ret->wire.reason = (cg_str){0};
    if (!has_rows(&ret->wire)) {
        ret->wire.status = GPU_STATUS_UNAVAILABLE;
        ret->wire.reason =
            reason.ptr != NULL ? reason : CG_LIT("the folder holds no rows of a known export");
    }
    for (unsigned i = 0; i < GPU_REPORT_COUNT; i++) {
        if (!qualify(self->mem, self->is_covered[i], i, self->failures[i], self->totals[i],
                     &ret->wire, &ret->reports[i]))
            return err_nomem(reterr);
    }
    return CG_OK;
}

static void free_work(work *self)
{
    column_free(self->heap, self->matches, self->ranges.rows.count, sizeof *self->matches);
    vec_free(self->heap, &self->ranges.rows);
    vec_free(self->heap, &self->operations.rows);
    for (unsigned i = 0; i < SUMMARIES; i++)
        vec_free(self->heap, &self->summaries[i].rows);
    vec_free(self->heap, &self->tables);
    vec_free(self->heap, &self->limits);
    nsight_notes_free(&self->diagnostics);
    nsight_notes_free(&self->provenance);
    intern_free(&self->texts);
    os_dir_close(&self->files.directory);
}

static cg_code read_directory(work *self, gpu_evidence *ret, cg_err *reterr)
{
    const nsight_source *source = self->source;

    if (source->opened != NULL) {
        self->files.directory = *source->opened;
        source->opened->handle = -1;
    } else {
        CG_TRY(os_dir_open(self->files.env, source->directory, &self->files.directory, reterr));
    }
    CG_TRY(nsight_labels_of(self->heap, self->mem, source->required_labels, source->gpu_labels,
                            source->cpu_labels, &self->labels, reterr));
    CG_TRY(read_entries(self, reterr));
    return describe(self, ret, reterr);
}

cg_code nsight_read(const cg_env *env, heap *from, arena *mem, const nsight_source *source,
                    gpu_evidence *ret, cg_err *reterr)
{
    work self = {
        .source = source,
        .heap = from,
        .mem = mem,
        .files = {.env = env,
                  .heap = from,
                  .mem = mem,
                  .directory = {.handle = -1},
                  .flags = source->follows_links ? OS_DIR_FOLLOW : 0},
        .diagnostics = {.heap = from, .mem = mem},
        .provenance = {.heap = from, .mem = mem},
    };
    cg_err fault = {0};
    cg_str reason;
    cg_code code;

    describe_nothing(ret, GPU_STATUS_UNAVAILABLE,
                     CG_LIT("no Nsight evidence was given; a trace alone carries none"));
    if (source->directory.ptr == NULL)
        return CG_OK;
    if (!intern_init(&self.texts, from, os_random(env)))
        return err_nomem(reterr);
    code = read_directory(&self, ret, &fault);
    free_work(&self);
    if (code == CG_OK)
        return CG_OK;
    if (!nsight_is_fault(code)) {
        if (reterr != NULL && reterr->code == CG_OK)
            *reterr = fault;
        return code;
    }
    if (!arena_text(mem, str_from(fault.text), &reason))
        return err_nomem(reterr);
    describe_nothing(ret, GPU_STATUS_FAILED, reason);
    return CG_OK;
}

/* --- from a document --- */

bool nsight_relink(arena *mem, gpu_evidence *gpu)
{
    const bool covered[GPU_REPORT_COUNT] = {
        [GPU_REPORT_KERNELS] = gpu->coverage.has_kernels,
        [GPU_REPORT_RUNTIME] = gpu->coverage.has_runtime,
        [GPU_REPORT_MEMORY] = gpu->coverage.has_memory,
        [GPU_REPORT_NVTX] = gpu->coverage.has_nvtx,
        [GPU_REPORT_TIMELINE] = gpu->coverage.has_timeline,
    };
    const size_t retained[GPU_REPORT_COUNT] = {
        [GPU_REPORT_KERNELS] = gpu->wire.kernels.count,
        [GPU_REPORT_RUNTIME] = gpu->wire.runtime_calls.count,
        [GPU_REPORT_MEMORY] = gpu->wire.memory_operations.count,
        [GPU_REPORT_NVTX] = gpu->wire.nvtx_ranges.count,
        [GPU_REPORT_TIMELINE] = gpu->wire.gpu_timeline.count,
    };

    link_parts(gpu);
    for (unsigned i = 0; i < GPU_REPORT_COUNT; i++) {
        cg_str word = sc_word(&words_gpu_report, (uint8_t)i);
        cg_str failure = {0};
        uint64_t total = 0;

        for (size_t n = 0; n < gpu->wire.diagnostics.count && failure.ptr == NULL; n++) {
            if (str_find(gpu->wire.diagnostics.at[n], word) != SIZE_MAX)
                failure = gpu->wire.diagnostics.at[n];
        }
        for (size_t n = 0; n < gpu->limit_count; n++) {
            if (str_find(gpu->limits[n].file, word) != SIZE_MAX)
                total = num_sat_add(total, gpu->limits[n].rows.total_rows);
        }
        if (total < retained[i])
            total = retained[i];
        if (!qualify(mem, covered[i], i, failure, total, &gpu->wire, &gpu->reports[i]))
            return false;
    }
    return true;
}
