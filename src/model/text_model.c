#include "model/text_model.h"

#include <inttypes.h>

#include "codec/escape.h"

#define COMPONENTS_SHOWN 20
#define WIDEST_COLUMN    60

static void text_count(buf *out, uint64_t count, const char *one)
{
    buf_addf(out, "%" PRIu64 " %s%s", count, one, count == 1 ? "" : "s");
}

static void text_package(const model_cargo *cargo, buf *out)
{
    if (cargo == NULL) {
        buf_add(out, CG_LIT("no package: the files of a folder\n"));
        return;
    }
    esc_tty(out, cargo->package_name);
    buf_byte(out, ' ');
    esc_tty(out, cargo->package_version);
    if (cargo->selected_target.ptr != NULL) {
        buf_add(out, CG_LIT(", target "));
        esc_tty(out, cargo->selected_target);
    }
    for (size_t i = 0; i < cargo->active_features.count; i++) {
        buf_add(out, i == 0 ? CG_LIT(", features ") : CG_LIT(","));
        esc_tty(out, cargo->active_features.at[i]);
    }
    for (size_t i = 0; i < cargo->candle_packages.count; i++) {
        buf_add(out, CG_LIT(", "));
        esc_tty(out, cargo->candle_packages.at[i].key);
        buf_byte(out, ' ');
        esc_tty(out, cargo->candle_packages.at[i].value);
    }
    buf_byte(out, '\n');
}

static void text_findings(const model_doc *doc, buf *out)
{
    uint64_t counts[MODEL_FINDING_SEVERITY_COUNT] = {0};

    for (size_t i = 0; i < doc->findings.count; i++)
        counts[MODEL_AT(doc->findings, model_finding, i)->severity]++;
    if (doc->findings.count == 0) {
        buf_add(out, CG_LIT("no findings\n"));
        return;
    }
    buf_add(out, CG_LIT("findings: "));
    text_count(out, counts[MODEL_FINDING_SEVERITY_ERROR], "error");
    buf_add(out, CG_LIT(", "));
    text_count(out, counts[MODEL_FINDING_SEVERITY_WARNING], "warning");
    buf_add(out, CG_LIT(", "));
    text_count(out, counts[MODEL_FINDING_SEVERITY_INFORMATION], "note");
    buf_add(out, CG_LIT(" (`candle-graph check` lists them)\n"));
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t cells(cg_str text)
{
    return min_size(text.len, WIDEST_COLUMN);
}

/* A column: the text and blanks up to its width. */
static void text_column(cg_str text, size_t width, buf *out)
{
    size_t before = out->len;

    esc_tty(out, text);
    if (out->len - before < width)
        buf_fill(out, ' ', width - (out->len - before));
    buf_add(out, CG_LIT("  "));
}

static void text_rest(size_t total, size_t shown, buf *out)
{
    if (shown < total)
        buf_addf(out, "  ... and %zu more (--limit)\n", total - shown);
}

/* A line for each component: name, place, modules, parameters, entrypoints. */
static void text_components(const model_doc *doc, size_t limit, buf *out)
{
    size_t shown = min_size(doc->components.count, limit);
    size_t width = 0;

    for (size_t i = 0; i < shown; i++) {
        size_t len = cells(MODEL_AT(doc->components, model_component, i)->qualified_name);

        width = len > width ? len : width;
    }
    for (size_t i = 0; i < shown; i++) {
        const model_component *component = MODEL_AT(doc->components, model_component, i);

        buf_add(out, CG_LIT("  "));
        text_column(component->qualified_name, width, out);
        text_count(out, component->modules.count, "module");
        buf_add(out, CG_LIT(", "));
        text_count(out, component->parameters.count, "parameter");
        buf_add(out, CG_LIT(", "));
        text_count(out, component->entrypoints.count, "entry point");
        buf_add(out, CG_LIT("  @"));
        esc_tty(out, component->source);
        buf_byte(out, '\n');
    }
    text_rest(doc->components.count, shown, out);
}

static cg_str shape_of(const model_parameter *parameter)
{
    return parameter->symbolic_shape.ptr != NULL ? parameter->symbolic_shape : CG_LIT("?");
}

void text_parameters(const model_doc *doc, size_t limit, buf *out)
{
    size_t shown = min_size(doc->parameters.count, limit);
    size_t root = 0;
    size_t key = 0;
    size_t shape = 0;

    for (size_t i = 0; i < shown; i++) {
        const model_parameter *parameter = MODEL_AT(doc->parameters, model_parameter, i);

        root = cells(parameter->builder_root) > root ? cells(parameter->builder_root) : root;
        key = cells(parameter->key) > key ? cells(parameter->key) : key;
        shape = cells(shape_of(parameter)) > shape ? cells(shape_of(parameter)) : shape;
    }
    for (size_t i = 0; i < shown; i++) {
        const model_parameter *parameter = MODEL_AT(doc->parameters, model_parameter, i);

        buf_add(out, CG_LIT("  "));
        text_column(parameter->builder_root, root, out);
        text_column(parameter->key, key, out);
        text_column(shape_of(parameter), shape, out);
        buf_add(out, sc_word(&words_model_certainty, parameter->certainty));
        buf_add(out, CG_LIT("  @"));
        esc_tty(out, parameter->source);
        buf_byte(out, '\n');
    }
    text_rest(doc->parameters.count, shown, out);
}

void text_model_summary(const model_doc *doc, buf *out)
{
    const model_coverage *coverage = doc->coverage;

    text_package(doc->cargo, out);
    text_count(out, coverage->components, "component");
    buf_add(out, CG_LIT(", "));
    text_count(out, coverage->modules, "module");
    buf_add(out, CG_LIT(", "));
    text_count(out, coverage->parameters, "parameter");
    buf_add(out, CG_LIT(", "));
    text_count(out, coverage->functions, "function");
    buf_add(out, CG_LIT(", "));
    text_count(out, coverage->entrypoints, "entry point");
    if (coverage->tensors > 0) {
        buf_add(out, CG_LIT(", "));
        text_count(out, coverage->tensors, "tensor");
        buf_add(out, CG_LIT(", "));
        text_count(out, coverage->operations, "operation");
    }
    buf_byte(out, '\n');
    text_components(doc, COMPONENTS_SHOWN, out);
    text_findings(doc, out);
    buf_add(out, CG_LIT("next: `candle-graph tree`, `candle-graph query parameters`, "
                        "`candle-graph query doctor`\n"));
}
