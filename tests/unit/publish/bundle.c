/* What verification refuses, by its stable id, and what it promises about what is read later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "publish/bundle.h"
#include "support/faults.h"
#include "support/published.h"

#include <cmocka.h>

static int setup(void **state)
{
    static published self;

    published_begin(&self, true);
    *state = &self;
    return 0;
}

static int teardown(void **state)
{
    published_end(*state);
    return 0;
}

static void expect(void **state, const char *problem)
{
    assert_string_equal(published_problem(*state, CG_VERIFY_BYTES), problem);
    /* No depth accepts what the bytes do not allow. */
    if (*problem != '\0')
        assert_string_equal(published_problem(*state, CG_VERIFY_SEMANTIC), problem);
}

static void as_published_it_is_accepted_at_every_depth(void **state)
{
    assert_string_equal(published_problem(*state, CG_VERIFY_BYTES), "");
    assert_string_equal(published_problem(*state, CG_VERIFY_SEMANTIC), "");
    assert_string_equal(published_problem(*state, CG_VERIFY_STRICT), "");
}

static void a_link_to_the_root_is_followed(void **state)
{
    published *self = *state;
    char link[400];

    snprintf(link, sizeof link, "%s/l", self->root);
    assert_int_equal(symlink(self->bundle, link), 0);
    memcpy(self->bundle, link, strlen(link) + 1);
    expect(state, "");
}

static void a_missing_manifest_is_told(void **state)
{
    unlink(published_path(*state, "bundle.json"));
    expect(state, "bundle-no-manifest");
}

static void a_manifest_that_is_a_link_is_refused(void **state)
{
    published *self = *state;
    char aside[400];

    snprintf(aside, sizeof aside, "%s/aside", self->root);
    assert_int_equal(rename(published_path(self, "bundle.json"), aside), 0);
    assert_int_equal(symlink(aside, published_path(self, "bundle.json")), 0);
    expect(state, "bundle-link");
}

static void a_huge_manifest_is_not_even_read(void **state)
{
    assert_int_equal(truncate(published_path(*state, "bundle.json"), (off_t)3 << 30), 0);
    expect(state, "limit");
}

static void a_huge_file_is_not_even_hashed(void **state)
{
    assert_int_equal(truncate(published_path(*state, "report.md"), (off_t)3 << 30), 0);
    expect(state, "bundle-size");
}

static void undeclared_things_are_refused(void **state)
{
    published *self = *state;

    published_write(self, "notes.txt", "x");
    expect(state, "bundle-undeclared-file");
    unlink(published_path(self, "notes.txt"));
    assert_int_equal(mkdir(published_path(self, "empty"), 0777), 0);
    expect(state, "bundle-undeclared-directory");
    rmdir(published_path(self, "empty"));
    published_write(self, "nsight/extra", "x");
    expect(state, "bundle-undeclared-file");
    unlink(published_path(self, "nsight/extra"));
    published_write(self, "nsight/bundle.json", "{}");
    expect(state, "bundle-undeclared-file");
}

static void links_and_special_files_are_refused_anywhere(void **state)
{
    published *self = *state;

    assert_int_equal(symlink("trace.jsonl", published_path(self, "nsight/z")), 0);
    expect(state, "bundle-link");
    unlink(published_path(self, "nsight/z"));
    assert_int_equal(mkfifo(published_path(self, "z"), 0666), 0);
    expect(state, "bundle-special-file");
}

static void changed_missing_and_swapped_files_are_refused(void **state)
{
    published *self = *state;

    published_replace(self, "trace.jsonl", "root", "rooT");
    expect(state, "bundle-digest");
    published_replace(self, "trace.jsonl", "rooT", "root");
    published_replace(self, "report.md", "#", "##");
    expect(state, "bundle-size");
    unlink(published_path(self, "report.md"));
    expect(state, "bundle-missing-file");
}

static void another_run_id_is_refused(void **state)
{
    published_replace(*state, "bundle.json", "\"run_id\": \"r\"", "\"run_id\": \"s\"");
    expect(state, "bundle-run-id");
}

static void a_broken_trace_is_what_semantic_finds(void **state)
{
    published_replace(*state, "trace.jsonl", "\"terminal\"", "\"terminals\"");
    published_rehash(*state, "trace.jsonl");
    assert_string_equal(published_problem(*state, CG_VERIFY_BYTES), "");
    assert_string_equal(published_problem(*state, CG_VERIFY_SEMANTIC), "trace-unknown-kind");
}

static void without_a_trace_it_is_no_bundle(void **state)
{
    unlink(published_path(*state, "trace.jsonl"));
    published_replace(*state, "bundle.json", "trace.jsonl", "trace.json");
    published_write(*state, "trace.json", "{}");
    expect(state, "bundle-incomplete");
}

static void what_changes_while_it_is_read_is_noticed(void **state)
{
    static const char *const names[] = {"trace.jsonl", "evidence.json", "bundle.json",
                                        "nsight/r_cuda_gpu_kern_sum.csv"};
    published *self = *state;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        bundle *open = NULL;
        cg_err err = {0};

        assert_int_equal(bundle_open(NULL, str_from(self->bundle), &open, &err), CG_OK);
        assert_int_equal(bundle_recheck(open, &err), CG_OK);
        published_replace(self, names[i], "s", "s");
        /* The same bytes again, but somebody has written: that counts. */
        assert_int_equal(bundle_recheck(open, &err), CG_INPUT);
        assert_string_equal(err.problem, "input-changed");
        bundle_free(open);
    }
}

static void what_was_verified_is_what_is_read(void **state)
{
    published *self = *state;
    char aside[400];
    bundle *open = NULL;
    buf text;

    assert_int_equal(bundle_open(NULL, str_from(self->bundle), &open, NULL), CG_OK);
    /* The whole root is exchanged: the open one stays the one that was verified. */
    snprintf(aside, sizeof aside, "%s/aside", self->root);
    assert_int_equal(rename(self->bundle, aside), 0);
    assert_int_equal(mkdir(self->bundle, 0777), 0);
    published_write(self, "evidence.json", "{}");
    buf_init(&text, &open->heap, SIZE_MAX);
    assert_int_equal(bundle_read(open, MEMBER_EVIDENCE, &text, NULL), CG_OK);
    assert_true(text.len > 100);
    buf_free(&text);
    bundle_free(open);
}

static void large_files_are_hashed_in_parallel_with_the_same_verdict(void **state)
{
    published *self = *state;
    char *block = test_malloc((size_t)6 << 20);
    cg_publish_request request = {
        .size = sizeof request, .trace_path = self->trace, .nsight_directory = self->nsight};
    cg_publication *done = NULL;

    memset(block, 'x', (size_t)6 << 20);
    for (int i = 0; i < 5; i++) {
        char name[32];

        snprintf(name, sizeof name, "big-%d.nsys-rep", i);
        place_write(self->nsight, name, block, (size_t)6 << 20);
    }
    snprintf(self->bundle, sizeof self->bundle, "%s/big", self->root);
    request.bundle_path = self->bundle;
    assert_int_equal(cg_publish(NULL, &request, &done, NULL), CG_OK);
    cg_publication_free(done);
    expect(state, "");
    block[3 << 20] = 'y';
    place_write(self->bundle, "nsight/big-3.nsys-rep", block, (size_t)6 << 20);
    assert_string_equal(published_problem(self, CG_VERIFY_BYTES), "bundle-digest");
    test_free(block);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(as_published_it_is_accepted_at_every_depth),
        TEST(a_link_to_the_root_is_followed),
        TEST(a_missing_manifest_is_told),
        TEST(a_manifest_that_is_a_link_is_refused),
        TEST(a_huge_manifest_is_not_even_read),
        TEST(a_huge_file_is_not_even_hashed),
        TEST(undeclared_things_are_refused),
        TEST(links_and_special_files_are_refused_anywhere),
        TEST(changed_missing_and_swapped_files_are_refused),
        TEST(another_run_id_is_refused),
        TEST(a_broken_trace_is_what_semantic_finds),
        TEST(without_a_trace_it_is_no_bundle),
        TEST(what_changes_while_it_is_read_is_noticed),
        TEST(what_was_verified_is_what_is_read),
        TEST(large_files_are_hashed_in_parallel_with_the_same_verdict),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
