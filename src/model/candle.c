/* Which part of the catalogue answers a call of candle-core or candle-nn. */
#include "model/candle_builder.h"
#include "model/candle_module.h"
#include "model/candle_shape.h"
#include "model/candle_tensor.h"
#include "model/catalogue.h"
#include "model/holders.h"
#include "model/std_handlers.h"
#include "model/value_kinds.h"

/* `a::b::Type::name` in parts: everything before the last, that one's last, the last. */
typedef struct path_parts {
    cg_str path;
    cg_str owner;      /* `a::b::Type` */
    cg_str owner_name; /* `Type` */
    cg_str name;
} path_parts;

static path_parts split_path(cg_str path)
{
    path_parts parts = {.path = path, .name = path};
    size_t colon = str_find_last(path, ':');

    if (colon == SIZE_MAX || colon == 0)
        return parts;
    parts.owner = (cg_str){path.ptr, colon - 1};
    parts.name = (cg_str){path.ptr + colon + 1, path.len - colon - 1};
    colon = str_find_last(parts.owner, ':');
    parts.owner_name = colon == SIZE_MAX
                           ? parts.owner
                           : (cg_str){parts.owner.ptr + colon + 1, parts.owner.len - colon - 1};
    return parts;
}

static bool is_candle(cg_str path)
{
    return str_starts_with(path, CG_LIT("candle_core::")) ||
           str_starts_with(path, CG_LIT("candle_nn::"));
}

static bool is_upper(cg_str name)
{
    return name.len > 0 && name.ptr[0] >= 'A' && name.ptr[0] <= 'Z';
}

static bool is_word(cg_str word, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (str_is(word, *words))
            return true;
    }
    return false;
}

static cg_code give_worded(library_call *call, enum value_kind kind, cg_str text)
{
    value it = {.kind = (uint8_t)kind, .is_known = true, .text = text};

    return std_give(call, value_make(call->eval->values, &it));
}

/* --- DType, Device --- */

static cg_code device_call(library_call *call)
{
    if (str_equal(call->name, CG_LIT("new_cuda")) ||
        str_equal(call->name, CG_LIT("new_cuda_with_stream")))
        return give_worded(call, VALUE_DEVICE, CG_LIT("cuda"));
    if (str_equal(call->name, CG_LIT("new_metal")))
        return give_worded(call, VALUE_DEVICE, CG_LIT("metal"));
    return std_give_opaque(call, VALUE_DEVICE, 0);
}

static cg_code device_method(library_call *call)
{
    static const char *const truths[] = {"is_cpu",      "is_cuda",       "is_metal",
                                         "same_device", "supports_bf16", NULL};
    const value *at = std_at(call, call->receiver);

    if (at->is_known && call->count == 0 && call->name.len > 3 && is_word(call->name, truths) &&
        !str_equal(call->name, CG_LIT("supports_bf16")))
        return std_give_bool(call,
                             str_equal(at->text, (cg_str){call->name.ptr + 3, call->name.len - 3}));
    if (is_word(call->name, truths))
        return any_bool(call);
    if (str_starts_with(call->name, CG_LIT("bf16_default")))
        return std_give_opaque(call, VALUE_DTYPE, 0);
    if (str_equal(call->name, CG_LIT("synchronize")) || str_equal(call->name, CG_LIT("set_seed")))
        return any_unit(call);
    if (str_equal(call->name, CG_LIT("location")))
        return any_unknown(call);
    return CG_OK;
}

/* Bytes of one element, 0 when it is not one of the plain types. */
static int64_t dtype_bytes(cg_str name)
{
    static const struct {
        const char *name;
        int64_t bytes;
    } rows[] = {
        {"U8", 1},  {"I8", 1},  {"F8E4M3", 1}, {"I16", 2}, {"F16", 2}, {"BF16", 2},
        {"U32", 4}, {"I32", 4}, {"F32", 4},    {"I64", 8}, {"F64", 8},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (str_is(name, rows[i].name))
            return rows[i].bytes;
    }
    return 0;
}

static cg_code dtype_method(library_call *call)
{
    const value *at = std_at(call, call->receiver);
    int64_t bytes = at->is_known ? dtype_bytes(at->text) : 0;

    if (str_equal(call->name, CG_LIT("size_in_bytes")))
        return bytes > 0 ? std_give_number(call, expr_const(call->eval->exprs, bytes))
                         : any_int(call);
    if (str_equal(call->name, CG_LIT("is_float")) || str_equal(call->name, CG_LIT("is_int"))) {
        bool is_float = call->name.len == 8;

        if (bytes == 0)
            return any_bool(call);
        return std_give_bool(call, is_float == (at->text.ptr[0] == 'F' || at->text.ptr[0] == 'B'));
    }
    if (str_equal(call->name, CG_LIT("as_str")))
        return any_to_string(call);
    return CG_OK;
}

/* --- functions --- */

static cg_code optimizer_call(library_call *call, const path_parts *parts)
{
    trail_event event = {.kind = EVENT_OPTIMIZER,
                         .subject = std_arg(call, 0),
                         .detail = std_arg(call, 1),
                         .condition = call->eval->trail->condition,
                         .parameters = (uint32_t)call->eval->trail->parameters.count,
                         .place = call->place};

    if (!str_starts_with(parts->name, CG_LIT("new")) &&
        !str_equal(parts->name, CG_LIT("from_slice")))
        return CG_OK;
    if (!holders_note(call->eval, &event) || !trail_add_event(call->eval->trail, &event))
        return err_nomem(call->eval->reterr);
    return std_give_opaque(call, VALUE_UNKNOWN,
                           std_type(call->eval, str_equal(parts->owner_name, CG_LIT("SGD"))
                                                    ? "candle_nn::SGD"
                                                    : "candle_nn::AdamW"));
}

static bool has_builder(const library_call *call)
{
    for (size_t i = 0; i < call->count; i++) {
        if (std_at(call, call->args[i])->has_builder)
            return true;
    }
    return false;
}

/* `Module::forward(&layer, xs)`: the method of the first argument. */
static cg_code trait_call(library_call *call, const path_parts *parts)
{
    sym name = intern_add(&call->eval->program->names, parts->name);
    val result = 0;

    if (call->count == 0)
        return CG_OK;
    if (name == 0)
        return err_nomem(call->eval->reterr);
    CG_TRY(eval_method(call->eval, call->args[0], name, call->args + 1, call->count - 1,
                       call->place, &result));
    return std_give(call, result);
}

/* What nobody described: a value of the type it is made by, or a tensor from the operations. */
static cg_code other_call(library_call *call, const path_parts *parts)
{
    static const char *const operations[] = {
        "ops", "loss",      "rotary_emb",          "encoding", "sampling",
        "moe", "attention", "cpu_flash_attention", NULL};
    char path[128];

    if (has_builder(call))
        return CG_OK;
    if (is_word(parts->owner_name, operations))
        return tensor_call(call, parts->path);
    if (str_equal(parts->path, CG_LIT("candle_core::safetensors::load")) ||
        str_equal(parts->path, CG_LIT("candle_core::safetensors::load_buffer")))
        return std_give_opaque(call, VALUE_UNKNOWN,
                               std_type(call->eval, "std::collections::HashMap"));
    if (str_starts_with(parts->path, CG_LIT("candle_core::utils::")))
        return str_equal(parts->name, CG_LIT("get_num_threads")) ? any_int(call) : any_bool(call);
    if (!is_upper(parts->owner_name) || parts->owner.len >= sizeof path)
        return any_unknown(call);
    memcpy(path, parts->owner.ptr, parts->owner.len);
    path[parts->owner.len] = '\0';
    return std_give_opaque(call, VALUE_UNKNOWN, std_type(call->eval, path));
}

static cg_code run_function(library_call *call, cg_str path)
{
    static const char *const tensors[] = {"Tensor", "Var", "QTensor", NULL};
    static const char *const optimizers[] = {"AdamW", "SGD", "Optimizer", NULL};
    static const char *const traits[] = {"Module", "ModuleT", "IndexOp", "RNN", NULL};
    path_parts parts = split_path(path);

    if (!is_candle(path))
        return CG_OK;
    CG_TRY(module_call(call, path));
    if (call->is_known || module_has(path))
        return CG_OK;
    CG_TRY(module_variant(call, path));
    if (call->is_known)
        return CG_OK;
    if (str_starts_with(parts.owner_name, CG_LIT("VarBuilder")) ||
        str_equal(parts.owner_name, CG_LIT("ShardedSafeTensors"))) {
        CG_TRY(builder_call(call));
        if (call->is_known)
            return CG_OK;
        if (call->count > 0 && std_kind(call, call->args[0]) == VALUE_BUILDER)
            return trait_call(call, &parts);
    }
    if (str_equal(parts.owner_name, CG_LIT("VarMap"))) {
        CG_TRY(varmap_call(call));
        if (call->is_known)
            return CG_OK;
    }
    if (is_word(parts.owner_name, optimizers))
        CG_TRY(optimizer_call(call, &parts));
    if (call->is_known)
        return CG_OK;
    if (is_word(parts.owner_name, traits))
        return trait_call(call, &parts);
    if (is_word(parts.owner_name, tensors)) {
        if (call->count > 0 && tensor_is(call->eval, call->args[0]) &&
            str_equal(parts.name, CG_LIT("clone")))
            return std_give(call, call->args[0]);
        return tensor_call(call, parts.path);
    }
    if (str_equal(parts.owner_name, CG_LIT("Device")))
        return device_call(call);
    if (str_equal(parts.owner_name, CG_LIT("Error")))
        return any_error(call);
    if (str_equal(parts.owner_name, CG_LIT("Shape")) && call->count == 1)
        return std_give(call, call->args[0]);
    return other_call(call, &parts);
}

static library_call begin(eval *self, cg_str name, const val *args, size_t count, model_place place)
{
    library_call call = {.eval = self,
                         .args = args,
                         .count = count,
                         .place = place,
                         .name = name,
                         .wanted = self->wanted};

    self->updated_receiver = 0;
    return call;
}

/* What is wanted is used up by an answer only: the next table may ask for it. */
static cg_code finish(library_call *call, cg_code code, bool *is_known, val *ret)
{
    *is_known = code == CG_OK && call->is_known;
    if (*is_known) {
        *ret = call->result;
        call->eval->updated_receiver = call->updated;
        call->eval->wanted = 0;
    } else {
        call->eval->wanted = call->wanted;
    }
    return code;
}

cg_code candle_call(eval *self, sym path, const val *args, size_t count, model_place place,
                    bool *is_known, val *ret)
{
    cg_str text = program_text(self->program, path);
    library_call call = begin(self, split_path(text).name, args, count, place);

    return finish(&call, run_function(&call, text), is_known, ret);
}

cg_code candle_constant(eval *self, sym path, bool *is_known, val *ret)
{
    cg_str text = program_text(self->program, path);
    path_parts parts = split_path(text);
    library_call call = begin(self, parts.name, NULL, 0, (model_place){0});
    cg_code code = CG_OK;

    if (!is_candle(text))
        code = CG_OK;
    else if (str_equal(parts.owner, CG_LIT("candle_core::DType")) && is_upper(parts.name))
        code = give_worded(&call, VALUE_DTYPE, parts.name);
    else if (str_equal(text, CG_LIT("candle_core::Device::Cpu")))
        code = give_worded(&call, VALUE_DEVICE, CG_LIT("cpu"));
    else if (str_equal(parts.owner, CG_LIT("candle_nn::init")))
        code = std_give_opaque(&call, VALUE_UNKNOWN, std_type(self, "candle_nn::Init"));
    else if (str_equal(text, CG_LIT("candle_nn::ops::Identity")))
        code = module_call(&call, CG_LIT("candle_nn::ops::Identity::new"));
    else
        code = module_variant(&call, text);
    return finish(&call, code, is_known, ret);
}

/* --- methods --- */

/* The path of candle's type that the value has; absent for all others. */
static cg_str candle_type(const eval *self, val which)
{
    const value *at = value_at(self->values, which);
    const model_type *type;
    type_ref inside;
    cg_str path;

    if (at->type == 0 || self->types == NULL ||
        (at->kind != VALUE_STRUCT && at->kind != VALUE_ENUM && at->kind != VALUE_UNKNOWN))
        return (cg_str){NULL, 0};
    inside = value_transparent(self->values, at->type);
    if (inside == 0)
        return (cg_str){NULL, 0};
    type = type_at(self->types, inside);
    if (type->kind != TYPE_EXTERNAL || type->name == 0)
        return (cg_str){NULL, 0};
    path = program_text(self->program, type->name);
    return is_candle(path) ? path : (cg_str){NULL, 0};
}

static cg_code run_method(library_call *call)
{
    eval *self = call->eval;
    cg_str type;

    switch (std_kind(call, call->receiver)) {
    case VALUE_BUILDER: return builder_method(call);
    case VALUE_VARMAP: return varmap_call(call);
    case VALUE_DEVICE: return device_method(call);
    case VALUE_DTYPE: return dtype_method(call);
    default: break;
    }
    if (tensor_is(self, call->receiver) || candle_shape_node(self, call->receiver) != 0)
        return tensor_method(call);
    type = candle_type(self, call->receiver);
    if (type.len == 0)
        return CG_OK;
    if (str_equal(type, CG_LIT("candle_core::Device")))
        return device_method(call);
    if (str_equal(type, CG_LIT("candle_core::DType")))
        return dtype_method(call);
    return module_method(call, type);
}

static bool is_ours(const eval *self, val which)
{
    enum value_kind kind = (enum value_kind)value_at(self->values, which)->kind;

    return kind == VALUE_BUILDER || kind == VALUE_VARMAP || kind == VALUE_DTYPE ||
           kind == VALUE_DEVICE || tensor_is(self, which) || candle_type(self, which).len > 0;
}

typedef struct method_ways {
    const library_call *call;
    const val *items;
    bool is_known;
} method_ways;

static cg_code run_way(void *context, size_t way, val *ret)
{
    method_ways *self = context;
    library_call one = *self->call;

    one.receiver = self->items[way];
    CG_TRY(run_method(&one));
    if (one.is_known)
        self->is_known = true;
    else
        CG_TRY(std_give_opaque(&one, VALUE_UNKNOWN, 0));
    *ret = one.result;
    return CG_OK;
}

/* Each alternative; what is asked for by one of them only is conditional. */
static cg_code run_choice(library_call *call)
{
    const value *choice = std_at(call, call->receiver);
    method_ways ways = {.call = call, .items = choice->as.items};
    cg_str condition;
    val result = 0;

    for (size_t i = 0; i < choice->count; i++) {
        if (!is_ours(call->eval, choice->as.items[i]))
            return CG_OK;
    }
    if (choice->count == 0)
        return CG_OK;
    if (!std_condition(call->eval, call->receiver, &condition))
        return err_nomem(call->eval->reterr);
    CG_TRY(eval_ways(call->eval, choice->count, condition, run_way, &ways, &result));
    return ways.is_known ? std_give(call, result) : CG_OK;
}

cg_code candle_method(eval *self, val receiver, sym name, const val *args, size_t count,
                      model_place place, bool *is_known, val *ret)
{
    library_call call = begin(self, program_text(self->program, name), args, count, place);
    cg_code code;

    call.receiver = receiver;
    code = std_kind(&call, receiver) == VALUE_CHOICE ? run_choice(&call) : run_method(&call);
    return finish(&call, code, is_known, ret);
}

cg_code candle_lost(eval *self, cg_str name, type_ref type, const val *args, size_t count,
                    model_place place, bool *is_known, val *ret)
{
    library_call call = begin(self, name, args, count, place);

    self->updated_receiver = 0;
    return finish(&call, tensor_lost(&call, type), is_known, ret);
}

cg_code candle_operator(eval *self, cg_str name, val left, val right, model_place place,
                        bool *is_known, val *ret)
{
    library_call call = begin(self, name, NULL, 0, place);

    return finish(&call, tensor_operator(&call, left, right), is_known, ret);
}
