/* What stands in a page of a JSON text. */
#include <setjmp.h>
#include <stdarg.h>

#include "support/facts.h"
#include "view/island.h"

#include <cmocka.h>

static void expect(const char *json, const char *want)
{
    heap memory;
    buf text;

    heap_init(&memory, NULL);
    buf_init(&text, &memory, SIZE_MAX);
    assert_int_equal(island_write(&memory, str_from(json), facts_sink(&text), NULL), CG_OK);
    assert_int_equal(text.len, strlen(want));
    assert_memory_equal(text.at, want, text.len);
    buf_free(&text);
}

static void white_space_between_values_goes_away(void **state)
{
    (void)state;
    expect("{\n  \"a\": [ 1,\r\n\t2 ]\n}\n", "{\"a\":[1,2]}");
    expect("  \"x\"  ", "\"x\"");
    expect("", "");
}

static void texts_stay_as_they_are(void **state)
{
    (void)state;
    expect("[\"a b\", \"c\\\" d\", \" \\\\\", \"\"]", "[\"a b\",\"c\\\" d\",\" \\\\\",\"\"]");
}

static void nothing_can_end_the_element(void **state)
{
    (void)state;
    expect("[\"</script><!-- & \xe2\x80\xa8\"]",
           "[\"\\u003c/script\\u003e\\u003c!-- \\u0026 \\u2028\"]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(white_space_between_values_goes_away),
        cmocka_unit_test(texts_stay_as_they_are),
        cmocka_unit_test(nothing_can_end_the_element),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
