/*
 * text_rows - which rows of an answer are shown, and how names and shapes look in them.
 */
#ifndef CG_VIEW_TEXT_ROWS_H
#define CG_VIEW_TEXT_ROWS_H

#include "view/document.h"
#include "view/text_section.h"

typedef struct window {
    uint64_t offset;
    uint64_t limit;
    uint64_t matched; /* rows that passed the filter so far */
    uint64_t shown;
} window;

/* As the query pages, else as many as the page's style has; NULL: no query. */
window window_of(const sections *to, const document_query *query);
/* To be asked once for each row that passed the filter: is it shown? */
bool window_takes(window *self);
/* What stands below the rows: none, or how many more there are. */
void window_note(sections *to, const window *self);

/* Does a row with this label pass the filter? */
bool query_passes(const document_query *query, cg_str label);

/* Absent for symbol 0. */
cg_str symbol_text(const sections *to, sym symbol);
/* Between backquotes, shortened, safe for the page. */
void page_say_name(sections *to, cg_str name);
void page_say_symbol(sections *to, sym symbol);
void table_shape(sections *to, table *rows, trace_shape shape);

#endif
