/*
 * pipeline - what a crate seems to do in which order: stages, the files between them, and which
 * component is called after which. Guesses, made only when asked for.
 *
 * Facts come first: a function that makes an optimizer trains, one that loads weights without
 * one evaluates; who calls several of these puts them in order. Names (`run_pipeline`, `train_*`)
 * decide only where nothing else does.
 */
#ifndef CG_MODEL_PIPELINE_H
#define CG_MODEL_PIPELINE_H

#include "model/drivers.h"

typedef struct pipeline {
    const extraction *components;
    const drivers *drivers;
    const function_facts *functions;
    model_draft *draft;
    program *program;
    types *types;
    uint32_t *by_type; /* item -> component + 1 */
    cg_str *ids;       /* of components */
    number_map by_id;  /* text of a function's id -> index of its fact */
    VEC(model_stage *) stages;
    VEC(uint32_t) stage_functions; /* index of the fact, by stage */
    uint32_t *stage_of;            /* by fact: the first stage that is it or calls it, + 1 */
    cg_err *reterr;
} pipeline;

cg_code pipeline_begin(const extraction *components, const drivers *from,
                       const function_facts *functions, model_draft *draft, pipeline *ret,
                       cg_err *reterr) CG_MUST;
void pipeline_end(pipeline *self);

/* Stages, in order, with their components. */
cg_code pipeline_stages(pipeline *self) CG_MUST;
/* Files, who writes and who reads them, and which stage waits for which. After the stages. */
cg_code pipeline_artifacts(pipeline *self) CG_MUST;
/* Calls of one component after another. */
cg_code pipeline_calls(pipeline *self) CG_MUST;
/* Optimizers, and the roles of parameters and builders that follow. After the stages. */
cg_code pipeline_roles(pipeline *self) CG_MUST;
/* The id of the stage a function belongs to; absent: none. */
cg_str pipeline_stage_id(const pipeline *self, item_ref function);

#endif
