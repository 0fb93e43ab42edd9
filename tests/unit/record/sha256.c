#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/describe.h"
#include "record/sha256.h"

static void expect(const char *text, size_t times, const char *want)
{
    sha256 sum;
    char have[65];

    sha256_init(&sum);
    for (size_t i = 0; i < times; i++) {
        sha256_add(&sum, text, strlen(text));
    }
    sha256_hex(&sum, have);
    assert_string_equal(have, want);
}

static void published_vectors_hold(void **state)
{
    (void)state;
    expect("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
           "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    expect("aaaaaaaaaa", 100000,
           "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void every_length_pads_to_whole_blocks(void **state)
{
    /* One byte at a time and all at once agree around the block sizes. */
    char bytes[200];

    (void)state;
    memset(bytes, 'x', sizeof bytes);
    for (size_t length = 0; length <= sizeof bytes; length++) {
        sha256 one;
        sha256 all;
        char a[65];
        char b[65];

        sha256_init(&one);
        sha256_init(&all);
        for (size_t i = 0; i < length; i++) {
            sha256_add(&one, bytes + i, 1);
        }
        sha256_add(&all, bytes, length);
        sha256_hex(&one, a);
        sha256_hex(&all, b);
        assert_string_equal(a, b);
    }
}

static void the_manifest_digest_is_the_specified_one(void **state)
{
    const cg_record_gradient_entry entries[] = {{"net", "a.w", "live"},
                                                {"net", "b.w", "live"},
                                                {"net", "c.\xc3\xa9", "cold"},
                                                {"aux", "g", "maybe"}};
    const cg_record_gradients manifest = {.expected = entries, .expected_count = 4};
    char digest[72];

    (void)state;
    describe_digest(&manifest, digest);
    assert_string_equal(digest,
                        "sha256:12cacfa7a7dd7fe73a2af4c9c3b9824dcf0f8c9b8043a57397250a1e77825c98");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_vectors_hold),
        cmocka_unit_test(every_length_pads_to_whole_blocks),
        cmocka_unit_test(the_manifest_digest_is_the_specified_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
