/*
 * What one session writes, read back with the reader of the analysis library and line by line.
 */
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <time.h>

#include "candlegraph/candlegraph.h"
#include "candlegraph/record.h"

static char folder[64];
static char path[128];
static char trace[1 << 20];

static cg_record *begin_run(const cg_record_run *run, const cg_record_options *options)
{
    cg_record *session = NULL;
    cg_err err = {0};

    if (cg_record_open(path, run, options, &session, &err) != CG_OK) {
        fail_msg("%s", err.text);
    }
    return session;
}

static cg_record *begin(void)
{
    cg_record_run run;

    cg_record_run_training(&run, "session::train", 7, "cpu");
    return begin_run(&run, NULL);
}

static void load(const char *name)
{
    FILE *file = fopen(name, "rb");

    assert_non_null(file);
    size_t count = fread(trace, 1, sizeof trace - 1, file);
    fclose(file);
    trace[count] = '\0';
}

static cg_run_facts judge(void)
{
    cg_env env = {.size = sizeof env};
    cg_run_facts facts = {.size = sizeof facts};
    cg_run *run = NULL;
    cg_err err = {0};

    if (cg_run_open(&env, path, &run, &err) != CG_OK) {
        fail_msg("%s", err.text);
    }
    cg_run_facts_of(run, &facts);
    cg_run_free(run);
    return facts;
}

static void has(const char *text)
{
    if (strstr(trace, text) == NULL) {
        fail_msg("not in the trace: %s\n%s", text, trace);
    }
}

static void has_not(const char *text)
{
    if (strstr(trace, text) != NULL) {
        fail_msg("in the trace: %s\n%s", text, trace);
    }
}

/* Finish, load, and the facts. */
static cg_run_facts end(cg_record *session, cg_code want, cg_record_result *result, cg_err *err)
{
    cg_err own = {0};
    cg_code code = cg_record_finish(session, result, err != NULL ? err : &own);

    if (code != want) {
        fail_msg("%u: %s", code, err != NULL ? err->text : own.text);
    }
    load(path);
    return judge();
}

static cg_record_span measure(cg_record *session)
{
    return cg_record_measure_begin(session, cg_record_intern(session, "update"));
}

/* --- */

static void an_empty_session_is_a_root_and_a_terminal(void **state)
{
    (void)state;
    assert_int_equal(end(begin(), CG_OK, NULL, NULL).span_count, 1);
    has("{\"kind\":\"meta\",\"schema\":\"candle-graph/trace/10\",\"run_id\":\"run-");
    has("\"correlation_id\":\"session::train/update-7\"");
    has("\"capture_step\":7,\"warmup_steps\":6,\"device\":\"cpu\"");
    has("\"tags\":{},\"calibration\":{");
    has("{\"kind\":\"span_start\",\"id\":\"s1\",\"name\":\"session::train\",\"start_ns\":0,"
        "\"span_kind\":\"function\",\"measured\":false}");
    has("{\"kind\":\"terminal\",\"outcome\":\"complete\"");
}

static void nothing_is_left_beside_the_trace(void **state)
{
    struct dirent *entry = NULL;

    (void)state;
    end(begin(), CG_OK, NULL, NULL);
    DIR *open = opendir(folder);
    assert_non_null(open);
    while ((entry = readdir(open)) != NULL) {
        assert_true(entry->d_name[0] == '.' || strcmp(entry->d_name, "run.jsonl") == 0);
    }
    closedir(open);
}

static void parents_are_made_and_the_description_is_checked_first(void **state)
{
    char deep[200];
    cg_record_run run;
    cg_record *session = NULL;
    cg_err err = {0};
    struct stat info;

    (void)state;
    snprintf(deep, sizeof deep, "%s/a/b/run.jsonl", folder);
    cg_record_run_training(&run, " ", 1, "cpu");
    assert_int_equal(cg_record_open(deep, &run, NULL, &session, &err), CG_USAGE);
    assert_null(session);
    assert_true(strstr(err.text, "entry point") != NULL);
    snprintf(deep, sizeof deep, "%s/a", folder);
    assert_int_equal(stat(deep, &info), -1);
    snprintf(deep, sizeof deep, "%s/a/b/run.jsonl", folder);
    cg_record_run_inference(&run, "app::serve", 1, "cuda:0");
    assert_int_equal(cg_record_open(deep, &run, NULL, &session, NULL), CG_OK);
    assert_int_equal(cg_record_finish(session, NULL, NULL), CG_OK);
    load(deep);
    has("\"correlation_id\":\"app::serve/inference-1\"");
    has("\"phase\":\"infer\"");
    unlink(deep);
    snprintf(deep, sizeof deep, "%s/a/b", folder);
    rmdir(deep);
    snprintf(deep, sizeof deep, "%s/a", folder);
    rmdir(deep);
}

static void refuses(cg_record_run *run, const char *what)
{
    cg_record *session = NULL;
    cg_err err = {0};

    assert_int_equal(cg_record_open(path, run, NULL, &session, &err), CG_USAGE);
    assert_null(session);
    if (strstr(err.text, what) == NULL) {
        fail_msg("`%s` does not speak of `%s`", err.text, what);
    }
}

static void descriptions_that_break_a_rule_open_nothing(void **state)
{
    cg_record_run run;
    const char *labels[] = {"a", "a"};
    const cg_record_tag tags[] = {{"k", "v"}, {"k", "w"}};
    const cg_record_gradient_entry entries[] = {{"vb", "w", "f"}, {"vb", "w", "f"}};
    const cg_record_family families[] = {{"f", CG_RECORD_ACTIVE, 3}};
    cg_record_gradients manifest = {entries, 1, families, 1};
    cg_record_identity identity = {.size = sizeof identity};
    cg_record_contract contract = {.size = sizeof contract};

    (void)state;
    cg_record_run_training(&run, "e", 0, "cpu");
    refuses(&run, "counted from 1");
    cg_record_run_training(&run, "e", 3, "");
    refuses(&run, "device");
    cg_record_run_training(&run, "e", 3, "cpu");
    run.warmup_steps = 3;
    refuses(&run, "warm-up");
    cg_record_run_training(&run, "e", 3, "cpu");
    run.tags = tags;
    run.tag_count = 2;
    refuses(&run, "twice");
    run.tag_count = 0;
    run.identity = &identity;
    refuses(&run, "workload");
    run.identity = NULL;
    run.contract = &contract;
    contract.required_labels = labels;
    contract.required_label_count = 2;
    refuses(&run, "twice");
    contract.required_label_count = 1;
    contract.gpu_labels = labels + 1;
    contract.gpu_label_count = 1;
    contract.cpu_labels = labels;
    contract.cpu_label_count = 1;
    refuses(&run, "both classes");
    contract = (cg_record_contract){.size = sizeof contract, .gradients = CG_RECORD_COMPLETE};
    refuses(&run, "manifest");
    contract.gradient_manifest = &manifest;
    refuses(&run, "cannot ask for 3");
    manifest.expected_count = 2;
    refuses(&run, "expected twice");
}

static void the_description_is_written_in_wire_order(void **state)
{
    const cg_record_gradient_entry entries[] = {{"vb", "b", "live"}, {"vb", "a", "live"}};
    const cg_record_family families[] = {{"live", CG_RECORD_ACTIVE, 1}};
    const cg_record_gradients manifest = {entries, 2, families, 1};
    const char *labels[] = {"update"};
    const cg_record_tag tags[] = {{"zeta", "1"}, {"alpha", "\"q\"\n"}};
    const cg_record_contract contract = {.size = sizeof contract,
                                         .measurement_scope = CG_RECORD_PRODUCTION_EQUIVALENT,
                                         .operations = CG_RECORD_COMPLETE,
                                         .gradients = CG_RECORD_COMPLETE,
                                         .gradient_manifest = &manifest,
                                         .required_labels = labels,
                                         .required_label_count = 1,
                                         .cpu_labels = labels,
                                         .cpu_label_count = 1};
    const cg_record_identity identity = {.size = sizeof identity,
                                         .workload_id = "w",
                                         .model_id = "m",
                                         .config_id = "c",
                                         .data_id = "d",
                                         .seed_policy = "s",
                                         .physical_batch = 4,
                                         .accumulation_steps = 1,
                                         .precision = "f32",
                                         .device_state = "warm",
                                         .pair_id = "p"};
    cg_record_run run;

    (void)state;
    cg_record_run_training(&run, "e", 3, "cpu");
    cg_record_run_synchronized(&run);
    run.contract = &contract;
    run.identity = &identity;
    run.tags = tags;
    run.tag_count = 2;
    cg_record *session = begin_run(&run, NULL);
    cg_record_name root = cg_record_intern(session, "vb");
    cg_record_span region = measure(session);
    cg_record_op_args op = {.size = sizeof op,
                            .name = cg_record_intern(session, "mul"),
                            .layout = cg_record_intern_layout(session, "f32", "cpu", NULL, 0)};
    cg_record_op(session, region, &op);
    cg_record_gradient(session, root, cg_record_intern(session, "b"), CG_RECORD_PRESENT, 0.5);
    cg_record_gradient(session, root, cg_record_intern(session, "a"), CG_RECORD_ZERO, 0);
    cg_record_span_end(session, region);
    cg_run_facts facts = end(session, CG_OK, NULL, NULL);
    assert_true(facts.has_graph);
    assert_int_equal(facts.error_count, 0);
    has("\"measured_region_device_synchronized\":true,\"timing_mode\":\"device_synchronized\","
        "\"capture_contract\":{\"measurement_scope\":\"production_equivalent\","
        "\"operations\":\"complete\",\"tensors\":\"none\",\"gradients\":\"complete\","
        "\"gradient_contract\":{\"manifest_sha256\":\"sha256:");
    has("\"expected\":[{\"root\":\"vb\",\"key\":\"b\",\"family\":\"live\"},{\"root\":\"vb\","
        "\"key\":\"a\",\"family\":\"live\"}],\"families\":[{\"family\":\"live\","
        "\"expectation\":\"active\",\"min_present\":1}]},\"logical_memory\":\"none\"");
    has("\"required_semantic_labels\":[\"update\"],\"cpu_only_semantic_labels\":[\"update\"]},"
        "\"comparison_identity\":{\"workload_id\":\"w\",\"model_id\":\"m\"");
    has("\"device_state\":\"warm\",\"pair_id\":\"p\"},\"tags\":{\"alpha\":\"\\\"q\\\"\\n\","
        "\"zeta\":\"1\"}");
    has("{\"kind\":\"gradient\",\"event_id\":\"gradient-1\",\"root\":\"vb\",\"key\":\"b\","
        "\"state\":\"present\",\"norm\":0.5}");
    has("\"key\":\"a\",\"state\":\"zero\",\"norm\":0.0}");
}

/* More kinds of operations than a lane remembers, some alike but for one number. */
static void operations_alike_are_told_apart(void **state)
{
    const uint64_t shape[] = {4, 8};
    cg_record_result result = {.size = sizeof result};
    cg_record *session = begin();
    cg_record_layout layouts[2] = {cg_record_intern_layout(session, "f32", "cpu", shape, 2),
                                   cg_record_intern_layout(session, "f16", "cpu", shape, 1)};
    cg_record_span region = measure(session);
    char name[32];
    char line[256];

    (void)state;
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 2000; i++) {
            snprintf(name, sizeof name, "op%u", i / 16);
            cg_record_id inputs[3] = {10000 + i, 20000 + i, i == 1 ? UINT64_C(1) << 40 : 5};
            cg_record_op_args op = {.size = sizeof op,
                                    .name = cg_record_intern(session, name),
                                    .layout = layouts[i & 1],
                                    .input_count = i / 2 % 4,
                                    .inputs = inputs,
                                    .output = 30000 + i,
                                    .duration_ns = round,
                                    .input_dense_bytes = 64 + (i / 8 & 1)};
            cg_record_op(session, region, &op);
        }
    }
    cg_record_span_end(session, region);
    cg_run_facts facts = end(session, CG_OK, &result, NULL);
    assert_int_equal(facts.error_count, 0);
    assert_int_equal(result.dropped + result.refused, 0);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 2000; i++) {
            static const int lengths[] = {0, 8, 17, 22};
            char list[96];

            snprintf(list, sizeof list, "\"t%u\",\"t%u\",\"t5\"", 10000 + i, 20000 + i);
            list[lengths[i / 2 % 4]] = '\0';
            snprintf(line, sizeof line,
                     "\"op_name\":\"op%u\",\"inputs\":[%s],\"output\":\"t%u\",\"shape\":[%s],"
                     "\"dtype\":\"%s\",\"device\":\"cpu\",\"duration_ns\":%u,",
                     i / 16, list, 30000 + i, (i & 1) == 0 ? "4,8" : "4",
                     (i & 1) == 0 ? "f32" : "f16", round);
            has(line);
        }
    }
}

static void spans_nest_whatever_the_order_of_their_ends(void **state)
{
    cg_record_result result = {.size = sizeof result};
    cg_record *session = begin();
    cg_record_name name = cg_record_intern(session, "span");
    cg_record_span region = measure(session);

    (void)state;
    cg_record_span outer = cg_record_span_begin(session, name, CG_RECORD_FUNCTION);
    cg_record_span inner = cg_record_span_begin(session, name, CG_RECORD_OP);
    cg_record_span_end(session, outer);
    nanosleep(&(struct timespec){.tv_nsec = 50000},
              NULL); /* late by more than the clocks can tell apart */
    cg_record_span_end(session, inner);
    cg_record_span next = cg_record_span_begin(session, name, CG_RECORD_MODULE);
    cg_record_span_end(session, next);
    cg_record_span_end(session, region);
    cg_run_facts facts = end(session, CG_OK, &result, NULL);
    assert_true(facts.has_graph);
    assert_int_equal(facts.error_count, 0);
    assert_int_equal(result.out_of_order, 1);
    has("\"id\":\"s5\",\"parent_id\":\"s2\"");
    has("\"candle-graph.late_span_ends\":\"1\"");
    has("\"recorder_loss\":{\"dropped_records\":0,\"refused_records\":0,\"late_span_ends\":1}");
}

static void losses_lower_what_the_contract_promises(void **state)
{
    const cg_record_contract contract = {
        .size = sizeof contract, .operations = CG_RECORD_COMPLETE, .tensors = CG_RECORD_COMPLETE};
    cg_record_run run;
    cg_err err = {0};

    (void)state;
    cg_record_run_training(&run, "e", 3, "cpu");
    run.contract = &contract;
    cg_record *session = begin_run(&run, NULL);
    cg_record_span region = measure(session);
    cg_record_tensor_args tensor = {.size = sizeof tensor,
                                    .id = 4,
                                    .layout =
                                        cg_record_intern_layout(session, "f32", "cpu", NULL, 0)};
    cg_record_op_args op = {
        .size = sizeof op, .name = cg_record_intern(session, "x"), .layout = tensor.layout};
    cg_record_op(session, region, &op);
    cg_record_tensor(session, region, &tensor);
    cg_record_scalar(session, region, cg_record_intern(session, " "), 1);
    cg_record_span_end(session, region);
    cg_run_facts facts = end(session, CG_USAGE, NULL, &err);
    assert_true(facts.is_structurally_valid && facts.is_capture_complete);
    assert_true(strstr(err.text, "scalar") != NULL);
    has("\"operations\":\"complete\",\"tensors\":\"partial\"");
    has("\"tags\":{\"candle-graph.refused_records\":\"1\"}");
}

static void wrong_arguments_are_kept_for_finish(void **state)
{
    cg_record_result result = {.size = sizeof result};
    cg_err err = {0};
    cg_record *session = begin();
    cg_record_span region = measure(session);
    cg_record_name name = cg_record_intern(session, "n");
    cg_record_layout layout = cg_record_intern_layout(session, "f32", "cpu", NULL, 0);
    cg_record_span none = {0, 0, 0};
    cg_record_span foreign = {region.reference, region.session + 1, 0};
    cg_record_op_args op = {.size = sizeof op, .name = name, .layout = layout, .input_count = 300};
    cg_record_tensor_args tensor = {.size = sizeof tensor, .layout = layout};
    cg_record_stats stats = {.elements = 1, .rms = (double)NAN};
    cg_record_memory_args memory = {.size = sizeof memory};
    cg_record_device_memory_args sample = {.size = sizeof sample, .device = name};
    cg_record_device_interval_args interval = {
        .size = sizeof interval, .device = name, .stream = name, .clock = name, .backend = name};
    uint64_t refused = 0;

    (void)state;
#define REFUSED(call) ((call), refused++)
    REFUSED(cg_record_op(session, region, &op));
    op.input_count = 0;
    REFUSED(cg_record_op(session, none, &op));
    REFUSED(cg_record_op(session, foreign, &op));
    REFUSED(cg_record_tensor(session, region, &tensor));
    REFUSED(cg_record_scalar(session, region, 0, 1));
    REFUSED(cg_record_scalar(session, region, cg_record_intern(session, "\t"), 1));
    REFUSED(cg_record_tensor_stats(session, region, name, NULL));
    REFUSED(cg_record_tensor_stats_of(session, region, name, layout, &stats));
    REFUSED(cg_record_memory_alloc(session, region, &memory));
    REFUSED(cg_record_memory_free(session, region, NULL));
    REFUSED(cg_record_device_memory(session, &sample));
    REFUSED(cg_record_device_interval(session, region, &interval));
    REFUSED(cg_record_gradient(session, name, name, CG_RECORD_PRESENT, 0));
    REFUSED(cg_record_gradient(session, name, name, CG_RECORD_MISSING, 1));
    REFUSED(cg_record_call_edge(session, none, region));
    REFUSED(cg_record_data_edge(session, 0, 1));
    REFUSED(cg_record_span_completed(session, none, name, 0, 5, 4));
    REFUSED(cg_record_span_end(session, cg_record_root(session)));
    REFUSED(cg_record_span_end(session, foreign));
    REFUSED(cg_record_intern(session, NULL));
    /* Known only at the end: */
    REFUSED(cg_record_data_edge(session, 77, 78));
    REFUSED(cg_record_call_edge(session, region, region));
    op.duration_ns = 3600000000000;
    REFUSED(cg_record_op(session, region, &op));
    cg_record_span_end(session, none); /* begun before there was a session: no mistake */
    cg_record_span_end(session, region);
    REFUSED(cg_record_span_end(session, region));
    cg_run_facts facts = end(session, CG_USAGE, &result, &err);
    assert_true(facts.has_graph);
    assert_int_equal(facts.error_count, 0);
    assert_int_equal(result.refused, refused);
    assert_true(strstr(err.text, "300 inputs") != NULL);
}

static void open_spans_make_a_failed_capture(void **state)
{
    cg_record_result result = {.size = sizeof result};
    cg_err err = {0};
    cg_record *session = begin();

    (void)state;
    measure(session);
    cg_run_facts facts = end(session, CG_USAGE, &result, &err);
    assert_false(facts.is_capture_complete);
    assert_true(facts.is_structurally_valid);
    assert_false(result.is_complete);
    assert_string_equal(err.text, "finished with open spans: update");
    has("\"outcome\":\"failed\"");
}

static void a_failed_run_tells_its_reason_and_keeps_spans_open(void **state)
{
    (void)state;
    cg_record *session = begin();
    measure(session);
    assert_int_equal(cg_record_finish_failed(session, "loss is \"NaN\"", NULL, NULL), CG_OK);
    load(path);
    assert_true(judge().is_structurally_valid);
    has("\"reason\":\"loss is \\\"NaN\\\"\"}");
    has_not("span_end");
    assert_int_equal(cg_record_finish_failed(begin(), "  ", NULL, NULL), CG_OK);
    load(path);
    has("\"reason\":\"the program gave no reason\"}");
}

static void no_session_is_no_work(void **state)
{
    cg_record_span none = {0, 0, 0};

    (void)state;
    assert_int_equal(cg_record_intern(NULL, "x"), 0);
    cg_record_span span = cg_record_span_begin(NULL, 1, CG_RECORD_FUNCTION);
    assert_int_equal(span.reference, 0);
    cg_record_span_end(NULL, span);
    cg_record_scalar(NULL, span, 1, 1);
    cg_record_op(NULL, span, NULL);
    cg_record_tensor(NULL, span, NULL);
    cg_record_memory_alloc(NULL, none, NULL);
    cg_record_gradient_view(NULL, 1, 1, NULL);
    cg_record_call_edge(NULL, none, none);
    assert_int_equal(cg_record_now(NULL), 0);
    assert_int_equal(cg_record_flush(NULL, NULL), CG_OK);
    assert_int_equal(cg_record_finish(NULL, NULL, NULL), CG_OK);
}

static void a_session_ends_once(void **state)
{
    cg_err err = {0};
    cg_record *session = begin();

    (void)state;
    assert_int_equal(cg_record_finish(session, NULL, NULL), CG_OK);
    assert_int_equal(cg_record_finish(session, NULL, &err), CG_USAGE);
    cg_record_span_end(session, measure(session)); /* late, and ignored */
    assert_int_equal(cg_record_elapsed_ns(session), 0);
}

static void the_spool_of_a_dead_run_is_not_overwritten(void **state)
{
    char other[160];
    struct stat info;
    FILE *file = NULL;

    (void)state;
    snprintf(other, sizeof other, "%s.spool", path);
    file = fopen(other, "w");
    assert_non_null(file);
    fputs("precious", file);
    fclose(file);
    end(begin(), CG_OK, NULL, NULL);
    assert_int_equal(stat(other, &info), 0);
    assert_int_equal(info.st_size, 8);
    unlink(other);
}

static void completed_spans_and_readings_lie_on_one_clock(void **state)
{
    cg_record *session = begin();
    cg_record_span root = cg_record_root(session);
    cg_record_name name = cg_record_intern(session, "job");

    (void)state;
    cg_record_time start = cg_record_now(session);
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    cg_record_time stop = cg_record_now(session);
    cg_record_span region = measure(session);
    cg_record_span_completed(session, root, name, CG_RECORD_MODULE, start, stop);
    assert_true(cg_record_elapsed_ns(session) > 200000);
    /* There and back: a number of nanoseconds is the reading it came from. */
    uint64_t elapsed = cg_record_elapsed_ns(session);
    cg_record_time again = cg_record_time_at(session, elapsed);
    assert_true(again > stop && again <= cg_record_now(session));
    assert_true(cg_record_time_at(session, 0) < start);
    assert_int_equal(cg_record_time_at(NULL, elapsed), 0);
    cg_record_span_end(session, region);
    assert_true(end(session, CG_OK, NULL, NULL).has_graph);
    has("\"parent_id\":\"s1\",\"name\":\"job\"");
}

static void hostile_names_stay_text(void **state)
{
    cg_record *session = begin();
    cg_record_span region = measure(session);

    (void)state;
    cg_record_scalar(session, region, cg_record_intern(session, "a\"\\\x01\xff\xe2\x80\xa8z"),
                     -0.0);
    cg_record_scalar(session, region, cg_record_intern_str(session, (cg_str){"x\0y", 3}),
                     (double)INFINITY);
    cg_record_span_end(session, region);
    assert_int_equal(end(session, CG_OK, NULL, NULL).statistics_count, 2);
    has("\"label\":\"a\\\"\\\\\\u0001\xef\xbf\xbd\xe2\x80\xa8z\"");
    has("\"mean\":-0.0");
    has("\"label\":\"x\\u0000y\",\"shape\":[],\"dtype\":\"f64\",\"elements\":1,\"non_finite\":1,"
        "\"rms\":0.0,\"abs_max\":0.0,\"mean\":0.0}");
}

static void identities_are_numbers_or_texts(void **state)
{
    const uint64_t shape[] = {2, 2};
    cg_record *session = begin();
    cg_record_span region = measure(session);
    cg_record_layout layout = cg_record_intern_layout(session, "bf16", "cuda:1", shape, 2);
    cg_record_id text = cg_record_text_id(session, "TensorId(17)");
    cg_record_id inputs[] = {text, 5, UINT64_C(1) << 40};
    cg_record_op_args op = {.size = sizeof op,
                            .name = cg_record_intern(session, "cat"),
                            .layout = layout,
                            .inputs = inputs,
                            .input_count = 3,
                            .output = 9,
                            .start = cg_record_now(session),
                            .input_dense_bytes = 24};
    cg_record_memory_args memory = {
        .size = sizeof memory, .storage = 0xabc, .tensor = text, .bytes = 8, .layout = layout};

    (void)state;
    cg_record_op(session, region, &op);
    cg_record_memory_alloc(session, region, &memory);
    cg_record_memory_free(session, region, &memory);
    cg_record_data_edge(session, text, 9);
    cg_record_span_end(session, region);
    assert_true(end(session, CG_OK, NULL, NULL).has_graph);
    has("\"inputs\":[\"TensorId(17)\",\"t5\",\"t1099511627776\"],\"output\":\"t9\",\"shape\":[2,2],"
        "\"dtype\":\"bf16\",\"device\":\"cuda:1\"");
    has("\"output_dense_bytes\":8,\"input_dense_bytes\":24}");
    has("\"storage_id\":\"storage:0xabc\",\"tensor_id\":\"TensorId(17)\"");
    has("\"edge_kind\":\"data\",\"from_tensor\":\"TensorId(17)\",\"to_tensor\":\"t9\"}");
}

static void thousands_of_open_spans_fit(void **state)
{
    enum { DEPTH = 9000 };
    static cg_record_span spans[DEPTH];
    cg_record_run run;
    cg_record_options options = {.size = sizeof options, .ring_bytes = 1};
    cg_record_result result = {.size = sizeof result};

    (void)state;
    cg_record_run_training(&run, "e", 3, "cpu");
    cg_record *session = begin_run(&run, &options);
    cg_record_name name = cg_record_intern(session, "deep");
    for (int i = 0; i < DEPTH; i++) {
        spans[i] = cg_record_span_begin(session, name, CG_RECORD_FUNCTION);
    }
    for (int i = DEPTH; i-- > 0;) {
        cg_record_span_end(session, spans[i]);
    }
    assert_int_equal(cg_record_finish(session, &result, NULL), CG_OK);
    assert_int_equal(result.spans, DEPTH + 1);
    assert_int_equal(judge().span_count, DEPTH + 1);
}

/* In time that grows with their number, not with its cube. */
static void one_end_ends_thousands_of_spans_inside(void **state)
{
    enum { DEPTH = 9000 };
    cg_record_run run;
    cg_record_result result = {.size = sizeof result};

    (void)state;
    cg_record_run_training(&run, "e", 3, "cpu");
    cg_record *session = begin_run(&run, NULL);
    cg_record_name name = cg_record_intern(session, "deep");
    cg_record_span outermost = cg_record_span_begin(session, name, CG_RECORD_FUNCTION);
    for (int i = 1; i < DEPTH; i++) {
        cg_record_span_begin(session, name, CG_RECORD_FUNCTION);
    }
    cg_record_span_end(session, outermost);
    assert_int_equal(cg_record_finish(session, &result, NULL), CG_OK);
    assert_true(result.is_complete);
    assert_int_equal(judge().span_count, DEPTH + 1);
}

typedef struct handed {
    cg_record *session;
    cg_record_span span;
} handed;

static void *end_handed(void *argument)
{
    handed *one = argument;

    cg_record_span_end(one->session, one->span);
    return NULL;
}

/* The thread that began it goes on with what is open around it, and nothing was wrong. */
static void a_span_may_be_ended_by_another_thread(void **state)
{
    cg_record_run run;
    cg_record_result result = {.size = sizeof result};
    pthread_t thread;

    (void)state;
    cg_record_run_training(&run, "e", 3, "cpu");
    handed one = {.session = begin_run(&run, NULL)};
    cg_record_name name = cg_record_intern(one.session, "handed");
    one.span = cg_record_span_begin(one.session, name, CG_RECORD_FUNCTION);
    cg_record_span inside = cg_record_span_begin(one.session, name, CG_RECORD_FUNCTION);
    cg_record_span_end(one.session, inside);
    pthread_create(&thread, NULL, end_handed, &one);
    pthread_join(thread, NULL);
    cg_record_span next = cg_record_span_begin(one.session, name, CG_RECORD_FUNCTION);
    cg_record_span_end(one.session, next);
    assert_int_equal(cg_record_finish(one.session, &result, NULL), CG_OK);
    assert_true(result.is_complete);
    assert_int_equal(result.refused, 0);
    assert_int_equal(judge().span_count, 4);
}

static _Atomic(cg_record *) late_session;
static atomic_bool is_late_over;

/* Never asks whether the session is still there. */
static void *record_late(void *unused)
{
    (void)unused;
    while (!atomic_load(&is_late_over)) {
        cg_record *session = atomic_load(&late_session);
        cg_record_span span = cg_record_measure_begin(session, 1);
        cg_record_time now = cg_record_now(session);

        cg_record_scalar(session, span, 1, 1);
        cg_record_span_completed(session, span, 1, CG_RECORD_OP, now - 2, now - 1);
        cg_record_flush(session, NULL);
        cg_record_span_end(session, span);
    }
    return NULL;
}

static void late_calls_of_other_threads_find_a_closed_session(void **state)
{
    enum { SESSIONS = 60, THREADS = 4 };
    cg_record_run run;
    cg_record_options options = {.size = sizeof options, .ring_bytes = 1};
    pthread_t threads[THREADS];

    (void)state;
    cg_record_run_training(&run, "e", 3, "cpu");
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, record_late, NULL);
    }
    for (int i = 0; i < SESSIONS; i++) {
        cg_record *session = begin_run(&run, &options);

        cg_record_intern(session, "late");
        atomic_store(&late_session, session);
        nanosleep(&(struct timespec){0, i % 8 * 300000L}, NULL);
        cg_code code = cg_record_finish(session, NULL, NULL);
        assert_true(code == CG_OK || code == CG_USAGE);
    }
    atomic_store(&is_late_over, true);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void *record_one(void *session)
{
    cg_record_scalar(session, cg_record_root(session), cg_record_intern(session, "x"), 1);
    return NULL;
}

/* A thread that records for the first time makes a ring: beyond the limit, that must not kill. */
static void a_limit_on_file_sizes_is_a_full_disk_and_no_signal(void **state)
{
    int status = -1;
    pid_t child = fork();

    (void)state;
    if (child == 0) {
        cg_record_run run;
        cg_record_options options = {.size = sizeof options, .ring_bytes = 1};
        cg_record *session = NULL;
        const struct rlimit most = {100000, 100000};
        pthread_t threads[4];

        cg_record_run_training(&run, "limit", 1, "cpu");
        if (cg_record_open(path, &run, &options, &session, NULL) != CG_OK) {
            _exit(1);
        }
        setrlimit(RLIMIT_FSIZE, &most);
        for (int i = 0; i < 4; i++) {
            pthread_create(&threads[i], NULL, record_one, session);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(threads[i], NULL);
        }
        cg_code code = cg_record_finish(session, NULL, NULL);
        _exit(code == CG_OK || code == CG_USAGE ? 0 : 2);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_true(judge().is_capture_complete);
}

static void selectors_fire_once_and_never_for_zero(void **state)
{
    cg_record_selector selector;

    (void)state;
    assert_true(cg_record_select(&selector, 10));
    assert_false(cg_record_selected(&selector, 9));
    assert_true(cg_record_selected(&selector, 10));
    assert_false(cg_record_select(&selector, 0));
    assert_false(cg_record_selected(&selector, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_session_is_a_root_and_a_terminal),
        cmocka_unit_test(nothing_is_left_beside_the_trace),
        cmocka_unit_test(parents_are_made_and_the_description_is_checked_first),
        cmocka_unit_test(descriptions_that_break_a_rule_open_nothing),
        cmocka_unit_test(the_description_is_written_in_wire_order),
        cmocka_unit_test(operations_alike_are_told_apart),
        cmocka_unit_test(spans_nest_whatever_the_order_of_their_ends),
        cmocka_unit_test(losses_lower_what_the_contract_promises),
        cmocka_unit_test(wrong_arguments_are_kept_for_finish),
        cmocka_unit_test(open_spans_make_a_failed_capture),
        cmocka_unit_test(a_failed_run_tells_its_reason_and_keeps_spans_open),
        cmocka_unit_test(no_session_is_no_work),
        cmocka_unit_test(a_session_ends_once),
        cmocka_unit_test(the_spool_of_a_dead_run_is_not_overwritten),
        cmocka_unit_test(completed_spans_and_readings_lie_on_one_clock),
        cmocka_unit_test(hostile_names_stay_text),
        cmocka_unit_test(identities_are_numbers_or_texts),
        cmocka_unit_test(thousands_of_open_spans_fit),
        cmocka_unit_test(one_end_ends_thousands_of_spans_inside),
        cmocka_unit_test(a_span_may_be_ended_by_another_thread),
        cmocka_unit_test(late_calls_of_other_threads_find_a_closed_session),
        cmocka_unit_test(a_limit_on_file_sizes_is_a_full_disk_and_no_signal),
        cmocka_unit_test(selectors_fire_once_and_never_for_zero),
    };

    snprintf(folder, sizeof folder, "/tmp/cg-session-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    snprintf(path, sizeof path, "%s/run.jsonl", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    rmdir(folder);
    return failed;
}
