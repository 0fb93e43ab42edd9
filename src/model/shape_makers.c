/* Sizes of tensors made of numbers. */
#include "model/shape_facts.h"
#include "model/shape_rules.h"
#include "model/shape_sizes.h"
#include "model/value_kinds.h"

bool shape_new(flow_call *call)
{
    val arg = call_argument(call, 0);
    flow_facts *it = &call->facts;

    it->has_rank = true;
    it->rank = 0;
    while (arg != 0 && it->rank < FLOW_AXES) {
        const value *at = value_at(call->eval->values, arg);
        expr count = size_const(call, 0);
        val next = 0;

        if (at->kind == VALUE_FLOAT || at->kind == VALUE_INT)
            return true;
        if (at->kind != VALUE_LIST) {
            type_ref type = value_type(call->eval->values, arg);
            enum type_class class =
                type == 0
                    ? CLASS_OTHER
                    : value_class(call->eval->values, value_transparent(call->eval->values, type));

            if (class != CLASS_FLOAT && class != CLASS_INT)
                it->has_rank = false;
            if (!it->has_rank)
                it->rank = 0;
            return true;
        }
        for (size_t i = 0; i < at->count; i++) {
            const value *item = value_at(call->eval->values, at->as.items[i]);

            next = item->kind == VALUE_REPEAT ? item->as.repeat.items[0] : at->as.items[i];
            count =
                size_plus(call, count,
                          item->kind == VALUE_REPEAT ? item->as.repeat.count : size_const(call, 1));
        }
        it->axes[it->rank++] = count;
        arg = next;
        if (arg == 0)
            it->has_rank = false;
    }
    return true;
}

bool shape_arange(flow_call *call)
{
    flow_facts *it = facts_ranked(call, 1);
    expr low = value_number(call->eval->values, call_argument(call, 0));
    expr high = value_number(call->eval->values, call_argument(call, 1));

    if (low == EXPR_NONE || high == EXPR_NONE)
        return true;
    it->axes[0] = size_minus(call, high, low);
    if (call_row(call)->operands[2] == 'h') {
        expr step = size_argument(call, 2);
        int64_t by;

        it->axes[0] =
            expr_constant(call->eval->exprs, step, &by) && by > 0
                ? size_over(call, size_plus(call, it->axes[0], size_const(call, by - 1)), step)
                : EXPR_NONE;
    }
    return true;
}

bool shape_square(flow_call *call)
{
    flow_facts *it = facts_ranked(call, 2);

    it->axes[0] = size_argument(call, 0);
    it->axes[1] = it->axes[0];
    return true;
}
