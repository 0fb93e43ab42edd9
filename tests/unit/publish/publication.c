/* Publishing: where to, what from, what is refused before anything is written. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

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

/* "published", "already", or the problem. */
static const char *publish(const char *trace, const char *nsight, const char *bundle,
                           const char *receipt)
{
    static cg_err err;
    cg_publish_request request = {.size = sizeof request,
                                  .trace_path = trace,
                                  .nsight_directory = nsight,
                                  .bundle_path = bundle,
                                  .receipt_path = receipt};
    cg_publication_facts facts = {.size = sizeof facts};
    cg_publication *done = NULL;

    memset(&err, 0, sizeof err);
    if (cg_publish(NULL, &request, &done, &err) != CG_OK)
        return err.problem;
    cg_publication_facts_of(done, &facts);
    cg_publication_free(done);
    return facts.is_already_published ? "already" : "published";
}

static const char *below(const published *self, const char *name)
{
    static char paths[4][400];
    static unsigned at;
    char *path = paths[at++ % 4];

    snprintf(path, 400, "%s/%s", self->root, name);
    return path;
}

static void a_repetition_finds_it_done(void **state)
{
    published *self = *state;

    assert_string_equal(publish(self->trace, NULL, self->bundle, NULL), "already");
    assert_int_equal(place_count_hidden(self->root), 0);
}

static void other_inputs_are_a_conflict(void **state)
{
    published *self = *state;

    assert_string_equal(publish(self->trace, self->nsight, self->bundle, NULL), "bundle-conflict");
    assert_string_equal(publish(published_path(self, "report.md"), NULL, self->bundle, NULL),
                        "bundle-conflict");
    assert_int_equal(mkdir(below(self, "plain"), 0777), 0);
    assert_string_equal(publish(self->trace, NULL, below(self, "plain"), NULL), "bundle-conflict");
    place_write(self->root, "file", "x", 1);
    assert_string_equal(publish(self->trace, NULL, below(self, "file"), NULL), "bundle-conflict");
    assert_int_equal(symlink("nowhere", below(self, "dangling")), 0);
    assert_string_equal(publish(self->trace, NULL, below(self, "dangling"), NULL),
                        "bundle-conflict");
}

static void a_damaged_bundle_is_never_replaced(void **state)
{
    published *self = *state;

    published_replace(self, "report.md", "#", "%");
    assert_string_equal(publish(self->trace, NULL, self->bundle, NULL), "bundle-conflict");
    assert_string_equal(published_problem(self, CG_VERIFY_BYTES), "bundle-digest");
}

static void a_bare_name_and_slashes_behind_it_work(void **state)
{
    published *self = *state;
    char before[1024];

    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(self->root), 0);
    assert_string_equal(publish("t.jsonl", NULL, "bare", NULL), "published");
    assert_string_equal(publish("t.jsonl", NULL, "bare///", NULL), "already");
    assert_string_equal(publish("t.jsonl", NULL, "./new//dir/x/", NULL), "published");
    assert_string_equal(publish("t.jsonl", NULL, ".", NULL), "output-name");
    assert_string_equal(publish("t.jsonl", NULL, "new/..", NULL), "output-name");
    assert_int_equal(chdir(before), 0);
}

static void a_name_as_long_as_the_kernel_allows_works(void **state)
{
    published *self = *state;
    char name[256];

    memset(name, 'n', 255);
    name[255] = '\0';
    assert_string_equal(publish(self->trace, NULL, below(self, name), NULL), "published");
    assert_int_equal(place_count_hidden(self->root), 0);
}

static void nothing_is_written_inside_a_bundle(void **state)
{
    published *self = *state;

    assert_string_equal(publish(self->trace, NULL, published_path(self, "x/y"), NULL),
                        "output-in-bundle");
    assert_string_equal(publish(self->trace, NULL, below(self, "c"), below(self, "c/r.json")),
                        "output-in-bundle");
    assert_string_equal(publish(self->trace, NULL, below(self, "d/c"), below(self, "d/x/../c/r")),
                        "output-in-bundle");
    assert_string_equal(publish(self->trace, NULL, below(self, "c"), below(self, "c")),
                        "output-in-bundle");
    assert_string_equal(
        publish(self->trace, NULL, below(self, "c"), published_path(self, "r.json")),
        "output-in-bundle");
    assert_string_equal(publish(self->trace, NULL, below(self, "c"), self->trace),
                        "output-is-input");
    assert_int_equal(symlink(self->trace, below(self, "link")), 0);
    assert_string_equal(publish(self->trace, NULL, below(self, "c"), below(self, "link")),
                        "output-is-input");
    assert_int_equal(symlink(published_path(self, "report.md"), below(self, "other")), 0);
    assert_string_equal(publish(self->trace, NULL, below(self, "c"), below(self, "other")),
                        "output-through-link");
    assert_string_equal(publish(self->trace, NULL, below(self, "c"), self->nsight), "output");
    assert_false(place_exists(self->root, "c"));
    assert_false(place_exists(self->root, "d"));
}

static void a_refused_trace_leaves_nothing(void **state)
{
    published *self = *state;

    place_write(self->root, "bad.jsonl", "[]\n", 3);
    assert_string_equal(publish(below(self, "bad.jsonl"), NULL, below(self, "a/b/c"), NULL),
                        "trace-record");
    assert_string_equal(publish(below(self, "none"), NULL, below(self, "a/b/c"), NULL),
                        "input-missing");
    assert_false(place_exists(self->root, "a"));
}

static void an_nsight_directory_holds_regular_files_only(void **state)
{
    published *self = *state;
    const char *to = below(self, "c");

    assert_string_equal(publish(self->trace, below(self, "none"), to, NULL), "input-missing");
    assert_int_equal(mkdir(below(self, "n/sub"), 0777), 0);
    assert_string_equal(publish(self->trace, self->nsight, to, NULL), "nsight-directory-entry");
    assert_int_equal(rmdir(below(self, "n/sub")), 0);
    assert_int_equal(symlink(self->trace, below(self, "n/l.csv")), 0);
    assert_string_equal(publish(self->trace, self->nsight, to, NULL), "nsight-directory-entry");
    assert_int_equal(unlink(below(self, "n/l.csv")), 0);
    assert_int_equal(mkdir(below(self, "empty"), 0777), 0);
    assert_string_equal(publish(self->trace, below(self, "empty"), to, NULL),
                        "nsight-directory-empty");
    assert_false(place_exists(self->root, "c"));
    assert_string_equal(publish(self->trace, self->nsight, to, NULL), "published");
}

static void staging_of_the_living_is_left_alone(void **state)
{
    published *self = *state;
    const char *living = below(self, ".c.staging-1-0123456789abcdef");
    int lock;

    assert_int_equal(mkdir(living, 0777), 0);
    lock = open(living, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    /* Not of this destination, or of no publication at all. */
    assert_int_equal(mkdir(below(self, ".c.staging-1-0123456789abcdeg"), 0777), 0);
    assert_int_equal(mkdir(below(self, ".d.staging-1-0123456789abcdef"), 0777), 0);
    assert_string_equal(publish(self->trace, NULL, below(self, "c"), NULL), "published");
    assert_int_equal(place_count_hidden(self->root), 3);
    close(lock);
    assert_string_equal(publish(self->trace, NULL, below(self, "c"), NULL), "already");
    assert_int_equal(place_count_hidden(self->root), 2);
}

/* --- planned captures --- */

static cg_code begin(const char *bundle, const char *entrypoint, cg_capture **ret,
                     cg_publication **ret_already, cg_err *err)
{
    cg_capture_plan plan = {.size = sizeof plan,
                            .entrypoint = entrypoint,
                            .correlation_id = "c",
                            .device = "cpu",
                            .capture_step = 1};

    memset(err, 0, sizeof *err);
    *ret = NULL;
    *ret_already = NULL;
    return cg_capture_begin(NULL, bundle, &plan, ret, ret_already, err);
}

static void copy(const char *from, const char *to)
{
    static char text[1 << 16];
    FILE *in = fopen(from, "rb");
    FILE *out = fopen(to, "wb");
    size_t count = fread(text, 1, sizeof text, in);

    assert_int_equal(fwrite(text, 1, count, out), count);
    fclose(in);
    fclose(out);
}

static void a_planned_capture_is_published_once(void **state)
{
    published *self = *state;
    cg_capture *planned;
    cg_publication *done;
    cg_publication_facts facts = {.size = sizeof facts};
    cg_err err;

    assert_int_equal(begin(below(self, "p/c"), "e", &planned, &done, &err), CG_OK);
    assert_non_null(planned);
    assert_null(done);
    copy(self->trace, cg_capture_trace_path(planned));
    assert_int_equal(cg_capture_set_nsight(planned, self->nsight, &err), CG_OK);
    assert_int_equal(cg_capture_publish(planned, &done, &err), CG_OK);
    cg_publication_facts_of(done, &facts);
    assert_false(facts.is_already_published);
    assert_true(facts.file_count >= 4);
    cg_publication_free(done);
    cg_capture_free(planned);
    assert_int_equal(place_count_hidden(below(self, "p")), 0);

    assert_int_equal(begin(below(self, "p/c"), "e", &planned, &done, &err), CG_OK);
    assert_null(planned);
    cg_publication_facts_of(done, &facts);
    assert_true(facts.is_already_published);
    cg_publication_free(done);

    assert_int_equal(begin(below(self, "p/c"), "f", &planned, &done, &err), CG_OUTPUT_REFUSED);
    assert_string_equal(err.problem, "bundle-conflict");
    assert_non_null(strstr(err.text, "entrypoint"));
    assert_int_equal(begin(self->nsight, "e", &planned, &done, &err), CG_OUTPUT_REFUSED);
    assert_int_equal(begin(published_path(self, "x"), "e", &planned, &done, &err),
                     CG_OUTPUT_REFUSED);
    assert_string_equal(err.problem, "output-in-bundle");
}

static void a_trace_of_another_plan_or_outcome_stays_where_it_is(void **state)
{
    published *self = *state;
    cg_capture *planned;
    cg_publication *done;
    cg_err err;

    assert_int_equal(begin(below(self, "c"), "other", &planned, &done, &err), CG_OK);
    copy(self->trace, cg_capture_trace_path(planned));
    assert_int_equal(cg_capture_publish(planned, &done, &err), CG_INPUT);
    assert_string_equal(err.problem, "capture-other-plan");
    cg_capture_free(planned);

    assert_int_equal(begin(below(self, "c"), "e", &planned, &done, &err), CG_OK);
    memset(&err, 0, sizeof err);
    assert_int_equal(cg_capture_publish(planned, &done, &err), CG_NOT_FOUND);
    copy(self->trace, cg_capture_trace_path(planned));
    memset(&err, 0, sizeof err);
    assert_int_equal(cg_capture_publish_failed(planned, &done, &err), CG_INPUT);
    assert_string_equal(err.problem, "capture-outcome");
    assert_false(place_exists(self->root, "c"));
    assert_int_equal(place_count_hidden(self->root), 2);
    assert_int_equal(cg_capture_publish(planned, &done, NULL), CG_OK);
    cg_publication_free(done);
    cg_capture_free(planned);
    assert_int_equal(place_count_hidden(self->root), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_repetition_finds_it_done),
        TEST(other_inputs_are_a_conflict),
        TEST(a_damaged_bundle_is_never_replaced),
        TEST(a_bare_name_and_slashes_behind_it_work),
        TEST(a_name_as_long_as_the_kernel_allows_works),
        TEST(nothing_is_written_inside_a_bundle),
        TEST(a_refused_trace_leaves_nothing),
        TEST(an_nsight_directory_holds_regular_files_only),
        TEST(staging_of_the_living_is_left_alone),
        TEST(a_planned_capture_is_published_once),
        TEST(a_trace_of_another_plan_or_outcome_stays_where_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
