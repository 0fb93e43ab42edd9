#include "schema/viewer_static_schema.h"

#define X(name, path) {path, sizeof(path) - 1},
static const cg_str list_paths[] = {SHOWN_LISTS(X)};
#undef X

cg_str shown_list_path(enum shown_list list)
{
    return list_paths[list];
}

/* --- words --- */

/* The numbers are those of model.def. */
enum {
#define W(name, word) SHOWN_CONFIDENCE_##name,
    SHOWN_CONFIDENCE_WORDS(W)
#undef W
};
#define W(name, word)                                                                              \
    _Static_assert((int)SHOWN_CONFIDENCE_##name == (int)MODEL_CONFIDENCE_##name, #name);
MODEL_CONFIDENCE_WORDS(W)
#undef W
enum {
#define W(name, word) SHOWN_FINDING_SEVERITY_##name,
    SHOWN_FINDING_SEVERITY_WORDS(W)
#undef W
};
#define W(name, word)                                                                              \
    _Static_assert((int)SHOWN_FINDING_SEVERITY_##name == (int)MODEL_FINDING_SEVERITY_##name, #name);
MODEL_FINDING_SEVERITY_WORDS(W)
#undef W
enum {
#define W(name, word) SHOWN_CERTAINTY_##name,
    SHOWN_CERTAINTY_WORDS(W)
#undef W
};
#define W(name, word)                                                                              \
    _Static_assert((int)SHOWN_CERTAINTY_##name == (int)MODEL_CERTAINTY_##name, #name);
MODEL_CERTAINTY_WORDS(W)
#undef W
enum {
#define W(name, word) SHOWN_PARAMETER_ROLE_##name,
    SHOWN_PARAMETER_ROLE_WORDS(W)
#undef W
};
#define W(name, word)                                                                              \
    _Static_assert((int)SHOWN_PARAMETER_ROLE_##name == (int)MODEL_PARAMETER_ROLE_##name, #name);
MODEL_PARAMETER_ROLE_WORDS(W)
#undef W
enum {
#define W(name, word) SHOWN_STAGE_KIND_##name,
    SHOWN_STAGE_KIND_WORDS(W)
#undef W
};
#define W(name, word)                                                                              \
    _Static_assert((int)SHOWN_STAGE_KIND_##name == (int)MODEL_STAGE_KIND_##name, #name);
MODEL_STAGE_KIND_WORDS(W)
#undef W
enum {
#define W(name, word) SHOWN_DISPATCH_##name,
    SHOWN_DISPATCH_WORDS(W)
#undef W
};
#define W(name, word)                                                                              \
    _Static_assert((int)SHOWN_DISPATCH_##name == (int)MODEL_DISPATCH_##name, #name);
MODEL_DISPATCH_WORDS(W)
#undef W

#define W SC_WORD_ROW
static const cg_str shown_confidence_list[] = {SHOWN_CONFIDENCE_WORDS(W)};
static const cg_str shown_finding_severity_list[] = {SHOWN_FINDING_SEVERITY_WORDS(W)};
static const cg_str shown_certainty_list[] = {SHOWN_CERTAINTY_WORDS(W)};
static const cg_str shown_parameter_role_list[] = {SHOWN_PARAMETER_ROLE_WORDS(W)};
static const cg_str shown_stage_kind_list[] = {SHOWN_STAGE_KIND_WORDS(W)};
static const cg_str shown_dispatch_list[] = {SHOWN_DISPATCH_WORDS(W)};
#undef W

#define X(name, word, means) {word, sizeof(word) - 1},
static const cg_str shown_grad_state_list[] = {SHOWN_GRAD_STATE_WORDS(X)};
static const cg_str shown_node_kind_list[] = {SHOWN_NODE_KIND_WORDS(X)};
static const cg_str shown_view_list[] = {SHOWN_VIEW_WORDS(X)};
static const cg_str shown_edge_kind_list[] = {SHOWN_EDGE_KIND_WORDS(X)};
#undef X

#define WORDS(name)                                                                                \
    const sc_words words_##name = {#name, name##_list, sizeof name##_list / sizeof name##_list[0]};
#define X(prefix, like, name) WORDS(name)
SHOWN_SPELLINGS(X)
#undef X
#define X(prefix, name, list) WORDS(name)
SHOWN_LEXICA(X)
#undef X

#define X(name, word, means) {{word, sizeof(word) - 1}, {means, sizeof(means) - 1}},
static const sc_pair views_meant[] = {SHOWN_VIEW_WORDS(X)};
static const sc_pair grad_states_meant[] = {SHOWN_GRAD_STATE_WORDS(X)};
static const sc_pair node_kinds_meant[] = {SHOWN_NODE_KIND_WORDS(X)};
#undef X

const sc_map shown_views_meant = {views_meant, sizeof views_meant / sizeof views_meant[0]};
const sc_map shown_grad_states_meant = {grad_states_meant,
                                        sizeof grad_states_meant / sizeof grad_states_meant[0]};
const sc_map shown_node_kinds_meant = {node_kinds_meant,
                                       sizeof node_kinds_meant / sizeof node_kinds_meant[0]};

cg_str shown_view_meaning(enum shown_view view)
{
    return views_meant[view].value;
}

/* --- tables --- */

#define F SC_FIELD

#define RECORD_TYPE doc_excerpt
static const sc_field excerpt_fields[] = {EXCERPT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_page_sources
static const sc_field page_sources_fields[] = {PAGE_SOURCES_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_extent
static const sc_field shown_extent_fields[] = {SHOWN_EXTENT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_extents
static const sc_field shown_extents_fields[] = {SHOWN_EXTENTS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_summary
static const sc_field shown_summary_fields[] = {SHOWN_SUMMARY_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_agent
static const sc_field shown_agent_fields[] = {SHOWN_AGENT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_module
static const sc_field shown_module_fields[] = {SHOWN_MODULE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_parameter
static const sc_field shown_parameter_fields[] = {SHOWN_PARAMETER_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_structure
static const sc_field shown_structure_fields[] = {SHOWN_STRUCTURE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_component_node
static const sc_field shown_component_node_fields[] = {SHOWN_COMPONENT_NODE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_module_node
static const sc_field shown_module_node_fields[] = {SHOWN_MODULE_NODE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_architecture_edge
static const sc_field shown_architecture_edge_fields[] = {SHOWN_ARCHITECTURE_EDGE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_graph
static const sc_field shown_graph_fields[] = {SHOWN_GRAPH_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_function
static const sc_field shown_function_fields[] = {SHOWN_FUNCTION_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_tensor
static const sc_field shown_tensor_fields[] = {SHOWN_TENSOR_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_operation
static const sc_field shown_operation_fields[] = {SHOWN_OPERATION_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_flow_edge
static const sc_field shown_flow_edge_fields[] = {SHOWN_FLOW_EDGE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_flow
static const sc_field shown_flow_fields[] = {SHOWN_FLOW_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_stage
static const sc_field shown_stage_fields[] = {SHOWN_STAGE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_stage_edge
static const sc_field shown_stage_edge_fields[] = {SHOWN_STAGE_EDGE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_finding
static const sc_field shown_finding_fields[] = {SHOWN_FINDING_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_findings
static const sc_field shown_findings_fields[] = {SHOWN_FINDINGS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_diagnostic
static const sc_field shown_diagnostic_fields[] = {SHOWN_DIAGNOSTIC_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_pages
static const sc_field shown_pages_fields[] = {SHOWN_PAGES_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_cargo
static const sc_field shown_cargo_fields[] = {SHOWN_CARGO_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_cut
static const sc_field shown_cut_fields[] = {SHOWN_CUT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown_bounds
static const sc_field shown_bounds_fields[] = {SHOWN_BOUNDS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_shown
static const sc_field shown_fields[] = {SHOWN_FIELDS(F)};
#undef RECORD_TYPE

#define X SC_TABLE_ROW
SHOWN_TABLES(X)
#undef X
