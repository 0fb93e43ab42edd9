#include "model/candle_shape.h"

#include "base/num.h"
#include "base/str_name.h"
#include "model/expr_values.h"
#include "model/value_kinds.h"

expr candle_size(eval *self, val size)
{
    const value *at = value_at(self->values, size);
    expr number = value_number(self->values, size);
    cg_str text;

    if (number != EXPR_NONE || at->kind == VALUE_NEVER || at->kind == VALUE_ERROR)
        return number;
    if (at->kind == VALUE_CHOICE && at->text.len == 0)
        return EXPR_NONE;
    if (!value_print(self->values, size, &text) || text.len == 0 ||
        str_find(text, CG_LIT("?")) != SIZE_MAX)
        return EXPR_NONE;
    return expr_call(self->exprs, text);
}

static bool add_axis(expr *axes, uint32_t *rank, expr axis)
{
    if (*rank == CANDLE_AXES)
        return false;
    axes[(*rank)++] = axis;
    return true;
}

/* Lists and tuples; a repetition of known count is that many axes. */
static bool add_items(eval *self, const value *at, expr *axes, uint32_t *rank, uint32_t *hole)
{
    for (size_t i = 0; i < at->count; i++) {
        const value *item = value_at(self->values, at->as.items[i]);
        int64_t count = 0;

        if (item->kind == VALUE_UNIT) {
            *hole = *rank;
            if (!add_axis(axes, rank, EXPR_NONE))
                return false;
            continue;
        }

        if (item->kind != VALUE_REPEAT) {
            if (!add_axis(axes, rank, candle_size(self, at->as.items[i])))
                return false;
            continue;
        }
        if (!expr_constant(self->exprs, item->as.repeat.count, &count) || count > CANDLE_AXES)
            return false;
        for (int64_t k = 0; k < count; k++) {
            expr_binding index = {0, 0};
            expr axis = candle_size(self, item->as.repeat.items[0]);

            if (item->as.repeat.symbol != 0) {
                index.symbol =
                    expr_symbol(self->exprs, program_text(self->program, item->as.repeat.symbol));
                index.value = expr_const(self->exprs, k);
                axis = expr_substitute(self->exprs, axis, &index, 1);
            }
            if (!add_axis(axes, rank, axis))
                return false;
        }
    }
    return true;
}

/* What a value of unknown contents says by its type: a size, or a tuple of sizes. */
static bool shape_of_type(eval *self, val shape, expr *axes, uint32_t *rank)
{
    const value *at = value_at(self->values, shape);
    type_ref type = at->type == 0 ? 0 : value_transparent(self->values, at->type);
    const model_type *is;

    if (type == 0 || self->types == NULL)
        return false;
    if (value_class(self->values, type) == CLASS_INT)
        return add_axis(axes, rank, candle_size(self, shape));
    is = type_at(self->types, type);
    if (is->kind != TYPE_TUPLE)
        return false;
    for (unsigned i = 0; i < is->arg_count; i++) {
        cg_str text;
        expr axis = EXPR_NONE;

        if (value_print(self->values, shape, &text) &&
            arena_format(&self->values->mem, &text, "%.*s.%u", STR_NAME(text), i))
            axis = expr_symbol(self->exprs, text);
        if (!add_axis(axes, rank, axis))
            return false;
    }
    return true;
}

/* One alternative. */
static bool plain_shape(eval *self, val shape, expr *axes, uint32_t *rank, uint32_t *hole)
{
    const value *at = value_at(self->values, shape);
    node_ref node = candle_shape_node(self, shape);

    *rank = 0;
    if (node != 0 && flow_at(self->flow, node)->facts.has_rank) {
        const flow_facts *facts = &flow_at(self->flow, node)->facts;

        for (unsigned i = 0; i < facts->rank; i++)
            axes[i] = facts->axes[i];
        *rank = facts->rank;
        return true;
    }
    if (at->kind == VALUE_UNIT)
        return true;
    if (at->kind == VALUE_INT)
        return add_axis(axes, rank, candle_size(self, shape));
    if (at->kind == VALUE_TUPLE || at->kind == VALUE_LIST)
        return add_items(self, at, axes, rank, hole);
    return at->kind == VALUE_UNKNOWN && shape_of_type(self, shape, axes, rank);
}

bool candle_shape(eval *self, val shape, expr *axes, uint32_t *ret_rank, bool *ret_known)
{
    uint32_t hole;

    return candle_shape_with_hole(self, shape, axes, ret_rank, ret_known, &hole);
}

bool candle_shape_with_hole(eval *self, val shape, expr *axes, uint32_t *ret_rank, bool *ret_known,
                            uint32_t *ret_hole)
{
    const value *at = value_at(self->values, shape);
    expr other[CANDLE_AXES];
    uint32_t rank = 0;

    *ret_rank = 0;
    *ret_hole = UINT32_MAX;
    if (at->kind != VALUE_CHOICE) {
        *ret_known = plain_shape(self, shape, axes, ret_rank, ret_hole);
        return !self->exprs->failed;
    }
    *ret_known = false;
    for (size_t i = 0; i < at->count; i++) {
        if (!plain_shape(self, at->as.items[i], i == 0 ? axes : other, &rank, ret_hole))
            return !self->exprs->failed;
        if (i > 0 && rank != *ret_rank)
            return !self->exprs->failed;
        *ret_rank = rank;
        for (uint32_t k = 0; k < rank && i > 0; k++) {
            if (other[k] != axes[k])
                axes[k] = EXPR_NONE;
        }
    }
    *ret_known = at->count > 0;
    return !self->exprs->failed;
}

bool candle_axis(eval *self, val axis, int64_t *ret)
{
    const value *at = value_at(self->values, axis);
    cg_str variant;

    if (at->kind == VALUE_INT)
        return expr_constant(self->exprs, (expr)at->as.number, ret);
    if (at->kind != VALUE_ENUM || at->variant == 0)
        return false;
    variant = program_text(self->program, at->variant);
    if (str_equal(variant, CG_LIT("Minus1")) || str_equal(variant, CG_LIT("Minus2"))) {
        *ret = variant.ptr[5] == '1' ? -1 : -2;
        return true;
    }
    if (!str_equal(variant, CG_LIT("Minus")) || at->count != 1 ||
        !expr_constant(self->exprs, value_number(self->values, at->as.fields[0].value), ret))
        return false;
    *ret = -*ret;
    return true;
}

node_ref candle_shape_node(eval *self, val shape)
{
    const value *at = value_at(self->values, shape);

    /* Made by tensor_method only: the number of an unknown value is a node when it says so. */
    if (self->flow == NULL || at->kind != VALUE_UNKNOWN || !at->is_inclusive)
        return 0;
    return at->as.number < self->flow->nodes.count ? (node_ref)at->as.number : 0;
}
