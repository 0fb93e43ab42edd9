/*
 * checkpoint_part - components that are compared together: the keys they ask for, member by member,
 * and the tensors that these claim by their names.
 *
 *   checkpoint_part self = {... heap to root, components, component_count ...};
 *   CG_TRY(part_expand(&self, reterr));
 *   part_claim(&self);
 *   part_free(&self);
 *
 * A family of keys has the members that the file names. One whose numbers the file does not name in
 * their place is one entry, a template.
 */
#ifndef CG_JOIN_CHECKPOINT_PART_H
#define CG_JOIN_CHECKPOINT_PART_H

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

/* Fill `asked`, `names` and `entries`. CG_NOMEM; to be freed then as well. */
cg_code part_expand(checkpoint_part *self, cg_err *reterr) CG_MUST;
/* Let every entry claim the tensor of its name, or of another name the code reads it by. */
void part_claim(checkpoint_part *self);
/* What is not in the arena. */
void part_free(checkpoint_part *self);

/*
 * An entry of the parameter at `index`; its members from `start`, *ret_counted: the file tells how
 * many there are.
 */
cg_code part_add_entry(checkpoint_part *self, uint32_t index, const key_numbers *numbers,
                       bool is_template, cg_err *reterr) CG_MUST;
cg_code part_add_members(checkpoint_part *self, uint32_t index, key_numbers start,
                         bool *ret_counted, cg_err *reterr) CG_MUST;

/* Is it a tensor that only the index speaks of? */
static inline bool part_is_promised(const tensor_difference *one)
{
    return one->found.ptr == NULL;
}

#endif
