#include "model/std_text.h"

#include "base/buf.h"
#include "base/num.h"
#include "model/catalogue.h"

void std_text_begin(std_text *self, eval *from)
{
    *self = (std_text){.eval = from};
}

static void add_piece(std_text *self, text_piece piece)
{
    text_piece *at = vec_add(self->eval->values->heap, &self->pieces);

    if (at == NULL)
        self->failed = true;
    else
        *at = piece;
}

void std_text_add(std_text *self, cg_str literal)
{
    arena *mem = &self->eval->values->mem;
    text_piece *last = self->pieces.count > 0 ? &self->pieces.at[self->pieces.count - 1] : NULL;
    char *room;

    if (literal.len == 0)
        return;
    if (last == NULL || last->is_hole) {
        add_piece(self, (text_piece){.text = literal});
        return;
    }
    room = arena_bytes(mem, last->text.len + literal.len);
    if (room == NULL) {
        self->failed = true;
        return;
    }
    memcpy(room, last->text.ptr, last->text.len);
    memcpy(room + last->text.len, literal.ptr, literal.len);
    last->text = (cg_str){room, last->text.len + literal.len};
}

void std_text_add_pieces(std_text *self, text_pieces pieces)
{
    for (size_t i = 0; i < pieces.count; i++) {
        if (pieces.at[i].is_hole)
            add_piece(self, pieces.at[i]);
        else
            std_text_add(self, pieces.at[i].text);
    }
}

/* A literal that lives as long as the values. */
static void add_made(std_text *self, const char *bytes, size_t count)
{
    cg_str kept;

    if (arena_text(&self->eval->values->mem, (cg_str){bytes, count}, &kept))
        std_text_add(self, kept);
    else
        self->failed = true;
}

static void add_number(std_text *self, expr number)
{
    values *all = self->eval->values;
    text_piece hole = {.number = number, .is_hole = true};
    char digits[NUM_U64_ROOM + 1];
    int64_t known;
    buf out;

    if (expr_constant(self->eval->exprs, number, &known)) {
        add_made(self, digits, num_write_i64(digits, known));
        return;
    }
    buf_init(&out, all->heap, (size_t)1 << 16);
    expr_print(self->eval->exprs, number, &out);
    if (out.failed || !arena_text(&all->mem, buf_text(&out), &hole.text))
        self->failed = true;
    else
        add_piece(self, hole);
    buf_free(&out);
}

static void add_hole(std_text *self, val which)
{
    text_piece hole = {.is_hole = true};

    if (value_print(self->eval->values, which, &hole.text))
        add_piece(self, hole);
    else
        self->failed = true;
}

void std_text_value(std_text *self, val which)
{
    const value *at = value_at(self->eval->values, which);
    char digits[NUM_F64_ROOM];

    if (at->kind == VALUE_TEXT) {
        std_text_add_pieces(self, at->as.pieces);
    } else if (at->kind == VALUE_INT && value_number(self->eval->values, which) != EXPR_NONE) {
        add_number(self, value_number(self->eval->values, which));
    } else if (at->kind == VALUE_BOOL && at->is_known) {
        std_text_add(self, at->as.number != 0 ? CG_LIT("true") : CG_LIT("false"));
    } else if (at->kind == VALUE_FLOAT && at->is_known) {
        add_made(self, digits, num_write_f64(digits, at->as.real));
    } else if (at->kind == VALUE_CHAR && at->is_known) {
        std_text_add(self, at->text);
    } else {
        add_hole(self, which);
    }
}

bool std_text_end_pieces(std_text *self, text_pieces *ret)
{
    heap *from = self->eval->values->heap;
    text_piece *kept =
        arena_take(&self->eval->values->mem, (self->pieces.count + 1) * sizeof *self->pieces.at);
    bool is_good = kept != NULL && !self->failed;

    if (is_good) {
        if (self->pieces.count > 0)
            memcpy(kept, self->pieces.at, self->pieces.count * sizeof *kept);
        *ret = (text_pieces){kept, self->pieces.count};
    }
    vec_free(from, &self->pieces);
    return is_good;
}

val std_text_end(std_text *self)
{
    value it = {.kind = VALUE_TEXT, .is_known = true};

    if (!std_text_end_pieces(self, &it.as.pieces))
        return 0;
    for (size_t i = 0; i < it.as.pieces.count; i++) {
        if (it.as.pieces.at[i].is_hole)
            it.is_known = false;
    }
    return value_make(self->eval->values, &it);
}

cg_str std_text_literal(eval *self, val which)
{
    const value *at = value_at(self->values, which);

    if (at->kind != VALUE_TEXT || at->as.pieces.count > 1)
        return (cg_str){NULL, 0};
    if (at->as.pieces.count == 0)
        return CG_LIT("");
    return at->as.pieces.at[0].is_hole ? (cg_str){NULL, 0} : at->as.pieces.at[0].text;
}

cg_str std_text_pattern(eval *self, val which)
{
    const value *at = value_at(self->values, which);

    if (at->kind == VALUE_CHAR)
        return at->is_known ? at->text : (cg_str){NULL, 0};
    return std_text_literal(self, which);
}

val std_text_part(eval *self, cg_str literal, size_t from, size_t to)
{
    return value_text(self->values, (cg_str){literal.ptr + from, to - from});
}

/* --- format! --- */

/*
 * One `{name:spec}`: its name (maybe empty), what follows the colon, the offset behind `}`;
 * false: broken.
 */
static bool read_argument(cg_str format, size_t open, cg_str *name, cg_str *spec, size_t *after)
{
    size_t end = open + 1;
    size_t colon;

    while (end < format.len && format.ptr[end] != '}' && format.ptr[end] != '{')
        end++;
    if (end == format.len || format.ptr[end] == '{')
        return false;
    *name = (cg_str){format.ptr + open + 1, end - open - 1};
    colon = str_find(*name, CG_LIT(":"));
    *spec = CG_LIT("");
    if (colon != SIZE_MAX) {
        *spec = (cg_str){name->ptr + colon + 1, name->len - colon - 1};
        name->len = colon;
    }
    *name = str_trim(*name);
    *after = end + 1;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(cg_str text)
{
    if (text.len == 0 || is_digit(text.ptr[0]))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (!(is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
              (unsigned char)c >= 0x80))
            return false;
    }
    return true;
}

static size_t add_capture(eval *self, cg_str name, sym *ret, size_t count, size_t room)
{
    sym symbol;

    if (!is_name(name) || count == room)
        return count;
    symbol = intern_add(&self->program->names, name);
    for (size_t i = 0; i < count; i++) {
        if (ret[i] == symbol)
            return count;
    }
    if (symbol != 0)
        ret[count++] = symbol;
    return count;
}

/* Names in front of `$` in a spec: `width$.precision$`. */
static size_t add_captures_of_spec(eval *self, cg_str spec, sym *ret, size_t count, size_t room)
{
    for (size_t i = 0; i < spec.len; i++) {
        size_t from = i;

        if (spec.ptr[i] != '$')
            continue;
        while (from > 0 && is_name((cg_str){spec.ptr + from - 1, 1 + i - from}))
            from--;
        count = add_capture(self, (cg_str){spec.ptr + from, i - from}, ret, count, room);
    }
    return count;
}

size_t std_captures(eval *self, cg_str format, sym *ret, size_t room)
{
    size_t count = 0;
    size_t at = 0;

    while (at < format.len) {
        cg_str name;
        cg_str spec;

        if (format.ptr[at] != '{') {
            at++;
        } else if (at + 1 < format.len && format.ptr[at + 1] == '{') {
            at += 2;
        } else {
            if (!read_argument(format, at, &name, &spec, &at))
                return count;
            count = add_capture(self, name, ret, count, room);
            count = add_captures_of_spec(self, spec, ret, count, room);
        }
    }
    return count;
}

typedef struct format_args {
    eval *eval;
    const val *at; /* positional ones */
    size_t count;
    size_t next;
    val named; /* a VALUE_STRUCT, or 0 */
} format_args;

static val find_argument(format_args *self, cg_str name)
{
    uint64_t which = 0;
    sym symbol;

    if (name.len == 0)
        return self->next < self->count ? self->at[self->next++] : 0;
    if (num_read_u64(name, &which))
        return which < self->count ? self->at[which] : 0;
    symbol = intern_find(&self->eval->program->names, name);
    if (self->named == 0 || symbol == 0)
        return 0;
    return value_field_of(self->eval->values, self->named, symbol);
}

/*
 * `02`, `>3`, `.2`: a width or precision changes the digits; only a plain zero-filled width is
 * computed.
 */
static void add_with_spec(std_text *out, val which, cg_str spec)
{
    const value *at = value_at(out->eval->values, which);
    char digits[NUM_U64_ROOM + 1];
    int64_t known = 0;
    uint64_t width = 0;
    size_t len;

    if (spec.len == 0 || str_equal(spec, CG_LIT("?")) || str_equal(spec, CG_LIT("#?"))) {
        if (spec.len == 0 || at->kind != VALUE_TEXT)
            std_text_value(out, which);
        else
            add_hole(out, which); /* quoted */
        return;
    }
    if (at->kind == VALUE_INT &&
        expr_constant(out->eval->exprs, value_number(out->eval->values, which), &known) &&
        known >= 0 && num_read_u64(spec, &width) && width <= 64) {
        len = num_write_i64(digits, known);
        for (size_t i = len; i < width; i++)
            std_text_add(out, spec.ptr[0] == '0' ? CG_LIT("0") : CG_LIT(" "));
        add_made(out, digits, len);
        return;
    }
    if (at->kind == VALUE_INT && value_number(out->eval->values, which) != EXPR_NONE) {
        /* Digits stand there, but with a width: the number itself is not the text. */
        text_piece hole = {.is_hole = true};

        if (value_print(out->eval->values, which, &hole.text))
            add_piece(out, hole);
        else
            out->failed = true;
        return;
    }
    add_hole(out, which);
}

/* A named hole for an argument that nobody gave. */
static void add_missing(std_text *out, cg_str name)
{
    text_piece hole = {.is_hole = true, .text = name.len > 0 ? name : CG_LIT("_")};

    add_piece(out, hole);
}

static void format_all(std_text *out, cg_str format, format_args *args)
{
    size_t at = 0;
    size_t from = 0;

    while (at < format.len) {
        char c = format.ptr[at];
        cg_str name;
        cg_str spec;
        val which;

        if (c != '{' && c != '}') {
            at++;
            continue;
        }
        std_text_add(out, (cg_str){format.ptr + from, at - from});
        if (c == '}' || (at + 1 < format.len && format.ptr[at + 1] == '{')) {
            std_text_add(out, c == '}' ? CG_LIT("}") : CG_LIT("{"));
            at += at + 1 < format.len && format.ptr[at + 1] == c ? 2 : 1;
            from = at;
            continue;
        }
        if (!read_argument(format, at, &name, &spec, &at)) {
            from = at;
            break;
        }
        from = at;
        which = find_argument(args, name);
        if (which == 0)
            add_missing(out, name);
        else
            add_with_spec(out, which, spec);
    }
    std_text_add(out, (cg_str){format.ptr + from, format.len - from});
}

val std_text_format(eval *self, const val *args, size_t count)
{
    format_args rest = {.eval = self};
    cg_str format = count > 0 ? std_text_literal(self, args[0]) : (cg_str){NULL, 0};
    std_text out;

    std_text_begin(&out, self);
    if (format.ptr == NULL) {
        if (count > 0)
            std_text_value(&out, args[0]);
        return std_text_end(&out);
    }
    rest.at = args + 1;
    rest.count = count - 1;
    if (rest.count > 0 && value_at(self->values, args[count - 1])->kind == VALUE_STRUCT &&
        value_at(self->values, args[count - 1])->type == 0)
        rest.named = args[count - 1];
    if (rest.named != 0)
        rest.count--;
    format_all(&out, format, &rest);
    return std_text_end(&out);
}
