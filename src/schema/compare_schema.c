#include "schema/compare_schema.h"

#define X(name, code, meaning, help) {{code, sizeof(code) - 1}, meaning, help},
const reason_row reason_rows[REASON_COUNT] = {REASONS(X)};
#undef X

#define W SC_WORD_ROW
static const cg_str verification_list[] = {VERIFICATION_WORDS(W)};
static const cg_str verdict_list[] = {VERDICT_WORDS(W)};
static const cg_str cohort_list[] = {COHORT_WORDS(W)};
static const cg_str capture_state_list[] = {CAPTURE_STATE_WORDS(W)};
#undef W

#define X SC_WORDS_ROW
COMPARE_WORDS(X)
#undef X

#define F SC_FIELD

#define RECORD_TYPE doc_campaign_reread
static const sc_field campaign_reread_fields[] = {CAMPAIGN_REREAD_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_growth_reread
static const sc_field growth_reread_fields[] = {GROWTH_REREAD_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_series_reread
static const sc_field series_reread_fields[] = {SERIES_REREAD_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_compared_run
static const sc_field compared_run_fields[] = {COMPARED_RUN_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_compared_inputs
static const sc_field compared_inputs_fields[] = {COMPARED_INPUTS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_comparison_reason
static const sc_field comparison_reason_fields[] = {COMPARISON_REASON_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_conditions
static const sc_field conditions_fields[] = {CONDITIONS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_cohort_statistics
static const sc_field cohort_statistics_fields[] = {COHORT_STATISTICS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_interval
static const sc_field interval_fields[] = {INTERVAL_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_mechanism_row
static const sc_field mechanism_row_fields[] = {MECHANISM_ROW_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_mechanism
static const sc_field mechanism_fields[] = {MECHANISM_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_min_effect
static const sc_field min_effect_fields[] = {MIN_EFFECT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_cohort_spread
static const sc_field cohort_spread_fields[] = {COHORT_SPREAD_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_calibration
static const sc_field calibration_fields[] = {CALIBRATION_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_comparison
static const sc_field comparison_fields[] = {COMPARISON_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_planned_run
static const sc_field planned_run_fields[] = {PLANNED_RUN_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_compare_plan
static const sc_field compare_plan_fields[] = {COMPARE_PLAN_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_planned_capture
static const sc_field planned_capture_fields[] = {PLANNED_CAPTURE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_campaign
static const sc_field campaign_fields[] = {CAMPAIGN_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_capture_state
static const sc_field capture_state_fields[] = {CAPTURE_STATE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_capture
static const sc_field capture_fields[] = {CAPTURE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_campaign_status
static const sc_field campaign_status_fields[] = {CAMPAIGN_STATUS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_series_input
static const sc_field series_input_fields[] = {SERIES_INPUT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_series_time
static const sc_field series_time_fields[] = {SERIES_TIME_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_series_stats
static const sc_field series_stats_fields[] = {SERIES_STATS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_series_gradient
static const sc_field series_gradient_fields[] = {SERIES_GRADIENT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_series_residual
static const sc_field series_residual_fields[] = {SERIES_RESIDUAL_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_growth
static const sc_field growth_fields[] = {GROWTH_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE doc_series
static const sc_field series_fields[] = {SERIES_FIELDS(F)};
#undef RECORD_TYPE

#define X SC_TABLE_ROW
COMPARE_TABLES(X)
#undef X
