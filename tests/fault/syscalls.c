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

#include <cmocka.h>

/* --- a kernel that fails on request --- */

typedef struct faults {
    const os_calls *kernel;
    uint64_t calls;   /* since arm() */
    uint64_t fail_at; /* 0 = never */
    bool is_persistent;
    bool is_short; /* reads and writes move a few bytes at a time */
    int error;
    uint64_t failures;
    const char *failed_call; /* the last one */
    int open_files;
} faults;

static bool fails(faults *self, const char *call)
{
    self->calls++;
    if (self->fail_at == 0 || self->calls < self->fail_at ||
        (self->calls > self->fail_at && !self->is_persistent))
        return false;
    self->failures++;
    self->failed_call = call;
    errno = self->error;
    return true;
}

static int faulty_open_at(void *context, int directory, const char *path, int flags, unsigned mode)
{
    faults *self = context;
    int file;

    if (fails(self, "open"))
        return -1;
    file = self->kernel->open_at(self->kernel->context, directory, path, flags, mode);
    self->open_files += file >= 0;
    return file;
}

/* A close that fails has closed all the same. */
static int faulty_close(void *context, int file)
{
    faults *self = context;
    int result = self->kernel->close(self->kernel->context, file);

    assert_int_equal(result, 0);
    self->open_files--;
    return fails(self, "close") ? -1 : 0;
}

static int64_t faulty_read(void *context, int file, void *to, size_t count)
{
    faults *self = context;

    if (fails(self, "read"))
        return -1;
    if (self->is_short && count > 3)
        count = 3;
    return self->kernel->read(self->kernel->context, file, to, count);
}

static int64_t faulty_write(void *context, int file, const void *from, size_t count)
{
    faults *self = context;

    if (fails(self, "write")) {
        /* Half of it arrives before the disk is full; EINTR means that nothing did. */
        if (count > 1 && self->error != EINTR &&
            self->kernel->write(self->kernel->context, file, from, count / 2) < 0)
            fail_msg("the test cannot write");
        errno = self->error;
        return -1;
    }
    if (self->is_short && count > 1)
        count /= 2;
    return self->kernel->write(self->kernel->context, file, from, count);
}

static int faulty_fstat(void *context, int file, struct stat *ret)
{
    faults *self = context;

    return fails(self, "fstat") ? -1 : self->kernel->fstat(self->kernel->context, file, ret);
}

static int faulty_lstat_at(void *context, int directory, const char *path, struct stat *ret)
{
    faults *self = context;

    return fails(self, "lstat")
               ? -1
               : self->kernel->lstat_at(self->kernel->context, directory, path, ret);
}

static int faulty_fsync(void *context, int file)
{
    faults *self = context;

    return fails(self, "fsync") ? -1 : self->kernel->fsync(self->kernel->context, file);
}

static int faulty_rename_at(void *context, int from_directory, const char *from, int to_directory,
                            const char *to)
{
    faults *self = context;

    return fails(self, "rename") ? -1
                                 : self->kernel->rename_at(self->kernel->context, from_directory,
                                                           from, to_directory, to);
}

static int faulty_unlink_at(void *context, int directory, const char *path, int flags)
{
    faults *self = context;

    return fails(self, "unlink")
               ? -1
               : self->kernel->unlink_at(self->kernel->context, directory, path, flags);
}

static int faulty_mkdir_at(void *context, int directory, const char *path, unsigned mode)
{
    faults *self = context;

    return fails(self, "mkdir")
               ? -1
               : self->kernel->mkdir_at(self->kernel->context, directory, path, mode);
}

static int64_t faulty_read_directory(void *context, int directory, void *to, size_t count)
{
    faults *self = context;

    return fails(self, "read directory")
               ? -1
               : self->kernel->read_directory(self->kernel->context, directory, to, count);
}

static int64_t faulty_random(void *context, void *to, size_t count)
{
    faults *self = context;

    return fails(self, "random") ? -1 : self->kernel->random(self->kernel->context, to, count);
}

static uint64_t faulty_monotonic_ns(void *context)
{
    faults *self = context;

    return self->kernel->monotonic_ns(self->kernel->context);
}

static int faulty_lock(void *context, int file)
{
    faults *self = context;

    return fails(self, "lock") ? -1 : self->kernel->lock(self->kernel->context, file);
}

static os_calls faulty_calls(faults *self)
{
    *self = (faults){.kernel = os_of(NULL)};
    return (os_calls){.context = self,
                      .open_at = faulty_open_at,
                      .close = faulty_close,
                      .read = faulty_read,
                      .write = faulty_write,
                      .fstat = faulty_fstat,
                      .lstat_at = faulty_lstat_at,
                      .fsync = faulty_fsync,
                      .rename_at = faulty_rename_at,
                      .unlink_at = faulty_unlink_at,
                      .mkdir_at = faulty_mkdir_at,
                      .read_directory = faulty_read_directory,
                      .random = faulty_random,
                      .monotonic_ns = faulty_monotonic_ns,
                      .lock = faulty_lock};
}

static void arm(faults *self, uint64_t fail_at, int error, bool is_persistent)
{
    self->calls = 0;
    self->failures = 0;
    self->failed_call = "";
    self->fail_at = fail_at;
    self->error = error;
    self->is_persistent = is_persistent;
}

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
        fail_msg("open, call %" PRIu64 " (%s, %s): %d descriptors left", kernel->fail_at,
                 kernel->failed_call, strerror(kernel->error), kernel->open_files);
    if (code == CG_OK) {
        cg_run_facts facts = {.size = sizeof facts};

        cg_run_facts_of(run, &facts);
        assert_int_equal(facts.span_count, 1);
        cg_run_free(run);
        return;
    }
    if (kernel->failures == 0 || code != CG_NOT_FOUND || err.code != code || err.text[0] == '\0')
        fail_msg("open, call %" PRIu64 " (%s, %s): %s (%s)", kernel->fail_at, kernel->failed_call,
                 strerror(kernel->error), cg_code_name(code), err.text);
}

static void opening_survives_every_refusal(void **state)
{
    static capture c;
    faults kernel;
    const os_calls calls = faulty_calls(&kernel);
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
                    arm(&kernel, ++k, errors[e], is_persistent != 0);
                    expect_opening(&env, &kernel, path);
                } while (kernel.failures > 0);
            }
        }
        kernel.is_short = true;
        arm(&kernel, 0, 0, false);
        expect_opening(&env, &kernel, path);
        kernel.is_short = false;
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
        complain("%s, call %" PRIu64 " (%s, %s): %d descriptors left", to->name, kernel->fail_at,
                 kernel->failed_call, strerror(kernel->error), kernel->open_files);
    if (hidden != 0 && !kernel->is_persistent)
        complain("%s, call %" PRIu64 " (%s, %s): a temporary file is left behind (%s)", to->name,
                 kernel->fail_at, kernel->failed_call, strerror(kernel->error), cg_code_name(code));
    if (to->is_forbidden && code == CG_OK)
        complain("%s, call %" PRIu64 " (%s, %s): was allowed onto an input or into a bundle",
                 to->name, kernel->fail_at, kernel->failed_call, strerror(kernel->error));
    is_published = code == CG_OK || code == CG_DURABILITY;
    if (is_published ? left != NEW : left != (to->is_there ? OLD : ABSENT))
        complain("%s, call %" PRIu64 " (%s, %s): says %s, but the file is %s", to->name,
                 kernel->fail_at, kernel->failed_call, strerror(kernel->error), cg_code_name(code),
                 words[left]);
    if (code == CG_OUTPUT_REFUSED && (to->is_forbidden || kernel->failures > 0))
        return; /* where it lies could not be told: no is the answer */
    if (code != CG_OK && (kernel->failures == 0 ||
                          (code != CG_OUTPUT && code != CG_DURABILITY && code != CG_NOT_FOUND)))
        complain("%s, call %" PRIu64 " (%s, %s): %s (%s)", to->name, kernel->fail_at,
                 kernel->failed_call, strerror(kernel->error), cg_code_name(code), err.text);
}

static void writing_survives_every_refusal(void **state)
{
    faults kernel;
    const os_calls calls = faulty_calls(&kernel);
    const cg_env env = {.size = sizeof env, .os = &calls};

    (void)state;
    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
        for (size_t e = 0; e < ERRORS; e++) {
            for (int is_persistent = 0; is_persistent < (errors[e] == EINTR ? 1 : 2);
                 is_persistent++) {
                uint64_t k = 0;

                do {
                    arm(&kernel, ++k, errors[e], is_persistent != 0);
                    expect_writing(&env, &kernel, &targets[t]);
                } while (kernel.failures > 0);
            }
        }
        kernel.is_short = true;
        arm(&kernel, 0, 0, false);
        expect_writing(&env, &kernel, &targets[t]);
        kernel.is_short = false;
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
