/* Values of types, values joined, their fields, and how they are printed. */
#include "base/num.h"
#include "model/expr_print.h"
#include "model/value_kinds.h"

#define JOIN_DEPTH  40u /* structures inside each other; deeper ones are not looked into */
#define TYPE_DEPTH  12u
#define PRINT_BYTES 480u /* what is longer is cut: nobody reads it */

/* --- of a type --- */

static val typed(values *self, type_ref type, cg_str text, unsigned depth);

static val typed_plain(values *self, enum value_kind kind, type_ref type, cg_str text)
{
    value shape = {.kind = (uint8_t)kind, .type = type, .text = text};

    return value_make(self, &shape);
}

static val typed_list(values *self, type_ref type, type_ref element, cg_str text, unsigned depth)
{
    value repeat = {.kind = VALUE_REPEAT};
    value list = {.kind = VALUE_LIST, .type = type, .text = text};
    char name[16] = "index";
    cg_str symbol = {name, 5}, inner, count;
    val item;

    /* Lists inside lists: each has an index of its own. */
    for (size_t from = 0, nested = 1; from + 7 <= text.len; from++) {
        if (memcmp(text.ptr + from, "[index", 6) == 0 && nested < 9) {
            name[5] = (char)('1' + nested++);
            symbol.len = 6;
        }
    }
    if (!value_name(self, text, "[", symbol, &inner) ||
        !value_name(self, inner, "]", CG_LIT(""), &inner) ||
        !value_name(self, text, ".len()", CG_LIT(""), &count))
        return 0;
    item = typed(self, element, inner, depth + 1);
    if (!item)
        return 0;
    repeat.as.repeat.items = &item;
    repeat.as.repeat.symbol = intern_add(&self->program->names, symbol);
    repeat.as.repeat.count = text.len ? expr_symbol(self->exprs, count) : EXPR_NONE;
    val one = value_make(self, &repeat);

    if (!one)
        return 0;
    list.count = 1;
    list.as.items = &one;
    return value_make(self, &list);
}

static val typed_option(values *self, type_ref type, type_ref inside, cg_str text, unsigned depth)
{
    value choice = {.kind = VALUE_CHOICE, .type = type, .text = text, .count = 2};
    val item = typed(self, inside, text, depth + 1);
    val both[2];

    if (!item)
        return 0;
    both[0] = value_list(self, VALUE_SOME, &item, 1);
    both[1] = value_plain(self, VALUE_NOTHING);
    if (!both[0])
        return 0;
    choice.as.items = both;
    return value_make(self, &choice);
}

static val typed_tuple(values *self, const model_type *shape, cg_str text, unsigned depth)
{
    val items[16];
    size_t count = shape->arg_count < 16 ? shape->arg_count : 16;
    const type_ref *args = shape->args;

    if (!count)
        return value_plain(self, VALUE_UNIT);
    for (size_t i = 0; i < count; i++) {
        char digit[2] = {(char)('0' + i % 10), 0};
        cg_str inner;

        if (i >= 10)
            digit[1] = (char)('0' + i % 10), digit[0] = '1';
        if (!value_name(self, text, ".", (cg_str){digit, i < 10 ? 1 : 2}, &inner))
            return 0;
        items[i] = typed(self, args[i], inner, depth + 1);
        if (!items[i])
            return 0;
    }
    return value_list(self, VALUE_TUPLE, items, count);
}

static val typed_text(values *self, cg_str text)
{
    text_piece piece = {.text = text, .is_hole = true};
    value shape = {.kind = VALUE_TEXT, .text = text};

    shape.as.pieces = (text_pieces){&piece, 1};
    return value_make(self, &shape);
}

static val typed(values *self, type_ref type, cg_str text, unsigned depth)
{
    const model_type *shape;

    if (!type || !self->types || !self->program || depth > TYPE_DEPTH)
        return value_unknown(self, type, text);
    type = value_transparent(self, type);
    shape = type_at(self->types, type);
    if (shape->kind == TYPE_TUPLE)
        return typed_tuple(self, shape, text, depth);
    switch (value_class(self, type)) {
    case CLASS_INT: {
        value number = {.kind = VALUE_INT, .type = type};

        number.as.number = text.len ? expr_symbol(self->exprs, text) : EXPR_NONE;
        return value_make(self, &number);
    }
    case CLASS_FLOAT: return typed_plain(self, VALUE_FLOAT, type, text);
    case CLASS_BOOL: return typed_plain(self, VALUE_BOOL, type, text);
    case CLASS_CHAR: return typed_plain(self, VALUE_CHAR, type, text);
    case CLASS_TEXT: return typed_text(self, text);
    case CLASS_OPTION:
        return typed_option(self, type, shape->arg_count ? shape->args[0] : 0, text, depth);
    case CLASS_LIST:
        return typed_list(self, type, shape->arg_count ? shape->args[0] : 0, text, depth);
    case CLASS_TENSOR: return typed_plain(self, VALUE_TENSOR, type, text);
    case CLASS_DTYPE: return typed_plain(self, VALUE_DTYPE, type, text);
    case CLASS_DEVICE: return typed_plain(self, VALUE_DEVICE, type, text);
    case CLASS_UNSEEN:
    case CLASS_OTHER:
    case CLASS_RESULT:
    case CLASS_WRAPPER:
    case CLASS_MAP:
    case CLASS_BUILDER:
    case CLASS_VARMAP: break;
    }
    return value_unknown(self, type, text);
}

val value_of_type(values *self, type_ref type, cg_str text)
{
    return typed(self, type, text, 0);
}

/* --- joining --- */

static val join(values *self, val a, val b, unsigned depth);

static val join_items(values *self, val a, val b, unsigned depth)
{
    value shape = *value_at(self, a);
    const value *other = value_at(self, b);
    val *items = arena_take(&self->mem, (size_t)(shape.count + 1) * sizeof *items);
    bool is_same = true;

    if (!items)
        return 0;
    for (size_t i = 0; i < shape.count; i++) {
        items[i] = join(self, shape.as.items[i], other->as.items[i], depth + 1);
        is_same = is_same && items[i] == shape.as.items[i];
        if (!items[i])
            return 0;
    }
    if (!str_equal(shape.text, other->text))
        shape.text = (cg_str){NULL, 0};
    is_same = is_same && !shape.is_known && shape.text.len == value_at(self, a)->text.len;
    if (is_same) {
        self->work += shape.count;
        return a;
    }
    shape.as.items = items;
    shape.is_known = false;
    return value_make(self, &shape);
}

static val join_fields(values *self, val a, val b, unsigned depth)
{
    value shape = *value_at(self, a);
    const value *other = value_at(self, b);
    value_field *fields = arena_take(&self->mem, (size_t)(shape.count + 1) * sizeof *fields);

    if (!fields)
        return 0;
    for (size_t i = 0; i < shape.count; i++) {
        fields[i] = shape.as.fields[i];
        fields[i].value = join(self, fields[i].value, other->as.fields[i].value, depth + 1);
        if (!fields[i].value)
            return 0;
    }
    shape.as.fields = fields;
    return value_make(self, &shape);
}

static bool same_fields(const value *x, const value *y)
{
    if (x->count != y->count)
        return false;
    for (size_t i = 0; i < x->count; i++) {
        if (x->as.fields[i].name != y->as.fields[i].name)
            return false;
    }
    return true;
}

/*
 * One value that stands for both, 0: it takes a choice (or there is no memory: the choice fails
 * too).
 */
static val merged(values *self, val a, val b, unsigned depth)
{
    const value *x = value_at(self, a);
    const value *y = value_at(self, b);

    if (self->flow && (x->kind == VALUE_TENSOR || y->kind == VALUE_TENSOR)) {
        val one = self->join_tensors(self->flow, a, b);

        self->tensor_joins++;
        if (one)
            return one;
    }
    if (x->kind != y->kind || depth > JOIN_DEPTH)
        return 0;
    switch ((enum value_kind)x->kind) {
    case VALUE_BOOL: {
        value shape = {.kind = VALUE_BOOL, .type = x->type};

        return value_make(self, &shape);
    }
    case VALUE_STRUCT:
        return x->type == y->type && same_fields(x, y) ? join_fields(self, a, b, depth) : 0;
    case VALUE_ENUM:
        return x->type == y->type && x->variant == y->variant && same_fields(x, y)
                   ? join_fields(self, a, b, depth)
                   : 0;
    case VALUE_SOME:
    case VALUE_TUPLE:
    case VALUE_LIST:
        if (x->count != y->count)
            return 0;
        for (size_t i = 0; x->kind == VALUE_LIST && i < x->count; i++) {
            const value *left = value_at(self, x->as.items[i]);
            const value *right = value_at(self, y->as.items[i]);

            if ((left->kind == VALUE_REPEAT) != (right->kind == VALUE_REPEAT) ||
                (left->kind == VALUE_REPEAT && (left->as.repeat.count != right->as.repeat.count ||
                                                left->as.repeat.symbol != right->as.repeat.symbol)))
                return 0;
        }
        return join_items(self, a, b, depth);
    case VALUE_REPEAT: {
        value shape = *x;
        val item = join(self, x->as.repeat.items[0], y->as.repeat.items[0], depth + 1);

        shape.as.repeat.items = &item;
        return item ? value_make(self, &shape) : 0;
    }
    case VALUE_FLOAT:
    case VALUE_DTYPE:
    case VALUE_DEVICE:
    case VALUE_CHAR: {
        value shape = {.kind = x->kind, .type = x->type == y->type ? x->type : 0};

        return value_make(self, &shape);
    }
    case VALUE_TENSOR: {
        value shape = {.kind = VALUE_TENSOR, .type = x->type};

        return x->as.number == 0 && y->as.number == 0 ? value_make(self, &shape) : 0;
    }
    case VALUE_UNKNOWN:
        return x->type == y->type ? value_unknown(self, x->type, (cg_str){NULL, 0}) : 0;
    case VALUE_NONE:
    case VALUE_NEVER:
    case VALUE_ERROR:
    case VALUE_UNIT:
    case VALUE_INT:
    case VALUE_TEXT:
    case VALUE_BUILDER:
    case VALUE_NOTHING:
    case VALUE_RANGE:
    case VALUE_MAP:
    case VALUE_LAZY:
    case VALUE_CHOICE:
    case VALUE_CLOSURE:
    case VALUE_FUNCTION:
    case VALUE_TYPE:
    case VALUE_VARMAP: return 0;
    case VALUE_REFERENCE: return self->join_places ? self->join_places(self, x, y) : 0;
    }
    return 0;
}

typedef struct choices {
    val items[VALUE_CHOICES];
    size_t count;
    bool is_full;
} choices;

/* Is a value of this kind equal to another one, or stands beside it? See `merged`. */
static bool stands_alone(uint8_t kind)
{
    return kind == VALUE_INT || kind == VALUE_TEXT || kind == VALUE_UNIT || kind == VALUE_NOTHING ||
           kind == VALUE_RANGE || kind == VALUE_TYPE;
}

static bool are_alone(const values *self, const choices *of)
{
    for (size_t i = 0; i < of->count; i++) {
        if (!stands_alone(value_at(self, of->items[i])->kind))
            return false;
    }
    return true;
}

static void add_choice(values *self, choices *to, val one, unsigned depth)
{
    const value *at = value_at(self, one);

    for (size_t i = 0; i < to->count; i++) {
        const value *other = value_at(self, to->items[i]);
        val both;

        if (at->kind == VALUE_INT && other->kind == VALUE_INT && at->as.number != other->as.number)
            continue;
        if (value_equal(self, to->items[i], one))
            return;
        both = merged(self, to->items[i], one, depth);
        if (both) {
            to->items[i] = both;
            return;
        }
    }
    if (to->count == VALUE_CHOICES)
        to->is_full = true;
    else
        to->items[to->count++] = one;
}

static void add_choices(values *self, choices *to, val from, unsigned depth)
{
    const value *at = value_at(self, from);

    if (at->kind != VALUE_CHOICE) {
        add_choice(self, to, from, depth);
        return;
    }
    if (at->is_settled && to->count == 0) {
        memcpy(to->items, at->as.items, at->count * sizeof *to->items);
        to->count = at->count;
        return;
    }
    for (size_t i = 0; i < at->count; i++)
        add_choice(self, to, at->as.items[i], depth);
}

static bool is_same_integer(const value *a, const value *b)
{
    return a->as.number == b->as.number && a->type == b->type && a->is_known == b->is_known;
}

/* A choice that has the other value, an integer, among its items. */
static bool has_integer(const values *self, const value *choice, const value *number)
{
    for (size_t i = 0; i < choice->count; i++) {
        const value *item = value_at(self, choice->as.items[i]);

        if (item->kind == VALUE_INT && is_same_integer(item, number))
            return number->as.number != EXPR_NONE;
    }
    return false;
}

static val join(values *self, val a, val b, unsigned depth)
{
    const value *x = value_at(self, a);
    const value *y = value_at(self, b);
    choices both = {.count = 0};
    value shape = {.kind = VALUE_CHOICE};
    val made;

    if (!a || x->kind == VALUE_NEVER)
        return b;
    if (!b || y->kind == VALUE_NEVER)
        return a;
    if (value_equal(self, a, b))
        return a;
    /* A Result is its value; that it may be an error is always so. */
    if (x->kind == VALUE_ERROR)
        return b;
    if (y->kind == VALUE_ERROR)
        return a;
    /* Anything at all: nothing is added to that. */
    if (x->kind == VALUE_UNKNOWN && !x->type && !x->text.len)
        return a;
    if (y->kind == VALUE_UNKNOWN && !y->type && !y->text.len)
        return b;
    if (x->is_settled && !x->text.len && y->kind == VALUE_INT && has_integer(self, x, y)) {
        self->work += x->count;
        return a;
    }
    add_choices(self, &both, a, depth);
    add_choices(self, &both, b, depth);
    if (both.count == 1 && !both.is_full)
        return both.items[0];
    if (both.is_full)
        return value_unknown(self, x->type == y->type ? x->type : 0, (cg_str){NULL, 0});
    shape.count = (uint16_t)both.count;
    shape.as.items = both.items;
    shape.type = x->kind == VALUE_CHOICE ? x->type : y->kind == VALUE_CHOICE ? y->type : 0;
    if (x->text.len && y->text.len && str_equal(x->text, y->text))
        shape.text = x->text;
    made = value_make(self, &shape);
    if (made && are_alone(self, &both))
        self->pages.at[made / VALUES_PAGE][made % VALUES_PAGE].is_settled = true;
    return made;
}

val value_join(values *self, val a, val b)
{
    return join(self, a, b, 0);
}

/* Integers, and choices of them that have no name: what they are joined to is seen at once. */
static bool is_plain_number(const value *at)
{
    return at->text.len == 0 &&
           (at->kind == VALUE_INT || (at->kind == VALUE_CHOICE && at->is_settled && at->type == 0));
}

/* false: there are too many, or other things than integers. */
static bool add_number(const values *self, choices *to, val one)
{
    const value *at = value_at(self, one);

    if (at->kind != VALUE_INT || at->as.number == EXPR_NONE)
        return false;
    for (size_t i = 0; i < to->count; i++) {
        if (is_same_integer(value_at(self, to->items[i]), at))
            return true;
    }
    if (to->count == VALUE_CHOICES)
        return false;
    to->items[to->count++] = one;
    return true;
}

/* Are they those of the choice, in its order? */
static bool is_same_row(const values *self, const choices *of, const value *choice)
{
    if (of->count != choice->count)
        return false;
    for (size_t i = 0; i < of->count; i++) {
        const value *item = value_at(self, choice->as.items[i]);

        if (item->kind != VALUE_INT || !is_same_integer(value_at(self, of->items[i]), item))
            return false;
    }
    return true;
}

/* As one after the other does, and for the same work, without the values in between. */
static bool join_numbers(values *self, const val *items, size_t count, val *ret)
{
    value shape = {.kind = VALUE_CHOICE};
    choices all = {.count = 0};
    uint64_t work = 0;

    for (size_t i = 0; i < count; i++) {
        const value *at = value_at(self, items[i]);
        const val *row = at->kind == VALUE_CHOICE ? at->as.items : &items[i];
        size_t width = at->kind == VALUE_CHOICE ? at->count : 1;

        if (!is_plain_number(at))
            return false;
        if (at->kind == VALUE_CHOICE && is_same_row(self, &all, at))
            continue;
        for (size_t k = 0; k < width; k++) {
            if (!add_number(self, &all, row[k]))
                return false;
        }
        work += i > 0 && all.count > 1 ? all.count : 0;
    }
    if (all.count < 2 || work == 0)
        return false;
    shape.count = (uint16_t)all.count;
    shape.as.items = all.items;
    *ret = value_make(self, &shape);
    if (*ret)
        self->pages.at[*ret / VALUES_PAGE][*ret % VALUES_PAGE].is_settled = true;
    self->work += work - all.count;
    return true;
}

val value_join_all(values *self, const val *items, size_t count)
{
    val joined = count > 0 ? items[0] : 0;

    if (count > 2 && join_numbers(self, items, count, &joined))
        return joined;
    joined = count > 0 ? items[0] : 0;
    for (size_t i = 1; joined && i < count; i++)
        joined = value_join(self, joined, items[i]);
    return joined;
}

static bool is_joined_list(const values *self, const value *list)
{
    const joined_list *last = &self->joined;

    return list->count > 0 && last->items && last->count == list->count &&
           memcmp(last->items, list->as.items, list->count * sizeof(val)) == 0;
}

val value_join_items(values *self, const value *list)
{
    const val *items = list->as.items;
    size_t count = list->count;
    uint64_t work = self->work, tensor_joins = self->tensor_joins;
    val joined = 0;

    if (is_joined_list(self, list)) {
        self->work += self->joined.work;
        return self->joined.result;
    }
    for (size_t i = 0; i < count; i++) {
        const value *item = value_at(self, items[i]);
        val one = item->kind == VALUE_REPEAT ? item->as.repeat.items[0] : items[i];

        joined = joined ? value_join(self, joined, one) : one;
        if (!joined)
            return 0;
    }
    self->joined =
        (joined_list){items, count, joined, self->work - work, self->tensor_joins != tensor_joins};
    return joined;
}

/* --- fields --- */

static val field_within(values *self, val of, sym name, bool *ret_failed)
{
    const value *at = value_at(self, of);
    type_ref type = 0;
    cg_str text;
    val found = 0;

    switch ((enum value_kind)at->kind) {
    case VALUE_STRUCT:
    case VALUE_ENUM:
        for (size_t i = 0; i < at->count; i++) {
            if (at->as.fields[i].name == name)
                return at->as.fields[i].value;
        }
        /* Tuple structs: fields have numbers. */
        {
            uint64_t index;

            if (self->program && num_read_u64(program_text(self->program, name), &index) &&
                index < at->count && at->as.fields[index].name == 0)
                return at->as.fields[index].value;
        }
        break;
    case VALUE_TUPLE: {
        uint64_t index;

        if (self->program && num_read_u64(program_text(self->program, name), &index) &&
            index < at->count)
            return at->as.items[index];
        return 0;
    }
    case VALUE_CHOICE:
        for (size_t i = 0; i < at->count; i++) {
            val one = field_within(self, at->as.items[i], name, ret_failed);

            if (one)
                found = join(self, found, one, 0);
        }
        return found;
    case VALUE_SOME: /* through Arc<Option<..>> and the like nothing is lost by looking inside */
    case VALUE_NONE:
    case VALUE_UNKNOWN:
    case VALUE_NEVER:
    case VALUE_ERROR:
    case VALUE_UNIT:
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_FLOAT:
    case VALUE_CHAR:
    case VALUE_TEXT:
    case VALUE_BUILDER:
    case VALUE_TENSOR:
    case VALUE_NOTHING:
    case VALUE_LIST:
    case VALUE_REPEAT:
    case VALUE_RANGE:
    case VALUE_MAP:
    case VALUE_LAZY:
    case VALUE_CLOSURE:
    case VALUE_FUNCTION:
    case VALUE_TYPE:
    case VALUE_VARMAP:
    case VALUE_DTYPE:
    case VALUE_DEVICE:
    case VALUE_REFERENCE: break;
    }
    if (!at->type || !self->types || !self->program)
        return 0;
    if (type_field(self->types, at->type, name, &type, NULL) != CG_OK) {
        *ret_failed = true;
        return 0;
    }
    if (!type)
        return 0;
    text = at->text;
    if (!value_name(self, text, ".", program_text(self->program, name), &text)) {
        *ret_failed = true;
        return 0;
    }
    return value_of_type(self, type, text);
}

val value_field_of(values *self, val of, sym name)
{
    bool failed = false;

    return field_within(self, of, name, &failed);
}

val value_with_field(values *self, val of, sym name, val to)
{
    value shape = *value_at(self, of);
    size_t count = shape.count, at = SIZE_MAX;
    uint64_t index;
    bool is_number = self->program && num_read_u64(program_text(self->program, name), &index);

    if (shape.kind == VALUE_CHOICE) {
        val joined = 0;

        /* Whichever it is, the field is replaced; a choice holds no choices. */
        for (size_t i = 0; i < count; i++) {
            val one = shape.as.items[i];

            if (value_at(self, one)->kind != VALUE_CHOICE)
                one = value_with_field(self, one, name, to);
            joined = joined && one ? value_join(self, joined, one) : one;
            if (!joined)
                return 0;
        }
        return joined;
    }
    if (shape.kind == VALUE_TUPLE) {
        val *items;

        if (!is_number || index >= count)
            return of;
        items = arena_take(&self->mem, count * sizeof *items);
        if (!items)
            return 0;
        memcpy(items, shape.as.items, count * sizeof *items);
        items[index] = to;
        shape.as.items = items;
        return value_make(self, &shape);
    }
    if (shape.kind == VALUE_UNKNOWN && shape.type) {
        /* The other fields stay what the type says; see field_within. */
        shape.kind = VALUE_STRUCT;
        shape.count = 0;
        count = 0;
    }
    if ((shape.kind != VALUE_STRUCT && shape.kind != VALUE_ENUM) || count == UINT16_MAX)
        return of;
    value_field *fields = arena_take(&self->mem, (count + 1) * sizeof *fields);

    if (!fields)
        return 0;
    for (size_t i = 0; i < count; i++) {
        fields[i] = shape.as.fields[i];
        if (fields[i].name == name || (is_number && !fields[i].name && i == index))
            at = i;
    }
    if (at == SIZE_MAX) {
        at = count++;
        fields[at].name = name;
    }
    fields[at].value = to;
    shape.count = (uint16_t)count;
    shape.as.fields = fields;
    return value_make(self, &shape);
}

/* --- text --- */

static void print(const values *self, val which, buf *out, unsigned depth);

static void print_items(const values *self, const value *at, const char *around, buf *out,
                        unsigned depth)
{
    buf_byte(out, around[0]);
    for (size_t i = 0; i < at->count && out->len < PRINT_BYTES; i++) {
        if (i)
            buf_add(out, CG_LIT(", "));
        print(self, at->as.items[i], out, depth + 1);
    }
    if (at->kind == VALUE_TUPLE && at->count == 1)
        buf_byte(out, ',');
    buf_byte(out, around[1]);
}

static void print_pieces(text_pieces pieces, buf *out)
{
    for (size_t i = 0; i < pieces.count; i++) {
        bool is_alone = pieces.count == 1;

        if (pieces.at[i].is_hole && !is_alone)
            buf_byte(out, '{');
        buf_add(out, pieces.at[i].text);
        if (pieces.at[i].is_hole && !is_alone)
            buf_byte(out, '}');
    }
}

static void print(const values *self, val which, buf *out, unsigned depth)
{
    const value *at = value_at(self, which);
    char digits[NUM_F64_ROOM];

    if (depth > 8 || out->len > PRINT_BYTES) {
        buf_byte(out, '?');
        return;
    }
    if (at->text.len) {
        buf_add(out, at->text);
        return;
    }
    switch ((enum value_kind)at->kind) {
    case VALUE_UNIT: buf_add(out, CG_LIT("()")); return;
    case VALUE_BOOL:
        buf_add(out, !at->is_known        ? CG_LIT("?")
                     : at->as.number != 0 ? CG_LIT("true")
                                          : CG_LIT("false"));
        return;
    case VALUE_INT: expr_print(self->exprs, (expr)at->as.number, out); return;
    case VALUE_FLOAT:
        if (at->is_known && at->as.real == at->as.real && at->as.real - at->as.real == 0)
            buf_add(out, (cg_str){digits, num_write_f64(digits, at->as.real)});
        else
            buf_byte(out, '?');
        return;
    case VALUE_TEXT: print_pieces(at->as.pieces, out); return;
    case VALUE_SOME:
        buf_add(out, CG_LIT("Some("));
        print(self, at->as.items[0], out, depth + 1);
        buf_byte(out, ')');
        return;
    case VALUE_NOTHING: buf_add(out, CG_LIT("None")); return;
    case VALUE_TUPLE: print_items(self, at, "()", out, depth); return;
    case VALUE_LIST: print_items(self, at, "[]", out, depth); return;
    case VALUE_REPEAT:
        print(self, at->as.repeat.items[0], out, depth + 1);
        buf_add(out, CG_LIT("; "));
        expr_print(self->exprs, at->as.repeat.count, out);
        return;
    case VALUE_RANGE:
        if (at->as.items[0])
            print(self, at->as.items[0], out, depth + 1);
        buf_add(out, at->is_inclusive ? CG_LIT("..=") : CG_LIT(".."));
        if (at->as.items[1])
            print(self, at->as.items[1], out, depth + 1);
        return;
    case VALUE_ENUM:
        if (self->program)
            buf_add(out, program_text(self->program, at->variant));
        return;
    case VALUE_BUILDER: print_pieces(at->as.builder->prefix, out); return;
    case VALUE_LAZY:
    case VALUE_NONE:
    case VALUE_UNKNOWN:
    case VALUE_NEVER:
    case VALUE_ERROR:
    case VALUE_CHAR:
    case VALUE_TENSOR:
    case VALUE_STRUCT:
    case VALUE_MAP:
    case VALUE_CHOICE:
    case VALUE_CLOSURE:
    case VALUE_FUNCTION:
    case VALUE_TYPE:
    case VALUE_VARMAP:
    case VALUE_DTYPE:
    case VALUE_DEVICE:
    case VALUE_REFERENCE: buf_byte(out, '?'); return;
    }
}

bool value_print(values *self, val which, cg_str *ret)
{
    const value *at = value_at(self, which);
    bool is_whole;
    cg_str text;
    buf out;

    if (at->text.len) {
        *ret = at->text;
        return true;
    }
    buf_init(&out, self->heap, (size_t)1 << 20);
    print(self, which, &out, 0);
    text = buf_text(&out);
    if (text.len > PRINT_BYTES) {
        text.len = PRINT_BYTES;
        while (text.len > 0 && ((unsigned char)text.ptr[text.len] & 0xC0u) == 0x80u)
            text.len--;
    }
    is_whole = !out.failed && arena_text(&self->mem, text, ret);
    buf_free(&out);
    return is_whole;
}
