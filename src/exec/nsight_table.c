#include "exec/nsight_table.h"

#include <inttypes.h>

#include "base/num.h"

/* Notices that tools print before the header. */
#define HEADER_LINES      64
#define ROWS_PER_PROGRESS ((uint64_t)1 << 16)
#define NO_COLUMN         SIZE_MAX

typedef struct table {
    const cg_env *env;
    heap *heap;
    intern *texts;
    unsigned report;
    const nsight_column_row *columns;
    size_t at[NSIGHT_COLUMN_COUNT]; /* cell of a column, NO_COLUMN: the file has none */
    csv_reader reader;
    json_reader numbers;
    buf scratch;
    const csv_row *row;
} table;

/* --- header --- */

void nsight_header(cg_str cell, buf *out)
{
    size_t start = out->len;
    size_t len;

    cell = str_trim(cell);
    for (size_t i = 0; i < cell.len; i++) {
        char byte = cell.ptr[i];

        if (byte == '(' || byte == ')' || byte == '%')
            continue;
        if (byte == ' ' || byte == '-' || byte == '/')
            byte = '_';
        if (byte == '_' && out->len == start)
            continue;
        if (byte >= 'A' && byte <= 'Z')
            byte = (char)(byte - 'A' + 'a');
        buf_byte(out, byte);
    }
    len = out->len;
    while (len > start && out->at[len - 1] == '_')
        len--;
    out->len = len;
}

/* The first name of a list with blanks between; *list moves behind it. */
static bool next_name(cg_str *list, cg_str *ret)
{
    size_t len = 0;

    if (list->len == 0)
        return false;
    while (len < list->len && list->ptr[len] != ' ')
        len++;
    *ret = (cg_str){list->ptr, len};
    if (len < list->len)
        len++;
    list->ptr += len;
    list->len -= len;
    return true;
}

/* Cell of the first of `names` that the header has. */
static size_t find_column(cg_str names, const cg_str *header, size_t count)
{
    cg_str name;

    while (next_name(&names, &name)) {
        for (size_t i = 0; i < count; i++) {
            if (str_equal(header[i], name))
                return i;
        }
    }
    return NO_COLUMN;
}

/* Is this row the header? Then its columns are known. */
static cg_code try_header(table *self, bool *ret, cg_err *reterr)
{
    size_t count = self->row->count;
    size_t size = (count > 0 ? count : 1) * sizeof(cg_str);
    cg_str *header = heap_resize(self->heap, NULL, 0, size);
    size_t start = 0;
    bool is_header = true;

    if (header == NULL)
        return err_nomem(reterr);
    buf_clear(&self->scratch);
    /* Lengths first: the buffer moves while it grows. */
    for (size_t i = 0; i < count; i++) {
        size_t before = self->scratch.len;

        nsight_header(self->row->cells[i], &self->scratch);
        header[i].len = self->scratch.len - before;
    }
    for (size_t i = 0; i < count; i++) {
        header[i].ptr = buf_text(&self->scratch).ptr + start;
        start += header[i].len;
    }
    for (unsigned i = 0; i < NSIGHT_COLUMN_COUNT; i++) {
        self->at[i] = find_column(self->columns[i].names, header, count);
        is_header = is_header && (self->at[i] != NO_COLUMN || !self->columns[i].is_required);
    }
    heap_resize(self->heap, header, size, 0);
    if (self->scratch.failed)
        return err_nomem(reterr);
    *ret = is_header;
    return CG_OK;
}

static cg_code refuse_headless(const table *self, cg_err *reterr)
{
    char names[256];
    size_t len = 0;

    for (unsigned i = 0; i < NSIGHT_COLUMN_COUNT; i++) {
        cg_str list = self->columns[i].names;
        cg_str name;

        if (!self->columns[i].is_required || !next_name(&list, &name) ||
            len + name.len + 5 > sizeof names)
            continue;
        if (len > 0) {
            memcpy(names + len, ", ", 2);
            len += 2;
        }
        names[len++] = '`';
        memcpy(names + len, name.ptr, name.len);
        len += name.len;
        names[len++] = '`';
    }
    return cg_fail(reterr, PROBLEM_NSIGHT_TABLE,
                   "no header with the columns %.*s in the first %d lines", (int)len, names,
                   HEADER_LINES);
}

static cg_code find_header(table *self, cg_err *reterr)
{
    bool is_found = false;
    bool has_more = true;

    self->reader.is_searching = true;
    while (!is_found) {
        csv_row row;

        CG_TRY(csv_reader_next(&self->reader, &row, &has_more, reterr));
        if (!has_more || row.line > HEADER_LINES)
            return refuse_headless(self, reterr);
        self->row = &row;
        CG_TRY(try_header(self, &is_found, reterr));
    }
    self->reader.is_searching = false;
    return CG_OK;
}

/* --- cells --- */

/* Absent when the row has no such cell. */
static cg_str cell_of(const table *self, enum nsight_column column)
{
    size_t at = self->at[column];

    return at < self->row->count ? self->row->cells[at] : (cg_str){0};
}

/* `1.`, `.5`, `007.25`, `+1e3` -> the same number as JSON spells it; false: no decimal number. */
static bool spell_decimal(cg_str text, buf *out)
{
    size_t at = 0;
    size_t digits = 0;
    size_t start;

    while (at + 1 < text.len && text.ptr[at] == '0' && text.ptr[at + 1] >= '0' &&
           text.ptr[at + 1] <= '9')
        at++;
    start = at;
    while (at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9')
        at++;
    digits = at - start;
    buf_add(out, digits > 0 ? (cg_str){text.ptr + start, digits} : CG_LIT("0"));
    if (at < text.len && text.ptr[at] == '.') {
        start = at++;
        while (at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9')
            at++;
        if (at - start > 1)
            buf_add(out, (cg_str){text.ptr + start, at - start});
        digits += at - start - 1;
    }
    if (digits == 0)
        return false;
    if (at < text.len && (text.ptr[at] == 'e' || text.ptr[at] == 'E')) {
        start = at++;
        if (at < text.len && (text.ptr[at] == '+' || text.ptr[at] == '-'))
            at++;
        digits = at;
        while (at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9')
            at++;
        if (at == digits)
            return false;
        buf_add(out, (cg_str){text.ptr + start, at - start});
    }
    return at == text.len;
}

enum nsight_number nsight_number_read(json_reader *reader, buf *scratch, cg_str cell, uint64_t *ret)
{
    const double end = 18446744073709551616.0;
    yyjson_val *value;
    json_fault fault;
    cg_str text;
    size_t len;
    double number;
    cg_code code;

    cell = str_trim(cell);
    buf_clear(scratch);
    for (size_t i = 0; i < cell.len; i++) {
        if (cell.ptr[i] != ',')
            buf_byte(scratch, cell.ptr[i]);
    }
    text = buf_text(scratch);
    if (text.len == 0)
        return NUMBER_ABSENT;
    if (text.ptr[0] == '+') {
        text.ptr++;
        text.len--;
    }
    if (num_read_u64(text, ret))
        return NUMBER_GIVEN;
    /* The copy goes behind the text it is made from, so room is needed first. */
    len = scratch->len;
    if (buf_room(scratch, len + 2) == NULL)
        return NUMBER_REFUSED;
    text.ptr = scratch->at + (len - text.len);
    if (!spell_decimal(text, scratch) || scratch->failed)
        return NUMBER_REFUSED;
    code = json_read(reader, (cg_str){scratch->at + len, scratch->len - len}, &value, &fault);
    if (code == CG_NOMEM)
        scratch->failed = true;
    if (code != CG_OK || !json_f64(value, &number) || !(number < end))
        return NUMBER_REFUSED;
    *ret = (uint64_t)number;
    return NUMBER_GIVEN;
}

static cg_code refuse_cell(const table *self, enum nsight_column column, const char *cause,
                           cg_err *reterr)
{
    cg_str names = self->columns[column].names;
    cg_str name = CG_LIT("");
    cg_str cell = cell_of(self, column);
    cg_code code;

    next_name(&names, &name);
    code = cg_fail(reterr, PROBLEM_NSIGHT_TABLE, "row %" PRIu64 ", `%.*s`: `%.*s` %s",
                   self->row->number, ERR_STR(name), ERR_STR(cell), cause);
    if (reterr != NULL && reterr->line == 0)
        reterr->line = self->row->line;
    return code;
}

static cg_code read_number(table *self, enum nsight_column column, uint64_t *ret,
                           bool *ret_is_given, cg_err *reterr)
{
    enum nsight_number number =
        nsight_number_read(&self->numbers, &self->scratch, cell_of(self, column), ret);

    if (self->scratch.failed)
        return err_nomem(reterr);
    if (number == NUMBER_REFUSED)
        return refuse_cell(self, column, "is no number from 0 to 2^64-1", reterr);
    *ret_is_given = number == NUMBER_GIVEN;
    return CG_OK;
}

static cg_code need_number(table *self, enum nsight_column column, bool is_positive, uint64_t *ret,
                           cg_err *reterr)
{
    bool is_given = false;

    CG_TRY(read_number(self, column, ret, &is_given, reterr));
    if (!is_given)
        return refuse_cell(self, column, "is empty, expected a number", reterr);
    if (is_positive && *ret == 0)
        return refuse_cell(self, column, "must be greater than zero", reterr);
    return CG_OK;
}

/* Absent cells are 0. */
static cg_code read_text(table *self, cg_str text, sym *ret, cg_err *reterr)
{
    *ret = text.ptr == NULL ? 0 : intern_add(self->texts, text);
    return text.ptr != NULL && *ret == 0 ? err_nomem(reterr) : CG_OK;
}

/* --- rows --- */

static cg_code read_cost(table *self, cg_str name, nsight_cost *ret, cg_err *reterr)
{
    static const enum nsight_column figures[FIGURE_COUNT_ALL] = {
        [FIGURE_COUNT] = NSIGHT_COUNT,
        [FIGURE_AVERAGE] = NSIGHT_AVERAGE,
        [FIGURE_MINIMUM] = NSIGHT_MINIMUM,
        [FIGURE_MAXIMUM] = NSIGHT_MAXIMUM,
    };
    nsight_cost row = {0};

    CG_TRY(need_number(self, NSIGHT_TOTAL, false, &row.total_ns, reterr));
    for (unsigned i = 0; i < FIGURE_COUNT_ALL; i++) {
        bool is_given = false;

        CG_TRY(read_number(self, figures[i], &row.figures[i], &is_given, reterr));
        row.present = (uint8_t)(row.present | is_given << i);
    }
    CG_TRY(read_text(self, name, &row.name, reterr));
    CG_TRY(read_text(self, cell_of(self, NSIGHT_CATEGORY), &row.category, reterr));
    *ret = row;
    return CG_OK;
}

static cg_code read_optional(table *self, enum nsight_column column, uint8_t bit, uint64_t *ret,
                             uint8_t *present, cg_err *reterr)
{
    bool is_given = false;

    CG_TRY(read_number(self, column, ret, &is_given, reterr));
    if (is_given)
        *present |= bit;
    return CG_OK;
}

static cg_code read_event(table *self, cg_str name, nsight_event *ret, cg_err *reterr)
{
    static const enum nsight_column keys[JOIN_COUNT] = {
        [JOIN_CORRELATION] = NSIGHT_CORRELATION,
        [JOIN_DEVICE] = NSIGHT_DEVICE,
        [JOIN_CONTEXT] = NSIGHT_CONTEXT,
        [JOIN_STREAM] = NSIGHT_STREAM,
    };
    nsight_event row = {0};

    CG_TRY(need_number(self, NSIGHT_START, false, &row.start_ns, reterr));
    CG_TRY(need_number(self, NSIGHT_DURATION, true, &row.duration_ns, reterr));
    if (self->report == GPU_REPORT_NVTX) {
        CG_TRY(need_number(self, NSIGHT_PROJECTED_START, false, &row.projected_start_ns, reterr));
        CG_TRY(
            need_number(self, NSIGHT_PROJECTED_DURATION, true, &row.projected_duration_ns, reterr));
        row.present = EVENT_HAS_START | EVENT_HAS_DURATION;
    } else {
        CG_TRY(read_optional(self, NSIGHT_PROJECTED_START, EVENT_HAS_START, &row.projected_start_ns,
                             &row.present, reterr));
        CG_TRY(read_optional(self, NSIGHT_PROJECTED_DURATION, EVENT_HAS_DURATION,
                             &row.projected_duration_ns, &row.present, reterr));
    }
    CG_TRY(read_optional(self, NSIGHT_OPERATIONS, EVENT_HAS_OPERATIONS, &row.operations,
                         &row.present, reterr));
    CG_TRY(read_text(self, name, &row.name, reterr));
    for (unsigned i = 0; i < JOIN_COUNT; i++)
        CG_TRY(read_text(self, cell_of(self, keys[i]), &row.keys[i], reterr));
    *ret = row;
    return CG_OK;
}

static cg_code add_row(table *self, cg_str name, nsight_costs *costs, nsight_events *events,
                       cg_err *reterr)
{
    if (nsight_is_summary(self->report)) {
        nsight_cost *cost = vec_add(self->heap, &costs->rows);

        return cost == NULL ? err_nomem(reterr) : read_cost(self, name, cost, reterr);
    }
    nsight_event *event = vec_add(self->heap, &events->rows);

    return event == NULL ? err_nomem(reterr) : read_event(self, name, event, reterr);
}

static cg_code read_rows(table *self, nsight_costs *costs, nsight_events *events, cg_err *reterr)
{
    CG_TRY(find_header(self, reterr));
    for (;;) {
        bool has_more = false;
        csv_row row;
        cg_str name;

        CG_TRY(csv_reader_next(&self->reader, &row, &has_more, reterr));
        if (!has_more)
            return CG_OK;
        self->row = &row;
        if (row.number % ROWS_PER_PROGRESS == 0 &&
            !env_progress(self->env, "Nsight rows", row.number, 0))
            return cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped on request in an Nsight export");
        name = str_trim(cell_of(self, NSIGHT_NAME));
        if (name.len > 0)
            CG_TRY(add_row(self, name, costs, events, reterr));
    }
}

cg_code nsight_table_read(const cg_env *env, heap *from, intern *texts, unsigned report,
                          cg_code (*fill)(void *, void *, size_t, size_t *, cg_err *),
                          void *context, nsight_costs *costs, nsight_events *events, cg_err *reterr)
{
    table self = {.env = env,
                  .heap = from,
                  .texts = texts,
                  .report = report,
                  .columns = nsight_columns(report)};
    cg_code code;

    CG_TRY(csv_reader_init(&self.reader, from, env, fill, context, reterr));
    json_init(&self.numbers, from, 1);
    buf_init(&self.scratch, from, SIZE_MAX);
    code = read_rows(&self, costs, events, reterr);
    buf_free(&self.scratch);
    json_free(&self.numbers);
    csv_reader_free(&self.reader);
    return code;
}
