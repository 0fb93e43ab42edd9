#include "model/candle_tensor.h"

#include "base/num.h"
#include "base/str_name.h"
#include "model/candle_shape.h"
#include "model/flow_apply.h"
#include "model/flow_memory.h"
#include "model/flow_operands.h"
#include "model/flow_tensors.h"
#include "model/value_kinds.h"

#define TENSOR_TYPE "candle_core::Tensor"
#define PARTS       64 /* of one chunk or split that are told apart */

static cg_code no_memory(const library_call *call)
{
    return err_nomem(call->eval->reterr);
}

bool tensor_is(const eval *self, val which)
{
    const value *at = value_at(self->values, which);

    return at->kind == VALUE_TENSOR ||
           ((at->kind == VALUE_UNKNOWN || at->kind == VALUE_STRUCT) && at->type != 0 &&
            value_class(self->values, value_transparent(self->values, at->type)) == CLASS_TENSOR);
}

/* The tensor of a node; 0: no memory. */
static val tensor_of_node(eval *self, node_ref node)
{
    value it = {.kind = VALUE_TENSOR, .type = std_type(self, TENSOR_TYPE)};
    const flow_node *at = flow_at(self->flow, node);
    cg_str name = program_text(self->program, at->name);

    it.as.number = node;
    if (at->kind == FLOW_INPUT || at->kind == FLOW_PARAMETER) {
        it.text = name;
    } else {
        cg_str word = at->row != 0 ? operation_name(at->row) : CG_LIT("tensor");

        if (!arena_format(&self->values->mem, &it.text, "%.*s#%u", STR_NAME(word), node))
            return 0;
    }
    return value_make(self->values, &it);
}

/* --- parameters --- */

static void parameter_dtype(eval *self, const trail_parameter *entry, flow_facts *facts)
{
    flow *graph = self->flow;
    const value *at = entry->dtype == 0 ? NULL : value_at(self->values, entry->dtype);
    enum flow_element element =
        at != NULL && at->is_known ? flow_element_of(at->text) : ELEMENT_UNKNOWN;
    cg_str root = graph->trail->roots.at[entry->root].name;
    cg_str text;

    if (element != ELEMENT_UNKNOWN) {
        facts->dtype = flow_class_new(graph, element, 0);
        return;
    }
    if (at != NULL && value_print(self->values, entry->dtype, &text) && text.len > 0 &&
        !str_equal(text, CG_LIT("?"))) {
        facts->dtype = flow_class_named(graph, text);
        return;
    }
    if (!arena_format(&graph->mem, &text, "%.*s.dtype()", STR_NAME(root)))
        graph->failed = true;
    else
        facts->dtype = flow_class_named(graph, text);
}

/* Where the builder puts it; what the code calls the builder's device when that is not known. */
static void parameter_device(eval *self, const trail_parameter *entry, flow_facts *facts)
{
    flow *graph = self->flow;
    flow_call work = {.eval = self, .flow = graph};
    cg_str device;

    if (entry->device != 0)
        flow_device(&work, entry->device);
    if (work.facts.device != FLOW_ANY_DEVICE) {
        facts->device = work.facts.device;
        facts->device_name = work.facts.device_name;
        return;
    }
    if (!arena_format(&graph->mem, &device, "%.*s.device()",
                      STR_NAME(graph->trail->roots.at[entry->root].name))) {
        graph->failed = true;
        return;
    }
    facts->device = FLOW_SAME_DEVICE;
    facts->device_name = intern_add(&self->program->names, device);
}

val tensor_parameter(eval *self, const trail_parameter *entry, cg_str text)
{
    flow *graph = self->flow;
    flow_parameter of = {.root = entry->root,
                         .key = entry->key,
                         .printed = text,
                         .is_running_state = entry->is_running_state};
    flow_facts facts;
    node_ref node;

    if (graph == NULL)
        return value_unknown(self->values, std_type(self, TENSOR_TYPE), text);
    facts = flow_no_facts();
    facts.has_rank = entry->has_shape && entry->rank <= FLOW_AXES;
    facts.rank = facts.has_rank ? (uint8_t)entry->rank : 0;
    for (unsigned i = 0; i < facts.rank; i++)
        facts.axes[i] = entry->shape[i];
    facts.layout = FLOW_CONTIGUOUS;
    facts.carries = entry->is_running_state ? FLOW_NO : FLOW_YES;
    parameter_dtype(self, entry, &facts);
    parameter_device(self, entry, &facts);
    node = flow_parameter_node(graph, &of, &facts, entry->place);
    return node == 0 ? 0 : tensor_of_node(self, node);
}

/* --- operations --- */

cg_code tensor_give(library_call *call)
{
    return std_give_opaque(call, VALUE_UNKNOWN, std_type(call->eval, TENSOR_TYPE));
}

/* The receiver, if there is one, before the arguments. */
static const val *all_arguments(library_call *call, size_t *ret_count)
{
    val *all;

    *ret_count = call->count;
    if (call->receiver == 0)
        return call->args;
    all = arena_take(&call->eval->values->mem, (call->count + 1) * sizeof *all);
    if (all == NULL)
        return NULL;
    all[0] = call->receiver;
    if (call->count > 0)
        memcpy(all + 1, call->args, call->count * sizeof *all);
    *ret_count = call->count + 1;
    return all;
}

static cg_code apply(library_call *call, cg_str path, const val *args, size_t count, uint16_t part,
                     node_ref *ret)
{
    flow_call *work = flow_call_begin(call->eval, path, call->place);
    cg_code code;

    if (work == NULL)
        return no_memory(call);
    work->args = args;
    work->count = count;
    work->part = part;
    code = work->row == 0 ? flow_apply_unknown(work, NULL, 0, ret) : flow_apply(work, ret);
    flow_call_end(work);
    return code;
}

static cg_code give_node(library_call *call, node_ref node)
{
    return std_give(call, tensor_of_node(call->eval, node));
}

cg_code tensor_operation(library_call *call, cg_str path)
{
    size_t count = 0;
    const val *args;
    node_ref node = 0;

    if (call->eval->flow == NULL)
        return tensor_give(call);
    args = all_arguments(call, &count);
    if (args == NULL && count > 0)
        return no_memory(call);
    CG_TRY(apply(call, path, args, count, 0, &node));
    return give_node(call, node);
}

/* A call on tensors written as numbers: `2.0 - x` is -x + 2, `2.0 / x` is 2 * (1 / x). */
static cg_code number_first(library_call *call, cg_str name, val left, val right)
{
    bool is_sub = str_equal(name, CG_LIT("sub"));
    val args[3] = {right, is_sub ? std_float(call->eval, -1) : left,
                   is_sub ? left : std_float(call->eval, 0)};
    node_ref node = 0;

    if (args[1] == 0 || args[2] == 0)
        return no_memory(call);
    if (!is_sub) {
        CG_TRY(apply(call, CG_LIT("candle_core::Tensor::recip"), args, 1, 0, &node));
        args[0] = tensor_of_node(call->eval, node);
        if (args[0] == 0)
            return no_memory(call);
    }
    CG_TRY(apply(call, CG_LIT("candle_core::Tensor::affine"), args, 3, 0, &node));
    return give_node(call, node);
}

cg_code tensor_operator(library_call *call, val left, val right)
{
    eval *self = call->eval;
    bool is_left = flow_is_tensor(self, left);
    cg_str name = call->name;
    cg_str path;
    val args[2] = {left, right};
    node_ref node = 0;

    if (self->flow == NULL || (!is_left && (right == 0 || !flow_is_tensor(self, right))))
        return CG_OK;
    if (!is_left && (str_equal(name, CG_LIT("sub")) || str_equal(name, CG_LIT("div"))))
        return number_first(call, name, left, right);
    if (!is_left) {
        args[0] = right;
        args[1] = left;
    }
    if (!arena_format(&self->flow->mem, &path, TENSOR_TYPE "::%.*s", STR_NAME(name)))
        return no_memory(call);
    CG_TRY(apply(call, path, args, right == 0 ? 1 : 2, 0, &node));
    return give_node(call, node);
}

/* --- sizes --- */

/* An axis that is asked for gets a name, so that it is the same one wherever it goes. */
static expr named_axis(eval *self, node_ref node, unsigned axis)
{
    flow_facts *facts = &self->flow->nodes.at[node].facts;
    const flow_node *at = flow_at(self->flow, node);
    cg_str name = at->row != 0 ? operation_name(at->row) : program_text(self->program, at->name);
    cg_str text;
    bool is_plain = at->kind == FLOW_INPUT || at->kind == FLOW_PARAMETER;

    if (facts->axes[axis] != EXPR_NONE)
        return facts->axes[axis];
    if (is_plain
            ? !arena_format(&self->flow->mem, &text, "%.*s.dim(%u)", STR_NAME(name), axis)
            : !arena_format(&self->flow->mem, &text, "%.*s#%u.dim(%u)", STR_NAME(name), node, axis))
        return EXPR_NONE;
    facts->axes[axis] = expr_call(self->exprs, text);
    return facts->axes[axis];
}

/* `x.dims3()` fails on what has other axes than three. */
static bool learn_rank(library_call *call, node_ref node, unsigned rank)
{
    flow *graph = call->eval->flow;
    flow_call work = {.eval = call->eval, .flow = graph};
    flow_requirement *row;

    if (flow_want_rank(&work, node, rank))
        return true;
    /* On one way of several, what is known may hold on another one. */
    for (size_t i = 0; i < work.need_count && graph->trail->condition == 0 && graph->ways == 0;
         i++) {
        row = vec_add(graph->heap, &graph->requirements);
        if (row == NULL) {
            graph->failed = true;
            break;
        }
        *row = work.needs[i];
        row->node = node;
        row->place = flow_place(graph, call->place);
        if (!arena_format(&graph->mem, &row->call, "candle_core::Tensor::%.*s",
                          STR_NAME(call->name)))
            graph->failed = true;
    }
    return false;
}

/* `x.dim(2)`: the size of an axis, by the name every way to ask for it has. */
static val axis_size(library_call *call, val axis, unsigned number)
{
    eval *self = call->eval;
    cg_str tensor;
    cg_str text;

    if (!value_print(self->values, call->receiver, &tensor))
        return 0;
    if (axis != 0) {
        if (!value_print(self->values, axis, &text) ||
            !arena_format(&self->values->mem, &text, "%.*s.dim(%.*s)", (int)tensor.len, tensor.ptr,
                          STR_NAME(text)))
            return 0;
    } else if (!arena_format(&self->values->mem, &text, "%.*s.dim(%u)", (int)tensor.len, tensor.ptr,
                             number)) {
        return 0;
    }
    return value_int(self->values, expr_call(self->exprs, text));
}

/* The size of one axis of a tensor of the graph. */
static val node_axis_size(library_call *call, node_ref node, val axis)
{
    eval *self = call->eval;
    const flow_facts *facts = &flow_at(self->flow, node)->facts;
    int64_t at;

    if (candle_axis(self, axis, &at)) {
        bool is_end = at < 0;

        if (at < 0)
            at += facts->rank;
        if (at >= 0 && at < facts->rank && (facts->has_rank || is_end))
            return value_int(self->values, facts->has_rank ? named_axis(self, node, (unsigned)at)
                                                           : facts->axes[at]);
    }
    return axis_size(call, axis, 0);
}

static cg_code give_dims(library_call *call, node_ref node, unsigned rank)
{
    val sizes[8];
    bool is_known = node != 0 && learn_rank(call, node, rank);

    for (unsigned i = 0; i < rank; i++) {
        sizes[i] = is_known ? value_int(call->eval->values, named_axis(call->eval, node, i))
                            : axis_size(call, 0, i);
        if (sizes[i] == 0)
            return no_memory(call);
    }
    return std_give(call, rank == 1 ? sizes[0]
                                    : value_list(call->eval->values, VALUE_TUPLE, sizes, rank));
}

/* All sizes. */
static cg_code give_all_dims(library_call *call, node_ref node)
{
    eval *self = call->eval;
    sym symbol = intern_add(&self->program->names, CG_LIT("index"));
    val index = value_unknown(self->values, 0, CG_LIT("index"));
    value repeat = {.kind = VALUE_REPEAT, .count = 1};
    value list = {.kind = VALUE_LIST, .count = 1, .type = std_type(self, "std::vec::Vec")};
    val sizes[FLOW_AXES];
    val size;

    if (node != 0 && flow_at(self->flow, node)->facts.has_rank) {
        list.count = flow_at(self->flow, node)->facts.rank;
        for (unsigned i = 0; i < list.count; i++) {
            sizes[i] = value_int(self->values, named_axis(self, node, i));
            if (sizes[i] == 0)
                return no_memory(call);
        }
        list.is_known = true;
        list.as.items = sizes;
        return std_give(call, value_make(self->values, &list));
    }
    size = index == 0 ? 0 : axis_size(call, index, 0);
    if (size == 0 || symbol == 0)
        return no_memory(call);
    repeat.as.repeat.items = &size;
    repeat.as.repeat.symbol = symbol;
    size = value_make(self->values, &repeat);
    if (size == 0)
        return no_memory(call);
    list.as.items = &size;
    return std_give(call, value_make(self->values, &list));
}

static cg_code give_rank(library_call *call, node_ref node)
{
    if (node != 0 && flow_at(call->eval->flow, node)->facts.has_rank)
        return std_give_number(
            call, expr_const(call->eval->exprs, flow_at(call->eval->flow, node)->facts.rank));
    return std_give_opaque(call, VALUE_INT, 0);
}

static cg_code give_count(library_call *call, node_ref node)
{
    expr whole = expr_const(call->eval->exprs, 1);

    if (node == 0 || !flow_at(call->eval->flow, node)->facts.has_rank)
        return std_give_opaque(call, VALUE_INT, 0);
    for (unsigned i = 0; i < flow_at(call->eval->flow, node)->facts.rank; i++)
        whole = expr_binary(call->eval->exprs, EXPR_MUL, whole, named_axis(call->eval, node, i));
    return std_give_number(call, whole);
}

/* The shape as a whole: remembers whose it is. */
static cg_code give_shape(library_call *call, node_ref node)
{
    value it = {.kind = VALUE_UNKNOWN, .type = std_type(call->eval, "candle_core::Shape")};

    CG_TRY(std_give_opaque(call, VALUE_UNKNOWN, it.type));
    if (node == 0)
        return CG_OK;
    it.text = std_at(call, call->result)->text;
    it.is_inclusive = true;
    it.as.number = node;
    return std_give(call, value_make(call->eval->values, &it));
}

static cg_code give_dtype(library_call *call, node_ref node)
{
    value it = {.kind = VALUE_DTYPE};
    enum flow_element element;
    sym source = 0;

    CG_TRY(std_give_opaque(call, VALUE_DTYPE, 0));
    if (node == 0)
        return CG_OK;
    element = flow_dtype(call->eval->flow, node, &source);
    it.is_known = element != ELEMENT_UNKNOWN;
    it.text = it.is_known   ? str_from(flow_element_name(element))
              : source != 0 ? program_text(call->eval->program, source)
                            : std_at(call, call->result)->text;
    it.as.number = node;
    return std_give(call, value_make(call->eval->values, &it));
}

static cg_code give_device(library_call *call, node_ref node)
{
    static const char *const names[] = {NULL, "cpu", "cuda", "metal", NULL};
    value it = {.kind = VALUE_DEVICE};
    const flow_facts *facts;

    CG_TRY(std_give_opaque(call, VALUE_DEVICE, 0));
    if (node == 0)
        return CG_OK;
    facts = &flow_at(call->eval->flow, node)->facts;
    it.is_known = names[facts->device] != NULL;
    it.text = it.is_known               ? str_from(names[facts->device])
              : facts->device_name != 0 ? program_text(call->eval->program, facts->device_name)
                                        : std_at(call, call->result)->text;
    it.as.number = node;
    return std_give(call, value_make(call->eval->values, &it));
}

static cg_code give_contiguous(library_call *call, node_ref node)
{
    enum flow_layout layout = node == 0
                                  ? FLOW_ANY_LAYOUT
                                  : (enum flow_layout)flow_at(call->eval->flow, node)->facts.layout;

    return layout == FLOW_ANY_LAYOUT ? std_give_opaque(call, VALUE_BOOL, 0)
                                     : std_give_bool(call, layout == FLOW_CONTIGUOUS);
}

/* --- parts, numbers, the rest --- */

/* chunk(n, dim), split(sizes, dim): so many tensors. */
static cg_code give_parts(library_call *call, cg_str path)
{
    eval *self = call->eval;
    value list = {.kind = VALUE_LIST, .type = std_type(self, "std::vec::Vec"), .is_known = true};
    const value *parts = call->count == 0 ? NULL : std_at(call, call->args[0]);
    val items[PARTS];
    int64_t count = -1;
    size_t arg_count = 0;
    const val *args = all_arguments(call, &arg_count);

    if (args == NULL)
        return no_memory(call);
    if (parts != NULL && parts->kind == VALUE_LIST)
        count = parts->count;
    else if (parts != NULL)
        (void)expr_constant(self->exprs, value_number(self->values, call->args[0]), &count);
    if (count < 0 || count > PARTS) {
        value repeat = {.kind = VALUE_REPEAT, .count = 1};

        CG_TRY(tensor_operation(call, path));
        if (self->flow == NULL)
            return std_give_opaque(call, VALUE_UNKNOWN, list.type);
        repeat.as.repeat.items = &call->result;
        repeat.as.repeat.symbol = intern_add(&self->program->names, CG_LIT("index"));
        if (parts != NULL)
            repeat.as.repeat.count = value_number(self->values, call->args[0]);
        items[0] = value_make(self->values, &repeat);
        count = 1;
    } else {
        for (int64_t i = 0; i < count; i++) {
            node_ref node = 0;

            if (self->flow == NULL) {
                if (i == 0)
                    CG_TRY(tensor_give(call));
                items[i] = call->result;
                continue;
            }
            CG_TRY(apply(call, path, args, arg_count, (uint16_t)i, &node));
            items[i] = tensor_of_node(self, node);
            if (items[i] == 0)
                return no_memory(call);
        }
    }
    list.count = (uint16_t)count;
    list.as.items = items;
    return items[0] == 0 && count > 0 ? no_memory(call)
                                      : std_give(call, value_make(self->values, &list));
}

static cg_code give_sorted(library_call *call)
{
    val both[2];

    CG_TRY(tensor_operation(call, CG_LIT("candle_core::Tensor::sort_last_dim")));
    both[0] = call->result;
    CG_TRY(tensor_operation(call, CG_LIT("candle_core::Tensor::arg_sort_last_dim")));
    both[1] = call->result;
    return std_give(call, value_list(call->eval->values, VALUE_TUPLE, both, 2));
}

/* `x.to_vec2::<f32>()` names what the lists hold: lists of it, as many as the method says. */
static cg_code host_type(library_call *call, type_ref *ret)
{
    eval *self = call->eval;
    model_type vec = {.kind = TYPE_EXTERNAL, .arg_count = 1};
    char last = call->name.len > 0 ? call->name.ptr[call->name.len - 1] : '0';

    *ret = call->wanted;
    if (*ret == 0 || str_equal(std_type_path(self, *ret), CG_LIT("std::vec::Vec")))
        return CG_OK;
    vec.name = intern_add(&self->program->names, CG_LIT("std::vec::Vec"));
    if (vec.name == 0)
        return no_memory(call);
    for (char depth = '0'; depth < last && last <= '3'; depth++) {
        type_ref inner = *ret;

        vec.args = &inner;
        CG_TRY(type_make(self->types, &vec, ret, self->reterr));
    }
    return CG_OK;
}

/* Numbers leave the tensor: what is made of them later has no gradient. */
static cg_code give_host(library_call *call, node_ref node)
{
    flow *graph = call->eval->flow;
    flow_host_read read = {.node = node};
    flow_host_read *row;
    type_ref type;
    cg_str path;

    CG_TRY(host_type(call, &type));
    CG_TRY(std_give_typed(call, type));
    /* Without a graph of tensors there is no node. */
    if (node == 0)
        return CG_OK;
    read.place = flow_place(graph, call->place);
    if (!value_print(call->eval->values, call->result, &read.text) ||
        !arena_text(&graph->mem, read.text, &read.text) ||
        !arena_format(&graph->mem, &path, TENSOR_TYPE "::%.*s", (int)call->name.len,
                      call->name.ptr))
        return no_memory(call);
    read.name = intern_add(&call->eval->program->names, path);
    row = vec_add(graph->heap, &graph->host_reads);
    if (row == NULL)
        return no_memory(call);
    *row = read;
    return CG_OK;
}

static cg_code give_backward(library_call *call)
{
    trail_event event = {.kind = EVENT_BACKWARD,
                         .subject = call->receiver,
                         .condition = call->eval->trail->condition,
                         .parameters = (uint32_t)call->eval->trail->parameters.count,
                         .place = call->place};

    if (!trail_add_event(call->eval->trail, &event))
        return no_memory(call);
    return std_give_opaque(call, VALUE_UNKNOWN,
                           std_type(call->eval, "candle_core::backprop::GradStore"));
}

typedef struct apply_ways {
    library_call *call;
    const val *layers;
    bool is_t;
} apply_ways;

static cg_code apply_layer(library_call *call, val layer, bool is_t, val *ret)
{
    eval *self = call->eval;
    const value *at = value_at(self->values, layer);
    sym name = intern_add(&self->program->names, is_t ? CG_LIT("forward_t") : CG_LIT("forward"));
    val args[2] = {call->receiver, std_arg(call, 1)};
    size_t count = is_t && args[1] != 0 ? 2 : 1;

    if (name == 0)
        return no_memory(call);
    /* An option of a layer is one: None leaves the tensor as it is. */
    if (at->kind == VALUE_SOME)
        layer = at->as.items[0];
    if (at->kind == VALUE_NOTHING) {
        *ret = call->receiver;
        return CG_OK;
    }
    at = value_at(self->values, layer);
    if (at->kind == VALUE_CLOSURE || at->kind == VALUE_FUNCTION)
        return eval_apply(self, layer, args, count, call->place, ret);
    return eval_method(self, layer, name, args, count, call->place, ret);
}

static cg_code apply_way(void *context, size_t way, val *ret)
{
    apply_ways *self = context;

    return apply_layer(self->call, self->layers[way], self->is_t, ret);
}

/* `x.apply(&layer)`, `x.apply_t(&layer, train)`: a layer, or anything that can be called. */
static cg_code give_applied(library_call *call)
{
    const value *layer = std_at(call, call->args[0]);
    apply_ways ways = {.call = call,
                       .layers = layer->kind == VALUE_CHOICE ? layer->as.items : NULL,
                       .is_t = str_equal(call->name, CG_LIT("apply_t"))};
    val result = 0;
    cg_str condition;

    if (layer->kind != VALUE_CHOICE) {
        CG_TRY(apply_layer(call, call->args[0], ways.is_t, &result));
        return std_give(call, result);
    }
    if (!std_condition(call->eval, call->args[0], &condition))
        return no_memory(call);
    CG_TRY(eval_ways(call->eval, layer->count, condition, apply_way, &ways, &result));
    return std_give(call, result);
}

static bool is_word(const library_call *call, const char *const *words)
{
    for (; *words != NULL && call->name.len > 0; words++) {
        if (**words == *call->name.ptr && str_is(call->name, *words))
            return true;
    }
    return false;
}

/* What is asked about a tensor, or its shape. */
static cg_code ask(library_call *call, node_ref node)
{
    static const char *const truths[] = {
        "is_fortran_contiguous", "is_variable", "track_op", "is_ok", "is_err",
        "same_storage",          NULL};
    static const char *const reads[] = {"to_scalar", "to_vec0", "to_vec1",
                                        "to_vec2",   "to_vec3", NULL};
    static const char *const parts[] = {"stride",  "layout", "id",          "storage_and_layout",
                                        "storage", "op",     "write_bytes", NULL};
    cg_str name = call->name;

    if (name.len == 5 && str_starts_with(name, CG_LIT("dims")) && name.ptr[4] >= '0' &&
        name.ptr[4] <= '5')
        return name.ptr[4] == '0' ? std_give(call, std_plain(call->eval, VALUE_UNIT))
                                  : give_dims(call, node, (unsigned)(name.ptr[4] - '0'));
    if (str_equal(name, CG_LIT("dims")) || str_equal(name, CG_LIT("into_dims")))
        return give_all_dims(call, node);
    if (str_equal(name, CG_LIT("dim")) && call->count == 1)
        return std_give(call, node != 0 ? node_axis_size(call, node, call->args[0])
                                        : axis_size(call, call->args[0], 0));
    if (str_equal(name, CG_LIT("rank")))
        return give_rank(call, node);
    if (str_equal(name, CG_LIT("elem_count")))
        return give_count(call, node);
    if (str_equal(name, CG_LIT("shape")))
        return give_shape(call, node);
    if (str_equal(name, CG_LIT("dtype")))
        return give_dtype(call, node);
    if (str_equal(name, CG_LIT("device")))
        return give_device(call, node);
    if (str_equal(name, CG_LIT("is_contiguous")))
        return give_contiguous(call, node);
    if (is_word(call, truths))
        return std_give_opaque(call, VALUE_BOOL, 0);
    if (is_word(call, reads))
        return give_host(call, node);
    if (is_word(call, parts))
        return std_give_typed(call, call->wanted);
    return CG_OK;
}

static bool is_own_operation(cg_str name)
{
    return str_find(name, CG_LIT("_op1")) != SIZE_MAX ||
           str_find(name, CG_LIT("_op2")) != SIZE_MAX || str_find(name, CG_LIT("_op3")) != SIZE_MAX;
}

/* Tensors inside of an argument that is none itself: a layer, a list of layers. */
static cg_code note_lost(library_call *call, val arg)
{
    flow *graph = call->eval->flow;
    const node_ref *inside = NULL;
    size_t count = 0;

    switch (std_kind(call, arg)) {
    case VALUE_STRUCT:
    case VALUE_ENUM:
    case VALUE_SOME:
    case VALUE_TUPLE:
    case VALUE_LIST:
    case VALUE_MAP:
    case VALUE_CHOICE: break;
    default: return CG_OK;
    }
    if (!flow_tensors(graph, arg, &graph->mem, &inside, &count) ||
        !vec_reserve(graph->heap, &graph->lost, graph->lost.count + count + 1))
        return no_memory(call);
    for (size_t i = 0; i < count; i++)
        graph->lost.at[graph->lost.count++] = inside[i];
    return CG_OK;
}

cg_code tensor_method(library_call *call)
{
    static const char *const same[] = {
        "as_tensor", "as_ref", "borrow",       "to_owned", "expect",     "unwrap", "map_err",
        "context",   "deref",  "with_context", "bt",       "into_inner", "into",   NULL};
    static const char *const std_words[] = {
        "map", "and_then", "ok", "unwrap_or", "unwrap_or_else", "or_else", "or", "to_string", NULL};
    static const char *const in_place[] = {
        "slice_set", "scatter_set", "scatter_add_set", "const_set",   "zero_set",
        "one_set",   "inplace_op1", "inplace_op2",     "inplace_op3", NULL};
    eval *self = call->eval;
    cg_str name = call->name;
    node_ref node = self->flow == NULL ? 0 : flow_of(self->flow, call->receiver);
    node_ref shape = candle_shape_node(self, call->receiver);
    cg_str path;

    if (is_word(call, std_words))
        return CG_OK; /* Result's */
    if (is_word(call, same) || (self->flow == NULL && str_equal(name, CG_LIT("clone"))))
        return std_give(call, call->receiver);
    CG_TRY(ask(call, shape != 0 ? shape : node));
    if (call->is_known)
        return CG_OK;
    if (str_equal(name, CG_LIT("backward")))
        return give_backward(call);
    if (str_equal(name, CG_LIT("set")) || (self->flow == NULL && is_word(call, in_place)))
        return std_give(call, std_plain(self, VALUE_UNIT));
    if (str_equal(name, CG_LIT("as_detached_tensor")))
        return tensor_operation(call, CG_LIT("candle_core::Var::as_detached_tensor"));
    if (str_equal(name, CG_LIT("dequantize")) || str_equal(name, CG_LIT("dequantize_f16")))
        return tensor_operation(call, CG_LIT("candle_core::QTensor::dequantize"));
    if (!arena_format(&self->values->mem, &path, TENSOR_TYPE "::%.*s", STR_NAME(name)))
        return no_memory(call);
    /* What an operation of the crate's own keeps, it computes with. */
    for (size_t i = 0; i < call->count && self->flow != NULL && is_own_operation(name); i++) {
        if (flow_of(self->flow, call->args[i]) == 0)
            CG_TRY(note_lost(call, call->args[i]));
    }
    if (is_word(call, in_place)) {
        CG_TRY(tensor_operation(call, path));
        call->updated = call->result;
        return std_give(call, std_plain(self, VALUE_UNIT));
    }
    if (str_equal(name, CG_LIT("chunk")) || str_equal(name, CG_LIT("split")))
        return give_parts(call, path);
    if (str_equal(name, CG_LIT("sort_last_dim")))
        return give_sorted(call);
    if (self->flow != NULL && call->count > 0 &&
        (str_equal(name, CG_LIT("apply")) || str_equal(name, CG_LIT("apply_t"))))
        return give_applied(call);
    return tensor_operation(call, path);
}

cg_code tensor_lost(library_call *call, type_ref type)
{
    eval *self = call->eval;
    type_ref inside = type == 0 ? 0 : value_transparent(self->values, type);
    bool is_tensor = inside != 0 && value_class(self->values, inside) == CLASS_TENSOR;
    bool has_tensor = false;
    value it = {.kind = VALUE_UNKNOWN, .type = type, .text = call->name, .is_inclusive = true};
    val *args = arena_take(&self->values->mem, (call->count + 1) * sizeof *args);
    size_t lost = self->flow->lost.count;
    size_t inside_count;
    flow_call *work;
    node_ref node = 0;
    cg_code code;

    if (args == NULL)
        return no_memory(call);
    for (size_t i = 0; i < call->count; i++) {
        args[i] = call->args[i] == 0 ? std_plain(self, VALUE_UNIT) : call->args[i];
        if (flow_of(self->flow, args[i]) != 0)
            has_tensor = true;
        else
            CG_TRY(note_lost(call, args[i]));
    }
    /* What a broken source calls has perhaps no name, and could not be shown. */
    if (!has_tensor || (type != 0 && !is_tensor) || call->name.len == 0 ||
        str_utf8_error(call->name) != SIZE_MAX)
        return CG_OK;
    work = flow_call_begin(self, call->name, call->place);
    if (work == NULL)
        return no_memory(call);
    work->args = args;
    work->count = call->count;
    inside_count = self->flow->lost.count - lost;
    code = flow_apply_unknown(work, inside_count > 0 ? self->flow->lost.at + lost : NULL,
                              inside_count, &node);
    flow_call_end(work);
    if (code != CG_OK)
        return code;
    if (is_tensor)
        return give_node(call, node);
    it.as.number = node;
    return std_give(call, value_make(self->values, &it));
}

/*
 * Is it a tensor that operations made, and surely no variable? What may hand on its operand as it
 * is (clone, contiguous, a cast) is asked about that.
 */
static bool is_computed(const flow *graph, node_ref which)
{
    for (unsigned i = 0; i < 16; i++) {
        const flow_node *node = flow_at(graph, which);
        const operation_row *row = operation_at(node->row);

        if (node->kind != FLOW_OPERATION || node->is_variable)
            return false;
        if (row->domain != DOMAIN_SAME && row->domain != DOMAIN_CAST)
            return true;
        if (row->gradient != GRADIENT_PASSES || row->shape != SHAPE_SAME || node->edge_count == 0)
            return true;
        which = graph->edges.at[node->first_edge].from;
    }
    return false;
}

/* A Var is a leaf that is trained. Made of a tensor that is no variable, it knows nothing of it. */
static cg_code give_variable(library_call *call)
{
    eval *self = call->eval;
    bool is_copy = str_starts_with(call->name, CG_LIT("from_tensor"));
    node_ref from = 0;
    node_ref node = 0;
    cg_str path = CG_LIT("candle_core::Var::from_tensor");

    if (self->flow == NULL)
        return tensor_give(call);
    if (is_copy && std_arg(call, 0) != 0)
        from = flow_of(self->flow, std_arg(call, 0));
    if ((from == 0 || !is_computed(self->flow, from)) &&
        !arena_format(&self->values->mem, &path, TENSOR_TYPE "::%.*s",
                      STR_NAME(is_copy ? CG_LIT("copy") : call->name)))
        return no_memory(call);
    CG_TRY(apply(call, path, call->args, call->count, 0, &node));
    self->flow->nodes.at[node].facts.carries = FLOW_YES;
    self->flow->nodes.at[node].is_variable = true;
    return give_node(call, node);
}

cg_code tensor_call(library_call *call, cg_str path)
{
    val tensor = std_arg(call, 0);
    library_call method = *call;

    if (str_find(path, CG_LIT("::Var::")) != SIZE_MAX)
        return give_variable(call);
    /* `Tensor::chunk(&x, 2, 0)`: whatever a method may do. */
    if (tensor != 0 && tensor_is(call->eval, tensor) &&
        str_find(path, CG_LIT("Tensor::")) != SIZE_MAX) {
        method.receiver = tensor;
        method.args = call->args + 1;
        method.count = call->count - 1;
        CG_TRY(tensor_method(&method));
        if (method.is_known)
            return std_give(call, method.result);
        return CG_OK;
    }
    if (str_ends_with(path, CG_LIT("::meshgrid"))) {
        CG_TRY(tensor_operation(call, path));
        return std_give_opaque(call, VALUE_UNKNOWN, std_type(call->eval, "std::vec::Vec"));
    }
    return tensor_operation(call, path);
}
