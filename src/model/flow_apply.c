#include "model/flow_apply.h"

#include <math.h>

#include "base/str_name.h"
#include "model/catalogue.h"
#include "model/value_kinds.h"

static const flow_facts *facts_at(const flow_call *self, node_ref which)
{
    return &self->flow->nodes.at[which].facts;
}

static const operation_row *row_of(const flow_call *self)
{
    return operation_at(self->row);
}

/* Did the operation come after the version the crate is built with? */
static bool is_later(const eval *owner, operation which)
{
    bool is_core = str_starts_with(str_from(operation_at(which)->path), CG_LIT("candle_core::"));
    uint32_t version = owner->catalogue == NULL ? 0
                       : is_core                ? owner->catalogue->candle_core
                                                : owner->catalogue->candle_nn;

    return which != 0 && version != 0 && version < operation_since(which);
}

/* Room for a call: they are large, and few are open at a time. */
static flow_call *take_room(flow *graph)
{
    flow_call *room = graph->ended_calls;

    if (room == NULL)
        return arena_take(&graph->calls, sizeof *room);
    graph->ended_calls = room->next;
    return room;
}

flow_call *flow_call_begin(eval *owner, cg_str path, model_place place)
{
    sym name = intern_add(&owner->program->names, path);
    uint32_t *found =
        name == 0 ? NULL : number_map_put(&owner->flow->rows, number_map_key(1, name), UINT32_MAX);
    flow_call *self = found == NULL ? NULL : take_room(owner->flow);

    if (self == NULL)
        return NULL;
    memset(self, 0, offsetof(flow_call, edges));
    self->eval = owner;
    self->flow = owner->flow;
    self->path = path;
    self->name = name;
    self->place = place;
    self->facts = flow_no_facts();
    if (*found == UINT32_MAX) {
        *found = operation_find(path);
        if (is_later(owner, (operation)*found))
            *found = 0; /* something else of that name */
    }
    self->row = (operation)*found;
    return self;
}

void flow_call_end(flow_call *self)
{
    self->next = self->flow->ended_calls;
    self->flow->ended_calls = self;
}

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

val flow_field(flow_call *self, const char *name)
{
    eval *owner = self->eval;
    sym symbol = intern_add(&owner->program->names, str_from(name));

    if (self->count == 0 || symbol == 0)
        return 0;
    return value_field_of(owner->values, self->args[0], symbol);
}

void flow_require(flow_call *self, enum flow_need need, enum check result, node_ref operand,
                  node_ref other, cg_str text)
{
    if (self->need_count == FLOW_NEEDS)
        return;
    self->needs[self->need_count++] = (flow_requirement){.operand = operand,
                                                         .other = other,
                                                         .need = (uint8_t)need,
                                                         .result = (uint8_t)result,
                                                         .text = text};
}

bool flow_want_rank(flow_call *self, node_ref which, unsigned rank)
{
    flow_facts *facts = &self->flow->nodes.at[which].facts;
    cg_str text = {NULL, 0};
    unsigned more;

    if (facts->has_rank) {
        if (facts->rank == rank)
            return true;
        if (!arena_format(&self->flow->mem, &text, "%.*s, wanted are %u axes",
                          STR_NAME(flow_shape_text(self->flow, which)), rank))
            self->flow->failed = true;
        flow_require(self, FLOW_NEED_RANK, CHECK_FAILS, which, 0, text);
        return false;
    }
    if (which == 0 || rank > FLOW_AXES || rank < facts->rank)
        return false;
    more = rank - facts->rank;
    memmove(facts->axes + more, facts->axes, facts->rank * sizeof facts->axes[0]);
    memset(facts->axes, 0, more * sizeof facts->axes[0]);
    facts->rank = (uint8_t)rank;
    facts->has_rank = true;
    return true;
}

/* --- operands --- */

static void add_edge(flow_call *self, node_ref from, enum flow_role role, size_t index,
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
    const operation_row *row = row_of(self);

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

        add_edge(self, node, FLOW_ITEM, 0, FLOW_PASSES, 0);
        add_tensor(self, node);
        return;
    }
    for (size_t i = 0; i < at->count; i++) {
        val item = at->as.items[i];
        node_ref node;

        if (value_kind_of(self->eval->values, item) == VALUE_REPEAT)
            item = value_at(self->eval->values, item)->as.repeat.items[0];
        node = node_of(self, item);
        add_edge(self, node, FLOW_ITEM, i, FLOW_PASSES, 0);
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
            add_edge(self, read->node, FLOW_HOST, 0, FLOW_SEVERED, 0);
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

            add_edge(self, node, FLOW_MODULE, i, FLOW_PASSES, field.name);
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
    add_edge(self, self->weight, FLOW_MODULE, 0, FLOW_PASSES,
             intern_add(&owner->program->names, str_from(usual[is_embedding])));
}

static void gather(flow_call *self)
{
    const char *letters = row_of(self)->operands;

    for (size_t i = 0; letters[i] != '\0' && i < self->count && i < FLOW_LETTERS; i++) {
        val arg = self->args[i];
        bool is_tensor = arg != 0 && flow_is_tensor(self->eval, arg);
        enum flow_role role = role_of(self, i);
        size_t index = i == 0 ? 0 : i - 1;

        switch (letters[i]) {
        case 't':
            self->node_at[i] = node_of(self, arg);
            add_edge(self, self->node_at[i], role, index, FLOW_PASSES, 0);
            add_tensor(self, self->node_at[i]);
            break;
        case 'x':
            self->node_at[i] = node_of(self, arg);
            add_edge(self, self->node_at[i], role, index, FLOW_SEVERED, 0);
            add_tensor(self, self->node_at[i]);
            break;
        case 'o':
            if (!is_tensor) {
                if (arg != 0)
                    add_host(self, arg);
                break;
            }
            self->node_at[i] = node_of(self, arg);
            add_edge(self, self->node_at[i], role, index, FLOW_PASSES, 0);
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
                add_edge(self, flow_of(self->flow, arg), role, index, FLOW_SEVERED, 0);
            break;
        default: break;
        }
    }
    if (letters[0] == 'm')
        add_module(self);
}

/* --- dtype --- */

/* A value that is a dtype. */
static uint32_t class_of_value(flow_call *self, val dtype)
{
    const value *at = value_at(self->eval->values, dtype);
    enum flow_element element = at->is_known ? flow_element_of(at->text) : ELEMENT_UNKNOWN;
    cg_str text;

    if (at->kind != VALUE_DTYPE && at->kind != VALUE_UNKNOWN)
        return flow_class_new(self->flow, ELEMENT_UNKNOWN, 0);
    if (element != ELEMENT_UNKNOWN)
        return flow_class_new(self->flow, element, 0);
    if (at->kind == VALUE_DTYPE && at->as.number != 0 && at->as.number < self->flow->nodes.count)
        return self->flow->nodes.at[at->as.number].facts.dtype;
    if (!value_print(self->eval->values, dtype, &text) || text.len == 0 ||
        str_equal(text, CG_LIT("?")))
        return flow_class_new(self->flow, ELEMENT_UNKNOWN, 0);
    return flow_class_named(self->flow, text);
}

static enum flow_element element_of_type(flow_call *self, type_ref type)
{
    static const struct {
        const char *name;
        uint8_t element;
    } rows[] = {{"f32", ELEMENT_F32}, {"f64", ELEMENT_F64}, {"u8", ELEMENT_U8},
                {"u32", ELEMENT_U32}, {"i64", ELEMENT_I64}, {"i32", ELEMENT_I32},
                {"i16", ELEMENT_I16}, {"f16", ELEMENT_F16}, {"bf16", ELEMENT_BF16}};
    types *known = self->eval->types;
    cg_str path;
    size_t colon;

    /* Through lists and arrays. */
    for (unsigned i = 0; i < 6 && type != 0; i++) {
        const model_type *at = type_at(known, value_transparent(self->eval->values, type));

        if (at->arg_count == 0 || (at->kind != TYPE_EXTERNAL && at->kind != TYPE_ARRAY)) {
            type = value_transparent(self->eval->values, type);
            break;
        }
        type = at->args[0];
    }
    path = type == 0 ? (cg_str){NULL, 0} : std_type_path(self->eval, type);
    colon = path.len == 0 ? SIZE_MAX : str_find_last(path, ':');
    if (colon != SIZE_MAX)
        path = (cg_str){path.ptr + colon + 1, path.len - colon - 1};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (str_equal(path, str_from(rows[i].name)))
            return (enum flow_element)rows[i].element;
    }
    return ELEMENT_UNKNOWN;
}

/* Is the first argument nothing but numbers as written? Those without a suffix are f64. */
static bool is_written(const flow_call *self)
{
    const program *code_of = self->eval->program;
    cg_str text;
    size_t at;
    int depth = 0;
    bool has_digit = false;

    if (self->place.file == 0 || self->place.file >= code_of->files.count)
        return false;
    text = code_of->files.at[self->place.file]->source.text;
    at = self->place.start;
    while (at < self->place.end && at < text.len && text.ptr[at] != '(')
        at++;
    for (at++; at < self->place.end && at < text.len; at++) {
        char c = text.ptr[at];

        if (c == '[')
            depth++;
        else if (c == ']')
            depth--;
        else if (c == ',' && depth == 0)
            return has_digit;
        else if (c >= '0' && c <= '9')
            has_digit = true;
        else if (c != '.' && c != '-' && c != '_' && c != ',' && c != ' ' && c != '&' &&
                 c != '\n' && c != 'e')
            return false;
    }
    return false;
}

/* What a number, or a list of numbers, is stored as. */
static enum flow_element element_of(flow_call *self, val data)
{
    for (unsigned depth = 0; data != 0 && depth < 8; depth++) {
        const value *at = value_at(self->eval->values, data);
        enum flow_element element = element_of_type(self, at->type);

        if (element != ELEMENT_UNKNOWN)
            return element;
        if (at->kind == VALUE_FLOAT && at->is_known && at->type == 0)
            return is_written(self) ? ELEMENT_F64 : ELEMENT_UNKNOWN;
        if (at->kind != VALUE_LIST || at->count == 0)
            return ELEMENT_UNKNOWN;
        data = at->as.items[0];
        if (value_kind_of(self->eval->values, data) == VALUE_REPEAT)
            data = value_at(self->eval->values, data)->as.repeat.items[0];
    }
    return ELEMENT_UNKNOWN;
}

/* One of the two dtypes is not known. */
static void require_dtype(flow_call *self, node_ref first, node_ref other, bool is_first_open)
{
    size_t before = self->need_count;
    node_ref open = is_first_open ? first : other;
    sym source = 0;

    (void)flow_dtype(self->flow, open, &source);
    flow_require(self, FLOW_NEED_DTYPE, CHECK_UNKNOWN, first, other, (cg_str){NULL, 0});
    if (self->need_count > before) {
        self->needs[before].open_operand = open;
        self->needs[before].is_named = source != 0;
    }
}

/* All of them have one dtype, or the call returns an error. */
static uint32_t equal_dtype(flow_call *self)
{
    flow *graph = self->flow;
    node_ref first = 0;
    uint32_t class = 0;

    for (size_t i = 0; i < self->edge_count; i++) {
        const flow_edge *edge = &self->edges[i];
        uint32_t other = facts_at(self, edge->from)->dtype;
        enum flow_element a;
        enum flow_element b;

        if (edge->role == FLOW_HOST || (edge->passes == FLOW_SEVERED && edge->role != FLOW_MODULE))
            continue;
        if (first == 0) {
            first = edge->from;
            class = other;
            continue;
        }
        a = flow_class_element(graph, class, NULL);
        b = flow_class_element(graph, other, NULL);
        if (flow_class_equal(graph, class, other))
            continue;
        if (a != ELEMENT_UNKNOWN && b != ELEMENT_UNKNOWN) {
            flow_require(self, FLOW_NEED_DTYPE, CHECK_FAILS, first, edge->from, (cg_str){NULL, 0});
            return flow_class_new(graph, ELEMENT_UNKNOWN, 0);
        }
        if ((a != ELEMENT_UNKNOWN || b != ELEMENT_UNKNOWN) && edge->role != FLOW_MODULE)
            require_dtype(self, first, edge->from, a == ELEMENT_UNKNOWN);
        /* What runs on every way proves that they are equal. */
        if (graph->trail->condition == 0 && graph->ways == 0 &&
            !flow_class_unite(graph, class, other))
            return class;
        if (a == ELEMENT_UNKNOWN && b != ELEMENT_UNKNOWN)
            class = other;
    }
    return class != 0 ? class : flow_class_new(graph, ELEMENT_UNKNOWN, 0);
}

static uint32_t argument_dtype(flow_call *self)
{
    const char *letters = row_of(self)->operands;

    for (size_t i = 0; letters[i] != '\0' && i < self->count; i++) {
        if (letters[i] == 'k')
            return class_of_value(self, self->args[i]);
    }
    return flow_class_new(self->flow, ELEMENT_UNKNOWN, 0);
}

static uint32_t result_dtype(flow_call *self)
{
    flow *graph = self->flow;
    const char *letters = row_of(self)->operands;

    switch ((enum operation_dtype)row_of(self)->dtype) {
    case DTYPE_UNKNOWN: break;
    case DTYPE_SAME:
        if (self->tensors[0] != 0)
            return facts_at(self, self->tensors[0])->dtype;
        break;
    case DTYPE_EQUAL:
    case DTYPE_SECOND: return equal_dtype(self);
    case DTYPE_ARGUMENT: return argument_dtype(self);
    case DTYPE_ELEMENT:
        for (size_t i = 0; letters[i] != '\0' && i < self->count; i++) {
            enum flow_element element =
                letters[i] == 'h' ? element_of(self, self->args[i]) : ELEMENT_UNKNOWN;

            if (element != ELEMENT_UNKNOWN)
                return flow_class_new(graph, element, 0);
        }
        break;
    case DTYPE_U8: return flow_class_new(graph, ELEMENT_U8, 0);
    case DTYPE_U32: return flow_class_new(graph, ELEMENT_U32, 0);
    case DTYPE_F32: return flow_class_new(graph, ELEMENT_F32, 0);
    case DTYPE_WEIGHT:
        if (self->weight != 0)
            return facts_at(self, self->weight)->dtype;
        break;
    }
    return flow_class_new(graph, ELEMENT_UNKNOWN, 0);
}

/* --- device --- */

void flow_device(flow_call *self, val device)
{
    const value *at = value_at(self->eval->values, device);
    flow_facts *facts = &self->facts;
    cg_str text;

    if (at->kind == VALUE_DEVICE && at->is_known) {
        facts->device = str_equal(at->text, CG_LIT("cpu"))     ? FLOW_CPU
                        : str_equal(at->text, CG_LIT("cuda"))  ? FLOW_CUDA
                        : str_equal(at->text, CG_LIT("metal")) ? FLOW_METAL
                                                               : FLOW_ANY_DEVICE;
        return;
    }
    if (at->kind == VALUE_DEVICE && at->as.number != 0 && at->as.number < self->flow->nodes.count) {
        facts->device = self->flow->nodes.at[at->as.number].facts.device;
        facts->device_name = self->flow->nodes.at[at->as.number].facts.device_name;
        return;
    }
    if (!value_print(self->eval->values, device, &text) || text.len == 0)
        return;
    facts->device = FLOW_SAME_DEVICE;
    facts->device_name = intern_add(&self->eval->program->names, text);
}

static void place_device(flow_call *self)
{
    const char *letters = row_of(self)->operands;

    for (size_t i = 0; letters[i] != '\0' && i < self->count; i++) {
        if (letters[i] == 'v') {
            flow_device(self, self->args[i]);
            return;
        }
    }
    for (size_t i = 0; i < self->edge_count; i++) {
        const flow_facts *operand = facts_at(self, self->edges[i].from);
        bool is_known = operand->device >= FLOW_CPU && operand->device <= FLOW_METAL;

        if (self->edges[i].role == FLOW_HOST || operand->device == FLOW_ANY_DEVICE)
            continue;
        if (self->facts.device == FLOW_ANY_DEVICE) {
            self->facts.device = operand->device;
            self->facts.device_name = operand->device_name;
        } else if (is_known && self->facts.device != FLOW_SAME_DEVICE &&
                   self->facts.device != operand->device) {
            flow_require(self, FLOW_NEED_DEVICE, CHECK_FAILS, self->edges[0].from,
                         self->edges[i].from, (cg_str){NULL, 0});
        } else if (is_known) {
            self->facts.device = operand->device;
            self->facts.device_name = 0;
        }
    }
}

/* --- layout --- */

/* Is the axis of the argument surely not the first one, whatever the rank is? */
static bool cuts_inner_axis(flow_call *self)
{
    const char *axis = strchr(row_of(self)->operands, 'd');
    size_t which = axis == NULL ? 0 : (size_t)(axis - row_of(self)->operands);
    int64_t at = 0;

    return which > 0 && which < self->count &&
           expr_constant(self->eval->exprs, value_number(self->eval->values, self->args[which]),
                         &at) &&
           at > 0;
}

static void place_layout(flow_call *self)
{
    const operation_row *row = row_of(self);
    const flow_facts *x = facts_at(self, self->tensors[0]);
    flow_facts *it = &self->facts;
    bool is_first = self->tensors[0] != 0;
    bool all = true;

    if (self->is_unsure_view)
        return;
    if (self->is_same_view) {
        it->layout = x->layout;
        it->stride = x->stride;
        it->strided_by = x->strided_by;
        return;
    }
    switch ((enum operation_layout)row->layout) {
    case LAYOUT_UNKNOWN: break;
    case LAYOUT_FRESH: it->layout = FLOW_CONTIGUOUS; break;
    case LAYOUT_SAME:
        if (is_first && it->layout == FLOW_ANY_LAYOUT) {
            it->layout = x->layout;
            it->stride = x->stride;
            it->strided_by = x->strided_by;
        }
        break;
    case LAYOUT_STRIDED:
    case LAYOUT_NARROW:
        /* The rule of the sizes may have seen that nothing moves. */
        if (it->layout != FLOW_ANY_LAYOUT)
            break;
        it->layout = row->layout == LAYOUT_STRIDED || x->has_rank || cuts_inner_axis(self)
                         ? FLOW_STRIDED
                         : FLOW_ANY_LAYOUT;
        if (row->layout == LAYOUT_NARROW && x->stride != STRIDE_NONE)
            it->stride = x->stride == STRIDE_ROWS ? STRIDE_OTHER : x->stride;
        else if (it->stride == STRIDE_NONE)
            it->stride = STRIDE_OTHER;
        if (x->layout == FLOW_STRIDED && row->layout == LAYOUT_STRIDED)
            it->layout = FLOW_ANY_LAYOUT; /* swapped back, perhaps */
        break;
    case LAYOUT_CAST:
        for (size_t i = 0; i < self->edge_count; i++)
            all &= self->edges[i].role == FLOW_MODULE ||
                   facts_at(self, self->edges[i].from)->layout == FLOW_CONTIGUOUS;
        if (row->dtype == DTYPE_ARGUMENT && is_first &&
            flow_class_equal(self->flow, x->dtype, it->dtype)) {
            it->layout = x->layout;
            it->stride = x->stride;
            it->strided_by = x->strided_by;
        } else if (all && is_first) {
            it->layout = FLOW_CONTIGUOUS;
        } else if (row->dtype == DTYPE_ARGUMENT && is_first) {
            enum flow_element from = flow_class_element(self->flow, x->dtype, NULL);
            enum flow_element to = flow_class_element(self->flow, it->dtype, NULL);

            it->layout = from != ELEMENT_UNKNOWN && to != ELEMENT_UNKNOWN ? FLOW_CONTIGUOUS
                                                                          : FLOW_ANY_LAYOUT;
        }
        break;
    }
    if (it->layout != FLOW_STRIDED)
        it->stride = STRIDE_NONE;
}

/* --- what operands must be --- */

static bool is_one(const flow_call *self, expr size)
{
    int64_t it;

    return size != EXPR_NONE && expr_constant(self->eval->exprs, size, &it) && it == 1;
}

static void require_layout(flow_call *self)
{
    uint16_t needs = row_of(self)->needs;

    for (size_t i = 0; i < self->edge_count; i++) {
        const flow_facts *x = facts_at(self, self->edges[i].from);
        bool fails = (needs & NEED_CONTIGUOUS) != 0;

        if (x->layout != FLOW_STRIDED)
            continue;
        /* BLAS takes any two last axes; the axes before must lie one behind the other. */
        if ((needs & NEED_MATRIX) != 0)
            fails |= x->has_rank && x->rank >= 4 && x->stride == STRIDE_BATCH &&
                     !is_one(self, x->axes[0]) && !is_one(self, x->axes[1]) &&
                     !is_one(self, x->axes[2]);
        if (fails)
            flow_require(self, FLOW_NEED_LAYOUT, CHECK_FAILS, self->edges[i].from, x->strided_by,
                         (cg_str){NULL, 0});
    }
}

static void require_kernel(flow_call *self)
{
    uint16_t needs = row_of(self)->needs;
    enum flow_element element = flow_class_element(self->flow, self->facts.dtype, NULL);
    uint32_t version = self->eval->catalogue == NULL ? 0 : self->eval->catalogue->candle_core;

    if (self->facts.device != FLOW_CPU)
        return;
    if ((needs & NEED_GPU) != 0)
        flow_require(self, FLOW_NEED_KERNEL, CHECK_FAILS, self->tensors[0], 0,
                     CG_LIT("no kernel on the CPU"));
    if ((needs & NEED_NO_CPU_HALF) != 0 && element == ELEMENT_BF16 &&
        version < OPERATION_HALF_SINCE)
        flow_require(self, FLOW_NEED_KERNEL, CHECK_FAILS, self->tensors[0], 0,
                     CG_LIT("no matmul of BF16 on the CPU"));
}

static void require_index(flow_call *self)
{
    for (size_t i = 0; i < FLOW_LETTERS && row_of(self)->operands[i] != '\0'; i++) {
        enum flow_element element;

        if (row_of(self)->operands[i] != 'x' || self->node_at[i] == 0)
            continue;
        element = flow_dtype(self->flow, self->node_at[i], NULL);
        if (flow_is_float(element))
            flow_require(self, FLOW_NEED_INTEGER, CHECK_FAILS, self->node_at[i], 0,
                         (cg_str){NULL, 0});
    }
}

/* --- gradient --- */

static bool same_window(flow_call *self)
{
    const value *a;
    const value *b;

    if (self->count < 3)
        return true;
    a = value_at(self->eval->values, self->args[1]);
    b = value_at(self->eval->values, self->args[2]);
    if (value_equal(self->eval->values, self->args[1], self->args[2]))
        return true;
    /* `2` is `(2, 2)`. */
    return (a->kind == VALUE_TUPLE) != (b->kind == VALUE_TUPLE);
}

/*
 * 1: its layer has a kernel without a backward step for contiguous operands, 0: never, -1: perhaps.
 */
static int has_fused_kernel(flow_call *self)
{
    val bias;
    val mean;
    int truth;

    if (!str_starts_with(operation_name(self->row), CG_LIT("LayerNorm")))
        return 1;
    bias = flow_field(self, "bias");
    mean = flow_field(self, "remove_mean");
    truth = mean == 0 ? -1 : value_truth(self->eval->values, mean);
    if (truth == 0 || (bias != 0 && value_kind_of(self->eval->values, bias) == VALUE_NOTHING))
        return 0;
    return truth == 1 && bias != 0 && value_kind_of(self->eval->values, bias) == VALUE_SOME ? 1
                                                                                            : -1;
}

/* An operation somebody wrote: without a `bwd` of its own the backward pass stops with an error. */
static enum flow_pass custom_passes(flow_call *self)
{
    eval *owner = self->eval;
    val given = self->count > 1 ? self->args[self->count - 1] : 0;
    type_ref type = given == 0 ? 0 : value_type(owner->values, given);
    method_found found = {0};
    sym name = intern_add(&owner->program->names, CG_LIT("bwd"));

    type = type == 0 ? 0 : value_transparent(owner->values, type);
    if (!str_starts_with(operation_name(self->row), CG_LIT("apply_op")) ||
        type_at(owner->types, type)->kind != TYPE_ITEM)
        return FLOW_UNSURE;
    if (name == 0 || type_find_method(owner->types, type, name, &found, owner->reterr) != CG_OK) {
        self->flow->failed = true;
        return FLOW_UNSURE;
    }
    return found.function != 0 && found.impl != 0 ? FLOW_PASSES : FLOW_FAILS;
}

static enum flow_pass passes_of(flow_call *self)
{
    const operation_row *row = row_of(self);
    enum flow_element element = flow_class_element(self->flow, self->facts.dtype, NULL);
    const flow_facts *x = facts_at(self, self->tensors[0]);
    int fused;

    if (element != ELEMENT_UNKNOWN && !flow_is_float(element))
        return FLOW_SEVERED;
    switch ((enum operation_gradient)row->gradient) {
    case GRADIENT_UNKNOWN: return custom_passes(self);
    case GRADIENT_PASSES:
    case GRADIENT_SOURCE: return FLOW_PASSES;
    case GRADIENT_SEVERS: return FLOW_SEVERED;
    case GRADIENT_FAILS:
        return row->shape == SHAPE_POOL2D && same_window(self) ? FLOW_PASSES : FLOW_FAILS;
    case GRADIENT_DEPENDS:
        fused = has_fused_kernel(self);
        if (fused == 0 || (x->layout == FLOW_STRIDED && x->stride != STRIDE_ROWS))
            return FLOW_PASSES;
        return fused == 1 && x->layout == FLOW_CONTIGUOUS ? FLOW_SEVERED : FLOW_DEPENDS;
    }
    return FLOW_UNSURE;
}

/* --- numbers --- */

static bool flow_scalar(eval *self, val which, interval *ret)
{
    const value *at = value_at(self->values, which);
    enum type_class class = CLASS_OTHER;
    int64_t whole;
    cg_str text;

    *ret = interval_unknown();
    if (at->kind == VALUE_FLOAT && at->is_known) {
        *ret = interval_point(at->as.real);
        return true;
    }
    if (at->kind == VALUE_INT) {
        if (expr_constant(self->exprs, (expr)at->as.number, &whole)) {
            *ret = interval_point((double)whole);
        } else {
            /* sizes and counts */
            *ret = interval_between(0, INFINITY);
            ret->is_whole = false;
        }
        return true;
    }
    if (at->type != 0 && at->kind == VALUE_UNKNOWN)
        class = value_class(self->values, value_transparent(self->values, at->type));
    if (at->kind != VALUE_FLOAT && class != CLASS_FLOAT && class != CLASS_INT)
        return false;
    text = at->text;
    if (str_find(text, CG_LIT("eps")) != SIZE_MAX || str_find(text, CG_LIT("EPS")) != SIZE_MAX) {
        *ret = interval_above(interval_between(0, INFINITY), true);
        ret->is_assumed = true;
        ret->is_whole = false;
    } else if (str_ends_with(text, CG_LIT(".sqrt()")) || str_ends_with(text, CG_LIT(".abs()"))) {
        *ret = interval_between(0, INFINITY);
        ret->is_whole = false;
    }
    return true;
}

/* --- what flows back --- */

static void pass_gradient(flow_call *self)
{
    enum flow_pass passes = passes_of(self);
    interval factor;
    bool has_yes = false;
    bool has_perhaps = false;

    /* Nothing flows back through `* 0`. */
    if ((row_of(self)->domain == DOMAIN_MUL || row_of(self)->domain == DOMAIN_AFFINE) &&
        self->count > 1 && flow_scalar(self->eval, self->args[1], &factor) && factor.lo == 0 &&
        factor.hi == 0)
        passes = FLOW_SEVERED;
    for (size_t i = 0; i < self->edge_count; i++) {
        flow_edge *edge = &self->edges[i];
        uint8_t carries = facts_at(self, edge->from)->carries;

        if (edge->passes == FLOW_PASSES)
            edge->passes = (uint8_t)passes;
        if (edge->passes == FLOW_SEVERED)
            continue;
        has_yes |=
            carries == FLOW_YES && (edge->passes == FLOW_PASSES || edge->passes == FLOW_FAILS);
        has_perhaps |= carries != FLOW_NO;
    }
    self->facts.carries = has_yes ? FLOW_YES : has_perhaps ? FLOW_PERHAPS : FLOW_NO;
}

/* --- domains --- */

static interval domain_of(flow_call *self, size_t argument)
{
    interval it = interval_unknown();

    if (argument >= self->count)
        return it;
    if (argument < FLOW_LETTERS && self->node_at[argument] != 0)
        return facts_at(self, self->node_at[argument])->domain;
    (void)flow_scalar(self->eval, self->args[argument], &it);
    return it;
}

static const flow_node *node_of_row(const flow_call *self, node_ref which, const char *name)
{
    const flow_node *node = flow_at(self->flow, which);

    return node->kind == FLOW_OPERATION && str_equal(operation_name(node->row), str_from(name))
               ? node
               : NULL;
}

static node_ref operand_of(const flow_call *self, const flow_node *node, size_t which)
{
    return which < node->edge_count ? self->flow->edges.at[node->first_edge + which].from : 0;
}

/* Through what leaves the numbers as they are. */
static node_ref same_numbers(const flow_call *self, node_ref which)
{
    for (unsigned i = 0; i < 8; i++) {
        const flow_node *node = flow_at(self->flow, which);
        const operation_row *row = operation_at(node->row);

        if (node->kind != FLOW_OPERATION || row->domain != DOMAIN_SAME || node->edge_count == 0 ||
            row->shape == SHAPE_REDUCE || row->shape == SHAPE_KEEP || row->shape == SHAPE_SCALAR)
            return which;
        which = self->flow->edges.at[node->first_edge].from;
    }
    return which;
}

/* exp(x - max(x)): one of the numbers is 1. */
static bool is_shifted_exp(flow_call *self, node_ref which)
{
    const flow_node *node = node_of_row(self, same_numbers(self, which), "exp");
    const flow_node *difference;
    const flow_node *top;

    if (node == NULL)
        return false;
    which = same_numbers(self, operand_of(self, node, 0));
    difference = node_of_row(self, which, "broadcast_sub");
    if (difference == NULL)
        difference = node_of_row(self, which, "sub");
    if (difference == NULL)
        return false;
    which = same_numbers(self, operand_of(self, difference, 1));
    top = node_of_row(self, which, "max_keepdim");
    if (top == NULL)
        top = node_of_row(self, which, "max");
    if (top == NULL)
        top = node_of_row(self, which, "max_all");
    return top != NULL && same_numbers(self, operand_of(self, top, 0)) ==
                              same_numbers(self, operand_of(self, difference, 0));
}

/* The whole of it sums to 1, and so does most of what is chosen from it, the largest for one. */
static bool is_part_of_softmax(const flow_call *self, node_ref which)
{
    which = same_numbers(self, which);
    return node_of_row(self, which, "softmax") != NULL ||
           node_of_row(self, which, "softmax_last_dim") != NULL;
}

/* a / sum(a) of numbers that are not negative. */
static bool is_share(flow_call *self)
{
    const flow_node *sum = flow_at(self->flow, same_numbers(self, self->node_at[1]));

    return sum->kind == FLOW_OPERATION && operation_at(sum->row)->domain == DOMAIN_SUM &&
           operation_at(sum->row)->shape == SHAPE_KEEP &&
           operand_of(self, sum, 0) == self->node_at[0] &&
           facts_at(self, self->node_at[0])->domain.lo >= 0 &&
           facts_at(self, self->node_at[0])->domain.is_known;
}

static interval domain_given(flow_call *self, val data, unsigned depth)
{
    const value *at = value_at(self->eval->values, data);
    interval it = interval_unknown();

    if (at->kind != VALUE_LIST) {
        (void)flow_scalar(self->eval, data, &it);
        return it;
    }
    for (size_t i = 0; i < at->count && depth < 4; i++) {
        interval one;

        if (value_kind_of(self->eval->values, at->as.items[i]) == VALUE_REPEAT)
            return interval_unknown();
        one = domain_given(self, at->as.items[i], depth + 1);
        it = i == 0 ? one : interval_join(it, one);
    }
    return it;
}

static interval domain_cast(flow_call *self, interval x)
{
    enum flow_element from = flow_dtype(self->flow, self->tensors[0], NULL);
    enum flow_element to = flow_class_element(self->flow, self->facts.dtype, NULL);

    if (to != ELEMENT_UNKNOWN && !flow_is_float(to)) {
        x = interval_apply(INTERVAL_ROUND, x);
        if (to == ELEMENT_U8 || to == ELEMENT_U32)
            x = interval_combine(INTERVAL_MAX, x, interval_point(0));
        return x;
    }
    if (to == from && to != ELEMENT_UNKNOWN)
        return x;
    return interval_narrow(x, to == ELEMENT_F16 || to == ELEMENT_F8E4M3 ? 6e-8 : 1e-37);
}

static interval domain_power(flow_call *self, interval x)
{
    interval e = domain_of(self, 1);
    double power = e.lo;
    bool is_even = e.lo == e.hi && fmod(power, 2) == 0;
    bool is_whole = e.lo == e.hi && floor(power) == power;
    interval it = interval_all();

    if (!e.is_known || e.lo != e.hi) {
        it.is_known = x.is_known;
        return it;
    }
    if (power < 0)
        flow_require(self, FLOW_NEED_NONZERO, interval_check(x, INTERVAL_NONZERO), self->tensors[0],
                     0, (cg_str){NULL, 0});
    if (!is_whole)
        flow_require(self, FLOW_NEED_NONNEGATIVE, interval_check(x, INTERVAL_NONNEGATIVE),
                     self->tensors[0], 0, (cg_str){NULL, 0});
    if (power == 2)
        return interval_apply(INTERVAL_SQUARE, x);
    if (power == 1)
        return x;
    if (power == 0.5)
        return interval_apply(INTERVAL_SQRT, x);
    if (power == -1)
        return interval_apply(INTERVAL_RECIP, x);
    if (is_even || !is_whole || (x.is_known && x.lo >= 0)) {
        it = interval_between(0, INFINITY);
        if (power < 0 && x.is_known && x.lo > 0) {
            it.lo = x.hi == INFINITY ? 0 : pow(x.hi, power);
            it.lo_open = false;
        } else if (power > 0 && x.is_known && x.lo > 0) {
            it.lo = pow(x.lo, power);
        }
        return it;
    }
    it.is_known = x.is_known;
    return it;
}

/* Learned numbers can have any sign, and so has what is made with them. */
static bool has_both_signs(const flow_call *self, node_ref which)
{
    const flow_node *node = flow_at(self->flow, same_numbers(self, which));
    interval x = node->facts.domain;

    return node->kind == FLOW_PARAMETER || (x.is_known && x.is_whole && x.lo < 0 && x.hi > 0);
}

static interval domain_product(const flow_call *self, interval a, interval b)
{
    interval it = interval_unknown();

    if (has_both_signs(self, self->node_at[0]) || has_both_signs(self, self->node_at[1])) {
        it = interval_all();
        it.is_whole = !a.is_mixed && !b.is_mixed;
        return it;
    }
    if (!a.is_known || !b.is_known)
        return it;
    return interval_sum(interval_combine(INTERVAL_MUL, a, b));
}

static interval domain_scatter(const flow_call *self, interval x)
{
    interval added = facts_at(self, self->node_at[2])->domain;
    interval it = interval_sum(added);

    if (!x.is_known || !added.is_known)
        return interval_unknown();
    it = interval_combine(INTERVAL_ADD, x, interval_join(it, interval_point(0)));
    /* Where nothing is added the first stays as it is. */
    it.is_whole = x.is_whole;
    return it;
}

static interval domain_activation(const flow_call *self, interval x)
{
    static const struct {
        const char *variant;
        uint8_t function;
    } rows[] = {
        {"Relu", INTERVAL_RELU},       {"Silu", INTERVAL_SILU},
        {"Swish", INTERVAL_SILU},      {"Gelu", INTERVAL_GELU},
        {"NewGelu", INTERVAL_GELU},    {"GeluPytorchTanh", INTERVAL_GELU},
        {"Sigmoid", INTERVAL_SIGMOID}, {"Tanh", INTERVAL_TANH},
        {"Elu", INTERVAL_ELU},
    };
    const value *at = value_at(self->eval->values, self->args[0]);
    cg_str name = {NULL, 0};

    if (at->kind == VALUE_ENUM)
        name = program_text(self->eval->program, at->variant);
    if (str_equal(name, CG_LIT("Relu2")))
        return interval_apply(INTERVAL_SQUARE, interval_apply(INTERVAL_RELU, x));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (str_equal(name, str_from(rows[i].variant)))
            return interval_apply((enum interval_function)rows[i].function, x);
    }
    return interval_unknown();
}

/* What x is compared with, when that is one number. */
static bool compared_with(const flow_call *self, const flow_node *comparison, double *ret)
{
    interval it = interval_unknown();

    if (comparison->compared != 0)
        (void)flow_scalar(self->eval, comparison->compared, &it);
    else if (comparison->edge_count > 1)
        it = facts_at(self, operand_of(self, comparison, 1))->domain;
    *ret = it.lo;
    return it.is_known && it.lo == it.hi;
}

static interval above(interval x, double bound, bool is_open)
{
    if (x.lo > bound || (x.lo == bound && (x.lo_open || !is_open)))
        return x;
    x.lo = bound;
    x.lo_open = is_open;
    x.is_known = true;
    x.is_rounded = false;
    return x;
}

static interval below(interval x, double bound, bool is_open)
{
    x = interval_apply(INTERVAL_NEG, x);
    return interval_apply(INTERVAL_NEG, above(x, -bound, is_open));
}

/* The numbers of one way of where_cond: `x` where `x > 0` is above 0. */
static interval admitted(flow_call *self, node_ref way, bool is_true)
{
    static const char *const names[] = {"gt", "ge", "lt", "le", "ne", "eq"};
    static const char *const wide[] = {"broadcast_gt", "broadcast_ge", "broadcast_lt",
                                       "broadcast_le", "broadcast_ne", "broadcast_eq"};
    node_ref condition = same_numbers(self, self->node_at[0]);
    const flow_node *node = flow_at(self->flow, condition);
    interval x = facts_at(self, way)->domain;
    double bound = 0;
    size_t which = 0;

    while (which < 6 && node_of_row(self, condition, names[which]) == NULL &&
           node_of_row(self, condition, wide[which]) == NULL)
        which++;
    if (which == 6 || way == 0 ||
        same_numbers(self, operand_of(self, node, 0)) != same_numbers(self, way) ||
        !compared_with(self, node, &bound))
        return x;
    /* gt <-> le, ge <-> lt, ne <-> eq when it does not hold */
    if (!is_true)
        which = which < 4 ? 3 - which : 9 - which;
    switch (which) {
    case 0: return above(x, bound, true);
    case 1: return above(x, bound, false);
    case 2: return below(x, bound, true);
    case 3: return below(x, bound, false);
    case 4: return x.is_known && x.lo == bound ? above(x, bound, true) : x;
    default: return interval_point(bound);
    }
}

static bool is_reduction(const operation_row *row)
{
    return row->shape == SHAPE_REDUCE || row->shape == SHAPE_KEEP || row->shape == SHAPE_SCALAR;
}

static interval result_domain(flow_call *self)
{
    const operation_row *row = row_of(self);
    interval x =
        self->tensors[0] != 0 ? facts_at(self, self->tensors[0])->domain : interval_unknown();
    interval a = domain_of(self, 0);
    interval b = domain_of(self, 1);
    interval it = interval_unknown();

    switch ((enum operation_domain)row->domain) {
    case DOMAIN_UNKNOWN: return it;
    case DOMAIN_ALL: return interval_all();
    case DOMAIN_SAME: return is_reduction(row) ? interval_merged(x) : x;
    case DOMAIN_JOIN: {
        bool is_first = true, has_constant = false;

        for (size_t i = 0; i < self->edge_count; i++) {
            if (self->edges[i].passes == FLOW_SEVERED)
                continue;
            x = facts_at(self, self->edges[i].from)->domain;
            has_constant = has_constant || (x.is_known && x.lo == x.hi);
            it = is_first ? x : interval_join(it, x);
            is_first = false;
        }
        it.is_mixed = it.is_mixed || (has_constant && it.lo != it.hi);
        return it;
    }
    case DOMAIN_SUM:
        it = interval_sum(x);
        /* All exponentials of a sum becoming 0 is nothing to warn of. */
        if (node_of_row(self, same_numbers(self, self->tensors[0]), "exp") != NULL)
            it = interval_above(interval_between(0, INFINITY), true);
        if (is_shifted_exp(self, self->tensors[0]))
            it = interval_between(1, INFINITY);
        it.is_rounded |= is_part_of_softmax(self, self->tensors[0]);
        return it;
    case DOMAIN_CALL:
        it = interval_apply((enum interval_function)row->function, x);
        if (row->function == INTERVAL_ELU && it.lo < 0 && b.is_known && b.lo == b.hi) {
            it.lo = -fabs(b.lo);
            it.lo_guessed = x.lo_guessed || !x.is_known;
        }
        return it;
    case DOMAIN_ADD: return interval_combine(INTERVAL_ADD, a, b);
    case DOMAIN_SUB: return interval_combine(INTERVAL_SUB, a, b);
    case DOMAIN_MUL:
        if (self->node_at[0] != 0 && self->node_at[0] == self->node_at[1])
            return interval_apply(INTERVAL_SQUARE, a);
        return interval_combine(INTERVAL_MUL, a, b);
    case DOMAIN_DIV:
        if (self->node_at[1] != 0 && is_share(self))
            return interval_between(0, 1);
        return interval_combine(INTERVAL_DIV, a, b);
    case DOMAIN_MIN: return interval_combine(INTERVAL_MIN, a, b);
    case DOMAIN_MAX: return interval_combine(INTERVAL_MAX, a, b);
    case DOMAIN_CLAMP:
        return interval_combine(INTERVAL_MIN, interval_combine(INTERVAL_MAX, x, b),
                                domain_of(self, 2));
    case DOMAIN_AFFINE:
        return interval_combine(INTERVAL_ADD, interval_combine(INTERVAL_MUL, x, b),
                                domain_of(self, 2));
    case DOMAIN_POWF: return domain_power(self, x);
    case DOMAIN_POW: return interval_between(0, INFINITY);
    case DOMAIN_UNIT: return interval_between(0, 1);
    case DOMAIN_NONPOSITIVE: return interval_between(-INFINITY, 0);
    case DOMAIN_NONNEGATIVE: return interval_between(0, INFINITY);
    case DOMAIN_ZERO: return interval_point(0);
    case DOMAIN_ONE: return interval_point(1);
    case DOMAIN_GIVEN: return domain_given(self, self->args[0], 0);
    case DOMAIN_RANGE:
        if (!a.is_known || a.lo != a.hi)
            return it;
        it = interval_between(a.lo, b.is_known && b.lo == b.hi ? b.lo : INFINITY);
        it.hi_open = true;
        return it;
    case DOMAIN_RAND:
        if (row->operands[0] == 'x') { /* rand_like: the tensor is before the bounds */
            a = b;
            b = domain_of(self, 2);
        }
        if (!a.is_known || !b.is_known)
            return it;
        it = interval_between(a.lo, b.hi);
        it.hi_open = true;
        return it;
    case DOMAIN_CAST: return domain_cast(self, x);
    case DOMAIN_PAD: return interval_join(x, interval_point(0));
    case DOMAIN_PRODUCT: return domain_product(self, a, b);
    case DOMAIN_DROPOUT:
        return x.is_known ? interval_combine(INTERVAL_MUL, x, interval_between(0, INFINITY)) : it;
    case DOMAIN_SCATTER: return domain_scatter(self, x);
    case DOMAIN_ACTIVATION: return domain_activation(self, x);
    case DOMAIN_WHERE:
        return interval_join(admitted(self, self->node_at[1], true),
                             admitted(self, self->node_at[2], false));
    case DOMAIN_ON_OFF:
        return self->count > 3 ? interval_join(domain_of(self, 2), domain_of(self, 3)) : it;
    }
    return it;
}

static void require_number(flow_call *self, enum flow_need need, enum interval_need wanted,
                           node_ref operand)
{
    interval x = facts_at(self, operand)->domain;

    if (operand == 0)
        return;
    flow_require(self, need, interval_check(x, wanted), operand, 0, (cg_str){NULL, 0});
    self->needs[self->need_count - 1].is_assumed = x.is_assumed;
}

/* 0 times the logarithm of 0 is no number. */
static void require_finite(flow_call *self, node_ref log, node_ref other)
{
    const flow_node *node = node_of_row(self, log, "log");
    interval x = facts_at(self, other)->domain;
    interval inside;

    if (node == NULL || other == 0 || !x.is_known || x.lo > 0 || x.hi < 0 ||
        (x.lo == 0 && x.lo_open) || !x.is_whole || x.is_rounded)
        return;
    inside = facts_at(self, operand_of(self, node, 0))->domain;
    if (interval_check(inside, INTERVAL_POSITIVE) != CHECK_HOLDS)
        flow_require(self, FLOW_NEED_FINITE, CHECK_FAILS, other, log, (cg_str){NULL, 0});
}

static void require_numbers(flow_call *self)
{
    uint16_t needs = row_of(self)->needs;
    interval divisor;

    if ((needs & NEED_POSITIVE) != 0)
        require_number(self, FLOW_NEED_POSITIVE, INTERVAL_POSITIVE, self->tensors[0]);
    if ((needs & NEED_BASE) != 0)
        require_number(self, FLOW_NEED_POSITIVE, INTERVAL_POSITIVE, self->tensors[0]);
    if ((needs & NEED_NONNEGATIVE) != 0)
        require_number(self, FLOW_NEED_NONNEGATIVE, INTERVAL_NONNEGATIVE, self->tensors[0]);
    if ((needs & NEED_NONZERO) != 0)
        require_number(self, FLOW_NEED_NONZERO, INTERVAL_NONZERO, self->tensors[0]);
    if ((needs & NEED_DIVISOR) != 0) {
        if (self->node_at[1] != 0)
            require_number(self, FLOW_NEED_NONZERO, INTERVAL_NONZERO, self->node_at[1]);
        else if (self->count > 1 && flow_scalar(self->eval, self->args[1], &divisor) &&
                 divisor.lo == 0 && divisor.hi == 0)
            flow_require(self, FLOW_NEED_NONZERO, CHECK_FAILS, 0, 0, CG_LIT("the number 0"));
    }
    if (row_of(self)->domain == DOMAIN_MUL && self->node_at[1] != 0) {
        require_finite(self, self->node_at[0], self->node_at[1]);
        require_finite(self, self->node_at[1], self->node_at[0]);
    }
}

/* --- library bodies --- */

static node_ref flow_step(flow_call *outer, cg_str path, node_ref a, node_ref b, double m, double c)
{
    flow_call *call = flow_call_begin(outer->eval, path, outer->place);
    value tensor = {.kind = VALUE_TENSOR};
    value real = {.kind = VALUE_FLOAT, .is_known = true};
    val args[3];
    node_ref made = 0;

    if (call == NULL) {
        outer->flow->failed = true;
        return 0;
    }
    tensor.as.number = a;
    args[0] = value_make(outer->eval->values, &tensor);
    tensor.as.number = b;
    real.as.real = m;
    args[1] = value_make(outer->eval->values, b != 0 ? &tensor : &real);
    real.as.real = c;
    args[2] = value_make(outer->eval->values, &real);
    call->args = args;
    call->count = b != 0 ? 2 : strlen(operation_at(call->row)->operands);
    if (args[0] == 0 || args[1] == 0 || args[2] == 0 || flow_apply(call, &made) != CG_OK)
        outer->flow->failed = true;
    flow_call_end(call);
    return made;
}

/* binary_cross_entropy_with_logit: -(t log s + (1 - t) log (1 - s)), s = sigmoid(x). */
static node_ref expand_logits_loss(flow_call *self)
{
    node_ref x = self->node_at[0];
    node_ref t = self->node_at[1];
    node_ref s = flow_step(self, CG_LIT("candle_nn::ops::sigmoid"), x, 0, 0, 0);
    node_ref target = flow_step(self, CG_LIT("candle_core::Tensor::clone"), t, 0, 0, 0);
    node_ref left;
    node_ref right;

    if (s == 0 || target == 0)
        return 0;
    /* Targets are between 0 and 1: the contract of the function. */
    self->flow->nodes.at[target].facts.domain = interval_between(0, 1);
    left = flow_step(self, CG_LIT("candle_core::Tensor::mul"), target,
                     flow_step(self, CG_LIT("candle_core::Tensor::log"), s, 0, 0, 0), 0, 0);
    right = flow_step(self, CG_LIT("candle_core::Tensor::affine"), s, 0, -1, 1);
    right = flow_step(self, CG_LIT("candle_core::Tensor::log"), right, 0, 0, 0);
    right = flow_step(self, CG_LIT("candle_core::Tensor::mul"),
                      flow_step(self, CG_LIT("candle_core::Tensor::affine"), target, 0, -1, 1),
                      right, 0, 0);
    left = flow_step(self, CG_LIT("candle_core::Tensor::add"), left, right, 0, 0);
    left = flow_step(self, CG_LIT("candle_core::Tensor::neg"), left, 0, 0, 0);
    return flow_step(self, CG_LIT("candle_core::Tensor::mean_all"), left, 0, 0, 0);
}

static node_ref expand(flow_call *self)
{
    if (!str_equal(operation_name(self->row), CG_LIT("binary_cross_entropy_with_logit")) ||
        self->node_at[0] == 0 || self->node_at[1] == 0)
        return 0;
    return expand_logits_loss(self);
}

/* --- all together --- */

static cg_code finish(flow_call *self, node_ref first_inside, node_ref *ret)
{
    flow *graph = self->flow;
    flow_node shape = {.row = self->row,
                       .kind = FLOW_OPERATION,
                       .name = self->name,
                       .part = self->part,
                       .place = self->place,
                       .rank_step = self->rank_step,
                       .has_rank_link = self->has_rank_link && self->edge_count > 0,
                       .is_same_shape = self->is_same_shape,
                       .facts = self->facts};
    node_ref made;

    if (self->count > 1 && self->node_at[1] == 0 && self->row != 0 &&
        row_of(self)->domain == DOMAIN_UNIT && row_of(self)->dtype == DTYPE_U8)
        shape.compared = self->args[1];
    if (self->row == 0)
        shape.kind = FLOW_UNKNOWN;
    else if (row_of(self)->gradient == GRADIENT_SOURCE)
        shape.kind = FLOW_CONSTANT;
    if (self->facts.layout == FLOW_STRIDED && self->facts.strided_by == 0)
        shape.facts.strided_by = (node_ref)graph->nodes.count;
    made = flow_add(graph, &shape, self->edges, self->edge_count);
    for (size_t i = 0; i < self->need_count; i++) {
        flow_requirement *row = vec_add(graph->heap, &graph->requirements);

        if (row == NULL) {
            graph->failed = true;
            break;
        }
        *row = self->needs[i];
        row->node = made;
    }
    for (node_ref i = first_inside; i < made && first_inside != 0; i++)
        graph->nodes.at[i].body = made;
    *ret = made;
    return graph->failed || self->eval->exprs->failed ? err_nomem(self->eval->reterr) : CG_OK;
}

cg_code flow_apply(flow_call *self, node_ref *ret)
{
    node_ref inside;
    node_ref last;

    *ret = 0;
    if (self->row == 0)
        return CG_OK;
    gather(self);
    if (!flow_shape_apply(self))
        return err_nomem(self->eval->reterr);
    self->facts.dtype = result_dtype(self);
    place_device(self);
    place_layout(self);
    pass_gradient(self);
    self->facts.domain = result_domain(self);
    require_numbers(self);
    if ((row_of(self)->needs & (NEED_CONTIGUOUS | NEED_MATRIX)) != 0)
        require_layout(self);
    if ((row_of(self)->needs & NEED_INDEX) != 0)
        require_index(self);
    require_kernel(self);
    inside = (node_ref)self->flow->nodes.count;
    last = expand(self);
    if (last != 0) {
        self->facts.domain = facts_at(self, last)->domain;
        add_edge(self, last, FLOW_BODY, 0, FLOW_SEVERED, 0);
    }
    return finish(self, last != 0 ? inside : 0, ret);
}

cg_code flow_apply_unknown(flow_call *self, node_ref *ret)
{
    bool has_yes = false;
    uint32_t *row;

    self->row = 0;
    for (size_t i = 0; i < self->count; i++) {
        node_ref node = self->args[i] == 0 ? 0 : flow_of(self->flow, self->args[i]);

        add_edge(self, node, i == 0 ? FLOW_SELF : FLOW_ARGUMENT, i == 0 ? 0 : i - 1, FLOW_UNSURE,
                 0);
        has_yes |= node != 0 && facts_at(self, node)->carries != FLOW_NO;
    }
    self->facts.carries = has_yes ? FLOW_PERHAPS : FLOW_NO;
    self->facts.dtype = flow_class_new(self->flow, ELEMENT_UNKNOWN, 0);
    if (str_starts_with(self->path, CG_LIT("candle_"))) {
        row = vec_add(self->flow->heap, &self->flow->uncovered);
        if (row == NULL)
            return err_nomem(self->eval->reterr);
        *row = self->name;
    }
    return finish(self, 0, ret);
}
