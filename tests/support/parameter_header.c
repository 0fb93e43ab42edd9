#include "support/parameter_header.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"

static cg_str word_of(cg_str *line)
{
    size_t at = str_find(*line, CG_LIT(" "));
    cg_str word = at == SIZE_MAX ? *line : (cg_str){line->ptr, at};

    *line = at == SIZE_MAX ? (cg_str){"", 0} : str_trim((cg_str){line->ptr + at, line->len - at});
    return word;
}

static uint64_t bytes_of(cg_str dtype)
{
    if (str_equal(dtype, CG_LIT("F32")) || str_equal(dtype, CG_LIT("U32")))
        return 4;
    return str_equal(dtype, CG_LIT("I64")) ? 8 : 2;
}

static void add_line(buf *out, cg_str line, uint64_t *place)
{
    cg_str name = word_of(&line);
    cg_str dtype = word_of(&line);
    uint64_t size = bytes_of(dtype);

    buf_addf(out, "%s\"%.*s\":{\"dtype\":\"%.*s\",\"shape\":[", out->len > 1 ? "," : "",
             (int)name.len, name.ptr, (int)dtype.len, dtype.ptr);
    for (bool is_first = true; line.len > 0; is_first = false) {
        cg_str axis = word_of(&line);
        uint64_t value = 0;

        for (size_t i = 0; i < axis.len; i++)
            value = value * 10 + (uint64_t)(axis.ptr[i] - '0');
        size *= value;
        buf_addf(out, "%s%" PRIu64, is_first ? "" : ",", value);
    }
    buf_addf(out, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", *place, *place + size);
    *place += size;
}

void parameter_header_read(heap *from, cg_str text, tensor_header *ret)
{
    cg_err err = {0};
    uint64_t place = 0;
    buf json;

    buf_init(&json, from, 1u << 26);
    buf_byte(&json, '{');
    while (text.len > 0) {
        size_t at = str_find(text, CG_LIT("\n"));
        cg_str line = str_trim(at == SIZE_MAX ? text : (cg_str){text.ptr, at});

        text = at == SIZE_MAX ? (cg_str){"", 0} : (cg_str){text.ptr + at + 1, text.len - at - 1};
        if (line.len > 0)
            add_line(&json, line, &place);
    }
    buf_byte(&json, '}');
    if (safetensors_parse(NULL, from, CG_LIT("test.safetensors"), buf_text(&json), place, ret,
                          &err) != CG_OK) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    buf_free(&json);
}
