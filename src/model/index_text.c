#include "model/index_text.h"

#include "base/num.h"
#include "model/expr_print.h"

static bool is_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || (byte & 0x80) != 0;
}

bool index_text_mentions(cg_str text, cg_str name)
{
    for (size_t at = 0; name.len > 0 && at + name.len <= text.len; at++) {
        size_t end = at + name.len;

        if (memcmp(text.ptr + at, name.ptr, name.len) == 0 &&
            (at == 0 || (!is_word(text.ptr[at - 1]) && text.ptr[at - 1] != '.')) &&
            (end == text.len || !is_word(text.ptr[end])))
            return true;
    }
    return false;
}

/* --- what stands between two brackets --- */

static cg_str next_atom(cg_str *rest)
{
    cg_str atom = {rest->ptr, 0};
    unsigned depth = 0;

    while (atom.len < rest->len) {
        char byte = atom.ptr[atom.len];

        if (byte == '(' || byte == '[')
            depth++;
        else if ((byte == ')' || byte == ']') && depth > 0)
            depth--;
        else if (depth == 0 && (byte == '+' || byte == '-' || byte == '*' || byte == '/' ||
                                byte == '%' || byte == '<' || byte == '>' || byte == '&'))
            break;
        atom.len++;
    }
    *rest = (cg_str){rest->ptr + atom.len, rest->len - atom.len};
    return str_trim(atom);
}

static expr read_atom(expr_pool *pool, cg_str text, cg_str name, expr by)
{
    uint64_t number = 0;

    if (str_equal(text, name))
        return by;
    if (num_read_u64(text, &number) && number <= INT64_MAX)
        return expr_const(pool, (int64_t)number);
    /* What has parts of its own is a value only when the name is none of them. */
    if (text.len == 0 || text.ptr[0] == '(' || index_text_mentions(text, name))
        return EXPR_NONE;
    return expr_symbol(pool, text);
}

/* Sums of products, no parentheses; EXPR_NONE for all else. */
static expr read_index(expr_pool *pool, cg_str text, cg_str name, expr by)
{
    expr sum = expr_const(pool, 0);
    char sign = '+';

    while (sum != EXPR_NONE) {
        expr product = read_atom(pool, next_atom(&text), name, by);

        while (text.len > 0 && (text.ptr[0] == '*' || text.ptr[0] == '/' || text.ptr[0] == '%')) {
            enum expr_op op = text.ptr[0] == '*'   ? EXPR_MUL
                              : text.ptr[0] == '/' ? EXPR_DIV
                                                   : EXPR_REM;

            text = (cg_str){text.ptr + 1, text.len - 1};
            product = expr_binary(pool, op, product, read_atom(pool, next_atom(&text), name, by));
        }
        sum = expr_binary(pool, sign == '+' ? EXPR_ADD : EXPR_SUB, sum, product);
        if (text.len == 0)
            return sum;
        sign = text.ptr[0];
        if (sign != '+' && sign != '-')
            return EXPR_NONE;
        text = (cg_str){text.ptr + 1, text.len - 1};
    }
    return EXPR_NONE;
}

bool index_text_replace(expr_pool *pool, cg_str text, cg_str name, expr by, buf *out)
{
    size_t start = 0;

    while (start < text.len) {
        cg_str rest = {text.ptr + start, text.len - start};
        size_t open = str_find(rest, CG_LIT("["));
        size_t end = open == SIZE_MAX ? rest.len : open + 1;
        expr index = EXPR_NONE;

        buf_add(out, (cg_str){rest.ptr, end});
        start += end;
        if (open == SIZE_MAX)
            break;
        rest = (cg_str){text.ptr + start, text.len - start};
        end = str_find(rest, CG_LIT("]"));
        open = str_find(rest, CG_LIT("["));
        if (end == SIZE_MAX || (open != SIZE_MAX && open < end))
            continue;
        rest.len = end;
        if (index_text_mentions(rest, name))
            index = read_index(pool, rest, name, by);
        if (index != EXPR_NONE)
            expr_print(pool, index, out);
        else
            buf_add(out, rest);
        start += end;
    }
    return !out->failed && !pool->failed;
}

/* --- one number in the first round, another one in all others --- */

#define CHOICE_HEAD  "if "
#define CHOICE_FIRST " == 0 { "
#define CHOICE_REST  " } else { "
#define CHOICE_END   " }"

bool index_choice_is(cg_str text)
{
    return str_starts_with(text, CG_LIT(CHOICE_HEAD)) && str_ends_with(text, CG_LIT(CHOICE_END));
}

expr index_choice_make(expr_pool *pool, cg_str name, expr first, expr rest)
{
    expr made = EXPR_NONE;
    size_t len;
    buf text;

    if (first == EXPR_NONE || rest == EXPR_NONE)
        return EXPR_NONE;
    buf_init(&text, pool->heap, UINT32_MAX);
    buf_addf(&text, CHOICE_HEAD "%.*s" CHOICE_FIRST, (int)name.len, name.ptr);
    len = text.len;
    expr_print(pool, first, &text);
    buf_add(&text, CG_LIT(CHOICE_REST));
    expr_print(pool, rest, &text);
    if (!text.failed &&
        str_find((cg_str){text.at + len, text.len - len}, CG_LIT(CHOICE_HEAD)) == SIZE_MAX) {
        buf_add(&text, CG_LIT(CHOICE_END));
        if (!text.failed)
            made = expr_call(pool, buf_text(&text));
    }
    pool->failed |= text.failed;
    buf_free(&text);
    return made;
}

static bool cut(cg_str *text, cg_str mark, cg_str *ret)
{
    size_t at = str_find(*text, mark);

    if (at == SIZE_MAX)
        return false;
    *ret = (cg_str){text->ptr, at};
    *text = (cg_str){text->ptr + at + mark.len, text->len - at - mark.len};
    return true;
}

expr index_choice_at(expr_pool *pool, cg_str text, cg_str name, expr by)
{
    bool is_name = expr_kind_of(pool, by) == EXPR_SYMBOL;
    expr made = EXPR_NONE;
    int64_t number = 0;
    cg_str counter;
    cg_str first;
    cg_str rest = text;
    buf moved;

    if (!index_choice_is(text) || !cut(&rest, CG_LIT(CHOICE_HEAD), &counter) ||
        !cut(&rest, CG_LIT(CHOICE_FIRST), &counter) || !cut(&rest, CG_LIT(CHOICE_REST), &first) ||
        !str_equal(counter, name) || (!is_name && !expr_constant(pool, by, &number)))
        return EXPR_NONE;
    rest.len -= sizeof CHOICE_END - 1;
    if (!is_name && number == 0)
        return read_index(pool, first, name, by);
    buf_init(&moved, pool->heap, UINT32_MAX);
    if (index_text_replace(pool, rest, name, by, &moved))
        made = read_index(pool, buf_text(&moved), name, by);
    if (is_name)
        made =
            index_choice_make(pool, expr_text(pool, by), read_index(pool, first, name, by), made);
    buf_free(&moved);
    return made;
}
