#include "join/join_item.h"

cg_str join_item_layer(cg_str key)
{
    size_t dot = str_find_last(key, '.');

    return dot == SIZE_MAX ? CG_LIT("") : (cg_str){key.ptr, dot};
}

static void of_component(const model_component *from, join_item *ret)
{
    ret->id = from->id;
    ret->name = from->qualified_name;
    ret->location = from->location;
}

static void of_module(const model_module *from, join_item *ret)
{
    ret->id = from->id;
    ret->name = from->prefix.len > 0 ? from->prefix : from->type_name;
    ret->module = from->prefix;
    ret->location = from->location;
}

static void of_function(const model_function *from, join_item *ret)
{
    ret->id = from->id;
    ret->name = from->qualified_name;
    ret->location = from->location;
}

static void of_operation(const model_operation *from, join_item *ret)
{
    ret->id = from->id;
    ret->name = from->qualified_name.ptr != NULL ? from->qualified_name : from->name;
    ret->location = from->location;
}

static void of_parameter(const model_parameter *from, join_item *ret)
{
    ret->id = from->id;
    ret->name = from->key;
    ret->module = join_item_layer(from->key);
    ret->location = from->location;
}

static void of_tensor(const model_tensor *from, join_item *ret)
{
    ret->id = from->id;
    ret->name = from->name;
    ret->location = from->location;
}

join_item join_item_of(const declared *from, uint32_t item)
{
    const model_doc *doc = from->doc;
    uint8_t kind = declared_kind(from, item);
    uint32_t place = declared_place(from, kind, item);
    uint32_t component = from->component_of[item];
    join_item ret = {.kind = kind};

    switch (kind) {
    case JOIN_ITEM_COMPONENT:
        of_component(MODEL_AT(doc->components, model_component, place), &ret);
        break;
    case JOIN_ITEM_MODULE: of_module(MODEL_AT(doc->modules, model_module, place), &ret); break;
    case JOIN_ITEM_FUNCTION:
        of_function(MODEL_AT(doc->functions, model_function, place), &ret);
        break;
    case JOIN_ITEM_OPERATION:
        of_operation(MODEL_AT(doc->operations, model_operation, place), &ret);
        break;
    case JOIN_ITEM_PARAMETER:
        of_parameter(MODEL_AT(doc->parameters, model_parameter, place), &ret);
        break;
    case JOIN_ITEM_TENSOR: of_tensor(MODEL_AT(doc->tensors, model_tensor, place), &ret); break;
    default: break;
    }
    if (component != DECLARED_NONE)
        ret.component = MODEL_AT(doc->components, model_component, component)->id;
    return ret;
}
