#include "../base/failing.h"

#include "cargo/version.h"

static void expect_fit(const char *requirement, const char *inside, const char *outside)
{
    const char *lists[2] = {inside, outside};

    for (int i = 0; i < 2; i++) {
        const char *at = lists[i];

        while (*at != '\0') {
            size_t len = strcspn(at, " ");

            if (version_text_fits(str_from(requirement), (cg_str){at, len}) != (i == 0))
                fail_msg("`%s` and %.*s", requirement, (int)len, at);
            at += len + (at[len] == ' ');
        }
    }
}

static void requirements_mean_what_cargo_says(void **state)
{
    (void)state;
    expect_fit("1.2.3", "1.2.3 1.2.4 1.9.0", "1.2.2 2.0.0 0.9.0");
    expect_fit("^1.2", "1.2.0 1.9.9", "1.1.9 2.0.0");
    expect_fit("1", "1.0.0 1.9.9", "0.9.0 2.0.0");
    expect_fit("0.10.2", "0.10.2 0.10.9", "0.10.1 0.11.0 1.0.0");
    expect_fit("0.0.3", "0.0.3", "0.0.4 0.0.2 0.1.0");
    expect_fit("0.0", "0.0.1 0.0.9", "0.1.0");
    expect_fit("0", "0.0.1 0.9.0", "1.0.0");
    expect_fit("~1.2.3", "1.2.3 1.2.9", "1.3.0 1.2.2");
    expect_fit("~1", "1.0.0 1.9.0", "2.0.0");
    expect_fit("=0.11.0", "0.11.0 0.11.0+build", "0.11.1 0.10.9");
    expect_fit("=0.11", "0.11.0 0.11.7", "0.12.0");
    expect_fit(">=0.8, <0.11", "0.8.0 0.10.2", "0.7.9 0.11.0");
    expect_fit("> 1.2", "1.3.0 2.0.0", "1.2.0 1.2.9");
    expect_fit("<= 1.2", "1.2.9 0.1.0", "1.3.0");
    expect_fit("*", "0.0.1 9.9.9", "1.0.0-rc.1");
    expect_fit("", "1.0.0", "1.0.0-rc.1");
    expect_fit("1.*", "1.0.0 1.9.0", "2.0.0");
    expect_fit("1.2.*", "1.2.0 1.2.9", "1.3.0");
    expect_fit("1.0.0-rc.1", "1.0.0-rc.1 1.0.0-rc.2 1.0.0 1.5.0", "1.0.0-alpha 1.5.0-rc.1");
    expect_fit("nonsense", "", "1.0.0");
    expect_fit("1.2.3.4", "", "1.2.3");
    expect_fit("1.*.3", "", "1.0.3");
}

static void versions_have_an_order(void **state)
{
    const char *order[] = {"",
                           "1.0.0-alpha",
                           "1.0.0-alpha.1",
                           "1.0.0-alpha.beta",
                           "1.0.0-beta.2",
                           "1.0.0-beta.11",
                           "1.0.0-rc.1",
                           "1.0.0",
                           "1.0.0+1",
                           "1.0.1",
                           "1.10.0",
                           "2.0.0"};
    size_t count = sizeof order / sizeof order[0];

    (void)state;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count; k++) {
            int found = version_compare_text(str_from(order[i]), str_from(order[k]));

            assert_int_equal((found > 0) - (found < 0), (i > k) - (i < k));
        }
    }
}

static void what_is_no_version_is_not_read(void **state)
{
    version found;

    (void)state;
    assert_true(version_read(CG_LIT("1.2.3-a.b+c.d-e"), &found));
    assert_text(found.pre, "a.b");
    assert_text(found.build, "c.d-e");
    assert_false(version_read(CG_LIT("1.2"), &found));
    assert_false(version_read(CG_LIT("1.2.3.4"), &found));
    assert_false(version_read(CG_LIT("1.2.x"), &found));
    assert_false(version_read(CG_LIT("1.2.3-"), &found));
    assert_false(version_read(CG_LIT("1.2.3-a..b"), &found));
    assert_false(version_read(CG_LIT("99999999999999999999.0.0"), &found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requirements_mean_what_cargo_says),
        cmocka_unit_test(versions_have_an_order),
        cmocka_unit_test(what_is_no_version_is_not_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
