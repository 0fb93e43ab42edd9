#include "model/flow_pattern.h"

const flow_node *pattern_made_by(const flow_call *self, node_ref which, const char *name)
{
    const flow_node *node = flow_at(self->flow, which);

    return node->kind == FLOW_OPERATION && str_equal(operation_name(node->row), str_from(name))
               ? node
               : NULL;
}

node_ref pattern_operand(const flow_call *self, const flow_node *node, size_t which)
{
    return which < node->edge_count ? self->flow->edges.at[node->first_edge + which].from : 0;
}

/* Through what leaves the numbers as they are. */
node_ref pattern_same_numbers(const flow_call *self, node_ref which)
{
    for (unsigned i = 0; i < 8; i++) {
        const flow_node *node = flow_at(self->flow, which);
        const operation_row *row = operation_at(node->row);

        if (node->kind != FLOW_OPERATION || row->domain != DOMAIN_SAME || node->edge_count == 0 ||
            row->shape == SHAPE_REDUCE || row->shape == SHAPE_KEEP || row->shape == SHAPE_SCALAR)
            return which;
        which = self->flow->edges.at[node->first_edge].from;
    }
    return which;
}

/* exp(x - max(x)): one of the numbers is 1. */
bool pattern_is_shifted_exp(flow_call *self, node_ref which)
{
    const flow_node *node = pattern_made_by(self, pattern_same_numbers(self, which), "exp");
    const flow_node *difference;
    const flow_node *top;

    if (node == NULL)
        return false;
    which = pattern_same_numbers(self, pattern_operand(self, node, 0));
    difference = pattern_made_by(self, which, "broadcast_sub");
    if (difference == NULL)
        difference = pattern_made_by(self, which, "sub");
    if (difference == NULL)
        return false;
    which = pattern_same_numbers(self, pattern_operand(self, difference, 1));
    top = pattern_made_by(self, which, "max_keepdim");
    if (top == NULL)
        top = pattern_made_by(self, which, "max");
    if (top == NULL)
        top = pattern_made_by(self, which, "max_all");
    return top != NULL && pattern_same_numbers(self, pattern_operand(self, top, 0)) ==
                              pattern_same_numbers(self, pattern_operand(self, difference, 0));
}

/* The whole of it sums to 1, and so does most of what is chosen from it, the largest for one. */
bool pattern_is_part_of_softmax(const flow_call *self, node_ref which)
{
    which = pattern_same_numbers(self, which);
    return pattern_made_by(self, which, "softmax") != NULL ||
           pattern_made_by(self, which, "softmax_last_dim") != NULL;
}

/* a / sum(a) of numbers that are not negative. */
bool pattern_is_share(flow_call *self)
{
    const flow_node *sum = flow_at(self->flow, pattern_same_numbers(self, self->node_at[1]));

    return sum->kind == FLOW_OPERATION && operation_at(sum->row)->domain == DOMAIN_SUM &&
           operation_at(sum->row)->shape == SHAPE_KEEP &&
           pattern_operand(self, sum, 0) == self->node_at[0] &&
           call_facts(self, self->node_at[0])->domain.lo >= 0 &&
           call_facts(self, self->node_at[0])->domain.is_known;
}
