#include "view/parts.h"

#include "candlegraph/version.h"

/* --- health, capabilities, findings, facts --- */

_Static_assert(sizeof(doc_coverage) == sizeof(uint64_t[COVERAGE_COUNT]),
               "table_coverage describes the counters of health_report as they lie");
_Static_assert(offsetof(doc_coverage, gradients) == COVERAGE_GRADIENTS * sizeof(uint64_t) &&
                   offsetof(doc_coverage, optimizer_spans) ==
                       COVERAGE_OPTIMIZER_SPANS * sizeof(uint64_t),
               "the counters of health_report have the order of table_coverage");

static void emit_issues(jsonw *out, const void *context)
{
    pen *self = (pen *)context;
    const health_report *health = &self->view.health;

    jw_array(out);
    for (size_t i = 0; i < pen_rows(self, health->issues.count) && out->code == CG_OK; i++) {
        const health_issue *issue = &health->issues.at[i];
        doc_issue row = {
            .severity = issue->is_error ? SEVERITY_ERROR : SEVERITY_WARNING,
            .code = health_code_word(issue->code),
        };

        buf_clear(&self->text);
        health_message(health, issue, &self->text);
        pen_check(out, &self->text);
        row.message = buf_text(&self->text);
        sc_write(out, &table_issue, &row);
    }
    jw_end(out);
}

doc_health shared_health(const pen *self)
{
    return (doc_health){
        .is_structurally_valid = self->view.health.is_valid,
        .is_capture_complete = self->view.health.is_complete,
        .issues = {emit_issues, self},
        .coverage = self->view.health.coverage,
    };
}

doc_capabilities shared_capabilities(const pen *self)
{
    const capability *at = self->view.capabilities.at;

    return (doc_capabilities){
#define X(name, member, word, text) .member = &at[CAPABILITY_##name],
        CAPABILITIES(X)
#undef X
    };
}

void parts_emit_findings(jsonw *out, const void *context)
{
    const pen *self = context;

    jw_array(out);
    for (size_t i = 0; i < self->view.finding_count; i++) {
        const evidence_finding *finding = &self->view.findings[i];
        cg_str
            requires[
                2];
        doc_finding row = {
            .code = finding->code,
            .summary = finding->summary,
            .source = finding->source,
            .requires = {requires, finding->requires_count},
            .qualification = finding->qualification,
        };

        for (size_t k = 0; k < finding->requires_count; k++)
        requires[k] = capability_kind_word(finding->requires[k]);
        sc_write(out, &table_finding, &row);
    }
    jw_end(out);
}

static void emit_fact_value(jsonw *out, const void *context)
{
    const evidence_fact *fact = context;

    if (fact->value_kind == FACT_TEXT)
        sc_write(out, &table_fact_text,
                 &(doc_fact_text){.kind = fact->value_kind, .value = fact->text});
    else
        sc_write(out, &table_fact_number,
                 &(doc_fact_number){.kind = fact->value_kind, .value = fact->number});
}

void parts_emit_facts(jsonw *out, const void *context)
{
    const pen *self = context;

    jw_array(out);
    for (size_t i = 0; i < self->view.fact_count; i++) {
        const evidence_fact *fact = &self->view.facts[i];
        doc_fact row = {
            .code = fact->code,
            .label = fact->label,
            .value = {emit_fact_value, fact},
            .source = fact->source,
            .capability = capability_kind_word(fact->capability),
        };

        sc_write(out, &table_fact, &row);
    }
    jw_end(out);
}

uint64_t parts_non_finite_count(const pen *self)
{
    const trace_doc *trace = self->view.trace;
    uint64_t count = 0;

    for (size_t i = 0; i < trace->stats.count; i++)
        count += trace->stats.at[i].non_finite > 0;
    return count;
}

/* --- envelopes --- */

doc_tool shared_tool(void)
{
    return (doc_tool){.package = CG_LIT("candle-graph"), .version = CG_LIT(CG_VERSION_TEXT)};
}

doc_input shared_input(const pen *self, const document_input *input)
{
    bool is_bundle = input->bundle_root.ptr != NULL;

    return (doc_input){
        .kind = is_bundle ? INPUT_KIND_BUNDLE : INPUT_KIND_RAW_TRACE,
        .requested_path = input->requested_path,
        .trace_path = input->trace_path,
        .bundle_root = input->bundle_root,
        .evidence_source = is_bundle ? EVIDENCE_SOURCE_BUNDLE : EVIDENCE_SOURCE_TRACE,
        .is_gpu_identity_bound = is_bundle && self->view.gpu.provenance.binding == BINDING_BOUND,
        .verification = input->verification,
    };
}

/* Why a graph is missing. */
cg_str parts_no_graph_reason(const evidence *from)
{
    if (!from->health.is_complete && !from->health.is_valid)
        return CG_LIT("the capture failed and the trace is structurally invalid: "
                      "there is no derived graph");
    if (!from->health.is_complete)
        return CG_LIT("the capture failed: there is no derived graph");
    if (from->health.has_gradient_error && !from->health.has_other_error)
        return CG_LIT("the recorded gradients break the gradient contract: there is no derived "
                      "graph");
    return CG_LIT("the trace is structurally invalid: there is no derived graph");
}

doc_bounded_texts parts_bound_texts(sc_strs list, size_t cap)
{
    size_t displayed = list.count < cap ? list.count : cap;

    return (doc_bounded_texts){
        .total = list.count,
        .displayed = displayed,
        .is_truncated = displayed < list.count,
        .rows = {list.at, displayed},
    };
}
