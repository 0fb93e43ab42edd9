/*
 * flow_build - how nodes are made: for those who evaluate operations of tensors. Readers take
 * model/flow.
 *
 * Nodes get condition and repetition from the trail. Everything here gives 0 and sets `failed` when
 * there is no memory.
 */
#ifndef CG_MODEL_FLOW_BUILD_H
#define CG_MODEL_FLOW_BUILD_H

#include "model/flow.h"

/*
 * Nodes and edges as they are, in `mem`, and put back: those that lie before a mark are changed by
 * what is evaluated behind it.
 */
typedef struct flow_kept {
    const flow_node *nodes;
    const flow_edge *edges;
    size_t node_count, edge_count;
} flow_kept;

bool flow_keep(const flow *self, arena *mem, flow_kept *ret) CG_MUST;
void flow_restore(flow *self, const flow_kept *from);

flow_facts flow_no_facts(void);
/* Where people can change it: of what lies in a dependency, the call that led there. */
model_place flow_place(const flow *self, model_place of);
/* A node with these facts and edges; place, row and name are the caller's. */
node_ref flow_add(flow *self, const flow_node *shape, const flow_edge *edges, size_t count);
/* What the text names: an input, or something that was not understood. Once per evaluation. */
node_ref flow_named_input(flow *self, cg_str text);
node_ref flow_parameter_node(flow *self, const flow_parameter *of, const flow_facts *facts,
                             model_place place);
/* Either of the two; the same node for the same two. */
node_ref flow_join(flow *self, node_ref a, node_ref b);
/*
 * A loop was walked: what began a round as `inside` (joined while is_widening) ends it as `after`.
 * Joining the value before the loop with `after` gives the same node.
 */
void flow_carry(flow *self, val inside, val after);

/*
 * Alternatives were walked: way i made the nodes from nodes[i] on, up to nodes[i + 1]. They depend
 * on the condition, unless theirs is the only way that comes back.
 */
void flow_ways(flow *self, const uint32_t *nodes, size_t count, const bool *returns,
               cg_str condition);

/* Classes of equal dtypes. */
uint32_t flow_class_new(flow *self, enum flow_element element, sym source);
enum flow_element flow_class_element(const flow *self, uint32_t which, sym *ret_source);
bool flow_class_equal(const flow *self, uint32_t a, uint32_t b);
/* The class of what a text names: `vb.dtype()`, `cfg.dtype`. */
uint32_t flow_class_named(flow *self, cg_str text);
/* They are the same; false: they are known and differ. */
bool flow_class_unite(flow *self, uint32_t a, uint32_t b);

static inline bool flow_is_float(enum flow_element which)
{
    return which >= ELEMENT_BF16;
}

#endif
