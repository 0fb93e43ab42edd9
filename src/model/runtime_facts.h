/*
 * runtime_facts - what the observations of a runtime trace say together, thing by thing.
 *
 * A thing is a tensor or an operation (by its static id), a parameter (by root and key), an edge or
 * a probe of values. Observations that contradict each other give no fact but a conflict. Of a
 * gradient recorded over steps the latest step is the headline; facts of one step, or without a
 * step, have to agree. A fact without a step beside facts with one has to agree with all of them.
 *
 * Facts borrow the trace. All lists stand in the order of their texts.
 */
#ifndef CG_MODEL_RUNTIME_FACTS_H
#define CG_MODEL_RUNTIME_FACTS_H

#include "model/runtime_trace.h"
#include "schema/model_schema.h"

/* What observations of one tensor can differ in, in the order of conflicts. */
enum tensor_aspect {
    ASPECT_DTYPE,
    ASPECT_DEVICE,
    ASPECT_SHAPE,
    ASPECT_LAYOUT,
    ASPECT_GRAD,
    ASPECT_COUNT
};

typedef struct tensor_fact {
    sym static_id;
    uint32_t first; /* in tensor_order */
    uint32_t count;
    uint32_t differing;           /* bit of every aspect in conflict */
    const runtime_tensor *agreed; /* the first by event id; NULL: they differ */
} tensor_fact;

typedef struct gradient_fact {
    sym root;
    sym key;
    uint32_t count;
    uint32_t states[4];                      /* observations by GRADIENT_STATE_ */
    const runtime_gradient *headline;        /* NULL: not classified */
    const runtime_gradient *first_nonfinite; /* undisputed and not the headline's state; or NULL */
    const runtime_gradient *disputed;        /* the first of those that differ; NULL: no conflict */
    uint32_t disputed_states;                /* bit of every state in the conflict */
    opt_u64 moved; /* first step with a gradient; unset: none, or no step */
} gradient_fact;

typedef struct operation_fact {
    sym static_id;
    uint32_t first; /* in operation_order */
    uint32_t count;
    model_timing timing; /* samples 0: none was timed */
} operation_fact;

typedef struct edge_fact {
    sym from;
    sym to;
    model_timing timing;
} edge_fact;

typedef struct value_fact {
    sym static_id;
    sym source;
    uint32_t count;
    bool is_unbounded; /* one of them */
    bool has_bounds;   /* one of them: `min` and `max` are of those */
    double min;
    double max;
    uint64_t nonfinite_count;
    uint64_t saturated_count;
    const runtime_value *nonfinite; /* the first with one by step; NULL: none */
    const runtime_value *saturated;
} value_fact;

typedef struct runtime_facts {
    const runtime_trace *trace;
    arena *mem;
    const uint32_t *tensor_order; /* observations with a static id, tensor by tensor */
    const uint32_t *operation_order;
    tensor_fact *tensors;
    size_t tensor_count;
    gradient_fact *gradients;
    size_t gradient_count;
    operation_fact *operations;
    size_t operation_count;
    edge_fact *edges;
    size_t edge_count;
    value_fact *values;
    size_t value_count;
    uint64_t classes[4]; /* parameters by the state of their headline */
    uint64_t tensor_conflicts;
    uint64_t gradient_conflicts;
    uint64_t saturating_sources;
    opt_u64 first_nonfinite_step;
    opt_u64 average_duration_ns; /* of timed operations */
    uint8_t phase;               /* MODEL_PHASE_ */
} runtime_facts;

/* Facts live in `mem`. Fails with CG_NOMEM. O(observations), and the sorting of what differs. */
cg_code runtime_facts_make(arena *mem, const runtime_trace *trace, runtime_facts *ret,
                           cg_err *reterr) CG_MUST;

/* The observation `index` of a tensor or an operation. */
const runtime_tensor *tensor_fact_at(const runtime_facts *self, const tensor_fact *of,
                                     uint32_t index);
const runtime_operation *operation_fact_at(const runtime_facts *self, const operation_fact *of,
                                           uint32_t index);

/* Of a gradient: `present`, `missing`, ... */
cg_str runtime_state_word(uint8_t state);

#endif
