#include "schema/findings_schema.h"

#define W SC_WORD_ROW
static const cg_str level_list[] = {SARIF_LEVEL_WORDS(W)};
#undef W
const sc_words words_sarif_level = {"SARIF level", level_list,
                                    sizeof level_list / sizeof level_list[0]};

#define F SC_FIELD

#define RECORD_TYPE finding_counts
static const sc_field finding_counts_fields[] = {FINDING_COUNTS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE finding_common
static const sc_field finding_common_fields[] = {FINDING_COMMON_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE findings_doc
static const sc_field findings_doc_fields[] = {FINDINGS_DOC_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE explain_doc
static const sc_field explain_doc_fields[] = {EXPLAIN_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE sarif_text
static const sc_field sarif_text_fields[] = {SARIF_TEXT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE sarif_configuration
static const sc_field sarif_configuration_fields[] = {SARIF_CONFIGURATION_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE sarif_rule
static const sc_field sarif_rule_fields[] = {SARIF_RULE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE sarif_driver
static const sc_field sarif_driver_fields[] = {SARIF_DRIVER_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE sarif_tool
static const sc_field sarif_tool_fields[] = {SARIF_TOOL_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE sarif_artifact
static const sc_field sarif_artifact_fields[] = {SARIF_ARTIFACT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE sarif_region
static const sc_field sarif_region_fields[] = {SARIF_REGION_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE sarif_physical
static const sc_field sarif_physical_fields[] = {SARIF_PHYSICAL_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE sarif_logical
static const sc_field sarif_logical_fields[] = {SARIF_LOGICAL_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE sarif_location
static const sc_field sarif_location_fields[] = {SARIF_LOCATION_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE sarif_prints
static const sc_field sarif_prints_fields[] = {SARIF_PRINTS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE sarif_properties
static const sc_field sarif_properties_fields[] = {SARIF_PROPERTIES_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE sarif_result
static const sc_field sarif_result_fields[] = {SARIF_RESULT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE sarif_run
static const sc_field sarif_run_fields[] = {SARIF_RUN_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE sarif_log
static const sc_field sarif_log_fields[] = {SARIF_LOG_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE line_target
static const sc_field line_target_fields[] = {LINE_TARGET_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE line_code
static const sc_field line_code_fields[] = {LINE_CODE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE line_span
static const sc_field line_span_fields[] = {LINE_SPAN_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE line_child
static const sc_field line_child_fields[] = {LINE_CHILD_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE line_diagnostic
static const sc_field line_diagnostic_fields[] = {LINE_DIAGNOSTIC_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE line_message
static const sc_field line_message_fields[] = {LINE_MESSAGE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE line_finished
static const sc_field line_finished_fields[] = {LINE_FINISHED_FIELDS(F)};
#undef RECORD_TYPE
#undef F

/* These are written, never read: their names show in no message. */
#define X SC_PLAIN_TABLE_ROW
FINDINGS_TABLES(X)
#undef X
