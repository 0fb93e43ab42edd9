#include "model/value_kinds.h"

#include "model/expr_values.h"
#include "model/index_text.h"

#define EQUAL_DEPTH 24u /* deeper values are taken for different */

typedef struct class_row {
    const char *path;
    enum type_class is;
} class_row;

/* Last parts of paths; `std`, `core` and `alloc` in front mean the same. */
static const class_row STD_CLASSES[] = {
    {"Option", CLASS_OPTION},    {"Result", CLASS_RESULT},    {"Box", CLASS_WRAPPER},
    {"Rc", CLASS_WRAPPER},       {"Arc", CLASS_WRAPPER},      {"Cow", CLASS_WRAPPER},
    {"RefCell", CLASS_WRAPPER},  {"Cell", CLASS_WRAPPER},     {"Mutex", CLASS_WRAPPER},
    {"RwLock", CLASS_WRAPPER},   {"Pin", CLASS_WRAPPER},      {"OnceLock", CLASS_WRAPPER},
    {"OnceCell", CLASS_WRAPPER}, {"LazyLock", CLASS_WRAPPER}, {"ManuallyDrop", CLASS_WRAPPER},
    {"Ref", CLASS_WRAPPER},      {"RefMut", CLASS_WRAPPER},   {"MutexGuard", CLASS_WRAPPER},
    {"Vec", CLASS_LIST},         {"VecDeque", CLASS_LIST},    {"HashSet", CLASS_LIST},
    {"BTreeSet", CLASS_LIST},    {"LinkedList", CLASS_LIST},  {"HashMap", CLASS_MAP},
    {"BTreeMap", CLASS_MAP},     {"String", CLASS_TEXT},      {"PathBuf", CLASS_TEXT},
    {"Path", CLASS_TEXT},        {"OsString", CLASS_TEXT},
};

static const class_row PRIMITIVE_CLASSES[] = {
    {"usize", CLASS_INT}, {"isize", CLASS_INT}, {"u8", CLASS_INT},    {"u16", CLASS_INT},
    {"u32", CLASS_INT},   {"u64", CLASS_INT},   {"u128", CLASS_INT},  {"i8", CLASS_INT},
    {"i16", CLASS_INT},   {"i32", CLASS_INT},   {"i64", CLASS_INT},   {"i128", CLASS_INT},
    {"f32", CLASS_FLOAT}, {"f64", CLASS_FLOAT}, {"bool", CLASS_BOOL}, {"char", CLASS_CHAR},
    {"str", CLASS_TEXT},
};

static const class_row CANDLE_CLASSES[] = {
    {"Tensor", CLASS_TENSOR},      {"Var", CLASS_TENSOR},
    {"DType", CLASS_DTYPE},        {"Device", CLASS_DEVICE},
    {"VarBuilder", CLASS_BUILDER}, {"VarBuilderArgs", CLASS_BUILDER},
    {"VarMap", CLASS_VARMAP},      {"ShardedVarBuilder", CLASS_BUILDER},
    {"QTensor", CLASS_TENSOR},     {"Result", CLASS_RESULT},
};

static enum type_class row_of(const class_row *rows, size_t count, cg_str word)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(str_from(rows[i].path), word))
            return rows[i].is;
    }
    return CLASS_OTHER;
}

#define ROW_OF(rows, word) row_of(rows, sizeof(rows) / sizeof *(rows), word)

static enum type_class class_of_path(cg_str path)
{
    size_t last = str_find_last(path, ':');
    cg_str word = path;

    if (last == SIZE_MAX)
        return ROW_OF(PRIMITIVE_CLASSES, path);
    word = (cg_str){path.ptr + last + 1, path.len - last - 1};
    if (str_starts_with(path, CG_LIT("std::")) || str_starts_with(path, CG_LIT("core::")) ||
        str_starts_with(path, CG_LIT("alloc::")))
        return ROW_OF(STD_CLASSES, word);
    if (str_starts_with(path, CG_LIT("candle_core::")) ||
        str_starts_with(path, CG_LIT("candle_nn::")))
        return ROW_OF(CANDLE_CLASSES, word);
    /* Other libraries name their things as std does. */
    if (str_equal(word, CG_LIT("Result")))
        return CLASS_RESULT;
    if (str_equal(word, CG_LIT("Mutex")) || str_equal(word, CG_LIT("RwLock")) ||
        str_equal(word, CG_LIT("OnceCell")))
        return CLASS_WRAPPER;
    if (str_equal(word, CG_LIT("SmallVec")) || str_equal(word, CG_LIT("ArrayVec")))
        return CLASS_LIST;
    if (str_equal(word, CG_LIT("HashMap")) || str_equal(word, CG_LIT("IndexMap")))
        return CLASS_MAP;
    return CLASS_OTHER;
}

enum type_class value_class(values *self, type_ref type)
{
    const model_type *shape;

    if (!type || !self->types || !self->program)
        return CLASS_OTHER;
    shape = type_at(self->types, type);
    if (shape->kind == TYPE_ARRAY)
        return CLASS_LIST;
    if ((shape->kind != TYPE_EXTERNAL && shape->kind != TYPE_PRIMITIVE) || !shape->name)
        return CLASS_OTHER;
    if (shape->name >= self->classes.count) {
        size_t need = (size_t)shape->name + 256;
        size_t had = self->classes.count;

        if (!vec_reserve(self->heap, &self->classes, need))
            return class_of_path(program_text(self->program, shape->name));
        memset(self->classes.at + had, 0, need - had);
        self->classes.count = need;
    }
    uint8_t *known = &self->classes.at[shape->name];

    if (*known == CLASS_UNSEEN)
        *known = (uint8_t)class_of_path(program_text(self->program, shape->name));
    return (enum type_class) * known;
}

type_ref value_transparent(values *self, type_ref type)
{
    for (unsigned i = 0; i < 16; i++) {
        enum type_class is = value_class(self, type);
        const model_type *shape;

        if (is != CLASS_RESULT && is != CLASS_WRAPPER)
            break;
        shape = type_at(self->types, type);
        if (!shape->arg_count)
            return 0;
        type = shape->args[0];
    }
    return type;
}

bool value_is_builder_type(values *self, type_ref type)
{
    const model_type *shape;

    if (!type || !self->types || !self->program)
        return false;
    if (value_class(self, type) == CLASS_BUILDER)
        return true;
    shape = type_at(self->types, type);
    if (shape->kind != TYPE_ITEM || !shape->item)
        return false;
    return str_equal(program_text(self->program, self->program->items.at[shape->item].name),
                     CG_LIT("VarBuilder"));
}

type_ref value_type(values *self, val which)
{
    const value *at = value_at(self, which);
    type_ref common = 0;

    if (at->type)
        return at->type;
    if (at->kind != VALUE_CHOICE)
        return 0;
    for (size_t i = 0; i < at->count; i++) {
        type_ref one = value_at(self, at->as.items[i])->type;

        if (!one || (common && one != common))
            return 0;
        common = one;
    }
    return common;
}

static bool pieces_equal(text_pieces a, text_pieces b)
{
    if (a.count != b.count)
        return false;
    for (size_t i = 0; i < a.count; i++) {
        const text_piece *x = &a.at[i], *y = &b.at[i];

        if (x->is_hole != y->is_hole || x->number != y->number || !str_equal(x->text, y->text) ||
            x->width != y->width || x->fill != y->fill)
            return false;
    }
    return true;
}

static bool equal_within(const values *self, val a, val b, unsigned depth)
{
    const value *x = value_at(self, a);
    const value *y = value_at(self, b);

    if (a == b)
        return true;
    if (!a || !b || x->kind != y->kind || x->is_known != y->is_known || x->count != y->count ||
        x->type != y->type || x->variant != y->variant || depth > EQUAL_DEPTH)
        return false;
    switch ((enum value_kind)x->kind) {
    case VALUE_UNIT:
    case VALUE_NOTHING:
    case VALUE_NEVER:
    case VALUE_ERROR: return true;
    case VALUE_NONE: return false;
    case VALUE_UNKNOWN:
    case VALUE_DTYPE:
    case VALUE_DEVICE:
    case VALUE_TYPE: return x->text.len > 0 && str_equal(x->text, y->text);
    case VALUE_CHAR:
    case VALUE_BOOL:
        return x->is_known ? x->as.number == y->as.number
                           : x->text.len > 0 && str_equal(x->text, y->text);
    case VALUE_FLOAT:
        return x->is_known ? x->as.real == y->as.real
                           : x->text.len > 0 && str_equal(x->text, y->text);
    case VALUE_INT: return x->as.number == y->as.number && x->as.number != EXPR_NONE;
    case VALUE_TEXT: return pieces_equal(x->as.pieces, y->as.pieces);
    case VALUE_BUILDER: {
        const builder_value *left = x->as.builder, *right = y->as.builder;

        return left->root == right->root && pieces_equal(left->prefix, right->prefix) &&
               left->condition == right->condition && left->rename == right->rename &&
               (left->last == NULL) == (right->last == NULL);
    }
    case VALUE_TENSOR:
        return x->as.number == y->as.number &&
               (x->as.number != 0 || (x->text.len > 0 && str_equal(x->text, y->text)));
    case VALUE_VARMAP: return x->as.number == y->as.number && x->as.number != 0;
    case VALUE_STRUCT:
    case VALUE_ENUM:
        for (size_t i = 0; i < x->count; i++) {
            if (x->as.fields[i].name != y->as.fields[i].name ||
                !equal_within(self, x->as.fields[i].value, y->as.fields[i].value, depth + 1))
                return false;
        }
        return true;
    case VALUE_REPEAT:
        return x->as.repeat.symbol == y->as.repeat.symbol &&
               x->as.repeat.count == y->as.repeat.count && x->variant == y->variant &&
               equal_within(self, x->as.repeat.items[0], y->as.repeat.items[0], depth + 1);
    case VALUE_RANGE:
        if (x->is_inclusive != y->is_inclusive)
            return false;
        for (size_t i = 0; i < 2; i++) {
            if (x->as.items[i] != y->as.items[i] &&
                !equal_within(self, x->as.items[i], y->as.items[i], depth + 1))
                return false;
        }
        return true;
    case VALUE_SOME:
    case VALUE_TUPLE:
    case VALUE_LIST:
    case VALUE_MAP:
    case VALUE_LAZY:
    case VALUE_CHOICE:
        for (size_t i = 0; i < x->count; i++) {
            if (!equal_within(self, x->as.items[i], y->as.items[i], depth + 1))
                return false;
        }
        return true;
    case VALUE_CLOSURE: return x->as.closure == y->as.closure;
    case VALUE_FUNCTION:
        return x->as.function.item == y->as.function.item &&
               x->as.function.bindings == y->as.function.bindings &&
               x->as.function.self == y->as.function.self && str_equal(x->text, y->text);
    case VALUE_REFERENCE: return x->as.reference == y->as.reference;
    }
    return false;
}

bool value_equal(const values *self, val a, val b)
{
    return equal_within(self, a, b, 0);
}

val value_with_type(values *self, val which, type_ref type)
{
    const value *at = value_at(self, which);
    cg_str text;

    if (!type || at->kind != VALUE_UNKNOWN || at->type)
        return which;
    text = at->text;
    return value_of_type(self, type, text);
}

bool value_name(values *self, cg_str text, const char *between, cg_str more, cg_str *ret)
{
    cg_str middle = str_from(between);
    char *to = arena_bytes(&self->mem, text.len + middle.len + more.len + 1);

    if (!to)
        return false;
    if (text.len)
        memcpy(to, text.ptr, text.len);
    if (middle.len)
        memcpy(to + text.len, middle.ptr, middle.len);
    if (more.len)
        memcpy(to + text.len + middle.len, more.ptr, more.len);
    *ret = (cg_str){to, text.len + middle.len + more.len};
    return true;
}

values_mark values_position(const values *self)
{
    return (values_mark){self->count, arena_mark(&self->mem)};
}

void values_forget(values *self, values_mark mark)
{
    self->count = mark.count;
    self->tail = (list_tail){0};
    self->joined = (joined_list){0};
    self->forgets++;
    arena_reset(&self->mem, mark.place);
}

/* --- symbols replaced --- */

typedef struct renaming {
    values *all;
    expr symbol, by;
    cg_str from; /* as it stands in texts: `index` */
    bool failed;
} renaming;

static val renamed(renaming *self, val which, unsigned depth);

/* Texts name what they stand for: `cfg.depths[index + 1]` becomes `cfg.depths[i + 1]`. */
static bool renamed_text(renaming *self, cg_str *text)
{
    bool has_changed = false;
    buf made;

    if (str_find(*text, CG_LIT("[")) == SIZE_MAX || !index_text_mentions(*text, self->from))
        return false;
    buf_init(&made, self->all->heap, UINT32_MAX);
    if (!index_text_replace(self->all->exprs, *text, self->from, self->by, &made))
        self->failed = true;
    else if (!str_equal(buf_text(&made), *text)) {
        has_changed = arena_text(&self->all->mem, buf_text(&made), text);
        self->failed |= !has_changed;
    }
    buf_free(&made);
    return has_changed;
}

static expr renamed_number(renaming *self, expr number)
{
    expr_binding bindings[16];
    size_t count = 0;
    expr_list symbols = {0};

    if (!number)
        return number;
    if (!expr_symbols(self->all->exprs, number, &symbols)) {
        self->failed = true;
        return number;
    }
    for (size_t i = 0; i < symbols.count && count < 16; i++) {
        cg_str text = expr_text(self->all->exprs, symbols.at[i]);

        if (symbols.at[i] == self->symbol) {
            bindings[count++] = (expr_binding){self->symbol, self->by};
        } else if (index_choice_is(text) && index_text_mentions(text, self->from)) {
            bindings[count++] = (expr_binding){
                symbols.at[i], index_choice_at(self->all->exprs, text, self->from, self->by)};
        } else if (text.len && renamed_text(self, &text)) {
            bool is_symbol = expr_kind_of(self->all->exprs, symbols.at[i]) == EXPR_SYMBOL;

            bindings[count++] =
                (expr_binding){symbols.at[i], is_symbol ? expr_symbol(self->all->exprs, text)
                                                        : expr_call(self->all->exprs, text)};
        }
    }
    vec_free(self->all->exprs->heap, &symbols);
    return count ? expr_substitute(self->all->exprs, number, bindings, count) : number;
}

static bool renamed_pieces(renaming *self, text_pieces from, text_pieces *ret)
{
    text_piece *to = NULL;

    for (size_t i = 0; i < from.count; i++) {
        const text_piece *piece = &from.at[i];
        expr number = renamed_number(self, piece->number);
        cg_str text = piece->text;
        bool has_text = piece->is_hole && !piece->number && renamed_text(self, &text);
        int64_t digits;

        if (number == piece->number && !has_text)
            continue;
        if (!to) {
            to = arena_take(&self->all->mem, from.count * sizeof *to);
            if (!to) {
                self->failed = true;
                return false;
            }
            memcpy(to, from.at, from.count * sizeof *to);
        }
        to[i].number = number;
        to[i].text = text;
        if (!number)
            continue;
        val printed = value_int(self->all, number);

        if (!printed || !value_print(self->all, printed, &to[i].text)) {
            self->failed = true;
            return false;
        }
        if (!expr_constant(self->all->exprs, number, &digits))
            continue;
        if (piece->width > 0 &&
            !arena_format(&self->all->mem, &to[i].text, piece->fill == '0' ? "%0*lld" : "%*lld",
                          (int)piece->width, (long long)digits))
            self->failed = true;
        to[i] = (text_piece){.text = to[i].text, .number = number};
    }
    if (!to)
        return false;
    *ret = (text_pieces){to, from.count};
    return true;
}

static val renamed_items(renaming *self, val which, unsigned depth)
{
    const value *at = value_at(self->all, which);
    bool is_repeat = at->kind == VALUE_REPEAT;
    size_t count = is_repeat ? 1 : at->kind == VALUE_RANGE ? 2 : at->count;
    const val *items = is_repeat ? at->as.repeat.items : at->as.items;
    val *to = NULL;
    value shape = *at;

    for (size_t i = 0; i < count; i++) {
        val one = items[i] ? renamed(self, items[i], depth + 1) : 0;

        if (one == items[i])
            continue;
        if (!to) {
            to = arena_take(&self->all->mem, count * sizeof *to);
            if (!to) {
                self->failed = true;
                return which;
            }
            memcpy(to, items, count * sizeof *to);
        }
        to[i] = one;
    }
    if (renamed_text(self, &shape.text) && !to)
        to = (val *)items; /* not written to */
    if (is_repeat && shape.as.repeat.count) {
        expr by = renamed_number(self, shape.as.repeat.count);

        if (by != shape.as.repeat.count) {
            shape.as.repeat.count = by;
            if (!to)
                return value_make(self->all, &shape);
        }
    }
    if (!to)
        return which;
    if (is_repeat)
        shape.as.repeat.items = to;
    else
        shape.as.items = to;
    return value_make(self->all, &shape);
}

static val renamed_fields(renaming *self, val which, unsigned depth)
{
    const value *at = value_at(self->all, which);
    value_field *to = NULL;
    value shape = *at;

    for (size_t i = 0; i < at->count; i++) {
        val one = renamed(self, at->as.fields[i].value, depth + 1);

        if (one == at->as.fields[i].value)
            continue;
        if (!to) {
            to = arena_take(&self->all->mem, at->count * sizeof *to);
            if (!to) {
                self->failed = true;
                return which;
            }
            memcpy(to, at->as.fields, at->count * sizeof *to);
        }
        to[i].value = one;
    }
    if (!renamed_text(self, &shape.text) && !to)
        return which;
    if (to)
        shape.as.fields = to;
    return value_make(self->all, &shape);
}

static val renamed(renaming *self, val which, unsigned depth)
{
    const value *at = value_at(self->all, which);
    value shape;

    if (depth > EQUAL_DEPTH || self->failed || !which)
        return which;
    switch ((enum value_kind)at->kind) {
    case VALUE_INT: {
        expr number = renamed_number(self, (expr)at->as.number);

        if (number == (expr)at->as.number)
            return which;
        shape = *at;
        shape.as.number = number;
        shape.text = (cg_str){NULL, 0};
        return value_make(self->all, &shape);
    }
    case VALUE_TEXT: {
        bool has_changed;

        shape = *at;
        has_changed = renamed_pieces(self, at->as.pieces, &shape.as.pieces);
        has_changed |= renamed_text(self, &shape.text);
        return has_changed ? value_make(self->all, &shape) : which;
    }
    case VALUE_BUILDER: {
        builder_value copy = *at->as.builder;

        if (!renamed_pieces(self, copy.prefix, &copy.prefix))
            return which;
        shape = *at;
        shape.as.builder = &copy;
        return value_make(self->all, &shape);
    }
    case VALUE_STRUCT:
    case VALUE_ENUM: return renamed_fields(self, which, depth);
    case VALUE_SOME:
    case VALUE_TUPLE:
    case VALUE_LIST:
    case VALUE_REPEAT:
    case VALUE_RANGE:
    case VALUE_MAP:
    case VALUE_LAZY:
    case VALUE_CHOICE: return renamed_items(self, which, depth);
    case VALUE_UNKNOWN:
    case VALUE_BOOL:
    case VALUE_FLOAT:
    case VALUE_CHAR:
    case VALUE_TENSOR:
    case VALUE_DTYPE:
    case VALUE_DEVICE:
        shape = *at;
        return shape.text.len && renamed_text(self, &shape.text) ? value_make(self->all, &shape)
                                                                 : which;
    case VALUE_NONE:
    case VALUE_NEVER:
    case VALUE_ERROR:
    case VALUE_UNIT:
    case VALUE_NOTHING:
    case VALUE_CLOSURE:
    case VALUE_FUNCTION:
    case VALUE_TYPE:
    case VALUE_VARMAP:
    case VALUE_REFERENCE: return which;
    }
    return which;
}

val value_substitute(values *self, val which, expr symbol, expr by)
{
    renaming work = {
        .all = self, .symbol = symbol, .by = by, .from = expr_text(self->exprs, symbol)};
    val result;

    if (!symbol || !by || symbol == by)
        return which;
    result = renamed(&work, which, 0);

    return work.failed ? 0 : result;
}
