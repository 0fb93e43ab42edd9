#include "unit/base/failing.h"

#include "api/caller.h"

/* As many bytes as the caller's structure has, so that a sanitizer sees each one read too many. */
static void *of_size(const void *whole, uint32_t size)
{
    char *ret = malloc(size);

    assert_non_null(ret);
    memcpy(ret, whole, size);
    memcpy(ret, &size, sizeof size);
    return ret;
}

static void fields_behind_the_size_are_not_given(void **state)
{
    const cg_format whole = {
        .kind = CG_FORMAT_TEXT, .has_color = true, .width = 77, .rows = UINT64_MAX};

    (void)state;
    for (uint32_t size = sizeof size; size <= sizeof whole; size += sizeof size) {
        cg_format *format = of_size(&whole, size);
        text_style style;
        bool is_text = caller_wants_text(format, &style);

        assert_int_equal(is_text, size >= offsetof(cg_format, has_color));
        assert_int_equal(style.has_color, size >= offsetof(cg_format, width));
        assert_int_equal(style.width, size >= offsetof(cg_format, width) + 4 ? 77 : 100);
        if (size == sizeof whole)
            assert_true(style.rows == UINT64_MAX);
        if (size <= offsetof(cg_format, rows))
            assert_int_equal(style.rows, 20);
        free(format);
    }
}

static void larger_structures_of_later_versions_are_read_as_far_as_known(void **state)
{
    struct {
        cg_format known;
        uint64_t later;
    } format = {.known = {.size = sizeof format, .kind = CG_FORMAT_TEXT, .width = 64}, .later = 1};
    text_style style;

    (void)state;
    assert_true(caller_wants_text(&format.known, &style));
    assert_int_equal(style.width, 64);
}

static void nothing_and_no_size_mean_the_defaults(void **state)
{
    cg_format none = {.size = 0, .kind = CG_FORMAT_TEXT, .width = 70};
    text_style style;

    (void)state;
    assert_false(caller_wants_text(NULL, &style));
    assert_false(caller_wants_text(&none, &style));
    assert_int_equal(style.width, 100);
    assert_int_equal(style.rows, 20);
}

static void requests_too_small_for_their_question_are_refused(void **state)
{
    const cg_publish_request publish = {0};
    const cg_compare_request compare = {0};
    const cg_capture_plan plan = {0};
    const cg_series_request series = {0};
    const cg_format *no_format = NULL;
    const cg_sink no_sink = {0};
    cg_publication *published = NULL;
    cg_comparison *compared = NULL;
    cg_capture *begun = NULL;
    void *small[] = {of_size(&publish, 4), of_size(&compare, 4), of_size(&plan, 4),
                     of_size(&series, 4)};

    (void)state;
    assert_int_equal(cg_publish(NULL, small[0], &published, NULL), CG_USAGE);
    assert_int_equal(cg_compare(NULL, small[1], &compared, NULL), CG_USAGE);
    assert_int_equal(cg_capture_begin(NULL, "x", small[2], &begun, &published, NULL), CG_USAGE);
    assert_int_equal(cg_write_series(NULL, small[3], no_format, no_sink, NULL), CG_USAGE);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        free(small[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_behind_the_size_are_not_given),
        cmocka_unit_test(larger_structures_of_later_versions_are_read_as_far_as_known),
        cmocka_unit_test(nothing_and_no_size_mean_the_defaults),
        cmocka_unit_test(requests_too_small_for_their_question_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
