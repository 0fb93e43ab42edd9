#include "codec/toml.h"

#include <math.h>

#include <tree_sitter/api.h>

#include "base/guard.h"
#include "base/os.h"
#include "codec/json.h"

const TSLanguage *tree_sitter_toml(void);

/* How a table or an array came to be: what may be added to it later. */
enum origin {
    ORIGIN_VALUE,    /* `= {..}` or `= [..]`: closed */
    ORIGIN_IMPLICIT, /* on the way to a header */
    ORIGIN_HEADER,   /* [a] */
    ORIGIN_DOTTED,   /* a.b = 1 */
    ORIGIN_TABLES    /* [[a]] */
};

/* What the grammar calls the nodes we act on. */
#define TOML_SYMBOLS(X)                                                                            \
    X(BARE_KEY, "bare_key", true)                                                                  \
    X(QUOTED_KEY, "quoted_key", true)                                                              \
    X(EQUALS, "=", false)                                                                          \
    X(TABLE, "table", true)                                                                        \
    X(TABLE_ARRAY, "table_array_element", true)                                                    \
    X(TABLE_END, "]", false)                                                                       \
    X(TABLE_ARRAY_END, "]]", false)                                                                \
    X(ARRAY, "array", true)                                                                        \
    X(INLINE_TABLE, "inline_table", true)                                                          \
    X(STRING, "string", true)                                                                      \
    X(INTEGER, "integer", true)                                                                    \
    X(FLOAT, "float", true)                                                                        \
    X(BOOLEAN, "boolean", true)                                                                    \
    X(OFFSET_DATE_TIME, "offset_date_time", true)                                                  \
    X(LOCAL_DATE_TIME, "local_date_time", true)                                                    \
    X(LOCAL_DATE, "local_date", true)                                                              \
    X(LOCAL_TIME, "local_time", true)                                                              \
    X(PAIR, "pair", true)

enum symbol {
#define X(name, text, is_named) SYMBOL_##name,
    TOML_SYMBOLS(X)
#undef X
        SYMBOL_COUNT,
    SYMBOL_OTHER = SYMBOL_COUNT
};

typedef struct container {
    uint32_t node;
    uint32_t tree_depth; /* of the syntax node that fills it */
} container;

typedef struct build {
    toml_document *doc;
    heap *heap;
    cg_str text;
    TSSymbol symbols[SYMBOL_COUNT];
    VEC(cg_str) keys; /* parts of the key being read */
    container open[TOML_DEPTH + 1];
    size_t open_count; /* arrays and inline tables being filled */
    uint32_t table;    /* of the last header */
    uint32_t target;   /* where the next value goes */
    cg_str target_key;
    bool is_header, is_tables_header;
    uint32_t line;
    cg_err *reterr;
} build;

/* --- the tree of values --- */

static uint64_t hash_of(const toml_document *doc, uint32_t parent, cg_str key)
{
    uint64_t hash = doc->seed ^ (parent * UINT64_C(0x9E3779B97F4A7C15));

    for (size_t i = 0; i < key.len; i++)
        hash = (hash ^ (unsigned char)key.ptr[i]) * UINT64_C(0x100000001B3);
    hash ^= hash >> 32;
    hash *= UINT64_C(0xD6E8FEB86659FD93);
    return hash ^ hash >> 29;
}

/* The slot of the key, or the free one where it belongs. */
static uint32_t *slot_of(const toml_document *doc, uint32_t parent, cg_str key)
{
    size_t mask = doc->slot_count - 1;
    size_t at = (size_t)hash_of(doc, parent, key) & mask;

    while (doc->slots[at] != TOML_NONE) {
        const toml_node *node = &doc->nodes.at[doc->slots[at]];

        if (node->parent == parent && str_equal(node->key, key))
            break;
        at = (at + 1) & mask;
    }
    return &doc->slots[at];
}

static bool grow_slots(toml_document *doc)
{
    size_t old_count = doc->slot_count;
    uint32_t *old = doc->slots;
    size_t count = old_count == 0 ? 64 : old_count * 2;
    uint32_t *slots = heap_resize(doc->heap, NULL, 0, count * sizeof *slots);

    if (slots == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        slots[i] = TOML_NONE;
    doc->slots = slots;
    doc->slot_count = count;
    for (size_t i = 0; i < old_count; i++) {
        if (old[i] != TOML_NONE) {
            const toml_node *node = &doc->nodes.at[old[i]];

            *slot_of(doc, node->parent, node->key) = old[i];
        }
    }
    if (old != NULL)
        heap_resize(doc->heap, old, old_count * sizeof *old, 0);
    return true;
}

/* A new last child; key absent in arrays. NULL: out of memory. */
static toml_node *add_node(build *self, uint32_t parent, cg_str key, enum toml_kind kind)
{
    toml_document *doc = self->doc;
    toml_node *node;
    uint32_t index;

    if (doc->nodes.count >= TOML_NONE - 1)
        return NULL;
    if (key.ptr != NULL && 2 * (doc->nodes.count + 1) > doc->slot_count && !grow_slots(doc))
        return NULL;
    node = vec_add(doc->heap, &doc->nodes);
    if (node == NULL)
        return NULL;
    index = (uint32_t)(doc->nodes.count - 1);
    *node = (toml_node){.key = key,
                        .parent = parent,
                        .first = TOML_NONE,
                        .last = TOML_NONE,
                        .next = TOML_NONE,
                        .line = self->line,
                        .kind = (uint8_t)kind};
    if (parent != TOML_NONE) {
        toml_node *above = &doc->nodes.at[parent];

        if (above->last == TOML_NONE)
            above->first = index;
        else
            doc->nodes.at[above->last].next = index;
        above->last = index;
        above->count++;
        if (key.ptr != NULL)
            *slot_of(doc, parent, key) = index;
    }
    return node;
}

uint32_t toml_get(const toml_document *doc, uint32_t table, cg_str key)
{
    if (table >= doc->nodes.count || doc->nodes.at[table].kind != TOML_TABLE ||
        doc->slot_count == 0)
        return TOML_NONE;
    return *slot_of(doc, table, key);
}

cg_str toml_text(const toml_document *doc, uint32_t node)
{
    return toml_is(doc, node, TOML_STRING) ? doc->nodes.at[node].text : (cg_str){0};
}

bool toml_boolean(const toml_document *doc, uint32_t node, bool *ret)
{
    if (!toml_is(doc, node, TOML_BOOLEAN))
        return false;
    *ret = doc->nodes.at[node].is_true;
    return true;
}

bool toml_is(const toml_document *doc, uint32_t node, enum toml_kind kind)
{
    return node < doc->nodes.count && doc->nodes.at[node].kind == kind;
}

const char *toml_kind_name(const toml_document *doc, uint32_t node)
{
    if (node >= doc->nodes.count)
        return "nothing";
    switch ((enum toml_kind)doc->nodes.at[node].kind) {
    case TOML_TABLE: return "a table";
    case TOML_ARRAY: return "an array";
    case TOML_STRING: return "a string";
    case TOML_INTEGER: return "an integer";
    case TOML_FLOAT: return "a float";
    case TOML_BOOLEAN: return "true or false";
    case TOML_DATETIME: return "a date";
    }
    return "nothing";
}

/* --- texts and numbers --- */

static cg_code refuse(build *self, const char *what)
{
    cg_fail(self->reterr, PROBLEM_TOML, "%s", what);
    err_at_line(self->reterr, self->line, 0);
    return problem_code(PROBLEM_TOML);
}

static cg_code refuse_key(build *self, cg_str key, const char *what)
{
    cg_fail(self->reterr, PROBLEM_TOML, "`%.*s` %s", ERR_STR(key), what);
    err_at_line(self->reterr, self->line, 0);
    return problem_code(PROBLEM_TOML);
}

static size_t write_utf8(char *out, uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

static int digit_of(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    if (byte >= 'A' && byte <= 'F')
        return byte - 'A' + 10;
    return 16;
}

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* `count` hexadecimal digits at *at as UTF-8; 0 when they are no character. */
static size_t read_code(cg_str raw, size_t *at, size_t count, char *out)
{
    uint32_t code = 0;

    if (raw.len - *at < count)
        return 0;
    for (size_t i = 0; i < count; i++) {
        int digit = digit_of(raw.ptr[*at + i]);

        if (digit > 15)
            return 0;
        code = code << 4 | (uint32_t)digit;
    }
    *at += count;
    return code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? 0 : write_utf8(out, code);
}

/* What the escape behind the backslash at *at - 1 stands for; false: nothing. */
static bool read_escape(cg_str raw, size_t *at, char *out, size_t *len)
{
    static const char letters[] = "btnfre\"\\";
    static const char bytes[] = "\b\t\n\f\r\033\"\\";
    char letter = raw.ptr[(*at)++];
    const char *found = letter == '\0' ? NULL : strchr(letters, letter);
    size_t size;

    if (found != NULL) {
        out[(*len)++] = bytes[found - letters];
        return true;
    }
    if (letter == 'u' || letter == 'U' || letter == 'x') {
        size = read_code(raw, at, letter == 'x' ? 2 : letter == 'u' ? 4 : 8, out + *len);
        *len += size;
        return size > 0;
    }
    if (!is_space(letter))
        return false;
    while (*at < raw.len && is_space(raw.ptr[*at]))
        (*at)++;
    return true;
}

/* The text of a string with its quotes. */
static cg_code read_string(build *self, cg_str raw, cg_str *ret)
{
    size_t quotes = 1;
    bool is_literal = raw.len > 0 && raw.ptr[0] == '\'';
    size_t len = 0;
    char *out;

    if (raw.len >= 6 && raw.ptr[1] == raw.ptr[0] && raw.ptr[2] == raw.ptr[0])
        quotes = 3;
    if (raw.len < 2 * quotes || (raw.ptr[0] != '"' && !is_literal))
        return refuse(self, "a string is not closed");
    raw = (cg_str){raw.ptr + quotes, raw.len - 2 * quotes};
    if (quotes == 3) {
        size_t skip = str_starts_with(raw, CG_LIT("\r\n")) ? 2 : str_starts_with(raw, CG_LIT("\n"));

        raw = (cg_str){raw.ptr + skip, raw.len - skip};
    }
    out = arena_bytes(&self->doc->mem, raw.len + 1);
    if (out == NULL)
        return err_nomem(self->reterr);
    for (size_t at = 0; at < raw.len;) {
        char byte = raw.ptr[at++];

        if (byte != '\\' || is_literal)
            out[len++] = byte;
        else if (at == raw.len || !read_escape(raw, &at, out, &len))
            return refuse(self, "a string has an escape that TOML does not know");
    }
    out[len] = '\0';
    *ret = (cg_str){out, len};
    return CG_OK;
}

static cg_code read_integer(build *self, cg_str raw, int64_t *ret)
{
    bool is_negative = raw.len > 0 && raw.ptr[0] == '-';
    size_t at = raw.len > 0 && (raw.ptr[0] == '-' || raw.ptr[0] == '+');
    uint64_t base = 10;
    uint64_t value = 0;
    uint64_t ceiling = (uint64_t)INT64_MAX + is_negative;

    if (raw.len - at > 2 && raw.ptr[at] == '0') {
        char letter = raw.ptr[at + 1];

        base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
        at += base == 10 ? 0 : 2;
    }
    for (; at < raw.len; at++) {
        uint64_t digit = (uint64_t)digit_of(raw.ptr[at]);

        if (raw.ptr[at] == '_')
            continue;
        if (digit >= base)
            return refuse(self, "a number is not well formed");
        if (value > (ceiling - digit) / base)
            return refuse(self, "an integer is larger than 64 bits");
        value = value * base + digit;
    }
    *ret = is_negative ? (int64_t)(0 - value) : (int64_t)value;
    return CG_OK;
}

static cg_code read_float(build *self, cg_str raw, double *ret)
{
    arena_place mark = arena_mark(&self->doc->mem);
    char *text = arena_bytes(&self->doc->mem, raw.len + 1);
    bool is_negative = raw.len > 0 && raw.ptr[0] == '-';
    size_t at = raw.len > 0 && (raw.ptr[0] == '-' || raw.ptr[0] == '+');
    size_t len = 0;
    yyjson_val value = {0};
    double number;

    if (text == NULL)
        return err_nomem(self->reterr);
    for (size_t i = at; i < raw.len; i++) {
        if (raw.ptr[i] != '_')
            text[len++] = raw.ptr[i];
    }
    text[len] = '\0';
    if (str_equal((cg_str){text, len}, CG_LIT("inf")))
        number = (double)INFINITY;
    else if (str_equal((cg_str){text, len}, CG_LIT("nan")))
        number = (double)NAN;
    else if (yyjson_read_number(text, &value, YYJSON_READ_NOFLAG, NULL, NULL) != NULL)
        number = yyjson_get_num(&value);
    else
        return refuse(self, "a number is not well formed or too large");
    arena_reset(&self->doc->mem, mark);
    *ret = is_negative ? -number : number;
    return CG_OK;
}

/* --- keys and headers --- */

static cg_code add_key(build *self, cg_str raw, bool is_quoted)
{
    cg_str text;
    cg_str *part;

    if (self->keys.count + self->open_count >= TOML_DEPTH)
        return refuse(self, "tables nest too deep");
    if (is_quoted)
        CG_TRY(read_string(self, raw, &text));
    else if (!arena_text(&self->doc->mem, raw, &text))
        return err_nomem(self->reterr);
    part = vec_add(self->heap, &self->keys);
    if (part == NULL)
        return err_nomem(self->reterr);
    *part = text;
    return CG_OK;
}

/* The table that `key` of `from` leads to, made when it is not there. */
static cg_code enter_table(build *self, uint32_t from, cg_str key, enum origin origin,
                           uint32_t *ret)
{
    uint32_t index = toml_get(self->doc, from, key);
    toml_node *node;

    if (index == TOML_NONE) {
        node = add_node(self, from, key, TOML_TABLE);
        if (node == NULL)
            return err_nomem(self->reterr);
        node->origin = (uint8_t)origin;
        *ret = (uint32_t)(self->doc->nodes.count - 1);
        return CG_OK;
    }
    node = &self->doc->nodes.at[index];
    if (node->kind == TOML_ARRAY && node->origin == ORIGIN_TABLES && origin == ORIGIN_IMPLICIT)
        index = node->last;
    else if (node->kind != TOML_TABLE || node->origin == ORIGIN_VALUE)
        return refuse_key(self, key,
                          "is given a value in one place and used as a table in another");
    *ret = index;
    return CG_OK;
}

static cg_code end_header(build *self)
{
    size_t count = self->keys.count;
    uint32_t at = TOML_ROOT;
    cg_str last;
    uint32_t index;

    if (count == 0)
        return refuse(self, "a table has no name");
    for (size_t i = 0; i + 1 < count; i++)
        CG_TRY(enter_table(self, at, self->keys.at[i], ORIGIN_IMPLICIT, &at));
    last = self->keys.at[count - 1];
    self->keys.count = 0;
    self->is_header = false;
    index = toml_get(self->doc, at, last);
    if (self->is_tables_header) {
        if (index == TOML_NONE) {
            toml_node *array = add_node(self, at, last, TOML_ARRAY);

            if (array == NULL)
                return err_nomem(self->reterr);
            array->origin = ORIGIN_TABLES;
            index = (uint32_t)(self->doc->nodes.count - 1);
        } else if (self->doc->nodes.at[index].origin != ORIGIN_TABLES) {
            return refuse_key(self, last, "is defined twice");
        }
        at = index;
        last = (cg_str){0};
        index = TOML_NONE;
    }
    if (index == TOML_NONE) {
        if (add_node(self, at, last, TOML_TABLE) == NULL)
            return err_nomem(self->reterr);
        index = (uint32_t)(self->doc->nodes.count - 1);
    } else if (self->doc->nodes.at[index].kind != TOML_TABLE ||
               self->doc->nodes.at[index].origin != ORIGIN_IMPLICIT) {
        return refuse_key(self, last, "is defined twice");
    }
    self->doc->nodes.at[index].origin = ORIGIN_HEADER;
    self->table = index;
    return CG_OK;
}

/* `=`: the parts of the key so far say where the value goes. */
static cg_code end_key(build *self)
{
    size_t count = self->keys.count;
    uint32_t at = self->open_count > 0 ? self->open[self->open_count - 1].node : self->table;

    if (count == 0 || self->doc->nodes.at[at].kind != TOML_TABLE)
        return refuse(self, "a value has no key");
    for (size_t i = 0; i + 1 < count; i++)
        CG_TRY(enter_table(self, at, self->keys.at[i], ORIGIN_DOTTED, &at));
    self->target = at;
    self->target_key = self->keys.at[count - 1];
    self->keys.count = 0;
    if (toml_get(self->doc, at, self->target_key) != TOML_NONE)
        return refuse_key(self, self->target_key, "is given twice");
    return CG_OK;
}

/* The node for a value that begins here. */
static cg_code begin_value(build *self, enum toml_kind kind, toml_node **ret)
{
    uint32_t inner = self->open_count > 0 ? self->open[self->open_count - 1].node : TOML_NONE;

    if (toml_is(self->doc, inner, TOML_ARRAY)) {
        *ret = add_node(self, inner, (cg_str){0}, kind);
    } else {
        if (self->target == TOML_NONE)
            return refuse(self, "a value has no key");
        *ret = add_node(self, self->target, self->target_key, kind);
    }
    self->target = TOML_NONE;
    return *ret == NULL ? err_nomem(self->reterr) : CG_OK;
}

/* --- walking the syntax tree --- */

static enum symbol symbol_of(const build *self, TSNode node)
{
    TSSymbol symbol = ts_node_symbol(node);

    for (unsigned i = 0; i < SYMBOL_COUNT; i++) {
        if (self->symbols[i] == symbol)
            return (enum symbol)i;
    }
    return SYMBOL_OTHER;
}

static cg_str raw_of(const build *self, TSNode node)
{
    uint32_t start = ts_node_start_byte(node);

    return (cg_str){self->text.ptr + start, ts_node_end_byte(node) - start};
}

static cg_code open_value(build *self, enum toml_kind kind, uint32_t tree_depth)
{
    toml_node *node;

    if (self->open_count >= TOML_DEPTH)
        return refuse(self, "arrays and tables nest too deep");
    CG_TRY(begin_value(self, kind, &node));
    self->open[self->open_count++] =
        (container){(uint32_t)(self->doc->nodes.count - 1), tree_depth};
    return CG_OK;
}

static cg_code add_scalar(build *self, enum symbol symbol, cg_str raw)
{
    toml_node *node;
    toml_node value = {0};

    switch (symbol) {
    case SYMBOL_STRING:
        value.kind = TOML_STRING;
        CG_TRY(read_string(self, raw, &value.text));
        break;
    case SYMBOL_INTEGER:
        value.kind = TOML_INTEGER;
        CG_TRY(read_integer(self, raw, &value.integer));
        value.number = (double)value.integer;
        break;
    case SYMBOL_FLOAT:
        value.kind = TOML_FLOAT;
        CG_TRY(read_float(self, raw, &value.number));
        break;
    case SYMBOL_BOOLEAN:
        value.kind = TOML_BOOLEAN;
        value.is_true = str_equal(raw, CG_LIT("true"));
        break;
    default:
        value.kind = TOML_DATETIME;
        if (!arena_text(&self->doc->mem, raw, &value.text))
            return err_nomem(self->reterr);
        break;
    }
    CG_TRY(begin_value(self, (enum toml_kind)value.kind, &node));
    node->text = value.text;
    node->integer = value.integer;
    node->number = value.number;
    node->is_true = value.is_true;
    return CG_OK;
}

/* One node, before its children; *ret_enter: are they looked at? */
static cg_code visit(build *self, TSNode node, uint32_t depth, bool *ret_enter)
{
    enum symbol symbol = symbol_of(self, node);

    *ret_enter = false;
    self->line = ts_node_start_point(node).row + 1;
    switch (symbol) {
    case SYMBOL_BARE_KEY:
    case SYMBOL_QUOTED_KEY: return add_key(self, raw_of(self, node), symbol == SYMBOL_QUOTED_KEY);
    case SYMBOL_EQUALS: return end_key(self);
    case SYMBOL_TABLE:
    case SYMBOL_TABLE_ARRAY:
        self->is_header = true;
        self->is_tables_header = symbol == SYMBOL_TABLE_ARRAY;
        self->keys.count = 0;
        *ret_enter = true;
        return CG_OK;
    case SYMBOL_TABLE_END:
    case SYMBOL_TABLE_ARRAY_END: return self->is_header ? end_header(self) : CG_OK;
    case SYMBOL_ARRAY: *ret_enter = true; return open_value(self, TOML_ARRAY, depth);
    case SYMBOL_INLINE_TABLE: *ret_enter = true; return open_value(self, TOML_TABLE, depth);
    case SYMBOL_STRING:
    case SYMBOL_INTEGER:
    case SYMBOL_FLOAT:
    case SYMBOL_BOOLEAN:
    case SYMBOL_OFFSET_DATE_TIME:
    case SYMBOL_LOCAL_DATE_TIME:
    case SYMBOL_LOCAL_DATE:
    case SYMBOL_LOCAL_TIME: return add_scalar(self, symbol, raw_of(self, node));
    case SYMBOL_PAIR:
    case SYMBOL_OTHER: *ret_enter = true; return CG_OK;
    }
    return CG_OK;
}

/* TOML 1.1 lets inline tables have line ends and a last comma, which the grammar does not. */
static bool is_tolerated(const build *self, TSNode node)
{
    cg_str raw = raw_of(self, node);

    if (self->open_count == 0 || self->keys.count > 0 || ts_node_is_missing(node))
        return false;
    for (size_t i = 0; i < raw.len; i++) {
        if (!is_space(raw.ptr[i]) && raw.ptr[i] != ',')
            return false;
    }
    return true;
}

static cg_code refuse_node(build *self, TSNode node)
{
    size_t start = ts_node_start_byte(node);
    size_t end;

    while (start > 0 && self->text.ptr[start - 1] != '\n')
        start--;
    for (end = start; end < self->text.len && self->text.ptr[end] != '\n';)
        end++;
    self->line = ts_node_start_point(node).row + 1;
    if (memchr(self->text.ptr + start, '\0', end - start) != NULL)
        return refuse(self, "a NUL byte is not TOML");
    return refuse_key(self, str_trim((cg_str){self->text.ptr + start, end - start}), "is not TOML");
}

static cg_code walk(build *self, TSTreeCursor *at)
{
    uint32_t depth = 0;
    bool is_entering = true;

    for (;;) {
        TSNode node = ts_tree_cursor_current_node(at);

        if (is_entering) {
            bool is_entered = false;

            if (ts_node_is_error(node) || ts_node_is_missing(node)) {
                if (!is_tolerated(self, node)) {
                    return refuse_node(self, node);
                }
            } else {
                CG_TRY(visit(self, node, depth, &is_entered));
            }
            if (is_entered && ts_tree_cursor_goto_first_child(at)) {
                depth++;
                continue;
            }
        }
        if (self->open_count > 0 && self->open[self->open_count - 1].tree_depth == depth)
            self->open_count--;
        if (depth == 0)
            return CG_OK;
        is_entering = ts_tree_cursor_goto_next_sibling(at);
        if (!is_entering) {
            ts_tree_cursor_goto_parent(at);
            depth--;
        }
    }
}

/* --- reading --- */

static bool bind_symbols(build *self)
{
    static const struct {
        const char *text;
        bool is_named;
    } names[SYMBOL_COUNT] = {
#define X(name, text, is_named) [SYMBOL_##name] = {(text), (is_named)},
        TOML_SYMBOLS(X)
#undef X
    };
    const TSLanguage *language = tree_sitter_toml();

    for (unsigned i = 0; i < SYMBOL_COUNT; i++) {
        self->symbols[i] = ts_language_symbol_for_name(
            language, names[i].text, (uint32_t)strlen(names[i].text), names[i].is_named);
        if (self->symbols[i] == 0)
            return false;
    }
    return true;
}

/*
 * Recovery from errors costs microseconds a byte: a text that is nothing but errors would take as
 * long as its author likes. What is tolerated needs a few calls.
 */
#define RECOVERY_CEILING 1000u

typedef struct patience {
    unsigned calls;  /* of the parser, while in error */
    uint32_t offset; /* where that began */
} patience;

static bool is_over(TSParseState *state)
{
    patience *self = state->payload;

    if (!state->has_error)
        return false;
    if (self->calls++ == 0)
        self->offset = state->current_byte_offset;
    return self->calls > RECOVERY_CEILING;
}

static const char *give_text(void *payload, uint32_t offset, TSPoint point, uint32_t *ret_count)
{
    const build *self = payload;
    bool is_inside = offset < self->text.len;

    (void)point;
    *ret_count = is_inside ? (uint32_t)(self->text.len - offset) : 0;
    return is_inside ? self->text.ptr + offset : "";
}

static cg_code refuse_at(build *self, uint32_t offset)
{
    self->line = 1;
    for (uint32_t i = 0; i < offset && i < self->text.len; i++)
        self->line += self->text.ptr[i] == '\n';
    return refuse(self, "this is not TOML");
}

typedef struct parsing {
    build *build;
    cg_code code;
} parsing;

static void parse_guarded(void *context)
{
    parsing *to = context;
    build *self = to->build;
    TSParser *parser = ts_parser_new();
    TSInput input = {.payload = self, .read = give_text, .encoding = TSInputEncodingUTF8};
    patience left = {0};
    TSParseOptions options = {.payload = &left, .progress_callback = is_over};
    TSTree *tree = NULL;
    TSTreeCursor at;

    if (!ts_parser_set_language(parser, tree_sitter_toml()) || !bind_symbols(self)) {
        to->code = cg_fail(self->reterr, PROBLEM_INTERNAL, "the TOML grammar does not fit");
        return;
    }
    tree = ts_parser_parse_with_options(parser, NULL, input, options);
    if (tree == NULL) {
        to->code = refuse_at(self, left.offset);
        return;
    }
    at = ts_tree_cursor_new(ts_tree_root_node(tree));
    to->code = walk(self, &at);
}

static cg_code parse(build *self)
{
    parsing to = {.build = self};
    guard memory = {0};

    if (!guard_run(&memory, parse_guarded, &to))
        return err_nomem(self->reterr);
    guard_end(&memory);
    return to.code;
}

static cg_code check_text(build *self)
{
    size_t bad;

    if (self->text.len > TOML_BYTES)
        return cg_fail(self->reterr, PROBLEM_LIMIT, "more than %zu bytes of TOML",
                       (size_t)TOML_BYTES);
    bad = str_utf8_error(self->text);
    if (bad == SIZE_MAX)
        return CG_OK;
    self->line = 1;
    for (size_t i = 0; i < bad; i++)
        self->line += self->text.ptr[i] == '\n';
    return refuse(self, "this is not UTF-8 text");
}

cg_code toml_read(const cg_env *env, heap *from, cg_str text, toml_document **ret, cg_err *reterr)
{
    toml_document *doc = heap_resize(from, NULL, 0, sizeof *doc);
    build self = {.heap = from,
                  .doc = doc,
                  .text = str_starts_with(text, CG_LIT("\xEF\xBB\xBF"))
                              ? (cg_str){text.ptr + 3, text.len - 3}
                              : text,
                  .target = TOML_NONE,
                  .line = 1,
                  .reterr = reterr};
    cg_code code;

    if (doc == NULL)
        return err_nomem(reterr);
    *doc = (toml_document){.heap = from, .seed = os_random(env)};
    arena_init(&doc->mem, from);
    code = check_text(&self);
    if (code == CG_OK && add_node(&self, TOML_NONE, (cg_str){0}, TOML_TABLE) == NULL)
        code = err_nomem(reterr);
    if (code == CG_OK) {
        doc->nodes.at[TOML_ROOT].origin = ORIGIN_HEADER;
        code = parse(&self);
    }
    vec_free(from, &self.keys);
    if (code != CG_OK) {
        toml_free(doc);
        return code;
    }
    *ret = doc;
    return CG_OK;
}

void toml_free(toml_document *doc)
{
    heap *from;

    if (doc == NULL)
        return;
    from = doc->heap;
    if (doc->slots != NULL)
        heap_resize(from, doc->slots, doc->slot_count * sizeof *doc->slots, 0);
    vec_free(from, &doc->nodes);
    arena_free(&doc->mem);
    heap_resize(from, doc, sizeof *doc, 0);
}
