#include "view/document.h"

#include "model/baseline.h"
#include "schema/findings_schema.h"
#include "schema/join_schema.h"
#include "schema/recovery_schema.h"
#include "schema/viewer_static_schema.h"
#include "view/gpu.h"
#include "view/nodes.h"
#include "view/parts.h"
#include "view/planes.h"
#include "view/rows.h"

#define FINDINGS_CAP 20
#define GAPS_CAP     20
#define HOSTS_CAP    5

static void emit_empty_object(jsonw *out, const void *context)
{
    (void)context;
    jw_object(out);
    jw_end(out);
}

/* --- evidence --- */

cg_code document_evidence(const evidence *from, cg_sink sink, cg_err *reterr)
{
    pen self;
    summary_parts summary;
    memory_parts memory;
    doc_graph derived;
    doc_gpu gpu;

    CG_TRY(pen_start(&self, from, sink, false, reterr));
    if (pen_complete(&self) != CG_OK) {
        pen_drop(&self);
        return CG_NOMEM;
    }
    doc_health health = shared_health(&self);
    doc_capabilities capabilities = shared_capabilities(&self);
    doc_timing timing = planes_timing(&self);
    planes_memory(&self, &memory);
    gpu = self.view.gpu.wire;
    if (gpu.limits.emit == NULL)
        gpu.limits.emit = emit_empty_object;
    doc_evidence document = {
        .schema = schema_id_text(SCHEMA_EVIDENCE),
        .provenance = &self.view.trace->run,
        .health = &health,
        .capabilities = &capabilities,
        .findings = {parts_emit_findings, &self},
        .facts = {parts_emit_facts, &self},
        .gaps = self.view.gaps,
        .timing = &timing,
        .memory = &memory.planes,
        .gpu = &gpu,
    };
    if (self.view.has_graph) {
        nodes_summary(&self, &summary);
        derived = (doc_graph){
            .schema = schema_id_text(SCHEMA_GRAPH),
            .spans = {nodes_emit, &self},
            .edges = {nodes_emit_edges, &self},
            .tensors = {rows_emit_tensors, self.view.trace},
            .gradients = {rows_emit_gradients, self.view.trace},
            .summary = &summary.summary,
        };
        document.graph = &derived;
    }
    if (self.view.trace->stats.count > 0)
        document.tensor_stats = (sc_stream){rows_emit_stats, self.view.trace};
    sc_write(&self.out, &table_evidence, &document);
    return pen_finish(&self);
}

/* --- summary --- */

cg_code document_summary(const evidence *from, const document_input *input, cg_sink sink,
                         cg_err *reterr)
{
    pen self;
    summary_parts summary;
    memory_parts memory;
    gpu_parts gpu;

    CG_TRY(pen_start(&self, from, sink, true, reterr));
    doc_tool tool = shared_tool();
    doc_input where = shared_input(&self, input);
    doc_health health = shared_health(&self);
    doc_capabilities capabilities = shared_capabilities(&self);
    doc_timing timing = planes_timing(&self);
    doc_stats_counts stats = {self.view.trace->stats.count, parts_non_finite_count(&self)};
    planes_memory(&self, &memory);
    gpu_describe(&self, &gpu);
    doc_summary document = {
        .schema = schema_id_text(SCHEMA_SUMMARY),
        .tool = &tool,
        .input = &where,
        .provenance = &self.view.trace->run,
        .health = &health,
        .capabilities = &capabilities,
        .findings = {parts_emit_findings, &self},
        .gaps = self.view.gaps,
        .tensor_stats = &stats,
        .timing = &timing,
        .memory = &memory.planes,
        .gpu = &gpu.headline,
    };
    if (self.view.has_graph) {
        nodes_summary(&self, &summary);
        document.summary = &summary.summary;
    }
    sc_write(&self.out, &table_summary, &document);
    return pen_finish(&self);
}

/* --- overview --- */

/* What overview says of the graph. */
typedef struct overview_graph {
    summary_parts summary;
    doc_bounded_hosts host;
    doc_overview_timing timing;
} overview_graph;

static void describe_overview_graph(const pen *self, overview_graph *ret)
{
    const doc_graph_summary *summary = &ret->summary.summary;
    size_t displayed;

    nodes_summary(self, &ret->summary);
    displayed = summary->host.count < HOSTS_CAP ? summary->host.count : HOSTS_CAP;
    ret->host = (doc_bounded_hosts){
        .total = summary->host.count,
        .displayed = displayed,
        .is_truncated = displayed < summary->host.count,
        .rows = {summary->host.at, displayed},
    };
    ret->timing = (doc_overview_timing){
        .outer_wall_time_ns = summary->outer_wall_time_ns,
        .entrypoint = summary->entrypoint,
        .host = &ret->host,
    };
}

_Static_assert(EVIDENCE_FINDINGS <= FINDINGS_CAP, "overview never cuts the findings");

cg_code document_overview(const evidence *from, const document_input *input, cg_sink sink,
                          cg_err *reterr)
{
    pen self;
    overview_graph derived;
    gpu_parts gpu;

    CG_TRY(pen_start(&self, from, sink, true, reterr));
    const evidence *view = &self.view;
    bool has_logical = view->trace->memory.count > 0;
    doc_tool tool = shared_tool();
    doc_input where = shared_input(&self, input);
    doc_capabilities capabilities = shared_capabilities(&self);
    doc_health_brief health = {
        .is_structurally_valid = view->health.is_valid,
        .is_capture_complete = view->health.is_complete,
        .error_count = view->health.error_count,
        .warning_count = view->health.warning_count,
    };
    doc_bounded_rows findings = {
        .total = view->finding_count,
        .displayed = view->finding_count,
        .rows = {parts_emit_findings, &self},
    };
    doc_bounded_texts gaps = parts_bound_texts(view->gaps, GAPS_CAP);
    doc_overview_counts counts = {view->trace->stats.count, parts_non_finite_count(&self), {0}};
    doc_overview_totals totals = {
        .allocation_count = view->memory.allocation_count,
        .free_count = view->memory.free_count,
        .allocated_bytes = view->memory.allocated_bytes,
        .peak_live_bytes = {view->memory.peak_live_bytes, view->memory.has_peak},
        .peak_ns = {view->memory.peak_ns, view->memory.has_peak},
    };
    doc_overview_memory memory = {
        .has_logical = has_logical,
        .has_physical = view->trace->samples.count > 0,
        .totals = has_logical ? &totals : NULL,
    };
    gpu_describe(&self, &gpu);
    doc_overview document = {
        .schema = schema_id_text(SCHEMA_OVERVIEW),
        .tool = &tool,
        .input = &where,
        .provenance = &view->trace->run,
        .capabilities = &capabilities,
        .health = &health,
        .findings = &findings,
        .gaps = &gaps,
        .counts = &counts,
        .memory = &memory,
        .gpu = &gpu.headline,
    };
    if (view->has_graph) {
        describe_overview_graph(&self, &derived);
        counts.graph_spans = (opt_u64){graph_node_count(&view->graph), true};
        document.timing = &derived.timing;
    } else {
        document.timing_reason = parts_no_graph_reason(view);
    }
    sc_write(&self.out, &table_overview, &document);
    return pen_finish(&self);
}

/* --- protocol --- */

typedef struct command_list {
    const document_command *at;
    size_t count;
} command_list;

static void emit_commands(jsonw *out, const void *context)
{
    const command_list *list = context;

    jw_array(out);
    for (size_t i = 0; i < list->count; i++)
        sc_write(out, &table_command,
                 &(doc_command){.name = list->at[i].name, .about = list->at[i].about});
    jw_end(out);
}

static bool has_command(const command_list *list, cg_str name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (str_equal(list->at[i].name, name))
            return true;
    }
    return false;
}

cg_code document_protocol(heap *memory, const document_command *commands, size_t count,
                          cg_sink sink, cg_err *reterr)
{
    static const cg_str readable[] = {
        {TRACE_SCHEMA_9, sizeof(TRACE_SCHEMA_9) - 1},
        {TRACE_SCHEMA_10, sizeof(TRACE_SCHEMA_10) - 1},
    };
    command_list list = {commands, count};
    doc_tool tool = shared_tool();
    doc_protocol_schemas schemas = {
        .trace_write = CG_LIT(TRACE_SCHEMA_10),
        .trace_read = {readable, sizeof readable / sizeof readable[0]},
        .graph = schema_id_text(SCHEMA_GRAPH),
        .evidence = schema_id_text(SCHEMA_EVIDENCE),
        .comparison = schema_id_text(SCHEMA_COMPARISON),
        .bundle = schema_id_text(SCHEMA_BUNDLE),
        .bundle_verification = schema_id_text(SCHEMA_BUNDLE_VERIFICATION),
        .publication = schema_id_text(SCHEMA_PUBLICATION),
        .campaign = schema_id_text(SCHEMA_CAMPAIGN),
        .campaign_status = schema_id_text(SCHEMA_CAMPAIGN_STATUS),
        .series = schema_id_text(SCHEMA_SERIES),
        .summary = schema_id_text(SCHEMA_SUMMARY),
        .query = schema_id_text(SCHEMA_QUERY),
        .overview = schema_id_text(SCHEMA_OVERVIEW),
        .verify = schema_id_text(SCHEMA_VERIFY),
        .gradient_manifest = schema_id_text(SCHEMA_GRADIENT_MANIFEST),
        .nsight_capture = schema_id_text(SCHEMA_NSIGHT_CAPTURE),
        .recovery = CG_LIT(RECOVERY_SCHEMA),
        .model = CG_LIT(MODEL_SCHEMA),
        .build_identity = CG_LIT(MODEL_BUILD),
        .static_query = CG_LIT(ASK_SCHEMA),
        .tree = CG_LIT(TREE_SCHEMA),
        .findings = CG_LIT(FINDINGS_SCHEMA),
        .explain = CG_LIT(EXPLAIN_SCHEMA),
        .key_map = CG_LIT(KEY_MAP_SCHEMA),
        .join = CG_LIT(JOIN_SCHEMA),
        .model_baseline = CG_LIT(BASELINE_FINGERPRINT_SCHEMA),
        .readable_baseline = CG_LIT(BASELINE_READABLE_SCHEMA),
        .findings_baseline = CG_LIT(BASELINE_FINDINGS_SCHEMA),
    };
    doc_protocol document = {
        .schema = schema_id_text(SCHEMA_PROTOCOL),
        .tool = &tool,
        .schemas = &schemas,
        .commands = {emit_commands, &list},
    };
    jsonw out;

    if (has_command(&list, CG_LIT("view"))) {
        schemas.viewer = schema_id_text(SCHEMA_VIEWER);
        schemas.model_viewer = CG_LIT(SHOWN_SCHEMA);
    }
    if (jw_init(&out, memory, sink, true, true) != CG_OK)
        return err_nomem(reterr);
    sc_write(&out, &table_protocol, &document);
    return jw_finish(&out, reterr);
}
