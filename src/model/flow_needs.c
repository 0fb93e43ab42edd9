#include "model/flow_needs.h"

#include "model/flow_domain.h"
#include "model/flow_pattern.h"
#include "model/catalogue.h"

static void require_number(flow_call *self, enum flow_need need, enum interval_need wanted,
                           node_ref operand)
{
    interval x = call_facts(self, operand)->domain;

    if (operand == 0)
        return;
    flow_require(self, need, interval_check(x, wanted), operand, 0, (cg_str){NULL, 0});
    self->needs[self->need_count - 1].is_assumed = x.is_assumed;
}

/* 0 times the logarithm of 0 is no number. */
static void require_finite(flow_call *self, node_ref log, node_ref other)
{
    const flow_node *node;
    interval x = call_facts(self, other)->domain;
    interval inside;

    log = pattern_same_numbers(self, log);
    node = pattern_made_by(self, log, "log");
    if (node == NULL || other == 0 || !x.is_known || x.lo > 0 || x.hi < 0 ||
        (x.lo == 0 && x.lo_open) || !x.is_whole || x.is_rounded)
        return;
    inside = call_facts(self, pattern_operand(self, node, 0))->domain;
    if (interval_check(inside, INTERVAL_POSITIVE) != CHECK_HOLDS)
        flow_require(self, FLOW_NEED_FINITE, CHECK_FAILS, other, log, (cg_str){NULL, 0});
}

static void require_numbers(flow_call *self)
{
    uint16_t needs = call_row(self)->needs;
    interval divisor;

    if ((needs & NEED_POSITIVE) != 0)
        require_number(self, FLOW_NEED_POSITIVE, INTERVAL_POSITIVE, self->tensors[0]);
    if ((needs & NEED_BASE) != 0)
        require_number(self, FLOW_NEED_POSITIVE, INTERVAL_POSITIVE, self->tensors[0]);
    if ((needs & NEED_NONNEGATIVE) != 0)
        require_number(self, FLOW_NEED_NONNEGATIVE, INTERVAL_NONNEGATIVE, self->tensors[0]);
    if ((needs & NEED_NONZERO) != 0)
        require_number(self, FLOW_NEED_NONZERO, INTERVAL_NONZERO, self->tensors[0]);
    if ((needs & NEED_DIVISOR) != 0) {
        if (self->node_at[1] != 0)
            require_number(self, FLOW_NEED_NONZERO, INTERVAL_NONZERO, self->node_at[1]);
        else if (self->count > 1 && flow_scalar(self->eval, self->args[1], &divisor) &&
                 divisor.lo == 0 && divisor.hi == 0)
            flow_require(self, FLOW_NEED_NONZERO, CHECK_FAILS, 0, 0, CG_LIT("the number 0"));
    }
    if (call_row(self)->domain == DOMAIN_MUL && self->node_at[1] != 0) {
        require_finite(self, self->node_at[0], self->node_at[1]);
        require_finite(self, self->node_at[1], self->node_at[0]);
    }
}

static bool is_one(const flow_call *self, expr size)
{
    int64_t it;

    return size != EXPR_NONE && expr_constant(self->eval->exprs, size, &it) && it == 1;
}

static void require_layout(flow_call *self)
{
    uint16_t needs = call_row(self)->needs;

    for (size_t i = 0; i < self->edge_count; i++) {
        const flow_facts *x = call_facts(self, self->edges[i].from);
        bool fails = (needs & NEED_CONTIGUOUS) != 0;

        if (x->layout != FLOW_STRIDED)
            continue;
        /* BLAS takes any two last axes; the axes before must lie one behind the other. */
        if ((needs & NEED_MATRIX) != 0)
            fails |= x->has_rank && x->rank >= 4 && x->stride == STRIDE_BATCH &&
                     !is_one(self, x->axes[0]) && !is_one(self, x->axes[1]) &&
                     !is_one(self, x->axes[2]);
        if (fails)
            flow_require(self, FLOW_NEED_LAYOUT, CHECK_FAILS, self->edges[i].from, x->strided_by,
                         (cg_str){NULL, 0});
    }
}

static void require_index(flow_call *self)
{
    for (size_t i = 0; i < FLOW_LETTERS && call_row(self)->operands[i] != '\0'; i++) {
        enum flow_element element;

        if (call_row(self)->operands[i] != 'x' || self->node_at[i] == 0)
            continue;
        element = flow_dtype(self->flow, self->node_at[i], NULL);
        if (flow_is_float(element))
            flow_require(self, FLOW_NEED_INTEGER, CHECK_FAILS, self->node_at[i], 0,
                         (cg_str){NULL, 0});
    }
}

static void require_kernel(flow_call *self)
{
    uint16_t needs = call_row(self)->needs;
    enum flow_element element = flow_class_element(self->flow, self->facts.dtype, NULL);
    uint32_t version = self->eval->catalogue == NULL ? 0 : self->eval->catalogue->candle_core;

    if (self->facts.device != FLOW_CPU)
        return;
    if ((needs & NEED_GPU) != 0)
        flow_require(self, FLOW_NEED_KERNEL, CHECK_FAILS, self->tensors[0], 0,
                     CG_LIT("no kernel on the CPU"));
    if ((needs & NEED_NO_CPU_HALF) != 0 && element == ELEMENT_BF16 &&
        version < OPERATION_HALF_SINCE)
        flow_require(self, FLOW_NEED_KERNEL, CHECK_FAILS, self->tensors[0], 0,
                     CG_LIT("no matmul of BF16 on the CPU"));
}

void flow_check_needs(flow_call *self)
{
    uint16_t needs = call_row(self)->needs;

    require_numbers(self);
    if ((needs & (NEED_CONTIGUOUS | NEED_MATRIX)) != 0)
        require_layout(self);
    if ((needs & NEED_INDEX) != 0)
        require_index(self);
    require_kernel(self);
}
