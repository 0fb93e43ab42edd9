#include "exec/graph_edges.h"

#include "base/num.h"
#include "base/sort.h"
#include "exec/columns.h"

/* A node id in two parts, so that ids are compared without being put together. */
typedef struct node_text {
    cg_str parts[2];
    char tail[4 + NUM_U64_ROOM];
} node_text;

static void set_node_text(const graph *self, uint32_t node, node_text *ret)
{
    const trace_doc *trace = self->trace;

    if (node < self->span_count) {
        ret->parts[0] = trace_text(trace, trace->spans.at[node].id);
        ret->parts[1] = (cg_str){ret->tail, 0};
    } else if (node < self->span_count + self->op_count) {
        uint32_t op = node - self->span_count;

        ret->parts[0] = trace_text(trace, trace->ops.at[op].span_id);
        memcpy(ret->tail, GRAPH_OP_PART.ptr, GRAPH_OP_PART.len);
        ret->parts[1] =
            (cg_str){ret->tail, GRAPH_OP_PART.len + num_write_u64(ret->tail + GRAPH_OP_PART.len,
                                                                  self->op_number[op])};
    } else {
        ret->parts[0] = GRAPH_TENSOR_PREFIX;
        ret->parts[1] =
            trace_text(trace, self->tensors[node - self->span_count - self->op_count].tensor_id);
    }
}

void graph_node_id(const graph *self, uint32_t node, buf *out)
{
    node_text text;

    set_node_text(self, node, &text);
    buf_add(out, text.parts[0]);
    buf_add(out, text.parts[1]);
}

static bool is_id_before(const void *context, uint32_t a, uint32_t b)
{
    node_text left;
    node_text right;
    unsigned part_a = 0;
    unsigned part_b = 0;

    set_node_text(context, a, &left);
    set_node_text(context, b, &right);
    while (part_a < 2 && part_b < 2) {
        cg_str *x = &left.parts[part_a];
        cg_str *y = &right.parts[part_b];
        size_t shared = x->len < y->len ? x->len : y->len;
        int order = shared > 0 ? memcmp(x->ptr, y->ptr, shared) : 0;

        if (order != 0)
            return order < 0;
        *x = (cg_str){x->ptr + shared, x->len - shared};
        *y = (cg_str){y->ptr + shared, y->len - shared};
        part_a += x->len == 0;
        part_b += y->len == 0;
        if (part_a < 2 && left.parts[part_a].len == 0)
            part_a++;
        if (part_b < 2 && right.parts[part_b].len == 0)
            part_b++;
    }
    return part_b < 2;
}

/* List the numbers 0 .. count - 1 in the order of their decimal texts. */
static void list_decimal(uint32_t count, const uint32_t *by_number, uint32_t *ret)
{
    uint64_t last = (uint64_t)count - 1;
    uint64_t number = 1;

    ret[0] = by_number[0];
    for (uint32_t i = 1; i < count; i++) {
        ret[i] = by_number[number];
        if (number * 10 <= last) {
            number *= 10;
            continue;
        }
        if (number >= last)
            number /= 10;
        number++;
        while (number % 10 == 0)
            number /= 10;
    }
}

/*
 * Operation nodes in id order. Span by span is that order already, unless span ids contain each
 * other in ways nobody writes; only then they are really sorted.
 */
static bool order_op_nodes(const graph *self, uint32_t *ret)
{
    const trace_doc *trace = self->trace;
    uint32_t *at = column_zero(self->heap, (size_t)self->span_count + 1, sizeof *at);
    uint32_t *by_number = column_take(self->heap, self->op_count, sizeof *by_number);
    bool is_done = at != NULL && by_number != NULL;
    bool is_ordered = true;

    if (is_done) {
        for (uint32_t i = 0; i < self->op_count; i++)
            at[trace_span_of(trace, trace->ops.at[i].span_id) + 1]++;
        for (uint32_t i = 0; i < self->span_count; i++)
            at[i + 1] += at[i];
        for (uint32_t i = 0; i < self->op_count; i++)
            by_number[at[trace_span_of(trace, trace->ops.at[i].span_id)] + self->op_number[i]] =
                self->span_count + i;
        for (uint32_t i = 0; i < self->span_count; i++) {
            if (at[i + 1] == at[i])
                continue;
            list_decimal(at[i + 1] - at[i], by_number + at[i], ret + at[i]);
            is_ordered =
                is_ordered && (at[i] == 0 || is_id_before(self, ret[at[i] - 1], ret[at[i]]));
        }
        if (!is_ordered)
            sort_with(ret, by_number, self->op_count, is_id_before, self);
    }
    column_free(self->heap, by_number, self->op_count, sizeof *by_number);
    column_free(self->heap, at, (size_t)self->span_count + 1, sizeof *at);
    return is_done;
}

/* rank[node]: its place among all node ids, bytewise. Three orders are merged. */
static bool rank_nodes(const graph *self, uint32_t *rank)
{
    uint32_t *ops = column_take(self->heap, self->op_count, sizeof *ops);
    uint32_t tensor = self->span_count + self->op_count;
    uint32_t count = graph_node_count(self);
    uint32_t span = 0;
    uint32_t op = 0;

    if (ops == NULL)
        return false;
    if (!order_op_nodes(self, ops)) {
        column_free(self->heap, ops, self->op_count, sizeof *ops);
        return false;
    }
    for (uint32_t place = 0; place < count; place++) {
        uint32_t first = span < self->span_count ? span : TRACE_NONE;

        if (op < self->op_count && (first == TRACE_NONE || is_id_before(self, ops[op], first)))
            first = ops[op];
        if (tensor < count && (first == TRACE_NONE || is_id_before(self, tensor, first)))
            first = tensor;
        rank[first] = place;
        if (first < self->span_count)
            span++;
        else if (first < self->span_count + self->op_count)
            op++;
        else
            tensor++;
    }
    column_free(self->heap, ops, self->op_count, sizeof *ops);
    return true;
}

typedef struct edge_work {
    const graph *graph;
    const trace_doc *trace;
    graph_edges *edges;
    uint32_t *tensor_node; /* by symbol */
    uint32_t *taken_by;    /* by tensor: the operation that has it as input, + 1 */
    bool *has_call;        /* by span: the trace itself has the call edge to it */
} edge_work;

/* There is room for every edge there can be. */
static void add_edge(edge_work *self, uint8_t kind, uint8_t label, uint32_t from, uint32_t to,
                     uint64_t duration_ns)
{
    self->edges->rows.at[self->edges->rows.count++] = (graph_edge){
        .from = from, .to = to, .duration_ns = duration_ns, .kind = kind, .label = label};
}

static void add_trace_edges(edge_work *self)
{
    for (size_t i = 0; i < self->trace->edges.count; i++) {
        const trace_edge *edge = &self->trace->edges.at[i];

        if (edge->kind == EDGE_KIND_CALL) {
            uint32_t to = trace_span_of(self->trace, edge->to);

            add_edge(self, EDGE_KIND_CALL, GRAPH_LABEL_NONE, trace_span_of(self->trace, edge->from),
                     to, edge->duration_ns);
            self->has_call[to] = true;
        } else {
            add_edge(self, EDGE_KIND_DATA, GRAPH_LABEL_NONE, self->tensor_node[edge->from],
                     self->tensor_node[edge->to], 0);
        }
    }
}

/* The trace's call edges follow the span tree, so a span has at most one caller. */
static void add_span_edges(edge_work *self)
{
    const trace_span *spans = self->trace->spans.at;

    for (uint32_t i = 0; i < self->graph->span_count; i++) {
        if (spans[i].parent != TRACE_NONE && spans[i].kind != SPAN_KIND_OP && !self->has_call[i])
            add_edge(self, EDGE_KIND_CALL, GRAPH_LABEL_NONE, spans[i].parent, i,
                     self->graph->total_ns[i]);
    }
}

static void add_op_edges(edge_work *self)
{
    const graph *graph_of = self->graph;
    uint32_t first_tensor = graph_of->span_count + graph_of->op_count;

    for (uint32_t i = 0; i < graph_of->op_count; i++) {
        const trace_op *op = &self->trace->ops.at[i];
        uint32_t node = graph_of->span_count + i;

        add_edge(self, EDGE_KIND_CALL, GRAPH_LABEL_OP, trace_span_of(self->trace, op->span_id),
                 node, op->duration_ns);
        for (uint32_t k = 0; k < op->inputs_count; k++) {
            uint32_t tensor = self->tensor_node[self->trace->inputs.at[op->inputs_at + k]];

            if (self->taken_by[tensor - first_tensor] == i + 1)
                continue;
            self->taken_by[tensor - first_tensor] = i + 1;
            add_edge(self, EDGE_KIND_DATA, GRAPH_LABEL_INPUT, tensor, node, 0);
        }
        if (op->output != 0)
            add_edge(self, EDGE_KIND_DATA, GRAPH_LABEL_OUTPUT, node, self->tensor_node[op->output],
                     0);
    }
}

static bool list_edges(edge_work *self)
{
    const graph *of = self->graph;
    heap *from = of->heap;
    size_t symbols = intern_count(&self->trace->texts);
    size_t most = self->trace->edges.count + of->span_count + 2 * (size_t)of->op_count +
                  self->trace->inputs.count;
    bool is_done;

    self->tensor_node = column_take(from, symbols, sizeof *self->tensor_node);
    self->taken_by = column_zero(from, of->tensor_count, sizeof *self->taken_by);
    self->has_call = column_zero(from, of->span_count, sizeof *self->has_call);
    is_done = most < UINT32_MAX && self->tensor_node != NULL && self->taken_by != NULL &&
              self->has_call != NULL && vec_reserve(self->edges->heap, &self->edges->rows, most);
    if (is_done) {
        for (uint32_t i = 0; i < of->tensor_count; i++)
            self->tensor_node[of->tensors[i].tensor_id] = of->span_count + of->op_count + i;
        add_trace_edges(self);
        add_span_edges(self);
        add_op_edges(self);
    }
    column_free(from, self->has_call, of->span_count, sizeof *self->has_call);
    column_free(from, self->taken_by, of->tensor_count, sizeof *self->taken_by);
    column_free(from, self->tensor_node, symbols, sizeof *self->tensor_node);
    return is_done;
}

/* Move rows[items[i]] to place i. Not in place: following the cycles waits for every move. */
static bool permute(graph_edges *edges, const uint32_t *items)
{
    size_t capacity = edges->rows.count > 0 ? edges->rows.count : 1;
    graph_edge *moved = column_take(edges->heap, capacity, sizeof *moved);

    if (moved == NULL)
        return false;
    for (size_t i = 0; i < edges->rows.count; i++)
        moved[i] = edges->rows.at[items[i]];
    column_free(edges->heap, edges->rows.at, edges->rows.capacity, sizeof *moved);
    edges->rows.at = moved;
    edges->rows.capacity = capacity;
    return true;
}

/* Two edges with the same ends are of the same kind: node ids are unique. */
static bool sort_edges(const graph *of, graph_edges *edges)
{
    uint32_t nodes = graph_node_count(of);
    size_t count = edges->rows.count;
    uint32_t *rank = column_take(of->heap, nodes, sizeof *rank);
    uint64_t *keys = column_take(of->heap, count, sizeof *keys);
    uint32_t *items = column_take(of->heap, count, sizeof *items);
    bool is_done = rank != NULL && keys != NULL && items != NULL && rank_nodes(of, rank);

    for (size_t i = 0; is_done && i < count; i++) {
        items[i] = (uint32_t)i;
        keys[i] = (uint64_t)rank[edges->rows.at[i].from] << 32 | rank[edges->rows.at[i].to];
    }
    column_free(of->heap, rank, nodes, sizeof *rank);
    is_done = is_done && column_sort(of->heap, items, count, keys);
    column_free(of->heap, keys, count, sizeof *keys);
    is_done = is_done && permute(edges, items);
    column_free(of->heap, items, count, sizeof *items);
    return is_done;
}

cg_code graph_edges_build(heap *from, const graph *of, graph_edges *ret, cg_err *reterr)
{
    edge_work self = {.graph = of, .trace = of->trace, .edges = ret};

    *ret = (graph_edges){.heap = from};
    if (list_edges(&self) && sort_edges(of, ret))
        return CG_OK;
    graph_edges_free(ret);
    return err_nomem(reterr);
}

void graph_edges_free(graph_edges *edges)
{
    if (edges->heap != NULL)
        vec_free(edges->heap, &edges->rows);
    *edges = (graph_edges){0};
}
