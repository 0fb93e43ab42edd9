/* Which handler answers a call of std: the tables of std_functions.def. */
#include <math.h>

#include "model/canonical.h"
#include "model/catalogue.h"
#include "model/expr_values.h"
#include "model/std_handlers.h"
#include "model/std_lazy.h"
#include "model/std_text.h"
#include "model/value_kinds.h"

typedef struct method_row {
    const char *name;
    std_handler handler;
    uint8_t family;
} method_row;

/* In the order of families and names, which tests/unit/model/std.c checks. */
static const method_row methods[] = {
#define METHOD(family, name, handler) {name, handler, STD_##family},
#define FUNCTION(name, handler)
#define CONSTANT(name, number)
#include "model/std_functions.def"
#undef METHOD
#undef FUNCTION
#undef CONSTANT
};

typedef struct function_row {
    const char *name;
    std_handler handler;
} function_row;

static const function_row functions[] = {
#define METHOD(family, name, handler)
#define FUNCTION(name, handler) {name, handler},
#define CONSTANT(name, number)
#include "model/std_functions.def"
#undef METHOD
#undef FUNCTION
#undef CONSTANT
};

typedef struct constant_row {
    const char *name;
    double number;
} constant_row;

static const constant_row constants[] = {
#define METHOD(family, name, handler)
#define FUNCTION(name, handler)
#define CONSTANT(name, number) {name, number},
#include "model/std_functions.def"
#undef METHOD
#undef FUNCTION
#undef CONSTANT
};

static std_handler find_method(enum std_family family, cg_str name)
{
    size_t low = 0;
    size_t high = sizeof methods / sizeof methods[0];

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = (int)methods[middle].family - (int)family;

        if (order == 0)
            order = str_compare(str_from(methods[middle].name), name);
        if (order == 0)
            return methods[middle].handler;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static std_handler find_function(cg_str name)
{
    size_t low = 0;
    size_t high = sizeof functions / sizeof functions[0];

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = str_compare(str_from(functions[middle].name), name);

        if (order == 0)
            return functions[middle].handler;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* --- what a value is to the tables --- */

static cg_str last_segment(cg_str path)
{
    size_t colon = str_find_last(path, ':');

    if (path.len == 0 || colon == SIZE_MAX)
        return path;
    return (cg_str){path.ptr + colon + 1, path.len - colon - 1};
}

static bool is_iterator(cg_str path)
{
    cg_str last = last_segment(path);

    return str_equal(last, CG_LIT("Iterator")) || str_equal(last, CG_LIT("IntoIterator")) ||
           str_equal(last, CG_LIT("DoubleEndedIterator")) ||
           str_equal(last, CG_LIT("ExactSizeIterator"));
}

static enum std_family family_of_class(enum type_class is)
{
    switch (is) {
    case CLASS_OPTION: return STD_OPTION;
    case CLASS_LIST: return STD_LIST;
    case CLASS_MAP: return STD_MAP;
    case CLASS_TEXT: return STD_TEXT;
    case CLASS_INT: return STD_INT;
    case CLASS_FLOAT: return STD_FLOAT;
    case CLASS_BOOL: return STD_BOOL;
    case CLASS_CHAR: return STD_CHAR;
    case CLASS_UNSEEN:
    case CLASS_OTHER:
    case CLASS_RESULT:
    case CLASS_WRAPPER:
    case CLASS_TENSOR:
    case CLASS_DTYPE:
    case CLASS_DEVICE:
    case CLASS_BUILDER:
    case CLASS_VARMAP: break;
    }
    return STD_ANY;
}

static enum std_family family_of_type(eval *self, type_ref type)
{
    const model_type *at;

    if (type == 0 || self->types == NULL)
        return STD_UNKNOWN;
    type = value_transparent(self->values, type);
    if (type == 0)
        return STD_UNKNOWN;
    at = type_at(self->types, type);
    if (at->kind == TYPE_UNKNOWN)
        return STD_UNKNOWN;
    if (at->kind == TYPE_TRAIT && at->name != 0)
        return is_iterator(program_text(self->program, at->name)) ? STD_LIST : STD_ANY;
    return family_of_class(value_class(self->values, type));
}

static enum std_family family_of(eval *self, val which)
{
    const value *at = value_at(self->values, which);

    switch ((enum value_kind)at->kind) {
    case VALUE_SOME:
    case VALUE_NOTHING: return STD_OPTION;
    case VALUE_BOOL: return STD_BOOL;
    case VALUE_INT: return STD_INT;
    case VALUE_FLOAT: return STD_FLOAT;
    case VALUE_CHAR: return STD_CHAR;
    case VALUE_TEXT: return STD_TEXT;
    case VALUE_LIST:
    case VALUE_LAZY:
    case VALUE_RANGE: return STD_LIST;
    case VALUE_MAP: return STD_MAP;
    case VALUE_UNKNOWN: return family_of_type(self, at->type);
    case VALUE_NONE:
    case VALUE_NEVER:
    case VALUE_ERROR:
    case VALUE_UNIT:
    case VALUE_BUILDER:
    case VALUE_TENSOR:
    case VALUE_STRUCT:
    case VALUE_ENUM:
    case VALUE_TUPLE:
    case VALUE_REPEAT:
    case VALUE_CHOICE:
    case VALUE_CLOSURE:
    case VALUE_FUNCTION:
    case VALUE_TYPE:
    case VALUE_VARMAP:
    case VALUE_DTYPE:
    case VALUE_DEVICE:
    case VALUE_REFERENCE: return STD_ANY;
    }
    return STD_ANY;
}

/* --- shared by handlers --- */

val std_list_of(eval *self, type_ref type, const val *items, size_t count)
{
    value it = {.kind = VALUE_LIST, .is_known = true, .type = type};

    if (count > VALUE_ITEMS_MOST)
        return value_unknown(self->values, type, (cg_str){NULL, 0});
    it.count = (uint16_t)count;
    it.as.items = items;
    return value_make(self->values, &it);
}

val std_vec_of(eval *self, const val *items, size_t count)
{
    return std_list_of(self, std_type(self, "std::vec::Vec"), items, count);
}

bool std_is_collection(const eval *self, val list)
{
    const value *at = value_at(self->values, list);

    return at->kind == VALUE_LIST && at->type != 0 &&
           type_at(self->types, at->type)->kind == TYPE_EXTERNAL &&
           value_class(self->values, at->type) == CLASS_LIST;
}

/* The name of the closure's first parameter, or of the first in its tuple pattern; 0: none. */
static sym closure_parameter(eval *self, val closure)
{
    const value *at = closure == 0 ? NULL : value_at(self->values, closure);
    const ast *tree;
    ast_ref node;

    if (at == NULL || at->kind != VALUE_CLOSURE || at->as.closure == NULL ||
        at->as.closure->file == 0)
        return 0;
    tree = program_tree(self->program, at->as.closure->file);
    node = ast_child(tree, at->as.closure->node, ROLE_PARAMETERS);
    while (node != 0) {
        const ast_node *here;
        ast_ref pattern = ast_child(tree, node, ROLE_PATTERN);

        node = pattern != 0 ? pattern : ast_at(tree, node)->first;
        if (node == 0)
            return 0;
        here = ast_at(tree, node);
        if (here->kind == AST_IDENTIFIER) {
            cg_str name = ast_text(tree, node);

            return str_starts_with(name, CG_LIT("_")) ? 0 : intern_add(&self->program->names, name);
        }
    }
    return 0;
}

/* Is it a number, or a tuple that begins with one, that changes with the index? */
static bool is_counted(const eval *self, val item, sym index)
{
    const value *at = value_at(self->values, item);
    expr_list symbols = {NULL, 0, 0};
    bool is_there = false;
    expr number;
    expr wanted;

    if (at->kind == VALUE_TUPLE && at->count > 0)
        item = at->as.items[0];
    number = value_number(self->values, item);
    wanted = expr_symbol(self->exprs, program_text(self->program, index));
    if (number != EXPR_NONE && expr_symbols(self->exprs, number, &symbols)) {
        for (size_t i = 0; i < symbols.count; i++)
            is_there = is_there || symbols.at[i] == wanted;
    }
    vec_free(self->exprs->heap, &symbols);
    return is_there;
}

/* The index under the name that the closure gives it, everywhere in the item. */
static val rename_index(eval *self, val list, sym name)
{
    value whole = *value_at(self->values, list);
    value entry;
    val item;

    if (name == 0 || whole.kind != VALUE_LIST || whole.count != 1)
        return list;
    entry = *value_at(self->values, whole.as.items[0]);
    if (entry.kind != VALUE_REPEAT || entry.as.repeat.symbol == 0 ||
        entry.as.repeat.symbol == name ||
        !is_counted(self, entry.as.repeat.items[0], entry.as.repeat.symbol))
        return list;
    item = value_substitute(
        self->values, entry.as.repeat.items[0],
        expr_symbol(self->exprs, program_text(self->program, entry.as.repeat.symbol)),
        expr_symbol(self->exprs, program_text(self->program, name)));
    if (item == 0)
        return 0;
    entry.as.repeat.items = &item;
    entry.as.repeat.symbol = name;
    item = value_make(self->values, &entry);
    return item == 0 ? 0 : std_list_of(self, whole.type, &item, 1);
}

static bool has_repeat(const eval *self, const value *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (value_at(self->values, list->as.items[i])->kind == VALUE_REPEAT)
            return true;
    }
    return false;
}

cg_code std_items(library_call *call, val iterable, val closure, val *ret)
{
    eval *self = call->eval;
    val list = iterable;
    val renamed_list;
    value at;

    if (value_at(self->values, iterable)->kind == VALUE_LAZY) {
        CG_TRY(std_walk(self, iterable, &iterable));
        list = iterable;
    }
    if (value_at(self->values, list)->kind != VALUE_LIST)
        CG_TRY(eval_items(self, iterable, &list));
    if (list == 0 || value_at(self->values, list)->kind != VALUE_LIST) {
        library_call other = *call;

        other.receiver = iterable;
        other.is_known = false;
        CG_TRY(unknown_iter(&other));
        list = other.result;
    }
    renamed_list = rename_index(self, list, closure_parameter(self, closure));
    if (renamed_list == 0)
        return err_nomem(self->reterr);
    at = *value_at(self->values, renamed_list);
    if (renamed_list != iterable && at.text.len == 0 && has_repeat(self, &at)) {
        if (!value_print(self->values, iterable, &at.text))
            return err_nomem(self->reterr);
        renamed_list = value_make(self->values, &at);
    }
    *ret = renamed_list;
    return renamed_list == 0 ? err_nomem(self->reterr) : CG_OK;
}

val std_default(eval *self, type_ref type)
{
    const model_type *at;

    type = type == 0 || self->types == NULL ? 0 : value_transparent(self->values, type);
    if (type == 0)
        return 0;
    switch (family_of_type(self, type)) {
    case STD_OPTION: return std_plain(self, VALUE_NOTHING);
    case STD_INT: return value_int(self->values, expr_const(self->exprs, 0));
    case STD_FLOAT: return std_float(self, 0.0);
    case STD_TEXT: return value_text(self->values, CG_LIT(""));
    case STD_MAP: return std_plain(self, VALUE_MAP);
    case STD_BOOL: {
        value it = {.kind = VALUE_BOOL, .is_known = true};

        return value_make(self->values, &it);
    }
    case STD_LIST:
        return type_at(self->types, type)->kind == TYPE_ARRAY ? 0 : std_vec_of(self, NULL, 0);
    case STD_ANY:
    case STD_CHAR:
    case STD_UNKNOWN:
    case STD_FAMILY_COUNT: break;
    }
    at = type_at(self->types, type);
    return at->kind == TYPE_TUPLE && at->arg_count == 0 ? std_plain(self, VALUE_UNIT) : 0;
}

/* --- methods --- */

cg_code std_run(library_call *call, enum std_family family)
{
    std_handler handler = find_method(family, call->name);

    if (handler != NULL)
        CG_TRY(handler(call));
    if (call->is_known || family == STD_ANY)
        return CG_OK;
    handler = find_method(STD_ANY, call->name);
    return handler == NULL ? CG_OK : handler(call);
}

/* Err(_) goes through everything but what asks for it. */
static cg_code run_error(library_call *call)
{
    static const struct {
        const char *name;
        std_handler handler;
    } rows[] = {
        {"unwrap", any_never},
        {"expect", any_never},
        {"unwrap_or", option_unwrap_or},
        {"unwrap_or_else", NULL},
        {"or", option_unwrap_or},
        {"or_else", NULL},
        {"ok", NULL},
        {"is_ok", NULL},
        {"is_err", NULL},
    };
    val error = call->receiver;
    val result = 0;

    for (size_t i = 0; i < 2 + 2; i++) {
        size_t which = i < 3 ? i : 4;

        if (!str_is(call->name, rows[which].name))
            continue;
        call->receiver = std_plain(call->eval, VALUE_NOTHING);
        CG_TRY(call->receiver == 0 ? err_nomem(call->eval->reterr) : rows[which].handler(call));
        call->receiver = error;
        return CG_OK;
    }
    if (str_equal(call->name, CG_LIT("ok")))
        return std_give(call, std_plain(call->eval, VALUE_NOTHING));
    if (str_equal(call->name, CG_LIT("is_ok")) || str_equal(call->name, CG_LIT("is_err")))
        return std_give_bool(call, call->name.len == 6);
    if ((str_equal(call->name, CG_LIT("or_else")) ||
         str_equal(call->name, CG_LIT("unwrap_or_else"))) &&
        call->count == 1) {
        CG_TRY(eval_apply(call->eval, call->args[0], &error, 1, call->place, &result));
        return std_give(call, result);
    }
    return std_give(call, error);
}

static cg_code run_one(library_call *call)
{
    eval *self = call->eval;
    const value *at = std_at(call, call->receiver);
    enum std_family family;

    if (at->kind == VALUE_NEVER)
        return std_give(call, call->receiver);
    if (at->kind == VALUE_ERROR)
        return run_error(call);
    family = family_of(self, call->receiver);
    if (family == STD_LIST)
        CG_TRY(std_lazy(call));
    return call->is_known ? CG_OK : std_run(call, family);
}

typedef struct choice_ways {
    const library_call *call;
    const val *items;
    val *updated;
    bool is_known;
    bool is_changed;
} choice_ways;

static cg_code run_way(void *context, size_t way, val *ret)
{
    choice_ways *self = context;
    library_call one = *self->call;

    one.receiver = self->items[way];
    CG_TRY(run_one(&one));
    self->updated[way] = one.updated != 0 ? one.updated : one.receiver;
    self->is_changed = self->is_changed || one.updated != 0;
    if (!one.is_known)
        CG_TRY(std_give_opaque(&one, VALUE_UNKNOWN, 0));
    else
        self->is_known = true;
    *ret = one.result;
    return CG_OK;
}

static bool has_callable(const library_call *call)
{
    for (size_t i = 0; i < call->count; i++) {
        enum value_kind kind = std_kind(call, call->args[i]);

        if (kind == VALUE_CLOSURE || kind == VALUE_FUNCTION)
            return true;
    }
    return false;
}

static bool has_lazy(const library_call *call, const val *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (std_kind(call, items[i]) == VALUE_LAZY)
            return true;
    }
    return false;
}

/* All ways, joined, without anything that is recorded on the way. */
static cg_code run_quietly(library_call *call, choice_ways *ways, size_t count, val *ret)
{
    bool is_same = true;
    val result, some[VALUE_CHOICES];
    size_t some_count = 0;

    for (size_t i = 0; i < count; i++) {
        val one = 0;

        CG_TRY(run_way(ways, i, &one));
        is_same = is_same && one == ways->items[i];
        /* A way that does not come back says nothing, unless none does. */
        if (std_kind(call, one) != VALUE_NEVER || (some_count == 0 && i + 1 == count))
            some[some_count++] = one;
    }
    result = value_join_all(call->eval->values, some, some_count);
    if (result == 0)
        return err_nomem(call->eval->reterr);
    /* The choice itself still has its name. */
    *ret = is_same ? call->receiver : result;
    return CG_OK;
}

/* A choice of numbers that only the call can name: `cfg.head_dim.unwrap_or(hidden / heads)`. */
static cg_code name_result(library_call *call)
{
    value at = *std_at(call, call->result);
    enum value_kind kind;

    if (at.kind != VALUE_CHOICE || at.count == 0)
        return CG_OK;
    kind = std_kind(call, at.as.items[0]);
    for (size_t i = 1; i < at.count; i++) {
        if (std_kind(call, at.as.items[i]) != kind)
            return CG_OK;
    }
    if (kind != VALUE_INT && kind != VALUE_BOOL && kind != VALUE_FLOAT)
        return CG_OK;
    return std_give_opaque(call, kind, 0);
}

static cg_code run_choice(library_call *call)
{
    value at = *std_at(call, call->receiver);
    val updated[VALUE_CHOICES];
    choice_ways ways = {.call = call, .items = at.as.items, .updated = updated};
    size_t count = at.count < VALUE_CHOICES ? at.count : VALUE_CHOICES;
    cg_str condition = {NULL, 0};
    val result = 0;

    if (count == 0)
        return CG_OK;
    memset(updated, 0, sizeof updated);
    if (has_callable(call) || has_lazy(call, at.as.items, count)) {
        if (!std_condition(call->eval, call->receiver, &condition))
            return err_nomem(call->eval->reterr);
        CG_TRY(eval_ways(call->eval, count, condition, run_way, &ways, &result));
    } else {
        CG_TRY(run_quietly(call, &ways, count, &result));
    }
    if (!ways.is_known || result == 0)
        return CG_OK;
    for (size_t i = 0; i < count && ways.is_changed; i++) {
        if (updated[i] == 0)
            continue;
        call->updated = call->updated == 0
                            ? updated[i]
                            : value_join(call->eval->values, call->updated, updated[i]);
    }
    CG_TRY(std_give(call, result));
    return name_result(call);
}

/* What its type says, in place of something opaque, where that tells more. */
static cg_code open_receiver(library_call *call)
{
    value at = *std_at(call, call->receiver);
    enum std_family family;
    val opened;

    if (at.kind != VALUE_UNKNOWN || at.type == 0)
        return CG_OK;
    family = family_of(call->eval, call->receiver);
    if (family != STD_OPTION && family != STD_LIST)
        return CG_OK;
    opened = value_of_type(call->eval->values, at.type, at.text);
    if (opened == 0)
        return err_nomem(call->eval->reterr);
    if (std_kind(call, opened) == VALUE_CHOICE || std_kind(call, opened) == VALUE_LIST)
        call->receiver = opened;
    return CG_OK;
}

cg_code std_run_on(library_call *call, val receiver, const char *name, const val *args,
                   size_t count, val *ret)
{
    library_call other = {.eval = call->eval,
                          .receiver = receiver,
                          .args = args,
                          .count = count,
                          .place = call->place,
                          .name = str_from(name)};

    CG_TRY(std_kind(call, receiver) == VALUE_CHOICE ? run_choice(&other) : run_one(&other));
    if (!other.is_known)
        CG_TRY(std_give_opaque(&other, VALUE_UNKNOWN, 0));
    *ret = other.result;
    return CG_OK;
}

static library_call begin(eval *self, cg_str name, const val *args, size_t count, model_place place)
{
    library_call call = {.eval = self,
                         .args = args,
                         .count = count,
                         .place = place,
                         .name = name,
                         .wanted = self->wanted};

    self->wanted = 0;
    self->updated_receiver = 0;
    return call;
}

static cg_code finish(library_call *call, cg_code code, bool *is_known, val *ret)
{
    *is_known = code == CG_OK && call->is_known;
    if (*is_known) {
        *ret = call->result;
        call->eval->updated_receiver = call->updated;
    }
    return code;
}

cg_code std_method(eval *self, val receiver, sym name, const val *args, size_t count,
                   model_place place, bool *is_known, val *ret)
{
    library_call call = begin(self, program_text(self->program, name), args, count, place);
    cg_code code;

    call.receiver = receiver;
    code = open_receiver(&call);
    if (code == CG_OK)
        code = std_kind(&call, call.receiver) == VALUE_CHOICE ? run_choice(&call) : run_one(&call);
    return finish(&call, code, is_known, ret);
}

/* --- functions, constants, macros --- */

/* The last two segments: `std::vec::Vec::new` is `Vec::new`; of other crates all of it. */
static cg_str table_name(cg_str path)
{
    static const char *const heads[] = {"std::", "core::", "alloc::"};
    size_t colons = 0;
    bool is_std = str_find(path, CG_LIT("::")) == str_find_last(path, ':') - 1;

    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        is_std = is_std || str_starts_with(path, str_from(heads[i]));
    for (size_t i = path.len; i > 0 && is_std; i--) {
        if (path.ptr[i - 1] == ':' && ++colons == 3)
            return (cg_str){path.ptr + i, path.len - i};
    }
    return path;
}

/* `Iterator::map(x, f)`, `Option::as_ref(&x)`: the method of the first argument. */
static cg_code run_as_method(library_call *call)
{
    library_call method = *call;

    if (call->count == 0)
        return CG_OK;
    method.receiver = call->args[0];
    method.args = call->args + 1;
    method.count = call->count - 1;
    CG_TRY(open_receiver(&method));
    CG_TRY(std_kind(call, method.receiver) == VALUE_CHOICE ? run_choice(&method)
                                                           : run_one(&method));
    call->is_known = method.is_known;
    call->result = method.result;
    return CG_OK;
}

/* Of std, or of a primitive type. */
static bool is_of_std(cg_str path)
{
    size_t end = str_find(path, CG_LIT("::"));

    if (end != SIZE_MAX && canonical_is_primitive((cg_str){path.ptr, end}))
        return true;
    return str_starts_with(path, CG_LIT("std::")) || str_starts_with(path, CG_LIT("core::")) ||
           str_starts_with(path, CG_LIT("alloc::"));
}

static cg_code run_function(library_call *call, cg_str path)
{
    std_handler handler = find_function(table_name(path));

    if (handler != NULL)
        CG_TRY(handler(call));
    if (call->is_known || !is_of_std(path))
        return CG_OK;
    return run_as_method(call);
}

cg_code std_call(eval *self, sym path, const val *args, size_t count, model_place place,
                 bool *is_known, val *ret)
{
    cg_str text = program_text(self->program, path);
    library_call call = begin(self, last_segment(text), args, count, place);

    return finish(&call, run_function(&call, text), is_known, ret);
}

/* Limits of the integer types that a number of ours can hold. */
static bool integer_limit(cg_str name, int64_t *ret)
{
    static const struct {
        const char *name;
        int64_t number;
    } rows[] = {
        {"u8::MAX", UINT8_MAX},  {"u16::MAX", UINT16_MAX},  {"u32::MAX", UINT32_MAX},
        {"i8::MAX", INT8_MAX},   {"i16::MAX", INT16_MAX},   {"i32::MAX", INT32_MAX},
        {"i64::MAX", INT64_MAX}, {"isize::MAX", INT64_MAX}, {"i8::MIN", INT8_MIN},
        {"i16::MIN", INT16_MIN}, {"i32::MIN", INT32_MIN},   {"u8::MIN", 0},
        {"u16::MIN", 0},         {"u32::MIN", 0},           {"u64::MIN", 0},
        {"usize::MIN", 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (str_is(name, rows[i].name)) {
            *ret = rows[i].number;
            return true;
        }
    }
    return false;
}

static cg_code give_constant(library_call *call, const constant_row *row)
{
    value made = {.kind = VALUE_FLOAT, .is_known = true, .as.real = row->number};

    if (str_starts_with(str_from(row->name), CG_LIT("f32::")))
        made.type = std_type(call->eval, "f32");
    if (str_starts_with(str_from(row->name), CG_LIT("f64::")))
        made.type = std_type(call->eval, "f64");
    return std_give(call, value_make(call->eval->values, &made));
}

cg_code std_constant(eval *self, sym path, bool *is_known, val *ret)
{
    cg_str text = program_text(self->program, path);
    cg_str name = table_name(text);
    library_call call = begin(self, last_segment(text), NULL, 0, (model_place){0});
    cg_code code = CG_OK;
    int64_t number = 0;

    if (integer_limit(name, &number))
        code = std_give_number(&call, expr_const(self->exprs, number));
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        if (str_is(name, constants[i].name))
            code = give_constant(&call, &constants[i]);
    }
    return finish(&call, code, is_known, ret);
}

#define MACRO_NAME 64 /* longer names are in no table */

cg_code std_macro(eval *self, sym path, sym name, const val *args, size_t count, model_place place,
                  bool *is_known, val *ret)
{
    cg_str word = program_text(self->program, name);
    library_call call = begin(self, word, args, count, place);
    char room[MACRO_NAME];
    std_handler handler = NULL;

    (void)path; /* no two crates use one name for different things here */
    if (word.len + 1 < sizeof room) {
        memcpy(room, word.ptr, word.len);
        room[word.len] = '!';
        handler = find_function((cg_str){room, word.len + 1});
    }
    /* Names are of interest to formats only. */
    if (count > 0 && handler != string_format &&
        value_at(self->values, args[count - 1])->type == 0 &&
        value_at(self->values, args[count - 1])->kind == VALUE_STRUCT)
        call.count--;
    return finish(&call, handler == NULL ? CG_OK : handler(&call), is_known, ret);
}

/* --- functions without a file of their own --- */

cg_code first_argument(library_call *call)
{
    return call->count == 0 ? CG_OK : std_give(call, call->args[0]);
}

cg_code default_value(library_call *call)
{
    val made = std_default(call->eval, call->wanted);

    if (call->wanted == 0)
        made = value_unknown(call->eval->values, 0, CG_LIT(STD_DEFAULT));
    return made == 0 ? CG_OK : std_give(call, made);
}

cg_code some_of(library_call *call)
{
    return call->count == 0 ? CG_OK : std_give(call, std_some(call->eval, call->args[0]));
}

cg_code none_of(library_call *call)
{
    return std_give(call, std_plain(call->eval, VALUE_NOTHING));
}
