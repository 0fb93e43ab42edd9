/*
 * text_page - lines for people: colour or none, numbers with units, names made
 * safe and shortened to fit.
 *
 * A page gathers text and hands it to the sink a few kilobytes at a time, at
 * line ends. The first failure of the sink or the heap is kept and told by
 * page_close. `page_put` takes our own words only; whatever comes from a trace
 * goes through page_name or safe_add.
 */
#ifndef CG_VIEW_TEXT_PAGE_H
#define CG_VIEW_TEXT_PAGE_H

#include "codec/escape.h"

typedef struct text_style {
    bool has_color;
    uint32_t width; /* cells, at least 60 */
    uint64_t rows;  /* rows of a long table before "... and N more" */
} text_style;

enum ink { INK_PLAIN, INK_TITLE, INK_DIM, INK_GOOD, INK_WARN, INK_BAD };

typedef struct page {
    heap *heap;
    const text_style *style;
    cg_sink sink;
    buf out;
    buf say;       /* a paragraph in the making */
    size_t column; /* cells of the line that page_lead has begun */
    cg_code code;
} page;

void page_open(page *self, heap *from, const text_style *style, cg_sink sink);
cg_code page_close(page *self, cg_err *reterr) CG_MUST;
void page_ink(page *self, enum ink ink);
void page_put(page *self, const char *text);
void page_putf(page *self, const char *format, ...) CG_PRINTF(2, 3);
/* A name of at most `cells` cells; 0: as long as it is. */
void page_name(page *self, cg_str name, size_t cells);
/* End of a line. */
void page_end(page *self);
/* A buffer beside the page failed: the page has failed too. */
void page_check(page *self, const buf *text);
/* There was no memory for a part of it: page_close says so. */
void page_nomem(page *self);
/* A blank line, then a title. */
void page_title(page *self, const char *title, const char *note);
/* Begin a line with a title; the next paragraph goes on behind it. */
void page_lead(page *self, const char *title);
/* Print self->say wrapped to the width; `hang` indents all lines but the first. */
void page_paragraph(page *self, enum ink ink, size_t indent, size_t hang);

/* Cells of the safe form of `text`, counting stops above `most`. */
size_t safe_cells(cg_str text, size_t most);
/* The safe form, shortened in the middle to `cells`; 0: whole. Returns the cells added. */
size_t safe_add(buf *out, cg_str text, size_t cells);

#endif
