/*
 * CSV: however the bytes arrive, the same rows come out, or the same refusal; rows and lines only
 * count upwards. The first byte says whether notices are tolerated.
 */
#include <stdlib.h>

#include "codec/csv.h"

typedef struct source {
    const uint8_t *at;
    size_t left;
    size_t portion;
} source;

static cg_code fill(void *context, void *to, size_t count, size_t *ret, cg_err *reterr)
{
    source *self = context;

    (void)reterr;
    if (count > self->portion)
        count = self->portion;
    if (count > self->left)
        count = self->left;
    memcpy(to, self->at, count);
    self->at += count;
    self->left -= count;
    *ret = count;
    return CG_OK;
}

static cg_code read_rows(source from, bool is_searching, buf *out, cg_err *err)
{
    csv_reader reader;
    heap memory;
    uint64_t number = 0, line = 0;
    cg_code code;

    heap_init(&memory, NULL);
    code = csv_reader_init(&reader, &memory, NULL, fill, &from, err);
    if (code != CG_OK)
        abort();
    reader.is_searching = is_searching;
    for (;;) {
        csv_row row;
        bool has_more = false;

        code = csv_reader_next(&reader, &row, &has_more, err);
        if (code != CG_OK || !has_more)
            break;
        if (row.number != number + 1 || row.line <= line)
            abort();
        number = row.number;
        line = row.line;
        buf_addf(out, "%llu:", (unsigned long long)line);
        for (size_t i = 0; i < row.count; i++) {
            buf_add(out, row.cells[i]);
            buf_byte(out, '\0');
        }
    }
    csv_reader_free(&reader);
    if (memory.used_bytes != 0)
        abort();
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t portions[] = {SIZE_MAX, 1, 3};
    bool is_searching = size > 0 && data[0] % 2 == 1;
    heap memory;
    buf texts[3];
    cg_err errors[3];
    cg_code codes[3];

    if (size > 0) {
        data++;
        size--;
    }
    heap_init(&memory, NULL);
    for (size_t i = 0; i < 3; i++) {
        errors[i] = (cg_err){0};
        buf_init(&texts[i], &memory, SIZE_MAX);
        codes[i] =
            read_rows((source){data, size, portions[i]}, is_searching, &texts[i], &errors[i]);
    }
    for (size_t i = 1; i < 3; i++) {
        if (codes[i] != codes[0] || errors[i].line != errors[0].line ||
            !str_equal(buf_text(&texts[i]), buf_text(&texts[0])))
            abort();
    }
    for (size_t i = 0; i < 3; i++)
        buf_free(&texts[i]);
    return 0;
}
