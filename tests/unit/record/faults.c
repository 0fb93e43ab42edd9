/*
 * Every system call of a recording fails once, and from then on. Whatever happens: no crash, no
 * descriptor and no part of a trace left over; a trace that is there is sound; where finish
 * reports that it could not write one, the spool gives it back.
 * ctest-timeout: 400
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "candlegraph/candlegraph.h"
#include "record/session.h"

static char folder[64];
static char path[128];

typedef struct faults {
    _Atomic long at; /* the call that fails, counted down; 0: none */
    _Atomic long calls;
    _Atomic int has_failed;
    bool is_persistent;
    int error;
} faults;

static faults plan;

static bool fails(void)
{
    long number = atomic_fetch_add(&plan.calls, 1) + 1;
    long at = atomic_load(&plan.at);

    if (at != 0 && (number == at || (plan.is_persistent && number > at))) {
        atomic_store(&plan.has_failed, 1);
        errno = plan.error;
        return true;
    }
    return false;
}

#define KERNEL (&rec_sys_kernel)

static int f_open(void *c, const char *name, int flags, unsigned mode)
{
    return fails() ? -1 : KERNEL->open(c, name, flags, mode);
}
static int f_close(void *c, int file)
{
    bool is_failing = fails();
    int answer = KERNEL->close(c, file); /* a failing close closes */

    return is_failing ? (errno = plan.error, -1) : answer;
}
static int64_t f_write_at(void *c, int file, const void *from, size_t count, uint64_t at)
{
    if (fails()) {
        if (plan.error == EINTR && count > 1) {
            return KERNEL->write_at(c, file, from, count / 2, at); /* a short write */
        }
        return -1;
    }
    return KERNEL->write_at(c, file, from, count, at);
}
static int64_t f_read_at(void *c, int file, void *to, size_t count, uint64_t at)
{
    return fails() ? -1 : KERNEL->read_at(c, file, to, count, at);
}
static int f_allocate(void *c, int file, uint64_t at, uint64_t count)
{
    return fails() ? plan.error : KERNEL->allocate(c, file, at, count);
}
static int f_take_ahead(void *c, int file, uint64_t at, uint64_t count)
{
    return fails() ? plan.error : KERNEL->take_ahead(c, file, at, count);
}
static void *f_map(void *c, void *at, size_t count, int protection, int flags, int file,
                   uint64_t offset)
{
    return fails() ? MAP_FAILED : KERNEL->map(c, at, count, protection, flags, file, offset);
}
static int f_truncate(void *c, int file, uint64_t size)
{
    return fails() ? -1 : KERNEL->truncate(c, file, size);
}
static int f_sync(void *c, int file)
{
    return fails() ? -1 : KERNEL->sync(c, file);
}
static int f_rename(void *c, const char *from, const char *to)
{
    return fails() ? -1 : KERNEL->rename(c, from, to);
}
static int f_unlink(void *c, const char *name)
{
    return KERNEL->unlink(c, name); /* what cannot be removed stays: nothing to test */
}
static int f_mkdir(void *c, const char *name, unsigned mode)
{
    return fails() ? -1 : KERNEL->mkdir(c, name, mode);
}
static int f_lock(void *c, int file)
{
    return fails() ? -1 : KERNEL->lock(c, file);
}
static int f_thread(void *c, pthread_t *ret, void *(*run)(void *), void *argument)
{
    return fails() ? plan.error : KERNEL->thread(c, ret, run, argument);
}

static const rec_sys faulty = {.open = f_open,
                               .close = f_close,
                               .write_at = f_write_at,
                               .read_at = f_read_at,
                               .allocate = f_allocate,
                               .take_ahead = f_take_ahead,
                               .map = f_map,
                               .truncate = f_truncate,
                               .sync = f_sync,
                               .rename = f_rename,
                               .unlink = f_unlink,
                               .mkdir = f_mkdir,
                               .lock = f_lock,
                               .thread = f_thread};

static unsigned count_entries(const char *name)
{
    DIR *open = opendir(name);
    unsigned count = 0;

    if (open == NULL) {
        return 0;
    }
    while (readdir(open) != NULL) {
        count++;
    }
    closedir(open);
    return count;
}

static bool exists(const char *end)
{
    char name[200];
    struct stat info;

    snprintf(name, sizeof name, "%s%s", path, end);
    return stat(name, &info) == 0;
}

static void discard(const char *end)
{
    char name[200];

    snprintf(name, sizeof name, "%s%s", path, end);
    unlink(name);
}

static void *record_some(void *session)
{
    cg_record_name name = cg_record_intern(session, "work");

    for (int i = 0; i < 4000; i++) {
        cg_record_span span = cg_record_span_begin(session, name, CG_RECORD_FUNCTION);

        cg_record_scalar(session, span, name, i);
        cg_record_span_end(session, span);
    }
    return NULL;
}

static void must_be_sound(const char *name)
{
    cg_env env = {.size = sizeof env};
    cg_run_facts facts = {.size = sizeof facts};
    cg_run *run = NULL;
    cg_err err = {0};

    if (cg_run_open(&env, name, &run, &err) != CG_OK) {
        fail_msg("call %ld, %s: %s", plan.at, strerror(plan.error), err.text);
    }
    cg_run_facts_of(run, &facts);
    if (!facts.is_structurally_valid) {
        fail_msg("call %ld, %s: not sound", plan.at, strerror(plan.error));
    }
    cg_run_free(run);
}

/* The spool of a session that could not write its trace. */
static void must_recover(void)
{
    cg_record_recovery account = {.size = sizeof account};
    char spool_name[200];
    char output[200];
    cg_err err = {0};

    snprintf(spool_name, sizeof spool_name, "%s.spool", path);
    snprintf(output, sizeof output, "%s.recovered", path);
    if (cg_record_recover(spool_name, output, &account, &err) != CG_OK) {
        fail_msg("call %ld, %s: %s", plan.at, strerror(plan.error), err.text);
    }
    assert_false(account.is_cut);
    cg_record_recovery_free(&account);
    must_be_sound(output);
    unlink(output);
}

/* False: the plan lies behind the last call. */
static bool one_run(long at, int error, bool is_persistent, uint32_t full_ring)
{
    cg_record_run run;
    cg_record_options options = {.size = sizeof options, .ring_bytes = 1, .full_ring = full_ring};
    cg_record *session = NULL;
    cg_err err = {0};
    pthread_t other;
    unsigned open_files = count_entries("/proc/self/fd");

    plan.error = error;
    plan.is_persistent = is_persistent;
    plan.calls = 0;
    plan.has_failed = 0;
    plan.at = at;
    cg_record_run_training(&run, "faults::train", 1, "cpu");
    cg_code code = session_open(path, &run, &options, &faulty, &session, &err);
    if (code != CG_OK) {
        assert_null(session);
        assert_true(err.text[0] != '\0');
        assert_false(exists(".spool"));
    } else {
        cg_record_span region =
            cg_record_measure_begin(session, cg_record_intern(session, "region"));

        assert_int_equal(pthread_create(&other, NULL, record_some, session), 0);
        record_some(session);
        pthread_join(other, NULL);
        cg_record_flush(session, NULL);
        cg_record_span_end(session, region);
        code = cg_record_finish(session, NULL, &err);
        if (code == CG_OUTPUT || code == CG_NOMEM) {
            assert_true(exists(".spool"));
            must_recover();
        } else {
            assert_true(code == CG_OK || code == CG_USAGE);
            assert_false(exists(".spool"));
            must_be_sound(path);
        }
    }
    assert_false(exists(".part"));
    discard("");
    discard(".spool");
    assert_int_equal(count_entries("/proc/self/fd"), open_files);
    return plan.has_failed != 0;
}

static void sweep(bool is_persistent)
{
    static const int errors[] = {EIO, ENOSPC, EDQUOT, EINTR, EMFILE, EACCES, EROFS, ENOMEM};

    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        long at = 1;

        if (errors[i] == EINTR && is_persistent) {
            continue; /* a call that is interrupted for ever never returns, and none is */
        }
        uint32_t full_ring = i % 2 == 0 ? CG_RECORD_WAIT : CG_RECORD_DROP;

        while (one_run(at, errors[i], is_persistent, full_ring)) {
            at++;
        }
        assert_true(at > 15);
    }
}

static void each_call_fails_once(void **state)
{
    (void)state;
    sweep(false);
}

static void each_call_fails_from_then_on(void **state)
{
    (void)state;
    sweep(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_fails_once),
        cmocka_unit_test(each_call_fails_from_then_on),
    };

    snprintf(folder, sizeof folder, "/tmp/cg-faults-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    snprintf(path, sizeof path, "%s/run.jsonl", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
