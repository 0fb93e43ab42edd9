/*
 * Every call to the kernel fails once, with each of the usual reasons, and all
 * from one on: while a trace is opened and while an output is written. No
 * descriptor stays open, no temporary file stays behind, and the target is what
 * it was before or, when the call said so, complete.
 *
 * ctest-timeout: 120
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "candlegraph/candlegraph.h"
#include "support/capture.h"
#include "support/complaint.h"
#include "support/faults.h"

#include <cmocka.h>

/* EINTR for ever is no kernel's answer: it is tried once only. */
static const int errors[] = {EIO, ENOSPC, EDQUOT, EMFILE, EACCES, EROFS, EINTR};

#define ERRORS (sizeof errors / sizeof errors[0])

/* --- a directory to work in --- */

static char directory[512];

static int make_directory(void **state)
{
    const char *base = getenv("TMPDIR");

    (void)state;
    snprintf(directory, sizeof directory, "%s/cg-syscalls-XXXXXX",
             base != NULL && base[0] != '\0' ? base : "/tmp");
    return mkdtemp(directory) == NULL ? -1 : 0;
}

static int remove_directory(void **state)
{
    (void)state;
    return rmdir(directory);
}

static const char *in_directory(char ret[600], const char *name)
{
    snprintf(ret, 600, "%s/%s", directory, name);
    return ret;
}

/* Remove what lies in a directory below ours (no directories); the number of hidden files. */
static unsigned sweep(const char *name)
{
    char path[600];
    DIR *dir = opendir(in_directory(path, name));
    unsigned hidden = 0;

    if (dir == NULL)
        return 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char file[1200];

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        hidden += entry->d_name[0] == '.';
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        unlink(file);
    }
    closedir(dir);
    return hidden;
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* --- opening a trace --- */

static void expect_opening(const cg_env *env, faults *kernel, const char *path)
{
    cg_err err = {0};
    cg_run *run = NULL;
    cg_code code = cg_run_open(env, path, &run, &err);

    if (kernel->open_files != 0)
        fail_msg("open, call %" PRIu64 " (%s, %s): %d descriptors left", kernel->at, kernel->failed,
                 strerror(kernel->error), kernel->open_files);
    if (code == CG_OK) {
        cg_run_facts facts = {.size = sizeof facts};

        cg_run_facts_of(run, &facts);
        assert_int_equal(facts.span_count, 1);
        cg_run_free(run);
        return;
    }
    if (kernel->failures == 0 || code != CG_NOT_FOUND || err.code != code || err.text[0] == '\0')
        fail_msg("open, call %" PRIu64 " (%s, %s): %s (%s)", kernel->at, kernel->failed,
                 strerror(kernel->error), cg_code_name(code), err.text);
}

static void opening_survives_every_refusal(void **state)
{
    static capture c;
    faults kernel;
    const os_calls calls = faults_table(&kernel);
    const cg_env env = {.size = sizeof env, .os = &calls};
    char file[600];
    char path[600];

    (void)state;
    capture_begin(&c);
    capture_measured(&c, "s1", NULL, "root", 0, 100);
    capture_line(&c, "{'kind':'terminal','outcome':'complete','timestamp_ns':100}");
    c.text[c.len] = '\0';
    put(in_directory(file, "trace.jsonl"), c.text);
    for (int as_directory = 0; as_directory < 2; as_directory++) {
        in_directory(path, as_directory ? "" : "trace.jsonl");
        for (size_t e = 0; e < ERRORS; e++) {
            for (int is_persistent = 0; is_persistent < (errors[e] == EINTR ? 1 : 2);
                 is_persistent++) {
                uint64_t k = 0;

                do {
                    faults_arm(&kernel, is_persistent != 0 ? FAULT_ERRORS : FAULT_ERROR, ++k,
                               errors[e]);
                    expect_opening(&env, &kernel, path);
                } while (kernel.failures > 0);
            }
        }
        faults_arm(&kernel, FAULT_SHORTS, 0, 0);
        expect_opening(&env, &kernel, path);
    }
    sweep("");
}

/* --- writing an output --- */

typedef struct target {
    const char *name;
    bool is_there;     /* before */
    bool is_forbidden; /* an input, or inside a bundle: never to be written */
    const char *input;
    const char *manifest;
} target;

static const target targets[] = {
    {"out.json", false, false, NULL, NULL},
    {"out.json", true, false, NULL, NULL},
    {"a/b/out.json", false, false, NULL, NULL},
    {"out.json", true, true, "out.json", NULL},
    {"out.json", true, true, NULL, "bundle.json"},
    {"a/b/out.json", false, true, NULL, "bundle.json"},
};

#define OLD_TEXT "what was there before"
#define PIECES   50
#define PIECE    "0123456789 a piece of the new text\n"

static cg_code write_output(const cg_env *env, const char *path, const target *to, cg_err *err)
{
    char input[600];
    const char *inputs[1] = {in_directory(input, to->input == NULL ? "" : to->input)};
    cg_output *output = NULL;
    cg_sink sink;

    CG_TRY(cg_output_open(env, path, inputs, to->input != NULL, &output, err));
    sink = cg_output_sink(output);
    for (int i = 0; i < PIECES; i++) {
        cg_code code = sink.write(sink.context, PIECE, sizeof PIECE - 1);

        if (code != CG_OK && i % 2 == 0) {
            cg_output_drop(output);
            return code;
        }
    }
    return cg_output_commit(output, err);
}

typedef enum content { ABSENT, OLD, NEW, ODD } content;

static content content_of(const char *path)
{
    static char text[PIECES * sizeof PIECE + 100];
    FILE *file = fopen(path, "rb");
    size_t len;

    if (file == NULL)
        return ABSENT;
    len = fread(text, 1, sizeof text, file);
    fclose(file);
    if (len == strlen(OLD_TEXT) && memcmp(text, OLD_TEXT, len) == 0)
        return OLD;
    for (size_t i = 0; i < PIECES; i++)
        if (len != PIECES * (sizeof PIECE - 1) ||
            memcmp(text + i * (sizeof PIECE - 1), PIECE, sizeof PIECE - 1) != 0)
            return ODD;
    return NEW;
}

static void expect_writing(const cg_env *env, faults *kernel, const target *to)
{
    static const char *const words[] = {"absent", "old", "new", "damaged"};
    char path[600];
    char other[600];
    cg_err err = {0};
    cg_code code;
    content left;
    unsigned hidden;
    bool is_published;

    in_directory(path, to->name);
    if (to->is_there)
        put(path, OLD_TEXT);
    if (to->manifest != NULL)
        put(in_directory(other, to->manifest), "{}");
    code = write_output(env, path, to, &err);
    left = content_of(path);
    hidden = sweep("a/b") + sweep("a") + sweep("");
    rmdir(in_directory(other, "a/b"));
    rmdir(in_directory(other, "a"));
    if (kernel->open_files != 0)
        complain("%s, call %" PRIu64 " (%s, %s): %d descriptors left", to->name, kernel->at,
                 kernel->failed, strerror(kernel->error), kernel->open_files);
    if (hidden != 0 && kernel->fault != FAULT_ERRORS)
        complain("%s, call %" PRIu64 " (%s, %s): a temporary file is left behind (%s)", to->name,
                 kernel->at, kernel->failed, strerror(kernel->error), cg_code_name(code));
    if (to->is_forbidden && code == CG_OK)
        complain("%s, call %" PRIu64 " (%s, %s): was allowed onto an input or into a bundle",
                 to->name, kernel->at, kernel->failed, strerror(kernel->error));
    is_published = code == CG_OK || code == CG_DURABILITY;
    if (is_published ? left != NEW : left != (to->is_there ? OLD : ABSENT))
        complain("%s, call %" PRIu64 " (%s, %s): says %s, but the file is %s", to->name, kernel->at,
                 kernel->failed, strerror(kernel->error), cg_code_name(code), words[left]);
    if (code == CG_OUTPUT_REFUSED && (to->is_forbidden || kernel->failures > 0))
        return; /* where it lies could not be told: no is the answer */
    if (code != CG_OK && (kernel->failures == 0 ||
                          (code != CG_OUTPUT && code != CG_DURABILITY && code != CG_NOT_FOUND)))
        complain("%s, call %" PRIu64 " (%s, %s): %s (%s)", to->name, kernel->at, kernel->failed,
                 strerror(kernel->error), cg_code_name(code), err.text);
}

static void writing_survives_every_refusal(void **state)
{
    faults kernel;
    const os_calls calls = faults_table(&kernel);
    const cg_env env = {.size = sizeof env, .os = &calls};

    (void)state;
    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
        for (size_t e = 0; e < ERRORS; e++) {
            for (int is_persistent = 0; is_persistent < (errors[e] == EINTR ? 1 : 2);
                 is_persistent++) {
                uint64_t k = 0;

                do {
                    faults_arm(&kernel, is_persistent != 0 ? FAULT_ERRORS : FAULT_ERROR, ++k,
                               errors[e]);
                    expect_writing(&env, &kernel, &targets[t]);
                } while (kernel.failures > 0);
            }
        }
        faults_arm(&kernel, FAULT_SHORTS, 0, 0);
        expect_writing(&env, &kernel, &targets[t]);
    }
    assert_int_equal(complaints, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_survives_every_refusal),
        cmocka_unit_test(writing_survives_every_refusal),
    };

    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
