#include "model/moved.h"

#include <string.h>

#include "model/ids.h"
#include "model/normalise.h"

/* --- texts --- */

#define SPELLINGS 2u /* as it is, and as it is in an id */

/* A file's name with what stands between it and the line. */
typedef struct spelling {
    const moved_file *file;
    cg_str text;
    bool is_escaped;
} spelling;

typedef struct mover {
    pack_reader *in;
    cg_str *texts; /* of it, as they will be */
    spelling *spellings;
    size_t count;
    buf text;
    bool is_good; /* every line is known */
    bool is_short;
} mover;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_byte(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-' || c == '.' || c == '/' || (unsigned char)c >= 0x80;
}

/* Does a name begin here, rather than go on? */
static bool begins(const spelling *which, cg_str text, size_t at)
{
    cg_str before = {text.ptr, at};

    if (at == 0)
        return true;
    if (which->is_escaped && (str_ends_with(before, CG_LIT("%20"))))
        return true;
    return !is_name_byte(text.ptr[at - 1]);
}

static uint32_t line_of(mover *self, const moved_file *file, uint32_t line)
{
    bool is_torn;
    uint32_t now;

    if (edit_line(file->change, line, &now, &is_torn) && !is_torn)
        return now;
    self->is_good = self->is_good && !is_torn;
    return line < MOVED_NOWHERE ? line + MOVED_NOWHERE : line;
}

/* Where one of the spellings is next, behind `from`; SIZE_MAX: nowhere. */
static size_t find_next(const mover *self, cg_str text, size_t from, const spelling **ret)
{
    cg_str rest = {text.ptr + from, text.len - from};
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < self->count; i++) {
        size_t at = str_find(rest, self->spellings[i].text);

        if (at < best) {
            best = at;
            *ret = &self->spellings[i];
        }
    }
    return best == SIZE_MAX ? SIZE_MAX : from + best;
}

/* A text with its lines of today. */
static void move_text(mover *self, cg_str *text)
{
    const spelling *which = NULL;
    size_t done = 0, from = 0, at;

    buf_clear(&self->text);
    while ((at = find_next(self, *text, from, &which)) != SIZE_MAX) {
        size_t start = at + which->text.len, end = start;
        uint64_t line = 0;

        for (; end < text->len && is_digit(text->ptr[end]) && line < MOVED_NOWHERE; end++)
            line = line * 10 + (uint64_t)(text->ptr[end] - '0');
        from = end;
        if (end == start || !begins(which, *text, at))
            continue;
        buf_add(&self->text, (cg_str){text->ptr + done, start - done});
        buf_addf(&self->text, "%u", (unsigned)line_of(self, which->file, (uint32_t)line));
        done = end;
    }
    buf_add(&self->text, (cg_str){text->ptr + done, text->len - done});
    self->is_short = self->is_short || self->text.failed ||
                     !arena_text(self->in->mem, buf_text(&self->text), text);
}

/* The text that holds a byte of all of them, which lie one behind the other. */
static uint32_t text_at(const pack_reader *in, const char *at)
{
    uint32_t low = 1, high = in->text_count;

    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;

        if (in->texts[middle].ptr <= at)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static bool add_spellings(mover *self, const moved_file *files, size_t count)
{
    arena *mem = self->in->mem;

    self->spellings = arena_take(mem, (SPELLINGS * count + 1) * sizeof *self->spellings);
    for (size_t i = 0; self->spellings != NULL && i < count; i++) {
        spelling *plain = &self->spellings[self->count++];
        spelling *escaped = &self->spellings[self->count++];
        cg_str id;

        *plain = (spelling){.file = &files[i]};
        *escaped = (spelling){.file = &files[i], .is_escaped = true};
        if (!arena_format(mem, &plain->text, "%.*s:", (int)files[i].shown.len,
                          files[i].shown.ptr) ||
            !id_make(mem, MODEL_ID_KIND_FINDING, ID_PARTS(plain->text), &id))
            return false;
        escaped->text = (cg_str){id.ptr + str_find(id, CG_LIT(":")) + 1, 0};
        escaped->text.len = id.len - (size_t)(escaped->text.ptr - id.ptr);
    }
    return self->spellings != NULL;
}

#define PAIRS 4096u

/*
 * Looks for all spellings in one go through a text in which they are rare, and that is longer than
 * what is near the processor: what two bytes mean says how far it is to the next place where the
 * beginning of one may end.
 */
typedef struct search {
    const spelling *all;
    size_t count;
    size_t window; /* the bytes of the shortest; the others are known by as many of their first */
    uint8_t steps[PAIRS];
} search;

static unsigned pair_at(const char *at)
{
    return ((unsigned char)at[0] * 31u + (unsigned char)at[1]) % PAIRS;
}

static void search_init(search *self, const spelling *all, size_t count)
{
    *self = (search){.all = all, .count = count, .window = UINT8_MAX};
    for (size_t i = 0; i < count; i++) {
        if (all[i].text.len < self->window)
            self->window = all[i].text.len;
    }
    memset(self->steps, (int)self->window - 1, sizeof self->steps);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 1; k < self->window; k++) {
            uint8_t *step = &self->steps[pair_at(all[i].text.ptr + k - 1)];
            size_t left = self->window - 1 - k;

            *step = left < *step ? (uint8_t)left : *step;
        }
    }
}

/* Where one is next; SIZE_MAX: nowhere. */
static size_t search_next(const search *self, cg_str text)
{
    size_t last = self->window - 1, step;

    for (size_t at = last; at < text.len; at += step) {
        cg_str rest = {text.ptr + at - last, text.len - at + last};

        step = self->steps[pair_at(text.ptr + at - 1)];
        for (size_t i = 0; step == 0 && i < self->count; i++) {
            if (str_starts_with(rest, self->all[i].text))
                return at - last;
        }
        step += step == 0;
    }
    return SIZE_MAX;
}

/* All texts are one piece of memory, in which little is found. */
static void move_texts(mover *self)
{
    pack_reader *in = self->in;
    size_t size = ((size_t)in->text_count + 1) * sizeof *self->texts;
    size_t from = 0, at;
    search wanted;
    cg_str all;

    self->texts = arena_take(in->mem, size);
    self->is_short = self->is_short || self->texts == NULL;
    if (self->is_short || in->text_count == 0 || self->count == 0)
        return;
    memcpy(self->texts, in->texts, size);
    all = in->texts[1];
    /* Whoever wrote something else into the file gets what that leads to. */
    if (in->texts[in->text_count].ptr >= all.ptr)
        all.len = (size_t)(in->texts[in->text_count].ptr - all.ptr) + in->texts[in->text_count].len;
    search_init(&wanted, self->spellings, self->count);
    while (self->is_good && !self->is_short && from < all.len &&
           (at = search_next(&wanted, (cg_str){all.ptr + from, all.len - from})) != SIZE_MAX) {
        uint32_t which = text_at(in, all.ptr + from + at);

        if (self->texts[which].ptr == in->texts[which].ptr)
            move_text(self, &self->texts[which]);
        from += at + 1;
    }
}

bool moved_texts(pack_reader *in, const moved_file *files, size_t count, bool *ret_is_good)
{
    mover self = {.in = in, .is_good = true};

    buf_init(&self.text, in->mem->heap, SIZE_MAX / 2);
    if (add_spellings(&self, files, count))
        move_texts(&self);
    else
        self.is_short = true;
    buf_free(&self.text);
    *ret_is_good = self.is_good;
    if (!self.is_short && self.is_good && in->text_count > 0 && count > 0)
        in->texts = self.texts;
    return !self.is_short;
}

/* --- places --- */

static bool is_place_field(const sc_field *field)
{
    return field->type == SC_RECORD && field->sub == &table_model_location;
}

static bool is_table_field(const sc_field *field)
{
    return field->type == SC_RECORD || field->type == SC_RECORDS || field->type == SC_ENTRIES;
}

/* Tables nest as deep as we say. */
static bool holds_place(const sc_table *table, unsigned depth)
{
    for (uint16_t i = 0; i < table->count && depth < PACK_DEPTH; i++) {
        const sc_field *field = &table->fields[i];

        if (is_place_field(field) || (is_table_field(field) && holds_place(field->sub, depth + 1)))
            return true;
    }
    return false;
}

#define PLAN_TABLES 32u
#define PLAN_FIELDS 64u

/* The fields of a table that are places or hold some, as bits; all of them where nobody looked. */
typedef struct plan_row {
    const sc_table *table;
    uint64_t fields;
} plan_row;

static uint64_t fields_with_places(const sc_table *table)
{
    uint64_t fields = 0;

    if (table->count > PLAN_FIELDS)
        return UINT64_MAX;
    for (uint16_t i = 0; i < table->count; i++) {
        const sc_field *field = &table->fields[i];

        if (is_place_field(field) || (is_table_field(field) && holds_place(field->sub, 0)))
            fields |= UINT64_C(1) << i;
    }
    return fields;
}

/* The byte a line and a column stand for. */
static uint32_t offset_of(const rust_source *source, uint64_t line, uint64_t column)
{
    size_t at = line > 0 && line <= source->line_count ? source->lines[line - 1] : 0;

    if (line == 1 && str_starts_with(source->text, CG_LIT("\xef\xbb\xbf")))
        at = 3;
    for (; column > 1 && at < source->text.len; column--)
        str_next(source->text, &at);
    return (uint32_t)at;
}

static void move_place(model_location *at, const moved_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const edit *change = files[i].change;
        uint32_t named, start, end;

        if (!str_equal(at->file, files[i].shown))
            continue;
        if (edit_start(change, offset_of(change->before, at->line, at->column), &named)) {
            rust_place now = source_place(change->after, named);

            at->line = now.line;
            at->column = now.column;
        } else {
            at->line += MOVED_NOWHERE;
        }
        at->byte_start = edit_start(change, (uint32_t)at->byte_start, &start)
                             ? start
                             : at->byte_start + MOVED_NOWHERE;
        at->byte_end =
            edit_end(change, (uint32_t)at->byte_end, &end) ? end : at->byte_end + MOVED_NOWHERE;
        return;
    }
}

/* What is done with every place. */
typedef struct place_visit {
    const moved_file *files;
    size_t count; /* 0: only to see whether all are known */
    bool is_whole;
    plan_row plan[PLAN_TABLES]; /* of the tables that were met */
    size_t plan_count;
} place_visit;

static uint64_t planned(place_visit *self, const sc_table *table)
{
    uint64_t fields;

    for (size_t i = 0; i < self->plan_count; i++) {
        if (self->plan[i].table == table)
            return self->plan[i].fields;
    }
    fields = fields_with_places(table);
    if (self->plan_count < PLAN_TABLES)
        self->plan[self->plan_count++] = (plan_row){table, fields};
    return fields;
}

static void visit_place(place_visit *self, model_location *at)
{
    if (self->count > 0)
        move_place(at, self->files, self->count);
    else
        self->is_whole = self->is_whole && at->line < MOVED_NOWHERE &&
                         at->byte_start < MOVED_NOWHERE && at->byte_end < MOVED_NOWHERE;
}

static void visit_list(place_visit *self, const sc_table *table, void *records, size_t count);

/* `fields`: those to look at. */
static void visit_record(place_visit *self, const sc_table *table, uint64_t fields, void *record)
{
    for (uint16_t i = 0; i < table->count; i++) {
        const sc_field *field = &table->fields[i];
        void *member = (char *)record + field->offset;
        sc_records *list = member;

        if (i < PLAN_FIELDS && !(fields >> i & 1))
            continue;
        if (is_place_field(field)) {
            if (*(void **)member != NULL)
                visit_place(self, *(void **)member);
        } else if (field->type == SC_RECORD) {
            if (*(void **)member != NULL)
                visit_list(self, field->sub, *(void **)member, 1);
        } else if (is_table_field(field)) {
            visit_list(self, field->sub, (void *)(uintptr_t)list->at, list->count);
        }
    }
}

static void visit_list(place_visit *self, const sc_table *table, void *records, size_t count)
{
    uint64_t fields = count > 0 ? planned(self, table) : 0;

    for (size_t k = 0; fields != 0 && k < count; k++)
        visit_record(self, table, fields, (char *)records + k * table->size);
}

static void visit_all(place_visit *self, model_doc *doc)
{
    for (enum model_list i = 0; i < MODEL_LIST_COUNT; i++) {
        const sc_records *list = model_list_of(doc, i);

        visit_list(self, model_list_table(i), (void *)(uintptr_t)list->at, list->count);
    }
}

cg_code moved_places(model_document *document, const moved_file *files, size_t count,
                     cg_err *reterr)
{
    place_visit visit = {.files = files, .count = count};

    if (count > 0)
        visit_all(&visit, &document->doc);
    return findings_normalise(document, reterr);
}

bool moved_is_whole(const model_document *document)
{
    place_visit visit = {.is_whole = true};

    visit_all(&visit, (model_doc *)(uintptr_t)&document->doc);
    return visit.is_whole;
}
