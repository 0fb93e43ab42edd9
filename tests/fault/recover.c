/*
 * Recoveries, of a spool and of a cut trace: every call to the kernel fails, once and for good, or
 * moves half; every request for memory fails; the caller stops it; the sink of the account fails.
 * The output is absent or complete, the code says which, and nothing else is left behind.
 *
 * ctest-timeout: 300
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "candlegraph/candlegraph.h"
#include "candlegraph/record.h"
#include "support/capture.h"
#include "support/faults.h"

#include <cmocka.h>

enum { SPOOL, TRACE, INPUTS };

static char root[256];
static char inputs[INPUTS][320];
static char output[320];
static char whole[INPUTS][1 << 16]; /* what an undisturbed recovery makes */
static size_t whole_count[INPUTS];

/* --- what dead processes left --- */

static void record_to_the_end(const char *path)
{
    cg_record_run run;
    cg_record *session = NULL;

    cg_record_run_training(&run, "test::train", 2, "cpu");
    assert_int_equal(cg_record_open(path, &run, NULL, &session, NULL), CG_OK);
    cg_record_span region = cg_record_measure_begin(session, cg_record_intern(session, "update"));
    cg_record_span_end(session, region);
    assert_int_equal(cg_record_finish(session, NULL, NULL), CG_OK);
}

static void record_and_die(const char *path)
{
    const cg_record_options options = {.size = sizeof options, .ring_bytes = 1 << 16};
    cg_record_run run;
    cg_record *session = NULL;

    cg_record_run_training(&run, "test::train", 2, "cpu");
    if (cg_record_open(path, &run, &options, &session, NULL) != CG_OK)
        _exit(1);
    cg_record_span region = cg_record_measure_begin(session, cg_record_intern(session, "update"));
    cg_record_scalar(session, region, cg_record_intern(session, "loss"), 0.5);
    /* Found on the way only, so that the trace has to be begun again. */
    cg_record_data_edge(session, 77, 78);
    (void)cg_record_span_begin(session, cg_record_intern(session, "layer"), CG_RECORD_MODULE);
    _exit(0);
}

static size_t read_file(const char *path, char *to, size_t room)
{
    FILE *file = fopen(path, "rb");
    size_t count = file == NULL ? 0 : fread(to, 1, room, file);

    if (file != NULL)
        fclose(file);
    return count;
}

static cg_code ignore(void *context, const char *bytes, size_t count)
{
    (void)bytes;
    *(size_t *)context += count;
    return CG_OK;
}

static cg_code recover(const cg_env *env, int which, size_t *ret_account, cg_err *err)
{
    const cg_format format = {.size = sizeof format};

    *err = (cg_err){0};
    *ret_account = 0;
    return cg_recover(env, inputs[which], output, &format, (cg_sink){ret_account, ignore}, err);
}

static int make_scene(void **state)
{
    static capture c;
    const cg_env env = {.size = sizeof env};
    int status = 1;
    size_t account;
    cg_err err;

    (void)state;
    place_make(root);
    snprintf(inputs[SPOOL], sizeof inputs[SPOOL], "%s/run.jsonl.spool", root);
    snprintf(inputs[TRACE], sizeof inputs[TRACE], "%s/cut.jsonl", root);
    snprintf(output, sizeof output, "%s/new/out.jsonl", root);
    capture_begin(&c);
    capture_open(&c, "s1", NULL, "root", 0, false);
    capture_measured(&c, "s2", "s1", "call", 5, 80);
    place_write(root, "cut.jsonl", c.text, c.len - 9);
    pid_t child = fork();
    if (child == 0) {
        char path[320];

        snprintf(path, sizeof path, "%s/run.jsonl", root);
        record_and_die(path);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    for (int i = 0; i < INPUTS; i++) {
        if (recover(&env, i, &account, &err) != CG_OK)
            fail_msg("%s: %s", inputs[i], err.text);
        whole_count[i] = read_file(output, whole[i], sizeof whole[i]);
        assert_true(whole_count[i] > 0 && account > 0);
        unlink(output);
    }
    return 0;
}

static int remove_scene(void **state)
{
    (void)state;
    place_remove(root);
    return 0;
}

/* After a recovery that answered `code`; removes what it made. */
static void expect_all_or_nothing(int which, cg_code code, size_t account, bool may_litter,
                                  const char *what, uint64_t at)
{
    static char text[1 << 16];
    char made[320];
    size_t count = read_file(output, text, sizeof text);
    bool is_whole = count == whole_count[which] && memcmp(text, whole[which], count) == 0;

    snprintf(made, sizeof made, "%s/new", root);
    if (count > 0 && !is_whole)
        fail_msg("%s, %s %llu: a damaged trace", inputs[which], what, (unsigned long long)at);
    if (code == CG_OK && (!is_whole || account == 0))
        fail_msg("%s, %s %llu: said to be done", inputs[which], what, (unsigned long long)at);
    if (code != CG_OK && code != CG_DURABILITY && code != CG_NOMEM && count > 0)
        fail_msg("%s, %s %llu: code %u with a trace", inputs[which], what, (unsigned long long)at,
                 code);
    if (!may_litter && place_exists(root, "new"))
        assert_int_equal(place_count_hidden(made), 0);
    if (place_exists(root, "new"))
        place_remove(made);
}

/* --- the kernel --- */

static void every_refusal_of_the_kernel_is_survived(void **state)
{
    static const int errors[] = {EIO, ENOSPC, EACCES, EINTR};
    faults kernel;
    os_calls table = faults_table(&kernel);
    const cg_env env = {.size = sizeof env, .os = &table};

    (void)state;
    for (int which = 0; which < INPUTS; which++) {
        for (size_t e = 0; e < sizeof errors / sizeof errors[0]; e++) {
            for (enum fault fault = FAULT_ERROR; fault <= FAULT_SHORT; fault++) {
                uint64_t at = 0;

                if (fault == FAULT_ERRORS && errors[e] == EINTR)
                    continue; /* for ever is no kernel's answer */
                do {
                    size_t account;
                    cg_err err;

                    faults_arm(&kernel, fault, ++at, errors[e]);
                    cg_code code = recover(&env, which, &account, &err);
                    assert_int_equal(kernel.open_files, 0);
                    if (code != CG_OK && (err.code != code || err.text[0] == '\0'))
                        fail_msg("call %llu: code %u, but %u `%s`", (unsigned long long)at, code,
                                 err.code, err.text);
                    if (code == CG_NOMEM || code == CG_INTERNAL || code == CG_USAGE)
                        fail_msg("call %llu (%s): %s", (unsigned long long)at, kernel.failed,
                                 err.text);
                    if (code != CG_OK && kernel.failures == 0 && fault != FAULT_SHORT)
                        fail_msg("refused without a cause: %s", err.text);
                    expect_all_or_nothing(
                        which, code, account,
                        fault == FAULT_ERRORS ||
                            (kernel.failed != NULL && strstr(kernel.failed, "unlink") != NULL),
                        "call", at);
                } while (at <= kernel.calls);
            }
        }
    }
}

/* What cannot be looked at may be a finished run: it is not replaced. */
static void a_finished_run_stays_whatever_fails(void **state)
{
    static const int errors[] = {EIO, EACCES};
    static char text[1 << 16];
    static char there[1 << 16];
    faults kernel;
    os_calls table = faults_table(&kernel);
    const cg_env env = {.size = sizeof env, .os = &table};
    char folder[320];
    char path[400];
    size_t count, account;
    cg_err err;

    (void)state;
    snprintf(path, sizeof path, "%s/finished.jsonl", root);
    record_to_the_end(path);
    count = read_file(path, there, sizeof there);
    assert_true(count > 0);
    snprintf(folder, sizeof folder, "%s/new", root);
    assert_int_equal(mkdir(folder, 0700), 0);
    place_write(root, "new/out.jsonl", there, count);
    for (int which = 0; which < INPUTS; which++) {
        for (size_t e = 0; e < sizeof errors / sizeof errors[0]; e++) {
            uint64_t at = 0;

            do {
                faults_arm(&kernel, FAULT_ERROR, ++at, errors[e]);
                if (recover(&env, which, &account, &err) == CG_OK)
                    fail_msg("call %llu (%s): replaced", (unsigned long long)at, kernel.failed);
                assert_int_equal(kernel.open_files, 0);
                assert_int_equal(read_file(output, text, sizeof text), count);
                assert_memory_equal(text, there, count);
            } while (at <= kernel.calls);
        }
    }
    place_remove(folder);
}

/* --- memory --- */

typedef struct scarce {
    uint64_t requests, fail_at, live;
} scarce;

static void *resize(void *context, void *block, size_t old_size, size_t new_size)
{
    scarce *self = context;

    (void)old_size;
    if (new_size == 0) {
        self->live -= block != NULL;
        free(block);
        return NULL;
    }
    if (++self->requests == self->fail_at)
        return NULL;
    self->live += block == NULL;
    return realloc(block, new_size);
}

static void every_request_for_memory_may_fail(void **state)
{
    scarce memory;
    const cg_allocator allocator = {&memory, resize};
    const cg_env env = {.size = sizeof env, .allocator = &allocator};

    (void)state;
    for (int which = 0; which < INPUTS; which++) {
        uint64_t at = 0;

        do {
            size_t account;
            cg_err err;

            memory = (scarce){.fail_at = ++at};
            cg_code code = recover(&env, which, &account, &err);
            assert_int_equal(memory.live, 0);
            if (memory.requests >= at && code != CG_NOMEM)
                fail_msg("request %llu: code %u, %s", (unsigned long long)at, code, err.text);
            expect_all_or_nothing(which, code, account, false, "request", at);
        } while (memory.requests >= at);
    }
}

/* --- the caller --- */

static bool stop(void *context, const char *stage, uint64_t done, uint64_t total)
{
    (void)context;
    (void)stage;
    (void)done;
    (void)total;
    return false;
}

static void a_stopped_recovery_leaves_nothing(void **state)
{
    const cg_env env = {.size = sizeof env, .progress = stop};
    size_t account;
    cg_err err;

    (void)state;
    assert_int_equal(recover(&env, SPOOL, &account, &err), CG_INTERRUPTED);
    assert_int_equal(err.code, CG_INTERRUPTED);
    assert_int_equal(account, 0);
    assert_false(place_exists(root, "new"));
}

static cg_code refuse(void *context, const char *bytes, size_t count)
{
    (void)bytes;
    (void)count;
    return *(cg_code *)context;
}

static void the_trace_stays_when_only_the_account_fails(void **state)
{
    static const cg_code codes[] = {CG_OUTPUT, CG_CLOSED};
    const cg_env env = {.size = sizeof env};

    (void)state;
    for (int which = 0; which < INPUTS; which++) {
        for (cg_format_kind kind = CG_FORMAT_JSON; kind <= CG_FORMAT_TEXT; kind++) {
            for (size_t i = 0; i < 2; i++) {
                const cg_format format = {.size = sizeof format, .kind = kind};
                cg_code wanted = codes[i];
                cg_err err = {0};

                assert_int_equal(cg_recover(&env, inputs[which], output, &format,
                                            (cg_sink){&wanted, refuse}, &err),
                                 wanted);
                assert_int_equal(err.code, CG_OK);
                expect_all_or_nothing(which, CG_OK, 1, false, "sink", i);
            }
        }
    }
}

static void a_live_recording_is_refused(void **state)
{
    const cg_env env = {.size = sizeof env};
    int ready[2];
    int done[2];
    char path[320];
    char byte = 0;
    size_t account;
    cg_err err;

    (void)state;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(done), 0);
    snprintf(path, sizeof path, "%s/live.jsonl", root);
    pid_t child = fork();
    if (child == 0) {
        cg_record_run run;
        cg_record *session = NULL;

        cg_record_run_training(&run, "test::train", 2, "cpu");
        if (cg_record_open(path, &run, NULL, &session, NULL) != CG_OK ||
            write(ready[1], "x", 1) != 1 || read(done[0], &byte, 1) < 0)
            _exit(1);
        _exit(cg_record_finish_failed(session, "enough", NULL, NULL) == CG_OK ? 0 : 1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    strncat(path, ".spool", sizeof path - strlen(path) - 1);
    err = (cg_err){0};
    account = 0;
    const cg_format format = {.size = sizeof format};
    assert_int_equal(cg_recover(&env, path, output, &format, (cg_sink){&account, ignore}, &err),
                     CG_INPUT);
    assert_string_equal(err.problem, "spool-in-use");
    assert_false(place_exists(root, "new"));
    assert_int_equal(write(done[1], "x", 1), 1);
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(done[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_refusal_of_the_kernel_is_survived),
        cmocka_unit_test(a_finished_run_stays_whatever_fails),
        cmocka_unit_test(every_request_for_memory_may_fail),
        cmocka_unit_test(a_stopped_recovery_leaves_nothing),
        cmocka_unit_test(the_trace_stays_when_only_the_account_fails),
        cmocka_unit_test(a_live_recording_is_refused),
    };

    return cmocka_run_group_tests(tests, make_scene, remove_scene);
}
