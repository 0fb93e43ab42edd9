#include "schema/static_query_schema.h"

#define X(name, word, aliases, select, sorted, camel)                                              \
    {{word, sizeof(word) - 1}, {aliases, sizeof(aliases) - 1}, ASK_SELECT_##select, sorted, camel},
const ask_kind_row ask_kinds[ASK_KIND_COUNT] = {STATIC_QUERIES(X)};
#undef X

#define W SC_WORD_ROW
static const cg_str ask_drill_list[] = {ASK_DRILL_WORDS(W)};
static const cg_str ask_single_list[] = {ASK_SINGLE_WORDS(W)};
static const cg_str ask_edge_kind_list[] = {ASK_EDGE_KIND_WORDS(W)};
static const cg_str ask_hop_kind_list[] = {ASK_HOP_KIND_WORDS(W)};
static const cg_str ask_graph_role_list[] = {ASK_GRAPH_ROLE_WORDS(W)};
#undef W

#define X SC_WORDS_ROW
STATIC_QUERY_WORDS(X)
#undef X

#define F SC_FIELD

#define RECORD_TYPE ask_envelope
static const sc_field ask_envelope_fields[] = {ASK_ENVELOPE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_drill
static const sc_field ask_drill_fields[] = {ASK_DRILL_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_cargo_brief
static const sc_field ask_cargo_brief_fields[] = {ASK_CARGO_BRIEF_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_stage_brief
static const sc_field ask_stage_brief_fields[] = {ASK_STAGE_BRIEF_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_summary
static const sc_field ask_summary_fields[] = {ASK_SUMMARY_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_quality
static const sc_field ask_quality_fields[] = {ASK_QUALITY_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_trust
static const sc_field ask_trust_fields[] = {ASK_TRUST_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_doctor
static const sc_field ask_doctor_fields[] = {ASK_DOCTOR_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_named
static const sc_field ask_named_fields[] = {ASK_NAMED_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_stage_name
static const sc_field ask_stage_name_fields[] = {ASK_STAGE_NAME_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_edge_brief
static const sc_field ask_edge_brief_fields[] = {ASK_EDGE_BRIEF_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_component_brief
static const sc_field ask_component_brief_fields[] = {ASK_COMPONENT_BRIEF_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_architecture
static const sc_field ask_architecture_fields[] = {ASK_ARCHITECTURE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_cargo
static const sc_field ask_cargo_fields[] = {ASK_CARGO_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_pipeline
static const sc_field ask_pipeline_fields[] = {ASK_PIPELINE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_runtime
static const sc_field ask_runtime_fields[] = {ASK_RUNTIME_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_finding
static const sc_field ask_finding_fields[] = {ASK_FINDING_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_gradient_gaps
static const sc_field ask_gradient_gaps_fields[] = {ASK_GRADIENT_GAPS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_improvement
static const sc_field ask_improvement_fields[] = {ASK_IMPROVEMENT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_graph_tensor
static const sc_field ask_graph_tensor_fields[] = {ASK_GRAPH_TENSOR_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_graph_operation
static const sc_field ask_graph_operation_fields[] = {ASK_GRAPH_OPERATION_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_graph
static const sc_field ask_graph_fields[] = {ASK_GRAPH_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_slow
static const sc_field ask_slow_fields[] = {ASK_SLOW_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_profile
static const sc_field ask_profile_fields[] = {ASK_PROFILE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_builder
static const sc_field ask_builder_fields[] = {ASK_BUILDER_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_component
static const sc_field ask_component_fields[] = {ASK_COMPONENT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_component_full
static const sc_field ask_component_full_fields[] = {ASK_COMPONENT_FULL_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_module
static const sc_field ask_module_fields[] = {ASK_MODULE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_end
static const sc_field ask_end_fields[] = {ASK_END_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_composition
static const sc_field ask_composition_fields[] = {ASK_COMPOSITION_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_assembly
static const sc_field ask_assembly_fields[] = {ASK_ASSEMBLY_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_stage
static const sc_field ask_stage_fields[] = {ASK_STAGE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_function
static const sc_field ask_function_fields[] = {ASK_FUNCTION_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_function_full
static const sc_field ask_function_full_fields[] = {ASK_FUNCTION_FULL_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_parameter
static const sc_field ask_parameter_fields[] = {ASK_PARAMETER_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_tensor
static const sc_field ask_tensor_fields[] = {ASK_TENSOR_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_operation
static const sc_field ask_operation_fields[] = {ASK_OPERATION_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE ask_hop
static const sc_field ask_hop_fields[] = {ASK_HOP_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE tree_size
static const sc_field tree_size_fields[] = {TREE_SIZE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE tree_parameter
static const sc_field tree_parameter_fields[] = {TREE_PARAMETER_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE tree_node
static const sc_field tree_node_fields[] = {TREE_NODE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE tree_component
static const sc_field tree_component_fields[] = {TREE_COMPONENT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE tree
static const sc_field tree_fields[] = {TREE_FIELDS(F)};
#undef RECORD_TYPE
#undef F

/* These are written, never read: their names show in no message. */
#define X SC_PLAIN_TABLE_ROW
STATIC_QUERY_TABLES(X)
#undef X
