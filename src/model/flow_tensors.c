#include "model/flow_tensors.h"

#include "base/number_map.h"
#include "model/value_kinds.h"

#define VISITS_MOST 20000u /* of values inside of one */

typedef struct tensor_list {
    flow *graph;
    VEC(val) open;
    VEC(node_ref) found;
    number_map seen; /* nodes and values that were met */
    bool is_good;
} tensor_list;

static void open_value(tensor_list *self, val which)
{
    uint32_t *is_known = which ? number_map_put(&self->seen, number_map_key(1, which), 0) : NULL;
    val *slot;

    if (!which || (is_known && *is_known))
        return;
    slot = is_known ? vec_add(self->graph->heap, &self->open) : NULL;
    if (!slot) {
        self->is_good = false;
        return;
    }
    *is_known = 1;
    *slot = which;
}

static void find_node(tensor_list *self, node_ref node)
{
    uint32_t *is_known = number_map_put(&self->seen, number_map_key(2, node), 0);
    node_ref *slot;

    if (is_known && *is_known)
        return;
    slot = is_known ? vec_add(self->graph->heap, &self->found) : NULL;
    if (!slot) {
        self->is_good = false;
        return;
    }
    *is_known = 1;
    *slot = node;
}

/* What lies directly inside of the value, the last first: `open` is a stack. */
static void open_parts(tensor_list *self, const value *at)
{
    switch ((enum value_kind)at->kind) {
    case VALUE_STRUCT:
    case VALUE_ENUM:
        for (uint16_t i = at->count; i > 0; i--)
            open_value(self, at->as.fields[i - 1].value);
        return;
    case VALUE_SOME:
    case VALUE_TUPLE:
    case VALUE_LIST:
    case VALUE_MAP:
    case VALUE_CHOICE:
        for (uint16_t i = at->count; i > 0; i--)
            open_value(self, at->as.items[i - 1]);
        return;
    case VALUE_REPEAT: open_value(self, at->as.repeat.items[0]); return;
    case VALUE_NONE:
    case VALUE_UNKNOWN:
    case VALUE_NEVER:
    case VALUE_ERROR:
    case VALUE_UNIT:
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_FLOAT:
    case VALUE_CHAR:
    case VALUE_TEXT:
    case VALUE_BUILDER:
    case VALUE_TENSOR:
    case VALUE_NOTHING:
    case VALUE_RANGE:
    case VALUE_CLOSURE:
    case VALUE_FUNCTION:
    case VALUE_TYPE:
    case VALUE_VARMAP:
    case VALUE_DTYPE:
    case VALUE_DEVICE:
    case VALUE_LAZY:
    case VALUE_REFERENCE: return;
    }
}

bool flow_tensors(flow *graph, val of, arena *mem, const node_ref **ret, size_t *ret_count)
{
    tensor_list list = {.graph = graph, .is_good = true};
    node_ref *copy = NULL;
    size_t visits = 0;

    number_map_init(&list.seen, graph->heap);
    open_value(&list, of);
    while (list.is_good && list.open.count > 0 && visits++ < VISITS_MOST) {
        val which = list.open.at[--list.open.count];
        const value *at = value_at(graph->values, which);
        node_ref node = 0;

        if (at->kind == VALUE_TENSOR || at->kind == VALUE_UNKNOWN)
            node = flow_of(graph, which);
        if (node)
            find_node(&list, node);
        else
            open_parts(&list, value_at(graph->values, which));
    }
    if (list.is_good && !graph->failed)
        copy = arena_take(mem, (list.found.count + 1) * sizeof *copy);
    if (copy) {
        if (list.found.count)
            memcpy(copy, list.found.at, list.found.count * sizeof *copy);
        *ret = copy;
        *ret_count = list.found.count;
    }
    number_map_free(&list.seen);
    vec_free(graph->heap, &list.open);
    vec_free(graph->heap, &list.found);
    return copy != NULL;
}
