#include "model/text_answer.h"

#include <inttypes.h>

#include "codec/escape.h"
#include "model/rules.h"
#include "model/select.h"

#define STEP       4u /* cells of indentation */
#define LEVELS     5u /* records inside each other that are shown */
#define CELLS_ROOM 4096u

typedef struct page {
    buf *out;
    const answer_style *style;
    arena *mem;
    size_t column; /* cells of the line so far; 0: at its beginning */
    size_t begin;  /* where the line began; the indent may have grown since */
    size_t indent;
} page;

/* --- lines --- */

static void end_line(page *self)
{
    if (self->column > 0)
        buf_byte(self->out, '\n');
    self->column = 0;
}

/* Text that is safe already, put on the line if it fits there, else on the next one. */
static void put_cells(page *self, cg_str text, size_t cells, const char *before)
{
    size_t gap = strlen(before);

    if (self->column > self->begin && self->column + gap + cells > self->style->width)
        end_line(self);
    if (self->column == 0) {
        buf_fill(self->out, ' ', self->indent);
        self->column = self->begin = self->indent;
    } else if (self->column > self->begin) {
        buf_addf(self->out, "%s", before);
        self->column += gap;
    }
    buf_add(self->out, text);
    self->column += cells;
}

static size_t cells_of(cg_str text)
{
    size_t at = 0;
    size_t cells = 0;

    while (at < text.len)
        cells += str_cells(str_next(text, &at));
    return cells;
}

static void put(page *self, cg_str text, const char *before)
{
    put_cells(self, text, cells_of(text), before);
}

/* A sentence, over as many lines as it takes; the later ones stand further in. */
static void put_words(page *self, cg_str text)
{
    size_t start = 0;

    if (self->indent + cells_of(text) <= self->style->width) {
        put(self, text, "");
        return;
    }
    for (size_t at = 0; at <= text.len; at++) {
        if (at < text.len && text.ptr[at] != ' ')
            continue;
        put(self, (cg_str){text.ptr + start, at - start}, " ");
        if (start == 0)
            self->indent += STEP;
        start = at + 1;
    }
    self->indent -= STEP;
}

/* --- values --- */

static int hex_of(char byte)
{
    return byte >= '0' && byte <= '9'   ? byte - '0'
           : byte >= 'A' && byte <= 'F' ? byte - 'A' + 10
                                        : -1;
}

#define ID_LEVELS 3u /* ids inside ids */

/* What an id says, without its kind and without escapes: each id inside another has its own. */
static void add_id(buf *to, cg_str text)
{
    buf plain[2];
    unsigned now = 0;

    buf_init(&plain[0], to->heap, CELLS_ROOM);
    buf_init(&plain[1], to->heap, CELLS_ROOM);
    buf_add(&plain[0], text);
    for (unsigned level = 0; level < ID_LEVELS; level++, now ^= 1) {
        cg_str from = buf_text(&plain[now]);

        buf_clear(&plain[now ^ 1]);
        for (size_t i = 0; i < from.len; i++) {
            int high = from.ptr[i] == '%' && i + 2 < from.len ? hex_of(from.ptr[i + 1]) : -1;
            int low = high >= 0 ? hex_of(from.ptr[i + 2]) : -1;

            buf_byte(&plain[now ^ 1], low >= 0 ? (char)(high * 16 + low) : from.ptr[i]);
            i += low >= 0 ? 2 : 0;
        }
    }
    esc_tty(to, buf_text(&plain[now]));
    buf_free(&plain[0]);
    buf_free(&plain[1]);
}

/* The text behind `kind:` when it is an id; absent: it is none. */
static cg_str id_rest(cg_str text)
{
    for (unsigned i = 0; i < words_model_id_kind.count; i++) {
        cg_str kind = words_model_id_kind.at[i];

        if (text.len > kind.len && str_starts_with(text, kind) && text.ptr[kind.len] == ':')
            return (cg_str){text.ptr + kind.len + 1, text.len - kind.len - 1};
    }
    return (cg_str){0};
}

static void add_value(buf *to, cg_str text)
{
    cg_str rest = id_rest(text);

    if (rest.ptr == NULL) {
        esc_tty(to, text);
        return;
    }
    while (rest.len > 0 && rest.ptr[rest.len - 1] == ':')
        rest.len--;
    add_id(to, rest);
}

/* A field's name in words. */
static void add_name(buf *to, cg_str key)
{
    for (size_t i = 0; i < key.len; i++)
        buf_byte(to, key.ptr[i] == '_' ? ' ' : key.ptr[i]);
}

static bool add_number(buf *to, const opt_u64 *value)
{
    if (value->is_set)
        buf_addf(to, "%" PRIu64, value->value);
    return value->is_set;
}

/* A value that is one word or line; false: nothing to show. */
static bool add_scalar(buf *to, const sc_field *field, const void *at)
{
    switch ((enum sc_type)field->type) {
    case SC_STR: {
        cg_str text = *(const cg_str *)at;

        add_value(to, text);
        return text.len > 0 && !str_equal(text, CG_LIT(MODEL_NO_DTYPE));
    }
    case SC_WORD: {
        cg_str word = sc_word(field->sub, *(const uint8_t *)at);

        esc_tty(to, word);
        return word.len > 0 && !str_equal(word, CG_LIT("unknown"));
    }
    case SC_TAGGED: {
        const sc_tags *tags = field->sub;
        const sc_tagged *tagged = at;
        cg_str word = sc_word(tags->words, tagged->word);

        if (tagged->record == NULL)
            esc_tty(to, word);
        return tagged->record == NULL && word.len > 0 && !str_equal(word, CG_LIT("unknown"));
    }
    case SC_U64: buf_addf(to, "%" PRIu64, *(const uint64_t *)at); return true;
    case SC_OPT_U64: return add_number(to, at);
    case SC_F64: buf_addf(to, "%g", *(const double *)at); return true;
    case SC_OPT_F64:
        buf_addf(to, "%g", ((const opt_f64 *)at)->value);
        return ((const opt_f64 *)at)->is_set;
    case SC_BOOL: buf_addf(to, "%s", *(const bool *)at ? "yes" : "no"); return true;
    case SC_OPT_BOOL:
        buf_addf(to, "%s", *(const opt_bool *)at == BOOL_TRUE ? "yes" : "no");
        return *(const opt_bool *)at != BOOL_UNKNOWN;
    case SC_U64S: {
        const sc_u64s *list = at;

        buf_byte(to, '(');
        for (size_t i = 0; i < list->count; i++)
            buf_addf(to, "%s%" PRIu64, i > 0 ? ", " : "", list->at[i]);
        buf_byte(to, ')');
        return list->at != NULL;
    }
    case SC_STRS:
    case SC_AXES:
    case SC_RECORD:
    case SC_RECORDS:
    case SC_ENTRIES:
    case SC_MAP:
    case SC_COUNTS:
    case SC_TAG:
    case SC_STREAM: return false;
    }
    return false;
}

/* --- items --- */

static const sc_field *field_of(const sc_table *table, cg_str key)
{
    for (unsigned i = 0; i < table->count; i++) {
        if (str_equal(table->fields[i].key, key))
            return &table->fields[i];
    }
    return NULL;
}

/* The field that names an item, by the first of these keys that says something. */
static const sc_field *title_of(const sc_table *table, const void *record)
{
    static const cg_str keys[] = {
        {"qualified_name", 14}, {"key", 3},  {"message", 7}, {"name", 4}, {"type_name", 9},
        {"component_name", 14}, {"rule", 4}, {"id", 2}};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const sc_field *field = field_of(table, keys[i]);

        if (field != NULL && field->type == SC_STR &&
            ((const cg_str *)(const void *)((const char *)record + field->offset))->len > 0)
            return field;
    }
    return NULL;
}

/* Places have the title's line; drills, evidence and byte ranges are for programs. */
static bool is_hidden(const sc_table *table, const sc_field *field, const sc_field *title)
{
    static const cg_str keys[] = {{"id", 2},       {"drill_down", 10}, {"source", 6},
                                  {"evidence", 8}, {"location", 8},    {"analysis_id", 11},
                                  {"build_id", 8}, {"schema", 6}};

    if (field == title)
        return true;
    if (title != NULL && str_equal(field->key, CG_LIT("name")) &&
        str_equal(title->key, CG_LIT("qualified_name")))
        return true;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (str_equal(field->key, keys[i]))
            return table->count > 1;
    }
    return false;
}

static void put_title(page *self, const sc_table *table, const void *record, const sc_field *title)
{
    const sc_field *place = field_of(table, CG_LIT("source"));
    buf text;

    buf_init(&text, self->out->heap, CELLS_ROOM);
    if (title != NULL) {
        add_value(&text, *(const cg_str *)(const void *)((const char *)record + title->offset));
        put_words(self, buf_text(&text));
    }
    if (place != NULL && place->type == SC_STR) {
        cg_str source = *(const cg_str *)(const void *)((const char *)record + place->offset);

        buf_clear(&text);
        buf_byte(&text, '@');
        esc_tty(&text, source);
        if (source.len > 0)
            put(self, buf_text(&text), "  ");
    }
    self->out->failed = self->out->failed || (text.failed && text.len < CELLS_ROOM / 2);
    buf_free(&text);
    end_line(self);
}

static void put_scalars(page *self, const sc_table *table, const void *record,
                        const sc_field *title)
{
    buf text;

    buf_init(&text, self->out->heap, CELLS_ROOM);
    for (unsigned i = 0; i < table->count; i++) {
        const sc_field *field = &table->fields[i];

        if (is_hidden(table, field, title))
            continue;
        buf_clear(&text);
        add_name(&text, field->key);
        buf_byte(&text, ' ');
        if (add_scalar(&text, field, (const char *)record + field->offset))
            put(self, buf_text(&text), "   ");
    }
    buf_free(&text);
    end_line(self);
}

static void put_more(page *self, size_t count, size_t shown, const char *before)
{
    char text[64];
    int len = snprintf(text, sizeof text, "... and %zu more", count - shown);

    if (count > shown && len > 0)
        put(self, (cg_str){text, (size_t)len}, before);
}

static void put_heading(page *self, cg_str key, size_t count)
{
    buf text;

    buf_init(&text, self->out->heap, CELLS_ROOM);
    add_name(&text, key);
    if (count > 0)
        buf_addf(&text, " (%zu)", count);
    buf_byte(&text, ':');
    put(self, buf_text(&text), "");
    buf_free(&text);
}

static void put_texts(page *self, cg_str key, const sc_strs *list)
{
    size_t shown = list->count < self->style->rows ? list->count : self->style->rows;
    buf text;

    if (list->count == 0)
        return;
    put_heading(self, key, list->count);
    self->indent += STEP;
    buf_init(&text, self->out->heap, CELLS_ROOM);
    for (size_t i = 0; i < shown; i++) {
        buf_clear(&text);
        add_value(&text, list->at[i]);
        if (i + 1 < list->count)
            buf_byte(&text, ',');
        put(self, buf_text(&text), " ");
    }
    buf_free(&text);
    put_more(self, list->count, shown, " ");
    end_line(self);
    self->indent -= STEP;
}

static void put_pairs(page *self, cg_str key, const sc_pair *pairs, const sc_count *counts,
                      size_t count)
{
    buf text;

    if (count == 0)
        return;
    put_heading(self, key, 0);
    self->indent += STEP;
    buf_init(&text, self->out->heap, CELLS_ROOM);
    for (size_t i = 0; i < count; i++) {
        buf_clear(&text);
        esc_tty(&text, pairs != NULL ? pairs[i].key : counts[i].key);
        buf_byte(&text, ' ');
        if (pairs != NULL)
            esc_tty(&text, pairs[i].value);
        else
            buf_addf(&text, "%" PRIu64, counts[i].value);
        put(self, buf_text(&text), "   ");
    }
    buf_free(&text);
    end_line(self);
    self->indent -= STEP;
}

static void put_record(page *self, const sc_table *table, const void *record, unsigned level);

static void put_records(page *self, const sc_field *field, const sc_records *list, unsigned level)
{
    const sc_table *table = field->sub;
    size_t shown = list->count < self->style->rows ? list->count : self->style->rows;

    if (list->count == 0 || level == LEVELS)
        return;
    put_heading(self, field->key, list->count);
    end_line(self);
    self->indent += STEP;
    for (size_t i = 0; i < shown; i++)
        put_record(self, table, (const char *)list->at + i * table->size, level + 1);
    put_more(self, list->count, shown, "");
    end_line(self);
    self->indent -= STEP;
}

static void put_part(page *self, const sc_field *field, const void *at, unsigned level)
{
    switch ((enum sc_type)field->type) {
    case SC_STRS:
    case SC_AXES: put_texts(self, field->key, at); return;
    case SC_MAP:
        put_pairs(self, field->key, ((const sc_map *)at)->at, NULL, ((const sc_map *)at)->count);
        return;
    case SC_COUNTS:
        put_pairs(self, field->key, NULL, ((const sc_counts *)at)->at,
                  ((const sc_counts *)at)->count);
        return;
    case SC_RECORDS:
    case SC_ENTRIES: put_records(self, field, at, level); return;
    case SC_RECORD:
        if (*(const void *const *)at == NULL || level == LEVELS)
            return;
        put_heading(self, field->key, 0);
        end_line(self);
        self->indent += STEP;
        put_record(self, field->sub, *(const void *const *)at, level + 1);
        self->indent -= STEP;
        return;
    case SC_STR:
    case SC_U64:
    case SC_OPT_U64:
    case SC_F64:
    case SC_OPT_F64:
    case SC_BOOL:
    case SC_OPT_BOOL:
    case SC_WORD:
    case SC_U64S:
    case SC_TAGGED:
    case SC_TAG:
    case SC_STREAM: return;
    }
}

/* As deep as LEVELS says. */
static void put_record(page *self, const sc_table *table, const void *record, unsigned level)
{
    const sc_field *title = title_of(table, record);

    if (title != NULL)
        put_title(self, table, record, title);
    self->indent += title != NULL ? STEP : 0;
    put_scalars(self, table, record, title);
    for (unsigned i = 0; i < table->count; i++) {
        const sc_field *field = &table->fields[i];

        if (!is_hidden(table, field, title))
            put_part(self, field, (const char *)record + field->offset, level);
    }
    self->indent -= title != NULL ? STEP : 0;
}

/* Lists of what names suggest are empty unless they were asked for. */
static bool is_unasked(const model_answer *self)
{
    const sc_records *findings = &self->from.doc->findings;
    enum model_list list = select_list(self->request.kind);

    if (self->total > 0 || self->single.table != NULL ||
        (list != MODEL_OPTIMIZERS && list != MODEL_STAGES && list != MODEL_ARTIFACTS))
        return false;
    for (size_t i = 0; i < findings->count; i++) {
        if (str_equal(MODEL_AT(*findings, model_finding, i)->rule,
                      rules[RULE_CODE_COMPILER_SEMANTIC_EVIDENCE].code))
            return true;
    }
    return false;
}

void answer_text(model_answer *self, const answer_style *style, buf *out)
{
    arena *mem = &self->from.mem;
    page to = {.out = out, .style = style, .mem = mem};
    cg_str word = ask_kinds[self->request.kind].word;

    add_name(out, word);
    if (self->single.table == NULL)
        buf_addf(out, ": %" PRIu64, self->total);
    if (self->offset > 0 || self->offset + self->returned < self->total)
        buf_addf(out, ", showing %" PRIu64 " from %" PRIu64 " on", self->returned,
                 self->offset + 1);
    buf_byte(out, '\n');
    if (is_unasked(self))
        buf_add(out, CG_LIT("these are leads, which --heuristic-architecture lists\n"));
    for (uint64_t i = 0; i < self->returned; i++) {
        arena_place place = arena_mark(mem);
        ask_item item;

        if (query_item(self, i, mem, &item))
            put_record(&to, item.table, item.record, 0);
        else
            out->failed = true;
        arena_reset(mem, place);
    }
}
