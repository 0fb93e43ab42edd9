#include "failing.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/os_dir.h"
#include "support/folder.h"

static void entries_are_sorted_and_described_as_they_are(void **state)
{
    folder at;
    char path[128];
    os_dir dir;
    os_entries list;
    heap memory;
    arena mem;
    cg_err err = {0};

    (void)state;
    folder_make(&at);
    folder_write(&at, "b", "");
    folder_write(&at, "B", "");
    folder_link(&at, "a", "b");
    folder_link(&at, "lost", "nowhere");
    snprintf(path, sizeof path, "%s/pipe", at.path);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/sub", at.path);
    assert_int_equal(mkdir(path, 0700), 0);

    heap_init(&memory, NULL);
    arena_init(&mem, &memory);
    assert_int_equal(os_dir_open(NULL, str_from(at.path), &dir, &err), CG_OK);
    assert_int_equal(os_dir_list(&dir, &memory, &mem, 6, &list, &err), CG_OK);
    os_dir_close(&dir);
    assert_int_equal(list.count, 6);
    assert_text(list.at[0].name, "B");
    assert_text(list.at[1].name, "a");
    assert_int_equal(list.at[1].kind, OS_LINK);
    assert_int_equal(list.at[2].kind, OS_FILE);
    assert_int_equal(list.at[3].kind, OS_LINK);
    assert_int_equal(list.at[4].kind, OS_PIPE);
    assert_int_equal(list.at[5].kind, OS_DIRECTORY);

    assert_int_equal(os_dir_open(NULL, str_from(at.path), &dir, &err), CG_OK);
    assert_int_equal(os_dir_list(&dir, &memory, &mem, 5, &list, &err), CG_LIMIT);
    os_dir_close(&dir);
    arena_free(&mem);
    assert_int_equal(memory.used_bytes, 0);
    folder_remove(&at);
}

static void what_is_no_directory_is_refused(void **state)
{
    folder at;
    char path[128];
    os_dir dir;
    cg_err err = {0};

    (void)state;
    folder_make(&at);
    folder_write(&at, "file", "");
    snprintf(path, sizeof path, "%s/file", at.path);
    assert_int_equal(os_dir_open(NULL, str_from(path), &dir, &err), CG_NOT_FOUND);
    snprintf(path, sizeof path, "%s/none", at.path);
    assert_int_equal(os_dir_open(NULL, str_from(path), &dir, NULL), CG_NOT_FOUND);
    assert_int_equal(os_dir_open(NULL, CG_LIT(""), &dir, NULL), CG_NOT_FOUND);
    assert_null(strstr(err.text, at.path));
    folder_remove(&at);
}

static cg_code open_one(const folder *at, cg_str name, unsigned flags)
{
    os_dir dir;
    os_file file;
    cg_err err = {0};
    cg_code code;

    assert_int_equal(os_dir_open(NULL, str_from(at->path), &dir, NULL), CG_OK);
    code = os_dir_open_file(&dir, name, flags, &file, &err);
    if (code == CG_OK)
        os_close(&file);
    os_dir_close(&dir);
    return code;
}

static void only_regular_files_below_the_directory_are_opened(void **state)
{
    folder at;
    folder other;
    char path[128];

    (void)state;
    folder_make(&at);
    folder_make(&other);
    folder_write(&at, "f", "12345");
    folder_write(&other, "g", "x");
    folder_link(&at, "to-f", "f");
    folder_link(&at, "away", other.path);
    snprintf(path, sizeof path, "%s/pipe", at.path);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/sub", at.path);
    assert_int_equal(mkdir(path, 0700), 0);

    assert_int_equal(open_one(&at, CG_LIT("f"), 0), CG_OK);
    assert_int_equal(open_one(&at, CG_LIT("sub//./../f"), 0), CG_NOT_FOUND);
    assert_int_equal(open_one(&at, CG_LIT("to-f"), 0), CG_NOT_FOUND);
    assert_int_equal(open_one(&at, CG_LIT("to-f"), OS_DIR_FOLLOW), CG_OK);
    assert_int_equal(open_one(&at, CG_LIT("away/g"), OS_DIR_FOLLOW), CG_NOT_FOUND);
    assert_int_equal(open_one(&at, CG_LIT("pipe"), 0), CG_NOT_FOUND);
    assert_int_equal(open_one(&at, CG_LIT("sub"), 0), CG_NOT_FOUND);
    assert_int_equal(open_one(&at, CG_LIT("sub/none"), 0), CG_NOT_FOUND);
    folder_remove(&other);
    folder_remove(&at);
}

static void paths_that_lead_out_are_not_safe(void **state)
{
    static const char *const safe[] = {"a", "a/b", "a//b", "a/./b", "..a", "a..", "a\\..\\b"};
    static const char *const unsafe[] = {"", "/a", "./a", "..", "../a", "a/..", "a/../b"};

    (void)state;
    for (size_t i = 0; i < sizeof safe / sizeof safe[0]; i++)
        assert_true(os_dir_is_safe(str_from(safe[i])));
    for (size_t i = 0; i < sizeof unsafe / sizeof unsafe[0]; i++)
        assert_false(os_dir_is_safe(str_from(unsafe[i])));
    assert_false(os_dir_is_safe(CG_LIT("a\0b")));
}

static int64_t refuse_listing(void *context, int directory, void *to, size_t count)
{
    (void)context;
    (void)directory;
    (void)to;
    (void)count;
    errno = EIO;
    return -1;
}

static void a_listing_that_fails_is_reported(void **state)
{
    os_calls calls = *os_of(NULL);
    cg_env env = {.size = sizeof env, .os = &calls};
    os_dir dir;
    os_entries list;
    heap memory;
    arena mem;
    folder at;

    (void)state;
    calls.read_directory = refuse_listing;
    folder_make(&at);
    heap_init(&memory, NULL);
    arena_init(&mem, &memory);
    assert_int_equal(os_dir_open(&env, str_from(at.path), &dir, NULL), CG_OK);
    assert_int_equal(os_dir_list(&dir, &memory, &mem, 10, &list, NULL), CG_NOT_FOUND);
    os_dir_close(&dir);
    arena_free(&mem);
    assert_int_equal(memory.used_bytes, 0);
    folder_remove(&at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_sorted_and_described_as_they_are),
        cmocka_unit_test(what_is_no_directory_is_refused),
        cmocka_unit_test(only_regular_files_below_the_directory_are_opened),
        cmocka_unit_test(paths_that_lead_out_are_not_safe),
        cmocka_unit_test(a_listing_that_fails_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
