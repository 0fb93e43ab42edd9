/*
 * Reading a crate and comparing a checkpoint while memory runs out or a call of the kernel fails:
 * the call says so, or answers; every byte and every file is given back.
 *
 * ctest-timeout: 300
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "candlegraph/scan.h"
#include "support/faults.h"
#include "support/memory.h"
#include "support/tree.h"

#include <cmocka.h>

#define POSITIONS 300u /* requests or calls that are made to fail, spread over all of them */

static tree files;
static char crate[1200];
static char checkpoint[1200];
static char cache[1200];
static char trace[1200];
static char known[1200]; /* the findings of the crate, as a baseline */

/* --- memory --- */

/* --- everything that is done with a crate --- */

/* FNV-1a of everything that was written. */
static uint64_t written;

static cg_code drop(void *context, const char *bytes, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++)
        written = (written ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return CG_OK;
}

static cg_code write_all(cg_scan *scan, cg_err *err)
{
    cg_format text = {.size = sizeof text, .kind = CG_FORMAT_TEXT};
    cg_format json = {.size = sizeof json};
    cg_scan_query query = {.size = sizeof query, .kind = "parameters"};
    const char *deny[] = {"builder-unused"};
    cg_sink sink = {NULL, drop};
    cg_code code = cg_scan_take_known(scan, known, NULL, NULL, err);

    if (code == CG_OK)
        code = cg_scan_checkpoint(scan, checkpoint, NULL, NULL, err);

    if (code == CG_OK)
        code = cg_write_model(scan, &json, sink, err);
    if (code == CG_OK)
        code = cg_write_tree(scan, NULL, &text, sink, err);
    if (code == CG_OK)
        code = cg_write_scan_query(scan, &query, &text, sink, err);
    if (code == CG_OK)
        code = cg_write_scan_query(scan, &query, &json, sink, err);
    query.kind = "runtime";
    if (code == CG_OK)
        code = cg_write_scan_query(scan, &query, &text, sink, err);
    query.kind = "profile";
    if (code == CG_OK)
        code = cg_write_scan_query(scan, &query, &text, sink, err);
    for (cg_message_format kind = 0; code == CG_OK && kind <= CG_MESSAGE_GITHUB; kind++)
        code = cg_write_findings(scan, kind, sink, err);
    if (code == CG_OK)
        code = cg_write_checkpoint(scan, &text, sink, err);
    if (code == CG_OK)
        code = cg_write_key_map(scan, sink, err);
    if (code == CG_OK)
        code = cg_write_baseline(scan, CG_BASELINE_FINDINGS, sink, err);
    if (code == CG_OK)
        code = cg_write_baseline(scan, CG_BASELINE_READABLE, sink, err);
    if (code == CG_OK)
        code = cg_scan_gate(scan, CG_STRICT_NONE, deny, 1, NULL, NULL, err);
    return code;
}

static cg_code do_all(const cg_env *env, const char *cache_directory)
{
    cg_scan_request request = {.size = sizeof request,
                               .path = crate,
                               .checkpoint = checkpoint,
                               .runtime_trace = trace,
                               .cache_directory = cache_directory};
    cg_scan *scan = NULL;
    cg_err err = {0};
    cg_code code = cg_scan_open(env, &request, &scan, &err);

    written = UINT64_C(0xcbf29ce484222325);
    if (code == CG_OK)
        code = write_all(scan, &err);
    cg_scan_free(scan);
    if (code != CG_OK && err.code == CG_OK)
        fail_msg("code %u without a cause", (unsigned)code);
    return code;
}

/* --- tests --- */

static cg_code add_to_file(void *context, const char *bytes, size_t count)
{
    return fwrite(bytes, 1, count, context) == count ? CG_OK : CG_OUTPUT;
}

static void write_known(void)
{
    cg_env env = {.size = sizeof env};
    cg_scan_request request = {.size = sizeof request, .path = crate};
    cg_scan *scan = NULL;
    FILE *file = fopen(known, "wb");

    assert_non_null(file);
    assert_int_equal(cg_scan_open(&env, &request, &scan, NULL), CG_OK);
    assert_int_equal(
        cg_write_baseline(scan, CG_BASELINE_FINDINGS, (cg_sink){file, add_to_file}, NULL), CG_OK);
    cg_scan_free(scan);
    assert_int_equal(fclose(file), 0);
}

static int begin(void **state)
{
    static const char header[] = "{\"drum.weight\":{\"dtype\":\"F32\",\"shape\":[2,3],"
                                 "\"data_offsets\":[0,24]}}";
    char all[8 + sizeof header - 1 + 24] = {sizeof header - 1};
    FILE *file;

    (void)state;
    tree_make(&files);
    tree_write(&files, "ear/Cargo.toml",
               "[package]\nname = \"ear\"\nversion = \"1.0.0\"\nedition = \"2021\"\n"
               "[dependencies]\ncandle-core = \"0.11\"\ncandle-nn = \"0.11\"\n"
               "[package.metadata.candle-graph]\ngradient-cut = \"warning\"\n");
    tree_write(&files, "ear/candle-graph.toml", "source-load = \"allow\"\n");
    tree_write(
        &files, "ear/src/lib.rs",
        "mod gone;\n"
        "use candle_core::Result;\n"
        "use candle_nn::{linear, Linear, VarBuilder};\n"
        "pub struct Ear { drum: Linear, hairs: Vec<Linear> }\n"
        "impl Ear {\n"
        "    pub fn new(n: usize, vb: VarBuilder) -> Result<Self> {\n"
        "        // candle-graph: allow(builder-unused) some reason\n"
        "        let _unused = vb.pp(\"nerve\");\n"
        "        let mut hairs = Vec::new();\n"
        "        for i in 0..n { hairs.push(linear(2, 2, vb.pp(format!(\"hair.{i}\")))?); }\n"
        "        Ok(Self { drum: linear(4, 2, vb.pp(\"drum\"))?, hairs })\n"
        "    }\n"
        "}\n");
    memcpy(all + 8, header, sizeof header - 1);
    (void)snprintf(crate, sizeof crate, "%s/ear", files.root);
    (void)snprintf(cache, sizeof cache, "%s/cache", files.root);
    tree_write(&files, "run.jsonl",
               "{\"kind\":\"meta\",\"schema\":\"candle-graph/runtime/3\",\"entrypoint\":\"e\","
               "\"profile\":\"p\"}\n"
               "{\"kind\":\"gradient\",\"event_id\":\"g\",\"root\":\"vb\",\"key\":\"drum.weight\","
               "\"state\":\"missing\",\"step\":1}\n"
               "{\"kind\":\"operation\",\"event_id\":\"o\",\"op\":\"x\",\"static_id\":\"y\","
               "\"inputs\":[],\"duration_ns\":4}\n");
    (void)snprintf(known, sizeof known, "%s", tree_place(&files, "known.txt").ptr);
    (void)snprintf(trace, sizeof trace, "%s", tree_place(&files, "run.jsonl").ptr);
    (void)snprintf(checkpoint, sizeof checkpoint, "%s", tree_place(&files, "c.safetensors").ptr);
    file = fopen(checkpoint, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(all, 1, sizeof all, file), sizeof all);
    assert_int_equal(fclose(file), 0);
    write_known();
    return 0;
}

static int end(void **state)
{
    (void)state;
    tree_remove(&files);
    return 0;
}

/* A fact that one refusal leaves out is no answer. */
static void lack_once(const char *cache_directory)
{
    memory all = {0};
    cg_allocator allocator = {&all, memory_resize};
    cg_env env = {.size = sizeof env, .allocator = &allocator};
    uint64_t requests;
    uint64_t wanted;
    uint64_t step;

    assert_int_equal(do_all(&env, cache_directory), CG_OK);
    requests = all.requests;
    wanted = written;
    step = requests / (2 * POSITIONS) + 1;
    for (uint64_t at = 1; at <= requests; at += step) {
        cg_code code;

        all = (memory){.fail_at = at, .is_once = true};
        code = do_all(&env, cache_directory);
        assert_int_equal(all.live_bytes, 0);
        if (code == CG_OK && written != wanted)
            fail_msg("request %llu of %llu: answered, and otherwise", (unsigned long long)at,
                     (unsigned long long)requests);
        assert_true(code == CG_OK || code == CG_NOMEM);
    }
}

static void run_out_of_memory(const char *cache_directory)
{
    memory all = {0};
    cg_allocator allocator = {&all, memory_resize};
    cg_env env = {.size = sizeof env, .allocator = &allocator};
    uint64_t requests;
    uint64_t step;
    cg_code code;

    assert_int_equal(do_all(&env, cache_directory), CG_OK);
    assert_int_equal(all.live_bytes, 0);
    requests = all.requests;
    step = requests / POSITIONS + 1;
    for (uint64_t at = 1; at <= requests; at += step) {
        all = (memory){.fail_at = at};
        code = do_all(&env, cache_directory);
        assert_int_equal(all.live_bytes, 0);
        /* What is in the cache by now takes fewer requests. */
        assert_int_equal(code, all.requests < at ? CG_OK : CG_NOMEM);
    }
}

static void without_memory_nothing_is_lost(void **state)
{
    (void)state;
    run_out_of_memory(NULL);
}

static void without_memory_the_cache_loses_nothing(void **state)
{
    (void)state;
    run_out_of_memory(cache);
}

static void a_request_that_fails_once_leaves_nothing_out(void **state)
{
    (void)state;
    lack_once(NULL);
}

static void calls_that_fail_are_told_or_worked_around(void **state)
{
    faults kernel;
    os_calls table = faults_table(&kernel);
    cg_env env = {.size = sizeof env, .os = &table};
    uint64_t calls;
    uint64_t step;

    (void)state;
    faults_arm(&kernel, FAULT_NONE, 0, 0);
    assert_int_equal(do_all(&env, cache), CG_OK);
    calls = kernel.calls;
    step = calls / POSITIONS + 1;
    for (uint64_t at = 1; at <= calls; at += step) {
        faults_arm(&kernel, FAULT_ERROR, at, EIO);
        (void)do_all(&env, cache);
        assert_int_equal(kernel.open_files, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_memory_nothing_is_lost, begin, end),
        cmocka_unit_test_setup_teardown(without_memory_the_cache_loses_nothing, begin, end),
        cmocka_unit_test_setup_teardown(a_request_that_fails_once_leaves_nothing_out, begin, end),
        cmocka_unit_test_setup_teardown(calls_that_fail_are_told_or_worked_around, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
