/* Literals, operators and casts on values that may not be known. */
#include <math.h>
#include <stdlib.h>

#include "base/num.h"
#include "model/eval_state.h"

#define OPERAND_BYTES 160u /* longer texts of operands say nothing */

/* --- literals --- */

static bool read_integer(cg_str text, int64_t *ret)
{
    unsigned base = 10;
    size_t at = 0;
    uint64_t number = 0;
    bool has_digit = false;

    if (text.len > 2 && text.ptr[0] == '0' &&
        (text.ptr[1] == 'x' || text.ptr[1] == 'o' || text.ptr[1] == 'b')) {
        base = text.ptr[1] == 'x' ? 16 : text.ptr[1] == 'o' ? 8 : 2;
        at = 2;
    }
    for (; at < text.len; at++) {
        char letter = text.ptr[at];
        unsigned digit;

        if (letter == '_')
            continue;
        digit = letter >= '0' && letter <= '9'   ? (unsigned)(letter - '0')
                : letter >= 'a' && letter <= 'f' ? (unsigned)(letter - 'a') + 10
                : letter >= 'A' && letter <= 'F' ? (unsigned)(letter - 'A') + 10
                                                 : 99;
        if (digit >= base)
            break; /* the suffix */
        if (number > ((uint64_t)INT64_MAX - digit) / base)
            return false;
        number = number * base + digit;
        has_digit = true;
    }
    *ret = (int64_t)number;
    return has_digit;
}

static bool read_float(cg_str text, double *ret)
{
    char digits[64];
    size_t count = 0;
    char *end;

    for (size_t i = 0; i < text.len && count < sizeof digits - 1; i++) {
        if (text.ptr[i] == '_')
            continue;
        if (text.ptr[i] == 'f')
            break; /* f32, f64 */
        digits[count++] = text.ptr[i];
    }
    digits[count] = 0;
    *ret = strtod(digits, &end);
    return end != digits;
}

static val made_float(eval *self, double real, type_ref type)
{
    value made = {.kind = VALUE_FLOAT, .is_known = true, .type = type, .as.real = real};

    return value_make(self->values, &made);
}

static type_ref primitive(eval *self, const char *name)
{
    model_type shape = {.kind = TYPE_PRIMITIVE};
    type_ref made = 0;

    shape.name = intern_add(&self->program->names, str_from(name));
    return shape.name && type_make(self->types, &shape, &made, NULL) == CG_OK ? made : 0;
}

/* `u8` of `255u8`; 0: none is written. */
static type_ref suffix_type(eval *self, cg_str text)
{
    static const char *const names[] = {"f32", "f64", "u8",  "u16", "u32",   "u64",  "usize",
                                        "i8",  "i16", "i32", "i64", "isize", "i128", "u128"};

    size_t digits = 0;

    while (digits < text.len && text.ptr[digits] >= '.' && text.ptr[digits] <= '9')
        digits++;
    if (digits == text.len)
        return 0; /* as nearly all are */
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        bool is_hex_digit = names[i][0] == 'f' && str_starts_with(text, CG_LIT("0x"));

        if (str_ends_with(text, str_from(names[i])) && text.len > strlen(names[i]) && !is_hex_digit)
            return primitive(self, names[i]);
    }
    return 0;
}

static val made_integer(eval *self, cg_str text)
{
    value made = {.kind = VALUE_INT, .type = suffix_type(self, text)};
    int64_t number;

    made.is_known = read_integer(text, &number);
    made.as.number = made.is_known ? expr_const(self->exprs, number) : EXPR_NONE;
    return value_make(self->values, &made);
}

static val made_bool(eval *self, bool truth)
{
    return self->values->truth[truth];
}

val eval_literal(eval *self, ast_ref node)
{
    const ast_node *at = eval_node(self, node);
    cg_str text = program_text(self->program, at->text);
    double real;
    size_t first = 0;

    switch ((enum ast_kind)at->kind) {
    case AST_INTEGER_LITERAL:
        if (text.len > 3 &&
            (str_ends_with(text, CG_LIT("f32")) || str_ends_with(text, CG_LIT("f64"))) &&
            !str_starts_with(text, CG_LIT("0x")) && read_float(text, &real))
            return made_float(self, real, suffix_type(self, text));
        return made_integer(self, text);
    case AST_FLOAT_LITERAL:
        return read_float(text, &real) ? made_float(self, real, suffix_type(self, text))
                                       : value_unknown(self->values, 0, text);
    case AST_BOOLEAN_LITERAL:
        return made_bool(
            self, str_equal(text.len ? text : ast_text(eval_tree(self), node), CG_LIT("true")));
    case AST_STRING_LITERAL:
    case AST_RAW_STRING_LITERAL: return value_text(self->values, text);
    case AST_CHAR_LITERAL: {
        value made = {.kind = VALUE_CHAR, .text = text};

        if (text.len > 1 && text.ptr[0] == '\'')
            first = 1;
        if (text.len > first && text.ptr[first] != '\\') {
            made.is_known = true;
            made.as.number = str_next(text, &first);
        }
        return value_make(self->values, &made);
    }
    case AST_NEGATIVE_LITERAL: {
        val inner = at->first ? eval_literal(self, at->first) : 0;
        val negative = 0;

        if (!inner)
            return value_unknown(self->values, 0, text);
        return eval_unary(self, OP_NEG, inner, node, &negative) == CG_OK ? negative : 0;
    }
    default: return value_unknown(self->values, 0, text);
    }
}

/* --- operators --- */

static const char *op_text(enum ast_op op)
{
    switch (op) {
    case OP_ADD: return " + ";
    case OP_SUB: return " - ";
    case OP_MUL: return " * ";
    case OP_DIV: return " / ";
    case OP_REM: return " % ";
    case OP_BIT_AND: return " & ";
    case OP_BIT_OR: return " | ";
    case OP_BIT_XOR: return " ^ ";
    case OP_SHL: return " << ";
    case OP_SHR: return " >> ";
    case OP_AND: return " && ";
    case OP_OR: return " || ";
    case OP_EQ: return " == ";
    case OP_NE: return " != ";
    case OP_LT: return " < ";
    case OP_LE: return " <= ";
    case OP_GT: return " > ";
    case OP_GE: return " >= ";
    case OP_NONE:
    case OP_NEG:
    case OP_NOT:
    case OP_DEREF:
    case OP_RANGE:
    case OP_RANGE_INCLUSIVE: break;
    }
    return " ? ";
}

/*
 * `left op right`. Operands without a text of their own may be something else the next time, so
 * what comes of them has none either; only conditions say where they stand.
 */
static cg_code printed(eval *self, enum ast_op op, val left, val right, ast_ref node,
                       bool is_condition, cg_str *ret)
{
    cg_str a, b;

    if (!value_print(self->values, left, &a) || !value_print(self->values, right, &b))
        return err_nomem(self->reterr);
    if (a.len > OPERAND_BYTES || b.len > OPERAND_BYTES || str_find(a, CG_LIT("?")) != SIZE_MAX ||
        str_find(b, CG_LIT("?")) != SIZE_MAX) {
        *ret = is_condition ? eval_source(self, "", node) : (cg_str){NULL, 0};
        return CG_OK;
    }
    if (!value_name(self->values, a, op_text(op), b, ret))
        return err_nomem(self->reterr);
    return CG_OK;
}

static cg_code unknown_of(eval *self, enum value_kind kind, enum ast_op op, val left, val right,
                          ast_ref node, val *ret)
{
    value made = {.kind = (uint8_t)kind};

    CG_TRY(printed(self, op, left, right, node, kind == VALUE_BOOL, &made.text));
    /* Both operands are of one type, and one of them may say which. */
    if (kind == VALUE_INT || kind == VALUE_FLOAT) {
        made.type = value_at(self->values, left)->type;
        if (!made.type)
            made.type = value_at(self->values, right)->type;
    }
    if (kind == VALUE_INT) {
        made.as.number = made.text.len ? expr_call(self->exprs, made.text) : EXPR_NONE;
        made.text = (cg_str){NULL, 0};
    }
    return eval_give(self, value_make(self->values, &made), ret);
}

static bool is_comparison(enum ast_op op)
{
    return op >= OP_EQ && op <= OP_GE;
}

static bool compared(enum ast_op op, int order)
{
    switch (op) {
    case OP_EQ: return order == 0;
    case OP_NE: return order != 0;
    case OP_LT: return order < 0;
    case OP_LE: return order <= 0;
    case OP_GT: return order > 0;
    default: return order >= 0;
    }
}

/* 1, 0, or -1: not known. */
static int compare_numbers(eval *self, enum ast_op op, expr a, expr b)
{
    int64_t x, y;
    bool has_x = expr_constant(self->exprs, a, &x), has_y = expr_constant(self->exprs, b, &y);

    if (!a || !b)
        return -1;
    if (has_x && has_y)
        return compared(op, x < y ? -1 : x > y);
    if (a == b)
        return op == OP_EQ || op == OP_LE || op == OP_GE;
    if ((op == OP_EQ || op == OP_NE) && expr_differs(self->exprs, a, b))
        return op == OP_NE;
    /* `n < n + 1` */
    expr difference = expr_binary(self->exprs, EXPR_SUB, a, b);

    if (expr_constant(self->exprs, difference, &x))
        return compared(op, x < 0 ? -1 : x > 0);
    /* Symbols are sizes: never below zero. */
    if (has_y && y == 0 && expr_kind_of(self->exprs, a) == EXPR_SYMBOL &&
        (op == OP_GE || op == OP_LT))
        return op == OP_GE;
    return -1;
}

static cg_code integers(eval *self, enum ast_op op, val left, val right, ast_ref node, val *ret)
{
    expr a = value_number(self->values, left), b = value_number(self->values, right);
    expr result = EXPR_NONE;
    int64_t x, y;
    bool are_known = expr_constant(self->exprs, a, &x) && expr_constant(self->exprs, b, &y);

    if (is_comparison(op)) {
        int answer = compare_numbers(self, op, a, b);

        if (answer >= 0)
            return eval_give(self, made_bool(self, answer), ret);
        return unknown_of(self, VALUE_BOOL, op, left, right, node, ret);
    }
    switch (op) {
    case OP_ADD: result = expr_binary(self->exprs, EXPR_ADD, a, b); break;
    case OP_SUB: result = expr_binary(self->exprs, EXPR_SUB, a, b); break;
    case OP_MUL: result = expr_binary(self->exprs, EXPR_MUL, a, b); break;
    case OP_DIV: result = expr_binary(self->exprs, EXPR_DIV, a, b); break;
    case OP_REM: result = expr_binary(self->exprs, EXPR_REM, a, b); break;
    case OP_SHL:
        result = expr_binary(self->exprs, EXPR_MUL, a,
                             expr_binary(self->exprs, EXPR_POW, expr_const(self->exprs, 2), b));
        break;
    case OP_SHR:
        if (are_known && x >= 0 && y >= 0 && y < 63)
            result = expr_const(self->exprs, x >> y);
        else if (!are_known) /* sizes are not negative */
            result = expr_binary(self->exprs, EXPR_DIV, a,
                                 expr_binary(self->exprs, EXPR_POW, expr_const(self->exprs, 2), b));
        break;
    case OP_BIT_AND:
        if (are_known)
            result = expr_const(self->exprs, x & y);
        break;
    case OP_BIT_OR:
        if (are_known)
            result = expr_const(self->exprs, x | y);
        break;
    case OP_BIT_XOR:
        if (are_known)
            result = expr_const(self->exprs, x ^ y);
        break;
    default: break;
    }
    if (!result)
        return unknown_of(self, VALUE_INT, op, left, right, node, ret);
    value made = {.kind = VALUE_INT, .is_known = expr_constant(self->exprs, result, &x)};

    made.type = value_at(self->values, left)->type;
    if (!made.type)
        made.type = value_at(self->values, right)->type;
    made.as.number = result;
    return eval_give(self, value_make(self->values, &made), ret);
}

static cg_code floats(eval *self, enum ast_op op, val left, val right, ast_ref node, val *ret)
{
    const value *x = value_at(self->values, left), *y = value_at(self->values, right);
    double a = x->as.real, b = y->as.real, result;

    if (!x->is_known || !y->is_known)
        return unknown_of(self, is_comparison(op) ? VALUE_BOOL : VALUE_FLOAT, op, left, right, node,
                          ret);
    if (is_comparison(op)) {
        bool truth = op == OP_EQ   ? a == b
                     : op == OP_NE ? a != b
                     : op == OP_LT ? a < b
                     : op == OP_LE ? a <= b
                     : op == OP_GT ? a > b
                                   : a >= b;

        return eval_give(self, made_bool(self, truth), ret);
    }
    switch (op) {
    case OP_ADD: result = a + b; break;
    case OP_SUB: result = a - b; break;
    case OP_MUL: result = a * b; break;
    case OP_DIV: result = a / b; break;
    case OP_REM: result = fmod(a, b); break;
    default: return unknown_of(self, VALUE_FLOAT, op, left, right, node, ret);
    }
    return eval_give(self, made_float(self, result, x->type ? x->type : y->type), ret);
}

static cg_code truths(eval *self, enum ast_op op, val left, val right, ast_ref node, val *ret)
{
    int a = value_truth(self->values, left), b = value_truth(self->values, right);
    bool is_and = op == OP_AND || op == OP_BIT_AND, is_or = op == OP_OR || op == OP_BIT_OR;

    if ((is_and && (a == 0 || b == 0)) || (is_or && (a == 1 || b == 1)))
        return eval_give(self, made_bool(self, is_or), ret);
    if ((is_and && a == 1) || (is_or && a == 0))
        return eval_give(self, right, ret);
    if ((is_and && b == 1) || (is_or && b == 0))
        return eval_give(self, left, ret);
    if (a >= 0 && b >= 0) {
        bool is_same = a == b;

        return eval_give(self, made_bool(self, op == OP_EQ ? is_same : !is_same), ret);
    }
    return unknown_of(self, VALUE_BOOL, op, left, right, node, ret);
}

static cg_code add_texts(eval *self, val left, val right, val *ret)
{
    text_pieces a = value_at(self->values, left)->as.pieces;
    text_pieces b = value_at(self->values, right)->as.pieces;
    value made = {.kind = VALUE_TEXT,
                  .is_known = value_at(self->values, left)->is_known &&
                              value_at(self->values, right)->is_known};
    text_piece *to = arena_take(&self->values->mem, (a.count + b.count + 1) * sizeof *to);

    if (!to)
        return err_nomem(self->reterr);
    if (a.count)
        memcpy(to, a.at, a.count * sizeof *to);
    if (b.count)
        memcpy(to + a.count, b.at, b.count * sizeof *to);
    made.as.pieces = (text_pieces){to, a.count + b.count};
    return eval_give(self, value_make(self->values, &made), ret);
}

/* Are all parts of it known, so that not equal means different? */
static bool is_whole(const eval *self, val which, unsigned depth)
{
    const value *at = value_at(self->values, which);

    if (depth > 16)
        return false;
    switch ((enum value_kind)at->kind) {
    case VALUE_UNIT:
    case VALUE_NOTHING: return true;
    case VALUE_BOOL:
    case VALUE_FLOAT:
    case VALUE_CHAR:
    case VALUE_DTYPE:
    case VALUE_INT: return at->is_known;
    case VALUE_TEXT:
        for (size_t i = 0; i < at->as.pieces.count; i++) {
            if (at->as.pieces.at[i].is_hole)
                return false;
        }
        return true;
    case VALUE_ENUM:
        for (size_t i = 0; i < at->count; i++) {
            if (!is_whole(self, at->as.fields[i].value, depth + 1))
                return false;
        }
        return true;
    case VALUE_SOME:
    case VALUE_TUPLE:
    case VALUE_LIST:
        for (size_t i = 0; i < at->count; i++) {
            if (!is_whole(self, at->as.items[i], depth + 1))
                return false;
        }
        return true;
    default: return false;
    }
}

/* Literals may be cut into pieces differently. */
static int compare_texts(const eval *self, val left, val right)
{
    text_pieces a = value_at(self->values, left)->as.pieces;
    text_pieces b = value_at(self->values, right)->as.pieces;
    size_t i = 0, j = 0, x = 0, y = 0;

    for (;;) {
        while (i < a.count && x == a.at[i].text.len)
            i++, x = 0;
        while (j < b.count && y == b.at[j].text.len)
            j++, y = 0;
        if (i == a.count || j == b.count)
            return (i < a.count) - (j < b.count);
        if (a.at[i].text.ptr[x] != b.at[j].text.ptr[y])
            return (unsigned char)a.at[i].text.ptr[x] < (unsigned char)b.at[j].text.ptr[y] ? -1 : 1;
        x++, y++;
    }
}

static cg_code equality(eval *self, enum ast_op op, val left, val right, ast_ref node, val *ret)
{
    const value *x = value_at(self->values, left), *y = value_at(self->values, right);

    if (x->kind == VALUE_TEXT && y->kind == VALUE_TEXT && is_whole(self, left, 0) &&
        is_whole(self, right, 0))
        return eval_give(self, made_bool(self, compared(op, compare_texts(self, left, right))),
                         ret);
    if (op == OP_EQ || op == OP_NE) {
        bool is_unit_variant = x->kind == VALUE_ENUM && y->kind == VALUE_ENUM &&
                               x->variant != y->variant && x->type == y->type;
        bool is_option = (x->kind == VALUE_SOME && y->kind == VALUE_NOTHING) ||
                         (x->kind == VALUE_NOTHING && y->kind == VALUE_SOME);

        if (value_equal(self->values, left, right) && x->kind != VALUE_CHOICE &&
            x->kind != VALUE_UNKNOWN && (x->kind != VALUE_FLOAT || x->is_known))
            return eval_give(self, made_bool(self, op == OP_EQ), ret);
        if (is_unit_variant || is_option ||
            (x->kind == y->kind && is_whole(self, left, 0) && is_whole(self, right, 0)))
            return eval_give(self, made_bool(self, op == OP_NE), ret);
    }
    return unknown_of(self, VALUE_BOOL, op, left, right, node, ret);
}

/* The method that an operator stands for; empty for those that no tensor has. */
static cg_str operator_method(enum ast_op op)
{
    const char *name = op == OP_ADD       ? "add"
                       : op == OP_SUB     ? "sub"
                       : op == OP_MUL     ? "mul"
                       : op == OP_DIV     ? "div"
                       : op == OP_REM     ? "rem"
                       : op == OP_BIT_AND ? "bitand"
                       : op == OP_BIT_OR  ? "bitor"
                                          : "";

    return str_from(name);
}

/* A number without a name, or one of several; false: something else. */
static bool number_key(const eval *self, val which, uint64_t *ret)
{
    const value *at = value_at(self->values, which);

    if (at->text.len > 0 || at->type > UINT32_MAX >> 2)
        return false;
    if (at->kind == VALUE_INT) {
        *ret = at->as.number | (uint64_t)at->type << 34 | (uint64_t)at->is_known << 32;
        return at->as.number != EXPR_NONE && at->as.number <= UINT32_MAX;
    }
    *ret = which | (uint64_t)1 << 33;
    for (size_t i = 0; at->kind == VALUE_CHOICE && i < at->count; i++) {
        if (value_kind_of(self->values, at->as.items[i]) != VALUE_INT)
            return false;
    }
    return at->kind == VALUE_CHOICE;
}

static worked_out *worked_out_place(eval *self, const worked_out *wanted)
{
    uint64_t hash = (wanted->left ^ wanted->right << 17 ^ wanted->node) * 0x9e3779b97f4a7c15u;

    return &self->state->worked_out[hash >> 32 & (WORKED_OUT - 1)];
}

/* The operator is applied to each. */
static cg_code each_choice(eval *self, enum ast_op op, val left, val right, ast_ref node, val *ret)
{
    const value *x = value_at(self->values, left), *y = value_at(self->values, right);
    bool is_left = x->kind == VALUE_CHOICE;
    const value *many = is_left ? x : y;
    val joined, all[VALUE_CHOICES];

    for (size_t i = 0; i < many->count; i++) {
        val item = many->as.items[i];
        enum value_kind kind = value_kind_of(self->values, item);

        if (kind != VALUE_INT && kind != VALUE_FLOAT && kind != VALUE_TEXT && kind != VALUE_BOOL &&
            kind != VALUE_SOME && kind != VALUE_NOTHING && kind != VALUE_ENUM)
            return unknown_of(self, is_comparison(op) ? VALUE_BOOL : VALUE_UNKNOWN, op, left, right,
                              node, ret);
        CG_TRY(eval_binary(self, op, is_left ? item : left, is_left ? right : item, node, &all[i]));
    }
    joined = value_join_all(self->values, all, many->count);
    return joined ? eval_give(self, joined, ret) : err_nomem(self->reterr);
}

/* Operands that are one of several, which may have been worked out already. */
static cg_code choices(eval *self, enum ast_op op, val left, val right, ast_ref node, val *ret)
{
    worked_out wanted = {.node = node,
                         .file = self->state->frame ? self->state->frame->file : 0,
                         .forgets = self->values->forgets,
                         .op = (uint8_t)op};
    uint64_t work = self->values->work;
    worked_out *known;

    if (!number_key(self, left, &wanted.left) || !number_key(self, right, &wanted.right))
        return each_choice(self, op, left, right, node, ret);
    known = worked_out_place(self, &wanted);
    if (known->result && known->left == wanted.left && known->right == wanted.right &&
        known->op == wanted.op && known->node == node && known->file == wanted.file &&
        known->forgets == wanted.forgets) {
        value again = *value_at(self->values, known->result);
        bool is_settled = again.is_settled;

        /* Another value: it does not have to be the same number as the one before. */
        *ret = value_make(self->values, &again);
        if (*ret)
            self->values->pages.at[*ret / VALUES_PAGE][*ret % VALUES_PAGE].is_settled = is_settled;
        self->values->work = work + known->work;
        return *ret ? CG_OK : err_nomem(self->reterr);
    }
    CG_TRY(each_choice(self, op, left, right, node, ret));
    wanted.result = *ret;
    wanted.work = self->values->work - work;
    *known = wanted;
    return CG_OK;
}

cg_code eval_binary(eval *self, enum ast_op op, val left, val right, ast_ref node, val *ret)
{
    enum value_kind a = value_kind_of(self->values, left), b = value_kind_of(self->values, right);

    cg_str method = operator_method(op);

    if (self->flow && method.len > 0) {
        bool is_known = false;

        CG_TRY(candle_operator(self, method, left, right, eval_place(self, node), &is_known, ret));
        if (is_known)
            return CG_OK;
    }
    if (a == VALUE_INT && b == VALUE_INT)
        return integers(self, op, left, right, node, ret);
    if (a == VALUE_FLOAT && b == VALUE_FLOAT)
        return floats(self, op, left, right, node, ret);
    if (a == VALUE_BOOL && b == VALUE_BOOL)
        return truths(self, op, left, right, node, ret);
    if (op == OP_ADD && a == VALUE_TEXT && b == VALUE_TEXT)
        return add_texts(self, left, right, ret);
    if (a == VALUE_CHOICE || b == VALUE_CHOICE)
        return choices(self, op, left, right, node, ret);
    if (op == OP_AND || op == OP_OR)
        return unknown_of(self, VALUE_BOOL, op, left, right, node, ret);
    if (is_comparison(op))
        return equality(self, op, left, right, node, ret);
    /* Types of the crate and tensors say themselves what an operator means. */
    type_ref type = value_type(self->values, left);
    bool has_own = a == VALUE_TENSOR || b == VALUE_TENSOR || a == VALUE_STRUCT || a == VALUE_ENUM ||
                   (type && type_at(self->types, type)->kind == TYPE_ITEM);

    if (has_own && method.len > 0) {
        sym name = intern_add(&self->program->names, method);

        return name ? eval_method(self, left, name, &right, 1, eval_place(self, node), ret)
                    : err_nomem(self->reterr);
    }
    if (a == VALUE_FLOAT || b == VALUE_FLOAT)
        return unknown_of(self, VALUE_FLOAT, op, left, right, node, ret);
    if (a == VALUE_INT || b == VALUE_INT)
        return unknown_of(self, VALUE_INT, op, left, right, node, ret);
    return unknown_of(self, VALUE_UNKNOWN, op, left, right, node, ret);
}

cg_code eval_unary(eval *self, enum ast_op op, val operand, ast_ref node, val *ret)
{
    const value *at = value_at(self->values, operand);
    int64_t number;

    if (op == OP_DEREF)
        return eval_give(self, operand, ret);
    if (op == OP_NEG && at->kind == VALUE_INT) {
        expr result =
            expr_binary(self->exprs, EXPR_SUB, expr_const(self->exprs, 0), (expr)at->as.number);

        value made = {.kind = VALUE_INT, .type = at->type, .as.number = result};

        made.is_known = expr_constant(self->exprs, result, &number);
        return eval_give(self, value_make(self->values, &made), ret);
    }
    if (op == OP_NEG && at->kind == VALUE_FLOAT && at->is_known)
        return eval_give(self, made_float(self, -at->as.real, at->type), ret);
    if (op == OP_NOT && at->kind == VALUE_BOOL && at->is_known)
        return eval_give(self, made_bool(self, !at->as.number), ret);
    if (op == OP_NOT && at->kind == VALUE_INT &&
        expr_constant(self->exprs, (expr)at->as.number, &number))
        return eval_give(self, value_int(self->values, EXPR_NONE), ret);
    if (op == OP_NEG && self->flow) {
        bool is_known = false;

        CG_TRY(candle_operator(self, CG_LIT("neg"), operand, 0, eval_place(self, node), &is_known,
                               ret));
        if (is_known)
            return CG_OK;
    }
    if (op == OP_NEG && (at->kind == VALUE_TENSOR || at->kind == VALUE_STRUCT))
        return eval_method(self, operand, intern_add(&self->program->names, CG_LIT("neg")), NULL, 0,
                           eval_place(self, node), ret);
    value made = {.kind = at->kind == VALUE_CHOICE ? VALUE_UNKNOWN : at->kind};
    cg_str text;

    if (at->kind != VALUE_BOOL && at->kind != VALUE_FLOAT)
        made.kind = op == OP_NOT && at->kind == VALUE_UNKNOWN ? VALUE_BOOL : VALUE_UNKNOWN;
    if (!value_print(self->values, operand, &text) ||
        !value_name(self->values, op == OP_NOT ? CG_LIT("!") : CG_LIT("-"), "", text, &made.text))
        return err_nomem(self->reterr);
    return eval_give(self, value_make(self->values, &made), ret);
}

/* A whole number as `as` makes it fit: cut off to the bits of the type. */
static int64_t fitting(const eval *self, type_ref type, int64_t number)
{
    static const struct {
        const char *name;
        uint8_t bits;
        bool has_sign;
    } rows[] = {{"u8", 8, false}, {"u16", 16, false}, {"u32", 32, false},
                {"i8", 8, true},  {"i16", 16, true},  {"i32", 32, true}};
    const model_type *at = type_at(self->types, type);
    cg_str name =
        at->kind == TYPE_PRIMITIVE ? program_text(self->program, at->name) : (cg_str){NULL, 0};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t range = UINT64_C(1) << rows[i].bits;
        uint64_t low = (uint64_t)number & (range - 1);

        if (!str_is(name, rows[i].name))
            continue;
        return rows[i].has_sign && low >= range / 2 ? (int64_t)low - (int64_t)range : (int64_t)low;
    }
    return number;
}

cg_code eval_cast(eval *self, val from, type_ref type, ast_ref node, val *ret)
{
    const value *at = value_at(self->values, from);
    enum type_class to = value_class(self->values, type);
    value made = *at;
    int64_t number;

    if (at->kind == VALUE_INT && to == CLASS_INT) {
        made.type = type;
        if (expr_constant(self->exprs, (expr)made.as.number, &number))
            made.as.number = expr_const(self->exprs, fitting(self, type, number));
        return eval_give(self, value_make(self->values, &made), ret);
    }
    if (at->kind == VALUE_INT && to == CLASS_FLOAT) {
        made = (value){.kind = VALUE_FLOAT, .type = type};
        if (expr_constant(self->exprs, (expr)at->as.number, &number)) {
            made.is_known = true;
            made.as.real = (double)number;
        } else if (!value_print(self->values, from, &made.text)) {
            return err_nomem(self->reterr);
        }
        return eval_give(self, value_make(self->values, &made), ret);
    }
    if (at->kind == VALUE_FLOAT && to == CLASS_FLOAT) {
        made.type = type;
        return eval_give(self, value_make(self->values, &made), ret);
    }
    if (at->kind == VALUE_FLOAT && to == CLASS_INT) {
        cg_str text;

        made = (value){.kind = VALUE_INT, .type = type};
        if (at->is_known && at->as.real > -9e15 && at->as.real < 9e15) {
            made.is_known = true;
            made.as.number = expr_const(self->exprs, (int64_t)at->as.real);
        } else {
            if (!value_print(self->values, from, &text))
                return err_nomem(self->reterr);
            /* A number that was only looked at as a float is itself. */
            if (text.len && str_find(text, CG_LIT("?")) == SIZE_MAX)
                made.as.number = str_find(text, CG_LIT(" ")) == SIZE_MAX
                                     ? expr_symbol(self->exprs, text)
                                     : expr_call(self->exprs, text);
        }
        return eval_give(self, value_make(self->values, &made), ret);
    }
    if (at->kind == VALUE_BOOL && to == CLASS_INT && at->is_known)
        return eval_give(self, value_int(self->values, expr_const(self->exprs, at->as.number != 0)),
                         ret);
    if (at->kind == VALUE_CHOICE && at->count) {
        val joined, all[VALUE_CHOICES];

        for (size_t i = 0; i < at->count; i++)
            CG_TRY(eval_cast(self, at->as.items[i], type, node, &all[i]));
        joined = value_join_all(self->values, all, at->count);
        return joined ? eval_give(self, joined, ret) : err_nomem(self->reterr);
    }
    if (to == CLASS_OTHER)
        return eval_give(self, from, ret);
    /* What a float was read from is known by its text. */
    if (to == CLASS_FLOAT && at->kind == VALUE_UNKNOWN && at->text.len > 0)
        return eval_give(self, value_of_type(self->values, type, at->text), ret);
    return eval_give(self, value_of_type(self->values, type, eval_source(self, "", node)), ret);
}
