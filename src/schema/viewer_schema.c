#include "schema/viewer_schema.h"

#define X(name, path) {path, sizeof(path) - 1},
static const cg_str list_paths[] = {VIEWER_LISTS(X)};
#undef X

cg_str viewer_list_path(enum viewer_list list)
{
    return list_paths[list];
}

#define F SC_FIELD

#define RECORD_TYPE doc_nan_totals
static const sc_field nan_totals_fields[] = {NAN_TOTALS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_page_answers
static const sc_field page_answers_fields[] = {PAGE_ANSWERS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_viewer_summary
static const sc_field viewer_summary_fields[] = {VIEWER_SUMMARY_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_viewer_node
static const sc_field viewer_node_fields[] = {VIEWER_NODE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_viewer_edge
static const sc_field viewer_edge_fields[] = {VIEWER_EDGE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_viewer_cost
static const sc_field viewer_cost_fields[] = {VIEWER_COST_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_viewer_tree_row
static const sc_field viewer_tree_row_fields[] = {VIEWER_TREE_ROW_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_viewer_gradient
static const sc_field viewer_gradient_fields[] = {VIEWER_GRADIENT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_viewer_trace
static const sc_field viewer_trace_fields[] = {VIEWER_TRACE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_viewer_costs
static const sc_field viewer_costs_fields[] = {VIEWER_COSTS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_viewer_evidence
static const sc_field viewer_evidence_fields[] = {VIEWER_EVIDENCE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_viewer_gpu
static const sc_field viewer_gpu_fields[] = {VIEWER_GPU_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_viewer_views
static const sc_field viewer_views_fields[] = {VIEWER_VIEWS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_viewer_cut
static const sc_field viewer_cut_fields[] = {VIEWER_CUT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_viewer_bounds
static const sc_field viewer_bounds_fields[] = {VIEWER_BOUNDS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_viewer
static const sc_field viewer_fields[] = {VIEWER_FIELDS(F)};
#undef RECORD_TYPE

#define X SC_TABLE_ROW
VIEWER_TABLES(X)
#undef X
