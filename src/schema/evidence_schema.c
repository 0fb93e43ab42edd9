#include "schema/evidence_schema.h"

#define X(name, text) {text, sizeof(text) - 1},
static const cg_str id_list[] = {SCHEMA_IDS(X)};
#undef X

cg_str schema_id_text(enum schema_id id)
{
    return id_list[id];
}

#define X(name, word, needs_graph, takes_filter, is_collection)                                    \
    {{word, sizeof(word) - 1}, needs_graph, takes_filter, is_collection},
const query_row query_rows[QUERY_COUNT] = {QUERIES(X)};
#undef X

#define W SC_WORD_ROW
static const cg_str capability_level_list[] = {CAPABILITY_LEVEL_WORDS(W)};
static const cg_str finding_list[] = {FINDING_WORDS(W)};
static const cg_str fact_list[] = {FACT_WORDS(W)};
static const cg_str fact_source_list[] = {FACT_SOURCE_WORDS(W)};
static const cg_str fact_value_list[] = {FACT_VALUE_WORDS(W)};
static const cg_str severity_list[] = {SEVERITY_WORDS(W)};
static const cg_str input_kind_list[] = {INPUT_KIND_WORDS(W)};
static const cg_str evidence_source_list[] = {EVIDENCE_SOURCE_WORDS(W)};
static const cg_str node_kind_list[] = {NODE_KIND_WORDS(W)};
static const cg_str edge_label_list[] = {EDGE_LABEL_WORDS(W)};
static const cg_str host_scope_list[] = {HOST_SCOPE_WORDS(W)};
static const cg_str label_kind_list[] = {LABEL_KIND_WORDS(W)};
static const cg_str gpu_status_list[] = {GPU_STATUS_WORDS(W)};
static const cg_str binding_list[] = {BINDING_WORDS(W)};
static const cg_str correlation_mode_list[] = {CORRELATION_MODE_WORDS(W)};
static const cg_str timeline_kind_list[] = {TIMELINE_KIND_WORDS(W)};
static const cg_str gpu_report_list[] = {GPU_REPORT_WORDS(W)};
static const cg_str join_key_list[] = {JOIN_KEY_WORDS(W)};
static const cg_str clock_plane_list[] = {CLOCK_PLANE_WORDS(W)};
static const cg_str sample_selection_list[] = {SAMPLE_SELECTION_WORDS(W)};
static const cg_str gpu_ordering_list[] = {GPU_ORDERING_WORDS(W)};
#undef W

#define X SC_WORDS_ROW
EVIDENCE_WORDS(X)
#undef X

#define F SC_FIELD

#define RECORD_TYPE doc_tool
static const sc_field tool_fields[] = {TOOL_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_input
static const sc_field input_fields[] = {INPUT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_host_row
static const sc_field host_row_fields[] = {HOST_ROW_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_device_row
static const sc_field device_row_fields[] = {DEVICE_ROW_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_heavy_row
static const sc_field heavy_row_fields[] = {HEAVY_ROW_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_bounded_texts
static const sc_field bounded_texts_fields[] = {BOUNDED_TEXTS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_bounded_hosts
static const sc_field bounded_hosts_fields[] = {BOUNDED_HOSTS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_bounded_rows
static const sc_field bounded_rows_fields[] = {BOUNDED_ROWS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_issue
static const sc_field issue_fields[] = {ISSUE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_coverage
static const sc_field coverage_fields[] = {COVERAGE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_health
static const sc_field health_fields[] = {HEALTH_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_health_brief
static const sc_field health_brief_fields[] = {HEALTH_BRIEF_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_capability
static const sc_field capability_fields[] = {CAPABILITY_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_capabilities
static const sc_field capabilities_fields[] = {CAPABILITIES_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_finding
static const sc_field finding_fields[] = {FINDING_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_fact_number
static const sc_field fact_number_fields[] = {FACT_NUMBER_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_fact_text
static const sc_field fact_text_fields[] = {FACT_TEXT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_fact
static const sc_field fact_fields[] = {FACT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_device_timing
static const sc_field device_timing_fields[] = {DEVICE_TIMING_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_node
static const sc_field node_fields[] = {NODE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_graph_call
static const sc_field graph_call_fields[] = {GRAPH_CALL_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_graph_data
static const sc_field graph_data_fields[] = {GRAPH_DATA_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_gradient_row
static const sc_field gradient_row_fields[] = {GRADIENT_ROW_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_graph_summary
static const sc_field graph_summary_fields[] = {GRAPH_SUMMARY_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_graph
static const sc_field graph_fields[] = {GRAPH_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_timing_span
static const sc_field timing_span_fields[] = {TIMING_SPAN_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_timing_clock
static const sc_field timing_clock_fields[] = {TIMING_CLOCK_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_timing
static const sc_field timing_fields[] = {TIMING_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_lifetime
static const sc_field lifetime_fields[] = {LIFETIME_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_memory_level
static const sc_field memory_level_fields[] = {MEMORY_LEVEL_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_memory_peak
static const sc_field memory_peak_fields[] = {MEMORY_PEAK_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_memory_device
static const sc_field memory_device_fields[] = {MEMORY_DEVICE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_logical
static const sc_field logical_fields[] = {LOGICAL_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_physical_device
static const sc_field physical_device_fields[] = {PHYSICAL_DEVICE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_physical
static const sc_field physical_fields[] = {PHYSICAL_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_planes
static const sc_field planes_fields[] = {PLANES_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_artifact
static const sc_field artifact_fields[] = {ARTIFACT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_nsight_run
static const sc_field nsight_run_fields[] = {NSIGHT_RUN_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_nsight_correlation
static const sc_field nsight_correlation_fields[] = {NSIGHT_CORRELATION_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_nsight_tool
static const sc_field nsight_tool_fields[] = {NSIGHT_TOOL_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_nsight_hardware
static const sc_field nsight_hardware_fields[] = {NSIGHT_HARDWARE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_nsight_manifest
static const sc_field nsight_manifest_fields[] = {NSIGHT_MANIFEST_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_gpu_provenance
static const sc_field gpu_provenance_fields[] = {GPU_PROVENANCE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_gpu_coverage
static const sc_field gpu_coverage_fields[] = {GPU_COVERAGE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_gpu_duplicate
static const sc_field gpu_duplicate_fields[] = {GPU_DUPLICATE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_gpu_ledger
static const sc_field gpu_ledger_fields[] = {GPU_LEDGER_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_gpu_correlation
static const sc_field gpu_correlation_fields[] = {GPU_CORRELATION_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_gpu_limit
static const sc_field gpu_limit_fields[] = {GPU_LIMIT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_gpu_summary_row
static const sc_field gpu_summary_row_fields[] = {GPU_SUMMARY_ROW_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_gpu_timeline_row
static const sc_field gpu_timeline_row_fields[] = {GPU_TIMELINE_ROW_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_gpu_phase
static const sc_field gpu_phase_fields[] = {GPU_PHASE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_gpu
static const sc_field gpu_fields[] = {GPU_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_evidence
static const sc_field evidence_fields[] = {EVIDENCE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_report_state
static const sc_field report_state_fields[] = {REPORT_STATE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_correlation_state
static const sc_field correlation_state_fields[] = {CORRELATION_STATE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_normalized_rows
static const sc_field normalized_rows_fields[] = {NORMALIZED_ROWS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_gpu_headline
static const sc_field gpu_headline_fields[] = {GPU_HEADLINE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_stats_counts
static const sc_field stats_counts_fields[] = {STATS_COUNTS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_summary
static const sc_field summary_fields[] = {SUMMARY_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_overview_counts
static const sc_field overview_counts_fields[] = {OVERVIEW_COUNTS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_overview_timing
static const sc_field overview_timing_fields[] = {OVERVIEW_TIMING_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_overview_totals
static const sc_field overview_totals_fields[] = {OVERVIEW_TOTALS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_overview_memory
static const sc_field overview_memory_fields[] = {OVERVIEW_MEMORY_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_overview
static const sc_field overview_fields[] = {OVERVIEW_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_protocol_schemas
static const sc_field protocol_schemas_fields[] = {PROTOCOL_SCHEMAS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_command
static const sc_field command_fields[] = {COMMAND_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_protocol
static const sc_field protocol_fields[] = {PROTOCOL_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_filter
static const sc_field filter_fields[] = {FILTER_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_query
static const sc_field query_fields[] = {QUERY_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_slowest_host
static const sc_field slowest_host_fields[] = {SLOWEST_HOST_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_slowest_device
static const sc_field slowest_device_fields[] = {SLOWEST_DEVICE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_heaviest
static const sc_field heaviest_fields[] = {HEAVIEST_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_spans_and_edges
static const sc_field spans_and_edges_fields[] = {SPANS_AND_EDGES_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_rows
static const sc_field rows_fields[] = {ROWS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_span_rows
static const sc_field span_rows_fields[] = {SPAN_ROWS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_label_row
static const sc_field label_row_fields[] = {LABEL_ROW_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_tree_row
static const sc_field tree_row_fields[] = {TREE_ROW_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_module_tree
static const sc_field module_tree_fields[] = {MODULE_TREE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_nan_producer
static const sc_field nan_producer_fields[] = {NAN_PRODUCER_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_nan_propagator
static const sc_field nan_propagator_fields[] = {NAN_PROPAGATOR_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_non_finite_place
static const sc_field non_finite_place_fields[] = {NON_FINITE_PLACE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_nan_origin
static const sc_field nan_origin_fields[] = {NAN_ORIGIN_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_idle_largest
static const sc_field idle_largest_fields[] = {IDLE_LARGEST_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_idle_row
static const sc_field idle_row_fields[] = {IDLE_ROW_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_idle_rows
static const sc_field idle_rows_fields[] = {IDLE_ROWS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_report_need
static const sc_field report_need_fields[] = {REPORT_NEED_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_report_needs
static const sc_field report_needs_fields[] = {REPORT_NEEDS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_gpu_capabilities
static const sc_field gpu_capabilities_fields[] = {GPU_CAPABILITIES_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_source_artifacts
static const sc_field source_artifacts_fields[] = {SOURCE_ARTIFACTS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_gpu_status_result
static const sc_field gpu_status_result_fields[] = {GPU_STATUS_RESULT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_ledger_result
static const sc_field ledger_result_fields[] = {LEDGER_RESULT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_gpu_correlation_result
static const sc_field gpu_correlation_result_fields[] = {GPU_CORRELATION_RESULT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_range_row
static const sc_field range_row_fields[] = {RANGE_ROW_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_ranges_result
static const sc_field ranges_result_fields[] = {RANGES_RESULT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_phases_result
static const sc_field phases_result_fields[] = {PHASES_RESULT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_gpu_phases_result
static const sc_field gpu_phases_result_fields[] = {GPU_PHASES_RESULT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_gpu_kernels_result
static const sc_field gpu_kernels_result_fields[] = {GPU_KERNELS_RESULT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_truncated_report
static const sc_field truncated_report_fields[] = {TRUNCATED_REPORT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_gpu_gaps_result
static const sc_field gpu_gaps_result_fields[] = {GPU_GAPS_RESULT_FIELDS(F)};
#undef RECORD_TYPE

#define X SC_TABLE_ROW
EVIDENCE_TABLES(X)
#undef X
