#include "model/impact.h"

/* Is what the operation gives made of the numbers it gets, and can it be NaN or infinite? */
static bool takes_numbers(const flow_node *node)
{
    const operation_row *row = operation_at(node->row);

    if (node->kind != FLOW_OPERATION)
        return true;
    return row->dtype != DTYPE_U8 && row->dtype != DTYPE_U32 &&
           (row->domain != DOMAIN_CALL || row->function != INTERVAL_SIGN) &&
           (row->gradient != GRADIENT_SOURCE || row->shape != SHAPE_LIKE ||
            row->dtype != DTYPE_SAME);
}

static bool passes_numbers(const flow_node *node, const flow_edge *edge)
{
    if (edge->from == 0 || edge->role == FLOW_BODY)
        return false;
    /* A severed operand of what else lets gradients through is a mask, ids, or cast to integers. */
    return edge->role == FLOW_HOST || edge->passes != FLOW_SEVERED ||
           (node->kind == FLOW_OPERATION && operation_at(node->row)->gradient == GRADIENT_SEVERS);
}

/* From which nodes numbers come to these: O(nodes + edges). */
static bool reach_back(const flow *graph, const node_ref *from, size_t count, arena *mem,
                       const bool **ret)
{
    bool *is_reached = arena_zero(mem, graph->nodes.count);
    node_ref *open = arena_take(mem, (graph->nodes.count + 1) * sizeof *open);
    size_t open_count = 0;

    if (!is_reached || !open)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!is_reached[from[i]])
            open[open_count++] = from[i];
        is_reached[from[i]] = true;
    }
    while (open_count > 0) {
        node_ref at = open[--open_count];
        const flow_node *node = flow_at(graph, at);
        size_t edge_count;
        const flow_edge *edges = flow_edges(graph, at, &edge_count);

        for (size_t i = 0; i < edge_count && takes_numbers(node); i++) {
            if (is_reached[edges[i].from] || !passes_numbers(node, &edges[i]))
                continue;
            is_reached[edges[i].from] = true;
            open[open_count++] = edges[i].from;
        }
    }
    *ret = is_reached;
    return true;
}

static bool is_loss_call(const flow *graph, node_ref which)
{
    const flow_node *node = flow_at(graph, which);

    return node->kind == FLOW_OPERATION && !node->is_forgotten &&
           (operation_at(node->row)->needs & NEED_LOSS) != 0;
}

/* What the entry learns from, and the losses of the library wherever they go. */
static bool reach_losses(const entry_run *run, arena *mem, const bool **ret)
{
    const flow *graph = run->graph;
    node_ref *from = arena_take(mem, (run->goal_count + graph->nodes.count + 1) * sizeof *from);
    size_t count = 0;

    *ret = NULL;
    if (!from)
        return false;
    for (size_t i = 0; run->is_loss && i < run->goal_count; i++)
        from[count++] = run->goals[i];
    for (node_ref n = 1; n < graph->nodes.count; n++) {
        if (is_loss_call(graph, n))
            from[count++] = n;
    }
    return count == 0 || reach_back(graph, from, count, mem, ret);
}

bool impact_of_entry(const entry_run *run, arena *mem, impact_map *ret)
{
    *ret = (impact_map){.graph = run->graph, .infers = (run->phases & PHASES_INFER) != 0};
    return reach_losses(run, mem, &ret->to_loss) &&
           (run->output_count == 0 ||
            reach_back(run->graph, run->outputs, run->output_count, mem, &ret->to_output));
}

static bool reaches(const bool *is_reached, node_ref which)
{
    return is_reached && is_reached[which];
}

enum impact impact_at(const impact_map *self, node_ref which)
{
    const flow_node *node = flow_at(self->graph, which);

    if (node->body)
        which = node->body;
    if (reaches(self->to_loss, which))
        return IMPACT_LOSS;
    if (flow_at(self->graph, which)->facts.carries == FLOW_YES)
        return IMPACT_GRADIENT;
    return reaches(self->to_output, which) ? IMPACT_OUTPUT : IMPACT_LOCAL;
}

uint8_t impact_severity(const impact_map *self, enum impact what)
{
    if (what >= IMPACT_GRADIENT || (what == IMPACT_OUTPUT && self->infers))
        return MODEL_FINDING_SEVERITY_ERROR;
    return MODEL_FINDING_SEVERITY_WARNING;
}

const char *impact_text(enum impact what)
{
    switch (what) {
    case IMPACT_LOSS: return "impact: the loss can be infinite or NaN (training impact on loss)";
    case IMPACT_GRADIENT:
        return "impact: gradients of its parameters can be NaN (training impact on gradients)";
    case IMPACT_OUTPUT:
        return "impact: the result can be infinite or NaN (inference impact on outputs)";
    case IMPACT_LOCAL: break;
    }
    return "local only: it reaches no loss and no result";
}
