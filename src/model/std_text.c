#include "model/std_text.h"

#include <math.h>

#include "base/buf.h"
#include "base/num.h"
#include "model/catalogue.h"
#include "model/expr_print.h"

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

/*
 * A float as Rust prints it: all digits without an exponent, of a whole number none behind the
 * point. With `is_debug` as `{:?}`: `2.0`, and an exponent where the number is large or small.
 */
static void print_real(double real, bool is_debug, buf *out)
{
    char digits[NUM_F64_ROOM];
    cg_str text;
    size_t mark, point;
    int64_t exponent = 0;

    if (isnan(real) || isinf(real)) {
        buf_add(out, isnan(real) ? CG_LIT("NaN") : real > 0 ? CG_LIT("inf") : CG_LIT("-inf"));
        return;
    }
    text = (cg_str){digits, num_write_f64(digits, real)};
    mark = str_find(text, CG_LIT("e"));
    if (mark == SIZE_MAX && (is_debug || !str_ends_with(text, CG_LIT(".0")))) {
        buf_add(out, text);
        return;
    }
    if (mark == SIZE_MAX) {
        buf_add(out, (cg_str){text.ptr, text.len - 2});
        return;
    }
    for (size_t i = mark + 1; i < text.len; i++) {
        if (text.ptr[i] >= '0' && text.ptr[i] <= '9')
            exponent = exponent * 10 + (text.ptr[i] - '0');
    }
    if (is_debug) {
        buf_add(out, (cg_str){text.ptr, mark});
        buf_addf(out, "e%s%lld", text.ptr[mark + 1] == '-' ? "-" : "", (long long)exponent);
        return;
    }
    if (real < 0)
        buf_byte(out, '-');
    point = 0;
    if (text.ptr[mark + 1] == '-') {
        buf_add(out, CG_LIT("0."));
        buf_fill(out, '0', (size_t)exponent - 1);
    }
    for (size_t i = 0; i < mark; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            continue;
        buf_byte(out, text.ptr[i]);
        point++;
    }
    if (text.ptr[mark + 1] != '-' && (size_t)exponent + 1 > point)
        buf_fill(out, '0', (size_t)exponent + 1 - point);
}

static void add_real(std_text *self, double real)
{
    buf out;

    buf_init(&out, self->eval->values->heap, 4096);
    print_real(real, false, &out);
    if (out.failed)
        self->failed = true;
    else
        add_made(self, out.at, out.len);
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

    if (at->kind == VALUE_TEXT) {
        std_text_add_pieces(self, at->as.pieces);
    } else if (at->kind == VALUE_INT && value_number(self->eval->values, which) != EXPR_NONE) {
        add_number(self, value_number(self->eval->values, which));
    } else if (at->kind == VALUE_BOOL && at->is_known) {
        std_text_add(self, at->as.number != 0 ? CG_LIT("true") : CG_LIT("false"));
    } else if (at->kind == VALUE_FLOAT && at->is_known) {
        add_real(self, at->as.real);
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

/* What stands behind the colon: `[[fill]align][sign][#][0][width][.precision][type]`. */
typedef struct format_spec {
    cg_str fill;
    char align; /* 0: as the value has it */
    bool has_sign, is_alternate, is_zero_filled, has_precision;
    uint64_t width, precision;
    char how; /* ? x X b o e, 0: as it is printed */
} format_spec;

#define WIDTH_MOST 200u

/* A width or precision: digits, or the name or number of an argument and `$`. false: not known. */
static bool read_count(format_args *args, cg_str *rest, uint64_t *ret)
{
    size_t dollar = str_find(*rest, CG_LIT("$"));
    size_t len = 0;
    int64_t known = 0;

    *ret = 0;
    if (dollar != SIZE_MAX && dollar > 0) {
        cg_str name = {rest->ptr, dollar};
        uint64_t number;
        val which = is_name(name) || num_read_u64(name, &number) ? find_argument(args, name) : 0;

        if (which != 0) {
            *rest = (cg_str){rest->ptr + dollar + 1, rest->len - dollar - 1};
            if (!expr_constant(args->eval->exprs, value_number(args->eval->values, which), &known))
                return false;
            *ret = known > 0 ? (uint64_t)known : 0;
            return *ret <= WIDTH_MOST;
        }
    }
    while (len < rest->len && is_digit(rest->ptr[len]))
        len++;
    if (len > 0 && (!num_read_u64((cg_str){rest->ptr, len}, ret) || *ret > WIDTH_MOST))
        return false;
    *rest = (cg_str){rest->ptr + len, rest->len - len};
    return true;
}

static bool is_align(char c)
{
    return c == '<' || c == '^' || c == '>';
}

static bool take_flag(cg_str *rest, char flag)
{
    if (rest->len == 0 || rest->ptr[0] != flag)
        return false;
    *rest = (cg_str){rest->ptr + 1, rest->len - 1};
    return true;
}

static bool read_spec(format_args *args, cg_str rest, format_spec *ret)
{
    size_t first = 0;

    *ret = (format_spec){.fill = CG_LIT(" ")};
    if (rest.len > 0)
        str_next(rest, &first);
    if (first < rest.len && is_align(rest.ptr[first])) {
        ret->fill = (cg_str){rest.ptr, first};
        ret->align = rest.ptr[first];
        rest = (cg_str){rest.ptr + first + 1, rest.len - first - 1};
    } else if (rest.len > 0 && is_align(rest.ptr[0])) {
        ret->align = rest.ptr[0];
        rest = (cg_str){rest.ptr + 1, rest.len - 1};
    }
    ret->has_sign = take_flag(&rest, '+');
    ret->is_alternate = take_flag(&rest, '#');
    if (!(rest.len > 1 && rest.ptr[1] == '$'))
        ret->is_zero_filled = take_flag(&rest, '0');
    if (!read_count(args, &rest, &ret->width))
        return false;
    ret->has_precision = take_flag(&rest, '.');
    if (ret->has_precision && !read_count(args, &rest, &ret->precision))
        return false;
    if (rest.len == 1)
        ret->how = rest.ptr[0];
    return rest.len <= 1;
}

/* In another base; a negative one depends on how many bits its type has. */
static bool print_base(int64_t number, const format_spec *spec, buf *out)
{
    char how = spec->how;
    char digits[64];
    size_t count = 0;
    uint64_t rest = (uint64_t)number;
    uint64_t base = how == 'b' ? 2 : how == 'o' ? 8 : 16;

    if (number < 0)
        return false;
    do {
        uint64_t digit = rest % base;

        digits[count++] = (char)(digit < 10 ? '0' + digit : (how == 'X' ? 'A' : 'a') + digit - 10);
        rest /= base;
    } while (rest > 0);
    if (spec->is_alternate)
        buf_addf(out, "0%c", how == 'X' ? 'x' : how);
    while (count > 0)
        buf_byte(out, digits[--count]);
    return true;
}

/* `"a"` as `{:?}` prints it; false: there is something in it that is escaped. */
static bool print_quoted(cg_str text, char quote, buf *out)
{
    buf_byte(out, quote);
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] < 0x20 || (unsigned char)text.ptr[i] >= 0x7f ||
            text.ptr[i] == '\\' || text.ptr[i] == '"' || text.ptr[i] == '\'')
            return false;
    }
    buf_add(out, text);
    buf_byte(out, quote);
    return true;
}

static size_t characters_of(cg_str text)
{
    size_t count = 0;

    for (size_t at = 0; at < text.len; count++)
        str_next(text, &at);
    return count;
}

/* The value without width; false: nobody knows its text. *ret_is_number: it stands to the right. */
static bool print_value(eval *self, val which, const format_spec *spec, buf *out,
                        bool *ret_is_number)
{
    const value *at = value_at(self->values, which);
    bool is_debug = spec->how == '?';
    cg_str text = std_text_pattern(self, which);
    int64_t known = 0;

    *ret_is_number = at->kind == VALUE_INT || at->kind == VALUE_FLOAT;
    if (text.ptr != NULL && (spec->how == 0 || is_debug)) {
        size_t end = 0;

        if (is_debug)
            return print_quoted(text, at->kind == VALUE_CHAR ? '\'' : '"', out);
        for (uint64_t i = 0; end < text.len && (!spec->has_precision || i < spec->precision); i++)
            str_next(text, &end);
        buf_add(out, (cg_str){text.ptr, end});
        return true;
    }
    if (at->kind == VALUE_BOOL && at->is_known && (spec->how == 0 || is_debug)) {
        buf_add(out, at->as.number != 0 ? CG_LIT("true") : CG_LIT("false"));
        return true;
    }
    if (at->kind == VALUE_INT &&
        expr_constant(self->exprs, value_number(self->values, which), &known)) {
        if (spec->has_sign && known >= 0)
            buf_byte(out, '+');
        if (spec->how == 'x' || spec->how == 'X' || spec->how == 'b' || spec->how == 'o')
            return print_base(known, spec, out);
        buf_addf(out, "%lld", (long long)known);
        return spec->how == 0 || is_debug;
    }
    if (at->kind == VALUE_FLOAT && at->is_known) {
        if (spec->has_sign && !signbit(at->as.real))
            buf_byte(out, '+');
        if (spec->has_precision && isfinite(at->as.real))
            buf_addf(out, "%.*f", (int)spec->precision, at->as.real);
        else
            print_real(at->as.real, is_debug, out);
        return spec->how == 0 || (is_debug && !spec->has_precision);
    }
    return false;
}

static void pad(buf *out, cg_str fill, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_add(out, fill);
}

/* `text` in its width. Zeros stand between a sign or `0x` and the digits. */
static void print_padded(cg_str text, const format_spec *spec, bool is_number, buf *out)
{
    size_t len = characters_of(text), lead = 0;
    size_t missing = spec->width > len ? (size_t)spec->width - len : 0;
    char align = spec->align ? spec->align : is_number ? '>' : '<';
    size_t before = align == '>' ? missing : align == '^' ? missing / 2 : 0;

    if (spec->is_zero_filled && is_number) {
        if (text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+'))
            lead = 1;
        if (spec->is_alternate && spec->how && spec->how != '?')
            lead += 2;
        buf_add(out, (cg_str){text.ptr, lead});
        buf_fill(out, '0', missing);
        buf_add(out, (cg_str){text.ptr + lead, text.len - lead});
        return;
    }
    pad(out, spec->fill, before);
    buf_add(out, text);
    pad(out, spec->fill, missing - before);
}

#define PLACES_MOST 20u /* of a number that is not known; more are a hole of their own */

/* A number that is not known, in a width: zeros or blanks before it. */
static bool add_padded_number(std_text *out, expr number, const format_spec *spec)
{
    bool is_blank = spec->fill.len == 1 && spec->fill.ptr[0] == ' ';
    text_piece *last;

    if (number == EXPR_NONE || spec->width > PLACES_MOST || spec->has_sign || spec->is_alternate ||
        spec->has_precision || (spec->how != 0 && spec->how != '?') ||
        (!spec->is_zero_filled && (!is_blank || (spec->align != 0 && spec->align != '>'))))
        return false;
    add_number(out, number);
    if (out->failed || spec->width == 0)
        return true;
    last = &out->pieces.at[out->pieces.count - 1];
    if (last->is_hole && last->number == number) {
        last->width = (uint8_t)spec->width;
        last->fill = spec->is_zero_filled ? '0' : ' ';
    }
    return true;
}

/* What has no known text is a hole: digits with a width are not the number itself. */
static void add_with_spec(std_text *out, format_args *args, val which, cg_str spec)
{
    const value *at = value_at(out->eval->values, which);
    format_spec how;
    buf bare, whole;
    bool is_number = false;

    if (spec.len == 0 || ((str_equal(spec, CG_LIT("?")) || str_equal(spec, CG_LIT("#?"))) &&
                          at->kind == VALUE_INT)) {
        std_text_value(out, which);
        return;
    }
    buf_init(&bare, out->eval->values->heap, (size_t)1 << 16);
    buf_init(&whole, out->eval->values->heap, (size_t)1 << 16);
    if (read_spec(args, spec, &how) && print_value(out->eval, which, &how, &bare, &is_number)) {
        print_padded(buf_text(&bare), &how, is_number, &whole);
        if (bare.failed || whole.failed)
            out->failed = true;
        else
            add_made(out, whole.at, whole.len);
    } else if (at->kind != VALUE_INT ||
               !add_padded_number(out, value_number(out->eval->values, which), &how)) {
        add_hole(out, which);
    }
    buf_free(&bare);
    buf_free(&whole);
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
            add_with_spec(out, args, which, spec);
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
