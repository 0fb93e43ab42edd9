#include "model/candle_forward.h"

#include "base/str_name.h"
#include "model/candle_shape.h"
#include "model/candle_tensor.h"
#include "model/flow_build.h"
#include "model/value_kinds.h"

static cg_code no_memory(const library_call *call)
{
    return err_nomem(call->eval->reterr);
}

static cg_str last_part(cg_str path)
{
    size_t colon = str_find_last(path, ':');

    return colon == SIZE_MAX ? path : (cg_str){path.ptr + colon + 1, path.len - colon - 1};
}

static val field(library_call *call, const char *name)
{
    sym symbol = intern_add(&call->eval->program->names, str_from(name));

    return symbol == 0 ? 0 : value_field_of(call->eval->values, call->receiver, symbol);
}

/* --- layers made of others --- */

static cg_code call_layer(library_call *call, val layer, val input, val *ret)
{
    sym name = intern_add(&call->eval->program->names, CG_LIT("forward"));

    return name == 0 ? no_memory(call)
                     : eval_method(call->eval, layer, name, &input, 1, call->place, ret);
}

/* One after the other; a repetition of layers is a loop. */
static cg_code give_sequence(library_call *call)
{
    eval *self = call->eval;
    val layers = field(call, "layers");
    val now = std_arg(call, 0);
    const value *at = layers == 0 ? NULL : value_at(self->values, layers);

    if (at == NULL || at->kind != VALUE_LIST)
        return tensor_operation(call, CG_LIT("candle_nn::Sequential::forward"));
    for (size_t i = 0; i < at->count; i++) {
        val layer = at->as.items[i];
        val before = now;
        val inside;

        if (value_kind_of(self->values, layer) != VALUE_REPEAT) {
            CG_TRY(call_layer(call, layer, now, &now));
            continue;
        }
        layer = value_at(self->values, layer)->as.repeat.items[0];
        CG_TRY(call_layer(call, layer, now, &now));
        self->flow->is_widening = true;
        inside = value_join(self->values, before, now);
        self->flow->is_widening = false;
        if (inside == 0)
            return no_memory(call);
        CG_TRY(call_layer(call, layer, inside, &now));
        flow_carry(self->flow, inside, now);
        now = inside;
    }
    return std_give(call, now);
}

static cg_code give_function(library_call *call)
{
    val f = field(call, "f");
    val result = 0;

    if (f == 0)
        return tensor_operation(call, CG_LIT("candle_nn::Func::forward"));
    CG_TRY(eval_apply(call->eval, f, call->args, call->count, call->place, &result));
    return std_give(call, result);
}

/* --- activations --- */

static cg_code give_activation(library_call *call)
{
    static const char *const nonnegative[] = {"Relu", "Relu2", NULL};
    eval *self = call->eval;
    const value *at = std_at(call, call->receiver);
    cg_str variant =
        at->kind == VALUE_ENUM ? program_text(self->program, at->variant) : (cg_str){NULL, 0};
    flow_facts *facts;
    node_ref node;

    CG_TRY(tensor_operation(call, CG_LIT("candle_nn::Activation::forward")));
    node = flow_of(self->flow, call->result);
    facts = &self->flow->nodes.at[node].facts;
    for (size_t i = 0; nonnegative[i] != NULL; i++) {
        if (str_is(variant, nonnegative[i]))
            facts->domain = interval_between(0, 1.0 / 0.0);
    }
    if (str_equal(variant, CG_LIT("Sigmoid")) || str_equal(variant, CG_LIT("HardSigmoid")))
        facts->domain = interval_between(0, 1);
    if (str_equal(variant, CG_LIT("Relu6")))
        facts->domain = interval_between(0, 6);
    if (str_equal(variant, CG_LIT("Swiglu")) && facts->rank > 0)
        facts->axes[facts->rank - 1] = expr_binary(
            self->exprs, EXPR_DIV, facts->axes[facts->rank - 1], expr_const(self->exprs, 2));
    return CG_OK;
}

/* --- LSTM and GRU --- */

/* A state as the crate sees it: LSTMState{h, c} or GRUState{h}. */
static cg_code give_state(library_call *call, cg_str type, expr batch)
{
    eval *self = call->eval;
    bool is_lstm = str_equal(type, CG_LIT("LSTM"));
    node_ref node = flow_of(self->flow, call->result);
    flow_facts *facts = &self->flow->nodes.at[node].facts;
    val size = field(call, "hidden_dim");
    value_field fields[2] = {{intern_add(&self->program->names, CG_LIT("h")), call->result},
                             {intern_add(&self->program->names, CG_LIT("c")), call->result}};

    facts->has_rank = true;
    facts->rank = 2;
    facts->axes[0] = batch;
    facts->axes[1] = size == 0 ? EXPR_NONE : candle_size(self, size);
    return std_give(call, value_struct(self->values,
                                       std_type(self, is_lstm ? "candle_nn::rnn::LSTMState"
                                                              : "candle_nn::rnn::GRUState"),
                                       fields, is_lstm ? 2 : 1));
}

static expr first_axis(library_call *call, val tensor)
{
    node_ref node = tensor == 0 ? 0 : flow_of(call->eval->flow, tensor);
    const flow_facts *facts = &flow_at(call->eval->flow, node)->facts;

    return facts->has_rank && facts->rank > 0 ? facts->axes[0] : EXPR_NONE;
}

static cg_code give_step(library_call *call, cg_str type, cg_str path)
{
    eval *self = call->eval;
    val state = std_arg(call, 1);
    val h = state == 0 ? 0
                       : value_field_of(self->values, state,
                                        intern_add(&self->program->names, CG_LIT("h")));
    val args[2] = {std_arg(call, 0), h != 0 ? h : state};
    library_call step = *call;

    step.args = args;
    step.count = args[1] == 0 ? 1 : 2;
    CG_TRY(tensor_operation(&step, path));
    call->result = step.result;
    return give_state(call, type, first_axis(call, std_arg(call, 0)));
}

/* seq(x): a state for every position. */
static cg_code give_seq(library_call *call, cg_str type, cg_str path)
{
    eval *self = call->eval;
    value repeat = {.kind = VALUE_REPEAT, .count = 1};
    value list = {.kind = VALUE_LIST, .count = 1, .type = std_type(self, "std::vec::Vec")};
    val input = std_arg(call, 0);
    node_ref node = input == 0 ? 0 : flow_of(self->flow, input);
    expr length = EXPR_NONE;
    val item;

    if (node != 0 && flow_at(self->flow, node)->facts.has_rank &&
        flow_at(self->flow, node)->facts.rank == 3)
        length = flow_at(self->flow, node)->facts.axes[1];
    CG_TRY(give_step(call, type, path));
    item = call->result;
    repeat.as.repeat.items = &item;
    repeat.as.repeat.symbol = intern_add(&self->program->names, CG_LIT("index"));
    repeat.as.repeat.count = length;
    item = value_make(self->values, &repeat);
    if (item == 0)
        return no_memory(call);
    list.as.items = &item;
    return std_give(call, value_make(self->values, &list));
}

/* states_to_tensor(&states): all h, stacked along axis 1. */
static cg_code give_states(library_call *call)
{
    eval *self = call->eval;
    val states = std_arg(call, 0);
    const value *at = states == 0 ? NULL : value_at(self->values, states);
    value list = {.kind = VALUE_LIST, .count = 1};
    val item;
    val args[2];
    library_call stack = *call;

    if (at == NULL || at->kind != VALUE_LIST || at->count == 0)
        return tensor_operation(call, CG_LIT("candle_nn::RNN::states_to_tensor"));
    item = at->as.items[0];
    if (value_kind_of(self->values, item) == VALUE_REPEAT) {
        value repeat = *value_at(self->values, item);

        item = value_field_of(self->values, repeat.as.repeat.items[0],
                              intern_add(&self->program->names, CG_LIT("h")));
        if (item == 0)
            return tensor_operation(call, CG_LIT("candle_nn::RNN::states_to_tensor"));
        repeat.as.repeat.items = &item;
        item = value_make(self->values, &repeat);
    }
    list.as.items = &item;
    args[0] = item == 0 ? 0 : value_make(self->values, &list);
    args[1] = value_int(self->values, expr_const(self->exprs, 1));
    if (args[0] == 0 || args[1] == 0)
        return no_memory(call);
    stack.receiver = 0;
    stack.args = args;
    stack.count = 2;
    CG_TRY(tensor_operation(&stack, CG_LIT("candle_core::Tensor::stack")));
    return std_give(call, stack.result);
}

static cg_code recurrent_method(library_call *call, cg_str type)
{
    bool is_lstm = str_equal(type, CG_LIT("LSTM"));
    cg_str step = is_lstm ? CG_LIT("candle_nn::LSTM::step") : CG_LIT("candle_nn::GRU::step");

    if (str_equal(call->name, CG_LIT("zero_state"))) {
        val batch = std_arg(call, 0);

        CG_TRY(tensor_operation(call, is_lstm ? CG_LIT("candle_nn::LSTM::zero_state")
                                              : CG_LIT("candle_nn::GRU::zero_state")));
        return give_state(call, type, batch == 0 ? EXPR_NONE : candle_size(call->eval, batch));
    }
    if (str_equal(call->name, CG_LIT("step")))
        return give_step(call, type, step);
    if (str_equal(call->name, CG_LIT("seq")) || str_equal(call->name, CG_LIT("seq_init")))
        return give_seq(call, type, step);
    if (str_equal(call->name, CG_LIT("states_to_tensor")))
        return give_states(call);
    return CG_OK;
}

/* --- caches --- */

/* `append(k, v)`: what is in the cache, the new ones at its end. */
static cg_code give_appended(library_call *call, cg_str type)
{
    eval *self = call->eval;
    cg_str path = str_starts_with(type, CG_LIT("Concat"))
                      ? CG_LIT("candle_nn::ConcatKvCache::append")
                      : CG_LIT("candle_nn::KvCache::append");
    val both[2] = {0};
    library_call one = *call;

    one.receiver = 0;
    one.count = 1;
    for (size_t i = 0; i < 2 && i < call->count; i++) {
        one.args = &call->args[i];
        CG_TRY(tensor_operation(&one, path));
        both[i] = one.result;
    }
    if (call->count < 2)
        return std_give(call, both[0]);
    return std_give(call, value_list(self->values, VALUE_TUPLE, both, 2));
}

/* --- all layers --- */

cg_code forward_method(library_call *call, cg_str type_path)
{
    eval *self = call->eval;
    cg_str type = last_part(type_path);
    bool is_forward = str_starts_with(call->name, CG_LIT("forward"));
    library_call one = *call;
    cg_str path;

    if (self->flow == NULL)
        return CG_OK;
    if (str_equal(type, CG_LIT("LSTM")) || str_equal(type, CG_LIT("GRU")))
        return recurrent_method(call, type);
    if (call->count > 0 && str_ends_with(type, CG_LIT("Cache")) &&
        str_equal(call->name, CG_LIT("append")) && !str_equal(type, CG_LIT("Cache")))
        return give_appended(call, type);
    if (!is_forward || call->count == 0)
        return CG_OK;
    if (str_equal(type, CG_LIT("Sequential")))
        return give_sequence(call);
    if (str_equal(type, CG_LIT("Func")) || str_equal(type, CG_LIT("FuncT")))
        return give_function(call);
    if (str_equal(type, CG_LIT("Identity")))
        return std_give(call, call->args[0]);
    if (str_equal(type, CG_LIT("Activation")))
        return give_activation(call);
    if (!arena_format(&self->values->mem, &path, "%.*s::%.*s", (int)type_path.len, type_path.ptr,
                      STR_NAME(call->name)))
        return no_memory(call);
    /* Every Module is a ModuleT that does not care. */
    if (str_equal(call->name, CG_LIT("forward_t")) && operation_find(path) == 0) {
        if (!arena_format(&self->values->mem, &path, "%.*s::forward", STR_NAME(type_path)))
            return no_memory(call);
        one.count = 1;
    }
    CG_TRY(tensor_operation(&one, path));
    return std_give(call, one.result);
}
