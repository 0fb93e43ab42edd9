#include "schema/trace_schema.h"

#include "base/num.h"

#define W SC_WORD_ROW
static const cg_str phase_list[] = {PHASE_WORDS(W)};
static const cg_str timing_mode_list[] = {TIMING_MODE_WORDS(W)};
static const cg_str scope_list[] = {SCOPE_WORDS(W)};
static const cg_str level_list[] = {LEVEL_WORDS(W)};
static const cg_str expectation_list[] = {EXPECTATION_WORDS(W)};
static const cg_str span_kind_list[] = {SPAN_KIND_WORDS(W)};
static const cg_str step_list[] = {STEP_WORDS(W)};
static const cg_str category_list[] = {CATEGORY_WORDS(W)};
static const cg_str action_list[] = {ACTION_WORDS(W)};
static const cg_str gradient_state_list[] = {GRADIENT_STATE_WORDS(W)};
static const cg_str outcome_list[] = {OUTCOME_WORDS(W)};
static const cg_str edge_kind_list[] = {EDGE_KIND_WORDS(W)};
#undef W

#define X SC_WORDS_ROW
TRACE_WORDS(X)
#undef X

#define F SC_FIELD

#define RECORD_TYPE rec_manifest_entry
static const sc_field manifest_entry_fields[] = {MANIFEST_ENTRY_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_family
static const sc_field family_fields[] = {FAMILY_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_gradient_contract
static const sc_field gradient_contract_fields[] = {GRADIENT_CONTRACT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_contract
static const sc_field contract_fields[] = {CONTRACT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_identity
static const sc_field identity_fields[] = {IDENTITY_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_run
static const sc_field run_fields[] = {RUN_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_tensor
static const sc_field tensor_fields[] = {TENSOR_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_stats
static const sc_field stats_fields[] = {STATS_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_sample
static const sc_field sample_fields[] = {SAMPLE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_meta
static const sc_field meta_fields[] = {META_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_span_start
static const sc_field span_start_fields[] = {SPAN_START_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_span_end
static const sc_field span_end_fields[] = {SPAN_END_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_op
static const sc_field op_fields[] = {OP_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_tensor_event
static const sc_field tensor_event_fields[] = {TENSOR_EVENT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_stats_event
static const sc_field stats_event_fields[] = {STATS_EVENT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_memory
static const sc_field memory_fields[] = {MEMORY_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_device_memory
static const sc_field device_memory_fields[] = {DEVICE_MEMORY_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_device_interval
static const sc_field device_interval_fields[] = {DEVICE_INTERVAL_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_gradient
static const sc_field gradient_fields[] = {GRADIENT_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_call_edge
static const sc_field call_edge_fields[] = {CALL_EDGE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_data_edge
static const sc_field data_edge_fields[] = {DATA_EDGE_FIELDS(F)};
#undef RECORD_TYPE
#define RECORD_TYPE rec_terminal
static const sc_field terminal_fields[] = {TERMINAL_FIELDS(F)};
#undef RECORD_TYPE

#define TABLE(name, text, tag)                                                                     \
    const sc_table table_##name = {text,                                                           \
                                   {tag, sizeof(tag) - 1},                                         \
                                   name##_fields,                                                  \
                                   sizeof name##_fields / sizeof name##_fields[0],                 \
                                   sizeof(rec_##name)};
#define X(prefix, name, text) TABLE(name, text, "")
TRACE_PARTS(X)
#undef X
#define X(prefix, name, tag) TABLE(name, "a `" tag "` record", tag)
TRACE_RECORDS(X)
#undef X

const sc_table *const trace_tables[RECORD_COUNT] = {
#define X(prefix, name, tag) &table_##name,
    TRACE_RECORDS(X)
#undef X
};

unsigned trace_dtype_bytes(cg_str dtype)
{
#define LIT(text) {text, sizeof(text) - 1}
    static const struct {
        cg_str name;
        unsigned bytes;
    } sizes[] = {
        {LIT("f32"), 4}, {LIT("bf16"), 2}, {LIT("f16"), 2},  {LIT("u32"), 4}, {LIT("i64"), 8},
        {LIT("u8"), 1},  {LIT("f64"), 8},  {LIT("i32"), 4},  {LIT("u64"), 8}, {LIT("i16"), 2},
        {LIT("u16"), 2}, {LIT("i8"), 1},   {LIT("bool"), 1}, {LIT("f8"), 1},
    };
#undef LIT
    cg_str name = str_trim(dtype);

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (str_equal_nocase(name, sizes[i].name))
            return sizes[i].bytes;
    }
    return 0;
}

bool trace_dense_bytes(sc_u64s shape, cg_str dtype, uint64_t *ret)
{
    unsigned width = trace_dtype_bytes(dtype);
    uint64_t product = 1;

    if (width == 0)
        return false;
    for (size_t i = 0; i < shape.count; i++)
        product = num_sat_mul(product, shape.at[i]);
    *ret = num_sat_mul(product, width);
    return true;
}
