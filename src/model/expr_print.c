#include "model/expr_print.h"

#include <inttypes.h>

/* How tightly a text holds together: what needs parentheses where. */
enum strength { STRENGTH_SUM, STRENGTH_PRODUCT, STRENGTH_MINUS, STRENGTH_METHOD };

static enum strength strength_of(const expr_pool *self, expr e)
{
    const expr_node *node = &self->nodes.at[e];
    int64_t factor;
    unsigned depth = 0;
    cg_str text;

    switch ((enum expr_kind)node->kind) {
    case EXPR_CONSTANT: return node->value < 0 ? STRENGTH_MINUS : STRENGTH_METHOD;
    case EXPR_CALL:
        text = expr_text(self, e);
        for (size_t i = 0; i < text.len; i++) {
            char byte = text.ptr[i];

            if (byte == '(' || byte == '[' || byte == '{')
                depth++;
            else if ((byte == ')' || byte == ']' || byte == '}') && depth > 0)
                depth--;
            else if (byte == ' ' && depth == 0)
                return STRENGTH_SUM;
        }
        return STRENGTH_METHOD;
    case EXPR_SUM: return STRENGTH_SUM;
    case EXPR_PRODUCT:
        if (expr_constant(self, self->operands.at[node->first], &factor) && factor == -1 &&
            node->count == 2)
            return STRENGTH_MINUS;
        return STRENGTH_PRODUCT;
    case EXPR_QUOTIENT:
    case EXPR_REMAINDER: return STRENGTH_PRODUCT;
    case EXPR_UNKNOWN:
    case EXPR_SYMBOL:
    case EXPR_POWER:
    case EXPR_LEAST:
    case EXPR_GREATEST: break;
    }
    return STRENGTH_METHOD;
}

static void print_in(const expr_pool *self, expr e, enum strength least, buf *out)
{
    bool is_weak = strength_of(self, e) < least;

    if (is_weak)
        buf_byte(out, '(');
    expr_print(self, e, out);
    if (is_weak)
        buf_byte(out, ')');
}

/* A product; `is_plain`: leave out the sign, the caller wrote it. */
static void print_product(const expr_pool *self, expr e, bool is_plain, buf *out)
{
    const expr_node *node = &self->nodes.at[e];
    const expr *operands = expr_operands(self, node);
    int64_t factor = 1;
    size_t i = 0;

    if (node->kind == EXPR_CONSTANT || node->kind != EXPR_PRODUCT) {
        if (expr_constant(self, e, &factor) && factor < 0 && is_plain)
            buf_addf(out, "%" PRIu64, -(uint64_t)factor);
        else
            print_in(self, e, STRENGTH_PRODUCT, out);
        return;
    }
    if (expr_constant(self, operands[0], &factor)) {
        uint64_t size = factor < 0 ? -(uint64_t)factor : (uint64_t)factor;

        if (factor < 0 && !is_plain)
            buf_byte(out, '-');
        if (size != 1)
            buf_addf(out, "%" PRIu64 " * ", size);
        i = 1;
    }
    for (size_t first = i; i < node->count; i++) {
        bool is_first = i == first && (first == 0 || factor == -1);

        if (i > first)
            buf_add(out, CG_LIT(" * "));
        print_in(self, operands[i], is_first ? STRENGTH_PRODUCT : STRENGTH_METHOD, out);
    }
}

static bool is_below_zero(const expr_pool *self, expr e)
{
    const expr_node *node = &self->nodes.at[e];
    int64_t factor = 0;

    if (node->kind == EXPR_PRODUCT)
        e = self->operands.at[node->first];
    return expr_constant(self, e, &factor) && factor < 0;
}

static void print_sum(const expr_pool *self, const expr_node *node, buf *out)
{
    const expr *operands = expr_operands(self, node);
    size_t first = 0;

    /* `1 - n` rather than `-n + 1` */
    while (first < node->count && is_below_zero(self, operands[first]))
        first++;
    first = first == node->count ? 0 : first;
    print_product(self, operands[first], false, out);
    for (size_t i = 0; i < node->count; i++) {
        bool is_minus = is_below_zero(self, operands[i]);

        if (i == first)
            continue;
        buf_add(out, is_minus ? CG_LIT(" - ") : CG_LIT(" + "));
        print_product(self, operands[i], is_minus, out);
    }
}

static void print_method(const expr_pool *self, const expr_node *node, const char *name, buf *out)
{
    const expr *operands = expr_operands(self, node);

    print_in(self, operands[0], STRENGTH_METHOD, out);
    if (self->nodes.at[operands[0]].kind == EXPR_CONSTANT)
        buf_add(out, CG_LIT("_usize"));
    for (size_t i = 1; i < node->count; i++) {
        buf_addf(out, ".%s(", name);
        expr_print(self, operands[i], out);
        buf_byte(out, ')');
    }
}

void expr_print(const expr_pool *self, expr e, buf *out)
{
    const expr_node *node = &self->nodes.at[e];
    const expr *operands = expr_operands(self, node);

    switch ((enum expr_kind)node->kind) {
    case EXPR_UNKNOWN: buf_byte(out, '?'); break;
    case EXPR_CONSTANT: buf_addf(out, "%" PRId64, node->value); break;
    case EXPR_SYMBOL:
    case EXPR_CALL: buf_add(out, expr_text(self, e)); break;
    case EXPR_SUM: print_sum(self, node, out); break;
    case EXPR_PRODUCT: print_product(self, e, false, out); break;
    case EXPR_QUOTIENT:
    case EXPR_REMAINDER:
        print_in(self, operands[0], STRENGTH_PRODUCT, out);
        buf_add(out, node->kind == EXPR_QUOTIENT ? CG_LIT(" / ") : CG_LIT(" % "));
        print_in(self, operands[1], STRENGTH_MINUS, out);
        break;
    case EXPR_POWER: print_method(self, node, "pow", out); break;
    case EXPR_LEAST: print_method(self, node, "min", out); break;
    case EXPR_GREATEST: print_method(self, node, "max", out); break;
    }
}
