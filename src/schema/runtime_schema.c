#include "schema/runtime_schema.h"

#define F SC_FIELD

#define RECORD_TYPE rec_runtime_meta
static const sc_field runtime_run_fields[] = {RUNTIME_RUN_FIELDS(F)};
static const sc_field runtime_meta_fields[] = {RUNTIME_META_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_runtime_tensor
static const sc_field runtime_tensor_fields[] = {RUNTIME_TENSOR_FIELDS(F)};
static const sc_field runtime_tensor_line_fields[] = {RUNTIME_TENSOR_LINE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_runtime_operation
static const sc_field runtime_operation_fields[] = {RUNTIME_OPERATION_FIELDS(F)};
static const sc_field runtime_operation_line_fields[] = {RUNTIME_OPERATION_LINE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_runtime_gradient
static const sc_field runtime_gradient_fields[] = {RUNTIME_GRADIENT_FIELDS(F)};
static const sc_field runtime_gradient_line_fields[] = {RUNTIME_GRADIENT_LINE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_runtime_value
static const sc_field runtime_value_fields[] = {RUNTIME_VALUE_FIELDS(F)};
static const sc_field runtime_value_line_fields[] = {RUNTIME_VALUE_LINE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_runtime_edge
static const sc_field runtime_edge_fields[] = {RUNTIME_EDGE_FIELDS(F)};
static const sc_field runtime_edge_line_fields[] = {RUNTIME_EDGE_LINE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_runtime_doc
static const sc_field runtime_doc_fields[] = {RUNTIME_DOC_FIELDS(F)};
#undef RECORD_TYPE
#undef F

#define TABLE(name, record, text, tag)                                                             \
    const sc_table table_##name = {text,                                                           \
                                   {tag, sizeof(tag) - 1},                                         \
                                   name##_fields,                                                  \
                                   sizeof name##_fields / sizeof name##_fields[0],                 \
                                   sizeof(rec_##record)};
TABLE(runtime_run, runtime_meta, "the run", "")
TABLE(runtime_meta, runtime_meta, "a `meta` record", "meta")
TABLE(runtime_doc, runtime_doc, "a runtime document", "")
#define X(prefix, name, tag, list)                                                                 \
    TABLE(name, name, "a record of `" #list "`", "")                                               \
    TABLE(name##_line, name, "a `" tag "` record", tag)
RUNTIME_RECORDS(X)
#undef X

bool runtime_schema_is_known(cg_str schema)
{
    return str_equal(schema, CG_LIT(RUNTIME_SCHEMA_1)) ||
           str_equal(schema, CG_LIT(RUNTIME_SCHEMA_2)) ||
           str_equal(schema, CG_LIT(RUNTIME_SCHEMA_3));
}
