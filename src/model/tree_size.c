#include "model/tree_size.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/num.h"

size_term size_one(void)
{
    return (size_term){.number = 1};
}

void size_times_number(size_term *self, uint64_t number)
{
    self->number = num_sat_mul(self->number, number);
    if (self->number == UINT64_MAX)
        self->is_unknown = true;
}

/* In order, so that equal products have equal factors. */
static void times_factor(size_term *self, cg_str factor)
{
    size_t at = self->count;

    if (self->count == SIZE_FACTORS) {
        self->is_unknown = true;
        return;
    }
    for (; at > 0 && str_compare(self->factors[at - 1], factor) > 0; at--)
        self->factors[at] = self->factors[at - 1];
    self->factors[at] = factor;
    self->count++;
}

static int depth_change(char byte)
{
    if (byte == '(' || byte == '[' || byte == '{')
        return 1;
    return byte == ')' || byte == ']' || byte == '}' ? -1 : 0;
}

/* Do the brackets at both ends belong to each other? */
static bool is_wrapped(cg_str text)
{
    int depth = 0;

    if (text.len < 2 || text.ptr[0] != '(' || text.ptr[text.len - 1] != ')')
        return false;
    for (size_t i = 0; i + 1 < text.len; i++) {
        depth += depth_change(text.ptr[i]);
        if (depth == 0)
            return false;
    }
    return true;
}

static cg_str unwrap(cg_str text)
{
    text = str_trim(text);
    while (is_wrapped(text))
        text = str_trim((cg_str){text.ptr + 1, text.len - 2});
    return text;
}

/* Offset of the first `byte` outside of brackets from `start`, or the length. */
static size_t find_outside(cg_str text, size_t start, const char *bytes)
{
    size_t count = strlen(bytes);
    int depth = 0;

    for (size_t i = start; i < text.len; i++) {
        depth += depth_change(text.ptr[i]);
        if (depth == 0 && memchr(bytes, text.ptr[i], count) != NULL)
            return i;
    }
    return text.len;
}

/* One factor: a number, or something that is kept as it is written. */
static void times_atom(size_term *self, cg_str atom)
{
    uint64_t number;

    atom = str_trim(atom);
    if (num_read_u64(atom, &number))
        size_times_number(self, number);
    else if (atom.len > 0)
        times_factor(self, atom);
    else
        self->is_unknown = true;
}

void size_times_text(size_term *self, cg_str expression)
{
    cg_str text = unwrap(expression);
    size_t start = 0;

    /* A dereference or a reference stands before the whole. */
    while (text.len > 0 && (text.ptr[0] == '*' || text.ptr[0] == '&'))
        text = unwrap((cg_str){text.ptr + 1, text.len - 1});
    /* A sum or quotient is one factor; only products are taken apart. */
    if (find_outside(text, 0, "+-/%&|<>=") < text.len) {
        times_factor(self, text);
        return;
    }
    while (start <= text.len) {
        size_t end = find_outside(text, start, "*");

        times_atom(self, unwrap((cg_str){text.ptr + start, end - start}));
        start = end + 1;
    }
}

void size_times_shape(size_term *self, cg_str shape)
{
    cg_str text = unwrap(shape);
    size_t start = 0;

    if (text.len == 0)
        return; /* a scalar */
    while (start < text.len) {
        size_t end = find_outside(text, start, ",");

        if (str_trim((cg_str){text.ptr + start, end - start}).len > 0)
            size_times_text(self, (cg_str){text.ptr + start, end - start});
        start = end + 1;
    }
}

static bool is_same_product(const size_term *a, const size_term *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (!str_equal(a->factors[i], b->factors[i]))
            return false;
    }
    return true;
}

/* Most sums are of one parameter: they have one term. */
static bool make_room(size_sum *self, arena *mem)
{
    size_t count = self->count;
    size_term *terms;

    if ((count & (count - 1)) != 0)
        return true;
    terms = arena_take(mem, (count > 0 ? 2 * count : 1) * sizeof *terms);
    if (terms == NULL)
        return false;
    if (count > 0)
        memcpy(terms, self->terms, count * sizeof *terms);
    self->terms = terms;
    return true;
}

bool size_add(size_sum *self, arena *mem, const size_term *term)
{
    if (term->is_unknown) {
        self->unknown++;
        return true;
    }
    for (size_t i = 0; i < self->count; i++) {
        if (is_same_product(&self->terms[i], term)) {
            self->terms[i].number = num_sat_add(self->terms[i].number, term->number);
            return true;
        }
    }
    if (self->count == SIZE_TERMS) {
        self->unknown++;
        return true;
    }
    if (!make_room(self, mem))
        return false;
    self->terms[self->count++] = *term;
    return true;
}

static bool is_plain(const size_sum *self)
{
    return self->unknown == 0 &&
           (self->count == 0 || (self->count == 1 && self->terms[0].count == 0));
}

opt_u64 size_number(const size_sum *self)
{
    if (!is_plain(self))
        return (opt_u64){0};
    return (opt_u64){self->count == 0 ? 0 : self->terms[0].number, true};
}

static void add_term(const size_term *term, buf *out)
{
    bool is_first = true;

    if (term->number != 1 || term->count == 0) {
        buf_addf(out, "%" PRIu64, term->number);
        is_first = false;
    }
    for (size_t i = 0; i < term->count; i++) {
        cg_str factor = term->factors[i];
        bool is_sum = find_outside(factor, 0, "+-/% ") < factor.len;

        if (!is_first)
            buf_byte(out, '*');
        if (is_sum)
            buf_byte(out, '(');
        buf_add(out, factor);
        if (is_sum)
            buf_byte(out, ')');
        is_first = false;
    }
}

bool size_text(const size_sum *self, arena *mem, cg_str *ret)
{
    buf text;
    bool is_done;

    *ret = (cg_str){0};
    if (is_plain(self))
        return true;
    buf_init(&text, mem->heap, SIZE_MAX);
    /* Constants last. */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < self->count; i++) {
            if ((self->terms[i].count == 0) != (pass == 1))
                continue;
            if (text.len > 0)
                buf_add(&text, CG_LIT(" + "));
            add_term(&self->terms[i], &text);
        }
    }
    if (self->unknown > 0)
        buf_add(&text, text.len > 0 ? CG_LIT(" + ?") : CG_LIT("?"));
    is_done = !text.failed && arena_text(mem, buf_text(&text), ret);
    buf_free(&text);
    return is_done;
}

uint64_t size_dtype_bits(cg_str dtype)
{
    static const struct {
        const char *name;
        uint64_t bits;
    } dtypes[] = {{"BOOL", 8},    {"U8", 8},   {"I8", 8},      {"F8_E4M3", 8}, {"F8_E5M2", 8},
                  {"F8_E8M0", 8}, {"I16", 16}, {"U16", 16},    {"F16", 16},    {"BF16", 16},
                  {"I32", 32},    {"U32", 32}, {"F32", 32},    {"I64", 64},    {"U64", 64},
                  {"F64", 64},    {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6}};

    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        if (str_is(dtype, dtypes[i].name))
            return dtypes[i].bits;
    }
    return 0;
}
