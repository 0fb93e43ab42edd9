/* A run of a bundle is read once and hashed while it is read; what is told is what verify tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare/source.h"
#include "support/faults.h"
#include "support/published.h"

#include <cmocka.h>

static int setup(void **state)
{
    static published self;

    published_begin(&self, false);
    *state = &self;
    return 0;
}

static int teardown(void **state)
{
    published_end(*state);
    return 0;
}

static void expect_of(const cg_env *env, published *self, const char *problem, const char *part)
{
    source from = {0};
    cg_err err = {0};
    cg_code code = source_open_bundle(env, str_from(self->bundle), &from, &err);

    if (code == CG_OK)
        source_close(&from);
    assert_string_equal(err.problem != NULL ? err.problem : "", problem);
    if (strstr(err.text, part) == NULL)
        fail_msg("`%s` does not say `%s`", err.text, part);
}

static void expect(void **state, const char *problem, const char *part)
{
    expect_of(NULL, *state, problem, part);
    /* Verification tells the same, unless it is only the reader of traces who can tell. */
    if (strncmp(problem, "trace-", 6) != 0)
        assert_string_equal(published_problem(*state, CG_VERIFY_BYTES), problem);
}

static void a_run_is_there_with_its_manifest(void **state)
{
    published *self = *state;
    source from;

    assert_int_equal(source_open_bundle(NULL, str_from(self->bundle), &from, NULL), CG_OK);
    assert_int_equal(source_manifest(&from).len, DIGEST_HEX);
    assert_true(from.is_judged && source_has_one_sample(&from));
    assert_true(from.sample_ns.is_set && from.sample_ns.value == 900);
    source_close(&from);
}

static void a_changed_trace_is_a_digest_whether_it_reads_or_not(void **state)
{
    published_replace(*state, "trace.jsonl", "root", "rooT");
    expect(state, "bundle-digest", "trace.jsonl");
    published_replace(*state, "trace.jsonl", "{", "[");
    expect(state, "bundle-digest", "trace.jsonl");
}

static void the_first_file_by_path_is_named(void **state)
{
    published_replace(*state, "trace.jsonl", "root", "rooT");
    published_replace(*state, "report.md", "#", "=");
    expect(state, "bundle-digest", "report.md");
    published_replace(*state, "report.md", "=", "#");
    published_replace(*state, "viewer.html", "<", "(");
    expect(state, "bundle-digest", "trace.jsonl");
    published_replace(*state, "trace.jsonl", "rooT", "root");
    expect(state, "bundle-digest", "viewer.html");
}

static void a_trace_as_declared_that_does_not_read_is_told_by_its_reader(void **state)
{
    published_replace(*state, "trace.jsonl", "\"terminal\"", "\"terminals\"");
    published_rehash(*state, "trace.jsonl");
    expect(state, "trace-unknown-kind", "terminals");
}

static void the_run_is_that_of_the_manifest(void **state)
{
    published_replace(*state, "bundle.json", "\"run_id\": \"r\"", "\"run_id\": \"s\"");
    expect(state, "bundle-run-id", "`s`");
    published_replace(*state, "trace.jsonl", "{", "[");
    published_rehash(*state, "trace.jsonl");
    expect(state, "bundle-run-id", "first record");
}

/* --- a kernel that counts bytes, or changes one on the way --- */

typedef struct counting {
    os_calls calls;
    const os_calls *below;
    uint64_t bytes;
    uint64_t size;     /* of the trace */
    bool is_first_bad; /* the first reading of the trace arrives changed */
} counting;

static int64_t count_read(void *context, int file, void *to, size_t count)
{
    counting *self = context;
    int64_t got = self->below->read(self->below->context, file, to, count);
    char *text = to;

    if (got > 0)
        self->bytes += (uint64_t)got;
    if (self->is_first_bad && got > 0 && (uint64_t)got == self->size) {
        char *at = strstr(text, "\"root\"");

        assert_non_null(at);
        at[1] = 'R';
        self->is_first_bad = false;
    }
    return got;
}

static cg_env counting_env(counting *self)
{
    *self = (counting){.below = os_of(NULL)};
    self->calls = *self->below;
    self->calls.context = self;
    self->calls.read = count_read;
    return (cg_env){.size = sizeof(cg_env), .os = &self->calls};
}

static void every_byte_is_read_once(void **state)
{
    published *self = *state;
    counting kernel;
    cg_env env = counting_env(&kernel);
    source from;

    assert_int_equal(source_open_bundle(&env, str_from(self->bundle), &from, NULL), CG_OK);
    assert_int_equal(kernel.bytes, from.bundle->bytes + from.bundle->pinned[MEMBER_MANIFEST].size);
    source_close(&from);
}

static void bytes_that_were_not_those_on_disk_are_noticed(void **state)
{
    published *self = *state;
    counting kernel;
    cg_env env = counting_env(&kernel);
    source from;

    assert_int_equal(source_open_bundle(&env, str_from(self->bundle), &from, NULL), CG_OK);
    kernel.size = from.bundle->pinned[MEMBER_TRACE].size;
    source_close(&from);
    kernel.is_first_bad = true;
    expect_of(&env, self, "input-changed", "trace.jsonl");
    assert_false(kernel.is_first_bad);
    expect_of(&env, self, "", "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_run_is_there_with_its_manifest),
        TEST(a_changed_trace_is_a_digest_whether_it_reads_or_not),
        TEST(the_first_file_by_path_is_named),
        TEST(a_trace_as_declared_that_does_not_read_is_told_by_its_reader),
        TEST(the_run_is_that_of_the_manifest),
        TEST(every_byte_is_read_once),
        TEST(bytes_that_were_not_those_on_disk_are_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
