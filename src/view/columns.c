#include "view/columns.h"

#include <string.h>

#include "codec/deflate.h"

#define MAGIC CG_LIT("cgpack1\n")

bool columns_init(columns *self, heap *from)
{
    *self = (columns){.heap = from};
    buf_init(&self->body, from, SIZE_MAX);
    for (size_t i = 0; i < COLUMNS_COLUMNS; i++) {
        buf_init(&self->columns[i].cells, from, SIZE_MAX);
        buf_init(&self->columns[i].unknown, from, SIZE_MAX);
    }
    /* Symbols count in the order of their first use: the seed moves nothing. */
    self->failed = !intern_init(&self->texts, from, 0);
    return !self->failed;
}

void columns_free(columns *self)
{
    buf_free(&self->body);
    for (size_t i = 0; i < COLUMNS_COLUMNS; i++) {
        buf_free(&self->columns[i].cells);
        buf_free(&self->columns[i].unknown);
    }
    intern_free(&self->texts);
}

static void put_varint(buf *to, uint64_t value)
{
    char bytes[10];
    size_t count = 0;

    while (value >= 128) {
        bytes[count++] = (char)((value & 127) | 128);
        value >>= 7;
    }
    bytes[count++] = (char)value;
    buf_add(to, (cg_str){bytes, count});
}

static sym text_number(columns *self, cg_str text)
{
    sym number = intern_add(&self->texts, text);

    if (number == 0)
        self->failed = true;
    return number;
}

static cg_str c_text(const char *text)
{
    return (cg_str){text, strlen(text)};
}

void columns_begin(columns *self, const char *name, const columns_spec *specs, size_t count)
{
    self->specs = specs;
    self->spec_count = count;
    put_varint(&self->body, text_number(self, c_text(name)));
    for (size_t i = 0; i < count; i++) {
        buf_clear(&self->columns[i].cells);
        buf_clear(&self->columns[i].unknown);
        self->columns[i].rows = 0;
        self->columns[i].last = 0;
    }
}

void columns_end(columns *self, uint64_t total)
{
    uint64_t rows = self->spec_count > 0 ? self->columns[0].rows : 0;

    put_varint(&self->body, rows);
    put_varint(&self->body, total);
    put_varint(&self->body, self->spec_count);
    for (size_t i = 0; i < self->spec_count; i++) {
        columns_column *column = &self->columns[i];

        self->failed |= column->cells.failed || column->unknown.failed || column->rows != rows;
        put_varint(&self->body, text_number(self, c_text(self->specs[i].name)));
        buf_byte(&self->body, self->specs[i].type);
        buf_byte(&self->body, column->unknown.len > 0);
        if (column->unknown.len > 0) {
            if (column->unknown.len < (rows + 7) / 8)
                buf_fill(&column->unknown, 0, (rows + 7) / 8 - column->unknown.len);
            self->failed |= column->unknown.failed;
            buf_add(&self->body, buf_text(&column->unknown));
        }
        buf_add(&self->body, buf_text(&column->cells));
    }
    self->table_count++;
}

/* Small for a small step in either direction. */
static uint64_t step_from(uint64_t *last, uint64_t value)
{
    uint64_t step = value - *last;

    *last = value;
    return step << 1 ^ (step >> 63 ? UINT64_MAX : 0);
}

void columns_integer(columns *self, size_t at, uint64_t value)
{
    columns_column *column = &self->columns[at];

    if (self->specs[at].type == COLUMNS_RISING)
        value = step_from(&column->last, value);
    put_varint(&column->cells, value);
    column->rows++;
}

void columns_double(columns *self, size_t at, double value)
{
    columns_column *column = &self->columns[at];
    uint64_t bits;
    char bytes[8];

    memcpy(&bits, &value, sizeof bits);
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (char)(bits >> 8 * i & 255);
    buf_add(&column->cells, (cg_str){bytes, sizeof bytes});
    column->rows++;
}

void columns_text(columns *self, size_t at, cg_str value)
{
    columns_column *column = &self->columns[at];
    uint64_t number = value.ptr != NULL ? text_number(self, value) : 0;

    if (self->specs[at].type == COLUMNS_NEW_TEXT)
        number = step_from(&column->last, number);
    put_varint(&column->cells, number);
    column->rows++;
}

void columns_unknown(columns *self, size_t at)
{
    columns_column *column = &self->columns[at];
    size_t byte = column->rows / 8;

    switch ((enum columns_type)self->specs[at].type) {
    case COLUMNS_TEXT:
    case COLUMNS_NEW_TEXT: columns_text(self, at, (cg_str){0}); return;
    case COLUMNS_DOUBLE: columns_double(self, at, 0); break;
    case COLUMNS_INTEGER:
    case COLUMNS_RISING:
        put_varint(&column->cells, 0); /* of a rising one: the last value again */
        column->rows++;
        break;
    }
    if (column->unknown.len <= byte)
        buf_fill(&column->unknown, 0, byte + 1 - column->unknown.len);
    if (!column->unknown.failed)
        column->unknown.at[byte] = (char)(column->unknown.at[byte] | 1 << (column->rows - 1) % 8);
}

/* In the units a script counts text in: two for what lies beyond the first 65536 characters. */
static uint64_t script_length(cg_str text)
{
    uint64_t count = 0;

    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];

        count += (byte & 0xc0) != 0x80;
        count += byte >= 0xf0;
    }
    return count;
}

static void put_texts(columns *self, buf *to)
{
    uint64_t bytes = 0;

    put_varint(to, intern_count(&self->texts) - 1);
    for (sym i = 1; i < intern_count(&self->texts); i++) {
        put_varint(to, script_length(intern_text_of(&self->texts, i)));
        bytes += intern_text_of(&self->texts, i).len;
    }
    put_varint(to, bytes);
    for (sym i = 1; i < intern_count(&self->texts); i++)
        buf_add(to, intern_text_of(&self->texts, i));
}

cg_code columns_finish(columns *self, buf *ret, cg_err *reterr)
{
    buf plain, small;
    cg_code code;

    if (self->failed)
        return err_nomem(reterr);
    buf_init(&plain, self->heap, SIZE_MAX);
    buf_init(&small, self->heap, SIZE_MAX);
    buf_add(&plain, MAGIC);
    put_texts(self, &plain);
    put_varint(&plain, self->table_count);
    buf_add(&plain, buf_text(&self->body));
    code = plain.failed || self->body.failed
               ? err_nomem(reterr)
               : deflate_write(self->heap, buf_text(&plain), &small, reterr);
    buf_free(&plain);
    if (code == CG_OK) {
        base64_write(buf_text(&small), ret);
        code = ret->failed ? err_nomem(reterr) : CG_OK;
    }
    buf_free(&small);
    return code;
}
