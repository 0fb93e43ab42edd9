#include "model/path.h"

#include "base/sort.h"
#include "base/vec.h"
#include "model/select.h"

/* The lists that have nodes, in the order their nodes are numbered. */
static const uint8_t node_lists[] = {MODEL_COMPONENTS, MODEL_FUNCTIONS,  MODEL_PARAMETERS,
                                     MODEL_TENSORS,    MODEL_OPERATIONS, MODEL_STAGES,
                                     MODEL_ARTIFACTS,  MODEL_OPTIMIZERS};

#define NODE_LISTS (sizeof node_lists / sizeof node_lists[0])
#define NO_NODE    UINT32_MAX

typedef struct path_node {
    cg_str id;
    cg_str name; /* absent: none */
    cg_str source;
    uint8_t kind; /* ASK_HOP_KIND_ */
} path_node;

typedef struct path_graph {
    ask *from;
    path_node *nodes;
    size_t count;
    uint32_t *rank; /* place of a node in the order of ids */
    uint32_t *by_rank;
    text_index index;
    VEC(uint64_t) edges; /* from in the upper, rank of the target in the lower half */
    size_t *first;       /* of each node: its first edge */
    bool failed;
} path_graph;

/* --- nodes --- */

static path_node node_of(enum model_list list, const void *record)
{
    switch (list) {
    case MODEL_COMPONENTS: {
        const model_component *it = record;

        return (path_node){it->id, it->name, it->source, ASK_HOP_KIND_COMPONENT};
    }
    case MODEL_FUNCTIONS: {
        const model_function *it = record;

        return (path_node){it->id, it->name, it->source, ASK_HOP_KIND_FUNCTION};
    }
    case MODEL_PARAMETERS: {
        const model_parameter *it = record;

        return (path_node){it->id, it->key, it->source, ASK_HOP_KIND_PARAMETER};
    }
    case MODEL_TENSORS: {
        const model_tensor *it = record;

        return (path_node){it->id, it->name, {0}, ASK_HOP_KIND_TENSOR};
    }
    case MODEL_OPERATIONS: {
        const model_operation *it = record;

        return (path_node){it->id, it->name, it->source, ASK_HOP_KIND_OPERATION};
    }
    case MODEL_STAGES: {
        const model_stage *it = record;

        return (path_node){it->id, it->name, it->source, ASK_HOP_KIND_STAGE};
    }
    case MODEL_ARTIFACTS: {
        const model_artifact *it = record;

        return (path_node){it->id, it->name, it->source, ASK_HOP_KIND_ARTIFACT};
    }
    case MODEL_EDGES:
    case MODEL_MODULES:
    case MODEL_OPTIMIZERS:
    case MODEL_ASSEMBLY:
    case MODEL_FINDINGS:
    case MODEL_LIST_COUNT: break;
    }
    return (path_node){.id = *(const cg_str *)record, .kind = ASK_HOP_KIND_UNKNOWN};
}

static bool node_before(const void *context, uint32_t a, uint32_t b)
{
    const path_graph *self = context;

    return str_compare(self->nodes[a].id, self->nodes[b].id) < 0;
}

static bool add_nodes(path_graph *self)
{
    model_doc *doc = (model_doc *)(uintptr_t)self->from->doc;
    arena *mem = &self->from->mem;
    sc_records ids;

    for (size_t i = 0; i < NODE_LISTS; i++)
        self->count += model_list_of(doc, node_lists[i])->count;
    self->nodes = arena_take(mem, (self->count + 1) * sizeof *self->nodes);
    self->rank = arena_take(mem, (self->count + 1) * sizeof *self->rank);
    self->by_rank = arena_take(mem, (2 * self->count + 1) * sizeof *self->by_rank);
    if (self->nodes == NULL || self->rank == NULL || self->by_rank == NULL)
        return false;
    self->count = 0;
    for (size_t i = 0; i < NODE_LISTS; i++) {
        const sc_records *list = model_list_of(doc, node_lists[i]);
        size_t size = model_list_table(node_lists[i])->size;

        for (size_t k = 0; k < list->count; k++)
            self->nodes[self->count++] = node_of(node_lists[i], (const char *)list->at + k * size);
    }
    for (size_t i = 0; i < self->count; i++)
        self->by_rank[i] = (uint32_t)i;
    sort_with(self->by_rank, self->by_rank + self->count, self->count, node_before, self);
    for (size_t i = 0; i < self->count; i++)
        self->rank[self->by_rank[i]] = (uint32_t)i;
    ids = (sc_records){self->nodes, self->count};
    return index_build(&self->index, self->from->heap, &ids, sizeof(path_node),
                       offsetof(path_node, id));
}

/* --- edges --- */

/* Ends that are no node lead nowhere. */
static void add_edge(path_graph *self, cg_str from, cg_str to)
{
    size_t a = index_find(&self->index, from);
    size_t b = index_find(&self->index, to);
    uint64_t *edge;

    if (a == INDEX_NONE || b == INDEX_NONE)
        return;
    edge = vec_add(self->from->heap, &self->edges);
    if (edge == NULL)
        self->failed = true;
    else
        *edge = (uint64_t)a << 32 | self->rank[b];
}

static void add_from_each(path_graph *self, sc_strs froms, cg_str to)
{
    for (size_t i = 0; i < froms.count; i++)
        add_edge(self, froms.at[i], to);
}

static void add_to_each(path_graph *self, cg_str from, sc_strs tos)
{
    for (size_t i = 0; i < tos.count; i++)
        add_edge(self, from, tos.at[i]);
}

static void add_code_edges(path_graph *self, const model_doc *doc)
{
    for (size_t i = 0; i < doc->functions.count; i++) {
        const model_function *function = MODEL_AT(doc->functions, model_function, i);

        add_to_each(self, function->id, function->calls);
        add_from_each(self, function->tensor_inputs, function->id);
        add_to_each(self, function->id, function->tensor_outputs);
    }
    for (size_t i = 0; i < doc->architecture_edges.count; i++) {
        const model_edge *edge = MODEL_AT(doc->architecture_edges, model_edge, i);

        add_edge(self, edge->from, edge->to);
    }
    for (size_t i = 0; i < doc->operations.count; i++) {
        const model_operation *operation = MODEL_AT(doc->operations, model_operation, i);

        add_from_each(self, operation->inputs, operation->id);
        add_edge(self, operation->id, operation->output);
    }
    for (size_t i = 0; i < doc->tensors.count; i++) {
        const model_tensor *tensor = MODEL_AT(doc->tensors, model_tensor, i);

        add_from_each(self, tensor->one_of, tensor->id);
    }
    for (size_t i = 0; i < doc->parameters.count; i++) {
        const model_parameter *parameter = MODEL_AT(doc->parameters, model_parameter, i);

        add_to_each(self, parameter->id, parameter->uses);
        add_from_each(self, parameter->optimizer_memberships, parameter->id);
    }
}

static void add_pipeline_edges(path_graph *self, const model_doc *doc)
{
    for (size_t i = 0; i < doc->stages.count; i++) {
        const model_stage *stage = MODEL_AT(doc->stages, model_stage, i);

        add_from_each(self, stage->depends_on, stage->id);
        add_edge(self, stage->id, stage->function);
        add_from_each(self, stage->consumes, stage->id);
        add_to_each(self, stage->id, stage->produces);
    }
    for (size_t i = 0; i < doc->artifacts.count; i++) {
        const model_artifact *artifact = MODEL_AT(doc->artifacts, model_artifact, i);

        add_to_each(self, artifact->id, artifact->consumed_by);
        add_from_each(self, artifact->produced_by, artifact->id);
    }
}

/* Edges in the order of their start, those of one start in the order of ids. */
static bool order_edges(path_graph *self)
{
    arena *mem = &self->from->mem;
    size_t count = self->edges.count;
    uint32_t *items = arena_take(mem, (2 * count + 1) * sizeof *items);
    uint64_t *sorted = arena_take(mem, (count + 1) * sizeof *sorted);
    size_t at = 0;

    self->first = arena_take(mem, (self->count + 1) * sizeof *self->first);
    if (items == NULL || sorted == NULL || self->first == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        items[i] = (uint32_t)i;
    if (count > 0)
        sort_by_u64(items, items + count, count, self->edges.at);
    for (size_t i = 0; i < count; i++)
        sorted[i] = self->edges.at[items[i]];
    if (count > 0)
        memcpy(self->edges.at, sorted, count * sizeof *sorted);
    for (size_t node = 0; node <= self->count; node++) {
        while (at < count && sorted[at] >> 32 < node)
            at++;
        self->first[node] = at;
    }
    return true;
}

/* --- ends --- */

static bool is_match(const path_node *node, cg_str selector, bool is_exact)
{
    if (is_exact)
        return node->name.ptr != NULL && str_equal(node->name, selector);
    return select_holds(node->id, selector) || select_holds(node->name, selector);
}

static size_t count_matches(const path_graph *self, cg_str selector, bool is_exact, uint32_t *ret)
{
    size_t count = 0;

    for (size_t i = 0; i < self->count; i++) {
        if (is_match(&self->nodes[i], selector, is_exact)) {
            *ret = (uint32_t)i;
            count++;
        }
    }
    return count;
}

static cg_code find_end(const path_graph *self, cg_str selector, uint32_t *ret, cg_err *reterr)
{
    size_t exact = index_find(&self->index, selector);
    size_t count;

    if (exact != INDEX_NONE) {
        *ret = (uint32_t)exact;
        return CG_OK;
    }
    if (count_matches(self, selector, true, ret) == 1)
        return CG_OK;
    count = count_matches(self, selector, false, ret);
    if (count == 1)
        return CG_OK;
    if (count == 0)
        return cg_fail(reterr, PROBLEM_QUERY_SELECT, "nothing matches the selector `%.*s`",
                       ERR_STR(selector));
    return cg_fail(reterr, PROBLEM_QUERY_SELECT, "the selector `%.*s` matches %zu things",
                   ERR_STR(selector), count);
}

/* --- search --- */

/* Breadth first; the node each one was reached from, NO_NODE where none did. */
static bool search(const path_graph *self, uint32_t from, uint32_t to, uint32_t **ret_before)
{
    arena *mem = &self->from->mem;
    uint32_t *before = arena_take(mem, (self->count + 1) * sizeof *before);
    uint32_t *queue = arena_take(mem, (self->count + 1) * sizeof *queue);
    size_t head = 0;
    size_t tail = 0;

    if (before == NULL || queue == NULL)
        return false;
    memset(before, 0xff, (self->count + 1) * sizeof *before);
    before[from] = from;
    queue[tail++] = from;
    while (head < tail && before[to] == NO_NODE) {
        uint32_t node = queue[head++];

        for (size_t i = self->first[node]; i < self->first[node + 1]; i++) {
            uint32_t next = self->by_rank[self->edges.at[i] & UINT32_MAX];

            if (before[next] == NO_NODE) {
                before[next] = node;
                queue[tail++] = next;
            }
        }
    }
    *ret_before = before;
    return true;
}

static bool list_hops(const path_graph *self, uint32_t from, uint32_t to, const uint32_t *before,
                      sc_records *ret)
{
    size_t count = 1;
    ask_hop *hops;

    for (uint32_t node = to; node != from; node = before[node])
        count++;
    hops = arena_take(&self->from->mem, count * sizeof *hops);
    if (hops == NULL)
        return false;
    for (size_t i = count; i > 0; i--) {
        const path_node *node = &self->nodes[to];

        hops[i - 1] = (ask_hop){node->id, node->kind, node->name, node->source};
        to = before[to];
    }
    *ret = (sc_records){hops, count};
    return true;
}

static cg_code find(path_graph *self, cg_str from, cg_str to, sc_records *ret, cg_err *reterr)
{
    uint32_t start;
    uint32_t goal;
    uint32_t *before;

    if (!add_nodes(self))
        return err_nomem(reterr);
    CG_TRY(find_end(self, from, &start, reterr));
    CG_TRY(find_end(self, to, &goal, reterr));
    add_code_edges(self, self->from->doc);
    add_pipeline_edges(self, self->from->doc);
    if (self->failed || !order_edges(self) || !search(self, start, goal, &before))
        return err_nomem(reterr);
    if (before[goal] == NO_NODE)
        return cg_fail(reterr, PROBLEM_QUERY_PATH, "no path found from `%.*s` to `%.*s`",
                       ERR_STR(from), ERR_STR(to));
    return list_hops(self, start, goal, before, ret) ? CG_OK : err_nomem(reterr);
}

cg_code path_find(ask *self, cg_str from, cg_str to, sc_records *ret_hops, cg_err *reterr)
{
    path_graph graph = {.from = self};
    cg_code code = find(&graph, from, to, ret_hops, reterr);

    index_free(&graph.index);
    vec_free(self->heap, &graph.edges);
    return code;
}
