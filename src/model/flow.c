#include "model/flow.h"

#include "model/expr_print.h"

static const char *const ELEMENTS[] = {"Unknown", "U8",  "U32", "I16", "I32",   "I64",
                                       "BF16",    "F16", "F32", "F64", "F8E4M3"};

const char *flow_element_name(enum flow_element which)
{
    return ELEMENTS[which];
}

enum flow_element flow_element_of(cg_str name)
{
    for (unsigned i = 1; i < sizeof ELEMENTS / sizeof ELEMENTS[0]; i++) {
        if (str_is(name, ELEMENTS[i]))
            return (enum flow_element)i;
    }
    return ELEMENT_UNKNOWN;
}

/* Which class stands for it. */
static uint32_t root_of(const flow *self, uint32_t which)
{
    while (self->classes.at[which].parent != 0)
        which = self->classes.at[which].parent;
    return which;
}

enum flow_element flow_dtype(const flow *self, node_ref of, sym *ret_source)
{
    const flow_class *root = &self->classes.at[root_of(self, self->nodes.at[of].facts.dtype)];

    if (ret_source != NULL)
        *ret_source = root->source;
    return (enum flow_element)root->element;
}

cg_str flow_shape_text(flow *self, node_ref of)
{
    const flow_facts *facts = &self->nodes.at[of].facts;
    cg_str text = CG_LIT("?");
    buf out;

    if (!facts->has_rank && facts->rank == 0)
        return text;
    buf_init(&out, self->heap, 4096);
    buf_byte(&out, '(');
    if (!facts->has_rank)
        buf_add(&out, CG_LIT(".., "));
    for (unsigned i = 0; i < facts->rank; i++) {
        if (i > 0)
            buf_add(&out, CG_LIT(", "));
        expr_print(self->values->exprs, facts->axes[i], &out);
    }
    buf_byte(&out, ')');
    if (!arena_text(&self->mem, buf_text(&out), &text))
        self->failed = true;
    buf_free(&out);
    return text;
}

const char *flow_severing(const flow *self, node_ref of)
{
    const flow_node *node = &self->nodes.at[of];
    const flow_edge *edges = self->edges.at + node->first_edge;
    const char *condition = operation_condition(node->row);
    bool is_severed = false;

    for (size_t i = 0; i < node->edge_count; i++) {
        if (edges[i].role == FLOW_HOST)
            return "host_values";
        is_severed |= edges[i].passes == FLOW_SEVERED || edges[i].passes == FLOW_DEPENDS ||
                      edges[i].passes == FLOW_FAILS;
    }
    if (!is_severed)
        return NULL;
    return condition == NULL ? "always" : condition;
}

static uint8_t reach_along(const flow_edge *edge)
{
    switch ((enum flow_pass)edge->passes) {
    case FLOW_PASSES:
    case FLOW_FAILS: return FLOW_REACHED;
    case FLOW_DEPENDS:
    case FLOW_UNSURE: return FLOW_MAYBE;
    case FLOW_SEVERED: return FLOW_CUT;
    }
    return FLOW_MAYBE;
}

bool flow_reach(const flow *self, const node_ref *from, size_t count, arena *mem, uint8_t **ret)
{
    uint8_t *level = arena_zero(mem, self->nodes.count);
    VEC(node_ref) work = {0};
    node_ref *room;

    if (level == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        room = vec_add(self->heap, &work);
        if (room == NULL) {
            vec_free(self->heap, &work);
            return false;
        }
        *room = from[i];
        level[from[i]] = FLOW_REACHED;
    }
    /* Levels only rise, three times at most: every edge is seen three times at most. */
    while (work.count > 0) {
        node_ref at = work.at[--work.count];
        const flow_node *node = &self->nodes.at[at];

        for (uint32_t i = 0; i < node->edge_count; i++) {
            const flow_edge *edge = &self->edges.at[node->first_edge + i];
            uint8_t along = reach_along(edge);

            if (edge->from == 0 || edge->role == FLOW_BODY)
                continue;
            if (along > level[at])
                along = level[at];
            if (along <= level[edge->from])
                continue;
            level[edge->from] = along;
            room = vec_add(self->heap, &work);
            if (room == NULL) {
                vec_free(self->heap, &work);
                return false;
            }
            *room = edge->from;
        }
    }
    vec_free(self->heap, &work);
    *ret = level;
    return true;
}
