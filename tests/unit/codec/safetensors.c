#include "unit/base/failing.h"

#include <stdio.h>

#include "codec/safetensors.h"
#include "support/folder.h"

static const char pair_text[] =
    "{\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[2,10]},\"__metadata__\":{\"format\":"
    "\"pt\"},\"a\":{\"dtype\":\"BF16\",\"shape\":[],\"data_offsets\":[0,2]}}";

static cg_code parse(heap *from, const char *text, uint64_t data_bytes, tensor_header *ret,
                     cg_err *reterr)
{
    *reterr = (cg_err){0};
    return safetensors_parse(NULL, from, CG_LIT("f"), str_from(text), data_bytes, ret, reterr);
}

static void tensors_come_in_order_of_their_names(void **state)
{
    heap from;
    tensor_header header;
    cg_err err;

    (void)state;
    heap_init(&from, NULL);
    assert_int_equal(parse(&from, pair_text, 10, &header, &err), CG_OK);
    assert_int_equal(header.tensor_count, 2);
    assert_text(header.tensors[0].name, "a");
    assert_int_equal(header.tensors[0].rank, 0);
    assert_int_equal(header.tensors[0].dtype, TENSOR_BF16);
    assert_int_equal(safetensors_find(&header, CG_LIT("b"))->shape[0], 2);
    assert_null(safetensors_find(&header, CG_LIT("c")));
    safetensors_free(&header);
    assert_int_equal(from.used_bytes, 0);
}

static void what_candle_refuses_is_refused_with_its_reason(void **state)
{
    static const struct {
        const char *text;
        uint64_t data_bytes;
        const char *problem;
    } cases[] = {
        {"", 0, "safetensors-json"},
        {"[]", 0, "safetensors-json"},
        {"{} x", 0, "safetensors-json"},
        {"{\"__metadata__\":{\"a\":1}}", 0, "safetensors-metadata"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "safetensors-entry"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}", 4,
         "safetensors-entry"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4,
         "safetensors-entry"},
        {"{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
         "safetensors-entry"},
        {"{\"a\":{\"dtype\":\"F33\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
         "safetensors-dtype"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8,
         "safetensors-offsets"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, "safetensors-size"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[9223372036854775807,9],\"data_offsets\":[0,4]}}", 4,
         "safetensors-size"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 5, "safetensors-data"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
         "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
         8, "safetensors-tensor-twice"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        heap from;
        tensor_header header;
        cg_err err;

        heap_init(&from, NULL);
        assert_int_equal(parse(&from, cases[i].text, cases[i].data_bytes, &header, &err), CG_INPUT);
        assert_string_equal(err.problem, cases[i].problem);
        assert_int_equal(from.used_bytes, 0);
    }
}

static void names_are_kept_whole(void **state)
{
    heap from;
    tensor_header header;
    cg_err err;

    (void)state;
    heap_init(&from, NULL);
    assert_int_equal(
        parse(&from, "{\"a\\u0000b\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0,
              &header, &err),
        CG_OK);
    assert_int_equal(header.tensors[0].name.len, 3);
    safetensors_free(&header);
}

static void write_file(const folder *at, const char *name, const char *text, size_t data_bytes)
{
    char bytes[1024] = {0};
    size_t len = strlen(text);

    bytes[0] = (char)(len & 0xff);
    bytes[1] = (char)(len >> 8);
    memcpy(bytes + 8, text, len);
    folder_write_bytes(at, name, bytes, 8 + len + data_bytes);
}

static cg_code open_in(heap *from, const folder *at, const char *name, tensor_header *ret,
                       cg_err *reterr)
{
    char path[160];
    int len = snprintf(path, sizeof path, "%s/%s", at->path, name);

    *reterr = (cg_err){0};
    return safetensors_open(NULL, from, (cg_str){path, (size_t)len}, ret, reterr);
}

static void an_index_says_which_shard_is_absent(void **state)
{
    folder at;
    heap from;
    tensor_header header;
    cg_err err;

    (void)state;
    heap_init(&from, NULL);
    folder_make(&at);
    write_file(&at, "one.safetensors", pair_text, 10);
    folder_write(&at, "m.safetensors.index.json",
                 "{\"weight_map\":{\"a\":\"one.safetensors\",\"c\":\"two.safetensors\"}}");
    assert_int_equal(open_in(&from, &at, "m.safetensors.index.json", &header, &err), CG_OK);
    assert_true(header.is_indexed);
    assert_int_equal(header.tensor_count, 2);
    assert_int_equal(header.file_count, 2);
    assert_true(header.files[0].is_present);
    assert_false(header.files[1].is_present);
    assert_int_equal(header.difference_count, 2);
    assert_text(header.differences[0].name, "b");
    assert_null(header.differences[0].listed.ptr);
    assert_text(header.differences[1].listed, "two.safetensors");
    assert_null(header.differences[1].found.ptr);
    safetensors_free(&header);
    assert_int_equal(open_in(&from, &at, "", &header, &err), CG_OK);
    safetensors_free(&header);
    folder_write(&at, "m.safetensors.index.json",
                 "{\"weight_map\":{\"a\":\"../one.safetensors\"}}");
    assert_int_equal(open_in(&from, &at, "m.safetensors.index.json", &header, &err), CG_INPUT);
    assert_string_equal(err.problem, "safetensors-index-path");
    folder_write(&at, "m.safetensors.index.json", "{}");
    assert_int_equal(open_in(&from, &at, "m.safetensors.index.json", &header, &err), CG_INPUT);
    assert_string_equal(err.problem, "safetensors-index");
    folder_remove(&at);
    assert_int_equal(from.used_bytes, 0);
}

static void other_formats_are_refused_by_name(void **state)
{
    static const char *const files[][2] = {
        {"GGUF\3\0\0\0\1\1\1\1", "a GGUF file"},
        {"PK\3\4aaaaaaaaaa", "a zip archive"},
        {"\x80\x02\x8a\nl\xfc\x9c"
         "F\xf9 j",
         "a Python pickle"},
        {"version https://git-lfs.github.com/spec/v1", "a Git LFS pointer"},
        {"<!DOCTYPE html><html>", "an HTML page"},
    };
    folder at;
    heap from;
    tensor_header header;
    cg_err err;

    (void)state;
    heap_init(&from, NULL);
    folder_make(&at);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        folder_write_bytes(&at, "x.safetensors", files[i][0], i == 0 ? 12 : strlen(files[i][0]));
        assert_int_equal(open_in(&from, &at, "x.safetensors", &header, &err), CG_INPUT);
        assert_string_equal(err.problem, "checkpoint-format");
        assert_non_null(strstr(err.text, files[i][1]));
    }
    folder_write(&at, "x.safetensors", "short");
    assert_int_equal(open_in(&from, &at, "x.safetensors", &header, &err), CG_INPUT);
    assert_string_equal(err.problem, "safetensors-length");
    assert_int_equal(open_in(&from, &at, "none.safetensors", &header, &err), CG_NOT_FOUND);
    folder_remove(&at);
    assert_int_equal(from.used_bytes, 0);
}

static void every_refused_allocation_is_told(void **state)
{
    (void)state;
    for (size_t k = 1; k < 60; k++) {
        failing memory = {.fail_at = k};
        heap from;
        tensor_header header;
        cg_err err;

        heap_init(&from, failing_env(&memory));
        if (parse(&from, pair_text, 10, &header, &err) == CG_OK)
            safetensors_free(&header);
        else
            assert_int_equal(err.code, CG_NOMEM);
        assert_nothing_held(&memory, &from);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_come_in_order_of_their_names),
        cmocka_unit_test(what_candle_refuses_is_refused_with_its_reason),
        cmocka_unit_test(names_are_kept_whole),
        cmocka_unit_test(an_index_says_which_shard_is_absent),
        cmocka_unit_test(other_formats_are_refused_by_name),
        cmocka_unit_test(every_refused_allocation_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
