#include "unit/base/failing.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os_stamp.h"

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/cg-stamp-XXXXXX");
    return mkdtemp(folder) == NULL || chdir(folder) != 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink("a");
    unlink("b");
    unlink("link");
    return chdir("/") != 0 || rmdir(folder) != 0 ? -1 : 0;
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static os_stamp stamp_of(const char *name)
{
    os_stamp stamp;

    os_stamp_of(NULL, str_from(name), &stamp);
    return stamp;
}

static void a_file_that_nobody_touches_keeps_its_stamp(void **state)
{
    os_stamp first, second;

    (void)state;
    put("a", "one");
    first = stamp_of("a");
    second = stamp_of("a");
    assert_true(os_stamp_equal(&first, &second));
    assert_int_equal(first.kind, OS_FILE);
    assert_int_equal(first.size, 3);
}

static void another_file_of_the_same_name_has_another(void **state)
{
    os_stamp first, second;

    (void)state;
    put("a", "one");
    put("b", "two");
    first = stamp_of("a");
    assert_int_equal(rename("b", "a"), 0);
    second = stamp_of("a");
    assert_false(os_stamp_equal(&first, &second));
}

static void what_is_not_there_stays_so(void **state)
{
    os_stamp first = stamp_of("nothing"), second;

    (void)state;
    second = stamp_of("nothing/below");
    assert_int_equal(first.kind, OS_MISSING);
    assert_true(os_stamp_equal(&first, &second));
    assert_true(os_stamp_is_settled(&first, 0));
}

/* What a link leads to may change without it. */
static void links_tell_nothing(void **state)
{
    os_stamp first, second;

    (void)state;
    put("a", "one");
    assert_int_equal(symlink("a", "link"), 0);
    first = stamp_of("link");
    second = stamp_of("link");
    assert_int_equal(first.kind, OS_OTHER);
    assert_false(os_stamp_equal(&first, &second));
}

static void what_was_just_written_is_not_settled(void **state)
{
    os_stamp stamp;
    uint64_t now = os_wall_ns();

    (void)state;
    put("a", "one");
    stamp = stamp_of("a");
    assert_false(os_stamp_is_settled(&stamp, now));
    assert_true(os_stamp_is_settled(&stamp, now + 2 * (uint64_t)OS_STAMP_TICK_NS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_that_nobody_touches_keeps_its_stamp, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(another_file_of_the_same_name_has_another, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_there_stays_so, set_up, tear_down),
        cmocka_unit_test_setup_teardown(links_tell_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_just_written_is_not_settled, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
