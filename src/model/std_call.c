#include "model/std_call.h"

#include "base/buf.h"
#include "base/str_name.h"

#define TEXT_CEILING ((size_t)240) /* longer texts say nothing to anybody */

cg_code std_give(library_call *call, val result)
{
    if (result == 0)
        return err_nomem(call->eval->reterr);
    call->is_known = true;
    call->result = result;
    return CG_OK;
}

cg_code std_give_bool(library_call *call, bool truth)
{
    value it = {.kind = VALUE_BOOL, .is_known = true, .as.number = truth};

    return std_give(call, value_make(call->eval->values, &it));
}

cg_code std_give_number(library_call *call, expr number)
{
    if (number == EXPR_NONE)
        return std_give_opaque(call, VALUE_INT, 0);
    return std_give(call, value_int(call->eval->values, number));
}

/* Does an operator stand outside of all brackets, so that a method would bind to its right side? */
static bool is_loose(cg_str text)
{
    int depth = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (c == '(' || c == '[' || c == '{')
            depth++;
        else if (c == ')' || c == ']' || c == '}')
            depth--;
        else if (c == ' ' && depth == 0)
            return true;
    }
    return false;
}

/*
 * `receiver.name(a, b)`, in the memory of the values. Equal texts mean equal values: what is cut
 * short, or is about something without a name (*ret_named false), gets a number of its own.
 */
static bool call_text(library_call *call, cg_str *ret, bool *ret_named)
{
    values *all = call->eval->values;
    bool is_whole = true;
    cg_str text;
    buf out;

    buf_init(&out, all->heap, TEXT_CEILING * 4);
    if (call->receiver != 0) {
        is_whole = value_print(all, call->receiver, &text);
        if (is_whole)
            buf_addf(&out, is_loose(text) ? "(%.*s)." : "%.*s.", (int)text.len, text.ptr);
    }
    buf_add(&out, call->name);
    buf_byte(&out, '(');
    for (size_t i = 0; i < call->count && is_whole; i++) {
        if (i > 0)
            buf_add(&out, CG_LIT(", "));
        is_whole = value_print(all, call->args[i], &text);
        if (is_whole)
            buf_add(&out, text);
    }
    buf_byte(&out, ')');
    text = buf_text(&out);
    *ret_named = !out.failed && text.len <= TEXT_CEILING && str_find(text, CG_LIT("?")) == SIZE_MAX;
    if (is_whole && !*ret_named)
        is_whole =
            arena_format(&all->mem, ret, "%.*s#%u", STR_NAME(call->name), all->count - all->first);
    else
        is_whole = is_whole && arena_text(&all->mem, text, ret);
    buf_free(&out);
    return is_whole;
}

cg_code std_give_opaque(library_call *call, enum value_kind kind, type_ref type)
{
    value it = {.kind = (uint8_t)kind, .type = type};
    bool is_named = false;
    cg_str text;

    if (!call_text(call, &text, &is_named))
        return err_nomem(call->eval->reterr);
    if (kind == VALUE_INT)
        return std_give(call, value_int(call->eval->values,
                                        is_named ? expr_call(call->eval->exprs, text) : EXPR_NONE));
    if (kind == VALUE_UNKNOWN)
        return std_give(call, value_unknown(call->eval->values, type, text));
    it.text = text;
    return std_give(call, value_make(call->eval->values, &it));
}

cg_code std_give_typed(library_call *call, type_ref type)
{
    bool is_named;
    cg_str text;

    if (type == 0)
        return std_give_opaque(call, VALUE_UNKNOWN, 0);
    if (!call_text(call, &text, &is_named))
        return err_nomem(call->eval->reterr);
    return std_give(call, value_of_type(call->eval->values, type, text));
}

val std_plain(eval *self, enum value_kind kind)
{
    value it = {.kind = (uint8_t)kind, .is_known = true};

    return value_make(self->values, &it);
}

val std_some(eval *self, val inner)
{
    return inner == 0 ? 0 : value_list(self->values, VALUE_SOME, &inner, 1);
}

val std_float(eval *self, double real)
{
    value it = {.kind = VALUE_FLOAT, .is_known = true, .as.real = real};

    return value_make(self->values, &it);
}

val std_perhaps(eval *self, val inner)
{
    val some = std_some(self, inner);
    val nothing = std_plain(self, VALUE_NOTHING);

    return some == 0 || nothing == 0 ? 0 : value_join(self->values, some, nothing);
}

type_ref std_type(eval *self, const char *path)
{
    model_type shape = {.kind = TYPE_EXTERNAL};
    type_ref made = 0;

    if (self->types == NULL)
        return 0;
    shape.name = intern_add(&self->program->names, str_from(path));
    if (shape.name == 0 || type_make(self->types, &shape, &made, NULL) != CG_OK)
        return 0;
    return made;
}

cg_str std_type_path(eval *self, type_ref type)
{
    const model_type *at;

    if (type == 0 || self->types == NULL)
        return (cg_str){NULL, 0};
    at = type_at(self->types, type);
    if ((at->kind != TYPE_EXTERNAL && at->kind != TYPE_PRIMITIVE) || at->name == 0)
        return (cg_str){NULL, 0};
    return program_text(self->program, at->name);
}

type_ref std_type_inside(eval *self, type_ref type)
{
    return type == 0 || self->types == NULL ? 0 : type_peel(self->types, type);
}

/* `one of alpha, beta`: what a choice without a name is printed as. */
static bool alternatives(eval *self, val choice, cg_str *ret)
{
    const value *at = value_at(self->values, choice);
    bool is_whole = true;
    buf out;

    buf_init(&out, self->values->heap, TEXT_CEILING * 4);
    buf_add(&out, CG_LIT("one of "));
    for (size_t i = 0; i < at->count && is_whole && out.len < TEXT_CEILING; i++) {
        cg_str text;

        is_whole = value_print(self->values, at->as.items[i], &text);
        if (i > 0)
            buf_add(&out, CG_LIT(", "));
        if (is_whole)
            buf_add(&out, err_shorten(text));
    }
    is_whole = is_whole && !out.failed && arena_text(&self->values->mem, buf_text(&out), ret);
    buf_free(&out);
    return is_whole;
}

bool std_condition(eval *self, val by, cg_str *ret)
{
    const value *at = value_at(self->values, by);
    bool is_bool = at->kind == VALUE_BOOL;
    cg_str text;

    if (at->kind == VALUE_CHOICE && at->text.len == 0) {
        for (size_t i = 0; i < at->count; i++) {
            if (value_at(self->values, at->as.items[i])->kind != VALUE_NOTHING)
                continue;
            *ret = CG_LIT("if an option is there");
            return true;
        }
        return alternatives(self, by, ret);
    }
    return value_print(self->values, by, &text) &&
           arena_format(&self->values->mem, ret, "%s %.*s", is_bool ? "if" : "match",
                        (int)(text.len > TEXT_CEILING ? TEXT_CEILING : text.len), text.ptr);
}

int std_truth(eval *self, val condition)
{
    const value *at = value_at(self->values, condition);

    if (at->kind != VALUE_BOOL || !at->is_known)
        return -1;
    return at->as.number != 0;
}

#define SPREAD_ARGS 24 /* more arguments than this are taken as they are */

static size_t choice_count(const value *at)
{
    return at->kind == VALUE_CHOICE ? at->count : 1;
}

/*
 * The number of combinations, 0 when there are too many; each argument's stride, 0: it follows an
 * equal one.
 */
static size_t combinations(eval *self, const val *args, size_t count, size_t *strides)
{
    size_t total = 1;

    for (size_t i = 0; i < count; i++) {
        strides[i] = total;
        for (size_t k = 0; k < i; k++) {
            if (args[k] == args[i])
                strides[i] = strides[k];
        }
        if (strides[i] == total)
            total *= choice_count(value_at(self->values, args[i]));
        if (total == 0 || total > VALUE_CHOICES)
            return 0;
    }
    return total;
}

val std_each_choice(eval *self, const val *args, size_t count,
                    val (*make)(eval *self, const val *args, size_t count, const void *context),
                    const void *context)
{
    size_t strides[SPREAD_ARGS];
    val chosen[SPREAD_ARGS];
    size_t total = count > SPREAD_ARGS ? 0 : combinations(self, args, count, strides);
    val result = 0;

    if (total <= 1)
        return make(self, args, count, context);
    for (size_t way = 0; way < total; way++) {
        val one;

        for (size_t i = 0; i < count; i++) {
            const value *at = value_at(self->values, args[i]);

            chosen[i] =
                at->kind != VALUE_CHOICE ? args[i] : at->as.items[way / strides[i] % at->count];
        }
        one = make(self, chosen, count, context);
        if (one == 0)
            return 0;
        result = result == 0 ? one : value_join(self->values, result, one);
        if (result == 0)
            return 0;
    }
    return result;
}
