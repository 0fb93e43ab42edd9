#include "unit/base/failing.h"

#include <math.h>

#include "base/buf.h"
#include "codec/json.h"
#include "codec/jsonw.h"

static cg_code into_buf(void *context, const char *bytes, size_t count)
{
    buf *out = context;

    buf_add(out, (cg_str){bytes, count});
    return out->failed ? CG_OUTPUT : CG_OK;
}

typedef struct written {
    heap from;
    buf out;
    jsonw writer;
} written;

static void begin(written *self, bool is_pretty)
{
    heap_init(&self->from, NULL);
    buf_init(&self->out, &self->from, SIZE_MAX);
    assert_int_equal(
        jw_init(&self->writer, &self->from, (cg_sink){&self->out, into_buf}, is_pretty, false),
        CG_OK);
}

static void expect(written *self, const char *want)
{
    assert_int_equal(jw_finish(&self->writer, NULL), CG_OK);
    assert_text(buf_text(&self->out), want);
    assert_int_equal(self->writer.written_bytes, self->out.len);
    buf_free(&self->out);
    assert_int_equal(self->from.used_bytes, 0);
}

static void write_sample(jsonw *w)
{
    jw_object(w);
    jw_key(w, CG_LIT("a"));
    jw_u64(w, UINT64_MAX);
    jw_key(w, CG_LIT("b"));
    jw_array(w);
    jw_i64(w, -5);
    jw_f64(w, 0.5);
    jw_f64(w, -0.0);
    jw_f64(w, NAN);
    jw_f64(w, -INFINITY);
    jw_object(w);
    jw_end(w);
    jw_array(w);
    jw_end(w);
    jw_end(w);
    jw_key(w, CG_LIT("c"));
    jw_bool(w, true);
    jw_key(w, CG_LIT("d"));
    jw_null(w);
    jw_key(w, CG_LIT(""));
    jw_str(w, CG_LIT(""));
    jw_key(w, CG_LIT("e"));
    jw_str(w, (cg_str){NULL, 0});
    jw_end(w);
}

static void compact_has_no_space(void **state)
{
    written to;

    (void)state;
    begin(&to, false);
    write_sample(&to.writer);
    expect(&to, "{\"a\":18446744073709551615,\"b\":[-5,0.5,-0.0,null,null,{},[]],\"c\":true,"
                "\"d\":null,\"\":\"\",\"e\":null}");
}

static void pretty_has_two_spaces_and_a_last_newline(void **state)
{
    written to;

    (void)state;
    begin(&to, true);
    write_sample(&to.writer);
    expect(&to, "{\n  \"a\": 18446744073709551615,\n  \"b\": [\n    -5,\n    0.5,\n    -0.0,\n"
                "    null,\n    null,\n    {},\n    []\n  ],\n  \"c\": true,\n  \"d\": null,\n"
                "  \"\": \"\",\n  \"e\": null\n}\n");
}

static void empty_documents_are_short(void **state)
{
    written to;

    (void)state;
    begin(&to, true);
    jw_object(&to.writer);
    jw_end(&to.writer);
    expect(&to, "{}\n");
    begin(&to, false);
    jw_str(&to.writer, CG_LIT("x"));
    expect(&to, "\"x\"");
}

static void only_what_must_be_is_escaped(void **state)
{
    written to;

    (void)state;
    begin(&to, false);
    jw_str(&to.writer, CG_LIT("\"\\/\b\f\n\r\t\x01\x1F\x7F\0\xC3\xA9</script>"));
    expect(&to, "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7F\\u0000\xC3\xA9</script>\"");
}

/* Every byte at every place of a word, read back by the reader. */
static void any_text_reads_back(void **state)
{
    static const size_t lengths[] = {1, 7, 8, 9, 16, 33, 10879, 10900, 70000, 200000};
    uint64_t seed = 17;

    (void)state;
    for (size_t i = 0; i < 10 + 2000; i++) {
        size_t len = i < 10 ? lengths[i] : test_random(&seed) % 40;
        bool is_hostile = i % 2 == 0;
        written to;
        json_reader reader;
        json_fault fault;
        yyjson_val *value;
        cg_str text;
        char *bytes;

        begin(&to, i % 3 == 0);
        bytes = heap_resize(&to.from, NULL, 0, len + 1);
        for (size_t j = 0; j < len; j++) {
            uint64_t bits = test_random(&seed);

            bytes[j] = is_hostile || bits % 16 == 0 ? (char)(bits >> 8 & 0x7F) : 'a';
        }
        text = (cg_str){bytes, len};
        jw_object(&to.writer);
        jw_key(&to.writer, text);
        jw_str(&to.writer, text);
        jw_end(&to.writer);
        assert_int_equal(jw_finish(&to.writer, NULL), CG_OK);
        json_init(&reader, &to.from, 127);
        assert_int_equal(json_read(&reader, buf_text(&to.out), &value, &fault), CG_OK);
        value = yyjson_obj_getn(value, bytes, len);
        assert_non_null(value);
        assert_true(str_equal(json_text(value), text));
        json_free(&reader);
        heap_resize(&to.from, bytes, len + 1, 0);
        buf_free(&to.out);
        assert_int_equal(to.from.used_bytes, 0);
    }
}

static void long_documents_come_in_order(void **state)
{
    written to;
    json_reader reader;
    json_fault fault;
    yyjson_val *value;
    yyjson_val *item;
    size_t index;
    size_t max;

    (void)state;
    begin(&to, true);
    jw_array(&to.writer);
    for (uint64_t i = 0; i < 100000; i++)
        jw_u64(&to.writer, i);
    jw_end(&to.writer);
    assert_int_equal(jw_finish(&to.writer, NULL), CG_OK);
    json_init(&reader, &to.from, 127);
    assert_int_equal(json_read(&reader, buf_text(&to.out), &value, &fault), CG_OK);
    yyjson_arr_foreach(value, index, max, item) assert_int_equal(yyjson_get_uint(item), index);
    assert_int_equal(max, 100000);
    json_free(&reader);
    buf_free(&to.out);
}

static void the_deepest_document_fits(void **state)
{
    written to;

    (void)state;
    begin(&to, true);
    for (unsigned i = 0; i < JW_DEPTH; i++)
        jw_array(&to.writer);
    jw_u64(&to.writer, UINT64_MAX);
    for (unsigned i = 0; i < JW_DEPTH; i++)
        jw_end(&to.writer);
    assert_int_equal(jw_finish(&to.writer, NULL), CG_OK);
    buf_free(&to.out);
}

typedef struct stubborn {
    unsigned calls;
    unsigned fail_at;
    cg_code code;
} stubborn;

static cg_code refuse(void *context, const char *bytes, size_t count)
{
    stubborn *self = context;

    (void)bytes;
    (void)count;
    return ++self->calls >= self->fail_at ? self->code : CG_OK;
}

static void the_first_failure_is_kept(void **state)
{
    static const cg_code codes[] = {CG_OUTPUT, CG_CLOSED};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        for (unsigned at = 1; at < 5; at++) {
            stubborn sink = {.fail_at = at, .code = codes[i]};
            heap from;
            jsonw writer;
            cg_err err = {0};

            heap_init(&from, NULL);
            assert_int_equal(jw_init(&writer, &from, (cg_sink){&sink, refuse}, true, false), CG_OK);
            jw_array(&writer);
            for (unsigned j = 0; j < 50000; j++)
                jw_str(&writer, CG_LIT("some text"));
            jw_end(&writer);
            assert_int_equal(jw_finish(&writer, &err), codes[i]);
            assert_int_equal(sink.calls, at);
            assert_int_equal(from.used_bytes, 0);
        }
    }
}

static void a_writer_without_memory_is_harmless(void **state)
{
    failing memory = {.fail_at = 1};
    stubborn sink = {.fail_at = 1, .code = CG_OUTPUT};
    heap from;
    jsonw writer;

    (void)state;
    heap_init(&from, failing_env(&memory));
    assert_int_equal(jw_init(&writer, &from, (cg_sink){&sink, refuse}, true, false), CG_NOMEM);
    write_sample(&writer);
    assert_int_equal(jw_finish(&writer, NULL), CG_NOMEM);
    assert_int_equal(sink.calls, 0);
    assert_nothing_held(&memory, &from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compact_has_no_space),
        cmocka_unit_test(pretty_has_two_spaces_and_a_last_newline),
        cmocka_unit_test(empty_documents_are_short),
        cmocka_unit_test(only_what_must_be_is_escaped),
        cmocka_unit_test(any_text_reads_back),
        cmocka_unit_test(long_documents_come_in_order),
        cmocka_unit_test(the_deepest_document_fits),
        cmocka_unit_test(the_first_failure_is_kept),
        cmocka_unit_test(a_writer_without_memory_is_harmless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
