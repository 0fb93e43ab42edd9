#include "support/library_calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "model/expr_print.h"

void workbench_begin(workbench *self)
{
    cg_err error = {0};

    memset(self, 0, sizeof *self);
    heap_init(&self->heap, NULL);
    self->program.heap = &self->heap;
    arena_init(&self->program.mem, &self->heap);
    assert_true(intern_init(&self->program.names, &self->heap, 1));
    assert_true(expr_pool_init(&self->exprs, &self->heap));
    assert_int_equal(types_new(&self->program, &self->types, &error), CG_OK);
    assert_int_equal(eval_new(&self->program, self->types, &self->exprs, &self->eval, &error),
                     CG_OK);
    self->catalogue.candle_nn = CATALOGUE_VERSION(0, 11, 0);
    self->eval->catalogue = &self->catalogue;
}

void workbench_end(workbench *self)
{
    eval_free(self->eval);
    types_free(self->types);
    expr_pool_free(&self->exprs);
    intern_free(&self->program.names);
    arena_free(&self->program.mem);
    assert_int_equal(self->heap.used_bytes, 0);
}

static values *store(workbench *self)
{
    return self->eval->values;
}

static sym name_of(workbench *self, const char *name)
{
    return intern_add(&self->program.names, str_from(name));
}

val number(workbench *self, int64_t known)
{
    return value_int(store(self), expr_const(&self->exprs, known));
}

val symbol(workbench *self, const char *name)
{
    return value_int(store(self), expr_symbol(&self->exprs, str_from(name)));
}

val text(workbench *self, const char *literal)
{
    return value_text(store(self), str_from(literal));
}

val real(workbench *self, double value_of_it)
{
    value it = {.kind = VALUE_FLOAT, .is_known = true, .as.real = value_of_it};

    return value_make(store(self), &it);
}

val truth(workbench *self, bool value_of_it)
{
    value it = {.kind = VALUE_BOOL, .is_known = true, .as.number = value_of_it};

    return value_make(store(self), &it);
}

val maybe(workbench *self, const char *condition)
{
    value it = {.kind = VALUE_BOOL, .text = str_from(condition)};

    return value_make(store(self), &it);
}

val some(workbench *self, val inner)
{
    return value_list(store(self), VALUE_SOME, &inner, 1);
}

val none(workbench *self)
{
    value it = {.kind = VALUE_NOTHING, .is_known = true};

    return value_make(store(self), &it);
}

val either(workbench *self, val a, val b)
{
    return value_join(store(self), a, b);
}

val function(workbench *self, const char *path)
{
    value it = {.kind = VALUE_FUNCTION, .is_known = true, .text = str_from(path)};

    return value_make(store(self), &it);
}

type_ref external(workbench *self, const char *path)
{
    model_type shape = {.kind = TYPE_EXTERNAL, .name = name_of(self, path)};
    type_ref made = 0;

    assert_int_equal(type_make(self->types, &shape, &made, NULL), CG_OK);
    return made;
}

val builder(workbench *self)
{
    trail_root root = {.name = CG_LIT("vb"), .source = BUILDER_PARAMETER};
    builder_value empty = {.root = trail_add_root(self->eval->trail, &root)};
    value it = {.kind = VALUE_BUILDER, .is_known = true, .as.builder = &empty};

    it.type = external(self, "candle_nn::VarBuilder");
    return value_make(store(self), &it);
}

static size_t gather(va_list arguments, val *ret)
{
    size_t count = 0;

    for (val next = va_arg(arguments, val); next != 0; next = va_arg(arguments, val)) {
        assert_true(count < 8);
        ret[count++] = next;
    }
    return count;
}

val list_of(workbench *self, ...)
{
    val items[8];
    va_list arguments;
    size_t count;

    va_start(arguments, self);
    count = gather(arguments, items);
    va_end(arguments);
    return value_list(store(self), VALUE_LIST, items, count);
}

val tuple_of(workbench *self, ...)
{
    val items[8];
    va_list arguments;
    size_t count;

    va_start(arguments, self);
    count = gather(arguments, items);
    va_end(arguments);
    return value_list(store(self), VALUE_TUPLE, items, count);
}

val range(workbench *self, val low, val high)
{
    val ends[2] = {low, high};

    return value_list(store(self), VALUE_RANGE, ends, 2);
}

val on(workbench *self, val receiver, const char *method, ...)
{
    val items[8];
    va_list arguments;
    size_t count;
    bool is_known = false;
    val result = 0;
    model_place place = {.end = self->eval->trail->steps + 1};

    va_start(arguments, method);
    count = gather(arguments, items);
    va_end(arguments);
    assert_true(receiver != 0);
    assert_int_equal(candle_method(self->eval, receiver, name_of(self, method), items, count, place,
                                   &is_known, &result),
                     CG_OK);
    if (!is_known)
        assert_int_equal(std_method(self->eval, receiver, name_of(self, method), items, count,
                                    place, &is_known, &result),
                         CG_OK);
    return is_known ? result : 0;
}

val called(workbench *self, const char *path, ...)
{
    val items[8];
    va_list arguments;
    size_t count;
    bool is_known = false;
    val result = 0;
    model_place place = {0};

    va_start(arguments, path);
    count = gather(arguments, items);
    va_end(arguments);
    assert_int_equal(
        candle_call(self->eval, name_of(self, path), items, count, place, &is_known, &result),
        CG_OK);
    if (!is_known)
        assert_int_equal(
            std_call(self->eval, name_of(self, path), items, count, place, &is_known, &result),
            CG_OK);
    return is_known ? result : 0;
}

val macro(workbench *self, const char *name, ...)
{
    val items[8];
    va_list arguments;
    size_t count;
    bool is_known = false;
    val result = 0;

    va_start(arguments, name);
    count = gather(arguments, items);
    va_end(arguments);
    assert_int_equal(std_macro(self->eval, 0, name_of(self, name), items, count, (model_place){0},
                               &is_known, &result),
                     CG_OK);
    return is_known ? result : 0;
}

val constant(workbench *self, const char *path)
{
    bool is_known = false;
    val result = 0;

    assert_int_equal(candle_constant(self->eval, name_of(self, path), &is_known, &result), CG_OK);
    if (!is_known)
        assert_int_equal(std_constant(self->eval, name_of(self, path), &is_known, &result), CG_OK);
    return is_known ? result : 0;
}

/* A place for texts to be compared, so that tests can do without freeing them. */
static const char *shown(workbench *self, const buf *from)
{
    char *room = arena_bytes(&self->program.mem, from->len + 1);

    assert_non_null(room);
    memcpy(room, buf_text(from).ptr, from->len);
    room[from->len] = '\0';
    return room;
}

const char *printed(workbench *self, val which)
{
    cg_str whole = CG_LIT("none");
    const char *result;
    buf out;

    if (which != 0)
        assert_true(value_print(store(self), which, &whole));
    buf_init(&out, &self->heap, 1u << 20);
    buf_add(&out, whole);
    result = shown(self, &out);
    buf_free(&out);
    return result;
}

static void add_parameter(workbench *self, const trail_parameter *at, buf *out)
{
    for (size_t i = 0; i < at->key.count; i++) {
        buf_addf(out, at->key.at[i].is_hole ? "{%.*s}" : "%.*s", (int)at->key.at[i].text.len,
                 at->key.at[i].text.ptr);
    }
    if (at->has_shape) {
        buf_add(out, CG_LIT(" ["));
        for (uint32_t i = 0; i < at->rank; i++) {
            if (i > 0)
                buf_add(out, CG_LIT(", "));
            expr_print(&self->exprs, at->shape[i], out);
        }
        buf_byte(out, ']');
    }
    if (at->alternative.len > 0)
        buf_addf(out, " or %.*s", (int)at->alternative.len, at->alternative.ptr);
    if (at->is_running_state)
        buf_add(out, CG_LIT(" running"));
    if (at->condition != 0) {
        buf_byte(out, ' ');
        buf_add(out, self->eval->trail->conditions.at[at->condition]);
    }
    buf_byte(out, '\n');
}

const char *registered(workbench *self)
{
    const char *result;
    trail *trail_of_it = self->eval->trail;
    buf out;

    buf_init(&out, &self->heap, 1u << 20);
    for (size_t i = 1; i < trail_of_it->parameters.count; i++)
        add_parameter(self, &trail_of_it->parameters.at[i], &out);
    trail_of_it->parameters.count = 1;
    result = shown(self, &out);
    buf_free(&out);
    return result;
}
