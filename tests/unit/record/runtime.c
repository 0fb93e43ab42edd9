/*
 * What the writer of runtime traces puts down, what it refuses, and what a broken output does.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/runtime.h"

static char written[1 << 18];
static size_t written_count;
static bool sink_refuses;
static cg_err err;

static cg_code keep(void *context, const char *bytes, size_t count)
{
    (void)context;
    if (sink_refuses) {
        return CG_OUTPUT;
    }
    assert_true(written_count + count < sizeof written);
    memcpy(written + written_count, bytes, count);
    written_count += count;
    written[written_count] = '\0';
    return CG_OK;
}

static const cg_sink sink = {NULL, keep};

static int reset(void **state)
{
    (void)state;
    written_count = 0;
    written[0] = '\0';
    sink_refuses = false;
    err = (cg_err){0};
    return 0;
}

static cg_runtime *open_as(uint32_t form)
{
    cg_runtime_run run;
    cg_runtime *out = NULL;

    cg_runtime_run_profile(&run, CG_RUNTIME_INFER, "Net::forward");
    assert_int_equal(cg_runtime_open_sink(sink, form, &run, &out, &err), CG_OK);
    return out;
}

static void has(const char *text)
{
    if (strstr(written, text) == NULL) {
        fail_msg("not written: %s\n%s", text, written);
    }
}

static void refused(cg_code code, const char *text)
{
    assert_int_equal(code, CG_USAGE);
    if (strstr(err.text, text) == NULL) {
        fail_msg("`%s` is not in `%s`", text, err.text);
    }
    err = (cg_err){0};
}

static cg_runtime_gradient gradient(const char *id, uint32_t state)
{
    return (cg_runtime_gradient){.size = sizeof(cg_runtime_gradient),
                                 .event_id = id,
                                 .root = "vb",
                                 .key = "w",
                                 .state = state};
}

static void meta_line_comes_first_and_at_once(void **state)
{
    (void)state;
    cg_runtime *out = open_as(CG_RUNTIME_LINES);

    assert_string_equal(written, "{\"kind\":\"meta\",\"schema\":\"candle-graph/runtime/3\","
                                 "\"entrypoint\":\"Net::forward\",\"profile\":\"release\","
                                 "\"cargo_features\":[],\"cfg\":[],\"phase\":\"infer\"}\n");
    assert_int_equal(cg_runtime_finish(out, NULL, &err), CG_OK);
}

static void document_has_all_its_lists(void **state)
{
    (void)state;
    cg_runtime *out = open_as(CG_RUNTIME_DOCUMENT);
    cg_runtime_gradient first = gradient("a", CG_RUNTIME_ZERO);
    cg_runtime_gradient second = gradient("b", CG_RUNTIME_MISSING);

    first.has_norm = true;
    assert_int_equal(cg_runtime_write_gradient(out, &first, &err), CG_OK);
    assert_int_equal(cg_runtime_write_gradient(out, &second, &err), CG_OK);
    assert_int_equal(written_count, 0);
    assert_int_equal(cg_runtime_finish(out, NULL, &err), CG_OK);
    has("\"tensors\":[],\"operations\":[],\"gradients\":[{\"event_id\":\"a\",\"root\":\"vb\","
        "\"key\":\"w\",\"state\":\"zero\",\"norm\":0.0},{\"event_id\":\"b\",\"root\":\"vb\","
        "\"key\":\"w\",\"state\":\"missing\"}],\"values\":[],\"edge_timings\":[]}\n");
}

static void event_ids_are_used_once(void **state)
{
    (void)state;
    cg_runtime *out = open_as(CG_RUNTIME_LINES);
    cg_runtime_edge edge = {
        .size = sizeof edge, .event_id = "same", .from_static_id = "a", .to_static_id = "b"};
    cg_runtime_gradient other = gradient("same", CG_RUNTIME_PRESENT);
    cg_runtime_gradient none = gradient("", CG_RUNTIME_PRESENT);
    char id[16];

    assert_int_equal(cg_runtime_write_edge(out, &edge, &err), CG_OK);
    refused(cg_runtime_write_gradient(out, &other, &err), "`same` is used already");
    refused(cg_runtime_write_gradient(out, &none, &err), "must not be empty");
    for (int i = 0; i < 1000; i++) {
        snprintf(id, sizeof id, "e%d", i);
        other.event_id = id;
        assert_int_equal(cg_runtime_write_gradient(out, &other, &err), CG_OK);
        assert_int_equal(cg_runtime_write_gradient(out, &other, NULL), CG_USAGE);
        written_count = 0;
    }
    assert_int_equal(cg_runtime_finish(out, NULL, &err), CG_OK);
}

static void states_and_norms_must_agree(void **state)
{
    static const struct {
        uint32_t state;
        double norm;
        bool is_fine;
    } cases[] = {{CG_RUNTIME_PRESENT, 1, true},     {CG_RUNTIME_PRESENT, -1, true},
                 {CG_RUNTIME_PRESENT, 0, false},    {CG_RUNTIME_PRESENT, NAN, false},
                 {CG_RUNTIME_ZERO, -0.0, true},     {CG_RUNTIME_ZERO, 1, false},
                 {CG_RUNTIME_NON_FINITE, 1, false}, {CG_RUNTIME_NON_FINITE, INFINITY, true},
                 {CG_RUNTIME_MISSING, 0, false},    {4, 1, false}};
    char id[16];

    (void)state;
    cg_runtime *out = open_as(CG_RUNTIME_LINES);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cg_runtime_gradient record = gradient(id, cases[i].state);

        snprintf(id, sizeof id, "e%zu", i);
        record.has_norm = true;
        record.norm = cases[i].norm;
        assert_int_equal(cg_runtime_write_gradient(out, &record, NULL),
                         cases[i].is_fine ? CG_OK : CG_USAGE);
        /* A refused record takes no id. */
        record = gradient(id, CG_RUNTIME_MISSING);
        assert_int_equal(cg_runtime_write_gradient(out, &record, NULL),
                         cases[i].is_fine ? CG_USAGE : CG_OK);
    }
    assert_int_equal(cg_runtime_finish(out, NULL, &err), CG_OK);
    has("\"state\":\"non_finite\",\"norm\":null}");
}

static void values_must_be_finite(void **state)
{
    (void)state;
    cg_runtime *out = open_as(CG_RUNTIME_LINES);
    cg_runtime_value record = {
        .size = sizeof record, .event_id = "v", .min = -1, .max = INFINITY, .abs_max = 1};

    refused(cg_runtime_write_value(out, &record, &err), "must be finite");
    record.max = 0.5;
    record.nonfinite_count = 3;
    assert_int_equal(cg_runtime_write_value(out, &record, &err), CG_OK);
    assert_int_equal(cg_runtime_finish(out, NULL, &err), CG_OK);
    has("{\"kind\":\"value\",\"event_id\":\"v\",\"min\":-1.0,\"max\":0.5,\"abs_max\":1.0,"
        "\"nonfinite_count\":3,\"saturated_count\":0}");
}

static void timed_operations_nest(void **state)
{
    (void)state;
    cg_runtime *out = open_as(CG_RUNTIME_LINES);
    const char *inputs[] = {"x", "y"};
    cg_runtime_timed outer;
    cg_runtime_timed inner;
    uint64_t outer_ns = 0;
    uint64_t inner_ns = 0;

    cg_runtime_set_step(out, 4);
    assert_int_equal(cg_runtime_begin(out, "operation:o", "forward", inputs, 2, &outer, &err),
                     CG_OK);
    assert_string_equal(outer.event_id, "infer-op-4-1");
    assert_int_equal(cg_runtime_begin(out, "operation:i", "matmul", NULL, 0, &inner, &err), CG_OK);
    assert_int_equal(cg_runtime_time_edge(out, "a", "b", 9, &err), CG_OK);
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    assert_int_equal(cg_runtime_end(out, &inner, NULL, &inner_ns, &err), CG_OK);
    cg_runtime_set_step(out, 5);
    assert_int_equal(cg_runtime_end(out, &outer, "z", &outer_ns, &err), CG_OK);
    assert_true(inner_ns >= 2000000 && outer_ns >= inner_ns);
    refused(cg_runtime_end(out, &inner, NULL, NULL, &err), "`infer-op-4-2` is not open");
    assert_int_equal(cg_runtime_finish(out, NULL, &err), CG_OK);
    has("{\"kind\":\"edge_timing\",\"event_id\":\"infer-edge-4-3\",\"from_static_id\":\"a\","
        "\"to_static_id\":\"b\",\"duration_ns\":9,\"step\":4}\n{\"kind\":\"operation\","
        "\"event_id\":\"infer-op-4-2\",\"op\":\"matmul\",\"static_id\":\"operation:i\","
        "\"inputs\":[],\"step\":4,\"duration_ns\":");
    has("\"inputs\":[\"x\",\"y\"],\"output\":\"z\",\"step\":5,\"duration_ns\":");
}

static void operations_left_open_are_reported(void **state)
{
    (void)state;
    cg_runtime *out = open_as(CG_RUNTIME_DOCUMENT);
    cg_runtime_result result = {.size = sizeof result};
    cg_runtime_timed timed;

    for (int i = 0; i < 20; i++) {
        assert_int_equal(cg_runtime_begin(out, "operation:o", "forward", NULL, 0, &timed, &err),
                         CG_OK);
    }
    assert_int_equal(cg_runtime_end(out, &timed, NULL, NULL, &err), CG_OK);
    refused(cg_runtime_finish(out, &result, &err), "19 begun and never ended");
    assert_int_equal(result.open_operations, 19);
    assert_int_equal(result.records, 1);
    has("\"operations\":[{\"event_id\":\"infer-op-0-20\"");
    has("\"edge_timings\":[]}\n");
}

static void ids_made_here_step_around_those_of_the_program(void **state)
{
    (void)state;
    cg_runtime *out = open_as(CG_RUNTIME_LINES);
    cg_runtime_gradient taken = gradient("infer-op-0-1", CG_RUNTIME_MISSING);
    cg_runtime_timed timed;

    assert_int_equal(cg_runtime_write_gradient(out, &taken, &err), CG_OK);
    assert_int_equal(cg_runtime_begin(out, "o", "op", NULL, 0, &timed, &err), CG_OK);
    assert_string_equal(timed.event_id, "infer-op-0-2");
    assert_int_equal(cg_runtime_end(out, &timed, NULL, NULL, &err), CG_OK);
    assert_int_equal(cg_runtime_finish(out, NULL, &err), CG_OK);
}

static void descriptions_are_checked(void **state)
{
    (void)state;
    cg_runtime_run run;
    cg_runtime *out = NULL;

    cg_runtime_run_profile(&run, CG_RUNTIME_TRAIN, "f");
    run.schema = "candle-graph/runtime/4";
    refused(cg_runtime_open_sink(sink, CG_RUNTIME_LINES, &run, &out, &err), "is no schema");
    run.schema = NULL;
    run.entrypoint = NULL;
    refused(cg_runtime_open_sink(sink, CG_RUNTIME_LINES, &run, &out, &err), "\"entrypoint\"");
    run.entrypoint = "f";
    run.cfg_count = 1;
    refused(cg_runtime_open_sink(sink, CG_RUNTIME_LINES, &run, &out, &err), "entry 0 of \"cfg\"");
    run.cfg_count = 0;
    refused(cg_runtime_open_sink(sink, 2, &run, &out, &err), "no form");
    refused(cg_runtime_open("", CG_RUNTIME_LINES, &run, &out, &err), "needs a path");
    assert_null(out);
    assert_int_equal(written_count, 0);
}

static void a_broken_output_stays_broken(void **state)
{
    (void)state;
    cg_runtime *out = open_as(CG_RUNTIME_LINES);
    cg_runtime_gradient record = gradient("a", CG_RUNTIME_MISSING);

    sink_refuses = true;
    assert_int_equal(cg_runtime_write_gradient(out, &record, &err), CG_OK);
    assert_int_equal(cg_runtime_flush(out, &err), CG_OUTPUT);
    sink_refuses = false;
    record.event_id = "b";
    assert_int_equal(cg_runtime_write_gradient(out, &record, NULL), CG_OUTPUT);
    assert_int_equal(cg_runtime_finish(out, NULL, NULL), CG_OUTPUT);
}

static void nothing_happens_without_a_writer(void **state)
{
    (void)state;
    cg_runtime_timed timed = {.number = 7};

    cg_runtime_set_step(NULL, 3);
    assert_int_equal(cg_runtime_begin(NULL, "a", "b", NULL, 0, &timed, &err), CG_OK);
    assert_int_equal(timed.number, 0);
    assert_int_equal(cg_runtime_end(NULL, &timed, NULL, NULL, &err), CG_OK);
    assert_int_equal(cg_runtime_finish(NULL, NULL, &err), CG_OK);
}

/* --- a file, whose system calls fail one after the other --- */

static long calls_left;

static bool fails(void)
{
    if (--calls_left == 0) {
        errno = ENOSPC;
        return true;
    }
    return false;
}

static int64_t failing_write(void *context, int file, const void *from, size_t count, uint64_t at)
{
    return fails() ? -1 : rec_sys_kernel.write_at(context, file, from, count, at);
}

static int failing_open(void *context, const char *path, int flags, unsigned mode)
{
    return fails() ? -1 : rec_sys_kernel.open(context, path, flags, mode);
}

static int failing_sync(void *context, int file)
{
    return fails() ? -1 : rec_sys_kernel.sync(context, file);
}

static void every_failure_of_a_file_is_told(void **state)
{
    char folder[] = "/tmp/runtime-XXXXXX";
    char path[64];
    rec_sys sys = rec_sys_kernel;
    cg_runtime_run run;
    bool has_failed = true;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/deep/er/trace.jsonl", folder);
    sys.write_at = failing_write;
    sys.open = failing_open;
    sys.sync = failing_sync;
    cg_runtime_run_profile(&run, CG_RUNTIME_TRAIN, "f");
    for (long at = 1; has_failed; at++) {
        cg_runtime *out = NULL;
        cg_runtime_gradient record = gradient("a", CG_RUNTIME_MISSING);

        calls_left = at;
        err = (cg_err){0};
        cg_code code = runtime_open(path, CG_RUNTIME_LINES, &run, &sys, &out, &err);
        if (code == CG_OK) {
            assert_int_equal(cg_runtime_write_gradient(out, &record, &err), CG_OK);
            code = cg_runtime_finish(out, NULL, &err);
        }
        has_failed = calls_left <= 0;
        assert_int_equal(code, has_failed ? CG_OUTPUT : CG_OK);
        assert_true(at < 20);
    }
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    written_count = fread(written, 1, sizeof written - 1, file);
    written[written_count] = '\0';
    fclose(file);
    has("\"phase\":\"train\"}\n{\"kind\":\"gradient\",\"event_id\":\"a\"");
    unlink(path);
    snprintf(path, sizeof path, "%s/deep/er", folder);
    rmdir(path);
    snprintf(path, sizeof path, "%s/deep", folder);
    rmdir(path);
    rmdir(folder);
}

static void *time_many(void *argument)
{
    cg_runtime_timed timed;

    for (int i = 0; i < 200; i++) {
        if (cg_runtime_begin(argument, "o", "op", NULL, 0, &timed, NULL) != CG_OK ||
            cg_runtime_end(argument, &timed, NULL, NULL, NULL) != CG_OK) {
            return argument;
        }
    }
    return NULL;
}

static void threads_share_a_writer(void **state)
{
    (void)state;
    cg_runtime *out = open_as(CG_RUNTIME_DOCUMENT);
    cg_runtime_result result = {.size = sizeof result};
    pthread_t threads[3];
    void *failed = NULL;

    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, time_many, out), 0);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    sink_refuses = true; /* it is long */
    assert_int_equal(cg_runtime_finish(out, &result, NULL), CG_OUTPUT);
    assert_int_equal(result.records, 600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(meta_line_comes_first_and_at_once, reset),
        cmocka_unit_test_setup(document_has_all_its_lists, reset),
        cmocka_unit_test_setup(event_ids_are_used_once, reset),
        cmocka_unit_test_setup(states_and_norms_must_agree, reset),
        cmocka_unit_test_setup(values_must_be_finite, reset),
        cmocka_unit_test_setup(timed_operations_nest, reset),
        cmocka_unit_test_setup(operations_left_open_are_reported, reset),
        cmocka_unit_test_setup(ids_made_here_step_around_those_of_the_program, reset),
        cmocka_unit_test_setup(descriptions_are_checked, reset),
        cmocka_unit_test_setup(a_broken_output_stays_broken, reset),
        cmocka_unit_test_setup(nothing_happens_without_a_writer, reset),
        cmocka_unit_test_setup(every_failure_of_a_file_is_told, reset),
        cmocka_unit_test_setup(threads_share_a_writer, reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
