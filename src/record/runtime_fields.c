#include "record/runtime_fields.h"

#include <math.h>

#include "record/describe.h"
#include "schema/runtime.def"
#include "schema/trace.def"

/*
 * Every field by table: X_keys[X_KEY_member] is `"key":`. A record of a line begins with its kind,
 * which the tables for lines have in front.
 */
#define F(type, member, key, rule, sub) {"\"" key "\":", sizeof(key) + 2},
#define E(type, member, key, rule, sub) RT_RUN_KEY_##member,
enum { RUNTIME_META_FIELDS(E) RT_RUN_KEYS };
static const cg_str rt_run_keys[] = {RUNTIME_META_FIELDS(F)};
#undef E
#define E(type, member, key, rule, sub) RT_TENSOR_KEY_##member,
enum { RUNTIME_TENSOR_FIELDS(E) RT_TENSOR_KEYS };
static const cg_str rt_tensor_keys[] = {RUNTIME_TENSOR_FIELDS(F)};
#undef E
#define E(type, member, key, rule, sub) RT_OPERATION_KEY_##member,
enum { RUNTIME_OPERATION_FIELDS(E) RT_OPERATION_KEYS };
static const cg_str rt_operation_keys[] = {RUNTIME_OPERATION_FIELDS(F)};
#undef E
#define E(type, member, key, rule, sub) RT_GRADIENT_KEY_##member,
enum { RUNTIME_GRADIENT_FIELDS(E) RT_GRADIENT_KEYS };
static const cg_str rt_gradient_keys[] = {RUNTIME_GRADIENT_FIELDS(F)};
#undef E
#define E(type, member, key, rule, sub) RT_VALUE_KEY_##member,
enum { RUNTIME_VALUE_FIELDS(E) RT_VALUE_KEYS };
static const cg_str rt_value_keys[] = {RUNTIME_VALUE_FIELDS(F)};
#undef E
#define E(type, member, key, rule, sub) RT_EDGE_KEY_##member,
enum { RUNTIME_EDGE_FIELDS(E) RT_EDGE_KEYS };
static const cg_str rt_edge_keys[] = {RUNTIME_EDGE_FIELDS(F)};
#undef E
#define E(type, member, key, rule, sub) RT_DOC_KEY_##member,
enum { RUNTIME_DOC_FIELDS(E) RT_DOC_KEYS };
static const cg_str rt_doc_keys[] = {RUNTIME_DOC_FIELDS(F)};
#undef E
#undef F

#define W(name, word) {"\"" word "\"", sizeof(word) + 1},
static const cg_str runtime_states[] = {GRADIENT_STATE_WORDS(W)};
#undef W
#define W(name, word) RUNTIME_SAME_##name,
enum { GRADIENT_STATE_WORDS(W) };
#undef W
_Static_assert((int)RUNTIME_SAME_PRESENT == CG_RUNTIME_PRESENT &&
                   (int)RUNTIME_SAME_ZERO == CG_RUNTIME_ZERO &&
                   (int)RUNTIME_SAME_NON_FINITE == CG_RUNTIME_NON_FINITE,
               "state words");
static const char *const runtime_schemas[] = {RUNTIME_SCHEMA_1, RUNTIME_SCHEMA_2, RUNTIME_SCHEMA_3};

#define R(prefix, name, kind, list) TABLE_ORDER_##prefix,
enum { RUNTIME_RECORDS(R) TABLE_ORDERS };
#undef R
_Static_assert((int)TABLE_ORDER_RUNTIME_TENSOR == RUNTIME_RECORD_TENSOR &&
                   (int)TABLE_ORDER_RUNTIME_OPERATION == RUNTIME_RECORD_OPERATION &&
                   (int)TABLE_ORDER_RUNTIME_GRADIENT == RUNTIME_RECORD_GRADIENT &&
                   (int)TABLE_ORDER_RUNTIME_VALUE == RUNTIME_RECORD_VALUE &&
                   (int)TABLE_ORDER_RUNTIME_EDGE == RUNTIME_RECORD_EDGE &&
                   (int)TABLE_ORDERS == RUNTIME_RECORD_KINDS,
               "order of the kinds");
/* The word of a line, the list of a document. */
#define R(prefix, name, kind, list) {"\"" kind "\"", sizeof(kind) + 1},
static const cg_str line_kinds[] = {RUNTIME_RECORDS(R)};
#undef R
#define R(prefix, name, kind, list) RT_DOC_KEY_##list,
static const uint8_t record_lists[] = {RUNTIME_RECORDS(R)};
#undef R
#define X(prefix, name, tag) {"\"" tag "\"", sizeof(tag) + 1},
#define E(prefix, name, tag) TABLE_##prefix,
enum { RUNTIME_TABLES(E) TABLES };
static const cg_str table_tags[] = {RUNTIME_TABLES(X)};
#undef E
#undef X

#define REFUSED(problem, ...) rec_fail(reterr, CG_USAGE, problem, __VA_ARGS__)

/* --- what must be there --- */

static cg_code check_texts(const char *const *texts, size_t count, cg_str key, cg_err *reterr)
{
    for (size_t i = 0; i < count; i++) {
        if (texts == NULL || texts[i] == NULL) {
            return REFUSED("runtime-record", "entry %zu of %.*s is missing", i, (int)key.len - 1,
                           key.ptr);
        }
    }
    return CG_OK;
}

static cg_code check_record(const void *record, uint32_t size, size_t known, cg_err *reterr)
{
    if (record == NULL || size < known) {
        return REFUSED("runtime-record",
                       "a record without its size, or of another version of this header");
    }
    return CG_OK;
}

#define CHECK_RECORD(record)                                                                       \
    check_record((record), (record) != NULL ? (record)->size : 0, sizeof *(record), reterr)

/* `key` is a key with its quotes and colon. */
static cg_code check_text(const char *text, cg_str key, cg_err *reterr)
{
    return text != NULL ? CG_OK
                        : REFUSED("runtime-record", "%.*s is missing", (int)key.len - 1, key.ptr);
}

static cg_code check_gradient(const cg_runtime_gradient *record, cg_err *reterr)
{
    double norm;

    RUNTIME_TRY(CHECK_RECORD(record));
    RUNTIME_TRY(check_text(record->root, rt_gradient_keys[RT_GRADIENT_KEY_root], reterr));
    RUNTIME_TRY(check_text(record->key, rt_gradient_keys[RT_GRADIENT_KEY_key], reterr));
    norm = record->norm;
    switch (record->state) {
    case CG_RUNTIME_PRESENT:
        if (record->has_norm && (!isfinite(norm) || norm == 0)) {
            return REFUSED("runtime-gradient",
                           "the norm of a present gradient must be finite and not 0");
        }
        return CG_OK;
    case CG_RUNTIME_MISSING:
        if (record->has_norm) {
            return REFUSED("runtime-gradient", "a missing gradient has no norm");
        }
        return CG_OK;
    case CG_RUNTIME_ZERO:
        if (record->has_norm && norm != 0) {
            return REFUSED("runtime-gradient", "the norm of a zero gradient must be 0");
        }
        return CG_OK;
    case CG_RUNTIME_NON_FINITE:
        if (record->has_norm && isfinite(norm)) {
            return REFUSED("runtime-gradient",
                           "the norm of a non-finite gradient cannot be finite; leave it out");
        }
        return CG_OK;
    default: return REFUSED("runtime-gradient", "%u is no state of a gradient", record->state);
    }
}

static cg_code check_tensor(const cg_runtime_tensor *record, cg_err *reterr)
{
    RUNTIME_TRY(CHECK_RECORD(record));
    RUNTIME_TRY(check_text(record->dtype, rt_tensor_keys[RT_TENSOR_KEY_dtype], reterr));
    RUNTIME_TRY(check_text(record->device, rt_tensor_keys[RT_TENSOR_KEY_device], reterr));
    if (record->rank > 0 && record->shape == NULL) {
        return REFUSED("runtime-record", "`shape` is missing");
    }
    return CG_OK;
}

static cg_code check_operation(const cg_runtime_operation *record, cg_err *reterr)
{
    RUNTIME_TRY(CHECK_RECORD(record));
    RUNTIME_TRY(check_text(record->op, rt_operation_keys[RT_OPERATION_KEY_op], reterr));
    return check_texts(record->inputs, record->input_count,
                       rt_operation_keys[RT_OPERATION_KEY_inputs], reterr);
}

static cg_code check_value(const cg_runtime_value *record, cg_err *reterr)
{
    RUNTIME_TRY(CHECK_RECORD(record));
    if (!isfinite(record->min) || !isfinite(record->max) || !isfinite(record->abs_max)) {
        return REFUSED(
            "runtime-value",
            "smallest, largest and largest absolute value must be finite: take them over "
            "the finite elements and count the others as non-finite");
    }
    return CG_OK;
}

static cg_code check_edge(const cg_runtime_edge *record, cg_err *reterr)
{
    RUNTIME_TRY(CHECK_RECORD(record));
    return runtime_check_ends(record->from_static_id, record->to_static_id, reterr);
}

cg_code runtime_check_ends(const char *from_static_id, const char *to_static_id, cg_err *reterr)
{
    RUNTIME_TRY(check_text(from_static_id, rt_edge_keys[RT_EDGE_KEY_from], reterr));
    return check_text(to_static_id, rt_edge_keys[RT_EDGE_KEY_to], reterr);
}

cg_code runtime_check_begin(const char *static_id, const char *op, const char *const *inputs,
                            size_t input_count, cg_err *reterr)
{
    RUNTIME_TRY(check_text(static_id, rt_operation_keys[RT_OPERATION_KEY_static_id], reterr));
    RUNTIME_TRY(check_text(op, rt_operation_keys[RT_OPERATION_KEY_op], reterr));
    return check_texts(inputs, input_count, rt_operation_keys[RT_OPERATION_KEY_inputs], reterr);
}

cg_code runtime_check(const runtime_record *record, cg_err *reterr)
{
    switch (record->kind) {
    case RUNTIME_RECORD_TENSOR: return check_tensor(record->as.tensor, reterr);
    case RUNTIME_RECORD_OPERATION: return check_operation(record->as.operation, reterr);
    case RUNTIME_RECORD_GRADIENT: return check_gradient(record->as.gradient, reterr);
    case RUNTIME_RECORD_VALUE: return check_value(record->as.value, reterr);
    case RUNTIME_RECORD_EDGE: return check_edge(record->as.edge, reterr);
    case RUNTIME_RECORD_KINDS: break;
    }
    return REFUSED("runtime-record", "a record of no kind");
}

cg_code runtime_check_run(const cg_runtime_run *run, uint32_t form, cg_err *reterr)
{
    bool is_known = false;

    if (run == NULL || run->size < sizeof *run) {
        return REFUSED("runtime-description",
                       "a run without its size, or of another version of this header");
    }
    if (form > CG_RUNTIME_DOCUMENT) {
        return REFUSED("runtime-description", "%u is no form of a runtime trace", form);
    }
    RUNTIME_TRY(check_text(run->entrypoint, rt_run_keys[RT_RUN_KEY_entrypoint], reterr));
    RUNTIME_TRY(check_text(run->profile, rt_run_keys[RT_RUN_KEY_profile], reterr));
    RUNTIME_TRY(check_texts(run->cargo_features, run->cargo_feature_count,
                            rt_run_keys[RT_RUN_KEY_cargo_features], reterr));
    RUNTIME_TRY(check_texts(run->cfg, run->cfg_count, rt_run_keys[RT_RUN_KEY_cfg], reterr));
    for (size_t i = 0; i < sizeof runtime_schemas / sizeof *runtime_schemas; i++) {
        is_known |=
            run->schema == NULL || str_equal(str_from(run->schema), str_from(runtime_schemas[i]));
    }
    return is_known ? CG_OK
                    : REFUSED("runtime-description", "`%s` is no schema of a runtime trace",
                              run->schema);
}

/* --- as JSON --- */

static void add_key(rec_text *to, cg_str key)
{
    if (to->len > 0 && to->at[to->len - 1] != '{' && to->at[to->len - 1] != ',') {
        text_add(to, CG_LIT(","));
    }
    text_add(to, key);
}

static void add_text(rec_text *to, cg_str key, const char *value)
{
    if (value != NULL) {
        add_key(to, key);
        text_add_json(to, str_from(value));
    }
}

static void add_u64(rec_text *to, cg_str key, bool is_there, uint64_t value)
{
    if (is_there) {
        add_key(to, key);
        text_add_u64(to, value);
    }
}

/* JSON has no other numbers; readers take null as absent. */
static void add_f64(rec_text *to, cg_str key, bool is_there, double value)
{
    if (is_there) {
        add_key(to, key);
        if (isfinite(value)) {
            text_add_f64(to, value);
        } else {
            text_add(to, CG_LIT("null"));
        }
    }
}

static void add_bool(rec_text *to, cg_str key, bool value)
{
    add_key(to, key);
    text_add(to, value ? CG_LIT("true") : CG_LIT("false"));
}

static void add_texts(rec_text *to, cg_str key, const char *const *values, size_t count)
{
    add_key(to, key);
    text_add(to, CG_LIT("["));
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            text_add(to, CG_LIT(","));
        }
        text_add_json(to, str_from(values[i]));
    }
    text_add(to, CG_LIT("]"));
}

static void add_run_fields(rec_text *to, const cg_runtime_run *run)
{
    add_text(to, rt_run_keys[RT_RUN_KEY_entrypoint], run->entrypoint);
    add_text(to, rt_run_keys[RT_RUN_KEY_profile], run->profile);
    add_texts(to, rt_run_keys[RT_RUN_KEY_cargo_features], run->cargo_features,
              run->cargo_feature_count);
    add_texts(to, rt_run_keys[RT_RUN_KEY_cfg], run->cfg, run->cfg_count);
    add_text(to, rt_run_keys[RT_RUN_KEY_analysis_id], run->analysis_id);
    add_text(to, rt_run_keys[RT_RUN_KEY_build_id], run->build_id);
    add_text(to, rt_run_keys[RT_RUN_KEY_phase], run->phase);
}

static void add_tensor_fields(const cg_runtime_tensor *record, rec_text *to)
{
    add_text(to, rt_tensor_keys[RT_TENSOR_KEY_event_id], record->event_id);
    add_text(to, rt_tensor_keys[RT_TENSOR_KEY_static_id], record->static_id);
    add_text(to, rt_tensor_keys[RT_TENSOR_KEY_source], record->source);
    add_u64(to, rt_tensor_keys[RT_TENSOR_KEY_step], record->has_step, record->step);
    add_key(to, rt_tensor_keys[RT_TENSOR_KEY_shape]);
    text_add(to, CG_LIT("["));
    for (uint32_t i = 0; i < record->rank; i++) {
        if (i > 0) {
            text_add(to, CG_LIT(","));
        }
        text_add_u64(to, record->shape[i]);
    }
    text_add(to, CG_LIT("]"));
    add_text(to, rt_tensor_keys[RT_TENSOR_KEY_dtype], record->dtype);
    add_text(to, rt_tensor_keys[RT_TENSOR_KEY_device], record->device);
    add_bool(to, rt_tensor_keys[RT_TENSOR_KEY_is_contiguous], record->is_contiguous);
    add_bool(to, rt_tensor_keys[RT_TENSOR_KEY_is_grad_required], record->is_grad_required);
    add_text(to, rt_tensor_keys[RT_TENSOR_KEY_storage_id], record->storage_id);
}

static void add_operation_fields(const cg_runtime_operation *record, rec_text *to)
{
    add_text(to, rt_operation_keys[RT_OPERATION_KEY_event_id], record->event_id);
    add_text(to, rt_operation_keys[RT_OPERATION_KEY_op], record->op);
    add_text(to, rt_operation_keys[RT_OPERATION_KEY_static_id], record->static_id);
    add_text(to, rt_operation_keys[RT_OPERATION_KEY_source], record->source);
    add_texts(to, rt_operation_keys[RT_OPERATION_KEY_inputs], record->inputs, record->input_count);
    add_text(to, rt_operation_keys[RT_OPERATION_KEY_output], record->output);
    add_u64(to, rt_operation_keys[RT_OPERATION_KEY_step], record->has_step, record->step);
    add_u64(to, rt_operation_keys[RT_OPERATION_KEY_duration_ns], record->has_duration,
            record->duration_ns);
}

static void add_gradient_fields(const cg_runtime_gradient *record, rec_text *to)
{
    add_text(to, rt_gradient_keys[RT_GRADIENT_KEY_event_id], record->event_id);
    add_text(to, rt_gradient_keys[RT_GRADIENT_KEY_root], record->root);
    add_text(to, rt_gradient_keys[RT_GRADIENT_KEY_key], record->key);
    add_key(to, rt_gradient_keys[RT_GRADIENT_KEY_state]);
    text_add(to, runtime_states[record->state]);
    add_u64(to, rt_gradient_keys[RT_GRADIENT_KEY_step], record->has_step, record->step);
    add_f64(to, rt_gradient_keys[RT_GRADIENT_KEY_norm], record->has_norm, record->norm);
}

static void add_value_fields(const cg_runtime_value *record, rec_text *to)
{
    add_text(to, rt_value_keys[RT_VALUE_KEY_event_id], record->event_id);
    add_text(to, rt_value_keys[RT_VALUE_KEY_static_id], record->static_id);
    add_text(to, rt_value_keys[RT_VALUE_KEY_source], record->source);
    add_u64(to, rt_value_keys[RT_VALUE_KEY_step], record->has_step, record->step);
    add_f64(to, rt_value_keys[RT_VALUE_KEY_min], true, record->min);
    add_f64(to, rt_value_keys[RT_VALUE_KEY_max], true, record->max);
    add_f64(to, rt_value_keys[RT_VALUE_KEY_abs_max], true, record->abs_max);
    add_u64(to, rt_value_keys[RT_VALUE_KEY_nonfinite_count], true, record->nonfinite_count);
    add_u64(to, rt_value_keys[RT_VALUE_KEY_saturated_count], true, record->saturated_count);
}

static void add_edge_fields(const cg_runtime_edge *record, rec_text *to)
{
    add_text(to, rt_edge_keys[RT_EDGE_KEY_event_id], record->event_id);
    add_text(to, rt_edge_keys[RT_EDGE_KEY_from], record->from_static_id);
    add_text(to, rt_edge_keys[RT_EDGE_KEY_to], record->to_static_id);
    add_u64(to, rt_edge_keys[RT_EDGE_KEY_duration_ns], true, record->duration_ns);
    add_u64(to, rt_edge_keys[RT_EDGE_KEY_step], record->has_step, record->step);
}

const char *runtime_event_id(const runtime_record *record)
{
    switch (record->kind) {
    case RUNTIME_RECORD_TENSOR: return record->as.tensor->event_id;
    case RUNTIME_RECORD_OPERATION: return record->as.operation->event_id;
    case RUNTIME_RECORD_GRADIENT: return record->as.gradient->event_id;
    case RUNTIME_RECORD_VALUE: return record->as.value->event_id;
    case RUNTIME_RECORD_EDGE: return record->as.edge->event_id;
    case RUNTIME_RECORD_KINDS: break;
    }
    return NULL;
}

void runtime_put(const runtime_record *record, rec_text *to)
{
    switch (record->kind) {
    case RUNTIME_RECORD_TENSOR: add_tensor_fields(record->as.tensor, to); break;
    case RUNTIME_RECORD_OPERATION: add_operation_fields(record->as.operation, to); break;
    case RUNTIME_RECORD_GRADIENT: add_gradient_fields(record->as.gradient, to); break;
    case RUNTIME_RECORD_VALUE: add_value_fields(record->as.value, to); break;
    case RUNTIME_RECORD_EDGE: add_edge_fields(record->as.edge, to); break;
    case RUNTIME_RECORD_KINDS: break;
    }
}

void runtime_put_kind(runtime_kind kind, rec_text *to)
{
    text_add(to, rt_run_keys[RT_RUN_KEY_tag]);
    text_add(to, line_kinds[kind]);
}

void runtime_put_list(runtime_kind kind, rec_text *to)
{
    text_add(to, CG_LIT(","));
    text_add(to, rt_doc_keys[record_lists[kind]]);
    text_add(to, CG_LIT("["));
}

void runtime_put_head(const cg_runtime_run *run, bool is_document, rec_text *to)
{
    text_add(to, CG_LIT("{"));
    if (!is_document) {
        text_add(to, rt_run_keys[RT_RUN_KEY_tag]);
        text_add(to, table_tags[TABLE_RUNTIME_META]);
    }
    add_text(to, rt_run_keys[RT_RUN_KEY_schema],
             run->schema != NULL ? run->schema : CG_RUNTIME_SCHEMA_1);
    if (is_document) {
        add_key(to, rt_doc_keys[RT_DOC_KEY_run]);
        text_add(to, CG_LIT("{"));
    }
    add_run_fields(to, run);
    text_add(to, CG_LIT("}"));
}
