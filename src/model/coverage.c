#include "model/coverage.h"

#include "model/index.h"

/* What the detail of a proven entry says when a dtype is more than a guess. */
static const cg_str dtype_marks[] = {
    {"static dtype", 12},  {"checkpoint", 10},
    {"via operation", 13}, {"agreed runtime observation", 26},
    {"Tensor::", 8},       {"to_dtype", 8},
    {"DType::", 7},
};

static bool names_dtype(cg_str detail)
{
    for (size_t i = 0; i < sizeof dtype_marks / sizeof dtype_marks[0]; i++) {
        if (str_find(detail, dtype_marks[i]) != SIZE_MAX)
            return true;
    }
    return false;
}

bool coverage_has_dtype(const model_tensor *tensor)
{
    const model_evidence *evidence = tensor->evidence.at;

    if (str_equal(tensor->dtype, CG_LIT(MODEL_NO_DTYPE)))
        return false;
    for (size_t i = 0; i < tensor->evidence.count; i++) {
        if (evidence[i].confidence == MODEL_CONFIDENCE_PROVEN && names_dtype(evidence[i].detail))
            return true;
    }
    return false;
}

bool coverage_has_shape(const model_tensor *tensor)
{
    const model_shape *shape = tensor->shape;

    return shape->rank.is_set || shape->dimensions.count > 0;
}

bool coverage_has_device(const model_tensor *tensor)
{
    return tensor->device.record != NULL || tensor->device.word != MODEL_DEVICE_UNKNOWN;
}

static void count_tensors(const model_doc *doc, model_coverage *ret)
{
    for (size_t i = 0; i < doc->tensors.count; i++) {
        const model_tensor *tensor = MODEL_AT(doc->tensors, model_tensor, i);

        ret->tensors_with_shape += coverage_has_shape(tensor);
        ret->tensors_with_dtype += coverage_has_dtype(tensor);
        ret->tensors_with_device += coverage_has_device(tensor);
    }
}

static void count_entrypoints(const model_doc *doc, const text_index *names,
                              const text_index *qualified, model_coverage *ret)
{
    for (size_t i = 0; i < doc->functions.count; i++) {
        const model_function *function = MODEL_AT(doc->functions, model_function, i);

        if (!function->is_entrypoint)
            continue;
        ret->entrypoints++;
        ret->component_entrypoints += index_find(qualified, function->owner_type) != INDEX_NONE ||
                                      index_find(names, function->owner_type) != INDEX_NONE;
    }
}

cg_code coverage_count(const model_document *document, model_coverage *ret, cg_err *reterr)
{
    const model_doc *doc = &document->doc;
    cg_str composition = sc_word(&words_model_id_kind, MODEL_ID_KIND_COMPOSITION_EDGE);
    text_index names = {0};
    text_index qualified = {0};
    model_coverage found = {
        .components = doc->components.count,
        .architecture_edges = doc->architecture_edges.count,
        .modules = doc->modules.count,
        .parameters = doc->parameters.count,
        .functions = doc->functions.count,
        .assembly_sites = doc->assembly_sites.count,
        .tensors = doc->tensors.count,
        .operations = doc->operations.count,
        .pipeline_stages = doc->stages.count,
        .artifacts = doc->artifacts.count,
        .optimizer_memberships = doc->optimizers.count,
        .diagnostics = doc->findings.count,
        .runtime_observations = doc->coverage != NULL
                                    ? ((const model_coverage *)doc->coverage)->runtime_observations
                                    : 0,
    };
    bool is_indexed =
        index_build(&names, document->heap, &doc->components, sizeof(model_component),
                    offsetof(model_component, name)) &&
        index_build(&qualified, document->heap, &doc->components, sizeof(model_component),
                    offsetof(model_component, qualified_name));

    if (is_indexed)
        count_entrypoints(doc, &names, &qualified, &found);
    index_free(&names);
    index_free(&qualified);
    if (!is_indexed)
        return err_nomem(reterr);
    for (size_t i = 0; i < doc->architecture_edges.count; i++) {
        cg_str id = MODEL_AT(doc->architecture_edges, model_edge, i)->id;

        found.composition_edges += str_starts_with(id, composition) && id.len > composition.len &&
                                   id.ptr[composition.len] == ':';
    }
    for (size_t i = 0; i < doc->stages.count; i++)
        found.subprocess_stages +=
            MODEL_AT(doc->stages, model_stage, i)->dispatch == MODEL_DISPATCH_SUBPROCESS;
    for (size_t i = 0; i < doc->parameters.count; i++)
        found.linked_parameter_uses += MODEL_AT(doc->parameters, model_parameter, i)->uses.count;
    count_tensors(doc, &found);
    *ret = found;
    return CG_OK;
}
