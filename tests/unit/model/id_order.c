/* id_order: the bytewise order of ids, with and without numbers at their ends. */
#include <setjmp.h>
#include <stdarg.h>

#include "model/id_order.h"

#include <cmocka.h>

typedef struct row {
    cg_str id;
    size_t made;
} row;

#define MOST 64

/* The ids in the order found, `,` between them. */
static const char *ordered(const char *const *ids, char *out, size_t room)
{
    row rows[MOST];
    void *records[MOST];
    uint32_t order[2 * MOST];
    size_t count = 0, kept = 0, at = 0;
    heap from;

    heap_init(&from, NULL);
    for (; ids[count] != NULL; count++) {
        rows[count] = (row){str_from(ids[count]), count};
        records[count] = &rows[count];
    }
    assert_true(id_order(&from, records, count, order, &kept));
    assert_int_equal(from.used_bytes, 0);
    for (size_t i = 0; i < kept; i++) {
        cg_str id = rows[order[i]].id;

        assert_true(at + id.len + 2 < room);
        if (i > 0)
            out[at++] = ',';
        memcpy(out + at, id.ptr, id.len);
        at += id.len;
    }
    out[at] = '\0';
    return out;
}

static void numbers_are_texts(void **state)
{
    static const char *const ids[] = {"t:b:9", "t:a:10", "t:a:9", "t:a:1",  "t:a:100",
                                      "t:b:1", "t:a:0",  "t:a:2", "t:a:01", NULL};
    char out[400];

    (void)state;
    assert_string_equal(ordered(ids, out, sizeof out),
                        "t:a:0,t:a:01,t:a:1,t:a:10,t:a:100,t:a:2,t:a:9,t:b:1,t:b:9");
}

static void a_head_may_go_on_with_a_number_or_less(void **state)
{
    static const char *const digit[] = {"t:a:5", "t:a:4x:1", "t:a:5x:1", "t:a:40", NULL};
    static const char *const dash[] = {"t:a:5", "t:a:-x:1", "t:a:4", NULL};
    static const char *const letter[] = {"t:a:x:1", "t:a:5", "t:a::3", "t:a:4", NULL};
    char out[400];

    (void)state;
    assert_string_equal(ordered(digit, out, sizeof out), "t:a:40,t:a:4x:1,t:a:5,t:a:5x:1");
    assert_string_equal(ordered(dash, out, sizeof out), "t:a:-x:1,t:a:4,t:a:5");
    assert_string_equal(ordered(letter, out, sizeof out), "t:a:4,t:a:5,t:a::3,t:a:x:1");
}

static void ids_without_a_short_number_are_ordered_too(void **state)
{
    static const char *const ids[] = {"t:a:12345678", "t:a:2", "b", "t:a:1234567", "a:x", "", NULL};
    static const char *const bare[] = {"10", "9", "1", NULL};
    char out[400];

    (void)state;
    assert_string_equal(ordered(ids, out, sizeof out), ",a:x,b,t:a:1234567,t:a:12345678,t:a:2");
    assert_string_equal(ordered(bare, out, sizeof out), "1,10,9");
}

static void of_equal_ids_the_first_stays(void **state)
{
    static const char *const ids[] = {"t:2", "t:1", "t:2", "t:1", NULL};
    row rows[] = {{CG_LIT("b"), 0}, {CG_LIT("a"), 1}, {CG_LIT("a"), 2}};
    void *records[] = {&rows[0], &rows[1], &rows[2]};
    uint32_t order[6];
    size_t count;
    char out[100];
    heap from;

    (void)state;
    assert_string_equal(ordered(ids, out, sizeof out), "t:1,t:2");
    heap_init(&from, NULL);
    assert_true(id_order(&from, records, 3, order, &count));
    assert_int_equal(count, 2);
    assert_int_equal(order[0], 1);
    assert_int_equal(order[1], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_texts),
        cmocka_unit_test(a_head_may_go_on_with_a_number_or_less),
        cmocka_unit_test(ids_without_a_short_number_are_ordered_too),
        cmocka_unit_test(of_equal_ids_the_first_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
