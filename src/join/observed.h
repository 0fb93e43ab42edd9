/*
 * observed - the records of one run, each with what it was matched to.
 *
 * Input is the evidence of a run; it is only read, and nothing here leads back into it. Facts are
 * sums over all records of one kind that were matched to one item by one rule. What was matched to
 * nothing, or to several things, is kept by name. Symbols are those of the trace.
 *
 * Time is linear in the records, whatever the crate holds, but for names, which are looked up once
 * each for every path they stand below.
 */
#ifndef CG_JOIN_OBSERVED_H
#define CG_JOIN_OBSERVED_H

#include "exec/questions.h"
#include "join/match_key.h"
#include "join/match_name.h"

#define OBSERVED_NAMES  8
#define OBSERVED_SHAPES 8
#define OBSERVED_WORDS  4
#define OBSERVED_STATES 4 /* GRADIENT_STATE_ */

typedef struct observed_fact {
    uint32_t item;
    uint8_t record; /* JOIN_RECORD_ */
    uint8_t rule;
    uint8_t dtype_count, device_count, shape_count, name_kept;
    bool has_total, has_self, has_device, has_allocated, has_dense, has_values;
    uint64_t count, open;
    uint64_t total_ns, self_ns, device_ns, allocated_bytes;
    uint64_t dense_bytes; /* the largest */
    uint64_t other_shapes;
    uint64_t states[OBSERVED_STATES];
    uint64_t elements, non_finite;
    double abs_max, rms_max;
    uint64_t name_count; /* distinct */
    sym dtypes[OBSERVED_WORDS], devices[OBSERVED_WORDS];
    sym names[OBSERVED_NAMES];
    trace_shape shapes[OBSERVED_SHAPES];
    uint64_t shape_counts[OBSERVED_SHAPES];
} observed_fact;

/* A name that was matched to nothing (no candidates), or to several things. */
typedef struct observed_name {
    uint8_t record;
    uint8_t rule;
    sym name;
    sym first_span_id;
    uint64_t count;
    uint32_t inside; /* item around the first one; DECLARED_NONE: none */
    uint32_t candidates_at, candidate_count;
} observed_name;

typedef struct observed_span {
    uint32_t item;     /* DECLARED_NONE: none */
    uint32_t nearest;  /* the span itself or the nearest one around it that has an item */
    uint32_t function; /* number of the nearest function */
    sym path;          /* of `paths`: that of the nearest module; 0: none */
} observed_span;

/* A gradient, all its events together. */
typedef struct observed_key {
    sym root, key;
    uint64_t states[OBSERVED_STATES];
} observed_key;

/* A label with values that are not finite, in the order of their first records. */
typedef struct observed_break {
    sym label;
    sym span_id;
    sym operation; /* 0: none was recorded */
    uint8_t part;  /* JOIN_PART_ */
    uint64_t non_finite, elements;
    uint32_t item;     /* what label or span was matched to; DECLARED_NONE: nothing */
    uint32_t function; /* around it */
    uint32_t operation_item;
} observed_break;

typedef struct observed {
    heap *heap;
    const evidence *from;
    matcher names;
    match_keys keys;
    VEC(observed_key) gradients; /* as keys.keys */
    observed_span *spans;
    VEC(observed_fact) facts;
    VEC(observed_name) strangers;
    VEC(observed_break) breaks;
    intern paths;
    uint64_t operation_count; /* records of operations */
    bool *is_span_seen;       /* by item: it, or what is below it, has a span of its own */
} observed;

/* `asked`: number of a component, DECLARED_NONE: none. CG_NOMEM, CG_INTERRUPTED. */
cg_code observed_make(observed *self, const cg_env *env, declared *crate, uint32_t asked,
                      const evidence *from, cg_err *reterr) CG_MUST;
void observed_free(observed *self);

#endif
