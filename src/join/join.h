/*
 * join - a crate and any number of runs of it (candle-graph/join/1).
 *
 *   join all;
 *   CG_TRY(join_open(&all, heap, env, document, component, seed, reterr));
 *   CG_TRY(join_add(&all, evidence, path, is_bundle, reterr));       for each run
 *   CG_TRY(join_write_out(&all, &options, mem, &doc, reterr));       join_rows.h
 *   join_free(&all);
 *
 * Both planes are read and neither is changed: nothing that the source says gets into evidence, and
 * nothing a run recorded into the model document. A run whose trace is not structurally valid adds
 * nothing; a failed capture adds what it recorded, marked as diagnostic, and its silence is no
 * ground for saying that something did not run.
 *
 * What is kept of a run is copied, so that its evidence can be freed at once. The document is
 * borrowed.
 */
#ifndef CG_JOIN_JOIN_H
#define CG_JOIN_JOIN_H

#include "join/observed.h"

typedef struct join_item_fact {
    uint32_t item;
    join_fact fact;
} join_item_fact;

/* A gradient of one run. */
typedef struct join_gradient {
    uint32_t run;
    sym root, key; /* of join.texts */
    uint32_t item; /* DECLARED_NONE: nobody's, or not known whose */
    uint64_t states[OBSERVED_STATES];
    bool is_in_manifest;
} join_gradient;

typedef struct join_name {
    uint32_t run;
    uint8_t record;
    uint8_t rule;
    sym name, root; /* root 0: no gradient */
    uint64_t count;
    cg_str first_span; /* absent: none */
    uint32_t inside;
    uint32_t candidates_at, candidate_count; /* stretch of join.candidates */
} join_name;

typedef struct join_break {
    join_broken row;
    sym operation; /* of join.texts; 0: none */
    uint32_t item, function, operation_item;
} join_break;

typedef struct join {
    heap *heap;
    const cg_env *env;
    arena mem;
    const model_doc *doc;
    declared crate;
    uint32_t asked;
    intern texts;
    VEC(join_run) runs;
    VEC(join_item_fact) facts;
    VEC(join_gradient) gradients;
    VEC(join_name) names;
    VEC(join_break) breaks;
    VEC(uint32_t) candidates;
    bool *is_seen;      /* by item: some record was matched to it */
    bool *is_span_seen; /* by item: a span, of it or of what is below it, in a run of full worth */
    bool *is_in_complete; /* by function: it has a span where all operations were recorded */
    bool *is_doubtful;    /* by item: a candidate of an ambiguous name */
    bool *is_listed;      /* by parameter: in the manifest of some run */
    bool *is_unit_listed; /* by unit: chosen for a root whose keys a manifest lists */
} join;

/* `component`: name or qualified name; absent: whichever fits. CG_USAGE when there is none. */
cg_code join_open(join *self, heap *from, const cg_env *env, const model_doc *doc, cg_str component,
                  uint64_t seed, cg_err *reterr) CG_MUST;
/* CG_INTERRUPTED, CG_NOMEM. The evidence is not needed afterwards. */
cg_code join_add(join *self, const evidence *from, cg_str path, bool is_bundle,
                 cg_err *reterr) CG_MUST;
void join_free(join *self);

#endif
