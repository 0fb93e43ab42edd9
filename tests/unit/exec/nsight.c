#include "../base/failing.h"

#include <errno.h>
#include <stdio.h>

#include "base/num.h"
#include "exec/nsight.h"
#include "exec/nsight_files.h"
#include "exec/nsight_join.h"
#include "exec/nsight_ledger.h"
#include "support/folder.h"

/* --- numbers and headers --- */

static void numbers_are_read_as_the_wire_rules_say(void **state)
{
    static const struct {
        const char *cell;
        enum nsight_number kind;
        uint64_t value;
    } cases[] = {
        {"", NUMBER_ABSENT, 0},
        {"  ", NUMBER_ABSENT, 0},
        {",", NUMBER_ABSENT, 0},
        {"7", NUMBER_GIVEN, 7},
        {" +7 ", NUMBER_GIVEN, 7},
        {"007", NUMBER_GIVEN, 7},
        {"1,234,567", NUMBER_GIVEN, 1234567},
        {"18446744073709551615", NUMBER_GIVEN, UINT64_MAX},
        {"18446744073709551616", NUMBER_REFUSED, 0},
        {"18446744073709551615.0", NUMBER_REFUSED, 0},
        {"18446744073709549568.5", NUMBER_GIVEN, UINT64_C(18446744073709549568)},
        {"400.9", NUMBER_GIVEN, 400},
        {"0.999999999999999999999", NUMBER_GIVEN, 1}, /* the nearest double is one */
        {"1e3", NUMBER_GIVEN, 1000},
        {"1.5E+1", NUMBER_GIVEN, 15},
        {"25e-1", NUMBER_GIVEN, 2},
        {"1.", NUMBER_GIVEN, 1},
        {".5", NUMBER_GIVEN, 0},
        {"00.5", NUMBER_GIVEN, 0},
        {"1e-400", NUMBER_GIVEN, 0},
        {"1e400", NUMBER_REFUSED, 0},
        {"1e30", NUMBER_REFUSED, 0},
        {"-1", NUMBER_REFUSED, 0},
        {"-0", NUMBER_REFUSED, 0},
        {"NaN", NUMBER_REFUSED, 0},
        {"inf", NUMBER_REFUSED, 0},
        {"1 2", NUMBER_REFUSED, 0},
        {"1e", NUMBER_REFUSED, 0},
        {"e1", NUMBER_REFUSED, 0},
        {".", NUMBER_REFUSED, 0},
        {"+", NUMBER_REFUSED, 0},
        {"++1", NUMBER_REFUSED, 0},
        {"0x10", NUMBER_REFUSED, 0},
        {"1_000", NUMBER_REFUSED, 0},
    };
    json_reader reader;
    heap memory;
    buf scratch;

    (void)state;
    heap_init(&memory, NULL);
    json_init(&reader, &memory, 1);
    buf_init(&scratch, &memory, SIZE_MAX);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t value = 0;
        enum nsight_number kind =
            nsight_number_read(&reader, &scratch, str_from(cases[i].cell), &value);

        if (kind != cases[i].kind || (kind == NUMBER_GIVEN && value != cases[i].value))
            fail_msg("`%s`: kind %d, value %llu", cases[i].cell, (int)kind,
                     (unsigned long long)value);
    }
    buf_free(&scratch);
    json_free(&reader);
}

static void headers_are_compared_without_case_and_marks(void **state)
{
    static const char *const cases[][2] = {
        {"Total Time (ns)", "total_time_ns"},
        {"Time (%)", "time"},
        {"NumGPUOps", "numgpuops"},
        {" Num-Calls ", "num_calls"},
        {"__a/b__", "a_b"},
        {"", ""},
        {"(%)", ""},
        {"- x -", "x"},
    };
    heap memory;
    buf out;

    (void)state;
    heap_init(&memory, NULL);
    buf_init(&out, &memory, SIZE_MAX);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        buf_clear(&out);
        nsight_header(str_from(cases[i][0]), &out);
        assert_text(buf_text(&out), cases[i][1]);
    }
    buf_free(&out);
}

/* --- the join, against the rule taken literally --- */

static bool matches(const nsight_event *range, const nsight_event *operation)
{
    uint64_t start = range->projected_start_ns;
    uint64_t end = num_sat_add(start, range->projected_duration_ns);

    for (unsigned i = 0; i < JOIN_COUNT; i++) {
        if (range->keys[i] != 0 && range->keys[i] != operation->keys[i])
            return false;
    }
    return operation->start_ns < end &&
           num_sat_add(operation->start_ns, operation->duration_ns) > start;
}

#define EVENTS 24
#define SPACE  64

static nsight_match join_literally(const nsight_event *range, const nsight_event *operations,
                                   uint64_t base)
{
    bool is_busy[SPACE] = {false};
    nsight_match ret = {0};
    uint64_t end = num_sat_add(range->projected_start_ns, range->projected_duration_ns);

    if (nsight_keys_of(range) == 0)
        return ret;
    for (unsigned i = 0; i < EVENTS; i++) {
        uint64_t until = num_sat_add(operations[i].start_ns, operations[i].duration_ns);

        if (!matches(range, &operations[i]))
            continue;
        ret.count++;
        for (uint64_t at = 0; at < SPACE && at <= UINT64_MAX - base; at++) {
            uint64_t now = base + at;

            if (now >= operations[i].start_ns && now < until && now < end &&
                now >= range->projected_start_ns && !is_busy[at]) {
                is_busy[at] = true;
                ret.busy_ns++;
            }
        }
    }
    return ret;
}

static sym random_key(uint64_t *seed)
{
    return (sym)(test_random(seed) % 3);
}

static void random_joins_agree_with_the_literal_rule(void **state)
{
    uint64_t seed = 88172645463325252u;
    heap memory;

    (void)state;
    heap_init(&memory, NULL);
    for (unsigned round = 0; round < 2000; round++) {
        /* Every other round at the end of time, where ends saturate. */
        uint64_t base = round % 2 == 0 ? 0 : UINT64_MAX - 40;
        nsight_event ranges[EVENTS] = {0}, operations[EVENTS] = {0};
        nsight_match found[EVENTS];

        for (unsigned i = 0; i < EVENTS; i++) {
            ranges[i].present = EVENT_HAS_START | EVENT_HAS_DURATION;
            ranges[i].projected_start_ns = base + test_random(&seed) % 40;
            ranges[i].projected_duration_ns = 1 + test_random(&seed) % 20;
            operations[i].start_ns = base + test_random(&seed) % 40;
            operations[i].duration_ns = 1 + test_random(&seed) % 10;
            for (unsigned key = 0; key < JOIN_COUNT; key++) {
                ranges[i].keys[key] = key < 1 + round % JOIN_COUNT ? random_key(&seed) : 0;
                operations[i].keys[key] = random_key(&seed);
            }
        }
        assert_int_equal(nsight_join(&memory, ranges, EVENTS, operations, EVENTS, found, NULL),
                         CG_OK);
        for (unsigned i = 0; i < EVENTS; i++) {
            nsight_match want = join_literally(&ranges[i], operations, base);

            assert_int_equal(found[i].count, want.count);
            assert_int_equal(found[i].busy_ns, want.busy_ns);
        }
    }
    assert_int_equal(memory.used_bytes, 0);
}

/* --- directories --- */

typedef struct reading {
    folder at;
    heap heap;
    arena mem;
    nsight_source source;
    gpu_evidence gpu;
    cg_err err;
} reading;

static const cg_str label_a[] = {{"ph/a", 4}};

static void begin(reading *self)
{
    memset(self, 0, sizeof *self);
    folder_make(&self->at);
    self->source = (nsight_source){
        .directory = str_from(self->at.path),
        .run_id = CG_LIT("r"),
        .correlation_id = CG_LIT("c"),
        .required_labels = {label_a, 1},
    };
}

static cg_code read_again(reading *self, const cg_env *env)
{
    heap_init(&self->heap, env);
    arena_init(&self->mem, &self->heap);
    self->err = (cg_err){0};
    return nsight_read(env, &self->heap, &self->mem, &self->source, &self->gpu, &self->err);
}

static void drop(reading *self)
{
    arena_free(&self->mem);
    assert_int_equal(self->heap.used_bytes, 0);
}

static const gpu_evidence *read_folder(reading *self)
{
    if (read_again(self, NULL) != CG_OK)
        fail_msg("%s", self->err.text);
    return &self->gpu;
}

static void end(reading *self)
{
    drop(self);
    folder_remove(&self->at);
}

static void expect_note(sc_strs list, size_t index, const char *want)
{
    assert_true(index < list.count);
    assert_text(list.at[index], want);
}

#define KERNELS         "a_cuda_gpu_kern_sum.csv"
#define RANGES          "b_nvtx_gpu_proj_trace.csv"
#define TIMELINE        "c_cuda_gpu_trace.csv"
#define RANGE_HEADER    "Name,Projected Start,Projected Duration,Start,Duration,NumGPUOps,CorrId\n"
#define TIMELINE_HEADER "Start (ns),Duration (ns),CorrId,Device,Ctx,Strm,Name\n"

static void no_directory_is_unavailable_and_partial(void **state)
{
    reading r;
    const gpu_evidence *gpu;

    (void)state;
    begin(&r);
    r.source.directory = (cg_str){0};
    gpu = read_folder(&r);
    assert_int_equal(gpu->wire.status, GPU_STATUS_UNAVAILABLE);
    assert_int_equal(gpu->provenance.binding, BINDING_PARTIAL);
    assert_int_equal(gpu->provenance.diagnostics.count, 2);
    assert_int_equal(gpu->ledger.expected.count, 0);
    assert_int_equal(gpu->reports[GPU_REPORT_NVTX].status, GPU_STATUS_UNAVAILABLE);
    end(&r);
}

static void a_missing_directory_has_failed_and_is_not_named(void **state)
{
    reading r;
    const gpu_evidence *gpu;
    char path[128];

    (void)state;
    begin(&r);
    snprintf(path, sizeof path, "%s/none", r.at.path);
    r.source.directory = str_from(path);
    gpu = read_folder(&r);
    assert_int_equal(gpu->wire.status, GPU_STATUS_FAILED);
    assert_int_equal(gpu->provenance.diagnostics.count, 2);
    assert_int_equal(gpu->ledger.missing_expected.count, 0);
    assert_int_equal(gpu->reports[GPU_REPORT_KERNELS].status, GPU_STATUS_FAILED);
    assert_true(str_find(gpu->wire.reason, str_from(r.at.path)) == SIZE_MAX);
    end(&r);
}

static void an_empty_directory_says_why_by_its_status_file(void **state)
{
    reading r;
    const gpu_evidence *gpu;

    (void)state;
    begin(&r);
    folder_write(&r.at, "status.txt", "state=skipped\r\nreason=not permitted\r\nreason=second\n");
    gpu = read_folder(&r);
    assert_int_equal(gpu->wire.status, GPU_STATUS_UNAVAILABLE);
    assert_text(gpu->wire.reason, "not permitted");
    assert_int_equal(gpu->correlation.mode, CORRELATION_MODE_NONE);
    assert_int_equal(gpu->ledger.missing_expected.count, 1);
    end(&r);
}

static void the_vector_of_the_wire_rules_is_attributed(void **state)
{
    reading r;
    const gpu_evidence *gpu;
    const doc_gpu_phase *phase;

    (void)state;
    begin(&r);
    folder_write(&r.at, RANGES, RANGE_HEADER "ph/a,100,50,1,1,2,7\n");
    folder_write(&r.at, TIMELINE,
                 "Start,Duration,CorrId,Name\n120,10,7,k\n90,20,7,k\n125,100,8,k\n");
    gpu = read_folder(&r);
    assert_int_equal(gpu->wire.phases.count, 1);
    phase = gpu->wire.phases.at;
    assert_text(phase->semantic_key, "ph/a");
    assert_int_equal(phase->gpu_busy_ns, 20);
    assert_int_equal(phase->gpu_operation_count, 2);
    assert_int_equal(phase->join_keys.count, 1);
    assert_text(phase->join_keys.at[0], "correlation_id");
    assert_true(gpu->correlation.is_complete);
    assert_int_equal(gpu->wire.status, GPU_STATUS_AVAILABLE);
    end(&r);
}

static void an_empty_cell_is_a_key_and_a_missing_one_is_none(void **state)
{
    reading r;
    const gpu_evidence *gpu;
    const doc_gpu_timeline_row *rows;

    (void)state;
    begin(&r);
    folder_write(&r.at, RANGES, RANGE_HEADER "ph/a,0,9,1,1,1,\nph/b,0,9,2,1,1\nph/c,0,9,3,1,0,x\n");
    folder_write(&r.at, TIMELINE, "Start,Duration,CorrId,Name\n1,1,,k\n2,1,7,k\n");
    gpu = read_folder(&r);
    rows = gpu->wire.nvtx_ranges.at;
    assert_non_null(rows[0].correlation_id.ptr);
    assert_int_equal(rows[0].correlation_id.len, 0);
    assert_null(rows[1].correlation_id.ptr);
    /* "" joins "", no key joins nothing, 0 declared and 0 found is attributed. */
    assert_int_equal(gpu->wire.phases.count, 2);
    assert_text(((const doc_gpu_phase *)gpu->wire.phases.at)[1].semantic_key, "ph/c");
    end(&r);
}

static void a_bad_row_refuses_its_file_alone_and_is_told(void **state)
{
    reading r;
    const gpu_evidence *gpu;

    (void)state;
    begin(&r);
    folder_write(&r.at, KERNELS, "Total Time (ns),Name\n5,k\n\n-5,neg\n");
    folder_write(&r.at, RANGES, RANGE_HEADER "ph/a,100,0,1,1,2,7\n");
    folder_write(&r.at, TIMELINE, TIMELINE_HEADER "1,1,7,0,1,7,\"open\n");
    folder_write(&r.at, "d_cuda_api_sum.csv", "Name,Total-ns\ncall,1\n");
    folder_write(&r.at, "e_cuda_gpu_mem_time_sum.csv", "Unknown,Value\nx,1\n");
    gpu = read_folder(&r);
    assert_int_equal(gpu->wire.diagnostics.count, 4);
    expect_note(gpu->wire.diagnostics, 0,
                KERNELS ", line 4: row 3, `total_time_ns`: `-5` is no number from 0 to 2^64-1");
    expect_note(gpu->wire.diagnostics, 1,
                RANGES ", line 2: row 2, `projected_duration_ns`: `0` must be greater than zero");
    expect_note(gpu->wire.diagnostics, 2,
                TIMELINE ", line 2: row 2: a quote is opened and never closed");
    expect_note(
        gpu->wire.diagnostics, 3,
        "e_cuda_gpu_mem_time_sum.csv: no header with the columns `name`, `total_time_ns` in "
        "the first 64 lines");
    assert_int_equal(gpu->wire.kernels.count, 0);
    assert_int_equal(gpu->wire.runtime_calls.count, 1);
    assert_int_equal(gpu->wire.source_csv.count, 1);
    assert_int_equal(gpu->limit_count, 1);
    assert_false(gpu->coverage.has_kernels);
    assert_int_equal(gpu->reports[GPU_REPORT_KERNELS].status, GPU_STATUS_FAILED);
    assert_text(
        gpu->reports[GPU_REPORT_MEMORY].reason,
        "e_cuda_gpu_mem_time_sum.csv: no header with the columns `name`, `total_time_ns` in "
        "the first 64 lines");
    assert_int_equal(gpu->reports[GPU_REPORT_RUNTIME].status, GPU_STATUS_AVAILABLE);
    assert_int_equal(gpu->reports[GPU_REPORT_RUNTIME].total, 1);
    end(&r);
}

static void a_failed_file_blames_its_own_report_only(void **state)
{
    reading r;
    const gpu_evidence *gpu;

    (void)state;
    begin(&r);
    folder_write(&r.at, "a_cuda_api_sum_of_cuda_gpu_trace.csv", "x\n");
    folder_write(&r.at, TIMELINE, TIMELINE_HEADER "1,1,7,0,1,7,k\n");
    gpu = read_folder(&r);
    assert_int_equal(gpu->wire.diagnostics.count, 1);
    assert_int_equal(gpu->reports[GPU_REPORT_RUNTIME].status, GPU_STATUS_FAILED);
    assert_int_equal(gpu->reports[GPU_REPORT_TIMELINE].status, GPU_STATUS_AVAILABLE);
    end(&r);
}

static void notices_before_the_header_are_no_rows(void **state)
{
    reading r;
    const gpu_evidence *gpu;

    (void)state;
    begin(&r);
    folder_write(&r.at, "A_cuda_gpu_kern_sum.CSV",
                 "NOTICE: \"capture.sqlite\" is newer, \"reused\"\n"
                 "Processing [x] with [y]...\n\n \"Kernel\" summary\n\n"
                 "Time (%),Total Time (ns),Instances,Name\n60.0,6,2,k\n\n40.0,4,1,j\n");
    gpu = read_folder(&r);
    assert_int_equal(gpu->wire.diagnostics.count, 0);
    assert_int_equal(gpu->wire.kernels.count, 2);
    assert_int_equal(gpu->reports[GPU_REPORT_KERNELS].total, 2);
    end(&r);
}

static void the_first_name_of_a_column_counts_even_when_empty(void **state)
{
    reading r;
    const gpu_evidence *gpu;
    const doc_gpu_summary_row *rows;

    (void)state;
    begin(&r);
    folder_write(&r.at, KERNELS,
                 "count,Name,total_ns,Instances,Operation,Category\n"
                 "9,k,5,,x,\n9, ,bad,,x\n8,j,5.9,4,x,M\n7,short,6\n");
    gpu = read_folder(&r);
    rows = gpu->wire.kernels.at;
    assert_int_equal(gpu->wire.kernels.count, 3);
    assert_text(rows[0].name, "short");
    assert_false(rows[0].count.is_set);
    assert_null(rows[0].category.ptr);
    /* Equal totals keep the order of the file. */
    assert_text(rows[1].name, "k");
    assert_false(rows[1].count.is_set);
    assert_non_null(rows[1].category.ptr);
    assert_int_equal(rows[2].count.value, 4);
    assert_int_equal(rows[2].total_ns, 5);
    end(&r);
}

static void rows_are_capped_by_file_and_by_time_line(void **state)
{
    enum { ROWS = 600 };
    static char text[ROWS * 40];
    reading r;
    const gpu_evidence *gpu;
    const doc_gpu_timeline_row *events;
    size_t len = 0;

    (void)state;
    begin(&r);
    len += (size_t)snprintf(text + len, sizeof text - len, "Name,Total-ns\n");
    for (unsigned i = 0; i < 130; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "k%u,%u\n", i, i);
    folder_write(&r.at, "1_cuda_gpu_kern_sum.csv", text);
    folder_write(&r.at, "2_cuda_gpu_kern_sum.csv", "Name,Total-ns\nlate,1000\n");
    len = (size_t)snprintf(text, sizeof text, "Start,Duration,Name\n");
    for (unsigned i = ROWS; i-- > 0;)
        len += (size_t)snprintf(text + len, sizeof text - len, "%u,1,n%03u\n", i < 499 ? i : 499,
                                ROWS - i);
    folder_write(&r.at, TIMELINE, text);
    gpu = read_folder(&r);
    assert_int_equal(gpu->wire.kernels.count, 101);
    assert_text(((const doc_gpu_summary_row *)gpu->wire.kernels.at)[0].name, "k129");
    assert_text(((const doc_gpu_summary_row *)gpu->wire.kernels.at)[100].name, "late");
    assert_int_equal(gpu->reports[GPU_REPORT_KERNELS].total, 131);
    assert_int_equal(gpu->limit_count, 3);
    assert_int_equal(gpu->limits[0].rows.total_rows, 130);
    assert_int_equal(gpu->limits[0].rows.displayed_rows, 100);
    assert_true(gpu->limits[0].rows.is_truncated);
    assert_int_equal(gpu->wire.gpu_timeline.count, 500);
    assert_int_equal(gpu->limits[2].rows.displayed_rows, 500);
    events = gpu->wire.gpu_timeline.at;
    /* 101 events start together at 499; the first by name is kept. */
    assert_int_equal(events[499].start_ns, 499);
    assert_text(events[499].name, "n001");
    end(&r);
}

static void labels_are_compared_as_sets(void **state)
{
    static const cg_str required[] = {{"b", 1}, {"a", 1}, {"io", 2}};
    static const cg_str gpu_labels[] = {{"b", 1}, {"a", 1}};
    static const cg_str cpu_labels[] = {{"io", 2}};
    reading r;
    const gpu_evidence *gpu;

    (void)state;
    begin(&r);
    r.source.required_labels = (sc_strs){required, 3};
    r.source.gpu_labels = (sc_strs){gpu_labels, 2};
    r.source.cpu_labels = (sc_strs){cpu_labels, 1};
    folder_write(&r.at, RANGES,
                 RANGE_HEADER "io,1,1,1,1,1,\nb,1,1,1,1,1,\nb,1,1,1,1,1,\nx,1,1,1,1,1,\n");
    gpu = read_folder(&r);
    assert_int_equal(gpu->ledger.expected.count, 2);
    assert_text(gpu->ledger.expected.at[0], "a");
    assert_text(gpu->ledger.matched.at[0], "b");
    assert_text(gpu->ledger.missing_expected.at[0], "a");
    assert_int_equal(gpu->ledger.unexpected_observed.count, 1);
    assert_text(gpu->ledger.unexpected_observed.at[0], "x");
    assert_text(gpu->ledger.unexpected_cpu_only.at[0], "io");
    assert_int_equal(gpu->ledger.duplicates.count, 1);
    assert_int_equal(((const doc_gpu_duplicate *)gpu->ledger.duplicates.at)->occurrences, 2);
    assert_false(gpu->correlation.is_complete);
    end(&r);
}

static void declared_operations_must_hold(void **state)
{
    static const struct {
        const char *ranges;
        bool is_complete;
    } cases[] = {
        {"ph/a,0,9,0,9,1,7\n", true}, {"ph/a,0,9,0,9,2,7\n", false}, {"ph/a,0,9,0,9,0,7\n", false},
        {"ph/a,0,9,0,9,,7\n", true},  {"ph/a,0,9,0,9,5\n", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reading r;
        char text[256];

        begin(&r);
        snprintf(text, sizeof text, RANGE_HEADER "%s", cases[i].ranges);
        folder_write(&r.at, RANGES, text);
        folder_write(&r.at, TIMELINE, TIMELINE_HEADER "1,1,7,0,1,7,k\n");
        assert_int_equal(read_folder(&r)->correlation.is_complete, cases[i].is_complete);
        end(&r);
    }
}

/* --- binding --- */

/* A manifest that binds KERNELS and raw.nsys-rep as written below, apart from the given parts. */
typedef struct manifest {
    const char *schema;
    const char *run;
    const char *labels;
    const char *artifacts;
} manifest;

#define KERNELS_TEXT "Name,Total-ns\nk,1\n"

static void sha_of(const char *text, char ret[DIGEST_HEX + 1])
{
    uint8_t bytes[DIGEST_BYTES];
    digest state;

    assert_int_equal(digest_start(&state, NULL), CG_OK);
    digest_add(&state, text, strlen(text));
    assert_int_equal(digest_finish(&state, bytes, NULL), CG_OK);
    digest_hex(bytes, ret);
    ret[DIGEST_HEX] = '\0';
}

static void write_bound(reading *r, const manifest *with)
{
    static char text[4096];
    char kernels[DIGEST_HEX + 1], raw[DIGEST_HEX + 1];

    folder_write(&r->at, KERNELS, KERNELS_TEXT);
    folder_write(&r->at, "raw.nsys-rep", "raw");
    sha_of(KERNELS_TEXT, kernels);
    sha_of("raw", raw);
    for (size_t i = 0; i < DIGEST_HEX; i++) { /* any case will do */
        if (raw[i] >= 'a' && raw[i] <= 'f')
            raw[i] = (char)(raw[i] - 'a' + 'A');
    }
    snprintf(text, sizeof text,
             "{\"schema\":\"%s\",\"run\":{\"id\":\"%s\"},\"correlation\":{\"id\":\"c\"},"
             "\"tool\":{\"name\":\"n\",\"version\":\"1\"},\"commands\":[],\"hardware\":{},"
             "\"source_revisions\":{},%s,\"artifacts\":["
             "{\"path\":\"" KERNELS "\",\"size_bytes\":%zu,\"sha256\":\"%s\"},"
             "{\"path\":\"raw.nsys-rep\",\"size_bytes\":3,\"sha256\":\"%s\"}%s],\"new\":1}",
             with->schema, with->run, with->labels, strlen(KERNELS_TEXT), kernels, raw,
             with->artifacts);
    folder_write(&r->at, "capture-manifest.json", text);
}

static const manifest good = {"candle-graph/nsight-capture/1", "r",
                              "\"required_semantic_labels\":[\"ph/a\"]", ""};

static void a_manifest_that_agrees_binds(void **state)
{
    reading r;
    const gpu_evidence *gpu;

    (void)state;
    begin(&r);
    write_bound(&r, &good);
    gpu = read_folder(&r);
    assert_int_equal(gpu->provenance.diagnostics.count, 0);
    assert_int_equal(gpu->provenance.binding, BINDING_BOUND);
    assert_non_null(gpu->provenance.manifest);
    assert_text(((const doc_artifact *)gpu->wire.raw_report)->path, "raw.nsys-rep");
    end(&r);
}

static void every_rule_that_does_not_hold_is_one_sentence(void **state)
{
    static const struct {
        manifest with;
        const char *want;
    } cases[] = {
        {{"candle-graph/nsight-capture/2", "r", "\"required_semantic_labels\":[\"ph/a\"]", ""},
         "the manifest says schema `candle-graph/nsight-capture/2`, expected "
         "`candle-graph/nsight-capture/1`"},
        {{"candle-graph/nsight-capture/1", "q", "\"required_semantic_labels\":[\"ph/a\"]", ""},
         "the manifest is about run `q`, the trace about `r`"},
        {{"candle-graph/nsight-capture/1", "r", "\"required_semantic_labels\":[\"ph/a\",\"ph/a\"]",
          ""},
         "the manifest repeats required labels"},
        {{"candle-graph/nsight-capture/1", "r",
          "\"required_semantic_labels\":[\"ph/b\"],\"gpu_expected_semantic_labels\":[\"ph/a\"]",
          ""},
         "the required labels of the manifest are not those of the trace"},
        {{"candle-graph/nsight-capture/1", "r",
          "\"required_semantic_labels\":[\"ph/a\"],\"gpu_expected_semantic_labels\":[\"ph/a\"],"
          "\"cpu_only_semantic_labels\":[\"io\"]",
          ""},
         "the CPU-only labels of the manifest are not those of the trace"},
        {{"candle-graph/nsight-capture/1", "r", "\"required_semantic_labels\":[\"ph/a\"]",
          ",{\"path\":\"a/../x\",\"size_bytes\":3,\"sha256\":\"\"}"},
         "the declared path `a/../x` leads out of the folder"},
        {{"candle-graph/nsight-capture/1", "r", "\"required_semantic_labels\":[\"ph/a\"]",
          ",{\"path\":\"gone\",\"size_bytes\":3,\"sha256\":\"\"}"},
         "a declared file is not there: `gone` cannot be opened: No such file or directory"},
        {{"candle-graph/nsight-capture/1", "r", "\"required_semantic_labels\":[\"ph/a\"]",
          ",{\"path\":\"raw.nsys-rep\",\"size_bytes\":3,\"sha256\":\"\"}"},
         "`raw.nsys-rep` is declared twice"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reading r;
        const gpu_evidence *gpu;

        begin(&r);
        write_bound(&r, &cases[i].with);
        gpu = read_folder(&r);
        assert_int_equal(gpu->provenance.binding, BINDING_MISMATCH);
        assert_int_equal(gpu->provenance.diagnostics.count, 1);
        expect_note(gpu->provenance.diagnostics, 0, cases[i].want);
        assert_int_equal(gpu->wire.status, GPU_STATUS_AVAILABLE);
        end(&r);
    }
}

static void used_files_must_be_declared_and_equal(void **state)
{
    reading r;
    const gpu_evidence *gpu;

    (void)state;
    begin(&r);
    write_bound(&r, &good);
    folder_write(&r.at, "raw.nsys-rep", "RAW+");
    folder_write(&r.at, "d_cuda_api_sum.csv", KERNELS_TEXT);
    folder_write(&r.at, "e_cuda_api_sum.csv", "refused files need no declaration\n");
    folder_write(&r.at, "z.nsys-rep", "only the first is used");
    gpu = read_folder(&r);
    assert_int_equal(gpu->provenance.diagnostics.count, 3);
    expect_note(gpu->provenance.diagnostics, 0,
                "`raw.nsys-rep` has 4 bytes, the manifest declares 3");
    expect_note(gpu->provenance.diagnostics, 1,
                "the SHA-256 of `raw.nsys-rep` is not the one that the manifest declares");
    expect_note(gpu->provenance.diagnostics, 2,
                "the manifest does not declare `d_cuda_api_sum.csv`");
    end(&r);
}

static void a_malformed_manifest_leaves_the_binding_partial(void **state)
{
    static const char *const texts[] = {"{ not json", "[]", "{\"schema\":1}", "\xFF"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        reading r;
        const gpu_evidence *gpu;

        begin(&r);
        folder_write(&r.at, KERNELS, KERNELS_TEXT);
        folder_write(&r.at, "capture-manifest.json", texts[i]);
        gpu = read_folder(&r);
        assert_int_equal(gpu->provenance.binding, BINDING_PARTIAL);
        assert_int_equal(gpu->provenance.diagnostics.count, 2);
        assert_null(gpu->provenance.manifest);
        assert_true(str_find(gpu->provenance.diagnostics.at[0], str_from(r.at.path)) == SIZE_MAX);
        end(&r);
    }
}

/* --- files --- */

static void links_count_only_on_request(void **state)
{
    folder other;
    char target[128];
    reading r;

    (void)state;
    folder_make(&other);
    folder_write(&other, "t", KERNELS_TEXT);
    snprintf(target, sizeof target, "%s/t", other.path);
    begin(&r);
    folder_link(&r.at, KERNELS, target);
    folder_link(&r.at, "lost_cuda_api_sum.csv", "nowhere");
    folder_link(&r.at, "self.nsys-rep", ".");
    assert_int_equal(read_folder(&r)->wire.status, GPU_STATUS_UNAVAILABLE);
    drop(&r);
    r.source.follows_links = true;
    assert_int_equal(read_folder(&r)->wire.kernels.count, 1);
    assert_null(r.gpu.wire.raw_report);
    assert_int_equal(r.gpu.wire.diagnostics.count, 0);
    end(&r);
    folder_remove(&other);
}

static void a_name_that_is_no_text_is_told_and_not_used(void **state)
{
    reading r;
    const gpu_evidence *gpu;

    (void)state;
    begin(&r);
    folder_write(&r.at, "\xFF_cuda_api_sum.csv", KERNELS_TEXT);
    gpu = read_folder(&r);
    assert_int_equal(gpu->wire.diagnostics.count, 1);
    expect_note(gpu->wire.diagnostics, 0,
                "\\xff_cuda_api_sum.csv: the name of the file is no UTF-8 text");
    assert_int_equal(gpu->wire.source_csv.count, 0);
    end(&r);
}

static int64_t refuse_reading(void *context, int file, void *to, size_t count)
{
    (void)context;
    (void)file;
    (void)to;
    (void)count;
    errno = EIO;
    return -1;
}

static void a_file_that_cannot_be_read_fails_the_evidence(void **state)
{
    os_calls calls = *os_of(NULL);
    cg_env env = {.size = sizeof env, .os = &calls};
    reading r;

    (void)state;
    calls.read = refuse_reading;
    begin(&r);
    folder_write(&r.at, KERNELS, KERNELS_TEXT);
    assert_int_equal(read_again(&r, &env), CG_OK);
    assert_int_equal(r.gpu.wire.status, GPU_STATUS_FAILED);
    assert_int_equal(r.gpu.wire.source_csv.count, 0);
    end(&r);
}

static void every_failing_request_is_reported_and_nothing_is_held(void **state)
{
    reading r;

    (void)state;
    begin(&r);
    write_bound(&r, &good);
    folder_write(&r.at, RANGES, RANGE_HEADER "ph/a,100,50,1,1,2,7\nph/b,100,50,1,1,2,7\n");
    folder_write(&r.at, TIMELINE, TIMELINE_HEADER "120,10,7,0,1,7,k\n90,20,7,0,1,7,k\n");
    folder_write(&r.at, "d_cuda_api_sum.csv", "x\n");
    for (size_t k = 1;; k++) {
        failing memory = {.fail_at = k};
        cg_code code = read_again(&r, failing_env(&memory));

        drop(&r);
        assert_int_equal(memory.blocks, 0);
        if (code == CG_OK) {
            assert_true(k > 20);
            break;
        }
        assert_int_equal(code, CG_NOMEM);
        assert_int_equal(r.err.code, CG_NOMEM);
    }
    folder_remove(&r.at);
}

static bool stop_at_once(void *context, const char *stage, uint64_t done, uint64_t total)
{
    (void)context;
    (void)stage;
    (void)done;
    (void)total;
    return false;
}

static void a_stop_on_request_ends_the_reading(void **state)
{
    cg_env env = {.size = sizeof env, .progress = stop_at_once};
    reading r;

    (void)state;
    begin(&r);
    folder_write(&r.at, KERNELS, KERNELS_TEXT);
    assert_int_equal(read_again(&r, &env), CG_INTERRUPTED);
    end(&r);
}

static void a_document_read_back_tells_the_same_of_its_reports(void **state)
{
    reading r;
    gpu_evidence again;

    (void)state;
    begin(&r);
    folder_write(&r.at, KERNELS, KERNELS_TEXT);
    folder_write(&r.at, TIMELINE, TIMELINE_HEADER "1,0,7,0,1,7,k\n");
    again = *read_folder(&r);
    memset(again.reports, 0, sizeof again.reports);
    assert_true(nsight_relink(&r.mem, &again));
    for (unsigned i = 0; i < GPU_REPORT_COUNT; i++) {
        assert_int_equal(again.reports[i].status, r.gpu.reports[i].status);
        assert_int_equal(again.reports[i].total, r.gpu.reports[i].total);
        assert_int_equal(again.reports[i].reason.ptr == NULL, r.gpu.reports[i].reason.ptr == NULL);
    }
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_as_the_wire_rules_say),
        cmocka_unit_test(headers_are_compared_without_case_and_marks),
        cmocka_unit_test(random_joins_agree_with_the_literal_rule),
        cmocka_unit_test(no_directory_is_unavailable_and_partial),
        cmocka_unit_test(a_missing_directory_has_failed_and_is_not_named),
        cmocka_unit_test(an_empty_directory_says_why_by_its_status_file),
        cmocka_unit_test(the_vector_of_the_wire_rules_is_attributed),
        cmocka_unit_test(an_empty_cell_is_a_key_and_a_missing_one_is_none),
        cmocka_unit_test(a_bad_row_refuses_its_file_alone_and_is_told),
        cmocka_unit_test(a_failed_file_blames_its_own_report_only),
        cmocka_unit_test(notices_before_the_header_are_no_rows),
        cmocka_unit_test(the_first_name_of_a_column_counts_even_when_empty),
        cmocka_unit_test(rows_are_capped_by_file_and_by_time_line),
        cmocka_unit_test(labels_are_compared_as_sets),
        cmocka_unit_test(declared_operations_must_hold),
        cmocka_unit_test(a_manifest_that_agrees_binds),
        cmocka_unit_test(every_rule_that_does_not_hold_is_one_sentence),
        cmocka_unit_test(used_files_must_be_declared_and_equal),
        cmocka_unit_test(a_malformed_manifest_leaves_the_binding_partial),
        cmocka_unit_test(links_count_only_on_request),
        cmocka_unit_test(a_name_that_is_no_text_is_told_and_not_used),
        cmocka_unit_test(a_file_that_cannot_be_read_fails_the_evidence),
        cmocka_unit_test(every_failing_request_is_reported_and_nothing_is_held),
        cmocka_unit_test(a_stop_on_request_ends_the_reading),
        cmocka_unit_test(a_document_read_back_tells_the_same_of_its_reports),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
