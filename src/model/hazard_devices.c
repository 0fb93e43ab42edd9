#include "model/hazard_devices.h"

#include "model/hazard_kept.h"
#include "model/hazard_operands.h"
#include "model/rules.h"

/* Devices that a builder names: `vb.device()`. */
static cg_code builder_devices(hazard_meeting *self, number_map *ret)
{
    for (node_ref n = 1; n < self->graph->nodes.count; n++) {
        const flow_node *node = meeting_node(self, n);

        if (node->kind == FLOW_PARAMETER && node->facts.device == FLOW_SAME_DEVICE &&
            !number_map_put(ret, number_map_key(node->facts.device_name, 1), 1))
            return meeting_nomem(self);
    }
    return CG_OK;
}

/* Is it where the parameters are: named by the builder, or made of them? */
static bool is_builders(const number_map *devices, const flow_facts *facts)
{
    return facts->device == FLOW_SAME_DEVICE &&
           (facts->carries == FLOW_YES ||
            number_map_find(devices, number_map_key(facts->device_name, 1)));
}

/* Operands of one call on devices that differ: known ones, or one that only a builder knows. */
static cg_code meet_devices_of(hazard_meeting *self, const number_map *devices, node_ref which,
                               uint8_t *is_mixed)
{
    size_t count = 0;
    const flow_edge *edges = flow_edges(self->graph, which, &count);
    node_ref known = 0, other = 0;
    bool is_proven = false;

    for (size_t i = 0; i < count; i++) {
        const flow_facts *facts = &meeting_node(self, edges[i].from)->facts;

        if (edges[i].role == FLOW_HOST || edges[i].role == FLOW_BODY)
            continue;
        is_mixed[which] |= is_mixed[edges[i].from];
        if (meeting_is_device(facts->device) && !known) {
            known = edges[i].from;
        } else if (meeting_is_device(facts->device) && !is_proven &&
                   facts->device != meeting_node(self, known)->facts.device) {
            other = edges[i].from;
            is_proven = true;
        } else if (!other && is_builders(devices, facts)) {
            other = edges[i].from;
        }
    }
    if (is_mixed[which] || !known || !other)
        return CG_OK;
    is_mixed[which] = true;
    bool is_first = hazard_edge(self, which, known) < hazard_edge(self, which, other);
    flow_requirement row = {
        .node = which,
        .operand = is_first ? known : other,
        .other = is_first ? other : known,
        .need = FLOW_NEED_DEVICE,
        .result = is_proven ? CHECK_FAILS : CHECK_UNKNOWN,
    };
    hazard what = {
        .code = RULE_CODE_DEVICE_MISMATCH,
        .severity = is_proven ? MODEL_FINDING_SEVERITY_ERROR : MODEL_FINDING_SEVERITY_WARNING,
        .confidence = is_proven ? meeting_confidence(self, which) : MODEL_CONFIDENCE_CONDITIONAL,
    };

    return hazard_keep(self, &row, &what);
}

static bool meets_operands(const flow_node *node)
{
    return node->kind == FLOW_OPERATION && !node->is_forgotten && !node->body &&
           !meeting_is_row(node, "to_device");
}

cg_code hazard_meet_devices(hazard_meeting *self)
{
    uint8_t *is_mixed = arena_zero(&self->all->work, self->graph->nodes.count);
    number_map devices;
    cg_code code;

    if (!is_mixed)
        return meeting_nomem(self);
    number_map_init(&devices, self->all->heap);
    code = builder_devices(self, &devices);
    for (node_ref n = 1; code == CG_OK && n < self->graph->nodes.count; n++) {
        const flow_node *node = meeting_node(self, n);

        if (meets_operands(node))
            code = meet_devices_of(self, &devices, n, is_mixed);
        else if (node->kind == FLOW_JOIN || node->kind == FLOW_LOOP) {
            for (uint32_t i = 0; i < node->edge_count; i++)
                is_mixed[n] |= is_mixed[self->graph->edges.at[node->first_edge + i].from];
        }
    }
    number_map_free(&devices);
    return code;
}
