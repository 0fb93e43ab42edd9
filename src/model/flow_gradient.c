#include "model/flow_gradient.h"

#include "model/flow_domain.h"
#include "model/value_kinds.h"

static bool same_window(flow_call *self)
{
    const value *a;
    const value *b;

    if (self->count < 3)
        return true;
    a = value_at(self->eval->values, self->args[1]);
    b = value_at(self->eval->values, self->args[2]);
    if (value_equal(self->eval->values, self->args[1], self->args[2]))
        return true;
    /* `2` is `(2, 2)`. */
    return (a->kind == VALUE_TUPLE) != (b->kind == VALUE_TUPLE);
}

/*
 * 1: its layer has a kernel without a backward step for contiguous operands, 0: never, -1: perhaps.
 */
static int has_fused_kernel(flow_call *self)
{
    val bias;
    val mean;
    int truth;

    if (!str_starts_with(operation_name(self->row), CG_LIT("LayerNorm")))
        return 1;
    bias = flow_field(self, "bias");
    mean = flow_field(self, "remove_mean");
    truth = mean == 0 ? -1 : value_truth(self->eval->values, mean);
    if (truth == 0 || (bias != 0 && value_kind_of(self->eval->values, bias) == VALUE_NOTHING))
        return 0;
    return truth == 1 && bias != 0 && value_kind_of(self->eval->values, bias) == VALUE_SOME ? 1
                                                                                            : -1;
}

/* An operation somebody wrote: without a `bwd` of its own the backward pass stops with an error. */
static enum flow_pass custom_passes(flow_call *self)
{
    eval *owner = self->eval;
    val given = self->count > 1 ? self->args[self->count - 1] : 0;
    type_ref type = given == 0 ? 0 : value_type(owner->values, given);
    method_found found = {0};
    sym name = intern_add(&owner->program->names, CG_LIT("bwd"));

    type = type == 0 ? 0 : value_transparent(owner->values, type);
    if (!str_starts_with(operation_name(self->row), CG_LIT("apply_op")) ||
        type_at(owner->types, type)->kind != TYPE_ITEM)
        return FLOW_UNSURE;
    if (name == 0 || type_find_method(owner->types, type, name, &found, owner->reterr) != CG_OK) {
        self->flow->failed = true;
        return FLOW_UNSURE;
    }
    return found.function != 0 && found.impl != 0 ? FLOW_PASSES : FLOW_FAILS;
}

static enum flow_pass passes_of(flow_call *self)
{
    const operation_row *row = call_row(self);
    enum flow_element element = flow_class_element(self->flow, self->facts.dtype, NULL);
    const flow_facts *x = call_facts(self, self->tensors[0]);
    int fused;

    if (element != ELEMENT_UNKNOWN && !flow_is_float(element))
        return FLOW_SEVERED;
    switch ((enum operation_gradient)row->gradient) {
    case GRADIENT_UNKNOWN: return custom_passes(self);
    case GRADIENT_PASSES:
    case GRADIENT_SOURCE: return FLOW_PASSES;
    case GRADIENT_SEVERS: return FLOW_SEVERED;
    case GRADIENT_FAILS:
        return row->shape == SHAPE_POOL2D && same_window(self) ? FLOW_PASSES : FLOW_FAILS;
    case GRADIENT_DEPENDS:
        fused = has_fused_kernel(self);
        if (fused == 0 || (x->layout == FLOW_STRIDED && x->stride != STRIDE_ROWS))
            return FLOW_PASSES;
        return fused == 1 && x->layout == FLOW_CONTIGUOUS ? FLOW_SEVERED : FLOW_DEPENDS;
    }
    return FLOW_UNSURE;
}

void flow_pass_gradient(flow_call *self)
{
    enum flow_pass passes = passes_of(self);
    interval factor;
    bool has_yes = false;
    bool has_perhaps = false;

    /* Nothing flows back through `* 0`. */
    if ((call_row(self)->domain == DOMAIN_MUL || call_row(self)->domain == DOMAIN_AFFINE) &&
        self->count > 1 && flow_scalar(self->eval, self->args[1], &factor) && factor.lo == 0 &&
        factor.hi == 0)
        passes = FLOW_SEVERED;
    for (size_t i = 0; i < self->edge_count; i++) {
        flow_edge *edge = &self->edges[i];
        uint8_t carries = call_facts(self, edge->from)->carries;

        if (edge->passes == FLOW_PASSES)
            edge->passes = (uint8_t)passes;
        if (edge->passes == FLOW_SEVERED)
            continue;
        has_yes |=
            carries == FLOW_YES && (edge->passes == FLOW_PASSES || edge->passes == FLOW_FAILS);
        has_perhaps |= carries != FLOW_NO;
    }
    self->facts.carries = has_yes ? FLOW_YES : has_perhaps ? FLOW_PERHAPS : FLOW_NO;
}
