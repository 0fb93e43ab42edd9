#include "codec/csv.h"

#include <inttypes.h>

#include <csv.h>

#define CSV_BLOCK ((size_t)64 << 10)
/* Given to the library at once; bounds what a cell can exceed its ceiling by. */
#define CSV_PIECE ((size_t)16 << 10)

/* White space belongs to the cell. */
static int is_no_space(unsigned char byte)
{
    (void)byte;
    return 0;
}

/* The library gives its allocator no context; cells lie in a block of ours, always large enough. */
static void *refuse_growth(void *block, size_t size)
{
    (void)block;
    (void)size;
    return NULL;
}

static void reset_parser(csv_reader *self)
{
    struct csv_parser *parser = self->parser;
    unsigned char *cell = parser->entry_buf;

    csv_init(parser, CSV_STRICT | CSV_STRICT_FINI);
    csv_set_space_func(parser, is_no_space);
    csv_set_realloc_func(parser, refuse_growth);
    parser->entry_buf = cell;
    parser->entry_size = self->cell_room;
}

cg_code csv_reader_init(csv_reader *self, heap *from, const cg_env *env,
                        cg_code (*fill)(void *, void *, size_t, size_t *, cg_err *), void *context,
                        cg_err *reterr)
{
    struct csv_parser *parser;
    uint64_t row_bytes = limit_of(env, CG_LIMIT_LINE_BYTES);

    *self = (csv_reader){.heap = from,
                         .fill = fill,
                         .context = context,
                         .cell_ceiling = limit_of(env, CG_LIMIT_CSV_CELL_BYTES),
                         .row_ceiling = limit_of(env, CG_LIMIT_CSV_ROW_CELLS),
                         .rows_ceiling = limit_of(env, CG_LIMIT_CSV_ROWS),
                         .line = 1};
    buf_init(&self->text, from, row_bytes < SIZE_MAX ? (size_t)row_bytes : SIZE_MAX);
    parser = heap_resize(from, NULL, 0, sizeof *parser);
    if (parser == NULL)
        return err_nomem(reterr);
    *parser = (struct csv_parser){0};
    self->parser = parser;
    reset_parser(self);
    self->block = heap_resize(from, NULL, 0, CSV_BLOCK);
    if (self->block == NULL) {
        csv_reader_free(self);
        return err_nomem(reterr);
    }
    return CG_OK;
}

void csv_reader_free(csv_reader *self)
{
    struct csv_parser *parser = self->parser;

    if (parser != NULL) {
        if (parser->entry_buf != NULL)
            heap_resize(self->heap, parser->entry_buf, self->cell_room, 0);
        heap_resize(self->heap, parser, sizeof *parser, 0);
    }
    self->parser = NULL;
    if (self->block != NULL)
        heap_resize(self->heap, self->block, CSV_BLOCK, 0);
    self->block = NULL;
    buf_free(&self->text);
    vec_free(self->heap, &self->ends);
    vec_free(self->heap, &self->cells);
}

/* --- what the library reports --- */

static void take_cell(void *bytes, size_t count, void *context)
{
    csv_reader *self = context;
    size_t *end;

    if (self->ends.count >= self->row_ceiling) {
        self->is_row_too_wide = true;
        return;
    }
    if (count > self->cell_ceiling) {
        self->is_cell_too_long = true;
        return;
    }
    if (count > self->text.ceiling - self->text.len) {
        self->is_row_too_long = true;
        return;
    }
    buf_add(&self->text, (cg_str){bytes, count});
    end = vec_add(self->heap, &self->ends);
    if (end == NULL)
        self->text.failed = true;
    else
        *end = self->text.len;
}

static void take_row(int terminator, void *context)
{
    csv_reader *self = context;

    (void)terminator;
    self->is_row_whole = true;
}

/* --- pieces: a line with its end, or as much of it as is given at once --- */

static cg_code read_block(csv_reader *self, cg_err *reterr)
{
    size_t count = 0;

    if (self->at > 0)
        memmove(self->block, self->block + self->at, self->end - self->at);
    self->end -= self->at;
    self->at = 0;
    CG_TRY(
        self->fill(self->context, self->block + self->end, CSV_BLOCK - self->end, &count, reterr));
    self->end += count;
    self->is_at_end = count == 0;
    return CG_OK;
}

static cg_code skip_mark(csv_reader *self, cg_err *reterr)
{
    static const char mark[] = {'\xEF', '\xBB', '\xBF'};

    while (self->end < sizeof mark && !self->is_at_end)
        CG_TRY(read_block(self, reterr));
    if (self->end >= sizeof mark && memcmp(self->block, mark, sizeof mark) == 0)
        self->at = sizeof mark;
    self->is_begun = true;
    return CG_OK;
}

typedef struct piece {
    cg_str text;
    bool ends_line;
} piece;

static piece cut_piece(csv_reader *self)
{
    const char *from = self->block + self->at;
    size_t held = self->end - self->at;
    size_t len = 0;
    piece ret = {{from, 0}, false};

    if (held > CSV_PIECE)
        held = CSV_PIECE;
    while (len < held && from[len] != '\n' && from[len] != '\r')
        len++;
    if (len < held) {
        ret.ends_line = true;
        len++;
        if (from[len - 1] == '\r') {
            if (self->at + len == self->end)
                self->is_after_return = true;
            else if (from[len] == '\n')
                len++;
        }
    }
    ret.text.len = len;
    self->at += len;
    return ret;
}

/* text.len == 0: the end. */
static cg_code next_piece(csv_reader *self, piece *ret, cg_err *reterr)
{
    if (!self->is_begun)
        CG_TRY(skip_mark(self, reterr));
    if (self->at == self->end && !self->is_at_end)
        CG_TRY(read_block(self, reterr));
    if (self->is_after_return) {
        self->is_after_return = false;
        if (self->at < self->end && self->block[self->at] == '\n') {
            /* The second half of \r\n: content of a quoted cell, but no line of its own. */
            *ret = (piece){{self->block + self->at, 1}, false};
            self->at++;
            return CG_OK;
        }
    }
    *ret = cut_piece(self);
    return CG_OK;
}

/* --- rows --- */

static cg_code refuse(csv_reader *self, enum problem problem, uint64_t line, const char *cause,
                      cg_err *reterr)
{
    cg_code code = cg_fail(reterr, problem, "row %" PRIu64 ": %s", self->row_count + 1, cause);

    if (reterr != NULL && reterr->code == code && reterr->line == 0)
        reterr->line = line;
    return code;
}

static cg_code check_ceilings(csv_reader *self, cg_err *reterr)
{
    const struct csv_parser *parser = self->parser;

    if (self->is_cell_too_long || parser->entry_pos > self->cell_ceiling)
        return refuse(self, PROBLEM_LIMIT, self->row_line,
                      "a cell exceeds the ceiling `csv-cell-bytes`; is a quote left open?", reterr);
    if (self->is_row_too_wide)
        return refuse(self, PROBLEM_LIMIT, self->row_line,
                      "more cells than the ceiling `csv-row-cells`", reterr);
    if (self->is_row_too_long)
        return refuse(self, PROBLEM_LIMIT, self->row_line,
                      "more bytes than the ceiling `line-bytes`", reterr);
    if (self->text.failed)
        return err_nomem(reterr);
    if (self->is_row_whole && self->row_count >= self->rows_ceiling)
        return refuse(self, PROBLEM_LIMIT, self->row_line, "more rows than the ceiling `csv-rows`",
                      reterr);
    return CG_OK;
}

/* Room for `more` bytes of the cell that is being read. */
static bool make_room(csv_reader *self, size_t more)
{
    struct csv_parser *parser = self->parser;
    size_t need = parser->entry_pos + more + 1;
    size_t wanted = need + need / 2;
    void *moved;

    if (need <= self->cell_room)
        return true;
    moved = heap_resize(self->heap, parser->entry_buf, self->cell_room, wanted);
    if (moved == NULL)
        return false;
    parser->entry_buf = moved;
    parser->entry_size = wanted;
    self->cell_room = wanted;
    return true;
}

/* Forget what was read of the row. */
static void begin_row(csv_reader *self)
{
    buf_clear(&self->text);
    self->ends.count = 0;
    self->is_row_open = false;
    self->is_row_whole = false;
}

/* While searching: this line is no row; its rest is passed over. */
static void drop_line(csv_reader *self, bool is_at_its_end)
{
    begin_row(self);
    reset_parser(self);
    self->is_row_whole = is_at_its_end;
    self->is_skipping = !is_at_its_end;
}

/*
 * The library refuses a quote inside an unquoted cell, and text behind a closing quote. The first
 * is what kernel names look like in exports, so it is given again as a plain byte.
 */
static bool parse_bytes(csv_reader *self, cg_str text)
{
    struct csv_parser *parser = self->parser;
    size_t done = csv_parse(parser, text.ptr, text.len, take_cell, take_row, self);

    while (done < text.len) {
        if (csv_error(parser) != CSV_EPARSE || parser->quoted)
            return false;
        csv_set_opts(parser, 0);
        done += csv_parse(parser, text.ptr + done, 1, take_cell, take_row, self);
        csv_set_opts(parser, CSV_STRICT | CSV_STRICT_FINI);
        done += csv_parse(parser, text.ptr + done, text.len - done, take_cell, take_row, self);
    }
    return true;
}

static cg_code parse_piece(csv_reader *self, const piece *part, cg_err *reterr)
{
    size_t content = part->text.len;

    if (memchr(part->text.ptr, '\0', part->text.len) != NULL)
        return refuse(self, PROBLEM_CSV, self->line, "a NUL byte; is the file UTF-16?", reterr);
    if (self->is_skipping) {
        self->is_skipping = !part->ends_line;
        self->is_row_whole = part->ends_line;
        return CG_OK;
    }
    if (!make_room(self, part->text.len))
        return err_nomem(reterr);
    if (!self->is_row_open)
        self->row_line = self->line;
    if (!parse_bytes(self, part->text)) {
        if (!self->is_searching)
            return refuse(self, PROBLEM_CSV, self->line, "text behind a closing quote", reterr);
        drop_line(self, part->ends_line);
        return CG_OK;
    }
    while (content > 0 &&
           (part->text.ptr[content - 1] == '\n' || part->text.ptr[content - 1] == '\r'))
        content--;
    self->is_row_open = !self->is_row_whole && (self->is_row_open || content > 0);
    if (self->is_searching && part->ends_line && self->is_row_open)
        drop_line(self, true);
    return check_ceilings(self, reterr);
}

static cg_code finish_rows(csv_reader *self, cg_err *reterr)
{
    if (self->is_skipping)
        drop_line(self, true);
    if (!self->is_row_open)
        return CG_OK;
    /* The library answers -1 here, and its error number still says success. */
    if (csv_fini(self->parser, take_cell, take_row, self) != 0) {
        if (!self->is_searching)
            return refuse(self, PROBLEM_CSV, self->row_line, "a quote is opened and never closed",
                          reterr);
        drop_line(self, true);
    }
    return check_ceilings(self, reterr);
}

static cg_code give_row(csv_reader *self, csv_row *ret, cg_err *reterr)
{
    size_t count = self->ends.count;
    size_t start = 0;

    if (!vec_reserve(self->heap, &self->cells, count))
        return err_nomem(reterr);
    for (size_t i = 0; i < count; i++) {
        cg_str cell = {buf_text(&self->text).ptr + start, self->ends.at[i] - start};

        if (str_utf8_error(cell) != SIZE_MAX) {
            if (!self->is_searching)
                return refuse(self, PROBLEM_CSV, self->row_line, "a cell is no UTF-8 text", reterr);
            count = 0;
            break;
        }
        self->cells.at[i] = cell;
        start = self->ends.at[i];
    }
    self->row_count++;
    *ret = (csv_row){self->cells.at, count, self->row_count, self->row_line};
    return CG_OK;
}

cg_code csv_reader_next(csv_reader *self, csv_row *ret, bool *ret_more, cg_err *reterr)
{
    begin_row(self);
    while (!self->is_row_whole) {
        piece part;

        CG_TRY(next_piece(self, &part, reterr));
        if (part.text.len == 0) {
            CG_TRY(finish_rows(self, reterr));
            break;
        }
        CG_TRY(parse_piece(self, &part, reterr));
        self->line += part.ends_line;
    }
    *ret_more = self->is_row_whole;
    return self->is_row_whole ? give_row(self, ret, reterr) : CG_OK;
}
