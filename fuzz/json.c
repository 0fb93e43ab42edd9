/*
 * json - the JSON reader on arbitrary bytes.
 *
 * What it accepts is UTF-8, nests at most as deep as allowed (counted here on the text), has only
 * finite numbers, and is written back by the JSON writer to a text that reads to the same values.
 */
#include <math.h>

#include "check.h"

#include "base/buf.h"
#include "codec/json.h"
#include "codec/jsonw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WRITE_DEPTH ((size_t)JW_DEPTH - 1)

static cg_code keep(void *context, const char *bytes, size_t count)
{
    buf *out = context;

    buf_add(out, (cg_str){bytes, count});
    return out->failed ? CG_OUTPUT : CG_OK;
}

static size_t text_depth(cg_str text)
{
    size_t depth = 0;
    size_t deepest = 0;
    bool in_string = false;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (in_string && c == '\\') {
            i++;
        } else if (c == '"') {
            in_string = !in_string;
        } else if (!in_string && (c == '[' || c == '{')) {
            if (++depth > deepest)
                deepest = depth;
        } else if (!in_string && (c == ']' || c == '}')) {
            depth--;
        }
    }
    return deepest;
}

static void check_number(yyjson_val *value)
{
    uint64_t integer = 7;
    double real = 7.0;

    CHECK(json_f64(value, &real) && isfinite(real));
    if (json_u64(value, &integer))
        CHECK((double)integer == real && !signbit(real));
    else
        CHECK(integer == 7);
}

static void write_scalar(jsonw *out, yyjson_val *value)
{
    uint64_t integer;
    double real = 0.0;

    if (yyjson_is_str(value))
        jw_str(out, json_text(value));
    else if (yyjson_is_bool(value))
        jw_bool(out, yyjson_get_bool(value));
    else if (yyjson_is_null(value))
        jw_null(out);
    else if (json_u64(value, &integer))
        jw_u64(out, integer);
    else if (yyjson_is_sint(value) && yyjson_get_sint(value) != 0)
        jw_i64(out, yyjson_get_sint(value));
    else if (json_f64(value, &real))
        jw_f64(out, real);
}

/* Values lie one behind the other; keys are every other item of an object. */
static void write_all(jsonw *out, yyjson_val *root, size_t count)
{
    yyjson_val *ends[WRITE_DEPTH + 1];
    bool is_object[WRITE_DEPTH + 1];
    bool is_key[WRITE_DEPTH + 1];
    size_t depth = 0;

    for (yyjson_val *value = root; value < root + count; value++) {
        while (depth > 0 && value >= ends[depth - 1]) {
            jw_end(out);
            depth--;
        }
        if (depth > 0 && is_object[depth - 1]) {
            is_key[depth - 1] = !is_key[depth - 1];
            if (is_key[depth - 1]) {
                jw_key(out, json_text(value));
                continue;
            }
        }
        if (!yyjson_is_ctn(value)) {
            write_scalar(out, value);
            continue;
        }
        if (yyjson_is_obj(value))
            jw_object(out);
        else
            jw_array(out);
        is_object[depth] = yyjson_is_obj(value);
        is_key[depth] = false;
        ends[depth++] = unsafe_yyjson_get_next(value);
    }
    for (; depth > 0; depth--)
        jw_end(out);
}

static void check_same(yyjson_val *a, yyjson_val *b)
{
    CHECK(unsafe_yyjson_get_type(a) == unsafe_yyjson_get_type(b));
    if (yyjson_is_num(a)) {
        double x = 0.0;
        double y = 1.0;

        CHECK(json_f64(a, &x) && json_f64(b, &y) && x == y && signbit(x) == signbit(y));
        CHECK(!yyjson_is_uint(a) || yyjson_get_uint(a) == yyjson_get_uint(b));
    } else if (yyjson_is_str(a)) {
        CHECK(str_equal(json_text(a), json_text(b)));
    } else if (yyjson_is_bool(a)) {
        CHECK(yyjson_get_bool(a) == yyjson_get_bool(b));
    } else {
        CHECK(yyjson_get_len(a) == yyjson_get_len(b));
    }
}

static void check_round_trip(heap *from, json_reader *reader, cg_str text, bool is_pretty)
{
    json_reader second;
    json_fault fault;
    yyjson_val *root = NULL;
    jsonw out;
    buf written;

    (void)text;
    buf_init(&written, from, SIZE_MAX);
    CHECK(jw_init(&out, from, (cg_sink){&written, keep}, is_pretty, false) == CG_OK);
    write_all(&out, reader->doc->root, reader->doc_count);
    CHECK(jw_finish(&out, NULL) == CG_OK);
    json_init(&second, from, 127);
    CHECK(json_read(&second, buf_text(&written), &root, &fault) == CG_OK);
    CHECK(second.doc_count == reader->doc_count);
    for (size_t i = 0; i < second.doc_count; i++)
        check_same(reader->doc->root + i, root + i);
    json_free(&second);
    buf_free(&written);
}

static void run(cg_str text, uint64_t ceiling)
{
    yyjson_val *root = NULL;
    json_fault fault = {0};
    json_reader reader;
    heap from;
    cg_code code;

    heap_init(&from, NULL);
    json_init(&reader, &from, ceiling);
    code = json_read(&reader, text, &root, &fault);
    if (code == CG_OK) {
        CHECK(str_utf8_error(text) == SIZE_MAX);
        CHECK(text_depth(text) <= ceiling);
        for (size_t i = 0; i < reader.doc_count; i++) {
            yyjson_val *value = root + i;

            if (yyjson_is_num(value))
                check_number(value);
            else if (yyjson_is_str(value))
                CHECK(str_utf8_error(json_text(value)) == SIZE_MAX);
            CHECK(json_kind_name(value)[0] != '\0');
        }
        if (text_depth(text) <= WRITE_DEPTH) {
            check_round_trip(&from, &reader, text, false);
            check_round_trip(&from, &reader, text, true);
        }
    } else {
        CHECK(code == CG_INPUT);
        CHECK(fault.text != NULL && fault.offset <= text.len);
        /* What is too deep is well formed otherwise: a higher ceiling lets it in. */
        if (fault.is_depth) {
            CHECK(fault.offset < text.len);
            CHECK(text.ptr[fault.offset] == '[' || text.ptr[fault.offset] == '{');
            json_free(&reader);
            json_init(&reader, &from, UINT64_MAX);
            CHECK(json_read(&reader, text, &root, &fault) == CG_OK);
        }
    }
    json_free(&reader);
    CHECK(from.used_bytes == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cg_str text = {(const char *)data, size};

    run(text, 127);
    run(text, 2);
    return 0;
}
