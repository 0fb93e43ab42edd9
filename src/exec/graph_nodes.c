#include "exec/graph_nodes.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/num.h"
#include "base/sort.h"
#include "exec/columns.h"

#define TENSOR_WORD CG_LIT("tensor")

enum { TENSOR_UNKNOWN, TENSOR_KNOWN, TENSOR_EVENT };

/* --- tensors --- */

static void know_tensor(uint32_t *state, sym tensor)
{
    if (tensor != 0 && state[tensor] == TENSOR_UNKNOWN)
        state[tensor] = TENSOR_KNOWN;
}

/* Which symbols are tensors, and which event tells of them first? */
static bool find_tensors(graph_nodes *self)
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

static bool list_tensors(graph_nodes *self)
{
    const intern *texts = &self->trace->texts;
    uint32_t count = 0;
    uint32_t *items;
    uint32_t *room;
    uint64_t *keys;
    bool is_done;

    for (size_t i = 1; i < intern_count(texts); i++)
        count += self->tensor_state[i] != TENSOR_UNKNOWN;
    self->tensor_count = count;
    self->tensors = column_take(self->heap, count, sizeof *self->tensors);
    items = column_take(self->heap, count, sizeof *items);
    room = column_take(self->heap, count, sizeof *room);
    keys = column_take(self->heap, count, sizeof *keys);
    is_done = self->tensors != NULL && items != NULL && room != NULL && keys != NULL;
    if (is_done) {
        uint32_t filled = 0;

        for (size_t i = 1; i < intern_count(texts); i++) {
            if (self->tensor_state[i] != TENSOR_UNKNOWN)
                items[filled++] = (uint32_t)i;
        }
        sort_symbols(items, room, keys, count, texts);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t state = self->tensor_state[items[i]];

            self->tensors[i] = (graph_tensor_node){
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
static uint32_t span_with_operation(const graph_nodes *self, cg_str base, uint64_t number)
{
    uint32_t span = trace_span_of(self->trace, intern_find(&self->trace->texts, base));

    return span != TRACE_NONE && number < self->op_count[span] ? span : TRACE_NONE;
}

static cg_code check_span_id(const graph_nodes *self, const trace_span *span, cg_err *reterr)
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
static cg_code check_tensor_id(const graph_nodes *self, sym tensor, buf *room, cg_err *reterr)
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

static cg_code check_ids(const graph_nodes *self, cg_err *reterr)
{
    const trace_doc *trace = self->trace;
    bool is_tensor_span = false;
    cg_code code = CG_OK;
    buf room;

    for (uint32_t i = 0; i < self->span_count; i++) {
        CG_TRY(check_span_id(self, &trace->spans.at[i], reterr));
        if (str_starts_with(trace_text(trace, trace->spans.at[i].id), TENSOR_WORD))
            is_tensor_span = true;
    }
    if (!is_tensor_span)
        return CG_OK;
    buf_init(&room, self->heap, SIZE_MAX);
    for (uint32_t i = 0; i < self->tensor_count && code == CG_OK; i++)
        code = check_tensor_id(self, self->tensors[i].tensor_id, &room, reterr);
    buf_free(&room);
    return code;
}

cg_code graph_nodes_build(graph_nodes *self, cg_err *reterr)
{
    size_t symbols = intern_count(&self->trace->texts);
    cg_code code = find_tensors(self) && list_tensors(self) ? CG_OK : err_nomem(reterr);

    if (code == CG_OK)
        code = check_ids(self, reterr);
    column_free(self->heap, self->tensor_state, symbols, sizeof *self->tensor_state);
    self->tensor_state = NULL;
    return code;
}
