#include "../base/failing.h"

#include "codec/csv.h"

/* Bytes in memory, given out in small portions. */
typedef struct source {
    cg_str text;
    size_t portion; /* 0: all at once */
} source;

static cg_code fill(void *context, void *to, size_t count, size_t *ret, cg_err *reterr)
{
    source *self = context;

    (void)reterr;
    if (self->portion > 0 && count > self->portion)
        count = self->portion;
    if (count > self->text.len)
        count = self->text.len;
    memcpy(to, self->text.ptr, count);
    self->text.ptr += count;
    self->text.len -= count;
    *ret = count;
    return CG_OK;
}

/* All rows as `number@line:cell|cell;`, then the failure. */
static cg_code read_all(const cg_env *env, source from, bool is_searching, buf *out, cg_err *err)
{
    csv_reader reader;
    heap memory;
    bool has_more = true;
    cg_code code;

    heap_init(&memory, env);
    code = csv_reader_init(&reader, &memory, env, fill, &from, err);
    if (code != CG_OK)
        return code;
    reader.is_searching = is_searching;
    while (code == CG_OK && has_more) {
        csv_row row;

        code = csv_reader_next(&reader, &row, &has_more, err);
        if (code != CG_OK || !has_more)
            continue;
        buf_addf(out, "%u@%u:", (unsigned)row.number, (unsigned)row.line);
        for (size_t i = 0; i < row.count; i++) {
            if (i > 0)
                buf_byte(out, '|');
            buf_add(out, row.cells[i]);
        }
        buf_byte(out, ';');
    }
    csv_reader_free(&reader);
    assert_int_equal(memory.used_bytes, 0);
    return code;
}

/* The same rows whatever the portions are. */
static void expect_rows(cg_str text, const char *want)
{
    static const size_t portions[] = {0, 1, 2, 3, 7};
    heap memory;
    buf out;

    heap_init(&memory, NULL);
    buf_init(&out, &memory, SIZE_MAX);
    for (size_t i = 0; i < sizeof portions / sizeof portions[0]; i++) {
        cg_err err = {0};

        buf_clear(&out);
        if (read_all(NULL, (source){text, portions[i]}, false, &out, &err) != CG_OK)
            fail_msg("%s", err.text);
        assert_text(buf_text(&out), want);
    }
    buf_free(&out);
}

static void expect_refusal(cg_str text, cg_code code, uint64_t line, const char *part)
{
    heap memory;
    buf out;
    cg_err err = {0};

    heap_init(&memory, NULL);
    buf_init(&out, &memory, SIZE_MAX);
    assert_int_equal(read_all(NULL, (source){text, 3}, false, &out, &err), code);
    assert_int_equal(err.line, line);
    if (strstr(err.text, part) == NULL)
        fail_msg("`%s` does not say `%s`", err.text, part);
    buf_free(&out);
}

static void every_line_end_ends_a_row_and_empty_lines_are_none(void **state)
{
    (void)state;
    expect_rows(CG_LIT("a,b\nc,d"), "1@1:a|b;2@2:c|d;");
    expect_rows(CG_LIT("a,b\r\n\r\n\r\nc,d\r\n"), "1@1:a|b;2@4:c|d;");
    expect_rows(CG_LIT("a\rb\r\rc\r"), "1@1:a;2@2:b;3@4:c;");
    expect_rows(CG_LIT(""), "");
    expect_rows(CG_LIT("\n\r\n"), "");
}

static void rows_differ_in_length_and_keep_empty_cells(void **state)
{
    (void)state;
    expect_rows(CG_LIT("a,b,c\n1\n,,\n\"\"\n1,2,\n"), "1@1:a|b|c;2@2:1;3@3:||;4@4:;5@5:1|2|;");
}

static void white_space_belongs_to_the_cell(void **state)
{
    (void)state;
    expect_rows(CG_LIT(" a ,\tb\n  \n"), "1@1: a |\tb;2@2:  ;");
}

static void quoted_cells_hold_commas_quotes_and_lines(void **state)
{
    (void)state;
    expect_rows(CG_LIT("\"a,b\",\"c\"\"d\"\n\"x\ny\r\nz\",1\nend\n"),
                "1@1:a,b|c\"d;2@2:x\ny\r\nz|1;3@5:end;");
}

static void a_quote_inside_an_unquoted_cell_is_data(void **state)
{
    (void)state;
    expect_rows(CG_LIT("op<\"gelu\">,7\na\"b\"\"c,1\nnext\n"),
                "1@1:op<\"gelu\">|7;2@2:a\"b\"\"c|1;3@3:next;");
}

static void a_byte_order_mark_is_skipped(void **state)
{
    (void)state;
    expect_rows(CG_LIT("\xEF\xBB\xBFName,x\n"), "1@1:Name|x;");
    expect_rows(CG_LIT("\xEF\xBB\xBF"), "");
    expect_rows(CG_LIT("\xEF\xBB\xBF\"q\",x\n"), "1@1:q|x;");
}

static void an_open_quote_is_refused_with_its_row_and_line(void **state)
{
    (void)state;
    expect_refusal(CG_LIT("a,b\n\n1,2\n3,\"4\n5,6\n"), CG_INPUT, 4, "row 3: a quote is opened");
}

static void text_behind_a_closing_quote_is_refused(void **state)
{
    (void)state;
    expect_refusal(CG_LIT("a\n\"x\"y\n"), CG_INPUT, 2, "row 2: text behind");
    expect_refusal(CG_LIT("a\n\"x\" ,1\n"), CG_INPUT, 2, "row 2: text behind");
}

static void nul_and_broken_text_are_refused(void **state)
{
    (void)state;
    expect_refusal(CG_LIT("a\nb\0c\n"), CG_INPUT, 2, "NUL");
    expect_refusal(CG_LIT("\xFF\xFEN\0a\0"), CG_INPUT, 1, "NUL");
    expect_refusal(CG_LIT("a\nb,\xC3(\n"), CG_INPUT, 2, "UTF-8");
    /* Two halves of a character in neighbouring cells are no character. */
    expect_refusal(CG_LIT("\xC3,\xA9\n"), CG_INPUT, 1, "UTF-8");
}

static void while_searching_each_line_stands_alone(void **state)
{
    heap memory;
    buf out;
    cg_err err = {0};

    (void)state;
    heap_init(&memory, NULL);
    buf_init(&out, &memory, SIZE_MAX);
    assert_int_equal(read_all(NULL,
                              (source){CG_LIT("Processing \"x\n\n\"open, 1\n\"a\"b,c\n"
                                              "\xFF,2\nName,Total\n\"rest"),
                                       1},
                              true, &out, &err),
                     CG_OK);
    assert_text(buf_text(&out), "1@1:Processing \"x;2@3:;3@4:;4@5:;5@6:Name|Total;6@7:;");
    buf_free(&out);
}

static cg_code read_limited(unsigned limit, uint64_t value, cg_str text, cg_err *err)
{
    cg_limits limits;
    cg_env env = {.size = sizeof env, .limits = &limits};
    heap memory;
    buf out;
    cg_code code;

    limits_default(&limits);
    limits.value[limit] = value;
    heap_init(&memory, NULL);
    buf_init(&out, &memory, SIZE_MAX);
    code = read_all(&env, (source){text, 0}, false, &out, err);
    buf_free(&out);
    return code;
}

static void ceilings_are_exact_and_named(void **state)
{
    static const struct {
        unsigned limit;
        cg_str fits;
        cg_str exceeds;
        const char *word;
    } cases[] = {
        {CG_LIMIT_CSV_CELL_BYTES, {"abcd,abcd\n", 10}, {"abcde\n", 6}, "csv-cell-bytes"},
        {CG_LIMIT_CSV_ROW_CELLS, {"1,2,3,4\n", 8}, {"1,2,3,4,5\n", 10}, "csv-row-cells"},
        {CG_LIMIT_CSV_ROWS, {"1\n2\n3\n4\n", 8}, {"1\n2\n3\n4\n5\n", 10}, "csv-rows"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cg_err err = {0};

        assert_int_equal(read_limited(cases[i].limit, 4, cases[i].fits, &err), CG_OK);
        assert_int_equal(read_limited(cases[i].limit, 4, cases[i].exceeds, &err), CG_LIMIT);
        assert_non_null(strstr(err.text, cases[i].word));
        assert_true(err.line > 0);
    }
}

/* A quote that is never closed must not make the reader hold the rest of the file. */
static cg_code fill_forever(void *context, void *to, size_t count, size_t *ret, cg_err *reterr)
{
    bool *is_begun = context;

    (void)reterr;
    memset(to, 'x', count);
    if (!*is_begun)
        *(char *)to = '"';
    *is_begun = true;
    *ret = count;
    return CG_OK;
}

static void an_endless_cell_is_refused_at_its_ceiling(void **state)
{
    csv_reader reader;
    csv_row row;
    heap memory;
    bool is_begun = false, has_more;
    cg_err err = {0};

    (void)state;
    heap_init(&memory, NULL);
    assert_int_equal(csv_reader_init(&reader, &memory, NULL, fill_forever, &is_begun, &err), CG_OK);
    assert_int_equal(csv_reader_next(&reader, &row, &has_more, &err), CG_LIMIT);
    csv_reader_free(&reader);
    assert_int_equal(memory.used_bytes, 0);
    assert_true(memory.peak_bytes < (uint64_t)4 << 20);
}

static void every_failing_request_is_reported_and_nothing_is_held(void **state)
{
    (void)state;
    for (size_t k = 1;; k++) {
        failing memory = {.fail_at = k};
        const cg_env *env = failing_env(&memory);
        heap scratch;
        buf out;
        cg_err err = {0};
        cg_code code;

        heap_init(&scratch, NULL);
        buf_init(&out, &scratch, SIZE_MAX);
        code = read_all(env, (source){CG_LIT("a,\"b\nc\",d\n1,2,3\n"), 0}, false, &out, &err);
        buf_free(&out);
        assert_int_equal(memory.blocks, 0);
        if (code == CG_OK) {
            assert_true(k > 4);
            return;
        }
        assert_int_equal(code, CG_NOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_end_ends_a_row_and_empty_lines_are_none),
        cmocka_unit_test(rows_differ_in_length_and_keep_empty_cells),
        cmocka_unit_test(white_space_belongs_to_the_cell),
        cmocka_unit_test(quoted_cells_hold_commas_quotes_and_lines),
        cmocka_unit_test(a_quote_inside_an_unquoted_cell_is_data),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(an_open_quote_is_refused_with_its_row_and_line),
        cmocka_unit_test(text_behind_a_closing_quote_is_refused),
        cmocka_unit_test(nul_and_broken_text_are_refused),
        cmocka_unit_test(while_searching_each_line_stands_alone),
        cmocka_unit_test(ceilings_are_exact_and_named),
        cmocka_unit_test(an_endless_cell_is_refused_at_its_ceiling),
        cmocka_unit_test(every_failing_request_is_reported_and_nothing_is_held),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
