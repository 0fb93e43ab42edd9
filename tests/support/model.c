#include "support/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "codec/json.h"
#include "model/ids.h"

#include <cmocka.h>

static cg_str component_id(model_draft *draft, const char *name)
{
    cg_str id;

    assert_true(id_make(&draft->mem, MODEL_ID_KIND_COMPONENT, ID_PARTS(str_from(name)), &id));
    return id;
}

static const model_location *location(model_draft *draft, uint64_t line)
{
    model_location *at = arena_zero(&draft->mem, sizeof *at);

    assert_non_null(at);
    *at = (model_location){CG_LIT("src/net.rs"), line, 9, line * 40, line * 40 + 12};
    return at;
}

static void add_component(model_draft *draft, const char *name, const char *qualified,
                          bool is_nested)
{
    model_component *component = draft_component(draft);

    component->id = component_id(draft, qualified);
    component->name = str_from(name);
    component->qualified_name = str_from(qualified);
    component->source = CG_LIT("src/net.rs:3");
    component->is_nested = is_nested ? BOOL_TRUE : BOOL_FALSE;
}

static void add_module(model_draft *draft, const char *type, const char *prefix, const char *repeat,
                       uint64_t instance, cg_str parent, cg_str *ret)
{
    model_module *module = draft_module(draft);

    module->component = component_id(draft, "net::Net");
    assert_true(id_module(&draft->mem, module->component, CG_LIT("vb"), str_from(prefix),
                          str_from(type), instance, &module->id));
    module->parent = parent;
    module->type_name = str_from(type);
    module->builder_root = CG_LIT("vb");
    module->prefix = str_from(prefix);
    module->repeat = str_from(repeat);
    module->source = CG_LIT("src/net.rs:9");
    module->confidence = MODEL_CONFIDENCE_PROVEN;
    *ret = module->id;
}

static void add_parameter(model_draft *draft, cg_str module, const char *key, const char *shape,
                          uint8_t certainty)
{
    model_parameter *parameter = draft_parameter(draft);

    parameter->component = component_id(draft, "net::Net");
    parameter->module = module;
    parameter->key = str_from(key);
    parameter->builder_root = CG_LIT("vb");
    parameter->kind = CG_LIT("linear");
    parameter->symbolic_shape = str_from(shape);
    parameter->certainty = certainty;
    parameter->source = CG_LIT("src/net.rs:11");
    parameter->location = location(draft, 11);
    assert_true(id_make(&draft->mem, MODEL_ID_KIND_PARAMETER,
                        ID_PARTS(parameter->component, CG_LIT("vb"), parameter->key),
                        &parameter->id));
    assert_true(draft_evidence(draft, &parameter->evidence, MODEL_EVIDENCE_KIND_SOURCE,
                               MODEL_CONFIDENCE_PROVEN, parameter->source,
                               CG_LIT("registered through linear")));
}

static void add_flow(model_draft *draft, cg_str function, cg_str *ret_in, cg_str *ret_out)
{
    model_tensor *in = draft_tensor(draft);
    model_tensor *out;
    model_operation *operation = draft_operation(draft);

    assert_true(
        id_flow(&draft->mem, MODEL_ID_KIND_TENSOR, MODEL_PHASE_TRAIN, function, 2, &in->id));
    assert_true(id_flow(&draft->mem, MODEL_ID_KIND_OPERATION, MODEL_PHASE_TRAIN, function, 10,
                        &operation->id));
    *ret_in = in->id;
    in->name = CG_LIT("x");
    in->role = MODEL_TENSOR_ROLE_INPUT;
    in->owner_function = function;
    in->execution_phase = MODEL_PHASE_TRAIN;
    assert_true(draft_cuda(draft, (opt_u64){0, true}, &in->device));
    out = draft_tensor(draft);
    assert_true(
        id_flow(&draft->mem, MODEL_ID_KIND_TENSOR, MODEL_PHASE_TRAIN, function, 10, &out->id));
    out->name = CG_LIT("result_of_matmul");
    out->role = MODEL_TENSOR_ROLE_OUTPUT;
    out->owner_function = function;
    out->execution_phase = MODEL_PHASE_TRAIN;
    out->dtype = CG_LIT("F32");
    assert_true(draft_same_layout(draft, CG_LIT("x"), &out->layout));
    operation->function = function;
    operation->name = CG_LIT("matmul");
    operation->output = out->id;
    operation->execution_phase = MODEL_PHASE_TRAIN;
    operation->source = CG_LIT("src/net.rs:21");
    assert_true(draft_text(draft, &operation->inputs, *ret_in));
    *ret_out = out->id;
}

static void add_function(model_draft *draft)
{
    model_function *function = draft_function(draft);
    cg_str in;
    cg_str out;

    assert_true(id_function(&draft->mem, CG_LIT("net::Net::forward"), (sc_strs){0}, &function->id));
    function->name = CG_LIT("forward");
    function->qualified_name = CG_LIT("net::Net::forward");
    function->owner_type = CG_LIT("net::Net");
    function->visibility = MODEL_VISIBILITY_PUBLIC;
    function->cfg_active = BOOL_TRUE;
    function->source = CG_LIT("src/net.rs:20");
    function->is_entrypoint = true;
    add_flow(draft, function->id, &in, &out);
    assert_true(draft_text(draft, &function->tensor_inputs, in));
    assert_true(draft_text(draft, &function->tensor_outputs, out));
}

static void add_findings(model_draft *draft)
{
    model_finding *conflict = draft_finding(draft);
    model_finding *cut = draft_finding(draft);

    conflict->rule = CG_LIT("dtype-conflict");
    conflict->severity = MODEL_FINDING_SEVERITY_ERROR;
    conflict->confidence = MODEL_CONFIDENCE_PROVEN;
    conflict->message = CG_LIT("`add` gets F32 and U8");
    conflict->location = location(draft, 30);
    conflict->function = CG_LIT("Net::forward");
    conflict->operation = CG_LIT("candle_core::Tensor::add");
    cut->rule = CG_LIT("gradient-cut");
    cut->severity = MODEL_FINDING_SEVERITY_WARNING;
    cut->confidence = MODEL_CONFIDENCE_CONDITIONAL;
    cut->message = CG_LIT("`detach` has no backward step");
    cut->location = location(draft, 22);
    cut->help = CG_LIT("leave it out while training");
    cut->operation = CG_LIT("candle_core::Tensor::detach");
    assert_true(draft_text(draft, &cut->entries, CG_LIT("Net::loss")));
    assert_true(draft_key(draft, &cut->severed, CG_LIT("vb"), CG_LIT("layers.{i}.w")));
    assert_true(draft_key(draft, &cut->severed, CG_LIT("vb"), CG_LIT("layers.{i}.b")));
    assert_true(draft_key(draft, &cut->still_trained, CG_LIT("vb"), CG_LIT("head.w")));
}

void model_sample(heap *from, model_draft *draft)
{
    cg_str root;
    cg_str block;

    model_draft_init(draft, from);
    draft->analysis_id = CG_LIT("analysis:sample");
    add_component(draft, "Net", "net::Net", false);
    add_component(draft, "Block", "net::Block", true);
    add_module(draft, "net::Net", "", NULL, 0, (cg_str){0}, &root);
    add_module(draft, "Block", "layers.{i}", "i in 0..cfg.layers", 1, root, &block);
    add_parameter(draft, block, "layers.{i}.w", "(dim, 4 * dim)", MODEL_CERTAINTY_CERTAIN);
    add_parameter(draft, block, "layers.{i}.b", "dim", MODEL_CERTAINTY_CONDITIONAL);
    add_parameter(draft, root, "head.w", "(3, 4)", MODEL_CERTAINTY_CERTAIN);
    add_function(draft);
    add_findings(draft);
}

void model_sample_document(heap *from, model_document *ret)
{
    model_draft draft;

    model_sample(from, &draft);
    assert_int_equal(model_finish(&draft, ret, NULL), CG_OK);
}

static cg_code add_to_buffer(void *context, const char *bytes, size_t count)
{
    buf_add(context, (cg_str){bytes, count});
    return CG_OK;
}

cg_sink model_sink(buf *out)
{
    return (cg_sink){out, add_to_buffer};
}

void model_expect_json(heap *from, cg_str text)
{
    json_reader reader;
    yyjson_val *root;
    json_fault fault = {0};

    json_init(&reader, from, 127);
    if (json_read(&reader, text, &root, &fault) != CG_OK)
        fail_msg("no JSON: %s at %zu", fault.text, fault.offset);
    json_free(&reader);
}

void model_expect_holds(const buf *text, const char *part)
{
    if (str_find(buf_text(text), str_from(part)) == SIZE_MAX)
        fail_msg("`%s` is not in:\n%.*s", part, (int)text->len, text->at);
}
