#include "model/flow_dtypes.h"

#include "model/std_call.h"
#include "model/value_kinds.h"

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
        if (str_is(path, rows[i].name))
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
        uint32_t other = call_facts(self, edge->from)->dtype;
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
    const char *letters = call_row(self)->operands;

    for (size_t i = 0; letters[i] != '\0' && i < self->count; i++) {
        if (letters[i] == 'k')
            return class_of_value(self, self->args[i]);
    }
    return flow_class_new(self->flow, ELEMENT_UNKNOWN, 0);
}

uint32_t flow_result_dtype(flow_call *self)
{
    flow *graph = self->flow;
    const char *letters = call_row(self)->operands;

    switch ((enum operation_dtype)call_row(self)->dtype) {
    case DTYPE_UNKNOWN: break;
    case DTYPE_SAME:
        if (self->tensors[0] != 0)
            return call_facts(self, self->tensors[0])->dtype;
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
            return call_facts(self, self->weight)->dtype;
        break;
    }
    return flow_class_new(graph, ELEMENT_UNKNOWN, 0);
}
