/*
 * threads - many threads in one session: spans, parents handed over, threads that come and go,
 * sessions that end while others record, a child process. Meant for ThreadSanitizer too.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "candlegraph/candlegraph.h"
#include "candlegraph/record.h"

#define THREADS 16

#define EVENTS 2000

/* ThreadSanitizer cannot follow a child that starts a thread: there, the child only records. */
#if defined(__SANITIZE_THREAD__)
#define CHILD_MAY_START_THREADS 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CHILD_MAY_START_THREADS 0
#endif
#endif
#ifndef CHILD_MAY_START_THREADS
#define CHILD_MAY_START_THREADS 1
#endif

static char folder[64];
static char path[128];

static cg_record *begin(uint32_t full_ring, uint32_t ring_bytes)
{
    cg_record_run run;
    cg_record_options options = {
        .size = sizeof options, .full_ring = full_ring, .ring_bytes = ring_bytes};
    cg_record *session = NULL;
    cg_err err = {0};

    cg_record_run_training(&run, "threads::train", 2, "cpu");
    if (cg_record_open(path, &run, &options, &session, &err) != CG_OK) {
        fail_msg("%s", err.text);
    }
    return session;
}

static cg_run_facts read_trace(void)
{
    cg_env env = {.size = sizeof env};
    cg_run_facts facts = {.size = sizeof facts};
    cg_run *run = NULL;
    cg_err err = {0};
    cg_issue issue;

    if (cg_run_open(&env, path, &run, &err) != CG_OK) {
        fail_msg("%s", err.text);
    }
    cg_run_facts_of(run, &facts);
    for (uint64_t i = 0; cg_run_issue(run, i, &issue); i++) {
        if (issue.is_error) {
            print_message("issue: %.*s\n", (int)issue.code.len, issue.code.ptr);
        }
    }
    cg_run_free(run);
    unlink(path);
    return facts;
}

typedef struct worker {
    cg_record *session;
    cg_record_span parent;
    unsigned index;
    uint64_t events;
} worker;

static void *record_work(void *argument)
{
    worker *self = argument;
    static const uint64_t shape[2] = {3, 4};
    char text[32];

    snprintf(text, sizeof text, "worker-%u", self->index);
    cg_record_name own = cg_record_intern(self->session, text);
    cg_record_name common = cg_record_intern(self->session, "common");
    cg_record_layout layout = cg_record_intern_layout(self->session, "f32", "cpu", shape, 2);
    cg_record_span base =
        cg_record_span_begin_under(self->session, self->parent, own, CG_RECORD_MODULE, 0);
    for (uint64_t i = 0; i < self->events; i++) {
        cg_record_span span = cg_record_span_begin(self->session, common, CG_RECORD_FUNCTION);
        cg_record_id id = (uint64_t)self->index << 20 | (i + 1);
        cg_record_op_args op = {.size = sizeof op,
                                .name = common,
                                .layout = layout,
                                .input_count = 1,
                                .inputs = &id,
                                .output = id + 1,
                                .start = cg_record_now(self->session)};
        cg_record_tensor_args tensor = {
            .size = sizeof tensor, .id = id, .layout = layout, .label = own};

        cg_record_op(self->session, span, &op);
        cg_record_tensor(self->session, span, &tensor);
        cg_record_scalar(self->session, span, own, (double)i);
        cg_record_span_end(self->session, span);
    }
    cg_record_span_end(self->session, base);
    return NULL;
}

static void run_workers(cg_record *session, cg_record_span parent, unsigned count, uint64_t events)
{
    pthread_t handles[THREADS];
    worker workers[THREADS];

    for (unsigned i = 0; i < count; i++) {
        workers[i] = (worker){session, parent, i, events};
        assert_int_equal(pthread_create(&handles[i], NULL, record_work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < count; i++) {
        pthread_join(handles[i], NULL);
    }
}

static void sixteen_threads_give_one_sound_trace(void **state)
{
    cg_record_result result = {.size = sizeof result};
    cg_err err = {0};
    cg_record *session = begin(CG_RECORD_WAIT, 64u << 10);
    cg_record_span region = cg_record_measure_begin(session, cg_record_intern(session, "region"));

    (void)state;
    run_workers(session, region, THREADS, EVENTS);
    cg_record_span_end(session, region);
    assert_int_equal(cg_record_finish(session, &result, &err), CG_OK);
    assert_true(result.is_complete);
    assert_int_equal(result.dropped + result.refused + result.out_of_order, 0);
    cg_run_facts facts = read_trace();
    assert_true(facts.is_structurally_valid);
    assert_true(facts.has_graph);
    assert_int_equal(facts.span_count, 2 + THREADS + THREADS * EVENTS);
    assert_int_equal(facts.operation_count, THREADS * EVENTS);
    assert_int_equal(facts.tensor_count, THREADS * EVENTS);
    assert_int_equal(facts.statistics_count, THREADS * EVENTS);
}

static void a_full_ring_that_drops_says_so(void **state)
{
    cg_record_result result = {.size = sizeof result};
    cg_err err = {0};
    cg_record *session = begin(CG_RECORD_DROP, 64u << 10);
    cg_record_span region = cg_record_measure_begin(session, cg_record_intern(session, "region"));

    (void)state;
    run_workers(session, region, 4, 20 * EVENTS);
    cg_record_span_end(session, region);
    cg_code code = cg_record_finish(session, &result, &err);
    if (code != CG_OK)
        print_error("%s: %s\n", err.problem, err.text);
    assert_int_equal(code, CG_OK);
    cg_run_facts facts = read_trace();
    assert_true(facts.is_structurally_valid);
    assert_true(facts.is_capture_complete);
    /* Whether the writer kept up is the machine's business; nothing is lost without a count. */
    assert_true(facts.operation_count + facts.tensor_count + facts.statistics_count +
                    facts.span_count - 2 - 4 + result.dropped >=
                (uint64_t)4 * 20 * EVENTS * 4);
}

static void threads_that_come_and_go_share_lanes(void **state)
{
    cg_record_result result = {.size = sizeof result};
    cg_err err = {0};
    cg_record *session = begin(CG_RECORD_WAIT, 64u << 10);
    cg_record_span region = cg_record_measure_begin(session, cg_record_intern(session, "region"));

    (void)state;
    for (unsigned i = 0; i < 50; i++) {
        run_workers(session, region, 4, 10);
    }
    cg_record_span_end(session, region);
    assert_int_equal(cg_record_finish(session, &result, &err), CG_OK);
    cg_run_facts facts = read_trace();
    assert_true(facts.is_structurally_valid);
    assert_int_equal(facts.span_count, 2 + 50 * 4 * 11);
}

static _Atomic int is_over;

static void *record_until_over(void *argument)
{
    worker *self = argument;
    cg_record_name name = cg_record_intern(self->session, "endless");

    while (!is_over) {
        cg_record_span span = cg_record_span_begin(self->session, name, CG_RECORD_FUNCTION);

        cg_record_scalar(self->session, span, name, 1);
        cg_record_span_end(self->session, span);
        cg_record_intern(self->session, "again");
    }
    return NULL;
}

static void a_session_may_end_while_others_record(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        cg_record *session = begin(round % 2 == 0 ? CG_RECORD_WAIT : CG_RECORD_DROP, 64u << 10);
        pthread_t handles[4];
        worker self = {session, cg_record_root(session), 0, 0};

        is_over = 0;
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(pthread_create(&handles[i], NULL, record_until_over, &self), 0);
        }
        usleep(2000);
        assert_int_equal(cg_record_finish_failed(session, "cut short", NULL, NULL), CG_OK);
        usleep(500);
        is_over = 1;
        for (unsigned i = 0; i < 4; i++) {
            pthread_join(handles[i], NULL);
        }
        cg_run_facts facts = read_trace();
        assert_false(facts.is_capture_complete);
        assert_true(facts.is_structurally_valid);
    }
}

static void two_sessions_on_one_thread_stay_apart(void **state)
{
    cg_record_result results[2] = {{.size = sizeof *results}, {.size = sizeof *results}};
    char first[128];

    (void)state;
    cg_record *one = begin(CG_RECORD_WAIT, 0);
    memcpy(first, path, sizeof first);
    snprintf(path, sizeof path, "%s/second.jsonl", folder);
    cg_record *two = begin(CG_RECORD_WAIT, 0);
    cg_record_span a = cg_record_measure_begin(one, cg_record_intern(one, "a"));
    cg_record_span b = cg_record_measure_begin(two, cg_record_intern(two, "b"));
    cg_record_span_end(one, a);
    cg_record_span_end(two, b);
    assert_int_equal(cg_record_finish(two, &results[1], NULL), CG_OK);
    assert_true(read_trace().has_graph);
    memcpy(path, first, sizeof first);
    assert_int_equal(cg_record_finish(one, &results[0], NULL), CG_OK);
    assert_true(read_trace().has_graph);
    assert_int_equal(results[0].spans, 2);
}

static void a_child_records_nothing_and_harms_nothing(void **state)
{
    cg_record_result result = {.size = sizeof result};
    cg_record *session = begin(CG_RECORD_WAIT, 64u << 10);
    cg_record_name name = cg_record_intern(session, "work");
    cg_record_span region = cg_record_measure_begin(session, name);
    int status = 0;

    (void)state;
    pid_t child = fork();
    if (child == 0) {
        cg_err err = {0};
        cg_record_run run;
        cg_record *own = NULL;
        char own_path[160];

        for (int i = 0; i < 100000; i++) {
            cg_record_span span = cg_record_span_begin(session, name, CG_RECORD_FUNCTION);

            cg_record_scalar(session, span, name, i);
            cg_record_span_end(session, span);
        }
        cg_record_span_end(session, region);
        if (cg_record_finish(session, NULL, &err) != CG_USAGE) {
            _exit(1);
        }
        if (!CHILD_MAY_START_THREADS) {
            _exit(0);
        }
        /* A session of its own is another matter. */
        snprintf(own_path, sizeof own_path, "%s/child.jsonl", folder);
        cg_record_run_training(&run, "child", 1, "cpu");
        if (cg_record_open(own_path, &run, NULL, &own, NULL) != CG_OK) {
            _exit(2);
        }
        cg_record_span_end(own, cg_record_measure_begin(own, cg_record_intern(own, "m")));
        _exit(cg_record_finish(own, NULL, NULL) == CG_OK && unlink(own_path) == 0 ? 0 : 3);
    }
    cg_record_span_end(session, cg_record_span_begin(session, name, CG_RECORD_OP));
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    cg_record_span_end(session, region);
    assert_int_equal(cg_record_finish(session, &result, NULL), CG_OK);
    assert_int_equal(result.spans, 3);
    assert_true(read_trace().has_graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sixteen_threads_give_one_sound_trace),
        cmocka_unit_test(a_full_ring_that_drops_says_so),
        cmocka_unit_test(threads_that_come_and_go_share_lanes),
        cmocka_unit_test(a_session_may_end_while_others_record),
        cmocka_unit_test(two_sessions_on_one_thread_stay_apart),
        cmocka_unit_test(a_child_records_nothing_and_harms_nothing),
    };

    snprintf(folder, sizeof folder, "/tmp/cg-threads-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    snprintf(path, sizeof path, "%s/run.jsonl", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
