#include "model/flow_memory.h"

#include "model/value_kinds.h"

void flow_device(flow_call *self, val device)
{
    const value *at = value_at(self->eval->values, device);
    flow_facts *facts = &self->facts;
    cg_str text;

    if (at->kind == VALUE_DEVICE && at->is_known) {
        facts->device = str_equal(at->text, CG_LIT("cpu"))     ? FLOW_CPU
                        : str_equal(at->text, CG_LIT("cuda"))  ? FLOW_CUDA
                        : str_equal(at->text, CG_LIT("metal")) ? FLOW_METAL
                                                               : FLOW_ANY_DEVICE;
        return;
    }
    if (at->kind == VALUE_DEVICE && at->as.number != 0 && at->as.number < self->flow->nodes.count) {
        facts->device = self->flow->nodes.at[at->as.number].facts.device;
        facts->device_name = self->flow->nodes.at[at->as.number].facts.device_name;
        return;
    }
    if (!value_print(self->eval->values, device, &text) || text.len == 0)
        return;
    facts->device = FLOW_SAME_DEVICE;
    facts->device_name = intern_add(&self->eval->program->names, text);
}

void flow_place_device(flow_call *self)
{
    const char *letters = call_row(self)->operands;

    for (size_t i = 0; letters[i] != '\0' && i < self->count; i++) {
        if (letters[i] == 'v') {
            flow_device(self, self->args[i]);
            return;
        }
    }
    for (size_t i = 0; i < self->edge_count; i++) {
        const flow_facts *operand = call_facts(self, self->edges[i].from);
        bool is_known = operand->device >= FLOW_CPU && operand->device <= FLOW_METAL;

        if (self->edges[i].role == FLOW_HOST || operand->device == FLOW_ANY_DEVICE)
            continue;
        if (self->facts.device == FLOW_ANY_DEVICE) {
            self->facts.device = operand->device;
            self->facts.device_name = operand->device_name;
        } else if (is_known && self->facts.device != FLOW_SAME_DEVICE &&
                   self->facts.device != operand->device) {
            flow_require(self, FLOW_NEED_DEVICE, CHECK_FAILS, self->edges[0].from,
                         self->edges[i].from, (cg_str){NULL, 0});
        } else if (is_known) {
            self->facts.device = operand->device;
            self->facts.device_name = 0;
        }
    }
}

/* Is the axis of the argument surely not the first one, whatever the rank is? */
static bool cuts_inner_axis(flow_call *self)
{
    const char *axis = strchr(call_row(self)->operands, 'd');
    size_t which = axis == NULL ? 0 : (size_t)(axis - call_row(self)->operands);
    int64_t at = 0;

    return which > 0 && which < self->count &&
           expr_constant(self->eval->exprs, value_number(self->eval->values, self->args[which]),
                         &at) &&
           at > 0;
}

void flow_place_layout(flow_call *self)
{
    const operation_row *row = call_row(self);
    const flow_facts *x = call_facts(self, self->tensors[0]);
    flow_facts *it = &self->facts;
    bool is_first = self->tensors[0] != 0;
    bool all = true;

    if (self->is_unsure_view)
        return;
    if (self->is_same_view) {
        it->layout = x->layout;
        it->stride = x->stride;
        it->strided_by = x->strided_by;
        return;
    }
    switch ((enum operation_layout)row->layout) {
    case LAYOUT_UNKNOWN: break;
    case LAYOUT_FRESH: it->layout = FLOW_CONTIGUOUS; break;
    case LAYOUT_SAME:
        if (is_first && it->layout == FLOW_ANY_LAYOUT) {
            it->layout = x->layout;
            it->stride = x->stride;
            it->strided_by = x->strided_by;
        }
        break;
    case LAYOUT_STRIDED:
    case LAYOUT_NARROW:
        /* The rule of the sizes may have seen that nothing moves. */
        if (it->layout != FLOW_ANY_LAYOUT)
            break;
        it->layout = row->layout == LAYOUT_STRIDED || x->has_rank || cuts_inner_axis(self)
                         ? FLOW_STRIDED
                         : FLOW_ANY_LAYOUT;
        if (row->layout == LAYOUT_NARROW && x->stride != STRIDE_NONE)
            it->stride = x->stride == STRIDE_ROWS ? STRIDE_OTHER : x->stride;
        else if (it->stride == STRIDE_NONE)
            it->stride = STRIDE_OTHER;
        if (x->layout == FLOW_STRIDED && row->layout == LAYOUT_STRIDED)
            it->layout = FLOW_ANY_LAYOUT; /* swapped back, perhaps */
        break;
    case LAYOUT_CAST:
        for (size_t i = 0; i < self->edge_count; i++)
            all &= self->edges[i].role == FLOW_MODULE ||
                   call_facts(self, self->edges[i].from)->layout == FLOW_CONTIGUOUS;
        if (row->dtype == DTYPE_ARGUMENT && is_first &&
            flow_class_equal(self->flow, x->dtype, it->dtype)) {
            it->layout = x->layout;
            it->stride = x->stride;
            it->strided_by = x->strided_by;
        } else if (all && is_first) {
            it->layout = FLOW_CONTIGUOUS;
        } else if (row->dtype == DTYPE_ARGUMENT && is_first) {
            enum flow_element from = flow_class_element(self->flow, x->dtype, NULL);
            enum flow_element to = flow_class_element(self->flow, it->dtype, NULL);

            it->layout = from != ELEMENT_UNKNOWN && to != ELEMENT_UNKNOWN ? FLOW_CONTIGUOUS
                                                                          : FLOW_ANY_LAYOUT;
        }
        break;
    }
    if (it->layout != FLOW_STRIDED)
        it->stride = STRIDE_NONE;
}
