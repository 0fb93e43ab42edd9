/*
 * checkpoint_report - what a comparison found, as the report of a checkpoint.
 *
 * The comparison itself is join/checkpoint; what both know of it is here.
 */
#ifndef CG_JOIN_CHECKPOINT_REPORT_H
#define CG_JOIN_CHECKPOINT_REPORT_H

#include "join/difference.h"

/* A parameter of the components that are compared together. */
typedef struct asked {
    const wanted_parameter *from;
    uint32_t component;
    key_pattern pattern;
    uint64_t matched; /* tensors */
    bool is_family;
} asked;

typedef struct entry {
    model_key key;
    uint32_t asked;
} entry;

typedef struct checkpoint_part {
    heap *heap;
    arena *mem;
    expr_pool *pool;
    const tensor_header *header;
    cg_str root;
    const wanted_component *const *components;
    size_t component_count;
    asked *asked;
    size_t asked_count;
    uint64_t skipped;
    key_name *names; /* of the file and its index */
    size_t name_count;
    VEC(entry) entries;
    shape_values *values; /* by component */
    bool *is_claimed;     /* by tensor */
    bool *is_of_other_shape;
    const uint32_t *owners; /* by tensor: 1 + the one of `all` that asks for it; NULL: nobody */
    const wanted_component *const *all;
    size_t all_count;
    cg_str *settled; /* see checkpoint_options; NULL: not wanted */
} checkpoint_part;

static inline uint32_t *checkpoint_order(arena *mem, size_t count)
{
    uint32_t *order = arena_take(mem, (count + 1) * 2 * sizeof *order);

    for (size_t i = 0; order != NULL && i < count; i++)
        order[i] = (uint32_t)i;
    return order;
}

/*
 * Every list of the report, sorted; texts are borrowed from the part and the difference, which has
 * been diagnosed. CG_NOMEM.
 */
cg_code checkpoint_report(checkpoint_part *self, difference *from, doc_checkpoint *ret,
                          cg_err *reterr) CG_MUST;

#endif
