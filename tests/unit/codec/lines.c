#include "unit/base/failing.h"

#include "codec/lines.h"

/* A stream that hands out its text in pieces of `step` bytes and fails at its `fail_at`-th call. */
typedef struct stream {
    cg_str text;
    size_t at;
    size_t step;
    unsigned calls;
    unsigned fail_at;
} stream;

static cg_code fill(void *context, void *to, size_t count, size_t *ret, cg_err *reterr)
{
    stream *self = context;
    size_t left = self->text.len - self->at;

    assert_true(count > 0);
    if (++self->calls == self->fail_at)
        return cg_fail(reterr, PROBLEM_INPUT_UNREADABLE, "broken");
    if (count > self->step)
        count = self->step;
    if (count > left)
        count = left;
    memcpy(to, self->text.ptr + self->at, count);
    self->at += count;
    *ret = count;
    return CG_OK;
}

static void lines_and_their_places_are_told(void **state)
{
    static const cg_str text = {"one\n\n\r\ntwo\0x\nlast", 17};
    static const cg_str want[] = {{"one", 3}, {"", 0}, {"\r", 1}, {"two\0x", 5}, {"last", 4}};
    static const uint64_t offsets[] = {0, 4, 5, 7, 13};

    (void)state;
    for (size_t step = 1; step < 20; step++) {
        stream from_text = {.text = text, .step = step};
        heap from;
        lines read;
        cg_str line;
        bool more = false;

        heap_init(&from, NULL);
        assert_int_equal(lines_init(&read, &from, NULL, fill, &from_text, NULL), CG_OK);
        for (size_t i = 0; i < 5; i++) {
            assert_int_equal(lines_next(&read, &line, &more, NULL), CG_OK);
            assert_true(more);
            assert_true(str_equal(line, want[i]));
            assert_int_equal(read.number, i + 1);
            assert_int_equal(read.line_offset, offsets[i]);
            assert_int_equal(read.line_is_closed, i < 4);
        }
        for (int again = 0; again < 2; again++) {
            assert_int_equal(lines_next(&read, &line, &more, NULL), CG_OK);
            assert_false(more);
        }
        lines_free(&read);
        assert_int_equal(from.used_bytes, 0);
    }
}

static size_t count_lines(cg_str text)
{
    stream from_text = {.text = text, .step = 1000};
    heap from;
    lines read;
    cg_str line;
    bool more = true;
    size_t count = 0;

    heap_init(&from, NULL);
    assert_int_equal(lines_init(&read, &from, NULL, fill, &from_text, NULL), CG_OK);
    for (;; count++) {
        assert_int_equal(lines_next(&read, &line, &more, NULL), CG_OK);
        if (!more)
            break;
    }
    lines_free(&read);
    return count;
}

static void a_last_newline_begins_no_line(void **state)
{
    (void)state;
    assert_int_equal(count_lines(CG_LIT("")), 0);
    assert_int_equal(count_lines(CG_LIT("\n")), 1);
    assert_int_equal(count_lines(CG_LIT("a")), 1);
    assert_int_equal(count_lines(CG_LIT("a\n")), 1);
    assert_int_equal(count_lines(CG_LIT("a\n\n")), 2);
}

static void long_lines_grow_the_buffer(void **state)
{
    size_t len = 1500000;
    heap from;
    char *bytes;

    (void)state;
    heap_init(&from, NULL);
    bytes = heap_resize(&from, NULL, 0, len);
    memset(bytes, 'x', len);
    bytes[3] = '\n';
    bytes[len - 2] = '\n';
    for (size_t step = 70000; step < 4000000; step *= 3) {
        stream from_text = {.text = {bytes, len}, .step = step};
        lines read;
        cg_str line;
        bool more;

        assert_int_equal(lines_init(&read, &from, NULL, fill, &from_text, NULL), CG_OK);
        assert_int_equal(lines_next(&read, &line, &more, NULL), CG_OK);
        assert_int_equal(line.len, 3);
        assert_int_equal(lines_next(&read, &line, &more, NULL), CG_OK);
        assert_int_equal(line.len, len - 6);
        assert_memory_equal(line.ptr, bytes + 4, line.len);
        assert_int_equal(lines_next(&read, &line, &more, NULL), CG_OK);
        assert_int_equal(line.len, 1);
        assert_false(read.line_is_closed);
        lines_free(&read);
    }
    heap_resize(&from, bytes, len, 0);
}

static cg_code read_all(cg_str text, uint64_t line_ceiling, uint64_t total_ceiling, cg_err *err)
{
    stream from_text = {.text = text, .step = 7};
    cg_limits limits;
    cg_env env = {.size = sizeof env, .limits = &limits};
    heap from;
    lines read;
    cg_str line;
    bool more = true;
    cg_code code = CG_OK;

    limits_default(&limits);
    limits.value[CG_LIMIT_LINE_BYTES] = line_ceiling;
    limits.value[CG_LIMIT_DOCUMENT_BYTES] = total_ceiling;
    heap_init(&from, NULL);
    assert_int_equal(lines_init(&read, &from, &env, fill, &from_text, err), CG_OK);
    while (code == CG_OK && more)
        code = lines_next(&read, &line, &more, err);
    lines_free(&read);
    return code;
}

static void ceilings_hold_to_the_byte(void **state)
{
    cg_err err = {0};
    cg_err other = {0};

    (void)state;
    assert_int_equal(read_all(CG_LIT("abc\nabcd\nab"), 4, 11, &err), CG_OK);
    assert_int_equal(read_all(CG_LIT("abc\nabcd\nab"), 3, 11, &err), CG_LIMIT);
    assert_string_equal(err.problem, "limit");
    assert_non_null(strstr(err.text, "line-bytes"));
    assert_int_equal(err.line, 2);
    assert_int_equal(err.offset, 4);
    assert_int_equal(read_all(CG_LIT("abc\nabcd\nab"), 4, 10, &other), CG_LIMIT);
    assert_non_null(strstr(other.text, "document-bytes"));
    assert_int_equal(other.line, 3);
    assert_int_equal(other.offset, 9);
    assert_int_equal(read_all(CG_LIT("ab\n"), 2, 2, NULL), CG_LIMIT);
    assert_int_equal(read_all(CG_LIT("ab"), 2, 2, NULL), CG_OK);
}

static void a_ceiling_beyond_the_buffer_holds_too(void **state)
{
    size_t ceiling = 300000;
    heap from;
    char *bytes;

    (void)state;
    heap_init(&from, NULL);
    bytes = heap_resize(&from, NULL, 0, ceiling + 2);
    memset(bytes, 'x', ceiling + 2);
    bytes[ceiling] = '\n';
    assert_int_equal(read_all((cg_str){bytes, ceiling + 2}, ceiling, 1 << 20, NULL), CG_OK);
    assert_int_equal(read_all((cg_str){bytes, ceiling + 2}, ceiling - 1, 1 << 20, NULL), CG_LIMIT);
    heap_resize(&from, bytes, ceiling + 2, 0);
}

static void failures_of_the_stream_are_passed_on(void **state)
{
    (void)state;
    for (unsigned at = 1; at < 4; at++) {
        stream from_text = {.text = CG_LIT("a\nb\nc"), .step = 2, .fail_at = at};
        heap from;
        lines read;
        cg_str line;
        bool more = true;
        cg_code code = CG_OK;
        cg_err err = {0};
        unsigned count = 0;

        heap_init(&from, NULL);
        assert_int_equal(lines_init(&read, &from, NULL, fill, &from_text, &err), CG_OK);
        while (code == CG_OK && more) {
            code = lines_next(&read, &line, &more, &err);
            count += code == CG_OK;
        }
        assert_int_equal(code, CG_NOT_FOUND);
        assert_string_equal(err.text, "broken");
        assert_int_equal(count, at - 1);
        lines_free(&read);
    }
}

static void every_failing_request_is_survived(void **state)
{
    static char bytes[600000];

    (void)state;
    memset(bytes, 'x', sizeof bytes);
    for (size_t k = 1;; k++) {
        failing memory = {.fail_at = k};
        stream from_text = {.text = {bytes, sizeof bytes}, .step = 100000};
        heap from;
        lines read;
        cg_str line;
        bool more;
        cg_code code;

        heap_init(&from, failing_env(&memory));
        code = lines_init(&read, &from, NULL, fill, &from_text, NULL);
        if (code == CG_OK)
            code = lines_next(&read, &line, &more, NULL);
        assert_int_equal(code, memory.requests >= k ? CG_NOMEM : CG_OK);
        lines_free(&read);
        assert_nothing_held(&memory, &from);
        if (memory.requests < k)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_their_places_are_told),
        cmocka_unit_test(a_last_newline_begins_no_line),
        cmocka_unit_test(long_lines_grow_the_buffer),
        cmocka_unit_test(ceilings_hold_to_the_byte),
        cmocka_unit_test(a_ceiling_beyond_the_buffer_holds_too),
        cmocka_unit_test(failures_of_the_stream_are_passed_on),
        cmocka_unit_test(every_failing_request_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
