/*
 * csv - exported tables, row by row (libcsv behind one face).
 *
 * Strict RFC 4180: text behind a closing quote and a quote that is never closed
 * are refused with their row and line. One thing is taken from life: a quote
 * inside an unquoted cell is data, as kernel names are exported.
 * Cells are bytes as written, white space included, and well-formed UTF-8 without NUL.
 * Lines end with \n, \r\n or \r; empty lines are no rows; rows may differ in length.
 * A UTF-8 byte order mark is skipped.
 *
 * Exports begin with notices of the tool that wrote them. While `is_searching` is set, each
 * line is a row of its own, and a line that is no well-formed row is one
 * without cells. Clear it when the header has been found.
 *
 * Ceilings: csv-cell-bytes, csv-row-cells, csv-rows; line-bytes for a whole row. Held: one row.
 */
#ifndef CG_CODEC_CSV_H
#define CG_CODEC_CSV_H

#include "base/os.h"
#include "base/vec.h"

typedef struct csv_row {
    const cg_str *cells; /* valid until the next call */
    size_t count;
    uint64_t number; /* among all rows, from 1 */
    uint64_t line;   /* it begins on, from 1 */
} csv_row;

typedef struct csv_reader {
    heap *heap;
    /* Fill up to `count` bytes; *ret == 0 is the end. */
    cg_code (*fill)(void *context, void *to, size_t count, size_t *ret, cg_err *reterr);
    void *context;
    void *parser; /* struct csv_parser */
    size_t cell_room;
    char *block;
    size_t at, end;
    bool is_searching;
    bool is_at_end;
    bool is_begun;    /* the byte order mark was looked for */
    bool is_row_open; /* some of the row was given to the parser */
    bool is_row_whole;
    bool is_row_too_wide;
    bool is_row_too_long;
    bool is_cell_too_long;
    bool is_after_return; /* the last line ended with \r at the end of a block */
    bool is_skipping;     /* in a line that is no row */
    buf text;             /* the cells of the row, one behind the other */
    VEC(size_t) ends;     /* of the cells in `text` */
    VEC(cg_str) cells;
    uint64_t cell_ceiling;
    uint64_t row_ceiling;
    uint64_t rows_ceiling;
    uint64_t line;     /* of the next byte */
    uint64_t row_line; /* on which the row begins */
    uint64_t row_count;
} csv_reader;

cg_code csv_reader_init(csv_reader *self, heap *heap, const cg_env *env,
                        cg_code (*fill)(void *, void *, size_t, size_t *, cg_err *), void *context,
                        cg_err *reterr) CG_MUST;
void csv_reader_free(csv_reader *self);
/*
 * *ret_more false: no further row. Fails with CG_INPUT (problem csv), CG_LIMIT, CG_NOMEM, or what
 * `fill` reports; afterwards only csv_reader_free is allowed. The line is in reterr.
 */
cg_code csv_reader_next(csv_reader *self, csv_row *ret, bool *ret_more, cg_err *reterr) CG_MUST;

#endif
