#include "unit/base/failing.h"

#include "base/intern.h"
#include "base/num.h"

static void symbols_count_from_one_in_order(void **state)
{
    heap from;
    intern table;

    (void)state;
    heap_init(&from, NULL);
    assert_true(intern_init(&table, &from, 1));
    assert_int_equal(intern_add(&table, CG_LIT("b")), 1);
    assert_int_equal(intern_add(&table, CG_LIT("a")), 2);
    assert_int_equal(intern_add(&table, CG_LIT("b")), 1);
    assert_int_equal(intern_add(&table, CG_LIT("")), 3);
    assert_int_equal(intern_add(&table, CG_LIT("")), 3);
    assert_int_equal(intern_add(&table, CG_LIT("b\0")), 4);
    assert_int_equal(intern_add(&table, (cg_str){NULL, 0}), 0);
    assert_int_equal(intern_find(&table, CG_LIT("a")), 2);
    assert_int_equal(intern_find(&table, CG_LIT("c")), 0);
    assert_int_equal(intern_find(&table, (cg_str){NULL, 0}), 0);
    assert_int_equal(intern_count(&table), 5);
    assert_null(intern_text_of(&table, 0).ptr);
    assert_non_null(intern_text_of(&table, 3).ptr);
    assert_int_equal(intern_text_of(&table, 4).len, 2);
    intern_free(&table);
    assert_int_equal(from.used_bytes, 0);
}

/* Texts of all lengths about the borders of the hash, and names that count. */
static cg_str make_text(char *out, uint32_t number)
{
    size_t len = number % 70;
    size_t digits = num_write_u64(out, number);

    memset(out + digits, 'x', 70);
    return (cg_str){out, digits + len};
}

static void growth_keeps_every_symbol(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        heap from;
        intern table;
        char text[128];

        heap_init(&from, NULL);
        assert_true(intern_init(&table, &from, seed == 5 ? UINT64_MAX : seed));
        for (uint32_t i = 0; i < 50000; i++)
            assert_int_equal(intern_add(&table, make_text(text, i)), i + 1);
        for (uint32_t i = 0; i < 50000; i++) {
            cg_str wanted = make_text(text, i);

            assert_int_equal(intern_find(&table, wanted), i + 1);
            assert_true(str_equal(intern_text_of(&table, i + 1), wanted));
        }
        assert_int_equal(intern_find(&table, CG_LIT("50000")), 0);
        intern_free(&table);
        assert_int_equal(from.used_bytes, 0);
    }
}

/* Texts that differ in the last byte only lie side by side; they must stay cheap and distinct. */
static void neighbours_are_told_apart(void **state)
{
    heap from;
    intern table;
    char text[8];

    (void)state;
    heap_init(&from, NULL);
    assert_true(intern_init(&table, &from, 3));
    for (uint32_t i = 0; i < 65536; i++) {
        memcpy(text, "abcde", 5);
        text[5] = (char)(i >> 8);
        text[6] = (char)i;
        assert_int_equal(intern_add(&table, (cg_str){text, 7}), i + 1);
    }
    for (uint32_t i = 0; i < 256; i++) {
        text[0] = (char)i;
        assert_int_equal(intern_add(&table, (cg_str){text, 1}), 65537 + i);
    }
    intern_free(&table);
}

/* Numbers with leading zeros, signs, too long, alone: each is a text of its own. */
static void ids_that_look_alike_are_told_apart(void **state)
{
    static const char pieces[] = "0123456789st/-";
    uint64_t seed = 31;
    heap from;
    intern table;

    (void)state;
    heap_init(&from, NULL);
    assert_true(intern_init(&table, &from, seed));
    for (unsigned i = 0; i < 4000; i++) {
        char text[24];
        uint64_t bits = test_random(&seed);
        size_t len = bits % (i % 4 == 0 ? sizeof text : 4);
        sym known = 0;
        sym symbol;

        for (size_t j = 0; j < len; j++) {
            bits = test_random(&seed);
            text[j] = pieces[bits % (j == 0 ? 14 : i % 3 == 0 ? 13 : 10)];
        }
        for (sym s = 1; s < intern_count(&table) && known == 0; s++)
            if (str_equal(intern_text_of(&table, s), (cg_str){text, len}))
                known = s;
        assert_int_equal(intern_find(&table, (cg_str){text, len}), known);
        symbol = intern_add(&table, (cg_str){text, len});
        assert_int_equal(symbol, known != 0 ? known : intern_count(&table) - 1);
        assert_int_equal(intern_find(&table, (cg_str){text, len}), symbol);
    }
    intern_free(&table);
    assert_int_equal(from.used_bytes, 0);
}

static void texts_longer_than_32_bits_are_refused(void **state)
{
    heap from;
    intern table;

    (void)state;
    heap_init(&from, NULL);
    assert_true(intern_init(&table, &from, 3));
    assert_int_equal(intern_add(&table, (cg_str){"", (size_t)UINT32_MAX + 1}), 0);
    assert_int_equal(intern_find(&table, (cg_str){"", (size_t)UINT32_MAX + 1}), 0);
    intern_free(&table);
}

static void every_failing_request_is_survived(void **state)
{
    (void)state;
    for (size_t k = 1;; k++) {
        failing memory = {.fail_at = k};
        heap from;
        intern table;
        char text[128];

        heap_init(&from, failing_env(&memory));
        if (intern_init(&table, &from, k)) {
            size_t failures = 0;

            for (uint32_t i = 0; i < 3000; i++) {
                cg_str wanted = make_text(text, i);
                sym symbol = intern_add(&table, wanted);

                if (symbol == 0) {
                    failures++;
                    symbol = intern_add(&table, wanted);
                }
                assert_int_equal(symbol, i + 1);
            }
            assert_int_equal(failures, memory.requests >= k);
            for (uint32_t i = 0; i < 3000; i++)
                assert_int_equal(intern_find(&table, make_text(text, i)), i + 1);
            intern_free(&table);
        }
        assert_nothing_held(&memory, &from);
        if (memory.requests < k)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbols_count_from_one_in_order),
        cmocka_unit_test(growth_keeps_every_symbol),
        cmocka_unit_test(neighbours_are_told_apart),
        cmocka_unit_test(ids_that_look_alike_are_told_apart),
        cmocka_unit_test(texts_longer_than_32_bits_are_refused),
        cmocka_unit_test(every_failing_request_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
