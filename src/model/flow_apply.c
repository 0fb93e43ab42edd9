#include "model/flow_apply.h"

#include "model/flow_domain.h"
#include "model/flow_dtypes.h"
#include "model/flow_gradient.h"
#include "model/flow_memory.h"
#include "model/flow_needs.h"
#include "model/flow_operands.h"
#include "model/flow_shape.h"

static node_ref flow_step(flow_call *outer, cg_str path, node_ref a, node_ref b, double m, double c)
{
    flow_call *call = flow_call_begin(outer->eval, path, outer->place);
    value tensor = {.kind = VALUE_TENSOR};
    value real = {.kind = VALUE_FLOAT, .is_known = true};
    val args[3];
    node_ref made = 0;

    if (call == NULL) {
        outer->flow->failed = true;
        return 0;
    }
    tensor.as.number = a;
    args[0] = value_make(outer->eval->values, &tensor);
    tensor.as.number = b;
    real.as.real = m;
    args[1] = value_make(outer->eval->values, b != 0 ? &tensor : &real);
    real.as.real = c;
    args[2] = value_make(outer->eval->values, &real);
    call->args = args;
    call->count = b != 0 ? 2 : strlen(operation_at(call->row)->operands);
    if (args[0] == 0 || args[1] == 0 || args[2] == 0 || flow_apply(call, &made) != CG_OK)
        outer->flow->failed = true;
    flow_call_end(call);
    return made;
}

/* binary_cross_entropy_with_logit: -(t log s + (1 - t) log (1 - s)), s = sigmoid(x). */
static node_ref expand_logits_loss(flow_call *self)
{
    node_ref x = self->node_at[0];
    node_ref t = self->node_at[1];
    node_ref s = flow_step(self, CG_LIT("candle_nn::ops::sigmoid"), x, 0, 0, 0);
    node_ref target = flow_step(self, CG_LIT("candle_core::Tensor::clone"), t, 0, 0, 0);
    node_ref left;
    node_ref right;

    if (s == 0 || target == 0)
        return 0;
    /* Targets are between 0 and 1: the contract of the function. */
    self->flow->nodes.at[target].facts.domain = interval_between(0, 1);
    left = flow_step(self, CG_LIT("candle_core::Tensor::mul"), target,
                     flow_step(self, CG_LIT("candle_core::Tensor::log"), s, 0, 0, 0), 0, 0);
    right = flow_step(self, CG_LIT("candle_core::Tensor::affine"), s, 0, -1, 1);
    right = flow_step(self, CG_LIT("candle_core::Tensor::log"), right, 0, 0, 0);
    right = flow_step(self, CG_LIT("candle_core::Tensor::mul"),
                      flow_step(self, CG_LIT("candle_core::Tensor::affine"), target, 0, -1, 1),
                      right, 0, 0);
    left = flow_step(self, CG_LIT("candle_core::Tensor::add"), left, right, 0, 0);
    left = flow_step(self, CG_LIT("candle_core::Tensor::neg"), left, 0, 0, 0);
    return flow_step(self, CG_LIT("candle_core::Tensor::mean_all"), left, 0, 0, 0);
}

static node_ref expand(flow_call *self)
{
    if (!str_equal(operation_name(self->row), CG_LIT("binary_cross_entropy_with_logit")) ||
        self->node_at[0] == 0 || self->node_at[1] == 0)
        return 0;
    return expand_logits_loss(self);
}

static cg_code finish(flow_call *self, node_ref first_inside, node_ref *ret)
{
    flow *graph = self->flow;
    flow_node shape = {.row = self->row,
                       .kind = FLOW_OPERATION,
                       .name = self->name,
                       .part = self->part,
                       .place = self->place,
                       .rank_step = self->rank_step,
                       .has_rank_link = self->has_rank_link && self->edge_count > 0,
                       .is_same_shape = self->is_same_shape,
                       .facts = self->facts};
    node_ref made;

    if (self->count > 1 && self->node_at[1] == 0 && self->row != 0 &&
        call_row(self)->domain == DOMAIN_UNIT && call_row(self)->dtype == DTYPE_U8)
        shape.compared = self->args[1];
    if (self->row == 0)
        shape.kind = FLOW_UNKNOWN;
    else if (call_row(self)->gradient == GRADIENT_SOURCE)
        shape.kind = FLOW_CONSTANT;
    if (self->facts.layout == FLOW_STRIDED && self->facts.strided_by == 0)
        shape.facts.strided_by = (node_ref)graph->nodes.count;
    made = flow_add(graph, &shape, self->edges, self->edge_count);
    for (size_t i = 0; i < self->need_count; i++) {
        flow_requirement *row = vec_add(graph->heap, &graph->requirements);

        if (row == NULL) {
            graph->failed = true;
            break;
        }
        *row = self->needs[i];
        row->node = made;
    }
    for (node_ref i = first_inside; i < made && first_inside != 0; i++)
        graph->nodes.at[i].body = made;
    *ret = made;
    return graph->failed || self->eval->exprs->failed ? err_nomem(self->eval->reterr) : CG_OK;
}

cg_code flow_apply(flow_call *self, node_ref *ret)
{
    node_ref inside;
    node_ref last;

    *ret = 0;
    if (self->row == 0)
        return CG_OK;
    flow_gather(self);
    if (!flow_shape_apply(self))
        return err_nomem(self->eval->reterr);
    self->facts.dtype = flow_result_dtype(self);
    flow_place_device(self);
    flow_place_layout(self);
    flow_pass_gradient(self);
    self->facts.domain = flow_result_domain(self);
    flow_check_needs(self);
    inside = (node_ref)self->flow->nodes.count;
    last = expand(self);
    if (last != 0) {
        self->facts.domain = call_facts(self, last)->domain;
        flow_add_operand(self, last, FLOW_BODY, 0, FLOW_SEVERED, 0);
    }
    return finish(self, last != 0 ? inside : 0, ret);
}

cg_code flow_apply_unknown(flow_call *self, const node_ref *inside, size_t inside_count,
                           node_ref *ret)
{
    bool has_yes = false;
    uint32_t *row;

    self->row = 0;
    for (size_t i = 0; i < self->count; i++) {
        node_ref node = self->args[i] == 0 ? 0 : flow_of(self->flow, self->args[i]);

        flow_add_operand(self, node, i == 0 ? FLOW_SELF : FLOW_ARGUMENT, i == 0 ? 0 : i - 1,
                         FLOW_UNSURE, 0);
        has_yes |= node != 0 && call_facts(self, node)->carries != FLOW_NO;
    }
    for (size_t i = 0; i < inside_count; i++) {
        flow_add_operand(self, inside[i], FLOW_MODULE, 0, FLOW_UNSURE, 0);
        has_yes |= call_facts(self, inside[i])->carries != FLOW_NO;
    }
    self->facts.carries = has_yes ? FLOW_PERHAPS : FLOW_NO;
    self->facts.dtype = flow_class_new(self->flow, ELEMENT_UNKNOWN, 0);
    if (str_starts_with(self->path, CG_LIT("candle_"))) {
        row = vec_add(self->flow->heap, &self->flow->uncovered);
        if (row == NULL)
            return err_nomem(self->eval->reterr);
        *row = self->name;
    }
    return finish(self, 0, ret);
}
