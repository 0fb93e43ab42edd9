#include "failing.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "base/os_run.h"
#include "support/tree.h"

typedef struct result {
    cg_code code;
    int status;
    char output[512];
    char errors[512];
    cg_err err;
} result;

static result run(const char *script, const os_command *with, size_t ceiling)
{
    const char *const arguments[] = {"sh", "-c", script, NULL};
    const char *const nothing[] = {NULL};
    os_command command = *with;
    result found = {.status = -1};
    heap memory;
    buf output;
    buf errors;

    heap_init(&memory, NULL);
    buf_init(&output, &memory, ceiling);
    buf_init(&errors, &memory, 100000);
    command.program = command.program != NULL ? command.program : "/bin/sh";
    command.arguments = arguments;
    command.environment = command.environment != NULL ? command.environment : nothing;
    command.directory = command.directory != NULL ? command.directory : "/";
    command.timeout_ns = command.timeout_ns != 0 ? command.timeout_ns : UINT64_C(20) * 1000000000;
    found.code = os_run(NULL, &command, &output, &errors, &found.status, &found.err);
    snprintf(found.output, sizeof found.output, "%.*s", (int)output.len,
             output.at != NULL ? output.at : "");
    snprintf(found.errors, sizeof found.errors, "%.*s", (int)errors.len,
             errors.at != NULL ? errors.at : "");
    buf_free(&output);
    buf_free(&errors);
    assert_int_equal(memory.used_bytes, 0);
    return found;
}

static void output_errors_and_status_come_back(void **state)
{
    result found = run("echo out; echo err >&2; exit 3", &(os_command){0}, 100000);

    (void)state;
    assert_int_equal(found.code, CG_OK);
    assert_int_equal(found.status, 3);
    assert_string_equal(found.output, "out\n");
    assert_string_equal(found.errors, "err\n");
    found = run("kill -9 $$", &(os_command){0}, 100000);
    assert_int_equal(found.status, 128 + SIGKILL);
}

static void surroundings_are_what_was_given(void **state)
{
    const char *const environment[] = {"NAME=value", NULL};
    result found;

    (void)state;
    assert_int_equal(setenv("CG_TEST_SECRET", "x", 1), 0);
    found = run("pwd; echo \"$NAME$CG_TEST_SECRET\"; read line || echo nothing",
                &(os_command){.environment = environment, .directory = "/usr"}, 100000);
    assert_string_equal(found.output, "/usr\nvalue\nnothing\n");
}

static void a_program_that_takes_too_long_is_killed_with_its_children(void **state)
{
    tree at;
    char script[1400];
    result found;

    (void)state;
    tree_make(&at);
    snprintf(script, sizeof script, "(/bin/sleep 1; echo > %s/mark) & /bin/sleep 30", at.root);
    found = run(script, &(os_command){.timeout_ns = UINT64_C(100000000)}, 100000);
    assert_int_equal(found.code, CG_INPUT);
    assert_string_equal(found.err.problem, "program-failed");
    nanosleep(&(struct timespec){1, 200000000}, NULL);
    assert_false(tree_has(&at, "mark"));
    tree_remove(&at);
}

static void closed_output_does_not_end_the_time_limit(void **state)
{
    result found = run("exec >&- 2>&-; /bin/sleep 30",
                       &(os_command){.timeout_ns = UINT64_C(100000000)}, 100000);

    (void)state;
    assert_int_equal(found.code, CG_INPUT);
}

static void too_much_output_is_refused(void **state)
{
    result found = run("while :; do echo 0123456789012345678901234567890123456789; done",
                       &(os_command){0}, 100000);

    (void)state;
    assert_int_equal(found.code, CG_INPUT);
    assert_non_null(strstr(found.err.text, "too much"));
}

static void what_is_not_there_is_an_error(void **state)
{
    result found = run("", &(os_command){.program = "/nonexistent/x"}, 100000);

    (void)state;
    assert_int_equal(found.code, CG_INPUT);
    found = run("", &(os_command){.directory = "/nonexistent"}, 100000);
    assert_int_equal(found.code, CG_INPUT);
}

static void real_paths_have_no_links(void **state)
{
    tree at;
    heap memory;
    arena mem;
    cg_str real;

    (void)state;
    tree_make(&at);
    heap_init(&memory, NULL);
    arena_init(&mem, &memory);
    tree_write(&at, "a/file", "");
    tree_link(&at, "b", "a");
    assert_int_equal(os_real_path(tree_place(&at, "b/../b/file"), &mem, &real, NULL), CG_OK);
    assert_text(real, tree_place(&at, "a/file").ptr);
    assert_int_equal(os_real_path(tree_place(&at, "none"), &mem, &real, NULL), CG_NOT_FOUND);
    assert_int_equal(os_real_path(CG_LIT(""), &mem, &real, NULL), CG_NOT_FOUND);
    assert_int_equal(os_real_path((cg_str){"a\0b", 3}, &mem, &real, NULL), CG_NOT_FOUND);
    arena_free(&mem);
    tree_program(&at, "program", "#!/bin/sh\n");
    assert_true(os_is_program(tree_place(&at, "program").ptr));
    assert_false(os_is_program(tree_place(&at, "a/file").ptr));
    assert_false(os_is_program(tree_place(&at, "a").ptr));
    tree_remove(&at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_errors_and_status_come_back),
        cmocka_unit_test(surroundings_are_what_was_given),
        cmocka_unit_test(a_program_that_takes_too_long_is_killed_with_its_children),
        cmocka_unit_test(closed_output_does_not_end_the_time_limit),
        cmocka_unit_test(too_much_output_is_refused),
        cmocka_unit_test(what_is_not_there_is_an_error),
        cmocka_unit_test(real_paths_have_no_links),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
