#include "model/impact.h"

static bool is_loss_call(const flow *graph, node_ref which)
{
    const flow_node *node = flow_at(graph, which);

    return node->kind == FLOW_OPERATION && !node->is_forgotten &&
           (operation_at(node->row)->needs & NEED_LOSS) != 0;
}

/* What the entry learns from, and the losses of the library wherever they go. */
static bool reach_losses(const entry_run *run, arena *mem, const uint8_t **ret)
{
    const flow *graph = run->graph;
    node_ref *from = arena_take(mem, (run->goal_count + graph->nodes.count + 1) * sizeof *from);
    uint8_t *reach = NULL;
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
    if (count > 0 && !flow_reach(graph, from, count, mem, &reach))
        return false;
    *ret = reach;
    return true;
}

bool impact_of_entry(const entry_run *run, arena *mem, impact_map *ret)
{
    uint8_t *reach = NULL;

    *ret = (impact_map){.graph = run->graph, .infers = (run->phases & PHASES_INFER) != 0};
    if (!reach_losses(run, mem, &ret->to_loss))
        return false;
    if (run->output_count > 0 &&
        !flow_reach(run->graph, run->outputs, run->output_count, mem, &reach))
        return false;
    ret->to_output = reach;
    return true;
}

static bool reaches(const uint8_t *levels, node_ref which)
{
    return levels && (levels[which] == FLOW_REACHED || levels[which] == FLOW_MAYBE);
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
