#include "exec/graph.h"

#include <inttypes.h>

#include "base/num.h"
#include "base/sort.h"
#include "exec/columns.h"
#include "exec/pairs.h"
#include "exec/peaks.h"

#define TENSOR_WORD CG_LIT("tensor")

typedef struct graph_work {
    graph *graph;
    const trace_doc *trace;
    heap *heap;
    uint32_t *preorder;     /* spans, parents before their children */
    bool *is_ancestor;      /* by span: of the measured span, which is not among them */
    uint32_t *op_span;      /* by operation */
    uint32_t *op_count;     /* by span */
    uint32_t *tensor_state; /* by symbol: 0, or TENSOR_KNOWN, or first event + TENSOR_EVENT */
} graph_work;

enum { TENSOR_UNKNOWN, TENSOR_KNOWN, TENSOR_EVENT };

/* --- the tree --- */

/* List spans from the root downwards, children in id order. Fails only without memory. */
static bool list_preorder(heap *from, const trace_doc *trace, uint32_t *ret)
{
    size_t count = trace->spans.count;
    uint32_t *first = column_take(from, count, sizeof *first);
    uint32_t *next = column_take(from, count, sizeof *next);
    uint32_t roots = TRACE_NONE;
    bool is_done = first != NULL && next != NULL;

    if (is_done) {
        memset(first, 0xff, count * sizeof *first);
        for (size_t i = count; i-- > 0;) {
            uint32_t parent = trace->spans.at[i].parent;
            uint32_t *head = parent != TRACE_NONE ? &first[parent] : &roots;

            next[i] = *head;
            *head = (uint32_t)i;
        }

        size_t filled = 0;
        uint32_t at = roots;

        while (at != TRACE_NONE) {
            ret[filled++] = at;
            if (first[at] != TRACE_NONE) {
                at = first[at];
                continue;
            }
            while (at != TRACE_NONE && next[at] == TRACE_NONE)
                at = trace->spans.at[at].parent;
            if (at != TRACE_NONE)
                at = next[at];
        }
    }
    column_free(from, next, count, sizeof *next);
    column_free(from, first, count, sizeof *first);
    return is_done;
}

static void set_depths(const graph_work *self)
{
    graph *result = self->graph;

    for (uint32_t i = 0; i < result->span_count; i++) {
        uint32_t span = self->preorder[i];
        uint32_t parent = self->trace->spans.at[span].parent;

        result->depth[span] = parent != TRACE_NONE ? result->depth[parent] + 1 : 0;
        result->in_subtree[span] =
            span == result->measured || (parent != TRACE_NONE && result->in_subtree[parent]);
    }
}

/* --- host time --- */

/* Effective durations: a span of duration 0 lasts as long as what is directly below it. */
static void set_totals(const graph_work *self)
{
    graph *result = self->graph;
    const trace_span *spans = self->trace->spans.at;

    memset(result->total_ns, 0, result->span_count * sizeof *result->total_ns);
    for (uint32_t i = 0; i < result->op_count; i++) {
        uint64_t *total = &result->total_ns[self->op_span[i]];

        *total = num_sat_add(*total, self->trace->ops.at[i].duration_ns);
    }
    for (uint32_t i = result->span_count; i-- > 0;) {
        uint32_t span = self->preorder[i];
        uint32_t parent = spans[span].parent;

        if (spans[span].duration_ns > 0)
            result->total_ns[span] = spans[span].duration_ns;
        if (parent != TRACE_NONE)
            result->total_ns[parent] =
                num_sat_add(result->total_ns[parent], result->total_ns[span]);
    }
}

/* Spans in order of start. They are close to it in the order of the stream. */
static bool order_spans(const graph_work *self, uint32_t *ret)
{
    const trace_span *spans = self->trace->spans.at;
    uint32_t count = self->graph->span_count;
    uint64_t *keys;
    bool is_ordered = true;
    bool is_done;

    memset(ret, 0xff, count * sizeof *ret);
    for (uint32_t i = 0; i < count && is_ordered; i++) {
        is_ordered = spans[i].order < count && ret[spans[i].order] == TRACE_NONE;
        if (is_ordered)
            ret[spans[i].order] = i;
    }
    for (uint32_t i = 0; i < count && !is_ordered; i++)
        ret[i] = i;
    for (uint32_t i = 1; i < count && is_ordered; i++)
        is_ordered = spans[ret[i - 1]].start_ns <= spans[ret[i]].start_ns;
    if (is_ordered)
        return true;
    keys = column_take(self->heap, count, sizeof *keys);
    if (keys == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        keys[i] = spans[i].start_ns;
    is_done = column_sort(self->heap, ret, count, keys);
    column_free(self->heap, keys, count, sizeof *keys);
    return is_done;
}

/* Operations in order of start; *ret stays NULL when that is the order of the stream. */
static bool order_operations(const graph_work *self, uint32_t **ret)
{
    const trace_op *ops = self->trace->ops.at;
    uint32_t count = self->graph->op_count;
    uint64_t *keys;
    uint32_t i = 1;
    bool is_done;

    while (i < count && ops[i - 1].timestamp_ns <= ops[i].timestamp_ns)
        i++;
    if (i >= count)
        return true;
    *ret = column_take(self->heap, count, sizeof **ret);
    keys = column_take(self->heap, count, sizeof *keys);
    is_done = *ret != NULL && keys != NULL;
    for (i = 0; is_done && i < count; i++) {
        (*ret)[i] = i;
        keys[i] = ops[i].timestamp_ns;
    }
    is_done = is_done && column_sort(self->heap, *ret, count, keys);
    column_free(self->heap, keys, count, sizeof *keys);
    return is_done;
}

/*
 * What the children of one span cover: with intervals coming in order of start, the length of a
 * union needs its end and its sum only. Twice, for all time and for the measured window.
 */
typedef struct cover {
    uint64_t end_ns;
    uint64_t sum_ns;
    uint64_t window_end_ns;
    uint64_t window_sum_ns;
} cover;

typedef struct time_window {
    uint64_t start_ns;
    uint64_t end_ns;
} time_window;

static void cover_until(uint64_t *covered_ns, uint64_t *sum_ns, uint64_t start_ns, uint64_t end_ns)
{
    if (start_ns < *covered_ns)
        start_ns = *covered_ns;
    if (end_ns > start_ns) {
        *sum_ns += end_ns - start_ns;
        *covered_ns = end_ns;
    }
}

static void add_cover(cover *self, const time_window *window, uint64_t start_ns,
                      uint64_t duration_ns)
{
    uint64_t end_ns = num_sat_add(start_ns, duration_ns);

    cover_until(&self->end_ns, &self->sum_ns, start_ns, end_ns);
    cover_until(&self->window_end_ns, &self->window_sum_ns,
                start_ns > window->start_ns ? start_ns : window->start_ns,
                end_ns < window->end_ns ? end_ns : window->end_ns);
}

/* One sweep over all spans and operations, by start. */
static void sweep(const graph_work *self, const time_window *window, const uint32_t *spans_by_start,
                  const uint32_t *ops_by_start, cover *covers)
{
    const graph *result = self->graph;
    const trace_span *spans = self->trace->spans.at;
    const trace_op *ops = self->trace->ops.at;
    uint32_t next_op = 0;

    for (uint32_t i = 0; i <= result->span_count; i++) {
        uint32_t span = i < result->span_count ? spans_by_start[i] : TRACE_NONE;

        for (; next_op < result->op_count; next_op++) {
            uint32_t op = ops_by_start != NULL ? ops_by_start[next_op] : next_op;

            if (span != TRACE_NONE && ops[op].timestamp_ns >= spans[span].start_ns)
                break;
            add_cover(&covers[self->op_span[op]], window, ops[op].timestamp_ns,
                      ops[op].duration_ns);
        }
        if (span != TRACE_NONE && spans[span].parent != TRACE_NONE)
            add_cover(&covers[spans[span].parent], window, spans[span].start_ns,
                      result->total_ns[span]);
    }
}

/* --- ranking --- */

/*
 * Each ranking keeps its best rows in order. Candidates come in id order and a new one goes behind
 * those it equals, so ties end up in id order.
 */

typedef struct host_rank {
    graph_host_row row;
    uint64_t self_ns;
} host_rank;

static bool is_slower(const host_rank *a, const host_rank *b)
{
    if (a->row.clipped_self_ns != b->row.clipped_self_ns)
        return a->row.clipped_self_ns > b->row.clipped_self_ns;
    return a->self_ns > b->self_ns;
}

static bool is_op_kind(const trace_span *span)
{
    return span->parent_id != 0 && span->kind == SPAN_KIND_OP;
}

/* Self times of all spans and the slowest of them within the window. */
static void rank_host(const graph_work *self, const time_window *window, const cover *covers)
{
    graph *result = self->graph;
    const trace_span *spans = self->trace->spans.at;
    host_rank best[GRAPH_RANK_ROWS];
    uint32_t count = 0;

    for (uint32_t i = 0; i < result->span_count; i++) {
        uint64_t end_ns = num_sat_add(spans[i].start_ns, result->total_ns[i]);
        uint64_t from_ns =
            spans[i].start_ns > window->start_ns ? spans[i].start_ns : window->start_ns;
        uint64_t to_ns = end_ns < window->end_ns ? end_ns : window->end_ns;

        result->self_ns[i] = num_sat_sub(result->total_ns[i], covers[i].sum_ns);
        if (to_ns <= from_ns || is_op_kind(&spans[i]) || self->is_ancestor[i])
            continue;

        host_rank rank = {
            .row = {.span = i,
                    .is_concurrent = !result->in_subtree[i],
                    .clipped_self_ns = num_sat_sub(to_ns - from_ns, covers[i].window_sum_ns),
                    .clipped_total_ns = to_ns - from_ns},
            .self_ns = result->self_ns[i]};

        uint32_t place = count;

        while (place > 0 && is_slower(&rank, &best[place - 1]))
            place--;
        if (place == GRAPH_RANK_ROWS)
            continue;
        if (count < GRAPH_RANK_ROWS)
            count++;
        memmove(&best[place + 1], &best[place], (count - 1 - place) * sizeof *best);
        best[place] = rank;
    }
    result->host_count = count;
    for (uint32_t i = 0; i < count; i++)
        result->host[i] = best[i].row;
}

/* Device time of the measured subtree: one row per span, device and clock. */
static bool is_busier(const graph *self, uint32_t a, uint32_t b)
{
    return self->timing->spans.at[a].busy_ns > self->timing->spans.at[b].busy_ns;
}

static void rank_device(graph *self)
{
    for (uint32_t span = 0; span < self->span_count; span++) {
        for (uint32_t row = self->timing_at[span];
             self->in_subtree[span] && row < self->timing_at[span + 1]; row++) {
            uint32_t place = self->device_count;

            while (place > 0 && is_busier(self, row, self->device[place - 1].timing))
                place--;
            if (place == GRAPH_RANK_ROWS)
                continue;
            if (self->device_count < GRAPH_RANK_ROWS)
                self->device_count++;
            memmove(&self->device[place + 1], &self->device[place],
                    (self->device_count - 1 - place) * sizeof *self->device);
            self->device[place] = (graph_device_row){span, row};
        }
    }
}

static void rank_heaviest(graph *self)
{
    const trace_span *spans = self->trace->spans.at;

    for (uint32_t span = 0; span < self->span_count; span++) {
        uint32_t place = self->heaviest_count;

        if (!self->in_subtree[span] || !self->has_allocated[span] || is_op_kind(&spans[span]))
            continue;
        while (place > 0 &&
               self->allocated_bytes[span] > self->allocated_bytes[self->heaviest[place - 1]])
            place--;
        if (place == GRAPH_RANK_ROWS)
            continue;
        if (self->heaviest_count < GRAPH_RANK_ROWS)
            self->heaviest_count++;
        memmove(&self->heaviest[place + 1], &self->heaviest[place],
                (self->heaviest_count - 1 - place) * sizeof *self->heaviest);
        self->heaviest[place] = span;
    }
}

/* Rows of the timing plane come in order of span id, and so do spans. */
static void set_timing_at(graph *self)
{
    const timing_plane *timing = self->timing;
    uint32_t row = 0;

    for (uint32_t span = 0; span < self->span_count; span++) {
        self->timing_at[span] = row;
        while (row < timing->spans.count &&
               timing->spans.at[row].span_id == self->trace->spans.at[span].id)
            row++;
    }
    self->timing_at[self->span_count] = row;
}

static bool build_host(graph_work *self)
{
    graph *result = self->graph;
    const trace_span *measured = &self->trace->spans.at[result->measured];
    time_window window = {measured->start_ns, 0};
    uint32_t *spans_by_start = column_take(self->heap, result->span_count, sizeof *spans_by_start);
    uint32_t *ops_by_start = NULL;
    cover *covers = NULL;
    bool is_done = spans_by_start != NULL;

    set_totals(self);
    window.end_ns = num_sat_add(measured->start_ns, result->total_ns[result->measured]);
    is_done = is_done && order_spans(self, spans_by_start) && order_operations(self, &ops_by_start);
    if (is_done) {
        covers = column_zero(self->heap, result->span_count, sizeof *covers);
        is_done = covers != NULL;
    }
    if (is_done) {
        sweep(self, &window, spans_by_start, ops_by_start, covers);
        rank_host(self, &window, covers);
    }
    column_free(self->heap, covers, result->span_count, sizeof *covers);
    column_free(self->heap, ops_by_start, result->op_count, sizeof *ops_by_start);
    column_free(self->heap, spans_by_start, result->span_count, sizeof *spans_by_start);
    return is_done;
}

/* --- nodes --- */

static bool place_operations(graph_work *self)
{
    graph *result = self->graph;

    self->op_span = column_take(self->heap, result->op_count, sizeof *self->op_span);
    self->op_count = column_zero(self->heap, result->span_count, sizeof *self->op_count);
    if (self->op_span == NULL || self->op_count == NULL)
        return false;
    for (uint32_t i = 0; i < result->op_count; i++) {
        self->op_span[i] = trace_span_of(self->trace, self->trace->ops.at[i].span_id);
        result->op_number[i] = self->op_count[self->op_span[i]]++;
    }
    return true;
}

static void know_tensor(uint32_t *state, sym tensor)
{
    if (tensor != 0 && state[tensor] == TENSOR_UNKNOWN)
        state[tensor] = TENSOR_KNOWN;
}

/* Which symbols are tensors, and which event tells of them first? */
static bool find_tensors(graph_work *self)
{
    const trace_doc *trace = self->trace;
    uint32_t *state;

    self->tensor_state = column_zero(self->heap, intern_count(&trace->texts), sizeof *state);
    state = self->tensor_state;
    if (state == NULL)
        return false;
    for (size_t i = trace->tensors.count; i-- > 0;)
        state[trace->tensors.at[i].tensor_id] = (uint32_t)i + TENSOR_EVENT;
    for (size_t i = 0; i < trace->inputs.count; i++)
        know_tensor(state, trace->inputs.at[i]);
    for (size_t i = 0; i < trace->ops.count; i++)
        know_tensor(state, trace->ops.at[i].output);
    return true;
}

static bool list_tensors(graph_work *self)
{
    graph *result = self->graph;
    const intern *texts = &self->trace->texts;
    uint32_t count = 0;
    uint32_t *items;
    uint32_t *room;
    uint64_t *keys;
    bool is_done;

    for (size_t i = 1; i < intern_count(texts); i++)
        count += self->tensor_state[i] != TENSOR_UNKNOWN;
    result->tensor_count = count;
    result->tensors = column_take(self->heap, count, sizeof *result->tensors);
    items = column_take(self->heap, count, sizeof *items);
    room = column_take(self->heap, count, sizeof *room);
    keys = column_take(self->heap, count, sizeof *keys);
    is_done = result->tensors != NULL && items != NULL && room != NULL && keys != NULL;
    if (is_done) {
        uint32_t filled = 0;

        for (size_t i = 1; i < intern_count(texts); i++) {
            if (self->tensor_state[i] != TENSOR_UNKNOWN)
                items[filled++] = (uint32_t)i;
        }
        sort_symbols(items, room, keys, count, texts);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t state = self->tensor_state[items[i]];

            result->tensors[i] = (graph_tensor_node){
                items[i], state == TENSOR_KNOWN ? TRACE_NONE : state - TENSOR_EVENT};
        }
    }
    column_free(self->heap, keys, count, sizeof *keys);
    column_free(self->heap, room, count, sizeof *room);
    column_free(self->heap, items, count, sizeof *items);
    return is_done;
}

/* --- ids that would name two nodes --- */

/* Split off "/op/N" with N written as we write it: *ret_base is what is in front. */
static bool split_operation(cg_str id, cg_str *ret_base, uint64_t *ret_number)
{
    size_t digits = 0;
    size_t tail;
    cg_str number;

    while (digits < id.len && id.ptr[id.len - 1 - digits] >= '0' &&
           id.ptr[id.len - 1 - digits] <= '9')
        digits++;
    tail = digits + GRAPH_OP_PART.len;
    if (digits == 0 || id.len < tail ||
        memcmp(id.ptr + id.len - tail, GRAPH_OP_PART.ptr, GRAPH_OP_PART.len) != 0)
        return false;
    number = (cg_str){id.ptr + id.len - digits, digits};
    if (number.ptr[0] == '0' && digits > 1)
        return false;
    *ret_base = (cg_str){id.ptr, id.len - tail};
    return num_read_u64(number, ret_number);
}

/* The span that has an operation `number` and the id `base`, or TRACE_NONE. */
static uint32_t span_with_operation(const graph_work *self, cg_str base, uint64_t number)
{
    uint32_t span = trace_span_of(self->trace, intern_find(&self->trace->texts, base));

    return span != TRACE_NONE && number < self->op_count[span] ? span : TRACE_NONE;
}

static cg_code check_span_id(const graph_work *self, const trace_span *span, cg_err *reterr)
{
    cg_str id = trace_text(self->trace, span->id);
    cg_str base;
    uint64_t number = 0;

    if (split_operation(id, &base, &number) &&
        span_with_operation(self, base, number) != TRACE_NONE)
        return cg_fail(reterr, PROBLEM_GRAPH_ID,
                       "span `%.*s` has the node id of operation %" PRIu64 " of span `%.*s`",
                       ERR_STR(id), number, ERR_STR(base));
    if (str_starts_with(id, GRAPH_TENSOR_PREFIX)) {
        cg_str name = {id.ptr + GRAPH_TENSOR_PREFIX.len, id.len - GRAPH_TENSOR_PREFIX.len};
        sym tensor = intern_find(&self->trace->texts, name);

        if (tensor != 0 && self->tensor_state[tensor] != TENSOR_UNKNOWN)
            return cg_fail(reterr, PROBLEM_GRAPH_ID, "span `%.*s` has the node id of tensor `%.*s`",
                           ERR_STR(id), ERR_STR(name));
    }
    return CG_OK;
}

/* Tensor `Y/op/N` against operation N of span `tensor/Y`, and `op/N` against span `tensor`. */
static cg_code check_tensor_id(const graph_work *self, sym tensor, buf *room, cg_err *reterr)
{
    cg_str id = trace_text(self->trace, tensor);
    cg_str base;
    uint64_t number = 0;

    /* Most ids end differently; those are not copied. */
    if (id.len < 4 || id.ptr[id.len - 1] < '0' || id.ptr[id.len - 1] > '9')
        return CG_OK;
    buf_clear(room);
    buf_add(room, GRAPH_TENSOR_PREFIX);
    buf_add(room, id);
    if (room->failed)
        return err_nomem(reterr);
    if (split_operation(buf_text(room), &base, &number) &&
        span_with_operation(self, base, number) != TRACE_NONE)
        return cg_fail(reterr, PROBLEM_GRAPH_ID,
                       "tensor `%.*s` has the node id of operation %" PRIu64 " of span `%.*s`",
                       ERR_STR(id), number, ERR_STR(base));
    return CG_OK;
}

static cg_code check_ids(const graph_work *self, cg_err *reterr)
{
    const trace_doc *trace = self->trace;
    bool is_tensor_span = false;
    cg_code code = CG_OK;
    buf room;

    for (uint32_t i = 0; i < self->graph->span_count; i++) {
        CG_TRY(check_span_id(self, &trace->spans.at[i], reterr));
        if (str_starts_with(trace_text(trace, trace->spans.at[i].id), TENSOR_WORD))
            is_tensor_span = true;
    }
    if (!is_tensor_span)
        return CG_OK;
    buf_init(&room, self->heap, SIZE_MAX);
    for (uint32_t i = 0; i < self->graph->tensor_count && code == CG_OK; i++)
        code = check_tensor_id(self, self->graph->tensors[i].tensor_id, &room, reterr);
    buf_free(&room);
    return code;
}

/* --- memory on nodes --- */

static bool is_memory_complete(const trace_doc *trace)
{
    const rec_contract *contract = trace->run.contract;

    return contract->logical_memory == LEVEL_COMPLETE;
}

static void set_allocated(const graph_work *self)
{
    graph *result = self->graph;
    const memory_plane *memory = result->memory;

    for (uint32_t i = 0; i < result->span_count; i++)
        result->has_allocated[i] = is_memory_complete(self->trace);
    for (size_t i = 0; i < memory->lifetimes.count; i++) {
        const trace_memory *row = &self->trace->memory.at[memory->lifetimes.at[i].alloc_event];
        uint32_t span = trace_span_of(self->trace, row->span_id);

        result->has_allocated[span] = true;
        result->allocated_bytes[span] = num_sat_add(result->allocated_bytes[span], row->bytes);
    }
}

/* The operations of one span that have one name. */
typedef struct op_group {
    uint32_t op; /* the first of them */
    uint32_t count;
} op_group;

typedef VEC(op_group) op_groups;

/* Groups that lifetimes ask for: (span, name) -> number. */
static bool ask_groups(const graph_work *self, pairs *numbers, op_groups *groups)
{
    const memory_plane *memory = self->graph->memory;

    for (size_t i = 0; i < memory->lifetimes.count; i++) {
        const trace_memory *row = &self->trace->memory.at[memory->lifetimes.at[i].alloc_event];
        uint32_t span = trace_span_of(self->trace, row->span_id);
        bool is_new = false;

        if (row->op_name == 0 || self->op_count[span] == 0)
            continue;
        if (pairs_add(numbers, span, row->op_name, (uint32_t)groups->count, &is_new) == NULL)
            return false;
        if (is_new) {
            op_group *group = vec_add(self->heap, groups);

            if (group == NULL)
                return false;
            *group = (op_group){0};
        }
    }
    return true;
}

static bool set_op_allocated(const graph_work *self)
{
    graph *result = self->graph;
    const memory_plane *memory = result->memory;
    pairs numbers;
    op_groups groups = {0};
    bool is_done;

    pairs_init(&numbers, self->heap, self->trace->texts.seed);
    is_done = ask_groups(self, &numbers, &groups);
    for (uint32_t i = 0; is_done && groups.count > 0 && i < result->op_count; i++) {
        uint32_t *number = pairs_find(&numbers, self->op_span[i], self->trace->ops.at[i].name);

        if (number != NULL && groups.at[*number].count++ == 0)
            groups.at[*number].op = i;
    }
    for (size_t i = 0; is_done && groups.count > 0 && i < memory->lifetimes.count; i++) {
        const trace_memory *row = &self->trace->memory.at[memory->lifetimes.at[i].alloc_event];
        uint32_t *number =
            row->op_name == 0
                ? NULL
                : pairs_find(&numbers, trace_span_of(self->trace, row->span_id), row->op_name);

        if (number != NULL && groups.at[*number].count == 1) {
            uint32_t op = groups.at[*number].op;

            result->has_op_allocated[op] = true;
            result->op_allocated[op] = num_sat_add(result->op_allocated[op], row->bytes);
        }
    }
    pairs_free(&numbers);
    vec_free(self->heap, &groups);
    return is_done;
}

static bool build_memory(graph_work *self)
{
    graph *result = self->graph;

    result->has_memory = self->trace->memory.count > 0;
    if (!result->has_memory)
        return true;
    result->allocated_bytes =
        column_zero(self->heap, result->span_count, sizeof *result->allocated_bytes);
    result->peak_live_bytes =
        column_zero(self->heap, result->span_count, sizeof *result->peak_live_bytes);
    result->residual_bytes =
        column_zero(self->heap, result->span_count, sizeof *result->residual_bytes);
    result->op_allocated = column_zero(self->heap, result->op_count, sizeof *result->op_allocated);
    if (result->allocated_bytes == NULL || result->peak_live_bytes == NULL ||
        result->residual_bytes == NULL || result->op_allocated == NULL)
        return false;
    set_allocated(self);
    return set_op_allocated(self);
}

_Static_assert(GRAPH_RANK_ROWS <= PEAKS_FEW, "the heaviest spans are few");

/* The summary names the peaks of the heaviest spans only. */
static bool set_heaviest_peaks(graph_work *self)
{
    graph *result = self->graph;
    const peaks_tree tree = {.memory = result->memory,
                             .preorder = self->preorder,
                             .depth = result->depth,
                             .is_complete = is_memory_complete(self->trace)};

    if (!result->has_memory || result->heaviest_count == 0)
        return true;
    return peaks_of_few(self->heap, &tree, result->heaviest, result->heaviest_count,
                        result->peak_live_bytes, result->residual_bytes, result->has_peak);
}

/* --- the whole --- */

static bool take_graph(graph *self)
{
    size_t spans = self->span_count;
    size_t ops = self->op_count;

    self->total_ns = column_take(self->heap, spans, sizeof *self->total_ns);
    self->self_ns = column_take(self->heap, spans, sizeof *self->self_ns);
    self->op_number = column_take(self->heap, ops, sizeof *self->op_number);
    self->timing_at = column_take(self->heap, spans + 1, sizeof *self->timing_at);
    self->depth = column_take(self->heap, spans, sizeof *self->depth);
    self->in_subtree = column_take(self->heap, spans, sizeof *self->in_subtree);
    self->has_allocated = column_zero(self->heap, spans, sizeof *self->has_allocated);
    self->has_peak = column_zero(self->heap, spans, sizeof *self->has_peak);
    self->has_op_allocated = column_zero(self->heap, ops, sizeof *self->has_op_allocated);
    return self->total_ns != NULL && self->self_ns != NULL && self->op_number != NULL &&
           self->timing_at != NULL && self->depth != NULL && self->in_subtree != NULL &&
           self->has_allocated != NULL && self->has_peak != NULL && self->has_op_allocated != NULL;
}

static bool prepare(graph_work *self)
{
    graph *result = self->graph;
    uint32_t at = self->trace->spans.at[result->measured].parent;

    self->preorder = column_take(self->heap, result->span_count, sizeof *self->preorder);
    self->is_ancestor = column_zero(self->heap, result->span_count, sizeof *self->is_ancestor);
    if (self->preorder == NULL || self->is_ancestor == NULL || !take_graph(result) ||
        !list_preorder(self->heap, self->trace, self->preorder) || !place_operations(self))
        return false;
    set_depths(self);
    for (; at != TRACE_NONE; at = self->trace->spans.at[at].parent)
        self->is_ancestor[at] = true;
    return find_tensors(self) && list_tensors(self);
}

static void free_tensor_state(graph_work *self)
{
    column_free(self->heap, self->tensor_state, intern_count(&self->trace->texts),
                sizeof *self->tensor_state);
    self->tensor_state = NULL;
}

static cg_code build(graph_work *self, cg_err *reterr)
{
    graph *result = self->graph;

    if (!prepare(self))
        return err_nomem(reterr);
    CG_TRY(check_ids(self, reterr));
    free_tensor_state(self);
    set_timing_at(result);
    if (!build_host(self) || !build_memory(self))
        return err_nomem(reterr);
    rank_device(result);
    rank_heaviest(result);
    if (!set_heaviest_peaks(self))
        return err_nomem(reterr);
    return CG_OK;
}

cg_code graph_build(heap *from, const trace_doc *trace, const health_report *health,
                    const memory_plane *memory, const timing_plane *timing, graph *ret,
                    cg_err *reterr)
{
    graph_work self = {.graph = ret, .trace = trace, .heap = from};
    cg_code code;

    *ret = (graph){.trace = trace,
                   .memory = memory,
                   .timing = timing,
                   .heap = from,
                   .span_count = (uint32_t)trace->spans.count,
                   .op_count = (uint32_t)trace->ops.count,
                   .measured = health->measured_span};
    if (trace->spans.count + trace->ops.count + intern_count(&trace->texts) >= TRACE_NONE)
        return cg_fail(reterr, PROBLEM_LIMIT, "the graph would have more than 2^32 nodes");
    code = build(&self, reterr);
    free_tensor_state(&self);
    column_free(from, self.preorder, ret->span_count, sizeof *self.preorder);
    column_free(from, self.is_ancestor, ret->span_count, sizeof *self.is_ancestor);
    column_free(from, self.op_span, ret->op_count, sizeof *self.op_span);
    column_free(from, self.op_count, ret->span_count, sizeof *self.op_count);
    if (code != CG_OK)
        graph_free(ret);
    return code;
}

void graph_free(graph *self)
{
    heap *from = self->heap;
    size_t spans = self->span_count;
    size_t ops = self->op_count;

    if (from != NULL) {
        column_free(from, self->total_ns, spans, sizeof *self->total_ns);
        column_free(from, self->self_ns, spans, sizeof *self->self_ns);
        column_free(from, self->op_number, ops, sizeof *self->op_number);
        column_free(from, self->timing_at, spans + 1, sizeof *self->timing_at);
        column_free(from, self->depth, spans, sizeof *self->depth);
        column_free(from, self->in_subtree, spans, sizeof *self->in_subtree);
        column_free(from, self->tensors, self->tensor_count, sizeof *self->tensors);
        column_free(from, self->allocated_bytes, spans, sizeof *self->allocated_bytes);
        column_free(from, self->has_allocated, spans, sizeof *self->has_allocated);
        column_free(from, self->peak_live_bytes, spans, sizeof *self->peak_live_bytes);
        column_free(from, self->residual_bytes, spans, sizeof *self->residual_bytes);
        column_free(from, self->has_peak, spans, sizeof *self->has_peak);
        column_free(from, self->op_allocated, ops, sizeof *self->op_allocated);
        column_free(from, self->has_op_allocated, ops, sizeof *self->has_op_allocated);
    }
    *self = (graph){0};
}

cg_code graph_complete(heap *from, graph *copy, cg_err *reterr)
{
    size_t spans = copy->span_count;
    peaks_tree tree = {.memory = copy->memory,
                       .depth = copy->depth,
                       .is_complete = is_memory_complete(copy->trace)};
    uint32_t *preorder;
    bool is_done;

    if (!copy->has_memory || copy->is_complete)
        return CG_OK;
    copy->peak_live_bytes = column_take(from, spans, sizeof *copy->peak_live_bytes);
    copy->residual_bytes = column_take(from, spans, sizeof *copy->residual_bytes);
    copy->has_peak = column_take(from, spans, sizeof *copy->has_peak);
    preorder = column_take(from, spans, sizeof *preorder);
    copy->is_complete = true;
    tree.preorder = preorder;
    is_done = copy->peak_live_bytes != NULL && copy->residual_bytes != NULL &&
              copy->has_peak != NULL && preorder != NULL &&
              list_preorder(from, copy->trace, preorder) &&
              peaks_build(from, &tree, copy->peak_live_bytes, copy->residual_bytes, copy->has_peak);
    column_free(from, preorder, spans, sizeof *preorder);
    if (is_done)
        return CG_OK;
    graph_uncomplete(from, copy);
    return err_nomem(reterr);
}

void graph_uncomplete(heap *from, graph *copy)
{
    size_t spans = copy->span_count;

    if (!copy->is_complete)
        return;
    column_free(from, copy->peak_live_bytes, spans, sizeof *copy->peak_live_bytes);
    column_free(from, copy->residual_bytes, spans, sizeof *copy->residual_bytes);
    column_free(from, copy->has_peak, spans, sizeof *copy->has_peak);
    copy->peak_live_bytes = copy->residual_bytes = NULL;
    copy->has_peak = NULL;
    copy->is_complete = false;
}

cg_code graph_net_peaks(const graph *self, uint64_t *ret_by_span, cg_err *reterr)
{
    uint32_t *preorder;
    bool *has_peak;
    peaks_tree tree = {.memory = self->memory, .depth = self->depth, .is_net = true};
    bool is_done;

    memset(ret_by_span, 0, self->span_count * sizeof *ret_by_span);
    if (!self->has_memory)
        return CG_OK;
    preorder = column_take(self->heap, self->span_count, sizeof *preorder);
    has_peak = column_take(self->heap, self->span_count, sizeof *has_peak);
    tree.preorder = preorder;
    is_done = preorder != NULL && has_peak != NULL &&
              list_preorder(self->heap, self->trace, preorder) &&
              peaks_build(self->heap, &tree, ret_by_span, NULL, has_peak);
    column_free(self->heap, has_peak, self->span_count, sizeof *has_peak);
    column_free(self->heap, preorder, self->span_count, sizeof *preorder);
    return is_done ? CG_OK : err_nomem(reterr);
}
