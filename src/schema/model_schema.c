#include "schema/model_schema.h"

#define W SC_WORD_ROW
static const cg_str model_id_kind_list[] = {MODEL_ID_KIND_WORDS(W)};
static const cg_str model_confidence_list[] = {MODEL_CONFIDENCE_WORDS(W)};
static const cg_str model_evidence_kind_list[] = {MODEL_EVIDENCE_KIND_WORDS(W)};
static const cg_str model_finding_severity_list[] = {MODEL_FINDING_SEVERITY_WORDS(W)};
static const cg_str model_certainty_list[] = {MODEL_CERTAINTY_WORDS(W)};
static const cg_str model_cfg_source_list[] = {MODEL_CFG_SOURCE_WORDS(W)};
static const cg_str model_builder_role_list[] = {MODEL_BUILDER_ROLE_WORDS(W)};
static const cg_str model_parameter_role_list[] = {MODEL_PARAMETER_ROLE_WORDS(W)};
static const cg_str model_visibility_list[] = {MODEL_VISIBILITY_WORDS(W)};
static const cg_str model_phase_list[] = {MODEL_PHASE_WORDS(W)};
static const cg_str model_tensor_role_list[] = {MODEL_TENSOR_ROLE_WORDS(W)};
static const cg_str model_device_list[] = {MODEL_DEVICE_WORDS(W)};
static const cg_str model_layout_list[] = {MODEL_LAYOUT_WORDS(W)};
static const cg_str model_stage_kind_list[] = {MODEL_STAGE_KIND_WORDS(W)};
static const cg_str model_dispatch_list[] = {MODEL_DISPATCH_WORDS(W)};
static const cg_str model_artifact_kind_list[] = {MODEL_ARTIFACT_KIND_WORDS(W)};
static const cg_str model_source_kind_list[] = {MODEL_SOURCE_KIND_WORDS(W)};
static const cg_str model_effect_list[] = {MODEL_EFFECT_WORDS(W)};
#undef W

#define X SC_WORDS_ROW
MODEL_WORDS(X)
#undef X

const sc_tags tags_model_device = {&words_model_device, &table_model_device_data};
const sc_tags tags_model_layout = {&words_model_layout, &table_model_layout_data};

#define F SC_FIELD

#define RECORD_TYPE model_evidence
static const sc_field model_evidence_fields[] = {MODEL_EVIDENCE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_location
static const sc_field model_location_fields[] = {MODEL_LOCATION_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_cuda
static const sc_field model_cuda_fields[] = {MODEL_CUDA_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_device_data
static const sc_field model_device_data_fields[] = {MODEL_DEVICE_DATA_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_layout_data
static const sc_field model_layout_data_fields[] = {MODEL_LAYOUT_DATA_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_timing
static const sc_field model_timing_fields[] = {MODEL_TIMING_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_cargo
static const sc_field model_cargo_fields[] = {MODEL_CARGO_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_coverage
static const sc_field model_coverage_fields[] = {MODEL_COVERAGE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_builder
static const sc_field model_builder_fields[] = {MODEL_BUILDER_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_built
static const sc_field model_built_fields[] = {MODEL_BUILT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_component
static const sc_field model_component_fields[] = {MODEL_COMPONENT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_edge
static const sc_field model_edge_fields[] = {MODEL_EDGE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_module
static const sc_field model_module_fields[] = {MODEL_MODULE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_parameter
static const sc_field model_parameter_fields[] = {MODEL_PARAMETER_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_argument
static const sc_field model_argument_fields[] = {MODEL_ARGUMENT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_function
static const sc_field model_function_fields[] = {MODEL_FUNCTION_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_dimension
static const sc_field model_dimension_fields[] = {MODEL_DIMENSION_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_shape
static const sc_field model_shape_fields[] = {MODEL_SHAPE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_tensor
static const sc_field model_tensor_fields[] = {MODEL_TENSOR_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_operation
static const sc_field model_operation_fields[] = {MODEL_OPERATION_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_stage
static const sc_field model_stage_fields[] = {MODEL_STAGE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_artifact
static const sc_field model_artifact_fields[] = {MODEL_ARTIFACT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_optimizer
static const sc_field model_optimizer_fields[] = {MODEL_OPTIMIZER_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_assembly
static const sc_field model_assembly_fields[] = {MODEL_ASSEMBLY_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_keys
static const sc_field model_keys_fields[] = {MODEL_KEYS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_operand_shape
static const sc_field model_operand_shape_fields[] = {MODEL_OPERAND_SHAPE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_operand_device
static const sc_field model_operand_device_fields[] = {MODEL_OPERAND_DEVICE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_producer
static const sc_field model_producer_fields[] = {MODEL_PRODUCER_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_finding
static const sc_field model_finding_fields[] = {MODEL_FINDING_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_edge_timing
static const sc_field model_edge_timing_fields[] = {MODEL_EDGE_TIMING_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_runtime
static const sc_field model_runtime_fields[] = {MODEL_RUNTIME_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE model_doc
static const sc_field model_doc_fields[] = {MODEL_DOC_FIELDS(F)};
#undef RECORD_TYPE
#undef F

/* What the messages of the reader call a record of each table. */
#define MODEL_EVIDENCE_TEXT       "an entry of evidence"
#define MODEL_LOCATION_TEXT       "a location"
#define MODEL_CUDA_TEXT           "a CUDA device"
#define MODEL_DEVICE_DATA_TEXT    "a device"
#define MODEL_LAYOUT_DATA_TEXT    "a layout"
#define MODEL_TIMING_TEXT         "a timing"
#define MODEL_CARGO_TEXT          "`cargo`"
#define MODEL_COVERAGE_TEXT       "the coverage"
#define MODEL_BUILDER_TEXT        "a builder"
#define MODEL_BUILT_TEXT          "a call that builds a component"
#define MODEL_COMPONENT_TEXT      "a component"
#define MODEL_EDGE_TEXT           "an architecture edge"
#define MODEL_MODULE_TEXT         "a module"
#define MODEL_PARAMETER_TEXT      "a parameter"
#define MODEL_ARGUMENT_TEXT       "a parameter of a function"
#define MODEL_FUNCTION_TEXT       "a function"
#define MODEL_DIMENSION_TEXT      "a dimension"
#define MODEL_SHAPE_TEXT          "a shape"
#define MODEL_TENSOR_TEXT         "a tensor"
#define MODEL_OPERATION_TEXT      "an operation"
#define MODEL_STAGE_TEXT          "a stage"
#define MODEL_ARTIFACT_TEXT       "an artifact"
#define MODEL_OPTIMIZER_TEXT      "an optimizer membership"
#define MODEL_ASSEMBLY_TEXT       "an assembly site"
#define MODEL_KEYS_TEXT           "a list of keys"
#define MODEL_OPERAND_SHAPE_TEXT  "the shape of an operand"
#define MODEL_OPERAND_DEVICE_TEXT "the device of an operand"
#define MODEL_PRODUCER_TEXT       "a producer"
#define MODEL_FINDING_TEXT        "a finding"
#define MODEL_EDGE_TIMING_TEXT    "the timing of an edge"
#define MODEL_RUNTIME_TEXT        "the summary of a run"
#define MODEL_DOC_TEXT            "a model document"

#define X(prefix, name, tag) SC_TABLE_OF(name, prefix##_TEXT, tag, name)
MODEL_TABLES(X)
#undef X
