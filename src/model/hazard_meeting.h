/*
 * hazard_meeting - the hazards, while they are shown the graph of one entry.
 */
#ifndef CG_MODEL_HAZARD_MEETING_H
#define CG_MODEL_HAZARD_MEETING_H

#include "model/flow_build.h"
#include "model/hazard.h"

typedef struct hazard_meeting {
    hazards *all;
    const entry_run *run;
    flow *graph;
    program *program;
    impact_map impact;
    cg_err *reterr;
} hazard_meeting;

static inline cg_code meeting_nomem(const hazard_meeting *self)
{
    return err_nomem(self->reterr);
}

static inline const flow_node *meeting_node(const hazard_meeting *self, node_ref which)
{
    return flow_at(self->graph, which);
}

/* Canonical path of the operation; absent when it is none. */
static inline cg_str meeting_path(const flow_node *node)
{
    return node->row ? str_from(operation_at(node->row)->path) : (cg_str){0};
}

static inline bool meeting_is_row(const flow_node *node, const char *name)
{
    return node->row && str_equal(operation_name(node->row), str_from(name));
}

static inline uint8_t meeting_confidence(const hazard_meeting *self, node_ref node)
{
    return meeting_node(self, node)->is_conditional ? MODEL_CONFIDENCE_CONDITIONAL
                                                    : MODEL_CONFIDENCE_PROVEN;
}

/* A device that is known by its name. */
static inline bool meeting_is_device(uint8_t device)
{
    return device == FLOW_CPU || device == FLOW_CUDA || device == FLOW_METAL;
}

#endif
