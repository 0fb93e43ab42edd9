#include "model/flow_operands.h"

#include "model/value_kinds.h"

bool flow_is_tensor(eval *self, val which)
{
    const value *at = value_at(self->values, which);

    if (at->kind == VALUE_TENSOR)
        return true;
    if (at->kind == VALUE_SOME)
        return flow_is_tensor(self, at->as.items[0]);
    if (at->kind == VALUE_CHOICE) {
        for (size_t i = 0; i < at->count; i++) {
            enum value_kind kind = value_kind_of(self->values, at->as.items[i]);

            if (kind == VALUE_TENSOR || ((kind == VALUE_UNKNOWN || kind == VALUE_SOME) &&
                                         flow_is_tensor(self, at->as.items[i])))
                return true;
        }
        return false;
    }
    if (at->kind != VALUE_UNKNOWN || at->type == 0)
        return false;
    return value_class(self->values, value_transparent(self->values, at->type)) == CLASS_TENSOR;
}

void flow_add_operand(flow_call *self, node_ref from, enum flow_role role, size_t index,
                      enum flow_pass passes, sym name)
{
    if (from == 0 || self->edge_count == FLOW_OPERANDS)
        return;
    self->edges[self->edge_count++] = (flow_edge){.from = from,
                                                  .name = name,
                                                  .role = (uint8_t)role,
                                                  .passes = (uint8_t)passes,
                                                  .index = (uint16_t)index};
}

static void add_tensor(flow_call *self, node_ref node)
{
    if (node == 0)
        return;
    if (self->tensors[0] == 0)
        self->tensors[0] = node;
    else if (self->tensors[1] == 0)
        self->tensors[1] = node;
}

/* A tensor that nothing is known of keeps its place among the operands. */
static node_ref node_of(flow_call *self, val arg)
{
    node_ref node = flow_of(self->flow, arg);
    cg_str text;

    if (node != 0)
        return node;
    if (!value_print(self->eval->values, arg, &text)) {
        self->flow->failed = true;
        return 0;
    }
    return flow_named_input(self->flow, text.len == 0 ? CG_LIT("?") : text);
}

static bool is_pair(const flow_call *self)
{
    const operation_row *row = call_row(self);

    return row->operands[0] == 't' && (row->operands[1] == 'o' || row->operands[1] == 't') &&
           row->operands[2] == '\0' && row->shape != SHAPE_SCALAR;
}

static enum flow_role role_of(const flow_call *self, size_t which)
{
    if (is_pair(self))
        return which == 0 ? FLOW_LHS : FLOW_RHS;
    return which == 0 ? FLOW_SELF : FLOW_ARGUMENT;
}

static void add_items(flow_call *self, val list)
{
    const value *at = value_at(self->eval->values, list);

    if (at->kind != VALUE_LIST && at->kind != VALUE_TUPLE) {
        node_ref node = node_of(self, list);

        flow_add_operand(self, node, FLOW_ITEM, 0, FLOW_PASSES, 0);
        add_tensor(self, node);
        return;
    }
    for (size_t i = 0; i < at->count; i++) {
        val item = at->as.items[i];
        node_ref node;

        if (value_kind_of(self->eval->values, item) == VALUE_REPEAT)
            item = value_at(self->eval->values, item)->as.repeat.items[0];
        node = node_of(self, item);
        flow_add_operand(self, node, FLOW_ITEM, i, FLOW_PASSES, 0);
        add_tensor(self, node);
    }
}

/* Numbers that were read out of tensors before. */
static void add_host(flow_call *self, val data)
{
    cg_str text;

    if (self->flow->host_reads.count == 0)
        return;
    if (value_kind_of(self->eval->values, data) == VALUE_LIST) {
        const value *at = value_at(self->eval->values, data);

        for (size_t i = 0; i < at->count && i < 4; i++) {
            val item = at->as.items[i];

            if (value_kind_of(self->eval->values, item) == VALUE_REPEAT)
                item = value_at(self->eval->values, item)->as.repeat.items[0];
            if (value_kind_of(self->eval->values, item) != VALUE_LIST)
                add_host(self, item);
        }
    }
    if (!value_print(self->eval->values, data, &text)) {
        self->flow->failed = true;
        return;
    }
    for (size_t i = 0; i < self->flow->host_reads.count; i++) {
        const flow_host_read *read = &self->flow->host_reads.at[i];
        bool is_there = false;

        for (size_t k = 0; k < self->edge_count; k++)
            is_there |= self->edges[k].role == FLOW_HOST && self->edges[k].from == read->node;
        if (!is_there && read->text.len > 0 && str_find(text, read->text) != SIZE_MAX)
            flow_add_operand(self, read->node, FLOW_HOST, 0, FLOW_SEVERED, 0);
    }
}

/* The tensors of a layer, by field. */
static void add_module(flow_call *self)
{
    static const char *const usual[] = {"weight", "embeddings"};
    eval *owner = self->eval;
    const value *at = value_at(owner->values, self->args[0]);
    bool is_embedding = str_starts_with(operation_name(self->row), CG_LIT("Embedding"));
    cg_str text;

    if (at->kind == VALUE_STRUCT) {
        for (size_t i = 0; i < at->count; i++) {
            value_field field = at->as.fields[i];
            cg_str name = program_text(owner->program, field.name);
            node_ref node =
                flow_is_tensor(owner, field.value) ? flow_of(self->flow, field.value) : 0;

            flow_add_operand(self, node, FLOW_MODULE, i, FLOW_PASSES, field.name);
            if (str_equal(name, CG_LIT("weight")) || str_equal(name, CG_LIT("embeddings")) ||
                str_equal(name, CG_LIT("w_ih")))
                self->weight = node;
            if (str_equal(name, CG_LIT("bias")))
                self->bias = node;
        }
        return;
    }
    if (at->kind == VALUE_ENUM || !value_print(owner->values, self->args[0], &text) ||
        !arena_format(&self->flow->mem, &text, "%.*s.%s", (int)text.len, text.ptr,
                      usual[is_embedding]))
        return;
    self->weight = flow_named_input(self->flow, text);
    flow_add_operand(self, self->weight, FLOW_MODULE, 0, FLOW_PASSES,
                     intern_add(&owner->program->names, str_from(usual[is_embedding])));
}

void flow_gather(flow_call *self)
{
    const char *letters = call_row(self)->operands;

    for (size_t i = 0; letters[i] != '\0' && i < self->count && i < FLOW_LETTERS; i++) {
        val arg = self->args[i];
        bool is_tensor = arg != 0 && flow_is_tensor(self->eval, arg);
        enum flow_role role = role_of(self, i);
        size_t index = i == 0 ? 0 : i - 1;

        switch (letters[i]) {
        case 't':
            self->node_at[i] = node_of(self, arg);
            flow_add_operand(self, self->node_at[i], role, index, FLOW_PASSES, 0);
            add_tensor(self, self->node_at[i]);
            break;
        case 'x':
            self->node_at[i] = node_of(self, arg);
            flow_add_operand(self, self->node_at[i], role, index, FLOW_SEVERED, 0);
            add_tensor(self, self->node_at[i]);
            break;
        case 'o':
            if (!is_tensor) {
                if (arg != 0)
                    add_host(self, arg);
                break;
            }
            self->node_at[i] = node_of(self, arg);
            flow_add_operand(self, self->node_at[i], role, index, FLOW_PASSES, 0);
            add_tensor(self, self->node_at[i]);
            break;
        case 'L': add_items(self, arg); break;
        case 'f':
        case 'h':
            if (arg != 0)
                add_host(self, arg);
            break;
        case '_':
        case 'r':
            if (is_tensor)
                flow_add_operand(self, flow_of(self->flow, arg), role, index, FLOW_SEVERED, 0);
            break;
        default: break;
        }
    }
    if (letters[0] == 'm')
        add_module(self);
}
