/* Facts that follow from each other once the whole evaluation is seen. */
#include "model/flow_build.h"

#define SWEEPS 6u

static bool give_rank(flow_facts *to, unsigned rank)
{
    unsigned more;

    if (to->has_rank || rank > FLOW_AXES || rank < to->rank)
        return false;
    more = rank - to->rank;
    memmove(to->axes + more, to->axes, to->rank * sizeof to->axes[0]);
    memset(to->axes, 0, more * sizeof to->axes[0]);
    to->rank = (uint8_t)rank;
    to->has_rank = true;
    return true;
}

static bool share_sizes(flow_facts *a, flow_facts *b)
{
    bool is_changed = false;

    for (unsigned i = 0; i < a->rank && a->has_rank && b->has_rank && a->rank == b->rank; i++) {
        if (a->axes[i] == EXPR_NONE && b->axes[i] != EXPR_NONE) {
            a->axes[i] = b->axes[i];
            is_changed = true;
        } else if (b->axes[i] == EXPR_NONE && a->axes[i] != EXPR_NONE) {
            b->axes[i] = a->axes[i];
            is_changed = true;
        }
    }
    return is_changed;
}

/* A node and its first operand; false: nothing new. */
static bool relate(flow *self, flow_node *node)
{
    const flow_edge *edge = self->edges.at + node->first_edge;
    flow_facts *x;
    bool is_changed = false;

    if (!node->has_rank_link || node->edge_count == 0 || edge->from == 0)
        return false;
    x = &self->nodes.at[edge->from].facts;
    if (x->has_rank && x->rank + node->rank_step >= 0)
        is_changed |= give_rank(&node->facts, (unsigned)(x->rank + node->rank_step));
    else if (node->facts.has_rank && node->facts.rank - node->rank_step >= 0)
        is_changed |= give_rank(x, (unsigned)(node->facts.rank - node->rank_step));
    if (node->is_same_shape)
        is_changed |= share_sizes(&node->facts, x);
    return is_changed;
}

/* A join has the rank all its ways have. */
static bool relate_ways(flow *self, flow_node *node)
{
    const flow_edge *edges = self->edges.at + node->first_edge;
    unsigned rank = 0;

    for (size_t i = 0; i < node->edge_count; i++) {
        const flow_facts *x = &self->nodes.at[edges[i].from].facts;

        if (!x->has_rank || (i > 0 && x->rank != rank))
            return false;
        rank = x->rank;
    }
    return node->edge_count > 0 && give_rank(&node->facts, rank);
}

bool flow_settle(flow *self, flow_mark since)
{
    bool is_changed = true;

    for (unsigned sweep = 0; sweep < SWEEPS && is_changed; sweep++) {
        is_changed = false;
        for (size_t i = since.nodes; i < self->nodes.count; i++) {
            flow_node *node = &self->nodes.at[i];

            if (node->kind == FLOW_JOIN || node->kind == FLOW_LOOP)
                is_changed |= relate_ways(self, node);
            else
                is_changed |= relate(self, node);
        }
        for (size_t i = self->nodes.count; i-- > since.nodes;)
            is_changed |= relate(self, &self->nodes.at[i]);
    }
    for (size_t i = since.requirements; i < self->requirements.count; i++) {
        flow_requirement *row = &self->requirements.at[i];
        enum flow_element a = flow_dtype(self, row->operand, NULL);
        enum flow_element b = flow_dtype(self, row->other, NULL);

        if (row->need == FLOW_NEED_DTYPE && row->result == CHECK_UNKNOWN && a != ELEMENT_UNKNOWN &&
            b != ELEMENT_UNKNOWN && a != b)
            row->result = CHECK_FAILS;
    }
    return !self->failed;
}
