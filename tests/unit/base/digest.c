#include "unit/base/failing.h"

#include "base/digest.h"

static void the_published_examples_hold(void **state)
{
    static const struct {
        const char *text;
        const char *want;
    } cases[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        digest sum;
        uint8_t bytes[DIGEST_BYTES];
        char hex[DIGEST_HEX];
        cg_err err = {0};

        assert_int_equal(digest_start(&sum, &err), CG_OK);
        for (const char *p = cases[i].text; *p != '\0'; p++)
            digest_add(&sum, p, 1);
        digest_add(&sum, NULL, 0);
        assert_int_equal(digest_finish(&sum, bytes, &err), CG_OK);
        digest_hex(bytes, hex);
        assert_text((cg_str){hex, sizeof hex}, cases[i].want);
        digest_drop(&sum);
    }
}

static void a_dropped_digest_reports_a_defect(void **state)
{
    digest sum;
    uint8_t bytes[DIGEST_BYTES];
    cg_err err = {0};

    (void)state;
    assert_int_equal(digest_start(&sum, &err), CG_OK);
    digest_drop(&sum);
    digest_add(&sum, "x", 1);
    assert_int_equal(digest_finish(&sum, bytes, &err), CG_INTERNAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_examples_hold),
        cmocka_unit_test(a_dropped_digest_reports_a_defect),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
