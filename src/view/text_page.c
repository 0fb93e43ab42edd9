#include "view/text_page.h"

#include <stdarg.h>

#define FLUSH_BYTES    8192
#define PARAGRAPH_ROOM ((size_t)1 << 24)
#define ELLIPSIS       "\xE2\x80\xA6"

void page_open(page *self, heap *from, const text_style *style, cg_sink sink)
{
    self->heap = from;
    self->style = style;
    self->sink = sink;
    self->code = CG_OK;
    self->column = 0;
    buf_init(&self->out, from, SIZE_MAX / 2);
    buf_init(&self->say, from, PARAGRAPH_ROOM);
}

static void flush(page *self)
{
    cg_str text = buf_text(&self->out);

    page_check(self, &self->out);
    if (self->code == CG_OK && text.len > 0)
        self->code = self->sink.write(self->sink.context, text.ptr, text.len);
    buf_clear(&self->out);
}

cg_code page_close(page *self, cg_err *reterr)
{
    page_check(self, &self->say);
    flush(self);
    buf_free(&self->out);
    buf_free(&self->say);
    switch (self->code) {
    case CG_OK: return CG_OK;
    case CG_NOMEM: return err_nomem(reterr);
    case CG_CLOSED: return CG_CLOSED;
    default: return cg_fail(reterr, PROBLEM_OUTPUT, "the text could not be written");
    }
}

void page_ink(page *self, enum ink ink)
{
    static const char *const codes[] = {"0", "1", "2", "32", "33", "31"};

    if (self->style->has_color)
        buf_addf(&self->out, "\x1b[%sm", codes[ink]);
}

void page_put(page *self, const char *text)
{
    buf_add(&self->out, str_from(text));
}

void page_putf(page *self, const char *format, ...)
{
    char text[512];
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size > 0)
        buf_add(&self->out,
                (cg_str){text, (size_t)size < sizeof text ? (size_t)size : sizeof text - 1});
}

void page_name(page *self, cg_str name, size_t cells)
{
    safe_add(&self->out, name, cells);
}

void page_end(page *self)
{
    buf_byte(&self->out, '\n');
    if (self->out.len >= FLUSH_BYTES || self->out.failed)
        flush(self);
}

void page_nomem(page *self)
{
    if (self->code == CG_OK)
        self->code = CG_NOMEM;
}

void page_check(page *self, const buf *text)
{
    if (text->failed)
        page_nomem(self);
}

void page_title(page *self, const char *title, const char *note)
{
    page_end(self);
    page_ink(self, INK_TITLE);
    page_put(self, title);
    page_ink(self, INK_PLAIN);
    if (note != NULL)
        page_putf(self, " %s", note);
    page_end(self);
}

void page_lead(page *self, const char *title)
{
    page_end(self);
    page_ink(self, INK_TITLE);
    page_put(self, title);
    page_ink(self, INK_PLAIN);
    buf_byte(&self->out, ' ');
    self->column = safe_cells(str_from(title), SIZE_MAX) + 1;
}

/* Length of the word at `at`: up to the next blank. */
static size_t word_len(cg_str text, size_t at)
{
    size_t len = 0;

    while (at + len < text.len && text.ptr[at + len] != ' ')
        len++;
    return len;
}

void page_paragraph(page *self, enum ink ink, size_t indent, size_t hang)
{
    cg_str text = buf_text(&self->say);
    size_t width = self->style->width;
    size_t column = self->column + indent;
    bool is_begin = true;

    self->column = 0;
    buf_fill(&self->out, ' ', indent);
    if (ink != INK_PLAIN)
        page_ink(self, ink);
    for (size_t at = 0; at < text.len;) {
        cg_str word = {text.ptr + at, word_len(text, at)};
        size_t cells = safe_cells(word, SIZE_MAX);

        if (!is_begin && column + 1 + cells > width) {
            page_end(self);
            buf_fill(&self->out, ' ', hang);
            column = hang;
            is_begin = true;
        }
        if (!is_begin) {
            buf_byte(&self->out, ' ');
            column++;
        }
        buf_add(&self->out, word);
        column += cells;
        is_begin = false;
        at += word.len + 1;
    }
    if (ink != INK_PLAIN)
        page_ink(self, INK_PLAIN);
    page_end(self);
    page_check(self, &self->say);
    buf_clear(&self->say);
}

/* Cells of one safe piece. */
static size_t piece_cells(const char *piece, size_t size)
{
    size_t at = 0;

    if ((unsigned char)piece[0] < 0x80)
        return size; /* one plain character, or an escape */
    return str_cells(str_next((cg_str){piece, size}, &at));
}

size_t safe_cells(cg_str text, size_t most)
{
    char piece[STR_SAFE_ROOM];
    size_t cells = 0;

    for (size_t at = 0; at < text.len && cells <= most;) {
        size_t size = str_next_safe(text, &at, piece);

        cells += piece_cells(piece, size);
    }
    return cells;
}

/* Add pieces from `at` on while they fit into `room` cells; the cells added. */
static size_t add_pieces(buf *out, cg_str text, size_t at, size_t room)
{
    char piece[STR_SAFE_ROOM];
    size_t cells = 0;

    while (at < text.len) {
        size_t size = str_next_safe(text, &at, piece);
        size_t more = piece_cells(piece, size);

        if (more > room - cells)
            break;
        buf_add(out, (cg_str){piece, size});
        cells += more;
    }
    return cells;
}

/* Offset of the longest end of `text` that fits into `room` cells. */
static size_t end_that_fits(cg_str text, size_t room)
{
    size_t at = text.len > room * 4 ? text.len - room * 4 : 0;
    char piece[STR_SAFE_ROOM];

    while (at > 0 && at < text.len && ((unsigned char)text.ptr[at] & 0xC0) == 0x80)
        at++;
    while (at < text.len && safe_cells((cg_str){text.ptr + at, text.len - at}, room) > room)
        (void)str_next_safe(text, &at, piece);
    return at;
}

size_t safe_add(buf *out, cg_str text, size_t cells)
{
    size_t room = cells > 0 ? cells - 1 : 0;
    size_t head;
    size_t end;

    if (cells == 0 || safe_cells(text, cells) <= cells)
        return add_pieces(out, text, 0, SIZE_MAX);
    head = add_pieces(out, text, 0, room - room / 2);
    buf_add(out, CG_LIT(ELLIPSIS));
    end = end_that_fits(text, room / 2);
    return head + 1 + add_pieces(out, text, end, room / 2);
}
