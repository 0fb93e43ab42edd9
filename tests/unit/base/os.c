#include "unit/base/failing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"

/* --- a directory of our own --- */

static char folder[64];
static heap from;

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/cg-os-XXXXXX");
    heap_init(&from, NULL);
    signal(SIGPIPE, SIG_IGN);
    return mkdtemp(folder) == NULL || chdir(folder) != 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    DIR *listing = opendir(folder);
    struct dirent *entry;

    (void)state;
    while ((entry = readdir(listing)) != NULL)
        unlink(entry->d_name);
    closedir(listing);
    return chdir("/") != 0 || rmdir(folder) != 0 || from.used_bytes != 0 ? -1 : 0;
}

static void put_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void assert_file(const char *name, const char *want)
{
    buf text;

    buf_init(&text, &from, 1 << 20);
    assert_int_equal(os_read_whole(NULL, str_from(name), &text, NULL), CG_OK);
    assert_text(buf_text(&text), want);
    buf_free(&text);
}

static size_t count_entries(const char *name)
{
    DIR *listing = opendir(name);
    size_t count = 0;

    assert_non_null(listing);
    while (readdir(listing) != NULL)
        count++;
    closedir(listing);
    return count - 2;
}

static cg_code write_file(const cg_env *env, const char *path, const char *text, cg_err *err)
{
    os_output out;
    cg_code code = os_output_open(env, &from, str_from(path), false, &out, err);

    if (code != CG_OK)
        return code;
    code = os_output_write(&out, text, strlen(text), err);
    if (code == CG_OK)
        return os_output_commit(&out, err);
    os_output_drop(&out);
    return code;
}

/* --- reading --- */

static void kinds_are_told(void **state)
{
    enum os_kind kind;

    (void)state;
    put_file("file", "x");
    assert_int_equal(symlink("file", "link"), 0);
    assert_int_equal(symlink("nowhere", "dangling"), 0);
    assert_int_equal(mkfifo("pipe", 0600), 0);
#define EXPECT_KIND(path, follow, want)                                                            \
    do {                                                                                           \
        assert_int_equal(os_kind_of(NULL, CG_LIT(path), follow, &kind, NULL), CG_OK);              \
        assert_int_equal(kind, want);                                                              \
    } while (0)
    EXPECT_KIND("file", true, OS_FILE);
    EXPECT_KIND("link", true, OS_FILE);
    EXPECT_KIND("link", false, OS_LINK);
    EXPECT_KIND("dangling", true, OS_MISSING);
    EXPECT_KIND("dangling", false, OS_LINK);
    EXPECT_KIND("pipe", true, OS_PIPE);
    EXPECT_KIND(".", true, OS_DIRECTORY);
    EXPECT_KIND("/dev/null", true, OS_OTHER);
    EXPECT_KIND("nowhere", false, OS_MISSING);
    EXPECT_KIND("file/x", true, OS_MISSING);
    EXPECT_KIND("", true, OS_MISSING);
    EXPECT_KIND("fi\0le", true, OS_MISSING);
}

static void a_file_is_described_and_read(void **state)
{
    os_file file;
    char text[10];
    size_t got = 0;
    cg_err err = {0};

    (void)state;
    put_file("file", "hello");
    assert_int_equal(os_open_read(NULL, CG_LIT("file"), &file, &err), CG_OK);
    assert_true(file.is_regular);
    assert_int_equal(file.size, 5);
    assert_true(file.inode != 0);
    assert_int_equal(os_read(&file, text, 3, &got, &err), CG_OK);
    assert_int_equal(got, 3);
    assert_int_equal(os_read(&file, text, 10, &got, &err), CG_OK);
    assert_int_equal(got, 2);
    assert_int_equal(os_read(&file, text, 10, &got, &err), CG_OK);
    assert_int_equal(got, 0);
    os_close(&file);
    os_close(&file);
}

static void what_cannot_be_read_is_explained(void **state)
{
    os_file file;
    cg_err missing = {0};
    cg_err directory = {0};
    cg_err nul = {0};
    char path[5000];

    (void)state;
    assert_int_equal(os_open_read(NULL, CG_LIT("no\nfile"), &file, &missing), CG_NOT_FOUND);
    assert_string_equal(missing.problem, "input-missing");
    assert_string_equal(missing.file, "no\\nfile");
    os_close(&file);
    assert_int_equal(os_open_read(NULL, CG_LIT("."), &file, &directory), CG_NOT_FOUND);
    assert_string_equal(directory.problem, "input-unreadable");
    assert_int_equal(os_open_read(NULL, CG_LIT("a\0b"), &file, &nul), CG_NOT_FOUND);
    memset(path, 'x', sizeof path);
    assert_int_equal(os_open_read(NULL, (cg_str){path, sizeof path}, &file, NULL), CG_NOT_FOUND);
}

static void a_whole_file_is_read_up_to_the_ceiling(void **state)
{
    static char text[200001];
    cg_err err = {0};

    (void)state;
    memset(text, 'x', sizeof text - 1);
    put_file("file", text);
    for (size_t ceiling = 199999; ceiling < 200003; ceiling++) {
        buf whole;

        buf_init(&whole, &from, ceiling);
        assert_int_equal(os_read_whole(NULL, CG_LIT("file"), &whole, &err),
                         ceiling < 200000 ? CG_LIMIT : CG_OK);
        if (ceiling >= 200000)
            assert_int_equal(whole.len, 200000);
        buf_free(&whole);
    }
    assert_string_equal(err.problem, "limit");
    assert_string_equal(err.file, "file");
    put_file("empty", "");
    assert_file("empty", "");
}

static void a_pipe_is_read_to_its_end(void **state)
{
    int ends[2];
    char path[32];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "from a pipe", 11), 11);
    close(ends[1]);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    assert_file(path, "from a pipe");
    close(ends[0]);
}

/* --- writing --- */

static void a_file_appears_whole(void **state)
{
    os_output out;
    struct stat about;
    mode_t mask = umask(027);

    (void)state;
    put_file("old", "old text");
    assert_int_equal(os_output_open(NULL, &from, CG_LIT("old"), false, &out, NULL), CG_OK);
    assert_false(out.is_stream);
    assert_true(str_starts_with(str_from(out.temporary), CG_LIT(".old.tmp-")));
    assert_int_equal(strlen(out.temporary), 9 + 16);
    assert_int_equal(os_output_write(&out, "new", 3, NULL), CG_OK);
    assert_file("old", "old text");
    assert_int_equal(os_output_write(&out, " text", 5, NULL), CG_OK);
    assert_int_equal(os_output_commit(&out, NULL), CG_OK);
    os_output_drop(&out);
    assert_file("old", "new text");
    assert_int_equal(stat("old", &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    assert_int_equal(count_entries("."), 1);
    umask(mask);
}

/* A copy of this process that begins to write `path`, says so, and waits to be killed. */
static pid_t begin_in_child(const char *path)
{
    int said[2];
    char byte;
    pid_t child;

    assert_int_equal(pipe(said), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        os_output out;

        if (os_output_open(NULL, &from, str_from(path), false, &out, NULL) != CG_OK ||
            os_output_write(&out, "half", 4, NULL) != CG_OK || write(said[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(said[1]);
    assert_int_equal(read(said[0], &byte, 1), 1);
    close(said[0]);
    return child;
}

#define WRITERS 6
#define NAMES   4 /* that are looked after; who finds none of them free leaves its file */

static void what_killed_writers_left_is_removed_by_the_next(void **state)
{
    pid_t writers[WRITERS];

    (void)state;
    for (size_t i = 0; i < WRITERS; i++)
        writers[i] = begin_in_child("file");
    /* Those that write are left alone, as is what only looks similar. */
    put_file(".file.tmp-", "of somebody");
    assert_int_equal(symlink("elsewhere", ".other.tmp-0000000000000000"), 0);
    assert_int_equal(write_file(NULL, "file", "x", NULL), CG_OK);
    assert_int_equal(write_file(NULL, "other", "x", NULL), CG_OK);
    assert_int_equal(count_entries("."), WRITERS + 4);
    for (size_t i = 0; i < WRITERS; i++) {
        assert_int_equal(kill(writers[i], SIGKILL), 0);
        assert_int_equal(waitpid(writers[i], NULL, 0), writers[i]);
    }
    assert_int_equal(write_file(NULL, "other", "y", NULL), CG_OK);
    assert_int_equal(count_entries("."), WRITERS + 4);
    assert_int_equal(write_file(NULL, "file", "y", NULL), CG_OK);
    assert_file("file", "y");
    assert_int_equal(count_entries("."), WRITERS - NAMES + 4);
}

static void a_private_file_is_for_the_user_alone(void **state)
{
    static const char *const paths[] = {"a", "a/b", "a/b/file"};
    os_output out;
    struct stat about;
    mode_t mask = umask(0);

    (void)state;
    for (size_t round = 0; round < 2; round++) {
        assert_int_equal(os_output_open(NULL, &from, CG_LIT("a/b/file"), true, &out, NULL), CG_OK);
        assert_int_equal(os_output_write(&out, "x", 1, NULL), CG_OK);
        assert_int_equal(os_output_commit(&out, NULL), CG_OK);
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(stat(paths[i], &about), 0);
            assert_int_equal(about.st_mode & 0777, i < 2 ? 0700 : 0600);
        }
        assert_int_equal(chmod("a/b/file", 0644), 0); /* as if made by an earlier version */
    }
    umask(mask);
    assert_int_equal(unlink("a/b/file") | rmdir("a/b") | rmdir("a"), 0);
}

static void a_file_is_read_from_any_byte_on(void **state)
{
    os_file file;
    char got[8];
    size_t count;

    (void)state;
    put_file("file", "0123456789");
    assert_int_equal(os_open_read(NULL, CG_LIT("file"), &file, NULL), CG_OK);
    for (uint64_t at = 10; at-- > 0;) {
        assert_int_equal(os_seek(&file, at, NULL), CG_OK);
        assert_int_equal(os_read(&file, got, 1, &count, NULL), CG_OK);
        assert_int_equal(count, 1);
        assert_int_equal(got[0], '0' + (int)at);
    }
    assert_int_equal(os_seek(&file, 11, NULL), CG_OK);
    assert_int_equal(os_read(&file, got, 1, &count, NULL), CG_OK);
    assert_int_equal(count, 0);
    assert_int_not_equal(os_seek(&file, UINT64_MAX, NULL), CG_OK);
    os_close(&file);
    assert_int_equal(unlink("file"), 0);
}

static void a_dropped_output_leaves_nothing(void **state)
{
    os_output out;

    (void)state;
    put_file("old", "old text");
    assert_int_equal(os_output_open(NULL, &from, CG_LIT("./old"), false, &out, NULL), CG_OK);
    os_output_drop(&out);
    os_output_drop(&out);
    assert_file("old", "old text");
    assert_int_equal(os_output_open(NULL, &from, CG_LIT("a/b//c/file"), false, &out, NULL), CG_OK);
    assert_int_equal(count_entries("a/b/c"), 1);
    os_output_drop(&out);
    assert_int_equal(count_entries("."), 1);
}

static void directories_made_on_a_way_that_turns_back_are_taken_back(void **state)
{
    static const char *const paths[] = {"a/../file/x", "a/../file/y/x", "a/c/../../file/y/x",
                                        "a/../b/../file/x"};

    (void)state;
    put_file("file", "safe");
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        assert_int_equal(write_file(NULL, paths[i], "x", NULL), CG_OUTPUT);
        assert_int_equal(count_entries("."), 1);
    }
    assert_int_equal(write_file(NULL, "a/../b/x", "x", NULL), CG_OK);
    assert_file("b/x", "x");
    assert_int_equal(unlink("b/x") | rmdir("b") | rmdir("a") | unlink("file"), 0);
}

static void missing_directories_are_made(void **state)
{
    char path[100];

    (void)state;
    assert_int_equal(write_file(NULL, "a/b/file", "x", NULL), CG_OK);
    assert_file("a/b/file", "x");
    snprintf(path, sizeof path, "%s/a/c/d/file", folder);
    assert_int_equal(write_file(NULL, path, "y", NULL), CG_OK);
    assert_file("a/c/d/file", "y");
    assert_int_equal(count_entries("a/b"), 1);
    assert_int_equal(unlink("a/b/file") | unlink("a/c/d/file"), 0);
    assert_int_equal(rmdir("a/b") | rmdir("a/c/d") | rmdir("a/c") | rmdir("a"), 0);
}

static void links_and_directories_are_refused(void **state)
{
    static const char *const directories[] = {".", "..", "dir", "dir/", "/", "dir/.", ""};
    cg_err link = {0};
    cg_err below = {0};

    (void)state;
    assert_int_equal(mkdir("dir", 0700), 0);
    put_file("file", "safe");
    assert_int_equal(symlink("file", "link"), 0);
    assert_int_equal(symlink("nowhere", "dangling"), 0);
    assert_int_equal(write_file(NULL, "link", "x", &link), CG_OUTPUT_REFUSED);
    assert_string_equal(link.problem, "output-through-link");
    assert_string_equal(link.file, "link");
    assert_int_equal(write_file(NULL, "dangling", "x", NULL), CG_OUTPUT_REFUSED);
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        assert_int_equal(write_file(NULL, directories[i], "x", NULL), CG_OUTPUT);
    assert_int_equal(write_file(NULL, "file/x", "x", &below), CG_OUTPUT);
    assert_string_equal(below.file, "file/x");
    assert_file("file", "safe");
    assert_int_equal(count_entries("."), 4);
    assert_int_equal(rmdir("dir"), 0);
}

static void devices_and_pipes_are_written_directly(void **state)
{
    os_output out;
    int ends[2];
    char path[32];
    char got[8];

    (void)state;
    assert_int_equal(os_output_open(NULL, &from, CG_LIT("/dev/null"), false, &out, NULL), CG_OK);
    assert_true(out.is_stream);
    assert_int_equal(os_output_write(&out, "x", 1, NULL), CG_OK);
    assert_int_equal(os_output_commit(&out, NULL), CG_OK);
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    assert_int_equal(os_output_open(NULL, &from, str_from(path), false, &out, NULL), CG_OK);
    assert_true(out.is_stream);
    assert_int_equal(os_output_write(&out, "abc", 3, NULL), CG_OK);
    assert_int_equal(read(ends[0], got, sizeof got), 3);
    close(ends[0]);
    assert_int_equal(os_output_write(&out, "abc", 3, NULL), CG_CLOSED);
    os_output_drop(&out);
    close(ends[1]);
}

static void long_names_get_a_short_temporary_one(void **state)
{
    char name[256];
    os_output out;

    (void)state;
    for (size_t i = 0; i + 3 < sizeof name; i += 3)
        memcpy(name + i, "\xE4\xB8\xAD", 3);
    name[255] = '\0';
    assert_int_equal(os_output_open(NULL, &from, str_from(name), false, &out, NULL), CG_OK);
    assert_true(strlen(out.temporary) < sizeof out.temporary);
    assert_true(str_utf8_error(str_from(out.temporary)) == SIZE_MAX);
    assert_int_equal(os_output_commit(&out, NULL), CG_OK);
    assert_int_equal(unlink(name), 0);
}

/* --- a kernel that refuses --- */

typedef struct refusal {
    unsigned at; /* the call that fails, from 1 */
    unsigned calls;
    int number;
    bool by_half; /* writes and reads take at most two bytes */
    os_calls calls_table;
    cg_env env;
} refusal;

static bool is_refused(void *context)
{
    refusal *self = context;

    if (++self->calls != self->at)
        return false;
    errno = self->number;
    return true;
}

static int open_or_refuse(void *context, int directory, const char *path, int flags, unsigned mode)
{
    return is_refused(context) ? -1 : os_of(NULL)->open_at(NULL, directory, path, flags, mode);
}

/* A failed close still closes. */
static int close_or_refuse(void *context, int file)
{
    int result = os_of(NULL)->close(NULL, file);

    return is_refused(context) ? -1 : result;
}

static int64_t read_or_refuse(void *context, int file, void *to, size_t count)
{
    refusal *self = context;

    count = self->by_half && count > 2 ? 2 : count;
    return is_refused(context) ? -1 : os_of(NULL)->read(NULL, file, to, count);
}

static int64_t write_or_refuse(void *context, int file, const void *bytes, size_t count)
{
    refusal *self = context;

    count = self->by_half && count > 2 ? 2 : count;
    return is_refused(context) ? -1 : os_of(NULL)->write(NULL, file, bytes, count);
}

static int fstat_or_refuse(void *context, int file, struct stat *ret)
{
    return is_refused(context) ? -1 : os_of(NULL)->fstat(NULL, file, ret);
}

static int lstat_or_refuse(void *context, int directory, const char *path, struct stat *ret)
{
    return is_refused(context) ? -1 : os_of(NULL)->lstat_at(NULL, directory, path, ret);
}

static int fsync_or_refuse(void *context, int file)
{
    return is_refused(context) ? -1 : os_of(NULL)->fsync(NULL, file);
}

static int rename_or_refuse(void *context, int old_directory, const char *old, int directory,
                            const char *name)
{
    return is_refused(context) ? -1
                               : os_of(NULL)->rename_at(NULL, old_directory, old, directory, name);
}

static int mkdir_or_refuse(void *context, int directory, const char *path, unsigned mode)
{
    return is_refused(context) ? -1 : os_of(NULL)->mkdir_at(NULL, directory, path, mode);
}

static int64_t random_or_refuse(void *context, void *to, size_t count)
{
    return is_refused(context) ? -1 : os_of(NULL)->random(NULL, to, count);
}

static uint64_t always_noon(void *context)
{
    (void)context;
    return 12;
}

/* Cleaning up works: what a test looks at afterwards is whether it was tried. */
static const cg_env *refusing_env(refusal *self)
{
    self->calls_table = *os_of(NULL);
    self->calls_table.context = self;
    self->calls_table.open_at = open_or_refuse;
    self->calls_table.close = close_or_refuse;
    self->calls_table.read = read_or_refuse;
    self->calls_table.write = write_or_refuse;
    self->calls_table.fstat = fstat_or_refuse;
    self->calls_table.lstat_at = lstat_or_refuse;
    self->calls_table.fsync = fsync_or_refuse;
    self->calls_table.rename_at = rename_or_refuse;
    self->calls_table.mkdir_at = mkdir_or_refuse;
    self->calls_table.random = random_or_refuse;
    self->calls_table.monotonic_ns = always_noon;
    self->env = (cg_env){.size = sizeof self->env, .os = &self->calls_table};
    return &self->env;
}

static int open_handles(void)
{
    return (int)count_entries("/proc/self/fd");
}

static void any_refused_call_leaves_the_old_or_the_new_file(void **state)
{
    static const int numbers[] = {EIO, ENOSPC, EINTR, ENOENT, EEXIST};

    (void)state;
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
        for (unsigned at = 1;; at++) {
            refusal kernel = {.at = at, .number = numbers[n], .by_half = true};
            int handles = open_handles();
            cg_err err = {0};
            cg_code code;
            bool is_new;

            put_file("file", "old");
            code = write_file(refusing_env(&kernel), "file", "new text", &err);
            assert_int_equal(err.code, code);
            {
                buf text;

                buf_init(&text, &from, 100);
                assert_int_equal(os_read_whole(NULL, CG_LIT("file"), &text, NULL), CG_OK);
                is_new = str_equal(buf_text(&text), CG_LIT("new text"));
                assert_true(is_new || str_equal(buf_text(&text), CG_LIT("old")));
                buf_free(&text);
            }
            if (code == CG_OK)
                assert_true(is_new);
            assert_int_equal(count_entries("."), 1);
            assert_int_equal(open_handles(), handles);
            assert_int_equal(from.used_bytes, 0);
            if (kernel.calls < at)
                break;
        }
    }
}

static void any_refused_call_takes_back_the_directories(void **state)
{
    (void)state;
    for (unsigned at = 1;; at++) {
        refusal kernel = {.at = at, .number = EIO};
        int handles = open_handles();
        cg_err err = {0};
        cg_code code = write_file(refusing_env(&kernel), "a/b/file", "text", &err);

        assert_int_equal(open_handles(), handles);
        if (unlink("a/b/file") == 0) {
            assert_int_equal(rmdir("a/b") | rmdir("a"), 0);
        } else {
            assert_int_equal(code, CG_OUTPUT);
            assert_string_equal(err.file, "a/b/file");
        }
        assert_int_equal(count_entries("."), 0);
        if (kernel.calls < at)
            break;
    }
}

static void any_refused_call_fails_a_read(void **state)
{
    (void)state;
    put_file("file", "some text");
    for (unsigned at = 1;; at++) {
        refusal kernel = {.at = at, .number = at % 2 == 0 ? EIO : EINTR, .by_half = true};
        int handles = open_handles();
        cg_err err = {0};
        buf text;
        cg_code code;

        buf_init(&text, &from, 100);
        code = os_read_whole(refusing_env(&kernel), CG_LIT("file"), &text, &err);
        assert_int_equal(code, err.code);
        if (code == CG_OK)
            assert_text(buf_text(&text), "some text");
        else
            assert_string_equal(err.file, "file");
        buf_free(&text);
        assert_int_equal(open_handles(), handles);
        if (kernel.calls < at)
            break;
    }
}

static void random_bits_differ(void **state)
{
    refusal kernel = {.at = 1, .number = ENOSYS};

    (void)state;
    assert_true(os_random(NULL) != os_random(NULL));
    assert_true(os_random(refusing_env(&kernel)) != 0);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(kinds_are_told),
        IN_FOLDER(a_file_is_described_and_read),
        IN_FOLDER(what_cannot_be_read_is_explained),
        IN_FOLDER(a_whole_file_is_read_up_to_the_ceiling),
        IN_FOLDER(a_pipe_is_read_to_its_end),
        IN_FOLDER(a_file_appears_whole),
        IN_FOLDER(what_killed_writers_left_is_removed_by_the_next),
        IN_FOLDER(a_private_file_is_for_the_user_alone),
        IN_FOLDER(a_file_is_read_from_any_byte_on),
        IN_FOLDER(a_dropped_output_leaves_nothing),
        IN_FOLDER(directories_made_on_a_way_that_turns_back_are_taken_back),
        IN_FOLDER(missing_directories_are_made),
        IN_FOLDER(links_and_directories_are_refused),
        IN_FOLDER(devices_and_pipes_are_written_directly),
        IN_FOLDER(long_names_get_a_short_temporary_one),
        IN_FOLDER(any_refused_call_leaves_the_old_or_the_new_file),
        IN_FOLDER(any_refused_call_takes_back_the_directories),
        IN_FOLDER(any_refused_call_fails_a_read),
        IN_FOLDER(random_bits_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
