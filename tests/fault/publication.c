/*
 * One publication, every call to the kernel: killed before it, failed at it
 * with each of the usual errors, cut short at it. The destination is absent or
 * complete, the code says which, and the next publication finishes the work,
 * leaving nothing beside the bundle. The same for a planned capture.
 *
 * ctest-timeout: 300
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "candlegraph/candlegraph.h"
#include "support/capture.h"
#include "support/faults.h"

#include <cmocka.h>

typedef struct scene {
    char root[256];
    char trace[320];
    char nsight[320];
    char parent[280]; /* of the destination; made by the publication */
    char bundle[320];
    faults faults;
    os_calls table;
    cg_env env;
    capture trace_text;
} scene;

static void trace_of(capture *ret)
{
    capture_begin(ret);
    capture_span(ret, "s1", NULL, "root", 0, 1000);
    capture_measured(ret, "s2", "s1", "step", 10, 900);
    capture_op(ret, "s2", "matmul", "", "t1", 20, 5);
    capture_tensor(ret, "s2", "t1", "out", NULL);
    capture_memory(ret, "s2", "alloc", "x", 64, 20);
    capture_line(ret, "{'kind':'terminal','outcome':'complete','timestamp_ns':1000}");
}

static void scene_begin(scene *self, bool has_nsight)
{
    static const char table[] = "Time (%),Total Time (ns),Instances,Name\n100,500,2,gemm\n";

    place_make(self->root);
    snprintf(self->trace, sizeof self->trace, "%s/t.jsonl", self->root);
    snprintf(self->nsight, sizeof self->nsight, "%s/n", self->root);
    snprintf(self->parent, sizeof self->parent, "%s/new/deep", self->root);
    snprintf(self->bundle, sizeof self->bundle, "%s/b", self->parent);
    trace_of(&self->trace_text);
    place_write(self->root, "t.jsonl", self->trace_text.text, self->trace_text.len);
    if (has_nsight) {
        assert_int_equal(mkdir(self->nsight, 0777), 0);
        place_write(self->nsight, "r_cuda_gpu_kern_sum.csv", table, sizeof table - 1);
        place_write(self->nsight, "notes.txt", "x", 1);
    } else {
        self->nsight[0] = '\0';
    }
    self->table = faults_table(&self->faults);
    self->env = (cg_env){.size = sizeof self->env, .os = &self->table};
}

static cg_code publish(scene *self, bool *ret_already, cg_err *err)
{
    cg_publish_request request = {
        .size = sizeof request,
        .trace_path = self->trace,
        .nsight_directory = self->nsight[0] != '\0' ? self->nsight : NULL,
        .bundle_path = self->bundle,
    };
    cg_publication *done = NULL;
    cg_publication_facts facts = {.size = sizeof facts};
    cg_code code;

    memset(err, 0, sizeof *err);
    code = cg_publish(&self->env, &request, &done, err);
    if (code != CG_OK) {
        assert_null(done);
        return code;
    }
    cg_publication_facts_of(done, &facts);
    *ret_already = facts.is_already_published;
    cg_publication_free(done);
    return CG_OK;
}

static bool is_there(const scene *self)
{
    struct stat about;

    return lstat(self->bundle, &about) == 0;
}

static void expect_complete(scene *self)
{
    cg_verification *verification = NULL;
    cg_err err = {0};

    faults_arm(&self->faults, FAULT_NONE, 0, 0);
    if (cg_bundle_verify(&self->env, self->bundle, CG_VERIFY_STRICT, &verification, &err) != CG_OK)
        fail_msg("damaged: %s", err.text);
    cg_verification_free(verification);
}

/* The next publication, undisturbed: it must work, and nothing is left beside the bundle. */
static void expect_next_run_finishes(scene *self, uint64_t at, bool was_there)
{
    bool is_already = false;
    cg_err err;

    faults_arm(&self->faults, FAULT_NONE, 0, 0);
    if (publish(self, &is_already, &err) != CG_OK)
        fail_msg("call %llu: the next run is refused: %s", (unsigned long long)at, err.text);
    assert_int_equal(is_already, was_there);
    expect_complete(self);
    assert_int_equal(place_count_hidden(self->parent), 0);
    assert_int_equal(self->faults.open_files, 0);
}

static void clear(scene *self)
{
    char made[320];

    snprintf(made, sizeof made, "%s/new", self->root);
    if (place_exists(self->root, "new"))
        place_remove(made);
}

/* --- killed --- */

/* Run `work` in a child that is killed before call `at`; true: it came to its end. */
static bool run_killed(scene *self, uint64_t at, void (*work)(scene *self))
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        faults_arm(&self->faults, FAULT_KILL, at, 0);
        work(self);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return false;
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    return true;
}

static void publish_in_child(scene *self)
{
    bool is_already;
    cg_err err;

    if (publish(self, &is_already, &err) != CG_OK)
        _exit(1);
}

static void killed_anywhere(bool has_nsight)
{
    scene *self = test_calloc(1, sizeof *self);
    unsigned there = 0;
    uint64_t at = 1;

    scene_begin(self, has_nsight);
    for (; !run_killed(self, at, publish_in_child); at++) {
        bool was_there = is_there(self);

        there += was_there;
        if (was_there)
            expect_complete(self);
        expect_next_run_finishes(self, at, was_there);
        clear(self);
    }
    print_message("killed at each of %llu calls: %u times complete, else absent\n",
                  (unsigned long long)at - 1, there);
    assert_true(at > 100);
    assert_true(there > 0);
    place_remove(self->root);
    test_free(self);
}

static void killed_before_any_call_it_is_absent_or_complete(void **state)
{
    (void)state;
    killed_anywhere(false);
}

static void killed_with_nsight_files_it_is_absent_or_complete(void **state)
{
    (void)state;
    killed_anywhere(true);
}

/* --- failed --- */

static bool is_output_call(const char *call)
{
    static const char *const calls[] = {"write", "fsync", "rename", "mkdir", "lock"};

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (strcmp(call, calls[i]) == 0)
            return true;
    }
    return false;
}

/* One publication with the fault; false: the fault lies behind its last call. */
static bool publish_with(scene *self, enum fault fault, uint64_t at, int error)
{
    bool is_already = false;
    cg_err err;
    cg_code code;
    bool was_there;
    bool is_reached;
    const char *failed;

    faults_arm(&self->faults, fault, at, error);
    code = publish(self, &is_already, &err);
    is_reached = self->faults.calls >= at;
    failed = self->faults.failed;
    was_there = is_there(self);
    assert_int_equal(self->faults.open_files, 0);
    if (code == CG_OK || code == CG_DURABILITY) {
        if (!was_there)
            fail_msg("call %llu (%s, %s): code %u, nothing there", (unsigned long long)at, failed,
                     strerror(error), code);
        assert_true(code == CG_DURABILITY || strcmp(failed, "fsync") != 0 || error == EINTR);
        expect_complete(self);
    } else if (was_there) {
        fail_msg("call %llu (%s, %s): code %u, but it is there: %s", (unsigned long long)at, failed,
                 strerror(error), code, err.text);
    } else {
        int status = cg_code_exit_status(code);

        assert_true(status == 1 || status == 3);
        if (is_output_call(failed) && status != 3)
            fail_msg("call %llu (%s): exit status %d: %s", (unsigned long long)at, failed, status,
                     err.text);
    }
    if (error == EINTR || fault == FAULT_SHORT) {
        if (code != CG_OK)
            fail_msg("call %llu (%s): not taken up again: %s", (unsigned long long)at, failed,
                     err.text);
    }
    /* What lives cleans up, unless that is what failed. */
    if (fault == FAULT_ERROR && strcmp(failed, "unlink") != 0 && strcmp(failed, "list") != 0 &&
        strcmp(failed, "seek") != 0 && place_count_hidden(self->parent) > 0)
        fail_msg("call %llu (%s): something is left behind", (unsigned long long)at, failed);
    expect_next_run_finishes(self, at, was_there);
    clear(self);
    return is_reached;
}

static void every_failure_is_survived(void **state)
{
    static const int errors[] = {EIO, ENOSPC, EINTR, EACCES, EMFILE, EROFS, EDQUOT};
    scene *self = test_calloc(1, sizeof *self);
    uint64_t at;

    (void)state;
    scene_begin(self, true);
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        for (at = 1; publish_with(self, FAULT_ERROR, at, errors[i]); at++)
            ;
    }
    for (at = 1; publish_with(self, FAULT_SHORT, at, 0); at++)
        ;
    print_message("%zu errors and short transfers at each of about %llu calls\n",
                  sizeof errors / sizeof errors[0], (unsigned long long)at - 1);
    place_remove(self->root);
    test_free(self);
}

static void a_kernel_that_goes_on_failing_is_survived(void **state)
{
    static const int errors[] = {EIO, ENOSPC};
    scene *self = test_calloc(1, sizeof *self);

    (void)state;
    scene_begin(self, false);
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        for (uint64_t at = 1; publish_with(self, FAULT_ERRORS, at, errors[i]); at++)
            ;
    }
    place_remove(self->root);
    test_free(self);
}

/* --- memory --- */

typedef struct memory {
    uint64_t requests, fail_at;
    bool is_persistent;
    uint64_t failures;
    int64_t live_bytes;
} memory;

static void *resize(void *context, void *block, size_t old_size, size_t new_size)
{
    memory *self = context;
    void *moved;

    if (new_size == 0) {
        free(block);
        self->live_bytes -= (int64_t)old_size;
        return NULL;
    }
    self->requests++;
    if (self->fail_at != 0 && (self->requests == self->fail_at ||
                               (self->is_persistent && self->requests > self->fail_at))) {
        self->failures++;
        return NULL;
    }
    moved = realloc(block, new_size);
    assert_non_null(moved);
    self->live_bytes += (int64_t)new_size - (int64_t)old_size;
    return moved;
}

static void every_request_for_memory_may_fail(void **state)
{
    scene *self = test_calloc(1, sizeof *self);
    memory of = {.requests = 0};
    const cg_allocator allocator = {&of, resize};

    (void)state;
    scene_begin(self, true);
    for (unsigned round = 0; round < 2; round++) {
        of.fail_at = 0;
        do {
            bool is_already = false;
            bool was_there;
            cg_err err;
            cg_code code;

            of.fail_at++;
            of.requests = of.failures = 0;
            of.is_persistent = round == 1;
            faults_arm(&self->faults, FAULT_NONE, 0, 0);
            self->env.allocator = &allocator;
            code = publish(self, &is_already, &err);
            self->env.allocator = NULL;
            was_there = is_there(self);
            assert_int_equal(of.live_bytes, 0);
            assert_int_equal(self->faults.open_files, 0);
            if (code != CG_OK && code != CG_NOMEM)
                fail_msg("request %llu: code %u: %s", (unsigned long long)of.fail_at, code,
                         err.text);
            assert_int_equal(was_there, code == CG_OK);
            expect_next_run_finishes(self, of.fail_at, was_there);
            clear(self);
        } while (of.failures > 0);
    }
    print_message("memory refused at each of %llu requests, once and from then on\n",
                  (unsigned long long)of.fail_at - 1);
    place_remove(self->root);
    test_free(self);
}

/* --- without renameat2 --- */

static int no_rename_new_at(void *context, int from_directory, const char *from, int to_directory,
                            const char *to)
{
    (void)context;
    (void)from_directory;
    (void)from;
    (void)to_directory;
    (void)to;
    errno = ENOSYS;
    return -1;
}

static void without_a_careful_rename_a_claim_is_made(void **state)
{
    scene *self = test_calloc(1, sizeof *self);
    bool is_already = true;
    cg_err err;

    (void)state;
    scene_begin(self, false);
    self->table.rename_new_at = no_rename_new_at;
    assert_int_equal(publish(self, &is_already, &err), CG_OK);
    assert_false(is_already);
    expect_complete(self);
    assert_int_equal(publish(self, &is_already, &err), CG_OK);
    assert_true(is_already);
    clear(self);
    place_remove(self->root);
    test_free(self);
}

/* --- a planned capture --- */

static cg_code begin(scene *self, uint64_t step, cg_capture **ret, cg_publication **ret_already,
                     cg_err *err)
{
    cg_capture_plan plan = {
        .size = sizeof plan,
        .entrypoint = "demo",
        .correlation_id = "demo/1",
        .device = "cpu",
        .capture_step = step,
        .is_train = true,
    };

    memset(err, 0, sizeof *err);
    return cg_capture_begin(&self->env, self->bundle, &plan, ret, ret_already, err);
}

/* The recorder of the observed program: it is not what is tested here. */
static void record(scene *self, const char *path)
{
    FILE *file = fopen(path, "wb");

    if (file == NULL ||
        fwrite(self->trace_text.text, 1, self->trace_text.len, file) != self->trace_text.len ||
        fclose(file) != 0)
        _exit(2);
}

static bool is_failed_scene;

static void capture_in_child(scene *self)
{
    cg_capture *planned = NULL;
    cg_publication *done = NULL;
    cg_err err;
    cg_code code;

    if (begin(self, 4, &planned, &done, &err) != CG_OK)
        _exit(3);
    if (planned == NULL)
        return;
    record(self, cg_capture_trace_path(planned));
    code = is_failed_scene ? cg_capture_publish_failed(planned, &done, &err)
                           : cg_capture_publish(planned, &done, &err);
    if (code != CG_OK)
        _exit(4);
    cg_publication_free(done);
    cg_capture_free(planned);
}

static void plan_trace(scene *self, bool is_failed)
{
    capture *text = &self->trace_text;
    const char *end =
        is_failed ? "{'kind':'terminal','outcome':'failed','reason':'x','timestamp_ns':1000}"
                  : "{'kind':'terminal','outcome':'complete','timestamp_ns':1000}";

    text->len = 0;
    capture_line(text,
                 "{'kind':'meta','schema':'candle-graph/trace/10','run_id':'r','correlation_id':"
                 "'demo/1','entrypoint':'demo','phase':'train','timestamp':'t','capture_step':4,"
                 "'warmup_steps':3,'device':'cpu','timing_mode':'host','capture_contract':{"
                 "'measurement_scope':'unknown','operations':'none','tensors':'none','gradients':"
                 "'none','logical_memory':'none','physical_memory':'none','device_timing':'none',"
                 "'required_semantic_labels':[]},'tags':{}}");
    capture_span(text, "s1", NULL, "root", 0, 1000);
    capture_measured(text, "s2", "s1", "step", 10, 900);
    capture_line(text, "%s", end);
}

static void killed_captures_are_done_again(bool is_failed)
{
    scene *self = test_calloc(1, sizeof *self);
    uint64_t at = 1;
    unsigned conflicts = 0;

    is_failed_scene = is_failed;
    scene_begin(self, false);
    plan_trace(self, is_failed);
    for (; !run_killed(self, at, capture_in_child); at++) {
        cg_capture *planned = NULL;
        cg_publication *already = NULL;
        bool was_there = is_there(self);
        cg_err err;

        if (was_there)
            expect_complete(self);
        faults_arm(&self->faults, FAULT_NONE, 0, 0);
        /* Again: it finishes, or finds it done. */
        assert_true(run_killed(self, UINT64_MAX, capture_in_child));
        expect_complete(self);
        /* Once more: done, and the trace of the dead run is gone if it is the published one. */
        assert_int_equal(begin(self, 4, &planned, &already, &err), CG_OK);
        assert_null(planned);
        assert_non_null(already);
        cg_publication_free(already);
        assert_int_equal(place_count_hidden(self->parent), 0);
        /* Another plan is a conflict, always. */
        assert_int_equal(begin(self, 5, &planned, &already, &err), CG_OUTPUT_REFUSED);
        assert_string_equal(err.problem, "bundle-conflict");
        assert_non_null(strstr(err.text, "capture_step"));
        conflicts++;
        assert_int_equal(self->faults.open_files, 0);
        clear(self);
    }
    print_message("captures: killed at each of %llu calls, %u conflicts refused\n",
                  (unsigned long long)at - 1, conflicts);
    assert_true(at > 50);
    place_remove(self->root);
    test_free(self);
}

static void a_killed_capture_is_done_again(void **state)
{
    (void)state;
    killed_captures_are_done_again(false);
}

static void a_killed_failed_capture_is_done_again(void **state)
{
    (void)state;
    killed_captures_are_done_again(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_before_any_call_it_is_absent_or_complete),
        cmocka_unit_test(killed_with_nsight_files_it_is_absent_or_complete),
        cmocka_unit_test(every_failure_is_survived),
        cmocka_unit_test(a_kernel_that_goes_on_failing_is_survived),
        cmocka_unit_test(every_request_for_memory_may_fail),
        cmocka_unit_test(without_a_careful_rename_a_claim_is_made),
        cmocka_unit_test(a_killed_capture_is_done_again),
        cmocka_unit_test(a_killed_failed_capture_is_done_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
