#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exec/salvage.h"

#define META                                                                                       \
    "{\"kind\":\"meta\",\"schema\":\"candle-graph/trace/10\",\"run_id\":\"r\","                    \
    "\"correlation_id\":\"c\",\"entrypoint\":\"e\",\"phase\":\"infer\",\"timestamp\":\"t\","       \
    "\"capture_step\":1,\"warmup_steps\":0,\"device\":\"cpu\",\"timing_mode\":\"host\","           \
    "\"capture_contract\":{\"measurement_scope\":\"unknown\",\"operations\":\"none\","             \
    "\"logical_memory\":\"none\",\"physical_memory\":\"none\",\"device_timing\":\"none\"},"        \
    "\"tags\":{}}\n"
#define ROOT                                                                                       \
    "{\"kind\":\"span_start\",\"id\":\"s1\",\"name\":\"e\",\"start_ns\":0,\"span_kind\":"          \
    "\"function\"}\n"
#define INNER                                                                                      \
    "{\"kind\":\"span_start\",\"id\":\"s2\",\"parent_id\":\"s1\",\"name\":\"in\",\"start_ns\":40," \
    "\"span_kind\":\"function\"}\n"
#define INNER_END "{\"kind\":\"span_end\",\"id\":\"s2\",\"duration_ns\":25}\n"

static char out[1 << 16];
static size_t out_count;

static cg_code keep(void *context, const char *bytes, size_t count)
{
    (void)context;
    assert_true(out_count + count < sizeof out);
    memcpy(out + out_count, bytes, count);
    out_count += count;
    out[out_count] = '\0';
    return CG_OK;
}

static heap memory;
static arena mem;
static cg_err err;

static cg_code salvage(const char *text, size_t len, rec_recovery *ret)
{
    cg_env env = {.size = sizeof env};
    cg_sink sink = {NULL, keep};

    out_count = 0;
    out[0] = '\0';
    err = (cg_err){0};
    return salvage_trace(&env, (cg_str){text, len}, sink, &mem, ret, &err);
}

#define SALVAGE(text, ret) salvage(text, sizeof(text) - 1, ret)

static void must_read(void)
{
    cg_env env = {.size = sizeof env};
    trace_doc *doc = NULL;
    cg_err why = {0};

    if (trace_read_text(&env, (cg_str){out, out_count}, &doc, &why) != CG_OK) {
        fail_msg("%s\n%s", why.text, out);
    }
    assert_int_equal(doc->outcome, OUTCOME_FAILED);
    trace_free(doc);
}

static void a_trace_that_ends_between_records_gets_a_terminal(void **state)
{
    rec_recovery account;

    (void)state;
    assert_int_equal(SALVAGE(META ROOT INNER, &account), CG_OK);
    assert_int_equal(account.records_recovered, 3);
    assert_null(account.cut_off);
    assert_int_equal(account.open_spans.count, 2);
    assert_true(strncmp(out, META ROOT INNER, strlen(META ROOT INNER)) == 0);
    assert_string_equal(out + strlen(META ROOT INNER),
                        "{\"kind\":\"terminal\",\"outcome\":\"failed\",\"timestamp_ns\":40,"
                        "\"reason\":\"recovered 3 records; open at the end: e, in\"}\n");
    must_read();
}

static void every_cut_keeps_the_records_before_it(void **state)
{
    static const char text[] = META ROOT INNER INNER_END;
    size_t first = strlen(META);

    (void)state;
    for (size_t len = first + 1; len < sizeof text - 1; len++) {
        rec_recovery account;
        uint64_t whole = 0;

        if (salvage(text, len, &account) != CG_OK) {
            fail_msg("%zu: %s", len, err.text);
        }
        for (size_t i = 0; i < len; i++) {
            whole += text[i] == '\n';
        }
        /* A record is whole without its line end, too. */
        if (len + 1 < sizeof text && text[len] == '\n') {
            whole++;
        }
        assert_int_equal(account.records_recovered, whole);
        assert_true((account.cut_off == NULL) == (text[len - 1] == '\n' || text[len] == '\n'));
        must_read();
    }
}

static void what_was_cut_off_is_told(void **state)
{
    rec_recovery account;

    (void)state;
    assert_int_equal(SALVAGE(META ROOT "{\"kind\":\"span_st", &account), CG_OK);
    const rec_recovery_cut *cut = account.cut_off;
    assert_non_null(cut);
    assert_int_equal(cut->line, 3);
    assert_int_equal(cut->offset, strlen(META ROOT));
    assert_int_equal(cut->bytes, 16);
}

static void zeros_of_a_crashed_file_system_are_a_cut(void **state)
{
    rec_recovery account;

    (void)state;
    assert_int_equal(SALVAGE(META ROOT "\0\0\0\0\0\0", &account), CG_OK);
    assert_non_null(account.cut_off);
    assert_int_equal(account.records_recovered, 2);
    must_read();
}

static void the_terminal_does_not_precede_the_evidence(void **state)
{
    rec_recovery account;

    (void)state;
    assert_int_equal(SALVAGE(META ROOT INNER INNER_END, &account), CG_OK);
    assert_true(strstr(out, "\"timestamp_ns\":65") != NULL);
    assert_int_equal(account.open_spans.count, 1);
    must_read();
}

static void a_whole_trace_and_a_broken_one_are_refused(void **state)
{
    rec_recovery account;

    (void)state;
    assert_int_equal(SALVAGE(META ROOT "{\"kind\":\"terminal\",\"outcome\":\"failed\","
                                       "\"timestamp_ns\":9,\"reason\":\"x\"}\n",
                             &account),
                     CG_INPUT);
    assert_true(strstr(err.text, "nothing to recover") != NULL);
    assert_int_equal(SALVAGE(META "{\"kind\":\"span_st\n" ROOT INNER, &account), CG_INPUT);
    assert_int_equal(err.line, 2);
    assert_int_equal(SALVAGE("", &account), CG_INPUT);
    assert_int_equal(SALVAGE("{\"kind\":\"me", &account), CG_INPUT);
    assert_int_equal(out_count, 0);
}

static void the_account_is_a_document(void **state)
{
    rec_recovery account;
    cg_sink sink = {NULL, keep};

    (void)state;
    assert_int_equal(SALVAGE(META ROOT "{", &account), CG_OK);
    account.input = CG_LIT("dead.jsonl");
    account.output = CG_LIT("out.jsonl");
    out_count = 0;
    assert_int_equal(salvage_write_account(&account, &memory, false, sink, NULL), CG_OK);
    char want[1024];
    snprintf(want, sizeof want,
             "{\"schema\":\"candle-graph/recovery/1\",\"input\":\"dead.jsonl\",\"output\":"
             "\"out.jsonl\",\"source\":\"trace\",\"records_recovered\":2,\"records_dropped\":0,"
             "\"cut_off\":{\"line\":3,\"offset\":%zu,\"bytes\":1},\"open_spans\":[{\"id\":\"s1\","
             "\"name\":\"e\",\"start_ns\":0}],\"reason\":\"recovered 2 records; open at the end: "
             "e\"}\n",
             strlen(META ROOT));
    assert_string_equal(out, want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_that_ends_between_records_gets_a_terminal),
        cmocka_unit_test(every_cut_keeps_the_records_before_it),
        cmocka_unit_test(what_was_cut_off_is_told),
        cmocka_unit_test(zeros_of_a_crashed_file_system_are_a_cut),
        cmocka_unit_test(the_terminal_does_not_precede_the_evidence),
        cmocka_unit_test(a_whole_trace_and_a_broken_one_are_refused),
        cmocka_unit_test(the_account_is_a_document),
    };
    cg_env env = {.size = sizeof env};

    heap_init(&memory, &env);
    arena_init(&mem, &memory);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&mem);
    return failed;
}
