/*
 * Every request for memory fails once: for reading a trace and for every
 * document, request k alone and all from k on, k = 1 ... until nothing fails.
 * The call must say CG_NOMEM, give back every byte with its right size, and
 * the same run must then write the same bytes as ever.
 *
 * --every N tries each N-th k only (for slow machines and valgrind), --only TEXT
 * keeps the documents whose description holds it.
 *
 * ctest-timeout: 300
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "candlegraph/candlegraph.h"
#include "support/capture.h"
#include "support/complaint.h"

#include <cmocka.h>

static uint64_t stride = 1;
static const char *only = "";
static heap plain;

/* --- an allocator that fails on request --- */

typedef struct faults {
    uint64_t requests; /* since the last arm() */
    uint64_t fail_at;  /* 0 = never */
    bool is_persistent;
    uint64_t failures;
    uint64_t live_blocks;
    uint64_t live_bytes;
} faults;

/* In front of every block: its size, to check what the caller believes it to be. */
typedef union head {
    size_t size;
    char room[16];
} head;

static void *resize(void *context, void *block, size_t old_size, size_t new_size)
{
    faults *self = context;
    head *from = block == NULL ? NULL : (head *)block - 1;
    head *moved;

    if (from != NULL && from->size != old_size)
        fail_msg("a block of %zu bytes is said to hold %zu", from->size, old_size);
    if (from == NULL && old_size != 0)
        fail_msg("no block is said to hold %zu bytes", old_size);
    if (new_size == 0) {
        if (from == NULL)
            return NULL;
        self->live_blocks--;
        self->live_bytes -= old_size;
        memset(block, 0xA5, old_size); /* use after release shows */
        heap_resize(&plain, from, old_size + sizeof *from, 0);
        return NULL;
    }
    self->requests++;
    if (self->fail_at != 0 && (self->requests == self->fail_at ||
                               (self->is_persistent && self->requests > self->fail_at))) {
        self->failures++;
        return NULL;
    }
    moved = heap_resize(&plain, from, from == NULL ? 0 : old_size + sizeof *from,
                        new_size + sizeof *moved);
    assert_non_null(moved);
    moved->size = new_size;
    if (new_size > old_size)
        memset((char *)(moved + 1) + old_size, 0x5A, new_size - old_size);
    self->live_blocks += from == NULL;
    self->live_bytes += new_size - old_size;
    return moved + 1;
}

static void arm(faults *self, uint64_t fail_at, bool is_persistent)
{
    self->requests = 0;
    self->failures = 0;
    self->fail_at = fail_at;
    self->is_persistent = is_persistent;
}

/* --- three small traces --- */

static void write_plane(capture *c)
{
    capture_span(c, "s3", "s2", "layer", 10, 30);
    capture_span(c, "s4", "s2", "layer", 50, 20);
    capture_op(c, "s3", "mul", "x,w", "y", 12, 5);
    capture_op(c, "s4", "log", "y", "z", 52, 5);
    capture_tensor(c, "s3", "x", "net/x", "activation");
    capture_tensor(c, "s3", "w", "net/w", "parameter");
    capture_tensor(c, "s3", "y", "net/y", NULL);
    capture_tensor(c, "s4", "z", "net/z", NULL);
    capture_stats(c, "s3", "net/x", 0);
    capture_stats(c, "s3", "net/w", 0);
    capture_stats(c, "s3", "net/y", 0);
    capture_stats(c, "s4", "net/z", 3);
    capture_memory(c, "s3", "alloc", "m1", 64, 15);
    capture_memory(c, "s4", "alloc", "m2", 32, 55);
    capture_memory(c, "s4", "free", "m1", 64, 60);
    capture_line(c, "{'kind':'device_memory','timestamp_ns':20,'device':'cuda:0','used_bytes':7}");
    capture_interval(c, "s3", "cuda:0", "k", 5, 10);
    capture_interval(c, "s4", "cuda:0", "k", 25, 10);
    capture_gradient(c, "vb", "w");
    capture_line(c, "{'kind':'edge','edge_kind':'data','from_tensor':'x','to_tensor':'z'}");
}

static void write_complete(capture *c)
{
    capture_begin(c);
    capture_span(c, "s1", NULL, "root", 0, 100);
    capture_measured(c, "s2", "s1", "call", 5, 80);
    write_plane(c);
    capture_line(c, "{'kind':'terminal','outcome':'complete','timestamp_ns':100}");
}

static void write_failed(capture *c)
{
    capture_begin(c);
    capture_open(c, "s1", NULL, "root", 0, false);
    capture_open(c, "s2", "s1", "call", 5, true);
    write_plane(c);
    capture_line(c, "{'kind':'terminal','outcome':'failed','reason':'no\\u001bmore',"
                    "'timestamp_ns':100}");
}

static void write_invalid(capture *c)
{
    capture_begin(c);
    capture_span(c, "s1", NULL, "root", 0, 100);
    capture_span(c, "s2", "nobody", "call", 5, 80);
    write_plane(c);
    capture_span(c, "s8", "s9", "circle", 5, 80);
    capture_span(c, "s9", "s8", "circle", 5, 80);
    capture_op(c, "gone", "mul", "", NULL, 0, 1);
    capture_memory(c, "s1", "free", "m7", 8, 90);
    capture_line(c, "{'kind':'terminal','outcome':'complete','timestamp_ns':100}");
}

typedef struct small_trace {
    const char *name;
    void (*write)(capture *c);
} small_trace;

static const small_trace small_traces[] = {
    {"complete", write_complete}, {"failed", write_failed}, {"invalid", write_invalid}};

#define TRACES (sizeof small_traces / sizeof small_traces[0])

/* --- the documents --- */

enum document { EVIDENCE, SUMMARY, OVERVIEW, REPORT, PAGE, QUERY };

typedef struct document_call {
    enum document document;
    cg_query_kind kind;
    bool is_paged;
    cg_format_kind format;
} document_call;

static cg_code collect(void *context, const char *bytes, size_t count)
{
    buf_add(context, (cg_str){bytes, count});
    return CG_OK;
}

static cg_code write_document(const cg_run *run, const document_call *call, buf *out, cg_err *err)
{
    const cg_format format = {.size = sizeof format, .kind = call->format};
    const cg_query query = {
        .size = sizeof query, .kind = call->kind, .has_limit = call->is_paged, .limit = 2};
    const cg_sink sink = {out, collect};

    buf_clear(out);
    switch (call->document) {
    case EVIDENCE: return cg_write_evidence(run, &format, sink, err);
    case SUMMARY: return cg_write_summary(run, &format, sink, err);
    case OVERVIEW: return cg_write_overview(run, &format, sink, err);
    case REPORT: return cg_write_report(run, sink, err);
    case PAGE: return cg_write_page(run, sink, err);
    case QUERY: return cg_write_query(run, &query, &format, sink, err);
    }
    return CG_INTERNAL;
}

static void sweep_document(faults *memory, const cg_run *run, const document_call *call,
                           const char *what)
{
    uint64_t blocks = memory->live_blocks;
    uint64_t bytes = memory->live_bytes;
    cg_err err = {0};
    cg_code usual;
    buf want;
    buf got;

    if (strstr(what, only) == NULL)
        return;
    buf_init(&want, &plain, SIZE_MAX);
    buf_init(&got, &plain, SIZE_MAX);
    arm(memory, 0, false);
    usual = write_document(run, call, &want, &err);
    for (int is_persistent = 0; is_persistent < 2; is_persistent++) {
        for (uint64_t k = 1;; k += stride) {
            cg_code code;

            err = (cg_err){0};
            arm(memory, k, is_persistent != 0);
            code = write_document(run, call, &got, &err);
            if (memory->live_blocks != blocks || memory->live_bytes != bytes) {
                complain("%s, request %" PRIu64 ": %" PRIu64 " bytes are not given back", what, k,
                         memory->live_bytes - bytes);
                bytes = memory->live_bytes;
                blocks = memory->live_blocks;
            }
            if (memory->failures == 0)
                break;
            /* Harmless when the document is whole all the same. */
            if (code == usual && str_equal(buf_text(&got), buf_text(&want)))
                continue;
            if (code != CG_NOMEM || err.code != CG_NOMEM)
                complain("%s, request %" PRIu64 " of %" PRIu64 ": %s (%s), %zu of %zu bytes", what,
                         k, memory->requests, cg_code_name(code), err.text, got.len, want.len);
        }
        err = (cg_err){0};
        arm(memory, 0, false);
        assert_int_equal(write_document(run, call, &got, &err), usual);
        if (!str_equal(buf_text(&got), buf_text(&want)))
            complain("%s: other bytes after a failure", what);
    }
    buf_free(&want);
    buf_free(&got);
}

static void sweep_documents(faults *memory, const cg_run *run, const char *trace)
{
    static const char *const names[] = {"evidence", "summary", "overview", "report", "page"};

    for (cg_format_kind format = CG_FORMAT_JSON; format <= CG_FORMAT_TEXT; format++) {
        for (enum document document = EVIDENCE; document < QUERY; document++) {
            const document_call call = {.document = document, .format = format};
            char what[64];

            snprintf(what, sizeof what, "%s, %s, format %u.", trace, names[document], format);
            sweep_document(memory, run, &call, what);
        }
        for (cg_query_kind kind = 0; kind < CG_QUERY_COUNT; kind++) {
            const document_call call = {
                .document = QUERY, .kind = kind, .is_paged = kind % 2 == 1, .format = format};
            char what[64];

            snprintf(what, sizeof what, "%s, query %s, format %u.", trace, cg_query_word(kind),
                     format);
            sweep_document(memory, run, &call, what);
        }
    }
}

static cg_run *open_run(faults *memory, const cg_env *env, const capture *c)
{
    cg_err err = {0};
    cg_run *run = NULL;

    arm(memory, 0, false);
    if (cg_run_read(env, c->text, c->len, "small.jsonl", &run, &err) != CG_OK)
        fail_msg("%s in line %" PRIu64 ": %s", err.problem, err.line, err.text);
    return run;
}

static void every_document_survives_every_failure(void **state)
{
    (void)state;
    complaints = 0;
    for (size_t i = 0; i < TRACES; i++) {
        faults memory = {0};
        const cg_allocator allocator = {&memory, resize};
        const cg_env env = {.size = sizeof env, .allocator = &allocator};
        capture c;
        cg_run *run;

        small_traces[i].write(&c);
        run = open_run(&memory, &env, &c);
        sweep_documents(&memory, run, small_traces[i].name);
        cg_run_free(run);
    }
    assert_int_equal(complaints, 0);
}

static void reading_survives_every_failure(void **state)
{
    (void)state;
    for (size_t i = 0; i < TRACES; i++) {
        faults memory = {0};
        const cg_allocator allocator = {&memory, resize};
        const cg_env env = {.size = sizeof env, .allocator = &allocator};
        capture c;

        small_traces[i].write(&c);
        for (int is_persistent = 0; is_persistent < 2; is_persistent++) {
            for (uint64_t k = 1;; k += stride) {
                cg_err err = {0};
                cg_run *run = NULL;
                cg_code code;

                arm(&memory, k, is_persistent != 0);
                code = cg_run_read(&env, c.text, c.len, "small.jsonl", &run, &err);
                if (memory.failures == 0) {
                    assert_int_equal(code, CG_OK);
                    cg_run_free(run);
                    break;
                }
                if (code != CG_NOMEM || err.code != CG_NOMEM || run != NULL)
                    fail_msg("%s, request %" PRIu64 ": %s (%s)", small_traces[i].name, k,
                             cg_code_name(code), err.text);
                if (memory.live_blocks != 0)
                    fail_msg("%s, request %" PRIu64 ": %" PRIu64 " bytes are not given back",
                             small_traces[i].name, k, memory.live_bytes);
            }
            assert_int_equal(memory.live_blocks, 0);
        }
        cg_run_free(open_run(&memory, &env, &c));
        assert_int_equal(memory.live_blocks, 0);
    }
}

/* A ceiling is felt like a failing allocator, whatever its height. */
static void reading_survives_every_ceiling(void **state)
{
    faults memory = {0};
    const cg_allocator allocator = {&memory, resize};
    cg_limits limits;
    const cg_env env = {.size = sizeof env, .allocator = &allocator, .limits = &limits};
    capture c;

    (void)state;
    write_complete(&c);
    cg_limits_default(&limits);
    for (uint64_t ceiling = 1; ceiling < (uint64_t)1 << 20; ceiling += 977) {
        cg_err err = {0};
        cg_run *run = NULL;
        cg_code code;

        assert_true(cg_limits_set(&limits, "memory-bytes", ceiling));
        code = cg_run_read(&env, c.text, c.len, "small.jsonl", &run, &err);
        if (code == CG_OK)
            cg_run_free(run);
        else if (code != CG_NOMEM && code != CG_LIMIT)
            fail_msg("ceiling of %" PRIu64 ": %s (%s)", ceiling, cg_code_name(code), err.text);
        assert_int_equal(memory.live_blocks, 0);
    }
}

/* --- files --- */

static cg_code write_file(const cg_env *env, const char *path, cg_err *err)
{
    const char *inputs[] = {"/dev/null"};
    cg_output *output = NULL;
    cg_sink sink;
    cg_code code;

    code = cg_output_open(env, path, inputs, 1, &output, err);
    if (code != CG_OK)
        return code;
    sink = cg_output_sink(output);
    code = sink.write(sink.context, "text", 4);
    if (code != CG_OK) {
        cg_output_drop(output);
        return code;
    }
    return cg_output_commit(output, err);
}

static void sweep_files(faults *memory, const cg_env *env, const char *directory, bool is_writing)
{
    char path[600];

    snprintf(path, sizeof path, "%s%s", directory, is_writing ? "/out.json" : "");
    for (int is_persistent = 0; is_persistent < 2; is_persistent++) {
        for (uint64_t k = 1;; k += stride) {
            cg_err err = {0};
            cg_run *run = NULL;
            cg_code code;

            arm(memory, k, is_persistent != 0);
            code = is_writing ? write_file(env, path, &err) : cg_run_open(env, path, &run, &err);
            if (memory->failures == 0)
                assert_int_equal(code, CG_OK);
            else if (code != CG_NOMEM || (is_writing && access(path, F_OK) == 0))
                complain("%s, request %" PRIu64 ": %s (%s)", path, k, cg_code_name(code), err.text);
            if (code == CG_OK && !is_writing)
                cg_run_free(run);
            if (memory->live_blocks != 0)
                complain("%s, request %" PRIu64 ": %" PRIu64 " bytes are not given back", path, k,
                         memory->live_bytes);
            if (is_writing)
                unlink(path);
            if (memory->failures == 0)
                break;
        }
    }
}

static void files_survive_every_failure(void **state)
{
    const char *base = getenv("TMPDIR");
    faults memory = {0};
    const cg_allocator allocator = {&memory, resize};
    const cg_env env = {.size = sizeof env, .allocator = &allocator};
    capture c;
    char directory[512];
    char trace[600];
    FILE *file;

    (void)state;
    complaints = 0;
    snprintf(directory, sizeof directory, "%s/cg-allocation-XXXXXX",
             base != NULL && base[0] != '\0' ? base : "/tmp");
    assert_non_null(mkdtemp(directory));
    snprintf(trace, sizeof trace, "%s/trace.jsonl", directory);
    write_complete(&c);
    file = fopen(trace, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(c.text, 1, c.len, file), c.len);
    assert_int_equal(fclose(file), 0);
    sweep_files(&memory, &env, directory, false);
    sweep_files(&memory, &env, directory, true);
    assert_int_equal(unlink(trace), 0);
    assert_int_equal(rmdir(directory), 0); /* nothing else is left in it */
    assert_int_equal(complaints, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_survives_every_failure),
        cmocka_unit_test(reading_survives_every_ceiling),
        cmocka_unit_test(files_survive_every_failure),
        cmocka_unit_test(every_document_survives_every_failure),
    };

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--every") == 0 && i + 1 < argc)
            stride = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
    }
    if (stride == 0)
        stride = 1;
    heap_init(&plain, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
