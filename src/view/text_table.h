/*
 * text_table - aligned columns: names shrink to fit, numbers stand right, columns that may go do.
 *
 *   table_open(&t, page, indent);
 *   table_column(&t, COLUMN_NAME, "span");
 *   table_column(&t, COLUMN_NUMBER, "own %s", unit.word);
 *   for each row: one table_... call a column, then table_row(&t);
 *   table_close(&t);
 *
 * Widths are taken from the first rows (256); later ones are printed as they
 * come, so a table of any length needs little memory. Names are borrowed
 * until table_close.
 */
#ifndef CG_VIEW_TEXT_TABLE_H
#define CG_VIEW_TEXT_TABLE_H

#include "base/vec.h"
#include "view/text_number.h"
#include "view/text_page.h"

#define TABLE_COLUMNS 10

/*
 * COLUMN_WHOLE: names that are never shortened to fit, as they differ in their middle. Where the
 * line is too narrow for all columns, each stands on a line of its own above the others of its row.
 */
enum column_kind { COLUMN_NAME, COLUMN_WORD, COLUMN_NUMBER, COLUMN_BAR, COLUMN_WHOLE };

typedef struct table_cell {
    cg_str name;    /* from the trace; absent: only own text */
    size_t text_at; /* own text, before the name */
    size_t text_len;
    size_t cells; /* of both, uncut */
    size_t text_cells;
    uint8_t ink;
    bool is_name; /* the own text holds text from the trace */
} table_cell;

typedef struct table {
    page *page;
    buf text;
    VEC(table_cell) cells;
    size_t indent;
    unsigned bar_cells;
    size_t columns;
    size_t at; /* column of the next cell */
    uint8_t kind[TABLE_COLUMNS];
    char title[TABLE_COLUMNS][28];
    size_t width[TABLE_COLUMNS];
    uint8_t spare[TABLE_COLUMNS]; /* 0: stays; else larger goes first */
    bool is_gone[TABLE_COLUMNS];
    size_t apart;      /* number of the COLUMN_WHOLE, and one more; 0: none */
    bool stands_apart; /* and it does */
    bool has_widths;
    bool has_titles; /* some title is not empty */
    bool failed;
    uint8_t ink;
} table;

void table_open(table *self, page *on, size_t indent);
void table_column(table *self, enum column_kind kind, const char *title, ...) CG_PRINTF(3, 4);
/*
 * The last column is left out, before names shrink beyond what can be read, when the line is too
 * narrow for all; of several the one with the largest number goes first. Its cells are given as
 * ever, and a line below the table names what was left out.
 */
void table_may_go(table *self, unsigned order);
/* Colour of the next cell. */
void table_ink(table *self, enum ink ink);
/* Cells. Own text; text from the trace, behind own text; numbers; an em dash for what is absent. */
void table_text(table *self, const char *text);
void table_name(table *self, const char *before, cg_str name);
void table_number(table *self, uint64_t value);
void table_amount(table *self, opt_u64 value, unit in);
void table_share(table *self, opt_f64 share);
void table_bar(table *self, double share);
/*
 * A cell of what the caller adds to the returned buffer: our own words end with table_end_cell,
 * what holds text from the trace with table_end_name, which treats it like a name.
 */
buf *table_cell_text(table *self);
void table_end_cell(table *self);
void table_end_name(table *self);
void table_row(table *self);
void table_close(table *self);

#endif
