#include "exec/trace.h"

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/sort.h"
#include "codec/lines.h"
#include "schema/reader.h"
#include "schema/scan.h"

#define PROGRESS_LINES 65536

/* What a reading needs besides the document it fills. */
typedef struct reading {
    const cg_env *env;
    trace_doc *doc;
    json_reader json;
    arena scratch; /* of one record */
    uint64_t span_ceiling;
    uint64_t event_ceiling;
    uint64_t rank_ceiling;
    uint64_t tag_ceiling;
    uint64_t latest_ns;  /* latest host evidence */
    uint64_t stats_line; /* of the first tensor_stats record */
    uint64_t stats_offset;
    uint64_t terminal_line;
    uint64_t terminal_offset;
    uint64_t first_line; /* of the meta record */
    uint64_t first_offset;
    sym last_span; /* most records repeat the texts of the one before */
    sym last_device;
    bool has_meta;
    bool has_terminal;
    bool is_schema_known;
    cg_str schema;
} reading;

static sc_words kind_words(void)
{
    static const cg_str kinds[] = {
#define X(prefix, name, tag) {tag, sizeof(tag) - 1},
        TRACE_RECORDS(X)
#undef X
    };

    return (sc_words){"record kind", kinds, sizeof kinds / sizeof kinds[0]};
}

/* Symbol of a required text; empty texts are texts. */
#define SYMBOL(target, text)                                                                       \
    do {                                                                                           \
        (target) = intern_add(&doc->texts, (text));                                                \
        if ((target) == 0)                                                                         \
            return err_nomem(reterr);                                                              \
    } while (0)

/* As SYMBOL, for a text that is probably the one of the record before. */
#define REPEATED_SYMBOL(target, last, text)                                                        \
    do {                                                                                           \
        if ((last) == 0 || !str_equal(intern_text_of(&doc->texts, (last)), (text)))                \
            SYMBOL(last, text);                                                                    \
        (target) = (last);                                                                         \
    } while (0)

#define OPTIONAL_SYMBOL(target, text)                                                              \
    do {                                                                                           \
        (target) = 0;                                                                              \
        if ((text).ptr != NULL)                                                                    \
            SYMBOL(target, text);                                                                  \
    } while (0)

#define ADD_ROW(row, rows)                                                                         \
    do {                                                                                           \
        (row) = vec_add(&doc->heap, &doc->rows);                                                   \
        if ((row) == NULL)                                                                         \
            return err_nomem(reterr);                                                              \
        memset((row), 0, sizeof *(row));                                                           \
    } while (0)

static void saw(reading *r, uint64_t start_ns, uint64_t duration_ns)
{
    uint64_t end_ns = num_sat_add(start_ns, duration_ns);

    if (end_ns > r->latest_ns)
        r->latest_ns = end_ns;
}

static cg_code keep_shape(reading *r, sc_u64s axes, trace_shape *ret, cg_err *reterr)
{
    trace_doc *doc = r->doc;
    size_t at = doc->axes.count;

    *ret = (trace_shape){0, 0};
    if (axes.count == 0)
        return CG_OK;
    if (axes.count > r->rank_ceiling)
        return cg_fail(reterr, PROBLEM_LIMIT, "a shape of %zu axes exceeds `tensor-rank` (%llu)",
                       axes.count, (unsigned long long)r->rank_ceiling);
    /* The same shape tends to come again at once: share it. */
    if (axes.count <= at &&
        memcmp(doc->axes.at + at - axes.count, axes.at, axes.count * sizeof axes.at[0]) == 0) {
        *ret = (trace_shape){(uint32_t)(at - axes.count), (uint32_t)axes.count};
        return CG_OK;
    }
    if (at + axes.count > UINT32_MAX)
        return cg_fail(reterr, PROBLEM_LIMIT, "more than 2^32 tensor axes");
    if (!vec_reserve(&doc->heap, &doc->axes, at + axes.count))
        return err_nomem(reterr);
    memcpy(doc->axes.at + at, axes.at, axes.count * sizeof axes.at[0]);
    doc->axes.count = at + axes.count;
    *ret = (trace_shape){(uint32_t)at, (uint32_t)axes.count};
    return CG_OK;
}

/* Make span_of cover every symbol there is. */
static cg_code cover_symbols(trace_doc *doc, cg_err *reterr)
{
    size_t need = intern_count(&doc->texts);
    size_t had = doc->span_of.count;

    if (need <= had)
        return CG_OK;
    if (!vec_reserve(&doc->heap, &doc->span_of, need))
        return err_nomem(reterr);
    memset(doc->span_of.at + had, 0xff, (need - had) * sizeof doc->span_of.at[0]);
    doc->span_of.count = need;
    return CG_OK;
}

static cg_code add_meta(reading *r, const rec_meta *meta, cg_err *reterr)
{
    trace_doc *doc = r->doc;
    rec_meta kept = *meta;

    CG_TRY(sc_keep(&table_meta, &kept, &doc->arena, reterr));
    if (kept.tags.count > r->tag_ceiling)
        return cg_fail(reterr, PROBLEM_LIMIT, "%zu tags exceed `tags` (%llu)", kept.tags.count,
                       (unsigned long long)r->tag_ceiling);
    r->schema = kept.schema;
    doc->is_trace_9 = str_equal(kept.schema, CG_LIT(TRACE_SCHEMA_9));
    r->is_schema_known = doc->is_trace_9 || str_equal(kept.schema, CG_LIT(TRACE_SCHEMA_10));
    r->has_meta = true;
#define F(type, member, key, rule, sub) doc->run.member = kept.member;
    RUN_FIELDS(F)
#undef F
    return CG_OK;
}

static cg_code add_span_start(reading *r, const rec_span_start *record, cg_err *reterr)
{
    trace_doc *doc = r->doc;
    trace_span *span;
    sym id;

    if (doc->spans.count >= r->span_ceiling)
        return cg_fail(reterr, PROBLEM_LIMIT, "more spans than `spans` allows (%llu)",
                       (unsigned long long)r->span_ceiling);
    SYMBOL(id, record->id);
    if (trace_span_of(doc, id) != TRACE_NONE)
        return cg_fail(reterr, PROBLEM_TRACE_SPAN_TWICE, "span `%.*s` has already started",
                       ERR_STR(record->id));
    ADD_ROW(span, spans);
    span->id = id;
    SYMBOL(span->name, record->name);
    OPTIONAL_SYMBOL(span->parent_id, record->parent_id);
    span->start_ns = record->start_ns;
    span->parent = TRACE_NONE;
    span->order = (uint32_t)(doc->spans.count - 1);
    span->kind = record->span_kind;
    span->step = record->step;
    span->is_measured = record->is_measured;
    saw(r, span->start_ns, 0);
    CG_TRY(cover_symbols(doc, reterr));
    doc->span_of.at[id] = span->order;
    return CG_OK;
}

static cg_code add_span_end(reading *r, const rec_span_end *record, cg_err *reterr)
{
    trace_doc *doc = r->doc;
    uint32_t index = trace_span_of(doc, intern_find(&doc->texts, record->id));
    trace_span *span;

    if (index == TRACE_NONE)
        return cg_fail(reterr, PROBLEM_TRACE_END_UNKNOWN,
                       "span `%.*s` ends, but has not started before", ERR_STR(record->id));
    span = &doc->spans.at[index];
    if (span->is_closed)
        return cg_fail(reterr, PROBLEM_TRACE_END_TWICE, "span `%.*s` has already ended",
                       ERR_STR(record->id));
    span->is_closed = true;
    span->duration_ns = record->duration_ns;
    saw(r, span->start_ns, span->duration_ns);
    return CG_OK;
}

static cg_code add_op(reading *r, const rec_op *record, cg_err *reterr)
{
    trace_doc *doc = r->doc;
    size_t inputs_at = doc->inputs.count;
    trace_op *op;

    ADD_ROW(op, ops);
    op->timestamp_ns = record->timestamp_ns;
    op->duration_ns = record->duration_ns;
    op->input_dense_bytes = record->input_dense_bytes;
    REPEATED_SYMBOL(op->span_id, r->last_span, record->span_id);
    SYMBOL(op->name, record->op_name);
    OPTIONAL_SYMBOL(op->output, record->output);
    SYMBOL(op->dtype, record->dtype);
    REPEATED_SYMBOL(op->device, r->last_device, record->device);
    CG_TRY(keep_shape(r, record->shape, &op->shape, reterr));
    if (inputs_at + record->inputs.count > UINT32_MAX)
        return cg_fail(reterr, PROBLEM_LIMIT, "more than 2^32 operation inputs");
    if (!vec_reserve(&doc->heap, &doc->inputs, inputs_at + record->inputs.count))
        return err_nomem(reterr);
    for (size_t i = 0; i < record->inputs.count; i++)
        SYMBOL(doc->inputs.at[inputs_at + i], record->inputs.at[i]);
    doc->inputs.count = inputs_at + record->inputs.count;
    op->inputs_at = (uint32_t)inputs_at;
    op->inputs_count = (uint32_t)record->inputs.count;
    if (record->output_dense_bytes.is_set) {
        op->dense_bytes = record->output_dense_bytes.value;
        op->has_dense_bytes = true;
    } else {
        op->has_dense_bytes = trace_dense_bytes(record->shape, record->dtype, &op->dense_bytes);
    }
    saw(r, op->timestamp_ns, op->duration_ns);
    return CG_OK;
}

static cg_code add_tensor(reading *r, const rec_tensor_event *record, cg_err *reterr)
{
    trace_doc *doc = r->doc;
    trace_tensor *tensor;

    ADD_ROW(tensor, tensors);
    REPEATED_SYMBOL(tensor->span_id, r->last_span, record->span_id);
    SYMBOL(tensor->tensor_id, record->tensor_id);
    OPTIONAL_SYMBOL(tensor->label, record->label);
    SYMBOL(tensor->dtype, record->dtype);
    REPEATED_SYMBOL(tensor->device, r->last_device, record->device);
    CG_TRY(keep_shape(r, record->shape, &tensor->shape, reterr));
    tensor->category = record->category;
    tensor->is_grad_required = record->is_grad_required;
    if (record->dense_bytes.is_set) {
        tensor->dense_bytes = record->dense_bytes.value;
        tensor->has_dense_bytes = true;
    } else {
        tensor->has_dense_bytes =
            trace_dense_bytes(record->shape, record->dtype, &tensor->dense_bytes);
    }
    return CG_OK;
}

/* Product from left to right; false when it leaves 64 bits before a zero stops it. */
static bool element_count(sc_u64s shape, uint64_t *ret)
{
    uint64_t product = 1;

    for (size_t i = 0; i < shape.count; i++) {
        if (product != 0 && shape.at[i] > UINT64_MAX / product)
            return false;
        product *= shape.at[i];
    }
    *ret = product;
    return true;
}

static cg_code check_stats(const rec_stats_event *record, cg_err *reterr)
{
    uint64_t elements;

    if (str_is_blank(record->label))
        return cg_fail(reterr, PROBLEM_TRACE_STATS, "the label is blank");
    if (!element_count(record->shape, &elements))
        return cg_fail(reterr, PROBLEM_TRACE_STATS,
                       "the shape of `%.*s` has more than 2^64 elements", ERR_STR(record->label));
    if (elements != record->elements)
        return cg_fail(reterr, PROBLEM_TRACE_STATS,
                       "`%.*s` counts %llu elements, its shape has %llu", ERR_STR(record->label),
                       (unsigned long long)record->elements, (unsigned long long)elements);
    if (record->non_finite > record->elements)
        return cg_fail(reterr, PROBLEM_TRACE_STATS,
                       "`%.*s` counts %llu non-finite values among %llu elements",
                       ERR_STR(record->label), (unsigned long long)record->non_finite,
                       (unsigned long long)record->elements);
    if (!isfinite(record->rms) || !isfinite(record->abs_max) || !isfinite(record->mean))
        return cg_fail(reterr, PROBLEM_TRACE_STATS, "`%.*s` has a value that is not finite",
                       ERR_STR(record->label));
    if (record->rms < 0.0 || record->abs_max < 0.0)
        return cg_fail(reterr, PROBLEM_TRACE_STATS, "`%.*s` has a negative rms or abs_max",
                       ERR_STR(record->label));
    return CG_OK;
}

static cg_code add_stats(reading *r, const rec_stats_event *record, cg_err *reterr)
{
    trace_doc *doc = r->doc;
    trace_stats *stats;

    CG_TRY(check_stats(record, reterr));
    ADD_ROW(stats, stats);
    REPEATED_SYMBOL(stats->span_id, r->last_span, record->span_id);
    SYMBOL(stats->label, record->label);
    SYMBOL(stats->dtype, record->dtype);
    CG_TRY(keep_shape(r, record->shape, &stats->shape, reterr));
    stats->elements = record->elements;
    stats->non_finite = record->non_finite;
    stats->rms = record->rms;
    stats->abs_max = record->abs_max;
    stats->mean = record->mean;
    return CG_OK;
}

static cg_code add_memory(reading *r, const rec_memory *record, cg_err *reterr)
{
    trace_doc *doc = r->doc;
    trace_memory *memory;

    ADD_ROW(memory, memory);
    memory->timestamp_ns = record->timestamp_ns;
    memory->bytes = record->bytes;
    SYMBOL(memory->storage_id, record->storage_id);
    SYMBOL(memory->tensor_id, record->tensor_id);
    REPEATED_SYMBOL(memory->span_id, r->last_span, record->span_id);
    OPTIONAL_SYMBOL(memory->op_name, record->op_name);
    REPEATED_SYMBOL(memory->device, r->last_device, record->device);
    SYMBOL(memory->dtype, record->dtype);
    CG_TRY(keep_shape(r, record->shape, &memory->shape, reterr));
    memory->action = record->action;
    memory->category = record->category;
    saw(r, memory->timestamp_ns, 0);
    return CG_OK;
}

static cg_code add_sample(reading *r, const rec_device_memory *record, cg_err *reterr)
{
    const opt_u64 given[4] = {record->used_bytes, record->free_bytes, record->reserved_bytes,
                              record->capacity_bytes};
    trace_doc *doc = r->doc;
    trace_sample *sample;

    ADD_ROW(sample, samples);
    sample->timestamp_ns = record->timestamp_ns;
    SYMBOL(sample->device, record->device);
    for (unsigned i = 0; i < 4; i++) {
        sample->bytes[i] = given[i].value;
        if (given[i].is_set)
            sample->present |= (uint8_t)(1u << i);
    }
    saw(r, sample->timestamp_ns, 0);
    return CG_OK;
}

static cg_code add_interval(reading *r, const rec_device_interval *record, cg_err *reterr)
{
    trace_doc *doc = r->doc;
    trace_interval *interval;

    ADD_ROW(interval, intervals);
    REPEATED_SYMBOL(interval->span_id, r->last_span, record->span_id);
    REPEATED_SYMBOL(interval->device, r->last_device, record->device);
    SYMBOL(interval->stream_id, record->stream_id);
    SYMBOL(interval->clock_id, record->clock_id);
    SYMBOL(interval->backend, record->backend);
    interval->start_ns = record->start_ns;
    interval->duration_ns = record->duration_ns;
    return CG_OK;
}

static cg_code add_gradient(reading *r, const rec_gradient *record, cg_err *reterr)
{
    trace_doc *doc = r->doc;
    trace_gradient *gradient;

    ADD_ROW(gradient, gradients);
    SYMBOL(gradient->event_id, record->event_id);
    SYMBOL(gradient->root, record->root);
    SYMBOL(gradient->key, record->key);
    gradient->state = record->state;
    gradient->norm = record->norm.value;
    gradient->has_norm = record->norm.is_set;
    return CG_OK;
}

static cg_code add_edge(reading *r, uint8_t kind, cg_str from, cg_str to, uint64_t duration_ns,
                        cg_err *reterr)
{
    trace_doc *doc = r->doc;
    trace_edge *edge;

    ADD_ROW(edge, edges);
    edge->kind = kind;
    edge->duration_ns = duration_ns;
    SYMBOL(edge->from, from);
    SYMBOL(edge->to, to);
    return CG_OK;
}

static cg_code add_terminal(reading *r, const rec_terminal *record, cg_err *reterr)
{
    trace_doc *doc = r->doc;

    doc->outcome = record->outcome;
    doc->terminal_ns = record->timestamp_ns;
    if (!arena_text(&doc->arena, record->reason, &doc->failure_reason))
        return err_nomem(reterr);
    r->has_terminal = true;
    return CG_OK;
}

/* The record's table: its kind, and for edges which of the two forms. */
static cg_code find_kind(yyjson_val *object, enum trace_record *ret, cg_err *reterr)
{
    const sc_words kinds = kind_words();
    yyjson_val *kind = NULL;
    yyjson_val *edge_kind = NULL;
    yyjson_val *key;
    size_t count;
    int found;

    if (!yyjson_is_obj(object))
        return cg_fail(reterr, PROBLEM_TRACE_RECORD, "the line holds %s instead of a record",
                       json_kind_name(object));
    count = unsafe_yyjson_get_len(object);
    key = unsafe_yyjson_get_first(object);
    for (size_t i = 0; i < count && kind == NULL; i++) {
        if (str_equal(json_text(key), table_span_end.fields[0].key))
            kind = key + 1;
        key = unsafe_yyjson_get_next(key + 1);
    }
    if (kind == NULL)
        return cg_fail(reterr, PROBLEM_TRACE_RECORD, "the record has no `kind`");
    if (!yyjson_is_str(kind))
        return cg_fail(reterr, PROBLEM_FIELD_TYPE, "`kind` must be a text, found %s",
                       json_kind_name(kind));
    found = sc_find_word(&kinds, json_text(kind));
    if (found < 0)
        return cg_fail(reterr, PROBLEM_TRACE_KIND, "`%.*s` is no record kind",
                       ERR_STR(json_text(kind)));
    *ret = (enum trace_record)found;
    if (*ret != RECORD_CALL_EDGE)
        return CG_OK;
    key = unsafe_yyjson_get_first(object);
    for (size_t i = 0; i < count && edge_kind == NULL; i++) {
        if (str_equal(json_text(key), table_call_edge.fields[1].key))
            edge_kind = key + 1;
        key = unsafe_yyjson_get_next(key + 1);
    }
    /* Missing or unknown: the call form's reader says so. */
    if (edge_kind != NULL && yyjson_is_str(edge_kind) &&
        str_equal(json_text(edge_kind), words_edge_kind.at[EDGE_KIND_DATA]))
        *ret = RECORD_DATA_EDGE;
    return CG_OK;
}

static cg_code check_place(const reading *r, enum trace_record kind, cg_err *reterr)
{
    if (r->has_terminal)
        return cg_fail(reterr, PROBLEM_TRACE_AFTER_TERMINAL,
                       "a record follows the `terminal` of line %llu",
                       (unsigned long long)r->terminal_line);
    if (kind == RECORD_META && r->doc->event_count > 0) {
        if (r->has_meta)
            return cg_fail(reterr, PROBLEM_TRACE_META_TWICE,
                           "a second `meta` record; the first stands on line %llu",
                           (unsigned long long)r->first_line);
        return cg_fail(reterr, PROBLEM_TRACE_META_LATE, "`meta` comes after other records");
    }
    return CG_OK;
}

static cg_code add_record(reading *r, enum trace_record kind, const rec_any *record, uint64_t line,
                          uint64_t offset, cg_err *reterr)
{
    CG_TRY(check_place(r, kind, reterr));
    switch (kind) {
    case RECORD_META:
        r->first_line = line;
        r->first_offset = offset;
        return add_meta(r, &record->meta, reterr);
    case RECORD_SPAN_START: return add_span_start(r, &record->span_start, reterr);
    case RECORD_SPAN_END: return add_span_end(r, &record->span_end, reterr);
    case RECORD_OP: return add_op(r, &record->op, reterr);
    case RECORD_TENSOR_EVENT: return add_tensor(r, &record->tensor_event, reterr);
    case RECORD_STATS_EVENT:
        if (r->stats_line == 0) {
            r->stats_line = line;
            r->stats_offset = offset;
        }
        return add_stats(r, &record->stats_event, reterr);
    case RECORD_MEMORY: return add_memory(r, &record->memory, reterr);
    case RECORD_DEVICE_MEMORY: return add_sample(r, &record->device_memory, reterr);
    case RECORD_DEVICE_INTERVAL: return add_interval(r, &record->device_interval, reterr);
    case RECORD_GRADIENT: return add_gradient(r, &record->gradient, reterr);
    case RECORD_CALL_EDGE:
        if (record->call_edge.edge_kind != EDGE_KIND_CALL)
            break;
        return add_edge(r, EDGE_KIND_CALL, record->call_edge.from_span, record->call_edge.to_span,
                        record->call_edge.host_duration_ns, reterr);
    case RECORD_DATA_EDGE:
        return add_edge(r, EDGE_KIND_DATA, record->data_edge.from_tensor,
                        record->data_edge.to_tensor, 0, reterr);
    case RECORD_TERMINAL:
        r->terminal_line = line;
        r->terminal_offset = offset;
        return add_terminal(r, &record->terminal, reterr);
    case RECORD_COUNT: break;
    }
    return cg_fail(reterr, PROBLEM_INTERNAL, "record kind %u", (unsigned)kind);
}

#define SPOOL_BEGIN "CGSPOOL1" /* SPOOL_MAGIC of the recorder, as bytes */

/* Name the fault of a line that is not JSON; *ret_offset: where in the line it lies. */
static cg_code json_failed(cg_str line, bool is_closed, const json_fault *fault, size_t *ret_offset,
                           cg_err *reterr)
{
    size_t malformed = str_utf8_error(line);

    *ret_offset = fault->offset;
    if (str_starts_with(line, CG_LIT(SPOOL_BEGIN))) {
        *ret_offset = 0;
        return cg_fail(reterr, PROBLEM_TRACE_SPOOL, "this is the spool of a recorder, not a trace");
    }
    if (fault->is_depth)
        return cg_fail(reterr, PROBLEM_TRACE_DEPTH, "the record nests too deep");
    if (str_starts_with(line, CG_LIT("\xef\xbb\xbf"))) {
        *ret_offset = 0;
        return cg_fail(reterr, PROBLEM_TRACE_BOM, "the line starts with a byte order mark");
    }
    /* Before UTF-8: a writer may die in the middle of a character. */
    if (fault->is_truncated && !is_closed)
        return cg_fail(reterr, PROBLEM_TRACE_CUT, "the record is cut off after %zu bytes",
                       line.len);
    if (malformed != SIZE_MAX) {
        *ret_offset = malformed;
        return cg_fail(reterr, PROBLEM_TRACE_UTF8, "the line is not UTF-8");
    }
    return cg_fail(reterr, PROBLEM_TRACE_JSON, "not a JSON record: %s", fault->text);
}

/* A line as the recorders write it; false: let the JSON library decide. */
static bool read_plain(reading *r, cg_str text, enum trace_record *ret_kind, rec_any *ret)
{
    const sc_words kinds = kind_words();
    cg_str tag;
    size_t rest;
    int kind;

    if (!scan_tag(text, &table_span_end, &tag, &rest))
        return false;
    kind = sc_find_word(&kinds, tag);
    if (kind < 0 || kind == RECORD_META || kind == RECORD_CALL_EDGE)
        return false;
    *ret_kind = (enum trace_record)kind;
    return scan_fields(trace_tables[kind], text, rest, &r->scratch, ret);
}

static cg_code read_json(reading *r, cg_str text, const lines *from, enum trace_record *ret_kind,
                         rec_any *ret, uint64_t *offset, cg_err *reterr)
{
    json_fault fault = {0};
    yyjson_val *object = NULL;
    cg_code code = json_read(&r->json, text, &object, &fault);

    if (code == CG_INPUT) {
        size_t inside;

        code = json_failed(text, from->line_is_closed, &fault, &inside, reterr);
        *offset += inside;
        return code;
    }
    if (code != CG_OK)
        return err_nomem(reterr);
    CG_TRY(find_kind(object, ret_kind, reterr));
    return sc_read(trace_tables[*ret_kind], object, &r->scratch, ret, reterr);
}

static cg_code add_line(reading *r, cg_str line, const lines *from, cg_err *reterr)
{
    arena_place place = arena_mark(&r->scratch);
    cg_str text = str_trim(line);
    uint64_t offset = from->line_offset + (uint64_t)(text.ptr - line.ptr);
    enum trace_record kind = RECORD_COUNT;
    rec_any record;
    cg_code code = CG_OK;

    if (text.len == 0)
        return CG_OK;
    if (r->doc->event_count >= r->event_ceiling)
        code = cg_fail(reterr, PROBLEM_LIMIT, "more records than `events` allows (%llu)",
                       (unsigned long long)r->event_ceiling);
    else if (!read_plain(r, text, &kind, &record))
        code = read_json(r, text, from, &kind, &record, &offset, reterr);
    if (code == CG_OK) {
        code = add_record(r, kind, &record, from->number, offset, reterr);
        r->doc->event_count++;
    }
    if (code != CG_OK)
        err_at_line(reterr, from->number, offset);
    arena_reset(&r->scratch, place);
    return code;
}

/* Rules that can only be judged at the end, in the order of the format page. */
static cg_code check_end(reading *r, const lines *from, cg_err *reterr)
{
    const trace_doc *doc = r->doc;

    if (!r->has_meta) {
        cg_fail(reterr, PROBLEM_TRACE_NO_META, "no `meta` record%s",
                doc->event_count == 0 ? ": the input holds no record" : "");
        err_at_line(reterr, from->number, from->offset);
        return CG_INPUT;
    }
    if (!r->has_terminal) {
        cg_fail(reterr, PROBLEM_TRACE_NO_TERMINAL,
                "no `terminal` record after %llu complete records",
                (unsigned long long)doc->event_count);
        err_at_line(reterr, from->number, from->offset);
        return CG_INPUT;
    }
    if (!r->is_schema_known) {
        cg_fail(reterr, PROBLEM_TRACE_SCHEMA, "schema `%.*s` is not known", ERR_STR(r->schema));
        err_at_line(reterr, r->first_line, r->first_offset);
        return CG_INPUT;
    }
    if (doc->is_trace_9 && r->stats_line > 0) {
        cg_fail(reterr, PROBLEM_TRACE_STATS_IN_9, "a `tensor_stats` record in a trace/9 stream");
        err_at_line(reterr, r->stats_line, r->stats_offset);
        return CG_INPUT;
    }
    if (doc->outcome == OUTCOME_COMPLETE && doc->failure_reason.ptr != NULL)
        cg_fail(reterr, PROBLEM_TRACE_REASON, "a complete capture gives a failure reason");
    else if (doc->outcome == OUTCOME_FAILED &&
             (doc->failure_reason.ptr == NULL || str_is_blank(doc->failure_reason)))
        cg_fail(reterr, PROBLEM_TRACE_REASON, "a failed capture gives no reason");
    else if (doc->terminal_ns < r->latest_ns)
        cg_fail(reterr, PROBLEM_TRACE_EARLY_TERMINAL,
                "the terminal stands at %llu ns, but something was still recorded at %llu ns",
                (unsigned long long)doc->terminal_ns, (unsigned long long)r->latest_ns);
    else
        return CG_OK;
    err_at_line(reterr, r->terminal_line, r->terminal_offset);
    return CG_INPUT;
}

/* Spans into id order; span_of and parent follow. */
static cg_code order_spans(trace_doc *doc, cg_err *reterr)
{
    size_t count = doc->spans.count;
    size_t bytes = count * sizeof(uint32_t);
    uint32_t *ids = heap_resize(&doc->heap, NULL, 0, bytes);
    uint32_t *room = heap_resize(&doc->heap, NULL, 0, bytes);
    uint64_t *keys = heap_resize(&doc->heap, NULL, 0, count * sizeof *keys);
    trace_span *sorted = heap_resize(&doc->heap, NULL, 0, count * sizeof *sorted);
    bool is_done = false;

    if (ids != NULL && room != NULL && keys != NULL && sorted != NULL) {
        for (size_t i = 0; i < count; i++)
            ids[i] = doc->spans.at[i].id;
        sort_symbols(ids, room, keys, count, &doc->texts);
        for (size_t i = 0; i < count; i++)
            sorted[i] = doc->spans.at[doc->span_of.at[ids[i]]];
        for (size_t i = 0; i < count; i++)
            doc->span_of.at[ids[i]] = (uint32_t)i;
        for (size_t i = 0; i < count; i++) {
            if (sorted[i].parent_id != 0)
                sorted[i].parent = doc->span_of.at[sorted[i].parent_id];
        }
        is_done = true;
    }
    heap_resize(&doc->heap, keys, count * sizeof *keys, 0);
    heap_resize(&doc->heap, room, bytes, 0);
    heap_resize(&doc->heap, ids, bytes, 0);
    if (!is_done) {
        heap_resize(&doc->heap, sorted, count * sizeof *sorted, 0);
        return err_nomem(reterr);
    }
    vec_free(&doc->heap, &doc->spans);
    doc->spans.at = sorted;
    doc->spans.count = doc->spans.capacity = count;
    return CG_OK;
}

static cg_code read_all(reading *r, lines *from, uint64_t total_bytes, cg_err *reterr)
{
    cg_str line;
    bool has_more = true;

    while (has_more) {
        CG_TRY(lines_next(from, &line, &has_more, reterr));
        if (!has_more)
            break;
        CG_TRY(add_line(r, line, from, reterr));
        if (from->number % PROGRESS_LINES == 0 &&
            !env_progress(r->env, "reading the trace", from->offset, total_bytes))
            return cg_fail(reterr, PROBLEM_INTERRUPTED, "stopped while reading the trace");
    }
    r->doc->byte_count = from->offset;
    CG_TRY(check_end(r, from, reterr));
    CG_TRY(cover_symbols(r->doc, reterr));
    if (r->doc->spans.count > 0)
        CG_TRY(order_spans(r->doc, reterr));
    return CG_OK;
}

static cg_code read_from(const cg_env *env,
                         cg_code (*fill)(void *, void *, size_t, size_t *, cg_err *), void *context,
                         uint64_t total_bytes, trace_doc **ret, cg_err *reterr)
{
    heap start;
    reading r = {.env = env};
    lines from = {0};
    trace_doc *doc;
    cg_code code;

    heap_init(&start, env);
    doc = heap_resize(&start, NULL, 0, sizeof *doc);
    if (doc == NULL)
        return err_nomem(reterr);
    memset(doc, 0, sizeof *doc);
    doc->heap = start;
    arena_init(&doc->arena, &doc->heap);
    r.doc = doc;
    r.span_ceiling = limit_of(env, CG_LIMIT_SPANS);
    if (r.span_ceiling >= TRACE_NONE)
        r.span_ceiling = TRACE_NONE - 1;
    r.event_ceiling = limit_of(env, CG_LIMIT_EVENTS);
    if (r.event_ceiling >= TRACE_NONE)
        r.event_ceiling = TRACE_NONE - 1;
    r.rank_ceiling = limit_of(env, CG_LIMIT_TENSOR_RANK);
    r.tag_ceiling = limit_of(env, CG_LIMIT_TAGS);
    arena_init(&r.scratch, &doc->heap);
    json_init(&r.json, &doc->heap, limit_of(env, CG_LIMIT_JSON_DEPTH));
    code = intern_init(&doc->texts, &doc->heap, os_random(env)) ? CG_OK : err_nomem(reterr);
    /* One block stays with the scratch arena, so that a record costs no allocation. */
    if (code == CG_OK && arena_take(&r.scratch, 1) == NULL)
        code = err_nomem(reterr);
    if (code == CG_OK)
        code = lines_init(&from, &doc->heap, env, fill, context, reterr);
    if (code == CG_OK)
        code = read_all(&r, &from, total_bytes, reterr);
    lines_free(&from);
    json_free(&r.json);
    arena_free(&r.scratch);
    if (code != CG_OK) {
        trace_free(doc);
        return code;
    }
    *ret = doc;
    return CG_OK;
}

cg_code trace_read_open(const cg_env *env, os_file *file, trace_doc **ret, cg_err *reterr)
{
    return read_from(env, lines_fill_file, file, file->size, ret, reterr);
}

cg_code trace_read_file(const cg_env *env, cg_str path, trace_doc **ret, cg_err *reterr)
{
    os_file file;
    cg_code code;

    CG_TRY(os_open_read(env, path, &file, reterr));
    code = trace_read_open(env, &file, ret, reterr);
    os_close(&file);
    if (code != CG_OK)
        err_in_file(reterr, path);
    return code;
}

cg_code trace_read_text(const cg_env *env, cg_str text, trace_doc **ret, cg_err *reterr)
{
    cg_str rest = {text.ptr != NULL ? text.ptr : "", text.len};

    return read_from(env, lines_fill_text, &rest, text.len, ret, reterr);
}

void trace_free(trace_doc *doc)
{
    if (doc == NULL)
        return;
    vec_free(&doc->heap, &doc->span_of);
    vec_free(&doc->heap, &doc->inputs);
    vec_free(&doc->heap, &doc->axes);
    vec_free(&doc->heap, &doc->edges);
    vec_free(&doc->heap, &doc->gradients);
    vec_free(&doc->heap, &doc->intervals);
    vec_free(&doc->heap, &doc->samples);
    vec_free(&doc->heap, &doc->memory);
    vec_free(&doc->heap, &doc->stats);
    vec_free(&doc->heap, &doc->tensors);
    vec_free(&doc->heap, &doc->ops);
    vec_free(&doc->heap, &doc->spans);
    intern_free(&doc->texts);
    arena_free(&doc->arena);
    heap_release(&doc->heap, doc, sizeof *doc);
}
