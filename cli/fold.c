#include "fold.h"

#include "print.h"

#define HANG        4  /* how much further in the rest of a line begins */
#define LEAST_WIDTH 60 /* what views that fit their lines themselves need */

void fold_open(fold *self, cg_sink sink, size_t width)
{
    self->sink = sink;
    self->width = width > 0 && width < LEAST_WIDTH ? LEAST_WIDTH : width;
    self->len = 0;
    self->is_passing = false;
}

static cg_code give(const fold *self, const char *bytes, size_t count)
{
    return count > 0 ? self->sink.write(self->sink.context, bytes, count) : CG_OK;
}

/* Bytes of the character or the colour at `at`, and its cells. */
static size_t measure(const char *at, size_t len, size_t *ret_cells)
{
    size_t size = 1;

    *ret_cells = 1;
    if (*at == '\033' && len > 1 && at[1] == '[') {
        *ret_cells = 0;
        for (size = 2; size < len && (at[size] < '@' || at[size] > '~'); size++)
            ;
        return size < len ? size + 1 : len;
    }
    while (size < len && ((unsigned char)at[size] & 0xc0) == 0x80)
        size++;
    return size;
}

/*
 * How many bytes of `line` stand on one row that has `indent` cells already: all of them, or up to
 * the last blank behind a word that fits, or the first one behind a word that does not.
 */
static size_t row_of(const fold *self, const char *line, size_t len, size_t indent)
{
    size_t column = indent;
    size_t cut = 0;
    bool has_word = false;

    for (size_t at = 0; at < len;) {
        size_t cells;
        size_t size = measure(line + at, len - at, &cells);

        if (line[at] == ' ' && has_word && column <= self->width)
            cut = at;
        if (line[at] == ' ' && has_word && column > self->width)
            return cut > 0 ? cut : at;
        has_word |= line[at] != ' ' && cells > 0;
        column += cells;
        at += size;
    }
    return column <= self->width || cut == 0 ? len : cut;
}

/* One line without its end. */
static cg_code give_line(const fold *self, const char *line, size_t len)
{
    static const char blanks[] = "                                ";
    size_t indent = 0;
    size_t hang;
    size_t row;
    cg_code code;

    while (indent < len && line[indent] == ' ')
        indent++;
    hang = indent + HANG;
    if (hang > self->width / 2)
        hang = self->width / 2;
    if (hang > sizeof blanks - 1)
        hang = sizeof blanks - 1;
    row = row_of(self, line, len, 0);
    while (row < len) {
        code = give(self, line, row);
        if (code == CG_OK)
            code = give(self, "\n", 1);
        while (row < len && line[row] == ' ')
            row++;
        line += row;
        len -= row;
        if (len == 0 || code != CG_OK)
            return code;
        code = give(self, blanks, hang);
        if (code != CG_OK)
            return code;
        row = row_of(self, line, len, hang);
    }
    return give(self, line, len);
}

static cg_code end_line(fold *self)
{
    cg_code code =
        self->is_passing ? give(self, self->at, self->len) : give_line(self, self->at, self->len);

    self->len = 0;
    self->is_passing = false;
    return code;
}

/* A part of a line. */
static cg_code keep(fold *self, const char *bytes, size_t count)
{
    while (count > 0) {
        size_t part = print_fill(self->at, sizeof self->at, &self->len, bytes, count);

        if (part == 0) {
            cg_code code = give(self, self->at, self->len);

            if (code != CG_OK)
                return code;
            self->len = 0;
            self->is_passing = true;
        }
        bytes += part;
        count -= part;
    }
    return CG_OK;
}

cg_code fold_write(fold *self, const char *bytes, size_t count)
{
    if (self->width == 0)
        return give(self, bytes, count);
    while (count > 0) {
        const char *end = memchr(bytes, '\n', count);
        size_t part = end != NULL ? (size_t)(end - bytes) : count;
        cg_code code = keep(self, bytes, part);

        if (end == NULL || code != CG_OK)
            return code;
        code = end_line(self);
        if (code == CG_OK)
            code = give(self, "\n", 1);
        if (code != CG_OK)
            return code;
        bytes += part + 1;
        count -= part + 1;
    }
    return CG_OK;
}

cg_code fold_close(fold *self)
{
    return self->len > 0 ? end_line(self) : CG_OK;
}
