#include "model/value.h"

static const enum value_kind PLAIN[] = {VALUE_UNIT, VALUE_NOTHING, VALUE_NEVER, VALUE_ERROR};

bool values_init(values *self, heap *from, expr_pool *exprs, types *over)
{
    value none = {0};

    *self = (values){.heap = from, .exprs = exprs, .types = over};
    arena_init(&self->mem, from);
    if (value_make(self, &none) != 0 || self->count != 1) {
        values_free(self);
        return false;
    }
    for (size_t i = 0; i < sizeof PLAIN / sizeof *PLAIN; i++) {
        value shape = {.kind = (uint8_t)PLAIN[i], .is_known = true};

        self->plain[PLAIN[i]] = value_make(self, &shape);
    }
    for (unsigned i = 0; i < 2; i++) {
        value shape = {.kind = VALUE_BOOL, .is_known = true, .as.number = i};

        self->truth[i] = value_make(self, &shape);
    }
    if (!self->truth[1]) {
        values_free(self);
        return false;
    }
    return true;
}

void values_free(values *self)
{
    for (size_t i = 0; i < self->pages.count; i++)
        heap_resize(self->heap, self->pages.at[i], VALUES_PAGE * sizeof(value), 0);
    vec_free(self->heap, &self->pages);
    vec_free(self->heap, &self->classes);
    arena_free(&self->mem);
    *self = (values){0};
}

/* --- making --- */

static bool copy_text(values *self, cg_str *text)
{
    char *to;

    if (text->len == 0) {
        *text = text->ptr ? CG_LIT("") : (cg_str){NULL, 0};
        return true;
    }
    to = arena_bytes(&self->mem, text->len);
    if (!to)
        return false;
    memcpy(to, text->ptr, text->len);
    text->ptr = to;
    return true;
}

static bool copy_items(values *self, value *shape)
{
    val *to;

    if (!shape->count) {
        shape->as.items = NULL;
        return true;
    }
    self->work += shape->count;
    to = arena_take(&self->mem, shape->count * sizeof *to);
    if (!to)
        return false;
    memcpy(to, shape->as.items, shape->count * sizeof *to);
    for (size_t i = 0; i < shape->count; i++) {
        shape->has_builder |= value_at(self, to[i])->has_builder;
        shape->has_reference |= value_at(self, to[i])->has_reference;
    }
    shape->as.items = to;
    return true;
}

static bool copy_fields(values *self, value *shape)
{
    value_field *to;

    if (!shape->count) {
        shape->as.fields = NULL;
        return true;
    }
    self->work += shape->count;
    to = arena_take(&self->mem, shape->count * sizeof *to);
    if (!to)
        return false;
    memcpy(to, shape->as.fields, shape->count * sizeof *to);
    for (size_t i = 0; i < shape->count; i++) {
        shape->has_builder |= value_at(self, to[i].value)->has_builder;
        shape->has_reference |= value_at(self, to[i].value)->has_reference;
    }
    shape->as.fields = to;
    return true;
}

static bool copy_pieces(values *self, value *shape)
{
    text_pieces from = shape->as.pieces;
    text_piece *to;
    size_t length = 0;

    if (!from.count) {
        shape->as.pieces = (text_pieces){NULL, 0};
        return true;
    }
    to = arena_take(&self->mem, from.count * sizeof *to);
    if (!to)
        return false;
    memcpy(to, from.at, from.count * sizeof *to);
    for (size_t i = 0; i < from.count; i++) {
        length += from.at[i].text.len + 1;
        if (length > VALUE_TEXT_MOST) {
            /* Nobody reads on: what follows is a hole. */
            to[i] = (text_piece){.text = CG_LIT("text"), .is_hole = true};
            from.count = i + 1;
            shape->is_known = false;
            break;
        }
        if (!copy_text(self, &to[i].text))
            return false;
    }
    self->work += from.count + length / 32;
    shape->as.pieces = (text_pieces){to, from.count};
    return true;
}

static bool copy_contents(values *self, value *shape)
{
    void *to;

    switch ((enum value_kind)shape->kind) {
    case VALUE_SOME: shape->count = 1; return copy_items(self, shape);
    case VALUE_RANGE: shape->count = 2; return copy_items(self, shape);
    case VALUE_TUPLE:
    case VALUE_LIST:
    case VALUE_MAP:
    case VALUE_LAZY:
    case VALUE_CHOICE: return copy_items(self, shape);
    case VALUE_REPEAT:
        to = arena_take(&self->mem, sizeof(val));
        if (!to)
            return false;
        memcpy(to, shape->as.repeat.items, sizeof(val));
        shape->as.repeat.items = to;
        shape->count = 1;
        shape->has_builder = value_at(self, shape->as.repeat.items[0])->has_builder;
        shape->has_reference = value_at(self, shape->as.repeat.items[0])->has_reference;
        return true;
    case VALUE_STRUCT:
    case VALUE_ENUM: return copy_fields(self, shape);
    case VALUE_TEXT: return copy_pieces(self, shape);
    case VALUE_BUILDER:
        to = arena_take(&self->mem, sizeof *shape->as.builder);
        if (!to)
            return false;
        memcpy(to, shape->as.builder, sizeof *shape->as.builder);
        shape->as.builder = to;
        shape->has_builder = true;
        return true;
    case VALUE_CLOSURE:
        to = arena_take(&self->mem, sizeof *shape->as.closure);
        if (!to)
            return false;
        memcpy(to, shape->as.closure, sizeof *shape->as.closure);
        shape->as.closure = to;
        return true;
    case VALUE_FUNCTION:
        shape->has_builder =
            shape->as.function.self && value_at(self, shape->as.function.self)->has_builder;
        return true;
    case VALUE_NONE:
    case VALUE_UNKNOWN:
    case VALUE_NEVER:
    case VALUE_ERROR:
    case VALUE_UNIT:
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_FLOAT:
    case VALUE_CHAR:
    case VALUE_TENSOR:
    case VALUE_NOTHING:
    case VALUE_TYPE:
    case VALUE_VARMAP:
    case VALUE_DTYPE:
    case VALUE_DEVICE: return true;
    case VALUE_REFERENCE: shape->has_reference = true; return true;
    }
    return true;
}

static val place_value_of(values *self, const value *made)
{
    uint32_t page = self->count / VALUES_PAGE;

    if (page >= self->pages.count) {
        value **room = vec_add(self->heap, &self->pages);

        if (!room)
            return 0;
        *room = heap_resize(self->heap, NULL, 0, VALUES_PAGE * sizeof(value));
        if (!*room) {
            self->pages.count--;
            return 0;
        }
    }
    self->pages.at[page][self->count % VALUES_PAGE] = *made;
    return self->count++;
}

val value_make(values *self, const value *shape)
{
    value made = *shape;
    enum value_kind kind = (enum value_kind)shape->kind;

    if (self->plain[kind] && !shape->type &&
        (kind == VALUE_UNIT || kind == VALUE_NOTHING || kind == VALUE_NEVER || kind == VALUE_ERROR))
        return self->plain[kind];
    if (kind == VALUE_BOOL && shape->is_known && self->truth[1])
        return self->truth[shape->as.number != 0];
    made.has_builder = false;
    made.has_reference = false;
    made.is_settled = false;
    if (!copy_text(self, &made.text) || !copy_contents(self, &made))
        return 0;
    return place_value_of(self, &made);
}

val value_unknown(values *self, type_ref type, cg_str text)
{
    value shape = {.kind = VALUE_UNKNOWN, .type = type, .text = text};

    return value_make(self, &shape);
}

val value_int(values *self, expr number)
{
    value shape = {.kind = VALUE_INT, .as.number = number};
    int64_t digits;

    shape.is_known = expr_constant(self->exprs, number, &digits);
    return value_make(self, &shape);
}

val value_text(values *self, cg_str literal)
{
    text_piece piece = {.text = literal};
    value shape = {.kind = VALUE_TEXT, .is_known = true};

    shape.as.pieces = (text_pieces){&piece, literal.len > 0};
    return value_make(self, &shape);
}

val value_list(values *self, enum value_kind kind, const val *items, size_t count)
{
    value shape = {.kind = (uint8_t)kind, .is_known = true};

    if (count > UINT16_MAX && kind != VALUE_TUPLE)
        return value_unknown(self, 0, (cg_str){NULL, 0});
    shape.count = count > UINT16_MAX ? UINT16_MAX : (uint16_t)count;
    shape.as.items = items;
    return value_make(self, &shape);
}

val value_append(values *self, val list, val item)
{
    value made = *value_at(self, list);
    list_tail *tail = &self->tail;

    if (made.count >= VALUE_ITEMS_MOST)
        return value_unknown(self, made.type, made.text);
    if (tail->items != made.as.items || tail->used != made.count || tail->used == tail->room ||
        !tail->items) {
        size_t room = 2u * made.count + 4u;
        val *items = arena_take(&self->mem, room * sizeof *items);

        if (!items)
            return 0;
        if (made.count)
            memcpy(items, made.as.items, made.count * sizeof *items);
        self->work += made.count;
        *tail = (list_tail){items, made.count, (uint32_t)room};
    }
    tail->items[tail->used++] = item;
    made.as.items = tail->items;
    made.count++;
    made.has_builder |= value_at(self, item)->has_builder;
    made.has_reference |= value_at(self, item)->has_reference;
    return place_value_of(self, &made);
}

val value_struct(values *self, type_ref type, const value_field *fields, size_t count)
{
    value shape = {.kind = VALUE_STRUCT, .is_known = true, .type = type};

    shape.count = count > UINT16_MAX ? UINT16_MAX : (uint16_t)count;
    shape.as.fields = fields;
    return value_make(self, &shape);
}

expr value_number(const values *self, val which)
{
    const value *at = value_at(self, which);

    return at->kind == VALUE_INT ? (expr)at->as.number : EXPR_NONE;
}
