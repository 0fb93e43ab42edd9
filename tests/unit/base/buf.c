#include "unit/base/failing.h"

#include "base/buf.h"

static void pieces_are_joined(void **state)
{
    heap from;
    buf out;

    (void)state;
    heap_init(&from, NULL);
    buf_init(&out, &from, 1000);
    assert_text(buf_text(&out), "");
    buf_add(&out, CG_LIT("ab"));
    buf_add(&out, (cg_str){NULL, 0});
    buf_byte(&out, 'c');
    buf_fill(&out, '.', 3);
    buf_addf(&out, "%d|%s", 42, "x");
    assert_text(buf_text(&out), "abc...42|x");
    buf_clear(&out);
    assert_int_equal(buf_text(&out).len, 0);
    buf_free(&out);
    buf_free(&out);
    assert_int_equal(from.used_bytes, 0);
}

static void the_ceiling_is_reached_exactly(void **state)
{
    heap from;

    (void)state;
    heap_init(&from, NULL);
    for (size_t ceiling = 0; ceiling < 600; ceiling++) {
        buf out;

        buf_init(&out, &from, ceiling);
        for (size_t i = 0; i < ceiling / 2; i++)
            buf_addf(&out, "%c", 'x');
        buf_fill(&out, 'y', ceiling - ceiling / 2);
        assert_false(out.failed);
        assert_int_equal(out.len, ceiling);
        buf_byte(&out, 'z');
        assert_true(out.failed);
        assert_int_equal(out.len, ceiling);
        assert_null(buf_room(&out, 0));
        buf_free(&out);
    }
    assert_int_equal(from.used_bytes, 0);
}

static void the_first_failure_is_remembered(void **state)
{
    failing memory = {.fail_at = 2};
    heap from;
    buf out;

    (void)state;
    heap_init(&from, failing_env(&memory));
    buf_init(&out, &from, SIZE_MAX);
    buf_fill(&out, 'a', 200);
    buf_fill(&out, 'b', 5000);
    assert_true(out.failed);
    buf_byte(&out, 'c');
    buf_addf(&out, "d");
    assert_int_equal(out.len, 200);
    buf_clear(&out);
    buf_fill(&out, 'b', 5000);
    assert_false(out.failed);
    assert_null(buf_room(&out, SIZE_MAX - 10));
    buf_free(&out);
    assert_nothing_held(&memory, &from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_joined),
        cmocka_unit_test(the_ceiling_is_reached_exactly),
        cmocka_unit_test(the_first_failure_is_remembered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
