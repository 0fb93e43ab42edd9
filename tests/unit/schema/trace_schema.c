#include "unit/base/failing.h"

#include "schema/trace_schema.h"

static void the_size_of_an_element_is_known_by_name(void **state)
{
    static const struct {
        const char *name;
        unsigned bytes;
    } want[] = {{"u8", 1},
                {"i8", 1},
                {"bool", 1},
                {"f8", 1},
                {"u16", 2},
                {"i16", 2},
                {"f16", 2},
                {"bf16", 2},
                {"u32", 4},
                {"i32", 4},
                {"f32", 4},
                {"u64", 8},
                {"i64", 8},
                {"f64", 8},
                {" F32\t", 4},
                {"\xc2\xa0"
                 "BF16",
                 2},
                {"Bool", 1},
                {"", 0},
                {" ", 0},
                {"f128", 0},
                {"float", 0},
                {"f3", 0},
                {"f322", 0},
                {"f 32", 0},
                {"q4_0", 0},
                {"f8e4m3", 0}};

    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        if (trace_dtype_bytes(str_from(want[i].name)) != want[i].bytes)
            fail_msg("%s", want[i].name);
}

static uint64_t dense(const uint64_t *axes, size_t count, const char *dtype)
{
    uint64_t bytes = 77;

    assert_true(trace_dense_bytes((sc_u64s){axes, count}, str_from(dtype), &bytes));
    return bytes;
}

static void the_dense_footprint_saturates(void **state)
{
    const uint64_t small[] = {2, 3};
    const uint64_t large[] = {UINT64_C(1) << 32, UINT64_C(1) << 31};
    const uint64_t huge[] = {UINT64_MAX, UINT64_MAX};
    const uint64_t huge_then_zero[] = {UINT64_MAX, UINT64_MAX, 0};
    const uint64_t zero_then_huge[] = {0, UINT64_MAX, UINT64_MAX};
    uint64_t bytes = 77;

    (void)state;
    assert_true(dense(NULL, 0, "f64") == 8);
    assert_true(dense(small, 2, "bf16") == 12);
    assert_true(dense(large, 2, "u8") == UINT64_C(1) << 63);
    assert_true(dense(large, 2, "u16") == UINT64_MAX);
    assert_true(dense(huge, 2, "u8") == UINT64_MAX);
    assert_true(dense(huge_then_zero, 3, "f32") == 0);
    assert_true(dense(zero_then_huge, 3, "f32") == 0);
    assert_false(trace_dense_bytes((sc_u64s){small, 2}, CG_LIT("q8"), &bytes));
    assert_true(bytes == 77);
}

static void tables_are_within_what_reader_and_writer_can_hold(void **state)
{
    static const sc_table *const tables[] = {
#define X(prefix, name, text) &table_##name,
        TRACE_PARTS(X) TRACE_RECORDS(X)
#undef X
    };

    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        const sc_table *table = tables[i];

        assert_true(table->count > 0 && table->count <= SC_MAX_FIELDS);
        for (unsigned a = 0; a < table->count; a++) {
            assert_true(table->fields[a].key.len > 0);
            assert_true(table->fields[a].offset < table->size);
            for (unsigned b = 0; b < a; b++)
                assert_false(str_equal(table->fields[a].key, table->fields[b].key));
        }
    }
}

static void records_start_with_their_kind(void **state)
{
    static const sc_table *const tables[] = {
#define X(prefix, name, text) &table_##name,
        TRACE_RECORDS(X)
#undef X
    };

    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        assert_text(tables[i]->fields[0].key, "kind");
        assert_int_equal(tables[i]->fields[0].type, SC_TAG);
        assert_true(tables[i]->tag.len > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_size_of_an_element_is_known_by_name),
        cmocka_unit_test(the_dense_footprint_saturates),
        cmocka_unit_test(tables_are_within_what_reader_and_writer_can_hold),
        cmocka_unit_test(records_start_with_their_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
