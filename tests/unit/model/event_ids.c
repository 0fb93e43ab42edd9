#include <setjmp.h>
#include <stdarg.h>

#include "model/event_ids.h"
#include "support/model.h"

#include <cmocka.h>

static heap memory;
static event_ids ids;

static int begin(void **state)
{
    (void)state;
    heap_init(&memory, NULL);
    return event_ids_init(&ids, &memory, 7) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    event_ids_free(&ids);
    return memory.used_bytes == 0 ? 0 : -1;
}

static uint32_t add(const char *text)
{
    uint32_t id = event_ids_add(&ids, str_from(text));

    assert_true(id > 0 && id != EVENT_KNOWN);
    return id;
}

static void texts_come_back(void **state)
{
    static const char *const texts[] = {"a",
                                        "a0",
                                        "a00",
                                        "0",
                                        "00",
                                        "7",
                                        "a-7",
                                        "a-07",
                                        "a-007",
                                        "train-op-3-17",
                                        "a7b",
                                        "7a",
                                        "a123456789012345678901234567890",
                                        "a000000000000000000000000000000001",
                                        "999999999999999999",
                                        "1000000000000000000",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "\xc3\xa9\x31"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        uint32_t id = add(texts[i]);
        buf out;

        buf_init(&out, &memory, SIZE_MAX);
        event_ids_say(&ids, id, &out);
        assert_true(str_equal(buf_text(&out), str_from(texts[i])));
        buf_free(&out);
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_int_equal(event_ids_add(&ids, str_from(texts[i])), EVENT_KNOWN);
}

static void order_is_that_of_the_texts(void **state)
{
    static const char *const texts[] = {"",    "1",    "10", "2",   "a",  "a0", "a1",
                                        "a10", "a100", "a2", "a2x", "ab", "b"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        (void)add(texts[i]);
    for (uint32_t i = 1; i <= sizeof texts / sizeof texts[0]; i++) {
        for (uint32_t k = 1; k <= sizeof texts / sizeof texts[0]; k++) {
            int order = event_ids_compare(&ids, i, k);

            assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
        }
    }
}

static void many_are_told_apart(void **state)
{
    char text[40];

    (void)state;
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 200000; i++) {
            (void)snprintf(text, sizeof text, "op-%u-%u", i % 300, i * 1024);
            assert_int_equal(event_ids_add(&ids, str_from(text)), round == 0 ? i + 1 : EVENT_KNOWN);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(texts_come_back, begin, end),
        cmocka_unit_test_setup_teardown(order_is_that_of_the_texts, begin, end),
        cmocka_unit_test_setup_teardown(many_are_told_apart, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
