#include "view/text_table.h"

#include <stdarg.h>

#define MEASURED_ROWS  256
#define TEXT_CEILING   ((size_t)1 << 30)
#define NARROWEST_NAME 8
#define READABLE_NAME  24  /* names shrink to this before columns go, and beyond it afterwards */
#define WIDEST_NAME    400 /* cells; what is longer is shortened on the widest page too */
#define GAP            2
#define ABSENT         "—"

void table_open(table *self, page *on, size_t indent)
{
    memset(self, 0, sizeof *self);
    self->page = on;
    self->indent = indent;
    self->bar_cells = 12;
    buf_init(&self->text, on->heap, TEXT_CEILING);
}

void table_column(table *self, enum column_kind kind, const char *title, ...)
{
    va_list arguments;

    if (kind == COLUMN_WHOLE)
        self->apart = self->columns + 1;
    self->kind[self->columns] = (uint8_t)(kind == COLUMN_WHOLE ? COLUMN_NAME : kind);
    va_start(arguments, title);
    (void)vsnprintf(self->title[self->columns], sizeof self->title[0], title, arguments);
    va_end(arguments);
    if (self->title[self->columns][0] != '\0')
        self->has_titles = true;
    self->columns++;
}

void table_may_go(table *self, unsigned order)
{
    self->spare[self->columns - 1] = (uint8_t)order;
}

void table_ink(table *self, enum ink ink)
{
    self->ink = (uint8_t)ink;
}

static void add_cell(table *self, cg_str name, size_t text_at)
{
    table_cell *cell = vec_add(self->page->heap, &self->cells);
    cg_str text = buf_text(&self->text);

    if (cell == NULL) {
        self->failed = true;
        return;
    }
    cell->name = name;
    cell->text_at = text_at;
    cell->text_len = text.len >= text_at ? text.len - text_at : 0;
    cell->text_cells = safe_cells((cg_str){text.ptr + text_at, cell->text_len}, SIZE_MAX);
    cell->cells = cell->text_cells + (name.ptr != NULL ? safe_cells(name, WIDEST_NAME) : 0);
    cell->ink = self->ink;
    cell->is_name = false;
    self->ink = INK_PLAIN;
    self->at++;
}

buf *table_cell_text(table *self)
{
    return &self->text;
}

void table_end_cell(table *self)
{
    size_t at = 0;

    /* The text of a cell begins where the one before it ended. */
    if (self->cells.count > 0) {
        const table_cell *last = &self->cells.at[self->cells.count - 1];

        at = last->text_at + last->text_len;
    }
    add_cell(self, (cg_str){NULL, 0}, at);
}

void table_end_name(table *self)
{
    table_end_cell(self);
    if (!self->failed)
        self->cells.at[self->cells.count - 1].is_name = true;
}

void table_text(table *self, const char *text)
{
    buf_add(table_cell_text(self), str_from(text));
    table_end_cell(self);
}

void table_name(table *self, const char *before, cg_str name)
{
    size_t at = self->text.len;

    buf_add(&self->text, str_from(before));
    add_cell(self, name.ptr != NULL ? name : CG_LIT(ABSENT), at);
}

void table_number(table *self, uint64_t value)
{
    buf_addf(table_cell_text(self), "%llu", (unsigned long long)value);
    table_end_cell(self);
}

void table_amount(table *self, opt_u64 value, unit in)
{
    if (value.is_set)
        number_in(table_cell_text(self), value.value, in);
    else
        buf_add(table_cell_text(self), CG_LIT(ABSENT));
    table_end_cell(self);
}

void table_share(table *self, opt_f64 share)
{
    if (share.is_set)
        number_share(table_cell_text(self), share.value);
    else
        buf_add(table_cell_text(self), CG_LIT(ABSENT));
    table_end_cell(self);
}

void table_bar(table *self, double share)
{
    number_bar(table_cell_text(self), share, self->bar_cells);
    table_end_cell(self);
}

static bool stands_apart(const table *self, size_t column)
{
    return self->stands_apart && column + 1 == self->apart;
}

static size_t total_width(const table *self)
{
    size_t total = self->indent + (self->stands_apart ? GAP : 0);
    bool is_first = true;

    for (size_t i = 0; i < self->columns; i++) {
        if (self->is_gone[i] || stands_apart(self, i))
            continue;
        total += self->width[i] + (is_first ? 0 : GAP);
        is_first = false;
    }
    return total;
}

/* Take cells from the widest name until the table fits. */
static void shrink(table *self, size_t narrowest)
{
    size_t width = self->page->style->width;

    for (;;) {
        size_t total = total_width(self);
        size_t widest = SIZE_MAX;
        size_t second = narrowest;
        size_t less;

        if (total <= width)
            return;
        for (size_t i = 0; i < self->columns; i++) {
            if (self->kind[i] != COLUMN_NAME || stands_apart(self, i))
                continue;
            if (widest == SIZE_MAX || self->width[i] > self->width[widest]) {
                if (widest != SIZE_MAX && self->width[widest] > second)
                    second = self->width[widest];
                widest = i;
            } else if (self->width[i] > second) {
                second = self->width[i];
            }
        }
        if (widest == SIZE_MAX || self->width[widest] <= narrowest)
            return;
        less = total - width;
        if (self->width[widest] > second && less > self->width[widest] - second)
            less = self->width[widest] - second;
        else if (self->width[widest] <= second)
            less = 1;
        self->width[widest] -= less;
    }
}

/* Leave out columns that may go until the others fit. */
static void leave_out(table *self)
{
    while (total_width(self) > self->page->style->width) {
        size_t first = SIZE_MAX;

        for (size_t i = 0; i < self->columns; i++) {
            if (self->spare[i] > 0 && !self->is_gone[i] &&
                (first == SIZE_MAX || self->spare[i] > self->spare[first]))
                first = i;
        }
        if (first == SIZE_MAX)
            return;
        self->is_gone[first] = true;
    }
}

static void tell_left_out(const table *self)
{
    page *on = self->page;
    const char *before = "… and the columns ";

    for (size_t i = 0; i < self->columns; i++) {
        if (!self->is_gone[i] || self->title[i][0] == ' ')
            continue;
        if (before[0] != ',') {
            page_ink(on, INK_DIM);
            buf_fill(&on->out, ' ', self->indent);
        }
        page_put(on, before);
        page_put(on, self->title[i]);
        before = ", ";
    }
    if (before[0] != ',')
        return;
    page_put(on, "; --width N shows them");
    page_ink(on, INK_PLAIN);
    page_end(on);
}

static void measure(table *self)
{
    for (size_t i = 0; i < self->columns; i++) {
        self->width[i] = safe_cells(str_from(self->title[i]), SIZE_MAX);
        for (size_t j = i; j < self->cells.count; j += self->columns) {
            if (self->cells.at[j].cells > self->width[i])
                self->width[i] = self->cells.at[j].cells;
        }
        if (self->width[i] > WIDEST_NAME)
            self->width[i] = WIDEST_NAME;
    }
    self->stands_apart = self->apart > 0 && total_width(self) > self->page->style->width;
    if (self->stands_apart &&
        self->width[self->apart - 1] + self->indent > self->page->style->width)
        self->width[self->apart - 1] = self->page->style->width - self->indent;
    shrink(self, READABLE_NAME);
    leave_out(self);
    shrink(self, NARROWEST_NAME);
    self->has_widths = true;
}

static void print_titles(const table *self)
{
    page *on = self->page;
    size_t column = 0;

    page_ink(on, INK_DIM);
    buf_fill(&on->out, ' ', self->indent);
    if (self->stands_apart) {
        page_put(on, self->title[self->apart - 1]);
        page_end(on);
        buf_fill(&on->out, ' ', self->indent + GAP);
    }
    for (size_t i = 0; i < self->columns; i++) {
        size_t cells = safe_cells(str_from(self->title[i]), SIZE_MAX);
        size_t pad = self->width[i] > cells ? self->width[i] - cells : 0;

        if (self->is_gone[i] || stands_apart(self, i))
            continue;
        if (self->title[i][0] == ' ') {
            column += self->width[i] + GAP;
            continue;
        }
        buf_fill(&on->out, ' ', column);
        column = GAP;
        if (self->kind[i] == COLUMN_NUMBER) {
            buf_fill(&on->out, ' ', pad);
            pad = 0;
        }
        page_put(on, self->title[i]);
        column += pad;
    }
    page_ink(on, INK_PLAIN);
    page_end(on);
}

static void print_cell(const table *self, const table_cell *cell, size_t width)
{
    page *on = self->page;
    cg_str text = buf_text(&self->text);

    if (cell->ink != INK_PLAIN)
        page_ink(on, (enum ink)cell->ink);
    text = (cg_str){text.ptr + cell->text_at, cell->text_len};
    if (cell->is_name)
        page_name(on, text, cell->cells > width ? width : 0);
    else
        buf_add(&on->out, text);
    if (cell->name.ptr != NULL) {
        size_t room = width > cell->text_cells + 3 ? width - cell->text_cells : 3;

        page_name(on, cell->name, cell->cells > width ? room : 0);
    }
    if (cell->ink != INK_PLAIN)
        page_ink(on, INK_PLAIN);
}

/* Print what is held; blanks behind the last cell are left out. */
static void print_rows(table *self)
{
    page *on = self->page;

    for (size_t j = 0; j + self->columns <= self->cells.count; j += self->columns) {
        size_t column = 0;

        buf_fill(&on->out, ' ', self->indent);
        if (self->stands_apart) {
            print_cell(self, &self->cells.at[j + self->apart - 1], self->width[self->apart - 1]);
            page_end(on);
            buf_fill(&on->out, ' ', self->indent + GAP);
        }
        for (size_t i = 0; i < self->columns; i++) {
            const table_cell *cell = &self->cells.at[j + i];
            size_t pad = self->width[i] > cell->cells ? self->width[i] - cell->cells : 0;

            if (self->is_gone[i] || stands_apart(self, i))
                continue;
            if (cell->cells == 0) {
                column += self->width[i] + GAP;
                continue;
            }
            if (self->kind[i] == COLUMN_NUMBER) {
                column += pad;
                pad = 0;
            }
            buf_fill(&on->out, ' ', column);
            print_cell(self, cell, self->width[i]);
            column = GAP + pad;
        }
        page_end(on);
    }
    self->cells.count = 0;
    buf_clear(&self->text);
}

static void print_held(table *self)
{
    if (self->text.failed)
        self->failed = true;
    if (self->failed) {
        page_nomem(self->page);
        return;
    }
    if (!self->has_widths) {
        measure(self);
        if (self->has_titles && self->cells.count > 0)
            print_titles(self);
    }
    print_rows(self);
}

void table_row(table *self)
{
    self->at = 0;
    if (self->has_widths || self->cells.count >= MEASURED_ROWS * self->columns)
        print_held(self);
}

void table_close(table *self)
{
    print_held(self);
    if (!self->failed && self->has_widths)
        tell_left_out(self);
    vec_free(self->page->heap, &self->cells);
    buf_free(&self->text);
}
